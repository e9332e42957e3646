"""The suite of conditional spaces: the tasks, their known optima, and the peers' adapters."""

import numpy as np
import pytest

from bamsoo.space import Choice, Space
from bamsoo_lab.bench import goals, methods, suites
from bamsoo_lab.bench.case import Case
from bamsoo_lab.bench.errors import BenchError
from bamsoo_lab.bench.measure import MeasuredObjective
from bamsoo_lab.bench.runs import run, task
from bamsoo_lab.bench.score import by_method
from bamsoo_lab.bench.suites import Selection, conditional
from bamsoo_lab.bench.tuning.task import TuningProblem
from bamsoo_lab.bench.tuning.tasks import split

pytest.importorskip("sklearn")

from bamsoo_lab.bench.conditional.synthetic import OPTIMA, places
from bamsoo_lab.bench.conditional.tasks import SPLIT, tasks

PEERS = ("random", "optuna-tpe-group", "smac")


def options(parameters):
    """Every path of options through a space, as the options chosen on it."""
    paths = [{}]
    for name, parameter in parameters.items():
        if isinstance(parameter, Choice) and parameter.opens:
            inner = [
                {name: option} | path
                for option, opened in zip(parameter.options, parameter.opens, strict=True)
                for path in options(opened)
            ]
            paths = [a | b for a in paths for b in inner]
    return paths


@pytest.mark.slow
@pytest.mark.parametrize("name", tasks())
def test_every_branch_of_a_task_has_a_value_and_needs_its_parameters_only(name):
    task = tasks()[name]
    space, problem = Space(task.space), TuningProblem(task, 3)
    rng, wanted, seen = np.random.default_rng(1), options(task.space), []
    assert len(wanted) >= 2
    for _ in range(400):
        params = space.params(space.decode(rng.random(space.dim)))
        path = next((p for p in wanted if p.items() <= params.items()), None)
        if path is not None and path not in seen:
            seen.append(path)
            value = problem(**params)
            assert np.isfinite(value)
            if len(seen) == 1:
                assert value == TuningProblem(task, 3)(**params)
        if len(seen) >= min(len(wanted), 6):
            break
    assert len(seen) >= min(len(wanted), 6)


def test_names_are_unique_in_a_task_as_smac_needs_them():
    for each in tasks().values():
        names = [slot.name for slot in Space(each.space).slots]
        assert len(set(names)) == len(names)


def at_optimum(name, instance):
    """A point of a synthetic task that has the least value."""
    at = places(instance, 16)
    if name == "tree-of-parabolas":
        leaf = "abcd"[int(np.argmin(np.random.default_rng([8, instance]).permutation(4)))]
        top = "left" if leaf in "ab" else "right"
        where = 2.0 * dict(zip("abcd", places(instance, 4), strict=True))[leaf] - 1.0
        return {"top": top, f"{top}_shift": 0.0, f"{top}_leaf": leaf, f"x{leaf}": where}
    if name == "eight-options":
        best = int(np.random.default_rng([9, instance]).integers(8))
        o, (x, y) = "abcdefgh"[best], at.reshape(8, 2)[best]
        return {"option": o, f"x{o}": x, f"y{o}": y}
    if name == "optional-steps":
        at = places(instance, 9)
        steps = [{f"step{i}": "on", f"x{i}": at[2 * i], f"y{i}": at[2 * i + 1]} for i in range(4)]
        return {"base": at[8]} | {k: v for step in steps for k, v in step.items()}
    if name == "deep-branch":
        at = places(instance, 8)
        branch = {"one": "deep", "two": "deeper", "three": "valley"}
        return branch | {"v1": at[5], "v2": at[6], "v3": at[7]}
    at = places(instance, 4)
    branch = {"machine": "geared", "gear": "high", "cooling": "oil"}
    sizes = {"g_size": 1 + round(49 * at[0]), "high_speed": 10.0 ** (3.0 * at[1])}
    return branch | sizes | {"flow": 10.0 ** (2.0 * at[2] - 1.0)}


@pytest.mark.parametrize("name", OPTIMA)
@pytest.mark.parametrize("instance", [0, 10, 11])
def test_the_optimum_of_a_synthetic_task_is_where_it_is_said_to_be(name, instance):
    each = tasks()[name]
    space, problem = Space(each.space), TuningProblem(each, instance)
    point = at_optimum(name, instance)
    space.point(point)
    assert problem(**point) == pytest.approx(OPTIMA[name], abs=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(300):
        assert problem(**space.params(space.decode(rng.random(space.dim)))) >= OPTIMA[name]


def test_the_split_is_fixed_and_even():
    assert split(tasks().values()) == SPLIT
    assert len(SPLIT["develop"]) == len(SPLIT["report"]) >= 10
    assert not set(SPLIT["develop"]) & set(SPLIT["report"])
    reported = conditional.SUITE.cases(Selection())
    assert {case.problem for case in reported} == set(SPLIT["report"])
    assert {(case.instance, case.budget) for case in reported} == {(10, 50), (11, 50)}
    with pytest.raises(BenchError, match=r"part 'report' .* 'conditional' has no task 'machines'"):
        conditional.cases(Selection(tasks=("machines",)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*PEERS, "bamsoo"])
def test_a_method_asks_only_for_parameters_that_exist(name):
    for module in methods.ALL[name].modules:
        pytest.importorskip(module)
    budget = 6 if name == "smac" else 25
    target = suites.target(Case("conditional", "deep-branch", 11, 10, budget))
    space, points = Space(target.space), []
    fun = target.fun

    def noted(**params):
        points.append(params)
        return fun(**params)

    f = MeasuredObjective(type(target)(noted, target.space), budget, 3)
    f.start()
    methods.ALL[name].solve(f)
    assert len(points) == budget
    for point in points:
        space.point(point)  # refuses a parameter too many and one too few


def test_suites_with_conditions_refuse_methods_without():
    from click.testing import CliRunner

    from bamsoo.command.main import main

    made = CliRunner().invoke(main, ["bench", "--suite", "conditional", "--against", "cma-margin"])
    assert made.exit_code == 2
    assert "cma-margin: optimisers of fixed sets of parameters" in made.output


def test_the_goal_is_two_wins_for_each_loss():
    runs = []
    for instance in (10, 11, 12):
        case = Case("conditional", "deep-branch", 11, instance, 2)
        for method, best in (("bamsoo", 0.1), ("random", 0.2), ("smac", 0.0)):
            runs.append({**task(method, case).settings, "values": [5.0, best]})
    rows = goals.conditional(by_method(runs))
    assert [(text, met) for _, text, met in rows] == [
        ("0 won, 3 lost", False),
        ("3 won, 0 lost", True),
    ]


def test_a_run_can_be_stored():
    made = run(task("random", Case("conditional", "machines", 8, 0, 12)).settings, {})
    assert made["evaluations"] == len(made["values"]) == 12
