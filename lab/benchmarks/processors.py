"""How much the points of a run differ between types of processors, and which runs diverge.

    python lab/benchmarks/processors.py [CORE TYPE ...]

OpenBLAS has routines for each type of processor, and OPENBLAS_CORETYPE chooses among them. Runs
are made with the routines for this machine, and then replayed with each of the others in a separate
process.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import bamsoo
from bamsoo import problems
from bamsoo.algorithms import resolve
from bamsoo.base.blas import kernels_in_use
from bamsoo.errors import ReplayError
from bamsoo.record.events import Asked, Told

CORES = ("Haswell", "SkylakeX", "Sandybridge", "Nehalem")
BUDGETS = {"auto": 100, "bamsoo": 80, "gp-ucb": 12}
BBOB = (1, 3, 8, 10, 15, 20)

Events = list[tuple[list[float], float]]


def cases() -> dict[str, tuple[Callable[[Any], float], Any]]:
    """For each name, a function of an array and its space."""
    import ioh

    found: dict[str, tuple[Callable[[Any], float], Any]] = {}
    for name in ("branin", "hartmann3", "hartmann6", "shekel"):
        problem = getattr(problems, name)
        found[name] = problem, problem.bounds
    for number in BBOB:
        for dim in (2, 5):
            function = ioh.get_problem(number, 1, dim, ioh.ProblemClass.BBOB)
            found[f"f{number}-{dim}d"] = function, [(-5.0, 5.0)] * dim
    return found


def make() -> dict[str, Events]:
    """The points and values of every run."""
    made: dict[str, Events] = {}
    for algorithm, budget in BUDGETS.items():
        for name, (fun, space) in cases().items():
            search = bamsoo.Optimizer(space, algorithm=resolve(algorithm))
            events: Events = []
            for _ in range(budget):
                trial = search.ask()
                value = float(fun(trial.x))
                search.tell(trial, value)
                events.append((trial.x.tolist(), value))
            made[f"{algorithm} {name}"] = events
    return made


def replay(made: dict[str, Events]) -> dict[str, Any]:
    """The distance of each point from the one asked for here, and the runs that diverged."""
    apart: list[float] = []
    ended: dict[str, tuple[int, str]] = {}
    touched = 0
    for run, events in made.items():
        algorithm, name = run.split()
        search = bamsoo.Optimizer(cases()[name][1], algorithm=resolve(algorithm))
        before = sum(distance > 0.0 for distance in apart)
        course = search._course
        for number, (x, value) in enumerate(events):
            try:
                course.apply(Asked(number, np.array(x).tobytes()))
            except ReplayError as error:
                ended[run] = number, str(error)
                break
            apart.append(course.apart.get(number, 0.0))
            course.apply(Told(number, None, (value,)))
        touched += run in ended or sum(distance > 0.0 for distance in apart) > before
    return {"kernels": kernels_in_use(), "apart": apart, "ended": ended, "touched": touched}


def main() -> None:
    if sys.argv[1:] == ["--replay"]:
        json.dump(replay(json.load(sys.stdin)), sys.stdout)
        return
    made = make()
    print(f"made with {kernels_in_use()}: {len(made)} runs of {', '.join(BUDGETS)}")
    print(
        "| replayed with | points replayed | points adopted | median distance | 90 % quantile "
        "| largest distance | runs with differences | runs refused |\n" + "|---" * 8 + "|"
    )
    for core in sys.argv[1:] or CORES:
        ran = subprocess.run(
            [sys.executable, __file__, "--replay"],
            input=json.dumps(made),
            env={**os.environ, "OPENBLAS_CORETYPE": core},
            capture_output=True,
            text=True,
            check=True,
        )
        found = json.loads(ran.stdout)
        adopted = np.array([distance for distance in found["apart"] if distance > 0.0])
        half, most = np.quantile(adopted, [0.5, 0.9]) if len(adopted) else (0.0, 0.0)
        print(
            f"| {core} ({found['kernels']}) | {len(found['apart'])} | {len(adopted)} | {half:.0e} "
            f"| {most:.0e} | {adopted.max(initial=0.0):.0e} | {found['touched']} "
            f"| {len(found['ended'])} |",
            flush=True,
        )
        for run, (_, why) in found["ended"].items():
            print(f"  {run}: {why}", file=sys.stderr)


if __name__ == "__main__":
    main()
