"""The Hydra sweeper in the folder hydra/, run as a user runs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bamsoo

pytest.importorskip("hydra.core", reason="hydra-core is not installed")

FOLDER = Path(__file__).parents[2] / "hydra"

TRAIN = """
import hydra

@hydra.main(version_base=None, config_path=".", config_name="config")
def train(config):
    bad = config.kind == "b" or config.fixed != 7
    return (config.rate - 0.3) ** 2 + abs(config.layers - 3) + 10 * bad

train()
"""


@pytest.mark.slow
def test_a_sweep_finds_the_best_point_and_goes_on(tmp_path):
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "config.yaml").write_text("rate: 1.0\nlayers: 1\nkind: a\nfixed: 1\n")
    path = os.pathsep.join([str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])])
    words = [sys.executable, "train.py", "--multirun", "hydra/sweeper=bamsoo", "fixed=7"]
    words += ["rate=interval(0, 1)", "layers=int(interval(1, 8))", "kind=choice(a, b)"]
    words += ["hydra.sweeper.study=run.db", "hydra.sweep.dir=out", "hydra.sweeper.batch=2"]
    for budget in (10, 24):
        subprocess.run(
            [*words, f"hydra.sweeper.budget={budget}"],
            cwd=tmp_path, check=True, env={**os.environ, "PYTHONPATH": path}, capture_output=True,
        )  # fmt: skip
        with bamsoo.Study.open(tmp_path / "run.db", readonly=True) as study:
            assert study.told == budget
            best = study.result
    assert best.fun < 0.1
    assert best.params["kind"] == "a"
    assert isinstance(best.params["layers"], int)
    assert "best_evaluated_result" in (tmp_path / "out" / "optimization_results.yaml").read_text()
