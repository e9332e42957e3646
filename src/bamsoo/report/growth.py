"""How the partition grew during a study, found by replaying its events."""

from typing import Any

import numpy as np

from ..algorithms.tree import Status, Tree
from ..base.typing import Array
from ..errors import StudyError
from ..record.trials import Trial
from ..search.optimizer import Optimizer
from ..space import Space, key_of
from ..study import Study

MOST_NODES = 60_000
"""Largest number of cells on a page. Of a larger tree, the page shows the oldest cells, which are
the largest ones."""


class Growth:
    """Records the size of the tree at each trial of a replay, which may follow a growing study."""

    def __init__(self) -> None:
        self._begin_anew()

    def _begin_anew(self) -> None:
        self.sizes: list[int] = []
        self.first = 0  # the number of the trial that the first size belongs to
        self._twin: Optimizer | None = None
        self.search: Optimizer | None = None  # once it has asked for a trial, as far as it got
        self.replayed: Optimizer | None = None  # the same search, if it reached the study's end
        self.ended: str | None = None  # why the replay ended early, if it did

    @property
    def trials(self) -> int:
        """The number of trials replayed so far; may be read by another thread."""
        return self.first + len(self.sizes)

    def __call__(self, search: Optimizer, trial: Trial) -> None:
        """Note the size of the tree after the search has asked for this trial."""
        if self.search is None:
            self.search, self.first = search, trial.number
        tree = search.book.tree
        self.sizes.append(0 if tree is None else len(tree))

    def catch_up(self, study: Study) -> None:
        """Replay the new events; if that fails, the tree is known up to the failing trial."""
        if self._twin is None or not study._leads(self._twin):
            self._begin_anew()
        if self.ended is not None:
            return
        try:
            if self._twin is None:
                self._twin = study._twin()
            study._lead(self._twin, self)
            self.replayed = self._twin
        except StudyError as error:
            self.replayed, self.ended = None, str(error)


def partition(study: Study, growth: Growth, rows: dict[bytes, int]) -> dict[str, Any]:
    """The tree as a list of splits, in order, or the reason why there is none to show.

    `rows` maps the key of a point to the row of its trial. Each split is described by the cell that
    is split, the axis, and, unless the parts are k equal ones, the inner edges and the centres of
    the parts along that axis.
    """
    if growth.search is None:
        return {"reason": "The search has not divided the space yet.", "ended": growth.ended}
    tree = growth.search.book.tree
    if tree is None:
        name = study.settings["algorithm"]["class"]
        return {"reason": f"{name} does not partition the space."}
    nodes = oldest(tree, growth.sizes[-1], MOST_NODES)
    return {
        **cuts(tree, nodes),
        "sizes": growth.sizes,
        "first": growth.first,
        "marks": marks(study.space, tree, rows, nodes),
        "nodes": growth.sizes[-1],
        "rejected": growth.search.rejected,
        "ended": growth.ended,
    }


def oldest(tree: Tree, nodes: int, most: int) -> int:
    """The number of nodes to keep, at most `most`, without separating the children of a cell."""
    if nodes <= most:
        return nodes
    parent = tree.parent
    while parent[most] == parent[most - 1]:
        most -= 1
    return most


def cuts(tree: Tree, nodes: int) -> dict[str, Any]:
    """The splits that made the first `nodes` cells, oldest first."""
    parents = tree.parent[:nodes]
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
    points = [_brief(point) for point in x[1 : len(parents)]] if tree.drawn else None
    return {
        "k": tree.k,
        "root": x[0].tolist(),
        "cut": cut,
        "axis": axes,
        "parts": parts or None,
        "points": points,
    }


def _brief(places: Array) -> list[float]:
    return [float(f"{place:.12g}") for place in places.tolist()]


def marks(space: Space, tree: Tree, rows: dict[bytes, int], nodes: int) -> dict[str, Any]:
    """The `Status` of each node as a digit, and the row of its trial, or -1."""
    status = tree.status[:nodes]
    asked = np.isin(status, [Status.EVALUATED, Status.PENDING, Status.FAILED])
    of_trial = [
        rows.get(key_of(space.decode(x)), -1) if is_asked else -1
        for x, is_asked in zip(tree.x, asked.tolist(), strict=False)
    ]
    return {"status": "".join(map(str, status.tolist())), "row": of_trial}
