"""The public interface keeps its contract, whatever the algorithm."""

from math import inf, isfinite

import numpy as np
import pytest
import searches
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.optimize import OptimizeResult
from searches import same

import bamsoo
from bamsoo import problems
from bamsoo.algorithms import BY_NAME
from bamsoo.run import progress
from bamsoo.run.loop import Ending

NAMED = {"a": (-5, 10), "b": (0, 15)}

branin = problems.branin
BOX = branin.bounds
# a kernel that suits Branin's function
KERNEL = bamsoo.kernels.Matern52(0.2, 3e3)
SEARCHES = {
    **searches.ONCE,
    **searches.VARIANTS,
    **searches.with_settings("bamsoo-3", "gp-ucb", "shrinking", kernel=KERNEL),
    "imgpo-given": bamsoo.algorithms.IMGPO(KERNEL),
}
NAMES = [*BY_NAME]
each_algorithm = searches.each_of(SEARCHES)
main_algorithms = searches.main_of(SEARCHES)  # for what the algorithms have no part in


class Counted:
    """An objective that remembers its calls."""

    def __init__(self, fun=branin):
        self.fun, self.X, self.F = fun, [], []

    def __call__(self, x):
        self.X.append(x.copy())
        self.F.append(self.fun(x))
        return self.F[-1]


# --- signatures and results


@each_algorithm
def test_the_result_is_a_scipy_result_that_agrees_with_itself(algorithm):
    r = bamsoo.minimize(branin, BOX, 15, algorithm=algorithm)
    assert isinstance(r, OptimizeResult)
    best = int(np.argmin(r.F))
    assert r.fun == r.F[best] == branin(r.x)
    assert type(r.fun) is float
    assert_array_equal(r.x, r.X[best])
    assert r.params == {"x0": r.x[0], "x1": r.x[1]}
    assert r.X.shape == (15, 2)
    assert r.F.shape == (15,)
    assert r.X.dtype == r.F.dtype == np.float64
    assert r.success is True
    assert r.status == Ending.BUDGET == 0
    assert "15" in r.message
    assert r.nfailed == 0


@searches.cases_of(SEARCHES, "budget", {str(n): (n,) for n in (1, 2, 16)}, "16")
def test_fun_is_called_exactly_as_often_as_the_budget_and_nfev_say(algorithm, budget):
    fun = Counted()
    r = bamsoo.minimize(fun, BOX, budget, algorithm=algorithm)
    assert len(fun.X) == r.nfev == budget
    assert_array_equal(r.X, fun.X)
    assert_array_equal(r.F, fun.F)


@main_algorithms
def test_fun_gets_new_points_inside_the_bounds(algorithm):
    fun = Counted()
    bamsoo.minimize(fun, BOX, 20, algorithm=algorithm)
    X = np.array(fun.X)
    low, high = np.array(BOX).T
    assert np.all((low <= X) & (high >= X))
    assert len(np.unique(X, axis=0)) == 20


@main_algorithms
def test_changing_x_inside_fun_does_no_harm(algorithm):
    def spoil(x):
        value = branin(x)
        x[:] = np.nan
        return value

    clean = bamsoo.minimize(branin, BOX, 15, algorithm=algorithm)
    same(bamsoo.minimize(spoil, BOX, 15, algorithm=algorithm), clean)


@main_algorithms
def test_changing_a_trials_x_before_its_value_is_told_does_no_harm(algorithm):
    clean = bamsoo.minimize(branin, BOX, 15, algorithm=algorithm)
    opt = bamsoo.Optimizer(BOX, algorithm=algorithm)
    for i in range(15):
        trial = opt.ask()
        value, params = branin(trial.x), trial.params
        trial.x[:] = np.nan
        assert trial.params == params
        opt.tell(trial, value)
        assert_array_equal(opt.result.X[i], clean.X[i])
    assert_array_equal(opt.result.x, clean.x)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_means_the_default_settings(name):
    of_name = {
        "auto": bamsoo.algorithms.Auto,
        "bamsoo": bamsoo.algorithms.BaMSOO,
        "soo": bamsoo.algorithms.SOO,
        "doo": bamsoo.algorithms.DOO,
        "gp-ucb": bamsoo.algorithms.GPUCB,
        "shrinking": bamsoo.algorithms.Shrinking,
        "random": bamsoo.algorithms.Random,
        "stosoo": bamsoo.algorithms.StoSOO,
        "sequool": bamsoo.algorithms.SequOOL,
        "stroquool": bamsoo.algorithms.StroquOOL,
        "logo": bamsoo.algorithms.LOGO,
        "bamlogo": bamsoo.algorithms.BaMLOGO,
        "imgpo": bamsoo.algorithms.IMGPO,
        "mosoo": bamsoo.algorithms.MOSOO,
        "mfdoo": bamsoo.algorithms.MFDOO,
        "sobol": bamsoo.algorithms.Sobol,
    }
    a = bamsoo.minimize(branin, BOX, 4, algorithm=name)
    same(a, bamsoo.minimize(branin, BOX, 4, algorithm=of_name[name]()))


@pytest.mark.parametrize("name", ["auto", "bamsoo-3", "soo", "doo", "gp-ucb"])
def test_the_searches_beat_chance(name):
    chance = [bamsoo.minimize(branin, BOX, 60, algorithm="random", seed=s).fun for s in range(9)]
    assert bamsoo.minimize(branin, BOX, 60, algorithm=SEARCHES[name]).fun < np.median(chance)


# --- spaces


def branin_named(a, b):
    return branin([a, b])


@main_algorithms
def test_a_named_space_calls_fun_with_keywords_and_asks_for_the_same_points(algorithm):
    seen = []

    def fun(**params):
        seen.append(params)
        return branin_named(**params)

    r = bamsoo.minimize(fun, NAMED, 12, algorithm=algorithm)
    plain = bamsoo.minimize(branin, BOX, 12, algorithm=algorithm)
    assert seen == r.X
    assert [list(p.values()) for p in r.X] == plain.X.tolist()
    assert all(type(v) is float for p in seen for v in p.values())
    assert list(r.params) == ["a", "b"]
    assert r.fun == branin_named(**r.params) == plain.fun
    assert_array_equal(r.x, plain.x)


def test_a_log_parameter_is_searched_on_its_log_scale():
    def fun(rate):
        return (np.log10(rate) + 5.0) ** 2

    space = {"rate": bamsoo.Real(1e-8, 1.0, log=True)}
    r = bamsoo.minimize(fun, space, 25)
    assert r.params["rate"] == pytest.approx(1e-5, rel=0.05)
    assert r.X[0]["rate"] == pytest.approx(1e-4)


# --- sense


@main_algorithms
def test_maximize_is_minimize_of_the_negated_function_point_by_point(algorithm):
    a = bamsoo.minimize(branin, BOX, 15, algorithm=algorithm)
    b = bamsoo.maximize(lambda x: -branin(x), BOX, 15, algorithm=algorithm)
    assert_array_equal(a.X, b.X)
    assert_array_equal(a.F, -b.F)
    assert_array_equal(a.x, b.x)
    assert a.fun == -b.fun
    assert b.fun == b.F.max()


@pytest.mark.parametrize(
    "settings", [bamsoo.algorithms.BaMSOO, bamsoo.algorithms.Shrinking, bamsoo.algorithms.GPUCB]
)
def test_a_prior_mean_is_in_the_callers_sense(settings):
    light = {"direct_evaluations": 30} if settings is bamsoo.algorithms.GPUCB else {}
    kernel = bamsoo.kernels.Matern52(0.2, variance=900.0)
    a = bamsoo.minimize(branin, BOX, 20, algorithm=settings(kernel=kernel, mean=50.0, **light))
    b = bamsoo.maximize(
        lambda x: -branin(x), BOX, 20, algorithm=settings(kernel=kernel, mean=-50.0, **light)
    )
    assert_array_equal(a.X, b.X)
    other = bamsoo.minimize(branin, BOX, 20, algorithm=settings(kernel=kernel, mean=-50.0, **light))
    assert not np.array_equal(a.X, other.X)


def test_maximize_finds_the_maximum():
    r = bamsoo.maximize(problems.sines, problems.sines.bounds, 40)
    assert r.fun == pytest.approx(0.5, abs=1e-3)
    assert r.x == pytest.approx(np.pi / 6, abs=0.02)


# --- determinism


@pytest.mark.slow
@searches.cases_of(SEARCHES, "seed", {str(n): (n,) for n in (0, 12345)}, "12345")
def test_the_same_seed_gives_the_same_points_bit_for_bit(algorithm, seed):
    a = bamsoo.minimize(branin, BOX, 15, algorithm=algorithm, seed=seed)
    np.random.seed(7)  # noqa: NPY002 (nobody else's random numbers matter)
    same(a, bamsoo.minimize(branin, BOX, 15, algorithm=algorithm, seed=seed))


@pytest.mark.parametrize("name", ["bamsoo-3", "gp-ucb", "gp-ei", "random"])
def test_another_seed_gives_other_points_where_chance_plays_a_part(name):
    a, b = (bamsoo.minimize(branin, BOX, 5, algorithm=SEARCHES[name], seed=s) for s in (0, 1))
    assert not np.array_equal(a.X, b.X)


@main_algorithms
def test_the_global_random_state_is_left_alone(algorithm):
    np.random.seed(3)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    bamsoo.minimize(branin, BOX, 8, algorithm=algorithm)
    assert np.random.random() == expected  # noqa: NPY002


@each_algorithm
def test_asking_and_telling_by_hand_is_what_minimize_does(algorithm):
    r = bamsoo.minimize(branin, BOX, 14, algorithm=algorithm, seed=4)
    opt = bamsoo.Optimizer(BOX, algorithm=algorithm, seed=4)
    for i in range(14):
        trial = opt.ask()
        assert trial.number == i
        opt.tell(trial, branin(trial.x))
    assert_array_equal(opt.result.X, r.X)
    assert opt.result.fun == r.fun


@each_algorithm
def test_a_longer_run_begins_with_the_shorter_one(algorithm):
    short, long = (bamsoo.minimize(branin, BOX, n, algorithm=algorithm) for n in (9, 18))
    assert_array_equal(long.X[:9], short.X)


# --- callback, target, timeout, progress


@main_algorithms
def test_a_callback_changes_nothing_and_sees_every_evaluation(algorithm):
    seen = []

    def callback(intermediate_result):
        seen.append((intermediate_result.nfev, intermediate_result.fun))
        intermediate_result.x[:] = 0.0
        intermediate_result.X[:] = 0.0
        return 1  # only True itself would end the run

    plain = bamsoo.minimize(branin, BOX, 12, algorithm=algorithm)
    same(bamsoo.minimize(branin, BOX, 12, algorithm=algorithm, callback=callback), plain)
    best = np.minimum.accumulate(plain.F).tolist()
    assert seen == list(zip(range(1, 13), best, strict=True))


@main_algorithms
def test_stop_iteration_from_the_callback_ends_the_run_cleanly(algorithm):
    def callback(intermediate_result):
        if intermediate_result.nfev == 5:
            raise StopIteration

    fun = Counted()
    r = bamsoo.minimize(fun, BOX, 12, algorithm=algorithm, callback=callback)
    assert len(fun.X) == r.nfev == 5
    assert r.status == Ending.CALLBACK
    assert r.success
    assert "callback" in r.message
    assert_array_equal(r.X, bamsoo.minimize(branin, BOX, 5, algorithm=algorithm).X)


@pytest.mark.slow
@main_algorithms
@pytest.mark.parametrize("sign", [1, -1], ids=["minimize", "maximize"])
def test_the_run_stops_at_the_first_value_that_reaches_the_target(algorithm, sign):
    run = bamsoo.minimize if sign == 1 else bamsoo.maximize
    full = run(lambda x: sign * branin(x), BOX, 15, algorithm=algorithm)
    values = sign * full.F
    target = float(np.sort(values)[2])  # the third best value of the run, whenever it comes
    first = int(np.argmax(values <= target))
    r = run(lambda x: sign * branin(x), BOX, 15, algorithm=algorithm, target=sign * target)
    assert r.nfev == first + 1
    assert r.status == Ending.TARGET
    assert "target" in r.message
    assert_array_equal(r.X, full.X[: first + 1])


@pytest.mark.slow
@main_algorithms
def test_progress_writes_a_line_to_standard_error_and_changes_nothing(
    algorithm, capsys, monkeypatch
):
    monkeypatch.setattr(progress, "GAP_SHARE", inf)  # it is looked at for each line
    plain = bamsoo.minimize(branin, BOX, 8, algorithm=algorithm)
    assert capsys.readouterr() == ("", "")
    r = bamsoo.minimize(branin, BOX, 8, algorithm=algorithm, progress=True)
    same(r, plain)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("\n")
    last = err.splitlines()[-1]
    assert "8/8" in last
    assert f"{r.fun:.6g}" in last
    assert ("rejected" in last) == (r.nrejected > 0)
    assert not r.nrejected or f"{r.nrejected} rejected" in last
    assert ("gap" in last) == isfinite(r.shown_gap)


# --- several trials out at once

PARALLEL = {name: SEARCHES[name] for name in ("auto", "bamsoo", "bamsoo-3", "soo", "soo-2", "doo")}
PARALLEL |= {name: SEARCHES[name] for name in ("gp-ucb", "gp-ei", "shrinking", "random")}
# An event is None (ask), or a pair: the index of a pending trial to finish, and a number that says
# how it ends (0: it fails).
events = st.lists(
    st.one_of(st.none(), st.tuples(st.integers(0, 7), st.integers(0, 4))), min_size=5, max_size=45
)


def play(algorithm, history):
    """Drive an optimiser through a history; return the points it asked for, and what it knows."""
    opt = bamsoo.Optimizer(BOX, algorithm=algorithm, seed=1)
    out, asked = [], []
    for event in history:
        if event is None or not out:
            trial = opt.ask()
            assert tuple(trial.x) not in {tuple(x) for x in asked}  # neither pending nor known
            asked.append(trial.x)
            out.append(trial)
        else:
            place, ending = event
            trial = out.pop(place % len(out))
            opt.tell(trial, branin(trial.x) if ending else None)
    return np.array(asked), opt, out


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", PARALLEL.values(), ids=PARALLEL.keys())
@settings(deadline=None, max_examples=8, derandomize=True)
@given(history=events)
def test_trials_may_be_told_in_any_order(algorithm, history):
    X, opt, out = play(algorithm, history)
    low, high = np.array(BOX).T
    assert np.all((low <= X) & (high >= X))
    for trial in reversed(out):
        opt.tell(trial, branin(trial.x))
    r = opt.result
    assert r.nfev == len(X) == len(r.F)
    good = np.isfinite(r.F)
    assert_array_equal(r.F[good], [branin(x) for x in r.X[good]])
    assert sorted(map(tuple, r.X)) == sorted(map(tuple, X))
    if good.any():
        assert r.fun == r.F[good].min()
    again, _, _ = play(algorithm, history)
    assert_array_equal(again, X)


@pytest.mark.parametrize("algorithm", PARALLEL.values(), ids=PARALLEL.keys())
def test_many_pending_trials_are_all_different(algorithm):
    opt = bamsoo.Optimizer(BOX, algorithm=algorithm)
    trials = [opt.ask() for _ in range(20)]
    assert len({tuple(t.x) for t in trials}) == 20
    for trial in trials[::-1]:
        opt.tell(trial, branin(trial.x))
    assert tuple(opt.ask().x) not in {tuple(t.x) for t in trials}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["auto", "bamsoo-3", "soo", "gp-ucb"])
def test_a_search_with_four_pending_trials_still_gets_close(name):
    opt = bamsoo.Optimizer(BOX, algorithm=SEARCHES[name])
    out = [opt.ask() for _ in range(4)]
    for i in range(80):
        trial = out.pop((7 * i) % 4)
        opt.tell(trial, branin(trial.x))
        out.append(opt.ask())
    assert opt.result.fun - branin.optimum < 0.5


# --- warm starts


@each_algorithm
def test_points_known_are_never_asked_for_again(algorithm):
    earlier = bamsoo.minimize(branin, BOX, 12, algorithm=algorithm, seed=2)
    opt = bamsoo.Optimizer(BOX, algorithm=algorithm, seed=2)
    for x, value in zip(earlier.X, earlier.F, strict=True):
        opt.tell(x, value)
    known = {tuple(x) for x in earlier.X}
    for _ in range(12):
        trial = opt.ask()
        assert tuple(trial.x) not in known
        known.add(tuple(trial.x))
        opt.tell(trial, branin(trial.x))
    assert opt.result.nfev == 12
    assert_array_equal(opt.result.X[:12], earlier.X)
    assert_array_equal(opt.result.F[:12], earlier.F)
    assert opt.result.fun == min(opt.result.F)


@pytest.mark.parametrize("name", ["soo", "soo-2", "doo"])
def test_a_run_told_point_by_point_continues_where_it_stopped(name):
    whole = bamsoo.minimize(branin, BOX, 40, algorithm=SEARCHES[name])
    opt = bamsoo.Optimizer(BOX, algorithm=SEARCHES[name])
    for x, value in zip(whole.X[:20], whole.F[:20], strict=True):
        opt.tell(x, value)
    for x in whole.X[20:]:
        trial = opt.ask()
        assert_array_equal(trial.x, x)
        opt.tell(trial, branin(trial.x))


@main_algorithms
def test_points_told_between_trials_are_not_asked_for_either(algorithm):
    ahead = bamsoo.minimize(branin, BOX, 20, algorithm=algorithm)
    opt = bamsoo.Optimizer(BOX, algorithm=algorithm)
    known = set()
    for i in range(10):
        opt.tell(ahead.X[19 - i], ahead.F[19 - i])
        known.add(tuple(ahead.X[19 - i]))
        trial = opt.ask()
        assert tuple(trial.x) not in known
        known.add(tuple(trial.x))
        opt.tell(trial, branin(trial.x))


@main_algorithms
def test_a_point_known_to_fail_is_not_asked_for(algorithm):
    first = bamsoo.Optimizer(BOX, algorithm=algorithm).ask()
    opt = bamsoo.Optimizer(BOX, algorithm=algorithm)
    opt.tell(first.x, None)
    for _ in range(8):
        trial = opt.ask()
        assert not np.array_equal(trial.x, first.x)
        opt.tell(trial, branin(trial.x))
    assert (opt.result.nfev, len(opt.result.failures)) == (8, 1)


@pytest.mark.parametrize(
    "algorithm",
    [
        bamsoo.algorithms.Auto(),
        bamsoo.algorithms.BaMSOO(kernel=bamsoo.kernels.Matern52(0.5, 100.0)),
        bamsoo.algorithms.Shrinking(kernel=bamsoo.kernels.Matern52(0.3, 1e3)),
        SEARCHES["gp-ucb"],
        SEARCHES["gp-ei"],
    ],
    ids=lambda algorithm: type(algorithm).__name__,
)
def test_the_gp_learns_from_a_warm_start(algorithm):
    cold, warm = (bamsoo.Optimizer(BOX, algorithm=algorithm) for _ in range(2))
    for x in branin.optimizers:
        warm.tell(x, branin(x))
    for opt in (cold, warm):
        for _ in range(25):
            trial = opt.ask()
            opt.tell(trial, branin(trial.x))
    assert not np.array_equal(cold.result.X, warm.result.X[3:])
