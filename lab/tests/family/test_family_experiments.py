"""The measurements of the other optimistic trees: their functions, their fits, the whole part."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from bamsoo.algorithms import BY_NAME
from bamsoo.command.main import main
from bamsoo_lab.family import EXPERIMENTS, deterministic, every, gp_draws, noisy, states
from bamsoo_lab.family import page as family_page
from bamsoo_lab.family.peaks import Peak
from bamsoo_lab.jobs.source import PACKAGE, searches, state_of
from bamsoo_lab.paper import reproduce as module
from bamsoo_lab.paper import scale
from bamsoo_lab.paper.experiment import Request

pytest.importorskip("matplotlib")
pytest.importorskip("ioh")

TINY = replace(
    scale.QUICK,
    family_runs=1,
    family_draws=1,
    noisy_evaluations=128,
    draw_evaluations=12,
    family_boxes=1,
    family_functions=1,
)


@pytest.mark.parametrize("peak", [Peak(1, 2, 2), Peak(2, 1, 2), Peak(3, 0.5, 1)], ids=str)
def test_a_peak_lies_between_its_envelopes_and_touches_them(peak):
    f = peak.at(3)
    assert f(f.where) == 0.0
    u = np.geomspace(1e-9, 0.2, 4000)
    values = np.array([-f(f.where + d) for d in u])
    assert (values >= u**peak.b * (1 - 1e-6)).all()
    assert (values <= u**peak.a * (1 + 1e-6)).all()
    assert (values / u**peak.a).max() > 0.999
    assert (values / u**peak.b).min() < 1.001


@pytest.mark.parametrize("peak", [Peak(1, 1, 2), Peak(2, 1, 2), Peak(2, 2, 2)], ids=str)
def test_the_near_optimality_dimension_is_what_the_cells_count(peak):
    # cells of side s that hold a value as good as the worst of the best cell, -s^a: s^(-a d)
    f = peak.at(0)
    counts = []
    sides = 3.0 ** -np.arange(2, 6)
    for s in sides:
        ticks = np.arange(s / 2, 1, s)
        grid = np.stack(np.meshgrid(*[ticks] * peak.dim), -1).reshape(-1, peak.dim)
        nearest = np.clip(f.where, grid - s / 2, grid + s / 2)
        u = np.abs(nearest - f.where).max(1)
        counts.append((u**peak.b <= s**peak.a).sum())
    slope = np.polyfit(np.log(1 / sides), np.log(counts), 1)[0]
    assert slope == pytest.approx(peak.a * peak.d, abs=0.15 * peak.dim)


def test_fits_recover_the_law_they_are_given():
    n = np.array(deterministic.BUDGETS)
    flat, rough = Peak(2, 2, 2), Peak(2, 1, 2)
    assert deterministic.growth(flat, -0.3 * n**0.5) == pytest.approx(0.5)
    assert deterministic.growth(rough, 1 - 1.5 * np.log10(n)) == pytest.approx(-1.5)
    line = {100: np.array([-1.1, -0.9]), 1000: np.array([-1.6, -1.4]), 10_000: np.array([-2.0])}
    slope, error = noisy.exponent(line)
    assert slope == pytest.approx(-0.5)
    assert error == pytest.approx(np.sqrt(0.04 / 3 / 2.8))
    assert noisy.expected(noisy.of_stosoo, [10**8, 10**9], 0.0) == pytest.approx(-0.4, abs=0.01)
    assert noisy.expected(noisy.of_stroquool, [10**8, 10**9], 2.0) == pytest.approx(-0.22, abs=0.01)


def test_the_rate_on_draws_is_that_of_the_law():
    n = np.arange(1, 401)
    geometric, power = 10.0 ** (-0.03 * n), 1.0 / n**2
    cost = gp_draws.costs([geometric])
    assert cost == [34, 67, 134, 200, 267, 334]
    assert gp_draws.decades(cost) == pytest.approx([33.3] * 4, rel=0.02)
    assert gp_draws.factor(cost) == pytest.approx(10**-0.03, rel=1e-3)
    assert gp_draws.exponential(cost)
    slow = gp_draws.costs([power])
    assert slow == [4, 10, 100, np.inf, np.inf, np.inf]
    assert gp_draws.exponential(slow) is None
    assert not gp_draws.exponential(gp_draws.costs([1.0 / n**3]))
    assert gp_draws.costs([geometric, geometric, power]) == cost
    assert gp_draws.costs([geometric, power, power]) == slow
    never = gp_draws.costs([np.ones(50)])
    assert (gp_draws.decades(never), gp_draws.factor(never)) == ([], None)


def test_runs_of_an_algorithm_outlive_changes_of_the_default(tmp_path):
    assert states.state("auto") == searches()
    modules = {kind.__module__ for kind in BY_NAME.values()}  # SequOOL and StroquOOL share one
    assert len({states.state(name) for name in BY_NAME}) == len(modules) == len(BY_NAME) - 1
    for name in ("logo.py", "soo.py"):
        target = tmp_path / "algorithms" / name
        target.parent.mkdir(exist_ok=True)
        target.write_text((PACKAGE / "algorithms" / name).read_text())
    before = state_of(("algorithms/logo.py",), tmp_path), state_of(("algorithms",), tmp_path)
    (tmp_path / "algorithms" / "soo.py").write_text("k = 3\n")
    state_of.cache_clear()
    after = state_of(("algorithms/logo.py",), tmp_path), state_of(("algorithms",), tmp_path)
    assert before[0] == after[0]
    assert before[1] != after[1]


@pytest.mark.slow
@pytest.mark.long
def test_the_part_runs_and_is_written_up(tmp_path, monkeypatch):
    monkeypatch.setattr(deterministic, "BUDGETS", (25, 60, 100, 400))
    monkeypatch.setattr(deterministic, "SHOWN", (25, 100))
    monkeypatch.setattr(gp_draws, "DIMS", (1, 2))  # a draw's maximum is costly in more
    few = [replace(case, budget=12) for case in every.cases(1, 1)]
    monkeypatch.setattr(every, "cases", lambda boxes, functions: few)
    monkeypatch.setattr(
        module, "perform", lambda batches, store, console: [_here(b, store) for b in batches]
    )
    from rich.console import Console

    others = {"family": EXPERIMENTS}
    written = module.reproduce("family", Request(TINY), tmp_path, 1, Console(quiet=True), others)
    page = written.read_text()
    for name in BY_NAME:
        assert f"`{name}`" in page
    for picture in ("family-deterministic", "family-noisy", "family-draws"):
        assert (tmp_path / "pictures" / f"{picture}.png").exists()
        assert f"pictures/{picture}.png" in page
    rows = (tmp_path / "data" / "family_every.csv").read_text().splitlines()
    assert len(rows) == 1 + len(BY_NAME) * len(few)
    assert "nan" not in page.lower().replace("nan_", "")
    stored = [json.loads(line) for line in _lines(tmp_path / "runs")]
    assert {line["settings"]["algorithm"] for line in stored} == set(BY_NAME)


def _here(batch, store):
    """In this process, so that a short list of budgets counts."""
    return [store.put(task, task.run()) for task in batch.tasks]


def _lines(folder: Path):
    return [line for path in folder.glob("*.jsonl") for line in path.read_text().splitlines()]


def test_a_page_gets_the_sections_and_the_pictures(tmp_path):
    page, folder = tmp_path / "family.md", tmp_path / "out"
    page.write_text("# Trees\n\n<!-- bench:family -->\nold\n<!-- end of bench:family -->\nend\n")
    for name in ("sections", "pictures"):
        (folder / name).mkdir(parents=True)
    (folder / "sections" / "20-family-a.md").write_text("## A\n\n![a](pictures/family-a.png)")
    (folder / "sections" / "5-table.md").write_text("## another part")
    (folder / "pictures" / "family-a.png").write_bytes(b"png")
    family_page.check(page)
    family_page.rewrite(page, folder)
    text = page.read_text()
    assert "](family/family-a.png)" in text
    assert f"source {searches()}" in text
    assert "old" not in text
    assert "another part" not in text
    assert text.endswith("end\n")
    assert (tmp_path / "family" / "family-a.png").read_bytes() == b"png"


@pytest.mark.parametrize("args", [["figures"], ["family", "--quick"]])
def test_a_page_is_written_for_the_family_in_full_alone(args, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("")
    done = CliRunner().invoke(main, ["reproduce", *args, "--docs", str(page)])
    assert done.exit_code == 2
    assert "--docs is for the part family in full" in done.output


def test_a_page_without_the_part_is_refused_before_anything_runs(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing")
    args = ["reproduce", "family", "--docs", str(page), "--out", str(tmp_path / "out")]
    assert CliRunner().invoke(main, args).exit_code == 2
    assert not (tmp_path / "out").exists()


def test_family_is_a_part_of_its_own_and_not_of_all():
    assert "family" in CliRunner().invoke(main, ["reproduce", "--help"]).output
    assert "family" not in module.PARTS
