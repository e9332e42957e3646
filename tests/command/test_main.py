"""The subcommands: those of the package, and those that other distributions add."""

from importlib.metadata import EntryPoint

import pytest
from click.testing import CliRunner

from bamsoo.command import main as module
from bamsoo.command.main import LABORATORY, main

from command_line import bamsoo_


@pytest.fixture
def installed(monkeypatch):
    """The entry points of the other distributions; none at first."""
    found = []
    monkeypatch.setattr(module, "entry_points", lambda group: found)
    return found


def entry(name, value):
    return EntryPoint(name, value, "bamsoo.commands")


@pytest.mark.parametrize("name", LABORATORY)
@pytest.mark.parametrize("words", [[], ["--help"], ["--suite", "paper"]])
def test_without_the_laboratory_its_commands_say_what_to_install(name, words, installed):
    said = bamsoo_(name, *words, code=2)
    assert said.startswith(f"bamsoo: the command {name} belongs to the laboratory")
    assert said.endswith("with `pip install ./lab`\n")
    assert said.count("\n") == 1


def test_the_help_lists_only_what_is_installed(installed):
    assert not any(f"\n  {name} " in bamsoo_("--help") for name in LABORATORY)
    installed.append(entry("bench", "bamsoo.command.show:show"))
    assert "\n  bench     Show" in bamsoo_("--help")


def test_a_command_of_another_distribution_runs(installed):
    installed.append(entry("extra", "bamsoo.command.show:show"))
    assert "Usage: main extra [OPTIONS] STUDY" in bamsoo_("extra", "--help")
    assert "Did you mean extra?" in bamsoo_("extr", code=2)


def test_other_distributions_replace_no_command(installed):
    installed.append(entry("report", "no_such_module:report"))
    assert bamsoo_("--help").count("\n  report ") == 1
    assert "Usage: main report" in bamsoo_("report", "--help")


@pytest.mark.parametrize(
    ("typed", "said"),
    [("minimise", " Did you mean minimize?"), ("reportt", " Did you mean report?"), ("sing", "")],
)
def test_a_command_that_does_not_exist_names_the_one_that_was_meant(typed, said):
    done = CliRunner().invoke(main, [typed, "branin"])
    assert done.exit_code == 2
    assert done.stderr.endswith(f"Error: No such command '{typed}'.{said}\n")
