"""The kernels compared with their formulas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import gamma, kv

from bamsoo.errors import SettingsError
from bamsoo.kernels import Matern32, Matern52, Matern72, SquaredExponential
from bamsoo.model.gp import GP

KERNELS = [SquaredExponential, Matern32, Matern52, Matern72]
by_kernel = pytest.mark.parametrize("family", KERNELS, ids=lambda k: k.__name__)


@by_kernel
def test_a_kernel_equals_its_formula(family):
    nu = {Matern32: 1.5, Matern52: 2.5, Matern72: 3.5}.get(family)
    kernel = family([0.2, 0.7], variance=2.0)
    X, Y = np.random.default_rng(0).random((2, 6, 2))
    r = np.sqrt((((X[:, None] - Y[None]) / [0.2, 0.7]) ** 2).sum(-1))
    if nu is None:
        expected = 2.0 * np.exp(-(r**2) / 2)
    else:
        a = np.sqrt(2 * nu) * r
        expected = 2.0 * 2 ** (1 - nu) / gamma(nu) * a**nu * kv(nu, a)
    assert_allclose(kernel(X, Y), expected, rtol=1e-12)
    assert_allclose(kernel(X, X).diagonal(), 2.0)


@by_kernel
def test_the_slope_of_a_kernel_is_its_derivative(family):
    kernel, r2 = family(1.0, variance=3.0), np.linspace(0.05, 9, 50)
    numeric = (kernel.of(r2 + 1e-6) - kernel.of(r2 - 1e-6)) / 2e-6
    assert_allclose(kernel.slope(r2), numeric, rtol=1e-6, atol=1e-9)
    of, slope = kernel.of_and_slope(r2)
    assert (of == kernel.of(r2)).all()
    assert (slope == kernel.slope(r2)).all()


def test_a_wrong_number_of_length_scales_is_refused():
    with pytest.raises(SettingsError, match="got 2 length-scales for a space of 3 dimensions"):
        GP(Matern52([0.1, 0.2]), 3)
