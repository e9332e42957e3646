"""What the command shows while it runs."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

import bamsoo
from bamsoo.command.main import main

from command_line import COMMAND, bamsoo_, trials
from waiting import gone, wait_for


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


def started(*args, script):
    command = [*COMMAND, "minimize", "--param", "x:0:10", "--budget", "5", "--study", "run.db"]
    run = subprocess.Popen(
        [*command, "--algorithm", "soo", *args, "--", "sh", "-c", script, "{x}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: Path("running").exists())
    return run


@pytest.mark.slow
def test_the_first_interrupt_awaits_the_evaluation_and_the_run_goes_on_later():
    run = started(script="touch running; sleep 1; echo $0")
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=20)
    assert run.returncode == 130
    assert "stopping when the running evaluations are done; press Ctrl-C again to end now" in err
    assert "1 of 5 evaluations are saved; continue with: bamsoo resume run.db" in err
    assert "Traceback" not in err
    assert [t.state for t in trials()] == ["done"]
    Path("running").unlink()
    assert "5 evaluations" in bamsoo_("resume", "run.db")
    r = bamsoo.minimize(lambda x: x, {"x": (0, 10)}, 5, algorithm="soo")
    assert [t.params for t in trials()] == r.X


@pytest.mark.slow
@pytest.mark.parametrize("how", ["twice", "SIGTERM"])
def test_the_second_interrupt_ends_the_evaluation_and_its_trial_is_asked_again(how):
    run = started(script="echo $$ > pid; touch running; [ -e go ] || sleep 60; echo $0")
    wait_for(lambda: Path("pid").exists() and Path("pid").read_text().strip())
    pid = int(Path("pid").read_text())
    if how == "twice":
        run.send_signal(signal.SIGINT)
        time.sleep(0.3)
        run.send_signal(signal.SIGINT)
    else:
        run.terminate()
    _, err = run.communicate(timeout=20)
    assert run.returncode == 130
    assert "0 of 5 evaluations are saved; continue with: bamsoo resume run.db" in err
    assert "Traceback" not in err
    assert gone(pid)
    assert [t.state for t in trials()] == ["out"]
    Path("go").touch()
    bamsoo_("resume", "run.db")
    assert [t.state for t in trials()] == ["done"] * 5


@pytest.mark.slow
def test_a_study_in_use_can_be_shown_and_joined():
    run = started(script="touch running; sleep 1; echo $0")
    assert "0 of 5 evaluations, 0 failed, 1 pending" in bamsoo_("show", "run.db")
    bamsoo_("resume", "run.db")
    run.communicate(timeout=60)
    assert run.returncode == 0
    assert "5 of 5 evaluations, 0 failed, 0 pending" in bamsoo_("show", "run.db")
