"""What a suite is: a set of cases that methods are compared on."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from ..case import Case, Target
from ..errors import BenchError
from ..tuning.tasks import Part


@dataclass(frozen=True)
class Selection:
    """Which cases of a suite are wanted; with None everywhere, the suite as it is reported."""

    boxes: tuple[int, ...] | None = None
    dims: tuple[int, ...] | None = None
    functions: tuple[int, ...] | None = None
    instances: tuple[int, ...] | None = None
    budget: int | None = None
    part: Part | None = None
    tasks: tuple[str, ...] | None = None


def check_numbers(what: str, given: Iterable[int] | None, known: Collection[int]) -> None:
    """Raise an error for functions or dimensions that a suite does not have."""
    unknown = [number for number in given or () if number not in known]
    if unknown:
        raise BenchError(
            f"there are no {what} {', '.join(map(str, unknown))}; expected numbers from "
            f"{min(known)} to {max(known)}"
        )


def named_cases(
    suite: str,
    wanted: Selection,
    names: Mapping[Part, Collection[str]],
    instances: Mapping[Part, Collection[int]],
    size: Callable[[str], tuple[int, int]],
) -> list[Case]:
    """The problems of the part that is wanted, on each of its instances.

    Parameters
    ----------
    suite : str
    wanted : Selection
        Its tasks, instances and budget take the place of those of the part.
    names, instances : dict
        Problems and instances of each part.
    size : callable
        The number of parameters and the budget of the problem with this name.
    """
    part = wanted.part or "report"
    for name in wanted.tasks or ():
        if name not in names[part]:
            raise BenchError(
                f"the part {part!r} of the suite {suite!r} has no task {name!r}; expected some of "
                f"{', '.join(names[part])}"
            )
    chosen = {name: size(name) for name in names[part] if not wanted.tasks or name in wanted.tasks}
    return [
        Case(suite, name, dim, instance, wanted.budget or budget)
        for instance in wanted.instances or instances[part]
        for name, (dim, budget) in chosen.items()
    ]


AT = (10, 20, 40, 80)
"""Numbers of evaluations after which most suites give scores."""


@dataclass(frozen=True)
class Suite:
    """A set of cases.

    Parameters
    ----------
    name : str
        Its name in the command and in stored runs.
    title : str
        Its heading on the page.
    place : int
        Its position on the page.
    cases : callable
        The cases of a selection.
    target : callable, optional
        Returns the problem of a case; None if all cases belong to other suites.
    peers : tuple of str, optional
        Methods to compare with by default; None means all.
    modules : tuple of str
        Packages that the targets need.
    instances : str
        How the page calls the instances.
    about : str
        A sentence about the cases, for a suite whose page does not list the instances.
    mixed : bool
        Whether parameters are named, and may be integers and options; only methods that can handle
        these take part.
    constrained : bool
        Whether evaluations measure constraints; only methods that can use these take part.
    conditional : bool
        Whether some parameters exist for one option only; only methods that support this take part.
    several : bool
        Whether there are several objectives; only methods that handle these take part.
    stepped : bool
        Whether evaluations have steps and may be stopped; budgets count full evaluations.
    at : tuple of int
        Numbers of evaluations after which scores are given.
    relative : bool
        Whether `at` has hundredths of the budget instead, because budgets differ.
    seconds : float
        Rough seconds per evaluation, for the estimate of the remaining time.
    timed : bool
        Whether a method is warmed up before it is measured.
    fixed : bool
        Whether the cases are always the same, whatever the selection.
    takes : callable
        Whether a method, given by name, is run on a case; not every method can handle every case.
    available : callable
        Whether a case can be run here; some need data that is not part of the package.
    """

    name: str
    title: str
    place: int
    cases: Callable[[Selection], list[Case]]
    target: Callable[[Case], Target] | None = None
    peers: tuple[str, ...] | None = None
    modules: tuple[str, ...] = ()
    instances: str = "Instances"
    about: str = ""
    mixed: bool = False
    constrained: bool = False
    conditional: bool = False
    several: bool = False
    stepped: bool = False
    at: tuple[int, ...] = AT
    relative: bool = False
    seconds: float = 0.0
    timed: bool = False
    fixed: bool = False
    takes: Callable[[str, Case], bool] = lambda method, case: True
    available: Callable[[Case], bool] = lambda case: True

    @property
    def single(self) -> bool:
        """Whether there is one objective; only methods that handle one take part."""
        return not self.several

    @property
    def stepless(self) -> bool:
        """Whether evaluations have no steps; methods that stop evaluations take no part."""
        return not self.stepped
