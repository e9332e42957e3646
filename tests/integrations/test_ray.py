"""Ray Tune with the sampler: the example of docs/optuna.md, where Ray is installed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

COUNT = """
import ray

ray.init(num_cpus=2, include_dashboard=False)
__name__ = "example"
{example}
points = [(trial.config["rate"], trial.config["layers"]) for trial in tuner.get_results()]
print(len(points), len(set(points)))
"""


@pytest.mark.slow
def test_ray_tune_takes_the_sampler(tmp_path):
    pytest.importorskip("ray.tune", exc_type=ImportError)
    page = (ROOT / "docs/optuna.md").read_text()
    (example,) = re.findall(r"^## Ray Tune\n.*?```py\n(.*?)```", page, re.S | re.M)
    assert "num_samples=25" in example
    shorter = example.replace("num_samples=25", "num_samples=6, reuse_actors=True")
    script = tmp_path / "tune.py"
    script.write_text(COUNT.format(example=shorter))
    ran = subprocess.run(
        [sys.executable, script],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},  # where Ray writes what it has found
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"^\{'rate': .*, 'layers': \d\}$", ran.stdout, re.M)
    assert ran.stdout.splitlines()[-1] == "6 6"
