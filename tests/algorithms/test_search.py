"""The width of the confidence bounds."""

import numpy as np
import pytest

from bamsoo.algorithms.search import B


def test_the_width_of_the_bounds_by_hand():
    assert B(1, 0.05) == pytest.approx(np.sqrt(2 * np.log(np.pi**2 / 0.3)))
    assert B(10, 0.05) ** 2 - B(1, 0.05) ** 2 == pytest.approx(4 * np.log(10))
