"""The tuning tasks and COCO's suites, their scores, the adapters and the runner."""

import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from bamsoo.lab.bench.errors import BenchError
from bamsoo.lab.bench.measure import Spent
from bamsoo.lab.bench.tuning import coco, compare, methods, runs, score, suites
from bamsoo.lab.bench.tuning.objective import Objective
from bamsoo.lab.bench.tuning.task import Problem
from bamsoo.lab.bench.tuning.tasks import INSTANCES, SPLIT, find, split, tasks
from bamsoo.space import Choice, Int, Real, Space

pytest.importorskip("sklearn")

LONG = ("n_estimators", "max_iter")
"""Parameters that are kept small here: what they cost is time."""


def points(space, count=1):
    """The centre, and a few random points."""
    rng = np.random.default_rng(3)
    for i in range(1 + count):
        yield {
            name: methods.at(p, (0.06 if name in LONG else 1.0) * (rng.random() if i else 0.5))
            for name, p in space.items()
        }


@pytest.mark.parametrize("name", tasks())
def test_a_task_has_a_valid_space_and_the_same_values_in_the_same_order(name):
    task = find(name)
    assert 2 <= Space(task.space).dim <= 12
    first, second = Problem(task, 0), Problem(task, 0)
    found = [(first(**p), second(**p)) for p in points(task.space)]
    for a, b in found:
        assert a == b
        assert (a is None and task.fails) or np.isfinite(a)
    assert name.endswith("-fails") == task.fails
    assert ("noisy" in name) == task.noisy


@pytest.mark.parametrize("name", [t.name for t in tasks().values() if t.noisy])
def test_a_noisy_task_has_another_value_at_the_second_call(name):
    problem = Problem(find(name), 1)
    differ = 0
    for params in points(problem.space, 2):
        one, two = problem(**params), problem(**params)
        differ += one is not None and one != two
    assert differ > 0


def test_the_true_value_is_the_mean_over_noise_of_its_own():
    problem = Problem(find("staffing-noisy"), 0)
    params = next(points(problem.space))
    before = problem.truth(params)
    many = [problem(**params) for _ in range(60)]
    assert problem.truth(params) == before  # whatever was evaluated meanwhile
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
    ],
)
def test_failing_tasks_fail_where_they_should(name, changes):
    problem = Problem(find(name), 10)
    assert problem(**(next(points(problem.space)) | changes)) is None


def test_an_error_in_a_task_that_does_not_fail_is_not_hidden():
    problem = Problem(find("welded-beam"), 0)
    with pytest.raises(TypeError):
        problem(h=1.0)


def test_instances_differ():
    for name in ("pid-controller", "svc-digits", "robot-arm"):
        params = next(points(find(name).space))
        assert Problem(find(name), 0)(**params) != Problem(find(name), 10)(**params)


def test_the_split_is_fixed_and_even():
    assert split(tasks().values()) == SPLIT
    assert sorted(SPLIT["develop"] + SPLIT["report"]) == sorted(tasks())
    assert len(SPLIT["develop"]) == len(SPLIT["report"]) >= 20
    assert not set(INSTANCES["develop"]) & set(INSTANCES["report"])
    for kind in ("noisy", "fails"):
        assert all(sum(getattr(find(n), kind) for n in names) >= 5 for names in SPLIT.values())


def test_all_values_of_a_parameter_are_equally_likely():
    u = (np.arange(600) + 0.5) / 600
    assert [sum(methods.at(Int(3, 5), x) == n for x in u) for n in (3, 4, 5)] == [200] * 3
    either = Choice(["a", "b"])
    assert [sum(methods.at(either, x) == option for x in u) for option in "ab"] == [300] * 2
    assert methods.at(Real(1e-4, 1e4, log=True), 0.5) == pytest.approx(1.0)
    assert {methods.at(Int(1, 100, log=True), x) for x in u} >= {1, 2, 3, 50}


SPACE = {
    "a": Real(-1.0, 2.0),
    "b": Real(1e-3, 1e3, log=True),
    "c": Int(-3, 4),
    "d": Int(1, 200, log=True),
    "e": Choice([None, "x", 0.5]),
    "f": Choice([False, True]),
}


class Fake:
    """A function that fails in part of the space."""

    def __init__(self, noisy=False):
        self.space, self.noisy, self.seen = SPACE, noisy, []

    def __call__(self, **params):
        assert list(params) == list(SPACE)
        assert isinstance(params["c"], int) and -3 <= params["c"] <= 4
        assert isinstance(params["d"], int) and 1 <= params["d"] <= 200
        assert params["e"] in (None, "x", 0.5) and params["f"] in (False, True)
        assert -1.0 <= params["a"] <= 2.0 and 1e-3 <= params["b"] <= 1e3
        self.seen.append(params)
        if params["f"] and params["c"] > 1:
            return None
        return params["a"] ** 2 + abs(np.log(params["b"])) + abs(params["c"]) + 0.1 * len(self.seen)

    def truth(self, params):
        return params["a"] ** 2 + abs(np.log(params["b"])) + abs(params["c"])


@pytest.mark.filterwarnings("ignore")  # of the peers about themselves
@pytest.mark.parametrize("name", methods.ALL)
def test_an_adapter_speaks_for_its_method(name):
    method = methods.ALL[name]
    for module in method.modules:
        pytest.importorskip(module)
    budget = 12 if method.rate > 0.1 else 24
    target = Fake(noisy=name == "bamsoo-noise")
    objective = Objective(target, budget, 5)
    with suppress(Spent):
        method.solve(objective)
    notes = objective.notes()
    assert len(notes["values"]) == len(target.seen) == budget
    assert [count for count, _ in notes["marks"]] == [n for n in (10, 20) if n < budget] + [budget]
    assert len({str(p) for p in target.seen}) > budget // 2
    assert any(v is not None for v in notes["values"])


def test_settings_of_ones_own(monkeypatch, tmp_path):
    (tmp_path / "my_trial.py").write_text("import bamsoo\nSOO = bamsoo.SOO(k=3)\nmake = bamsoo.SOO")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("my_trial:SOO", "my_trial:make"):
        objective = Objective(Fake(), 6, 0)
        methods.find(name).solve(objective)
        assert objective.count == 6
        assert runs.source(name) != runs.source("bamsoo")
    with pytest.raises(BenchError, match="no method is called 'nobody'"):
        methods.find("nobody")


def test_noisy_marks_are_true_values_of_the_recommended_point():
    target = Fake(noisy=True)
    objective = Objective(target, 10, 0)
    good = {"a": 0.0, "b": 1.0, "c": 0, "d": 1, "e": None, "f": False}
    for i in range(10):
        objective(good | {"a": 0.1 * i})
    assert objective.notes()["marks"] == [[10, 0.0]]  # told 0.1 at first, then more and more
    objective.recommend = lambda: good | {"c": 3}
    other = Objective(target, 10, 0)
    other.recommend = objective.recommend
    other(good)
    assert other.notes()["marks"] == [[1, 3.0]]


def record(method, values, seed=0, marks=None, instance=0, problem="p"):
    best = [min((v for v in values[:n] if v is not None), default=None) for n in (10, 20)]
    return {
        "method": method,
        "suite": "tuning",
        "problem": problem,
        "instance": instance,
        "seed": seed,
        "budget": 20,
        "values": values,
        "marks": marks or [[10, best[0]], [20, best[1]]],
    }


def test_scores_worked_out_by_hand():
    # random: 1..10 fail every second, then 3: the median of 2, 4, 6, 8, 10 is 6; the best is 2
    found = [
        record("random", [None if i % 2 else float(i) for i in range(1, 11)] + [3.0] * 10),
        record("a", [8.0] * 10 + [4.0] * 10),
        record("b", [None] * 10 + [30.0] * 10),
        record("c", [2.0] * 20),
    ]
    scale = score.scales(found)
    assert scale == {("p", 0): score.Scale(6.0, 2.0)}
    by = {r["method"]: [score.scores([r], scale, m)["p", 0, 0] for m in (10, 20)] for r in found}
    assert by == {"random": [1.0, 1.0], "a": [-0.5, 0.5], "b": [-1.0, -1.0], "c": [1.0, 1.0]}


def test_noisy_runs_are_scored_by_true_values():
    # told 1 and 2, truly 5 and 3; random points are truly worth 4, 6 and 8
    lucky = record("a", [1.0] * 20, marks=[[10, 5.0], [20, 5.0]])
    better = record("b", [2.0] * 20, marks=[[10, 3.0], [20, 3.0]])
    random = record("random", [7.0] * 20, marks=[[10, 9.0], [20, 9.0]]) | {
        "sample": [4.0, 6.0, 8.0]
    }
    scale = score.scales([lucky, better, random])
    assert scale == {("p", 0): score.Scale(6.0, 3.0)}
    assert score.scores([lucky], scale, 20)["p", 0, 0] == pytest.approx(1 / 3)
    told = [score.as_told(r) for r in (lucky, better, random)]
    assert score.scales(told) == {("p", 0): score.Scale(7.0, 1.0)}
    assert score.scores(told[:1], score.scales(told), 20)["p", 0, 0] == 1.0


def test_the_best_of_the_random_points_counts():
    random = record("random", [7.0] * 20, marks=[[20, 9.0]]) | {"sample": [4.0, 6.0, 8.0]}
    assert score.scales([random]) == {("p", 0): score.Scale(6.0, 4.0)}


def test_random_points_that_all_fail_at_first():
    random = record("random", [None] * 11 + [4.0, 2.0, 6.0] + [None] * 6)
    assert score.scales([random]) == {("p", 0): score.Scale(4.0, 2.0)}


def test_a_scale_without_width():
    flat = score.Scale(1.0, 1.0)
    assert [flat.score(v) for v in (1.0, 2.0, None)] == [1.0, -1.0, -1.0]


def test_a_run_that_ended_early_keeps_its_last_mark():
    r = record("a", [5.0] * 12, marks=[[10, 5.0], [12, 4.0]])
    assert score.at_mark(r, 10) == 5.0
    assert score.at_mark(r, 20) == 4.0


def test_the_score_needs_random_search():
    with pytest.raises(BenchError, match="random search has no run on p, instance 0"):
        score.scales([record("a", [1.0] * 20)])


def test_wins_losses_and_ties():
    ours = {("p", 0, 0): 0.5, ("p", 1, 0): 0.7, ("q", 0, 0): 0.2, ("r", 0, 0): 1.0}
    theirs = {("p", 0, 0): 0.4, ("p", 1, 0): 0.7 + 1e-7, ("q", 0, 0): 0.6}
    duel = score.duel(ours, theirs)
    assert (duel.won, duel.lost, duel.equal) == (1, 1, 1)
    assert duel.difference == pytest.approx(-0.1)
    assert score.by_problem(ours) == pytest.approx({"p": 0.6, "q": 0.2, "r": 1.0})


def test_the_interval_holds_the_mean():
    low, high = score.interval([0.0, 1.0] * 20)
    assert 0.3 < low < 0.5 < high < 0.7
    assert score.interval([0.25] * 5) == (0.25, 0.25)


def test_a_torn_line_is_made_again(tmp_path):
    job = runs.job("random", suites.Case("tuning", "welded-beam", 0), 10)
    ledger = runs.Ledger(tmp_path)
    made = ledger.put(job, job.run())
    path = tmp_path / "tuning-random.jsonl"
    with path.open("a") as file:
        file.write('{"method": "ran')
    assert runs.Ledger(tmp_path).get(job) == made
    other = runs.job("random", suites.Case("tuning", "welded-beam", 1), 10)
    assert runs.Ledger(tmp_path).get(other) is None
    ledger.put(other, other.run())
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["instance"] for line in lines] == [0, 1]


def test_equal_runs_are_equal():
    job = runs.job("random", suites.Case("tuning", "inventory-noisy-fails", 10, 2), 15)
    one, two = (job.run() for _ in range(2))
    assert one["values"] == two["values"]
    assert one["marks"] == two["marks"]
    assert one["sample"] == two["sample"]
    assert len(one["sample"]) == methods.SAMPLE


def test_the_command_continues_and_compares(tmp_path: Path):
    call = ["--tasks", "welded-beam,thin-film", "--budget", "20", "--runs", str(tmp_path)]
    call += ["--methods", "bamsoo,random", "--run-peers", "--by-task"]
    first = CliRunner().invoke(compare.main, call, catch_exceptions=False)
    assert "bamsoo against random after 20" in first.output
    stored = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert sum(data.count(b"\n") for data in stored.values()) == 8
    again = CliRunner().invoke(compare.main, call, catch_exceptions=False)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == stored
    assert again.output.splitlines()[-8:] == first.output.splitlines()[-8:]


def test_a_task_of_the_other_part_is_refused():
    with pytest.raises(BenchError, match="'svc-digits' is not in the part 'develop'"):
        suites.cases("tuning", "develop", ["svc-digits"])


def test_mixint_has_the_variables_of_coco():
    pytest.importorskip("cocoex")
    problem = coco.build("mixint", "f1-10d", 1)
    sizes = [p.high + 1 for p in problem.space.values() if isinstance(p, Int)]
    assert sizes == [2, 2, 4, 4, 8, 8, 16, 16]
    assert [p for p in problem.space.values() if isinstance(p, Real)] == [Real(-5.0, 5.0)] * 2
    params = next(points(problem.space))
    assert problem(**params) == problem.truth(params)
    assert len(suites.cases("mixint", "report")) == 2 * 3 * 24
    assert suites.budget(suites.Case("mixint", "f1-20d", 1)) == 200


BASES = {101: 1, 104: 8, 107: 1, 110: 8, 113: 7, 119: 14, 122: 17, 128: 21}
"""BBOB's functions that those with noise are made of; the other two have other constants."""


@pytest.mark.parametrize("first", BASES)
def test_the_true_value_of_a_noisy_function_is_that_of_bbob(first):
    cocoex = pytest.importorskip("cocoex")
    options = f"function_indices:{BASES[first]} dimensions:5 instance_indices:2"
    rng = np.random.default_rng(first)
    for function in range(first, first + 3):
        noisy = coco.Noisy(function, 5, 2)
        x = rng.uniform(-5, 5, 5)
        exact = float(cocoex.Suite("bbob", "", options)[0](x))
        constant = (10.0 if function < 107 else 1000.0) if function == first + 2 else 0.0
        params = {f"x{i}": v for i, v in enumerate(x)}
        assert noisy.truth(params) - constant == pytest.approx(exact, rel=1e-9, abs=1e-6)


def test_a_noisy_function_can_be_repeated():
    pytest.importorskip("cocoex")
    found = []
    for _ in range(2):
        noisy = coco.build("noisy", "f107-5d", 1)
        params = next(points(noisy.space))
        found.append([noisy(**params) for _ in range(20)])
        noisy.truth(params)
    assert found[0] == found[1]
    assert len(set(found[0])) == 20
