"""The simulators: what they compute, their two kinds of constraints, and how peers meet them."""

from contextlib import suppress
from dataclasses import asdict

import numpy as np
import pytest

from bamsoo.space import Space
from bamsoo_lab.bench import goals, methods, plan, suites
from bamsoo_lab.bench.case import Target
from bamsoo_lab.bench.errors import BenchError
from bamsoo_lab.bench.measure import MeasuredObjective, Spent
from bamsoo_lab.bench.score import scores
from bamsoo_lab.bench.simulators import SIMULATORS
from bamsoo_lab.bench.suites import Selection
from bamsoo_lab.bench.suites.simulators import cases, takes


def case_of(name, part="develop"):
    return cases(Selection(part=part, tasks=(name,)))[0]


@pytest.mark.parametrize("name", SIMULATORS)
def test_a_simulator_computes_what_its_instance_decides(name):
    simulator = SIMULATORS[name]
    pytest.importorskip(simulator.package)
    first, same, other = (
        suites.target(case) for case in (case_of(name), case_of(name), case_of(name, "report"))
    )
    space, rng = Space(simulator.space), np.random.default_rng(0)
    points = [space.params(space.decode(rng.random(space.dim))) for _ in range(20)]
    values = [[target.fun(**p) for p in points] for target in (first, same, other)]
    assert values[0] == values[1] != values[2]
    if simulator.constraints:
        assert all({*measured} == {*simulator.constraints} for _, measured in values[0])
    else:
        failed = [value is None for value in values[0]]
        assert any(failed) == simulator.fails and not all(failed)
    assert (first.truth is not None) == simulator.noisy


def test_a_simulator_that_does_not_exist_is_an_error_of_one_sentence():
    with pytest.raises(BenchError, match="no simulator is called 'moon'; expected one of"):
        SIMULATORS["moon"]


def test_the_rule_of_the_wind_farm_by_hand():
    # six turbines in a row, 120 m or one diameter apart: neighbours are three diameters too close
    rule = SIMULATORS["wind-farm"].known(0)
    row = {f"{axis}{i}": 120.0 * i if axis == "x" else 0.0 for i in range(6) for axis in "xy"}
    numbers = rule(**row)
    assert len(numbers) == 15 + 6
    assert max(numbers[:15]) == pytest.approx(3.0) and max(numbers[15:]) < 0.0


# ---- constraints that are known in advance


def ridge():
    """A sum that is to be small, in the half where it is at least 1."""
    space = Space({"x": (0.0, 1.0), "y": (0.0, 1.0)}).given
    return Target(lambda x, y: x + y, space, known=lambda x, y: [1.0 - x - y])


@pytest.mark.filterwarnings("ignore:.constraints_func:FutureWarning")
@pytest.mark.parametrize("name", ["bamsoo", "random", "optuna-tpe"])
def test_no_point_is_evaluated_that_breaks_a_known_constraint(name):
    f = MeasuredObjective(ridge(), 15, 3)
    f.start()
    with suppress(Spent):
        methods.ALL[name].solve(f)
    notes = f.notes()
    assert notes["evaluations"] == 15 and set(notes["violations"]) == {0.0}


@pytest.mark.parametrize("name", ["slsqp", "cobyqa"])
def test_local_solvers_follow_a_known_constraint_to_the_optimum(name):
    f = MeasuredObjective(ridge(), 25, 3)
    f.start()
    with pytest.raises(Spent):
        methods.ALL[name].solve(f)
    found = [v for v, broken in zip(f.values, f.violations, strict=True) if broken <= 1e-6]
    assert min(found) == pytest.approx(1.0, abs=1e-5)


def test_random_points_that_break_a_constraint_are_no_part_of_the_scale():
    case = case_of("drive")
    run = {**asdict(case), "method": "random", "values": [0.0, 4.0, 6.0], "violations": [1, 0, 0]}
    ours = {**run, "method": "bamsoo", "values": [5.0, 1.0, 3.0], "violations": [0, 0, 0]}
    found = scores({"random": {case: run}, "bamsoo": {case: ours}})
    # the median of 4 and 6 has score 0, and 1 has score 1
    assert found["bamsoo"][case][:3].tolist() == [0.0, 1.0, 1.0]
    assert found["random"][case][:3].tolist() == [-1.0, 0.25, 0.25]


# ---- the comparison


def test_each_method_runs_the_simulators_that_it_can_handle():
    every = cases(Selection())
    planned = {m: {case.problem for case in every if takes(m, case)} for m in plan.SIMULATED}
    assert planned["optuna-tpe"] == planned["random"] == {*SIMULATORS}
    assert planned["cobyqa"] == {"wind-farm", "drive", "thin-film"}
    assert planned["optuna-tpe-group"] == {"segmentation"}
    assert not planned["cma-margin"] & {"wind-farm", "drive", "segmentation"}
    assert takes("bamsoo-noise", case_of("clinic")) and not takes("bamsoo-noise", case_of("drive"))


def test_the_goal_is_to_be_level_with_the_best_peer():
    case = case_of("lander")
    values = {"random": [4.0] * 100, "optuna-tpe": [0.0] * 100, "bamsoo": [0.2] * 100}
    runs = {m: {case: {**asdict(case), "method": m, "values": v}} for m, v in values.items()}
    ((goal, measured, met),) = goals.simulators(runs)
    assert goal.startswith("lander: level with the best peer")
    assert measured == "0.95, Optuna TPE 1.00" and not met
