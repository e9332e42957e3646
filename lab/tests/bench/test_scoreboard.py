"""The scoreboard: the default of another source on the same cases, the lines, and the page."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

import bamsoo
from bamsoo import Choice, Fidelity, Int, Real
from bamsoo_lab.bench import suites
from bamsoo_lab.bench.case import Case, Target
from bamsoo_lab.bench.cli import bench
from bamsoo_lab.bench.errors import BenchError
from bamsoo_lab.bench.measure import MeasuredObjective
from bamsoo_lab.bench.methods import ours
from bamsoo_lab.bench.scoreboard import board, rows
from bamsoo_lab.bench.scoreboard.elsewhere import Elsewhere, ElsewhereError, run
from bamsoo_lab.bench.suites.parallel import BOXES, INSTANCES

SOURCE = str(Path(bamsoo.__file__).parents[1])
PAGE = Path(__file__).parents[3] / "docs" / "scoreboard.md"


# ---- searches in another process


@pytest.fixture(scope="module")
def elsewhere():
    found = Elsewhere(SOURCE)
    yield found
    found.close()


def plain():
    return Target(lambda x: float(((x - 0.3) ** 2).sum()), [(-1.0, 2.0), (0.0, 1.0)], 0.0)


def mixed():
    space = {
        "rate": Real(1e-4, 1.0, log=True),
        "model": Choice({"a": {"depth": Int(1, 9)}, "b": {}}),
        "kind": Choice([None, "x", 3]),
    }

    def fun(rate, model, kind, depth=4):
        if kind == 3:
            return None  # fails
        return abs(np.log10(rate) + 2.0) + (model == "b") + 0.1 * depth

    return Target(fun, space)


def limited():
    def fun(x, y):
        return x + y, {"c": 0.2 - x * y}

    space = {"x": Real(0.0, 1.0), "y": Real(0.0, 1.0)}
    return Target(fun, space, constraints=("c",), known=lambda x, y: [x - 0.9])


def noisy():
    rng = np.random.default_rng(0)
    space = {"x": Real(-1.0, 1.0), "y": Int(0, 5)}
    return Target(
        lambda x, y: x**2 + y + 0.1 * rng.standard_normal(), space, truth=lambda x, y: x**2 + y
    )


def stepped():
    def fun(rate):
        for step in range(1, 6):
            yield abs(rate - 0.3) + 1.0 / step

    return Target(fun, {"rate": Real(0.0, 1.0)}, steps=5)


def sized():
    def fun(rate, rows):
        return abs(rate - 0.3) + 1.0 / rows

    return Target(fun, {"rate": Real(0.0, 1.0), "rows": Fidelity(10, 1000)}, fidelity="rows")


def several():
    def fun(x, y):
        return [x + y**2, (1.0 - x) ** 2 + y]

    return Target(fun, {"x": Real(0.0, 1.0), "y": Real(0.0, 1.0)}, objectives=("a", "b"))


@pytest.mark.parametrize("kind", [plain, mixed, limited, noisy, stepped, sized, several])
def test_the_same_source_in_another_process_asks_for_the_same_points(elsewhere, kind):
    notes = []
    for package in (bamsoo, elsewhere):
        f = MeasuredObjective(kind(), 12, 3)
        f.start()
        ours.solve(f, "auto", package=package)
        notes.append({k: v for k, v in f.notes().items() if k in STABLE})
    assert notes[0] == notes[1]
    assert notes[0]["evaluations"] >= 12


STABLE = ("values", "steps", "violations", "recommended", "evaluations")
"""What does not depend on time."""


def test_an_error_in_the_other_process_names_what_was_raised(elsewhere):
    with pytest.raises(ElsewhereError, match="raised SpaceError"):
        elsewhere.Optimizer({"x": Real(0.0, 1.0)} | {"y": (3.0, 2.0)})
    search = elsewhere.Optimizer([(0.0, 1.0)], seed=1)  # the process is still there
    trial = search.ask()
    search.tell(trial, 0.5)
    assert search.result.x == trial.x == pytest.approx(0.5)


def test_a_source_that_is_not_the_one_asked_for_is_an_error(tmp_path):
    found = Elsewhere(str(tmp_path))
    with pytest.raises(ElsewhereError, match="expected bamsoo in"):
        found.Optimizer([(0.0, 1.0)])
    found.close()


def test_an_error_of_a_target_ends_the_run_and_not_the_next_one(monkeypatch):
    def fails(x):
        raise ZeroDivisionError("by design")

    settings = {**vars(Case("paper", "branin", 2, 0, 5)), "method": "bamsoo", "seed": 0}
    with monkeypatch.context() as patch:
        patch.setattr(suites, "target", lambda case: Target(fails, [(0.0, 1.0)], 0.0))
        with pytest.raises(ZeroDivisionError):
            run(settings, {"package": SOURCE})
    assert run(settings, {"package": SOURCE})["evaluations"] == 5
    parallel = {**settings, "workers": 2, "durations": "exponential"}
    assert run(parallel, {"package": SOURCE})["told"] == 5


# ---- lines


def test_no_line_has_a_case_that_is_reported():
    for name, row in rows.ALL.items():
        if name in ("yahpo", "tuning", "conditional", "steps"):  # parts with other problems
            continue
        suite = {case.suite for case in row.cases()} - {"bbob", "paper"}
        reported = {c for one in suite for c in suites.ALL[one].cases(suites.Selection())}
        assert not reported & {*row.cases()}
        for case in row.cases():
            if case.suite in ("bbob", "inexact"):
                assert case.instance <= 7
            elif case.suite == "paper":
                assert 100 <= case.instance <= 107
            if row.workers:
                assert case.instance not in (*INSTANCES, *BOXES)


def line(name, kind, gain, error, now=0.5):
    row = rows.ScoreRow(name, kind, list, dict)
    return board.ScoreLine(row, 4, now, now - gain, gain, error)


def test_the_mean_counts_every_kind_of_user_once():
    lines = [line("a", "one", 0.1, 0.03), line("b", "one", 0.3, 0.04), line("c", "two", -0.4, 0.1)]
    now, gain, error = board.total(lines)
    assert now == pytest.approx(0.5) and gain == pytest.approx((0.2 - 0.4) / 2)
    assert error == pytest.approx(np.hypot(np.hypot(0.03, 0.04) / 4, 0.1 / 2))
    cells = board.table(lines, "main").rows
    assert [row[0] for row in cells] == ["a", "b", "c (fell)", "mean"]
    assert cells[2][4:6] == ["0.900", "-0.400 ± 0.100"] and cells[3][1] == "2 kinds"


def test_problems_are_compared_in_pairs_and_instances_of_one_are_averaged():
    cases = [Case("designs", p, 2, i, 4) for p in "ab" for i in (1, 2)]

    def runs(ends):
        made = zip(cases, ends, strict=True)
        return {
            c: {"budget": 4, "values": [e] * 4, "violations": [0.0] * 4, "optimum": 1.0}
            for c, e in made
        }

    row = rows.ALL["designs"]
    exact, far = 1.0, 1e9
    found = board._line(row, runs([exact, far, exact, exact]), runs([far, far, exact, far]), [])
    # of 13 gaps all or none are reached: problem a gains 1/2 of them, b as well
    assert (found.now, found.before, found.difference, found.error) == (0.75, 0.25, 0.5, 0.0)


def test_a_design_reaches_the_gaps_above_its_own():
    run = {"budget": 2, "values": [2.1, 2.0 + 2e-3], "violations": [0.0, 0.0], "optimum": 2.0}
    # gaps of .05 (1, .3, .1) and .001 (five more, the last one is equal to it)
    marks = rows.ALL["designs"].marked({"bamsoo": {Case("designs", "a", 1, 1, 2): run}})
    (mark,) = marks["bamsoo"].values()
    assert mark == pytest.approx((3 + 6) / 2 / len(rows.GAPS), abs=1 / len(rows.GAPS))


# ---- the page


def test_the_scoreboard_was_renewed_after_the_golden_runs_changed():
    assert f"Golden runs: `{board.golden(PAGE)}`" in PAGE.read_text("utf-8"), (
        "the golden runs have changed, so the default may have; run bamsoo bench --scoreboard "
        "--against main --docs docs/scoreboard.md (--suites NAME,... for some of the lines)"
    )


@pytest.mark.slow
def test_the_command_compares_with_a_revision_and_keeps_the_lines_it_does_not_run(
    tmp_path, monkeypatch
):
    few = rows.ScoreRow(
        "paper",
        "test functions",
        lambda: [Case("paper", "branin", 2, 100, 8)],
        rows.ALL["paper"].marked,
        drawn=False,
    )
    monkeypatch.setattr(rows, "ALL", {"paper": few, "real": rows.ALL["real"]})
    monkeypatch.setattr(board, "ALL", rows.ALL)
    if board._git("rev-parse", "HEAD").returncode:
        pytest.skip("the laboratory is not in a clone of the repository")
    page = tmp_path / "docs" / "scoreboard.md"
    page.parent.mkdir()
    golden = tmp_path / board.GOLDEN
    golden.parent.mkdir(parents=True)
    golden.write_text("points")
    kept = "| real | engineering | 3 | 0.700 |  |  |  | 0123456789ab |"
    page.write_text(f"<!-- bench:scoreboard -->\n\n{kept}\n\n<!-- end of bench:scoreboard -->\n")
    args = ["--scoreboard", "--suites", "paper", "--against", "HEAD", "--out", str(tmp_path)]
    shown = CliRunner().invoke(bench, [*args, "--docs", str(page), "--jobs", "1"])
    assert shown.exit_code == 0, shown.output
    text = page.read_text()
    assert kept in text and "| paper | test functions | 1 |" in text
    assert f"`{board.golden(page)}`" in text and "± 0.000" in text
    assert "| mean | 2 kinds | 4 |" in text  # of the line that was run and of the one that was kept


def test_a_line_or_revision_that_does_not_exist_is_an_error():
    wrong = CliRunner().invoke(bench, ["--scoreboard", "--suites", "moon"])
    assert wrong.exit_code == 2 and "no line moon; expected some of bbob-2" in wrong.output
    wrong = CliRunner().invoke(bench, ["--suites", "real"])
    assert wrong.exit_code == 2 and "--suites is for --scoreboard" in wrong.output
    with pytest.raises(BenchError, match="'moon' is not a revision"):
        board.scoreboard(["paper"], "moon", Path("nowhere"), 1, Console())
