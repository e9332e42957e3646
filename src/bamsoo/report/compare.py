"""One page that compares studies: convergence together, best points side by side, what differs."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from math import ceil, floor, inf, isfinite, log10
from os import PathLike
from pathlib import Path

import numpy as np

from ..base.checks import count, is_finite
from ..errors import SettingsError
from ..plotting import spans_decades
from ..record.objectives import Objectives
from ..record.trials import Record
from ..study.address import file_name
from .model import settings_of
from .page import render_static, replace_report
from .source import Shown, TrialSource, source_of, title_of

MOST = 8
"""Largest number of studies on one page, so that their lines can be told apart."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#7f7f7f")
"""Colours that people with any kind of colour vision can tell apart (Okabe and Ito), and two more.
Lines differ in their dashes, too."""

DASHES = ("", "7 3", "2 3", "10 3 2 3")

SIZES = {"wide-screen": (1100, 380), "narrow-screen": (340, 300)}
"""Width and height of the picture, for the style sheet to choose from: if one picture were made
smaller for a phone, nobody could read its numbers."""

BELOW = 40
CHARACTER = 8
"""Pixels; digits of the font of the labels are a little narrower."""

HIGHEST = 95.0
"""The percentile of the best values so far at which the value axis ends. The first values are often
so far away that the rest would be a flat line."""


def compare(
    studies: Sequence[str | PathLike[str] | TrialSource], page: str | PathLike[str] | None = None
) -> Path:
    """Write one page about several studies; by default in this directory, named after them."""
    if not 2 <= len(studies) <= MOST:
        raise SettingsError(f"2 to {MOST} studies can be compared, got {len(studies)}")
    read = [source_of(study).read() for study in studies]
    names = _titles(read)
    if page is None:
        page = f"{file_name('-'.join(Path(name).stem for name in names))}.html"
    target = Path(page)
    replace_report(target, lambda: render_static(_listed(names), sections_of(read, names)))
    return target


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _titles(read: Sequence[Shown]) -> list[str]:
    """The names of the studies; those that are equal are told apart by a number."""
    titles = [title_of(each) for each in read]
    return [
        title if titles.count(title) == 1 else f"{title} ({titles[: i + 1].count(title)})"
        for i, title in enumerate(titles)
    ]


def sections_of(read: Sequence[Shown], names: Sequence[str]) -> str:
    """The sections of the page, as HTML."""
    first = read[0].objectives
    for name, each in zip(names, read, strict=True):
        if not _comparable(each.objectives, first):
            raise SettingsError(
                f"{names[0]} has the objectives {_ways(read[0])}, but {name} has {_ways(each)}; "
                "only studies with the same objectives can be compared"
            )
    convergence = _note("Studies with several objectives are compared by their tables only.")
    if not first.several:
        convergence = _convergence(read, names)
    return "".join(
        (
            _section("convergence", "Convergence", convergence),
            _section("best", "Best points", _best(read, names)),
            _section("settings", "What differs", _differences(read, names)),
        )
    )


def _comparable(one: Objectives, other: Objectives) -> bool:
    """Whether the values mean the same; a single value without a name may be that of any name."""
    if one.several or other.several or (one.named and other.named):
        return dict(one.ways) == dict(other.ways)
    return [*one.ways.values()] == [*other.ways.values()]


def _ways(study: Shown) -> str:
    return ", ".join(f"{name} ({way})" for name, way in study.objectives.ways.items())


# --- convergence


def best_so_far(study: Shown) -> list[float]:
    """The best feasible value after each evaluation, from before the first one; inf if none."""
    sense, name = study.objectives.sense, study.objectives.names[0]
    lines = [sense.turn(-inf)]
    for record in study.trials:
        value = None if record.values is None else record.values.get(name)
        counts = value is not None and record.feasible is not False and record.state != "cheap"
        better = counts and value is not None and sense.better(value, lines[-1])
        best = value if better and value is not None else lines[-1]
        if record.number is None:  # it was known before
            lines[-1] = best
        elif record.state != "out":
            lines.append(best)
    return lines


def _convergence(read: Sequence[Shown], names: Sequence[str]) -> str:
    lines = [best_so_far(each) for each in read]
    known = np.array([value for line in lines for value in line if isfinite(value)])
    if not len(known):
        return _note("No study has a feasible value yet.")
    turn = read[0].objectives.sense.turn
    worst = turn(-float(np.percentile(-turn(known), HIGHEST)))
    best = turn(float(turn(known).max()))
    low, high = min(worst, best), max(worst, best)
    scale = _log_scale if spans_decades(np.array([low, high])) else _even_scale
    pictures = "".join(
        f'<svg class="{screen}" viewBox="0 0 {width} {height}" width="100%" role="img" aria-label='
        f'"The best value so far of {len(lines)} studies">'
        f"{_picture(lines, scale(low, high), width, height)}</svg>"
        for screen, (width, height) in SIZES.items()
    )
    legend = "".join(
        f'<p><svg width="44" height="10" aria-hidden="true">{_line(i, "M0 5H44")}</svg> '
        f"{escape(name)}</p>"
        for i, name in enumerate(names)
    )
    said = "The best feasible value after each evaluation. Values that a study began with count as "
    return f"{pictures}{legend}{_note(said + 'known before its first evaluation.')}"


@dataclass(frozen=True)
class _Scale:
    """An axis of values: where each is, from 0 to 1, and the values that are written at it."""

    share: Callable[[float], float]
    ticks: list[float]
    labels: list[str]


def _even_scale(low: float, high: float) -> _Scale:
    room = 0.04 * (high - low) or abs(high) or 1.0
    low, high = low - room, high + room
    ticks = _ticks(low, high, 5)
    return _Scale(lambda value: (value - low) / (high - low), ticks, _labels(ticks))


def _log_scale(low: float, high: float) -> _Scale:
    first, last = log10(low), log10(high)
    room = 0.04 * (last - first)
    first, last = first - room, last + room
    powers = range(ceil(first), floor(last) + 1)
    ticks = [10.0**power for power in powers[:: ceil(len(powers) / 6)]]
    return _Scale(
        lambda value: (log10(value) - first) / (last - first), ticks, [f"{t:.6g}" for t in ticks]
    )


def _labels(ticks: list[float]) -> list[str]:
    """Evenly spaced numbers as text, with as many digits as tell them apart."""
    last = floor(log10(ticks[1] - ticks[0]) + 1e-9)  # the power of ten of the last digit
    largest = max(map(abs, ticks))
    if 1e-3 <= largest < 1e7:
        form = f"{',' if largest >= 1e4 else ''}.{max(-last, 0)}f"
        return [f"{tick:{form}}" if tick else "0" for tick in ticks]
    digits = max(floor(log10(largest)) - last, 0)
    parts = [f"{tick:.{digits}e}".split("e") for tick in ticks]
    return [f"{number}e{int(power)}" if float(number) else "0" for number, power in parts]


def _picture(lines: list[list[float]], scale: _Scale, width: int, height: int) -> str:
    """The best values so far as lines, with axes."""
    longest = max(max(map(len, lines)) - 1, 1)
    left = 16 + CHARACTER * max(map(len, scale.labels), default=0)
    right, bottom = width - 12, height - BELOW

    def x(i: float) -> float:
        return left + (right - left) * i / longest

    def y(value: float) -> float:
        return 10 + (bottom - 10) * (1 - min(max(scale.share(value), 0), 1))

    parts = [
        f'<path d="M{left} {y(tick):.1f}H{right}" stroke="currentColor" opacity=".15"/>'
        f'<text x="{left - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{label}</text>'
        for tick, label in zip(scale.ticks, scale.labels, strict=True)
    ]
    parts += [
        f'<text x="{x(tick):.1f}" y="{bottom + 17}" text-anchor="middle">{tick:.0f}</text>'
        for tick in _ticks(0, longest, min(8, (right - left) // 50))
        if tick.is_integer()
    ]
    parts.append(
        f'<text x="{(left + right) / 2}" y="{height - 4}" text-anchor="middle">evaluations</text>'
        f'<path d="M{left} 10V{bottom}H{right}" fill="none" stroke="currentColor"/>'
    )
    drawn = [f'<g fill="currentColor" font-size="13">{"".join(parts)}</g>']
    for i, line in enumerate(lines):
        steps: list[str] = []
        for at, value in enumerate(line):
            if isfinite(value):
                steps += [f"H{x(at):.1f}", f"V{y(value):.1f}"] if steps else [
                    f"M{x(at):.1f} {y(value):.1f}"
                ]  # fmt: skip
        if steps:
            drawn.append(_line(i, " ".join(steps)))
    return "".join(drawn)


def _line(i: int, path: str) -> str:
    colour, dashes = COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)]
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2.5" '
        f'stroke-dasharray="{dashes}"/>'
    )


def _ticks(low: float, high: float, about: int) -> list[float]:
    """Round numbers between two others."""
    rough = (high - low) / about
    power = 10.0 ** floor(log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough)
    return [float(i * step) for i in range(ceil(low / step), floor(high / step) + 1)]


# --- tables


def _best(read: Sequence[Shown], names: Sequence[str]) -> str:
    aims = [study.objectives.names for study in read if study.objectives.named]
    columns = [_about(study, aims[0] if aims else ["value"]) for study in read]
    rows = dict.fromkeys(key for column in columns for key in column)
    rows = dict.fromkeys([*(key for key in rows if key not in _COUNTS), *_COUNTS])
    return _table(
        ["", *names], [[name, *(each.get((kind, name), "–") for each in columns)]
        for kind, name in rows],
    )  # fmt: skip


_COUNTS = [("count", name) for name in ("evaluations", "given", "failed", "infeasible")]


def _about(study: Shown, aims: Sequence[str]) -> dict[tuple[str, str], str]:
    """What the table says of a study, by kind and name; its objectives are called `aims`."""
    best = study.best
    found: dict[tuple[str, str], object] = {}
    if best is not None:
        names = study.objectives.names if study.objectives.named else aims
        found |= {("value", n): v for n, v in zip(names, best.values.values(), strict=True)}
        found |= {("parameter", n): v for n, v in best.params.items()}
        measured = {
            **best.extras,
            **dict(zip(study.constraints.measured, best.measured, strict=False)),
        }
        found |= {("measured", f"{n} (measured)"): v for n, v in measured.items() if is_finite(v)}
    if study.objectives.several:
        found["value", "points on the front"] = len({e.numbers for e in study.front})
    found |= dict(zip(_COUNTS, _counts(study.trials), strict=True))
    return {k: f"{v:.8g}" if isinstance(v, float) else str(v) for k, v in found.items()}


def _counts(trials: Sequence[Record]) -> tuple[int, ...]:
    own = [t for t in trials if t.number is not None and t.state != "out"]
    return (
        len(own),
        sum(t.number is None for t in trials),
        sum(t.state == "failed" for t in own),
        sum(t.feasible is False and bool(t.values) for t in own),
    )


def _differences(read: Sequence[Shown], names: Sequence[str]) -> str:
    found: dict[str, list[list[str]]] = {}
    for i, study in enumerate(read):
        pairs = [
            (f"parameter {n}", re.sub(r", (?:log=False|step=None)", "", repr(each)))
            for n, each in study.space.given.items()
        ]
        pairs += [(key, text) for _, group in settings_of(study) for key, text in group]
        for key, text in pairs:
            found.setdefault(key, [[] for _ in read])[i].append(text)
    rows = []
    for key, texts in found.items():
        if any(each != texts[0] for each in texts):
            lines = zip_longest(*texts, fillvalue="–")
            rows += [[key, *line] for line in lines if len(set(line)) > 1]
    if not rows:
        return _note("Their settings are equal.")
    return _table(["", *names], rows) + _note(f"{count(len(rows), 'setting')} shown, others equal.")


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    top = "".join(f'<th scope="col">{escape(each)}</th>' for each in head)
    body = []
    for name, *cells in rows:
        inner = "".join(f"<td>{escape(each)}</td>" for each in cells)
        body.append(f'<tr><th scope="row">{escape(name)}</th>{inner}</tr>')
    return (
        f'<div class="scroll"><table class="best"><thead><tr>{top}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _section(name: str, heading: str, inner: str) -> str:
    return (
        f'<section id="{name}" aria-labelledby="{name}-h"><h2 id="{name}-h">{heading}</h2>'
        f"{inner}</section>\n"
    )


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'
