"""What the command shows while it runs."""

import os
import re
import subprocess

import pytest
from click.testing import CliRunner

from bamsoo.command.main import main

from command_line import COMMAND


def test_progress_is_plain_lines_when_not_in_a_terminal():
    done = CliRunner().invoke(main, ["minimize", "branin", "--budget", "20"])
    last = done.stderr.strip().splitlines()[-1]
    assert re.fullmatch(
        r"20/20 evaluations, best [\d.]+, gap unknown, \d+ rejected, [\d.e-]+ s each, 0 s left",
        last,
    )
    assert "\x1b" not in done.stderr


def test_the_first_failures_are_shown_as_they_come():
    common = ["minimize", "--param", "x:0:10", "--budget", "5", "--algorithm", "soo"]
    script = ["--", "sh", "-c", "echo no licence >&2; exit 3", "{x}"]
    done = CliRunner().invoke(main, [*common, *script])
    assert done.exit_code == 1
    lines = done.stderr.splitlines()
    assert lines.count("failed: exit code 3; standard error: no licence") == 3
    assert lines[-1].startswith("5/5 evaluations, 5 failed, no value yet")
    assert "no evaluation gave a value" in done.stdout
    assert CliRunner().invoke(main, [*common, "--json", *script]).stderr == ""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_progress_is_live_in_a_terminal():
    ours, theirs = os.openpty()
    command = ["--", "sh", "-c", "sleep 0.3; echo $0", "{x}"]
    run = subprocess.Popen(
        [*COMMAND, "minimize", "--param", "x:0:10", "--budget", "3", *command],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    os.close(theirs)
    seen = b""
    try:
        while data := os.read(ours, 4096):
            seen += data
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert run.wait(20) == 0
    assert re.search(rb"[12]/3 evaluations, best", seen)
    assert b"\x1b[2K" in seen or b"\r" in seen
