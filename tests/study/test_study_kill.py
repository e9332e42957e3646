"""Nothing is lost when the driver is killed at any moment: see kill_driver.py."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

KILLS = 30  # `lab/benchmarks/faults.py` makes hundreds


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.long
def test_a_driver_killed_many_times_loses_nothing(tmp_path):
    # in memory, where most of the time is spent in the search, and on disk, where it is fsync
    driver = Path(__file__).with_name("kill_driver.py")
    with TemporaryDirectory() as disk:
        ran = subprocess.run(
            [sys.executable, str(driver), str(KILLS), "0", *3 * [str(tmp_path)], disk],
            capture_output=True,
            text=True,
            timeout=1200,
        )
    assert ran.returncode == 0, ran.stderr
    done = json.loads(ran.stdout)
    print(done)
    assert done["kills"] >= KILLS
    assert done["runs"] >= 6  # one of each kind
