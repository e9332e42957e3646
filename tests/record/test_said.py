"""What is said about an evaluation becomes an event, or an error that says what is wrong."""

import numpy as np
import pytest

from bamsoo.errors import ValueTypeError
from bamsoo.record.events import Told
from bamsoo.record.objectives import ORDINARY, Objectives
from bamsoo.record.said import Said, told
from bamsoo.space import Constraints, Space

SPACE = Space([(0, 1)])
NONE, HOT = Constraints(SPACE), Constraints(SPACE, ["heat"])
BOTH = Objectives.of(["cost", "mass"], "minimize")


def test_a_value_with_all_that_came_besides_it():
    beside = {"heat": np.float32(2.0), "variance": 0.25, "seed": np.int64(3)}
    said = Said.besides(np.array([1.5]), beside, HOT)._replace(took=2)
    assert told(said, ORDINARY, HOT) == Told(
        None, None, (1.5,), measured=(2.0,), variance=0.25, extras={"seed": 3}, took=2
    )
    by_name = told(Said({"mass": 2, "cost": 1}), BOTH, NONE)
    assert by_name.values == (1.0, 2.0)


def test_a_variance_that_is_a_constraint_is_no_variance():
    limits = Constraints(SPACE, ["variance"])
    event = told(Said.besides(1.0, {"variance": 4.0}, limits), ORDINARY, limits)
    assert (event.measured, event.variance) == ((4.0,), None)


@pytest.mark.parametrize("value", [None, np.nan, float("inf")])
def test_a_failure_has_a_reason_and_needs_no_measurements(value):
    event = told(Said(value), ORDINARY, HOT)
    assert (event.values, event.error, event.measured) == ((), f"the value is {value}", ())
    assert told(Said(value, "no licence"), ORDINARY, HOT).error == "no licence"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (Said("much"), "one real number"),
        (Said(1.0), "'heat' was not measured"),
        (Said(1.0, constraints=[1.0]), "must be a dict"),
        (Said(1.0, constraints={"heat": 0.0}, variance=-1), "variance must be"),
        (Said(1.0, constraints={"heat": 0.0}, took=-1), "took must be"),
        (Said(1.0, constraints={"heat": 0.0}, extras={"heat": 1}), "not an extra"),
        (Said(1.0, residuals=[1.0]), "either a value or residuals"),
        (Said(None, residuals=[1.0, 2.0], constraints={"heat": 0.0}), "earlier ones 3"),
    ],
)
def test_what_is_wrong_is_said(said, why):
    with pytest.raises(ValueTypeError, match=why):
        told(said, ORDINARY, HOT, 3)
