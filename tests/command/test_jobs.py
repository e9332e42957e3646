"""One driver with many jobs of a batch system, which is a script here that queues and delays."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from command_line import PYTHON, bamsoo_, trials
from waiting import ends, wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="needs signals and a shell"),
]

SRUN = """#!/bin/sh
[ "$1" = -n ] && shift 2
sleep 0.1
echo $$ >> pids
exec "$@"
"""
TOGETHER = """mkdir -p begun; touch begun/$BAMSOO_TRIAL
while [ $(ls begun | wc -l) -lt 20 ]; do sleep 0.05; done; echo cost: $0"""
"""A job that ends only if twenty run at once."""

FIRST_TWO = """if [ $BAMSOO_TRIAL -gt 1 ] && [ ! -e go ]; then sleep 600; fi; echo cost: $0"""
"""A job that hangs, except for the first two, until there is a file called go."""


@pytest.fixture
def srun(here):
    script = here / "srun"
    script.write_text(SRUN)
    script.chmod(0o755)
    return here


def words(script, budget, workers):
    given = ["minimize", "--param", "x:0:1", "--objective", "cost", "--study", "run.db"]
    given += ["--budget", str(budget), "--workers", str(workers), "--trial-timeout", "120"]
    return [*given, "--", "./srun", "-n", "16", "sh", "-c", script, "{x}"]


def driver(*given):
    return subprocess.Popen(
        [PYTHON, "-m", "bamsoo", *given], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def told():
    return sum(t.state == "done" for t in trials()) if Path("run.db").exists() else 0


def test_twenty_jobs_run_at_once(srun):
    bamsoo_(*words(TOGETHER, 20, 20))
    assert [t.state for t in trials()] == ["done"] * 20


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_driver_that_is_ended_is_continued(srun, how):
    process = driver(*words(FIRST_TWO, 8, 4))
    wait_for(lambda: told() == 2)
    wait_for(lambda: len((srun / "pids").read_text().split()) >= 6)

    def ended():
        process.send_signal(how)  # the first Ctrl-C waits for what is running, the second does not
        time.sleep(0.3)
        return process.poll() is not None

    wait_for(ended)
    assert process.returncode != 0
    (srun / "go").touch()
    if how == signal.SIGINT:  # its jobs are ended with it
        for pid in (srun / "pids").read_text().split():
            ends(int(pid))
    bamsoo_("resume", "run.db", "--yes")
    assert [t.state for t in trials()] == ["done"] * 8
    if how == signal.SIGKILL:  # nobody is left who could end them
        for pid in (srun / "pids").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
