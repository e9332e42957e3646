"""Objectives and spaces that break other optimisers; every algorithm must come through.

Whatever happens, a search ends, keeps to its budget, asks for no point twice (unless that is how
it deals with noise), never returns a failed point as the best, and warns of nothing (pytest turns
warnings to errors).
"""

import signal
import sys
from dataclasses import dataclass
from math import inf, isfinite, nan, nextafter

import numpy as np
import pytest
import searches
from numpy.testing import assert_array_equal

import bamsoo
from bamsoo import problems
from bamsoo.run.loop import Ending

pytestmark = pytest.mark.slow  # hundreds of short runs

HUGE, TINY = sys.float_info.max, 5e-324
BOX = [(-1.0, 2.0), (0.0, 3.0)]
BUDGET = 10

# with little patience, so that a GP that is sure of itself and wrong evaluates soon
WRONG = bamsoo.kernels.SquaredExponential(0.5)
SEARCHES = {
    **searches.ONCE,
    **searches.VARIANTS,
    **searches.with_settings("bamsoo", "bamsoo-3", patience=99),
    "bamlogo-given": bamsoo.algorithms.BaMLOGO(WRONG, patience=99),
    "imgpo-given": bamsoo.algorithms.IMGPO(WRONG, patience=99),
}
EVERY = {**SEARCHES, **searches.REPEATING}
KINDS = {type(algorithm): name for name, algorithm in reversed(EVERY.items())}
ONE_OF_A_KIND = {name: EVERY[name] for name in KINDS.values()}


@pytest.fixture(autouse=True)
def no_endless_loop():
    """A search that does not end fails its test instead of stopping all of them."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def give_up(signum, frame):
        raise AssertionError("the search does not end")

    previous = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(30)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, previous)


def bowl(x):
    """A plain function on BOX, to have something to find between failures."""
    return float((x[0] - 0.7) ** 2 + (x[1] - 1.9) ** 2)


def checked(fun, algorithm, space=BOX, budget=BUDGET, run=bamsoo.minimize, whole=True):
    """Run, and check everything that must hold whatever the objective does."""
    calls = []

    def counted(x):
        calls.append(tuple(x))
        return fun(x)

    r = run(counted, space, budget, algorithm=algorithm, on_error="fail")
    assert len(calls) == r.nfev <= budget
    assert r.nfev >= 1
    if whole and not isinstance(algorithm, bamsoo.algorithms.Shrinking):
        assert r.nfev == budget
    else:  # a prior that fits nothing, or a space of few points, and nothing is left to ask for
        assert r.nfev == budget or r.status == Ending.EXHAUSTED
    assert_array_equal(r.X, np.reshape(calls, r.X.shape))
    again = bamsoo.algorithms.resolve(algorithm).repeats
    assert again or len(set(calls)) == len(calls) - r.origins.get("repeat", 0)
    low, high = np.array(space).T
    assert np.all((low <= r.X) & (high >= r.X))
    good = np.isfinite(r.F)
    assert r.nfailed == (~good).sum()
    assert not np.isinf(r.F).any()
    assert r.success == good.any()
    if r.success:
        best = r.F[good].min() if run is bamsoo.minimize else r.F[good].max()
        assert again or r.fun == best
        assert fun(np.array(r.x)) == r.fun
    else:
        assert r.x is None
        assert r.params is None
        assert np.isnan(r.fun)
    return r


# --- values that are none


@searches.each_of(ONE_OF_A_KIND)
def test_a_search_that_only_fails_ends_and_has_no_best(algorithm):
    r = checked(lambda x: nan, algorithm)
    assert r.nfev == r.nfailed == BUDGET
    assert np.isnan(r.F).all()
    assert r.status == Ending.BUDGET


NO_NUMBER = {
    **{repr(value): value for value in (inf, -inf, None, np.array([-inf]))},
    "masked": np.ma.masked,
    "masked array": np.ma.array([0.0], mask=[True]),
    "5,000 digits": 10**5000,
    "-5,000 digits": np.array(-(10**5000)),
}


@pytest.mark.parametrize("value", NO_NUMBER.values(), ids=NO_NUMBER.keys())
def test_what_is_no_number_is_a_failure(value):
    r = checked(lambda x: value, bamsoo.algorithms.Auto())
    assert r.nfev == r.nfailed == BUDGET
    assert np.isnan(r.F).all()
    assert r.status == Ending.BUDGET


def left(x):
    return x[0] < 0.5


def checkerboard(x):
    return int(np.floor(4 * x[0]) + np.floor(4 * x[1])) % 2 == 0


def all_but_a_corner(x):
    return x[0] < 1.4 or x[1] < 2.4


def first_point(x):
    return bool(np.all(x == [0.5, 1.5]))


FAILURES = {
    "left": (left, nan),
    "left-inf": (left, -inf),
    "checkerboard": (checkerboard, nan),
    "all but a corner": (all_but_a_corner, nan),
    "first point": (first_point, nan),
}


@searches.cases_of(EVERY, "fails, failure", FAILURES, "checkerboard")
def test_failures_in_a_part_of_the_space_do_not_stop_the_search(algorithm, fails, failure):
    # -inf would be the best of all values to minimise, were it one
    r = checked(lambda x: failure if fails(x) else bowl(x), algorithm)
    assert r.nfailed == sum(map(fails, r.X))


@pytest.mark.parametrize("name", ["auto", "bamsoo", "bamsoo-3", "soo", "soo-2", "doo"])
def test_the_best_is_found_even_if_half_of_the_space_fails(name):
    r = checked(lambda x: nan if left(x) else bowl(x), SEARCHES[name], budget=60)
    assert r.fun < 0.05


@searches.main_of(EVERY)
def test_minus_infinity_is_a_failure_when_maximising_too(algorithm):
    r = checked(lambda x: inf if left(x) else -bowl(x), algorithm, run=bamsoo.maximize)
    assert r.nfailed == sum(map(left, r.X))


@searches.main_of(SEARCHES)
def test_the_first_evaluation_alone_failing_leaves_the_rest(algorithm):
    calls = []

    def fun(x):
        calls.append(1)
        return nan if len(calls) == 1 else bowl(x)

    r = bamsoo.minimize(fun, BOX, BUDGET, algorithm=algorithm)
    assert (r.nfev, r.nfailed) == (BUDGET, 1)
    assert np.isnan(r.F[0])
    assert np.isfinite(r.fun)


# --- exceptions


def breaks_at(number, error):
    """A bowl that raises an exception at the n-th call, counted from 1."""
    calls = []

    def fun(x):
        calls.append(1)
        if len(calls) == number:
            raise error
        return bowl(x)

    return fun


ERRORS = [ValueError("no"), ZeroDivisionError(), MemoryError("out"), StopIteration(3)]
ERRORS += [KeyboardInterrupt(), SystemExit(2), bamsoo.errors.ExhaustedError("inner")]


@pytest.mark.parametrize("error", ERRORS, ids=repr)
@pytest.mark.parametrize("number", [1, 4])
def test_an_exception_propagates_with_its_trial_and_the_result_so_far(error, number):
    # a fresh instance a test: notes stay on the one that was raised
    error = type(error)(*error.args)
    with pytest.raises(type(error)) as caught:
        bamsoo.minimize(breaks_at(number, error), BOX, 10)
    assert caught.value is error
    whole = bamsoo.minimize(bowl, BOX, number)
    a, b = whole.X[-1].tolist()
    assert error.__notes__ == [f"bamsoo: raised by trial {number - 1} at {{'x0': {a}, 'x1': {b}}}"]
    r = error.result
    assert r.status == Ending.ERROR
    assert r.success == (number > 1)
    assert type(error).__name__ in r.message
    assert_array_equal(r.X, whole.X[:-1])


def test_the_note_of_a_named_space_names_its_parameters():
    def fun(rate, depth):
        raise OSError("no such file")

    with pytest.raises(OSError, match="no such file") as caught:
        bamsoo.minimize(fun, {"rate": (0, 1), "depth": (2, 4)}, 10, algorithm="soo")
    assert "{'rate': 0.5, 'depth': 3.0}" in caught.value.__notes__[0]


@searches.main_of(SEARCHES)
def test_an_exception_counts_as_a_failure_where_asked(algorithm):
    def fun(x):
        if left(x):
            raise RuntimeError("diverged")
        return bowl(x)

    r = checked_exceptions(fun, algorithm)
    as_nan = bamsoo.minimize(
        lambda x: nan if left(x) else bowl(x), BOX, BUDGET, algorithm=algorithm
    )
    assert_array_equal(r.X, as_nan.X)
    assert_array_equal(r.F, as_nan.F)


def checked_exceptions(fun, algorithm):
    r = bamsoo.minimize(fun, BOX, BUDGET, algorithm=algorithm, on_error="fail")
    assert r.nfev == BUDGET
    assert r.status == Ending.BUDGET
    assert r.nfailed == sum(map(left, r.X))
    return r


@searches.main_of(SEARCHES)
def test_a_search_whose_every_call_raises_ends(algorithm):
    def fun(x):
        raise RuntimeError

    r = bamsoo.minimize(fun, BOX, 12, algorithm=algorithm, on_error="fail")
    assert (r.nfev, r.nfailed, r.success) == (12, 12, False)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_the_users_interrupt_ends_a_run_that_forgives_errors(error):
    with pytest.raises(error) as caught:
        bamsoo.minimize(breaks_at(4, error()), BOX, 10, on_error="fail")
    assert "trial 3" in caught.value.__notes__[0]
    assert caught.value.result.nfev == 3


def test_a_value_of_a_wrong_type_counts_as_a_failure_where_asked():
    r = bamsoo.minimize(lambda x: "fast", BOX, 4, on_error="fail")
    assert (r.nfev, r.nfailed) == (4, 4)


@dataclass(frozen=True)
class Frozen(Exception):
    """An exception that takes no attributes, and so no note."""

    code: int


def test_an_exception_that_takes_no_attributes_still_propagates():
    with pytest.raises(Frozen) as caught:
        bamsoo.minimize(breaks_at(3, Frozen(7)), BOX, 10)
    assert caught.value.code == 7


# --- values of every size


def nothing_but(value):
    return lambda x: value


SHAPES = {
    "constant 0": nothing_but(0.0),
    "constant 145": nothing_but(145.0),
    "constant 1e300": nothing_but(1e300),
    "constant -1e300": nothing_but(-1e300),
    "constant 1e-300": nothing_but(1e-300),
    "constant largest": nothing_but(HUGE),
    "times 1e300": lambda x: 1e300 * bowl(x),
    "times -1e300": lambda x: -1e300 * bowl(x),
    "times 1e-300": lambda x: 1e-300 * bowl(x),
    "times 5e-324": lambda x: TINY * round(bowl(x)),
    "plus 1e16": lambda x: 1e16 + bowl(x),
    "spike down": lambda x: -1e300 if 0.4 < x[0] < 0.6 else bowl(x),
    "spike up": lambda x: 1e300 if 0.4 < x[0] < 0.6 else bowl(x),
    "both largest": lambda x: HUGE if left(x) else -HUGE,
    "mostly largest": lambda x: -HUGE if all_but_a_corner(x) else HUGE,
    "one at minus largest": lambda x: -HUGE if first_point(x) else HUGE,
    "one at the largest": lambda x: HUGE if first_point(x) else -HUGE,
    "all scales": lambda x: float(np.sign(x[0]) * 10.0 ** (300 * np.sin(7 * x[0] + 3 * x[1]))),
    "exponential": lambda x: float(np.exp(200 * x[0] - 100 * x[1])),
    "step": lambda x: float(left(x)),
    "1e300, 1, 1e-300": lambda x: (1e300, 1.0, 1e-300)[int(3 * x[1]) % 3],
    "one bit of noise": lambda x: 1.0 + sys.float_info.epsilon * (int(1e6 * x[0]) % 2),
}


@searches.cases_of(EVERY, "fun", {name: (f,) for name, f in SHAPES.items()}, "all scales")
def test_values_of_any_size_are_searched_to_the_end(algorithm, fun):
    assert checked(fun, algorithm).nfailed == 0


@searches.cases_of(
    EVERY, "shape", {name: (name,) for name in ("both largest", "times -1e300")}, "both largest"
)
def test_values_of_any_size_may_be_mixed_with_failures(algorithm, shape):
    checked(lambda x: nan if checkerboard(x) else SHAPES[shape](x), algorithm)


@pytest.mark.parametrize("name", ["auto", "soo", "soo-2"])
@pytest.mark.parametrize("scale", [1e300, 1.0, 1e-300])
def test_a_search_that_needs_no_prior_finds_the_best_at_any_scale(name, scale):
    r = checked(lambda x: scale * bowl(x), SEARCHES[name], budget=60)
    assert r.fun < 0.05 * scale


@pytest.mark.parametrize("name", ["auto", "soo", "soo-2"])
def test_a_search_that_needs_no_prior_asks_the_same_at_any_power_of_two(name):
    # exactly representable scalings: rounding differs nowhere
    a, b = (
        checked(lambda x, s=scale: s * bowl(x), SEARCHES[name], budget=40)
        for scale in (1.0, 2.0**200)
    )
    assert_array_equal(a.X, b.X)


# --- spaces of every size


def ulps(start, steps):
    """A range as wide as a few of the numbers a float can be."""
    end = start
    for _ in range(steps):
        end = nextafter(end, inf)
    return start, end


RANGES = {
    "1e-300": (0.0, 1e-300),
    "1e-300 around zero": (-1e-300, 1e-300),
    "1e-300 away from zero": (1e-300, 2e-300),
    "subnormal": (0.0, 1e-310),
    "two numbers": (0.0, TINY),
    "1e308": (-1e308, 1e308),
    "all numbers": (-HUGE, HUGE),
    "largest numbers": (1e308, HUGE),
    "1 ulp at 1": ulps(1.0, 1),
    "4 ulps at 1": ulps(1.0, 4),
    "9 ulps at -1e10": ulps(-1e10, 9),
    "100 ulps at 1e300": ulps(1e300, 100),
    "1e5 ulps at 3": (3.0, 3.0 + 1e5 * 4.44e-16),
}


def scaled(low, high):
    """A bowl over the range's own width, whatever that is."""
    middle, half = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low

    def fun(x):
        return float(((np.asarray(x) / 2 - middle / 2) / half if half else 0.0 * x)[0] ** 2)

    return fun


# a kernel and an acquisition see the unit cube alone
@searches.cases_of(ONE_OF_A_KIND, "low, high", RANGES, "4 ulps at 1")
def test_a_range_of_any_size_is_searched_to_its_end(algorithm, low, high):
    checked(scaled(low, high), algorithm, [(low, high)], whole=False)


@searches.cases_of(
    EVERY,
    "name",
    {name: (name,) for name in ("1e-300", "two numbers", "all numbers", "4 ulps at 1")},
    "two numbers",
)
def test_a_range_of_any_size_may_be_combined_with_an_ordinary_one(algorithm, name):
    space = [RANGES[name], (0.0, 1.0)]
    assert checked(lambda x: (x[1] - 0.3) ** 2, algorithm, space).nfev == BUDGET


@pytest.mark.parametrize("name", ["auto", "soo", "doo", "bamsoo", "random"])
def test_pending_trials_in_a_range_of_few_numbers_are_all_different(name):
    opt = bamsoo.Optimizer([ulps(1.0, 4)], algorithm=SEARCHES[name])
    seen = []
    with pytest.raises(bamsoo.errors.ExhaustedError):
        for _ in range(10):
            seen += [opt.ask()]
    assert 1 <= len({t.x[0] for t in seen}) == len(seen) <= 5
    for trial in seen:
        opt.tell(trial, trial.x[0])
    assert opt.result.fun == min(t.x[0] for t in seen)


def test_random_search_visits_every_number_of_a_tiny_range_once():
    bounds = ulps(1.0, 4)
    r = checked(lambda x: -x[0], SEARCHES["random"], [bounds], budget=50, whole=False)
    assert r.nfev == 5
    assert r.status == Ending.EXHAUSTED
    assert r.x[0] == bounds[1]


@pytest.mark.parametrize("algorithm", ["auto", "soo", "bamsoo", "random", "doo"])
def test_many_dimensions_are_no_trouble(algorithm):
    checked(lambda x: float(x @ x), algorithm, [(-1.0, 2.0)] * 40, budget=20)


# --- points told twice, or nearly


def continues(opt, fun, evaluations=10):
    """Continue to ask and tell; no point that is known or was asked for may be asked for again.

    Only the default evaluates its best point again, to see whether values are exact, and others if
    they are not.
    """
    known = {tuple(x) for x in opt.result.X}
    for _ in range(evaluations):
        try:
            trial = opt.ask()
        except bamsoo.errors.ExhaustedError:
            assert isinstance(
                opt.algorithm, bamsoo.algorithms.Shrinking
            )  # values that fit no prior end it
            break
        again = opt.book.origin == "repeat" or opt.unequal
        assert again or tuple(trial.x) not in known
        known.add(tuple(trial.x))
        opt.tell(trial, fun(trial.x))
    return opt.result


TOLD = {
    "worse": ((1.0, 2.0),),
    "better": ((2.0, 1.0),),
    "equal": ((1.0, 1.0),),
    "huge": ((1e300, -1e300),),
    "failed": ((nan, 1.0),),
}


@searches.cases_of(SEARCHES, "values", TOLD, "huge")
def test_a_point_told_twice_with_different_values_is_no_trouble(algorithm, values):
    opt = bamsoo.Optimizer(BOX, algorithm=algorithm)
    for value in values * 3:
        opt.tell([0.5, 1.5], value)
        opt.tell([0.1, 0.2], value)
    r = continues(opt, bowl)
    assert r.fun == min(v for v in r.F if isfinite(v))


@searches.cases_of(SEARCHES, "apart", {str(d): (d,) for d in (1e-16, 1e-12, 1e-9, 1e-6)}, "1e-12")
def test_points_that_nearly_coincide_are_no_trouble(algorithm, apart):
    opt = bamsoo.Optimizer(BOX, algorithm=algorithm)
    for i in range(12):
        x = np.array([0.5 + i * apart, 1.5 - i * apart])
        opt.tell(x, bowl(x) + (-1) ** i)
    r = continues(opt, bowl)
    if opt.unequal:  # the best point was evaluated again, and its first value was found to be luck
        assert r.fun > r.F.min()
    else:
        assert r.fun == r.F.min()


@searches.main_of(SEARCHES)
def test_points_that_nearly_coincide_may_be_told_while_trials_are_pending(algorithm):
    opt = bamsoo.Optimizer(BOX, algorithm=algorithm)
    trials = [opt.ask() for _ in range(4)]
    for trial in trials:
        near = np.clip(trial.x + 1e-13, [-1.0, 0.0], [2.0, 3.0])
        opt.tell(near, bowl(near))
    for trial in trials:
        opt.tell(trial, bowl(trial.x))
    r = continues(opt, bowl)
    assert r.fun == r.F.min()


@searches.each_of(ONE_OF_A_KIND)
def test_a_long_run_on_a_constant_never_stalls(algorithm):
    checked(lambda x: 145.0, algorithm, budget=40)


@pytest.mark.parametrize("name", ["auto", "bamsoo", "bamsoo-3"])
def test_a_gp_sure_of_itself_and_wrong_still_evaluates(name):
    # the design's trap 2: 144, 144, 144, 144, 145 under a prior of unit variance
    values = iter([144.0] * 4 + [145.0] * 200)
    r = bamsoo.maximize(lambda x: next(values), [(0, 1)], 60, algorithm=SEARCHES[name])
    assert r.nfev == 60


@pytest.mark.parametrize(
    ("length", "variance"),
    [(1e-6, 1e300), (1e-6, 1e-12), (1.0, 1e-300), (1e9, 1e300), (1e9, 1e-12)],
)
@pytest.mark.parametrize(
    "settings", [bamsoo.algorithms.BaMSOO, bamsoo.algorithms.GPUCB, bamsoo.algorithms.Shrinking]
)
def test_a_prior_that_fits_nothing_raises_nothing(settings, length, variance):
    light = {
        bamsoo.algorithms.GPUCB: {"direct_evaluations": 20},
        bamsoo.algorithms.Shrinking: {"max_lattice": 1000},
    }
    algorithm = settings(
        kernel=bamsoo.kernels.Matern52(length, variance), **light.get(settings, {})
    )
    checked(problems.branin, algorithm, problems.branin.bounds, budget=15)
