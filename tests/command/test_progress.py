"""What the command shows while it runs."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

import bamsoo
from bamsoo.command.main import main

from command_line import COMMAND, bamsoo_, trials
from waiting import LONG, ends, wait_for


def test_progress_is_plain_lines_when_not_in_a_terminal():
    done = CliRunner().invoke(main, ["minimize", "branin", "--budget", "20"])
    last = done.stderr.strip().splitlines()[-1]
    assert re.fullmatch(
        r"20/20 evaluations, best [\d.]+, \d+ rejected, [\d.e-]+ s each, 0 s left", last
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
    assert run.wait(LONG) == 0
    assert re.search(rb"[12]/3 evaluations, best", seen)
    assert b"\x1b[2K" in seen or b"\r" in seen


def started(*args, script):
    command = [*COMMAND, "minimize", "--param", "x:0:10", "--budget", "5", "--study", "run.db"]
    run = subprocess.Popen(
        [*command, "--algorithm", "soo", *args, "--", "sh", "-c", script, "{x}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(Path("running").exists)
    return run


def interrupted(run):
    """Send the first Ctrl-C, and wait until it has been understood."""
    run.send_signal(signal.SIGINT)
    said = "stopping when the running evaluations are done; press Ctrl-C again to end now"
    while said not in (line := run.stderr.readline()):
        assert line


WAITS = "echo $$ > pid; touch running; while ! [ -e go ]; do sleep 0.05; done; echo $0"
"""An evaluation that ends when there is a file called go."""


@pytest.mark.slow
def test_the_first_interrupt_awaits_the_evaluation_and_the_run_goes_on_later():
    run = started(script=WAITS)
    interrupted(run)
    Path("go").touch()
    _, err = run.communicate(timeout=LONG)
    assert run.returncode == 130
    assert "1 of 5 evaluations are saved; continue with: bamsoo resume run.db" in err
    assert "Traceback" not in err
    assert [t.state for t in trials()] == ["done"]
    assert "5 evaluations" in bamsoo_("resume", "run.db")
    r = bamsoo.minimize(lambda x: x, {"x": (0, 10)}, 5, algorithm="soo")
    assert [t.params for t in trials()] == r.X


@pytest.mark.slow
@pytest.mark.parametrize("how", ["twice", "SIGTERM", "SIGHUP"])
def test_the_second_interrupt_ends_the_evaluation_and_its_trial_is_asked_again(how):
    run = started(script=WAITS)
    pid = int(Path("pid").read_text())
    if how == "twice":
        interrupted(run)
        run.send_signal(signal.SIGINT)
    else:
        run.send_signal(signal.Signals[how])
    _, err = run.communicate(timeout=LONG)
    assert run.returncode == 130
    assert "0 of 5 evaluations are saved; continue with: bamsoo resume run.db" in err
    assert "Traceback" not in err
    ends(pid)
    assert [t.state for t in trials()] == ["out"]
    Path("go").touch()
    bamsoo_("resume", "run.db")
    assert [t.state for t in trials()] == ["done"] * 5


@pytest.mark.slow
def test_a_study_in_use_can_be_shown_and_joined():
    run = started(script=WAITS)
    assert "0 of 5 evaluations, 0 failed, 1 pending" in bamsoo_("show", "run.db")
    Path("go").touch()
    bamsoo_("resume", "run.db")
    run.communicate(timeout=LONG)
    assert run.returncode == 0
    assert "5 of 5 evaluations, 0 failed, 0 pending" in bamsoo_("show", "run.db")
