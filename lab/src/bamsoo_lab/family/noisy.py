"""The regret of the points that StoSOO and StroquOOL recommend under noise."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bamsoo.algorithms import SOO, Algorithm, StoSOO, StroquOOL
from bamsoo.base.typing import Array
from bamsoo.run.optimize import maximize

from ..jobs.source import Source
from ..jobs.task import Finished, Settings, Task
from ..paper.experiment import Experiment, Request
from ..paper.output import BLUE, GREEN, ORANGE, Assertion, Output, claims, image, table
from .peaks import Peak
from .states import state

PEAKS = (Peak(1, 2, 2), Peak(2, 1, 1), Peak(1, 1, 2))
DEVIATIONS = (0.0, 0.03, 0.3)
"""Standard deviations of the normal noise; the exact values span an interval of width 1."""

ALGORITHMS: dict[str, Algorithm] = {"stosoo": StoSOO(), "stroquool": StroquOOL(), "soo": SOO()}
NAMES = {"stosoo": "StoSOO", "stroquool": "StroquOOL", "soo": "SOO, ignoring noise"}
COLOUR = {"stosoo": ORANGE, "stroquool": BLUE, "soo": GREEN}
FLOOR = 1e-13
"""Smaller regrets count as this, in pictures and in fits."""

LOUD = DEVIATIONS[-1]
SetUp = tuple[Peak, float, str]


def tasks(request: Request) -> list[Task]:
    """One task for each algorithm, function, noise, budget and run."""
    scale = request.scale
    return [
        Task(
            "family.noisy:run",
            {
                "algorithm": name,
                "dim": peak.dim,
                "a": peak.a,
                "b": peak.b,
                "deviation": deviation,
                "budget": budget,
                "run": run,
                "state": state(name),
            },
            budget / 15_000,
            source=Source.NONE,
        )
        for name in ALGORITHMS
        for peak in PEAKS
        for deviation in DEVIATIONS
        for budget in budgets(scale.noisy_evaluations)
        for run in range(scale.family_runs)
    ]


def budgets(largest: int) -> list[int]:
    """Four budgets, each four times as large as the one before."""
    return [largest // 4**i for i in (3, 2, 1, 0)]


def run(settings: Settings, context: Settings) -> dict[str, Any]:
    """The true regret of the point that is recommended at the end."""
    peak, number = Peak(settings["dim"], settings["a"], settings["b"]), settings["run"]
    f, deviation = peak.at(number), settings["deviation"]
    noise = np.random.default_rng([7, number, settings["budget"]])
    r = maximize(
        lambda x: f(x) + deviation * noise.standard_normal(),
        [(0.0, 1.0)] * peak.dim,
        settings["budget"],
        algorithm=ALGORITHMS[settings["algorithm"]],
    )
    return {"regret": -f(r.x)}


def sorted_runs(runs: Sequence[Finished]) -> dict[SetUp, dict[int, Array]]:
    """log10 of the regrets, by case and budget."""
    regrets: dict[SetUp, dict[int, list[float]]] = {}
    for each in runs:
        s = each.settings
        key = Peak(s["dim"], s["a"], s["b"]), s["deviation"], s["algorithm"]
        regrets.setdefault(key, {}).setdefault(s["budget"], []).append(each.result["regret"])
    return {
        key: {n: np.log10(np.maximum(some, FLOOR)) for n, some in sorted(by_budget.items())}
        for key, by_budget in regrets.items()
    }


def exponent(by_budget: dict[int, Array]) -> tuple[float, float]:
    """Slope of log r against log n, and its standard error."""
    x = np.concatenate([np.full(len(y), np.log10(n)) for n, y in by_budget.items()])
    y = np.concatenate(list(by_budget.values()))
    x -= x.mean()
    slope = float(x @ y / (x @ x))
    rest = y - y.mean() - slope * x
    return slope, float(np.sqrt(rest @ rest / (len(y) - 2) / (x @ x)))


def of_stosoo(n: Array, d: float) -> Array:
    """The bound on StoSOO's regret up to a constant factor; the paper gives it for d = 0."""
    assert d == 0
    return np.log(n) ** 2 / np.sqrt(n)


def of_stroquool(n: Array, d: float) -> Array:
    """The bound on StroquOOL's regret up to a constant factor."""
    bound: Array = (n / np.log(n) ** 2) ** (-1.0 / (d + 2.0))
    return bound


def expected(bound: Callable[[Array, float], Array], sizes: Sequence[int], d: float) -> float:
    """The exponent of a bound between these budgets, including the effect of its logarithms."""
    n = np.array(sizes, dtype=float)
    return float(np.polyfit(np.log(n), np.log(bound(n, d)), 1)[0])


def write(runs: Sequence[Finished], output: Output) -> str:
    """The regrets and their exponents."""
    found = sorted_runs(runs)
    sizes = sorted({n for some in found.values() for n in some})
    output.csv(
        "family_noisy",
        ["function", "d", "deviation", "algorithm", *(f"log10_r_{n}" for n in sizes)],
        (
            [p.label, p.d, s, NAMES[name], *(f"{some[n].mean():.2f}" for n in sizes)]
            for (p, s, name), some in found.items()
        ),
    )
    rows = [
        [p.label, f"{p.d:g}", f"{s:g}", NAMES[name]]
        + [f"{found[p, s, name][n].mean():.1f}" for n in sizes]
        + ["{:.2f} ± {:.2f}".format(*exponent(found[p, s, name])) if s else ""]
        for p in PEAKS
        for s in DEVIATIONS
        for name in ALGORITHMS
    ]
    largest = sizes[-1]
    quiet = [
        float(found[p, s, "stosoo"][largest].mean() - found[p, s, "stroquool"][largest].mean())
        for p in PEAKS
        for s in DEVIATIONS[:2]
    ]
    _draw(found, output)
    return output.section(
        21,
        "family-noisy",
        "\n\n".join(
            [
                "## StoSOO and StroquOOL under noise",
                "Each row is an algorithm on a function with normal noise of standard deviation s. "
                "The columns “n = …” give the mean of log10 of the true regret r of the point "
                "recommended after n evaluations, over "
                f"{len(runs) // (len(found) * len(sizes))} runs; lower is better. The exponent is "
                "the slope of log r against log n, with its standard error; a more negative slope "
                "means faster convergence. SOO takes every value for exact, and recommends the "
                "point with the best value that it has seen.",
                table(
                    ["function", "d", "s", "algorithm", *(f"n = {n}" for n in sizes), "exponent"],
                    rows,
                ),
                image(
                    "family-noisy",
                    "Regret of the recommended point under noise; bars are standard errors",
                ),
                claims(
                    [
                        _bound(
                            "StroquOOL's regret under noise is O((n / log² n)^(−1/(d + 2)))",
                            {p: exponent(found[p, LOUD, "stroquool"]) for p in PEAKS},
                            {p: expected(of_stroquool, sizes, p.d) for p in PEAKS},
                        ),
                        _bound(
                            "StoSOO's regret is O(log² n / √n) where d = 0",
                            {p: exponent(found[p, LOUD, "stosoo"]) for p in PEAKS if p.d == 0},
                            {p: expected(of_stosoo, sizes, 0.0) for p in PEAKS if p.d == 0},
                        ),
                        Assertion.of(
                            "StroquOOL adapts to weak noise, which StoSOO cannot",
                            f"with s ≤ {DEVIATIONS[1]:g}, its regret after {largest} evaluations "
                            f"is smaller by a factor of 10^{min(quiet):.1f} to 10^{max(quiet):.1f}",
                            [decades > 0 for decades in quiet],
                        ),
                    ]
                ),
            ]
        ),
    )


def _bound(
    words: str, measured: dict[Peak, tuple[float, float]], bounds: dict[Peak, float]
) -> Assertion:
    """Whether the regret falls at least as fast as its bound, up to one standard error."""
    return Assertion.of(
        words,
        f"exponents at s = {LOUD:g} (in parentheses, those of the bound for these n): "
        + ", ".join(f"{e:.2f} ± {se:.2f} ({bounds[p]:.2f})" for p, (e, se) in measured.items()),
        [e <= bounds[p] + se for p, (e, se) in measured.items()],
    )


def _draw(found: dict[SetUp, dict[int, Array]], output: Output) -> None:
    sizes = sorted(next(iter(found.values())))
    size = {"nrows": len(DEVIATIONS), "ncols": len(PEAKS), "sharex": True}
    with output.picture("family-noisy", 12.0, 9.0, **size) as axes:
        for row, deviation in zip(axes, DEVIATIONS, strict=True):
            for ax, peak in zip(row, PEAKS, strict=True):
                for name, label in NAMES.items():
                    some = found[peak, deviation, name]
                    means = [y.mean() for y in some.values()]
                    errors = [y.std() / np.sqrt(max(len(y) - 1, 1)) for y in some.values()]
                    style = {"fmt": "o-", "color": COLOUR[name], "label": label, "capsize": 3}
                    ax.errorbar(list(some), means, errors, **style)
                ax.set_xscale("log")
                ax.set_title(f"{peak.label}; noise s = {deviation:g}")
            row[0].set_ylabel("mean of log10 r")
        for ax in axes[-1]:
            ax.set_xlabel("evaluations n")
            ax.set_xticks(sizes, list(map(str, sizes)))
            ax.minorticks_off()
        axes[0, 0].legend()


EXPERIMENT = Experiment("family-noisy", tasks, write)
