"""Parameters as they are written on the command line."""

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
