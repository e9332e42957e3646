"""Searches for another process: run by `elsewhere`, with any version of bamsoo since 0.2.

It imports nothing of the laboratory and only public names of bamsoo, so the laboratory can compare
itself with an earlier state of the package. It reads requests from its standard input, each a
pickled tuple of a name and arguments, and writes answers in the same form.
"""

import os
import pickle
import sys
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import bamsoo


class Conversation:
    """The two pipes, and what can be asked of this process."""

    def __init__(self, read: BinaryIO, write: BinaryIO) -> None:
        self._read, self._write = read, write
        self._search: Any = None
        self._trials: dict[int, Any] = {}

    def run(self) -> None:
        """Answer requests until there are no more."""
        while True:
            try:
                name, given = pickle.load(self._read)
            except EOFError:
                return
            try:
                self._send("done", getattr(self, f"on_{name}")(**given))
            except Exception as error:
                self._send("failed", (type(error).__name__, str(error)))

    def _send(self, name: str, what: Any = None) -> None:
        pickle.dump((name, what), self._write)
        self._write.flush()

    def _call(self, name: str, what: Any = None) -> Any:
        """Ask the other process something while it waits for an answer."""
        self._send(name, what)
        return pickle.load(self._read)

    def on_start(self, space: Any, **settings: Any) -> str:
        """Begin a search that is driven by `on_ask` and `on_tell`; returns where bamsoo is."""
        self._search, self._trials = bamsoo.Optimizer(space_of(space), **settings), {}
        return bamsoo.__file__

    def on_ask(self) -> tuple[int, Any, Any]:
        """The number, the array and the parameters of a new trial."""
        trial = self._search.ask()
        self._trials[trial.number] = trial
        return trial.number, trial.x, dict(trial.params)

    def on_tell(self, number: int, value: Any) -> None:
        """The value of a trial."""
        self._search.tell(self._trials.pop(number), value)

    def on_best(self) -> tuple[Any, Any]:
        """The array and the parameters of the best point."""
        result = self._search.result
        return result.x, None if result.params is None else dict(result.params)

    def on_minimize(self, space: Any, budget: int, constraints: Any = None, **more: Any) -> None:
        """A whole run; every evaluation is a question to the other process."""

        def fun(*point: Any, **params: Any) -> Any:
            return self._call("evaluate", (point, params))

        def train(**params: Any) -> Iterator[float]:
            self._call("train", params)
            try:
                while (value := self._call("step")) is not None:
                    yield value
            finally:
                self._call("stop")

        def known(*point: Any, **params: Any) -> Any:
            return self._call("known", (point, params))

        if constraints is not None:
            more["constraints"] = [known if c is None else c for c in constraints]
        bamsoo.minimize(train if more.get("steps") else fun, space_of(space), budget, **more)


def space_of(described: Any) -> Any:
    """A space from its description by `elsewhere.described`."""
    if not isinstance(described, Mapping):
        return described
    return {name: parameter_of(each) for name, each in described.items()}


def parameter_of(described: Any) -> Any:
    """A parameter from its description."""
    if not isinstance(described, Mapping):
        return described
    given = dict(described)
    kind = getattr(bamsoo, given.pop("kind"))
    if "options" not in given:
        # settings that have their default need not exist in an earlier version
        return kind(**{name: value for name, value in given.items() if value is not None})
    options, opens = given["options"], given["opens"]
    if not opens:
        return kind(options)
    return kind({o: space_of(inner) for o, inner in zip(options, opens, strict=True)})


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a package prints must not come between the answers
    Conversation(sys.stdin.buffer, answers).run()
