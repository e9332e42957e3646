"""The commands of docs/study.md run."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from command_line import PYTHON, bamsoo_, trials

PAGE = (Path(__file__).parents[2] / "docs" / "study.md").read_text()
SIMULATE = """#!/bin/sh
[ "$1 $3 $5" = "--x --rate --mode" ] || exit 1
echo "$2"
"""


@pytest.mark.slow
def test_the_pages_commands_run(here):
    (here / "simulate").write_text(SIMULATE)
    (here / "simulate").chmod(0o755)
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE, re.S)
    script = f'set -e; bamsoo() {{ "{PYTHON}" -m bamsoo "$@"; }}\n{block}'
    ran = subprocess.run(["sh", "-c", script], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert len(trials("sim.db")) == 20
    last = json.loads(ran.stdout.splitlines()[-1])
    assert (last["evaluations"], last["failed"]) == (5, 0)
    assert last["value"] <= min(t.value for t in trials("sim.db"))


def test_the_pages_file_runs(here):
    (here / "simulate").write_text(SIMULATE)
    (here / "simulate").chmod(0o755)
    block, _ = re.findall(r"```toml\n(.*?)```", PAGE, re.S)
    (here / "sim.toml").write_text(block)
    assert json.loads(bamsoo_("minimize", "sim.toml", "--json"))["evaluations"] == 12
