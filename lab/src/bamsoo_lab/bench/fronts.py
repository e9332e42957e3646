"""Runs with several objectives: how they are scored, and their tables, picture and goals.

A run is scored by the hypervolume of its feasible points, as a share of the hypervolume of the
front of everything that any of the compared methods found on the problem. The reference point is
that of `bamsoo.base.pareto.reference_of` for that front: the worst value of each objective on the
front, moved out by a tenth of the range of the front.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from bamsoo.base.pareto import hypervolume, non_dominated, reference_of
from bamsoo.base.typing import Array

from ..paper.output import Output
from .case import Case
from .goals import OWN, GoalRow
from .methods import ALL
from .pictures import STYLE, panels, shown
from .runs import feasible
from .score import TIE, Methods, Runs, interval, outcome
from .suites.objectives import FAMILIES, same
from .tables import LOSSES, Table, brief, ordered

AT = (25, 50, 100)
"""Numbers of evaluations after which runs are compared."""

AHEAD, AHEAD_AT, WINS, OVERHEAD = 0.08, (25, 50), 3.0, 30.0
"""Goals: by how much the mean share is to exceed that of every peer, and after how many
evaluations; wins per loss at the end; how many times our processor time BoTorch's is to be.
"""

RIVAL = "botorch-nehvi"

Shares = Mapping[str, Mapping[Case, Array]]
"""The share after each evaluation, by method and case."""


def points(run: Mapping[str, Any]) -> tuple[Array, list[int]]:
    """The feasible points of a run with the signs changed, so that larger is better.

    Returns their values, one point per row, and the index of the evaluation of each.
    """
    failed = np.array([value is None for value in run["values"]])
    met = ~failed & (feasible(run) if "violations" in run else True)
    at = np.flatnonzero(met).tolist()
    Y: Array = -np.array([run["values"][i] for i in at], dtype=float)
    return Y, at


def shares(methods: Methods) -> dict[str, dict[Case, Array]]:
    """The score of each run after each evaluation."""
    fronts = _fronts(methods)
    found: dict[str, dict[Case, Array]] = {name: {} for name in methods}
    for name, runs in methods.items():
        for case, run in runs.items():
            found[name][case] = _share(run, fronts.get(same(case)))
    return found


def _fronts(methods: Methods) -> dict[Hashable, Array]:
    """The front of everything that was found, by problem; none if nothing feasible was found."""
    union: dict[Hashable, list[Array]] = {}
    for runs in methods.values():
        for case, run in runs.items():
            if len(Y := points(run)[0]):
                union.setdefault(same(case), []).append(Y[non_dominated(Y)])
    together = {problem: np.unique(np.vstack(some), axis=0) for problem, some in union.items()}
    return {problem: Y[non_dominated(Y)] for problem, Y in together.items()}


def _share(run: Mapping[str, Any], front: Array | None) -> Array:
    share = np.zeros(run["budget"])
    if front is None:
        return share
    reference = reference_of(front)
    scale = front.max(0) - reference  # ranges may differ by many orders of magnitude
    zero = np.zeros(len(reference))
    Y, at = points(run)
    if not len(Y):
        return share
    Y = (Y - reference) / scale
    total = hypervolume((front - reference) / scale, zero)
    kept = np.empty((0, len(reference)))
    for y, i in zip(Y, at, strict=True):
        if (y > 0.0).all() and not (kept >= y).all(1).any():
            kept = np.vstack([kept[~(y >= kept).all(1)], y])
            share[i:] = hypervolume(kept, zero) / total
    return share


def marks(methods: Methods) -> list[int]:
    """The numbers of `AT` that are below every budget, and the smallest budget."""
    least = min(case.budget for runs in methods.values() for case in runs)
    return sorted({*(at for at in AT if at < least), least})


def _common(found: Shares, one: str, other: str) -> list[Case]:
    return [case for case in found[one] if case in found[other]]


def _at(found: Mapping[Case, Array], cases: Sequence[Case], at: int) -> Array:
    return np.array([found[case][at - 1] for case in cases])


def means(methods: Methods, found: Shares, own: str = OWN) -> Table:
    """Mean share of every method, and ours on the problems that it was run on."""
    at, rows = marks(methods), []
    for name in ordered(methods):
        cases = _common(found, own, name)
        if not cases:
            continue
        cells = []
        for t in at:
            low, high = interval(_at(found[name], cases, t).tolist())
            mean, mine = (float(np.mean(_at(found[m], cases, t))) for m in (name, own))
            cells.append(
                f"{mean:.3f} ({low:.2f} to {high:.2f})" + ("" if name == own else f"; {mine:.3f}")
            )
        rows.append([ALL[name].label, f"{len(cases)}", *cells])
    return Table(
        "shares",
        "Mean share of the hypervolume of everything that any method found (higher is better)",
        ["method", "runs", *(f"after {t}; {ALL[own].label}" for t in at)],
        rows,
        "Each cell is the mean over the runs of the method after that many evaluations, with its "
        f"95 % bootstrap interval, and after the semicolon the mean of {ALL[own].label} on the "
        "same runs.",
    )


def duels(methods: Methods, found: Shares, own: str = OWN) -> Table:
    """Wins, losses and ties of one method by share, on the runs that both have."""
    at, rows = marks(methods), []
    for name in ordered(methods):
        cases = _common(found, own, name)
        if name == own or not cases:
            continue
        cells = []
        for t in at:
            mine, theirs = (_at(found[m], cases, t) for m in (own, name))
            lead = float(np.mean(mine - theirs))
            cells.append(" / ".join(map(str, outcome(mine, theirs))) + f" ({lead:+.3f})")
        behind = _at(found[name], cases, at[-1]) - _at(found[own], cases, at[-1])
        worst = [i for i in np.argsort(-behind)[:LOSSES] if behind[i] > TIE]
        listed = ", ".join(f"{behind[i]:.2f} ({label(cases[i])})" for i in worst)
        rows.append([ALL[name].label, f"{len(cases)}", *cells, listed or "–"])
    return Table(
        "duels",
        f"Wins / losses / ties of {ALL[own].label} by share of the hypervolume (and its mean "
        "lead), on the runs that both methods have",
        ["against", "runs", *(f"after {t}" for t in at), f"largest losses after {at[-1]}"],
        rows,
        f"The last column lists the problems on which {ALL[own].label} trails most, and by how "
        "much.",
    )


def label(case: Case) -> str:
    """A problem as tables show it, with its dimension."""
    return f"{case.problem}, {case.dim}-D"


def by_family(methods: Methods, found: Shares) -> Table:
    """Mean share by kind of problem, of the methods that have all the runs of the kind."""
    at, rows = marks(methods), []
    names = ordered(methods)
    for family, belongs in FAMILIES.items():
        here = {case for name in names for case in found[name] if belongs(case)}
        if not here:
            continue
        cells = []
        for name in names:
            cases = [case for case in here if case in found[name]]
            whole = len(cases) == len(here)
            values = (f"{np.mean(_at(found[name], cases, t)):.2f}" for t in at)
            cells.append(" / ".join(values) if whole else "–")
        rows.append([family, f"{len(here)}", *cells])
    return Table(
        "families",
        f"Mean share after {' / '.join(map(str, at))} evaluations by kind of problem",
        ["problems", "runs", *(ALL[name].label for name in names)],
        rows,
        "“–”: the method was not run on all of them.",
    )


def by_problem(methods: Methods, found: Shares) -> Table:
    """The share of every method on every problem at the end."""
    end, names = marks(methods)[-1], ordered(methods)
    cases = list(dict.fromkeys(case for name in names for case in found[name]))
    rows = []
    for each in dict.fromkeys(label(case) for case in cases):
        cells = []
        for name in names:
            here = [case for case in found[name] if label(case) == each]
            cells.append(f"{np.mean(_at(found[name], here, end)):.2f}" if here else "–")
        rows.append([each, *cells])
    title = f"Share by problem after {end} evaluations (higher is better)"
    return Table("problems", title, ["problem", *(ALL[name].label for name in names)], rows)


def overhead(methods: Methods, own: str = OWN) -> Table:
    """The processor time of every method, and how many times ours it is on the same runs."""
    rows = []
    for name in ordered(methods):
        ratio = _times(methods[name], methods[own])
        seconds = [run["cpu"] for run in methods[name].values()]
        rows.append(
            [
                ALL[name].label,
                f"{len(seconds)}",
                brief(float(np.median(seconds))),
                brief(max(seconds)),
                brief(max(run["slowest_cpu"] for run in methods[name].values())),
                "" if ratio is None or name == own else f"{ratio:.2g}",
            ]
        )
    return Table(
        "overhead",
        "Overhead in seconds of processor time",
        [
            "method",
            "runs",
            "median per run",
            "slowest run",
            "slowest suggestion",
            f"total / {ALL[own].label}'s on the same runs",
        ],
        rows,
        "Measured on one thread, without the time of the evaluations themselves, on a busy "
        "machine.",
    )


def _times(theirs: Runs, ours: Runs) -> float | None:
    common = [case for case in theirs if case in ours]
    spent = [sum(runs[case]["cpu"] for case in common) for runs in (theirs, ours)]
    return spent[0] / spent[1] if common and spent[1] > 0 else None


def goals(methods: Methods, found: Shares) -> list[GoalRow]:
    """The lead over every peer, wins, random search, and the overhead."""
    rows: list[GoalRow] = []
    end = marks(methods)[-1]
    peers = [n for n in ordered(methods) if not ALL[n].ours and _common(found, OWN, n)]
    for t in (t for t in AHEAD_AT if t <= end):
        leads = {}
        for name in peers:
            cases = _common(found, OWN, name)
            leads[name] = float(np.mean(_at(found[OWN], cases, t) - _at(found[name], cases, t)))
        best = min(leads, key=lambda name: leads[name])
        rows.append(
            (
                f"mean share at least {AHEAD:.2f} above every peer's after {t} evaluations",
                f"{leads[best]:+.3f} ({ALL[best].label})",
                leads[best] >= AHEAD,
            )
        )
    for name in peers:
        cases = _common(found, OWN, name)
        won, lost, _ = outcome(*(_at(found[m], cases, end) for m in (OWN, name)))
        rows.append(
            (
                f"at least {WINS:g} wins per loss against {ALL[name].label} after {end} "
                "evaluations",
                f"{won} won, {lost} lost",
                won >= WINS * lost,
            )
        )
    if "random" in peers:
        cases = _common(found, OWN, "random")
        lead = _at(found[OWN], cases, end) - _at(found["random"], cases, end)
        worse = [label(cases[i]) for i in np.flatnonzero(lead < -TIE)]
        rows.append(
            (
                f"no problem on which random search is better after {end} evaluations",
                ", ".join(worse) or "none",
                not worse,
            )
        )
    if RIVAL in peers and (ratio := _times(methods[RIVAL], methods[OWN])) is not None:
        rows.append(
            (
                f"at most 1/{OVERHEAD:.0f} of the overhead of {ALL[RIVAL].label}",
                f"1/{ratio:.0f}" if ratio >= 1.0 else f"{1.0 / ratio:.1f} times it",
                ratio >= OVERHEAD,
            )
        )
    return rows


def picture(methods: Methods, found: Shares, output: Output, name: str) -> None:
    """Mean share against evaluations: methods with all runs on all problems, all on a part."""
    drawn = [m for m in shown(methods) if found[m]]
    whole = [m for m in drawn if len(found[m]) == len(found[OWN])]
    part = set.intersection(*(set(found[m]) for m in drawn))
    sets = [(whole, list(found[OWN]))]
    if part and len(whole) < len(drawn):
        sets.append((drawn, list(part)))
    with panels(output, name, len(sets)) as axes:
        axes[0].set_ylabel("mean share of the hypervolume")
        for ax, (names, cases) in zip(axes, sets, strict=True):
            t = np.arange(1, min(case.budget for case in cases) + 1)
            for method in names:
                mean = np.mean([found[method][case][: len(t)] for case in cases], axis=0)
                ax.plot(t, mean, label=ALL[method].label, **STYLE[method])
            ax.set(title=f"{len(cases)} problems", xlabel="evaluations", ylim=(0.0, 1.0))
