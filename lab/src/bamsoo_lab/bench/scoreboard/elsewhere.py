"""Searches of another state of bamsoo, run by its own process (`searcher`) on problems of this one.

`Elsewhere` has `minimize` and `Optimizer`, so it can stand in for the package `bamsoo`.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bamsoo.errors import BamsooError, ExhaustedError
from bamsoo.space import Choice

from ...jobs.task import Settings
from .. import suites
from ..errors import BenchError
from ..measure import MeasuredObjective, Spent
from ..methods import ours
from ..parallel.runs import measured
from ..parallel.searches import Ours
from ..runs import case_of

SCRIPT = Path(__file__).with_name("searcher.py")


class ElsewhereError(BamsooError, RuntimeError):
    """The other process failed or ended."""


class Elsewhere:
    """A process that searches with the package in a folder.

    Parameters
    ----------
    folder : str
        Contains the package `bamsoo`.
    """

    def __init__(self, folder: str) -> None:
        environment = {**os.environ, "PYTHONPATH": folder}
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )

    def minimize(self, fun: Callable[..., Any], space: Any, budget: int, **more: Any) -> None:
        """`bamsoo.minimize` in the other process; returns nothing."""
        limits = more.pop("constraints", None)
        known = next((c for c in limits or () if callable(c)), None)
        if limits is not None:
            more["constraints"] = [None if callable(c) else c for c in limits]
        running: Any = None

        def answer(name: str, what: Any) -> Any:
            nonlocal running
            if name == "evaluate":
                return fun(*what[0], **what[1])
            if name == "train":
                running = fun(**what)
            elif name == "step":
                return next(running, None)
            elif name == "stop":
                running.close()
            elif name == "known":
                assert known is not None
                return known(*what[0], **what[1])
            return None

        self.call("minimize", answer, space=described(space), budget=budget, **more)

    def Optimizer(self, space: Any, **settings: Any) -> "ElsewhereOptimizer":
        """`bamsoo.Optimizer` in the other process, one at a time."""
        found = self.call("start", space=described(space), **settings)
        if not Path(found).is_relative_to(self._folder):
            raise ElsewhereError(f"expected bamsoo in {self._folder}, got the one of {found}")
        return ElsewhereOptimizer(self)

    def call(self, name: str, answer: Callable[[str, Any], Any] | None = None, **given: Any) -> Any:
        """Ask something, answering what is asked meanwhile."""
        self._send((name, given))
        while True:
            try:
                kind, what = pickle.load(self._process.stdout)  # type: ignore[arg-type]
            except EOFError:
                raise ElsewhereError("the process of the earlier version has ended") from None
            if kind == "done":
                return what
            if kind == "failed":
                if what[0] == ExhaustedError.__name__:
                    raise ExhaustedError(what[1])
                raise ElsewhereError(f"the earlier version raised {what[0]}: {what[1]}")
            assert answer is not None
            self._send(answer(kind, what))

    def _send(self, what: Any) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        pickle.dump(what, pipe)
        pipe.flush()

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not read any more
                    pipe.close()


class ElsewhereOptimizer:
    """Asks and tells in another process."""

    def __init__(self, process: Elsewhere) -> None:
        self._process = process

    def ask(self) -> Any:
        """A trial with a number, an array and parameters."""
        number, x, params = self._process.call("ask")
        return SimpleNamespace(number=number, x=x, params=params)

    def tell(self, trial: Any, value: Any) -> None:
        """The value of a trial."""
        self._process.call("tell", number=trial.number, value=value)

    @property
    def result(self) -> Any:
        """The array and the parameters of the best point."""
        x, params = self._process.call("best")
        return SimpleNamespace(x=x, params=params)


def described(space: Any) -> Any:
    """A space as plain values, which do not depend on where classes are."""
    if not isinstance(space, Mapping):
        return [(float(low), float(high)) for low, high in space]
    return {name: _parameter(each) for name, each in space.items()}


def _parameter(parameter: Any) -> Any:
    if isinstance(parameter, tuple):
        return parameter
    if isinstance(parameter, Choice):
        opens = [described(inner) for inner in parameter.opens]
        return {"kind": "Choice", "options": list(parameter.options), "opens": opens}
    settings = {field.name: getattr(parameter, field.name) for field in fields(parameter)}
    return {"kind": type(parameter).__name__, **settings}


@cache
def process(folder: str) -> Elsewhere:
    """The process of this one for a folder; it stays for the next runs."""
    return Elsewhere(folder)


def run(settings: Settings, context: Settings) -> dict[str, Any]:
    """Make a run of the default of the package in the folder ``context["package"]``."""
    here = process(context["package"])
    try:
        if "workers" in settings:
            return measured(settings, lambda bounds, seed: Ours(bounds, seed, package=here))
        return _single(settings, here)
    except ElsewhereError as error:
        raise BenchError(f"{settings['suite']} {settings['problem']}: {error}") from None
    finally:
        if sys.exc_info()[0] is not None:  # it may wait for an answer
            _end(here)


def _single(settings: Settings, here: Elsewhere) -> dict[str, Any]:
    case = case_of(settings)
    objective = MeasuredObjective(suites.target(case), case.budget, settings["seed"])
    objective.start()
    try:
        ours.solve(objective, "auto", package=here)
    except Spent:
        _end(here)
    return objective.notes()


def _end(here: Elsewhere) -> None:
    here.close()
    process.cache_clear()
