"""Parameters as they are written on the command line."""

import sys

import pytest

from bamsoo.command import parameters

from command_line import run


def test_options_become_numbers_if_they_print_the_same():
    _, choice = parameters.parse_one("m=1,2.5,1e3,007,a,nan,true")
    assert choice.options == (1, 2.5, "1e3", "007", "a", "nan", "true")


@pytest.mark.parametrize("text", ["x=0:10", "x=1e-3:1:log", "x=-2:7:int", "x=.5:2."])
def test_a_range_written_as_options_is_refused_with_a_hint(text):
    code, output = run("minimize", "math:sin", "--param", text, "--budget", 3)
    assert code == 2
    assert f"this looks like a range; write x:{text[2:]}" in output


def test_options_that_are_not_a_range_stay_options():
    from bamsoo.command.parameters import parse_one

    assert parse_one("x=a:b,c")[1].options == ("a:b", "c")
    assert parse_one("x=1:2,3")[1].options == ("1:2", 3)


def test_a_fidelity():
    from bamsoo import Fidelity

    parsed = parameters.parse_one("rows:500:60000:log:fidelity")
    assert parsed == ("rows", Fidelity(500, 60_000, log=True))
    assert parameters.parse_one("share:0.1:1:fidelity")[1] == Fidelity(0.1, 1.0)
    table = {"n": {"low": 1, "high": 9, "fidelity": True}}
    assert parameters.from_table(table) == {"n": Fidelity(1, 9)}
    code, output = run("minimize", "math:sin", "--param", "n:1:9:int:fidelity", "--budget", 3)
    assert code == 2 and "expected NAME:LOW:HIGH" in output
    code, output = run("minimize", "math:sin", "--param", "n:0:9:fidelity", "--budget", 3)
    assert code == 2 and "low must be above 0" in output


def test_a_run_with_a_fidelity(tmp_path):
    program = "print((float('{x}') - 0.3) ** 2 + 1 / int('{n}'))"
    given = ("--param", "n:1:64:log:fidelity", "--param", "x:0:1", "--study", tmp_path / "s.db")
    code, output = run("minimize", *given, "--budget", 2, "--", sys.executable, "-c", program)
    assert code == 0 and "n = 64" in output
    code, output = run("show", tmp_path / "s.db")
    assert code == 0 and "of 2 full evaluations in" in output and "cheap" in output
    code, output = run("report", tmp_path / "s.db")
    assert code == 0
