"""The file of a study: formats, truncated files, torn logs, full disks, backups."""

import json
import re
import shutil
import sqlite3
import threading
import time
from pathlib import Path

import pytest
from searches import same

import bamsoo
from bamsoo import Study, problems
from bamsoo.errors import StudyError
from bamsoo.study import sqlite
from bamsoo.study import sqlite as journal

from command_line import bamsoo_
from faulty_files import content, everything_in, spoil

branin = problems.branin
BOX = branin.bounds
FIXTURE = Path(__file__).parents[1] / "data" / "study-format4.db"


def test_files_that_are_not_studies_are_refused_and_not_changed(path):
    other = path.with_name("other.db")
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE events (x)")
    connection.close()
    files = {
        path.with_name("text"): (b"rate,value\n0.1,2\n" * 50, "is not a study file"),
        path.with_name("empty"): (b"", "the file is empty and not a study"),
        path.with_name("short"): (b"SQLite format 3\0", "is not a study file|is damaged|cannot be"),
        other: (other.read_bytes(), "is a database of another program"),
    }
    for file, (data, message) in files.items():
        file.write_bytes(data)
        for readonly in (False, True):
            with pytest.raises(StudyError, match=message) as caught:
                Study.open(file, space=BOX, readonly=readonly)
            assert "\n" not in str(caught.value)
            assert file.read_bytes() == data
            assert not Path(f"{file}-lock").exists()
    with pytest.raises(StudyError, match="is not a file"):
        Study.open(path.parent, space=BOX)
    with pytest.raises(StudyError, match="cannot be written here"):
        Study.open(path / "no" / "such" / "place.db", space=BOX)


@pytest.mark.parametrize(
    ("format", "message"),
    [(5, r"a newer bamsoo \(format 5; .* 4\)"), (3, r"an older bamsoo \(format 3; .* 4\)")],
)
def test_another_format_is_refused(format, message, path):
    Study.open(path, space=BOX).close()
    spoil(path, f"PRAGMA user_version = {format}")
    before = path.read_bytes()
    with pytest.raises(StudyError, match=message):
        Study.open(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("DELETE FROM events WHERE id = 4", "event 4 is missing"),
        ("UPDATE events SET trial = 9 WHERE id = 3", "trial 9 comes where 1 is expected"),
        ("UPDATE events SET trial = 0 WHERE id = 4", "trial 0 is told, but is not pending"),
        ("UPDATE events SET kind = 'guess' WHERE id = 4", "event 4 has the unknown kind 'guess'"),
        ("DELETE FROM meta WHERE key = 'settings'", "its settings are missing"),
        ("UPDATE meta SET value = '{' WHERE key = 'settings'", "is damaged"),
        ("UPDATE events SET body = '{\"point\": [1.5}' WHERE id = 3", "is damaged"),
        ("DROP TABLE events", "no such table"),
        ("UPDATE events SET body = '{\"point\": [1.5]}' WHERE id = 3", "is damaged"),
        (
            "UPDATE events SET body = '{\"point\": [99.0, 1.0]}' WHERE id = 3",
            "x0: 99.0 lies outside",
        ),
        ("UPDATE events SET body = '{}' WHERE id = 3", "is damaged"),
        (
            'UPDATE meta SET value = \'{"space": 1, "direction": 2, "algorithm": 3, '
            "\"seed\": 4}' WHERE key = 'settings'",
            "its settings are invalid",
        ),
    ],
)
def test_events_that_make_no_sense_are_damage(sql, message, path):
    bamsoo.minimize(branin, BOX, 5, algorithm="soo", study=path)
    spoil(path, sql)
    before = path.read_bytes()
    for readonly in (False, True):
        with pytest.raises(StudyError, match=message):
            Study.open(path, readonly=readonly)
    assert path.read_bytes() == before


def test_a_truncated_file_is_an_error_and_not_a_shorter_study(path):
    bamsoo.minimize(branin, BOX, 300, algorithm="soo", study=path)
    whole = path.read_bytes()
    cut = path.with_name("cut.db")
    sizes = [*range(0, len(whole), 4096), *range(1, len(whole), 7919), len(whole) - 1]
    for size in sizes:
        for readonly in (False, True):
            cut.write_bytes(whole[:size])
            with pytest.raises(StudyError) as caught:
                Study.open(cut, space=BOX, readonly=readonly)
            assert "\n" not in str(caught.value)
            assert cut.read_bytes() == whole[:size]


def test_a_torn_log_loses_nothing_that_was_acknowledged(path):
    study = Study.open(path, space=BOX, algorithm="soo")
    for _ in range(20):
        trial = study.ask()
        study.tell(trial, branin(trial.x))
    acknowledged = study.trials
    main, log = path.read_bytes(), Path(f"{path}-wal").read_bytes()
    assert log
    study.close()
    torn = path.with_name("torn.db")
    wal = Path(f"{torn}-wal")
    versions = [log[:size] for size in range(0, len(log), 509)]
    versions += [log[:at] + b"\xff" * 64 + log[at + 64 :] for at in range(0, len(log), 997)]
    for version in versions:
        torn.write_bytes(main)
        wal.write_bytes(version)
        assert content(torn) == acknowledged
        with Study.open(torn) as study:
            assert study.trials == acknowledged
            assert study.ask().number == 20
        for left in torn.parent.glob("torn.db-*"):
            left.unlink()


def test_a_disk_that_is_full_ends_the_study_with_all_before_it_kept(path):
    study = Study.open(path, space=BOX, algorithm="soo")
    study._journal.stored._file.execute("PRAGMA max_page_count = 6")
    with pytest.raises(StudyError, match="cannot be used: database or disk is full"):
        for _ in range(1000):
            trial = study.ask()
            study.tell(trial, branin(trial.x))
    known = study.trials
    with pytest.raises(StudyError, match="an earlier write failed; open the study again"):
        study.ask()
    study.close()
    with Study.open(path) as study:
        assert study.trials == known
        r = bamsoo.minimize(branin, BOX, 150, algorithm="soo", study=study)
    same(r, bamsoo.minimize(branin, BOX, 150, algorithm="soo"))


def test_a_study_of_format_4_stays_readable(path):
    """The file was written by tests/data/write_study.py, and is never written again."""
    shutil.copy(FIXTURE, path)
    wanted = json.loads(FIXTURE.with_suffix(".json").read_text())
    with Study.open(path, readonly=True) as study:
        first = len(wanted["trials"][0])  # later versions have added fields behind these
        assert [list(t)[:first] for t in study.trials] == wanted["trials"]
        assert study.settings == wanted["settings"]
        assert study.note == {"what": "a fixture"}
    with Study.open(path, replay=False) as study:  # points of Auto may change with versions
        assert study.ask().number == wanted["out"]
        study.tell(study.ask(), 1.0, constraints={"size": -1.0})
    Study.open(path).close()


def test_a_backup_under_load_is_a_good_study_each_time(path):
    stop, written = threading.Event(), []

    def write():
        with Study.open(path, space=BOX, algorithm="soo") as study:
            while not stop.is_set():
                trial = study.ask()
                study.tell(trial, branin(trial.x))
                written.append(trial.number)
                time.sleep(0.002)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        while not written:
            pass
        for i in range(6):
            copy = path.with_name(f"copy{i}.db")
            before = len(written)
            said = bamsoo_("backup", path, copy)
            assert "trials told" in said
            trials, _, _ = everything_in(copy)
            assert len([t for t in trials if t.value is not None]) >= before
            assert not Path(f"{copy}-wal").exists()
    finally:
        stop.set()
        thread.join()
    with Study.open(copy) as study:  # which replays
        study.ask()
    assert "exists already" in bamsoo_("backup", path, copy, code=2)


def test_an_open_study_makes_its_own_backups(path):
    copies = []
    with Study.open(path, space=BOX, algorithm="soo") as study:

        def save(intermediate_result):
            copies.append(path.with_name(f"{intermediate_result.nfev}.db"))
            study.backup(copies[-1])

        bamsoo.minimize(branin, BOX, 4, algorithm="soo", study=study, callback=save)
    assert [sum(t.value is not None for t in everything_in(copy)[0]) for copy in copies] == [
        1,
        2,
        3,
        4,
    ]
    with pytest.raises(StudyError, match="cannot be written here"), Study.open(path) as study:
        study.backup(path / "no" / "such.db")


def test_two_backups_to_one_name_at_the_same_time_are_one(path):
    bamsoo.minimize(branin, BOX, 5, algorithm="soo", study=path)
    copy = path.with_name("copy.db")
    for words in (["backup", path, copy], ["repair", path, "-o", copy]):
        with journal.reserved(copy):  # as the first one does
            assert "another process is writing this file" in bamsoo_(*words, code=2)
        bamsoo_(*words)
        assert "exists already" in bamsoo_(*words, code=2)
        assert len(everything_in(copy)[0]) == 5
        copy.unlink()


def test_no_statement_has_numbered_placeholders():
    """With a sequence of values, they are an error from Python 3.14 on."""
    assert not re.search(r"\?\d", Path(sqlite.__file__).read_text("utf-8"))
