"""The evaluations beside the tree: steps of the local model, and of candidates near the best."""

from typing import NamedTuple

import numpy as np

from ..._typing import Array
from ...space.axes import Domain
from ..book import Book
from ..search import Waiting
from ..tree import Tree
from .constants import Constants
from .failures import Failures
from .local import Local, View, probe
from .near import Near
from .prior import Prior


class Out(NamedTuple):
    """A step whose value has not come: the best value before it, its kind, and its view."""

    best: float
    kind: str
    view: View | None


class Steps:
    """One step at a time, of the kind that has brought more recently.

    Steps of the local model move along the real axes. Where there are other axes too, steps near
    the best move along all of them.
    """

    def __init__(
        self,
        domain: Domain,
        tree: Tree,
        book: Book,
        prior: Prior,
        failures: Failures,
        rng: np.random.Generator,
        constants: Constants,
    ) -> None:
        self._domain, self._book, self._prior, self._failures = domain, book, prior, failures
        self._constants = constants
        self._real = domain.continuous
        self._rest = [i for i in range(domain.dim) if i not in self._real]
        self._local = Local(len(self._real), constants, book.noisy) if self._real else None
        self._near = Near(domain, tree, rng, constants.near) if domain.mixed else None
        self._worth = {"local": 1.0, "near": constants.near.worth}
        self._waiting: dict[int, Out] = {}
        self._in_vain = 1
        self._tries = constants.local.tries * (len(self._real) + 1)
        many = domain.mixed or domain.dim > constants.local.few
        self._otherwise = constants.local.otherwise[many]

    @property
    def every(self) -> float:
        """How many evaluations in the tree go with one step: more while steps bring nothing."""
        local = self._constants.local
        if not self._in_vain:
            return 1.0 / local.after_better
        rarer = min(max(self._in_vain - self._tries, 0), local.rarest)
        return 2.0**rarer / self._otherwise

    def step(self) -> Waiting:
        """Evaluate one more point, if there is one worth it."""
        book = self._book
        X = np.array([x for _, x, _, _ in book.records])
        f = book.believed()
        out = np.array([x for x, _ in book.out.values()]).reshape(-1, self._domain.dim)
        keys = [key for key, _, _, _ in book.records]
        self.judge(dict(zip(keys, f.tolist(), strict=True)))
        if (x := self._probe(X, f, out)) is not None:
            yield from book.evaluate_point(x)
            return
        view, kind = None, "near"
        if self._near is None or self._worth["local"] >= self._worth["near"]:
            x, kind, view = self._local_step(X, f, out)
        if x is None and self._near is not None:
            kind = "near"
            taken = {p.tobytes() for p in X} | {p.tobytes() for p in out}
            x = self._near.propose(X, f, taken, self._prior.gp, book.f_plus, self._failures)
        if x is not None:
            self._waiting[book.expect(x)] = Out(float(f.max()), kind, view)
            book.receive((yield x))

    def judge(self, values: dict[int, float]) -> None:
        """Count the steps whose values have come in, or that failed."""
        for ticket in [ticket for ticket in self._waiting if ticket not in self._book.out]:
            best, kind, view = self._waiting.pop(ticket)
            better = values.get(ticket, best) > best
            if kind != "around":
                self._count(better, kind, view)
            elif better:
                self._in_vain = 0

    def _count(self, better: bool, kind: str, view: View | None) -> None:
        constants = self._constants.near
        self._in_vain = 0 if better else self._in_vain + 1
        worth = constants.memory * self._worth[kind] + (1.0 - constants.memory) * better
        self._worth[kind] = max(worth, constants.least)
        if view is not None and self._local is not None:
            self._local.count(better, view)

    def _probe(self, X: Array, f: Array, out: Array) -> Array | None:
        """A step along a real axis that nobody has moved along."""
        real = self._real
        top = probe(X[:, real], f, out[:, real], self._constants.local) if real else None
        if top is None:
            return None
        x: Array = X[int(f.argmax())].copy()
        x[real] = top
        return x

    def _local_step(self, X: Array, f: Array, out: Array) -> tuple[Array | None, str, View | None]:
        """The top of the local model along the real axes, if it is a new point, and its kind."""
        local, real, rest = self._local, self._real, self._rest
        nothing = None, "local", None
        if local is None:
            return nothing
        x: Array = X[int(f.argmax())].copy()
        mine = [ticket for ticket, out in self._waiting.items() if out.view is not None]
        steps = np.array([self._book.out[t][0] for t in mine]).reshape(-1, self._domain.dim)
        alike = (X[:, rest] == x[rest]).all(axis=1)  # all, where every axis is real
        failed = [p[real] for p in self._book.failed if (p[rest] == x[rest]).all()]
        top = local.propose(
            X[alike][:, real], f[alike], steps[:, real], np.array(failed).reshape(-1, len(real))
        )
        if top is None or not (top.top or self._near is None):  # steps near the best do better
            return nothing
        x[real] = top.x
        near = self._constants.loop.same * self._domain.finest
        if np.all((np.abs(np.vstack([X, out]) - x) > near).any(axis=1)):
            return x, "local" if top.top else "around", local.view
        if not len(steps):
            self._count(False, "local", local.view)
        return nothing
