"""Whether values look noisy."""

import numpy as np

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
