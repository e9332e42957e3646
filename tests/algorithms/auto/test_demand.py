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
from bamsoo.space.axes import cube

DEMAND = CONSTANTS.demand
LEAST, MOST = DEMAND.small, 1.0

SPACE = {
    "useless": Real(1e-8, 10.0, log=True),
    "size": Int(1, 64),
    "kind": Choice(["a", "b", "c"]),
}


def wanted(values, seed):
    return Demand(cube(1), Book(), rng(seed), DEMAND).wanted(np.array(values))


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
    demand = Demand(cube(1), book, rng(), DEMAND)
    assert demand.least == -np.inf
    book.receive([Outcome(None, np.array([0.5]), (3.0,)), Outcome(None, np.array([0.2]), (1.0,))])
    assert demand.least == demand.goal() == 3.5
    assert Demand(cube(1), Book(), rng(), DEMAND).can_gain(np.array([0.5]))  # any gain matters


@pytest.mark.parametrize(("tol", "can"), [(1.9, True), (2.1, False)])
def test_a_point_can_gain_what_two_deviations_above_its_mean_would_gain(tol, can):
    class Standard:
        def posterior(self, X):
            return np.zeros(len(X)), np.ones(len(X))

    book = Book(tol=tol)
    book.begin()
    book.receive([Outcome(None, np.array([0.5]), (0.0,)), Outcome(None, np.array([0.2]), (-1.0,))])
    book.gps = [Standard()]
    assert Demand(cube(1), book, rng(), DEMAND).can_gain(np.array([0.9])) == can


# --- plateaus


def on_plateau(flat, others):
    """What is demanded if these points have the best value, and others a worse one."""
    book = Book()
    book.begin()
    told = [(x, 0.0) for x in flat] + [(x, -float(i)) for i, x in enumerate(others, 1)]
    book.receive([Outcome(None, np.array([x]), (value,)) for x, value in told])
    return Demand(cube(1), book, rng(), DEMAND)


def test_a_point_is_dull_if_the_nearest_known_one_lies_on_a_plateau_of_the_best_value():
    demand = on_plateau([0.5, 0.7, 0.9], [0.1])
    assert demand.is_dull(np.array([[0.0], [0.29], [0.31], [1.0]])).tolist() == [
        *(False, False, True, True)
    ]
    assert not demand.can_gain(np.array([0.6]))
    assert demand.can_gain(np.array([0.2]))


@pytest.mark.parametrize(
    ("flat", "others"),
    [
        ([0.5, 0.9], [0.1]),  # two equal values may be a symmetry
        ([0.5, 0.7, 0.9], []),  # nothing else is known
        ([0.5, 0.7, 0.9], np.linspace(0.0, 0.4, 8).tolist()),  # a fine step, and not a plateau
    ],
)
def test_without_a_plateau_no_point_is_dull(flat, others):
    demand = on_plateau(flat, others)
    assert not demand.is_dull(np.array([[0.2], [0.6]])).any()


def test_an_option_that_differs_is_as_far_as_the_other_end_of_an_axis():
    space = Space({"kind": Choice(["a", "b", "c"]), "x": Real(0, 1)})
    book = Book()
    book.begin()
    first, other = 1 / 6, 1 / 2  # the middles of the cells of two options
    told = [*(((first, x), 0.0) for x in (0.1, 0.3, 0.6)), ((other, 0.0), -1.0)]
    book.receive([Outcome(None, np.array(x), (value,)) for x, value in told])
    demand = Demand(space.domain, book, rng(), DEMAND)
    here = [(first, 0.9), (other, 0.9)]
    assert demand.is_dull(np.array(here)).tolist() == [True, False]


def ore(a, b, c):
    """In the shape of a simulation of a mine, which does nothing if a price is too high."""
    return 0.0 if a >= 160 else 2.5 if b >= 150 else -1.0 + abs(a - 80) / 100


@pytest.mark.parametrize("kind", [Int, Real])
def test_a_search_leaves_a_plateau_that_is_better_than_what_lies_around_it(kind):
    found = []
    for seed in range(2):
        space = {name: kind(0, 400) for name in "abc"}
        found.append(bamsoo.minimize(ore, space, 100, seed=seed).fun)
    assert max(found) < -0.9
