"""What is accepted as a constraint or as a measurement of one."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

import bamsoo
from bamsoo import Int
from bamsoo.errors import SettingsError, ValueTypeError
from bamsoo.space import Constraints, Space

BOX = [(0, 1), (0, 1)]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (1.0, "'disc' was not measured"),
        ((1.0, {}), "'disc' was not measured"),
        ((1.0, {"other": 2.0}), "'disc' was not measured"),
        ((1.0, {"disc": "much"}), "must be a single number"),
    ],
)
def test_a_result_without_the_constraints_is_an_error(returned, message):
    with pytest.raises(ValueTypeError, match=message):
        bamsoo.minimize(lambda x: returned, BOX, 3, constraints=["disc"])
    r = bamsoo.minimize(lambda x: returned, BOX, 3, constraints=["disc"], on_error="fail")
    assert r.nfailed == 3


def test_telling_an_unknown_constraint_is_an_error():
    opt = bamsoo.Optimizer(BOX)
    with pytest.raises(ValueTypeError, match="is not a measured constraint"):
        opt.tell(opt.ask(), 1.0, constraints={"disc": 1.0})


@pytest.mark.parametrize("word", ["-1", "low", [1.0, 2.0], 1j])
def test_a_measurement_that_is_not_one_number_is_refused(word):
    opt = bamsoo.Optimizer(BOX, constraints=["c"])
    with pytest.raises(ValueTypeError, match="must be a single number"):
        opt.tell(opt.ask(), 1.0, constraints={"c": word})


def test_there_is_a_largest_amount_of_constraints():
    box = {"x": (0, 1)}
    with pytest.raises(
        bamsoo.errors.SettingsError, match="at most 100 constraints can be measured"
    ):
        bamsoo.Optimizer(box, constraints=[f"m{i}" for i in range(101)])
    formulas = [bamsoo.Formula(f"{'x + ' * 400}{i} >= 0") for i in range(20)]
    with pytest.raises(bamsoo.errors.SettingsError, match="at most 20000 characters, got 3"):
        bamsoo.Optimizer(box, constraints=formulas)


def test_allowed_points_are_looked_for_only_when_a_point_is_asked_for(tmp_path):
    asked = []

    def nothing(x):
        asked.append(x)
        return False

    opt = bamsoo.Optimizer({"x": (0, 1)}, constraints=[nothing])
    assert len(asked) < 10
    with pytest.raises(bamsoo.errors.ExhaustedError, match="no point was found"):
        opt.ask()
    assert len(asked) > 1000


def test_each_row_of_bounds_needs_the_lower_one_first():
    crossed = LinearConstraint([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.9], [1.0, 0.1])
    with pytest.raises(SettingsError, match="lb <= ub"):
        bamsoo.Optimizer([(0, 1)] * 2, constraints=[crossed])


def test_a_truth_value_within_bounds_is_the_number_one_or_zero_as_in_scipy():
    given = NonlinearConstraint(lambda x: x[0] > 0.5, 1, 1)
    allowed = Constraints(Space([(0, 1)]), [given]).region().allowed
    assert allowed(np.array([0.8]))
    assert not allowed(np.array([0.2]))


@pytest.mark.parametrize(
    "constraint",
    [
        lambda x: x[0] > 0.5,
        lambda x: [x[0] > 0.5, True],
        lambda x: np.array([True, x[0] > 0.5]),
        lambda x: 0.5 - x[0],
        lambda x: int(x[0] < 0.5),
        lambda x: [0.5 - x[0], -1],
        lambda x: np.array([0, 1 if x[0] < 0.5 else -1]),
    ],
)
def test_a_function_says_true_or_numbers_up_to_zero_where_a_point_is_allowed(constraint):
    allowed = Constraints(Space([(0, 1)]), [constraint]).region().allowed
    assert allowed(np.array([0.8]))
    assert not allowed(np.array([0.2]))


def test_a_point_on_a_bound_meets_the_constraint():
    given = LinearConstraint([[1, 1]], 0.5, 0.75)
    constraints = Constraints(Space([(0, 1)] * 2), [given])
    for x in ([0.25, 0.25], [0.5, 0.25]):
        assert constraints.violated(np.array(x)) is None
    for x in ([0.25, 0.24], [0.5, 0.26]):
        assert constraints.violated(np.array(x)) == "LinearConstraint"


def test_the_corners_of_a_cell_are_the_least_and_the_largest_values_in_it():
    space = Space({"n": Int(1, 700_000_000), "m": Int(1, 4), "x": (2.0, 3.0)})
    least, most = Constraints(space, [])._corners(np.zeros(3), np.ones(3))
    assert least.tolist() == [1.0, 1.0, 2.0]
    assert most.tolist() == [7e8, 4.0, 3.0]
    least, most = Constraints(space, [])._corners(np.full(3, 0.25), np.full(3, 0.75))
    assert (least[1:].tolist(), most[1:].tolist()) == ([2.0, 2.25], [3.0, 2.75])


@pytest.mark.parametrize("make", [lambda f: f, lambda f: NonlinearConstraint(f, 0, 1)])
def test_a_constraint_is_called_in_the_space_only_and_first_in_its_middle(make):
    called = []

    def f(x):
        called.append(x.tolist())
        return float(x.sum() - 5.0)

    region = Constraints(Space([(2.0, 3.0), (-1.0, 1.0)]), [make(f)]).region()
    region.near(np.array([1.0, 1.0]))
    low, high = np.min(called, axis=0), np.max(called, axis=0)
    assert (low >= [2.0, -1.0]).all()
    assert (high <= [3.0, 1.0]).all()
    assert called[0] == [2.5, 0.0]  # where it is likely to be defined
