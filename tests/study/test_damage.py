"""Studies that are damaged, strange, removed while open, copied while written, or repaired."""

import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from numpy.testing import assert_array_equal

import bamsoo
from bamsoo import Study, StudyError, problems
from bamsoo.study import journal
from bamsoo.study.repair import repair

from checksums import renew_checksums
from command_line import bamsoo_

branin = problems.branin
BOX = branin.bounds


def content(path):
    with Study.open(path, readonly=True) as study:
        return study.trials, study.settings, study.note


def change(path, *statements, checksums=True):
    with closing(sqlite3.connect(path)) as file, file:
        for statement in statements:
            file.execute(statement)
        if checksums:
            renew_checksums(file)


# --- flipped bits


def flipped(whole, rng):
    """A file with one to eight bits of one byte flipped, or a few bytes overwritten."""
    damaged = bytearray(whole)
    at = rng.randrange(len(whole))
    if rng.random() < 0.7:
        damaged[at] ^= rng.randint(1, 255)
    else:
        for i in range(at, min(at + rng.randint(2, 64), len(whole))):
            damaged[i] = rng.randrange(256)
    return bytes(damaged)


def test_a_flipped_bit_is_found_or_does_no_harm(path, times=250, seed=0):
    with Study.open(path, space=BOX, algorithm="soo") as study:
        study.note = {"what": "a note"}
        bamsoo.minimize(branin, BOX, 15, algorithm="soo", study=study)
    whole, wanted = path.read_bytes(), content(path)
    rng, copy, found = random.Random(seed), path.with_name("copy.db"), 0
    for _ in range(times):
        copy.write_bytes(flipped(whole, rng))
        try:
            assert content(copy) == wanted
        except StudyError as error:
            assert "\n" not in str(error)
            found += 1
    assert found > times // 8  # the rest of the bytes are of no use


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE events SET value = 0.5 WHERE id = 4", "event 4 has changed since it was written"),
        (
            "UPDATE events SET point = '[0.5, 0.5]' WHERE id = 3",
            "event 3 has changed since it was written",
        ),
        ("UPDATE events SET time = 1.0 WHERE id = 3", "event 3 has changed since it was written"),
        (
            "UPDATE events SET checksum = '' WHERE id = 3",
            "event 3 has changed since it was written",
        ),
        ("UPDATE meta SET value = '5' WHERE key = 'created'", "its 'created' has changed"),
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
SELECT i AS id, 'restart' AS kind, NULL AS trial, NULL AS point, NULL AS value, NULL AS error,
0.0 AS time, '' AS checksum FROM n
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
    "the wrong format": (["PRAGMA user_version = 1"], "its tables are not those of format 1"),
    "format 0": (["PRAGMA user_version = 0"], "its tables are not those of format 0"),
}

CONTENTS = {
    "an infinite value": "UPDATE events SET value = 9e999 WHERE id = 2",
    "a value in words": "UPDATE events SET value = 'much' WHERE id = 2",
    "a blob for a value": "UPDATE events SET value = x'00ff' WHERE id = 2",
    "an infinite coordinate": "UPDATE events SET point = '[Infinity, 1.0]' WHERE id = 1",
    "a coordinate that is none": "UPDATE events SET point = '[NaN, 1.0]' WHERE id = 1",
    "an object for a point": "UPDATE events SET point = '{\"a\": 1}' WHERE id = 1",
    "a deep point": "UPDATE events SET point = '" + 100_000 * "[" + "' WHERE id = 1",
    "a huge number": "UPDATE events SET point = '[" + 10_000 * "9" + ", 1.0]' WHERE id = 1",
    "a number beyond floats": "UPDATE events SET point = '[" + 400 * "9" + ", 1.0]' WHERE id = 1",
    "a measurement beyond floats": "UPDATE events SET measured = '["
    + 400 * "9"
    + "]' WHERE id = 2",
    "a point of many numbers": "UPDATE events SET point = '[1.0"
    + 9999 * ",1.0"
    + "]' WHERE id = 1",
    "a huge text": "UPDATE events SET error = hex(zeroblob(600000)) WHERE id = 2",
    "an infinite time": "UPDATE events SET time = -9e999 WHERE id = 2",
    "a trial that is no number": "UPDATE events SET trial = 'first' WHERE id = 1",
    "a negative trial": "UPDATE events SET trial = -1 WHERE id = 1",
    "text that is not UTF-8": "UPDATE events SET error = CAST(x'ff' AS TEXT) WHERE id = 2",
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
        if path.exists() and len(content(path)[0]) == 5:
            path.unlink()
        return branin(x)

    with pytest.raises(StudyError, match=r"was removed .* is saved in .*run.db-rescued") as caught:
        bamsoo.minimize(careless, BOX, 20, algorithm="soo", study=path)
    assert caught.value.result.nfev == 4
    r = bamsoo.minimize(branin, BOX, 9, algorithm="soo", study=f"{path}-rescued")
    assert_array_equal(r.X, bamsoo.minimize(branin, BOX, 9, algorithm="soo").X)


# --- copies


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
            trials, _, _ = content(copy)
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
    assert [sum(t.value is not None for t in content(copy)[0]) for copy in copies] == [1, 2, 3, 4]
    with pytest.raises(StudyError, match="cannot be created"), Study.open(path) as study:
        study.backup(path / "no" / "such.db")


# --- reading and repairing


def mismatched(path, trial=7, budget=12):
    bamsoo.minimize(branin, BOX, budget, algorithm="soo", study=path)
    change(path, f"UPDATE events SET point = '[1.5, 2.5]' WHERE kind = 'ask' AND trial = {trial}")


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


def test_a_repair_keeps_what_replays_as_it_was_and_the_rest_as_known_points(path):
    mismatched(path)
    before = path.read_bytes()
    said = bamsoo_("repair", path)
    fixed = path.with_name("run-repaired.db")
    assert f"{fixed}: contains 14 events unchanged, and 5 later values" in said
    assert "nothing is lost" in said
    assert path.read_bytes() == before
    with Study.open(fixed) as study:  # which replays
        states = [t.state for t in study.trials]
        assert states == ["done"] * 7 + ["given"] * 5
        old = content(path)[0]
        assert [t.value for t in study.trials] == [t.value for t in old]
        assert [t.params for t in study.trials] == [t.params for t in old]
        trial = study.ask()
        assert trial.params not in [t.params for t in old]
        assert trial.number == 7
    assert "exists already" in bamsoo_("repair", path, code=2)


def test_a_repair_may_keep_the_values_alone(path):
    mismatched(path)
    fixed = path.with_name("fixed.db")
    assert "contains 0 events unchanged, and 12 later values" in bamsoo_(
        "repair", path, "-o", fixed, "--values"
    )
    trials = content(fixed)[0]
    assert [t.state for t in trials] == ["given"] * 12
    with Study.open(fixed) as study:
        assert study.best.value == min(t.value for t in trials)


def test_a_repair_leaves_out_what_is_damaged(path):
    bamsoo.minimize(branin, BOX, 12, algorithm="soo", study=path)
    old = content(path)[0]
    change(
        path,
        "UPDATE events SET value = 0.0 WHERE id = 10",  # the value of trial 4
        "DELETE FROM events WHERE id = 17",  # trial 8 was asked
        checksums=False,
    )
    said = repair(path, path.with_name("fixed.db"))
    assert (said.events, said.values) == (9, 6)
    assert said.lost == (
        "event 10 has changed since it was written: its checksum differs",
        "event 17 cannot be read",
    )
    trials = content(said.path)[0]
    assert [t.state for t in trials] == ["done"] * 4 + ["out"] + ["given"] * 6
    kept = [t for t in old if t.number not in (4, 8)]
    assert [t.value for t in trials if t.value is not None] == [t.value for t in kept]
    with Study.open(said.path) as study:
        assert study.ask().number == 4  # its value is lost, so it is evaluated again


def test_a_repair_reads_what_is_not_on_a_page_that_is_destroyed(path):
    bamsoo.minimize(branin, BOX, 300, algorithm="soo", study=path)
    wanted = {json.dumps(t.params): t.value for t in content(path)[0]}
    whole = bytearray(path.read_bytes())
    with closing(sqlite3.connect(path)) as file:
        (root,) = file.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'events'"
        ).fetchone()
        (pages,) = file.execute("PRAGMA page_count").fetchone()
    leaf = pages // 2
    assert leaf != root
    whole[(leaf - 1) * 4096 : leaf * 4096] = os.urandom(4096)
    path.write_bytes(whole)
    with pytest.raises(StudyError, match="bamsoo repair"):
        Study.open(path, readonly=True)
    said = repair(path, path.with_name("fixed.db"))
    assert said.lost
    trials = [t for t in content(said.path)[0] if t.value is not None]
    assert len(trials) > 200
    assert all(wanted[json.dumps(t.params)] == t.value for t in trials)
    with Study.open(said.path) as study:
        study.tell(study.ask(), 1.0)


@pytest.mark.parametrize("harm", ["settings", "all", "none", "foreign"])
def test_where_nothing_can_be_repaired_one_sentence_says_so(harm, path):
    if harm != "none":
        bamsoo.minimize(branin, BOX, 4, algorithm="soo", study=path)
    if harm == "settings":
        change(path, "DELETE FROM meta WHERE key = 'settings'")
    elif harm == "all":
        path.write_bytes(os.urandom(9000))
    elif harm == "foreign":
        change(path, "PRAGMA application_id = 5")
    said = bamsoo_("repair", path, code=2)
    assert len(said.splitlines()) == 1
    assert not path.with_name("run-repaired.db").exists()


def test_random_damage_is_repaired_or_refused_and_no_value_changes(path, times=25, seed=1):
    bamsoo.minimize(branin, BOX, 40, algorithm="soo", study=path)
    wanted = {json.dumps(t.params): t.value for t in content(path)[0]}
    whole, rng = path.read_bytes(), random.Random(seed)
    copy, fixed = path.with_name("copy.db"), path.with_name("fixed.db")
    repaired = 0
    for _ in range(times):
        copy.write_bytes(flipped(whole, rng))
        fixed.unlink(missing_ok=True)
        try:
            repair(copy, fixed)
        except StudyError as error:
            assert "\n" not in str(error)
            continue
        repaired += 1
        with Study.open(fixed) as study:
            for t in study.trials:
                assert t.state == "out" or wanted[json.dumps(t.params)] == t.value
    assert repaired > times // 3


# --- writes that fail

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
    except bamsoo.StudyError as error:
        assert "\\n" not in str(error), error
        print(size, told, error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    try:
        with bamsoo.Study.open(place) as study:
            assert study.told == told, (size, study.told, told)
            study.ask()
    except bamsoo.StudyError as error:
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
