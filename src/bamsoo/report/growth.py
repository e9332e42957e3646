"""How the partition grew: a study's search walked through its events once more."""

from typing import Any

import numpy as np

from .._typing import Array
from ..algorithms.tree import Status, Tree
from ..errors import StudyError
from ..optimizer import Optimizer
from ..study import Study
from ..study.settings import space_from_json

MOST_NODES = 60_000
"""The page holds so many cells; of a larger tree the oldest, which are the largest."""


class Watched(Study):
    """A study open for reading that can walk its search again and watch the tree grow."""

    sizes: list[int]
    first: int

    @property
    def meta(self) -> dict[str, Any]:
        """What the file holds beside the events."""
        return self._meta

    @property
    def has_tree(self) -> bool:
        """Whether this algorithm grows a tree."""
        space = space_from_json(self.settings["space"])
        probe = Optimizer(space, self.settings["direction"], self._algorithm)
        probe.ask()
        return probe.result.tree is not None

    def walk(self) -> str | None:
        """Replay; `sizes` is then how many nodes there were at each trial from `first` on.

        Returns why it ended early, if it did: up to there the tree is as it was.
        """
        self.sizes, self.first = [], 0
        asked = 0
        for event in self._events:
            asked += event.kind == "ask"
            if event.kind == "restart":
                self.first = asked
        try:
            self._replay()
        except StudyError as error:
            del self.sizes[len(self._points) - self.first :]
            return str(error)
        return None

    def _next(self) -> Array:
        x = super()._next()
        tree = self._optimizer._book.tree
        self.sizes.append(0 if tree is None else len(tree))
        return x


def partition(study: Watched, rows: dict[bytes, int]) -> dict[str, Any]:
    """The tree as a list of cuts, in order, or the reason why there is none to show.

    `rows` finds a trial's row by its point. A tree is its cuts: for each the cell that is
    cut, the axis, and, where they are not k equal parts, the inner edges and the centres
    of the parts along that axis.
    """
    if not study.has_tree:
        name = study.settings["algorithm"]["class"]
        return {"reason": f"{name} keeps no tree: it does not partition the space."}
    ended = study.walk()
    tree: Tree | None = study.result.tree
    if tree is None or not study.sizes:
        return {"reason": "The search has not begun to cut the space (yet).", "ended": ended}
    nodes = oldest(tree, study.sizes[-1], MOST_NODES)
    return {
        **cuts(tree, nodes),
        "sizes": study.sizes,
        "first": study.first,
        "marks": marks(study, tree, rows, nodes),
        "nodes": study.sizes[-1],
        "rejected": study.rejected,
        "ended": ended,
    }


def oldest(tree: Tree, nodes: int, most: int) -> int:
    """How many of `nodes` to keep, at most `most`, so that no cell is cut by half."""
    if nodes <= most:
        return nodes
    while tree._parent[most] == tree._parent[most - 1]:
        most -= 1
    return most


def cuts(tree: Tree, nodes: int) -> dict[str, Any]:
    """The cuts that made the first `nodes` cells, oldest first."""
    parents = np.array(tree._parent[:nodes])
    starts = np.flatnonzero(np.diff(parents, prepend=-1)).tolist()
    low, high, x = tree.low, tree.high, tree.x
    cut, axes, parts = [], [], []
    for start, end in zip(starts, [*starts[1:], len(parents)], strict=False):
        parent = int(parents[start])
        moved = (low[start] != low[parent]) | (high[start] != high[parent])
        axis = int(moved.argmax())
        cut.append(parent)
        axes.append(axis)
        if not tree.uniform:
            parts.append([_brief(low[start + 1 : end, axis]), _brief(x[start:end, axis])])
    return {"k": tree.k, "root": x[0].tolist(), "cut": cut, "axis": axes, "parts": parts or None}


def _brief(places: Array) -> list[float]:
    return [float(f"{place:.12g}") for place in places.tolist()]


def marks(study: Study, tree: Tree, rows: dict[bytes, int], nodes: int) -> dict[str, Any]:
    """How each centre stands, a digit of `Status` a node, and the row of its trial or -1."""
    status = tree.status[:nodes]
    asked = np.isin(status, [Status.EVALUATED, Status.PENDING, Status.FAILED])
    of_trial = [
        rows.get(study.space.decode(x).tobytes(), -1) if is_asked else -1
        for x, is_asked in zip(tree.x, asked.tolist(), strict=False)
    ]
    return {"status": "".join(map(str, status.tolist())), "row": of_trial}
