"""Suites beyond boxes: mixed parameters, failures, noise, and scores without a known optimum."""

import json
from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from bamsoo import Choice, Int, Real
from bamsoo.command.main import main
from bamsoo_lab.bench import methods, score, suites, tables
from bamsoo_lab.bench.bench import bench
from bamsoo_lab.bench.case import Case, Target
from bamsoo_lab.bench.comparison import Comparison
from bamsoo_lab.bench.errors import BenchError
from bamsoo_lab.bench.measure import LARGE, MeasuredObjective
from bamsoo_lab.bench.runs import cut, measurement, run, task, trace
from bamsoo_lab.bench.suites import Selection, Suite
from bamsoo_lab.jobs.task import Finished

SPACE = {
    "rate": Real(1e-4, 1.0, log=True),
    "size": Int(1, 64, log=True),
    "count": Int(0, 10),
    "kind": Choice(["a", ("b", 2), None]),
}


def mixed(rate, size, count, kind):
    """Fails where the count is large."""
    if count > 8:
        return None
    return (
        (np.log10(rate) + 2) ** 2
        + abs(np.log2(size) - 3)
        + (count - 4) ** 2
        + SPACE["kind"].options.index(kind)
    )


def noisy(x):
    """The same noise for the same point; `quiet` is what it hides."""
    return quiet(x) + np.sin(1e4 * x[0])


def quiet(x):
    return float(x @ x)


def target(case):
    if case.problem == "noisy":
        return Target(noisy, [(-1.0, 2.0)] * 2, truth=quiet)
    return Target(mixed, SPACE)


def cases(wanted):
    return [
        Case("trial", problem, dim, split, wanted.budget or 12)
        for problem, dim in (("mixed", 4), ("noisy", 2))
        for split in wanted.instances or (0, 1)
    ]


TRIAL = Suite("trial", "A trial", 9, cases, target, mixed=True, instances="Splits")


@pytest.fixture
def trial(monkeypatch):
    """A suite of this file, known to the benchmark."""
    monkeypatch.setitem(suites.ALL, "trial", TRIAL)
    return TRIAL


def measured(target, budget=6, seed=0):
    f = MeasuredObjective(target, budget, seed)
    f.start()
    return f


# ---- targets


def test_a_named_space_is_called_by_name_and_a_failure_is_nan():
    f = measured(Target(mixed, SPACE))
    assert f.dim == 4
    assert np.isnan(f(rate=0.01, size=8, count=9, kind="a"))
    assert f.worst == LARGE
    assert f(rate=0.01, size=8, count=4, kind="a") == 0.0
    assert f(rate=0.01, size=8, count=2, kind=("b", 2)) == f.worst == 5.0
    notes = f.notes()
    assert notes["values"] == [None, 0.0, 5.0]
    assert notes["evaluations"] == 3
    assert "steps" not in notes and "optimum" not in notes
    assert json.loads(json.dumps(notes, allow_nan=False))["values"] == notes["values"]


@pytest.mark.parametrize("failure", [None, nan, inf, -inf])
def test_whatever_is_no_number_is_a_failure(failure):
    f = measured(Target(lambda x: failure, [(0.0, 1.0)], 0.0))
    assert np.isnan(f(np.array([0.5])))
    assert f.notes()["steps"] == [] and f.count == 1


def test_the_unit_cube_covers_every_parameter():
    seen = []
    f = measured(Target(lambda **p: seen.append(p) or 0.0, SPACE), 2)
    f.unit(np.zeros(4)), f.unit(np.ones(4))
    assert seen[0] == pytest.approx({"rate": 1e-4, "size": 1, "count": 0, "kind": "a"})
    assert seen[1] == {"rate": 1.0, "size": 64, "count": 10, "kind": None}
    assert type(seen[0]["size"]) is int


def test_parameters_by_name_reach_a_box_too():
    f = measured(Target(quiet, [(-1.0, 2.0)] * 2, 0.0))
    assert list(f.target.by_name()) == ["x0", "x1"]
    assert f.at({"x0": 1.0, "x1": 2.0}) == 5.0
    assert (
        measured(Target(mixed, SPACE)).at({"rate": 0.01, "size": 8, "count": 5, "kind": None})
        == 3.0
    )


def test_a_box_method_on_named_parameters_is_refused_in_a_sentence():
    with pytest.raises(BenchError, match="expected a method with `mixed=True`"):
        methods.ALL["direct"].solve(measured(Target(mixed, SPACE)))
    with pytest.raises(BenchError, match="whose optimum is known"):
        Target(mixed, SPACE).exact()


def test_under_noise_the_truth_of_the_best_point_is_stored_and_no_method_sees_it():
    f = measured(Target(noisy, [(-1.0, 2.0)] * 2, 0.0, quiet), 12)
    points = [np.array([1.0, 0.1 * i]) for i in range(12)]
    told = [f(x) for x in points]
    assert told == [noisy(x) for x in points]
    best = quiet(points[int(np.argmin(told[:10]))]), quiet(points[int(np.argmin(told))])
    notes = f.notes()
    assert notes["recommended"] == [[10, pytest.approx(best[0])], [12, pytest.approx(best[1])]]
    assert notes["values"] == pytest.approx(told)
    assert "steps" not in notes and "sample" not in notes
    assert notes["optimum"] == 0.0


def test_under_noise_a_method_may_recommend_a_point_and_random_search_keeps_a_sample():
    f = measured(Target(lambda a: 0.0, {"a": Real(0.0, 1.0)}, truth=lambda a: 10 * a), 3)
    f.recommend, f.sample = lambda: ((), {"a": 0.25}), 2
    for a in (0.5, 0.75, 1.0):
        f(a=a)
    assert f.notes()["recommended"] == [[3, 2.5]]
    assert f.notes()["sample"] == [5.0, 7.5]


# ---- runs


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [n for n, m in methods.ALL.items() if m.mixed and m.single and m.stepless]
)
def test_every_mixed_method_uses_exactly_its_budget(name, trial):
    for module in methods.ALL[name].modules:
        pytest.importorskip(module)
    budget = 14 if methods.ALL[name].rate < 0.1 else 5
    one = task(name, Case("trial", "mixed", 4, 3, budget))
    made = measurement(Finished(one.settings, run(one.settings, {}), one.digest))
    assert made["evaluations"] == len(made["values"]) == budget
    assert "ended" not in made
    assert json.loads(json.dumps(made, allow_nan=False)) == made | {
        "marks": [list(mark) for mark in made["marks"]]
    }


def test_a_task_may_have_another_seed(trial):
    case = Case("trial", "mixed", 4, 3, 5)
    one, other = task("random", case), task("random", case, seed=7)
    assert (one.settings["seed"], other.settings["seed"]) == (3, 7)
    assert run(one.settings, {})["values"] != run(other.settings, {})["values"]


def test_the_trace_of_values_begins_with_the_first_that_did_not_fail():
    made = {"budget": 6, "values": [None, 4.0, None, 5.0, 3.0]}  # and stopped one early
    assert trace(made).tolist() == [inf, 4, 4, 4, 3, 3]
    assert trace({**made, "optimum": 1.0}).tolist() == [inf, 3, 3, 3, 2, 2]
    true = {**made, "recommended": [[2, 4.5], [4, None], [5, 5.5]]}
    assert trace(true).tolist() == [inf, 4.5, 4.5, inf, 5.5, 5.5]
    assert trace({"budget": 3, "steps": []}).tolist() == [inf] * 3


# ---- scores


def methods_on(case, **values):
    """Runs of methods, by the values they found."""
    return {
        name.replace("_", "-"): {
            case: {**task("random", case).settings, "values": found, "cpu": 1.0}
        }
        for name, found in values.items()
    }


CASE = Case("trial", "mixed", 4, 0, 4)


def test_scores_by_hand(trial):
    # the random points' median is 4; the best found is 2
    some = methods_on(
        CASE, random=[6.0, 4.0, 3.0, 4.0], bamsoo=[9.0, 3.5, 2.0, 7.0], soo=[None, 3.0]
    )
    found = {name: scores[CASE].tolist() for name, scores in score.scores(some).items()}
    assert found == {
        "random": [-1, 0, 0.5, 0.5],
        "bamsoo": [-1, 0.25, 1, 1],
        "soo": [-1, 0.5, 0.5, 0.5],
    }


def test_seeds_of_a_problem_share_the_best_value(trial):
    other = replace(CASE, instance=CASE.instance + 1)
    some = methods_on(CASE, random=[4.0] * 4, bamsoo=[9.0, 3.0, 2.0, 7.0])
    for name, runs in methods_on(other, random=[4.0] * 4, bamsoo=[3.0, 0.0, 1.0, 1.0]).items():
        some[name] |= runs
    assert score.scores(some)["bamsoo"][CASE].tolist() == [-1, 0.5, 1, 1]
    pooled = score.scores(some, pooled=True)["bamsoo"]
    assert pooled[CASE].tolist() == [-1, 0.25, 0.5, 0.5]
    assert pooled[other].tolist() == [0.25, 1, 1, 1]


def test_scores_where_random_points_fail_or_nothing_better_is_found(trial):
    # failed points have no part in the median: 7 and 9
    failing = methods_on(CASE, random=[None, 9.0, None, 7.0], bamsoo=[None, 9.0, 8.0, 7.5])
    assert score.scores(failing)["bamsoo"][CASE].tolist() == [-1, -1, 0, 0.5]
    late = methods_on(CASE, random=[None] * 4, bamsoo=[None, 9.0, 8.0, 7.5])
    assert score.scores(late)["bamsoo"][CASE].tolist() == [-1, -1, -1, 1]
    assert score.scores(late)["random"][CASE].tolist() == [-1] * 4
    flat = methods_on(CASE, random=[1.0] * 4, bamsoo=[2.0, 1.0, 1.0, 1.0])
    assert score.scores(flat)["bamsoo"][CASE].tolist() == [-1, 1, 1, 1]
    assert score.scores(methods_on(CASE, bamsoo=[1.0] * 4)) == {"bamsoo": {}}


def test_under_noise_scores_are_of_true_values(trial):
    # told 1 and 2, truly worth 5 and 3; the random points are truly worth 4, 6 and 8
    some = methods_on(CASE, random=[7.0] * 4, bamsoo=[1.0] * 4, soo=[2.0] * 4)
    some["random"][CASE] |= {"sample": [4.0, 6.0, 8.0], "recommended": [[4, 9.0]]}
    some["bamsoo"][CASE] |= {"recommended": [[4, 5.0]]}
    some["soo"][CASE] |= {"recommended": [[2, 3.0], [4, 4.5]]}
    found = {name: scores[CASE][-1] for name, scores in score.scores(some).items()}
    assert found == pytest.approx({"random": -1.0, "bamsoo": 1 / 3, "soo": 0.5})


def test_scores_that_differ_by_a_millionth_are_equal():
    assert score.outcome(np.array([0.5, 0.7, 0.2]), np.array([0.4, 0.7 + 5e-7, 0.6])) == (1, 1, 1)


def test_the_interval_holds_the_mean():
    low, high = score.interval([0.0, 1.0] * 20)
    assert 0.3 < low < 0.5 < high < 0.7
    assert score.interval([0.25] * 5) == (0.25, 0.25)


def test_a_longer_run_can_be_cut():
    made = {"budget": 6, "evaluations": 5, "values": [5.0, 4.0, 3.0, 2.0, 1.0]}
    made["recommended"] = [[2, 4.5], [4, 2.5]]
    short = cut(made, 3)
    assert (short["budget"], short["evaluations"], short["values"]) == (3, 3, [5.0, 4.0, 3.0])
    assert trace(short).tolist() == [inf, 4.5, 4.5]
    assert cut(made, 10) is made


def test_a_suite_that_stores_regrets_is_not_scored_by_values(trial):
    made = {"random": {CASE: {**task("random", CASE).settings, "steps": [[1, 1.0]]}}}
    with pytest.raises(BenchError, match="store regrets; expected values"):
        score.scores(made)


def test_the_tables_name_the_worst_case_and_the_largest_loss(trial):
    other = replace(CASE, instance=1)
    parts = [
        methods_on(CASE, random=[4.0, 4.0, 4.0, 2.0], bamsoo=[4.0, 3.0, 3.0, 3.0]),
        methods_on(other, random=[4.0, 4.0, 4.0, 4.0], bamsoo=[4.0, 2.0, 2.0, 2.0]),
    ]
    both = {name: parts[0][name] | parts[1][name] for name in ("random", "bamsoo")}
    rows = {row[0]: row[1:] for row in tables.mean_scores(both).rows}
    assert rows["bamsoo"] == ["2", "0.750 (0.75 to 0.75)", "0.75 (mixed)"]
    assert rows["random"] == ["2", "0.500 (0.50 to 0.50)", "0.50 (mixed)"]
    duels = tables.score_duels(both).rows
    assert duels == [["random", "2", "1 / 1 / 0 (+0.250)", "–", "1"]]
    assert tables.score_duels(both, "random").rows[0][-2] == "0.25 (mixed)"
    assert tables.problem_scores(both).rows == [["mixed", "0.75", "0.50"]]


def test_scores_are_given_up_to_the_shortest_budget(trial):
    assert tables.marks(methods_on(replace(CASE, budget=80), bamsoo=[])) == [10, 20, 40, 80]
    assert tables.marks(methods_on(replace(CASE, budget=30), bamsoo=[])) == [10, 20, 30]


# ---- the driver


@pytest.mark.slow
def test_the_driver_runs_a_new_suite_and_writes_it_up(tmp_path, monkeypatch, trial):
    pytest.importorskip("matplotlib")

    def in_this_process(batches, store, console):
        # the suite is known in this process only
        return [[store.get(t) or store.put(t, t.run()) for t in b.tasks] for b in batches]

    monkeypatch.setattr("bamsoo_lab.bench.comparison.perform", in_this_process)
    asked = Comparison(trial, trial.cases(Selection()), ["random", "soo"], run_peers=True)
    page = bench(asked, tmp_path, 1, Console(quiet=True), None).read_text()
    assert "## A trial" in page and "Splits 0, 1." in page
    assert "| random | 4 |" in page and "pictures/trial-scores.png" in page
    assert (tmp_path / "pictures" / "trial-scores.png").stat().st_size > 5_000
    rows = (tmp_path / "data" / "trial-runs.csv").read_text().splitlines()
    assert len(rows) == 1 + 3 * 4
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {
        f"trial-{method}.jsonl" for method in ("bamsoo", "random", "soo")
    }


def test_the_command_leaves_out_methods_for_boxes(tmp_path, trial):
    option = main.get_command(None, "bench").params[0]
    kept, option.type.choices = option.type.choices, [*option.type.choices, "trial"]
    try:
        made = CliRunner().invoke(
            main, ["bench", "--suite", "trial", "--against", "direct", "--out", str(tmp_path)]
        )
    finally:
        option.type.choices = kept
    assert made.exit_code == 2
    assert "direct: optimisers of functions on boxes" in made.output
