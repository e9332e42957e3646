"""What bamsoo and the processes cost per evaluation, if the program only prints a number.

`bamsoo minimize` runs `/bin/echo {x} {y}` with a study: once in the current directory, and with
this source also with a template, in a directory for each trial. The time of a run with one
evaluation is subtracted from that of a run with 101, and the rest is divided by 100. With
`--against REVISION`, the source of that revision is measured in turn. Of several rounds, the
shortest times count, which are the least disturbed ones: on the clock, and of processors for bamsoo
and its programs.

Two minutes on one core: python lab/benchmarks/overhead.py --against 94d51c8
"""

import argparse
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
EVALUATIONS = 100
SPACE = ["--param", "x:0:1", "--param", "y:0:1"]
PROGRAM = ["--", "/bin/echo", "{x}", "{y}"]
TEMPLATE = ["--template", "case.tpl", "--", "/bin/cat", "case.tpl"]


def source_of(revision: str, into: Path) -> Path:
    """The folder with the package as it was at a revision."""
    packed = subprocess.run(
        ["git", "archive", revision, "src"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(into, filter="data")
    return into / "src"


def run(source: Path, budget: int, more: list[str]) -> tuple[float, float]:
    """Seconds of one run of the command: on the clock, and of processors."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    with tempfile.TemporaryDirectory() as here:
        Path(here, "case.tpl").write_text("{x} {y}\n")
        command = ["minimize", *SPACE, "--budget", str(budget), "--study", "run.db", *more]
        began, before = time.perf_counter(), os.times()
        subprocess.run(
            [sys.executable, "-m", "bamsoo", *command],
            cwd=here,
            env=environment,
            capture_output=True,
            check=True,
        )
        wall, after = time.perf_counter() - began, os.times()
    spent = after.children_user + after.children_system
    return wall, spent - before.children_user - before.children_system


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", metavar="REVISION")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cases = {"this source, one worker": (ROOT / "src", PROGRAM)}
        if options.against is not None:
            old = source_of(options.against, Path(folder))
            cases[f"{options.against}, one worker"] = (old, PROGRAM)
        cases["this source, two workers"] = (ROOT / "src", ["--workers", "2", *PROGRAM])
        cases["this source, a template and a directory"] = (ROOT / "src", TEMPLATE)
        found: dict[str, list[tuple[float, ...]]] = {name: [] for name in cases}
        for _ in range(options.rounds):
            for name, (source, more) in cases.items():
                long, short = run(source, EVALUATIONS + 1, more), run(source, 1, more)
                found[name].append((*long, *short))
    print("| | ms per evaluation | of processor time |\n|---|--:|--:|")
    for name, times in found.items():
        wall, spent, *start = (min(column) for column in zip(*times, strict=True))
        each = [1e3 * (a - b) / EVALUATIONS for a, b in zip((wall, spent), start, strict=True)]
        print(f"| {name} | {each[0]:.0f} | {each[1]:.0f} |")


if __name__ == "__main__":
    main()
