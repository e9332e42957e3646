"""The golden runs: small problems, the algorithms that solve them, and the stored points.

A run is a deterministic sequence of asks and tells. `traces.txt` has the points it asked for, so
that a change of any of them shows up in a test and in a diff. See `write.py`.
"""

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from math import exp, fsum, inf, isclose, log, log10, nan, sin
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from scipy.optimize import LinearConstraint, NonlinearConstraint

from bamsoo import Choice, Fidelity, Formula, Int, Optimizer, Real, Study
from bamsoo.algorithms import BY_NAME, GPUCB, planned, resolve
from bamsoo.base.blas import kernels_in_use
from bamsoo.errors import ExhaustedError
from bamsoo.problems import branin, hartmann3, hartmann6, rosenbrock, shekel
from bamsoo.space import Space

from memory import MEMORY

STORED = Path(__file__).with_name("traces.txt")
TOLERANCE = 1e-6
"""Two points are equal if they differ by at most this share of each range. Other processors round
differently, and climbing a model amplifies that."""

HEAD = "== "  # begins the line above the points of a run


@dataclass(frozen=True)
class Problem:
    """A problem, and how trials are asked for and told."""

    space: Any
    fun: Callable[[dict[str, Any]], Any]
    """From the parameters by name to a value, or to a value and the measured constraints."""
    budget: int = 30
    algorithms: tuple[str, ...] = ("auto",)
    settings: dict[str, Any] = field(default_factory=dict)
    pending: int = 1
    """The number of trials that are asked for before the first is told; the last one is told
    first."""
    noise: float = 0.0
    """The standard deviation of what is added to the values, which depends on the trial's number,
    and not on rounded parameters."""
    variance: Callable[[int], float | None] = lambda number: None
    """The variance that is told with the value of a trial."""
    enqueued: tuple[Any, ...] = ()
    known: tuple[Any, ...] = ()
    """Points that are told first, without having been asked for."""
    resumed: bool = False
    """Whether the search is a study that is closed and opened again while trials are pending."""


ALL = tuple(BY_NAME)
ONCE = tuple(name for name in ALL if name not in ("stosoo", "stroquool"))  # these repeat points
QUICK = {"gp-ucb": GPUCB(direct_evaluations=100)}
DRAWS = np.random.default_rng(5).standard_normal(200).tolist()


def bowl(p: dict[str, Any]) -> float:
    """A quadratic with unequal weights; the best point is off the tree's grid."""
    return fsum((i + 1) * (x - 0.37 - 0.05 * i) ** 2 for i, x in enumerate(p.values()))


def on(problem: Any) -> dict[str, Any]:
    """The space and the function of one of the package's test problems."""
    space = {f"x{i}": pair for i, pair in enumerate(problem.bounds)}
    return {"space": space, "fun": lambda p: problem(np.array(list(p.values())))}


def box(dim: int) -> dict[str, Any]:
    return {f"x{i}": (0.0, 1.0) for i in range(dim)}


def steep(p: dict[str, Any]) -> float:
    return exp(6.0 * bowl(p)) + sin(9.0 * p["x0"])


def valley(p: dict[str, Any]) -> float:
    x = [4.0 * v - 2.0 for v in p.values()]
    return fsum(100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2 for a, b in pairwise(x))


LOG = {"rate": Real(1e-5, 1.0, log=True), "decay": Real(1e-3, 1e3, log=True), "keep": (0.0, 1.0)}


def logs(p: dict[str, Any]) -> float:
    return (
        (log10(p["rate"]) + 2.3) ** 2 + log10(p["decay"] / 7.0) ** 2 + 2.0 * (p["keep"] - 0.8) ** 2
    )


STEPPED = {"a": Real(0.0, 1.0, step=0.05), "b": Real(-2.0, 2.0, step=0.25), "n": Int(0, 6)}


def steps(p: dict[str, Any]) -> float:
    return (p["a"] - 0.35) ** 2 + (p["b"] - 0.5) ** 2 / 4.0 + (p["n"] - 4) ** 2 / 9.0


WHOLE = {"i": Int(0, 30), "j": Int(-20, 20), "k": Int(1, 500, log=True)}


def wholes(p: dict[str, Any]) -> float:
    return (p["i"] - 21) ** 2 / 50.0 + abs(p["j"] + 7) / 5.0 + log(p["k"] / 40.0) ** 2


MIXED = {
    "rate": Real(1e-4, 1.0, log=True),
    "size": Int(1, 64, log=True),
    "count": Int(0, 9),
    "kind": Choice(["a", "b", "c"]),
}


def mixed(p: dict[str, Any]) -> float:
    return (
        (log10(p["rate"]) + 2.2) ** 2
        + abs(log(p["size"], 2.0) - 3.0)
        + (p["count"] - 7) ** 2 / 9.0
        + "cab".index(p["kind"])
    )


def jumping(p: dict[str, Any]) -> float:
    """The mixed function with jumps from point to point, as a cross-validated score has them."""
    return mixed(p) + DRAWS[(7 * p["size"] + 3 * p["count"] + ord(p["kind"])) % 200] / 2.0


def plateaus(p: dict[str, Any]) -> float:
    """Flat almost everywhere, so that the best value does not improve for a long time."""
    return float(p["size"] > 8) + float(p["count"] < 6) + float(p["kind"] != "c")


BRANCHES = {
    "rate": Real(1e-3, 1.0, log=True),
    "model": Choice(
        {
            "svm": {
                "C": Real(1e-2, 1e2, log=True),
                "kernel": Choice({"rbf": {"gamma": (0.0, 1.0)}, "linear": None}),
            },
            "forest": {"depth": Int(1, 20), "share": (0.1, 1.0)},
            "none": None,
        }
    ),
}


def branches(p: dict[str, Any]) -> float:
    value = (log10(p["rate"]) + 1.2) ** 2 / 4.0
    if p["model"] == "svm":
        value += log10(p["C"] / 5.0) ** 2 + (p["kernel"] == "linear") / 5.0
        return value + (p.get("gamma", 0.3) - 0.7) ** 2
    if p["model"] == "forest":
        return value + (p["depth"] - 13) ** 2 / 100.0 + (p["share"] - 0.45) ** 2 + 0.1
    return value + 1.0


def ripples(p: dict[str, Any]) -> float:
    """A sum of functions of one parameter that have several minima."""
    z = [x - 0.31 - 0.13 * i for i, x in enumerate(p.values())]
    return fsum((1 + i) * v * v + 0.1 * sin(25.0 * v) ** 2 for i, v in enumerate(z))


WAVERING = {"x": (0.0, 1.0), "y": (0.0, 1.0), "n": Fidelity(1, 64, log=True)}


def wavering(p: dict[str, Any]) -> float:
    """Cheap values have ripples that exact ones do not have."""
    cheap = 0.3 * sin(40.0 * p["x"]) + 1.0 + p["y"]
    return (p["x"] - 0.4) ** 2 + (p["y"] - 0.7) ** 2 + (1.0 - p["n"] / 64) * cheap


def failing(
    fun: Callable[[dict[str, Any]], float], where: Callable[[dict[str, Any]], bool]
) -> Callable[[dict[str, Any]], float]:
    return lambda p: nan if where(p) else fun(p)


def with_limits(
    fun: Callable[[dict[str, Any]], float], **limits: Callable[[dict[str, Any]], float]
) -> Callable[[dict[str, Any]], tuple[float, dict[str, float]]]:
    return lambda p: (fun(p), {name: limit(p) for name, limit in limits.items()})


def two(p: dict[str, Any]) -> list[float]:
    """Two bowls whose best points lie apart."""
    return [bowl(p), fsum((x - 0.8 + 0.2 * i) ** 2 for i, x in enumerate(p.values()))]


TWO = {"objectives": {"near": "min", "far": "min"}}
THREE = {"objectives": {"near": "min", "far": "min", "last": "max"}}


def disc(p: dict[str, Any]) -> float:
    return (p["x0"] - 0.7) ** 2 + (p["x1"] - 0.2) ** 2 - 0.04


def inside(x0: float, x1: float) -> bool:
    return x0 + 0.5 * x1 <= 0.7 and x1 > 0.2 * x0


PROBLEMS = {
    # --- every algorithm
    "branin": Problem(**on(branin), algorithms=ALL),
    "steps": Problem(MIXED, mixed, 18, ("auto", "bamsoo", "soo"), {"steps": 12}),
    "fidelity": Problem(
        {
            "rate": Real(1e-4, 1.0, log=True),
            "n": Fidelity(4, 500, log=True),
            "kind": Choice(["a", "b"]),
        },
        lambda p: (log10(p["rate"]) + 2.0) ** 2 + (p["kind"] == "a") + (1.0 - p["rate"]) / p["n"],
        20,
        ("auto", "mfdoo"),
        pending=2,
        resumed=True,
    ),
    "wavering": Problem(WAVERING, wavering, 45, settings={"seed": 3}),
    "steps failing": Problem(
        box(2), failing(bowl, lambda p: p["x0"] > 0.6), 18, settings={"steps": 9}
    ),
    "steps maximise": Problem(
        box(2), lambda p: -bowl(p), 18, settings={"steps": 9, "direction": "maximize"}
    ),
    "steps resumed": Problem(
        **on(branin), budget=18, settings={"steps": 9}, pending=3, resumed=True
    ),
    "log": Problem(LOG, logs, 25, ALL),
    "stepped": Problem(STEPPED, steps, 25, ALL),
    "mixed": Problem(MIXED, mixed, 30, ALL),
    "conditional": Problem(BRANCHES, branches, 18, ALL),
    "formula": Problem(box(2), bowl, 10, ALL, {"constraints": [Formula("x0 + 2 * x1 <= 1.1")]}),
    "failing": Problem(box(2), failing(bowl, lambda p: p["x0"] > 0.55), 20, ALL),
    "pending": Problem(**on(hartmann3), algorithms=ALL, pending=4),
    "resumed": Problem(**on(branin), budget=20, algorithms=ALL, pending=2, resumed=True),
    "warm": Problem(
        **on(branin),
        budget=15,
        algorithms=ALL,
        enqueued=({"x0": 3.1, "x1": 2.0}, {"x0": 9.0, "x1": 3.0}),
        known=(({"x0": -3.0, "x1": 12.5}, 0.9), ({"x0": 2.5, "x1": 7.5}, 24.13), ((0.0, 1.0), nan)),
    ),
    "noisy": Problem(box(2), bowl, 25, ("bamsoo", "gp-ucb", "auto"), {"noise": 0.01}, noise=0.1),
    "repeated": Problem(box(2), bowl, 30, ("stosoo", "stroquool"), noise=0.1, pending=3),
    "twelve": Problem(box(12), bowl, 26, ("bamsoo", "soo", "doo", "random", "sequool", "logo")),
    "measured": Problem(box(2), with_limits(bowl, disc=disc), 18, ONCE, {"constraints": ["disc"]}),
    "band": Problem(
        {"x0": (1.0, 3.0), "x1": (-2.0, 1.0)},
        bowl,
        10,
        ("auto", "soo", "gp-ucb", "random"),
        {"constraints": [LinearConstraint([[1.0, 1.0], [1.0, -1.0]], [0.9, 1.5], [1.0, inf])]},
    ),
    # --- the default: real numbers
    "one axis": Problem(box(1), lambda p: sin(11.0 * p["x0"]) + p["x0"], 20),
    "long": Problem(**on(branin), budget=70),
    "shekel": Problem(**on(shekel), budget=40),
    "hartmann6": Problem(**on(hartmann6), budget=50),
    "valley": Problem(box(3), valley, 50),
    "rosenbrock": Problem(**on(rosenbrock), budget=40, settings={"seed": 4}),
    "steep": Problem(box(3), steep, 40),
    "ripples": Problem(box(3), ripples, 45),
    "corner": Problem(box(3), lambda p: fsum(p.values()), 30),
    "twelve axes": Problem(box(12), bowl, 40),
    "twenty axes": Problem(box(20), bowl, 45),
    "constant": Problem(box(2), lambda p: 3.0, 25),
    "maximise": Problem(**on(hartmann3), settings={"direction": "maximize"}),
    "edge": Problem(box(3), failing(bowl, lambda p: p["x0"] + p["x1"] < 0.9), 40),
    "all fail": Problem(box(2), lambda p: nan, 12),
    "fails at first": Problem(MIXED, failing(mixed, lambda p: p["count"] < 6), 30),
    # --- the default: whole numbers, options, conditions
    "whole": Problem(WHOLE, wholes, 30),
    "few points": Problem({"i": Int(0, 3), "s": Choice(["x", "y"])}, lambda p: p["i"], 20),
    "jumping": Problem(MIXED, jumping, 30),
    "plateaus": Problem(MIXED, plateaus, 30),
    "mixed pending": Problem(MIXED, mixed, 28, pending=4, settings={"seed": 2}),
    "mixed maximise": Problem(MIXED, lambda p: -mixed(p), 25, settings={"direction": "maximize"}),
    "many options": Problem(
        {"o": Choice(list(range(15))), "x": (0.0, 1.0)}, lambda p: (p["o"] % 4 + p["x"]) ** 2, 35
    ),
    "long conditional": Problem(BRANCHES, branches, 22, settings={"seed": 1}),
    "conditional failing": Problem(
        BRANCHES, failing(branches, lambda p: p["model"] == "svm" and p["C"] > 3.0), 17
    ),
    "conditional pending": Problem(BRANCHES, branches, 18, pending=3, resumed=True),
    # --- the default: constraints
    "callable": Problem(box(2), bowl, 15, settings={"constraints": [inside]}),
    "linear": Problem(
        box(3),
        lambda p: -fsum(p.values()),
        12,
        settings={"constraints": [LinearConstraint([[1.0, 2.0, 0.5]], -inf, 1.2)]},
    ),
    "nonlinear": Problem(
        box(2),
        steep,
        13,
        settings={"constraints": [NonlinearConstraint(lambda x: x[0] ** 2 + x[1] ** 2, 0.2, 0.6)]},
    ),
    "formula mixed": Problem(
        MIXED, mixed, 13, settings={"constraints": [Formula("count * log(size) <= 12")]}
    ),
    "formula conditional": Problem(
        BRANCHES, branches, 14, settings={"constraints": [Formula("rate <= 0.3")]}
    ),
    "long measured": Problem(
        box(3),
        with_limits(bowl, disc=disc, plane=lambda p: 0.8 - p["x1"] - p["x2"]),
        18,
        settings={"constraints": ["disc", "plane"]},
    ),
    "measured and known": Problem(
        box(2), with_limits(bowl, disc=disc), 12, settings={"constraints": ["disc", inside]}
    ),
    "measured mixed": Problem(
        MIXED,
        with_limits(mixed, cost=lambda p: p["size"] * (1 + p["count"]) - 60.0),
        20,
        settings={"constraints": ["cost"]},
    ),
    "measured conditional": Problem(
        BRANCHES,
        with_limits(branches, cost=lambda p: p.get("depth", 3.0) * p["rate"] - 1.0),
        15,
        settings={"constraints": ["cost"]},
    ),
    "measured failing": Problem(
        box(2),
        with_limits(failing(bowl, lambda p: p["x1"] > 0.8), disc=disc),
        20,
        settings={"constraints": ["disc"]},
    ),
    "measured pending": Problem(
        box(2), with_limits(bowl, disc=disc), 15, settings={"constraints": ["disc"]}, pending=3
    ),
    "measured noisy": Problem(
        box(2),
        with_limits(bowl, disc=disc),
        20,
        settings={"constraints": ["disc"], "noise": "learn"},
        noise=0.05,
    ),
    "infeasible": Problem(
        box(2),
        with_limits(bowl, never=lambda p: 0.5 + steep(p)),
        13,
        settings={"constraints": ["never"]},
    ),
    # --- the default: noise
    "learned noise": Problem(box(2), bowl, 40, settings={"noise": "learn"}, noise=0.1),
    "mixed noise": Problem(MIXED, mixed, 34, settings={"noise": "learn"}, noise=0.3),
    "noise pending": Problem(box(3), bowl, 32, settings={"noise": "learn"}, noise=0.2, pending=4),
    "told variances": Problem(
        box(2), bowl, 30, noise=0.1, variance=lambda number: (None, 0.0, 0.01, 0.04)[number % 4]
    ),
    "noise failing": Problem(
        box(2),
        failing(bowl, lambda p: p["x0"] > 0.6),
        30,
        settings={"noise": "learn"},
        noise=0.1,
    ),
    # --- several objectives
    "two objectives": Problem(box(3), two, 18, ("auto", "mosoo", "random"), TWO),
    "three objectives": Problem(box(3), lambda p: [*two(p), p["x2"]], 16, settings=THREE),
    "two mixed": Problem(MIXED, lambda p: [mixed(p), p["size"] * p["rate"]], 17, settings=TWO),
    "two measured": Problem(
        box(2), with_limits(two, disc=disc), 16, settings={"constraints": ["disc"], **TWO}
    ),
    "two pending": Problem(box(2), two, 18, settings=TWO, pending=3, resumed=True),
    "two noisy": Problem(box(2), two, 15, settings={"noise": "learn", **TWO}, noise=0.05),
}
RUNS = {
    f"{algorithm}: {name}": (algorithm, problem)
    for name, problem in PROBLEMS.items()
    for algorithm in problem.algorithms
}
AGREED = {
    "auto: band": 5,
    "auto: edge": 18,
    "auto: formula": 7,
    "auto: linear": 6,
    "auto: one axis": 17,
    "auto: rosenbrock": 22,
    "auto: shekel": 12,
    "auto: steps": 11,
    "auto: steps failing": 16,
    "auto: steps maximise": 8,
    "auto: steps resumed": 14,
    "auto: told variances": 9,
    "auto: two measured": 14,
    "auto: valley": 47,
    "auto: wavering": 10,
}
"""Runs in which rounding decides sooner or later, and the number of trials before that. The later
ones are compared only with the libraries with which the file was written, since `rounding.py` fixes
the rounding of these alone. Found with numpy 2.2 and scipy 1.15, and with OpenBLAS's routines for
Nehalem and SkylakeX."""

LIBRARIES = "# written with "  # begins the first line of the file


def libraries() -> str:
    """What decides how numbers are rounded."""
    versions = f"numpy {np.__version__}, scipy {scipy.__version__}"
    return f"{versions}, {kernels_in_use()}, {sys.platform}"


def made(run: str) -> list[str]:
    """The lines of a run: one per trial, in the order of asking, and one about the result."""
    name, problem = RUNS[run]
    settings, rows = dict(problem.settings), dict[int, str]()
    algorithm = QUICK.get(name, resolve(name))
    algorithm = planned(resolve(algorithm, settings.pop("noise", None)), problem.budget)
    settings.update(space=problem.space, algorithm=algorithm)
    with tempfile.TemporaryDirectory(dir=MEMORY) as place:
        path = Path(place, "run.db")
        search = Study.open(path, **settings) if problem.resumed else Optimizer(**settings)
        for point, value in problem.known:
            search.tell(point, value)
        for point in problem.enqueued:
            search.enqueue(point)
        while len(rows) < problem.budget:
            n = min(problem.pending, problem.budget - len(rows))
            try:
                trials = search.ask(n)
                if problem.resumed and len(rows) % 8 == 0:
                    search.close()
                    search = Study.open(path)
                    trials = search.ask(n)  # handed out again
            except ExhaustedError:
                break
            for trial in reversed(trials):
                found = problem.fun(trial.params)
                value, measured = found if isinstance(found, tuple) else (found, None)
                several = isinstance(value, list)
                draw = problem.noise * DRAWS[trial.number]
                value = [each + draw for each in value] if several else value + draw
                variance = problem.variance(trial.number)
                for step in range(1, problem.settings.get("steps", 0) + 1):
                    left = (1.0 + trial.number % 3) * (1.0 / step - 1.0 / problem.settings["steps"])
                    if not search.report(trial, step, value + left):
                        value = f"stopped after {step}"
                        break
                search.tell(trial, value, constraints=measured, variance=variance)
                point = shown(*(trial.params.get(name) for name in Space(problem.space).names))
                told = value if several else [value]
                rows[trial.number] = f"{point} -> {shown(*told, *(measured or {}).values())}"
        r = search.result
        if problem.resumed:
            search.close()
    lines = [f"{number}: {rows[number]}" for number in sorted(rows)]
    best = r.hypervolume() if r.objectives.several and r.success else r.fun
    end = f"end: best {best:.6g}, {r.nrejected} ruled out, {r.nexpanded} split, {r.message}"
    return [*lines, end]


def shown(*values: Any) -> str:
    return " ".join(
        "-" if v is None else f"{v:.9g}" if isinstance(v, float) else str(v) for v in values
    )


def first_difference(run: str, old: list[str], new: list[str]) -> str | None:
    """Where two versions of a run differ, or None if their points are equal up to rounding."""
    parameters = Space(RUNS[run][1].space).parameters.values()
    for a, b in zip(old, new, strict=False):
        (number, *before), (same, *now) = (line.partition(" -> ")[0].split() for line in (a, b))
        if number != same or not (
            _same_end(a, b) if number == "end:" else all(map(_close, parameters, before, now))
        ):
            return f"{run}, trial {a}\n    is now {b}"
    return None if len(old) == len(new) else f"{run}: {len(old)} lines, now {len(new)}"


def _close(parameter: Any, a: str, b: str) -> bool:
    if a == b or "-" in (a, b) or not isinstance(parameter, Real) or parameter.step is not None:
        return a == b
    scale = log if parameter.log else float
    width = scale(parameter.high) - scale(parameter.low)
    return abs(scale(float(a)) - scale(float(b))) <= TOLERANCE * width


def _same_end(a: str, b: str) -> bool:
    (old, *rest), (new, *same) = (line.removeprefix("end: best ").split(",") for line in (a, b))
    return rest == same and (
        old == new or isclose(float(old), float(new), rel_tol=1e-4, abs_tol=1e-8)
    )


@cache
def stored() -> tuple[str, dict[str, list[str]]]:
    """The libraries with which the file was written, and the lines of every run."""
    runs: dict[str, list[str]] = {}
    first, *rest = STORED.read_text().splitlines() if STORED.exists() else [""]
    for line in rest:
        if line.startswith(HEAD):
            runs[line.removeprefix(HEAD)] = lines = []
        elif line:
            lines.append(line)
    return first.removeprefix(LIBRARIES), runs


def store(runs: dict[str, list[str]]) -> None:
    """Write the file: the runs in the order of `RUNS`."""
    parts = ["\n".join([HEAD + run, *runs[run]]) for run in RUNS]
    STORED.write_text("\n\n".join([LIBRARIES + libraries(), *parts]) + "\n")
