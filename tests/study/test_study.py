"""A study file holds everything that was told, and is resumed exactly, or says why it cannot be."""

import pickle
import tempfile
import time
from contextlib import suppress
from math import inf, isfinite, nan
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
import searches
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from numpy.testing import assert_array_equal
from searches import same

import bamsoo
from bamsoo import Study, problems
from bamsoo.errors import StudyError, ValueTypeError
from bamsoo.record.events import Imported
from bamsoo.run.loop import Ending

from faulty_files import spoil
from interrupts import AtLine
from memory import MEMORY

branin = problems.branin
BOX = branin.bounds
NAMED = {"rate": bamsoo.Real(1e-4, 1.0, log=True), "size": (1, 9)}
# settings of every type that a study stores
SEARCHES = {
    **searches.ONCE,
    **searches.with_settings("auto", width=0.4),
    **searches.with_settings(
        "bamsoo",
        kernel=bamsoo.kernels.Matern52((0.2, 0.3), 3e3),
        mean=50.0,
        random_start=True,
    ),
    **searches.with_settings("soo", k=2),
    **searches.with_settings("doo", c=100.0),
    **searches.with_settings("gp-ucb", kernel=bamsoo.kernels.SquaredExponential(0.2, 3e3)),
    **searches.with_settings("shrinking", kernel=bamsoo.kernels.Matern32(0.2, 3e3)),
}
each_algorithm = searches.each_of(SEARCHES)


# --- minimize with a study


@pytest.mark.slow
@searches.cases_of(
    SEARCHES,
    "run",
    {"minimize": (bamsoo.minimize,), "maximize": (bamsoo.maximize,)},
    "maximize",
)
def test_a_run_in_pieces_equals_the_whole(algorithm, run, path):
    whole = run(branin, BOX, 18, algorithm=algorithm, seed=3)
    same(run(branin, BOX, 18, algorithm=algorithm, seed=3, study=path.with_name("one.db")), whole)
    for budget in (1, 2, 11, 18):
        r = run(branin, BOX, budget, algorithm=algorithm, seed=3, study=path)
    same(r, whole)


@pytest.mark.slow
def test_a_mixed_space_goes_on_too(path):
    space = {
        "x": (0.0, 1.0),
        "rate": bamsoo.Real(1e-5, 1e-1, log=True),
        "n": bamsoo.Int(1, 100, log=True),
        "mode": bamsoo.Choice(["fast", "exact", 3, None, True]),
    }

    def fun(x, rate, n, mode):
        assert type(n) is int
        return x + rate + 1 / n + (mode == "exact")

    whole = bamsoo.minimize(fun, space, 30)
    for budget in (7, 20, 30):
        r = bamsoo.minimize(fun, space, budget, study=path)
    assert whole.X == r.X
    assert_array_equal(whole.F, r.F)
    with Study.open(path) as study:
        assert [t.params for t in study.trials] == whole.X
        study.tell({"x": 0.2, "rate": 0.01, "n": 5, "mode": None}, 0.5)
    with Study.open(path, readonly=True) as study:
        assert study.trials[-1].params == {"x": 0.2, "rate": 0.01, "n": 5, "mode": None}


def test_a_smaller_budget_calls_nothing(path):
    bamsoo.minimize(branin, BOX, 10, algorithm="soo", study=path)
    r = bamsoo.minimize(pytest.fail, BOX, 4, algorithm="soo", study=path)
    assert (r.nfev, r.status) == (10, Ending.BUDGET)


def test_an_exception_propagates_and_its_trial_is_asked_again(path):
    seen = []

    def fun(x):
        seen.append(tuple(x))
        if len(seen) == 4:
            raise OSError("disk")
        return branin(x)

    with pytest.raises(OSError, match="disk") as caught:
        bamsoo.minimize(fun, BOX, 10, algorithm="soo", study=path)
    assert caught.value.result.nfev == 3
    assert "trial 3" in caught.value.__notes__[0]
    r = bamsoo.minimize(fun, BOX, 10, algorithm="soo", study=path)
    assert seen[3] == seen[4]
    same(r, bamsoo.minimize(branin, BOX, 10, algorithm="soo"))


def test_failures_are_kept_with_their_message(path):
    def fun(rate, size):
        if size > 5:
            raise ValueError("diverged")
        return "0.5" if rate < 1e-3 else nan if rate < 1e-2 else rate

    bamsoo.minimize(fun, NAMED, 12, algorithm="soo", study=path, on_error="fail")
    with Study.open(path, readonly=True) as study:
        for t in study.trials:
            assert t.state == ("done" if t.value is not None else "failed")
            assert t.told_at >= t.asked_at
            if t.params["size"] > 5:
                assert t.error == "ValueError: diverged"
            elif t.params["rate"] < 1e-3:
                assert t.error == "an objective value must be one real number, got '0.5'"
            elif t.params["rate"] < 1e-2:
                assert t.error == "the value is nan"
            else:
                assert (t.value, t.error) == (t.params["rate"], None)


def test_a_target_reached_before_ends_the_run_at_once(path):
    first = bamsoo.minimize(branin, BOX, 50, algorithm="soo", study=path, target=10.0)
    assert first.status == Ending.TARGET
    r = bamsoo.minimize(pytest.fail, BOX, 50, algorithm="soo", study=path, target=10.0)
    same(r, first)


def test_a_callback_ends_a_run_that_goes_on_later(path):
    def stop(intermediate_result):
        if intermediate_result.nfev == 5:
            raise StopIteration

    r = bamsoo.minimize(branin, BOX, 12, algorithm="soo", study=path, callback=stop)
    assert (r.nfev, r.status) == (5, Ending.CALLBACK)
    r = bamsoo.minimize(branin, BOX, 12, algorithm="soo", study=path)
    same(r, bamsoo.minimize(branin, BOX, 12, algorithm="soo"))


def test_an_open_study_may_be_driven_and_stays_open(path):
    with Study.open(path, space=BOX, algorithm="soo") as study:
        bamsoo.minimize(branin, BOX, 5, algorithm="soo", study=study)
        with pytest.raises(StudyError, match="the study's seed is 0, got 1"):
            bamsoo.minimize(branin, BOX, 5, algorithm="soo", study=study, seed=1)
        assert study.ask().number == 5


def test_a_space_explored_to_its_end_says_so_again(path):
    space = {"n": bamsoo.Int(1, 4)}
    for _ in range(2):
        r = bamsoo.minimize(lambda n: n, space, 10, study=path)
        assert (r.nfev, r.status, r.fun) == (4, Ending.EXHAUSTED, 1)


# --- settings


@each_algorithm
def test_an_existing_study_needs_no_settings_and_takes_equal_ones(algorithm, path):
    given = {"space": BOX, "direction": "maximize", "algorithm": algorithm, "seed": 7}
    Study.open(path, **given).close()
    Study.open(path, **{**given, "seed": np.int64(7)}).close()
    with Study.open(path) as study:
        assert study.algorithm == algorithm
        assert study.direction == "maximize"
        assert not study.space.named
        assert study.settings["seed"] == 7


def test_wrong_settings_leave_no_file(path):
    for wrong in ({"seed": -1}, {"seed": "a"}, {"direction": "up"}, {"algorithm": "magic"}):
        with pytest.raises(bamsoo.errors.SettingsError):
            Study.open(path, **{"space": BOX, **wrong})
    with pytest.raises(bamsoo.errors.SpaceError):
        Study.open(path, space=[])
    with pytest.raises(StudyError, match="a new one needs a space"):
        Study.open(path)
    with pytest.raises(StudyError, match="there is no such study"):
        Study.open(path, readonly=True)
    assert not path.exists()


# --- ask and tell across processes and days


@pytest.mark.slow
@each_algorithm
def test_pending_trials_told_in_any_order_after_reopening_equal_a_study_that_never_closed(
    algorithm, path
):
    rng = np.random.default_rng(5)
    opt = bamsoo.Optimizer(BOX, algorithm=algorithm)
    study = Study.open(path, space=BOX, algorithm=algorithm)
    out = []
    for step in range(40):
        if rng.random() < 0.55 or not out:
            out.append((opt.ask(), study.ask()))
            assert_array_equal(out[-1][0].x, out[-1][1].x)
            assert out[-1][0].params == out[-1][1].params
        else:
            a, b = out.pop(rng.integers(len(out)))
            value = None if step % 7 == 0 else branin(a.x)
            opt.tell(a, value)
            study.tell(b, value)
        if step % 9 == 8:
            study.close()
            study = Study.open(path)
            again = [study.ask() for _ in out]
            assert [t.number for t in again] == sorted(a.number for a, _ in out)
            if step % 2:  # the trials of the process before are as good
                out = [(a, next(t for t in again if t.number == a.number)) for a, _ in out]
    same(study.result, opt.result)
    study.close()


def test_points_given_are_a_warm_start_and_survive(path):
    opt = bamsoo.Optimizer(BOX)
    with Study.open(path, space=BOX) as study:
        for point, value in (((3.0, 2.0), 0.5), ((0.0, 0.0), None), ((9.0, 3.0), 1.5)):
            opt.tell(point, value)
            study.tell(point, value)
    for _ in range(6):
        with Study.open(path) as study:
            trial, wanted = study.ask(), opt.ask()
            assert_array_equal(trial.x, wanted.x)
            study.tell(trial, branin(trial.x))
            opt.tell(wanted, branin(trial.x))
            same(study.result, opt.result)
            assert study.told == 6 - 5 + trial.number
    with Study.open(path, readonly=True) as study:
        assert [t.state for t in study.trials[:4]] == ["given", "failed", "given", "done"]
        assert [t.number for t in study.trials[:4]] == [None, None, None, 0]


def test_a_trial_is_told_once_and_where_it_was_asked(path):
    with Study.open(path, space=BOX, algorithm="soo") as study:
        trial = study.ask()
        other = bamsoo.Optimizer([(0, 1)] * 2, algorithm="soo").ask()
        with pytest.raises(bamsoo.errors.TrialError, match="belongs to another optimiser or study"):
            study.tell(other, 1.0)
        with pytest.raises(bamsoo.errors.ValueTypeError):
            study.tell(trial, "0.5")
        with pytest.raises(bamsoo.errors.SpaceError):
            study.tell((99, 99), 1.0)
        study.tell(trial, -0.0)
        with pytest.raises(bamsoo.errors.TrialError, match="already been told"):
            study.tell(trial, 1.0)
    with pytest.raises(StudyError, match="closed"):
        study.ask()
    with pytest.raises(StudyError, match="closed"):
        study.tell(trial, 1.0)
    with Study.open(path) as study:
        with pytest.raises(bamsoo.errors.TrialError, match="already been told"):
            study.tell(trial, 1.0)
        assert len(study.trials) == 1


def test_values_come_back_to_the_last_bit(path):
    values = [0.1, -1e300, 5e-324, 1 / 3, 1e16 + 2, -7.0, 2**60]
    with Study.open(path, space=[(0, 1e-300), (1, 1 + 1e-12)], algorithm="random") as study:
        for value in values:
            study.tell(study.ask(), value)
        X = study.result.X
    with Study.open(path) as study:
        assert study.result.F.tolist() == values
        assert_array_equal(study.result.X, X)


# --- replay that comes to other points


def test_a_mismatch_names_the_trial_and_both_points(path):
    bamsoo.minimize(branin, BOX, 12, algorithm="soo", study=path)
    spoil(
        path, "UPDATE events SET body = '{\"point\": [1.5, 2.5]}' WHERE kind = 'ask' AND trial = 7"
    )
    spoil(path, "UPDATE meta SET value = '{\"bamsoo\": \"0.0.9\"}' WHERE key = 'versions'")
    before = path.read_bytes()
    with pytest.raises(StudyError) as caught:
        Study.open(path)
    wanted = bamsoo.minimize(branin, BOX, 8, algorithm="soo").X[7]
    message = str(caught.value)
    assert (
        "trial 7 differs: it was at {'x0': 1.5, 'x1': 2.5}, but the search now asks for" in message
    )
    assert str(dict(zip(("x0", "x1"), wanted.tolist(), strict=True))) in message
    assert f"bamsoo 0.0.9 then, {bamsoo.__version__} now" in message
    assert "replay=False" in message
    assert "\n" not in message
    assert path.read_bytes() == before
    with Study.open(path, readonly=True) as study:  # the data can be had all the same
        assert study.result.nfev == 12


@pytest.mark.parametrize("name", ["auto", "soo", "random", "bamsoo"])
def test_going_on_from_the_data_alone_loses_nothing_and_repeats_nothing(name, path):
    study = Study.open(path, space=BOX, algorithm=SEARCHES[name])
    out = [study.ask() for _ in range(5)]
    for trial in out[:3]:
        study.tell(trial, branin(trial.x))
    study.close()
    study = Study.open(path, replay=False)
    again = [study.ask(), study.ask()]
    assert [t.number for t in again] == [3, 4]
    for _ in range(8):  # the two are pending all this time; a fresh search would begin with them
        trial = study.ask()
        study.tell(trial, branin(trial.x))
    study.tell(again[0], branin(again[0].x))
    X = study.result.X
    study.close()
    with Study.open(path) as study:  # replays from there, through the same points
        assert_array_equal(study.result.X, X)
        assert study.told == study.result.nfev == 12
        assert study.ask().number == 4
        asked = [t.params for t in study.trials]
        assert len({tuple(p.values()) for p in asked}) == len(asked) == 13
        study.tell(again[1], 0.0)
        for _ in range(5):
            trial = study.ask()
            assert trial.params not in asked
            study.tell(trial, branin(trial.x))


@pytest.mark.parametrize("on_error", ["raise", "fail"])
def test_a_run_whose_disk_is_full_ends_and_says_so(on_error, path):
    with Study.open(path, space=BOX, algorithm="soo") as study:
        study._journal.stored._file.execute("PRAGMA max_page_count = 6")
        with pytest.raises(StudyError, match="disk is full"):
            bamsoo.minimize(branin, BOX, 999, algorithm="soo", study=study, on_error=on_error)


def test_another_thread_may_tell(path):
    with Study.open(path, space=BOX, algorithm="soo") as study:
        thread = Thread(target=lambda: study.tell(study.ask(), 1.0))
        thread.start()
        thread.join()
        assert study.told == 1


# --- any order of events

SPACES = st.lists(
    st.sampled_from(
        [
            (0.0, 1.0),
            bamsoo.Real(1e-3, 1e3, log=True),
            bamsoo.Int(-2, 2),
            bamsoo.Int(1, 40, log=True),
            bamsoo.Choice(["a", "b", 3]),
        ]
    ),
    min_size=1,
    max_size=3,
).map(lambda kinds: {f"p{i}": kind for i, kind in enumerate(kinds)})


class AnyOrder(RuleBasedStateMachine):
    """Ask, tell, fail, give, close and reopen, against a plain list of what was told."""

    @initialize(
        space=SPACES,
        algorithm=st.sampled_from(["soo", "random", "auto", "bamsoo", "doo"]),
        direction=st.sampled_from(["minimize", "maximize"]),
    )
    def begin(self, space, algorithm, direction):
        self.place = tempfile.TemporaryDirectory(dir=MEMORY)
        self.path = Path(self.place.name) / "run.db"
        self.study = Study.open(self.path, space=space, algorithm=algorithm, direction=direction)
        self.pick = min if direction == "minimize" else max
        self.out, self.values, self.asked, self.again = {}, [], [], []

    @rule()
    def ask(self):
        try:
            trial = self.study.ask()
        except bamsoo.errors.ExhaustedError:
            assert not self.again
            return
        if self.again:
            assert trial.number == self.again.pop(0)
            assert trial.params == self.out[trial.number].params
        else:
            assert trial.number == len(self.asked)
            assert trial.params not in self.asked
            self.asked.append(trial.params)
        self.study.space.point(trial.params)
        self.out[trial.number] = trial

    @precondition(lambda self: self.out)
    @rule(value=st.one_of(st.floats(), st.none(), st.integers(-5, 5)), data=st.data())
    def tell(self, value, data):
        number = data.draw(st.sampled_from(sorted(self.out)))
        self.study.tell(self.out.pop(number), value)
        if number in self.again:
            self.again.remove(number)
        self.values.append(nan if value is None else float(value))

    @rule(replay=st.sampled_from([True, True, True, False]))
    def reopen(self, replay):
        self.study.close()
        self.study = Study.open(self.path, replay=replay)
        self.again = sorted(self.out)

    @invariant()
    def the_books_are_right(self):
        r = self.study.result
        assert r.nfev == len(self.values) == len(self.asked) - len(self.out)
        finite = [value for value in self.values if isfinite(value)]
        assert r.success == bool(finite)
        if finite:
            assert r.fun == self.pick(finite)
        assert [t.params for t in self.study.trials] == self.asked
        assert r.nfailed == len(self.values) - len(finite)

    def teardown(self):
        if hasattr(self, "study"):
            self.study.close()
            self.place.cleanup()


AnyOrder.TestCase.settings = settings(
    max_examples=20,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
test_any_order_of_events = pytest.mark.slow(AnyOrder.TestCase)


def test_infinity_is_a_failure(path):
    with Study.open(path, space=BOX, algorithm="soo") as study:
        for value in (inf, -inf, nan, None):
            study.tell(study.ask(), value)
        assert [t.error for t in study.trials] == [
            f"the value is {value}" for value in ("inf", "-inf", "nan", "None")
        ]
        assert study.result.nfailed == 4


# --- replayed with an observer


@searches.main_of(SEARCHES)
def test_a_replay_shows_the_search_as_it_was(algorithm, path):
    r = bamsoo.minimize(branin, BOX, 20, algorithm=algorithm, study=path)
    seen = []
    with Study.open(path, readonly=True) as study:
        search = study.replay(lambda search, trial: seen.append((trial.number, search.told)))
        assert study.result.tree is None  # the study itself stays as it was
        assert study.trials[0].params == study.space.params(r.X[0])
    assert seen == [(number, number) for number in range(20)]
    assert_array_equal(search.result.X, r.X)
    assert_array_equal(search.result.F, r.F)
    assert search.result.nrejected == r.nrejected
    assert search.result.nexpanded == r.nexpanded
    if r.tree is not None:
        assert search.result.tree.g == r.tree.g


def test_a_replay_of_other_points_is_refused(path):
    bamsoo.minimize(branin, BOX, 8, algorithm="soo", study=path)
    spoil(
        path, "UPDATE events SET body = '{\"point\": [1.5, 1.5]}' WHERE kind = 'ask' AND trial = 5"
    )
    seen = []
    with Study.open(path, readonly=True) as study:
        with pytest.raises(StudyError, match="trial 5 differs"):
            study.replay(lambda search, trial: seen.append(trial.number))
        assert study.result.nfev == 8
    assert seen == [0, 1, 2, 3, 4]


def test_after_a_restart_only_the_new_search_is_observed(path):
    bamsoo.minimize(branin, BOX, 6, algorithm="bamsoo", study=path)
    with Study.open(path) as study:
        left = study.ask()  # pending when the next search begins
    with Study.open(path, replay=False) as study:
        assert study.ask().number == left.number
        for _ in range(4):
            trial = study.ask()
            study.tell(trial, branin(trial.x))
        study.tell(left, branin(left.x))
        best = study.best
    seen = []
    with Study.open(path, readonly=True) as study:
        search = study.replay(lambda search, trial: seen.append(trial.number))
    assert seen == [7, 8, 9, 10]
    assert search.told == 11
    assert (search.best.number, search.best.value) == (best.number, best.value)


@pytest.mark.parametrize("new", [True, False])
def test_opening_a_study_builds_one_optimiser(path, monkeypatch, new):
    if not new:
        bamsoo.minimize(branin, BOX, 5, algorithm="soo", study=path)
    built = []
    begin = bamsoo.Optimizer.__init__

    def counted(self, *args, **settings):
        built.append(self)
        begin(self, *args, **settings)

    monkeypatch.setattr(bamsoo.Optimizer, "__init__", counted)
    Study.open(path, space=BOX, algorithm="soo").close()
    assert len(built) == 1


def test_a_study_keeps_the_seed_that_was_drawn(tmp_path):
    given = {"algorithm": "random", "seed": None, "study": tmp_path / "run.db"}
    bamsoo.minimize(branin, branin.bounds, 3, **given)
    r = bamsoo.minimize(branin, branin.bounds, 6, **given)
    with bamsoo.Study.open(tmp_path / "run.db", readonly=True) as study:
        seed = study.settings["seed"]
    alone = bamsoo.minimize(branin, branin.bounds, 6, algorithm="random", seed=seed)
    assert r.X.tolist() == alone.X.tolist()


def test_a_result_of_a_study_that_is_only_read_has_a_model_when_it_is_asked_for(tmp_path):
    r = bamsoo.minimize(branin, branin.bounds, 25, study=tmp_path / "run.db")
    with bamsoo.Study.open(tmp_path / "run.db", readonly=True) as study:
        again = study.result
        assert study.note == {"budget": 25}
    assert again.gap == r.gap
    assert again.predict(again.x) == r.predict(r.x)
    assert again.ranges(1.0) == r.ranges(1.0)
    assert len(again.tree) == len(r.tree)
    assert pickle.loads(pickle.dumps(again)).gap == r.gap


def test_noise_is_found_again_in_values_whose_squares_are_beyond_floats(tmp_path):
    rng = np.random.default_rng(0)

    def fun(x):
        return 1e300 * (float(np.sum((x - 0.3) ** 2)) + 0.1 * rng.standard_normal())

    bamsoo.minimize(fun, [(0, 1)] * 2, 40, study=tmp_path / "run.db")
    with bamsoo.Study.open(tmp_path / "run.db", readonly=True) as study:
        assert study.noise == "learn"


def test_a_trial_took_as_long_as_its_evaluation_and_not_as_long_as_it_was_pending(path):
    with bamsoo.Study.open(path, space={"x": (0, 1)}) as study:
        study.ask()
        study.ask()
    time.sleep(0.3)  # the process was killed, and nobody noticed for a while
    with bamsoo.Study.open(path) as study:
        study.tell(study.ask(), 1.0)
        study.tell(study.ask(), 2.0, took=5.0)
        with pytest.raises(bamsoo.BamsooError, match="took must be a number of seconds >= 0"):
            study.tell(study.ask(), 3.0, took=-1.0)
    with bamsoo.Study.open(path, readonly=True) as study:
        first, second, _ = study.trials
    assert first.seconds <= first.told_at - first.asked_at - 0.25
    assert second.seconds == 5.0


def test_earlier_evaluations_are_taken_all_together_or_not_at_all(path):
    known = [({"x": i / 9}, float(i), None, None, None) for i in range(9)]

    def given(file, line=None):
        """How many lines that took, and how many evaluations there are afterwards."""
        with Study.open(file, space={"x": (0, 1)}, algorithm="soo") as study:
            with suppress(KeyboardInterrupt), AtLine(line) as lines:
                study.give(known, Imported("old.db", 9))
            with Study.open(file, readonly=True) as there:
                return lines.count, len(study.result.F), len(there.result.F)

    lines, *_ = given(path)
    outcomes = [given(path.with_name(f"{i}.db"), i * lines // 12)[1:] for i in range(1, 12)]
    assert set(outcomes) == {(0, 0), (9, 9)}
    wrong = path.with_name("wrong.db")
    with Study.open(wrong, space={"x": (0, 1)}) as study:
        with pytest.raises(ValueTypeError, match="an objective value must be"):
            study.give([*known, ({"x": 0.5}, "seven", None, None, None)])
        assert study.trials == []


def test_a_reader_without_a_constraint_takes_no_point_for_a_result_that_violates_it(path):
    def near(x):
        return x <= 0.5

    known = [({"x": 0.9}, -5.0), ({"x": 0.4}, 3.0)]
    settings = {"constraints": [near], "study": path, "known": known}
    r = bamsoo.minimize(lambda x: x, {"x": (0, 1)}, 4, **settings)
    with Study.open(path, readonly=True) as study:
        assert study.best.value == study.result.fun == r.fun >= 0.0
        assert study.result.feasible.tolist() == r.feasible.tolist() == [False, *[True] * 5]
    with Study.open(path, constraints=[near]) as study:
        assert study.result.fun == r.fun
