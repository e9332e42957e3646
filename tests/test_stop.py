"""Rules that end a run, and the gap: how much the model's bounds leave to gain."""

import pickle
from math import inf

import numpy as np
import pytest

import bamsoo
from bamsoo import Choice, Gap, Int, Optimizer, Stalled
from bamsoo.algorithms import BaMSOO
from bamsoo.algorithms.search import B
from bamsoo.gap import Bounds
from bamsoo.kernels import Matern52
from bamsoo.model.gp import GP
from bamsoo.model.warp import Identity
from bamsoo.predictor import Predictor
from bamsoo.run.loop import Stop
from bamsoo.space import Space
from bamsoo.stop import PATIENCE

branin, hartmann3 = bamsoo.problems.branin, bamsoo.problems.hartmann3
BOXES = [[(-3.13, 8.61), (0.18, 11.95)], [(-0.99, 9.94), (0.11, 11.56)]]  # parts of Branin's domain


# --- rules


def test_a_rule_is_shown_each_result_and_ends_the_run():
    seen = []

    def rule(result):
        seen.append(result.nfev)
        return result.nfev == 7

    r = bamsoo.minimize(branin, branin.bounds, 30, stop=rule)
    assert seen == list(range(1, 8))
    assert (r.nfev, r.status, r.message) == (7, Stop.RULE, "a stopping rule ended the run")


def test_a_rule_may_say_why():
    rules = [lambda r: None, lambda r: "the oven is cold" if r.nfev == 3 else ""]
    r = bamsoo.minimize(branin, branin.bounds, 30, stop=rules)
    assert (r.nfev, r.message) == (3, "the oven is cold")


def test_a_rule_that_raises_ends_the_run_with_that():
    def broken(result):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        bamsoo.minimize(branin, branin.bounds, 30, stop=broken)
    assert caught.value.result.nfev == 1


@pytest.mark.parametrize("stop", [3, "stalled", Stalled, [Stalled(3), None]])
def test_an_invalid_rule_is_refused(stop):
    with pytest.raises(bamsoo.errors.SettingsError, match="stop must be a callable or a list"):
        bamsoo.minimize(branin, branin.bounds, 30, stop=stop)


def test_a_study_that_was_stopped_by_a_rule_stays_stopped(tmp_path):
    given = {"study": tmp_path / "run.db", "stop": Stalled(5)}
    r = bamsoo.minimize(branin, branin.bounds, 100, **given)
    again = bamsoo.minimize(branin, branin.bounds, 100, **given)
    assert again.nfev == r.nfev < 100
    assert again.message == r.message == "the best value has not improved in 5 evaluations"


# --- Stalled


@pytest.mark.parametrize("run, sign", [(bamsoo.minimize, 1), (bamsoo.maximize, -1)])
def test_stalled_counts_evaluations_since_the_best(run, sign):
    values = iter([5, 4, 4, 9, None, 3, 8, 8, None, 8, 2])
    r = run(lambda x: None if (v := next(values)) is None else sign * v, [(0, 1)], 11,
            stop=Stalled(4))  # fmt: skip
    assert r.nfev == 10
    assert r.fun == sign * 3


def test_what_is_known_counts_as_the_best_but_not_as_an_evaluation():
    known = [([0.9], 0.0), ([0.8], 1.0), ([0.7], 1.0)]
    r = bamsoo.minimize(lambda x: 1.0, [(0, 1)], 20, known=known, stop=Stalled(2))
    assert r.nfev == 2


def test_a_run_without_any_value_is_stalled_too():
    assert bamsoo.minimize(lambda x: None, [(0, 1)], 20, stop=Stalled(3)).nfev == 3


@pytest.mark.parametrize("n", [0, 1.5, "3", True])
def test_a_number_of_evaluations_is_whole(n):
    with pytest.raises(bamsoo.errors.SettingsError, match="Stalled: n must be"):
        Stalled(n)


# --- the gap


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


@pytest.mark.parametrize("problem", [branin, hartmann3], ids=["branin", "hartmann3"])
def test_gap_stops_the_default_where_nothing_is_left(problem):
    r = bamsoo.minimize(problem, problem.bounds, 250, stop=Gap(1e-3))
    assert r.status == Stop.RULE
    assert r.nfev < 200
    assert r.gap <= 1e-3
    assert r.fun - problem.optimum < 1e-3
    assert r.message == "the model's bounds leave at most 0.001 to gain"


@pytest.mark.parametrize("box", BOXES)
def test_gap_stops_even_if_the_search_ignores_a_corner_with_a_high_bound(box):
    r = bamsoo.minimize(branin, box, 120, stop=Gap(1e-3))
    assert r.status == Stop.RULE
    assert r.gap <= 1e-3
    assert r.fun - branin.optimum < 1e-3


def test_gap_takes_every_second_evaluation_after_a_while_without_improvement():
    opt, rule, wanted = Optimizer(branin.bounds), Gap(1e-3), []
    for i in range(24):
        trial = opt.ask()
        value = min(branin(trial.x), 100.0) + 1e4
        opt.tell(trial, -float(i) if i < 12 else value)  # gains, and then none
        if rule.next_point(opt.result) is not None:
            wanted.append(i - 11)
    assert wanted == [6, 8, 10, 12]
    assert PATIENCE * (2 + 1) == 6


def test_a_run_with_a_gap_that_is_resumed_is_the_run_in_one_piece(tmp_path):
    given = BOXES[0], 40
    whole = bamsoo.minimize(branin, *given, stop=Gap(1e-3))
    space, budget = given
    for pause in (*range(12, budget, 3), budget):
        pieces = bamsoo.minimize(branin, space, pause, study=tmp_path / "run.db", stop=Gap(1e-3))
    np.testing.assert_array_equal(pieces.X, whole.X)
    corners = np.array(np.meshgrid(*space)).T.reshape(-1, 2).tolist()
    assert any(corner in whole.X.tolist() for corner in corners)


def test_a_rule_may_have_points_evaluated_that_it_needs_to_decide():
    class Ends:
        def __call__(self, result):
            return all(any((x == end).all() for x in result.X) for end in ([0.0], [1.0]))

        def next_point(self, result):
            return [0.0] if result.nfev == 4 else [1.0] if result.nfev == 6 else None

    r = bamsoo.minimize(lambda x: (x[0] - 0.3) ** 2, [(0, 1)], 30, stop=Ends())
    assert (r.nfev, r.status) == (7, Stop.RULE)
    assert r.X[4] == [0.0] and r.X[6] == [1.0]


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


def corner(x):
    return -1.0 if x.sum() > 3.2 else 0.0


def test_gap_does_not_stop_because_all_values_are_equal():
    seen = []
    r = bamsoo.minimize(
        corner, [(0, 1)] * 4, 60, stop=[Gap(1e-3)], callback=lambda r: seen.append((r.fun, r.gap))
    )
    assert r.nfev == 60
    assert {gap for fun, gap in seen if fun == 0.0} == {inf}
    r = bamsoo.minimize(lambda x: 0.1 + 0.2, [(0, 1)], 30, stop=Gap(1e-3))
    assert (r.nfev, r.gap) == (30, inf)


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
    bounds = Bounds(Predictor(space, 1.0, gp, Identity()), None, 0.05, learned=True, exact=True)
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


def test_no_number_is_given_for_a_bound_that_says_less_than_the_values_alone():
    gaps = []

    def look(r):
        size = np.abs(r.F).max() or 1.0
        limit = B(len(r.tree), 0.05) * size * (r.F / size).std()
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


@pytest.mark.parametrize("algorithm", ["soo", "random"])
def test_gap_refuses_an_algorithm_without_a_model(algorithm):
    with pytest.raises(
        bamsoo.errors.SettingsError, match=r"Gap\(0.1\) needs an algorithm with a model"
    ):
        bamsoo.minimize(branin, branin.bounds, 20, algorithm=algorithm, stop=Gap(0.1))


@pytest.mark.parametrize("width", [0, -1.0, inf, "small", None])
def test_a_width_is_a_positive_number(width):
    with pytest.raises(bamsoo.errors.SettingsError, match="Gap: width must be"):
        Gap(width)


def test_the_gap_survives_a_pickle():
    r = bamsoo.minimize(branin, branin.bounds, 40)
    assert pickle.loads(pickle.dumps(r)).gap == pytest.approx(r.gap, rel=1e-6)
