"""The evaluations of a result as a data frame."""

import numpy as np
import pandas
from numpy.testing import assert_array_equal

from bamsoo import Choice, Int, Optimizer


def test_before_any_value_the_table_has_its_columns_and_no_rows():
    table = Optimizer({"x": (0, 1)}, algorithm="random").result.to_dataframe()
    assert list(table) == ["trial", "state", "x", "value", "origin", "error"]
    assert len(table) == 0


def test_options_keep_their_types_and_whole_numbers_stay_whole():
    space = {"n": Int(1, 5), "kind": Choice([1, "1", None])}
    opt = Optimizer(space, algorithm="random")
    for kind in (1, "1", None):
        opt.tell({"n": 3, "kind": kind}, 1.0)
    table = opt.result.to_dataframe()
    assert [repr(each) for each in table["kind"]] == ["1", "'1'", "None"]
    assert table["n"].dtype == int


def test_measurements_have_columns_and_say_what_is_feasible():
    opt = Optimizer({"x": (0, 1)}, algorithm="random", constraints=["c <= 1"])
    opt.tell({"x": 0.1}, 1.0, constraints={"c": 0.5})
    opt.tell({"x": 0.2}, 2.0, constraints={"c": 1.5})
    opt.tell({"x": 0.3}, None)
    table = opt.result.to_dataframe()
    assert_array_equal(table["constraint:c"], [0.5, 1.5, np.nan])
    assert table["feasible"].tolist() == [True, False, False]


def test_steps_and_the_last_report_have_columns():
    opt = Optimizer({"x": (0, 1)}, steps=3)
    opt.tell({"x": 0.9}, 4.0)
    trial = opt.ask()
    opt.report(trial, 1, 7.0)
    opt.report(trial, 2, 6.0)
    opt.tell(trial, None)
    table = opt.result.to_dataframe()
    assert table["steps"].tolist()[1] == 2
    assert_array_equal(table["last:value"], [np.nan, 6.0])


def test_extras_of_one_kind_are_numbers_and_others_are_kept_as_they_are():
    opt = Optimizer({"x": (0, 1)}, algorithm="random")
    opt.tell({"x": 0.1}, 1.0, extras={"mass": 1.5, "mixed": 2})
    opt.tell({"x": 0.2}, 2.0, extras={"mass": 2.5, "mixed": "two"})
    table = opt.result.to_dataframe()
    assert table["extra:mass"].dtype == float
    assert table["extra:mixed"].tolist() == [2, "two"]


def test_a_variance_has_a_column_once_one_was_told():
    opt = Optimizer({"x": (0, 1)}, noise="learn")
    opt.tell({"x": 0.1}, 1.0)
    assert "variance" not in opt.result.to_dataframe()
    opt.tell({"x": 0.2}, 2.0, variance=0.25)
    assert_array_equal(opt.result.to_dataframe()["variance"], [np.nan, 0.25])
    assert opt.result.to_dataframe()["trial"].tolist() == [pandas.NA, pandas.NA]
