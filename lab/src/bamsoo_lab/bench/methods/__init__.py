"""The optimisers that are compared, each a thin adapter that uses its documented defaults.

An adapter takes a `MeasuredObjective` and calls it until its budget is spent; it may also be
stopped by `Spent`. The modules that it imports are listed in its `Method`, so that importing them
is not timed. To add an optimiser, write an adapter in one of the modules here, and add it to `ALL`.
"""

import re
from functools import partial
from importlib import import_module
from typing import Any

from ..errors import BenchError
from . import bayes, evolution, fidelity, fronts, local, ours, plain, turbo
from .method import Method

_OURS: dict[str, Any] = {"ours": True, "mixed": True, "constrained": True, "conditional": True}
_LOCAL: dict[str, Any] = {"modules": ("scipy.optimize",), "constrained": True}
_ALL_KINDS: dict[str, Any] = {"mixed": True, "constrained": True, "several": True}
_SEVERAL: dict[str, Any] = {**_ALL_KINDS, "conditional": True, "single": False}
_CONDITIONAL: dict[str, Any] = {"mixed": True, "conditional": True}
_STOPPING: dict[str, Any] = {"mixed": True, "conditional": True, "stepless": False}
_BOTORCH = ("torch", "botorch", "gpytorch")

ALL = {
    method.name: method
    for method in (
        Method("bamsoo", ours.auto, "bamsoo", ("scipy.optimize",), 0.01, **_OURS, several=True),
        Method("bamsoo-noise", ours.auto_noise, 'bamsoo, noise="learn"', (), 0.02, **_OURS),
        Method("bamsoo-sum", ours.of_sum, "bamsoo on the sum", ("scipy.optimize",), 0.01, **_OURS),
        Method("dfo-ls", local.dfo_ls, "DFO-LS, multi-start", ("dfols",), 2e-3),
        Method(
            "least-squares",
            local.least_squares,
            "scipy's least_squares, multi-start",
            ("scipy.optimize",),
            5e-4,
        ),
        Method("slsqp", local.slsqp, "SLSQP, multi-start", **_LOCAL),
        Method("cobyqa", local.cobyqa, "COBYQA, multi-start", rate=4e-3, **_LOCAL),
        Method("bobyqa", local.bobyqa, "Py-BOBYQA, multi-start", ("pybobyqa",), 2e-3),
        Method("botorch", bayes.botorch, "BoTorch (LogEI)", _BOTORCH, 0.25),
        Method("botorch-nehvi", fronts.botorch, "BoTorch (qLogNEHVI)", _BOTORCH, 3.0, **_SEVERAL),
        Method("hebo", bayes.hebo, "HEBO", ("hebo", "torch", "gpytorch", "pymoo"), 3.0, mixed=True),
        Method("turbo", turbo.turbo, "TuRBO (BoTorch)", _BOTORCH, 0.2),
        Method(
            "optuna-gp",
            bayes.optuna_gp,
            "Optuna GP",
            ("optuna", "torch", "scipy"),
            0.1,
            **_ALL_KINDS,
        ),
        Method("smac", bayes.smac, "SMAC", ("smac", "ConfigSpace"), 0.8, **_CONDITIONAL),
        Method("skopt", bayes.skopt, "scikit-optimize", ("skopt",), 0.4),
        Method("optuna-tpe", bayes.optuna_tpe, "Optuna TPE", ("optuna",), 2e-3, **_ALL_KINDS),
        Method(
            "optuna-tpe-group",
            bayes.optuna_tpe_group,
            "Optuna TPE, grouped",
            ("optuna",),
            4e-3,
            **_CONDITIONAL,
        ),
        Method("optuna-nsga2", bayes.optuna_nsga2, "Optuna NSGA-II", ("optuna",), 2e-3, **_SEVERAL),
        Method("pymoo", fronts.pymoo, "pymoo NSGA-II", ("pymoo",), 1e-3, **_SEVERAL),
        Method(
            "bamsoo-whole", ours.whole, "bamsoo without stopping", (), 0.01, **_OURS, stepless=False
        ),
        *(
            Method(
                f"{sampler}-{pruner}",
                partial(bayes.optuna_pruned, sampler=sampler, pruner=pruner),
                f"Optuna {shown}, {named}",
                ("optuna",),
                5e-3,
                **_STOPPING,
            )
            for sampler, shown in (("tpe", "TPE"), ("random", "random"))
            for pruner, named in (
                ("asha", "ASHA"),
                ("hyperband", "Hyperband"),
                ("median", "median"),
            )
        ),
        Method(
            "smac-budgets",
            fidelity.smac,
            "SMAC, multi-fidelity",
            ("smac", "ConfigSpace"),
            0.3,
            **_STOPPING,
        ),
        Method("dehb", fidelity.dehb, "DEHB", ("dehb", "ConfigSpace"), 0.01, **_STOPPING),
        Method("ngopt", evolution.ngopt, "Nevergrad (NGOpt)", ("nevergrad", "cma"), 1e-3),
        Method("lq-cma", evolution.lq_cma, "lq-CMA-ES", ("cma",), 1e-3),
        Method("cma", evolution.cma_es, "CMA-ES", ("cma",)),
        Method("cma-margin", evolution.cma_margin, "CMA-ES with margin", ("cmaes",), mixed=True),
        Method("direct", plain.direct, "DIRECT", ("scipy.optimize",)),
        Method("random", plain.random, "random", **_ALL_KINDS, conditional=True),
        Method("paper-bamsoo", ours.paper_bamsoo, "BaMSOO of the paper", (), 0.01, **_OURS),
        Method("soo", ours.soo, "SOO", **_OURS),
        Method("mosoo", ours.mosoo, "MO-SOO", **_OURS, several=True, single=False),
    )
}
"""Every method by name, in the order in which tables show them."""

OURS = tuple(name for name, method in ALL.items() if method.ours)
"""Names of this package's own methods."""

ALIASES = {"optuna": "optuna-gp", "tpe": "optuna-tpe", "scikit-optimize": "skopt", "auto": "bamsoo"}


def find(name: str) -> Method:
    """A method by its name or alias, or one of ours with settings of your own.

    ``bamsoo(warp=False climb.wide=0.0)`` is the default with these changes (`ours.changed`). In
    ``module:attribute``, the attribute is a settings object such as
    ``bamsoo.algorithms.Auto(...)``, the name of an algorithm, or a function without arguments that
    returns one. Tables show either under its full name.
    """
    key = ALIASES.get(name.strip().lower(), name.strip().lower())
    if key in ALL:
        return ALL[key]
    if name in ALL:
        return ALL[name]
    module, colon, attribute = name.partition(":")
    text, settings = "", None
    if name.startswith("bamsoo(") and name.endswith(")"):
        settings = ours.changed(name[len("bamsoo(") : -1])
    elif colon:
        settings = getattr(import_module(module), attribute)
        if isinstance(settings, type) or (callable(settings) and not hasattr(settings, "start")):
            settings = settings()
        text = re.sub(r" at 0x\w+", "", repr(settings))  # without addresses of functions
    if settings is None:
        wanted = f"one of {', '.join(ALL)}, or module:attribute for settings of your own"
        raise BenchError(f"no optimiser is called {name!r}; expected {wanted}")
    solve = partial(ours.solve, algorithm=settings)
    return ALL.setdefault(
        name, Method(name, solve, name, (), 0.01, **_OURS, several=True, settings=text)
    )


__all__ = ["ALIASES", "ALL", "OURS", "Method", "find"]
