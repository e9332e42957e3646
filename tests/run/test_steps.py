"""Evaluations that report their steps: the budget in steps, and what happens to the function."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from math import isnan, nan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bamsoo
from bamsoo.errors import SettingsError, TrialError

SPACE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
STEPS = 8


def final(x, y):
    return (x - 0.3) ** 2 + (y - 0.6) ** 2


def train(x, y):
    for step in range(1, STEPS + 1):
        yield final(x, y) + 1.0 / step


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e300, -1e300, 1e308, 1e-300])
def test_values_of_any_size(scale):
    result = bamsoo.minimize(
        lambda x, y: (scale * each / 2.2 for each in train(x, y)), SPACE, 12, steps=STEPS
    )
    assert np.isfinite(result.fun) and result.cost > 11


def test_values_that_jump_from_one_end_of_the_floats_to_the_other():
    def jump(x, y):
        for step in range(STEPS):
            yield -1.7e308 if step * x > 1.0 else 1.7e308

    assert bamsoo.minimize(jump, SPACE, 12, steps=STEPS).fun == -1.7e308


class Training:
    """A training that notes how often it was begun and closed, and how many steps it took."""

    def __init__(self, curve=train, fails_at=None, ends_at=None):
        self.curve, self.fails_at, self.ends_at = curve, fails_at, ends_at
        self.begun = self.closed = self.taken = 0

    def __call__(self, x, y):
        self.begun += 1
        try:
            for step, value in enumerate(self.curve(x, y), 1):
                self.taken += 1
                if self.fails_at is not None and step == self.fails_at(self.begun):
                    raise ArithmeticError("no number")
                yield value
                if self.ends_at is not None and step == self.ends_at(self.begun):
                    return
        finally:
            self.closed += 1


def test_poor_evaluations_are_stopped_and_their_generators_closed():
    fun = Training()
    r = bamsoo.minimize(fun, SPACE, 10, steps=STEPS)
    assert r.nstopped > 0
    assert fun.begun == fun.closed == r.nfev == len(r.curves)
    assert fun.taken == sum(map(len, r.curves.values())) == r.cost * STEPS
    assert fun.taken <= 10 * STEPS
    assert r.fun < final(0.5, 0.5) + 1.0 / STEPS
    assert r.nfev > 10  # what is stopped leaves room for others


@pytest.mark.parametrize("workers", [None, 2])
def test_cleaning_up_that_fails_is_an_error_of_the_function(workers):
    def careless(x, y):
        try:
            for step in range(1, 100):  # it is closed after its last step
                yield (x - 0.3) ** 2 + y + 1.0 / step
        finally:
            raise OSError("no such file")

    with pytest.raises(OSError, match="no such file") as caught:
        bamsoo.minimize(careless, SPACE, 4, steps=STEPS, workers=workers)
    assert "raised by trial" in caught.value.__notes__[-1]
    r = bamsoo.minimize(careless, SPACE, 4, steps=STEPS, workers=workers, on_error="fail")
    assert r.nstopped > 0 and r.nfailed == r.nfev - r.nstopped > 0 and r.cost <= 4
    assert {reason for _, reason in r.failures} == {"OSError: no such file"}


@settings(max_examples=25, deadline=None)
@given(
    budget=st.integers(1, 6),
    steps=st.integers(1, 6),
    slopes=st.lists(st.floats(-2, 2), min_size=3, max_size=3),
    fails=st.sets(st.integers(1, 12)),
    ends=st.integers(1, 8),
    seed=st.integers(0, 3),
)
def test_the_budget_in_steps_is_exact_whatever_the_curves(budget, steps, slopes, fails, ends, seed):
    def curve(x, y):
        a, b, c = slopes
        for step in range(1, steps + 2):  # one more than it is allowed to take
            yield a * x + b * y * step + c / step
            if x > 0.5 and step == ends:  # by the point: otherwise a repeat of it would show noise
                return

    fun = Training(curve, fails_at=lambda begun: 2 if begun in fails else None)
    r = bamsoo.minimize(fun, SPACE, budget, steps=steps, seed=seed, on_error="fail")
    assert fun.taken <= budget * steps
    assert fun.taken == r.cost * steps
    assert budget * steps - fun.taken < steps  # it ends when no evaluation can be finished
    assert fun.begun == fun.closed == r.nfev
    frame = r.to_dataframe()
    assert (frame["steps"] == [len(r.curves[number]) for number in frame["trial"]]).all()
    assert set(frame["state"]) <= {"finished", "stopped", "failed"}
    stopped = frame["state"] == "stopped"
    assert frame.loc[stopped, "value"].isna().all()  # never a final value
    finished = frame[frame["state"] == "finished"]
    for number, value in zip(finished["trial"], finished["value"], strict=True):
        assert r.curves[number][-1] == value
    if len(finished):
        assert r.fun == finished["value"].min()


def test_a_run_that_ends_before_any_evaluation_is_finished_says_so():
    def soon(intermediate_result):
        raise StopIteration

    r = bamsoo.minimize(train, SPACE, 10, steps=STEPS, callback=soon)
    assert not r.success
    assert r.message == "the callback ended the run; no evaluation was finished before that"


def test_a_function_that_ends_early_is_finished_with_its_last_value():
    fun = Training(ends_at=lambda begun: 3)
    r = bamsoo.minimize(fun, SPACE, 1, steps=STEPS)
    assert [len(curve) for curve in r.curves.values()][:1] == [3]
    assert r.to_dataframe()["state"][0] == "finished"
    assert r.F[0] == r.curves[0][-1]


def test_a_function_that_yields_nothing_fails():
    def nothing(x, y):
        yield from ()

    r = bamsoo.minimize(nothing, SPACE, 2, steps=4)
    assert not r.success
    assert r.nfailed == r.nfev == 5  # a step each; the last three do not suffice for another
    assert "ended before its first step" in r.failures[0][1]


def test_an_exception_in_the_middle_is_a_failure_whose_steps_count():
    fun = Training(fails_at=lambda begun: 2 if begun == 1 else None)
    r = bamsoo.minimize(fun, SPACE, 3, steps=STEPS, on_error="fail")
    assert r.failures == [(0, "ArithmeticError: no number")]
    assert len(r.curves[0]) == 2
    assert isnan(r.curves[0][1])
    assert r.to_dataframe()["state"][0] == "failed"
    with pytest.raises(ArithmeticError):
        bamsoo.minimize(Training(fails_at=lambda begun: 2), SPACE, 3, steps=STEPS)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["auto", "bamsoo", "soo", "gp-ucb", "random", "logo"])
def test_every_algorithm_can_work_with_steps(algorithm):
    fun = Training()
    r = bamsoo.minimize(fun, SPACE, 6, steps=STEPS, algorithm=algorithm)
    assert fun.taken <= 6 * STEPS
    assert r.success


def test_generators_need_steps_and_steps_need_generators():
    with pytest.raises(SettingsError, match="steps="):
        bamsoo.minimize(train, SPACE, 3)
    with pytest.raises(SettingsError, match="steps="):
        bamsoo.minimize(Training(), SPACE, 3)
    with pytest.raises(SettingsError, match="steps="):
        bamsoo.minimize(lambda x, y: train(x, y), SPACE, 3, on_error="fail")
    with pytest.raises(SettingsError, match="must yield"):
        bamsoo.minimize(lambda x, y: x + y, SPACE, 3, steps=4, on_error="fail")
    with pytest.raises(SettingsError, match="whole number"):
        bamsoo.minimize(train, SPACE, 3, steps=0)
    with pytest.raises(SettingsError, match="StoSOO"):
        bamsoo.minimize(train, SPACE, 3, steps=4, algorithm="stosoo")


def test_threads_stop_their_evaluations():
    fun = Training()
    with ThreadPoolExecutor(2) as executor:
        r = bamsoo.minimize(fun, SPACE, 6, steps=STEPS, workers=executor)
    assert r.nstopped > 0
    assert fun.begun == fun.closed == r.nfev
    assert fun.taken == r.cost * STEPS <= 6 * STEPS


@pytest.mark.slow
def test_a_stopped_evaluation_frees_its_worker():
    def here(x, y):  # sent by value
        for step in range(1, 9):
            yield (x - 0.3) ** 2 + (y - 0.6) ** 2 + 1.0 / step

    r = bamsoo.minimize(here, SPACE, 6, steps=STEPS, workers=2)
    assert r.nstopped > 0
    assert r.nfev > 6
    assert sum(map(len, r.curves.values())) == r.cost * STEPS <= 6 * STEPS


# --- ask, report and tell


def drive(search, budget):
    while search.result.cost <= budget - 1:
        trial = search.ask()
        for step, value in enumerate(train(**trial.params), 1):
            if not search.report(trial, step, value):
                break
        search.tell(trial, value)  # changes nothing for a trial that was stopped


def test_report_does_by_hand_what_minimize_does():
    opt = bamsoo.Optimizer(SPACE, steps=STEPS)
    drive(opt, 8)
    r = bamsoo.minimize(train, SPACE, 8, steps=STEPS)
    assert opt.result.curves == r.curves
    np.testing.assert_array_equal(opt.result.F, r.F)


def test_a_trial_reports_its_steps_in_order():
    opt = bamsoo.Optimizer(SPACE, steps=5)
    opt.tell({"x": 0.9, "y": 0.9}, 3.0)  # with a final value, the first trials are not compared
    trial = opt.ask()
    assert opt.report(trial, 1, 2.0)
    assert opt.report(trial, 3, nan)
    for step, match in [(3, "after step 3"), (2, "after step 3"), (6, "has 5 steps")]:
        with pytest.raises(TrialError, match=match):
            opt.report(trial, step, 1.0)
    assert opt.report(trial, 1, 2.0)  # it begins again
    assert opt.result.cost == 0.8  # three steps and one
    assert opt.result.curves == {0: [2.0]}
    opt.tell(trial, 1.0)
    with pytest.raises(TrialError, match="already"):
        opt.report(trial, 2, 1.0)
    zero = opt.ask()
    for step in range(5):
        assert opt.report(zero, step, -step)
    with pytest.raises(TrialError, match="has 5 steps"):
        opt.report(zero, 5, 1.0)
    with pytest.raises(SettingsError, match="steps="):
        bamsoo.Optimizer(SPACE).report(zero, 1, 1.0)


# --- studies


def test_a_study_stops_the_same_evaluations_when_it_is_resumed(tmp_path):
    whole = bamsoo.minimize(train, SPACE, 8, steps=STEPS)
    path = tmp_path / "run.db"
    bamsoo.minimize(train, SPACE, 4, steps=STEPS, study=path)
    r = bamsoo.minimize(train, SPACE, 8, study=path)  # the study knows its steps
    assert r.curves == whole.curves
    with bamsoo.Study.open(path, readonly=True) as study:
        assert study.steps == STEPS
        replayed = study.replay().result
        assert replayed.curves == whole.curves
        assert {t.state for t in study.trials} == {"finished", "stopped"}
    with pytest.raises(bamsoo.BamsooError, match="steps"):
        bamsoo.minimize(train, SPACE, 8, steps=STEPS + 1, study=path)


def test_copies_and_fresh_searches_know_the_curves(tmp_path):
    import pickle

    path = tmp_path / "run.db"
    with bamsoo.Study.open(path, space=SPACE, steps=STEPS) as study:
        drive(study, 6)
        curves, nfev = study.result.curves, study.result.nfev
    with bamsoo.Study.open(path, replay=False) as study:
        assert study.result.curves == curves
        drive(study, 8)
        assert study.result.nfev > nfev
    opt = bamsoo.Optimizer(SPACE, steps=STEPS)
    drive(opt, 5)
    copy = pickle.loads(pickle.dumps(opt))
    drive(opt, 7)
    drive(copy, 7)
    assert copy.result.curves == opt.result.curves


KILLED = """
import os, signal, sys
import bamsoo
sys.path.insert(0, {here!r})
from test_steps import SPACE, STEPS, train

taken = 0

def dies(x, y):
    global taken
    for value in train(x, y):
        taken += 1
        if taken == {at}:
            os.kill(os.getpid(), signal.SIGKILL)
        yield value

bamsoo.minimize(dies, SPACE, 6, steps=STEPS, study={path!r})
"""


@pytest.mark.slow
def test_a_run_killed_within_an_evaluation_takes_it_up_again(tmp_path):
    path = tmp_path / "run.db"
    code = KILLED.format(here=str(Path(__file__).parent), at=20, path=str(path))
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    fun = Training()
    r = bamsoo.minimize(fun, SPACE, 6, study=path)
    whole = bamsoo.minimize(train, SPACE, 6, steps=STEPS)
    for number, curve in r.curves.items():
        assert curve == whole.curves.get(number, curve)
    assert fun.taken + 19 == r.cost * STEPS <= 6 * STEPS


def test_curves_are_drawn(tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    opt = bamsoo.Optimizer(SPACE, steps=STEPS)
    drive(opt, 6)
    running = opt.ask()
    opt.report(running, 1, 0.01)
    result = opt.result
    mean, deviation = result.expected_ends[running.number]
    assert np.isfinite([mean, deviation]).all()
    ax = result.plot("curves")
    assert len(ax.lines) >= len(result.curves) + result.nstopped
    with pytest.raises(SettingsError, match="steps="):
        bamsoo.Optimizer(SPACE).result.plot("curves")


# ---- what a run says


def test_progress_and_message_count_full_evaluations(capsys):
    r = bamsoo.minimize(Training(), SPACE, 10, steps=STEPS, progress=True)
    assert r.nfev > 10 > r.cost
    assert f"{r.cost:.2f}/10 full evaluations, {r.nfev} started, best " in capsys.readouterr().err
    rest = "of 10 full evaluations are spent; the rest is too little for another one"
    assert r.message.startswith(f"{r.cost:.4g} {rest}")
    whole = bamsoo.minimize(Training(), SPACE, 1, steps=STEPS)
    assert whole.message.startswith("the budget of 1 full evaluation is spent")


# ---- with the other features


def check(r, budget=6):
    """The budget was kept, something was stopped, and the best value is of a finished one."""
    assert budget - 1 < r.cost <= budget
    assert r.nstopped > 0
    frame = r.to_dataframe()
    assert r.fun in set(frame.loc[frame["state"] == "finished", "value"])
    assert frame["last:value"].to_list() == [r.curves[number][-1] for number in frame["trial"]]


def test_measured_constraints():
    def fun(x, y):
        for value in train(x, y):
            yield value, {"limit": 0.5 - x}  # the best point of the objective is not feasible

    r = bamsoo.minimize(fun, SPACE, 6, steps=STEPS, constraints=["limit"])
    check(r)
    assert r.x[0] >= 0.5
    assert r.fun == pytest.approx(final(*r.x) + 1.0 / STEPS)


def test_conditional_space():
    def fun(kind, x=0.0, y=0.0):
        yield from train(x, y if kind == "both" else 0.0)

    kind = bamsoo.Choice({"one": {}, "both": {"y": (0.0, 1.0)}})
    r = bamsoo.minimize(fun, {"x": (0.0, 1.0), "kind": kind}, 6, steps=STEPS)
    check(r)
    assert ("y" in r.params) is (r.params["kind"] == "both")


def test_known_values_and_first_points():
    known = [({"x": 0.25, "y": 0.5}, final(0.25, 0.5) + 1.0 / STEPS), ({"x": 1, "y": 1}, 2.0)]
    r = bamsoo.minimize(train, SPACE, 6, steps=STEPS, known=known, x0={"x": 0.9, "y": 0.1}, seed=1)
    assert 5 < r.cost <= 6
    assert r.fun <= known[0][1]
    assert r.nstopped > 0
    assert len(r.curves[0]) == STEPS  # before the first curve has ended, nothing is stopped
    assert {"x": 0.9, "y": 0.1} in r.X


def test_noise_that_is_learned():
    rng = np.random.default_rng(0)

    def fun(x, y):
        for value in train(x, y):
            yield value + 0.01 * rng.standard_normal()

    r = bamsoo.minimize(fun, SPACE, 6, steps=STEPS, noise="learn")
    assert 5 < r.cost <= 6
    assert r.nstopped > 0
    finished = r.to_dataframe().query("state == 'finished'")[["x", "y"]].to_numpy()
    assert (finished == r.x).all(1).any()


# ---- the first evaluations


def test_the_first_evaluations_are_compared_and_the_best_of_them_is_finished_first():
    def curve(x, y):
        yield from (final(x, y) + 1.0 / step for step in range(1, 17))

    r = bamsoo.minimize(curve, SPACE, 4, steps=16)
    frame = r.to_dataframe()
    assert list(frame["state"][:5]) == ["stopped"] * 4 + ["finished"]
    assert list(frame["steps"][:4]) == [4] * 4  # together as many steps as a full evaluation
    ends = [final(**r.X[i]) for i in range(4)]
    assert r.X[4] == r.X[int(np.argmin(ends))]
    assert frame["origin"][4] == "promoted"


def test_points_of_the_caller_are_not_compared_but_finished():
    r = bamsoo.minimize(train, SPACE, 4, steps=STEPS, x0={"x": 0.9, "y": 0.9})
    assert r.to_dataframe()["state"][0] == "finished"


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 8, 50])
@pytest.mark.parametrize("budget", [1, 2])
def test_a_small_budget_always_gives_a_value(budget, steps):
    def curve(x, y):
        yield from (final(x, y) + 1.0 / step for step in range(1, steps + 1))

    r = bamsoo.minimize(curve, SPACE, budget, steps=steps)
    assert r.success
    assert r.cost <= budget


def test_a_stopped_evaluation_that_seems_best_after_all_is_begun_again():
    def curve(x, y):  # good points fall late, which the first finished one shows
        for step in range(1, 17):
            yield 1.0 - (1.0 - final(x, y)) * max(step - 8, 0) / 8 + 0.1 * (1 - final(x, y))

    r = bamsoo.minimize(curve, SPACE, 10, steps=16)
    frame = r.to_dataframe()
    again = frame[frame["origin"] == "promoted"]
    assert len(again) > 1
    for number in again["trial"]:
        assert any(r.X[i] == r.X[number] for i in range(number))
    finished = frame.loc[frame["state"] == "finished", "value"]
    assert r.fun == finished.min()


def test_first_evaluations_without_numbers():
    def late(x, y):
        for step in range(1, 17):
            yield nan if step < 6 else final(x, y) + 1.0 / step

    r = bamsoo.minimize(late, SPACE, 5, steps=16)
    assert r.success
    assert r.to_dataframe()["steps"][0] == 6  # it is stopped at its first number

    def diverges(x, y):
        for step in range(1, 17):
            yield nan if x > 0.4 and step > 2 else final(x, y) + 1.0 / step

    r = bamsoo.minimize(diverges, SPACE, 5, steps=16)
    assert r.to_dataframe()["steps"][0] == 4
    assert r.success
    assert r.params["x"] <= 0.4


def test_with_measured_constraints_the_first_evaluation_is_finished():
    def measured(x, y):
        for step in range(1, 17):
            yield final(x, y) + 1.0 / step, {"g": 0.5 - x}

    r = bamsoo.minimize(measured, SPACE, 4, steps=16, constraints=["g"])
    frame = r.to_dataframe()
    assert frame["state"][0] == "finished"
    assert "promoted" not in set(frame["origin"])


# ---- spaces with few points


def rough(n):
    yield from ((n - 3.0) ** 2 + 50.0 / step for step in range(1, 21))


@pytest.mark.parametrize("workers", [1, 3])
def test_a_small_space_is_finished_before_the_run_says_that_nothing_is_left(workers):
    with ThreadPoolExecutor(workers) as pool:
        r = bamsoo.minimize(rough, {"n": bamsoo.Int(0, 8)}, 30, steps=20, workers=pool)
    assert r.fun == 2.5
    assert "nothing is left" in r.message
    frame = r.to_dataframe()
    finished = frame[frame["state"] == "finished"]
    assert sorted(finished["n"]) == list(range(9))
    assert finished["value"].is_monotonic_increasing or workers > 1  # the best one comes first


@settings(deadline=None, max_examples=15)
@given(
    points=st.integers(2, 12),
    steps=st.integers(1, 16),
    budget=st.integers(1, 15),
    algorithm=st.sampled_from(["auto", "soo", "random"]),
    dips=st.floats(-5.0, 5.0),
)
def test_a_finite_space_is_finished_as_far_as_the_budget_reaches(
    points, steps, budget, algorithm, dips
):
    def curve(n):
        yield from (dips * n / step + (n - 2) ** 2 for step in range(1, steps + 1))

    space = {"n": bamsoo.Int(0, points - 1)}
    r = bamsoo.minimize(curve, space, budget, steps=steps, algorithm=algorithm)
    assert r.success
    assert r.cost <= budget
    done = {n for n, state in zip((p["n"] for p in r.X), r.to_dataframe()["state"], strict=True)
            if state == "finished"}  # fmt: skip
    assert len(done) == points or r.cost > budget - 1
    best = min(done, key=lambda n: dips * n / steps + (n - 2) ** 2)
    assert r.fun == dips * best / steps + (best - 2) ** 2


def test_what_is_begun_again_at_the_end_is_begun_again_when_the_study_is_resumed(tmp_path):
    space, path = {"n": bamsoo.Int(0, 8)}, tmp_path / "run.db"
    whole = bamsoo.minimize(rough, space, 30, steps=20)
    for count in (5, 11, 14, 99):
        r = bamsoo.minimize(
            rough, space, 30, steps=20, study=path, stop=lambda r, n=count: r.nfev >= n
        )
    assert len(r.X) > 14
    assert r.X == whole.X
    with bamsoo.Study.open(path, readonly=True) as study:
        assert study.replay().result.X == whole.X


# --- several objectives


def trade(x, y):
    """A loss that falls step by step, and a cost that is known at once."""
    for step in range(1, STEPS + 1):
        yield {"loss": final(x, y) + 1.0 / step, "cost": x + 0.01 * y}


AIMS = ["loss", "cost"]


def test_with_several_objectives_what_the_front_dominates_is_stopped(tmp_path):
    path = tmp_path / "run.db"
    bamsoo.minimize(trade, SPACE, 4, steps=STEPS, objectives=AIMS, study=path)
    r = bamsoo.minimize(trade, SPACE, 8, steps=STEPS, objectives=AIMS, study=path)
    assert 7 < r.cost <= 8
    assert r.nstopped > 1
    front = np.array([list(each.values.values()) for each in r.front])
    stopped = [each for each in r.evaluations if each.stopped]
    ends = np.array([list([*trade(**each.params)][-1].values()) for each in stopped])
    # up to the tolerance of the rule, none of them would be on the front
    assert all((front <= end + 0.05 * np.ptp(front, axis=0)).all(1).any() for end in ends)
    for each in stopped:
        assert r.curves[each.number][0] == tuple(next(trade(**each.params)).values())
    assert r.only("cost").curves[0] == [cost for _, cost in r.curves[0]]
    whole = bamsoo.minimize(trade, SPACE, 8, steps=STEPS, objectives=AIMS)
    assert whole.curves == r.curves


def test_several_objectives_by_hand_with_steps_that_lack_a_number():
    opt = bamsoo.Optimizer(SPACE, objectives={"loss": "min", "gain": "max"}, steps=STEPS)
    trial = opt.ask()
    assert opt.report(trial, 1, (3.0, 1.0))
    assert opt.report(trial, 2, {"gain": nan, "loss": 2.0})
    with pytest.raises(bamsoo.BamsooError, match="one number for each"):
        opt.report(trial, 3, 2.0)
    opt.tell(trial, (2.0, 1.0))
    np.testing.assert_equal(opt.curves[0], [(3.0, 1.0), (nan, nan)])
    other = opt.ask()
    assert opt.report(other, 1, (3.0, 1.0))
    ends = opt.result.expected_ends[other.number]
    assert ends["loss"][0] < 3.0
    assert ends["gain"][1] > 0.0


def test_a_small_space_with_several_objectives_is_finished():
    def rougher(n):
        yield from ((value, float(n)) for value in rough(n))

    r = bamsoo.minimize(rougher, {"n": bamsoo.Int(0, 4)}, 30, steps=20, objectives=AIMS)
    assert "nothing is left" in r.message
    frame = r.to_dataframe()
    assert sorted(frame.loc[frame["state"] == "finished", "n"]) == list(range(5))
    assert sorted(each.params["n"] for each in r.front) == [0, 1, 2, 3]
