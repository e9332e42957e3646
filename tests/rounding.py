"""The same rounding on every x86-64 processor, for tests that compare points with stored ones.

OpenBLAS and numpy have routines for several generations of processors, which round differently, and
climbing a model amplifies that. So the tests use those that every processor since 2013 can run.
"""

import os
import platform
import sys
import warnings
from importlib import import_module
from importlib.metadata import version

CHOICE = {
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
}
"""Haswell has AVX2 and FMA, with which the mathematical functions of glibc round equally too. The
features are what numpy 2.4 has beyond that; earlier versions have other names for them."""


def applies() -> bool:
    """Whether the choice is possible with this processor and version of numpy."""
    recent = tuple(map(int, version("numpy").split(".")[:2])) >= (2, 4)
    return recent and platform.machine() in ("x86_64", "AMD64")


def fix() -> None:
    """Choose the routines, for this process and those that it starts; before numpy is imported."""
    if applies():
        assert "numpy" not in sys.modules or os.environ.items() >= CHOICE.items()
        os.environ.update(CHOICE)
        with warnings.catch_warnings():  # of a feature that this version does not have
            warnings.simplefilter("ignore", ImportWarning)
            import_module("numpy")
