"""The gap: how much the model's bounds leave to gain."""

import pickle
from math import inf, isfinite
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import bamsoo
from bamsoo import Choice, Gap, Int, Optimizer
from bamsoo.algorithms import BaMSOO
from bamsoo.algorithms.search import B
from bamsoo.base.sense import MAXIMISED
from bamsoo.kernels import Matern52
from bamsoo.model.gp import GP
from bamsoo.model.warp import Identity
from bamsoo.result.gap import Bounds, left_to_gain
from bamsoo.result.predictor import Predictor
from bamsoo.space import Space
from bamsoo.space.axes import cube

branin, hartmann3 = bamsoo.problems.branin, bamsoo.problems.hartmann3


def test_the_gap_is_the_largest_upper_bound_minus_the_best_value():
    kernel = Matern52([0.3, 0.4], variance=2.0)
    algorithm = BaMSOO(kernel, eta=0.1)
    r = bamsoo.maximize(lambda x: float(np.sin(5 * x).sum()), [(0, 2)] * 2, 25, algorithm=algorithm)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 2, 201)] * 2), -1).reshape(-1, 2)
    mean, deviation = r.predict(grid)
    upper = mean + B(len(r.tree), 0.1) * deviation
    assert r.gap >= upper.max() - r.fun - 1e-9
    assert r.gap == pytest.approx(upper.max() - r.fun, rel=1e-2)


def test_the_gap_of_a_minimum_is_that_of_the_maximum_upside_down():
    settings = {"algorithm": BaMSOO(Matern52(0.3))}
    low = bamsoo.minimize(lambda x: float(np.sin(5 * x).sum()), [(0, 2)] * 2, 20, **settings)
    high = bamsoo.maximize(lambda x: -float(np.sin(5 * x).sum()), [(0, 2)] * 2, 20, **settings)
    assert low.gap == high.gap > 0


def test_the_gap_is_in_units_of_the_objective():
    def f(x):
        return float(np.sin(5 * x).sum())

    one = bamsoo.minimize(f, [(0, 2)] * 2, 20)
    other = bamsoo.minimize(lambda x: 1e6 * f(x) + 3e7, [(0, 2)] * 2, 20)
    assert other.gap == pytest.approx(1e6 * one.gap, rel=1e-3)


def test_the_gap_covers_mixed_spaces_and_options():
    space = {"n": Int(1, 6), "kind": Choice(["a", "b"]), "x": (0, 1)}
    r = bamsoo.minimize(lambda n, kind, x: n + x + (kind == "a"), space, 25)
    assert 0 <= r.gap < inf
    only = {"n": Int(1, 6), "kind": Choice(["a", "b"])}
    r = bamsoo.minimize(lambda n, kind: n + (kind == "a"), only, 12)
    assert r.gap == pytest.approx(0.0, abs=1e-3)


def test_without_a_tree_the_gap_is_that_of_the_whole_space():
    r = bamsoo.maximize(lambda x: float(np.sin(9 * x[0])), [(0, 1)], 15, algorithm="gp-ucb")
    mean, deviation = r.predict(np.linspace(0, 1, 500)[:, None])
    expected = (mean + B(15, 0.05) * deviation).max() - r.fun
    assert r.gap == pytest.approx(max(expected, 0), rel=0.01, abs=1e-6)


def test_without_bounds_the_gap_is_infinite():
    assert bamsoo.minimize(branin, branin.bounds, 20, algorithm="soo").gap == inf
    assert bamsoo.minimize(lambda x: None, [(0, 1)], 5).gap == inf
    assert Optimizer([(0, 1)]).result.gap == inf


def test_the_gap_is_unknown_if_values_differ_by_nothing_but_noise():
    rng = np.random.default_rng(0)
    r = bamsoo.minimize(lambda x: rng.normal(), [(0, 1)] * 2, 60, noise="learn")
    assert r.predictor.gp.noise == pytest.approx(r.predictor.gp.kernel.variance)
    assert r.gap == inf


def test_the_gap_is_unknown_if_the_transform_cannot_tell_how_bad_a_value_is():
    def score(n, x):  # more than half of the values are equal to the best
        return 0.0956 if n < 3 else 0.5 if x > 0.9 else 0.0925

    r = bamsoo.minimize(score, {"n": Int(1, 20), "x": (0, 1)}, 30)
    assert r.predictor.transform.bend < 1e-10
    assert r.gap == inf


def test_the_bounds_of_a_model_that_misses_its_own_values_are_not_used():
    space, gp = Space([(0, 1)] * 2), GP(Matern52(20.0, 3e5), 2)
    for key, u in enumerate(np.random.default_rng(0).random((40, 2))):
        gp.expect(key, u)
        gp.observe(key, float(-((u - 0.5) ** 2).sum() + 0.1 * np.cos(40 * u).sum()))
    bounds = Bounds(
        Predictor(space, MAXIMISED, gp, Identity()), None, 0.05, learned=True, exact=True
    )
    assert bounds.degenerate


@pytest.mark.parametrize("algorithm", ["auto", "bamlogo", "imgpo"])
def test_the_gap_is_unknown_until_the_prior_has_seen_a_value_that_differs(algorithm):
    opt = Optimizer([(0, 1)] * 2, algorithm=algorithm)
    for i in range(13):
        opt.tell(opt.ask(), 1e9 if i == 12 else 5.0)
        assert opt.result.gap == inf


def test_the_gap_is_unknown_while_there_are_too_few_values_to_learn_the_prior():
    opt, gaps = Optimizer([(0, 1)] * 10), []
    for _ in range(11):
        trial = opt.ask()
        opt.tell(trial, float((trial.x**2).sum()))
        gaps.append(opt.result.gap)
    assert gaps == [inf] * 11
    opt.predict([[0.5] * 10])  # there is a model


@pytest.mark.slow
@pytest.mark.long
def test_no_number_is_given_for_a_bound_that_says_less_than_the_values_alone():
    gaps = []

    def look(r):
        size = np.abs(r.F).max() or 1.0
        limit = size * (r.F / size).std()
        assert r.gap == inf or 0.0 <= r.gap <= limit * (1 + 1e-9)
        gaps.append(r.gap)

    def stairs(x):
        return float(np.floor(4 * np.abs(x - 0.3).sum()))

    bamsoo.minimize(stairs, [(0, 1)] * 2, 40, callback=look)
    assert inf in gaps[10:]
    bamsoo.minimize(lambda x: 1e250 * stairs(x) * x[1], [(0, 1)] * 2, 20, callback=look)
    r = bamsoo.minimize(lambda x: 1e-250 * branin(x), branin.bounds, 200, stop=Gap(1e-253))
    assert r.gap <= 1e-253


def test_the_variance_of_a_learned_prior_is_taken_for_an_estimate():
    from scipy.stats import norm, t

    r = bamsoo.minimize(branin, branin.bounds, 15)
    expected = t.isf(norm.sf(B(len(r.tree), 0.05)), 14)
    assert expected * 0.999 <= r.bounds.width <= expected * 4.001  # the leave-one-out errors


def plateaus(seed):
    rng = np.random.default_rng(seed)
    centre, side, unit = rng.random(3), 0.4 * rng.random(), 10.0 ** rng.integers(-3, 4)
    return [
        lambda x: -unit if np.abs(x - centre).max() < side else 0.0,
        lambda x: unit * (x @ centre > 0.7),
        lambda x: unit * np.floor(4 * np.abs(x - centre).sum()),
        lambda x: 7.0 + (x[0] > 0.9) * unit,
    ][seed % 4]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "algorithm", ["auto", "bamlogo", BaMSOO(Matern52(0.3))], ids=["auto", "bamlogo", "bamsoo"]
)
@pytest.mark.parametrize("seed", range(4))
def test_the_gap_of_a_plateau_raises_no_warning(algorithm, seed):
    gaps = []
    bamsoo.minimize(
        plateaus(seed), [(0, 1)] * 3, 20, algorithm=algorithm,
        callback=lambda r: gaps.append(r.gap),
    )  # fmt: skip
    assert not np.isnan(gaps).any()


def test_the_gap_survives_a_pickle():
    r = bamsoo.minimize(branin, branin.bounds, 40)
    assert pickle.loads(pickle.dumps(r)).gap == pytest.approx(r.gap, rel=1e-6)


@pytest.mark.parametrize(("variance", "wider"), [(1e4, 1.0), (1e-6, 4.0)], ids=["large", "small"])
def test_the_width_of_learned_bounds_is_a_quantile_of_students_distribution(variance, wider):
    # values are closer than the model expects, or so far that the largest factor applies
    space, gp = Space([(0, 1)]), GP(Matern52(0.3, variance), 1)
    for key, u in enumerate(np.linspace(0, 1, 5)[:, None]):
        gp.expect(key, u)
        gp.observe(key, float(u[0]))
    bounds = Bounds(
        Predictor(space, MAXIMISED, gp, Identity()), None, 0.05, learned=True, exact=True
    )
    expected = wider * stats.t(4).isf(stats.norm.sf(B(5, 0.05)))
    assert bounds.width == pytest.approx(expected)


def test_points_between_those_of_a_front_may_add_to_it():
    class Model:
        """Bounds that are highest between the two points of the front."""

        space = SimpleNamespace(domain=cube(1))
        degenerate = False

        @property
        def predictor(self):
            return self

        def values(self, upper):
            return upper

        def upper(self, U):
            return 2.0 - np.abs(U[:, 0] - 0.4)

        def everywhere(self):
            return np.array([[0.0]])

        def gain(self, best, at):
            return float(self.upper(at).max()) - best

    front, at = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[0.2], [0.6]])
    share, top = left_to_gain([Model(), Model()], at, front, np.zeros(2))
    assert top.tolist() == [[0.4]]
    assert share == pytest.approx(4.0 / 3.0 - 1.0)


def test_with_constraints_the_gap_is_that_of_points_that_may_be_feasible():
    def fun(x, y):  # the unconstrained minimum is far better than any feasible point
        return (x + 0.5) ** 2 + (y + 0.5) ** 2, {"c": 0.8 - x - y}

    r = bamsoo.minimize(fun, {"x": (0, 1), "y": (0, 1)}, 60, constraints=["c"])
    assert 0.0 <= r.gap < 1e-3
    assert r.fun - 2 * 0.9**2 <= r.gap + 1e-9
    assert pickle.loads(pickle.dumps(r)).gap == pytest.approx(r.gap, rel=0.1, abs=1e-6)


def test_with_known_constraints_the_gap_is_that_of_allowed_points():
    allowed = [bamsoo.Formula("x + y >= 0.8"), lambda x, y: x <= 0.9]
    r = bamsoo.minimize(
        lambda x, y: (x + 0.5) ** 2 + (y + 0.5) ** 2, {"x": (0, 1), "y": (0, 1)}, 30,
        constraints=allowed,
    )  # fmt: skip
    assert 0.0 <= r.gap < 1e-3
    x, y = r.space.decode(r.bounds.top[0])
    assert x + y >= 0.8


@pytest.mark.parametrize("constraints", [None, ["c"]], ids=["", "constrained"])
def test_a_gap_larger_than_the_spread_of_the_values_is_not_a_number(constraints):
    gaps = []

    def fun(x):
        value = float(np.floor(4 * np.abs(x - 0.3).sum()))
        return (value, {"c": 0.2 - x[0]}) if constraints else value

    def look(r):
        assert r.gap == inf or 0.0 <= r.gap <= np.nanstd(r.F) * (1 + 1e-9)
        gaps.append(r.gap)

    bamsoo.minimize(fun, [(0, 1)] * 2, 20, callback=look, constraints=constraints)
    assert inf in gaps


def test_the_gap_of_several_objectives_is_at_most_what_has_been_reached_or_unknown():
    gaps = []

    def fun(x):
        return float(np.floor(3 * x.sum())), float(np.exp(9 * (1 - x).sum()) * np.sin(40 * x[0]))

    bamsoo.minimize(
        fun, [(0, 1)] * 2, 25, objectives=["a", "b"], callback=lambda r: gaps.append(r.gap)
    )
    assert all(gap == inf or 0.0 <= gap <= 1.0 for gap in gaps)
    assert inf in gaps


def test_a_bound_of_a_given_prior_that_says_less_than_the_values_is_a_number_that_is_not_shown():
    r = bamsoo.minimize(lambda x: x[0] ** 2, [(0, 1)] * 2, 12, algorithm="bamsoo")
    assert isfinite(r.gap) and r.gap > np.ptp(r.F)
    assert r.shown_gap == inf
    near = bamsoo.minimize(lambda x: 1e3 * x[0], [(0, 1)], 12, algorithm="bamsoo")
    assert near.shown_gap == near.gap


def test_a_climb_that_ends_lower_changes_nothing():
    class Lost(Bounds):
        def __init__(self):
            pass

        def everywhere(self):
            return np.array([[0.1], [0.4], [0.9]])

        def upper(self, U):
            return 1.0 - np.abs(U[:, 0] - 0.5)

        def _climb(self, u):
            return np.array([0.0])

    assert Lost().top.tolist() == [[0.4]]
