"""The default search with several objectives: its promises in every kind of problem."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import bamsoo
from bamsoo import Choice, Int, Real
from bamsoo.algorithms.auto.front import Front, FrontConstants
from bamsoo.algorithms.auto.worth import Width
from bamsoo.base.pareto import hypervolume
from bamsoo.errors import SettingsError
from bamsoo.space.axes import cube


def bowls(x):
    x = np.asarray(x)
    return [float(((x - 0.2) ** 2).sum()), float(((x - 0.7) ** 2).sum())]


MIXED = {
    "rate": Real(1e-3, 1.0, log=True),
    "size": Int(1, 9),
    "kind": Choice({"a": {"depth": (0.0, 1.0)}, "b": None}),
}


def mixed(rate, size, kind, depth=0.5):
    error = np.log10(rate) ** 2 / 4 + (size - 7) ** 2 / 40 + (kind == "b") / 5 + (depth - 0.4) ** 2
    return {"error": float(error), "time": size * (1.5 - depth / 2) + rate}


def not_dominated(result):
    signs = np.array(result.objectives.signs)
    Y = signs * np.array([e.numbers for e in result.evaluations if e.feasible])
    front = signs * np.array([e.numbers for e in result.front])
    beaten = [((y <= Y).all(1) & (y < Y).any(1)).any() for y in front]
    inside = [any((front >= y).all(1)) for y in Y]
    return not any(beaten) and all(inside)


def test_the_front_is_found_to_a_small_part_of_the_hypervolume():
    r = bamsoo.minimize(bowls, [(0, 1)] * 3, 40, objectives=["near", "far"])
    t = np.linspace(0.2, 0.7, 400)
    ideal = np.array([bowls([each] * 3) for each in t])
    most = hypervolume(1.0 - ideal, np.zeros(2))
    assert r.hypervolume([1.0, 1.0]) > 0.97 * most
    assert not_dominated(r)
    assert [e.numbers[0] for e in r.front] == sorted(e.numbers[0] for e in r.front)


@pytest.mark.parametrize("scales", [(1e300, -1e300), (1e307, 1e-300), (1.0, 0.0), (8e307, -8e307)])
def test_values_of_any_size(scales):
    def fun(x):
        both = (x[0] - 0.3) ** 2 + x[1], (x[0] - 0.8) ** 2 + 1.0 - x[1]
        return [scale * value for scale, value in zip(scales, both, strict=True)]

    result = bamsoo.minimize(fun, [(0, 1)] * 2, 20, objectives=["one", "two"])
    assert result.nfev == 20 and np.isfinite(result.X).all()
    assert result.gap >= 0.0


def test_values_whose_difference_is_no_float():
    def far(x, y):
        return 1.7e308 * (1.0 - 2.0 * x), x + y

    r = bamsoo.minimize(far, {"x": (0, 1), "y": (0, 1)}, 12, objectives=["a", "b"])
    assert r.nfev == 12 and len(r.front) > 2


def test_spaces_of_every_kind_constraints_and_failures():
    def fun(**params):
        found = mixed(**params)
        return (None if params["rate"] < 3e-2 else found), {"limit": found["time"] - 9.0}

    r = bamsoo.minimize(
        fun,
        MIXED,
        20,
        objectives={"error": "min", "time": "min"},
        constraints=["limit", lambda rate, size, **rest: size * rate <= 6],
    )
    assert r.nfev == 20 and r.nfailed and r.front
    assert not_dominated(r)
    assert all(e.values["time"] <= 9.0 for e in r.front)
    frame = r.to_dataframe()
    assert frame["front"].sum() == len(r.front)
    assert {"error", "objective:error"} & set(frame.columns) and "time" in frame.columns


def test_noise_is_learned_and_the_front_is_that_of_the_means():
    rng = np.random.default_rng(0)

    def fun(x):
        return np.array(bowls(x)) + 0.05 * rng.standard_normal(2)

    r = bamsoo.minimize(fun, [(0, 1)] * 2, 40, objectives=["near", "far"], noise="learn")
    told = {e.number: e.numbers for e in r.evaluations}
    assert any(told[e.number] != e.numbers for e in r.front)
    near = min(r.front, key=lambda e: e.values["near"])
    assert bowls(near.x)[0] < 0.1


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=3, max_size=6), st.integers(0, 3))
@pytest.mark.long
def test_in_whatever_order_values_arrive_a_replay_asks_for_the_same_points(batches, seed):
    opt = bamsoo.Optimizer([(0, 1)] * 2, objectives=["near", "far"], seed=seed)
    rng, out = np.random.default_rng(seed), []
    for n in batches:
        out += opt.ask(n)
        for i in rng.permutation(len(out))[:2].tolist():
            opt.tell(out[i], bowls(out[i].x))
        out = [trial for trial in out if trial.number in opt.ledger.out]
    other = bamsoo.Optimizer([(0, 1)] * 2, objectives=["near", "far"], seed=seed)
    other._take_up(list(opt._events))
    opt.give_back(out[0]) if out else None
    assert [t.point for t in other.ledger.trials] == [t.point for t in opt.ledger.trials]
    for trial in out:
        opt.tell(trial, bowls(trial.x))
        other.tell(other.ledger.out[trial.number], bowls(trial.x))
    assert_array_equal(opt.ask().x, other.ask().x)


@pytest.mark.parametrize("name", ["auto", "mosoo", "random"])
def test_one_objective_in_the_list_asks_for_the_points_of_the_ordinary_search(name):
    def fun(x):
        return bowls(x)[0]

    plain = bamsoo.minimize(fun, [(0, 1)] * 2, 20, algorithm=name)
    named = bamsoo.minimize(
        lambda x: {"near": fun(x)}, [(0, 1)] * 2, 20, algorithm=name, objectives=["near"]
    )
    assert_array_equal(plain.X, named.X)
    assert named.fun == plain.fun and named.front[0].values == {"near": plain.fun}


def test_a_study_is_resumed_exactly_and_keeps_its_objectives(tmp_path):
    settings = {"objectives": {"near": "min", "far": "max"}}

    def fun(x):
        near, far = bowls(x)
        return {"far": -far, "near": near}

    whole = bamsoo.minimize(fun, [(0, 1)] * 2, 24, **settings)
    path = tmp_path / "run.db"
    for budget in (7, 15, 24):
        parts = bamsoo.minimize(fun, [(0, 1)] * 2, budget, study=path, **settings)
    assert_array_equal(parts.X, whole.X)
    assert_array_equal(parts.F, whole.F)
    with bamsoo.Study.open(path, readonly=True) as study:
        assert study.objectives.ways == {"near": "min", "far": "max"}
        assert study.trials[3].values.keys() == {"near", "far"} and study.trials[3].value is None
        assert study.result.hypervolume() == whole.hypervolume()
    with pytest.raises(bamsoo.BamsooError, match="the study's"):
        bamsoo.minimize(fun, [(0, 1)] * 2, 30, study=path, objectives=["near", "far"])
    with pytest.raises(bamsoo.BamsooError, match="the study's direction is 'mixed'"):
        bamsoo.minimize(lambda x: x[0], [(0, 1)] * 2, 30, study=path)


def test_known_points_first_points_workers_and_targets():
    def fun(x):  # sent to workers by value
        return sum((v - 0.2) ** 2 for v in x), sum((v - 0.7) ** 2 for v in x)

    known = [([0.5, 0.5], fun([0.5, 0.5])), ([0.1, 0.9], None)]
    r = bamsoo.minimize(
        fun,
        [(0, 1)] * 2,
        12,
        objectives=["near", "far"],
        known=known,
        x0=[[0.3, 0.3]],
        workers=2,
        target={"near": 0.1, "far": 0.35},
    )
    assert 1 <= r.nfev <= 12 and r.evaluations[0].number is None
    assert any(e.values["near"] <= 0.1 and e.values["far"] <= 0.35 for e in r.front)
    assert "target" in r.message


def test_rules_by_hypervolume():
    run = {"space": [(0, 1)] * 2, "budget": 60, "objectives": ["near", "far"]}
    stalled = bamsoo.minimize(bowls, algorithm="random", stop=bamsoo.Stalled(4), **run)
    assert "the hypervolume has not improved in 4 evaluations" in stalled.message
    gap = bamsoo.minimize(bowls, stop=bamsoo.Gap(0.05), **run)
    assert "leave at most 0.05 of the hypervolume to gain" in gap.message
    assert gap.gap <= 0.05 and gap.nfev < 60
    with pytest.raises(SettingsError, match="needs an algorithm with a model"):
        bamsoo.minimize(bowls, algorithm="random", stop=bamsoo.Gap(0.05), **run)


def test_predictions_and_results_of_one_objective_alone():
    r = bamsoo.minimize(bowls, [(0, 1)] * 2, 20, objectives={"near": "min", "far": "min"})
    found = r.predict([[0.2, 0.2], [0.7, 0.7]])
    assert found.keys() == {"near", "far"}
    mean, deviation = found["near"]
    assert mean[0] < mean[1] and deviation.shape == (2,)
    alone = r.only("near")
    assert alone.fun == min(r.F[:, 0]) and alone.F.shape == (20,)
    assert alone.predict([[0.2, 0.2]])[0] == pytest.approx(mean[:1])
    with pytest.raises(SettingsError, match="unknown objective 'x'; expected one of near, far"):
        r.only("x")


def test_a_step_that_brings_nothing_is_followed_by_a_short_one(monkeypatch):
    radii, kinds = [], []

    def judge(self, gain, before, short):
        real_judge(self, gain, before, short)
        radii.append(self._radius)
        kinds.append((short, self._stalled))

    def around(self, centre):
        found = real_around(self, centre)
        assert (np.abs(found - centre).max(1) <= self._radius + 1e-12).all()
        assert any((centre == row).all() for row in self._book.known.X)
        return found

    real_judge, real_around = Front._judge, Front._around
    monkeypatch.setattr(Front, "_judge", judge)
    monkeypatch.setattr(Front, "_around", around)

    def needle(x):  # rough everywhere, and better only close to two points
        x = np.asarray(x)
        noise = float(np.abs(np.sin(200.0 * x)).sum())
        return [noise + float(np.abs(x - 0.31).sum()), noise + float(np.abs(x - 0.33).sum())]

    bamsoo.minimize(needle, [(0, 1)] * 3, 40, objectives=["a", "b"])
    assert {short for short, _ in kinds} == {True, False}
    for (_, stalled), (short, _) in itertools.pairwise(kinds):
        assert short == stalled  # a short step comes after nothing else
    low, high = FrontConstants().radii
    assert all(low <= radius <= high for radius in radii)
    assert min(radii) < high


def test_as_long_as_no_point_is_feasible_steps_go_where_one_is_likely():
    def fun(x):
        return (x[0], -x[1]), {"c": 2.0 - x.min()}  # never met, and nearly in one corner

    r = bamsoo.minimize(fun, [(0, 1)] * 2, 12, objectives=["a", "b"], constraints=["c"])
    assert not r.feasible.any()
    assert r.origins["candidate"] >= 2
    assert r.origins["tree"] >= 2


@pytest.mark.parametrize(("dim", "moved"), [(1, 1.0), (2, 2.0), (3, 2.0), (8, 4.0)])
def test_short_steps_go_along_half_of_the_axes_or_two_of_them(dim, moved):
    domain, rng, candidates = cube(dim), np.random.default_rng(0), SimpleNamespace(total=2000)
    unused = (None,) * 2
    constants = FrontConstants()
    front = Front(domain, *unused, rng, *unused, candidates, Width(0.5, 0.05), 100, True, constants)
    centre = np.full(dim, 0.5)
    steps = front._around(centre) - centre
    assert len(steps) == 2000
    assert np.abs(steps).max() <= constants.radii[1]
    assert (steps != 0.0).sum(1).mean() == pytest.approx(moved, abs=0.1)
