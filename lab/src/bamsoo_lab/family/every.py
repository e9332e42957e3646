"""Every algorithm of the package on the paper's five functions and on BBOB."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from bamsoo.algorithms import BY_NAME, GPUCB, Algorithm, resolve
from bamsoo.problems import PAPER
from bamsoo.run.optimize import minimize

from ..bench import suites
from ..bench.case import Case
from ..bench.score import auc
from ..jobs.source import Source
from ..jobs.task import Finished, Settings, Task
from ..paper.experiment import Experiment, Request
from ..paper.output import Output, table
from .states import state

DIMS, INSTANCE = (2, 3, 5), 14
CHANGED: dict[str, Algorithm] = {"gp-ucb": GPUCB(direct_evaluations=200)}
"""Settings other than the defaults: DIRECT with 1000 D evaluations would take hours here."""

SECONDS = {"auto": 1.2, "bamsoo": 0.8, "gp-ucb": 2.5, "shrinking": 2.0, "imgpo": 0.4}
"""Rough seconds per run; the other algorithms take next to no time."""


def cases(boxes: int, functions: int) -> list[Case]:
    """The paper's functions in some boxes, and some functions from all groups of BBOB."""
    every = suites.bbob.FUNCTIONS
    chosen = every[:: len(every) // functions][:functions]
    return [
        *suites.paper.cases(range(boxes)),
        *(case for dim in DIMS for case in suites.bbob.cases(dim, (INSTANCE,), chosen)),
    ]


def tasks(request: Request) -> list[Task]:
    """One task for each algorithm and case."""
    scale = request.scale
    return [
        Task(
            "family.every:run",
            {"algorithm": name, **asdict(case), "state": state(name)},
            SECONDS.get(name, 0.05),
            source=Source.NONE,
        )
        for name in BY_NAME
        for case in cases(scale.family_boxes, scale.family_functions)
    ]


def run(settings: Settings, context: Settings) -> dict[str, Any]:
    """The area under the curve of the best value so far, and the final regret."""
    case = Case(*(settings[key] for key in ("suite", "problem", "dim", "instance", "budget")))
    target, name = suites.target(case), settings["algorithm"]
    fun, optimum = target.exact()
    algorithm = CHANGED.get(name) or resolve(name)
    r = minimize(fun, target.bounds, case.budget, algorithm=algorithm, seed=case.instance)
    best = np.maximum(np.minimum.accumulate(r.F) - optimum, 0.0)
    best = np.pad(best, (0, case.budget - len(best)), "edge")  # a search may end early
    return {"area": auc(best), "regret": float(f"{best[-1]:.4g}")}


def write(runs: Sequence[Finished], output: Output) -> str:
    """One row for each algorithm."""
    output.csv(
        "family_every",
        ["algorithm", "suite", "problem", "dim", "instance", "budget", "area", "regret"],
        (
            (
                *(each.settings[key] for key in ("algorithm", *Case.__dataclass_fields__)),
                f"{each.result['area']:.4f}",
                each.result["regret"],
            )
            for each in runs
        ),
    )
    rows = []
    for name, kind in BY_NAME.items():
        own = [each for each in runs if each.settings["algorithm"] == name]
        row = [f"`{name}` {kind.__name__}"]
        for problem in PAPER:
            regrets = [e.result["regret"] for e in own if e.settings["problem"] == problem.name]
            row.append(f"{np.log10(max(float(np.median(regrets)), 1e-16)):.1f}")
        for dim in DIMS:
            areas = [
                each.result["area"]
                for each in own
                if (each.settings["suite"], each.settings["dim"]) == ("bbob", dim)
            ]
            row.append(f"{np.mean(areas):.3f}".lstrip("0"))
        rows.append(row)
    boxes = len({e.settings["instance"] for e in runs if e.settings["suite"] == "paper"})
    functions = len({e.settings["problem"] for e in runs if e.settings["suite"] == "bbob"})
    return output.section(
        23,
        "family-every",
        "\n\n".join(
            [
                "## Every algorithm of the package",
                "Each row is an algorithm. The columns of the paper's functions give log10 of the "
                f"median regret after {suites.paper.BUDGET} evaluations, over {boxes} boxes cut at "
                "random; lower is better. The columns of BBOB give the area under the curve, as "
                f"defined in docs/benchmarks/index.md: the mean over {functions} functions "
                f"(instance {INSTANCE}), with {', '.join(str(50 * dim) for dim in DIMS)} "
                f"evaluations in {', '.join(f'{dim}-D' for dim in DIMS)}; higher is better.",
                "All algorithms have their default settings, except that GP-UCB has 200 "
                "evaluations of DIRECT. By default, BaMSOO, GP-UCB and the shrinking regions have "
                "a fixed prior of variance 1, which does not suit values in the thousands; the "
                "default, BaMLOGO and IMGPO learn theirs. StoSOO and StroquOOL spend most of "
                "their evaluations on points that they have evaluated already, as if there were "
                "noise.",
                table(
                    [
                        "algorithm",
                        *(p.name.capitalize() for p in PAPER),
                        *(f"BBOB {d}-D" for d in DIMS),
                    ],
                    rows,
                ),
            ]
        ),
    )


EXPERIMENT = Experiment("family-every", tasks, write)
