"""What an optimiser is to the benchmark."""

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
        What tables and pictures call it.
    modules : tuple of str
        Imported before the clock starts; the first part of each names a package.
    rate : float
        Rough seconds for each evaluation, for the estimate of the time left.
    ours : bool
        Whether it is an algorithm of this package, whose runs belong to one state of its source.
    mixed : bool
        Whether it handles named parameters, whole numbers, options and failed evaluations.
    constrained : bool
        Whether it takes what constraints measure into account.
    conditional : bool
        Whether it knows parameters that exist for one option only.
    settings : str
        Settings that its name does not tell, as text; runs with other settings are other runs.
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
    settings: str = ""
