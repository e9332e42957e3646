"""IMGPO: the cells it leaves alone, and the width of its bounds."""

import numpy as np
import pytest

import bamsoo
from bamsoo.algorithms.imgpo import varsigma


def test_imgpo_leaves_large_cells_alone_that_the_gp_finds_hopeless():
    f = lambda x: float(np.cos(5 * (x[0] - 0.41)) * np.cos(4 * (x[1] - 0.63)))
    kernel = bamsoo.kernels.SquaredExponential(0.4)
    sure = bamsoo.maximize(f, [(0, 1)] * 2, 60, algorithm=bamsoo.algorithms.IMGPO(kernel))
    unsure = bamsoo.maximize(
        f,
        [(0, 1)] * 2,
        60,
        algorithm=bamsoo.algorithms.IMGPO(bamsoo.kernels.Matern52(0.01, variance=1e6)),
    )
    assert sure.nrejected > 0 == unsure.nrejected
    assert 1 - sure.fun < 1e-4 * (1 - unsure.fun)


def test_the_width_of_imgpos_bounds_by_hand():
    assert varsigma(1, 0.05) == pytest.approx(np.sqrt(2 * np.log(np.pi**2 / 0.6)))
    assert varsigma(7, 0.05) ** 2 - varsigma(1, 0.05) ** 2 == pytest.approx(4 * np.log(7))
    assert varsigma(1, 0.99) == 0.0


def test_an_evaluation_ends_a_row_of_rejections():
    f = lambda x: float(np.cos(5 * (x[0] - 0.41)) * np.cos(4 * (x[1] - 0.63)))
    settings = bamsoo.algorithms.IMGPO(bamsoo.kernels.SquaredExponential(0.4), patience=1)
    r = bamsoo.maximize(f, [(0, 1)] * 2, 60, algorithm=settings)
    assert 0 < r.nrejected <= 60  # at most one after each evaluation
