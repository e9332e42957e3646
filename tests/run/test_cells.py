"""Columns and cells of tables: no name is taken for another, and every option comes back."""

import pytest

from bamsoo import Choice, Int
from bamsoo.errors import SpaceError
from bamsoo.run.cells import Cells, cell, column, extra_column, limit_column, objective_cell
from bamsoo.space import Space


def test_a_column_has_a_prefix_if_it_could_be_mistaken_for_another():
    assert column("rate") == "rate"
    assert column("value") == "param:value"
    assert column("param:x") == "param:param:x"
    assert column("=x") == 'param:"=x"'
    assert limit_column("c") == "constraint:c"
    assert extra_column("time") == "extra:time"
    space = Space({"loss": (0, 1), "x": (0, 1)})
    named = {name: objective_cell(name, space) for name in ("latency", "loss", "front", "a:b")}
    assert named.pop("latency") == "latency"
    assert all(text == f"objective:{name}" for name, text in named.items())


def test_a_text_is_quoted_only_if_it_would_be_changed_or_run():
    assert cell("a b") == "a b"
    assert cell("=1") == '"=1"'
    assert cell("a;=1") == '"a\\u003b=1"'
    assert [cell(text)[0] for text in ("", " a", "a\n", "@x", "-O2")] == ['"'] * 5


def test_options_of_different_types_have_different_cells():
    options = [1, "1", None, "", False, "False", 1.5]
    cells = Cells(Space({"p": Choice(options)}))
    texts = [cells.write("p", option) for option in options]
    assert len(set(texts)) == len(options)
    for option, text in zip(options, texts, strict=True):
        assert cells.read("p", text) is option or cells.read("p", text) == option
    assert cells.read("p", " 1.5 ") == 1.5


def test_numbers_are_read_as_the_parameter_has_them():
    cells = Cells(Space({"n": Int(0, 9), "x": (0, 9)}))
    assert (cells.read("n", "3"), cells.read("x", "3")) == (3, 3.0)
    assert type(cells.read("n", "3.0")) is int
    assert cells.write("x", 0.1) == 0.1
    with pytest.raises(SpaceError, match="x must be a number, got 'low'"):
        cells.read("x", "low")


def test_a_point_has_cells_only_for_the_parameters_that_exist():
    space = Space({"kind": Choice({"a": {"depth": Int(1, 9)}, "b": None}), "x": (0, 1)})
    cells = Cells(space)
    assert cells.point({"kind": "b", "x": "0.5", "depth": ""}) == ({"kind": "b", "x": 0.5}, [])
    assert cells.point({"kind": "a", "x": "0.5", "depth": "3"})[0]["depth"] == 3
    assert cells.point({"kind": "a", "x": "0.5"}) == ({"kind": "a", "x": 0.5}, ["depth"])
    assert cells.point({"kind": "a", "x": "0.5"}, {"depth": 3})[0]["depth"] == 3
    with pytest.raises(SpaceError, match="depth"):
        cells.point({"kind": "b", "x": "0.5", "depth": "3"})
