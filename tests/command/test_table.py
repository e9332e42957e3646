"""Trials as tables: every option is preserved, and no cell is run as a formula."""

import csv
import io
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import bamsoo
from bamsoo.command import table
from bamsoo.command.main import main
from bamsoo.run.known import EarlierValue, read_csv
from bamsoo.space import Constraints, Space
from bamsoo.study import Record

from command_line import refused


def there_and_back(space, points, errors=None):
    errors = errors or [None] * len(points)
    trials = [
        Record(i, point, None if error else 0.5, "failed" if error else "done", error, 1.0, 2.0)
        for i, (point, error) in enumerate(zip(points, errors, strict=True))
    ]
    text = io.StringIO(newline="")
    table.write_csv(trials, space, text)
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "trials.csv"
        file.write_text(text.getvalue(), encoding="utf-8", newline="")
        again = read_csv(file, Constraints(space, None)).known
    return text.getvalue(), [each.point for each in again]


HARD = [
    [1, "1"],
    [None, ""],
    [True, "True"],
    [None, "", "None", '""'],
    [" a", "a", "a ", "\ta"],
    ["a\nb", "a\rb", "a\r\nb", "a\\nb", '"a\\nb"'],
    ["=1+1", "+1", "-O2", "@sum", "1+1", "\uff1d1"],
    ["a;=cmd|' /C calc'!A0", "a; +1", 'a;"=1', "a;b", '"a\\u003b=1"', "a;=1"],
    ["a,b", 'a"b', "a;b", "\x00", "\x1b[31m", "\ufeff", "\udce9t\udce9", "é"],
    [np.float32(0.1), "0.1", 0.25, "0.25"],
    [-5, "-5", 1e300, 10**30, False],
]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_no_cell_is_a_formula_whatever_separates_the_cells_and_whether_quotes_count(separator):
    options = [f"{start}{sign}1" for start in ("", "a;", "a; ", ";", "\t") for sign in "=+-@\uff1d"]
    space = Space({"p;=1": bamsoo.Choice([*options, "1;=1", 1])})
    points = [{"p;=1": option} for option in options]
    text, again = there_and_back(space, points, ["why;=1"] * len(points))
    assert again == points
    cells = [cell for line in text.splitlines() for cell in line.split(separator)]
    cells += [cell for row in csv.reader(io.StringIO(text), delimiter=separator) for cell in row]
    assert not [cell for cell in cells if cell.strip()[:1] in tuple("=+-@\uff1d")]


@pytest.mark.parametrize("options", HARD, ids=ascii)
def test_options_that_look_alike_survive_csv_and_back(options):
    space = Space({"p": bamsoo.Choice(options)})
    _, again = there_and_back(space, [{"p": option} for option in options])
    assert [(type(point["p"]), point["p"]) for point in again] == [
        (type(option), option) for option in options
    ]


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    st.sampled_from(["", '"', "None", "True", "1", "=", " "]),
    st.text(alphabet=' \t\n\r",=+-@\\1', max_size=4),
)
distinct = {"max_size": 6, "min_size": 1, "unique_by": lambda v: (v == v, v)}


@given(options=st.lists(scalars, **distinct), name=st.text())
def test_any_option_and_any_name_survive_csv_and_back(options, name):
    space = Space({name: bamsoo.Choice(options), "n": bamsoo.Int(-9, 9), f"{name}.": (0, 1)})
    points = [{name: option, "n": -3, f"{name}.": 1 / 3} for option in options]
    if len(points[0]) < 3:
        return  # the names are not three
    text, again = there_and_back(space, points)
    assert again == points
    for point, option in zip(again, options, strict=True):
        assert type(point[name]) is type(option)
    assert not any(
        entry.startswith(("=", "+", "@", "\t", "\r"))
        for row in csv.reader(io.StringIO(text, newline=""))
        for entry in row
    )


@given(error=st.text(min_size=1))
def test_no_message_is_a_formula_or_breaks_a_row(error):
    space = Space([(0, 1)])
    text, _ = there_and_back(space, [{"x0": 0.5}], [error])
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    assert not row["error"].startswith(("=", "+", "-", "@", "\t", "\r"))
    assert error in (row["error"], json.loads(row["error"]) if row["error"][0] == '"' else None)


def test_a_table_typed_by_hand_is_read_as_it_was(tmp_path):
    space = Space({"mode": bamsoo.Choice(["fast", "-O2", "", 3]), "n": bamsoo.Int(1, 9)})
    file = tmp_path / "typed.csv"
    file.write_text("mode,n,value\n fast ,1,0.5\n-O2, 2,0.25\n3,3.0,1\n,4,\n")
    assert read_csv(file, Constraints(space, None)).known == [
        EarlierValue({"mode": "fast", "n": 1}, 0.5),
        EarlierValue({"mode": "-O2", "n": 2}, 0.25),
        EarlierValue({"mode": 3, "n": 3}, 1.0),
        EarlierValue({"mode": "", "n": 4}, None, {}),
    ]


def test_parquet_keeps_options_apart(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    space = Space(
        {"p": bamsoo.Choice([1, "1", None]), "q": bamsoo.Choice([np.int8(1), np.int8(2)])}
    )
    trials = [
        Record(i, {"p": p, "q": np.int8(2)}, 0.5, "done", None, 1.0, 2.0)
        for i, p in enumerate([1, "1", None])
    ]
    table.write_parquet(trials, space, tmp_path / "out.parquet")
    stored = parquet.read_table(tmp_path / "out.parquet")
    assert len(set(stored["p"].to_pylist())) == 3
    assert stored["q"].to_pylist() == [2, 2, 2]


def test_variances_have_a_column_where_any_value_has_one():
    space = Space({"x": (0, 1)})
    plain = Record(0, {"x": 0.25}, 1.0, "done", None, 1.0, 2.0)
    measured = plain._replace(number=1, variance=0.04)
    for trials, expected in [
        ([plain], [None]),
        ([plain, measured], ["", "0.04"]),
    ]:
        text = io.StringIO(newline="")
        table.write_csv(trials, space, text)
        rows = csv.DictReader(io.StringIO(text.getvalue()))
        assert [row.get("variance") for row in rows] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x0,value\n1,2\n", "has no column 'x1'"),
        ("x0,x1\n1,2\n", "has no column 'value'"),
        ("", "has no column"),
    ],
)
def test_an_import_without_a_column_is_refused(text, message, here):
    (here / "old.csv").write_text(text)
    assert message in refused("minimize", "branin", "--budget", 3, "--import", "old.csv")


def test_rows_of_an_import_that_do_not_fit_are_left_out_and_counted(here):
    (here / "old.csv").write_text(
        "x0,x1,loss\n1,2,3\n99,2,3\n1,b,3\n1,2,good\n2,2,\n", encoding="utf-8"
    )
    line = "minimize branin --budget 3 --import old.csv --value loss --study s"
    done = CliRunner().invoke(main, line.split())
    assert done.exit_code == 0
    assert (
        "3 of 5 known evaluations do not fit the space and were left out "
        "(old.csv, line 3: x0: 99.0 lies outside [-5.0, 10.0])"
    ) in done.stderr
    with bamsoo.Study.open("s", readonly=True) as study:
        assert [(t.state, t.value) for t in study.trials[:2]] == [("given", 3.0), ("failed", None)]


def test_numbers_that_json_does_not_have_are_null():
    extras = {"lost": float("nan"), "far": float("inf"), "near": 0.5}
    record = Record(0, {"x": 0.25}, 1.0, "done", None, 1.0, 2.0, extras=extras)
    to = io.StringIO()
    table.write_json([record], to)
    assert "NaN" not in to.getvalue() and "Infinity" not in to.getvalue()
    (read,) = json.loads(to.getvalue())
    assert read["extras"] == {"lost": None, "far": None, "near": 0.5}
