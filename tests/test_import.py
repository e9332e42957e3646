"""`import bamsoo` stays light: numpy and scipy, nothing else."""

import subprocess
import sys

import pytest

FORBIDDEN = [
    "matplotlib",
    "click",
    "rich",
    "optuna",
    "dask",
    "torch",
    "sklearn",
    "pandas",
    "sqlite3",
]


@pytest.fixture(scope="module")
def loaded():
    """Top-level modules present after `import bamsoo` in a fresh interpreter."""
    code = "import bamsoo, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    return set(ran.stdout.split())


@pytest.mark.parametrize("module", FORBIDDEN)
def test_import_bamsoo_does_not_load(module, loaded):
    assert {"bamsoo", "numpy"} <= loaded
    assert module not in loaded


def test_import_bamsoo_needs_no_package_but_numpy_and_scipy(loaded):
    # an editable install may leave its own finder behind
    ours = {"bamsoo", "numpy", "scipy"}
    foreign = {
        name
        for name in loaded - ours - set(sys.stdlib_module_names)
        if not name.startswith(("_", "__editable__", "sitecustomize", "usercustomize"))
    }
    assert foreign <= {"cython_runtime", "distutils-precedence"}


def test_everything_in_all_can_be_imported():
    import bamsoo

    assert [name for name in bamsoo.__all__ if not hasattr(bamsoo, name)] == []
    assert len(set(bamsoo.__all__)) == len(bamsoo.__all__)


def test_the_contracts_names_are_public():
    import bamsoo

    contract = {
        "minimize",
        "maximize",
        "Optimizer",
        "Trial",
        "Real",
        "BaMSOO",
        "SOO",
        "DOO",
        "GPUCB",
        "Shrinking",
        "Auto",
        "Matern52",
        "SquaredExponential",
        "BamsooError",
        "problems",
    }
    assert contract <= set(bamsoo.__all__)
