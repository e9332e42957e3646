"""Equal rounding on every processor, equal examples in every CI run, and no traces in a home.

`--quick` selects what `make test-fast` runs.
"""

import os
from pathlib import Path

import pytest
from hypothesis import settings

import rounding
from memory import MEMORY

rounding.fix()  # before a test imports numpy
if MEMORY:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)  # of all temporary directories
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("developer", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "developer")

LENGTHY = Path(__file__).parent / "tests" / "lengthy.txt"
"""The tests that take more than a fifth of a second with their first parameters."""


def pytest_addoption(parser):
    """Add the option for quick checks."""
    parser.addoption(
        "--quick",
        action="store_true",
        help="run only the tests that are not lengthy, each with its first parameters",
    )


def pytest_collection_modifyitems(config, items):
    """Leave out what is not quick, if asked to."""
    if not config.getoption("quick"):
        return
    lengthy, first = set(LENGTHY.read_text().split()), {}
    for item in items:
        first.setdefault(item.nodeid.partition("[")[0], item)
    chosen = {item: None for name, item in first.items() if name not in lengthy}
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


@pytest.fixture(autouse=True, scope="session")
def state_of_its_own(tmp_path_factory):
    """Give this run of the tests its own key for recognising the user's studies."""
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
    yield
    if before is None:
        del os.environ["XDG_STATE_HOME"]
    else:
        os.environ["XDG_STATE_HOME"] = before
