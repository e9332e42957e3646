"""Real parameters with a step: their values are exact decimal numbers everywhere."""

import json
from itertools import pairwise
from math import nan

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bamsoo
from bamsoo import Int, Real, Study
from bamsoo.command.main import main
from bamsoo.errors import SpaceError
from bamsoo.report.model import describe
from bamsoo.space import Space

checked = settings(deadline=None, max_examples=200, derandomize=True)
TENTHS = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
decimals = st.decimals(-1000, 1000, allow_nan=False, allow_infinity=False, places=3).map(float)


@st.composite
def stepped(draw):
    low = draw(decimals)
    step = draw(st.sampled_from([1e-3, 0.01, 0.05, 0.1, 0.3, 1.0, 7.5, 250.0]))
    # A little more than one step: low + step may round to a decimal below it, which is refused.
    high = low + draw(st.floats(1.001, 2000.0)) * step
    return Real(low, high, step=step)


@checked
@given(parameter=stepped(), data=st.data())
def test_every_value_of_the_grid_survives_the_round_trip_through_the_cube(parameter, data):
    grid, space = parameter.grid(), Space([parameter])
    i = data.draw(st.integers(0, grid.count - 1))
    value = grid.value(i)
    assert parameter.low <= value <= parameter.high
    assert grid.index(value) == i
    assert space.decode(space.encode(np.array([value]))).tolist() == [value]
    assert space.point([value]).tolist() == [value]
    assert value == pytest.approx(parameter.low + i * parameter.step, abs=1e-9)


@checked
@given(low=st.floats(-1e12, 1e12), high=st.floats(-1e12, 1e12), step=st.floats(1e-12, 1e12))
def test_the_values_of_every_accepted_grid_are_distinct_and_within_bounds(low, high, step):
    assume(low < high)
    try:
        parameter = Real(low, high, step=step)
    except bamsoo.errors.SpaceError:
        return
    grid = parameter.grid()
    last = grid.count - 1
    values = [grid.value(i) for i in sorted({0, 1, last // 2, last - 1, last})]
    assert last >= 1
    assert all(a < b for a, b in pairwise(values))
    assert values[0] == parameter.low
    assert grid.value(last) <= high < grid.value(last) + 1.001 * step


def test_steps_of_a_tenth_are_the_tenths():
    seen = []
    r = bamsoo.minimize(
        lambda a: seen.append(a) or (a - 0.32) ** 2, {"a": Real(0, 1, step=0.1)}, 50
    )
    assert sorted(seen) == TENTHS
    assert r.params == {"a": 0.3}
    assert "every point of the space has been evaluated" in r.message


def test_the_last_value_does_not_exceed_high():
    space = Space([Real(0, 1.05, step=0.1)])
    assert space.high.tolist() == [1.0]


def test_a_rounding_error_is_corrected_and_a_value_between_two_steps_is_refused():
    space = Space({"a": Real(0, 0.3, step=0.1), "b": (0, 1)})
    assert 0.1 * 3 > 0.3
    assert space.point({"a": 0.1 * 3, "b": 0}).tolist() == [0.3, 0.0]
    assert space.point({"a": -1e-18, "b": 0}).tolist() == [0.0, 0.0]
    with pytest.raises(
        bamsoo.errors.SpaceError,
        match=r"a: expected a value in steps of 0.1 from 0.0, such as 0.2, got 0.15",
    ):
        space.point({"a": 0.1501, "b": 0})
    with pytest.raises(bamsoo.errors.SpaceError, match=r"a: 0.4 lies outside \[0.0, 0.3\]"):
        space.point({"a": 0.4, "b": 0})
    with pytest.raises(bamsoo.errors.SpaceError, match="a: nan lies outside"):
        space.point({"a": nan, "b": 0})


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["auto", "bamsoo", "soo", "doo", "gp-ucb", "random"])
def test_every_algorithm_asks_only_for_values_of_the_grid(algorithm):
    space = {"a": Real(-1, 1, step=0.25), "b": Real(0, 1), "c": bamsoo.Choice(["x", "z"])}
    r = bamsoo.minimize(
        lambda a, b, c: (a - 0.3) ** 2 + b + (c == "x"), space, 30, algorithm=algorithm
    )
    asked = {4 * params["a"] for params in r.X}
    assert len(asked) > 1
    assert asked <= set(range(-4, 5))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"step": 0}, "step must be above 0 and at most high - low = 1, got 0"),
        ({"step": 2}, "step must be above 0 and at most high - low = 1, got 2"),
        ({"step": nan}, "step must be above 0 .* got nan"),
        ({"step": "a"}, "step must be a number, got 'a'"),
        ({"step": 1e-17}, "a step of 1e-17 is too small to tell apart the values between 0 and 1"),
        ({"low": 0.1, "log": True, "step": 0.1}, "step cannot be combined with log=True"),
    ],
)
def test_invalid_steps_are_refused_in_one_sentence(given, message):
    with pytest.raises(bamsoo.errors.SpaceError, match=f"Real: {message}") as caught:
        Real(**{"low": 0, "high": 1} | given)
    assert "\n" not in str(caught.value)


def test_a_study_keeps_the_step(tmp_path):
    path = tmp_path / "run.db"
    space = {"a": Real(0, 1, step=0.1), "b": Real(0, 1)}
    whole = bamsoo.minimize(lambda a, b: a + b, space, 20)
    bamsoo.minimize(lambda a, b: a + b, space, 10, study=path)
    resumed = bamsoo.minimize(lambda a, b: a + b, space, 20, study=path)
    assert resumed.X == whole.X
    with Study.open(path, readonly=True) as study:
        assert study.space.parameters == {"a": Real(0, 1, step=0.1), "b": Real(0, 1)}
    with pytest.raises(
        bamsoo.errors.StudyError, match=r"a is Real\(.*step=0.1\), got Real\(.*log=False\)"
    ):
        Study.open(path, space={"a": Real(0, 1), "b": Real(0, 1)})


def test_whole_numbers_may_have_a_step_too(tmp_path):
    space = {"n": Int(0, 21, step=5)}
    r = bamsoo.minimize(lambda n: (n - 14) ** 2, space, 9, study=tmp_path / "run.db")
    assert sorted(x["n"] for x in r.X) == [0, 5, 10, 15, 20]
    assert r.params == {"n": 15}
    assert type(r.params["n"]) is int
    with Study.open(tmp_path / "run.db", readonly=True) as study:
        assert study.space.parameters == space
    with pytest.raises(SpaceError, match=r"n: expected a value in steps of 5 from 0\.0"):
        r.space.point({"n": 6})
    for wrong, message in [((0, 9, False, 2.5), "whole"), ((1, 9, True, 2), "cannot be combined")]:
        with pytest.raises(SpaceError, match=f"Int: step .*{message}"):
            Int(*wrong)


def test_the_command_and_its_files_support_steps(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    target = ["--", "sh", "-c", "echo $0", "{a}"]
    line = ["minimize", "--param", "a:0:1:step=0.1", "--budget", "20", "--x0", "a=0.7"]
    done = CliRunner().invoke(main, [*line, "--json", "--study", "run.db", *target])
    assert json.loads(done.stdout)["evaluations"] == 11
    exported = CliRunner().invoke(main, ["export", "run.db"]).stdout
    (tmp_path / "old.csv").write_text(exported)
    assert sorted(float(row.split(",")[2]) for row in exported.splitlines()[1:]) == TENTHS
    again = ["minimize", "--param", "a:0:1:step=0.1", "--budget", "20", "--import", "old.csv"]
    done = CliRunner().invoke(main, [*again, "--json", "--study", "again.db", *target])
    assert json.loads(done.stdout)["evaluations"] == 0
    (tmp_path / "run.toml").write_text(
        'command = ["sh", "-c", "echo $0", "{a}"]\nbudget = 20\n'
        "[params]\na = {low = 0, high = 1, step = 0.1}\n"
    )
    done = CliRunner().invoke(main, ["minimize", "run.toml", "--json"])
    assert json.loads(done.stdout)["evaluations"] == 11


@pytest.mark.parametrize(
    ("param", "message"),
    [
        ("a:0:1:step", "expected NAME:LOW:HIGH"),
        ("a:0:1:step=x", "LOW, HIGH and S must be numbers"),
        ("a:0:1:step=0.1:step=0.2", "expected NAME:LOW:HIGH"),
        ("a:0:9:int:step=2.5", "step must be a whole number"),
        ("a:0:1:step=7", "step must be above 0"),
        ("a=0:1:step=0.1", "this looks like a range; write a:0:1:step=0.1"),
    ],
)
def test_the_command_refuses_invalid_steps_in_one_sentence(param, message):
    done = CliRunner().invoke(
        main, ["minimize", "--param", param, "--budget", "3", "--", "true", "{a}"]
    )
    assert done.exit_code == 2
    assert message in done.stderr


def test_plots_and_the_report_show_the_values_of_the_grid(tmp_path):
    pytest.importorskip("matplotlib").use("agg")
    path = tmp_path / "run.db"
    space = {"a": Real(0, 1.05, step=0.25), "b": (0, 1)}
    r = bamsoo.minimize(lambda a, b: (a - 0.4) ** 2 + b, space, 25, study=path)
    first = r.plot("slices")[0]
    assert first.containers[0].lines[0].get_xdata().tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    shown = describe(path)["parameters"][0]
    assert (shown["low"], shown["high"], shown["step"]) == (0.0, 1.0, 0.25)


def test_a_step_as_large_as_the_range_is_compared_in_decimals():
    assert Real(256.0, 256.001, step=0.001).grid().count == 2  # the difference is rounded
