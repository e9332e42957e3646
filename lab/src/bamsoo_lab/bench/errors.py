"""Errors of the benchmark."""

from importlib import import_module
from types import ModuleType

from bamsoo.errors import BamsooError


class BenchError(BamsooError, ValueError):
    """A suite, method or part that does not exist."""


class MissingPackageError(BamsooError, ImportError):
    """A run needs a package that is not installed."""


PIP = {
    "skopt": "scikit-optimize",
    "pybobyqa": "Py-BOBYQA",
    "dfols": "DFO-LS",
    "sklearn": "scikit-learn",
    "cocoex": "coco-experiment",
}
"""Names of packages that differ from the name of their module."""


def require(module: str) -> ModuleType:
    """Import a module, or raise an error that says what to install."""
    try:
        return import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        raise MissingPackageError(
            f"{name} is needed for this run and is not installed; "
            f"pip install {PIP.get(name, name)} brings it"
        ) from None
