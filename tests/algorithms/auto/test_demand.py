"""Plateaus, axes without influence, and jumps, on which most evaluations could be wasted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from searches import rng

import bamsoo
from bamsoo import Choice, Int, Real
from bamsoo.algorithms.auto.candidates import Candidates
from bamsoo.algorithms.auto.demand import Demand
from bamsoo.algorithms.auto.loop import CONSTANTS
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.search import Outcome
from bamsoo.space import Space

DEMAND = CONSTANTS.demand
LEAST, MOST = DEMAND.small, 1.0

SPACE = {
    "useless": Real(1e-8, 10.0, log=True),
    "size": Int(1, 64),
    "kind": Choice(["a", "b", "c"]),
}


def wanted(values, seed):
    return Demand(Book(), rng(seed), DEMAND).wanted(np.array(values))


def largest(values, draws=200):
    return max(wanted(values, seed) for seed in range(draws))


# --- the gain that is required


def test_no_gain_is_required_while_the_best_value_improves():
    assert largest(np.arange(40.0)) == 0.0
    assert largest([0.0, 1.0, *[2.0] * DEMAND.free]) == 0.0


def test_the_required_gain_grows_while_the_best_value_does_not_improve():
    rising = list(rng().normal(size=10))
    short, long, longest = (
        largest([*rising, 5.0, *rng(1).normal(size=DEMAND.free + n)]) for n in (4, 16, 400)
    )
    assert 0.0 < short < 0.1 < long < longest <= MOST * 1.1  # the standard deviation is about 1


def test_the_required_gain_lies_between_the_two_shares():
    values = np.array([*rng().normal(size=200)])
    drawn = np.array([wanted(values, seed) for seed in range(200)]) / values.std()
    assert np.all((drawn >= LEAST) & (drawn <= MOST))
    assert drawn.min() < 2 * LEAST  # so steps near the best remain possible


def test_a_tiny_gain_does_not_count():
    values = list(rng().normal(size=10))
    creeping = [*values, *(5.0 + 1e-6 * np.arange(30))]
    assert largest(creeping) > 0.0
    assert largest([*values, *(5.0 + 0.1 * np.arange(30))]) == 0.0


def test_constant_values_require_no_gain():
    assert largest([3.0] * 50) == 0.0


# --- its effect on a search


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_evaluations_are_not_spent_along_an_axis_without_influence(seed):
    seen = []

    def f(useless, size, kind):
        seen.append((size, kind))
        return round(abs(size - 44) / 8) + "cba".index(kind)

    r = bamsoo.minimize(f, SPACE, 80, seed=seed)
    assert r.fun == 0.0
    assert len(set(seen)) >= 38  # of 192; without a required gain it is 18 to 30


def jump(*parameters):
    """A number from -1 to 1 that tells nothing about the numbers at neighbouring points."""
    return float(rng(abs(hash(parameters)) % 2**32).uniform(-1.0, 1.0))


def searched(f, budget=60):
    opt = bamsoo.Optimizer(SPACE, seed=1)
    for _ in range(budget):
        trial = opt.ask()
        opt.tell(trial, f(**trial.params))
    return opt


@pytest.mark.long
def test_jumps_do_not_hide_a_trend_and_a_smooth_function_has_no_jumps():
    def smooth(useless, size, kind):
        return (size - 44.3) ** 2 / 100.0 + "cba".index(kind) + np.log10(useless) / 20.0

    def rough(useless, size, kind):
        return smooth(useless, size, kind) + jump(useless, size, "abc".index(kind))

    assert searched(smooth).book.gp.noise == 0.0
    gp = searched(rough).book.gp
    assert gp.noise > 0.0
    assert gp.kernel.lengths(3)[1] > 0.1  # of `size`; shorter if the fit has to explain the jumps


def test_the_upper_bound_allows_for_jumps_that_the_model_does_not_explain():
    opt = searched(lambda useless, size, kind: (size - 44) ** 2 / 100.0 + jump(useless, size))
    assert opt.book.gp.noise > 0.0
    bounds = opt.result.bounds
    at = opt.book.gp.X[:1]
    mu, sigma = bounds.predictor.posterior(at)
    assert bounds.upper(at)[0] > (mu + bounds.width * sigma)[0]


@given(st.integers(0, 1000))
def test_crossed_candidates_take_each_parameter_from_a_good_point(seed):
    domain = Space(SPACE).domain
    near = Candidates(domain, None, None, None, None, rng(seed), CONSTANTS.candidates)
    good = np.array([domain.snap(u) for u in rng(seed + 1).random((6, 3))])
    found = near._crossed(good, 20)
    for axis in range(3):
        assert set(found[:, axis]) <= set(good[:, axis])


# --- the gain that matters to the caller


@pytest.mark.parametrize("function", [bamsoo.problems.branin, bamsoo.problems.hartmann6])
def test_a_search_does_not_polish_beyond_the_tolerance(function):
    tol = 0.01
    loose, exact = (
        bamsoo.minimize(function, function.bounds, 60, seed=0, **more)
        for more in ({"tol": tol}, {})
    )
    near = [int((abs(r.F - r.fun) < 0.01 * tol).sum()) for r in (loose, exact)]
    assert near[0] <= 3 < 10 < near[1]
    assert loose.fun - function.optimum < tol


def test_what_a_point_must_reach_lies_above_the_best_feasible_value():
    book = Book(tol=0.5)
    book.begin()
    demand = Demand(book, rng(), DEMAND)
    assert demand.least == -np.inf
    book.receive([Outcome(None, np.array([0.5]), (3.0,)), Outcome(None, np.array([0.2]), (1.0,))])
    assert demand.least == demand.goal() == 3.5
    assert Demand(Book(), rng(), DEMAND).can_gain(np.array([0.5]))  # any gain matters
