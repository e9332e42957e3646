"""A repair keeps everything that can be read, and says what is lost."""

import json
import os
import random
import sqlite3
from contextlib import closing

import pytest

import bamsoo
from bamsoo import Study, problems
from bamsoo.errors import StudyError
from bamsoo.study import sqlite as journal
from bamsoo.study.repair import repair

from command_line import bamsoo_
from faulty_files import (
    STUDIES,
    change,
    everything_in,
    flipped,
    medium,
    mismatched,
    small,
    zeroed_pages,
)

branin = problems.branin
BOX = branin.bounds


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
        old = everything_in(path)[0]
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
    trials = everything_in(fixed)[0]
    assert [t.state for t in trials] == ["given"] * 12
    with Study.open(fixed) as study:
        assert study.best.value == min(t.value for t in trials)


def test_a_repair_leaves_out_what_is_damaged(path):
    bamsoo.minimize(branin, BOX, 12, algorithm="soo", study=path)
    old = everything_in(path)[0]
    change(
        path,
        "UPDATE events SET body = '{\"values\": [0.0]}' WHERE id = 10",  # the value of trial 4
        "DELETE FROM events WHERE id = 17",  # trial 8 was asked
        checksums=False,
    )
    said = repair(path, path.with_name("fixed.db"))
    assert (said.events, said.values) == (9, 6)
    assert said.missing == (10, 17)
    assert said.lost == ("the value of trial 8, whose point is lost or invalid",)
    assert "lost: 2 events (10, 17), the value of trial 8" in str(said)
    trials = everything_in(said.path)[0]
    assert [t.state for t in trials] == ["done"] * 4 + ["out"] + ["given"] * 6
    kept = [t for t in old if t.number not in (4, 8)]
    assert [t.value for t in trials if t.value is not None] == [t.value for t in kept]
    with Study.open(said.path) as study:
        assert study.ask().number == 4  # its value is lost, so it is evaluated again


def test_a_repair_reads_what_is_not_on_a_page_that_is_destroyed(path):
    bamsoo.minimize(branin, BOX, 300, algorithm="soo", study=path)
    wanted = {json.dumps(t.params): t.value for t in everything_in(path)[0]}
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
    assert said.missing
    trials = [t for t in everything_in(said.path)[0] if t.value is not None]
    assert len(trials) > 200
    assert all(wanted[json.dumps(t.params)] == t.value for t in trials)
    with Study.open(said.path) as study:
        study.tell(study.ask(), 1.0)


@pytest.mark.parametrize("harm", ["settings", "all", "none", "foreign"])
def test_where_nothing_can_be_repaired_one_sentence_says_so(harm, path):
    if harm != "none":
        bamsoo.minimize(branin, BOX, 4, algorithm="soo", study=path)
    if harm == "settings":
        for table in ("meta", "spare"):
            change(path, f"DELETE FROM {table} WHERE key = 'settings'")
    elif harm == "all":
        path.write_bytes(os.urandom(9000))
    elif harm == "foreign":
        path.unlink()
        change(path, "CREATE TABLE other (x)", checksums=False)
    said = bamsoo_("repair", path, code=2)
    assert len(said.splitlines()) == 1
    assert not path.with_name("run-repaired.db").exists()


@pytest.mark.slow
def test_random_damage_is_repaired_or_refused_and_no_value_changes(path, times=25, seed=1):
    bamsoo.minimize(branin, BOX, 40, algorithm="soo", study=path)
    wanted = {json.dumps(t.params): t.value for t in everything_in(path)[0]}
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


def test_a_repair_keeps_values_of_enqueued_trials_and_points_that_are_still_to_be_evaluated(path):
    points = [{"x0": 1.0 + i, "x1": 2.0} for i in range(6)]
    with Study.open(path, space=BOX, algorithm="soo") as study:
        for point in points:
            study.enqueue(point)
        for value in range(4):
            study.tell(study.ask(), float(value))
        study.tell((0.0, 0.0), 7.0)
    old = everything_in(path)[0]
    for values_only in (False, True):
        fixed = path.with_name(f"fixed-{values_only}.db")
        said = repair(path, fixed, values_only)
        assert "nothing is lost" in str(said)
        trials = everything_in(fixed)[0]
        key = str
        assert sorted((key(t.params), t.value) for t in trials if t.value is not None) == sorted(
            (key(t.params), t.value) for t in old if t.value is not None
        )
        with Study.open(fixed) as study:
            assert [study.ask().params for _ in range(2)] == points[4:]


def test_a_repair_keeps_the_events_of_a_study_whose_constraint_is_a_function(path):
    def below(x):
        return x.sum() - 9.0

    bamsoo.minimize(branin, BOX, 8, algorithm="soo", constraints=[below], study=path)
    said = repair(path, path.with_name("fixed.db"))
    assert (said.events, said.values, said.missing, said.lost) == (16, 0, (), ())
    with Study.open(said.path, constraints=[below]) as study:  # which replays
        assert study.trials == everything_in(path)[0]


@pytest.mark.slow
@pytest.mark.parametrize("make", STUDIES)
def test_a_page_of_zeros_costs_only_what_is_on_it_and_that_is_named(make, path):
    zeroed_pages(path.parent, make, None if make is small else {0, 1, 2, 3, 5, -1})


def test_events_lost_at_the_end_are_counted(path):
    medium(path)
    whole = path.read_bytes()
    with closing(sqlite3.connect(path)) as file:
        (pages,) = file.execute("PRAGMA page_count").fetchone()
        (length,) = file.execute("SELECT count(*) FROM events").fetchone()
    path.write_bytes(whole[: (pages - 1) * journal.PAGE] + bytes(journal.PAGE))
    said = repair(path, path.with_name("fixed.db"))
    assert said.events + len(said.missing) == length
    assert f"events ({said.events + 1} to {length})" in str(said)
    path.write_bytes(whole[: (pages - 2) * journal.PAGE])  # and where the end of the file is gone
    said = repair(path, path.with_name("cut.db"))
    assert said.events + len(said.missing) == length


def test_a_repair_says_if_it_cannot_know_how_much_is_lost(path):
    medium(path)
    change(path, "DELETE FROM spare WHERE key = 'state'")
    whole = path.read_bytes()
    path.write_bytes(whole[: -journal.PAGE] + bytes(journal.PAGE))
    said = repair(path, path.with_name("fixed.db"))
    assert said.lost == (f"an unknown number of events after event {said.events}",)
