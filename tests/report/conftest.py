"""A study that several tests of the report only read."""

import pytest
from report_runs import MIXED, cost, run


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "mixed.db"
    return path, run(path, cost, MIXED, 40)
