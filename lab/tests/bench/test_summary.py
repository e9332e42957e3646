"""The summary of docs/benchmarks.md says what the tables below it say."""

import re
from pathlib import Path

from bamsoo_lab.bench import methods, summary, tables
from bamsoo_lab.bench.suites import inexact

PAGE = Path(__file__).parents[3] / "docs" / "benchmarks.md"

MADE_UP = """# Trial

<!-- bench:summary -->
<!-- end of bench:summary -->

## The suite's own heading

<!-- bench:tuning -->

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


def test_the_summary_on_the_page_is_that_of_its_tables():
    """If this fails, run ``python -m bamsoo_lab.bench.summary docs/benchmarks.md``."""
    text = PAGE.read_text("utf-8")
    _, _, rest = text.partition("<!-- bench:summary -->")
    assert rest.partition("<!-- end of bench:summary -->")[0].strip() == summary.summary(text)


def test_links_of_the_summary_are_headings_of_the_page():
    text = PAGE.read_text("utf-8")
    headings = re.findall(r"^## (.*)$", text, re.M)
    linked = re.findall(r"\[(.*?)\]\(#", summary.summary(text))
    assert linked and set(linked) <= set(headings)


def test_results_and_missed_goals_are_collected(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(MADE_UP)
    summary.refresh(page)
    written = page.read_text()
    heading = "[The suite's own heading](#the-suites-own-heading)"
    # SMAC has better scores, but on two of the runs only
    assert (
        f"| {heading} | mean score after 9 evaluations, D = 3 | 0.8 | Optuna TPE: 0.7 | "
        "6 / 1 / 1 runs |" in written
    )
    assert (
        "| area under the curve, D = 5, relative noise of 1e-6 | 0.28 | DIRECT: 0.14 |" in written
    )
    assert "D = 10, relative noise" not in written  # no peer was run there
    assert f"| {heading} | 1 of 5 | D = 3, 5: more; a lead after 5, 9 evaluations |" in written
    summary.refresh(page)
    assert page.read_text() == written


def test_a_page_without_a_summary_stays_as_it_is(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Nothing\n")
    summary.refresh(page)
    assert page.read_text() == "# Nothing\n"


def test_only_other_optimisers_are_peers():
    assert tables.HINDSIGHT in summary.NO_PEERS
    assert {methods.ALL[name].label for name in ("bamsoo", "soo")} <= summary.NO_PEERS
    assert methods.ALL["slsqp"].label not in summary.NO_PEERS
    assert inexact.LEVELS[1] == "1e-6"
