"""LOGO compared with SOO."""

import numpy as np
from numpy.testing import assert_array_equal

import bamsoo
from bamsoo.problems import hartmann3


def test_logo_with_one_depth_per_superset_is_soo():
    soo = bamsoo.algorithms.SOO(k=3, h_max=lambda n: np.sqrt(n) - 1)
    one = bamsoo.minimize(hartmann3, hartmann3.bounds, 150, algorithm=soo)
    other = bamsoo.minimize(hartmann3, hartmann3.bounds, 150, algorithm=bamsoo.algorithms.LOGO(w=1))
    assert_array_equal(one.X, other.X)


def test_the_local_weights_are_those_of_the_papers_experiments():
    assert bamsoo.algorithms.LOGO().w == (3, 4, 5, 6, 8, 30)
