"""Golden runs of studies that change: each begins with an old study and differs from it in one way.

The old study always has the same evaluations, so that `changes.txt` shows what a change does to the
points that are asked for, and nothing else. Half-way through, the new study is closed and called
again, which replays it. Written again by `write.py`, like the other golden runs.
"""

import tempfile
from dataclasses import dataclass, field
from math import isclose, nan
from pathlib import Path
from typing import Any

import bamsoo
from bamsoo import Choice, Real, Study

from golden.runs import HEAD, LIBRARIES, libraries, shown
from memory import MEMORY

STORED = Path(__file__).with_name("changes.txt")
BEFORE = {"T": (300.0, 500.0), "d": (0.05, 0.2), "kind": Choice(["a", "b"])}
LIMIT = ["peak <= 520"]
TOLD = 10
"""Evaluations of the old study."""

BUDGET = 8


def reactor(T, d, kind, mesh=0.1):
    """A cost, two numbers that may be limited or aimed at, and failures where d is small."""
    if d < 0.06:
        return nan
    cost = (T - 420) ** 2 / 1000 + 40 * (d - 0.11) ** 2 + (kind == "b") / 10 + (mesh - 0.05) ** 2
    return cost, {"peak": T + 8 / d, "flow": 10 * d + T / 1000}


@dataclass(frozen=True)
class Change:
    """What is other in the new study than in the old one."""

    space: dict[str, Any] = field(default_factory=dict)
    """Parameters that are new or other ones; None for one that is gone."""
    constraints: tuple[str, ...] = tuple(LIMIT)
    more: dict[str, Any] = field(default_factory=dict)
    """Other arguments of `minimize`."""
    aim: str = "cost"
    retried: bool = False
    """Whether the failures are taken back, instead of beginning a new study."""


CHANGES = {
    "nothing": Change(),
    "wider": Change({"T": (250.0, 600.0)}),
    "narrower": Change({"T": (380.0, 450.0)}),
    "another scale": Change({"d": Real(0.05, 0.2, log=True)}),
    "a new option": Change({"kind": Choice(["a", "b", "c"])}),
    "fixed": Change({"d": 0.08}),
    "a fixed option": Change({"kind": "b"}),
    "a new parameter": Change({"mesh": (0.01, 0.2)}, more={"fill": {"mesh": 0.1}}),
    "a parameter is gone": Change({"kind": None}, more={"ignore": ["kind"]}),
    "a moved limit": Change(constraints=("peak <= 480",)),
    "no limit": Change(constraints=()),
    "a limit of a recorded number": Change(constraints=(*LIMIT, "flow >= 1.6")),
    "another objective": Change(aim="flow"),
    "retried": Change(retried=True),
}


def called(aim: str, **params: Any) -> Any:
    """The function of a study with this objective: the rest is measured or recorded."""
    found = reactor(**{"kind": "a", **params})
    if found is nan:
        return nan
    cost, others = found
    numbers = {"cost": cost, **others}
    return numbers.pop(aim), numbers


def made(run: str) -> list[str]:
    """The lines of a run: one per evaluation in the order of asking, and one about the result."""
    change = CHANGES[run]
    space = {n: p for n, p in {**BEFORE, **change.space}.items() if p is not None}
    with tempfile.TemporaryDirectory(dir=MEMORY) as place:
        old, new = Path(place, "old.db"), Path(place, "new.db")
        with Study.open(old, space=BEFORE, objectives=["cost"], constraints=LIMIT) as study:
            for i in range(TOLD):
                point = {
                    "T": 300 + 200 * (0.5 + 0.618 * i) % 200,
                    "d": 0.05 + 0.15 * (0.1 + 0.7 * i) % 0.15,
                    "kind": "ab"[i % 2],
                }
                study.enqueue(point)
                trial = study.ask()
                found = called("cost", **trial.params)
                down = change.retried and i % 4 == 1  # such as a licence server
                value, numbers = (None, {}) if down or found is nan else found
                measured = {"peak": numbers.pop("peak")} if numbers else None
                study.tell(trial, value, constraints=measured, extras=numbers)
            if change.retried:
                assert study.retry()
        for budget in (BUDGET // 2, BUDGET):
            r = bamsoo.minimize(
                lambda **params: called(change.aim, **params),
                space,
                TOLD + budget if change.retried else budget,
                objectives=[change.aim],
                constraints=list(change.constraints),
                study=old if change.retried else new,
                **({} if change.retried else {"known": old, **change.more}),
            )
    own = [e for e in r.evaluations if e.number is not None]
    lines = [
        f"{e.number}: {shown(*e.params.values())} -> {shown(e.value, *e.measured)}" for e in own
    ]
    known = len(r.evaluations) - len(own)
    return [*lines, f"end: best {r.fun:.6g} , {known} known, {int(sum(r.feasible))} feasible"]


def stored() -> tuple[str, dict[str, list[str]]]:
    """The libraries with which the file was written, and the lines of every run."""
    first, *parts = STORED.read_text().split(f"\n\n{HEAD}")
    runs = {name: lines for name, *lines in (part.strip().split("\n") for part in parts)}
    return first.removeprefix(LIBRARIES), runs


def store() -> None:
    """Write the file."""
    parts = ["\n".join([HEAD + run, *made(run)]) for run in CHANGES]
    STORED.write_text("\n\n".join([LIBRARIES + libraries(), *parts]) + "\n")


def alike(old: str, new: str) -> bool:
    """Whether two lines are equal up to rounding."""
    return len(old.split()) == len(new.split()) and all(
        a == b or (_is_number(a) and _is_number(b) and isclose(float(a), float(b), rel_tol=1e-5))
        for a, b in zip(old.split(), new.split(), strict=True)
    )


def _is_number(word: str) -> bool:
    return word.replace(".", "").replace("e-", "").isdigit()
