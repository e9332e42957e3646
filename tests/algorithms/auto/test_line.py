"""The search along one axis: parabolas near the best coordinate, Gaussian processes elsewhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from bamsoo.algorithms.auto.line import Line, LineConstants, far, improvement, near, well_apart
from bamsoo.kernels import Matern52

CONSTANTS = LineConstants()


def line(f, *u):
    """A function at some coordinates."""
    return Line(np.array(u), np.array([f(each) for each in u]))


def parabola(top, bend=3.0):
    return lambda u: -bend * (u - top) ** 2


@given(top=st.floats(0.3, 0.7), low=st.floats(0.0, 0.25), high=st.floats(0.75, 1.0))
def test_three_coordinates_find_the_top_of_a_parabola(top, low, high):
    found = near(line(parabola(top), low, 0.5, high), CONSTANTS)
    assert found.top == pytest.approx(top, abs=1e-9)
    least = 0.1 * min(0.5 - low, high - 0.5)
    assert abs(found.to - 0.5) == pytest.approx(max(abs(top - 0.5), least))


def test_moves_go_beyond_the_last_coordinate_until_the_face_of_the_cube():
    assert near(line(lambda u: u, 0.5, 0.625), CONSTANTS).to == 0.875
    assert near(line(lambda u: u, 0.25, 0.5, 0.625), CONSTANTS).to == 0.875
    assert near(line(lambda u: -u, 0.25, 0.5), CONSTANTS).to == 0.0
    assert near(line(lambda u: -u, 0.0, 0.25, 0.5), CONSTANTS) is None
    # the best of two is on a face: the other side of it is looked at
    assert near(line(lambda u: u, 0.5, 1.0), CONSTANTS).to == 0.75
    # the parabola has its top between a face and the next coordinate
    assert near(line(parabola(0.9), 0.5, 0.75, 1.0), CONSTANTS).to == pytest.approx(0.9)


@given(st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(-1.0, 1.0)), min_size=2, max_size=6))
def test_moves_stay_on_the_axis(points):
    known = {round(u, 6): g for u, g in points}
    if len(known) < 2:
        return
    u, g = (np.array(column) for column in zip(*sorted(known.items()), strict=True))
    found = near(Line(u, g), CONSTANTS)
    assert found is None or (0.0 <= found.to <= 1.0 and 0.0 <= found.top <= 1.0)


def test_the_shortest_step_does_not_leave_the_axis():
    found = near(line(parabola(0.9991), 0.9, 0.95, 0.999), CONSTANTS)
    assert found.to == 1.0


def test_a_parabola_with_its_top_at_a_known_coordinate_is_not_trusted_entirely():
    found = near(line(parabola(0.5), 0.25, 0.5, 0.75), CONSTANTS)
    assert (found.top, abs(found.to - 0.5)) == (0.5, pytest.approx(0.025))
    assert found.gain == pytest.approx(CONSTANTS.doubt * 3.0 / 16)


def test_coordinates_close_to_better_ones_are_left_out():
    some = Line(np.array([0.1, 0.101, 0.5, 0.504, 0.6]), np.array([1.0, 2.0, 5.0, 4.0, 0.0]))
    assert well_apart(some, 0.005) == [1, 2, 4]


@pytest.mark.parametrize("best", [0.9, 1.0])  # one place is expected to be better, or none
def test_the_expected_improvement_is_that_of_dense_gaussian_processes(best):
    u, at = np.array([0.0, 0.2, 0.45, 0.7, 1.0]), np.array([0.1, 0.22, 0.9])
    y = np.sin(7.0 * u) - best
    logs, gains = [], []
    for trend in (0.0, 100.0):
        for length in np.geomspace(0.02, 2.0, 12):

            def k(a, b, length=length, trend=trend):
                s, t = 2.0 * (a[:, None] - 0.2), 2.0 * (b[None] - 0.2)
                return Matern52(length)(a[:, None], b[:, None]) + trend * (s * t + s**2 * t**2)

            K = k(u, u) + 1e-9 * np.eye(5)
            inverse, ones = np.linalg.inv(K), np.ones(5)
            mean = ones @ inverse @ y / (ones @ inverse @ ones)
            s2 = (y - mean) @ inverse @ (y - mean) / 5
            logs.append(-2.5 * np.log(s2) - 0.5 * np.linalg.slogdet(K)[1])
            logs[-1] -= 0.5 * np.log(length / 0.3) ** 2
            mu = mean + k(at, u) @ inverse @ (y - mean)
            sigma = np.sqrt(s2 * np.diag(k(at, at) - k(at, u) @ inverse @ k(u, at)))
            gains.append(mu * norm.cdf(mu / sigma) + sigma * norm.pdf(mu / sigma))
    weights = np.exp(np.array(logs) - max(logs))
    expected = weights @ np.array(gains) / weights.sum()
    np.testing.assert_allclose(improvement(u, y, at, 0.2), expected, rtol=1e-5, atol=1e-12)


def test_far_moves_look_into_gaps_where_something_may_be_better_and_not_elsewhere():
    ripples = lambda u: float(np.cos(30.0 * u)) - (u - 0.6) ** 2
    found = far(line(ripples, *np.linspace(0.05, 0.4, 12)), CONSTANTS)
    assert found.to > 0.4
    assert far(line(parabola(0.6), 0.0, 0.25, 0.5, 0.59, 0.7, 1.0), CONSTANTS) is None
    assert far(line(ripples, 0.1, 0.5, 0.9), CONSTANTS) is None  # too few
    assert far(line(lambda u: 1.0, 0.1, 0.2, 0.3, 0.4, 0.5), CONSTANTS) is None  # no influence


@given(st.integers(0, 10_000))
def test_far_moves_stay_out_of_the_gaps_beside_the_best_coordinate(seed):
    rng = np.random.default_rng(seed)
    some = Line(np.sort(rng.uniform(size=6)), rng.normal(size=6))
    ends, best = np.concatenate([[0.0], some.u, [1.0]]), int(some.g.argmax())
    found = far(some, CONSTANTS)
    # a face may be looked at even if it is the end of such a gap
    assert found is None or found.to in (0.0, 1.0) or not ends[best] < found.to < ends[best + 2]
