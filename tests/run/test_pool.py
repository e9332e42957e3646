"""Which workers are accepted."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import bamsoo

LINE = {"x": (0.0, 1.0)}


@pytest.mark.parametrize(
    "workers", [0, -2, True, 2.0, "two", [2], (2, 2), sys, (ThreadPoolExecutor, 2)], ids=repr
)
def test_invalid_workers_are_refused(workers):
    with pytest.raises(
        bamsoo.errors.SettingsError, match="workers must be None, a whole number >= 1"
    ):
        bamsoo.minimize(lambda x: x, LINE, 3, workers=workers)
