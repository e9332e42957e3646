"""The columns of a result."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bamsoo.record.columns import Columns
from bamsoo.record.objectives import ORDINARY
from bamsoo.record.trials import Evaluation
from bamsoo.space import Constraints, Point, Space

SPACE = Space({"x": (0.0, 1.0)})


@pytest.fixture
def columns():
    found = Columns(Constraints(SPACE, ["c"]), ORDINARY)
    for i in range(40):  # more than are allocated at first
        point = Point.given(SPACE, [i / 40])
        numbers, measured = ((float(i),), (0.5,)) if i % 2 else ((), ())
        found.add(
            Evaluation(i, point, numbers, ORDINARY, measured=measured, feasible=False)._replace(
                residuals=(1.0, 2.0) if i == 3 else ()
            )
        )
    return found


def test_there_is_a_row_for_each_evaluation_and_nan_where_nothing_is_known(columns):
    assert columns.F(4).tolist()[1::2] == [1.0, 3.0] and np.isnan(columns.F(4)[::2]).all()
    assert_array_equal(columns.C(3)["c"], [np.nan, 0.5, np.nan])
    assert columns.X(2) == [{"x": 0.0}, {"x": 0.025}]
    assert not columns.feasible(40).any() and len(columns.F(40)) == 40
    assert columns.nresiduals == 2
    assert_array_equal(columns.R(4)[2:], [[np.nan, np.nan], [1.0, 2.0]])


def test_what_is_returned_is_a_copy(columns):
    columns.F(4)[1] = 7.0
    columns.X(2)[0]["x"] = 7.0
    columns.C(3)["c"][1] = 7.0
    assert columns.F(4)[1] == 1.0
    assert columns.X(3)[0] == {"x": 0.0}
    assert columns.C(3)["c"][1] == 0.5
