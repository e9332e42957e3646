"""The default algorithm with its parts switched off or changed, one at a time.

For the paper's functions, the median log10 regret after 50 and 100 evaluations is printed. Their
boxes are cut at random around an optimum, so that no centre of a cell falls on it; the boxes have
numbers from 100 on, because boxes 0 to 9 are used in the report. For the 24 functions of BBOB, on
instances for development, the area under the curve is printed.

With `--mixed`, options with parameters of their own and constraints take their place, on problems
for development alone (`bamsoo_lab.bench.develop`). For each problem with options, the number of
runs that come within 1e-3 of the optimum is printed, after 40 and 60 evaluations; for each design,
the gap to the optimum after 100 evaluations in percent, as the median over seeds.

    OPENBLAS_NUM_THREADS=1 python lab/benchmarks/ablation.py [--boxes 10] [--only "no warp" ...]
    OPENBLAS_NUM_THREADS=1 python lab/benchmarks/ablation.py --mixed [--runs 5] [--only ...]

With `--yahpo` or `--bbob`, every variant is compared with the default run by run: mean scores on
the surrogates of training runs, or areas on the functions of BBOB, and in parentheses the standard
error of the difference over the runs. A score of 0 is the median of random points, and 1 the best
value of all runs on a task. `--runs` is the number of seeds of each task, or of
instances of each function; all tasks and instances are for development. `--change` adds variants
that have no name here, and `--earlier` an earlier source whose runs are in the folder `--out`.
Finished runs are stored there, so that the same command continues where it was interrupted; another
worktree may use the same folder.

    python lab/benchmarks/ablation.py --yahpo --data DIR [--scenarios lcbench] [--runs 8]
    python lab/benchmarks/ablation.py --bbob [--dims 2 5 10] [--runs 3] [--only "no warp" ...]
    python lab/benchmarks/ablation.py --bbob --only default --change "climb.wide=0.8 warp=False"
    python lab/benchmarks/ablation.py --bbob --only default --earlier 0123456789ab
"""

import argparse
import os
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from time import process_time

import numpy as np
from rich.console import Console

import bamsoo
from bamsoo.base.typing import Array
from bamsoo_lab.bench import archive, methods
from bamsoo_lab.bench.case import Case, Target
from bamsoo_lab.bench.compare import found_runs
from bamsoo_lab.bench.comparison import check_packages
from bamsoo_lab.bench.develop import BRANCHES, DESIGNS
from bamsoo_lab.bench.methods.ours import changed
from bamsoo_lab.bench.runs import task, trace
from bamsoo_lab.bench.score import Runs, auc, scores
from bamsoo_lab.bench.suites import ALL, Selection, bbob, paper, target, yahpo
from bamsoo_lab.bench.yahpo import FOLDER, SCENARIOS, scenario_of
from bamsoo_lab.jobs.pool import Batch, perform
from bamsoo_lab.jobs.source import searches
from bamsoo_lab.jobs.store import Store

from common import versions

BBOB = {2: (1, 2, 3), 5: (1, 2), 10: (1,)}
"""Instances by dimension."""

VARIANTS = {
    "default": "",
    "no steps": "local=False",
    "no steps along axes": "axes.active=False",
    "the region shrinks as fast with many axes": "climb.few=inf",
    "close climb alone": "climb.wide=0.0",
    "wide climb alone": "climb.close=0",
    "no trust region": "climb.narrowest=1.0",
    "no quadratic trend": "local.trends=(0.0,)",
    "no heavy trends": "local.heavy=0.0",
    "no logarithms": "local.bend=None",
    "one step per evaluation": "schedule.usual=1",
    "no candidates": "schedule.candidates=False",
    "no demand": "demand.free=1000000000",
    "no probes": "climb.probe=0.0",
    "no repeated point": "schedule.doubts=False",
    "no warp": "warp=False",
    "no calibration": "prior.widest=1.0",
    "whole B_N": "width=1.0",
    "k = 3": "k=3",
    "patience 30": "patience=30",
}
"""What each variant changes (`changed`)."""

MIXED = {
    "default": "",
    "no climbs": "climb.close=0 climb.wide=0.0",
    "no candidates": "schedule.candidates=False",
    "no demand": "demand.free=1000000000",
    "options share equally": "schedule.falling=1.0",
    "the most promising option alone": "schedule.falling=0.0",
    "no margins": "climb.margins=(1e-9,1e-9)",
    "no larger design": "loop.design=-1000000000",
    "whole bounds": "loop.drawn_width=1.0",
    "neighbours along 4 axes": "candidates.axes=4.0",
}
"""The same for options and constraints."""

TRIED = {
    "default": "",
    "values are not warped": "warp=False",
    "six steps per evaluation in the tree": "schedule.usual=6",
    "bounds of twice the width": "width=1.0 loop.drawn_width=1.0",
    "neighbours along 4 axes": "candidates.axes=4.0",
}
"""The same for `--yahpo` and `--bbob`."""

AT = (10, 20, 30, 40, 100)
"""Numbers of evaluations after which `--yahpo` gives scores."""


def regrets(case: Case, algorithm: bamsoo.algorithms.Auto) -> Array:
    """The best regret so far after each evaluation of one run."""
    goal = target(case)
    fun, optimum = goal.exact()
    r = bamsoo.minimize(fun, goal.space, case.budget, algorithm=algorithm)
    best: Array = np.fmin.accumulate(r.F) - optimum
    return best


def row(algorithm: bamsoo.algorithms.Auto, boxes: int) -> list[str]:
    """The cells of one variant's row in the table."""
    cells, began = [], process_time()
    cases = paper.cases(range(100, 100 + boxes))
    for name in paper.NAMES:
        runs = [regrets(case, algorithm)[[49, 99]] for case in cases if case.problem == name]
        at_50, at_100 = np.median(np.log10(np.maximum(runs, 1e-16)), axis=0)
        cells.append(f"{at_50:.1f} / {at_100:.1f}")
    seconds = (process_time() - began) / len(cases)
    for dim, instances in BBOB.items():
        areas = [auc(regrets(case, algorithm)) for case in bbob.cases(dim, instances)]
        cells.append(f"{np.mean(areas):.3f}")
    return [*cells, f"{seconds:.2f}"]


def feasible_gaps(goal: Target, algorithm: bamsoo.algorithms.Auto, budget: int, seed: int) -> Array:
    """How far the best feasible value so far is above the optimum, after each evaluation."""
    assert goal.optimum is not None
    r = bamsoo.minimize(
        goal.fun, goal.space, budget, algorithm=algorithm, constraints=goal.constraints, seed=seed
    )
    values = r.F if not goal.constraints else np.where(r.feasible, r.F, inf)
    gaps: Array = np.fmin.accumulate(values) - goal.optimum
    return gaps


def mixed_row(algorithm: bamsoo.algorithms.Auto, runs: int) -> list[str]:
    """The cells of one variant's row in the table of options and constraints."""
    cells, began = [], process_time()
    for branch in BRANCHES.values():
        gaps = [feasible_gaps(branch(i), algorithm, 60, i) for i in range(1, 1 + runs)]
        close = (np.array(gaps)[:, [39, 59]] < 1e-3).sum(0)
        cells.append(f"{close[0]} / {close[1]}")
    for goal in DESIGNS.values():
        ends = [feasible_gaps(goal, algorithm, 100, i)[-1] for i in range(1, 1 + runs)]
        assert goal.optimum is not None
        cells.append(f"{100.0 * float(np.median(ends)) / abs(goal.optimum):.2g}")
    return [*cells, f"{process_time() - began:.0f}"]


def stored_runs(
    names: Mapping[str, str], cases: Sequence[Case], out: Path, jobs: int
) -> dict[str, Runs]:
    """The runs of each row of a table, whose method `names` gives as `methods.find` takes it.

    Missing runs are made, except those of an earlier source.
    """
    suite = ALL[cases[0].suite]
    made = [methods.find(name).name for name in names.values() if "@" not in name]
    todo = [task(name, case) for name in made for case in cases]
    check_packages(suite, todo)
    perform([Batch(todo, jobs)], Store(out), Console(stderr=True))
    stored = [run for run in archive.read(out) if run["suite"] == suite.name]
    found = {row: found_runs(name, cases, stored) for row, name in names.items()}
    for row, runs in found.items():
        if len(runs) < len(cases):
            raise SystemExit(f"{row}: {len(runs)} of {len(cases)} runs are in {out}")
    return found


def compared(figures: Mapping[str, Array]) -> None:
    """Print one row per variant: means over the runs, and the differences from the default.

    Each array has one row per run and one column per measure.
    """
    default = figures["default"]
    for name, some in figures.items():
        gains = some - default
        errors = gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
        cells = [
            f"{mean:.3f}" if some is default else f"{mean:.3f}: {gain:+.3f} ({error:.3f})"
            for mean, gain, error in zip(some.mean(axis=0), gains.mean(axis=0), errors, strict=True)
        ]
        print(f"| {name} | " + " | ".join(cells) + " |")


def surrogates(names: Mapping[str, str], chosen: argparse.Namespace) -> None:
    """Print a table of scores for each kind of surrogates, and one for all of them."""
    if chosen.data is not None:
        os.environ[FOLDER] = str(chosen.data.resolve())
    wanted = Selection(part="develop", instances=tuple(range(chosen.runs)))
    cases = [c for c in yahpo.cases(wanted) if scenario_of(c.problem) in chosen.scenarios]
    runs = stored_runs({**names, "random": "random"}, cases, chosen.out, chosen.jobs)
    found = scores(runs, pooled=True)
    for kind in ("all", *chosen.scenarios) if len(chosen.scenarios) > 1 else chosen.scenarios:
        some = [case for case in cases if kind in ("all", scenario_of(case.problem))]
        heading([f"{kind}, {len(some)} runs", *(f"after {at}" for at in AT)])
        compared(
            {row: np.array([found[row][case][np.array(AT) - 1] for case in some]) for row in names}
        )


def functions(names: Mapping[str, str], chosen: argparse.Namespace) -> None:
    """Print a table of areas on BBOB for each dimension."""
    for dim in chosen.dims:
        cases = bbob.cases(dim, range(1, 1 + chosen.runs))
        found = stored_runs(names, cases, chosen.out, chosen.jobs)
        heading([f"BBOB {dim}-D, {len(cases)} runs", "area"])
        areas = {row: [[auc(trace(runs[case]))] for case in cases] for row, runs in found.items()}
        compared({row: np.array(some) for row, some in areas.items()})


def heading(heads: Sequence[str]) -> None:
    """Print the first two lines of a table."""
    print("\n| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    tables = parser.add_mutually_exclusive_group()
    for table in ("mixed", "yahpo", "bbob"):
        tables.add_argument(f"--{table}", action="store_true")
    parser.add_argument("--boxes", type=int, default=10)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--change", nargs="+", default=[], help="such as 'climb.wide=0.8 k=3'")
    parser.add_argument("--earlier", nargs="+", default=[], metavar="SOURCE")
    parser.add_argument("--data", type=Path, help=f"by default the folder in {FOLDER}")
    parser.add_argument("--scenarios", nargs="+", choices=SCENARIOS, default=list(SCENARIOS))
    parser.add_argument("--dims", nargs="+", type=int, default=[2, 5, 10])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("out/ablation"))
    chosen = parser.parse_args()
    known = MIXED if chosen.mixed else VARIANTS
    shown = list(known)
    if chosen.yahpo or chosen.bbob:
        known = (MIXED if chosen.yahpo else VARIANTS) | TRIED
        shown = list(TRIED)
    shown = chosen.only or shown
    if unknown := [name for name in shown if name not in known]:
        parser.error(f"{unknown[0]!r} is not in this table; expected some of {list(known)}")
    print(versions())
    if chosen.yahpo or chosen.bbob:
        print(f"source {searches()}")
        changes = {"default": "", **{name: known[name] for name in shown}}
        changes |= {change: change for change in chosen.change}
        names = {row: f"bamsoo({change})" for row, change in changes.items()}
        names["default"] = "bamsoo"
        names |= {f"source {source}": f"bamsoo@{source}" for source in chosen.earlier}
        chosen.runs = chosen.runs or (8 if chosen.yahpo else 3)
        if chosen.bbob and chosen.runs > 7:
            parser.error("BBOB has instances 1 to 7 for development; expected --runs of at most 7")
        (surrogates if chosen.yahpo else functions)(names, chosen)
        return
    if chosen.mixed:
        heads = [*BRANCHES, *DESIGNS, "seconds in all"]
    else:
        heads = [*paper.NAMES, *(f"BBOB {dim}-D" for dim in BBOB), "seconds"]
    heading(["", *heads])
    for name in shown:
        auto = changed(known[name])
        cells = mixed_row(auto, chosen.runs or 5) if chosen.mixed else row(auto, chosen.boxes)
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
