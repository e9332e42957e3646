"""The summaries of docs/benchmarks say what the tables say, and nobody has edited either."""

import re
import shutil
from math import inf
from pathlib import Path

import pytest

from bamsoo_lab.bench import docs, methods, summary, tables
from bamsoo_lab.bench.suites import inexact

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs" / "benchmarks"
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]

MADE_UP = """# Trial

<!-- bench:summary -->
<!-- end of bench:summary -->

## The suite's own heading

<!-- bench:tuning -->

Written by nobody (source 0123456789ab).

**Mean score: 0 is bad, D = 3**

| method | runs | after 5 | after 9 | worst problem after 9 |
| --- | --- | --- | --- | --- |
| bamsoo | 8 | 0.5 (0.4 to 0.6) | 0.8 (0.7 to 0.9) | 0.1 (a) |
| SMAC | 2 | 0.9 (0.8 to 1.0) | 0.9 (0.8 to 1.0) | 0.2 (a) |
| Optuna TPE | 8 | 0.6 (0.5 to 0.7) | 0.7 (0.6 to 0.8) | 0.3 (b) |
| random | 8 | 0.4 (0.3 to 0.5) | 0.5 (0.4 to 0.6) | 0.4 (c) |

**Wins / losses / ties of bamsoo by score, D = 3**

| against | runs | after 5 | after 9 | largest losses after 9 |
| --- | --- | --- | --- | --- |
| SMAC | 2 | 0 / 2 / 0 (-0.4) | 0 / 2 / 0 (-0.1) | – |
| Optuna TPE | 8 | 3 / 5 / 0 (-0.1) | 6 / 1 / 1 (+0.1) | 0.1 (b) |
| random | 8 | 5 / 3 / 0 (+0.1) | 8 / 0 / 0 (+0.3) | – |

**Goals**

| goal | measured | result |
| --- | --- | --- |
| D = 3: enough | yes | met |
| D = 3: more | no | **not met** |
| D = 5: more | no | **not met** |
| a lead after 5 evaluations | no | **not met** |
| a lead after 9 evaluations | no | **not met** |

<!-- end of bench:tuning -->

<!-- bench:inexact -->

**BBOB with relative noise, D = 5: area under the curve**

| method | runs | exact values | noise of 1e-8 | noise of 1e-6 | noise of 1e-4 |
| --- | --- | --- | --- | --- | --- |
| bamsoo | 4 | 0.30 | 0.29 | 0.28 | 0.27 |
| SLSQP, multi-start | 4 | 0.30 (1.00) | 0.20 (1.45) | 0.10 (2.80) | – |
| DIRECT | 4 | 0.10 (3.00) | 0.10 (2.90) | 0.14 (2.00) | 0.10 (2.70) |

**BBOB with relative noise, D = 10: area under the curve**

| method | runs | exact values | noise of 1e-8 | noise of 1e-6 | noise of 1e-4 |
| --- | --- | --- | --- | --- | --- |
| bamsoo | 4 | 0.20 | 0.19 | 0.18 | 0.17 |
| DIRECT | 4 | 0.10 (2.00) | – | – | – |

<!-- end of bench:inexact -->
"""


MADE_UP_INDEX = """# All

<!-- bench:summary -->
<!-- end of bench:summary -->
"""

MADE_UP_README = """# README

<!-- bench:standings -->
<!-- end of bench:standings -->
"""


def written(page, name=summary.NAME):
    return docs.find(page, name).body


def test_the_summaries_on_the_pages_are_those_of_their_tables(tmp_path):
    """If this fails, run ``python -m bamsoo_lab.bench.summary docs/benchmarks``."""
    folder = tmp_path / "docs" / "benchmarks"
    shutil.copytree(FOLDER, folder)
    shutil.copy(README, tmp_path)
    summary.refresh(folder)
    for page in (*folder.glob("*.md"), tmp_path / "README.md"):
        original = README if page.name == "README.md" else FOLDER / page.name
        assert page.read_text("utf-8") == original.read_text("utf-8"), page.name


def test_links_of_the_summaries_are_headings():
    headings = {
        page.name: re.findall(r"^## (.*)$", page.read_text("utf-8"), re.M)
        for page in FOLDER.glob("*.md")
    }
    for page in FOLDER.glob("*.md"):
        if "bench:summary" in page.read_text("utf-8"):
            linked = re.findall(r"\[(.*?)\]\(([\w-]*(?:\.md)?)#", written(page))
            assert linked
            for heading, file in linked:
                assert heading in headings[file or page.name]


def test_results_and_missed_goals_are_collected(tmp_path):
    folder = tmp_path / "docs" / "benchmarks"
    folder.mkdir(parents=True)
    page, index, readme = folder / "page.md", folder / "index.md", tmp_path / "README.md"
    page.write_text(MADE_UP)
    index.write_text(MADE_UP_INDEX)
    readme.write_text(MADE_UP_README)
    summary.refresh(folder)
    for where, place in ((page, ""), (index, "page.md")):
        text = written(where)
        heading = f"[The suite's own heading]({place}#the-suites-own-heading)"
        # SMAC has better scores, but on two of the runs only
        assert (
            f"| {heading} | mean score after 9 evaluations, D = 3 | 0.8 | Optuna TPE: 0.7 | "
            "6 / 1 / 1 runs |" in text
        )
        assert (
            "| area under the curve, D = 5, relative noise of 1e-6 | 0.28 | DIRECT: 0.14 |" in text
        )
        assert "D = 10, relative noise" not in text  # no peer was run there
        assert f"| {heading} | 1 of 5 | D = 3, 5: more; a lead after 5, 9 evaluations |" in text
        assert "source 0123456789ab" in text
    text = "".join(path.read_text() for path in (page, index, readme))
    summary.refresh(folder)
    assert "".join(path.read_text() for path in (page, index, readme)) == text


def test_the_readme_has_a_row_for_each_kind_of_user_that_was_measured(tmp_path):
    pages = {page.name: page.read_text("utf-8") for page in FOLDER.glob("*.md")}
    table = summary.standings(pages).partition("\n\n")[0].splitlines()[2:]
    assert len(table) == len(summary.KINDS)
    row = next(line for line in table if "tune a model" in line)
    *_, peer, outcome, _ = (cell.strip() for cell in row.split("|"))
    assert re.search(
        rf"^\| \[Surrogates .*\| {peer}: 0\.\d+ \| {outcome} runs \|$", pages["tuning.md"], re.M
    )
    fits = next(line for line in table if "fit a model" in line)
    needed = re.search(r"Median evaluations to 1e-4\*\*\n\n(.*?)\n\n", pages["fits.md"], re.S)[1]
    rows = [line.strip("| ").split(" | ") for line in needed.splitlines()]
    at = [rows[0].index(name) for name in ("bamsoo", "DFO-LS, multi-start")]
    ours, theirs = ([inf if row[i] == "-" else float(row[i]) for row in rows[2:]] for i in at)
    signs = [(a < b) - (a > b) for a, b in zip(ours, theirs, strict=True)]
    counts = " / ".join(str(signs.count(sign)) for sign in (1, -1, 0))
    assert fits.endswith(f"| DFO-LS, multi-start | {counts} |")


def test_a_page_without_a_summary_stays_as_it_is(tmp_path):
    folder = tmp_path / "docs" / "benchmarks"
    folder.mkdir(parents=True)
    page = folder / "page.md"
    page.write_text("# Nothing\n")
    summary.refresh(folder)
    assert page.read_text() == "# Nothing\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_part_that_a_command_wrote_was_not_edited_and_names_its_source(page):
    """If this fails, let the command that is named in the part write it again."""
    text = page.read_text("utf-8")
    found = list(docs.parts(text))
    assert len(found) == text.count("<!-- bench:") == text.count("<!-- end of bench:")
    for part in found:
        assert part.checksum == docs.checksum(part.body), f"{part.name} was edited by hand"
        assert re.search(r"\b[0-9a-f]{12}\b", part.body), f"{part.name} names no source"


def test_some_pages_have_parts():
    """Otherwise the test above would check nothing."""
    assert len([page for page in PAGES if "<!-- bench:" in page.read_text("utf-8")]) >= 12


def test_only_other_optimisers_are_peers():
    assert tables.HINDSIGHT in summary.NO_PEERS
    assert {methods.ALL[name].label for name in ("bamsoo", "soo")} <= summary.NO_PEERS
    assert methods.ALL["slsqp"].label not in summary.NO_PEERS
    assert inexact.LEVELS[1] == "1e-6"
