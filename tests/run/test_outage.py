"""Evaluations that cannot take place for a while, and failures that repeat themselves."""

import re
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import pytest

import bamsoo
from bamsoo.errors import SettingsError
from bamsoo.run import outage
from bamsoo.run.evaluation import Reply
from bamsoo.run.loop import Ending

LINE = {"x": (0.0, 1.0)}


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(outage, "FIRST", 0.02)
    monkeypatch.setattr(outage, "LONGEST", 0.05)
    monkeypatch.setattr("bamsoo.run.loop.PAUSE", 0.005)


class Licence:
    """A function that needs a licence, which is gone for some of its calls."""

    def __init__(self, gone):
        self.calls, self.gone, self.values = 0, gone, 0

    def __call__(self, x):
        self.calls += 1
        if self.calls in self.gone:
            raise bamsoo.TryAgain(f"no licence, attempt {self.calls}")
        self.values += 1
        return (x - 0.3) ** 2


@pytest.mark.parametrize("on_error", ["raise", "fail"])
@pytest.mark.parametrize("workers", [None, 3])
def test_an_outage_fails_no_evaluation_and_costs_none(on_error, workers, caplog):
    licence = Licence(range(5, 12))
    given = {"on_error": on_error}
    plain = bamsoo.minimize(Licence(()), LINE, 15)
    if workers is None:
        r = bamsoo.minimize(licence, LINE, 15, **given)
        assert [p["x"] for p in r.X] == [p["x"] for p in plain.X]
    else:
        with ThreadPoolExecutor(workers) as pool:
            r = bamsoo.minimize(licence, LINE, 15, workers=pool, **given)
    assert (r.nfev, r.nfailed, licence.values) == (15, 0, 15)
    assert licence.calls == 15 + 7
    said = [each.message for each in caplog.records]
    began = [each for each in said if each.endswith("the run waits")]
    ended = [each for each in said if "take place again, after" in each]
    assert len(began) == len(ended)
    assert len(began) == 1 or workers  # with workers, others may have gone on
    assert len(set(said)) == len(said)


def test_processes_raise_it_too(tmp_path):
    module = tmp_path / "solver_with_licence.py"
    module.write_text(
        "import pathlib, bamsoo\n"
        f"gone = pathlib.Path({str(tmp_path / 'gone')!r})\n"
        "def fun(x):\n"
        "    if not gone.exists():\n"
        "        gone.touch()\n"
        "        raise bamsoo.TryAgain('no licence')\n"
        "    return x\n"
    )
    sys.path.insert(0, str(tmp_path))
    try:
        import solver_with_licence

        r = bamsoo.minimize(solver_with_licence.fun, LINE, 4, workers=2)
    finally:
        sys.path.remove(str(tmp_path))
    assert (r.nfev, r.nfailed) == (4, 0)


def test_after_the_patience_the_run_ends_and_can_be_continued(tmp_path):
    study = tmp_path / "run.db"
    r = bamsoo.minimize(Licence(range(4, 1000)), LINE, 10, study=study, patience=0.1)
    assert (r.status, r.nfev, r.nfailed) == (Ending.OUTAGE, 3, 0)
    assert re.search(r"evaluations could not take place for \d", r.message)
    assert "no licence" in r.message
    with bamsoo.Study.open(study, readonly=True) as stored:
        assert [t.state for t in stored.trials] == ["done"] * 3 + ["out"]
    again = bamsoo.minimize(Licence(()), LINE, 10, study=study)
    assert [p["x"] for p in again.X] == [p["x"] for p in bamsoo.minimize(Licence(()), LINE, 10).X]


def test_the_timeout_ends_a_run_that_waits():
    r = bamsoo.minimize(Licence(range(1, 1000)), LINE, 10, timeout=0.1)
    assert r.status == Ending.TIMEOUT


def test_a_training_that_cannot_go_on_begins_again():
    calls = []

    def train(x):
        calls.append(x)
        for step in range(1, 5):
            if len(calls) == 2 and step == 3:
                raise bamsoo.TryAgain("no licence")
            yield (x - 0.3) ** 2 + 1.0 / step

    r = bamsoo.minimize(train, LINE, 5, steps=4)
    assert r.nfailed == 0
    assert calls[1] == calls[2]


@pytest.fixture
def clock(monkeypatch):
    """A list with the time, which only the test changes."""
    now = [100.0]
    monkeypatch.setattr(outage.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(outage, "FIRST", 1.0)
    monkeypatch.setattr(outage, "LONGEST", 5.0)
    return now


def test_pauses_grow_and_one_evaluation_is_tried_after_each(clock):
    waiting = outage.Outage(20.0)
    assert (waiting.lasts, waiting.seconds) == (False, 0.0)
    waiting.meet(0, "no licence")
    waiting.meet(1, "no licence")  # it was running at the same time
    tried = []
    while not waiting.is_too_long:
        clock[0] += 0.25
        if waiting.is_due:
            tried.append(clock[0] - 100.0)
            waiting.give(2)
            assert not waiting.is_due
            waiting.meet(2, "no licence")
    assert tried == [1.0, 3.0, 7.0, 12.0, 17.0, 20.0]
    waiting.end()
    assert not waiting.lasts


def test_while_one_that_was_tried_runs_the_next_one_is_tried_too(clock):
    waiting, tried = outage.Outage(3.0), []
    waiting.meet(0, "no licence")
    while clock[0] < 105.0:
        clock[0] += 0.25
        if waiting.is_due:
            tried.append(clock[0] - 100.0)
            waiting.give(len(tried))
    assert tried == [1.0, 2.0, 3.0, 4.0, 5.0]  # also after the patience, since nobody refuses


def test_what_runs_on_is_not_part_of_an_outage(clock):
    waiting = outage.Outage(20.0)
    waiting.meet(0, "no licence")
    waiting.give(1)
    assert waiting.spares([1, 2], 0.5)  # 2 was begun before
    assert not waiting.spares([1], 0.5)
    clock[0] += 5.25
    assert not waiting.spares([1], 0.5)  # it may be refused, too
    clock[0] += 0.5
    assert waiting.spares([1], 0.5)


class OneLicence(Executor):
    """Two workers and one licence: the second is refused twice, and then the first one ends."""

    _max_workers = 2

    def __init__(self, calls):
        self.left, self.holder, self.refusals = calls, None, 0

    def submit(self, call):
        future = Future()
        if self.holder is not None and self.refusals < 2:
            self.refusals += 1
            future.set_result((call.key, Reply(None, error=bamsoo.TryAgain("1 licence in use"))))
            return future
        self.refusals = 0
        if self.holder is not None:
            first, its_call = self.holder
            first.set_result(its_call())
        self.left -= 1
        self.holder = future, call
        if not self.left:
            future.set_result(call())
        return future


def test_a_shortage_is_said_once_and_ends_no_run(caplog):
    r = bamsoo.minimize(lambda x: x, LINE, 6, workers=OneLicence(6), patience=0.0)
    assert (r.nfev, r.nfailed, r.status) == (6, 0, Ending.BUDGET)
    said = [each.message for each in caplog.records]
    (once,) = [each for each in said if "1 licence in use" in each]
    assert once.startswith("not all workers can evaluate at once")


# ---- failures with the same reason


def failing(reasons):
    """A function that fails for these reasons, one after the other, and has a value for None."""
    left = iter(reasons)

    def fun(x):
        if (reason := next(left, None)) is not None:
            raise RuntimeError(reason)
        return x

    return fun


def test_failures_in_a_row_with_the_same_reason_end_the_run():
    reasons = [f"mesh failed at z={0.1 * i:.2f} m" for i in range(9)]
    given = {"on_error": "fail", "fatal_failures": 4}
    r = bamsoo.minimize(failing([None, None, *reasons]), LINE, 30, **given)
    assert (r.status, r.nfev, r.nfailed) == (Ending.FAILING, 6, 4)
    assert "4 evaluations in a row failed with the same reason: RuntimeError: mesh" in r.message
    others = ["a", "a", "a", "b", "b", "b", None, "b", "b", "b", None, "a"]
    r = bamsoo.minimize(failing(others), LINE, 30, **given)
    assert r.nfev == 30
    r = bamsoo.minimize(failing(["a"] * 20), LINE, 30, on_error="fail")
    assert r.nfev == 30


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"patience": -1}, "patience must be a number of seconds >= 0, got -1"),
        ({"patience": "x"}, "patience must be"),
        ({"fatal_failures": 0}, "fatal_failures must be a whole number"),
    ],
)
def test_what_is_refused(given, said):
    with pytest.raises(SettingsError, match=said):
        bamsoo.minimize(lambda x: x, LINE, 3, **given)
