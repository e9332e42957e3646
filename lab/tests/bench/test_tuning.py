"""The tuning tasks, COCO's suites, adapters for mixed spaces, and comparing while developing."""

import json
from dataclasses import replace
from math import inf

import numpy as np
import pytest
from click.testing import CliRunner

from bamsoo.algorithms import Auto
from bamsoo.command.main import main
from bamsoo.space import Choice, Int, Real, Space
from bamsoo_lab.bench import compare, goals, methods, suites
from bamsoo_lab.bench.case import Case, Target
from bamsoo_lab.bench.errors import BenchError
from bamsoo_lab.bench.measure import MeasuredObjective, Spent
from bamsoo_lab.bench.runs import run, task
from bamsoo_lab.bench.suites import Selection, coco, tuning
from bamsoo_lab.bench.tuning.task import TuningProblem
from bamsoo_lab.bench.tuning.tasks import INSTANCES, SPLIT, split, tasks
from bamsoo_lab.jobs.source import searches

pytest.importorskip("sklearn")

LONG = ("n_estimators", "max_iter")
"""Parameters that are kept small here: what they cost is time."""


def points(parameters, count=1):
    """The centre of a space, and a few random points."""
    space, rng = Space(parameters), np.random.default_rng(3)
    shrink = np.array([0.06 if name in LONG else 1.0 for name in parameters])
    for i in range(1 + count):
        u = rng.random(space.dim) if i else np.full(space.dim, 0.5)
        yield space.params(space.decode(shrink * u))


# ---- tasks


@pytest.mark.slow
@pytest.mark.parametrize("name", tasks())
def test_a_task_has_a_valid_space_and_the_same_values_in_the_same_order(name):
    task = tasks()[name]
    assert 2 <= Space(task.space).dim <= 12
    first, second = TuningProblem(task, 0), TuningProblem(task, 0)
    for params in points(task.space):
        a, b = first(**params), second(**params)
        assert a == b
        assert (a is None and task.fails) or np.isfinite(a)
    assert name.endswith("-fails") == task.fails
    assert ("noisy" in name) == task.noisy


@pytest.mark.parametrize("name", [t.name for t in tasks().values() if t.noisy])
def test_a_noisy_task_has_another_value_at_the_second_call(name):
    task = tasks()[name]
    problem = TuningProblem(task, 1)
    pairs = [(problem(**params), problem(**params)) for params in points(task.space, 2)]
    assert any(one is not None and one != two for one, two in pairs)


def test_the_true_value_is_the_mean_over_noise_of_its_own():
    task = tasks()["staffing-noisy"]
    problem, params = TuningProblem(task, 0), next(points(task.space))
    before = problem.truth(**params)
    many = [problem(**params) for _ in range(60)]
    assert problem.truth(**params) == before  # whatever was evaluated meanwhile
    assert before not in many
    assert abs(before - np.mean(many)) < 4 * np.std(many) / np.sqrt(12)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("cantilever-fails", {"x0": 1.0}),
        ("inventory-noisy-fails", {"reorder": 150, "up_to": 100}),
        ("forest-diabetes-fails", {"bootstrap": False, "max_samples": 0.3, "n_estimators": 2}),
        ("nu-svc-fails", {"nu": 0.9}),
        ("logistic-digits-fails", {"solver": "lbfgs", "l1_ratio": 0.5}),
        ("discriminant-digits-fails", {"solver": "svd", "shrinkage": 0.1}),
        ("radius-neighbours-wine-fails", {"radius": 0.01}),
        ("smoothing-fails", {"window": 5, "order": 9}),
        ("clusters-moons-fails", {"eps": 0.01, "min_samples": 20}),
        ("hist-boosting-diabetes", {"learning_rate": 2.9, "loss": "poisson", "max_iter": 60}),
    ],
)
def test_tasks_fail_where_they_should(name, changes):
    task = tasks()[name]
    assert TuningProblem(task, 10)(**(next(points(task.space)) | changes)) is None


def test_an_error_in_a_task_that_does_not_fail_is_not_hidden():
    with pytest.raises(TypeError):
        TuningProblem(tasks()["welded-beam"], 0)(h=1.0)


def test_instances_differ():
    for name in ("pid-controller", "svc-digits", "robot-arm"):
        each = tasks()[name]
        params = next(points(each.space))
        assert TuningProblem(each, 0)(**params) != TuningProblem(each, 10)(**params)


def test_the_split_is_fixed_and_even():
    assert split(tasks().values()) == SPLIT
    assert sorted(SPLIT["develop"] + SPLIT["report"]) == sorted(tasks())
    assert len(SPLIT["develop"]) == len(SPLIT["report"]) >= 20
    assert not set(INSTANCES["develop"]) & set(INSTANCES["report"])
    for kind in ("noisy", "fails"):
        assert all(sum(getattr(tasks()[n], kind) for n in names) >= 5 for names in SPLIT.values())


def test_the_suite_reports_on_its_own_part():
    usual, developed = (
        tuning.SUITE.cases(Selection()),
        tuning.SUITE.cases(Selection(part="develop")),
    )
    assert {case.instance for case in usual} == {10, 11}
    assert {case.problem for case in usual} == set(SPLIT["report"])
    assert {case.problem for case in developed} == set(SPLIT["develop"])
    assert len(usual) == len(developed) == 76
    with pytest.raises(BenchError, match=r"part 'develop' .* 'tuning' has no task 'svc-digits'"):
        tuning.cases(Selection(part="develop", tasks=("svc-digits",)))


# ---- methods

SPACE = {
    "a": Real(-1.0, 2.0),
    "b": Real(1e-3, 1e3, log=True),
    "c": Int(-3, 4),
    "d": Int(1, 200, log=True),
    "e": Choice([None, "x", 0.5]),
    "f": Choice([False, True]),
}


def test_cma_es_with_margin_reaches_every_value_and_no_other():
    pytest.importorskip("cmaes")
    seen = []

    def fun(**params):
        seen.append(params)
        if params["f"] and params["c"] > 1:
            return None
        return params["a"] ** 2 + abs(np.log(params["b"])) + abs(params["c"])

    f = MeasuredObjective(Target(fun, SPACE), 300, 5)
    f.start()
    with pytest.raises(Spent):
        methods.ALL["cma-margin"].solve(f)
    assert len(seen) == 300
    Space(SPACE).point(seen[0])
    for params in seen:
        Space(SPACE).point(params)
    assert {p["c"] for p in seen} >= {-2, -1, 0, 1, 2}
    assert {str(p["e"]) for p in seen} == {"None", "x", "0.5"}
    assert min(v for v in f.values if v is not None) < 0.5


def test_ours_recommends_a_point_under_noise():
    rng = np.random.default_rng(0)
    for name in ("bamsoo", "bamsoo-noise"):
        noisy = Target(lambda a: a**2 + 0.3 * rng.normal(), {"a": SPACE["a"]}, truth=lambda a: a**2)
        f = MeasuredObjective(noisy, 20, 0)
        f.start()
        methods.ALL[name].solve(f)
        notes = f.notes()
        assert [count for count, _ in notes["recommended"]] == [10, 20]
        assert all(0.0 <= worth < 1.0 for _, worth in notes["recommended"])


def test_settings_of_ones_own(monkeypatch, tmp_path):
    (tmp_path / "my_trial.py").write_text(
        "import bamsoo\nSOO = bamsoo.algorithms.SOO(k=5)\nmake = bamsoo.algorithms.SOO"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(methods, "ALL", dict(methods.ALL))
    case = Case("tuning", "welded-beam", 4, 0, 6)
    monkeypatch.setattr("bamsoo_lab.bench.runs.ALL", methods.ALL)
    keys = set()
    for name in ("my_trial:SOO", "my_trial:make"):
        f = MeasuredObjective(Target(lambda a: a, {"a": SPACE["a"]}), 6, 0)
        f.start()
        methods.find(name).solve(f)
        assert f.count == 6
        one = task(name, case)
        assert one.settings["algorithm"].startswith("SOO(k=")
        keys.add(one.key)
    assert len(keys) == 2
    with pytest.raises(BenchError, match="or module:attribute for settings of your own"):
        methods.find("nobody")


def test_the_default_with_other_constants(monkeypatch):
    monkeypatch.setattr(methods, "ALL", dict(methods.ALL))
    found = methods.find("bamsoo(warp=False climb.wide=0.5 local.trends=(inf,0.0))")
    algorithm = found.solve.keywords["algorithm"]
    constants = Auto().constants
    assert algorithm == replace(
        Auto(),
        warp=False,
        constants=replace(
            constants,
            climb=replace(constants.climb, wide=0.5),
            local=replace(constants.local, trends=(inf, 0.0)),
        ),
    )
    assert found.ours and methods.find(found.name) is found


@pytest.mark.parametrize("change", ["warp", "warp=no", "flop=1", "climb.flop=1", "flop.wide=1"])
def test_a_change_that_the_default_does_not_know(change):
    with pytest.raises(BenchError, match=f"'{change}' does not change the default; expected"):
        methods.find(f"bamsoo({change})")


def test_equal_runs_are_equal():
    case = Case(
        "tuning", "inventory-noisy-fails", len(tasks()["inventory-noisy-fails"].space), 10, 15
    )
    one, two = (run(task("random", case).settings, {}) for _ in range(2))
    for name in ("values", "recommended", "sample"):
        assert one[name] == two[name]
    assert len(one["sample"]) == methods.plain.SAMPLE
    assert [count for count, _ in one["recommended"]] == [10, 15]


# ---- the developer's comparison, and the command


def invoke(command, *words):
    return CliRunner().invoke(command, [str(word) for word in words], catch_exceptions=False)


@pytest.mark.slow
@pytest.mark.long
def test_the_comparison_continues_and_finds_runs_of_other_sources(tmp_path):
    call = ["--tasks", "welded-beam,thin-film", "--budget", 20, "--runs", tmp_path]
    made = invoke(compare.main, *call, "--methods", "bamsoo,random", "--run-peers")
    assert "Wins / losses / ties of bamsoo" in made.output
    stored = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert sum(data.count(b"\n") for data in stored.values()) == 8
    path = tmp_path / "tuning-bamsoo.jsonl"
    older = [
        json.loads(line) | {"digest": "0123456789ab"} for line in path.read_text().splitlines()
    ]
    path.write_text(
        "".join(json.dumps(line) + "\n" for line in older) + path.read_text() + '{"torn'
    )
    again = invoke(compare.main, *call, "--methods", "bamsoo,bamsoo@0123,random", "--by-task")
    assert "0 / 0 / 4 (+0.000)" in again.output
    assert searches() in again.output
    assert "Score by problem after 20" in again.output
    assert path.read_text().count("\n") == 8
    shorter = invoke(compare.main, *call[:2], "--budget", 10, *call[4:], "--no-run")
    assert "optuna-tpe: 0 of 4 runs" in shorter.output
    assert "after 10" in shorter.output


def test_the_command_knows_the_suites(tmp_path):
    made = invoke(main, "bench", "--suite", "mixint", "--functions", 99, "--out", tmp_path)
    assert made.exit_code == 2
    assert "no functions of mixint 99; expected numbers from 1 to 24" in made.output
    made = invoke(main, "bench", "--suite", "tuning", "--tasks", "nothing", "--out", tmp_path)
    assert made.exit_code == 2
    assert "the part 'report' of the suite 'tuning' has no task 'nothing'" in made.output


def scored(problem, instance, **values):
    case = Case("tuning", problem, 2, instance, 80)
    return {name: {case: {"values": [v] * 80, "budget": 80}} for name, v in values.items()}


def test_the_goals_of_tuning_by_hand():
    # random points are worth 10, as the first ten values; the best anyone reached is 0
    runs = {name: {} for name in ("bamsoo", "optuna-tpe", "random")}
    for i, (ours, theirs) in enumerate([(0.0, 5.0), (0.0, 3.0), (1.0, 0.0), (0.0, 2.0)]):
        for name, some in scored("p", i, **{"bamsoo": ours, "optuna-tpe": theirs}).items():
            runs[name] |= some
        case = Case("tuning", "p", 2, i, 80)
        runs["random"][case] = {"values": [10.0] * 10 + [2.0] * 70, "budget": 80}
    rows = {goal: (measured, met) for goal, measured, met in goals.tuning(runs)}
    assert rows["mean score at least 0.10 above every peer's after 80 evaluations"] == (
        "+0.175 (random)",
        True,
    )
    assert rows["at least 3 wins per loss against Optuna TPE after 40 evaluations"] == (
        "3 won, 1 lost",
        True,
    )
    assert rows["no task with a final score more than 0.10 below random search's"] == (
        "+0.175 (p)",
        True,
    )


# ---- COCO


def test_mixint_has_the_variables_of_coco():
    pytest.importorskip("cocoex")
    target = coco.mixint(Case("mixint", "f1", 10, 1, 150))
    sizes = [p.high + 1 for p in target.space.values() if isinstance(p, Int)]
    assert sizes == [2, 2, 4, 4, 8, 8, 16, 16]
    assert [p for p in target.space.values() if isinstance(p, Real)] == [Real(-5.0, 5.0)] * 2
    assert np.isfinite(target.fun(**next(points(target.space))))
    cases = coco.MIXINT.cases(Selection())
    assert len(cases) == 2 * 3 * 24
    assert {(case.dim, case.budget) for case in cases} == {(5, 100), (10, 150), (20, 200)}
    assert {case.instance for case in cases} == {11, 12}


BASES = {101: 1, 104: 8, 107: 1, 110: 8, 113: 7, 119: 14, 122: 17, 128: 21}
"""BBOB's functions that those with noise are made of; the other two have other constants."""


@pytest.mark.parametrize("first", BASES)
def test_the_true_value_of_a_noisy_function_is_that_of_bbob(first):
    cocoex = pytest.importorskip("cocoex")
    options = f"function_indices:{BASES[first]} dimensions:5 instance_indices:1"
    rng = np.random.default_rng(first)
    for function in range(first, first + 3):
        target = coco.noisy(Case("noisy", f"f{function}", 5, 1, 150))
        x = rng.uniform(-5, 5, 5)
        exact = float(cocoex.Suite("bbob", "", options)[0](x))
        constant = (10.0 if function < 107 else 1000.0) if function == first + 2 else 0.0
        params = {f"x{i}": v for i, v in enumerate(x)}
        assert target.truth(**params) - constant == pytest.approx(exact, rel=1e-9, abs=1e-6)


def test_a_noisy_function_can_be_repeated():
    pytest.importorskip("cocoex")
    found = []
    for _ in range(2):
        target = suites.target(Case("noisy", "f107", 5, 1, 150))
        params = next(points(target.space))
        found.append([target.fun(**params) for _ in range(20)])
        target.truth(**params)
    assert found[0] == found[1]
    assert len(set(found[0])) == 20
