"""The suite with several objectives: its problems, the peers, and how runs are scored."""

import json
from contextlib import suppress
from math import cos, pi, sin, sqrt

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from bamsoo.command.main import main
from bamsoo.space import Choice, Int, Real, Space
from bamsoo_lab.bench import fronts, goals, methods, suites, summary, yahpo
from bamsoo_lab.bench.bench import bench
from bamsoo_lab.bench.case import Case, Target
from bamsoo_lab.bench.comparison import Comparison
from bamsoo_lab.bench.errors import BenchError
from bamsoo_lab.bench.measure import MeasuredObjective, Spent
from bamsoo_lab.bench.objectives import PROBLEMS
from bamsoo_lab.bench.runs import run, task
from bamsoo_lab.bench.suites import Selection, objectives

REPORT, DEVELOP = (objectives.cases(Selection(part=part)) for part in ("report", "develop"))


def values(name, *x):
    """The objectives of a problem at a point given in order."""
    problem = PROBLEMS[name]
    found = problem(**dict(zip(problem.space, x, strict=True)))
    return found[0] if problem.constraints else found


# ---- problems


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_point_has_finite_values_and_some_points_are_feasible(name):
    problem, rng = PROBLEMS[name], np.random.default_rng(1)
    space = Space(problem.space)
    met = 0
    for _ in range(600):
        found = problem(**space.params(space.decode(rng.random(space.dim))))
        row, limits = found if problem.constraints else (found, {})
        assert len(row) == len(problem.objectives) in (2, 3)
        assert tuple(limits) == problem.constraints
        assert np.all(np.isfinite([*row, *limits.values()]))
        met += all(limit <= 0.0 for limit in limits.values())
    assert met > 0
    # tables have one column per name
    names = [*problem.space, *problem.objectives, *problem.constraints]
    assert len(set(names)) == len(names)


def test_the_fronts_of_zdt():
    rest = [0.0] * 5
    assert values("zdt1", 0.25, *rest) == pytest.approx([0.25, 0.5])
    assert values("zdt2", 0.25, *rest) == pytest.approx([0.25, 1 - 0.0625])
    assert values("zdt3", 0.25, *rest) == pytest.approx([0.25, 0.5 - 0.25 * sin(2.5 * pi)])
    assert values("zdt4", 0.25, *rest) == pytest.approx([0.25, 0.5])
    assert values("zdt6", 0.0, *rest) == pytest.approx([1.0, 0.0])
    assert values("zdt1", 0.0, *[1.0] * 5) == pytest.approx([0.0, 10.0])


def test_the_fronts_of_dtlz():
    half = [0.5] * 4
    assert values("dtlz1-2", 0.3, 0.5, *half) == pytest.approx([0.15, 0.35])
    for name in ("dtlz2-2", "dtlz4-2"):
        assert np.hypot(*values(name, 0.9, 0.5, *half)) == pytest.approx(1.0)
    turn = [cos(0.15 * pi) * cos(0.4 * pi), cos(0.15 * pi) * sin(0.4 * pi), sin(0.15 * pi)]
    assert values("dtlz2-3", 0.3, 0.8, *half) == pytest.approx(turn)
    assert values("dtlz3-3", 0.3, 0.8, *half) == pytest.approx(turn)
    first, second, _ = values("dtlz5-3", 0.3, 0.8, *half)  # the second angle is half of a right one
    assert first == pytest.approx(second)
    assert values("dtlz6-2", 0.0, *[0.0] * 5) == pytest.approx([1.0, 0.0])
    assert values("dtlz7-3", *[0.0] * 6) == pytest.approx([0.0, 0.0, 6.0])


def test_designs_worked_out_by_hand():
    # four bars: L (2 + 2 + sqrt(sqrt 2) + 1) and 0.01 (2 + 2 - 2 + 2)
    volume, moved = values("four-bar-truss", 1.0, sqrt(2.0), sqrt(2.0), 1.0)
    assert (volume, moved) == pytest.approx((200.0 * (5.0 + 2.0**0.25), 0.04))
    # two bars at a right angle to nothing: y = 3 makes the first 5 long
    assert values("two-bar-truss", 0.001, 0.01, 3.0) == pytest.approx(
        [0.005 + 0.01 * sqrt(10.0), max(100.0 / 0.003, 80.0 * sqrt(10.0) / 0.03)]
    )
    assert values("gear-train", 12, 12, 24, 36) == pytest.approx([0.931, 36.0])
    # the optimum of the design with cost as its only objective
    assert values("welded-beam", 0.20572964, 3.47048867, 9.03662391, 0.20572964)[
        0
    ] == pytest.approx(1.724852, rel=1e-6)
    assert values("cantilever", 20.0, 200.0)[1] == pytest.approx(
        64e3 * 200.0**3 / (3 * 207e3 * pi * 20.0**4)
    )
    assert values("crashworthiness", *[0.0] * 5) == pytest.approx([1640.2823, 6.5856, -0.0551])
    assert values("rocket-injector", *[0.0] * 4) == pytest.approx([0.692, 0.153, 0.370])


def test_no_problem_is_in_both_parts():
    assert len(REPORT) == 48
    assert not {(c.problem, c.dim) for c in REPORT} & {(c.problem, c.dim) for c in DEVELOP}
    assert not {c.instance for c in REPORT} & {c.instance for c in DEVELOP}
    for case in (*REPORT, *DEVELOP):  # every problem is of one kind
        assert sum(belongs(case) for belongs in objectives.FAMILIES.values()) == 1
    with pytest.raises(BenchError, match="has no problem 'zdt1'; expected some of biobj-f1, "):
        objectives.cases(Selection(tasks=("zdt1",)))
    assert [c.dim for c in objectives.cases(Selection(tasks=("biobj-f9",)))] == [2, 5, 10]


def test_instances_are_seeds_except_on_bbob_biobj():
    one, other = (Case("objectives", "zdt4", 6, seed, 100) for seed in (11, 12))
    assert objectives.same(one) == objectives.same(other)
    one, other = (Case("objectives", "biobj-f9", 2, seed, 100) for seed in (11, 12))
    assert objectives.same(one) != objectives.same(other)


def test_a_function_of_bbob_biobj_is_cocos_own():
    cocoex = pytest.importorskip("cocoex")
    target = suites.target(Case("objectives", "biobj-f9", 2, 11, 100))
    options = "function_indices:9 dimensions:2 instance_indices:11"
    coco = cocoex.Suite("bbob-biobj", "instances: 1-15", options)[0]
    assert coco.id == "bbob-biobj_f09_i11_d02"
    assert target.fun(x0=1.0, x1=-2.0) == coco(np.array([1.0, -2.0])).tolist()
    assert target.space == {name: Real(-100.0, 100.0) for name in ("x0", "x1")}


# ---- surrogates of tuning tasks


def test_without_their_data_tuning_tasks_are_left_out(monkeypatch):
    monkeypatch.delenv(yahpo.FOLDER, raising=False)
    left = [case for case in REPORT if objectives.available(case)]
    assert len(REPORT) - len(left) == 9
    with pytest.raises(BenchError, match=r"need a folder with their data; name it with --data"):
        yahpo.TaskSurrogate("lcbench-189905")


@pytest.mark.skipif(not yahpo.available(), reason="needs the data of YAHPO Gym")
@pytest.mark.parametrize(
    "case", [c for c in DEVELOP if c.problem.startswith(tuple(yahpo.SCENARIOS))]
)
def test_a_surrogate_has_the_parameters_of_its_space(case):
    pytest.importorskip("onnxruntime")
    target = suites.target(case)
    space = Space(target.space)
    assert space.dim == case.dim
    for u in np.random.default_rng(0).random((20, space.dim)):
        loss, seconds = target.fun(**space.params(space.decode(u)))
        assert 0.0 < loss < 20.0
        assert 0.0 < seconds < 1e6


# ---- peers


def two_sided(x, kind, n):
    """Two objectives and a constraint; fails in a corner."""
    if n == 5:
        return None, {"c": 1.0}
    return [x + n, (x - 1.0) ** 2 + (kind == "b")], {"c": 0.2 - x}


SPACE = {"x": Real(0.0, 1.0), "kind": Choice(["a", "b"]), "n": Int(1, 4)}
TARGET = Target(two_sided, SPACE, constraints=("c",), objectives=("sum", "square"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # peers warn about their own internals
@pytest.mark.parametrize(
    "name", ["random", "optuna-tpe", "optuna-nsga2", "pymoo", "mosoo", "bamsoo"]
)
def test_a_method_uses_exactly_its_budget(name):
    method = methods.find(name)
    for module in method.modules:
        pytest.importorskip(module)
    f = MeasuredObjective(TARGET, 30, 3)
    f.start()
    with suppress(Spent):
        method.solve(f)
    notes = f.notes()
    assert f.count == len(notes["values"]) == len(notes["violations"]) == 30
    assert all(len(row) == 2 for row in notes["values"])
    json.dumps(notes, allow_nan=False)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_botorch_uses_exactly_its_budget():
    method = methods.find("botorch-nehvi")
    for module in method.modules:
        pytest.importorskip(module)
    f = MeasuredObjective(TARGET, 10, 3)
    f.start()
    method.solve(f)
    assert f.count == 10


def test_a_failed_evaluation_has_no_values():
    failing = Target(lambda x: [x, None], {"x": Real(0, 1)}, objectives=("a", "b"))
    f = MeasuredObjective(failing, 2, 0)
    f.start()
    assert np.isnan(f.observe(x=0.5)[0]).all()
    assert f.notes()["values"] == [None]


# ---- scores


def made(method, rows, case=None, **more):
    case = case or Case("objectives", "zdt4", 6, 11, 4)
    cost = {"cpu": 1.0, "slowest_cpu": 0.1, "versions": {}}
    return {**vars(case), "method": method, "seed": 11, "values": rows, **cost, **more}


def by_method(*runs):
    return {r["method"]: {fronts_case(r): r} for r in runs}


def fronts_case(r):
    return Case(*(r[name] for name in ("suite", "problem", "dim", "instance", "budget")))


def test_shares_worked_out_by_hand():
    # The front of everything is (0, 2), (1, 1), (2, 0); the reference point is (2.2, 2.2). Its
    # hypervolume is 2.2 x 0.2 + 1.2 x 1 + 0.2 x 1 = 1.84
    ours = made("bamsoo", [[2.0, 2.0], [1.0, 1.0], None, [0.0, 2.0]])
    other = made("random", [[3.0, 3.0], [2.0, 0.0], [2.0, 0.0], [5.0, 0.0]])
    found = fronts.shares(by_method(ours, other))
    (mine,), (theirs,) = (found[name].values() for name in ("bamsoo", "random"))
    assert mine * 1.84 == pytest.approx([0.04, 1.44, 1.44, 1.64])
    assert theirs * 1.84 == pytest.approx([0.0, 0.44, 0.44, 0.44])


def test_only_feasible_points_count():
    ours = made("bamsoo", [[1.0, 1.0], [0.0, 0.0]], violations=[0.0, 0.5])
    none = made("random", [[0.0, 0.0], [0.0, 0.0]], violations=[1.0, None])
    found = fronts.shares(by_method(ours, none))
    assert next(iter(found["bamsoo"].values())).tolist() == [1.0, 1.0, 1.0, 1.0]
    assert next(iter(found["random"].values())).tolist() == [0.0] * 4
    lost = fronts.shares(by_method(none))
    assert next(iter(lost["random"].values())).tolist() == [0.0] * 4


def test_seeds_share_a_front_and_instances_of_bbob_biobj_do_not():
    for problem, share in (("zdt4", 1 / 1.1**2 * 0.1**2), ("biobj-f9", 1.0)):
        cases = [Case("objectives", problem, 6, seed, 1) for seed in (11, 12)]
        runs = {
            cases[0]: made("random", [[2.0, 2.0]], cases[0]),
            cases[1]: made("random", [[1.0, 1.0]], cases[1]),
        }
        found = fronts.shares({"random": runs})["random"]
        # one point: the reference is a tenth of its size beyond it, so (2, 2) is not inside
        assert found[cases[0]][0] == (0.0 if problem == "zdt4" else share)
        assert found[cases[1]][0] == 1.0


def report_runs():
    """Ours wins on two of three problems; random search wins on the third."""
    rows = {
        "bamsoo": ([[0.0, 1.0], [1.0, 0.0]], [[0.0, 0.0]], [[1.0, 1.0]]),
        "random": ([[1.0, 0.0]], [[0.1, 0.1]], [[0.0, 0.0]]),
        "botorch-nehvi": ([[0.0, 1.0]], [[0.5, 0.5]]),
    }
    cases = [Case("objectives", p, 6, 11, 100) for p in ("zdt4", "zdt6", "dtlz1-2")]
    seconds = {"bamsoo": 1.0, "random": 0.1, "botorch-nehvi": 40.0}
    return {
        name: {
            case: made(name, some, case, cpu=seconds[name])
            for case, some in zip(cases, each, strict=False)
        }
        for name, each in rows.items()
    }


def test_the_goals_name_what_was_measured():
    runs = report_runs()
    rows = fronts.goals(runs, fronts.shares(runs))
    said = {goal: (measured, met) for goal, measured, met in rows}
    assert said["at least 3 wins per loss against random after 100 evaluations"] == (
        "2 won, 1 lost",
        False,
    )
    assert said["at least 3 wins per loss against BoTorch (qLogNEHVI) after 100 evaluations"] == (
        "2 won, 0 lost",
        True,
    )
    assert said["no problem on which random search is better after 100 evaluations"] == (
        "dtlz1-2, 6-D",
        False,
    )
    assert said["at most 1/30 of the overhead of BoTorch (qLogNEHVI)"] == ("1/40", True)
    lead, met = said["mean share at least 0.08 above every peer's after 25 evaluations"]
    assert lead.endswith("(random)")
    assert met is (float(lead.split()[0]) >= fronts.AHEAD)


def test_the_summary_takes_the_peer_over_which_the_lead_is_smallest():
    runs = report_runs()
    found = fronts.shares(runs)
    tables = [
        fronts.means(runs, found),
        fronts.duels(runs, found),
        goals.table(fronts.goals(runs, found)),
    ]
    body = "\n\n".join(table.markdown() for table in tables)
    page = f"## Several objectives\n\n<!-- bench:objectives -->\n\n{body}\n\n"
    text = summary.summary(
        {"objectives.md": page + "<!-- end of bench:objectives -->"}, "README.md"
    )
    row = next(line for line in text.splitlines() if "after 100 evaluations |" in line)
    assert "mean share of the hypervolume after 100 evaluations | 0.667 | random: 0." in row
    assert row.endswith("(3 runs) | 2 / 1 / 0 runs |")


# ---- the command


def test_a_run_is_made_and_stored():
    pytest.importorskip("optuna")
    one = task("optuna-nsga2", Case("objectives", "welded-beam", 4, 11, 6))
    found = run(one.settings, {})
    assert len(found["values"]) == len(found["violations"]) == 6
    assert "ended" not in found


@pytest.mark.slow
def test_the_driver_runs_the_suite_and_writes_it_up(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")

    def in_this_process(batches, store, console):
        return [[store.get(t) or store.put(t, t.run()) for t in b.tasks] for b in batches]

    monkeypatch.setattr("bamsoo_lab.bench.comparison.perform", in_this_process)
    suite = objectives.SUITE
    cases = suite.cases(Selection(tasks=("zdt6", "welded-beam"), budget=12))
    asked = Comparison(suite, cases, ["mosoo", "random"], run_peers=True)
    page = bench(asked, tmp_path, 1, Console(quiet=True), None).read_text()
    assert "## Several objectives" in page
    assert "| MO-SOO | 2 |" in page
    assert "no problem on which random search is better after 12 evaluations" in page
    assert (tmp_path / "pictures" / "objectives-shares.png").stat().st_size > 5_000
    rows = (tmp_path / "data" / "objectives-runs.csv").read_text().splitlines()
    assert len(rows) == 1 + 3 * 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--suite", "objectives", "--against", "slsqp"], "optimisers of functions on boxes"),
        (["--suite", "objectives", "--against", "smac"], "optimisers of one objective"),
        (["--suite", "tuning", "--against", "pymoo"], "optimisers of several objectives"),
    ],
)
def test_methods_that_do_not_fit_are_refused(words, said):
    result = CliRunner().invoke(main, ["bench", *words])
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_docs_need_the_data(monkeypatch, tmp_path):
    monkeypatch.delenv(yahpo.FOLDER, raising=False)
    page = tmp_path / "page.md"
    page.touch()
    result = CliRunner().invoke(main, ["bench", "--suite", "objectives", "--docs", str(page)])
    assert result.exit_code == 2
    assert "name the folder of its data (--data)" in " ".join(result.output.split())
