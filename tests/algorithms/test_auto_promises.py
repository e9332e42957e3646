"""The promises of docs/auto.md about the cost and the safeguards of the default, one by one."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint
from searches import auto_with, stepwise

import bamsoo
from bamsoo import Choice, Int
from bamsoo.algorithms.tree import Status


def points(algorithm, budget, fun):
    return bamsoo.minimize(fun, [(0, 1)] * 2, budget, algorithm=algorithm).X


def bowl(**x):
    return float(sum(each**2 for each in x.values()))


def limited(**x):
    return bowl(**x), {"c": 0.1 - x["x"]}


REAL, MIXED = {"x": (-1, 2), "y": (-1, 2)}, {"x": (-1, 2), "y": bamsoo.Int(-5, 9)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("space", "options"),
    [
        (REAL, {"fun": limited, "constraints": ["c"]}),
        (MIXED, {}),
        ({**REAL, "z": bamsoo.Real(-1, 2, step=0.25)}, {}),
        ({**REAL, "z": bamsoo.Choice([1.0, 2.0])}, {}),
    ],
)
def test_the_seed_matters_where_there_are_more_than_real_numbers(space, options):
    settings = {"fun": bowl, "space": space, "budget": 20, **options}
    first, second = (bamsoo.minimize(**settings, seed=seed).X for seed in (0, 1))
    assert first != second


def test_patience_shrinks_as_the_number_of_evaluations_grows():
    bowl = lambda x: float(((x - 0.41) ** 2).sum())
    _, _, rejected = stepwise(auto_with("loop", work=200), 60, bowl)
    assert np.diff(rejected)[39:].max() <= 200 // 40 + 1
    _, _, rejected = stepwise(auto_with("loop", work=10**9), 60, bowl)
    assert np.diff(rejected)[39:].max() > 200 // 40 + 1


def test_no_step_ends_within_rounding_of_a_known_point():
    low = 2.0**43  # here the gap between neighbouring floats is 2^-9 of the range
    space = bamsoo.space.Space([(low, low + 1.0)])
    finest = space.domain.finest[0]
    opt = bamsoo.Optimizer([(low, low + 1.0)])
    steps = []
    for _ in range(40):
        trial = opt.ask()
        opt.tell(trial, abs(trial.x[0] - low - 0.3))
        if opt.evaluations[-1].origin == "repeat":  # to see whether values are exact
            continue
        unit = space.encode(trial.x)[0]
        tree = opt.result.tree
        centres = tree.x[tree.status == Status.EVALUATED][:, 0]
        if not np.any(np.abs(centres - unit) < 1e-12):
            assert all(abs(unit - other) > 3.0 * finest for other in steps)
        steps.append(unit)


def test_trials_given_back_are_handed_out_again_in_their_original_order(tmp_path):
    with bamsoo.Study.open(tmp_path / "run.db", space=[(0, 1)], algorithm="soo") as study:
        trials = [study.ask() for _ in range(3)]
        for i in (2, 0, 1):
            study.give_back(trials[i])
        assert [study.ask().number for _ in range(4)] == [0, 1, 2, 3]


# --- the shares of the tree and of the steps outside it


def valley(x):
    """Rosenbrock's function, in which steps improve for a long time."""
    x = 4.0 * np.asarray(x, dtype=float) - 2.0
    return float((100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum())


def mixed(a, b, n, kind):
    return valley([a, b]) + (n - 31) ** 2 / 50 + "cab".index(kind)


def conditional(a, kind, b=0.4, n=31, c=0.4):
    return valley([a, b if kind == "x" else c]) + (n - 31) ** 2 / 50 + (kind == "y")


def narrow(dim, most):
    return [LinearConstraint(np.ones((1, dim)), -np.inf, most)]


def sphere(x):
    return float(np.arange(1, len(x) + 1) @ (x - 0.3) ** 2)


def in_tree(space, fun, budget, measured=None, **settings):
    """For each evaluation, whether its point is that of a cell of the tree."""
    opt = bamsoo.Optimizer(space, **settings)
    asked = []
    for _ in range(budget):
        trial = opt.ask()
        asked.append(opt.space.encode(trial.x).tobytes())
        point = trial.params if opt.space.named else {"x": trial.x}
        limit = None if measured is None else {"c": measured(**point)}
        opt.tell(trial, fun(**point), constraints=limit)
    tree = opt.result.tree
    cells = {x.tobytes() for x in tree.x[tree.status == Status.EVALUATED]}
    again = [each.origin == "repeat" for each in opt.evaluations]
    return np.array([x in cells and not repeat for x, repeat in zip(asked, again, strict=True)])


MIXED = {"a": (0.0, 1.0), "b": (0.0, 1.0), "n": Int(0, 40), "kind": Choice(list("abc"))}
CONDITIONAL = {
    "a": (0.0, 1.0),
    "kind": Choice({"x": {"b": (0.0, 1.0), "n": Int(0, 40)}, "y": {"c": (0.0, 1.0)}}),
}
LUCK = np.random.default_rng(0)
SHARES = {  # space, function, evaluations, settings, first step at the latest, fewest and most
    "real": ([(0, 1)] * 2, valley, 30, {}, 8, 1, 3),
    "many real": ([(0, 1)] * 6, valley, 50, {}, 6, 3, 3),
    "mixed": (MIXED, mixed, 30, {}, 7, 3, 6),
    "conditional": (CONDITIONAL, conditional, 50, {}, 7, 3, 6),
    "known": ([(0, 1)] * 2, valley, 24, {"constraints": narrow(2, 1.2)}, 8, 3, 3),
    "known, mixed": (
        MIXED, mixed, 40, {"constraints": [lambda a, b, n, kind: a + b - 1.2]}, 7, 3, 6,
    ),
    "known, many": ([(0, 1)] * 12, sphere, 40, {"constraints": narrow(12, 2.4)}, 15, 3, 3),
    "measured": (
        [(0, 1)] * 2, valley, 24,
        {"constraints": ["c"], "measured": lambda x: float(x.sum() - 1.2)}, 7, 3, 3,
    ),
    "measured, mixed": (
        MIXED, mixed, 40,
        {"constraints": ["c"], "measured": lambda a, b, n, kind: a + b - 1.2}, 9, 3, 6,
    ),
    "noise": ([(0, 1)] * 2, lambda x: valley(x) + LUCK.normal(), 24, {"noise": "learn"}, 8, 1, 3),
    "noise, many": (
        [(0, 1)] * 6, lambda x: valley(x) + LUCK.normal(), 40, {"noise": "learn"}, 6, 3, 3,
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", SHARES)
def test_steps_have_the_promised_share_while_they_improve(kind):
    space, fun, budget, settings, latest, fewest, most = SHARES[kind]
    tree = in_tree(space, fun, budget, **settings)
    design = 0 if tree[1] else int(np.argmax(tree[1:]))  # the points right after the centre
    tree = np.delete(tree, np.arange(1, 1 + design))
    inside, outside = np.cumsum(tree), np.cumsum(~tree)
    assert (outside <= most * inside).all()
    first = int(np.argmin(tree))
    assert design + first <= latest
    # two cells are evaluated before their steps, and the last steps may not be due yet
    assert outside[-1] >= fewest * (tree[first:].sum() - 2)


@pytest.mark.slow
def test_a_plateau_that_begins_at_the_centre_is_left():
    def ore(a, b, c):
        return 0.0 if a >= 160.0 else 2.5 if b >= 150.0 else -1.0 + abs(a - 80.0) / 100.0

    for mirrored in (False, True):
        place = (lambda x: 400.0 - x) if mirrored else (lambda x: x)
        r = bamsoo.minimize(lambda x, p=place: ore(p(x[0]), *x[1:]), [(0, 400)] * 3, 100)
        assert r.fun < -0.9
