"""The model of curves predicts what curves become, and says how sure it is."""

import numpy as np
import pytest

from bamsoo.model.curves import CurveModel
from bamsoo.space.axes import cube

T = 30


def curve(x, rng=None):
    """A curve whose final value depends on x, and whose transient is its own."""
    rate = 1.0 + 3.0 * x[1]
    return 1.0 - (x[0] - 0.4) ** 2 - np.arange(1, T + 1.0) ** -rate


@pytest.fixture
def model():
    made, rng = CurveModel(T, cube(2)), np.random.default_rng(0)
    for i in range(12):
        x = rng.random(2)
        taken = T if i < 4 else 6
        made.add(x, np.arange(1, taken + 1), curve(x)[:taken])
    return made


def test_the_final_value_is_within_its_band_and_the_band_shrinks(model):
    rng = np.random.default_rng(1)
    deviations = []
    for _ in range(20):
        x = rng.random(2)
        at = []
        for taken in (1, 4, 15):
            mean, deviation, share = model.predict(x, np.arange(1, taken + 1), curve(x)[:taken])
            assert abs(mean - model.seen(curve(x)[-1])) < 4.0 * deviation
            assert 0.0 < share <= 1.0
            at.append(deviation)
        deviations.append(at)
    first, middle, late = np.mean(deviations, axis=0)
    assert first > middle > late


def test_without_values_nothing_is_settled(model):
    none = np.array([], dtype=int), np.array([])
    assert model.predict(np.array([0.5, 0.5]), *none)[2] == 1.0


def test_units_are_inverted(model):
    for value in (0.99, 0.5, -1.0):
        assert model.value(model.seen(value)) == pytest.approx(value)
        slope = (model.value(model.seen(value) + 1e-6) - value) / 1e-6
        assert model.slope(model.seen(value)) == pytest.approx(slope, rel=1e-3)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("values", [[1.0], [1.0, 1.0, 1.0], [0.0, 0.0], [1.0, -5.0, 3.0]])
def test_any_values_give_a_finite_prediction(scale, values):
    model = CurveModel(T, cube(1))
    for x in (0.1, 0.1, 0.9):
        model.add(np.array([x]), np.arange(1, len(values) + 1), scale * np.array(values))
    found = model.predict(np.array([0.5]), np.array([1]), scale * np.array([2.0]))
    assert np.isfinite(found).all()


def test_the_ends_of_curves_that_were_entered(model):
    points = np.random.default_rng(0).random((12, 2))
    means, sigmas = model.ends(range(12))
    for i in range(4):  # finished
        assert model.value(means[i]) == pytest.approx(curve(points[i])[-1], abs=0.01)
    assert sigmas[4:].min() > sigmas[:4].max()
    for i in range(4, 12):
        assert abs(model.seen(curve(points[i])[-1]) - means[i]) < 4.0 * sigmas[i]


def test_a_longer_curve_takes_the_place_of_a_shorter_one(model):
    x = np.random.default_rng(0).random((12, 2))[7]
    assert model.add(x, np.arange(1, T + 1), curve(x), instead_of=7) == 7
    assert len(model) == 12
    means, _ = model.ends([7])
    assert model.value(means[0]) == pytest.approx(curve(x)[-1], abs=0.01)
