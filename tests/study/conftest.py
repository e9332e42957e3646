"""Where the tests put their studies."""

import pytest


@pytest.fixture
def path(fast):
    """A study that does not exist yet."""
    return fast / "run.db"
