"""Whether answers about a finished run are right: prices of limits, other limits, tolerances.

    python lab/benchmarks/answers.py PART COUNT

prints one table of docs/answers.md, of COUNT runs of the default on each problem. PART is one of:

- `prices`: designs whose multipliers are known: at the true optimum, the slopes of the true
  functions give them. `r.active` is asked after 100 evaluations;
- `sure`: what the models expect of the best value, `r.what_if([])`, after 50 and 100 evaluations is
  compared with the known optimum, also of functions without constraints;
- `what-if`: the most expensive limit of each design is relaxed, by 5 % of the distance between the
  5 % and the 95 % quantile of the numbers measured. What `r.what_if` expects after 100 evaluations
  is compared with what a search finds that knows these and makes 50 more under the new limit;
- `robust`: problems whose robust optimum is known, because the worst point within the tolerances
  is: quadratic ones with linear constraints, and three designs whose functions are monotone.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize as descend
from scipy.optimize import nnls

import bamsoo
from bamsoo import problems
from bamsoo.base.typing import Array
from bamsoo.space import Real
from bamsoo_lab.bench.designs import DESIGNS, Design

from common import share_of

BUDGET, MORE = 100, 50

RELAXED = 0.05
"""How far a limit is relaxed, as a share of the distance between quantiles of its numbers."""

ROUNDING = 1e-6
"""Relative error of an optimum that does not count: constraints are met to about this much."""

FUNCTIONS = (problems.branin, problems.rosenbrock, problems.hartmann3, problems.hartmann6,
             problems.shekel)  # fmt: skip

CLOSE = 0.02
"""Relative error of a value that counts as right in the tables."""


def run(design: Design, seed: int) -> bamsoo.Result:
    return _of_design(design, BUDGET, seed)


# --- prices


def multipliers(design: Design) -> dict[str, float]:
    """The true price of each active limit, measured constraints and bounds, at the optimum."""
    at, space = dict(design.optimizer), design.space
    real = {name: each for name, each in space.items() if isinstance(each, Real)}
    names = list(real)
    _, c0 = design.evaluate(**at)

    def slopes(of: Callable[[dict[str, Any]], float]) -> Array:
        steps = [1e-6 * (each.high - each.low) for each in real.values()]
        return np.array(
            [
                (of({**at, n: at[n] + s}) - of({**at, n: at[n] - s})) / (2 * s)
                for n, s in zip(names, steps, strict=True)
            ]
        )

    widths = np.array([each.high - each.low for each in real.values()])
    columns: dict[str, Array] = {}
    for name in c0:
        slope = slopes(partial(_measured, design, name))
        if abs(c0[name]) <= 1e-4 * float(np.abs(slope) @ widths):
            columns[f"{name} <= 0"] = slope
    for i, n in enumerate(names):
        for end, sign, text in ((real[n].low, -1.0, ">="), (real[n].high, 1.0, "<=")):
            if abs(at[n] - end) <= 1e-6 * widths[i]:
                columns[f"{n} {text} {end:g}"] = sign * np.eye(len(names))[i]
    A = np.array([c * widths for c in columns.values()]).T
    sizes = np.linalg.norm(A, axis=0)
    b = -slopes(lambda p: design.evaluate(**p)[0]) * widths
    prices = nnls(A / sizes, b)[0] / sizes
    kept = prices * sizes > 1e-3 * np.linalg.norm(b)
    return {n: float(p) for n, p, k in zip(columns, prices, kept, strict=True) if k}


def _measured(design: Design, name: str, params: Mapping[str, Any]) -> float:
    return design.evaluate(**params)[1][name]


def prices(count: int) -> None:
    print("| design | limits that hold the optimum | found | also named "
          "| prices within 2 deviations or 5 % |")  # fmt: skip
    print("|---|--:|---|--:|---|")
    total = np.zeros(4, dtype=int)
    for name, design in DESIGNS.items():
        true = multipliers(design)
        there, right, more = 0, 0, 0
        for seed in range(count):
            r = run(design, seed)
            said = {a.limit if " " in a.limit else f"{a.limit} <= 0": a for a in r.active}
            common = [n for n in true if n in said]
            there += len(common)
            more += len(said) - len(common)
            right += sum(
                abs(said[n].price - true[n]) <= max(2 * said[n].uncertainty, 0.05 * true[n])
                for n in common
            )
        row = np.array([len(true) * count, there, more, right])
        total += row
        print(f"| {name} | {row[0]} | {share_of(there, row[0])} | {more} "
              f"| {share_of(right, there)} |", flush=True)  # fmt: skip
    print(f"| all | {total[0]} | {share_of(total[1], total[0])} | {total[2]} "
          f"| {share_of(total[3], total[1])} |")  # fmt: skip


# --- how sure the best value is


def exact() -> Iterator[tuple[str, Callable[[int, int], bamsoo.Result], float]]:
    """Problems with a known optimum: name, a run of a budget and a seed, and the optimum."""
    for name, design in DESIGNS.items():
        yield name, partial(_of_design, design), design.evaluate(**design.optimizer)[0]
    for problem in FUNCTIONS:
        yield problem.name, partial(_of_function, problem), problem.optimum


def _of_design(design: Design, budget: int, seed: int) -> bamsoo.Result:
    return bamsoo.minimize(
        design.evaluate, dict(design.space), budget, constraints=list(design.constraints), seed=seed
    )


def _of_function(problem: Any, budget: int, seed: int) -> bamsoo.Result:
    return bamsoo.minimize(problem, problem.bounds, budget, seed=seed)


def sure(count: int) -> None:
    print("| problem | after | runs | optimum within the interval "
          "| error of the best value, median "
          "| distance from the far end of the interval, median |")  # fmt: skip
    print("|---|--:|--:|---|--:|--:|")
    every: list[tuple[bool, float, float]] = []
    for name, run_of, optimum in exact():
        for budget in (BUDGET // 2, BUDGET):
            rows = []
            for seed in range(count):
                r = run_of(budget, seed)
                if not r.success:
                    continue
                said, error = r.what_if([]), ROUNDING * max(abs(optimum), 1.0)
                hit = said.low - error <= optimum <= min(said.high, r.fun) + error
                rows.append((hit, r.fun - optimum, r.fun - said.low))
            every += rows
            if rows:
                print(_sure_row(name, budget, rows), flush=True)
    hits = sum(hit for hit, _, _ in every)
    print(f"\nIn all, the optimum is within the interval in {share_of(hits, len(every))}.")


def _sure_row(name: str, budget: int, rows: list[tuple[bool, float, float]]) -> str:
    hits, errors, widths = zip(*rows, strict=True)
    error, width = max(float(np.median(errors)), 0.0), float(np.median(widths))
    return (f"| {name} | {budget} | {len(rows)} | {sum(hits)} of {len(rows)} "
            f"| {error:.2g} | {width:.2g} |")  # fmt: skip


# --- other limits


def relaxed(design: Design, seed: int) -> tuple[float, Any, float] | None:
    """The best value so far, what is expected under a relaxed limit, and what is found."""
    r = run(design, seed)
    named = [a for a in r.active if a.name in design.constraints]
    if not named:
        return None
    name = named[0].name
    by = RELAXED * float(np.ptp(np.quantile(r.C[name], [0.05, 0.95])))
    said = r.what_if(f"{name} <= {by!r}")
    limits = [f"c_{n} <= {by!r}" if n == name else f"c_{n}" for n in design.constraints]
    opt = bamsoo.Optimizer(dict(design.space), constraints=limits, seed=seed)
    for e in r.evaluations:
        c = {f"c_{n}": e.measured[j] for j, n in enumerate(design.constraints)}
        opt.tell(e.params, e.value, constraints=c)
    for _ in range(MORE):
        trial = opt.ask()
        value, measured = design.evaluate(**trial.params)
        opt.tell(trial, value, constraints={f"c_{n}": v for n, v in measured.items()})
    return r.fun, said, opt.result.fun


def what_if(count: int) -> None:
    print("| design | runs | gain expected, median | gain found, median | within the interval "
          f"| within {CLOSE:.0%} of what was found |")  # fmt: skip
    print("|---|--:|--:|--:|---|---|")
    every: list[tuple[float, Any, float]] = []
    for name, design in DESIGNS.items():
        rows = [row for seed in range(count) if (row := relaxed(design, seed)) is not None]
        every += rows
        if rows:
            print(_row(name, rows), flush=True)
    print(_row("all", every))


def _row(name: str, rows: list[tuple[float, Any, float]]) -> str:
    hits = sum(s.low - 1e-6 * abs(f) <= f <= s.high + 1e-6 * abs(f) for _, s, f in rows)
    close = sum(abs(s.fun - f) <= CLOSE * abs(f) for _, s, f in rows)
    expected = np.median([(b - s.fun) / abs(b) for b, s, _ in rows])
    found = np.median([(b - f) / abs(b) for b, _, f in rows])
    return (f"| {name} | {len(rows)} | {expected:.2%} | {found:.2%} "
            f"| {share_of(hits, len(rows))} | {share_of(close, len(rows))} |")  # fmt: skip


# --- tolerances


class Toleranced(NamedTuple):
    """A problem whose worst point within the tolerances is known."""

    name: str
    evaluate: Callable[..., tuple[float, dict[str, float]]]
    space: Mapping[str, Any]
    constraints: tuple[str, ...]
    tolerances: dict[str, float]
    worst: Callable[[Array], tuple[float, Array]]
    """The worst value, and the worst of each constraint, at a point."""


def quadratic(seed: int) -> Toleranced:
    """A sum of squares with two linear constraints."""
    rng = np.random.default_rng(seed)
    n = 2 + seed % 3
    a, centre = rng.uniform(0.5, 3.0, n), rng.uniform(0.3, 1.0, n)
    G = rng.uniform(-0.3, 1.0, (2, n))
    inner, outer = 0.5 * G @ centre, G @ centre  # half-way to the centre is feasible
    b = inner + np.maximum(rng.uniform(0.3, 0.7, 2) * (outer - inner), 0.05)
    width = rng.uniform(0.01, 0.05, n)
    names = [f"x{i}" for i in range(n)]

    def evaluate(**p: float) -> tuple[float, dict[str, float]]:
        x = np.array([p[name] for name in names])
        c = G @ x - b
        return float(a @ (x - centre) ** 2), {"c0": float(c[0]), "c1": float(c[1])}

    def worst(x: Array) -> tuple[float, Array]:
        f = float(a @ (np.abs(x - centre) + width) ** 2)
        return f, G @ x - b + np.abs(G) @ width

    space = {name: Real(0.0, 1.0) for name in names}
    return Toleranced(f"quadratic {seed}", evaluate, space, ("c0", "c1"),
                      dict(zip(names, width.tolist(), strict=True)), worst)  # fmt: skip


def monotone(name: str, share: float) -> Toleranced:
    """A design whose value grows with every parameter, while its constraints fall."""
    design = DESIGNS[name]
    width = np.array([share * design.optimizer[n] for n in design.space])

    def worst(x: Array) -> tuple[float, Array]:
        f = design.evaluate(**dict(zip(design.space, x + width, strict=True)))[0]
        c = design.evaluate(**dict(zip(design.space, x - width, strict=True)))[1]
        return f, np.array(list(c.values()))

    widths = dict(zip(design.space, width.tolist(), strict=True))
    return Toleranced(name, design.evaluate, design.space, design.constraints, widths, worst)


def robust_optimum(problem: Toleranced) -> float:
    """The best worst value, by many descents with the true functions."""
    box = np.array([(p.low, p.high) for p in problem.space.values()])
    width = np.array(list(problem.tolerances.values()))
    box = np.stack([box[:, 0] + width, box[:, 1] - width], axis=1)
    best = np.inf
    for start in np.random.default_rng(0).random((40, len(box))):
        found = descend(
            lambda x: problem.worst(x)[0], box[:, 0] + start * (box[:, 1] - box[:, 0]),
            method="SLSQP", bounds=box, options={"maxiter": 300, "ftol": 1e-12},
            constraints=[{"type": "ineq", "fun": lambda x: -problem.worst(x)[1]}],
        )  # fmt: skip
        if problem.worst(found.x)[1].max() <= 1e-7:
            best = min(best, float(found.fun))
    return best


def tolerances(count: int) -> None:
    problems: Iterator[Callable[[], Toleranced]] = iter(
        [
            *(partial(quadratic, seed) for seed in range(10)),
            *(partial(monotone, n, 0.01) for n in ("three-bar-truss", "cantilever-beam",
                                                   "tubular-column")),
        ]
    )  # fmt: skip
    print("| problem | parameters | best worst value | expected worst, median "
          "| true worst, median | feasible within the tolerances "
          "| true worst at most as expected | sure, mean |")  # fmt: skip
    print("|---|--:|--:|--:|--:|---|---|--:|")
    held, met, runs = 0, 0, 0
    for make in problems:
        problem = make()
        truth = robust_optimum(problem)
        said, true, fine, sure = [], [], [], []
        for seed in range(count):
            r = bamsoo.minimize(problem.evaluate, dict(problem.space), BUDGET,
                                constraints=list(problem.constraints), seed=seed)  # fmt: skip
            answer = r.robust(problem.tolerances)
            f, c = problem.worst(np.array([answer.params[n] for n in problem.space]))
            said.append(answer.fun)
            true.append(f)
            fine.append(bool(c.max() <= 0.0))
            sure.append(answer.sure)
        hits = sum(t <= s + 1e-6 * abs(s) for t, s in zip(true, said, strict=True))
        held, met, runs = held + hits, met + sum(fine), runs + count
        print(f"| {problem.name} | {len(problem.space)} | {truth:.5g} | {np.median(said):.5g} "
              f"| {np.median(true):.5g} | {sum(fine)} of {count} | {hits} of {count} "
              f"| {np.mean(sure):.2f} |", flush=True)  # fmt: skip
    print(f"\nIn all, {share_of(met, runs)} are feasible within the tolerances, and in "
          f"{share_of(held, runs)} the true worst value is at most the expected one.")  # fmt: skip


PARTS = {"prices": prices, "sure": sure, "what-if": what_if, "robust": tolerances}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=list(PARTS))
    parser.add_argument("count", type=int)
    given = parser.parse_args()
    PARTS[given.part](given.count)


if __name__ == "__main__":
    main()
