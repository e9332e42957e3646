"""Equal rounding on every processor, equal examples in every CI run, and no traces in a home."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

import rounding
from memory import MEMORY

rounding.fix()  # before a test imports numpy
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("developer", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "developer")


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


@pytest.fixture
def fast():
    """A place for a study where fsync costs nothing, if there is one."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as place:
        yield Path(place)
