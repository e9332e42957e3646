"""What a type checker makes of the public interface."""

import os
import sys
from pathlib import Path
from subprocess import run

import pytest

SOURCE = Path(__file__).parents[1] / "src"

pytestmark = pytest.mark.slow


def checked(tmp_path, *lines):
    """The errors of mypy by line number, counted from 1."""
    pytest.importorskip("mypy")
    (tmp_path / "mine.py").write_text("\n".join(("import bamsoo", *lines)) + "\n")
    done = run(
        [sys.executable, "-m", "mypy", "--strict", "--hide-error-context", "--no-error-summary",
         "--cache-dir", str(tmp_path / "cache"), "--follow-imports", "silent", "mine.py"],
        cwd=tmp_path, env={**os.environ, "MYPYPATH": str(SOURCE)}, capture_output=True, text=True,
    )  # fmt: skip
    said = [line.split(":", 3) for line in done.stdout.splitlines() if ": error:" in line]
    assert done.returncode == (1 if said else 0), done.stdout + done.stderr
    return {int(number) - 1: text for _, number, _, text in said}


def test_misspelt_algorithms_are_type_errors_and_the_type_of_a_result_is_known(tmp_path):
    misspelt = (
        "bamsoo.minimize(sum, [(0, 1)], 9, algorithm='bamsooo')",
        "bamsoo.maximize(sum, [(0, 1)], 9, algorithm='bamsooo')",
        "bamsoo.Optimizer([(0, 1)], algorithm='bamsooo')",
        "bamsoo.Study.open('run.db', space=[(0, 1)], algorithm='bamsooo')",
    )
    spelt = (
        "bamsoo.minimize(sum, [(0, 1)], 9, algorithm='bamsoo')",
        "bamsoo.Optimizer([(0, 1)], algorithm=bamsoo.algorithms.BaMSOO(k=3))",
        "bamsoo.Optimizer([(0, 1)], algorithm='soo')",
    )
    result = (
        "r = bamsoo.minimize(sum, [(0, 1)], 9)",
        "n: int = r.nfev",
        "best: float = r.fun",
        "why: list[tuple[int | None, str]] = r.failures",
        "again: bamsoo.Result = bamsoo.Optimizer([(0, 1)]).result",
        "m: str = r.nfev",
    )
    # in one run of mypy, which takes long to read what we import
    refused = checked(tmp_path, *misspelt, *spelt, *result)
    wrong = refused.pop(len(misspelt + spelt + result))
    assert '"int"' in wrong and '"str"' in wrong
    assert set(refused) == {1, 2, 3, 4}
    assert all("\"Literal['bamsooo']\"" in text for text in refused.values())
