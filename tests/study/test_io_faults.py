"""Every write to a study may fail: see io_faults.py."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None


def test_a_write_that_fails_at_any_point_leaves_a_good_file_or_a_sentence():
    with tempfile.TemporaryDirectory(dir=FAST) as place:
        ran = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("io_faults.py")), place],
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
