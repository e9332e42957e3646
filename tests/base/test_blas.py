"""The number of BLAS threads changes nothing."""

import os
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_the_number_of_blas_threads_changes_nothing():
    program = (
        "import bamsoo; f = bamsoo.problems.hartmann3;"
        "r = bamsoo.minimize(f, f.bounds, 25); print(r.X.tobytes().hex())"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "OPENBLAS_NUM_THREADS": n},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for n in ("1", "2")
    ]
    assert printed[0] == printed[1]
