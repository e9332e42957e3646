"""Repair of a study that is damaged, or that can no longer be replayed."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ..base.checks import count
from ..errors import BamsooError, StudyError
from ..record.events import Asked, Enqueued, Event, Told, present
from ..search.course import Course
from ..search.setup import Setup
from .address import StudyPlace
from .backends import readable
from .journal import Readable
from .kept import checked, versions
from .sqlite import create, reserved
from .study import Study, setup_of_study


class Repaired(NamedTuple):
    """The outcome of a repair."""

    path: Path
    events: int
    """The number of events in the longest undamaged part that can be replayed; the run continues
    from its end."""
    values: int
    """The number of later values, kept as known points."""
    missing: tuple[int, ...]
    """The numbers of the events that are lost."""
    lost: tuple[str, ...]
    """What else could not be saved, in words."""

    def __str__(self) -> str:
        said = f"{self.path}: contains {count(self.events, 'event')} unchanged"
        if self.values:
            said += f", and {count(self.values, 'later value')} as known points"
        lost = list(self.lost)
        if self.missing:
            lost.insert(0, f"{count(len(self.missing), 'event')} ({_ranges(self.missing)})")
        return f"{said}; {f'lost: {_listed(lost)}' if lost else 'nothing is lost'}"


def repair(
    study: str | os.PathLike[str], to: str | os.PathLike[str], values_only: bool = False
) -> Repaired:
    """Make a good study from what can be read of a damaged one, which is not changed.

    Events are kept unchanged from the first one on, as far as none is missing and a search can
    replay them. Values that were told after that are kept as known points.

    Parameters
    ----------
    study : path or address
        The damaged study.
    to : path
        The new file.
    values_only : bool, default False
        Keep every value as a known point, and begin a fresh search.

    Raises
    ------
    StudyError
        If nothing can be saved, because the file is not a study or its settings are lost.
    """
    target = Path(to)
    with reserved(target):
        found = readable(study)
        source = found.place
        part, course = _longest_part(source, found, values_only)
        setup = setup_of_study(source, found.meta["settings"])[0]
        lost = [*found.lost]
        behind = list(_behind(part, found, setup, course, source, lost))
        create(target, {**found.meta, "versions": versions()}, [*part, *behind])
        Study.open(target, readonly=True).close()
    values = sum(isinstance(event, Told) for event in behind)
    return Repaired(target, len(part), values, found.missing, tuple(lost))


# --- what is kept


def _longest_part(
    path: StudyPlace, found: Readable, values_only: bool
) -> tuple[list[Event], Course]:
    """The events from the first on, as far as none is missing and a search can replay them."""
    part: list[Event] = []
    setup, function = setup_of_study(path, found.meta["settings"])
    ledger = Course(setup).ledger
    with suppress(BamsooError):  # the rest of the events do not fit
        while not values_only and len(part) + 1 in found.events:
            event = checked(found.events[len(part) + 1], setup, path)
            ledger.apply(event)
            part.append(event)
    while True:
        # Without a constraint's function, which the file does not contain, nothing can be replayed.
        done = begin = present(part) if function is None else len(part)
        course = Course(setup, part[:begin], begin)
        try:
            for event in part[begin:]:
                course.apply(event)
                done += 1
            return part, course
        except BamsooError:
            part = part[:done]


def _behind(
    part: list[Event],
    found: Readable,
    setup: Setup,
    course: Course,
    path: StudyPlace,
    lost: list[str],
) -> Iterator[Event]:
    """The values that are not in the part, and the points that are still to be evaluated."""
    rest = [found.events[number] for number in sorted(found.events) if number > len(part)]
    asked = [each for each in found.events.values() if isinstance(each, (Asked, Enqueued))]
    points = {event.number: event.key for event in asked}
    told = [event for event in rest if isinstance(event, Told)]
    for event in told:
        kept = event
        if event.number is not None and event.number not in course.ledger.out:
            kept = replace(event, number=None, key=points.get(event.number))
        try:
            if kept.number is None and kept.key is None:
                raise StudyError("the point is lost")
            kept = checked(kept, setup, path)
            course.apply(kept)
        except BamsooError:
            lost.append(f"the value of trial {event.number}, whose point is lost or invalid")
        else:
            yield kept
    values = {event.number for event in told}
    left = [each for each in rest if isinstance(each, Enqueued) and each.number not in values]
    yield from _to_evaluate(left, setup, course, path, lost)


def _to_evaluate(
    enqueued: list[Enqueued], setup: Setup, course: Course, path: StudyPlace, lost: list[str]
) -> Iterator[Event]:
    """The points that are still to be evaluated."""
    for each in enqueued:
        try:
            point = checked(replace(each, number=len(course.ledger.trials)), setup, path)
        except BamsooError:
            lost.append(f"the enqueued trial {each.number}, whose point is invalid")
            continue
        if course.ledger.is_new(course.ledger.point_of(point.key)):
            course.apply(point)
            yield point


def _ranges(numbers: tuple[int, ...]) -> str:
    """Sorted numbers in words, such as "3, 7 to 9"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return _listed([f"{a}" if a == b else f"{a} to {b}" for a, b in runs])


def _listed(lost: list[str], shown: int = 5) -> str:
    more = f", and {len(lost) - shown} more" if len(lost) > shown else ""
    return ", ".join(lost[:shown]) + more
