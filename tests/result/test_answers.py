"""Prices, other limits and tolerances, on problems whose answers can be worked out by hand."""

import pickle

import numpy as np
import pytest

import bamsoo
from bamsoo import Choice, Int, Real
from bamsoo.errors import ModelError, SettingsError
from bamsoo.result.answers import Hold, _within_reach


def circle(x, y):
    """The nearest point to (1, 1) with x + y <= 1 is (0.5, 0.5); a unit of `s` is worth 0.01."""
    return (x - 1) ** 2 + (y - 1) ** 2, {"s": 100 * (x + y), "flow": 3.0 * x - y}


BOX = {"x": (-1, 2), "y": (-1, 2)}


@pytest.fixture(scope="module")
def limited():
    return bamsoo.minimize(circle, BOX, 45, constraints=["s <= 100"])


# --- what limits the best point


def test_a_limit_has_the_price_of_its_multiplier(limited):
    (held,) = limited.active
    assert (held.name, held.limit) == ("s", "s <= 100")
    assert held.price == pytest.approx(0.01, rel=0.02)
    assert 0.0 <= held.slack < 0.01
    assert 0.0 < held.uncertainty < 0.001
    assert str(held).startswith("s <= 100 (price 0.01")


def test_a_maximised_value_gains_as_much():
    r = bamsoo.maximize(
        lambda x, y: (-circle(x, y)[0], {"s": -100 * (x + y)}), BOX, 45, constraints=["s >= -100"]
    )
    (held,) = r.active
    assert (held.limit, held.price) == ("s >= -100", pytest.approx(0.01, rel=0.02))


def test_bounds_and_known_constraints_have_prices():
    space = {"x": (0, 1), "y": (-1, 1), "rate": Real(0.01, 100, log=True)}
    r = bamsoo.minimize(
        lambda x, y, rate: (x - 2) ** 2 + y**2 + np.log(rate), space, 30,
        constraints=[bamsoo.Formula("y >= 0.25")],
    )  # fmt: skip
    prices = {each.limit: each.price for each in r.active}
    assert prices == {
        "x <= 1": pytest.approx(2.0, rel=0.05),
        "y >= 0.25": pytest.approx(0.5, rel=0.05),
        "rate >= 0.01": pytest.approx(100.0, rel=0.05),
    }


def test_nothing_holds_an_optimum_inside():
    r = bamsoo.minimize(lambda x, y: (x - 0.4) ** 2 + y**2, {"x": (0, 1), "y": (-1, 1)}, 40)
    assert r.active == []


@pytest.mark.parametrize(
    ("slack", "per_unit", "near"),
    [
        (4.0, 1 / 400, True),  # T >= 300 of 300 to 700, at 304
        (40.0, 1 / 400, False),
        (9e-4, 1 / (1e-6 * np.log(1e5)), False),  # gamma >= 1e-6 on a log axis, in its middle
        (1e-8, 1 / (1e-6 * np.log(1e5)), True),
    ],
)
def test_a_bound_is_near_as_a_share_of_its_axis(slack, per_unit, near):
    assert _within_reach(Hold("", "", slack, np.array([[-1.0]]), per_unit)) == near


def test_a_bound_that_the_optimum_only_touches_has_no_price():
    r = bamsoo.minimize(lambda x, y: (x - 0.4) ** 2 + y**2, {"x": (0, 1), "y": (0, 4)}, 40)
    assert r.params["y"] < 1e-3
    assert r.active == []


def test_only_real_parameters_have_prices():
    r = bamsoo.minimize(lambda n, k: n + (k == "a"), {"n": Int(1, 9), "k": Choice(["a", "b"])}, 15)
    assert r.active == []


@pytest.mark.parametrize(
    ("other", "prices"),
    [
        ("t <= 200", {"s <= 100": 0.01, "t <= 200": 0.005}),  # neither has a price of its own
        ("t <= 201", {"s <= 100": 0.01}),  # nothing reaches the second one
    ],
)
def test_limits_in_the_same_direction(other, prices):
    def fun(x, y):
        value, measured = circle(x, y)
        return value, {"s": measured["s"], "t": 2.0 * measured["s"]}

    r = bamsoo.minimize(fun, BOX, 40, constraints=["s <= 100", other])
    found = {each.limit: each.price for each in r.active}
    assert found == {limit: pytest.approx(price, rel=0.05) for limit, price in prices.items()}
    if len(prices) > 1:  # relaxing one of them alone brings nothing
        assert all(each.uncertainty >= 0.99 * each.price for each in r.active)


def test_the_limit_that_costs_most_comes_first_whatever_its_units():
    r = bamsoo.minimize(
        lambda rate, x: (np.log10(rate) + 4) ** 2 + 10 * (x - 2) ** 2,
        {"rate": Real(1e-3, 1e3, log=True), "x": (-1.0, 0.5)}, 30,
    )  # fmt: skip
    assert [each.name for each in r.active] == ["x", "rate"]
    assert r.active[0].price < r.active[1].price


# --- predictions of everything measured


def test_measured_and_recorded_numbers_are_predicted(limited):
    at = [{"x": 0.2, "y": 0.3}, {"x": 0.7, "y": 0.4}]
    assert limited.predict(at, "s")[0] == pytest.approx([50, 110], abs=1)
    assert limited.predict(at, "flow")[0] == pytest.approx([0.3, 1.7], abs=0.05)
    with pytest.raises(SettingsError, match="no measured number called 'heat'"):
        limited.predict(at, "heat")


def test_several_objectives_are_predicted_by_name():
    r = bamsoo.minimize(lambda x: (x[0], 1 - x[0] + x[1]), [(0, 1)] * 2, 25, objectives=["a", "b"])
    assert r.predict([0.3, 0.2], "b")[0] == pytest.approx(r.predict([0.3, 0.2])["b"][0])
    assert r.importance.of("b")["x1"] > r.importance["x1"]
    with pytest.raises(SettingsError, match=r"result.only\(name\).active"):
        r.active  # noqa: B018 (a property)


def test_importance_is_of_the_value_or_of_a_number_everywhere_or_near_the_best():
    def fun(x, y):  # a runaway in x decides the variance, and near the best only y matters
        return 100.0 * max(x - 0.5, 0.0) ** 2 + y, {"load": y}

    r = bamsoo.minimize(fun, {"x": (0, 1), "y": (0, 1)}, 60)
    assert set(r.importance) == {"x", "y"}
    assert r.importance["x"] > 0.9 > 0.1 > r.importance["y"]
    assert r.importance.near["y"] > r.importance.near["x"]
    assert r.importance.of("load")["y"] == pytest.approx(1.0, abs=0.02)
    assert r.importance.of("load").near["x"] == pytest.approx(0.0, abs=0.02)


def test_near_the_best_is_where_constraints_are_met():
    def fun(x, y):  # the best values are all infeasible, and there x decides
        return y + 20.0 * min(x - 0.5, 0.0), {"c": 0.5 - x}

    r = bamsoo.minimize(fun, {"x": (0, 1), "y": (0, 1)}, 40, constraints=["c"])
    assert r.importance["x"] > 0.9
    assert r.importance.near["y"] > 0.9 > 0.2 > r.importance.near["x"]
    known = bamsoo.minimize(
        lambda x, y: fun(x, y)[0], {"x": (0, 1), "y": (0, 1)}, 40,
        constraints=[bamsoo.Formula("x >= 0.5")],
        known=[({"x": 0.1 * i, "y": 0.5}, fun(0.1 * i, 0.5)[0]) for i in range(5)],
    )  # fmt: skip
    assert known.importance.near["y"] > known.importance.near["x"]


# --- other limits


def test_without_a_change_it_is_what_the_models_expect_of_a_longer_search(limited):
    said = limited.what_if([])
    assert said.low <= 0.5 <= said.high
    assert said.high - said.low < 0.01
    assert (said.params["x"], said.params["y"]) == pytest.approx((0.5, 0.5), abs=0.02)


@pytest.mark.parametrize(
    ("change", "value"),
    [("s <= 120", 0.32), ("s <= 60", 0.98), ("x <= 0.3", 0.58), (["s <= 120", "x <= 0.3"], 0.5)],
)
def test_other_limits_lead_to_other_values(limited, change, value):
    said = limited.what_if(change)
    assert said.fun == pytest.approx(value, rel=0.02)
    assert said.low <= said.fun <= said.high
    assert said.low - 0.01 <= value <= said.high + 0.01
    found, measured = circle(**said.params)
    assert found == pytest.approx(value, rel=0.02)
    if "s" in str(change):
        assert measured["s"] <= float(str(change).split("s <= ")[1][:3].strip("'")) + 0.5


def test_a_wider_bound_is_an_extrapolation():
    r = bamsoo.minimize(lambda x, y: (x - 2) ** 2 + y**2, {"x": (0, 1), "y": (-1, 1)}, 35)
    said = r.what_if("x <= 1.2")
    assert said.params["x"] == pytest.approx(1.2)
    assert said.fun == pytest.approx(0.64, rel=0.1)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("heat <= 3", "no measured number called 'heat'"),
        ("x <= abc", "'x <= abc' is not a limit; write it as"),
        ("s == 3", "'s == 3' is not a limit; write it as"),
        ("2.5 <= x", "leaves nothing of the range of x"),
        ("s >= nan", "must be finite"),
        (3, "takes limits as text"),
    ],
)
def test_what_cannot_be_asked(limited, change, says):
    with pytest.raises(SettingsError, match=says):
        limited.what_if(change)


@pytest.mark.parametrize("change", ["-1 <= x <= 0.3", "0.3 >= x", "x<=0.3"])
def test_a_bound_may_be_written_in_several_ways(limited, change):
    assert limited.what_if(change).fun == pytest.approx(0.58, rel=0.02)


def weight(x, y):
    return x + y - 1


@pytest.mark.parametrize(
    ("constraint", "name", "limit", "looser"),
    [
        (bamsoo.Formula("x + y <= 1"), "x + y", "x + y <= 1", "x+y <= 1.2"),
        (bamsoo.Formula("-9 < x + y < 1"), "x + y", "x + y < 1", "x + y <= 1.2"),
        (weight, "weight", "weight", "weight <= 0.2"),
    ],
)
def test_limits_of_formulas_and_functions_can_be_moved(constraint, name, limit, looser):
    r = bamsoo.minimize(lambda **p: circle(**p)[0], BOX, 30, constraints=[constraint])
    (held,) = r.active
    assert (held.name, held.limit, held.price) == (name, limit, pytest.approx(1.0, rel=0.02))
    assert r.what_if(looser).fun == pytest.approx(0.32, rel=0.02)
    assert r.what_if("x - y <= -0.5").fun == pytest.approx(0.625, rel=0.02)  # another formula


def test_a_constraint_that_is_met_or_not_is_kept():
    def allowed(x, y):
        return x + y <= 1

    r = bamsoo.minimize(lambda **p: circle(**p)[0], BOX, 20, constraints=[allowed])
    assert r.what_if("x <= 0.3").fun == pytest.approx(0.58, rel=0.02)
    said = r.robust({"x": 0.1, "y": 0.1})
    assert said.sure > 0.8
    assert said.params["x"] + said.params["y"] <= 0.8
    with pytest.raises(SettingsError, match="allowed returns a bool"):
        r.what_if("allowed <= 1")


def test_whole_numbers_have_bounds_too():
    space = {"x": (-2, 3), "n": Int(0, 10), "kind": Choice(["a", "b"])}
    r = bamsoo.minimize(lambda x, n, kind: (x - 2) ** 2 + (n - 3) ** 2, space, 40)
    said = r.what_if("n >= 4.5")
    assert (said.params["n"], said.fun) == (5, pytest.approx(4.0, rel=0.02))
    for change, says in [
        ("n <= 12", "wider than the space"),
        ("n <= -1", "leaves nothing"),
        ("4.2 <= n <= 4.4", "leaves nothing"),
        ("kind <= 1", "has options"),
    ]:
        with pytest.raises(SettingsError, match=says):
            r.what_if(change)


def test_parameters_of_several_options_are_meant_by_their_labels():
    models = Choice({"svm": {"C": Real(1e-3, 1e3, log=True)}, "ridge": {"C": (0, 1)}})
    r = bamsoo.minimize(
        lambda k, C: (np.log10(C) - 4) ** 2 + 1 if k == "svm" else 3 + C, {"k": models}, 40
    )
    (held,) = r.active
    assert held.limit == "C (k='svm') <= 1000"
    assert held.price == pytest.approx(2e-3 / np.log(10), rel=0.05)
    said = r.what_if("C (k='svm') <= 100")
    assert said.params == {"k": "ridge", "C": pytest.approx(0.0, abs=1e-3)}
    assert said.fun == pytest.approx(3.0, abs=0.01)
    for ask in (lambda: r.what_if("C <= 5"), lambda: r.robust({"C": 0.1})):
        with pytest.raises(SettingsError, match="several parameters are called 'C'"):
            ask()


def test_a_parameter_with_one_value_has_no_bounds():
    r = bamsoo.minimize(lambda x, y: x * x + y, {"x": (-1, 2), "y": 0.5}, 15)
    with pytest.raises(SettingsError, match="y is fixed at"):
        r.what_if("y <= 1")


def test_a_search_with_a_fidelity_has_answers_at_its_top():
    r = bamsoo.minimize(
        lambda x, rows: (x - 0.3) ** 2 + 1 / rows,
        {"x": (0, 0.2), "rows": bamsoo.Fidelity(10, 1000, log=True)},
        12,
    )
    (held,) = r.active
    assert (held.limit, held.price) == ("x <= 0.2", pytest.approx(0.2, rel=0.05))
    assert r.robust({"x": 0.01}).fun == pytest.approx(0.12**2 + 0.001, rel=0.02)


def test_limits_can_be_moved_while_nothing_is_feasible():
    r = bamsoo.minimize(circle, BOX, 20, constraints=["s <= -500"])
    assert not r.success
    assert r.what_if("s <= 100").fun == pytest.approx(0.5, abs=0.1)
    with pytest.raises(ModelError, match="no point that meets everything that has to be met"):
        r.what_if([])


def test_answers_stay_away_from_where_evaluations_fail():
    def fun(x, y):
        return None if x < 0.3 else (x - 0.2) ** 2 + y**2

    r = bamsoo.minimize(fun, {"x": (0, 1), "y": (-1, 1)}, 40, on_error="fail")
    said = r.what_if([])
    assert said.params["x"] > 0.28
    assert said.low <= 0.01 <= said.high  # the value at (0.3, 0)
    said = r.robust({"x": 0.1})
    assert said.params["x"] > 0.37
    assert said.sure > 0.8


def test_other_limits_that_cannot_be_met_are_said_to_be(limited):
    with pytest.raises(ModelError, match=r"no point that meets 's <= -1000'"):
        limited.what_if("s <= -1000")


# --- tolerances


def test_the_worst_point_within_the_tolerances_decides(limited):
    # x - 1.1 = y - 1 and x + y = 0.9: the worst value at (0.4, 0.4) is 0.36 + 0.36
    said = limited.robust({"x": 0.1})
    assert (said.params["x"], said.params["y"]) == pytest.approx((0.5, 0.4), abs=0.01)
    assert said.fun == pytest.approx(0.72, abs=0.01)
    assert said.sure > 0.8
    for shift in (-0.1, 0.0, 0.1):
        value, measured = circle(said.params["x"] + shift, said.params["y"])
        assert value <= said.fun + 1e-3
        assert measured["s"] <= 100.0


def test_the_checks_of_a_robust_point_can_be_enqueued(limited):
    said = limited.robust({"x": 0.1, "y": 0.05})
    opt = bamsoo.Optimizer(BOX, constraints=["s <= 100"])
    opt.enqueue(said.checks)
    for point in said.checks:
        assert opt.ask().params == pytest.approx(point)


def test_a_narrow_valley_is_not_robust():
    def fun(x, y):  # a narrow, deep hole at 0.2, and a wide one at 0.7
        hole = -1.2 * np.exp(-(((x - 0.2) / 0.04) ** 2)) - np.exp(-(((x - 0.7) / 0.25) ** 2))
        return hole + y**2

    r = bamsoo.minimize(fun, {"x": (0, 1), "y": (-1, 1)}, 70)
    said = r.robust({"x": 0.08})
    assert said.params["x"] == pytest.approx(0.7, abs=0.05)
    assert said.fun == pytest.approx(-np.exp(-((0.08 / 0.25) ** 2)), abs=0.05)


def test_what_is_bad_between_the_ends_of_the_tolerances_counts():
    def fun(x):  # a narrow ridge at 0.3, between good ends
        return float(np.exp(-(((x - 0.3) / 0.05) ** 2)) + (x - 0.2) ** 2)

    known = [({"x": x}, fun(x)) for x in np.linspace(0.0, 1.0, 41).tolist()]
    said = bamsoo.minimize(fun, {"x": (0, 1)}, 5, known=known).robust({"x": 0.2})
    around = said.params["x"] + np.linspace(-0.2, 0.2, 81)
    assert max(map(fun, around.clip(0.0, 1.0))) == pytest.approx(said.fun, abs=0.02)
    assert said.fun < 0.5


@pytest.mark.parametrize("measured", [True, False])
def test_with_many_tolerances_the_worst_corner_is_found(measured):
    """The limit is reached at one of 128 corners only, and the worst value at another one."""
    centre, width, limit = np.linspace(0.3, 0.9, 7), 0.05, 3.5

    def fun(**p):
        x = np.array(list(p.values()))
        value = float(((x - centre) ** 2).sum())
        return (value, {"s": float(x.sum())}) if measured else value

    space = {f"p{i}": (0.0, 1.0) for i in range(7)}
    constraint = f"s <= {limit}" if measured else lambda **p: bool(sum(p.values()) <= limit)
    drawn = np.random.default_rng(0).uniform(0.1, 0.7, (60, 7))
    points = [dict(zip(space, x, strict=True)) for x in drawn.tolist() if sum(x) <= limit]
    known = [(point, fun(**point)) for point in points]
    r = bamsoo.minimize(fun, space, 8, constraints=[constraint], known=known)
    said = r.robust(dict.fromkeys(space, width))
    x = np.array(list(said.params.values()))
    assert x.sum() + 7 * width <= limit + 1e-2
    assert ((np.abs(x - centre) + width) ** 2).sum() <= said.fun + 2e-2


def test_a_tolerance_on_a_log_scale_is_in_units_of_the_parameter():
    r = bamsoo.minimize(
        lambda rate: (np.log10(rate) + 4) ** 2, {"rate": Real(1e-3, 1e3, log=True)}, 30
    )
    (held,) = r.active
    assert held.price == pytest.approx(2e3 / np.log(10), rel=0.05)  # at the lower end
    said = r.robust({"rate": 0.0005})
    assert said.params["rate"] == pytest.approx(0.0015, rel=1e-3)
    assert said.fun == pytest.approx((np.log10(0.002) + 4) ** 2, rel=0.02)
    with pytest.raises(SettingsError, match="no bound on a log scale"):
        r.what_if("rate >= 0")


@pytest.mark.parametrize(
    "tolerances", [{}, {"z": 0.1}, {"x": 0.0}, {"x": 2.0}, {"x": "much"}, [0.1]]
)
def test_a_tolerance_belongs_to_a_real_parameter(limited, tolerances):
    with pytest.raises(SettingsError):
        limited.robust(tolerances)


def test_answers_of_a_pickle_are_the_same(limited):
    again = pickle.loads(pickle.dumps(limited))
    assert again.what_if("s <= 120").fun == pytest.approx(limited.what_if("s <= 120").fun, rel=1e-3)
    assert again.active[0].price == pytest.approx(limited.active[0].price, rel=1e-2)


# --- nothing feasible


def test_while_nothing_is_feasible_the_least_violation_is_shown():
    def fun(x):
        return x[0], {"T": 530.0 + 100 * x[0], "c": -1.0}

    r = bamsoo.minimize(fun, [(0, 1)], 8, constraints=["T <= 520", "c"])
    least = r.least_violating
    assert least.by == {"T <= 520": pytest.approx(10 + 100 * r.X.min())}
    assert least.params == {"x0": r.X.min()}
    assert "violates least: T <= 520 by 1" in r.nothing
    assert f"violates least: T <= 520 by {least.by['T <= 520']:.3g}, at {{'x0': " in repr(r)
    assert "<th style='text-align:left'>x0</th>" in r._repr_html_()
    with pytest.raises(ModelError, match="no feasible point"):
        r.active  # noqa: B018 (a property)
    fine = bamsoo.minimize(lambda x: (x[0], {"c": -1.0}), [(0, 1)], 4, constraints=["c"])
    assert fine.least_violating is None
