"""The tutorial "A simulation from the shell": each command runs, and prints what the page shows."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorials" / "simulation.md"
BLOCK = re.compile(r"(<!-- numbers vary -->\n)?```(sh|text)\n(.*?)```", re.S)
PROGRESS = re.compile(r"^\d+/\d+ evaluations?, |.* Killed ")
"""Lines that the page leaves out: progress, and what a shell says of a process that was killed."""

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
END = "--- the end of a block ---"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="needs signals and a shell"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
]


def commands(page):
    """The commands of a page, each with what it prints and whether its numbers vary."""
    found = []
    for vary, kind, text in BLOCK.findall(page):
        if kind == "sh":
            found.append([text, "", False])
        else:
            found[-1][1:] = text, bool(vary)
    return found


def printed(script, here):
    """What each of the commands prints, in one shell."""
    shutil.copytree(ROOT / "examples" / "reactor", here, dirs_exist_ok=True)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-c", f"\necho '{END}'\n".join(script)],
        cwd=here,
        env={**os.environ, "PATH": path, "COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        timeout=900,
    )
    texts = ran.stdout.replace(str(here), "/home/me/reactor").split(f"{END}\n")
    return ["".join(x for x in t.splitlines(True) if not PROGRESS.match(x)) for t in texts]


def words(text):
    """A text without its numbers, and without how far apart they and its lines of a table are."""
    return re.sub(r"[━─ ]+", " ", NUMBER.sub("#", text))


def numbers(text):
    return [float(number) for number in NUMBER.findall(text)]


def test_every_command_prints_what_the_page_shows(tmp_path):
    found = commands(PAGE.read_text())
    assert len(found) == 13
    said = printed([command for command, _, _ in found], tmp_path)
    for (command, shown, vary), out in zip(found, said, strict=True):
        assert words(out) == words(shown), command
        if not vary:
            assert numbers(out) == pytest.approx(numbers(shown), rel=0.01), command
    assert {"reactor.html", "cooler.db"} <= {file.name for file in tmp_path.iterdir()}
