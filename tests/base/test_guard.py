"""The world around a search: threads, interrupts in the middle of a call, numpy set to raise."""

import random
import sys

import numpy as np
import pytest
import scipy
import searches
from numpy.testing import assert_array_equal

import bamsoo
from bamsoo import Choice, Int, Optimizer, Real
from bamsoo.base.guard import OvertakenError
from bamsoo.errors import StudyError

from interrupts import AtLine
from threads import in_threads

MIXED = {"rate": Real(1e-9, 1.0, log=True), "n": Int(1, 40, log=True), "kind": Choice(["a", "b"])}
SEARCHES = {
    **searches.ALGORITHMS,
    **searches.with_settings("bamsoo", random_start=True),
    **searches.with_settings("stosoo", spread=100.0, budget=12),
}


def value(params):
    return float(np.log(params["rate"]) ** 2 + abs(params["n"] - 7) + (params["kind"] == "a"))


# --- an interrupt may come at any line


def ask(opt, twin, rng):
    """Ask both; the first one is interrupted at a random line."""
    with AtLine() as lines:
        wanted = twin.ask()
    try:
        with AtLine(rng.randint(1, lines.count)):
            return opt.ask(), wanted  # it may need fewer lines than its twin
    except KeyboardInterrupt:
        return opt.ask(), wanted


def tell(opt, twin, trial, wanted, number, rng):
    with AtLine() as lines:
        twin.tell(wanted, number)
    before = opt.result.nfev
    try:
        with AtLine(rng.randint(1, lines.count)):
            opt.tell(trial, number)
    except KeyboardInterrupt:
        assert opt.result.nfev - before in (0, 1)  # it is told, or not, and nothing between
    if trial.number in {t.number for t in opt.ledger.out.values()}:
        opt.tell(trial, number)


@pytest.mark.parametrize("algorithm", ["auto", "bamsoo", "soo", "gp-ucb", "stosoo", "imgpo"])
@pytest.mark.parametrize("noise", [None, 0.01], ids=["", "noisy"])
def test_a_call_that_is_interrupted_anywhere_has_not_happened(algorithm, noise, seed=1):
    if noise and algorithm in ("soo", "stosoo", "imgpo"):
        pytest.skip(f"{algorithm} has no noise term")
    if algorithm == "gp-ucb" and np.lib.NumpyVersion(scipy.__version__) < "1.17.0":
        pytest.skip("DIRECT of an older scipy turns an interrupt into a SystemError")
    rng = random.Random(seed)
    settings = {"algorithm": SEARCHES[algorithm], "seed": 3, "noise": noise}
    opt, twin = Optimizer(MIXED, **settings), Optimizer(MIXED, **settings)
    for each in (opt, twin):
        each.expect({"rate": 0.5, "n": 3, "kind": "a"})
    out = []
    for i in range(14):
        pair = ask(opt, twin, rng)
        assert pair[0].params == pair[1].params
        assert pair[0].number == pair[1].number == i
        out.append(pair)
        if i % 3:
            trial, wanted = out.pop(rng.randrange(len(out)))
            tell(opt, twin, trial, wanted, None if i == 4 else value(trial.params), rng)
        if i == 5:
            assert opt.book.t == twin.book.t  # reading the book rebuilds the search
            assert opt.best.value == twin.best.value
    assert opt.book.t == twin.book.t
    a, b = opt.result, twin.result
    assert a.X == b.X
    assert_array_equal(a.F, b.F)
    assert (a.fun, a.nrejected, a.nexpanded) == (b.fun, b.nrejected, b.nexpanded)


@pytest.mark.parametrize("call", ["ask", "tell"])
def test_a_call_may_be_interrupted_at_every_single_line(call):
    def begun():
        opt = Optimizer(MIXED, algorithm="soo")
        opt.expect({"rate": 0.5, "n": 3, "kind": "a"})
        return opt, opt.ask()

    def act(opt, trial):
        return opt.ask() if call == "ask" else opt.tell(trial, value(trial.params))

    opt, trial = begun()
    with AtLine() as lines:
        act(opt, trial)
    wanted = [each.params for each in (*opt.ledger.out.values(), *opt.ask(3))]
    for line in range(1, lines.count + 1):
        opt, trial = begun()
        with pytest.raises(KeyboardInterrupt), AtLine(line):
            act(opt, trial)
        assert opt.result.nfev in (0, 1)
        if call == "ask" or trial.number in opt.ledger.out:
            act(opt, trial)
        got = [each.params for each in (*opt.ledger.out.values(), *opt.ask(3))]
        assert got == wanted, f"interrupted at line {line} of {lines.count}"


def test_after_an_interrupt_the_result_is_there_at_once_and_the_search_goes_on():
    opt, twin = Optimizer(MIXED), Optimizer(MIXED)
    for each in (opt, twin):
        for _ in range(12):
            trial = each.ask()
            each.tell(trial, value(trial.params))
    with AtLine() as lines:
        wanted = twin.ask()
    with pytest.raises(KeyboardInterrupt), AtLine(lines.count // 2):
        opt.ask()
    with AtLine() as lines:
        r = opt.result
    assert (r.nfev, r.fun, r.X) == (12, twin.result.fun, twin.result.X)
    assert r.tree is None
    assert lines.count < 2000  # the search was not rebuilt for it
    assert opt.ask().params == wanted.params
    assert opt.result.tree is not None


def test_a_search_that_is_not_deterministic_says_so_after_an_interrupt():
    luck = random.Random(0)
    opt = Optimizer([(0, 1)], algorithm=bamsoo.algorithms.SOO(h_max=lambda n: luck.choice([1, 9])))
    for _ in range(30):
        opt.tell(opt.ask(), luck.random())
    opt._broken = True
    with pytest.raises(bamsoo.errors.SettingsError, match="deterministic"):
        opt.ask()


# --- threads


@pytest.fixture
def impatient():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("algorithm", ["auto", "soo"])
def test_threads_may_share_an_optimizer(algorithm, impatient):
    opt = Optimizer(MIXED, algorithm=algorithm)

    def work():
        for _ in range(15):
            trial = opt.ask()
            assert opt.result.nfev <= 60
            opt.tell(trial, value(trial.params))

    in_threads(4, work)
    r = opt.result
    assert r.nfev == 60
    # the default may evaluate its best point again, to see whether values are exact
    new = [each.x.tobytes() for each in r.evaluations if each.origin != "repeat"]
    assert len(new) >= 57 and len(set(new)) == len(new)
    assert [value(x) for x in r.X] == r.F.tolist()


# --- floating-point errors


NARROW = bamsoo.kernels.SquaredExponential(0.01)  # whose correlations underflow
UNDERFLOWING = {
    "auto": bamsoo.algorithms.Auto(),
    "bamsoo": bamsoo.algorithms.BaMSOO(NARROW),
    "gp-ucb": bamsoo.algorithms.GPUCB(NARROW, direct_evaluations=20),
    "shrinking": bamsoo.algorithms.Shrinking(NARROW, max_lattice=1000),
}


def wide(x):
    a, b = x.tolist()
    return 10.0 ** (300 * a - 300 * b)


@pytest.mark.parametrize("name", UNDERFLOWING)
def test_numpy_may_be_set_to_raise_by_the_caller(name):
    given = (wide, [(0, 1)] * 2, 40)
    wanted = bamsoo.minimize(*given, algorithm=UNDERFLOWING[name])
    with np.errstate(all="raise"):
        r = bamsoo.minimize(*given, algorithm=UNDERFLOWING[name])
        assert set(np.geterr().values()) == {"raise"}
    assert_array_equal(r.X, wanted.X)


def test_numpy_may_be_set_to_raise_by_the_function():
    before = np.geterr()

    def rude(x):
        np.seterr(all="raise")
        return wide(x)

    try:
        r = bamsoo.minimize(rude, [(0, 1)] * 2, 40)
        assert set(np.geterr().values()) == {"raise"}  # which is the function's own affair
    finally:
        np.seterr(**before)
    assert_array_equal(r.X, bamsoo.minimize(wide, [(0, 1)] * 2, 40).X)


@pytest.mark.parametrize("noise", [None, 0.1])
def test_numpy_may_raise_while_a_point_is_told_and_a_result_is_read(noise):
    with np.errstate(all="raise"):
        opt = Optimizer({"x": Real(1e-300, 1e300, log=True), "y": (-1e308, 1e308)}, noise=noise)
        opt.tell({"x": 1e-300, "y": 5e-324}, 1e-310)
        opt.tell({"x": 1.0, "y": -1e308}, 1e308)
        for i in range(8):
            opt.expect({"x": 2.0 + i, "y": 0.0})
            opt.tell(opt.ask(), (-1) ** i * 10.0 ** (40 * i - 300))
        assert opt.result.nfev == 8
        assert np.isfinite(opt.best.value)


def test_a_call_that_is_refused_leaves_nothing_to_repair(monkeypatch):
    opt = bamsoo.Optimizer([(0, 1)])
    trial = opt.ask()
    monkeypatch.setattr(opt, "_repair", None)
    with pytest.raises(bamsoo.BamsooError):
        opt.tell(trial, "not a number")
    opt.tell(trial, 1.0)
    assert opt.result.fun == 1.0


def test_a_transaction_that_is_always_overtaken_ends_with_an_error_of_one_sentence(monkeypatch):
    opt = Optimizer([(0, 1)], algorithm="soo")

    def overtaken():
        raise OvertakenError

    with monkeypatch.context() as patch:
        patch.setattr(opt, "_look_elsewhere", overtaken)
        with pytest.raises(StudyError, match="20 attempts to write to the study failed"):
            opt.ask()
    assert opt.ask().number == 0
