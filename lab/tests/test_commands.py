"""The commands that the laboratory adds to `bamsoo`."""

import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from bamsoo.command.main import LABORATORY

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
GROUP = "bamsoo.commands"
DECLARED = PROJECT["entry-points"][GROUP]


def test_the_declared_commands_are_those_that_bamsoo_says_how_to_install():
    assert tuple(DECLARED) == LABORATORY


@pytest.mark.parametrize("name", DECLARED)
def test_a_declared_command_exists_and_has_a_line_of_help(name):
    command = EntryPoint(name, DECLARED[name], GROUP).load()
    assert command.name == name
    assert command.get_short_help_str(100).endswith(".")
