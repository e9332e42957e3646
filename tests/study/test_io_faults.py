"""Every write to a study may fail: see io_faults.py."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.long
def test_a_write_that_fails_at_any_point_leaves_a_good_file_or_a_sentence(tmp_path):
    ran = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("io_faults.py")), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    outcomes = json.loads(ran.stdout)
    if outcomes is None:
        pytest.skip("needs Linux and a C compiler")
    print(outcomes)
    assert outcomes["no file, and a sentence"] > 5
    assert outcomes["a good file, and a sentence"] > 50
