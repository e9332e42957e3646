"""A second writer is refused."""

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from bamsoo import Study, problems
from bamsoo.errors import StudyError

from faulty_files import content

branin = problems.branin
BOX = branin.bounds
HOLD = """
import os, sys, time, bamsoo
study = bamsoo.Study.open(sys.argv[1], space=[(0, 1)], algorithm="soo")
study.tell(study.ask(), 1.0)
study.ask()
if "fork" in sys.argv:
    there, here = os.pipe()
    if os.fork() == 0:
        os.write(here, b"1")  # it runs, and has given up the lock
        time.sleep(60)
        os._exit(0)
    os.read(there, 1)
print("open", flush=True)
time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [[], pytest.param(["fork"], id="fork")])
def test_a_second_writer_is_refused_until_the_first_is_dead(how, path):
    command = [sys.executable, "-c", HOLD, str(path), *how]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert first.stdout.readline() == "open\n"
        with pytest.raises(StudyError, match="another process is writing this study") as caught:
            Study.open(path)
        assert "\n" not in str(caught.value)
        linked = path.with_name("link.db")
        linked.symlink_to(path)
        with pytest.raises(StudyError, match="another process is writing this study"):
            Study.open(linked)
        with Study.open(path, readonly=True) as reader:
            assert [t.state for t in reader.trials] == ["done", "out"]
        first.kill()
        first.wait()
        with Study.open(path) as study:
            assert study.ask().number == 1
    finally:
        with suppress(ProcessLookupError):
            os.killpg(first.pid, signal.SIGKILL)
        first.stdout.close()
        first.wait()


def test_a_second_writer_in_the_same_process_is_refused_too(path):
    with Study.open(path, space=BOX, algorithm="soo") as study:
        with pytest.raises(StudyError, match="this process already has the study open"):
            Study.open(path)
        study.tell(study.ask(), 1.0)  # and the first is none the worse for it
        assert len(content(path)) == 1
        study.tell(study.ask(), 1.0)
    assert len(content(path)) == 2
