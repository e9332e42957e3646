"""How the benchmark describes an optimiser."""

from collections.abc import Callable
from dataclasses import dataclass

from ..measure import MeasuredObjective


@dataclass(frozen=True)
class Method:
    """An optimiser.

    Parameters
    ----------
    name : str
    solve : callable
    label : str
        Its name in tables and pictures.
    modules : tuple of str
        Modules that are imported before the clock starts; the first part of each names a package.
    rate : float
        Rough seconds per evaluation, for the estimate of the remaining time.
    ours : bool
        Whether it is an algorithm of this package, whose runs belong to one state of its source.
    mixed : bool
        Whether it handles named parameters, integers, options and failed evaluations.
    constrained : bool
        Whether it takes constraints into account.
    conditional : bool
        Whether it supports parameters that exist for one option only.
    several, single : bool
        Whether it handles several objectives, and whether it handles one.
    stepless : bool
        Whether it is for evaluations without steps too; those that stop evaluations are not.
    settings : str
        Settings that its name does not determine, as text; they identify a run.
    """

    name: str
    solve: Callable[[MeasuredObjective], object]
    label: str
    modules: tuple[str, ...] = ()
    rate: float = 1e-4
    ours: bool = False
    mixed: bool = False
    constrained: bool = False
    conditional: bool = False
    several: bool = False
    single: bool = True
    stepless: bool = True
    settings: str = ""
