"""The tutorial "A simulation from the shell": each command runs, and prints what the page shows.

After a change of what is printed, write it to the page: python tests/command/test_simulation.py
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorials" / "simulation.md"
BLOCK = re.compile(r"(<!-- numbers vary -->\n)?```(sh|text)\n(.*?)```", re.S)
PROGRESS = re.compile(r"^\d+/\d+ evaluations?, |.* Killed ")
"""Lines that the page leaves out: progress, and what a shell says of a process that was killed."""

ORIGINS = re.compile(r"^(\d+ evaluations?): \d+ \w+(, \d+ \w+)*$", re.M)
"""The line that says which mechanisms asked for the points."""

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
    """What each of the commands prints, in one shell in a folder with the files of the example."""
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
    return re.sub(r"[━─ ]+", " ", NUMBER.sub("#", ORIGINS.sub(r"\1: origins", text)))


def numbers(text):
    return [float(number) for number in NUMBER.findall(text)]


def test_every_command_prints_what_the_page_shows(tmp_path):
    from golden.runs import libraries, stored  # not if this is run as a script

    found = commands(PAGE.read_text())
    assert len(found) == 13
    said = printed([command for command, _, _ in found], tmp_path)
    same = libraries() == stored()[0]  # others round differently, which changes the points
    for i, ((command, shown, vary), out) in enumerate(zip(found, said, strict=True)):
        assert words(out) == words(shown), command
        if not vary and (same or i < FIRST):
            assert numbers(out) == pytest.approx(numbers(shown), rel=0.01), command
    assert {"reactor.html", "cooler.db"} <= {file.name for file in tmp_path.iterdir()}


FIRST = 5
"""The commands before the first one that searches."""


def write():
    """Write what the commands print to the page."""
    sys.path.insert(0, str(ROOT / "tests"))
    import rounding

    rounding.fix()
    page = PAGE.read_text()
    with TemporaryDirectory() as here:
        said = iter(printed([command for command, _, _ in commands(page)], Path(here)))
    out = ""

    def replaced(found):
        nonlocal out
        vary, kind, text = found.groups()
        if kind == "sh":
            out = next(said)
        elif words(out) == words(text) and vary:
            out = text  # these are not the same each time
        return found[0].replace(text, text if kind == "sh" else out)

    PAGE.write_text(BLOCK.sub(replaced, page))


if __name__ == "__main__":
    write()
