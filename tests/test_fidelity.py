"""Fidelities: what a search evaluates cheaply, what that costs, and what counts as a result."""

import pickle
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import inf, log10, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bamsoo
from bamsoo import BamsooError, Choice, Fidelity, Int, Optimizer, Real, Study
from bamsoo.errors import SettingsError, SpaceError
from bamsoo.space import Space

SPACE = {"rows": Fidelity(500, 60_000, log=True), "rate": Real(1e-4, 1, log=True)}


def fit(rate: float, rows: int) -> float:
    """A loss that falls with the rows, by an amount that depends on the rate."""
    return (log10(rate) + 1.7) ** 2 + 30.0 / rows**0.5 * (1.0 + 0.2 * log10(rate))


def asked(opt: Optimizer, fun: Any, count: int) -> list[dict[str, Any]]:
    """The points of the next trials, each of which is told before the next is asked for."""
    points = []
    for _ in range(count):
        trial = opt.ask()
        points.append(trial.params)
        opt.tell(trial, fun(**trial.params))
    return points


@pytest.mark.parametrize("cheap", [1e300, -1e308, 1e-300])
@pytest.mark.parametrize("top", [1e300, 1.0])
def test_values_of_any_size(cheap: float, top: float) -> None:
    def scaled(rate: float, rows: int) -> float:
        return fit(rate, rows) / 9.0 * (top if rows > 30_000 else cheap)

    assert np.isfinite(bamsoo.minimize(scaled, SPACE, 8).fun)


# --- the parameter


def test_the_levels_and_their_costs() -> None:
    """Worked by hand: 8000 / 500 = 16 are two rungs of 4."""
    rows = Fidelity(500, 8000)
    assert rows.levels == (500, 2000, 8000)
    assert [rows.cost_of(level) for level in rows.levels] == [0.0625, 0.25, 1.0]
    assert all(isinstance(level, int) for level in rows.levels)
    mesh = Fidelity(0.0, 1.0, cost=lambda v: 2.0 + 6.0 * v)
    assert mesh.levels == (0.0, 0.5, 1.0)
    assert mesh.cost == (0.25, 0.625, 1.0)
    assert mesh.cost_of(0.25) == 0.4375  # between levels it is interpolated
    assert Fidelity(1, 1000).levels == (1, 6, 32, 178, 1000)
    assert Fidelity(1, 2).levels == (1, 2)
    assert Fidelity(0.05, 1.0).levels == (0.05, 0.223607, 1.0)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Fidelity(5, 5), "low must be below high"),
        (lambda: Fidelity(1e-300, 1e300), "at most 1e308 times low, got low=1e-300, high=1e"),
        (lambda: Fidelity(0, 5), "low must be above 0"),
        (lambda: Fidelity(1, 5, cost=3), "cost must be a function"),
        (lambda: Fidelity(1, 5, cost=lambda v: 0.0), "positive, finite number, but for 1 it"),
        (lambda: Fidelity(1, 5, cost=lambda v: inf), "positive, finite number"),
        (lambda: Fidelity(1, 5, cost=lambda v: nan), "positive, finite number"),
        (lambda: Fidelity(1, 5, cost=lambda v: "much"), "positive, finite number"),
        (lambda: Fidelity(1, 5, cost=lambda v: 6 - v), "for 1 cost returned 5 and for 5 only 1"),
        (lambda: Fidelity(-1, 5, log=True), "log scale needs low > 0"),
        (lambda: Space({"rows": Fidelity(1, 5)}), "needs another parameter to search"),
        (lambda: Space([(0, 1), Fidelity(1, 5)]), "needs a name"),
        (lambda: Space({**SPACE, "more": Fidelity(1, 5)}), "may have one Fidelity"),
        (lambda: Choice({"a": {"rows": Fidelity(1, 5)}, "b": None}), "move it out of the Choice"),
    ],
)
def test_what_is_refused(make: Any, said: str) -> None:
    with pytest.raises(SpaceError, match=said):
        make()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"steps": 5}, "cannot be combined with steps="),
        ({"objectives": ["a", "b"]}, "for one objective"),
        ({"algorithm": "soo"}, "use auto, random, mfdoo or sobol"),
    ],
)
def test_settings_that_do_not_go_with_it(given: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        Optimizer(SPACE, **given)


def test_constraints_with_an_entry_per_parameter_are_refused() -> None:
    from scipy.optimize import LinearConstraint

    with pytest.raises(SettingsError, match="rows is a Fidelity"):
        Optimizer(SPACE, constraints=[LinearConstraint([[1.0, 1.0]], 0, 1)])


def test_a_point_without_a_value_is_at_the_top() -> None:
    space = Space(SPACE)
    assert space.names == ["rate", "rows"]
    assert space.params(space.point({"rate": 0.1})) == {"rate": 0.1, "rows": 60_000}
    assert space.params(space.decode(np.array([1.0]))) == {"rate": 1.0, "rows": 60_000}
    assert len(space.encode(space.point({"rate": 0.1, "rows": 777}))) == space.domain.dim == 1
    for rows, said in ((499, "outside"), (60_001, "outside"), (600.5, "whole number")):
        with pytest.raises(SpaceError, match=said):
            space.point({"rate": 0.1, "rows": rows})


# --- the search


def test_a_run() -> None:
    r = bamsoo.minimize(fit, SPACE, budget=12)
    assert r.params is not None and r.params["rows"] == 60_000
    assert r.fun == fit(**r.params)
    assert r.nfev == len(r.X) > 12 >= r.cost
    assert r.cost == pytest.approx(sum(point["rows"] for point in r.X) / 60_000)
    assert r.cost > 11  # what is left would not pay for a full evaluation
    assert all(type(point["rows"]) is int for point in r.X)
    top = [f for point, f in zip(r.X, r.F, strict=True) if point["rows"] == 60_000]
    assert r.fun == min(top)
    assert list(r.F) == [fit(**point) for point in r.X]
    assert r.feasible.sum() == len(top) and r.ninfeasible == 0


def test_the_first_point_climbs_all_levels() -> None:
    """The trace and its cost, worked by hand: 1/16 + 1/4 + 1."""
    space = {"x": (0, 1), "rows": Fidelity(500, 8000)}
    opt = Optimizer(space)
    found = asked(opt, lambda x, rows: (x - 0.2) ** 2 + 1 / rows, 3)
    assert found == [{"x": 0.5, "rows": rows} for rows in (500, 2000, 8000)]
    assert opt.result.cost == 1 + 1 / 4 + 1 / 16
    assert opt.result.nfev == 3
    assert [each.origin for each in opt.ledger.evaluations] == ["tree", "promoted", "promoted"]
    assert [each.state for each in opt.ledger.evaluations] == ["cheap", "cheap", "finished"]
    opt.tell(opt.ask(), 0.3)  # another point
    assert opt.ledger.evaluations[-1].x[0] != 0.5


def test_poor_points_stay_below_the_top() -> None:
    r = bamsoo.minimize(fit, SPACE, budget=12)
    frame = r.to_dataframe()
    best = frame.groupby("rate")["rows"].max()
    assert (best < 60_000).sum() > 0
    assert set(frame["state"]) == {"cheap", "finished"}
    assert ((frame["state"] == "finished") == (frame["rows"] == 60_000)).all()


def test_cheap_values_that_lie_are_found_out() -> None:
    """The cheap versions prefer the wrong end, and are much lower."""

    def lying(x: float, rows: int) -> float:
        share = rows / 8000
        return share * (x - 0.9) ** 2 + (1 - share) * ((x - 0.1) ** 2 - 5.0)

    r = bamsoo.minimize(lying, {"x": (0, 1), "rows": Fidelity(500, 8000)}, budget=15)
    assert r.params is not None and r.params["rows"] == 8000
    assert r.fun >= 0.0
    assert r.fun < 1e-2


def test_a_finite_space_is_evaluated_at_the_top_in_the_end() -> None:
    space = {"k": Int(0, 7), "rows": Fidelity(1, 16)}
    r = bamsoo.minimize(lambda k, rows: (k - 3) ** 2 + 1 / rows, space, budget=30)
    assert {point["k"] for point in r.X if point["rows"] == 16} == set(range(8))
    assert r.params == {"k": 3, "rows": 16}
    assert r.status == 4


def test_random_evaluates_at_the_top() -> None:
    r = bamsoo.minimize(fit, SPACE, budget=5, algorithm="random")
    assert [point["rows"] for point in r.X] == [60_000] * 5
    assert r.cost == r.nfev == 5


@pytest.mark.parametrize("upwards", [True, False])
def test_known_points_are_seen_once_at_the_highest_level(upwards: bool) -> None:
    r = bamsoo.minimize(fit, SPACE, budget=6)
    top = {p["rate"] for p in r.X if p["rows"] == 60_000}
    below = {p["rate"] for p in r.X} - top
    order = slice(None, None, 1 if upwards else -1)
    opt = Optimizer(SPACE)
    opt.give([(*each, None, None, None) for each in list(zip(r.X, r.F, strict=True))[order]])
    opt.ask()
    known = opt.book.known
    seen = [float(opt.space.decode(x)[0]) for x in known.X]
    assert set(seen) == top | below and len(below) > 1
    final = {rate: fit(rate, 60_000) for rate in top}
    for rate, value in zip(seen, known.values.tolist(), strict=True):
        assert rate in below or -value == final[rate]
    mean, _ = opt.predict([{"rate": rate} for rate in top])
    assert mean == pytest.approx([final[rate] for rate in top], abs=1e-3)


def test_given_points() -> None:
    known = [({"rate": 0.02, "rows": 500}, 0.0), ({"rate": 0.03}, 0.5)]
    r = bamsoo.minimize(
        fit, SPACE, budget=4, x0=[{"rate": 0.5, "rows": 700}, {"rate": 0.4}], known=known
    )
    assert r.X[:2] == [{"rate": 0.02, "rows": 500}, {"rate": 0.03, "rows": 60_000}]
    assert {"rate": 0.5, "rows": 700} in r.X and {"rate": 0.4, "rows": 60_000} in r.X
    assert r.fun <= 0.5 and r.params is not None and r.params["rows"] == 60_000
    again = bamsoo.minimize(fit, SPACE, budget=1, known=r.to_dataframe())
    assert again.fun <= r.fun
    frame = r.to_dataframe().query("rows == 60000").drop(columns="rows")
    assert bamsoo.minimize(fit, SPACE, budget=1, known=frame).X[0]["rows"] == 60_000


def test_failures_constraints_noise_and_maximize() -> None:
    def fun(rate: float, kind: str, rows: int) -> Any:
        if rate > 0.5:
            return None
        return -fit(rate, rows) - (kind == "a"), {"size": rate - 0.1}

    space = {**SPACE, "kind": Choice(["a", "b"])}
    r = bamsoo.maximize(
        fun, space, budget=10, constraints=["size", lambda rate, kind, rows: rate > 1e-3],
        noise="learn", on_error="fail",
    )  # fmt: skip
    assert r.cost <= 10
    assert r.params is not None and r.params["rows"] == 60_000
    assert 1e-3 < r.params["rate"] <= 0.1


def test_workers() -> None:
    with ThreadPoolExecutor(2) as executor:
        r = bamsoo.minimize(fit, SPACE, budget=6, workers=executor)
    assert r.cost <= 6 and r.params is not None and r.params["rows"] == 60_000


def test_a_result_shows_what_is_at_the_top() -> None:
    import matplotlib

    matplotlib.use("Agg")
    space = {**SPACE, "x": (0, 1)}
    r = bamsoo.minimize(lambda rate, rows, x: fit(rate, rows) + x, space, budget=6)
    for kind in ("convergence", "partition", "slices", "importance", "parallel", "contour"):
        r.plot(kind)
    assert set(r.ranges(0.1)) == {"rate", "x"}
    assert r.predict({"rate": 0.1, "x": 0.5}) == r.predict({"rate": 0.1, "x": 0.5, "rows": 500})
    copy = pickle.loads(pickle.dumps(r))
    mean, deviation = (float(each[0]) for each in r.predict({"rate": 0.1, "x": 0.5}))
    again = [float(each[0]) for each in copy.predict({"rate": 0.1, "x": 0.5})]
    assert again == pytest.approx([mean, deviation], rel=1e-6)


# --- replay


def test_a_study_is_resumed_exactly(tmp_path: Path) -> None:
    space = {"rows": Fidelity(500, 60_000, log=True, cost=lambda v: v + 1000), "rate": (0.01, 1)}
    whole = bamsoo.minimize(fit, space, budget=9, study=tmp_path / "whole.db")
    for budget in (2, 5, 9):
        parts = bamsoo.minimize(fit, space, budget=budget, study=tmp_path / "parts.db")
    assert parts.X == whole.X and parts.cost == whole.cost
    with Study.open(tmp_path / "parts.db") as study:  # the costs are stored, the function is not
        assert study.result.cost == whole.cost
        assert study.space.fidelity == space["rows"]
        assert study.result.params == whole.params
    with pytest.raises(BamsooError, match="parameter rows is Fidelity"):
        Study.open(tmp_path / "parts.db", space={**space, "rows": Fidelity(500, 60_000, log=True)})


@pytest.mark.parametrize("budget", [1, 2])
def test_the_smallest_budgets_give_a_value_at_the_top(tmp_path: Path, budget: int) -> None:
    r = bamsoo.minimize(fit, SPACE, budget, study=tmp_path / "run.db")
    assert r.success and r.cost <= budget and r.params["rows"] == 60_000
    more = bamsoo.minimize(fit, SPACE, 4, study=tmp_path / "run.db")
    assert more.cost > 2.0 and more.X[: r.nfev] == r.X


@settings(max_examples=15, deadline=None)
@given(
    low=st.integers(1, 50),
    ratio=st.integers(2, 400),
    log=st.booleans(),
    pending=st.integers(1, 3),
    budget=st.integers(1, 6),
    seed=st.integers(0, 2**20),
)
def test_properties(low: int, ratio: int, log: bool, pending: int, budget: int, seed: int) -> None:
    """The budget is never exceeded, the best is at the top, and a copy asks for the same points."""
    rng = np.random.default_rng(seed)
    space = {"x": (0, 1), "n": Fidelity(low, low * ratio, log), "k": Int(1, 3)}
    opt, cost, tops = Optimizer(space, seed=seed), 0.0, []
    for _ in range(30):
        trials = []
        for _ in range(pending):
            running = {each.number: 0 for each in trials}
            if (trial := opt.ask_within(budget, running)) is not None:
                trials.append(trial)
        if not trials:
            break
        for trial in reversed(trials):
            value = None if rng.random() < 0.1 else float(rng.normal())
            cost += trial.params["n"] / (low * ratio)
            opt.tell(trial, value)
            if value is not None and trial.params["n"] == low * ratio:
                tops.append(value)
        assert opt.result.cost == pytest.approx(cost)
        assert opt.result.cost <= budget
        best = opt.best
        assert (best is None) == (not tops)
        assert best is None or best.value == min(tops)
    twin = pickle.loads(pickle.dumps(opt))
    assert twin.result.cost == opt.result.cost
    assert twin.ask().params == opt.ask().params


# ---- failures below the top


def counted(fails: Callable[[float, float, float], bool], budget: float) -> tuple[Any, Any]:
    """A run on a bowl that fails at some points and levels, and how often each level was tried."""
    tried: Counter[float] = Counter()

    def bowl(x: float, y: float, rows: float) -> float:
        tried[rows] += 1
        if fails(x, y, rows):
            raise ValueError("it failed")
        return (x - 0.3) ** 2 + (y - 0.6) ** 2 + 0.1 / rows

    space = {"x": (0.0, 1.0), "y": (0.0, 1.0), "rows": Fidelity(1, 64)}
    return bamsoo.minimize(bowl, space, budget, on_error="fail"), tried


@pytest.mark.parametrize("broken", [{1}, {4}, {1, 4}, {1, 4, 16}])
def test_levels_at_which_everything_fails_are_left_out(broken: set[float]) -> None:
    r, tried = counted(lambda x, y, rows: rows in broken, 12)
    assert r.fun < 0.05
    assert tried[64] >= 5
    assert all(tried[level] <= 1 + (len(r.X) + 9) // 10 for level in broken)


def test_points_that_fail_at_every_level_are_given_up_after_the_first_failure() -> None:
    r, _ = counted(lambda x, y, rows: (x + 4 * y) % 0.5 < 0.2, 15)
    failed = [(p["x"], p["y"]) for p, value in zip(r.X, r.F, strict=True) if np.isnan(value)]
    times = Counter(failed)
    assert r.fun < 0.1
    assert len(times) > 4
    climbed = [count for count in times.values() if count > 1]
    assert 1 <= len(climbed) <= 1 + (len(r.X) + 9) // 10  # the first, and one point in ten


def test_what_failed_at_a_low_level_is_tried_at_the_top_before_the_search_ends() -> None:
    space = {"n": bamsoo.Int(0, 5), "rows": Fidelity(1, 16)}

    def fun(n: int, rows: float) -> float:
        if (rows == 1 and n != 3) or n == 0:
            raise ValueError("it failed")
        return (n - 4.0) ** 2 + 1.0 / rows

    r = bamsoo.minimize(fun, space, 20, on_error="fail")
    assert {p["n"] for p in r.X if p["rows"] == 16} == set(range(6))
    assert r.params["n"] == 4


def test_a_study_with_failures_below_the_top_is_resumed_exactly(tmp_path: Path) -> None:
    def fun(x: float, rows: float) -> float:
        if rows == 1 or (rows == 4 and x > 0.5):
            raise ValueError("it failed")
        return (x - 0.3) ** 2 + 1.0 / rows

    space = {"x": (0.0, 1.0), "rows": Fidelity(1, 16)}
    more: dict[str, Any] = {"on_error": "fail"}
    whole = bamsoo.minimize(fun, space, 8, **more)
    for count in (1, 4, 7, 99):
        more["stop"] = lambda r, n=count: r.nfev >= n
        r = bamsoo.minimize(fun, space, 8, study=tmp_path / "run.db", **more)
    assert len(r.X) > 7
    assert r.X == whole.X
