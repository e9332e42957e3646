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


SBATCH = """#!/bin/sh
[ ! -e $FAKE/full ] || { echo "sbatch: error: QOSMaxSubmitJobPerUserLimit" >&2; exit 1; }
for job; do case $job in --output=*) out=${job#--output=};; esac; done
clean="env -i PATH=$PATH FAKE=$FAKE BAMSOO_TRIAL=$BAMSOO_TRIAL setsid"
$clean sh -c 'sleep 0.1; exec ./"$0"' "$job" > "$out" 2>&1 &
echo $! | tee -a $FAKE/pids
wait $!
"""
"""The job runs somewhere else, so a signal to this process does not reach it."""

SCANCEL = """#!/bin/sh
echo $1 >> $FAKE/cancelled; kill $1
"""
WAIT = Path(__file__).parents[2] / "examples" / "cluster" / "sbatch-wait"


@pytest.fixture
def slurm(here, monkeypatch):
    for name, script in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (here / name).write_text(script)
        (here / name).chmod(0o755)
    monkeypatch.setenv("FAKE", str(here))
    monkeypatch.setenv("PATH", f"{here}{os.pathsep}{os.environ['PATH']}")
    return here


def as_jobs(script, budget, workers):
    given = words(script, budget, workers)
    return [*given[: given.index("--")], "--workdir", "runs", "--", str(WAIT), *given[-4:]]


def test_jobs_of_sbatch_run_at_once_and_are_waited_for(slurm):
    script = TOGETHER.replace("begun", "$FAKE/begun").replace("-lt 20", "-lt 4")
    bamsoo_(*as_jobs(f"{script}; echo it\\'s done", 4, 4))
    assert [t.state for t in trials()] == ["done"] * 4
    assert len((slurm / "pids").read_text().split()) == 4


def test_jobs_of_sbatch_are_cancelled_when_the_run_is_interrupted(slurm):
    process = driver(*as_jobs("sleep 600", 2, 2))
    wait_for(lambda: (slurm / "pids").exists() and len((slurm / "pids").read_text().split()) == 2)

    def ended():
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        return process.poll() is not None

    wait_for(ended)
    assert set((slurm / "cancelled").read_text().split()) == set(
        (slurm / "pids").read_text().split()
    )
    for pid in (slurm / "pids").read_text().split():
        ends(int(pid))


def test_a_job_that_cannot_be_submitted_is_tried_again_later(slurm):
    def status(*command):
        return subprocess.run([WAIT, *command], capture_output=True, check=False).returncode

    assert status("sh", "-c", "exit 3") == 3
    (slurm / "full").touch()
    assert status("true") == 75
