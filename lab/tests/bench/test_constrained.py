"""Suites with constraints: the problems and their optima, the peers, and how runs compare."""

import json
from contextlib import suppress
from math import inf, nan

import numpy as np
import pytest

from bamsoo.space import Choice, Int, Real, Space
from bamsoo_lab.bench import constrained, develop, methods, suites
from bamsoo_lab.bench.case import Case, Target
from bamsoo_lab.bench.constrained import Standing, compared, outcome, standing
from bamsoo_lab.bench.designs import DESIGNS
from bamsoo_lab.bench.errors import BenchError
from bamsoo_lab.bench.measure import FEASIBLE, MeasuredObjective, Spent
from bamsoo_lab.bench.methods.local import EvaluatedOnce
from bamsoo_lab.bench.runs import cut, run, task, trace
from bamsoo_lab.bench.score import by_method
from bamsoo_lab.bench.suites import Selection, coco, designs

PEERS = ("slsqp", "cobyqa", "optuna-tpe", "random")


def measured(target, budget=20, seed=0):
    f = MeasuredObjective(target, budget, seed)
    f.start()
    return f


def design_case(name, instance=11, budget=40):
    return Case("designs", name, len(DESIGNS[name].space), instance, budget)


# ---- problems


@pytest.mark.parametrize("name", DESIGNS)
def test_the_optimum_of_a_design_is_feasible_and_has_its_value(name):
    design = DESIGNS[name]
    value, constraints = design.evaluate(**design.optimizer)
    assert value == pytest.approx(design.optimum, rel=1e-6)
    # tolerances in the units of each constraint, which differ: a volume is in cubic inches
    assert sum(max(c, 0.0) for c in constraints.values()) <= 1e-4
    assert constraints and tuple(constraints) == design.constraints
    Space(design.space).point(design.optimizer)


@pytest.mark.parametrize("name", DESIGNS)
def test_no_feasible_point_near_or_far_is_better_than_the_optimum(name):
    design, rng = DESIGNS[name], np.random.default_rng(5)
    space = Space(design.space)
    at = space.encode(space.point(design.optimizer))
    for scale in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(200):
            u = np.clip(at + scale * rng.uniform(-1.0, 1.0, space.dim), 0.0, 1.0)
            value, constraints = design.evaluate(**space.params(space.decode(u)))
            if all(c <= 0.0 for c in constraints.values()):
                assert value >= design.optimum - 2e-6 * abs(design.optimum)


def test_the_optima_that_the_literature_gives():
    known = {
        "welded-beam": 1.7249,
        "tension-spring": 0.012665,
        "pressure-vessel": 5850.38,
        "speed-reducer": 2994.47,
        "three-bar-truss": 263.896,
        "gramacy": 0.5998,
    }
    for name, optimum in known.items():
        assert DESIGNS[name].optimum == pytest.approx(optimum, rel=5e-5)


@pytest.mark.parametrize("name", DESIGNS)
def test_a_cut_box_is_smaller_and_holds_the_optimum(name):
    design = DESIGNS[name]
    assert design.cut_space(0) == design.space
    for box in designs.INSTANCES["develop"]:
        cut_space = design.cut_space(box)
        assert cut_space == design.cut_space(box) != design.space
        Space(cut_space).point(design.optimizer)
        for name_, parameter in cut_space.items():
            assert type(parameter) is type(design.space[name_])
            if isinstance(parameter, (Real, Int)):
                assert design.space[name_].low <= parameter.low
                assert parameter.high <= design.space[name_].high


def test_cases_of_the_suites_with_constraints():
    reported = designs.SUITE.cases(Selection())
    developed = designs.SUITE.cases(Selection(part="develop"))
    assert len(reported) == 5 * len(DESIGNS) and len(developed) == 3 * len(DESIGNS)
    assert not {c.instance for c in reported} & {c.instance for c in developed}
    assert sum(design.engineering for design in DESIGNS.values()) >= 8
    assert suites.target(reported[0]).space == DESIGNS[reported[0].problem].space
    assert suites.target(developed[0]).space != DESIGNS[developed[0].problem].space
    with pytest.raises(BenchError, match="the suite 'designs' has no task 'bridge'"):
        designs.cases(Selection(tasks=("bridge",)))
    of_coco = suites.ALL["constrained"].cases(Selection())
    assert len(of_coco) == 18 * 3
    numbers = [(int(c.problem[1:]) - 1) % 6 for c in of_coco]
    assert {numbers.count(n) for n in range(6)} == {3 * 3}
    assert {(c.dim, c.instance, c.budget) for c in of_coco} == {(d, 11, 100) for d in (2, 5, 10)}
    assert {c.instance for c in coco.cases("constrained", "develop")} == {1}


@pytest.mark.parametrize(("function", "dim"), [(1, 2), (8, 2), (21, 5), (48, 10)])
def test_cocos_optimum_is_feasible_and_the_best(function, dim, tmp_path, monkeypatch):
    cocoex = pytest.importorskip("cocoex")
    target = suites.target(Case("constrained", f"f{function}", dim, 11, 100))
    assert target.bounds == [(-5.0, 5.0)] * dim
    monkeypatch.chdir(tmp_path)  # COCO writes the optimum to a file in the current folder
    options = f"function_indices:{function} dimensions:{dim} instance_indices:11"
    cocoex.Suite("bbob-constrained", "", options)[0]._best_parameter("print")
    (file,) = tmp_path.iterdir()
    x = np.loadtxt(file)
    value, constraints = target.fun(x)
    assert tuple(constraints) == target.constraints
    assert max(constraints.values()) <= 1e-9
    assert max(constraints.values()) >= -1e-9  # one of them is active
    rng = np.random.default_rng(0)
    for scale in (1e-3, 0.1, 3.0):
        for _ in range(300):
            other, limits = target.fun(np.clip(x + scale * rng.normal(size=dim), -5.0, 5.0))
            assert other >= value - 1e-9 * abs(value) or max(limits.values()) > 0.0


# ---- measuring


def narrow(x):
    """A slope that is feasible from 0.5 on."""
    return float(x[0]), {"enough": 0.5 - x[0], "fine": -1.0}


def test_an_evaluation_returns_value_and_constraints_and_counts_once():
    f = measured(Target(narrow, [(0.0, 1.0)], 0.5, constraints=("enough", "fine")), 5)
    assert f.evaluate(np.array([0.75])) == (0.75, {"enough": -0.25, "fine": -1.0})
    assert f(np.array([0.25])) == 0.25
    assert f.observe_at({"x0": 0.5 - FEASIBLE / 2}) == (
        [0.4999995],
        pytest.approx({"enough": 5e-7, "fine": -1.0}),
    )
    notes = f.notes()
    assert f.count == 3
    assert notes["values"] == [0.75, 0.25, 0.4999995]
    assert notes["violations"] == [0.0, 0.25, pytest.approx(5e-7)]
    assert "steps" not in notes and notes["optimum"] == 0.5
    kept = {**notes, "budget": 5}
    assert trace(kept).tolist() == pytest.approx([0.25, 0.25, -5e-7, -5e-7, -5e-7])
    assert trace(cut(kept, 2)).tolist() == [0.25, 0.25]


def test_a_constraint_without_a_number_is_never_feasible():
    limits = iter([nan, inf, -1.0])
    f = measured(Target(lambda x: (1.0, {"c": next(limits)}), [(0.0, 1.0)], constraints=("c",)), 3)
    for _ in range(3):
        f(np.array([0.5]))
    notes = f.notes()
    assert notes["violations"] == [None, None, 0.0]
    assert json.loads(json.dumps(notes, allow_nan=False))
    assert trace({**notes, "budget": 3}).tolist() == [inf, inf, 1.0]


# ---- methods


def solved(name, problem, budget, seed=3):
    """The points that a method asks for, and what it found."""
    target, points = suites.target(design_case(problem)), []

    def fun(**params):
        points.append(params)
        return target.fun(**params)

    f = measured(
        Target(fun, target.space, target.optimum, constraints=target.constraints), budget, seed
    )
    with suppress(Spent):
        methods.ALL[name].solve(f)
    return points, {**f.notes(), "budget": budget}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("problem", ["pressure-vessel", "gardner-2"])
def test_a_peer_calls_exactly_its_budget_and_its_seed_decides(name, problem):
    for module in methods.ALL[name].modules:
        pytest.importorskip(module)
    points, found = solved(name, problem, 31)
    assert len(points) == 31 == found["evaluations"]
    for point in points:
        Space(DESIGNS[problem].space).point(point)
    assert points == solved(name, problem, 31)[0]
    if name in ("optuna-tpe", "random"):  # a local solver's first start is the centre
        assert points != solved(name, problem, 31, seed=4)[0]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_optunas_gaussian_process_is_given_the_constraints():
    for module in methods.ALL["optuna-gp"].modules:
        pytest.importorskip(module)
    points, found = solved("optuna-gp", "gramacy", 16)
    assert len(points) == 16
    assert min(found["violations"]) == 0.0


@pytest.mark.filterwarnings("ignore")
def test_optuna_is_given_the_constraints(monkeypatch):
    optuna = pytest.importorskip("optuna")
    studies = []
    create = optuna.create_study
    monkeypatch.setattr(
        optuna, "create_study", lambda **o: studies.append(create(**o)) or studies[-1]
    )
    points, found = solved("optuna-tpe", "gramacy", 12)
    trials = studies[0].trials
    for trial, point, violation in zip(trials, points, found["violations"], strict=True):
        told = [*trial.system_attrs["constraints"]]
        assert told == pytest.approx([*DESIGNS["gramacy"].evaluate(**point)[1].values()])
        assert violation == pytest.approx(sum(max(c, 0.0) for c in told), rel=1e-3)


@pytest.mark.parametrize("name", ["slsqp", "cobyqa"])
def test_a_local_solver_with_constraints_finds_an_optimum_on_two_of_them(name):
    points, found = solved(name, "three-bar-truss", 60)
    assert trace(found)[-1] <= 1e-4
    assert len({tuple(p.values()) for p in points}) == len(points)  # no point twice
    assert points[0] == pytest.approx({"outer": 0.505, "middle": 0.505}, abs=0.01)


def test_ours_is_given_the_constraints_and_keeps_to_its_budget():
    points, found = solved("bamsoo", "gramacy", 20)
    assert len(points) == 20 == found["evaluations"]
    assert trace(found)[-1] < 0.1
    assert sum(v <= FEASIBLE for v in found["violations"]) >= 5


def test_value_and_constraints_of_a_point_are_one_evaluation_and_whole_numbers_are_rounded():
    f = measured(suites.target(design_case("pressure-vessel")))
    once = EvaluatedOnce(f)
    u = np.full(4, 0.25)
    value, limits = once.value(u), once.constraints(u)
    assert f.count == 1 and len(limits) == 3
    assert once.value(u + 1e-9 * np.eye(4)[0]) == value  # the same sixteenths of an inch
    assert f.count == 1
    assert once.value(u + 1e-9 * np.eye(4)[2]) != value
    assert f.count == 2


def test_suites_with_constraints_refuse_methods_without():
    from click.testing import CliRunner

    from bamsoo.command.main import main

    made = CliRunner().invoke(main, ["bench", "--suite", "designs", "--against", "direct"])
    assert made.exit_code == 2
    assert "direct: optimisers without constraints" in made.output
    for name in ("designs", "constrained"):
        assert all(methods.ALL[peer].constrained for peer in suites.ALL[name].peers)


# ---- comparing


def run_of(method, values, violations, problem="gramacy", instance=11):
    case = design_case(problem, instance, budget=len(values))
    made = task(method, case).settings
    optimum = {"optimum": DESIGNS[problem].optimum, "versions": {}, "cpu": 0.5}
    return {**made, "values": values, "violations": violations, **optimum}


def test_where_a_run_stands():
    made = run_of("random", [1.0, 9.0, 5.0, None], [3.0, 2.0, 0.0, 0.0])
    assert [standing(made, at) for at in (1, 2, 3, 4)] == [
        (3.0, inf),
        (2.0, inf),
        (0.0, 5.0),
        (0.0, 5.0),
    ]
    assert standing(run_of("random", [1.0], [None]), 1) == (inf, inf)


def test_feasible_comes_before_everything_and_nearly_equal_is_equal():
    feasible, better, none = Standing(0.0, 5.0), Standing(0.0, 4.0), Standing(0.5, inf)
    assert compared(feasible, none) == 1 and compared(none, feasible) == -1
    assert compared(feasible, better) == -1
    assert compared(none, Standing(0.4, inf)) == -1
    assert compared(feasible, Standing(0.0, 5.0 + 1e-6)) == 0
    assert compared(none, none) == 0
    assert compared(Standing(inf, inf), none) == -1


def some_methods():
    runs = [
        run_of("bamsoo", [2.0, 0.6], [0.0, 0.0]),
        run_of("bamsoo", [2.0, 2.0], [1.0, 0.5], instance=12),
        run_of("bamsoo", [0.7, 0.7], [0.0, 0.0], instance=13),
        run_of("random", [1.0, 1.0], [0.0, 0.0]),
        run_of("random", [3.0, 3.0], [1.0, 1.0], instance=12),
        run_of("slsqp", [0.6, 0.6], [0.0, 0.0], instance=13),
    ]
    return by_method(runs)


def test_wins_are_counted_on_the_common_runs():
    found = some_methods()
    assert outcome(found["bamsoo"], found["random"], 1) == (0, 1, 1)
    assert outcome(found["bamsoo"], found["random"], 2) == (2, 0, 0)
    table = constrained.duels(found)
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["random"] == ["1 × 2", "2 / 0 / 0", "50", "0.5"]
    assert rows["SLSQP, multi-start"][1:3] == ["0 / 1 / 0", "100"]
    assert rows["bamsoo"][1:3] == ["", "67"]
    assert [t.name for t in constrained.duels_by_dimension(found)] == ["duels-2"]


def test_gaps_are_medians_relative_to_the_optimum():
    found = some_methods()
    optimum = DESIGNS["gramacy"].optimum
    assert constrained.gap(found["bamsoo"], "gramacy", 2) == pytest.approx(
        (0.7 - optimum) / optimum
    )
    (row,) = constrained.gaps(found).rows
    assert row[:2] == ["gramacy", "0.5997881"]
    assert row[2] == "16.71"  # per cent
    assert row[-1] == "none"  # one of two random runs found nothing feasible


def test_goals_of_the_suites_with_constraints():
    vessel = {"problem": "pressure-vessel"}
    runs = [
        run_of("bamsoo", [5860.0], [0.0], **vessel),
        run_of("random", [6000.0], [0.0], **vessel),
        run_of("slsqp", [5851.0], [0.0], **vessel),
    ]
    rows = constrained.design_goals(by_method(runs))
    assert [met for *_, met in rows] == [True, False, True]
    assert rows[1][1] == "0 ahead, 1 behind"
    runs[0] = run_of("bamsoo", [6000.0], [0.0], **vessel)
    assert constrained.design_goals(by_method(runs))[0][1:] == ("2.56 % on pressure-vessel", False)
    goals = constrained.coco_goals(by_method(runs))
    assert [(text, met) for _, text, met in goals] == [
        ("0 won, 1 lost", False),
        ("0 won, 0 lost", False),
    ]


def test_a_run_with_constraints_can_be_stored():
    made = run(task("random", design_case("concrete-beam", budget=15)).settings, {})
    assert made["evaluations"] == len(made["values"]) == len(made["violations"]) == 15
    assert json.loads(json.dumps(made, allow_nan=False))["optimum"] == 359.208
    assert isinstance(DESIGNS["concrete-beam"].space["steel"], Choice)


@pytest.mark.parametrize("name", [*develop.BRANCHES, *develop.DESIGNS])
def test_problems_for_development_have_the_constraints_and_the_optimum_that_they_name(name):
    goal = develop.BRANCHES[name](1) if name in develop.BRANCHES else develop.DESIGNS[name]
    space, rng = Space(goal.space), np.random.default_rng(0)
    for _ in range(50):
        x = space.decode(rng.random(space.dim))
        found = goal.fun(**space.params(x)) if goal.named else goal.fun(x)
        value, measured = found if goal.constraints else (found, {})
        assert tuple(measured) == goal.constraints
        assert value >= goal.optimum or max(measured.values()) > 0.0
