"""Studies that are damaged or strange, removed while open, killed, or on a full disk."""

import os
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from numpy.testing import assert_array_equal

import bamsoo
from bamsoo import Study, problems
from bamsoo.errors import StudyError
from bamsoo.study import sqlite as journal

from command_line import bamsoo_
from faulty_files import (
    change,
    everything_in,
    flipped,
    go_on,
    killed,
    mismatched,
    restored_copy,
    side_files,
    stale_side_files,
    told,
)

branin = problems.branin
BOX = branin.bounds
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


# --- flipped bits


@pytest.mark.slow
def test_a_flipped_bit_is_found_or_does_no_harm(path, times=250, seed=0):
    with Study.open(path, space=BOX, algorithm="soo") as study:
        study.note = {"what": "a note"}
        bamsoo.minimize(branin, BOX, 15, algorithm="soo", study=study)
    whole, wanted = path.read_bytes(), everything_in(path)
    rng, copy, found = random.Random(seed), path.with_name("copy.db"), 0
    for _ in range(times):
        copy.write_bytes(flipped(whole, rng))
        try:
            assert everything_in(copy) == wanted
        except StudyError as error:
            assert "\n" not in str(error)
            found += 1
    assert found > times // 8  # the rest of the bytes are of no use


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "UPDATE events SET body = '{\"values\": [0.5]}' WHERE id = 4",
            "event 4 has changed since it was written",
        ),
        (
            "UPDATE events SET body = '{\"point\": [0.5, 0.5]}' WHERE id = 3",
            "event 3 has changed since it was written",
        ),
        ("UPDATE events SET time = 1.0 WHERE id = 3", "event 3 has changed since it was written"),
        (
            "UPDATE events SET checksum = '' WHERE id = 3",
            "event 3 has changed since it was written",
        ),
        ("UPDATE meta SET value = '5' WHERE key = 'created'", "its 'created' has changed"),
        ("UPDATE spare SET value = '5' WHERE key = 'created'", "its 'created' has changed"),
        ("DELETE FROM spare WHERE key = 'state'", "its state is None"),
        ("DELETE FROM events WHERE id = 10", "event 10 is missing"),  # the last one
    ],
)
def test_a_change_without_its_checksum_is_damage(statement, message, path):
    bamsoo.minimize(branin, BOX, 5, algorithm="soo", study=path)
    change(path, statement, checksums=False)
    for readonly in (True, False):
        with pytest.raises(StudyError, match=rf"is damaged \({message}.*bamsoo repair"):
            Study.open(path, readonly=readonly)


# --- what is in the file

FOREVER = """
CREATE VIEW events AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
SELECT i AS id, 'restart' AS kind, NULL AS trial, '{}' AS body, 0.0 AS time, '' AS checksum FROM n
"""
STRANGE = {
    "events as a view": (["DROP TABLE events", FOREVER], "contains the 'view' 'events'"),
    "a trigger": (
        ["CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END"],
        "contains the 'trigger' 't'",
    ),
    "another table": (["CREATE TABLE other (x)"], "contains the 'table' 'other'"),
    "a computed column": (
        ["ALTER TABLE events ADD COLUMN more AS (hex(zeroblob(100000000)))"],
        "contains the 'table' 'events'",
    ),
    "a virtual table": (
        ["DROP TABLE meta", "CREATE VIRTUAL TABLE meta USING fts5(key, value)"],
        "which is not part of a study",
    ),
    "the wrong format": (["PRAGMA user_version = 1"], "an older bamsoo"),
    "format 0": (["PRAGMA user_version = 0"], "an older bamsoo"),
}


def telling(values):
    return f"UPDATE events SET body = '{{\"values\": {values}}}' WHERE id = 2"


def asking(point):
    return f"UPDATE events SET body = '{{\"point\": {point}}}' WHERE id = 1"


CONTENTS = {
    "an infinite value": telling("[Infinity]"),
    "a value in words": telling('["much"]'),
    "two values": telling("[1.0, 2.0]"),
    "no values": telling("[]"),
    "a value that is no list": telling("1.0"),
    "a blob for a body": "UPDATE events SET body = x'00ff' WHERE id = 2",
    "a list for a body": "UPDATE events SET body = '[]' WHERE id = 2",
    "an infinite coordinate": asking("[Infinity, 1.0]"),
    "a coordinate that is none": asking("[NaN, 1.0]"),
    "an object for a point": asking('{"a": 1}'),
    "no point": "UPDATE events SET body = '{}' WHERE id = 1",
    "a deep point": asking(100_000 * "["),
    "a huge number": asking("[" + 10_000 * "9" + ", 1.0]"),
    "a number beyond floats": asking("[" + 400 * "9" + ", 1.0]"),
    "a point of many numbers": asking("[1.0" + 9999 * ",1.0" + "]"),
    "a negative variance": (
        'UPDATE events SET body = \'{"values": [1.0], "variance": -1.0}\' WHERE id = 2'
    ),
    "a measurement of nothing": (
        'UPDATE events SET body = \'{"values": [1.0], "measured": [1.0]}\' WHERE id = 2'
    ),
    "a measurement beyond floats": (
        f'UPDATE events SET body = \'{{"values": [1.0], "measured": [{400 * "9"}]}}\' WHERE id = 2'
    ),
    "a number for an error": "UPDATE events SET body = '{\"error\": 5}' WHERE id = 2",
    "a huge text": "UPDATE events SET body = hex(zeroblob(600000)) WHERE id = 2",
    "an infinite time": "UPDATE events SET time = -9e999 WHERE id = 2",
    "a trial that is no number": "UPDATE events SET trial = 'first' WHERE id = 1",
    "a negative trial": "UPDATE events SET trial = -1 WHERE id = 1",
    "text that is not UTF-8": "UPDATE events SET body = CAST(x'ff' AS TEXT) WHERE id = 2",
    "settings in words": "UPDATE meta SET value = '\"all\"' WHERE key = 'settings'",
    "deep settings": "UPDATE meta SET value = '" + 100_000 * "[" + "' WHERE key = 'settings'",
    "no settings": "UPDATE meta SET value = '{}' WHERE key = 'settings'",
    "versions in words": "UPDATE meta SET value = '5' WHERE key = 'versions'",
}


@pytest.mark.parametrize("name", [*STRANGE, *CONTENTS])
def test_strange_files_are_one_sentence(name, path, monkeypatch):
    monkeypatch.setattr(journal, "LONGEST_CELL", 1 << 20)
    bamsoo.minimize(branin, BOX, 4, algorithm="soo", study=path)
    message = "is damaged|cannot be used|differs"
    if name in STRANGE:
        statements, message = STRANGE[name]
        try:
            change(path, *statements, checksums=False)
        except sqlite3.OperationalError as error:
            pytest.skip(f"this sqlite cannot make such a file: {error}")
    else:
        change(path, CONTENTS[name], checksums="UTF-8" not in name and "huge text" not in name)
    before = path.read_bytes()
    if name == "versions in words":  # which only an error message would mention
        Study.open(path).close()
        return
    for readonly in (True, False):
        with pytest.raises(StudyError, match=message) as caught:
            Study.open(path, readonly=readonly)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 600
    assert path.read_bytes() == before


# --- removed, replaced or truncated while it is open


def remove(path):
    path.unlink()


def replace(path):
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    copy.replace(path)


def truncate(path):
    os.truncate(path, 4096)


def empty(path):
    path.write_bytes(b"")


def remove_log(path):
    Path(f"{path}-wal").unlink()


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (remove, "run.db: was removed"),
        (replace, "run.db: was replaced by another file"),
        (truncate, "run.db: was truncated"),
        (empty, "run.db: was truncated"),
        (remove_log, "run.db-wal: was removed"),
    ],
)
def test_a_file_removed_or_replaced_while_open_is_noticed_and_its_contents_are_saved(
    harm, said, path
):
    study = Study.open(path, space=BOX, algorithm="soo")
    study.note = "mine"
    for _ in range(6):
        trial = study.ask()
        study.tell(trial, branin(trial.x))
    last, known = study.ask(), study.trials
    harm(path)
    with pytest.raises(StudyError, match=said) as caught:
        study.tell(last, 1.0)
    saved = Path(f"{path}-rescued")
    assert f"everything told before that is saved in {saved}" in str(caught.value)
    with pytest.raises(StudyError, match=said):
        study.ask()
    study.close()
    with Study.open(saved) as rescued:  # which replays
        assert rescued.trials == known
        assert rescued.note == "mine"
        rescued.tell(rescued.ask(), 1.0)


def test_a_run_whose_file_disappears_ends_and_says_so(path):
    def careless(x):
        if path.exists() and len(everything_in(path)[0]) == 5:
            path.unlink()
        return branin(x)

    with pytest.raises(StudyError, match=r"was removed .* is saved in .*run.db-rescued") as caught:
        bamsoo.minimize(careless, BOX, 20, algorithm="soo", study=path)
    assert caught.value.result.nfev == 4
    r = bamsoo.minimize(branin, BOX, 9, algorithm="soo", study=f"{path}-rescued")
    assert_array_equal(r.X, bamsoo.minimize(branin, BOX, 9, algorithm="soo").X)


# --- reading and repairing


def test_a_study_that_does_not_replay_can_be_shown_exported_and_reported(path):
    mismatched(path)
    with pytest.raises(StudyError, match="trial 7 differs"):
        Study.open(path)
    assert "12 evaluations" in bamsoo_("show", path)
    assert len(bamsoo_("export", path).splitlines()) == 13
    page = path.with_suffix(".html")
    bamsoo_("report", path, "-o", page)
    assert "trial 7 differs" in page.read_text()
    with Study.open(path, readonly=True) as study:
        assert study.result.nfev == 12


# --- files that others left behind


@forks
@pytest.mark.parametrize("seed", range(6))
def test_the_log_of_a_deleted_run_is_not_applied_to_a_new_one(path, seed):
    stale_side_files(path.parent, random.Random(seed))


@pytest.mark.slow
@forks
@pytest.mark.parametrize("seed", range(14))
def test_the_log_of_a_killed_run_is_not_applied_to_a_copy_that_takes_its_place(path, seed):
    restored_copy(path.parent, random.Random(seed))


@forks
def test_a_killed_run_and_its_log_belong_together(path):
    go_on(path, 3, 1.0)
    with closing(sqlite3.connect(path)) as reader:  # which keeps the log from being moved
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchone()
        killed(path, 30, 2.0)
        assert len(told(everything_in(path)[0])) == 33
        alone = path.with_name("alone.db")
        alone.write_bytes(path.read_bytes())
        assert len(told(everything_in(alone)[0])) < 33
        killed(path, 2, 3.0)
    go_on(path, 1, 4.0)
    assert [value for _, value in told(everything_in(path)[0])] == [1.0] * 3 + [2.0] * 30 + [
        3.0,
        3.0,
        4.0,
    ]
    assert side_files(path) == []


def test_a_study_says_at_its_end_if_a_reader_has_kept_events_in_the_log(path, monkeypatch, caplog):
    monkeypatch.setattr(journal, "PATIENCE", 0.01)
    bamsoo.minimize(branin, BOX, 1, algorithm="soo", study=path)
    with closing(sqlite3.connect(path)) as reader:
        with Study.open(path) as study:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM events").fetchone()
            study.tell(study.ask(), 2.0)
        assert "its last events are still in run.db-wal; keep the two files together" in caplog.text
        assert len(everything_in(path)[0]) == 2
        reader.rollback()
        caplog.clear()
        with Study.open(path) as study:
            study.tell(study.ask(), 3.0)
        assert caplog.text == ""
    assert len(everything_in(path)[0]) == 3


def test_only_the_study_remains_after_a_run_and_after_commands_that_read_it(path):
    bamsoo.minimize(branin, BOX, 5, algorithm="soo", study=path)
    assert side_files(path) == []
    for words in (["show", path], ["export", path], ["report", path], ["repair", path]):
        bamsoo_(*words)
        assert side_files(path) == []
    bamsoo_("backup", path, path.with_name("copy.db"))
    assert sorted(file.name for file in path.parent.iterdir()) == [
        "copy.db", "run-repaired.db", "run.db", "run.html"
    ]  # fmt: skip


# --- writes that fail

FULL = """
import resource, signal, sys
from bamsoo.command.main import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
main(sys.argv[1:])
"""


@forks
@pytest.mark.slow
def test_a_study_on_a_full_disk_can_be_read(path):
    go_on(path, 3, 1.0)

    def full(command):
        words = [sys.executable, "-c", FULL, command, path]
        return subprocess.run(words, capture_output=True, text=True, timeout=120)

    for command in ("show", "export"):
        ran = full(command)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert "1.0" in ran.stdout
    killed(path, 3, 2.0)
    assert full("show").stderr in ("", f"bamsoo: {path}: cannot be used: disk I/O error\n")
    assert [value for _, value in told(everything_in(path)[0])] == [1.0] * 3 + [2.0] * 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["show"], ["export"]])
@pytest.mark.slow
def test_output_to_a_full_disk_is_one_sentence(path, words):
    go_on(path, 3, 1.0)
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "bamsoo.command.main", *words, path],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    assert ran.returncode == 2
    assert ran.stderr == "bamsoo: the output cannot be written: No space left on device\n"


LIMITED = """
import resource, signal, sys
import bamsoo
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path, size = sys.argv[1], int(sys.argv[2])
for size in map(int, sys.argv[2:]):
    place = f"{path}-{size}"
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    told = 0
    try:
        with bamsoo.Study.open(place, space=[(0, 1)], algorithm="soo") as study:
            for _ in range(30):
                trial = study.ask()
                study.tell(trial, trial.params["x0"])
                told += 1
    except bamsoo.errors.StudyError as error:
        assert "\\n" not in str(error), error
        print(size, told, error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    try:
        with bamsoo.Study.open(place) as study:
            assert study.told == told, (size, study.told, told)
            study.ask()
    except bamsoo.errors.StudyError as error:
        assert "no such study" in str(error) and told == 0, (size, error)
print("done")
"""


@pytest.mark.skipif(os.name != "posix", reason="needs limits on the size of files")
def test_a_disk_that_is_full_at_any_size_ends_in_a_good_file_or_a_sentence(path):
    sizes = [0, 1, 100, 511, 4096, *range(4097, 16384, 640), 20_480, 40_960]
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), *map(str, sizes)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    *refused, done = ran.stdout.splitlines()
    assert done == "done"
    assert len(refused) >= 15
