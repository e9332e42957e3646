"""Problems by name, as the suites look them up."""

from typing import Protocol, TypeVar

from .errors import BenchError


class _HasName(Protocol):
    @property
    def name(self) -> str: ...


P = TypeVar("P", bound=_HasName)


class Named(dict[str, P]):
    """Problems by name, filled by the modules that define them.

    Parameters
    ----------
    kind : str
        What error messages call one of them.
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def add(self, problem: P) -> None:
        """Add a problem under its own name."""
        if problem.name in self:
            raise BenchError(f"two {self._kind}s are called {problem.name!r}; rename one of them")
        self[problem.name] = problem

    def __missing__(self, name: str) -> P:
        raise BenchError(f"no {self._kind} is called {name!r}; expected one of {', '.join(self)}")
