"""`import bamsoo` loads next to nothing; what is used first is as quick as numpy and scipy."""

import subprocess
import sys
from typing import get_args

import pytest

import bamsoo
from bamsoo.algorithms import BY_NAME, Name

LAYERS = {"base", "space", "model", "record", "algorithms", "result", "search", "run"}
"""The folders that `minimize` needs; the small modules of the root come with them."""
SLOW = [
    "asyncio",
    "cloudpickle",
    "concurrent.futures",
    "multiprocessing",
    "rich",
    "scipy.optimize",
    "scipy.stats",
    "sqlite3",
    "subprocess",
    "threadpoolctl",
]
"""Modules that take milliseconds to load and are needed later, if at all."""


def modules_after(code):
    """The modules that are loaded after `code` has run in a fresh interpreter."""
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stderr == ""
    return set(ran.stdout.split())


@pytest.fixture(scope="module")
def added():
    """What `minimize` loads beyond numpy and scipy, which no user of it can do without."""
    loaded = modules_after("from bamsoo import minimize")
    return loaded - modules_after("import numpy, scipy.linalg")


def test_import_bamsoo_loads_nothing_of_it_yet():
    loaded = modules_after("import bamsoo")
    assert "numpy" not in loaded
    assert {name for name in loaded if "bamsoo" in name} == {"bamsoo", "bamsoo._version"}


def test_a_worker_needs_nothing_of_scipy():
    # a third of a second of every process
    assert "scipy" not in modules_after("import bamsoo.run.worker")


def test_a_search_needs_no_package_but_numpy_and_scipy(added):
    packages = {name.partition(".")[0] for name in added}
    assert "bamsoo" in packages
    assert packages <= {"bamsoo", *sys.stdlib_module_names}


@pytest.mark.parametrize("module", SLOW)
def test_a_search_does_not_load(module, added):
    assert module not in added


def test_a_run_does_not_load_the_statistics_of_scipy():
    # half a second of every process that runs a search: only estimates of the gap need it
    run = "import bamsoo; bamsoo.minimize(lambda x: x[0], [(0, 1)] * 2, 12)"
    assert "scipy.stats" not in modules_after(run)


def test_a_search_loads_the_layers_down_to_run_and_no_pool_of_workers(added):
    own = {name.split(".")[1] for name in added if name.startswith("bamsoo.")}
    assert own >= LAYERS
    assert own.isdisjoint({"study", "report", "command", "integrations", "plotting"})
    assert added.isdisjoint({"bamsoo.run.processes", "bamsoo.run.executors"})


def test_everything_in_all_can_be_imported():
    import bamsoo

    assert [name for name in bamsoo.__all__ if not hasattr(bamsoo, name)] == []
    assert len(set(bamsoo.__all__)) == len(bamsoo.__all__)


def test_the_public_names_are_exactly_these():
    assert dir(bamsoo) == sorted(bamsoo.__all__)
    assert {name for name in dir(bamsoo) if not name.startswith("_")} == {
        *(
            "minimize",
            "maximize",
            "least_squares",
            "Optimizer",
            "Study",
            "Result",
            "Trial",
            "BamsooError",
        ),
        *("Real", "Int", "Choice", "Fidelity", "Formula", "Gap", "Stalled", "TryAgain"),
        "Command",
        *("algorithms", "kernels", "errors", "problems", "plotting"),
    }
    for name in dir(bamsoo):
        assert getattr(bamsoo, name) is not None


def test_a_name_that_is_elsewhere_says_where():
    with pytest.raises(AttributeError, match=r"'SOO'; it is bamsoo\.algorithms\.SOO$"):
        bamsoo.SOO  # noqa: B018
    with pytest.raises(AttributeError, match=r"'guess'$"):
        bamsoo.guess  # noqa: B018


def test_a_type_checker_knows_the_algorithms():
    assert get_args(Name) == tuple(BY_NAME)


def test_both_spellings_of_the_integrations_work():
    from bamsoo.integrations import optuna, sklearn

    assert optuna.BamsooSampler is optuna.BaMSOOSampler
    assert sklearn.BaMSOOSearchCV is sklearn.BamsooSearchCV
