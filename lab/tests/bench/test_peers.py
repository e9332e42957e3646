"""The adapters of other optimisers, and BBOB with inexact values."""

from contextlib import suppress

import numpy as np
import pytest

from bamsoo_lab.bench import methods, score, suites, tables
from bamsoo_lab.bench.case import Case, Target
from bamsoo_lab.bench.measure import MeasuredObjective, Spent
from bamsoo_lab.bench.methods.turbo import FIRST, SUCCESSES, TurboRegion
from bamsoo_lab.bench.runs import ready, run, task
from bamsoo_lab.bench.suites import bbob, inexact

# those that restart many times, so that the last is stopped in the middle of its work
BUDGETS = {"slsqp": 101, "cobyqa": 75, "bobyqa": 75, "lq-cma": 80, "ngopt": 40, "turbo": 10}


def solved(name, seed=3, budget=None):
    """The points that a method asks for on a rotated bowl whose optimum is on the boundary."""
    points = []

    def fun(x):
        points.append(np.array(x))
        return float((x[0] + x[1] - 2.5) ** 2 + 3.0 * (x[0] - x[1] - 4.0) ** 2) + 1.0

    budget = budget or BUDGETS[name]
    f = MeasuredObjective(Target(fun, [(-1.0, 3.0), (-1.0, 2.0)], 1.0), budget, seed)
    f.start()
    with suppress(Spent):
        ready(name).solve(f)
    return np.array(points)


SLOW = [pytest.param(n, marks=pytest.mark.slow) if n == "turbo" else n for n in BUDGETS]


@pytest.fixture(params=SLOW)
def peer(request):
    for module in methods.ALL[request.param].modules:
        # a package that another one makes fail is as good as missing
        pytest.importorskip(module, exc_type=ImportError)
    return request.param


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_peer_calls_exactly_its_budget_inside_the_box_and_its_seed_decides(peer):
    points = solved(peer)
    assert len(points) == BUDGETS[peer]
    assert np.all((points >= [-1.0, -1.0]) & (points <= [3.0, 2.0]))
    np.testing.assert_array_equal(points, solved(peer))
    if peer != "ngopt":  # it chooses a solver without chance for so small a problem
        assert not np.array_equal(points, solved(peer, seed=4))


@pytest.mark.parametrize("name", ["slsqp", "cobyqa", "bobyqa"])
def test_a_local_solver_starts_at_the_centre_and_then_at_uniform_points(name):
    for module in methods.ALL[name].modules:
        pytest.importorskip(module)
    # COBYQA moves a start that is close to a bound; this seed's is in the middle of the box
    points = solved(name, seed=16, budget=250)
    np.testing.assert_allclose(points[0], [1.0, 0.5])
    start = np.random.default_rng(16).uniform([-1.0, -1.0], [3.0, 2.0])
    assert np.abs(points - start).max(axis=1).min() < 1e-9


def test_a_budget_below_the_first_model_of_a_local_solver_is_kept_to():
    pytest.importorskip("pybobyqa")
    for name in ("slsqp", "cobyqa", "bobyqa"):
        assert len(solved(name, budget=2)) == 2


def test_the_trust_region_grows_shrinks_and_collapses():
    region = TurboRegion(10, best=-1.0)
    for i in range(SUCCESSES):
        region.learn(-0.9 + 0.1 * i)
    assert (region.length, region.best) == (2 * FIRST, 0.0)
    for _ in range(3):  # ten dimensions, four points at a time: three batches without a gain
        region.learn(-5.0)
    assert (region.length, region.failures) == (FIRST, 0)
    for _ in range(3 * 7):
        assert not region.collapsed
        region.learn(-5.0)
    assert region.collapsed


# ---- inexact values


def test_inexact_cases_are_those_of_bbob_at_three_levels():
    cases = suites.ALL["inexact"].cases(suites.Selection(dims=(5,), functions=(8,)))
    assert [case.problem for case in cases] == ["f8", "f8@1e-8", "f8@1e-6", "f8@1e-4"]
    assert {(case.dim, case.instance, case.budget) for case in cases} == {(5, 21, 250)}
    assert [inexact.level(case) for case in cases] == ["0", "1e-8", "1e-6", "1e-4"]


def test_the_noise_is_relative_has_its_size_and_is_the_same_for_everybody():
    pytest.importorskip("ioh")
    case = Case("inexact", "f8@1e-4", 2, 1, 10)
    x = np.array([1.0, -2.0])
    exact = bbob.target(Case("bbob", "f8", 2, 1, 10))
    one, two = (suites.target(case) for _ in range(2))
    told = np.array([one.fun(x) for _ in range(2000)])
    assert told[:5].tolist() == [two.fun(x) for _ in range(5)]
    assert np.std(told / exact.fun(x)) == pytest.approx(1e-4, rel=0.1)
    assert one.noiseless(x) == exact.fun(x)
    assert (one.optimum, one.bounds, one.noisy) == (exact.optimum, exact.bounds, False)
    other = suites.target(Case("inexact", "f8@1e-4", 2, 2, 10))
    assert other.fun(x) != told[0]


def test_inexact_runs_are_scored_by_their_exact_values():
    pytest.importorskip("ioh")
    settings = [
        task("random", Case(suite, problem, 2, 21, 30)).settings
        for suite, problem in (("bbob", "f1"), ("inexact", "f1@1e-4"))
    ]
    exact, noisy = (run(one, {}) for one in settings)  # random points do not depend on values
    assert exact["steps"] == noisy["steps"]


def test_the_table_of_inexact_runs():
    made = [
        {**task(m, Case(s, p, 2, 21, 4)).settings, "steps": [[1, value]], "versions": {}}
        for m, s, p, value in (
            ("bamsoo", "bbob", "f1", 0.0),
            ("bamsoo", "inexact", "f1@1e-6", 1.0),
            ("direct", "bbob", "f1", 1.0),
            ("direct", "inexact", "f1@1e-6", 50.0),
        )
    ]
    table = tables.inexact(score.by_method(made), 2)
    assert table.header[2:] == ["exact values", "noise of 1e-8", "noise of 1e-6", "noise of 1e-4"]
    assert [row[1:] for row in table.rows] == [
        ["2", "1.000", "–", "0.216", "–"],
        ["2", "0.216 (4.64)", "–", "0.039 (5.50)", "–"],
        ["", "0.216 (4.64)", "–", "0.039 (5.50)", "–"],
    ]
