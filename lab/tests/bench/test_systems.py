"""The systems: what they compute, their parts, and which methods run them."""

import numpy as np
import pytest

from bamsoo.space import Choice, Space
from bamsoo_lab.bench import suites
from bamsoo_lab.bench.suites import Selection
from bamsoo_lab.bench.suites.systems import cases, takes
from bamsoo_lab.bench.systems import SPLIT, SYSTEMS
from bamsoo_lab.bench.systems.simulations import queue

CASES = [case for part in SPLIT for case in cases(Selection(part=part))]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.problem}-{case.instance}")
def test_a_system_has_noise_or_fails_only_if_it_says_so(case):
    system, one, two = SYSTEMS[case.problem], suites.target(case), suites.target(case)
    space, rng = Space(one.space), np.random.default_rng(2)
    points = [space.params(space.decode(rng.random(space.dim))) for _ in range(25)]
    values = [one.fun(**p) for p in points]
    assert values == [two.fun(**p) for p in points]
    found = [value for value in values if value is not None]
    assert len({*found}) > 1
    assert system.fails == (len(found) < len(values))
    again = [one.fun(**p) for p in points]
    assert (again != values) == system.noisy == (one.truth is not None)


def test_every_system_is_in_one_part():
    assert sorted([*SPLIT["develop"], *SPLIT["report"]]) == sorted(SYSTEMS)
    for part in SPLIT.values():
        kinds = [SYSTEMS[name].family for name in part]
        assert kinds.count("simulation") == 4 and kinds.count("architecture") == 2


def test_architectures_have_parameters_that_exist_for_one_option_only():
    for system in SYSTEMS.values():
        opens = any(isinstance(p, Choice) and p.opens for p in system.space.values())
        assert opens == (system.family == "architecture")


def test_every_method_runs_what_it_can_handle():
    every = {m: {c.problem for c in CASES if takes(m, c)} for m in suites.ALL["systems"].peers}
    chance = {name for name, system in SYSTEMS.items() if system.noisy}
    assert every["bamsoo-noise"] == every["cma-margin"] == chance
    assert every["optuna-tpe-group"] == {*SYSTEMS} - chance
    assert every["random"] == every["smac"] == {*SYSTEMS}


def test_customers_wait_for_the_first_who_is_free():
    # two people in the first hour, one in the second
    waits = queue([0.0, 1.0, 2.0, 61.0, 62.0], [10.0, 10.0, 10.0, 5.0, 5.0], [2, 1], 60.0)
    assert waits == pytest.approx((0 + 0 + 8 + 0 + 4) / 5)


def test_the_value_of_a_mine_whose_prices_are_never_reached_is_zero():
    fun = suites.target(next(c for c in CASES if c.problem == "mine")).fun
    assert fun(dig=400, stop=400, sell=0) == fun(dig=390, stop=300, sell=10) == 0.0
