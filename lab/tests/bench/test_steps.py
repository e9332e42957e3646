"""The suite of evaluations that may be stopped: its problems, how steps are counted, the goals."""

import numpy as np
import pytest

from bamsoo.space import Fidelity, Real, Space
from bamsoo_lab.bench import goals, methods, tables
from bamsoo_lab.bench.case import Case, Target
from bamsoo_lab.bench.errors import BenchError
from bamsoo_lab.bench.measure import MeasuredObjective, Spent
from bamsoo_lab.bench.methods import fidelity
from bamsoo_lab.bench.runs import run, task, trace
from bamsoo_lab.bench.suites import Selection, steps
from bamsoo_lab.bench.trainings import TRAININGS


def falling(x):
    """Three steps, the last of which is x."""
    yield x + 2.0
    yield x + 1.0
    yield x


def measured(budget=2):
    f = MeasuredObjective(Target(falling, {"x": Real(0.0, 1.0)}, steps=3), budget, 0)
    f.start()
    return f


def test_the_budget_counts_steps_and_only_finished_evaluations_have_a_value():
    f = measured()
    run = f.train(x=0.5)
    assert [next(run), next(run)] == [2.5, 1.5]
    run.close()
    assert f.left == 1  # four steps are left
    assert [*f.train(x=0.25)] == [2.25, 1.25, 0.25]
    assert f.left == 0
    with pytest.raises(Spent):
        f(x=0.0)  # a whole evaluation is too long
    last = f.train(x=0.0)
    assert next(last) == 2.0
    with pytest.raises(Spent):
        next(last)
    notes = f.notes()
    assert (notes["values"], notes["recommended"]) == ([0.25], [(2, 0.25)])
    assert notes["evaluations"] == 3
    # the fifth of six steps was in the second full evaluation
    assert trace({**notes, "budget": 2}).tolist() == [np.inf, 0.25]


def test_other_calls_take_all_steps_and_the_best_value_counts_from_its_end():
    f = measured(4)
    assert [f(x=0.75), f(x=0.5), f.unit(np.array([0.9]))] == [0.75, 0.5, 0.9]
    assert f.left == 1
    assert trace({**f.notes(), "budget": 4}).tolist() == [0.75, 0.5, 0.5, 0.5]


def test_with_a_fidelity_the_budget_counts_costs_and_only_the_top_has_a_value():
    space = {"x": Real(0.0, 1.0), "rows": Fidelity(1, 4)}
    target = Target(lambda x, rows: x + 1.0 / rows, space, fidelity="rows")
    assert list(target.by_name()) == ["x"]
    f = MeasuredObjective(target, 3, 0)
    f.start()
    assert f.dim == 1
    assert f(x=0.5, rows=1) == 1.5
    assert f.left == 2  # three quarters are left, and two more
    assert [f(x=0.5), f.unit(np.array([0.25]))] == [0.75, 0.5]
    with pytest.raises(Spent):
        f(x=0.0)
    assert f(x=0.0, rows=3) == pytest.approx(1 / 3)
    notes = f.notes()
    assert (notes["values"], notes["recommended"]) == ([0.75, 0.5], [(2, 0.75), (3, 0.5)])
    assert notes["evaluations"] == 4


def test_a_configuration_goes_on_from_where_it_was():
    f = measured(4)
    value = fidelity._resumed(f)
    assert [value({"x": 0.5}, 1), value({"x": 0.5}, 2.7), value({"x": 0.5}, 2)] == [2.5, 0.5, 1.5]
    assert f.count == 1 and f.left == 3  # three steps of twelve


@pytest.mark.parametrize("method", ["tpe-asha", "random-median"])
def test_pruners_are_for_steps(method):
    sized = Case("steps", "rbv2_xgboost-1", 14, 10, 20)
    assert not steps.takes(method, sized) and steps.takes(method, CASE)
    assert steps.takes("dehb", sized) and steps.takes("random", sized)


def test_a_closed_evaluation_closes_the_target():
    closed = []

    def fun(x):
        try:
            while True:
                yield x
        finally:
            closed.append(x)

    f = MeasuredObjective(Target(fun, {"x": Real(0.0, 1.0)}, steps=2), 3, 0)
    f.start()
    run = f.train(x=0.5)
    next(run)
    run.close()
    assert closed == [0.5]
    [*f.train(x=0.25)]
    assert closed == [0.5, 0.25]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TRAININGS)
def test_a_training_has_finite_values_that_its_instance_decides(name):
    pytest.importorskip("sklearn")
    training = TRAININGS[name]
    space, rng = Space(training.space), np.random.default_rng(3)
    for _ in range(2):
        params = space.params(space.decode(rng.random(space.dim)))

        def curve(instance, params=params):
            run = training.build(instance)(**params)
            return [next(run) for _ in range(min(training.steps, 5))]

        assert np.isfinite(curve(0)).all()
        assert curve(0) == curve(0) != curve(1)


def test_no_problem_is_in_both_parts_and_each_is_of_one_kind():
    report, develop = (steps.cases(Selection(part=part)) for part in ("report", "develop"))
    assert not {c.problem for c in report} & {c.problem for c in develop}
    assert len({c.problem for c in report if c.problem in TRAININGS}) >= 6
    for case in (*report, *develop):
        assert sum(belongs(case) for belongs in steps.FAMILIES.values()) == 1
    with pytest.raises(BenchError, match="has no task 'sgd-cancer'; expected some of lcbench-"):
        steps.cases(Selection(tasks=("sgd-cancer",)))


CASE = Case("steps", "heater-meshes", 4, 10, 4)


@pytest.mark.parametrize(
    "name", ["bamsoo", "bamsoo-whole", "random", "tpe-hyperband", "smac-budgets", "dehb"]
)
def test_methods_keep_to_the_budget(name):
    for module in methods.ALL[name].modules:
        pytest.importorskip(module)
    pytest.importorskip("sklearn")
    found = run(task(name, CASE).settings, {})
    whole = name in ("bamsoo-whole", "random")
    assert (len(found["values"]) == found["evaluations"] == 4) is whole
    assert 1 <= len(found["values"]) <= 4
    at, best = found["recommended"][-1]
    assert best == min(found["values"])
    assert 1 <= at <= 4
    assert ("sample" in found) is (name == "random")


def made(method, case, *reached):
    """A run that reached these values after 5, 10 and 20 evaluations."""
    values = [value for _, value in zip((5, 10, 20), reached, strict=True)]
    return {
        **vars(case),
        "method": method,
        "values": values,
        "sample": [0.0, 1.0, 2.0],
        "recommended": list(zip((5, 10, 20), reached, strict=True)),
        "evaluations": 40,
    }


def test_goals_worked_out_by_hand():
    cases = [Case("steps", name, 7, 10, 20) for name in ("lcbench-1", "late-drop-digits")]
    reached = {  # 0 is the median of the sample, which is 1, and the best value is 0
        "bamsoo": ([0.3, 0.2, 0.0], [0.5, 0.4, 0.3]),
        "bamsoo-whole": ([0.4, 0.2, 0.1], [0.5, 0.35, 0.31]),
        "random": ([0.5, 0.5, 0.5], [0.9, 0.9, 0.9]),
    }
    runs = {
        name: {case: made(name, case, *row) for case, row in zip(cases, rows, strict=True)}
        for name, rows in reached.items()
    }
    said = {goal: (found, met) for goal, found, met in goals.steps(runs)}
    assert said["mean score on lcbench at least 0.70 after 5 evaluations"] == ("0.700", True)
    assert said["mean score on lcbench at least 0.85 after 10 evaluations"] == ("0.800", False)
    assert said["at least 3 wins per loss against random after 20 evaluations"] == (
        "2 won, 0 lost",
        True,
    )
    wins = "at least 3 wins per loss against bamsoo without stopping after 10 evaluations"
    assert said[wins] == ("0 won, 1 lost", False)
    late = "where curves cross, mean score at most 0.02 below that without stopping after "
    assert said[late + "10 evaluations"] == ("-0.050", False)
    assert said[late + "20 evaluations"] == ("+0.010", True)
    rows = tables.score_families(runs, steps.FAMILIES).rows
    assert rows[0] == ["bamsoo", "0.70 / 0.80 / 1.00", "–", "–", "0.50 / 0.60 / 0.70"]
    assert tables.stopped(runs).rows[0] == ["bamsoo", "40.0", "3.0"]
