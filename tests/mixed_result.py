"""A run over numbers and options in which some evaluations fail."""

import numpy as np
import pytest

import bamsoo
from bamsoo import Choice, Int, Real

MIXED = {"rate": Real(1e-4, 1.0, log=True), "n": Int(1, 12), "kind": Choice(["a", "b", "c"])}


def cost(rate, n, kind):
    if n > 8:
        raise MemoryError("too large")
    return (np.log10(rate) + 2.5) ** 2 + 0.1 * (n - 4) ** 2 + (kind == "b")


@pytest.fixture(scope="module")
def mixed():
    return bamsoo.minimize(cost, MIXED, 30, on_error="fail")
