"""Studies on a real PostgreSQL server, which the tests start."""

import os
import subprocess
import sys

import pytest
from numpy.testing import assert_array_equal
from postgresql import missing

import bamsoo
from bamsoo import Study, problems
from bamsoo.errors import LateError, StudyError
from bamsoo.study import postgresql
from bamsoo.study import server as server_
from bamsoo.study.address import parse
from bamsoo.study.backends import exists, is_written, signature
from bamsoo.study.repair import repair

from command_line import bamsoo_, refused

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

branin = problems.branin
BOX = branin.bounds


def test_a_run_is_that_of_a_file_and_goes_on(address, tmp_path):
    assert not exists(address)
    bamsoo.minimize(branin, BOX, 12, study=address)
    assert exists(address)
    r = bamsoo.minimize(branin, BOX, 20, study=address)
    assert_array_equal(r.X, bamsoo.minimize(branin, BOX, 20, study=tmp_path / "run.db").X)
    with Study.open(address, readonly=True) as one, Study.open(tmp_path / "run.db") as two:
        timeless = [[e.__class__, getattr(e, "key", None)] for e in one._events]
        assert timeless == [[e.__class__, getattr(e, "key", None)] for e in two._events]
        with pytest.raises(StudyError, match="reading only"):
            one.ask()
    with pytest.raises(StudyError, match="the study's direction is 'minimize', got 'maximize'"):
        bamsoo.maximize(branin, BOX, 20, study=address)


def test_two_writers_take_turns(address):
    with Study.open(address, space=BOX, algorithm="soo") as one, Study.open(address) as two:
        assert is_written(address)
        first, second = one.ask(), two.ask()
        assert (first.number, second.number) == (0, 1)
        two.tell(second, 2.0, extras={"by": "two\0"})
        one.tell(first, 1.0)
        assert [t.value for t in two.trials] == [1.0, 2.0]
        assert one.trials[1].extras == {"by": "two\0"}
        third = one.ask()
        one._journal.stored.hold([])  # as if its lease had ended
        again = two.ask()
        two.tell(again, 3.0)
        with pytest.raises(LateError, match="finished by another process"):
            one.tell(third, 3.0)
        assert one._events == two._events
    assert not is_written(address)


DIE = """
import os, signal, sys, bamsoo
study = bamsoo.Study.open(sys.argv[1])
print(study.ask().number, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_dead_process_of_this_machine_is_noticed_at_once_and_of_another_by_its_lease(
    running, address
):
    with Study.open(address, space=BOX, algorithm="soo") as study:
        dead = subprocess.run([sys.executable, "-c", DIE, address], capture_output=True, text=True)
        assert dead.stdout == "0\n", dead.stderr
        trial = study.ask()
        assert trial.number == 0
        study.tell(trial, 1.0)
        number = running.execute(
            "SELECT id FROM bamsoo_studies WHERE name = %s", address.partition("#")[2]
        )[0][0]
        lease = "INSERT INTO bamsoo_leases VALUES (%s, 'x', 'elsewhere', '{1}', now() + '60 s')"
        running.execute(lease, number)
        study.give_back(study.ask())
        study._look_elsewhere()
        assert study.ledger.elsewhere == {1}
        running.execute("UPDATE bamsoo_leases SET until = now() WHERE holder = 'x'")
        study._look_elsewhere()
        assert study.ledger.elsewhere == set()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["fast", "immediate"])
def test_a_restart_of_the_server_loses_nothing(how, running, address, monkeypatch):
    with Study.open(address, space=BOX, algorithm="soo") as study:
        study.tell(study.ask(), 1.0)
        trial = study.ask()
        running.restart(how)
        study.tell(trial, 2.0)
        running.restart(how)
        assert study.result.nfev == 2

        # the server answers no more after it has written: the event is not written twice
        connection = study._journal.stored._link._connection
        execute = type(connection).execute

        def written_but_lost(self, query, *given, **options):
            done = execute(self, query, *given, **options)
            if query == postgresql.APPEND and self is connection:
                self.close()
                raise server_.psycopg.OperationalError("lost")
            return done

        monkeypatch.setattr(type(connection), "execute", written_but_lost)
        study.tell(study.ask(), 3.0)
        monkeypatch.undo()
        assert [t.value for t in study.trials] == [1.0, 2.0, 3.0]
    with Study.open(address) as study:
        assert study.told == study.replayed.trials == 3


def test_what_is_changed_or_removed_on_the_server_is_noticed(
    running, address, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    bamsoo.minimize(branin, BOX, 5, algorithm="soo", study=address)
    name = address.partition("#")[2]
    number = running.execute("SELECT id FROM bamsoo_studies WHERE name = %s", name)[0][0]
    running.execute("UPDATE bamsoo_events SET time = 1 WHERE study = %s AND id = 7", number)
    with pytest.raises(StudyError, match="event 7 has changed since it was written"):
        Study.open(address, readonly=True)
    assert "4 events" not in str(repair(address, tmp_path / "good.db"))
    with Study.open(tmp_path / "good.db") as study:
        assert study.told >= 3
    with Study.open(running.address("gone"), space=BOX, algorithm="soo") as study:
        study.tell(study.ask(), 1.0)
        running.execute("DELETE FROM bamsoo_studies WHERE name = 'gone'")
        with pytest.raises(StudyError, match=r"was removed or replaced while .* everything"):
            study.ask()
    with Study.open("gone.db-rescued") as study:
        assert study.told == 1


SECRET = "Zq7"
HARD = f"{SECRET}/{SECRET}?{SECRET}#{SECRET}%41{SECRET}%{SECRET}"
"""A password that nobody has quoted; the server trusts everybody, whatever the password."""


def test_the_commands_take_the_address_and_never_show_a_password(
    running, address, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    secret = address.replace("postgres:@", f"postgres:{HARD}@")
    assert secret != address
    said = bamsoo_("minimize", "branin", "--budget", "6", "--algorithm", "soo", "--study", secret)
    said += bamsoo_("resume", secret, "--budget", "8")
    said += bamsoo_("show", secret) + bamsoo_("export", secret)
    said += bamsoo_("report", secret) + bamsoo_("backup", secret, "copy.db")
    said += bamsoo_("repair", secret)
    said += bamsoo_("show", secret, "--json") + bamsoo_("minimize", "branin", "--budget", "9",
        "--study", secret, "--json")  # fmt: skip
    assert SECRET not in said
    name = parse(secret).file
    assert name.with_suffix(".html").exists()
    for file in tmp_path.rglob("*"):
        assert SECRET.encode() not in (file.read_bytes() if file.is_file() else b""), file
        assert SECRET not in file.name
    for copy in ("copy.db", name.with_stem(f"{name.stem}-repaired")):
        with Study.open(copy) as study:
            assert study.told == 8
    with Study.open(secret, readonly=True) as study:
        assert SECRET not in f"{study!r} {study.path} {study.settings} {study.note} {vars(study)}"
    before = signature(secret)
    assert before == signature(secret)
    bamsoo_("resume", secret, "--budget", "10")
    assert before != signature(secret)
    assert SECRET not in refused("show", secret + "-none")
    for table in ("studies", "meta", "events", "leases"):
        assert SECRET not in str(running.execute(f"SELECT * FROM bamsoo_{table}"))


def test_options_of_the_address_are_kept(running, address):
    running.execute("CREATE SCHEMA IF NOT EXISTS elsewhere")
    uri, _, name = address.partition("#")
    there = f"{uri}&options=-csearch_path%3Delsewhere&connect_timeout=7#{name}"
    bamsoo.minimize(branin, BOX, 3, algorithm="soo", study=there)
    assert running.execute("SELECT name FROM elsewhere.bamsoo_studies") == [(name,)]
    assert not exists(address)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_may_not_use_the_study_and_harms_nobody(address):
    study = Study.open(address, space=BOX, algorithm="soo")
    trial = study.ask()
    if (pid := os.fork()) == 0:
        code = 1
        try:
            study.tell(trial, 1.0)
        except StudyError as error:
            study.close()
            code = 0 if "forked" in str(error) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    study.tell(trial, 2.0)
    study.close()
