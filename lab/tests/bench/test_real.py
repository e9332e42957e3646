"""The real problems: what they compute, their copies, and scores by shares of the budget."""

from dataclasses import asdict

import numpy as np
import pytest

from bamsoo_lab.bench import pack, plan, suites, tables
from bamsoo_lab.bench.case import Case
from bamsoo_lab.bench.errors import MissingPackageError
from bamsoo_lab.bench.real import REAL, by_part, policies
from bamsoo_lab.bench.real.optics import reflected
from bamsoo_lab.bench.real.structures import stiffness
from bamsoo_lab.bench.runs import trace
from bamsoo_lab.bench.score import moments, scores
from bamsoo_lab.bench.suites import Selection
from bamsoo_lab.bench.suites.real import COPIES, available, cases


@pytest.fixture(params=REAL)
def problem(request):
    found = REAL[request.param]
    for package in found.packages:
        pytest.importorskip(package)
    return found


@pytest.mark.filterwarnings("ignore")
def test_a_problem_has_the_same_finite_values_every_time_and_they_vary(problem):
    low, high = np.array(problem.space, dtype=float).T
    rng = np.random.default_rng(5)
    points = low + (high - low) * rng.random((6, len(low)))
    first, again = problem.build(), problem.build()
    values = [first(x) for x in points]
    assert values == [again(x) for x in points[::-1]][::-1]
    assert all(isinstance(value, float) for value in values) and np.all(np.isfinite(values))
    assert len({*values}) > 1


@pytest.mark.parametrize("name", ["coating-8", "fishery-12"])
def test_a_copy_has_the_values_of_the_problem_in_another_order_of_the_axes(name):
    first, copied = REAL[name].target(0), REAL[name].target(3)
    assert sorted(copied.space) == sorted(first.space)
    low, high = np.array(first.space).T
    # moving along one axis of the copy is moving along one axis of the problem, maybe mirrored
    middle, slopes = (low + high) / 2.0, []
    for fun in (first.fun, copied.fun):
        ends = []
        for i in range(len(low)):
            steps = np.zeros((2, len(low)))
            steps[:, i] = [0.1, -0.1]
            ends.append(tuple(sorted(fun(middle + s * (high - low)) for s in steps)))
        slopes.append(ends)
    np.testing.assert_allclose(sorted(slopes[0]), sorted(slopes[1]), rtol=1e-12)
    assert not np.allclose(slopes[0], slopes[1])


def test_the_parts_have_no_problem_in_common_and_both_run_without_optional_packages():
    parts = by_part()
    assert not {*parts["develop"]} & {*parts["report"]}
    for names in parts.values():
        assert sum(not {*REAL[name].packages} - {"sklearn"} for name in names) >= 8


def test_a_single_layer_reflects_as_the_formula_says():
    # a quarter wave of index n on a substrate s, from air: R = ((s - n^2) / (s + n^2))^2
    n, s, wave = 1.38, 1.52, 550.0
    found = reflected(np.array([n]), np.array([wave / 4 / n]), np.array([wave]), s)
    assert found[0] == pytest.approx(((s - n**2) / (s + n**2)) ** 2)
    # at Brewster's angle, bare glass reflects only one of the two directions of polarisation
    angle = np.arctan(s)
    bare = reflected(np.array([1.0]), np.array([10.0]), np.array([wave]), s, angle)
    across = (np.cos(angle) - s * np.sin(angle)) / (np.cos(angle) + s * np.sin(angle))
    assert bare[0] == pytest.approx(across**2 / 2.0)


def test_an_element_resists_stretching_but_not_moving_or_turning():
    k = stiffness()
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    np.testing.assert_allclose(k, k.T)
    for moved in (np.ones((4, 2)), corners[:, ::-1] * [-1, 1]):
        np.testing.assert_allclose(k @ moved.ravel(), 0.0, atol=1e-12)
    assert corners.ravel() @ k @ corners.ravel() > 0.5


def test_every_joint_of_a_policy_sees_itself_and_what_is_shared():
    size, policy = policies.joints([(1, 3), (2, 4)], [0])
    x, seen = np.zeros(size), np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    x[:3] = 1.0, 2.0, 3.0
    np.testing.assert_allclose(policy(seen, x), [np.tanh(0.2 + 2 * 0.4 + 3 * 0.1), 0.0])


def test_a_missing_package_is_named_and_its_problems_are_left_out(monkeypatch):
    from bamsoo_lab.bench.suites import real

    def missing(module):
        raise MissingPackageError(f"{module} is needed")

    monkeypatch.setattr(policies, "require", missing)
    with pytest.raises(MissingPackageError, match="gymnasium"):
        REAL["pendulum"].build()
    monkeypatch.setattr(real, "find_spec", lambda name: None if name == "nevergrad" else name)
    assert not available(case_of("cycling-men")) and available(case_of("bragg-10"))


def case_of(name):
    return next(case for case in cases(Selection(part=REAL[name].part)) if case.problem == name)


def test_the_cases_are_copies_with_the_budget_of_the_problem():
    for part, copies in COPIES.items():
        found = cases(Selection(part=part))
        assert {case.problem for case in found} == {*by_part()[part]}
        assert {case.instance for case in found} == {*copies}
        assert all(case.budget == REAL[case.problem].budget for case in found)
    assert {c.budget for c in cases(Selection(budget=7))} == {7}


def test_the_plan_has_every_peer_of_the_new_suites():
    planned = {(t.settings["suite"], t.settings["method"]) for t in plan.peers()}
    for name in ("real", "systems"):
        peers = {*suites.ALL[name].peers} - {"bamsoo-noise"}
        assert {method for suite, method in planned if suite == name} == peers


# ---- scores by shares of the budget


def test_scores_are_given_after_shares_of_the_budget():
    small, large = Case("real", "a", 2, 0, 50), Case("real", "b", 2, 0, 300)
    assert moments(small)[[0, 32, 99]].tolist() == [0, 16, 49]
    assert moments(large)[[0, 32, 99]].tolist() == [2, 98, 299]
    assert len(moments(Case("tuning", "a", 2, 0, 80))) == 80

    def run(case, method, values):
        values = [*values, *[values[-1]] * (case.budget - len(values))]
        return {**asdict(case), "method": method, "values": values, "cpu": 1.0}

    found = {
        "random": {c: run(c, "random", [2.0]) for c in (small, large)},
        "bamsoo": {
            c: run(c, "bamsoo", [2.0] * (c.budget // 2 - 1) + [1.0]) for c in (small, large)
        },
    }
    shares = scores(found)["bamsoo"]
    for case in (small, large):
        assert shares[case][[32, 49, 99]].tolist() == [0.0, 1.0, 1.0]
    assert tables.marks(found) == [33, 66, 100]
    means = tables.mean_scores(found)
    assert means.header[2:] == [
        "after 33 %",
        "after 66 %",
        "after 100 %",
        "worst problem after 100 %",
    ]
    assert means.rows[0][2].startswith("0.000") and means.rows[0][3].startswith("1.000")


def test_stored_runs_of_the_peers_keep_what_scores_need():
    case = case_of("coating-8")
    values = [9.123456789, *np.linspace(8.0, 7.0, 11), 7.5, 6.5, 8.0]
    run = {**asdict(case), "method": "cma", "values": values, "budget": len(values)}
    brief = pack._brief(run)
    assert brief["values"][:3] == [9.1234568, 8.0, 7.9] and brief["values"][-3:] == [7.0, 6.5, 6.5]
    np.testing.assert_allclose(trace(brief), trace(run), rtol=1e-7)
    assert pack._brief(run | {"suite": "tuning"})["values"] == values
