"""Rules that end a run, and the gap: how much the model's bounds leave to gain."""

from math import inf, nan

import numpy as np
import pytest

import bamsoo
from bamsoo import Gap, Optimizer, Stalled
from bamsoo.errors import SettingsError
from bamsoo.run.loop import Ending
from bamsoo.stop import PATIENCE

branin, hartmann3 = bamsoo.problems.branin, bamsoo.problems.hartmann3
BOXES = [[(-3.13, 8.61), (0.18, 11.95)], [(-0.99, 9.94), (0.11, 11.56)]]  # parts of Branin's domain


# --- rules


def test_a_rule_is_shown_each_result_and_ends_the_run():
    seen = []

    def rule(result):
        seen.append(result.nfev)
        return result.nfev == 7

    r = bamsoo.minimize(branin, branin.bounds, 30, stop=rule)
    assert seen == list(range(1, 8))
    assert (r.nfev, r.status, r.message) == (7, Ending.RULE, "a stopping rule ended the run")


def test_a_rule_may_say_why():
    rules = [lambda r: None, lambda r: "the oven is cold" if r.nfev == 3 else ""]
    r = bamsoo.minimize(branin, branin.bounds, 30, stop=rules)
    assert (r.nfev, r.message) == (3, "the oven is cold")


def test_a_rule_that_raises_ends_the_run_with_that():
    def broken(result):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        bamsoo.minimize(branin, branin.bounds, 30, stop=broken)
    assert caught.value.result.nfev == 1


@pytest.mark.parametrize("stop", [3, "stalled", Stalled, [Stalled(3), None]])
def test_an_invalid_rule_is_refused(stop):
    with pytest.raises(bamsoo.errors.SettingsError, match="stop must be a callable or a list"):
        bamsoo.minimize(branin, branin.bounds, 30, stop=stop)


def test_a_study_that_was_stopped_by_a_rule_stays_stopped(tmp_path):
    given = {"study": tmp_path / "run.db", "stop": Stalled(5)}
    r = bamsoo.minimize(branin, branin.bounds, 100, **given)
    again = bamsoo.minimize(branin, branin.bounds, 100, **given)
    assert again.nfev == r.nfev < 100
    assert again.message == r.message == "the best value has not improved in 5 evaluations"


# --- Stalled


@pytest.mark.parametrize("run, sign", [(bamsoo.minimize, 1), (bamsoo.maximize, -1)])
def test_stalled_counts_evaluations_since_the_best(run, sign):
    values = iter([5, 4, 4, 9, None, 3, 8, 8, None, 8, 2])
    r = run(lambda x: None if (v := next(values)) is None else sign * v, [(0, 1)], 11,
            stop=Stalled(4))  # fmt: skip
    assert r.nfev == 10
    assert r.fun == sign * 3


def test_what_is_known_counts_as_the_best_but_not_as_an_evaluation():
    known = [([0.9], 0.0), ([0.8], 1.0), ([0.7], 1.0)]
    r = bamsoo.minimize(lambda x: 1.0, [(0, 1)], 20, known=known, stop=Stalled(2))
    assert r.nfev == 2


def test_a_run_without_any_value_is_stalled_too():
    assert bamsoo.minimize(lambda x: None, [(0, 1)], 20, stop=Stalled(3)).nfev == 3


def test_it_waits_for_a_final_value_if_evaluations_are_stopped_or_cheap():
    def train(x, y):
        for step in range(1, 26):  # the first five are all stopped
            yield (x - 0.3) ** 2 + y + 1 / step

    box = {"x": (0, 1), "y": (0, 1)}
    r = bamsoo.minimize(train, box, 20, steps=25, stop=Stalled(2))
    assert r.status == 6 and r.nstopped >= 5 and r.success
    space = {"x": (0, 1), "rows": bamsoo.Fidelity(10, 1000)}
    r = bamsoo.minimize(lambda x, rows: (x - 0.3) ** 2 + 1 / rows, space, 20, stop=Stalled(2))
    assert r.status == 6 and r.success
    assert not any(each.cheap for each in r.evaluations[-1:])  # only the top can be stalled


@pytest.mark.parametrize("several", [False, True])
def test_a_rule_that_is_called_after_each_evaluation_says_what_a_new_one_would(several):
    aims = ["a", "b"] if several else None
    opt = Optimizer([(0, 1)], algorithm="random", objectives=aims)
    rng, kept = np.random.default_rng(1), Stalled(4)
    for i in range(24):
        value = [rng.normal(), rng.normal()] if several else rng.normal()
        opt.tell(opt.ask(), None if i % 5 == 1 else value)
        if i == 12:
            opt.retry([6])  # the evaluations that follow it move up
        assert kept(opt.result) == Stalled(4)(opt.result)
    other = Optimizer([(0, 1)], objectives=aims)
    assert kept(other.result) is None  # the same rule in another run


def test_a_rule_looks_at_each_evaluation_once():
    class Seen(list):
        def __iter__(self):
            raise AssertionError("all evaluations are looked at")

        def __getitem__(self, at):
            assert not isinstance(at, slice) or at.start >= len(self) - 1
            return super().__getitem__(at)

    opt, rule = Optimizer([(0, 1)], algorithm="soo"), Stalled(4)
    for _ in range(3):
        opt.tell(opt.ask(), 1.0)
        result = opt.result
        result._details.__dict__["evaluations"] = Seen(result.evaluations)
        assert rule(result) is None


@pytest.mark.parametrize("n", [0, 1.5, "3", True])
def test_a_number_of_evaluations_is_whole(n):
    with pytest.raises(bamsoo.errors.SettingsError, match="Stalled: n must be"):
        Stalled(n)


# --- the gap


@pytest.mark.slow
@pytest.mark.parametrize(
    "problem",
    [pytest.param(branin, marks=pytest.mark.long), hartmann3],  # of Branin, there are boxes below
    ids=["branin", "hartmann3"],
)
def test_gap_stops_the_default_where_nothing_is_left(problem):
    r = bamsoo.minimize(problem, problem.bounds, 250, stop=Gap(1e-3))
    assert r.status == Ending.RULE
    assert r.nfev < 200
    assert r.gap <= 1e-3
    assert r.fun - problem.optimum < 1e-3
    assert r.message == "the model's bounds leave at most 0.001 to gain"


@pytest.mark.slow
@pytest.mark.parametrize("box", BOXES)
def test_gap_stops_even_if_the_search_ignores_a_corner_with_a_high_bound(box):
    r = bamsoo.minimize(branin, box, 120, stop=Gap(1e-3))
    assert r.status == Ending.RULE
    assert r.gap <= 1e-3
    assert r.fun - branin.optimum < 1e-3


def test_gap_takes_every_second_evaluation_after_a_while_without_improvement():
    opt, rule, wanted = Optimizer(branin.bounds, algorithm="bamsoo"), Gap(1e-3), []
    for i in range(24):
        trial = opt.ask()
        value = min(branin(trial.x), 100.0) + 1e4
        opt.tell(trial, -float(i) if i < 12 else value)  # gains, and then none
        if rule.next_point(opt.result) is not None:
            wanted.append(i - 11)
    assert wanted == [6, 8, 10, 12]
    assert PATIENCE * (2 + 1) == 6


def test_a_run_with_a_gap_that_is_resumed_is_the_run_in_one_piece(tmp_path):
    given = BOXES[0], 40
    whole = bamsoo.minimize(branin, *given, stop=Gap(1e-3))
    space, budget = given
    for pause in (*range(12, budget, 7), budget):
        pieces = bamsoo.minimize(branin, space, pause, study=tmp_path / "run.db", stop=Gap(1e-3))
    np.testing.assert_array_equal(pieces.X, whole.X)
    corners = np.array(np.meshgrid(*space)).T.reshape(-1, 2).tolist()
    assert any(corner in whole.X.tolist() for corner in corners)


def test_a_rule_may_have_points_evaluated_that_it_needs_to_decide():
    class Ends:
        def __call__(self, result):
            return all(any((x == end).all() for x in result.X) for end in ([0.0], [1.0]))

        def next_point(self, result):
            return [0.0] if result.nfev == 4 else [1.0] if result.nfev == 6 else None

    r = bamsoo.minimize(lambda x: (x[0] - 0.3) ** 2, [(0, 1)], 30, stop=Ends())
    assert (r.nfev, r.status) == (7, Ending.RULE)
    assert r.X[4] == [0.0] and r.X[6] == [1.0]


def corner(x):
    return -1.0 if x.sum() > 3.2 else 0.0


def test_gap_does_not_stop_because_all_values_are_equal():
    seen = []
    r = bamsoo.minimize(
        corner, [(0, 1)] * 4, 60, stop=[Gap(1e-3)], callback=lambda r: seen.append((r.fun, r.gap))
    )
    assert r.nfev == 60
    assert {gap for fun, gap in seen if fun == 0.0} == {inf}
    r = bamsoo.minimize(lambda x: 0.1 + 0.2, [(0, 1)], 30, stop=Gap(1e-3))
    assert (r.nfev, r.gap) == (30, inf)


@pytest.mark.parametrize("algorithm", ["soo", "random"])
def test_gap_refuses_an_algorithm_without_a_model(algorithm):
    with pytest.raises(
        bamsoo.errors.SettingsError, match=r"Gap\(0.1\) needs an algorithm with a model"
    ):
        bamsoo.minimize(branin, branin.bounds, 20, algorithm=algorithm, stop=Gap(0.1))


@pytest.mark.parametrize("width", [0, -1.0, inf, "small", None])
def test_a_width_is_a_positive_number(width):
    with pytest.raises(bamsoo.errors.SettingsError, match="Gap: width must be"):
        Gap(width)


# ---- gains that matter


def falling(gains):
    """A run whose values fall by these amounts, evaluation by evaluation."""
    opt = bamsoo.Optimizer([(0.0, 1.0)], tol=None)
    value = 100.0
    for gain in gains:
        value -= gain
        opt.tell(opt.ask(), value)
    return opt.result


@pytest.mark.parametrize(
    ("gains", "gain", "stops"),
    [
        ([0, 1, 1, 1], None, False),
        ([0, 1, 1, 1], 2.0, False),  # small gains add up
        ([0, 1, 1, 1], 4.0, True),
        ([0, 1, 1, 1], 3.0, False),  # a gain of exactly this much counts
        ([0, 5, 0.1, 0.1, 0.1], 1.0, True),
        ([0, 5, 0.1, 0.1, 0.1], None, False),
    ],
)
def test_stalled_counts_only_gains_that_matter(gains, gain, stops):
    assert bool(bamsoo.Stalled(3, gain=gain)(falling(gains))) == stops


def test_stalled_takes_the_tolerance_of_the_search():
    opt = bamsoo.Optimizer([(0.0, 1.0)], tol=1.0)
    for value in (5.0, 4.9, 4.8, 4.7):
        opt.tell(opt.ask(), value)
    assert bamsoo.Stalled(3)(opt.result) == "the best value has not improved by 1 in 3 evaluations"
    assert bamsoo.Stalled(3, gain=0.05)(opt.result) is None
    assert repr(bamsoo.Stalled(3, gain=0.05)) == "Stalled(3, gain=0.05)"
    assert repr(bamsoo.Stalled(3)) == "Stalled(3)"


@pytest.mark.parametrize("gain", [-1.0, nan, "x"])
def test_a_gain_that_is_no_number_above_0_is_refused(gain):
    with pytest.raises(SettingsError, match="Stalled: gain must be"):
        bamsoo.Stalled(3, gain=gain)
