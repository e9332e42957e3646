"""Let each call of the operating system that writes a study fail in turn, and look at what is left.

    python tests/study/io_faults.py DIRECTORY

The C code below is compiled and loaded in front of the C library. Prints what it did as JSON, or
null where there is no compiler. Run by test_io_faults.py and by lab/benchmarks/faults.py.
"""

import ctypes
import errno
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import bamsoo

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <sys/types.h>

static long calls, first = -1, last = -1;
static int code;

/* From now on, let the calls from number `from` to number `to` fail, counted from 1. */
void fault_arm(long from, long to, int error) { calls = 0; first = from; last = to; code = error; }
long fault_calls(void) { return calls; }

static int fails(void) {
    calls++;
    if (first < 0 || calls < first || calls > last) return 0;
    errno = code;
    return 1;
}

#define FAULTY(result, name, parameters, arguments) \
    result name parameters { \
        static result (*real) parameters; \
        if (!real) real = (result (*) parameters) dlsym(RTLD_NEXT, #name); \
        return fails() ? -1 : real arguments; \
    }

FAULTY(ssize_t, pwrite, (int fd, const void *b, size_t n, off_t at), (fd, b, n, at))
FAULTY(ssize_t, pwrite64, (int fd, const void *b, size_t n, off64_t at), (fd, b, n, at))
FAULTY(int, fsync, (int fd), (fd))
FAULTY(int, fdatasync, (int fd), (fd))
FAULTY(int, ftruncate, (int fd, off_t n), (fd, n))
FAULTY(int, ftruncate64, (int fd, off64_t n), (fd, n))
FAULTY(int, rename, (const char *from, const char *to), (from, to))
FAULTY(int, fallocate, (int fd, int mode, off_t at, off_t n), (fd, mode, at, n))
"""

SPACE = {"x": (0.0, 1.0), "mode": bamsoo.Choice(["a", "b"])}
TRIALS = 2
BEFORE = 1  # trials of a study that is reopened


def build(place):
    """The compiled shim; None if there is no compiler or no suitable linker."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    code, shim = Path(place) / "faults.c", Path(place) / "faults.so"
    code.write_text(SOURCE)
    made = subprocess.run(
        [compiler, "-shared", "-fPIC", "-w", "-o", shim, code, "-ldl"], capture_output=True
    )
    return shim if made.returncode == 0 else None


def short_run(path, acknowledged):
    """The program that is disturbed: open, ask, tell, close; it records what was acknowledged."""
    with bamsoo.Study.open(path, space=SPACE, algorithm="soo") as study:
        for _ in range(TRIALS):
            trial = study.ask()
            study.tell(trial, trial.params["x"])
            acknowledged[trial.number] = trial.params["x"]


def disturbed(path, shim, faults, error):
    """Run with faults; check that the file is good, complete, and can be continued."""
    acknowledged, said = {}, None
    shim.fault_arm(*faults, error)
    try:
        short_run(path, acknowledged)
    except bamsoo.errors.StudyError as raised:
        said = str(raised)
        assert "\n" not in said, said
    calls = shim.fault_calls()
    shim.fault_arm(-1, -1, 0)
    if not os.path.lexists(path):
        assert not acknowledged
        assert said is not None
        return calls, "no file, and a sentence"
    with bamsoo.Study.open(path) as study:
        told = {t.number: t.value for t in study.trials if t.value is not None}
        missing = {n: v for n, v in acknowledged.items() if told.get(n) != v}
        assert not missing, f"lost: {missing}"
        study.tell(study.ask(), 1.0)
    return calls, "a good file" if said is None else "a good file, and a sentence"


def main(place):
    if "BAMSOO_SHIM" not in os.environ:
        shim = build(place)
        if shim is None:
            print("null")
            return
        env = {**os.environ, "LD_PRELOAD": str(shim), "BAMSOO_SHIM": str(shim)}
        os.execve(sys.executable, [sys.executable, *sys.argv], env)
    shim = ctypes.CDLL(os.environ["BAMSOO_SHIM"])
    outcomes = Counter()
    for begun in (False, True):
        for lasting in (False, True):
            for error in (errno.EIO, errno.ENOSPC):
                n = 1
                while True:
                    path = Path(place) / f"run-{begun}-{lasting}-{error}-{n}.db"
                    if begun:
                        with bamsoo.Study.open(path, space=SPACE, algorithm="soo") as study:
                            for _ in range(BEFORE):
                                study.tell(study.ask(), 0.5)
                    faults = (n, sys.maxsize if lasting else n)
                    calls, outcome = disturbed(path, shim, faults, error)
                    for left in path.parent.glob(f"{path.name}*"):
                        left.unlink()
                    if calls < n:
                        break
                    outcomes[outcome] += 1
                    n += 1
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main(*sys.argv[1:])
