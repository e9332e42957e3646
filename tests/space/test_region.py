"""The part of a space that constraints known in advance allow, and how its points are found."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

import bamsoo
from bamsoo import Choice, Formula, Int, Real
from bamsoo.errors import SettingsError, SpaceError
from bamsoo.space import Constraints, Space


def region(space, *constraints):
    return Constraints(Space(space), constraints).region()


def corners(dim):
    return np.zeros(dim), np.ones(dim)


def test_the_start_is_returned_if_it_is_allowed():
    found = region([(0, 1)] * 2, lambda x: x.sum() - 1.5).find(*corners(2), np.array([0.5, 0.5]))
    assert found.x.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    "constraint",
    [
        lambda x: abs(x[0] - x[1]) - 1e-6,
        lambda x: abs(x @ x - 0.7) - 1e-9,
        LinearConstraint([[1, 1]], 1, 1),
        NonlinearConstraint(lambda x: [x[0] * x[1], x[0] - x[1]], [0.2, -np.inf], [0.2, -0.3]),
        Formula("1.234 <= x0 + x1**2 <= 1.234001"),
    ],
)
def test_a_point_of_a_thin_set_is_found(constraint):
    space = [(0, 1), (0, 1)]
    allowed = region(space, constraint)
    found = allowed.find(*corners(2), np.array([0.5, 0.4]))
    assert found.x is not None
    assert allowed.allowed(found.x)


def test_a_simplex_in_eight_dimensions_is_found_with_a_boolean_constraint():
    allowed = region([(0, 1)] * 8, lambda x: bool(x.sum() <= 1))
    found = allowed.near(np.full(8, 0.9))
    assert allowed.allowed(found)


def test_a_linear_program_proves_that_a_cell_is_empty():
    rows = LinearConstraint([[1, 1], [1, -1]], [1.0, -0.1], [1.0, 0.1])
    allowed = region([(0, 1)] * 2, rows)
    # the cell has points that meet either row, but none that meets both
    low, high = np.array([0.6, 0.3]), np.array([0.7, 0.45])
    assert allowed.find(low, high, 0.5 * (low + high)) == (None, True)
    low, high = np.array([0.4, 0.3]), np.array([0.52, 0.6])
    found = allowed.find(low, high, np.array([0.42, 0.35]))
    assert allowed.allowed(found.x)
    assert ((low <= found.x) & (found.x <= high)).all()


def test_lower_limits_that_contradict_each_other_prove_that_a_cell_is_empty():
    rows, start = [[1, -1], [-1, 1]], np.zeros(2)
    empty = region([(0, 1)] * 2, LinearConstraint(rows, [0.3, -0.2]))
    assert empty.find(*corners(2), start) == (None, True)
    allowed = region([(0, 1)] * 2, LinearConstraint(rows, [0.3, -0.4]))
    assert allowed.allowed(allowed.find(*corners(2), start).x)


def test_every_point_of_a_cell_of_whole_numbers_is_tried():
    space = {"a": bamsoo.Int(0, 9), "b": bamsoo.Int(0, 9)}
    allowed = region(space, lambda a, b: a == 7 and b == 2)
    found = allowed.find(*corners(2), np.array([0.05, 0.05]))
    assert Space(space).decode(found.x).tolist() == [7.0, 2.0]
    assert region(space, lambda a, b: a + b > 18).find(*corners(2), np.zeros(2)) == (None, True)


def test_linear_constraints_prove_cells_empty_on_log_and_whole_number_axes_too():
    space = {"rate": bamsoo.Real(1e-4, 1.0, log=True), "n": bamsoo.Int(1, 20)}
    rows = LinearConstraint([[0.0, 1.0]], 5, 6)
    allowed = Constraints(Space(space), [rows]).region()
    assert allowed.find(np.array([0.0, 0.5]), np.array([1.0, 1.0]), np.full(2, 0.7)).empty
    assert allowed.near(np.full(2, 0.9)) is not None


def test_nan_is_not_allowed():
    assert not region([(0, 1)], lambda x: float("nan")).allowed(np.array([0.5]))
    assert not region([(0, 1)], Formula("1/(x0 - x0) <= 1")).allowed(np.array([0.5]))
    for order in ("min(x0, log(x0 - 2)) >= -1", "min(log(x0 - 2), x0) >= -1"):
        assert not region([(0, 1)], Formula(order)).allowed(np.array([0.5]))


MASKED = {
    "a number": lambda x: np.ma.masked,
    "an array": lambda x: np.ma.array([-1.0, -2.0], mask=[False, True]),
    "a bool": lambda x: np.ma.array([True], mask=[True]),
    "scipy": NonlinearConstraint(lambda x: np.ma.array(0.5, mask=True), 0, 1),
}


@pytest.mark.parametrize("name", MASKED)
def test_a_masked_number_is_not_allowed(name):
    assert not region([(0, 1)], MASKED[name]).allowed(np.array([0.5]))


@pytest.mark.parametrize(
    "constraint",
    [
        lambda x: [-1.0] * (1 + (x[0] > 0.7)),
        lambda x: [True] * (2 - (x[0] > 0.7)),
        NonlinearConstraint(lambda x: np.zeros(1 + (x[0] > 0.7)), 0, 1),
    ],
)
def test_a_constraint_of_varying_length_is_refused_in_one_sentence(constraint):
    with pytest.raises(SettingsError, match=r"returned [12] numbers at .* and [12] at another"):
        bamsoo.minimize(lambda x: -x[0], [(0, 1)], 20, constraints=[constraint])


def test_a_formula_may_use_a_parameter_that_does_not_exist_in_the_middle_of_the_space():
    space = {"kind": bamsoo.Choice({name: {f"in_{name}": (0, 1)} for name in "abc"})}
    limits = [Formula(f"0.2 <= in_{name} <= 0.6") for name in "abc"]
    result = bamsoo.minimize(
        lambda kind, **inner: sum(inner.values()), space, 12, constraints=limits
    )
    assert all(0.2 <= value <= 0.6 for p in result.X for n, value in p.items() if n != "kind")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([3], "a constraint must be a callable"),
        ([lambda x: None], "must return a bool or a number"),
        ([lambda x: 1 / 0], "raised ZeroDivisionError"),
        ([LinearConstraint([[1, 1, 1]], 0, 1)], "one column for each of the 2 parameters"),
        ([LinearConstraint([[1, 1]], 1, 0)], "needs lb <= ub"),
        (["a", "a"], "needs a unique, non-empty name"),
        (["x0 <= 3"], "bamsoo.Formula"),
        ([Formula("z <= 3")], "uses 'z', which is not a parameter"),
    ],
)
def test_an_invalid_constraint_is_refused(given, message):
    with pytest.raises(SettingsError, match=message):
        Constraints(Space([(0, 1), (0, 1)]), given)


def test_scipy_constraints_and_formulas_need_numbers():
    space = Space({"x": (0, 1), "kind": bamsoo.Choice(["a", "b"])})
    with pytest.raises(SettingsError, match="needs a space of numbers"):
        Constraints(space, [LinearConstraint([[1, 1]], 0, 1)])
    with pytest.raises(SettingsError, match="whose options are not all numbers"):
        Constraints(space, [Formula("kind <= 1")])
    numbers = Space({"x": (0, 1), "size": bamsoo.Choice([16, 32])})
    Constraints(numbers, [Formula("x * size <= 20")])


def test_a_point_to_evaluate_must_be_allowed():
    with pytest.raises(SpaceError, match=r"violates the constraint x \+ y <= 1"):
        bamsoo.minimize(
            lambda x, y: x,
            {"x": (0, 1), "y": (0, 1)},
            5,
            x0={"x": 0.9, "y": 0.9},
            constraints=[Formula("x + y <= 1")],
        )


def test_a_solution_of_the_linear_constraints_must_meet_the_others_too():
    rows = LinearConstraint([[1, 1]], 0, 1)
    nowhere = region([(0, 1)] * 2, rows, lambda x: bool(x[0] > 2.0))
    assert nowhere.find(*corners(2), np.full(2, 0.9)) == (None, False)


def test_an_allowed_point_is_looked_for_nearby_before_it_is_looked_for_everywhere():
    centre = np.full(10, 0.5)
    outside = region([(0, 1)] * 10, lambda x: bool(np.abs(x - 0.5).max() > 0.1))
    assert 0.1 < np.abs(outside.near(centre) - centre).max() <= 0.25


def test_in_a_narrow_cell_derivatives_are_taken_inside_it():
    seen = []

    def curved(x):
        seen.append(float(x[0]))
        return (x[0] - 0.5004) ** 2 + (x[1] - 0.5) ** 2

    there = region([(0, 1)] * 2, NonlinearConstraint(curved, 0.01, 0.0100001))
    seen.clear()
    low, high = np.array([0.5, 0.0]), np.array([0.5 + 1e-5, 1.0])
    found = there.find(low, high, np.array([0.500004, 0.58]), 32)
    assert found.x is not None
    assert 0.5 <= min(seen) < max(seen) <= high[0]


def overlaps(x):
    gaps[:] = 0.3 - np.abs(x[:2] - x[2:])
    return gaps


gaps = np.empty(2)


@pytest.mark.parametrize(
    ("space", "constraint"),
    [
        ([(0, 1)] * 4, overlaps),  # it returns the same array each time
        ([(0, 1)] * 4, lambda x: bool(x[0] < x[1])),
        ([(0, 1)] * 4, LinearConstraint([[1, 2, 0.3, 4]], 1, 2)),
        ({"a": (0, 1), "b": Int(0, 9), "c": Real(1e-3, 1, log=True)}, Formula("b*c <= a**2 + 1")),
        ({"a": (0, 1), "b": Choice([1.5, 2.5]), "c": 2}, Formula("1 <= a*b + c**0 <= 2")),
        ({"m": Choice({"p": {"t": (0, 1)}, "q": {"k": Int(1, 9)}}), "a": (0, 1)}, Formula("t<=a")),
        ({"a": (0, 1), "b": (0, 1)}, Formula("2 <= 1")),
        ({"a": (0, 1), "b": (0, 1)}, lambda a, b: [a - b, 1]),
    ],
)
def test_several_points_have_the_same_numbers_as_each_of_them(space, constraint):
    allowed = region(space, constraint, Formula("1/2 <= 1"))
    domain = Space(space).domain
    U = np.random.default_rng(1).random((20, domain.dim))
    U[10:] = np.where(np.arange(domain.dim) == np.arange(10)[:, None] % domain.dim, U[10:], U[0])
    U[18], U[19] = 0.0, 1.0
    U = np.array([domain.snap(u) for u in U])
    each = np.array([allowed.numbers(u[None])[0] for u in U])
    assert np.array_equal(allowed.numbers(U), each)
    assert allowed.allows(U).tolist() == [allowed.allowed(u) for u in U]
    assert allowed.numbers(U[:0]).shape == (0, each.shape[1])


def test_bisection_is_given_up_once_it_cannot_end_in_the_cell():
    calls = []

    def inside(x):
        calls.append(x)
        return bool(x[0] <= 0.25)

    allowed = region([(0, 1)] * 2, inside)
    allowed.find(np.zeros(2), np.ones(2), np.array([0.2, 0.5]))  # which is known from now on
    del calls[:]
    low, high = np.array([0.5, 0.0]), np.ones(2)
    assert allowed.find(low, high, np.array([0.75, 0.5])).x is None
    assert len(calls) < 40
    found = allowed.find(np.array([0.2499, 0.0]), high, np.array([0.75, 0.5])).x
    assert found[0] == pytest.approx(0.25)
