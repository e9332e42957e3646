"""The command, run in this process."""

from click.testing import CliRunner

from bamsoo.command.main import main


def bamsoo_(*words, code=0):
    """Run the command and check its exit code; what it prints, or says where it does not end well.

    An exception that is no exit is the test's own failure.
    """
    done = CliRunner().invoke(main, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.output
    return done.stdout if code == 0 else done.output
