"""Many workers on a virtual clock: the simulator by hand, and what is made of its runs."""

import json
from itertools import islice

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

import bamsoo
from bamsoo.command.main import main
from bamsoo.errors import ExhaustedError
from bamsoo_lab.bench.bench import bench
from bamsoo_lab.bench.case import Case
from bamsoo_lab.bench.comparison import Comparison
from bamsoo_lab.bench.methods import ALL
from bamsoo_lab.bench.parallel import pages, runs
from bamsoo_lab.bench.parallel.clock import (
    DURATIONS,
    Handed,
    simulate,
    stream,
    utilisation,
    with_thinking,
)
from bamsoo_lab.bench.parallel.searches import SEARCHES, Ours
from bamsoo_lab.bench.runs import measurement
from bamsoo_lab.bench.suites import bbob, paper
from bamsoo_lab.bench.suites import parallel as suite
from bamsoo_lab.jobs.task import Task


class Counting:
    """Asks for 0, 1, 2, ... and notes what happens in which order."""

    def __init__(self, last=10**9):
        self.seen, self.next, self.last = [], 0, last

    def ask(self):
        if self.next > self.last:
            raise ExhaustedError("nothing is left")
        self.seen.append(f"ask {self.next}")
        self.next += 1
        return Handed(self.next - 1, np.array([self.next - 1.0]))

    def tell(self, token, value):
        self.seen.append(f"tell {token}")


def value(x):
    return float(x[0])


def spans(simulation):
    return [(e.begin, e.end) for e in simulation.told]


def test_two_workers_by_hand():
    # worker A: 0-3 (trial 0), 3-4 (trial 3); worker B: 0-1 (trial 1), 1-3.5 (trial 2)
    search = Counting()
    run = simulate(search, value, iter([3.0, 1.0, 2.5, 1.0]), workers=2, budget=4)
    assert search.seen == [
        *("ask 0", "ask 1", "tell 1", "ask 2", "tell 0", "ask 3", "tell 2", "tell 3"),
    ]
    assert spans(run) == [(0, 1), (0, 3), (1, 3.5), (3, 4)]
    assert [e.value for e in run.told] == [1, 0, 2, 3]
    assert run.out == []
    assert run.utilisation == 1.0  # until the last ask at 3 both are always busy


def test_values_of_one_moment_are_all_told_before_the_next_ask():
    search = Counting()
    simulate(search, value, stream("constant", 0), workers=2, budget=4)
    assert search.seen == [
        *("ask 0", "ask 1", "tell 0", "tell 1", "ask 2", "ask 3", "tell 2", "tell 3"),
    ]


def test_a_run_ends_at_its_goal_and_keeps_what_is_out():
    run = simulate(Counting(), lambda x: -x[0], iter([3.0, 1.0, 2.5, 1.0]), 2, 9, goal=-1.0)
    assert spans(run) == [(0, 1)]
    assert sorted((e.begin, e.end) for e in run.out) == [(0, 3), (1, 3.5)]


def test_a_search_with_nothing_left_ends_the_run_and_leaves_workers_idle():
    run = simulate(Counting(last=2), value, iter([1.0, 4.0, 1.0]), workers=2, budget=9)
    assert spans(run) == [(0, 1), (1, 2), (0, 4)]


def test_utilisation_by_hand():
    assert utilisation([(0, 1), (0, 3), (1, 3.5), (3, 4)], 2) == 1.0
    assert utilisation([(0, 1), (0, 3), (2, 9)], 2) == 3 / 4  # a second of B is lost before 2
    assert utilisation([(0, 5)], 1) == 1.0


def test_a_driver_that_thinks_by_hand():
    # one driver, half a second an ask, two workers, evaluations of one second
    found = with_thinking([1.0, 1.0, 1.0, 1.0], [0.5] * 4, 2)
    assert found == [(0.5, 1.5), (1.0, 2.0), (2.0, 3.0), (2.5, 3.5)]
    assert utilisation(found, 2) == (1 + 1 + 0.5) / 5


@pytest.mark.parametrize("name", DURATIONS)
def test_durations_have_mean_one_and_a_seed(name):
    some = list(islice(stream(name, 3), 200_000))
    assert np.mean(some) == pytest.approx(1.0, abs=0.05)
    assert min(some) > 0
    assert some[:5] == list(islice(stream(name, 3), 5))
    assert name == "constant" or some[:5] != list(islice(stream(name, 4), 5))


def branin_run(workers, durations="exponential", budget=30):
    problem = bamsoo.problems.branin
    points = []

    def fun(x):
        points.append(x.copy())
        return problem(x)

    run = simulate(Ours(problem.bounds, 0), fun, stream(durations, 5), workers, budget)
    return np.array(points), run


@pytest.mark.parametrize("durations", DURATIONS)
def test_one_worker_is_the_sequential_run_point_by_point(durations):
    problem = bamsoo.problems.branin
    points, run = branin_run(1, durations)
    r = bamsoo.minimize(problem, problem.bounds, 30)
    np.testing.assert_array_equal(points, r.X)
    assert run.utilisation == pytest.approx(1.0)
    assert run.told[-1].end == pytest.approx(sum(islice(stream(durations, 5), 30)))


def test_a_run_with_many_workers_repeats_itself():
    first, second = branin_run(8), branin_run(8)
    np.testing.assert_array_equal(first[0], second[0])
    assert spans(first[1]) == spans(second[1])
    assert first[1].utilisation == pytest.approx(1.0)


# ---- what is run


def test_no_case_is_one_that_is_reported_on():
    for workers in suite.WORKERS:
        for case in (*suite.cases(workers), *suite.PEER_CASES):
            reported = paper.BOXES if case.suite == "paper" else bbob.INSTANCES
            assert case.instance not in reported
    assert set(SEARCHES) <= set(ALL)


def test_a_record_holds_when_each_target_was_reached():
    case = Case("paper", "branin", 2, 100, 60)
    record = runs.task("bamsoo", case, 4, "exponential").run()
    json.dumps(record)
    (easy, soon), _, (hard, late) = record["reached"]
    assert easy <= hard == record["told"] <= 60 and soon <= late
    assert record["regret"] <= runs.TARGETS[-1] * runs.typical(case)
    assert record["utilisation"] == pytest.approx(1.0)
    assert record["utilisation_at"] == sorted(record["utilisation_at"])


# ---- what is made of it


def made(problem, workers, evaluations, durations="constant"):
    """A record that reached the first target after so many evaluations, the second never."""
    hit = [evaluations, evaluations / workers]
    return {
        "problem": problem,
        "workers": workers,
        "durations": durations,
        "reached": [hit, None],
        "utilisation": 1.0,
    }


def test_ratios_are_of_medians_and_leave_out_targets_that_are_not_reached_or_too_soon():
    records = [made("f2", 1, n) for n in (10, 53, 90)]
    records += [made("f2", 8, n, "exponential") for n in (25, 90, 91)]
    share = pages.relative(records, 0, "exponential", 8)
    assert share == {("f2", 0): 1.5}  # 90 / (53 + 7)
    assert pages.relative(records, 1, "exponential", 8) == {("f2", 0): 90 / 8 / 53}
    soon = [made("f2", 1, 39), made("f2", 8, 50)]
    assert not pages.relative(soon, 0, "constant", 8)
    missed = [made("f2", 1, 40), {**made("f2", 8, 1), "reached": [None, None]}]
    assert np.isinf(pages.relative(missed, 0, "constant", 8)["f2", 0])


def test_the_table_gives_medians_quartiles_and_what_was_not_reached(monkeypatch):
    monkeypatch.setattr(pages, "MANY", (8,))
    monkeypatch.setattr(pages, "DURATIONS", ["constant"])
    evaluations = {"f2": 100, "f6": 150, "f8": 200, "f14": np.inf}
    records = [made(problem, 1, 93) for problem in evaluations]
    records += [made(problem, 8, n) for problem, n in evaluations.items()]
    assert pages.evaluations(records).rows == [
        ["constant", "1.75 (1.50 to 2.00); 1 of 4 not reached"]
    ]
    assert pages.by_problem(records).rows[0] == ["f2, D = 3", "0.01", "93", "1.00"]
    assert pages.reached(records)[1][1:] == ("1.75 times", False)


@pytest.mark.slow
def test_the_suite_writes_its_page_and_takes_up_where_it_stopped(tmp_path, monkeypatch):
    pytest.importorskip("ioh")
    pytest.importorskip("matplotlib")
    for module in (runs, pages):
        monkeypatch.setattr(module, "WORKERS", (1, 8))
        monkeypatch.setattr(module, "PEER_CASES", suite.PEER_CASES[:1])
    monkeypatch.setattr(pages, "MANY", (8,))
    monkeypatch.setattr(pages, "LEAST", 1)
    monkeypatch.setattr(runs, "SAMPLE", 20)
    monkeypatch.setattr(suite, "BOXES", (100,))
    monkeypatch.setattr(suite, "INSTANCES", (1,))
    monkeypatch.setattr(suite, "BUDGET", 6)
    monkeypatch.setattr(suite, "ROUNDS", 0)
    monkeypatch.setattr(pages, "perform", in_this_process)
    page = tmp_path / "page.md"
    page.write_text("# A page\n<!-- bench:parallel -->\n<!-- end of bench:parallel -->\nthe rest\n")
    console = Console(quiet=True)
    asked = Comparison(suite.SUITE, [], ["botorch", "optuna-gp"])
    bench(asked, tmp_path / "out", 1, console, page)
    text = page.read_text()
    assert "the rest" in text and "| heavy-tailed |" in text
    for name in pages.CAPTIONS:
        assert (tmp_path / "page" / f"{name}.png").stat().st_size > 10_000
        assert f"](page/{name}.png)" in text
    monkeypatch.setattr(Task, "run", lambda task: pytest.fail(f"made again: {task.settings}"))
    again = pages.measure(asked, tmp_path / "out", 1, console)
    assert len(again) == len([*runs.ours(), *runs.peer_part("bamsoo"), *pages.read(pages.PARALLEL)])
    assert all(measurement(f) in again for f in pages.Store(tmp_path / "out/parallel").finished())


def in_this_process(batches, store, console):
    """`perform` without a pool."""
    return [[store.get(t) or store.put(t, t.run()) for t in batch.tasks] for batch in batches]


def test_the_command_refuses_other_cases():
    result = CliRunner().invoke(main, ["bench", "--suite", "parallel", "--budget", "9"])
    assert result.exit_code == 2 and "its own cases" in result.output
