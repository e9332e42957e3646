"""Each test of the command runs in an empty directory of its own."""

import pytest


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """The directory, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
