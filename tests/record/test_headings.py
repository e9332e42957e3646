"""The names of the columns of tables: no two columns of one table may have the same."""

import pytest

from bamsoo.record.headings import OURS, PREFIXES, heading, objective_heading


@pytest.mark.parametrize("name", ["x", "values", "Value", "lr:x", "param", "é"])
def test_an_ordinary_parameter_is_called_by_its_name(name):
    assert heading(name) == name


def test_a_parameter_that_could_be_mistaken_for_another_column_has_a_prefix():
    names = [*OURS, *(f"{prefix}x" for prefix in PREFIXES)]
    assert [heading(name) for name in names] == [f"param:{name}" for name in names]


def test_no_two_parameters_share_a_column():
    names = ["value", "param:value", "param:param:value", "x", "param:x"]
    assert len({heading(name) for name in names}) == len(names)


@pytest.mark.parametrize("name", ["cost", "value", "front", "error", "a:b"])
def test_an_objective_has_a_prefix_if_its_name_is_taken(name):
    assert objective_heading(name, taken=["cost"]) == f"objective:{name}"


def test_an_objective_whose_name_is_free_is_called_by_it():
    assert objective_heading("loss", taken=["cost"]) == "loss"
