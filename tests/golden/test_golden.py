"""Every algorithm still asks for the points that are stored for it."""

import numpy as np
import pytest

from golden.runs import AGREED, RUNS, first_difference, libraries, made, stored
from rounding import CHOICE, applies

AGAIN = """
If the points should not have changed, this is a bug. Otherwise write them again and commit the
difference: python tests/golden/write.py"""


# from SLSQP in scipy 1.15, which then moves the point back into its bounds
pytestmark = pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")


@pytest.mark.parametrize("run", RUNS)
def test_a_search_asks_for_the_stored_points(run):
    written_with, runs = stored()
    old, new = runs.get(run, []), made(run)
    if written_with != libraries() and run in AGREED:
        old, new = old[: AGREED[run]], new[: AGREED[run]]
    found = first_difference(run, old, new)
    assert found is None, found + AGAIN


@pytest.mark.skipif(not applies(), reason="another kind of processor, or numpy before 2.4")
def test_the_processor_makes_no_difference():
    assert "openblas" not in libraries() or "openblas Haswell" in libraries()
    features = np._core._multiarray_umath.__cpu_features__
    assert not any(features.get(name) for name in CHOICE["NPY_DISABLE_CPU_FEATURES"].split())


def test_the_file_has_all_runs_and_no_others():
    assert list(stored()[1]) == list(RUNS)


def test_a_difference_is_found_unless_it_is_rounding():
    old = stored()[1]["auto: log"]
    number, rate, *rest = old[7].split()
    for factor, same in ((1.0 + 1e-7, True), (1.0 + 1e-3, False)):
        line = " ".join([number, f"{float(rate) * factor:.9g}", *rest])
        found = first_difference("auto: log", old, [*old[:7], line, *old[8:]])
        assert found is None if same else found.startswith("auto: log, trial 7: ")
    assert "auto: log, trial end" in first_difference("auto: log", old, [*old[:-1], "end: best 9"])
    assert first_difference("auto: log", old, old[:-1]) == "auto: log: 26 lines, now 25"
