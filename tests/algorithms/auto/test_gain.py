"""The expected improvement of the hypervolume against Monte Carlo and against definitions."""

import numpy as np
import pytest

from bamsoo.algorithms.auto.gain import Gain
from bamsoo.base.pareto import boxes, hypervolume, more_volume
from bamsoo.model.warp import Bent, Identity, Linear


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_the_expected_improvement_equals_the_mean_over_draws(m, seed):
    rng = np.random.default_rng(seed)
    front, reference = rng.random((6, m)), np.full(m, -0.1)
    mu, sigma = 1.2 * rng.random((4, m)), 0.05 + 0.3 * rng.random((4, m))
    gain = Gain(front, reference, [Identity()] * m)
    low, high = boxes(front, reference)
    whole = np.prod(front.max(0) - reference)
    for i, expected in enumerate(gain.expected(mu, sigma)):
        draws = more_volume(mu[i] + sigma[i] * rng.standard_normal((20_000, m)), low, high) / whole
        error = 5.0 * draws.std() / np.sqrt(len(draws))
        assert expected == pytest.approx(draws.mean(), abs=error + 1e-12)


def test_linear_transforms_change_nothing():
    rng = np.random.default_rng(7)
    front, reference = rng.random((5, 2)), np.zeros(2)
    mu, sigma = rng.random((6, 2)), 0.1 + rng.random((6, 2))
    plain = Gain(front, reference, [Identity()] * 2)
    lines = [Linear(2.0, 0.3, 0.5), Linear(1.0, -1.0, 3.0)]
    seen = Gain(front, reference, lines)
    there = np.stack([[line(v) for v in column] for line, column in zip(lines, mu.T, strict=True)])
    spread = sigma / np.array([line.size * line.scale for line in lines])
    assert seen.expected(there.T, spread) == pytest.approx(plain.expected(mu, sigma))
    assert seen.of(there.T) == pytest.approx(plain.of(mu))


def test_volume_is_measured_in_the_units_of_the_values():
    # without doubt about the values, the expected improvement is the improvement itself, whatever
    # the transform, up to its being taken as linear between neighbouring values of the front
    bent = Bent(Linear(1.0, 0.0, 1.0), 1.0, 0.05, 0.0, 1.0)
    front, reference = np.array([[0.2, 0.9], [0.5, 0.6], [1.0, 0.1]]), np.zeros(2)
    gain = Gain(front, reference, [bent, Identity()])
    at = np.array([[bent(0.5), 0.9]])
    more = hypervolume(np.vstack([front, [0.5, 0.9]]), reference) - hypervolume(front, reference)
    assert gain.of(at)[0] == pytest.approx(more / 0.9)
    assert gain.expected(at, np.full((1, 2), 1e-9))[0] == pytest.approx(more / 0.9)


def test_a_tolerance_makes_values_worse():
    gain = Gain(np.array([[0.0, 1.0], [1.0, 0.0]]), np.full(2, -0.1), [Identity()] * 2)
    at = np.array([[1.005, 0.005]])
    assert gain.of(at)[0] > 0.0
    assert gain.of(at, 0.01)[0] == 0.0
