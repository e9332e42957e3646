"""Where the tests put their studies."""

import pytest
from postgresql import name_of_session, server


@pytest.fixture
def path(tmp_path):
    """A study that does not exist yet."""
    return tmp_path / "run.db"


@pytest.fixture(scope="session")
def running():
    with server(name_of_session()) as started:
        yield started


@pytest.fixture
def address(running, request):
    return running.address(request.node.name[:150])
