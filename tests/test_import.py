"""`import bamsoo` loads next to nothing; what is used first is as quick as numpy and scipy.

What takes long to load is loaded where it is used. The exceptions are listed, and the lists are
exact: a test fails if another module needs a package, and also if a listed one no longer does.
"""

import ast
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import bamsoo
from bamsoo.algorithms import BY_NAME, Name

LAYERS = {"base", "space", "model", "record", "algorithms", "result", "search", "run"}
"""The folders that `minimize` needs; the small modules of the root come with them."""
HEAVY = {
    "asyncio": [],
    "click": ["command.*"],
    "cloudpickle": [],
    "concurrent.futures": ["command.plan", "run.executors"],
    "http.server": ["report.server"],
    "matplotlib": [],
    "mlflow": ["integrations.mlflow"],
    "multiprocessing": ["run.processes", "run.worker"],
    "optuna": ["integrations.optuna", "study.optuna_space"],
    "pandas": [],
    "psycopg": ["study.server"],
    "pyarrow": [],
    "rich": ["command.progress", "command.show"],
    "scipy.optimize": ["result.answers", "result.gap", "result.result", "result.scene"],
    "scipy.stats": [],
    "sklearn": ["integrations.sklearn", "integrations.sklearn_resources"],
    "sqlite3": ["study.lock", "study.optuna_study", "study.pages", "study.sqlite"],
    "threadpoolctl": [],
    "wandb": ["integrations.wandb"],
}
"""Packages that take milliseconds to load, or seconds, and the modules that import them outside of
functions. Those are loaded only for what cannot do without the package."""

LOADED = {
    "from bamsoo import minimize": set(),
    "from bamsoo import plotting": set(),
    "from bamsoo.study import Study": {"sqlite3"},
    "import bamsoo.result.result": {"scipy.optimize"},
    "import bamsoo.run.processes": {"multiprocessing"},
    "import bamsoo.command.main": {"click"},
}
"""What is loaded of these after some imports, beyond what numpy and scipy load themselves."""


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
def basis():
    """What numpy and scipy load, which no user of a search can do without."""
    return modules_after("import numpy, scipy.linalg")


@pytest.fixture(scope="module")
def added(basis):
    """What `minimize` loads beyond that."""
    return modules_after("from bamsoo import minimize") - basis


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


def outside_functions(body):
    """The import statements that are executed when a module is loaded."""
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif not isinstance(node, ast.FunctionDef):
            yield from outside_functions(ast.iter_child_nodes(node))


def test_heavy_packages_are_imported_where_they_are_used_and_every_exception_is_needed():
    root, found = Path(bamsoo.__file__).parent, {package: set() for package in HEAVY}
    for file in root.rglob("*.py"):
        module = ".".join(file.relative_to(root).with_suffix("").parts)
        for name in outside_functions(ast.parse(file.read_text("utf-8")).body):
            for package in HEAVY:
                if f"{name}.".startswith(f"{package}."):
                    found[package].add(module)
    found["click"] = {f"{module.partition('.')[0]}.*" for module in found["click"]}
    assert found == {package: set(modules) for package, modules in HEAVY.items()}


@pytest.mark.parametrize("code", LOADED)
def test_what_is_loaded_of_them(code, basis):
    assert {name for name in modules_after(code) - basis if name in HEAVY} == LOADED[code]


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
