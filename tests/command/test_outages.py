"""Programs that cannot be run for a while, and failures that repeat themselves."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from bamsoo.command.main import main

from command_line import COMMAND, bamsoo_, trials

OUTAGE = """
import pathlib, sys
done = pathlib.Path("done")
if done.read_text().count("x") in range(2, 4):
    done.write_text(done.read_text() + "x")
    print("no licence", file=sys.stderr)
    sys.exit(75)
done.write_text(done.read_text() + "x")
print((float(sys.argv[1]) - 0.3) ** 2)
"""


@pytest.fixture
def licensed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bamsoo.run.outage.FIRST", 0.02)
    Path("solver.py").write_text(OUTAGE)
    Path("done").write_text("")
    return ["--param", "x:0:1", "--budget", 5, "--", COMMAND[0], "solver.py", "{x}"]


def test_a_program_that_exits_with_75_is_run_again(licensed):
    done = CliRunner().invoke(main, ["minimize", *map(str, licensed)])
    assert done.exit_code == 0
    assert "5 evaluations:" in done.stdout
    assert done.stderr.count("could not take place: exit code 75; standard error: no licence") == 1
    assert "evaluations take place again" in done.stderr


def test_after_the_patience_the_command_says_how_to_continue(licensed):
    Path("solver.py").write_text("raise SystemExit(75)")
    given = ["minimize", "--study", "run.db", "--patience", 0.05, *licensed]
    said = bamsoo_(*given, code=3)
    assert "evaluations could not take place for 0." in said
    assert "0 of 5 evaluations are saved; continue with: bamsoo resume run.db" in said
    assert [t.state for t in trials()] == ["out"]
    Path("solver.py").write_text("print(1)")
    assert "5 evaluations" in bamsoo_("resume", "run.db")


def test_a_program_that_fails_ten_times_in_a_row_with_one_reason_ends_the_run(licensed):
    program = "import sys; sys.exit(f'diverged at {sys.argv[1]}') if len(sys.argv) > 1 else 0"
    Path("solver.py").write_text(program)
    licensed[3] = 40
    said = bamsoo_("minimize", *licensed, code=3)
    assert "10 evaluations in a row failed with the same reason: exit code 1" in said
    assert "--keep-going" in said
    assert "40 evaluations" in bamsoo_("minimize", "--keep-going", *licensed, code=1)
    assert "3 evaluations in a row" in bamsoo_("minimize", "--fatal-failures", 3, *licensed, code=3)
