"""A few random cases of fuzz.py; lab/benchmarks/faults.py runs as many as one likes."""

import pytest

from fuzz import one_case


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 60, 20))
def test_random_runs_hold_their_promises(seed):
    assert sum(one_case(each) for each in range(seed, seed + 20)) > 200
