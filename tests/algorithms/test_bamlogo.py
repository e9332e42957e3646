"""BaMLOGO compared with LOGO."""

from numpy.testing import assert_array_equal

import bamsoo
from bamsoo.problems import hartmann3


def test_bamlogo_with_a_boundless_prior_is_logo():
    boundless = bamsoo.algorithms.BaMLOGO(kernel=bamsoo.kernels.Matern52(0.01, variance=1e12))
    one = bamsoo.minimize(hartmann3, hartmann3.bounds, 100, algorithm=boundless)
    other = bamsoo.minimize(hartmann3, hartmann3.bounds, 100, algorithm=bamsoo.algorithms.LOGO())
    assert_array_equal(one.X, other.X)
