"""The reproduction as a whole: it runs, it goes on after a kill, it refuses in one sentence."""

import random
import signal
import subprocess
import sys
import time
from dataclasses import fields, replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from bamsoo import minimize
from bamsoo.algorithms import BaMSOO
from bamsoo.command.main import main
from bamsoo.model.gp import JITTER
from bamsoo_lab.jobs.task import Finished
from bamsoo_lab.paper import trees, variants
from bamsoo_lab.paper.algorithms import build
from bamsoo_lab.paper.experiment import Request
from bamsoo_lab.paper.output import (
    Assertion,
    Output,
    PlotError,
    claims,
    pyplot,
)
from bamsoo_lab.paper.priors import (
    ALL,
    kernel,
    sample_size,
    sampled,
    stored,
)
from bamsoo_lab.paper.reproduce import PARTS
from bamsoo_lab.paper.scale import Scale

pytest.importorskip("matplotlib")

TINY = Scale(
    repeats=1,
    evaluations=4,
    term_evaluations=4,
    variant_repeats=0,
    timings=1,
    draws=4,
    rate_draws=1,
    expansions=30,
)

SCRIPT = """
import sys
from pathlib import Path
from rich.console import Console
from bamsoo_lab.paper.experiment import Request
from bamsoo_lab.paper.reproduce import reproduce
from bamsoo_lab.paper.scale import Scale
if __name__ == "__main__":
    reproduce(sys.argv[1], Request({scale}), Path(sys.argv[2]), 2, Console(quiet=True))
"""


def start(part: str, out: Path) -> subprocess.Popen:
    script = out.parent / "script.py"
    script.write_text(SCRIPT.format(scale=TINY))
    return subprocess.Popen([sys.executable, script, part, out], start_new_session=True)


@pytest.mark.slow
@pytest.mark.long
def test_everything_is_written_up_and_a_part_that_was_killed_goes_on_to_the_same_tables(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert start("all", whole).wait(timeout=600) == 0
    names = {path.name for path in (whole / "pictures").iterdir()}
    pictures = ("feasible", "trees", "low", "moderate", "rates", "widths", "terms")
    assert names == {f"{name}.{suffix}" for name in pictures for suffix in ("png", "pdf")}
    page = (whole / "page.md").read_text()
    for heading in ("Table 1", "Theory (a)", "Theory (d)", "Term extraction"):
        assert heading in page
    assert all(f"pictures/{name}.png" in page for name in pictures)
    rows = (whole / "data" / "benchmarks.csv").read_text().splitlines()
    assert len(rows) == 1 + 5 * TINY.evaluations * (2 * TINY.repeats + 1)

    part = "figures"
    total = sum(len(experiment.tasks(Request(TINY))) for experiment in PARTS[part])
    process = start(part, broken)
    kill_after = random.randrange(1, total)
    while stored_runs(broken) < kill_after:
        assert process.poll() is None
        time.sleep(0.002)
    time.sleep(random.random() / 20)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert no_survivors(process.pid), "workers outlived the reproduction"
    assert start(part, broken).wait(timeout=600) == 0
    tables = [table.name for table in (broken / "data").iterdir()]
    assert "benchmarks.csv" in tables
    for name in tables:
        assert (whole / "data" / name).read_bytes() == (broken / "data" / name).read_bytes(), name


def stored_runs(out: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in (out / "runs").glob("*.jsonl"))


def no_survivors(session: int) -> bool:
    """Whether every process of a session ends within a minute (Linux; else not looked at)."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        alive = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                alive.append(stat)
        if not alive:
            return True
        time.sleep(0.05)
    return False


def test_the_trees_show_what_the_caption_says():
    tasks = trees.tasks(Request(TINY))
    soo, bamsoo = (task.run()["nodes"] for task in tasks)
    assert sum(node["evaluated"] for node in soo) == len(soo) == 20
    assert sum(node["evaluated"] for node in bamsoo) == 20
    assert len(bamsoo) > len(soo)


def test_variants_differ_from_the_figures_and_are_written_up(tmp_path):
    request = Request(replace(TINY, variant_repeats=1, evaluations=30))
    tasks = [t for t in variants.tasks(request) if t.settings["problem"] == "branin"]
    tasks = [t for t in tasks if t.settings["algorithm"] != "GP-UCB"]
    tasks = [t for t in tasks if t.settings["change"].get("sample", 0) < 1]
    runs = [Finished(task.settings, task.run()) for task in tasks]
    by_name = {run.settings["variant"]: run.result["values"] for run in runs}
    usual = by_name.pop("BaMSOO as in the figures")
    assert by_name["k = 3"] != usual != by_name["no random first point"]
    everywhere = [Finished({**r.settings, "problem": p}, r.result) for r in runs for p in ALL]
    assert "| k = 3 |" in variants.write(everywhere, Output(tmp_path))


def test_the_figures_run_bamsoo_itself_and_a_jitter_reaches_its_gp():
    problem = ALL["branin"]
    settings = {"algorithm": "BaMSOO", "prior": stored()["branin"][0]}
    chosen = (JITTER, 1e-4)
    jittered = [build({**settings, "options": {"jitter": jitter}}) for jitter in chosen]
    plain = {f.name: getattr(jittered[0], f.name) for f in fields(BaMSOO)}
    usual, same, other = (
        minimize(problem, problem.bounds, 40, algorithm=algorithm).F.tolist()
        for algorithm in (BaMSOO(**plain), *jittered)
    )
    assert usual == same != other


def test_the_stored_priors_are_what_the_procedure_gives():
    name = "branin"
    again = sampled(name, sample_size(ALL[name].dim))[0]
    kept = stored()[name][0]
    assert again["family"] == kept["family"]
    assert again["length"] == pytest.approx(kept["length"], rel=0.05)
    assert kernel(kept).variance == kept["variance"]


def test_without_matplotlib_it_says_so_in_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PlotError, match="matplotlib"):
        pyplot()
    result = CliRunner().invoke(main, ["reproduce", "figures", "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert not (tmp_path / "out").exists()


def test_a_corpus_that_is_not_there_is_refused_before_anything_runs(tmp_path):
    missing = tmp_path / "no.tgz"
    result = CliRunner().invoke(
        main, ["reproduce", "terms", "--corpus", str(missing), "--out", str(tmp_path / "out")]
    )
    assert result.exit_code == 2
    assert not (tmp_path / "out").exists()


def test_claims_say_how_they_stand():
    rows = claims(
        [Assertion("a", "b", True), Assertion("c", "d", False), Assertion("e", "f", None)]
    )
    assert [line.split("|")[3].strip() for line in rows.splitlines()[2:]] == [
        "holds",
        "does not hold",
        "open",
    ]
