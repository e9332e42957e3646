"""Errors of a real PostgreSQL server: those that may pass are waited for, others are not."""

import pytest
from postgresql import missing, name_of_session

import bamsoo
from bamsoo import Study, problems
from bamsoo.errors import SettingsError, StudyError
from bamsoo.study import server as server_
from bamsoo.study.backends import exists

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

branin = problems.branin
BOX = branin.bounds
SECRET = "Zq7"


def said_by(caplog):
    return [record.message for record in caplog.records if record.name == "bamsoo.study"]


def test_a_full_disk_is_waited_for_with_patience_and_no_longer(
    running, address, caplog, monkeypatch
):
    running.execute(
        "CREATE OR REPLACE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$"
    )
    with Study.open(address, space=BOX, algorithm="soo") as study:
        trial = study.ask()
        pauses = []

        def sleep(seconds):
            pauses.append(seconds)
            if len(pauses) == 3:
                running.execute("DROP TRIGGER IF EXISTS full_disk ON bamsoo_events")

        monkeypatch.setattr("bamsoo.study.server.time.sleep", sleep)
        number = study._journal.stored._study
        full = (
            "CREATE TRIGGER full_disk BEFORE INSERT ON bamsoo_events FOR EACH ROW "
            f"WHEN (NEW.study = {number}) EXECUTE FUNCTION full_disk()"
        )
        running.execute(full)
        study.tell(trial, 1.0)
        assert [t.value for t in study.trials] == [1.0]
        assert pauses == [0.05, 0.1, 0.2]
        begun, ended = said_by(caplog)
        assert "cannot be used now (No space left on device" in begun
        assert "waiting for up to 120 s" in begun
        assert "the server can be used again, after" in ended

        caplog.clear()
        pauses[:] = [0.0] * 3  # nobody makes room
        monkeypatch.setattr("bamsoo.study.server.LONGEST_PAUSE", 0.01)
        monkeypatch.undo()
        study._journal.stored._link._patience = 0.2
        trial = study.ask()
        running.execute(full)
        try:
            with pytest.raises(StudyError, match="cannot be used: No space left on device"):
                study.tell(trial, 2.0)
            with pytest.raises(StudyError, match=r"No space left|an earlier write failed"):
                study.tell(trial, 2.0)  # at once
        finally:
            running.execute("DROP TRIGGER full_disk ON bamsoo_events")
        assert len(said_by(caplog)) == 1
    with Study.open(address) as study:
        assert study.told == 1


def test_a_turn_that_takes_longer_than_the_servers_lock_timeout_is_waited_for(address, caplog):
    with Study.open(address, space=BOX, algorithm="soo") as one, Study.open(address) as two:
        two._journal.stored._link.rows("SET lock_timeout = '20ms'")
        two._journal.stored._link._patience = 0.3
        with one._journal.stored.turn(), pytest.raises(StudyError, match="due to lock timeout"):
            two.ask()
        assert len(said_by(caplog)) == 1
        one.tell(one.ask(), 1.0)


def test_a_server_that_is_down_is_waited_for_once(monkeypatch, caplog):
    address = f"postgresql://me:{SECRET}@127.0.0.1:9/db#n"
    monkeypatch.setattr("bamsoo.study.server.PATIENCE", 0.2)
    for call in (lambda: Study.open(address, space=BOX), lambda: exists(address)):
        caplog.clear()
        with pytest.raises(StudyError, match=r"the server cannot be used: .*refused") as caught:
            call()
        assert SECRET not in f"{caught.value} {caplog.text}"
        assert "\n" not in str(caught.value)
        assert len(said_by(caplog)) == 1
    caplog.clear()
    for wrong in ("nosuch.invalid/db#n", "127.0.0.1:9/db?sslmode=bogus#n", "h/db?bogus=1#n"):
        with pytest.raises((StudyError, SettingsError)):
            Study.open(f"postgresql://{wrong}", space=BOX)
    assert said_by(caplog) == []  # waiting would not help


def test_a_server_that_starts_is_waited_for(address, monkeypatch, caplog):
    connect, failures = (
        server_.Link.connect,
        ["terminating connection", "starting up", "Connection refused"],
    )

    def not_yet(self, *given):
        if failures:
            raise server_.psycopg.OperationalError(f"FATAL: the server is {failures.pop()}")
        return connect(self, *given)

    monkeypatch.setattr(server_.Link, "connect", not_yet)
    r = bamsoo.minimize(branin, BOX, 3, algorithm="soo", study=address)
    assert r.nfev == 3
    begun, ended = said_by(caplog)
    assert "waiting for up to 120 s" in begun
    assert "again, after" in ended


@pytest.mark.parametrize("cut", range(1, 6))
def test_a_connection_may_be_cut_at_any_statement(cut, running, address, monkeypatch):
    execute = server_.psycopg.Connection.execute
    count = 0

    def cutting(self, query, *given, **options):
        nonlocal count
        if self.info.get_parameters().get("application_name") == "bamsoo":
            count += 1
            if count == cut:
                running.execute("SELECT pg_terminate_backend(%s)", self.info.backend_pid)
        return execute(self, query, *given, **options)

    monkeypatch.setattr(server_.psycopg.Connection, "execute", cutting)
    with Study.open(address, space=BOX, algorithm="soo") as study:
        study.tell(study.ask(), 1.0)
    monkeypatch.undo()
    assert count > cut
    with Study.open(address) as study:
        assert study.told == study.replayed.trials == 1


@pytest.mark.parametrize("cut", range(1, 6))
def test_a_connection_that_is_cut_leaves_all_earlier_evaluations_or_none(
    cut, running, address, monkeypatch
):
    known = [({"x": i / 4}, float(i), None, None, None) for i in range(4)]
    execute, count = server_.psycopg.Connection.execute, 0
    with Study.open(address, space={"x": (0, 1)}, algorithm="soo") as study:

        def cutting(self, query, *given, **options):
            nonlocal count
            if "INSERT INTO bamsoo_events" in str(query):
                count += 1
                if count == cut:
                    running.execute("SELECT pg_terminate_backend(%s)", self.info.backend_pid)
            return execute(self, query, *given, **options)

        monkeypatch.setattr(server_.psycopg.Connection, "execute", cutting)
        study.give(known)
        monkeypatch.undo()
        assert [t.value for t in study.trials] == [0.0, 1.0, 2.0, 3.0]
    assert count == 4 + min(cut, 5) % 5  # once more from the beginning, unless nothing was cut
    with Study.open(address, readonly=True) as study:
        assert [t.value for t in study.trials] == [0.0, 1.0, 2.0, 3.0]


def test_a_role_that_may_not_create_tables_can_start_a_study(running, address):
    with Study.open(address, space=BOX, algorithm="soo"):
        pass
    name = "limited" + name_of_session()
    running.execute(f'CREATE ROLE "{name}" LOGIN')
    limited = address.replace("postgres:@", f"{name}@")
    try:
        running.execute(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON bamsoo_studies, bamsoo_meta, bamsoo_events, "
            f'bamsoo_leases TO "{name}"'
        )
        r = bamsoo.minimize(branin, BOX, 3, algorithm="soo", study=f"{limited}-own")
        assert r.nfev == 3
        running.execute(f'REVOKE INSERT ON bamsoo_studies FROM "{name}"')
        with pytest.raises(StudyError, match="cannot be used: permission denied for table"):
            Study.open(f"{limited}-two", space=BOX)
    finally:
        running.execute(f'DROP OWNED BY "{name}"')
        running.execute(f'DROP ROLE "{name}"')
