"""A password in an address does not stay in the list of processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bamsoo.command import hide

from command_line import COMMAND

SECRET = "Zq7"
ADDRESS = f"postgresql://me:{SECRET}/{SECRET}@127.0.0.1:9/db#n"


def test_the_command_starts_again_without_the_password(monkeypatch):
    words = ["bamsoo", "report", ADDRESS, f"--study={ADDRESS}", "run.db", "--", "curl", "http://x"]
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.setattr(sys, "orig_argv", ["python", "-m", *words])
    started = []

    class Replaced(Exception):
        """This process ends here."""

    def execve(program, line, environment):
        started.append((program, line, environment))
        raise Replaced

    monkeypatch.setattr(os, "execve", execve)
    with pytest.raises(Replaced):
        hide.restored()
    program, line, environment = started[0]
    shown = "postgresql://me@127.0.0.1:9/db#n"
    assert program == sys.executable
    assert line == ["python", "-m", "bamsoo", "report", shown, f"--study={shown}", *words[4:]]
    handed = environment[hide.VARIABLE]
    assert set(json.loads(handed)) == {shown, f"--study={shown}"}

    monkeypatch.setenv(hide.VARIABLE, handed)
    monkeypatch.setattr(sys, "argv", line[2:])
    assert hide.restored() == words[1:]
    assert hide.VARIABLE not in os.environ


def test_other_arguments_are_taken_as_they_are(monkeypatch):
    words = ["bamsoo", "show", "run.db", "sqlite:///run.db", "http://me:x@host", "--param=x:0:1"]
    monkeypatch.setattr(sys, "argv", [*words, "postgresql://me@host/db#n"])
    monkeypatch.setattr(os, "execve", None)
    assert hide.restored() == [*words[1:], "postgresql://me@host/db#n"]


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")
def test_the_list_of_processes_does_not_show_it():
    pytest.importorskip("psycopg")
    with subprocess.Popen([*COMMAND, "show", ADDRESS], stderr=subprocess.PIPE, text=True) as run:
        try:
            said = run.stderr.readline()
            line = Path(f"/proc/{run.pid}/cmdline").read_text()
        finally:
            run.kill()
    assert "bamsoo: postgresql://me@127.0.0.1:9/db#n: the server cannot be used now" in said
    assert "\0postgresql://me@127.0.0.1:9/db#n\0" in line
    assert SECRET not in said + line


def test_the_password_is_visible_for_a_moment_only():
    check = "import bamsoo.command.hide, sys; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", check], check=True)
