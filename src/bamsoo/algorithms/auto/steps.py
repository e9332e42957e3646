"""The evaluations outside the tree in a search without constraints.

A step is one such evaluation. It goes to the top of a local model around the best point (`local`)
or, in spaces with whole numbers or options, to the most promising candidate near the best points or
in the leaves of the tree (`near`). This module decides which kind is next and how often steps are
taken, and judges each step when its value arrives. `constrained_steps` takes its place if there are
constraints.
"""

from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._typing import Array
from ..search import Waiting
from .branches import Branches, Path
from .local import Local, Measured, View, probe
from .stall import wanted
from .turns import Context, Turns

ANYWHERE: Path = ()
"""The path of a step that may have any options."""


class Step(NamedTuple):
    """A point to evaluate, and the local model and view that proposed it, if any did."""

    x: Array
    model: Local | None = None
    view: View | None = None
    top: bool = True
    """Whether the point is the top of the model. Only such steps are used to judge the model."""


class Out(NamedTuple):
    """A pending step."""

    step: Step
    rival: int
    """The key of the best record when the step was taken. The value is not stored, because under
    noise its estimate may have changed by the time the value of the step arrives."""
    path: Path = ANYWHERE


class Steps:
    """Takes one step at a time, of the kind that has improved more often recently.

    Steps of the local model move along the real axes. If there are other axes too, steps near the
    best move along all of them. A step only moves along axes that exist at the point it starts
    from, and each combination of options that decides which axes exist has its own local model.
    """

    def __init__(self, context: Context) -> None:
        self._context, self._domain, self._book = context, context.domain, context.book
        domain, constants = context.domain, context.constants
        self._constants = constants
        self._locals: dict[tuple[float, ...], Local] = {}
        self._branches = Branches(domain, constants.branches)
        self._near = context.near() if domain.mixed else None
        self._turns = {ANYWHERE: Turns(constants.near)}
        self._waiting: dict[int, Out] = {}
        self._in_vain = 1
        self._tries = constants.local.tries * (len(domain.continuous) + 1)
        many = domain.mixed or domain.dim > constants.local.few
        self._otherwise = constants.local.otherwise[many]

    @property
    def every(self) -> float:
        """The number of evaluations in the tree per step; it grows while steps do not improve."""
        if not self._in_vain:
            return 1.0 / self._constants.local.after_better
        return self._context.pause(self._in_vain, self._tries) / self._otherwise

    @property
    def explores(self) -> bool:
        """Whether `explore` can find a better use for an evaluation than the tree's next cell."""
        return self._near is not None

    def target(self) -> float:
        """The value that a cell must be able to reach to be worth an evaluation, besides f_plus.

        It is -inf unless steps explore, since otherwise exploring is left to the cells.
        """
        return self._beyond(self._book.believed()) if self.explores else -inf

    def _beyond(self, f: Array) -> float:
        """The best value plus the gain that is required now, in the units of f_plus; or -inf."""
        if self._book.noisy or not self._context.prior.ready:  # under noise the best is uncertain
            return -inf
        g = np.array([self._book.transform(value) for value in f.tolist()])
        gain = wanted(g, self._context.rng, self._constants.stall)
        return float(g.max()) + gain if gain > 0.0 else -inf

    def explore(self) -> Waiting:
        """Evaluate the most promising candidate, which may be in any leaf of the tree."""
        yield from self.step(local=False)

    def step(self, local: bool = True) -> Waiting:
        """Evaluate one more point, if there is one that is worth it."""
        book = self._book
        X, f, out, keys = book.known.X, book.believed(), book.pending, book.known.keys
        self.judge(dict(zip(keys, f.tolist(), strict=True)))
        known, f_plus, path, rows = X, book.f_plus, ANYWHERE, np.arange(len(X))
        if (branch := self._branches.next(X, f)) is not None:
            rows = rows[branch.rows]
            X, f, path = X[rows], f[rows], branch.path
            f_plus = book.transform(float(f.max()))
        turns = self._turns.setdefault(path, Turns(self._constants.near))
        there = self._domain.exists(X[int(f.argmax())])
        real = [i for i in self._domain.continuous if there[i]]
        self._tries = self._constants.local.tries * (len(real) + 1)
        if local and (x := self._probe(X, f, out, real)) is not None:
            yield from book.evaluate_point(x)
            return
        step = None
        if local and (self._near is None or turns.local):
            measured = self._measured(rows) if book.noisy else None
            step = self._local_step(X, f, out, real, path, measured)
        if step is None and self._near is not None:
            taken = {p.tobytes() for p in known} | {p.tobytes() for p in out}
            gp, failures = self._context.prior.gp, self._context.failures
            goal = max(f_plus, self._beyond(f))
            x = self._near.propose(X, f, taken, gp, goal, failures, path, again=book.noisy)
            step = None if x is None else Step(x)
        if step is not None:
            self._waiting[book.expect(step.x)] = Out(step, keys[rows[int(f.argmax())]], path)
            book.receive((yield step.x))

    def judge(self, values: dict[int, float]) -> None:
        """Judge the steps whose values have arrived, or whose evaluations have failed.

        `values` holds the values of all records, by key.
        """
        for ticket in [ticket for ticket in self._waiting if ticket not in self._book.out]:
            step, rival, path = self._waiting.pop(ticket)
            better = values.get(ticket, values[rival]) > values[rival]
            if step.top:
                self._count(better, step, path)
            elif better and path == ANYWHERE:
                self._in_vain = 0

    def _count(self, better: bool, step: Step, path: Path) -> None:
        if path == ANYWHERE:
            self._in_vain = 0 if better else self._in_vain + 1
        self._turns[path].count("near" if step.view is None else "local", better)
        if step.view is not None and step.model is not None:
            step.model.count(better, step.view)

    def _local(self, real: list[int], x: Array) -> Local:
        """The local model along these axes, for the options of this point."""
        key = (self._book.noisy, *real, *x[self._domain.opening].tolist())
        if key not in self._locals:
            self._locals[key] = Local(len(real), self._constants, self._book.noisy)
        return self._locals[key]

    def _measured(self, rows: NDArray[np.intp]) -> Measured:
        """The measured values of these records, for the local model under noise."""
        book = self._book
        values = book.known.values
        slopes = [book.transform.variance(1.0, value) for value in values.tolist()]
        log_slopes = 0.5 * np.log(np.maximum(slopes, 1e-300))
        seen, noises = book.seen()
        return Measured(values, seen, log_slopes, noises).at(rows)

    def _probe(self, X: Array, f: Array, out: Array, real: list[int]) -> Array | None:
        """A step along a real axis on which all points agree that have these axes; or None."""
        if self._domain.conditional:
            have = self._domain.exists(X)[:, real].all(axis=1)
            X, f = X[have], f[have]
            out = out[self._domain.exists(out)[:, real].all(axis=1)]
        top = probe(X[:, real], f, out[:, real], self._constants.local) if real else None
        if top is None:
            return None
        x: Array = X[int(f.argmax())].copy()
        x[real] = top
        return x

    def _local_step(
        self,
        X: Array,
        f: Array,
        out: Array,
        real: list[int],
        path: Path,
        measured: Measured | None,
    ) -> Step | None:
        """The step that the local model proposes along the real axes, if it is a new point."""
        if not real:
            return None
        x: Array = X[int(f.argmax())].copy()
        local, rest = self._local(real, x), [i for i in range(self._domain.dim) if i not in real]
        mine = [ticket for ticket, out in self._waiting.items() if out.step.view is not None]
        steps = np.array([self._book.out[t][0] for t in mine]).reshape(-1, self._domain.dim)
        opening = self._domain.opening
        # those that concern this model; all of them, if every axis is real
        steps = steps[(steps[:, opening] == x[opening]).all(axis=1)]
        alike = (X[:, rest] == x[rest]).all(axis=1)
        failed = [p[real] for p in self._book.known.failed if (p[rest] == x[rest]).all()]
        if measured is not None:
            measured = measured.at(np.flatnonzero(alike))
        bad = np.array(failed).reshape(-1, len(real))
        top = local.propose(X[alike][:, real], f[alike], steps[:, real], bad, measured)
        # a point that is not the top is worth less than a step near the best, if there are any
        if top is None or not (top.top or self._near is None):
            return None
        x[real] = top.x
        step = Step(x, local, local.view, top.top)
        near = self._constants.loop.same * self._domain.finest
        if self._book.noisy or np.all((np.abs(np.vstack([X, out]) - x) > near).any(axis=1)):
            return step
        if not len(steps):
            self._count(False, step, path)
        return None
