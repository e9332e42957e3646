"""Constraints that evaluations measure: results, BaMSOO's rule, nan and inf, studies, workers."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import inf, nan

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from searches import ONCE, QUICK, REPEATING

import bamsoo
from bamsoo import Study
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.grades import Ahead
from bamsoo.algorithms.known import Known
from bamsoo.algorithms.limits import Limits
from bamsoo.algorithms.search import Outcome
from bamsoo.algorithms.tree import Status
from bamsoo.errors import SettingsError, StudyError, ValueTypeError
from bamsoo.run.loop import Ending
from bamsoo.space.axes import cube

ALL = [pytest.param(QUICK.get(name, name), id=name) for name in sorted(ONCE)]
BOX = [(0, 1), (0, 1)]


def disc(x):
    """A slope over a disc around the centre; the optimum is on the edge, towards the origin."""
    return float(x[0] + x[1]), {"disc": float((x[0] - 0.5) ** 2 + (x[1] - 0.5) ** 2 - 0.04)}


BEST = 1.0 - 0.2 * 2**0.5
ODD = {
    "none": None,
    "masked": np.ma.masked,
    "masked array": np.ma.array([-1.0], mask=[True]),
    "401 digits": 10**400,
    "5,001 digits": 10**5000,
}


@pytest.mark.parametrize("algorithm", ALL)
def test_the_result_is_the_best_feasible_point(algorithm):
    r = bamsoo.minimize(disc, BOX, 20, algorithm=algorithm, constraints=["disc"])
    F, C = np.array([disc(x)[0] for x in r.X]), np.array([disc(x)[1]["disc"] for x in r.X])
    assert r.nfev == 20
    assert np.array_equal(r.F, F)
    assert np.array_equal(r.C["disc"], C)
    assert np.array_equal(r.feasible, C <= 0)
    assert r.success
    assert r.fun == F[C <= 0].min()
    assert disc(r.x)[0] == r.fun
    assert r.ninfeasible == (C > 0).sum()
    assert len({x.tobytes() for x in r.X}) == 20


def test_the_default_finds_an_optimum_on_the_constraint():
    r = bamsoo.minimize(disc, BOX, 40, constraints=["disc"])
    assert r.fun == pytest.approx(BEST, abs=5e-4)
    down = bamsoo.maximize(lambda x: (-disc(x)[0], disc(x)[1]), BOX, 40, constraints=["disc"])
    assert np.array_equal(down.X, r.X)


def test_whole_numbers_are_handled_on_a_constraint():
    def weight(n, x):
        return n * x, {"strength": 7.3 - n * x**2}

    space = {"n": bamsoo.Int(1, 9), "x": (0.1, 3.0)}
    r = bamsoo.minimize(weight, space, 50, constraints=["strength"])
    assert r.params["n"] == 1
    assert r.fun == pytest.approx(7.3**0.5, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALL)
def test_the_result_says_if_no_point_is_feasible(algorithm):
    r = bamsoo.minimize(
        lambda x: (float(x.sum()), {"c": 1.0 + float(x[0])}),
        BOX,
        15,
        algorithm=algorithm,
        constraints=["c"],
    )
    assert not r.success
    assert r.x is None
    assert np.isnan(r.fun)
    assert not r.feasible.any()
    if algorithm == "shrinking":  # it shrinks the region until its lattice does not fit
        assert r.status == Ending.EXHAUSTED
        assert 5 <= r.nfev < 15
    else:
        assert r.nfev == 15
    assert r.message.endswith("none of the points evaluated is feasible")


def test_as_long_as_no_point_is_feasible_the_search_looks_for_one():
    # only a small disc is feasible, and the objective leads away from it
    def away(x):
        return -float(x.sum()), {"c": float(np.linalg.norm(x - 0.13)) - 0.03}

    for algorithm in ("auto", "bamsoo", "soo"):
        r = bamsoo.minimize(away, BOX, 60, algorithm=algorithm, constraints=["c"])
        assert r.success, algorithm


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_the_scale_of_a_constraint_does_not_matter(scale):
    def scaled(x):
        value, measured = disc(x)
        return value, {"disc": scale * measured["disc"], "other": -1e6 * scale}

    r = bamsoo.minimize(scaled, BOX, 30, constraints=["disc", "other"])
    assert r.fun == pytest.approx(BEST, abs=1e-3)


def test_an_equality_is_two_inequalities():
    def line(x):
        apart = float(x[0] + 2 * x[1] - 1.2)
        return float((x[0] - 0.8) ** 2 + (x[1] - 0.8) ** 2), {"a": apart - 1e-3, "b": -apart - 1e-3}

    r = bamsoo.minimize(line, BOX, 40, constraints=["a", "b"])
    assert r.success
    assert r.fun == pytest.approx(0.288, abs=0.01)


def test_a_constraint_that_is_active_almost_everywhere():
    def corner(x):
        return float(x.sum()), {"c": float(1.98 - x.sum())}

    r = bamsoo.minimize(corner, BOX, 40, constraints=["c"])
    assert r.fun == pytest.approx(1.98, abs=1e-3)


@pytest.mark.parametrize(
    ("algorithm", "odd"),
    [
        *(
            pytest.param(*each.values, odd, id=f"{each.id}-{odd}")
            for each in ALL
            for odd in (nan, inf)
        ),
        *(pytest.param("auto", odd, id=name) for name, odd in ODD.items()),
    ],
)
def test_a_constraint_without_a_finite_number_is_not_met(algorithm, odd):
    def sometimes(x):
        value, measured = disc(x)
        return value, measured if x[0] < 0.5 else {"disc": odd}

    r = bamsoo.minimize(sometimes, BOX, 12, algorithm=algorithm, constraints=["disc"])
    right = r.X[:, 0] >= 0.5
    assert not r.feasible[right].any()
    assert not np.isfinite(r.C["disc"][right]).any()
    assert np.isfinite(r.F).all()


def test_a_constraint_of_minus_infinity_is_met():
    r = bamsoo.minimize(lambda x: (float(x[0]), {"c": -inf}), [(0, 1)], 5, constraints=["c"])
    assert r.feasible.all()


def test_failures_and_infeasible_points_are_told_apart():
    def both(x):
        return (None if x[0] > 0.7 else float(x[0])), {"c": 0.4 - float(x[0])}

    r = bamsoo.minimize(both, [(0, 1)], 20, constraints=["c"], algorithm="soo")
    assert r.nfailed == np.isnan(r.F).sum() > 0
    assert r.ninfeasible == (r.X[:, 0] < 0.4).sum() > 0
    assert r.nfailed + r.ninfeasible + r.feasible.sum() == 20
    assert np.isfinite(r.C["c"]).all()
    assert f"{r.nfailed} failed, {r.ninfeasible} infeasible" in repr(r)


def test_ask_and_tell_with_constraints():
    opt = bamsoo.Optimizer(BOX, constraints=["disc"])
    for _ in range(12):
        trial = opt.ask()
        value, measured = disc(trial.x)
        opt.tell(trial, value, constraints=measured)
    opt.tell([0.5, 0.5], 1.0, constraints={"disc": -0.04})
    trial = opt.ask()
    opt.tell(trial, None)
    with pytest.raises(ValueTypeError):
        opt.tell(opt.ask(), 1.0)
    r = opt.result
    assert r.feasible.sum() >= 1
    assert np.isnan(r.C["disc"][-1])
    again = pickle.loads(pickle.dumps(opt))
    assert np.array_equal(again.result.C["disc"], r.C["disc"], equal_nan=True)
    assert copy.deepcopy(opt).ask().point == again.ask().point
    assert np.array_equal(pickle.loads(pickle.dumps(r)).feasible, r.feasible)


def test_known_evaluations_include_their_constraints():
    known = [([0.4, 0.4], disc([0.4, 0.4])), ([0.1, 0.1], disc([0.1, 0.1])), ([0.2, 0.9], None)]
    r = bamsoo.minimize(disc, BOX, 5, known=known, constraints=["disc"])
    assert r.nfev == 5
    assert r.feasible[:3].tolist() == [True, False, False]


def test_only_a_feasible_point_reaches_a_target():
    r = bamsoo.minimize(disc, BOX, 40, target=0.75, constraints=["disc"])
    assert r.status == 1
    assert r.feasible[-1]
    assert r.F[-1] <= 0.75


@pytest.mark.parametrize("workers", [2, ThreadPoolExecutor(2)], ids=["processes", "threads"])
def test_workers_return_constraints(workers):
    def sent(x):  # defined here, since workers cannot import this module
        return float(x[0]), {"disc": float(x[0] - 0.5)}

    r = bamsoo.minimize(sent, BOX, 12, workers=workers, constraints=["disc"], algorithm="soo")
    assert np.array_equal(r.C["disc"], r.X[:, 0] - 0.5)


@pytest.mark.parametrize("algorithm", REPEATING)
def test_an_algorithm_that_repeats_points_refuses_measured_constraints(algorithm):
    with pytest.raises(SettingsError, match="cannot handle measured constraints"):
        bamsoo.minimize(disc, BOX, 10, algorithm=algorithm, constraints=["disc"])


# not sequool, whose points depend on the budget
@pytest.mark.parametrize("algorithm", [each for each in ALL if each.id != "sequool"])
def test_a_resumed_study_with_constraints_asks_for_the_same_points(algorithm, tmp_path):
    def allowed(x):
        return x[0] - 0.9

    run = partial(bamsoo.minimize, disc, BOX, algorithm=algorithm, constraints=["disc", allowed])
    whole = run(14)
    path = tmp_path / "run.db"
    run(6, study=path)
    parts = run(14, study=path)
    assert np.array_equal(parts.X, whole.X)
    assert np.array_equal(parts.C["disc"], whole.C["disc"])
    with Study.open(path, readonly=True) as study:
        assert np.array_equal(study.result.feasible, whole.feasible)
        assert [t.measured["disc"] for t in study.trials] == whole.C["disc"].tolist()
        assert [t.feasible for t in study.trials] == whole.feasible.tolist()
    with pytest.raises(StudyError, match="allowed of this study is a Python function"):
        Study.open(path)
    with pytest.raises(StudyError, match="the study's constraints are"):
        Study.open(path, constraints=["other", allowed])


def test_a_study_stores_formulas_linear_constraints_and_names(tmp_path):
    from scipy.optimize import LinearConstraint

    given = [bamsoo.Formula("x0 + x1 <= 1.5"), LinearConstraint([[1, -1]], -inf, 0.5), "disc"]
    path = tmp_path / "run.db"
    first = bamsoo.minimize(disc, BOX, 8, study=path, constraints=given)
    with Study.open(path) as study:  # the constraints are not given again
        for _ in range(4):
            trial = study.ask()
            value, measured = disc(trial.x)
            study.tell(trial, value, constraints=measured)
        r = study.result
    assert np.array_equal(r.X[:8], first.X)
    assert (r.X.sum(axis=1) <= 1.5).all()
    assert np.array_equal(r.X, bamsoo.minimize(disc, BOX, 12, constraints=given).X)


def test_a_study_stores_nan_and_infinite_constraints(tmp_path):
    numbers = [nan, inf, -inf, 0.0, 1e-300, None, -2.5]
    path = tmp_path / "run.db"
    with Study.open(path, space=BOX, algorithm="soo", constraints=["c"]) as study:
        for number in numbers:
            study.tell(study.ask(), 1.0, constraints={"c": number})
        before = study.result
    with Study.open(path) as study:
        after = study.result
        assert np.array_equal(after.C["c"], before.C["c"], equal_nan=True)
        assert after.feasible.tolist() == [False, False, True, True, False, False, True]


def test_a_data_frame_contains_the_constraints():
    pytest.importorskip("pandas")
    r = bamsoo.minimize(disc, BOX, 8, constraints=["disc"], algorithm="soo")
    frame = r.to_dataframe()
    assert frame["constraint:disc"].tolist() == r.C["disc"].tolist()
    assert frame["feasible"].tolist() == r.feasible.tolist()
    assert "feasible" not in bamsoo.minimize(lambda x: x[0], BOX, 3).to_dataframe()


# --- the rule that decides which nodes are evaluated


def test_a_node_is_evaluated_only_if_it_can_be_better_and_feasible(monkeypatch):
    """Check BaMSOO's rule at every node of a run with unlimited patience."""
    answers = []
    original = Ahead.can_meet

    def can_meet(ahead, i):
        answer, book, x = original(ahead, i), ahead._facts, ahead._X[i]
        if book.limits.ready:
            low = book.limits.bounds(x[None], ahead._grades.width)[0][0]
            assert answer == bool((low <= 0.0).all())
        answers.append((x.tobytes(), answer))
        return answer

    monkeypatch.setattr(Ahead, "can_meet", can_meet)
    rule = bamsoo.algorithms.BaMSOO(kernel=bamsoo.kernels.Matern52(0.3), patience=10_000)
    r = bamsoo.minimize(disc, BOX, 40, algorithm=rule, constraints=["disc"])
    impossible = {x for x, answer in answers if not answer}
    assert impossible
    assert not impossible & {x.tobytes() for x in r.X}
    rejected = np.array(r.tree.g)[r.tree.status == Status.REJECTED]
    assert (rejected <= -r.fun).all()  # the search maximises: never above the best feasible value


def test_nodes_are_compared_with_the_best_feasible_value_only():
    # half of the range is infeasible and better; compared with its values, a thousand nodes of
    # the other half would be ruled out
    def fun(x):
        return (x[0] - 0.2) ** 2, {"c": 0.6 - x[0]}

    rule = bamsoo.algorithms.BaMSOO(kernel=bamsoo.kernels.Matern52(0.3))
    r = bamsoo.minimize(fun, [(0, 1)], 10, algorithm=rule, constraints=["c"])
    assert r.fun == pytest.approx(0.16, abs=2e-3)
    assert r.nrejected < 200


def test_violations_count_even_if_all_values_are_equal():
    opt = bamsoo.Optimizer([(0, 1)], algorithm="soo", constraints=["c"])
    for _ in range(9):
        trial = opt.ask()
        opt.tell(trial, 5.0, constraints={"c": float(trial.x[0]) - 0.6})
    known, tree = opt.book.known, opt.book.tree
    grades = np.array([tree.g[node] for node in known.nodes])
    assert grades[~known.feasible].max() < grades[known.feasible].min()


@pytest.mark.parametrize("noise", [None, "learn"])
def test_the_value_to_beat_is_the_best_feasible_one(noise):
    opt = bamsoo.Optimizer([(0, 1)] * 2, noise=noise, constraints=["c"])
    for _ in range(15):
        trial = opt.ask()
        x = trial.x
        opt.tell(trial, float(((x - 0.2) ** 2).sum()), constraints={"c": float(0.6 - x[0])})
        book = opt.book
        feasible = book.beliefs.values()[book.known.feasible]
        beaten = book.transform(float(feasible.max())) if len(feasible) else -inf
        assert book.f_plus == pytest.approx(beaten)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(*[st.floats(-1e6, 1e6) | st.floats()] * 2),
        min_size=1,
        max_size=12,
    )
)
@example([(0.0, 4.0), (0.0, 5e-324)])
@example([(1e-300, 0.0), (1e-300, 0.0), (1e300, inf)])
def test_the_violation_is_zero_only_if_all_constraints_are_met(rows):
    known = Known(2)
    for key, row in enumerate(rows):
        i = known.add(key, (0.0,), None, Outcome(key, np.array([key / 20]), (0.0,), row))
        assert known.feasible[i] == all(c <= 0.0 for c in row)
    missed = known.missed
    for key, row in enumerate(rows):
        assert np.isfinite(missed[key])
        assert (missed[key] == 0.0) == all(c <= 0.0 for c in row)


def test_tell_takes_whole_numbers_of_any_length(tmp_path):
    with Study.open(tmp_path / "run.db", space=BOX, constraints=["c"]) as study:
        for search in (study, bamsoo.Optimizer(BOX, constraints=["c"])):
            search.tell(search.ask(), 1.0, constraints={"c": 10**400})
            search.tell(search.ask(), 1.0, constraints={"c": -(10**5000)})
            search.tell(search.ask(), 10**5000, constraints={"c": -1.0})
            assert search.result.C["c"][:2].tolist() == [inf, -inf]
            assert search.result.feasible.tolist() == [False, True, False]
            assert search.result.failures == [
                (2, "the value is a whole number of about 5000 digits")
            ]
            assert not search.ledger.out


def test_the_probability_is_large_where_measured_constraints_were_met():
    limits = Limits(cube(1), Known(2))
    book = Book(limits=limits)
    book.begin()
    xs = np.linspace(0.0, 1.0, 9)  # both are met in between
    book.receive([Outcome(None, np.array([x]), (0.0,), (x - 0.55, 0.2 - x)) for x in xs])
    assert limits.update()
    p = limits.probability(np.array([[0.05], [0.375], [0.9]]))
    assert p[1] > 0.9 > 0.1 > max(p[0], p[2])
