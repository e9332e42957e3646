"""The summaries of docs/benchmarks, made from the tables on its pages.

``python -m bamsoo_lab.bench.summary docs/benchmarks`` writes them anew. `bamsoo bench --docs` does
so too, after it has written the part of a suite. Each page begins with the summary of its own
suites, the index has that of all pages, and the README has one row per kind of user.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..paper.output import table as markdown
from . import docs, reference
from .methods import ALL, OURS
from .suites import ALL as SUITES
from .suites.inexact import LEVELS
from .tables import HINDSIGHT

NAME = "summary"
"""The part of a page that is written here."""

SHORT = "standings"
"""The part of the README that is written here."""

INDEX = "index.md"

NO_PEERS = {HINDSIGHT, reference.LABEL, *(ALL[name].label for name in OURS)}


class PageTable(NamedTuple):
    """A table as it is on the page: its title, and its rows by the column's heading."""

    title: str
    rows: list[dict[str, str]]

    def row(self, method: str) -> dict[str, str]:
        """The row of a method."""
        return next(row for row in self.rows if method in row.values())

    def peers(self) -> dict[str, dict[str, str]]:
        """The rows of other optimisers, by name."""
        named = {next(iter(row.values())): row for row in self.rows}
        return {name: row for name, row in named.items() if name not in NO_PEERS}


class SuitePart(NamedTuple):
    """The part of the page that belongs to a suite."""

    heading: str
    tables: list[PageTable]

    def titled(self, start: str) -> list[PageTable]:
        """The tables whose titles start like this."""
        return [table for table in self.tables if table.title.startswith(start)]


SummaryRow = tuple[str, str, str, str]
"""Measure, our result, the best peer with its result, and our wins, losses and ties."""


def refresh(folder: Path) -> None:
    """Write the summaries of the pages of a folder anew, and that of the README of its repository.

    A page without a place for a summary stays as it is.
    """
    pages = {page.name: page.read_text("utf-8") for page in sorted(folder.glob("*.md"))}
    for name, text in pages.items():
        if any(part.name == NAME for part in docs.parts(text)):
            own = pages if name == INDEX else {name: text}
            docs.rewrite(folder / name, NAME, summary(own, name), [])
    readme = folder.parents[1] / "README.md"
    if readme.exists() and any(p.name == SHORT for p in docs.parts(readme.read_text("utf-8"))):
        docs.rewrite(readme, SHORT, standings(pages), [])


def summary(pages: Mapping[str, str], seen_from: str) -> str:
    """The summary of some pages, as Markdown; a page of its own also shows its first picture."""
    found = [
        (name, part) for file, text in pages.items() for name, part in parts(text, file, seen_from)
    ]
    rows = [row for name, part in found for row in _standings(name, part)]
    header = ["suite", "measure", "bamsoo", "best peer", "bamsoo wins / losses / ties against it"]
    reached = [row for _, part in found if (row := _goals(part))]
    images = re.findall(r"^!\[.*$\n\n\*.*\*$", pages.get(seen_from, ""), re.M)
    goals = docs.folded(
        f"Goals: {sum(row[1] for row in reached)} of {sum(row[2] for row in reached)} are met",
        [
            markdown(
                ["suite", "goals met", "goals missed"],
                ([name, f"{met} of {of}", missed] for name, met, of, missed in reached),
            )
        ],
    )
    shown = goals if reached else []
    return "\n\n".join([_sources(pages), markdown(header, rows), *images[:1], *shown])


def _sources(pages: Mapping[str, str]) -> str:
    """A sentence on where the figures come from."""
    made = {
        source: None
        for text in pages.values()
        for part in docs.parts(text)
        if part.name != NAME
        for source in re.findall(r"source ([0-9a-f]{12})\b", part.body)
    }
    return (
        "Written by `python -m bamsoo_lab.bench.summary docs/benchmarks` from the tables of "
        f"`bamsoo bench` (source {', '.join(made)})."
    )


def _standings(name: str, part: SuitePart) -> list[list[str]]:
    """The rows of a suite, with its heading in the first of them only."""
    rows = list(STANDINGS.get(name, _scores)(part))
    return [["" if i else part.heading, *row] for i, row in enumerate(rows)]


def parts(text: str, file: str, seen_from: str) -> Iterator[tuple[str, SuitePart]]:
    """The parts of a page that hold tables of a suite, with their suites' names."""
    for part in docs.parts(text):
        tables = list(_tables(part.body + "\n"))
        if part.name in SUITES and tables:
            (heading,) = re.findall(r"^## (.*)$", text[: part.start], re.M)[-1:]
            place = "" if file == seen_from else file
            yield part.name, SuitePart(f"[{heading}]({place}#{_anchor(heading)})", tables)


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _tables(text: str) -> Iterator[PageTable]:
    for title, body in re.findall(r"^\*\*(.*)\*\*\n\n((?:\|.*\n)+)", text, re.M):
        cells = [[cell.strip() for cell in line[1:-1].split("|")] for line in body.splitlines()]
        head, _, *lines = cells
        yield PageTable(title, [dict(zip(head, line, strict=True)) for line in lines])


def _paper(part: SuitePart) -> Iterator[SummaryRow]:
    """The final median regrets, function by function, against the peer with the lowest mean."""
    (table,) = part.titled("log10 of the regret")

    def final(row: dict[str, str]) -> list[float]:
        return [float(cell.split("/")[1]) for cell in list(row.values())[2:] if "/" in cell]

    ours = final(table.row("bamsoo"))
    peers = {name: final(row) for name, row in table.peers().items()}
    peers = {name: regrets for name, regrets in peers.items() if len(regrets) == len(ours)}
    best = min(peers, key=lambda name: sum(peers[name]))
    signs = [(a > b) - (a < b) for a, b in zip(ours, peers[best], strict=True)]
    boxes, of = (table.row(name)["boxes"] for name in (best, "bamsoo"))
    some = "" if boxes == of else f" ({boxes} of {of} boxes)"
    yield (
        f"median log10 regret after 100 evaluations, best and worst of {len(ours)} functions",
        f"{min(ours)} to {max(ours)}",
        f"{best}{some}: {min(peers[best])} to {max(peers[best])}",
        " / ".join(str(signs.count(sign)) for sign in (-1, 1, 0)) + " functions",
    )


def _bbob(part: SuitePart) -> Iterator[SummaryRow]:
    for table in part.titled("BBOB, D"):
        peers = table.peers()
        best = min(
            peers,
            key=lambda name: (
                float(peers[name]["bamsoo / method"]),
                -float(peers[name]["area, higher is better"]),
            ),
        )
        row = peers[best]
        runs, of = row["functions × instances"], table.row("bamsoo")["functions × instances"]
        yield (
            f"area under the curve, {table.title.split(', ')[1]}",
            row["bamsoo on the same runs"],
            f"{best}: {row['area, higher is better']}"
            + ("" if runs == of else f" (functions × instances: {runs})"),
            row["bamsoo wins / losses / ties"] + " functions",
        )


def _inexact(part: SuitePart) -> Iterator[SummaryRow]:
    """The middle level of noise: the areas there, and the peer with the smallest ratio to ours."""
    for table in part.titled("BBOB with relative noise"):
        at = f"noise of {LEVELS[len(LEVELS) // 2]}"
        peers = {name: row[at].split() for name, row in table.peers().items() if "(" in row[at]}
        if not peers:
            continue
        best = min(peers, key=lambda name: float(peers[name][1].strip("()")))
        dim = table.title.split(", ")[1].partition(":")[0]
        measure = f"area under the curve, {dim}, relative {at}"
        yield measure, table.row("bamsoo")[at], f"{best}: {peers[best][0]}", ""


def _scores(part: SuitePart) -> Iterator[SummaryRow]:
    """Mean scores at the end, and the outcomes against the best peer that has all the runs."""
    means = None
    for table in part.tables:
        if table.title.startswith("Mean score"):
            means = table
        elif table.title.startswith("Wins") and means is not None:
            ours = table.title.removeprefix("Wins / losses / ties of ").partition(" by ")[0]
            end = [column for column in means.rows[0] if column.startswith("after")][-1]
            runs = means.row(ours)["runs"]
            peers = {
                name: row[end].split()[0]
                for name, row in means.peers().items()
                if row["runs"] == runs
            }
            best = max(peers, key=lambda name: float(peers[name]))
            dim = re.search(r", D = \d+$", means.title)
            yield (
                f"mean score {_count(end)}{dim[0] if dim else ''}"
                + ("" if ours == "bamsoo" else f", {ours.removeprefix('bamsoo, ')}"),
                means.row(ours)[end].split()[0],
                f"{best}: {peers[best]}",
                table.row(best)[end].partition(" (")[0] + " runs",
            )


def _count(column: str) -> str:
    """The heading of a column, such as "after 40" or "after 33 %", in words."""
    return f"{column} of the budget" if column.endswith("%") else f"{column} evaluations"


def _constrained(part: SuitePart) -> Iterator[SummaryRow]:
    for table in part.titled("Wins"):
        end = [column for column in table.rows[0] if column.startswith("after")][-1]
        peers = {name: row[end] for name, row in table.peers().items()}
        best = min(peers, key=lambda name: _lead(peers[name]))
        dim = re.search(r", D = \d+$", table.title)
        measure = f"best feasible value {end} evaluations{dim[0] if dim else ''}"
        yield measure, "", best, peers[best] + " runs"


def _objectives(part: SuitePart) -> Iterator[SummaryRow]:
    """The peer over which our lead is smallest, on the runs that it has."""
    (shares,), (wins,) = part.titled("Mean share of"), part.titled("Wins")
    for column in [name for name in wins.rows[0] if name.startswith("after")]:
        peers = {name: row[column] for name, row in wins.peers().items()}
        best = min(peers, key=lambda name: float(peers[name].partition("(")[2].strip(")")))
        cell = next(c for name, c in shares.row(best).items() if name.startswith(f"{column};"))
        theirs, _, ours = cell.partition("; ")
        yield (
            f"mean share of the hypervolume {column} evaluations",
            ours,
            f"{best}: {theirs.split()[0]} ({wins.row(best)['runs']} runs)",
            peers[best].partition(" (")[0] + " runs",
        )


def _lead(outcome: str) -> float:
    """Wins minus losses per run, from a cell such as "35 / 29 / 6"."""
    won, lost, tied = map(int, outcome.split(" / "))
    return (won - lost) / (won + lost + tied)


def _overhead(part: SuitePart) -> Iterator[SummaryRow]:
    (table,) = part.titled("Overhead of 100")
    spent = {name: row["processor time"] for name, row in table.peers().items()}
    best = min(spent, key=lambda name: float(spent[name]))
    ours = table.row("bamsoo")["processor time"]
    measure = "seconds of processor time per run of 100 evaluations"
    yield measure, ours, f"{best}: {spent[best]}", ""


def _fits(part: SuitePart) -> Iterator[SummaryRow]:
    """Evaluations per solved fit of each kind, and those of the best peer."""
    (table,) = part.titled("Evaluations that fits need")
    for kind in dict.fromkeys(row["fits"] for row in table.rows):
        spent = {
            row["method"]: float(row["evaluations per solved fit"])
            for row in table.rows
            if row["fits"] == kind and row["evaluations per solved fit"] != "-"
        }
        ours = spent.pop("bamsoo")
        peers = {name: each for name, each in spent.items() if not name.startswith("bamsoo")}
        best = min(peers, key=lambda name: peers[name])
        yield f"evaluations per solved fit, {kind}", f"{ours:g}", f"{best}: {peers[best]:g}", ""


def _parallel(part: SuitePart) -> Iterator[SummaryRow]:
    """The speed-up by several workers; there is no peer in this table."""
    (table,) = part.titled("Speed-up")
    for workers in list(table.rows[0])[1:]:
        ups = " / ".join(row[workers] for row in table.rows)
        kinds = " / ".join(row["durations"] for row in table.rows)
        yield f"times as fast with {workers}, durations {kinds}", ups, "", ""


STANDINGS: dict[str, Callable[[SuitePart], Iterator[SummaryRow]]] = {
    "paper": _paper,
    "bbob": _bbob,
    "inexact": _inexact,
    "overhead": _overhead,
    "constrained": _constrained,
    "designs": _constrained,
    "objectives": _objectives,
    "fits": _fits,
    "parallel": _parallel,
}
"""How the tables of a suite are summed up, by suite; suites not listed have scores."""


def _goals(part: SuitePart) -> tuple[str, int, int, str] | None:
    """How many goals of a suite were met, of how many, and those missed; None if it has none."""
    met, missed = 0, list[str]()
    for table in part.titled("Goals"):
        dim = table.title.partition(", ")[2]
        for row in table.rows:
            if row["result"] == "met":
                met += 1
            else:
                missed.append(f"{dim}: {_unlimited(row['goal'])}" if dim else row["goal"])
    every = met + len(missed)
    return (part.heading, met, every, "; ".join(_joined(missed)) or "none") if every else None


def standings(pages: Mapping[str, str]) -> str:
    """The table of the README: for each kind of user, wins and losses against the best peer.

    The best peer is one that has run everything, so that its figures are of all problems.
    """
    found = {name: part for file, text in pages.items() for name, part in parts(text, file, INDEX)}
    rows = [
        [kind, words, *BRIEF.get(suite, _brief)(found[suite])]
        for kind, (suite, words) in KINDS.items()
        if suite in found
    ]
    header = ["what you do", "measured on", "strongest rival", "bamsoo wins / losses / ties"]
    sources = _sources({file: text for file, text in pages.items() if file != INDEX})
    return f"{markdown(header, rows)}\n\n<!-- {sources} -->"


KINDS = {
    "tune a model": ("yahpo", "surrogates of real training runs"),
    "run a simulation": ("simulators", "control, layout, designs, queues"),
    "meet constraints": ("designs", "engineering designs"),
    "trade off objectives": ("objectives", "designs, tuning, test problems"),
    "fit a model to data": ("fits", "kinetics, epidemics, circuits, optics"),
    "study test functions": ("bbob", "BBOB in five dimensions"),
}
"""The rows of the README, each with a suite and what it consists of."""


def _brief(part: SuitePart) -> tuple[str, str]:
    """The best peer, and the outcomes against it."""
    *_, (_, _, peer, outcome) = _scores(part)
    return peer.partition(":")[0], _outcome(outcome)


def _outcome(text: str) -> str:
    return re.sub(r" [a-z]+$", "", text)


def _brief_designs(part: SuitePart) -> tuple[str, str]:
    ((_, _, peer, outcome),) = _constrained(part)
    return peer, _outcome(outcome)


def _brief_objectives(part: SuitePart) -> tuple[str, str]:
    """The peer with the smallest lead of ours among those that have all problems."""
    (wins,) = part.titled("Wins")
    *_, end = [name for name in wins.rows[0] if name.startswith("after")]
    most = max(int(row["runs"]) for row in wins.rows)
    peers = {n: row[end] for n, row in wins.peers().items() if int(row["runs"]) == most}
    best = min(peers, key=lambda name: _lead(peers[name].partition(" (")[0]))
    return best, peers[best].partition(" (")[0]


def _brief_fits(part: SuitePart) -> tuple[str, str]:
    """By the median evaluations that each problem needs."""
    (table,) = part.titled("Median evaluations")

    def needs(row: dict[str, str], name: str) -> float:
        return float("inf" if row[name] in ("-", "") else row[name])

    peers = [name for name in list(table.rows[0])[2:] if name not in NO_PEERS]
    outcomes = {}
    for peer in peers:
        signs = [
            (needs(row, peer) > needs(row, "bamsoo")) - (needs(row, peer) < needs(row, "bamsoo"))
            for row in table.rows
        ]
        outcomes[peer] = " / ".join(str(signs.count(sign)) for sign in (1, -1, 0))
    best = min(outcomes, key=lambda name: _lead(outcomes[name]))
    return best, outcomes[best]


def _brief_bbob(part: SuitePart) -> tuple[str, str]:
    (row,) = (row for row in _bbob(part) if row[0].endswith("D = 5"))
    return row[2].partition(":")[0], _outcome(row[3])


BRIEF: dict[str, Callable[[SuitePart], tuple[str, str]]] = {
    "designs": _brief_designs,
    "objectives": _brief_objectives,
    "fits": _brief_fits,
    "bbob": _brief_bbob,
}


def _unlimited(goal: str) -> str:
    """A goal without its number of evaluations, which is the budget in that dimension."""
    return re.sub(r" after \d+ evaluations$", "", goal)


def _joined(goals: Sequence[str]) -> list[str]:
    """Goals that differ only in the dimension, or only in the number of evaluations, as one."""
    for pattern in (r"^D = (\d+): ", r" after (\d+) evaluations$"):
        numbers: dict[tuple[str, str], list[str]] = {}
        for goal in goals:
            match = re.search(pattern, goal)
            start, end = (len(goal), len(goal)) if match is None else match.span(1)
            numbers.setdefault((goal[:start], goal[end:]), []).append(goal[start:end])
        goals = [before + ", ".join(found) + after for (before, after), found in numbers.items()]
    return list(goals)


if __name__ == "__main__":
    refresh(Path(sys.argv[1]))
