"""Steps along the slope: what small differences show, and what is done with it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bamsoo
from bamsoo.algorithms.auto.descent import (
    Around,
    Descent,
    DescentConstants,
    Slope,
    Tried,
    curvature,
    next_length,
    vertex,
)
from bamsoo.algorithms.auto.loop import CONSTANTS as DEFAULT
from bamsoo.algorithms.auto.schedule import Focus
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.search import Outcome
from bamsoo.space.axes import Continuous, Domain, cube

CONSTANTS = DescentConstants()
DIM = 5
LEAST = 5e-7, CONSTANTS.enough
BEST = np.linspace(0.3, 0.7, DIM)


class Run:
    """A descent on its own, with the points that it asked for."""

    def __init__(self, fun, start=0.5, domain=None, many=True, constants=CONSTANTS):
        self.fun, self.same = fun, {}
        self.book = Book()
        self.book.begin()
        self.descent = Descent(domain or cube(DIM), self.book, many, self.same, constants)
        self.tell(np.full(DIM, start))

    @property
    def best(self):
        return int(self.book.known.values.argmax())

    def tell(self, x, ticket=None):
        """Enter the value of a point; returns its row."""
        value = self.fun(x)
        self.book.receive([Outcome(ticket, x, () if value is None else (value,))])
        return None if value is None else self.book.t - 1

    def propose(self):
        return self.descent.propose(Focus((), np.arange(self.book.t), self.best))

    def take(self, count):
        """Take some steps; returns those there were."""
        steps = []
        for _ in range(count):
            before = self.best
            if (step := self.propose()) is None:
                break
            row = self.tell(step.x, self.book.expect(step.x))
            better = self.best != before and not step.aside
            self.descent.judge(step, better, row)
            steps.append(step)
        return steps

    @property
    def regret(self):
        return -float(self.book.known.values.max())


def bowl(x):
    return -float(((x - BEST) ** 2).sum())


def test_one_difference_along_each_axis_and_one_that_is_twice_as_large_come_before_a_step():
    run = Run(bowl)
    steps = run.take(DIM + 2)
    moved = np.array([step.x - 0.5 for step in steps[:-1]])
    # along the axis in the middle the centre is the best point, and the others have a slope
    assert np.allclose(moved.max(1), 1e-8 * np.array([1, 2, 1, 1, 1, 1]))
    assert [int(row.argmax()) for row in moved] == [0, 0, 1, 2, 3, 4]
    assert [step.aside for step in steps] == [True] * (DIM + 1) + [False]
    assert run.same == dict.fromkeys(range(1, DIM + 2), 0)
    assert np.abs(steps[-1].x - 0.5).max() == pytest.approx(CONSTANTS.first)


def test_a_round_bowl_is_solved_by_one_slope():
    run = Run(bowl)
    run.take(DIM + 4)
    assert run.regret < 1e-12


def test_differences_go_to_the_side_with_more_room():
    run = Run(bowl, start=1.0)
    assert (run.take(2)[-1].x <= 1.0).all()


@pytest.mark.parametrize("condition", [1e2, 1e6])
def test_a_valley_that_is_much_steeper_across_is_followed(condition):
    rng = np.random.default_rng(3)
    turn = np.linalg.qr(rng.normal(size=(DIM, DIM)))[0]
    weights = np.array([condition, 1.0, 1.0, 1.0, 1.0])
    run = Run(lambda x: -float(weights @ (turn @ (x - BEST)) ** 2))
    run.take(5 * (DIM + 4))
    assert run.regret < 1e-6


def test_steps_stay_in_the_cube_and_end_in_its_corner():
    run = Run(lambda x: float(x @ np.arange(1.0, DIM + 1)))
    steps = run.take(60)
    assert all(((step.x >= 0.0) & (step.x <= 1.0)).all() for step in steps)
    assert run.book.known.X[run.best].tolist() == [1.0] * DIM


def test_values_with_small_errors_need_larger_differences():
    rng = np.random.default_rng(0)
    run = Run(lambda x: bowl(x) + 1e-9 * rng.standard_normal())
    steps = run.take(40)
    widths = {float(f"{np.abs(step.x - 0.5).max():.0e}") for step in steps[:5] if step.aside}
    assert {1e-8, 2e-8} <= widths
    assert run.regret < 1e-4


def test_values_with_large_errors_end_it_after_two_differences_of_each_size():
    rng = np.random.default_rng(0)
    run = Run(lambda x: rng.standard_normal())
    assert len(run.take(40)) == 2 * len(CONSTANTS.widths)
    assert run.propose() is None


@pytest.mark.parametrize("value", [0.0, 1e300, -1e300])
def test_a_constant_function_has_no_slope(value):
    run = Run(lambda x: value)
    assert len(run.take(30)) in (0, DIM)
    assert not run.descent.busy


def test_a_point_from_which_no_step_improves_is_left_for_good():
    run = Run(lambda x: -float(np.abs(x - 0.5).max() ** 0.5))  # a cusp at the start
    run.take(60)
    assert not run.descent.busy and run.propose() is None


def test_a_failed_evaluation_ends_it_at_this_point():
    run = Run(lambda x: None if x[3] != 0.5 else bowl(x))
    steps = run.take(30)
    assert len(steps) == 5 and not run.descent.busy
    assert run.propose() is None


def test_a_better_point_from_elsewhere_is_where_the_next_slope_is_measured():
    run = Run(bowl)
    run.take(3)
    row = run.tell(BEST + 0.01)
    step = run.propose()
    assert step.note.around.base == row and np.abs(step.x - BEST - 0.01).max() < 1e-7


def test_while_differences_are_pending_there_is_nothing_else_to_do():
    run = Run(bowl)
    run.take(2)
    out = [run.propose() for _ in range(DIM - 1)]
    assert [step.note.axis for step in out] == [1, 2, 3, 4]
    assert run.propose() is None and run.descent.busy
    for step in reversed(out):
        run.descent.judge(step, False, run.tell(step.x))
    assert run.propose().note.axis == -1
    assert run.propose() is None  # its value is not known


def test_differences_of_another_size_that_arrive_late_are_not_mixed_with_the_present_ones():
    rng = np.random.default_rng(0)
    run = Run(lambda x: bowl(x) + 1e-9 * rng.standard_normal())
    out = [run.propose() for _ in range(DIM)]  # all are pending
    run.descent.judge(out[0], False, run.tell(out[0].x))
    twice = run.propose()
    assert twice.note.twice
    run.descent.judge(twice, False, run.tell(twice.x))
    larger = run.propose()
    assert np.abs(larger.x - 0.5).max() == pytest.approx(1e-6)
    for step in out[1:]:
        run.descent.judge(step, False, run.tell(step.x))
    assert not larger.note.around.told


def test_noise_few_axes_and_coarse_axes_switch_it_off():
    noisy = Run(bowl)
    noisy.book.noisy = True
    assert noisy.propose() is None
    coarse = Run(bowl, domain=Domain(tuple(Continuous(1e-4) for _ in range(DIM))))
    assert coarse.propose() is None
    assert Run(bowl, many=False).propose() is None
    assert Run(bowl, constants=replace(CONSTANTS, active=False)).propose() is None


@given(st.integers(1, 6), st.integers(0, 1000))
def test_the_curvature_of_a_quadratic_is_known_along_all_steps_but_the_first(dim, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(dim, dim))
    A = A @ A.T + np.eye(dim)
    X = rng.normal(size=(4, dim))
    B = curvature([Slope(x, A @ x) for x in X], 0.1)
    assert np.allclose(B @ (X[3] - X[2]), A @ (X[3] - X[2]))  # the secant equation
    assert np.allclose(B, B.T) and np.linalg.eigvalsh(B).min() > 0.0


def test_before_two_curvatures_are_known_the_step_has_a_given_length():
    slope = np.array([3.0, -1.0])
    assert np.allclose(curvature([Slope(np.zeros(2), slope)], 0.1), 30.0 * np.eye(2))
    steep = [Slope(np.zeros(2), np.array([1e6, 1.0])), Slope(np.array([-1.0, 0.0]), np.ones(2))]
    step = -np.linalg.solve(curvature(steep, 0.1), np.ones(2))
    assert np.allclose(step, [0.0, -0.1], atol=1e-5)


def around(value, slope, *tried):
    """What is known along a direction of length 1 in one dimension."""
    found = Around(0, np.zeros(1), value, {0}, along=np.ones(1), slope=slope)
    found.tried.extend(Tried(*each) for each in tried)
    return found


def test_parabolas_find_the_length_of_a_step():
    assert next_length(around(0.0, -1.0), *LEAST) == 1.0
    assert next_length(around(0.0, 0.0), *LEAST) is None
    # f(t) = -t + t^2 is lowest at 0.5
    assert next_length(around(0.0, -1.0, (0.1, -0.09)), *LEAST) == pytest.approx(0.5)
    assert next_length(around(0.0, -1.0, (0.5, -0.25)), *LEAST) is None
    assert next_length(around(0.0, -1.0, (1.0, 3.0)), *LEAST) == pytest.approx(0.125)
    # no further than a parabola can be trusted
    assert next_length(around(0.0, -1.0, (1.0, 1e9)), *LEAST) == pytest.approx(0.1)
    assert next_length(around(0.0, -1.0, (1.0, 0.1)), *LEAST) == pytest.approx(0.3)
    assert next_length(around(0.0, -1.0, (0.01, -0.02)), *LEAST) == pytest.approx(0.1)
    # between two steps that are worse
    tried = (0.1, -0.09), (1.0, 0.0)
    assert next_length(around(0.0, -1.0, *tried), *LEAST) == pytest.approx(0.5)
    # at the edge there is nowhere to go
    assert next_length(around(0.0, -1.0, (1.0, -5.0)), *LEAST) is None
    # shorter steps would be differences
    assert next_length(around(0.0, -1.0, (1e-5, 1.0)), *LEAST) == pytest.approx(1e-6)
    assert next_length(around(0.0, -1.0, (1e-6, 1.0)), *LEAST) is None


def test_the_lowest_point_of_a_parabola():
    at = [Tried(t, (t - 2.0) ** 2 + 1.0) for t in (1.0, 1.5, 4.0)]
    assert vertex(*at) == pytest.approx((2.0, 1.0))
    flat = [Tried(t, 1.0) for t in (1.0, 1.5, 4.0)]
    assert vertex(*flat) == flat[1]


@pytest.mark.parametrize(("dim", "measured"), [(8, False), (9, True)])
def test_slopes_are_measured_where_the_wide_climb_lacks_points(dim, measured):
    r = bamsoo.minimize(
        lambda x: float((np.abs(x - 0.37) ** 1.5).sum() + x[0] * x[1]), [(0, 1)] * dim, 80
    )
    apart = np.abs(np.array(r.X)[:, None] - np.array(r.X)).max(-1) + np.eye(80)
    assert (np.abs(apart.min() - 1e-8) < 1e-12) == measured


def test_the_default_follows_a_steep_valley_in_ten_dimensions():
    rng = np.random.default_rng(1)
    turn = np.linalg.qr(rng.normal(size=(10, 10)))[0]
    weights, best = np.array([1e6, *[1.0] * 9]), rng.uniform(0.3, 0.7, 10)

    def discus(x):
        return float(weights @ np.abs(turn @ (x - best)) ** 3)

    constants = replace(DEFAULT, descent=replace(DEFAULT.descent, active=False))
    without = bamsoo.algorithms.Auto(constants=constants)
    assert bamsoo.minimize(discus, [(0, 1)] * 10, 120).fun < 1e-4
    assert bamsoo.minimize(discus, [(0, 1)] * 10, 120, algorithm=without).fun > 1e-3


def test_climbs_take_differences_and_their_point_for_one():
    r = bamsoo.minimize(lambda x: float(((x - 0.37) ** 4).sum()), [(0, 1)] * 10, 150)
    assert r.fun < 1e-4
