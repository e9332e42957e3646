"""The goals that were set for the default, each with what was measured."""

from collections.abc import Iterable, Mapping

import numpy as np

from bamsoo.base.typing import Array

from . import reference
from .case import Case
from .methods import ALL
from .score import Methods, Runs, by_problem, duel, hindsight, log_regret, outcome, scores
from .simulators import SIMULATORS
from .suites.steps import FAMILIES
from .suites.yahpo import FAMILIES as SCENARIOS
from .tables import HINDSIGHT, Table, ordered
from .tables import marks as score_marks

REGRET = {
    "branin": (-9.0, -10.0),
    "rosenbrock": (-4.0, -6.0),
    "hartmann3": (-9.0, -10.0),
    "hartmann6": (-6.0, -9.0),
    "shekel": (-3.0, -9.0),
}
"""Median log10 regret after 50 and after 100 evaluations."""

RATIO, KNOWN_RATIO, WINS, SLOWEST = 1.15, 1.05, 17, 1.0
"""Area divided by that of the best peer, and by that of COCO's virtual best; functions won of 24;
seconds of the slowest suggestion, of processor time, since the machine may be busy.
"""

OWN = "bamsoo"

GP_PEERS = ("botorch", "optuna-gp")

GoalRow = tuple[str, str, bool]


def table(rows: Iterable[GoalRow]) -> Table:
    """Goals as a table."""
    cells = [[goal, measured, "met" if met else "**not met**"] for goal, measured, met in rows]
    return Table("goals", "Goals", ["goal", "measured", "result"], cells)


def paper(ours: Runs) -> list[GoalRow]:
    """The paper's functions."""
    rows: list[GoalRow] = []
    for problem, goal in REGRET.items():
        at = np.median(log_regret(ours, problem)[:, [49, 99]], axis=0)
        rows.append(
            (
                f"{problem.capitalize()}: log10 regret at most {goal[0]:g} / {goal[1]:g} after "
                "50 / 100 evaluations",
                f"{at[0]:.1f} / {at[1]:.1f}",
                bool(np.all(at <= goal)),
            )
        )
    return rows


def bbob(methods: Methods, peers: Iterable[str]) -> list[GoalRow]:
    """Area under the curve, wins against peers, and the slowest suggestion."""
    ours, rows = methods["bamsoo"], list[GoalRow]()
    for dim in sorted({case.dim for case in ours}):
        duels = {name: duel(ours, methods[name], dim) for name in ordered(peers)}
        met = {name: d for name, d in duels.items() if d is not None}
        if not met:
            continue
        best = min(met, key=lambda name: met[name].ratio)
        ratio = met[best].ratio
        rows.append(
            (
                f"D = {dim}: at least {RATIO:g} times the area of the best peer",
                f"{ratio:.2f} times that of {ALL[best].label}",
                ratio >= RATIO,
            )
        )
        known = duel(ours, reference.runs(ours), dim)
        if known is not None:
            rows.append(
                (
                    f"D = {dim}: at least {KNOWN_RATIO:g} times the area of {reference.LABEL}",
                    f"{known.ratio:.2f} times that area",
                    known.ratio >= KNOWN_RATIO,
                )
            )
        perfect = hindsight(ours, {name: methods[name] for name in met}, dim)
        if perfect is not None:
            rows.append(
                (
                    f"D = {dim}: at least the area of {HINDSIGHT}",
                    f"{perfect.ratio:.2f} times that area",
                    perfect.ratio >= 1.0,
                )
            )
        behind = [name for name, d in met.items() if d.outcome[0] <= d.outcome[1]]
        rows.append(
            (
                f"D = {dim}: more wins than losses against each peer",
                "not against " + ", ".join(ALL[n].label for n in behind)
                if behind
                else "against all of them",
                not behind,
            )
        )
        for name in GP_PEERS:
            if dim <= 5 and name in met:
                won, lost, tied = met[name].outcome
                rows.append(
                    (
                        f"D = {dim}: at least {WINS} of 24 functions won against {ALL[name].label}",
                        f"{won} won, {lost} lost, {tied} tied",
                        won >= WINS,
                    )
                )
    slowest = max(run["slowest_cpu"] for run in ours.values())
    rows.append(
        (
            f"no suggestion takes more than {SLOWEST:g} s of processor time",
            f"the slowest took {slowest:.2f} s",
            slowest <= SLOWEST,
        )
    )
    return rows


AHEAD, SCORE_WINS, BELOW_RANDOM = 0.10, 3.0, 0.10
"""Tuning: by how much the mean score is to exceed that of every peer; wins per loss after 40 and 80
evaluations; by how much the final score may fall below that of random search on any task.
"""

MIXINT_WINS, NOISY_WINS, CONDITIONAL_WINS = 4.0, 3.0, 2.0
"""Wins per loss at the end of the budget."""


def tuning(methods: Methods) -> list[GoalRow]:
    """Scores compared with every peer's, and no task far below random search."""
    found, marks = scores(methods), score_marks(methods)
    peers = [name for name in ordered(found) if found[name] and not ALL[name].ours]
    rows: list[GoalRow] = []
    for at in marks:
        means = {n: float(np.mean([*by_problem(found[n], at).values()])) for n in (*peers, OWN)}
        best = max(peers, key=lambda name: means[name])
        gap = means[OWN] - means[best]
        rows.append(
            (
                f"mean score at least {AHEAD:.2f} above every peer's after {at} evaluations",
                f"{gap:+.3f} ({ALL[best].label})",
                gap >= AHEAD,
            )
        )
    for at in marks[-2:]:
        rows += [_wins(found, OWN, name, at, SCORE_WINS) for name in peers]
    ours, random = (by_problem(found[name], marks[-1]) for name in (OWN, "random"))
    gaps = {problem: ours[problem] - random[problem] for problem in ours if problem in random}
    worst = min(gaps, key=lambda problem: gaps[problem])
    rows.append(
        (
            f"no task with a final score more than {BELOW_RANDOM:.2f} below random search's",
            f"{gaps[worst]:+.3f} ({worst})",
            gaps[worst] >= -BELOW_RANDOM,
        )
    )
    return rows


def conditional(methods: Methods) -> list[GoalRow]:
    """Wins against every peer."""
    found, end = scores(methods), score_marks(methods)[-1]
    peers = [name for name in ordered(found) if found[name] and not ALL[name].ours]
    return [_wins(found, OWN, name, end, CONDITIONAL_WINS) for name in peers]


STEPS_SCORE = {5: 0.70, 10: 0.85, 20: 0.95}
STEPS_WINS, CROSSING_BELOW = 3.0, 0.02
"""Steps: mean scores on lcbench by full evaluations; wins per loss; by how much the mean score may
be below that without stopping where curves cross.
"""


def steps(methods: Methods) -> list[GoalRow]:
    """Scores on lcbench, wins against every peer and without stopping, and curves that cross."""
    found, rows = scores(methods), list[GoalRow]()
    peers = [name for name in ordered(found) if found[name] and name != OWN]
    learned = {case: score for case, score in found[OWN].items() if FAMILIES["lcbench"](case)}
    for at, goal in STEPS_SCORE.items():
        mean = float(np.mean([*by_problem(learned, at).values()]))
        rows.append(
            (
                f"mean score on lcbench at least {goal:.2f} after {at} evaluations",
                f"{mean:.3f}",
                mean >= goal,
            )
        )
    for at in STEPS_SCORE:
        rows += [_wins(found, OWN, name, at, STEPS_WINS) for name in peers]
    crossing = [case for case in found[OWN] if FAMILIES["curves that cross"](case)]
    for at in STEPS_SCORE:
        mine, whole = (
            float(np.mean([found[name][case][at - 1] for case in crossing]))
            for name in (OWN, "bamsoo-whole")
        )
        rows.append(
            (
                f"where curves cross, mean score at most {CROSSING_BELOW:.2f} below that without "
                f"stopping after {at} evaluations",
                f"{mine - whole:+.3f}",
                mine >= whole - CROSSING_BELOW,
            )
        )
    return rows


YAHPO_AHEAD = {
    "optuna-tpe": 0.10,
    "optuna-tpe-group": 0.10,
    "smac": 0.10,
    "optuna-gp": 0.03,
    "hebo": 0.03,
}
YAHPO_WINS = 3.0
"""Surrogates of training runs: by how much the mean score is to exceed that of a peer on the runs
that both have; wins per loss against each of them.
"""


def yahpo(methods: Methods) -> list[GoalRow]:
    """Scores and wins compared with each peer, and scores on lcbench."""
    found, rows = scores(methods), list[GoalRow]()
    marks, networks = score_marks(methods), next(iter(SCENARIOS.values()))
    peers = {name: lead for name, lead in YAHPO_AHEAD.items() if found.get(name)}
    for at in marks:
        rows += [_ahead(found, name, at, lead, found[OWN]) for name, lead in peers.items()]
    for at in marks[:-1]:
        some = [case for case in found[OWN] if networks(case)]
        rows += [
            _ahead(found, name, at, lead, some, "on lcbench, ")
            for name, lead in peers.items()
            if {*some} & {*found[name]}
        ]
    for at in marks:
        rows += [_wins(found, OWN, name, at, YAHPO_WINS) for name in peers]
    return rows


def _ahead(
    found: Mapping[str, Mapping[Case, Array]],
    peer: str,
    at: int,
    goal: float,
    cases: Iterable[Case],
    where: str = "",
) -> GoalRow:
    common = [case for case in cases if case in found[peer]]
    leads = [found[OWN][case][at - 1] - found[peer][case][at - 1] for case in common]
    lead = float(np.mean(leads))
    return (
        f"{where}mean score at least {goal:.2f} above that of {ALL[peer].label} on the same runs "
        f"after {at} evaluations",
        f"{lead:+.3f} ({len(common)} runs)",
        lead >= goal,
    )


LEVEL = 0.02
"""Simulators: by how much a score may be below that of the best peer and still be level with it."""


def simulators(methods: Methods) -> list[GoalRow]:
    """Level with the best peer or ahead on every simulator."""
    found, end = scores(methods), score_marks(methods)[-1]
    means = {name: by_problem(some, end) for name, some in found.items() if some}
    peers, rows = [name for name in means if not ALL[name].ours], list[GoalRow]()
    for problem in means[OWN]:
        ours = "bamsoo-noise" if SIMULATORS[problem].noisy and "bamsoo-noise" in means else OWN
        best = max(
            (name for name in peers if problem in means[name]),
            key=lambda name: means[name][problem],
        )
        mine, theirs = means[ours][problem], means[best][problem]
        rows.append(
            (
                f"{problem}: level with the best peer or ahead after {end} evaluations",
                f"{mine:.2f}, {ALL[best].label} {theirs:.2f}",
                mine >= theirs - LEVEL,
            )
        )
    return rows


def mixint(methods: Methods) -> list[GoalRow]:
    """Wins against the peers in one dimension."""
    found, end = scores(methods), score_marks(methods)[-1]
    peers = [name for name in ("optuna-tpe", "cma-margin", "random") if found.get(name)]
    return [_wins(found, OWN, name, end, MIXINT_WINS) for name in peers]


def noisy(methods: Methods) -> list[GoalRow]:
    """Wins of the default with ``noise="learn"``, against TPE and against the plain default."""
    found, end = scores(methods), score_marks(methods)[-1]
    peers = [name for name in ("optuna-tpe", OWN) if found.get(name)]
    if not found.get("bamsoo-noise"):
        return []
    return [_wins(found, "bamsoo-noise", name, end, NOISY_WINS) for name in peers]


def _wins(
    found: Mapping[str, Mapping[Case, Array]], ours: str, peer: str, at: int, goal: float
) -> GoalRow:
    common = [case for case in found[ours] if case in found[peer]]
    mine, theirs = (np.array([found[m][case][at - 1] for case in common]) for m in (ours, peer))
    won, lost, _ = outcome(mine, theirs)
    return (
        f"at least {goal:g} wins per loss against {ALL[peer].label} after {at} evaluations",
        f"{won} won, {lost} lost",
        won >= goal * lost,
    )
