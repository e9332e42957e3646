"""Whether values look noisy."""

import numpy as np
from scipy.stats import norm, spearmanr

from bamsoo.model.noise import looks_noisy
from bamsoo.space.axes import cube


def test_noise_is_detected_from_the_differences_between_neighbours():
    rng = np.random.default_rng(2)
    scales = 10.0 ** rng.uniform(-5, -0.5, (150, 1))
    X = np.clip(0.4 + scales * rng.standard_normal((150, 3)), 0, 1)
    smooth = ((X - 0.4) ** 2).sum(axis=1)
    unit = cube(3)
    assert not looks_noisy(unit, X, smooth)
    assert looks_noisy(unit, X, smooth + 0.05 * rng.standard_normal(150))
    assert looks_noisy(unit, X, smooth + 0.05 * rng.standard_cauchy(150))
    assert looks_noisy(unit, X, 1e300 * (smooth + 0.05 * rng.standard_normal(150)))
    assert not looks_noisy(unit, X, smooth + 1e-9 * rng.standard_normal(150))
    assert not looks_noisy(unit, X[:20], rng.standard_normal(20))
    assert not looks_noisy(unit, rng.random((150, 3)), rng.standard_normal(150))  # too far apart


def test_one_jump_between_the_closest_neighbours_is_not_noise():
    rng = np.random.default_rng(0)
    first = np.linspace(0.0, 0.9, 60)
    apart = rng.uniform(2e-5, 1e-4, 60)
    apart[30] = 1e-6
    X = np.concatenate([first, first + apart])[:, None]
    values = np.concatenate([first, first]) + 1e-6 * rng.standard_normal(120)
    values[90] += 0.5  # a cliff between the two closest points
    assert not looks_noisy(cube(1), X, values)


def test_values_are_noisy_unless_chance_explains_their_order_in_less_than_1_of_100_cases():
    first, apart = np.linspace(0.0, 0.9, 60), np.linspace(2e-5, 1e-4, 60)
    X = np.concatenate([first, first + apart])[:, None]
    rng, sizes = np.random.default_rng(0), []
    for _ in range(25):
        differences = np.linspace(1.0, 2.0, 60) + rng.normal(0.0, 0.25, 60)
        noisy = looks_noisy(cube(1), X, np.concatenate([np.zeros(60), differences]))
        closer = spearmanr(apart[:30], differences[:30]).statistic
        sizes.append(closer * np.sqrt(29))  # in deviations of the correlation of random numbers
        assert noisy == (norm.sf(sizes[-1]) > 0.01)
    assert min(sizes) < 2.0 < 2.6 < max(sizes)
