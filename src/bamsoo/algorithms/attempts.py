"""Points that fail only at a low level of a fidelity, such as shapes on too coarse a mesh."""

from collections.abc import Iterator
from dataclasses import dataclass

from .tree import Status, Tree


@dataclass
class Attempts:
    """What has become of the points that were evaluated at a level of a fidelity."""

    values: int = 0
    """The number of points with a value there."""
    saved: int = 0
    """The number of points that failed there, and have a value at a higher level."""
    lost: int = 0
    """The number of points that failed there, and then at the top."""

    @property
    def says_little(self) -> bool:
        """Whether half of the points that fail at this level are expected to have a value above.

        By Laplace's rule of succession; before any has been tried, they are.
        """
        return self.saved >= self.lost

    @property
    def fails_alone(self) -> bool:
        """Whether most points are expected to fail at this level, although not above it."""
        return self.saved > self.values + self.lost


class Climbs:
    """At which levels the nodes of a tree may be evaluated, after failures at lower ones.

    Parameters
    ----------
    count : int
        The number of levels.
    """

    def __init__(self, count: int) -> None:
        self._record = [Attempts() for _ in range(count)]
        self._least: dict[int, int] = {}  # the level of a node that failed at those below it
        self._out: dict[int, int] = {}  # the level of each node whose outcome is not counted yet
        self._failed: dict[int, list[int]] = {}  # the levels at which a node has failed so far

    def usable(self, node: int) -> Iterator[int]:
        """The levels at which a node may be evaluated, from the lowest to the top."""
        levels = range(self._least.get(node, 0), len(self._record))
        return (i for i in levels if not self._record[i].fails_alone)

    def expect(self, node: int, i: int) -> None:
        """Note that a node is evaluated at a level."""
        self._out[node] = i

    def fallen(self, tree: Tree) -> int | None:
        """A node that failed below the top, and may have a value at the next level."""
        for node, i in list(self._out.items()):
            status = tree.status_of(node)
            if status == Status.PENDING:
                continue
            del self._out[node]
            if status == Status.FAILED and i < len(self._record) - 1:
                self._failed.setdefault(node, []).append(i)
                if self._record[i].says_little:
                    self._least[node] = i + 1
                    return node
                continue
            valued = status == Status.EVALUATED
            self._record[i].values += valued
            for each in self._failed.pop(node, ()):
                self._record[each].saved += valued
                self._record[each].lost += not valued
        return None
