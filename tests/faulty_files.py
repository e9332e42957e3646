"""Files that a killed process, a careless copy or a broken disk leaves behind, and what is checked.

Used by the tests of studies and by lab/benchmarks/faults.py.
"""

import os
import shutil
import sqlite3
from collections import Counter
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import bamsoo
from bamsoo import Study
from bamsoo.record.events import Asked, Enqueued, Told
from bamsoo.study.repair import repair
from bamsoo.study.sqlite import PAGE
from bamsoo.study.sqlite import SqliteJournal as Journal

from checksums import renew_checksums

PLANE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}


def content(path):
    with Study.open(path, readonly=True) as study:
        return study.trials


def told(trials):
    return [(t.params, t.value) for t in trials if t.told_at is not None]


def side_files(path):
    return sorted(file.name for file in path.parent.glob(f"{path.name}-*"))


def go_on(path, evaluations, value, *, at=None, do=None):
    """Evaluate further trials; call `do` with the open study after `at` of them."""
    with Study.open(path, space=PLANE, algorithm="soo") as study:
        for i in range(evaluations):
            study.tell(study.ask(), value)
            if i == at:
                do(study)


def killed(path, evaluations, value, *, at=None, do=None):
    """The same in a process that ends without closing the study."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            study = Study.open(path, space=PLANE, algorithm="soo")
            for i in range(evaluations):
                study.tell(study.ask(), value)
                if i == at:
                    do(study)
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert Path(f"{path}-wal").stat().st_size > 0


def stale_side_files(place, rng):
    """Kill a run, delete its file but not its log, and begin another run under the same name."""
    path = place / "run.db"
    if rng.random() < 0.5:
        go_on(path, rng.randint(1, 60), 1.0)
    killed(path, rng.randint(1, 60), 1.0)
    path.unlink()
    kind = rng.choice(["minimize", "backup", "repair"])
    wanted = rng.randint(1, 60)
    if kind == "minimize":
        go_on(path, wanted, 2.0)
    else:
        go_on(place / "other.db", wanted, 2.0)
        if kind == "backup":
            with Study.open(place / "other.db", readonly=True) as study:
                study.backup(path)
        else:
            repair(place / "other.db", path)
    assert [value for _, value in told(content(path))] == [2.0] * wanted
    go_on(path, 1, 3.0)
    assert [value for _, value in told(content(path))] == [2.0] * wanted + [3.0]
    assert side_files(path) == []


def restored_copy(place, rng):
    """Kill a run, put a copy of it or of another study in its place, and leave its log there."""
    path, copy = place / "run.db", place / "copy.db"
    how = rng.choice(
        [
            "backup",
            "backup while open",
            "backup while open, killed",
            "plain",
            "plain while open",
            "plain while open, killed",
            "plain, killed",
        ]
    )
    source = path if rng.random() < 0.6 else place / "other.db"
    many = rng.randint(1, 60)

    def save(study):
        if "backup" in how:
            study.backup(copy)
        else:
            shutil.copyfile(source, copy)

    at = rng.randrange(many)
    if how.endswith("while open"):
        go_on(source, many, 1.0, at=at, do=save)
    elif how.endswith("while open, killed"):
        killed(source, many, 1.0, at=at, do=save)
    elif how == "plain, killed":
        killed(source, many, 1.0)
        save(None)
    else:
        go_on(source, many, 1.0)
        with Study.open(source, readonly=True) as study:
            save(study)
    wanted = content(copy)
    own = how == "plain while open, killed" and source == path and rng.random() < 0.8
    if not own:
        killed(path, rng.randint(1, 60), 2.0)
    if rng.random() < 0.5:
        path.unlink()
    shutil.copyfile(copy, path)
    if own:  # the log continues the copy: it belongs to the same process
        assert told(content(path))[: len(told(wanted))] == told(wanted), how
        wanted = content(path)
    assert content(path) == wanted, how
    go_on(path, 1, 3.0)
    values = [value for _, value in told(content(path))]
    assert values == [value for _, value in told(wanted)] + [3.0], how
    assert 2.0 not in values, how
    assert side_files(path) == []
    return how


# --- pages full of zeros


def _failing(x):
    if x > 0.6:
        raise ValueError("too large: " + 700 * "so ")  # longer than a page is wide
    return (x - 0.3) ** 2


def _plane(path, evaluations, **options):
    bamsoo.minimize(
        lambda a, b: (a - 0.3) ** 2 + b, PLANE, evaluations, algorithm="soo", study=path, **options
    )


def small(path):
    _plane(path, 5)


def medium(path):
    _plane(path, 100)


def large(path):
    _plane(path, 400)


def given(path):
    points = [{"a": 0.01 * i, "b": 0.02 * i} for i in range(40)]
    _plane(path, 90, x0=points[:20], known=[(p, 0.5) for p in points[20:]])


def failures(path):
    bamsoo.minimize(_failing, {"x": (0.0, 1.0)}, 40, algorithm="soo", study=path, on_error="fail")


def restarted(path):
    _plane(path, 30)
    with Study.open(path, replay=False) as study:
        for _ in range(60):
            study.tell(study.ask(), 1.0)


def pending(path):
    with Study.open(path, space=PLANE, algorithm="random") as study:
        out = [study.ask() for _ in range(60)]
        for trial in out[::2]:
            study.tell(trial, float(trial.number), variance=0.1)
        study.enqueue({"a": 0.123, "b": 0.456})


def measured(path):
    with Study.open(path, space=PLANE, algorithm="random", constraints=["load"]) as study:
        for i in range(30):
            study.tell(study.ask(), float(i), constraints={"load": i - 10.0})


def conditional(path):
    kinds = {"svm": {"C": bamsoo.Real(1e-3, 1e3, log=True)}, "forest": {"depth": bamsoo.Int(1, 9)}}
    with Study.open(path, space={"model": bamsoo.Choice(kinds)}, algorithm="random") as study:
        study.note = {"long": 9000 * "n"}
        for i in range(80):
            study.tell(study.ask(), float(i))


def many_options(path):
    space = {"x": (0.0, 1.0), "mode": bamsoo.Choice([f"option {i}" for i in range(300)])}
    bamsoo.minimize(lambda x, mode: x, space, 60, algorithm="random", study=path)


STUDIES = [
    small, medium, large, given, failures, restarted, pending, measured, conditional, many_options
]  # fmt: skip


def events_of(path):
    journal = Journal(path, False, dict)
    try:
        return dict(enumerate(journal.events(), start=1))
    finally:
        journal.close()


def zeroed_pages(place, make, pages=None):
    """Fill each page of a study with zeros in turn; repair it, and compare it with the truth."""
    path, broken, fixed = place / "run.db", place / "broken.db", place / "fixed.db"
    make(path)
    whole, truth = path.read_bytes(), events_of(path)
    with Study.open(path, readonly=True) as study:
        note, settings = study.note, study.settings
    figures = Counter()
    for page in range(len(whole) // PAGE):
        if pages is not None and page not in pages:
            continue
        broken.write_bytes(whole[: page * PAGE] + bytes(PAGE) + whole[(page + 1) * PAGE :])
        said = repair(broken, fixed)
        lost, orphans = check_repaired(fixed, said, truth)
        with Study.open(fixed) as study:  # which replays
            assert (study.note, study.settings) == (note, settings)
            study.tell(study.ask(), None)
        fixed.unlink()
        figures.update(
            {"pages": 1, "events lost and named": lost, "values lost and named": orphans}
        )
    return figures


def check_repaired(path, said, truth):
    """Check that a repaired study has all that was not named as lost, and nothing else."""
    asked = {e.number: (n, e.key) for n, e in truth.items() if isinstance(e, (Asked, Enqueued))}
    missing = set(said.missing)
    assert missing <= set(truth)
    wanted, orphans = Counter(), 0
    for number, event in truth.items():
        if not isinstance(event, Told) or number in missing:
            continue
        at, key = (0, event.key) if event.number is None else asked[event.number]
        if at in missing:
            orphans += 1
        else:
            wanted[replace(event, number=None, key=key)] += 1
    repaired = events_of(path)
    asked = {e.number: e.key for e in repaired.values() if isinstance(e, (Asked, Enqueued))}
    kept = Counter(
        replace(e, number=None, key=e.key if e.number is None else asked[e.number])
        for e in repaired.values()
        if isinstance(e, Told)
    )
    assert kept == wanted
    assert sum("the value of trial" in each for each in said.lost) == orphans
    assert len(said.lost) == orphans, said.lost
    assert ("nothing is lost" in str(said)) == (not missing and not orphans)
    queued = {e.key for n, e in truth.items() if isinstance(e, Enqueued) and n not in missing}
    assert queued <= {getattr(e, "key", None) for e in repaired.values()}
    return len(missing), orphans


def spoil(path, sql, *args):
    """Change a study by hand, with valid checksums, as if a bug had written it that way."""
    with sqlite3.connect(path) as connection:
        connection.execute(sql, args)
        with suppress(sqlite3.OperationalError):  # a table is gone
            renew_checksums(connection)
    connection.close()


def everything_in(path):
    with Study.open(path, readonly=True) as study:
        return study.trials, study.settings, study.note


def change(path, *statements, checksums=True):
    with closing(sqlite3.connect(path)) as file, file:
        for statement in statements:
            file.execute(statement)
        if checksums:
            renew_checksums(file)


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


def mismatched(path, trial=7, budget=12):
    """A study in which the point of one trial is not the one that a replay asks for."""
    branin = bamsoo.problems.branin
    bamsoo.minimize(branin, branin.bounds, budget, algorithm="soo", study=path)
    body = '{"point": [1.5, 2.5]}'
    change(path, f"UPDATE events SET body = '{body}' WHERE kind = 'ask' AND trial = {trial}")
