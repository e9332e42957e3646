"""The comparison with other optimisers: what is run, how it is measured, kept and scored."""

import json
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from bamsoo import problems
from bamsoo.command.main import main
from bamsoo_lab.bench import (
    docs,
    goals,
    methods,
    overhead,
    pack,
    plan,
    score,
    suites,
    tables,
)
from bamsoo_lab.bench.archive import DATA, PARALLEL, read
from bamsoo_lab.bench.archive import pack as write_packed
from bamsoo_lab.bench.case import Case, Target
from bamsoo_lab.bench.errors import BenchError, MissingPackageError, require
from bamsoo_lab.bench.measure import MeasuredObjective, Spent
from bamsoo_lab.bench.parallel.runs import peers as parallel_peers
from bamsoo_lab.bench.runs import key, run, task, trace
from bamsoo_lab.bench.suites import bbob, paper
from bamsoo_lab.bench.suites import overhead as overhead_cases
from bamsoo_lab.jobs.source import searches
from bamsoo_lab.jobs.store import Store, StoreError

CHEAP = ("random", "direct", "soo")


def record(problem="f1", instance=1, method="random", steps=((1, 1.0),), budget=4, **more):
    made = task(method, Case("bbob", problem, 2, instance, budget)).settings
    return {**made, "steps": [list(s) for s in steps], "versions": {}, **more}


def bowl(budget, seed=0):
    target = Target(lambda x: float(x @ x) + 1.0, [(-1.0, 3.0), (-1.0, 2.0)], 1.0)
    objective = MeasuredObjective(target, budget, seed)
    objective.start()
    return objective


# ---- suites


@pytest.mark.parametrize("name", paper.NAMES)
def test_a_cut_box_holds_an_optimum_and_loses_up_to_three_tenths_of_each_end(name):
    problem = problems.ALL[name]
    low, high = np.array(problem.bounds).T
    for box in range(20):
        a, b = np.array(paper.cut_box(problem, box)).T
        inside = ((a < problem.optimizers) & (problem.optimizers < b)).all(axis=1)
        assert inside.any()
        assert np.all((low <= a) & (b <= high) & (b - a >= 0.7 * (high - low) - 1e-9))
        centre = (a + b) / 2
        assert np.abs(problem.optimizers - centre).max(axis=1).min() > 1e-3


def test_a_box_has_a_number_and_is_the_same_for_everybody():
    boxes = [paper.cut_box(problems.branin, b) for b in (3, 3, 4)]
    assert boxes[0] == boxes[1] != boxes[2]


def test_sizes_of_the_suites():
    assert len(paper.cases()) == 5 * 10
    assert {case.budget for case in paper.cases()} == {100}
    for dim, budget in ((2, 100), (3, 150), (5, 250), (10, 200), (20, 400)):
        cases = bbob.cases(dim)
        assert len(set(cases)) == len(cases) == 24 * 3
        assert {case.budget for case in cases} == {budget}
        assert {case.instance for case in cases} == {21, 22, 23}


def test_bbob_regret_is_zero_at_its_optimum():
    ioh = pytest.importorskip("ioh")
    target = suites.target(Case("bbob", "f8", 3, 1, 10))
    x = ioh.get_problem(8, 1, 3, ioh.ProblemClass.BBOB).optimum.x
    assert target.fun(np.array(x)) == pytest.approx(target.optimum, abs=1e-9)
    assert target.bounds == [(-5.0, 5.0)] * 3


# ---- measuring


def test_the_trace_is_the_best_regret_so_far():
    f = bowl(5)
    for x in ((1, 1), (2, 0), (0, 0.5), (0, 1), (0, 0)):
        f(np.array(x, dtype=float))
    assert f.steps == [(1, 2.0), (3, 0.25), (5, 0.0)]
    kept = record(steps=f.steps, budget=7)
    assert trace(kept).tolist() == [2, 2, 0.25, 0.25, 0, 0, 0]  # stopped early: the last stays


def test_no_evaluation_beyond_the_budget():
    f = bowl(2)
    f(np.zeros(2)), f.unit(np.array([0.5, 0.5]))
    assert f.left == 0
    with pytest.raises(Spent):
        f(np.zeros(2))
    assert f.count == f.notes()["evaluations"] == 2


def test_overhead_leaves_out_the_objective(monkeypatch):
    times = [0.0, 1.0, 4.0, 6.0, 7.0]  # start, then begin and end of each of two evaluations
    for name in ("perf_counter", "process_time"):
        monkeypatch.setattr(f"bamsoo_lab.bench.measure.{name}", iter(times).__next__)
    f = bowl(2)
    f(np.zeros(2)), f(np.zeros(2))
    assert f.wall == f.cpu == 1 + 2  # 0 to 1, then 4 to 6
    assert f.slowest == f.slowest_early == f.slowest_cpu == 2
    assert f.marks == [(1, 1.0), (2, 3.0)]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CHEAP, "paper-bamsoo", "bamsoo", "cma", "optuna-tpe"])
def test_every_method_uses_exactly_its_budget(name):
    for module in methods.ALL[name].modules:
        pytest.importorskip(module)
    made = run(task(name, paper.cases([3], budget=17)[2]).settings, {})
    made["budget"] = 17
    assert made["evaluations"] == 17
    assert len(trace(made)) == 17
    assert "ended" not in made
    assert made["steps"][0][0] == 1
    assert json.loads(json.dumps(made))["versions"]["numpy"] == np.__version__


@pytest.mark.parametrize("name", ["random", "soo", "cma"])
def test_the_seed_decides_a_run(name):
    for module in methods.ALL[name].modules:
        pytest.importorskip(module)
    settings = task(name, paper.cases([3], budget=12)[0]).settings
    assert run(settings, {})["steps"] == run(settings, {})["steps"]


def test_a_peer_that_fails_keeps_what_it_reached_and_ours_does_not_hide_it(monkeypatch):
    def fails(f):
        f.unit(np.full(f.dim, 0.5))
        raise RuntimeError("singular")

    settings = task("random", paper.cases([3], budget=5)[0]).settings
    broken = {n: methods.Method(n, fails, n, ours=n == "bamsoo") for n in ("random", "bamsoo")}
    for name, method in broken.items():
        monkeypatch.setitem(methods.ALL, name, method)
    made = run(settings, {})
    assert made["ended"] == "RuntimeError: singular"
    assert (made["evaluations"], len(trace({**settings, **made}))) == (1, 5)
    with pytest.raises(RuntimeError):
        run({**settings, "method": "bamsoo"}, {})


def test_an_error_of_the_target_is_raised_whatever_the_method_makes_of_it(monkeypatch):
    def swallows(f):
        for _ in range(3):
            with suppress(ArithmeticError):
                f.unit(np.full(f.dim, 0.5))

    calls = []

    def fun(x):
        calls.append(x)
        if len(calls) > 1:
            raise ArithmeticError("no value")
        return 1.0

    settings = task("random", paper.cases([3], budget=5)[0]).settings
    monkeypatch.setitem(methods.ALL, "random", methods.Method("random", swallows, "random"))
    monkeypatch.setattr(
        "bamsoo_lab.bench.suites.target", lambda case: Target(fun, [(0, 1)] * 3, 0.0)
    )
    with pytest.raises(ArithmeticError, match="no value"):
        run(settings, {})


# ---- keeping


def some_runs():
    return [record(f"f{i}", steps=((1, float(i)),)) for i in (1, 2, 3)]


def test_packed_runs_are_read_back_and_have_the_same_bytes(tmp_path):
    made = some_runs()
    write_packed(made, tmp_path / "a")
    write_packed(reversed(made), tmp_path / "b")
    (file,) = (tmp_path / "a").iterdir()
    assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()
    assert list(read(tmp_path / "a")) == made


def test_a_packed_file_without_runs_is_removed(tmp_path):
    first, second = record(), record(method="direct")
    write_packed([first, second], tmp_path)
    write_packed([second], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["bbob-direct.jsonl.xz"]


def test_a_damaged_line_is_named(tmp_path):
    (tmp_path / "bbob-random.jsonl").write_text('{"a": \n{}\n')
    with pytest.raises(StoreError, match="line 1 is not a stored run"):
        list(read(tmp_path))


def test_stored_runs_are_read_like_packed_ones(tmp_path):
    one = task("random", Case("bbob", "f1", 2, 1, 4))
    Store(tmp_path).put(one, {"steps": [[1, 2.0]], "versions": {}})
    assert list(read(tmp_path)) == [{**one.settings, "steps": [[1, 2.0]], "versions": {}}]


def test_our_runs_belong_to_a_state_of_the_source_and_a_peers_to_none():
    case = Case("bbob", "f1", 2, 1, 4)
    assert task("bamsoo", case).digest == searches()
    assert task("random", case).digest is None


@pytest.mark.slow
def test_the_stored_peers_are_of_the_plan_and_whole():
    planned = {key(one.settings) for one in plan.peers()}
    stored = list(read(DATA))
    assert {key(r) for r in stored} <= planned
    assert len({key(r) for r in stored}) == len(stored) >= 1368
    assert all(r["versions"] for r in stored)
    assert all(len(trace(r)) == r["budget"] for r in stored if suites.ALL[r["suite"]].single)
    assert all(r["instance"] in (21, 22, 23) for r in stored if r["suite"] == "bbob")
    assert sum(path.stat().st_size for path in DATA.iterdir()) < 3e6
    parallel = [key(r) for r in read(PARALLEL)]
    assert set(parallel) <= {key(one.settings) for one in parallel_peers()}
    assert len(set(parallel)) == len(parallel) >= 24


def test_packing_keeps_the_planned_runs_and_those_packed_before(tmp_path, monkeypatch):
    before, new, unplanned = (
        task("random", case)
        for case in (bbob.cases(2, [21])[0], bbob.cases(2, [22])[0], bbob.cases(2, [1])[0])
    )
    monkeypatch.setattr(pack, "DATA", tmp_path / "data")
    monkeypatch.setattr(pack, "PARALLEL", tmp_path / "data" / "parallel")
    write_packed([{**before.settings, "steps": [[1, 5.0]]}], tmp_path / "data")
    store = Store(tmp_path / "runs")
    for one in (new, unplanned):
        store.put(one, {"steps": [[1, 1.0]]})
    store.put(parallel_peers()[0], {"reached": []})
    assert pack.main(tmp_path / "runs") == 3
    assert {r["instance"] for r in read(tmp_path / "data")} == {21, 22}
    (one,) = read(tmp_path / "data" / "parallel")
    assert key(one) == key(parallel_peers()[0].settings)


# ---- scoring


def test_targets():
    assert len(score.TARGETS) == 51
    np.testing.assert_allclose(score.TARGETS[[0, 1, -1]], [1e2, 10**1.8, 1e-8])


def test_area_worked_out_by_hand():
    # targets 10^2, 10^1.8, ..., 10^-8: 200 reaches none, 50 the first two (100, 63.1),
    # 1 the first eleven, 0 all 51
    assert score.auc(np.array([200.0, 50.0, 1.0, 0.0])) == pytest.approx(
        (0 + 2 + 11 + 51) / (4 * 51)
    )


def test_a_duel_is_on_the_common_runs_alone():
    ours = {"f1": (0.0, 0.0), "f2": (1.0, 1.0), "f3": (5.0, 5.0)}
    theirs = {"f1": (1.0,), "f2": (1.0, 1.0), "f3": (0.5, 2.0), "f4": (0.0,)}
    sides = [
        {r["problem"] + str(r["instance"]): r for r in made}
        for made in (
            [
                record(f, i, steps=((1, v),))
                for f, values in side.items()
                for i, v in enumerate(values)
            ]
            for side in (ours, theirs)
        )
    ]
    runs = [score.by_method(side.values())["random"] for side in sides]
    duel = score.duel(runs[0], runs[1], 2)
    assert len(duel.cases) == 5
    assert set(duel.ours) == {"f1", "f2", "f3"}
    assert duel.outcome == (1, 1, 1)
    mean = [(51 + 11 + 7) / 3 / 51, (11 + 11 + (12 + 9) / 2) / 3 / 51]
    assert duel.areas == pytest.approx(mean)
    assert duel.ratio == pytest.approx(mean[0] / mean[1])
    assert score.duel(runs[0], runs[1], 3) is None


def test_the_best_peer_of_each_function_is_chosen_with_hindsight():
    # areas, in 51sts: 1.0 reaches 11 targets, 0 all 51, 50 two; `random` has no run of f2 on
    # instance 2, so where it is best there the comparison is on instance 1 alone
    values = {
        "bamsoo": {("f1", 1): 1.0, ("f1", 2): 1.0, ("f2", 1): 50.0, ("f2", 2): 1.0},
        "direct": {("f1", 1): 0.0, ("f1", 2): 1.0, ("f2", 1): 50.0, ("f2", 2): 50.0},
        "random": {("f1", 1): 50.0, ("f1", 2): 50.0, ("f2", 1): 0.0},
    }
    runs = score.by_method(
        record(f, i, method, steps=((1, value),))
        for method, some in values.items()
        for (f, i), value in some.items()
    )
    peers = {name: runs[name] for name in ("direct", "random")}
    found = score.hindsight(runs["bamsoo"], peers, 2)
    assert found.theirs == pytest.approx({"f1": (51 + 11) / 2 / 51, "f2": 1.0})
    assert found.ours == pytest.approx({"f1": 11 / 51, "f2": 2 / 51})
    assert [(c.problem, c.instance) for c in found.cases] == [("f1", 1), ("f1", 2), ("f2", 1)]
    assert score.hindsight(runs["bamsoo"], peers, 3) is None
    assert tables.area(runs, 2).rows[-2][0] == tables.HINDSIGHT


def test_paper_table_gives_medians_half_way_and_at_the_end():
    made = [
        {**record(budget=4, method="bamsoo", instance=i), "suite": "paper", "problem": "branin"}
        | {"steps": [[1, 1.0], [2, 10.0**-a], [4, 0.0]]}
        for i, a in enumerate((1, 3, 2))
    ]
    table = tables.paper(score.by_method(made))
    assert table.rows[0][1:4] == ["0 to 3", "-2.0 / -16.0", "–"]
    assert "| bamsoo | 0 to 3 | -2.0 / -16.0 |" in table.markdown()


def test_goals_name_the_best_peer_and_who_is_ahead():
    reached = {"bamsoo": 1.0, "direct": 0.5, "random": 50.0}
    made = [
        record(method=method, steps=((1, value),), slowest_cpu=0.3)
        for method, value in reached.items()
    ]
    rows = goals.bbob(score.by_method(made), ["direct", "random"])
    assert rows[0][1:] == ("0.92 times that of DIRECT", False)
    assert rows[1][1:] == ("1.47 times that area", True)  # that of COCO's virtual best
    assert rows[2][1:] == ("0.92 times that area", False)
    assert rows[3][1:] == ("not against DIRECT", False)
    assert rows[-1][1:] == ("the slowest took 0.30 s", True)


def test_overhead_ratios_are_of_medians():
    on = overhead_cases.cases()
    seconds = {"bamsoo": (1, 1, 2, 1, 9), "botorch": (60, 60, 1, 60, 99), "optuna-gp": (10,) * 5}
    made = [
        {**task(m, case).settings, "cpu": s, "wall": s, "slowest": s}
        for m, some in seconds.items()
        for case, s in zip(on, some, strict=True)
    ]
    assert [row[1:] for row in overhead.reached(made, on)] == [("1/60", True), ("1/10", False)]
    assert [row[-1] for row in overhead.side_by_side(made, on).rows] == ["1", "60", "10"]


# ---- the plan and the page


def test_the_plan_never_shows_development_instances():
    tasks = plan.peers()
    assert len({key(one.settings) for one in tasks}) == len(tasks)
    assert {one.settings["instance"] for one in tasks if one.settings["suite"] == "bbob"} == {
        *(21, 22, 23)
    }


def test_the_plans_part_is_taken_where_there_is_one():
    part = plan.chosen(["smac"], bbob.cases(2, [21]))
    assert {one.settings["problem"] for one in part} == {f"f{f}" for f in range(1, 25, 2)}
    assert len(plan.chosen(["smac"], bbob.cases(2, [1], [1, 2, 3]))) == 3


def test_a_part_of_a_page_is_written_anew(tmp_path):
    page, picture = tmp_path / "page.md", tmp_path / "a.png"
    picture.write_bytes(b"png")
    page.write_text("before\n<!-- bench:x -->\nold\n<!-- end of bench:x -->\nafter\n")
    for text in ("one", "two ![](pictures/a.png) \\1"):
        docs.rewrite(page, "x", text, [picture])
    body = "two ![](page/a.png) \\1"
    assert page.read_text() == (
        f"before\n<!-- bench:x, checksum {docs.checksum(body)} -->\n\n{body}\n\n"
        "<!-- end of bench:x -->\nafter\n"
    )
    assert docs.find(page, "x").body == body
    assert (tmp_path / "page" / "a.png").exists()
    with pytest.raises(BenchError, match="no part 'y'"):
        docs.rewrite(page, "y", "", [])


# ---- the command


def command(*words):
    return CliRunner().invoke(main, ["bench", *map(str, words)])


@pytest.mark.slow
@pytest.mark.long
def test_the_command_runs_compares_and_goes_on(tmp_path):
    pytest.importorskip("ioh"), pytest.importorskip("matplotlib")
    words = ("--suite", "bbob", "--dims", 2, "--functions", "1,15", "--instances", "1-2")
    words += ("--budget", 6, "--against", "random,direct", "--jobs", 1, "--out", tmp_path)
    made = command(*words, "--run-peers")
    assert made.exit_code == 0, made.output
    assert "DIRECT" in (tmp_path / "page.md").read_text()
    lines = {p.name: p.read_text() for p in (tmp_path / "runs").iterdir()}
    assert {name: text.count("\n") for name, text in lines.items()} == {
        f"bbob-{m}.jsonl": 4 for m in ("bamsoo", "random", "direct")
    }
    for name in ("solved", "functions", "overhead"):
        assert (tmp_path / "pictures" / f"{name}.png").stat().st_size > 1000
    again = command(*words)
    assert again.exit_code == 0, again.output
    assert lines == {p.name: p.read_text() for p in (tmp_path / "runs").iterdir()}


@pytest.mark.slow
def test_the_command_on_the_papers_functions(tmp_path):
    pytest.importorskip("matplotlib")
    words = ("--boxes", "3", "--budget", 6, "--against", "soo,smac", "--jobs", 1)
    made = command(*words, "--out", tmp_path)
    assert made.exit_code == 0, made.output
    assert "Hartmann6" in made.output
    assert "SMAC: no stored runs of these cases" in made.output
    assert (tmp_path / "pictures" / "regret.png").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--against", "botorch,nobody"], "no optimiser is called 'nobody'; expected one of"),
        (["--suite", "bbob", "--dims", "two"], "expected numbers from 2 to 100"),
        (["--suite", "bbob", "--functions", "25"], "expected numbers from 1 to 24"),
        (["--suite", "all"], "'all' is not one of"),
        (["--budget", "1"], "1 is not in the range"),
    ],
)
def test_bad_input_is_one_sentence(words, said, tmp_path):
    made = command(*words, "--out", tmp_path)
    assert made.exit_code == 2
    assert said in made.output
    assert "Traceback" not in made.output
    assert not any(tmp_path.iterdir())


def test_docs_takes_whole_suites_only(tmp_path):
    made = command("--boxes", 1, "--docs", Path(__file__))
    assert made.exit_code == 2
    assert "--docs is for a suite as it is" in made.output


def test_a_missing_package_is_one_sentence_that_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ioh", None)
    made = command("--suite", "bbob", "--against", "random", "--out", tmp_path)
    assert made.exit_code == 2
    assert made.output.strip().endswith("pip install ioh brings it")
    assert made.output.count("\n") == 1
    with pytest.raises(MissingPackageError, match="pip install scikit-optimize"):
        monkeypatch.setitem(sys.modules, "skopt", None)
        require("skopt")


def test_aliases():
    assert methods.find("optuna").name == "optuna-gp"
    assert methods.find(" TPE ").name == "optuna-tpe"
