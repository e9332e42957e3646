"""The command, run in this process, and the studies that it leaves in the current directory."""

import sys

from click.testing import CliRunner

from bamsoo import Study
from bamsoo.command.main import main

PYTHON = sys.executable
COMMAND = [PYTHON, "-m", "bamsoo"]


def bamsoo_(*words, code=0):
    """Run the command and check its exit code; what it prints, or says where it does not end well.

    An exception that is no exit is the test's own failure.
    """
    done = CliRunner().invoke(main, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.output
    return done.stdout if code == 0 else done.output


def refused(*args):
    """The one sentence with which the command refuses."""
    done = CliRunner().invoke(main, [str(a) for a in args])
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    message = done.stderr.strip().splitlines()[-1]
    assert "Traceback" not in done.stderr
    return message


def trials(study="run.db"):
    with Study.open(study, readonly=True) as opened:
        return opened.trials


def shell(script, *options, budget=3, study="run.db", code=0):
    """Minimise a shell script in which $0 is the parameter x."""
    return bamsoo_(
        *("minimize", "--param", "x:0:10", "--budget", budget, "--study", study),
        *("--algorithm", "soo", *options, "--", "sh", "-c", script, "{x}"),
        code=code,
    )


def run(*args):
    """The exit code of the command, and all that it prints."""
    done = CliRunner().invoke(main, [str(arg) for arg in args])
    return done.exit_code, done.output
