"""The loop around a search: budget, workers, target, time, callback, failures, progress."""

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import dataclass
from enum import IntEnum
from math import inf, isfinite
from numbers import Real
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

from ..algorithms import resolve
from ..algorithms.search import Algorithm
from ..checks import brief
from ..errors import ExhaustedError, SettingsError, WorkerError
from ..optimizer import Optimizer, Trial
from ..space import SpaceLike
from .evaluation import Reply
from .pool import (
    Pool,
    Workers,
    check_workers,
    open_pool,
)

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

    from ..study import Study

StudyLike: TypeAlias = "str | PathLike[str] | Study | None"


class Stop(IntEnum):
    """Why a run ended: `result.status`."""

    BUDGET = 0
    TARGET = 1
    TIMEOUT = 2
    CALLBACK = 3
    EXHAUSTED = 4
    ERROR = 5


def minimize(
    fun: Callable[..., Any],
    space: SpaceLike,
    budget: int,
    *,
    algorithm: str | Algorithm = "auto",
    seed: int = 0,
    noise: float | str | None = None,
    workers: Workers = None,
    study: StudyLike = None,
    target: float | None = None,
    timeout: float | None = None,
    callback: Callable[["OptimizeResult"], object] | None = None,
    progress: bool = False,
    on_error: str = "raise",
) -> "OptimizeResult":
    """Find the smallest value of a function that is slow to evaluate.

    Parameters
    ----------
    fun : callable
        ``fun(x)`` with an array where `space` is a sequence or Bounds; ``fun(**params)``
        where it is a dict. Returns one number; None, nan or inf is a failed evaluation.
    space : sequence of (low, high), scipy.optimize.Bounds, or dict
        A dict maps names to (low, high) or `Real`.
    budget : int
        The most calls of `fun`.
    algorithm : str or settings object
        "auto", "bamsoo", "soo", "doo", "gp-ucb", "shrinking", "random", or such as
        ``BaMSOO(kernel=Matern52(0.2))``.
    seed : int
        Same settings, same seed, same points.
    noise : float or "learn", optional
        Variance of the noise in a value, in squared units of it, for "auto", "bamsoo" and
        "gp-ucb"; "auto" can also learn it. By default the function is taken to be
        deterministic. See docs/usage.md.
    workers : int or concurrent.futures.Executor, optional
        Evaluate several points at once: in so many processes, which survive a crash of `fun`;
        or by an executor, such as Dask's ``client.get_executor(pure=False)``, with as many
        trials as it has workers, or as ``(executor, trials)`` says. By default one at a time,
        in this process. See docs/parallel.md.
    study : path or Study, optional
        A file that keeps every evaluation. The run may be killed at any moment; the same call
        goes on where it ended, up to `budget` evaluations in all. See docs/study.md.
    target : float, optional
        Stop at the first value at least as good; evaluations still running are abandoned.
    timeout : float, optional
        Start no evaluation after this many seconds; those running are waited for.
    callback : callable, optional
        ``callback(intermediate_result)`` after each evaluation; raising StopIteration
        ends the run.
    progress : bool
        A live line on standard error.
    on_error : {"raise", "fail"}
        What an exception from `fun` does: propagate, with the trial in its notes and the
        result so far as its attribute ``result``; or count as a failed evaluation.

    Returns
    -------
    scipy.optimize.OptimizeResult
        x, fun, params
            The best point, its value, and the point by name. Under noise, the evaluated point
            with the best posterior mean, and that mean.
        X, F
            Every point and value in the order they were told, nan where the evaluation
            failed. X is an (n, D) array, or a list of dicts for a named space.
        nfev, nfailed, nrejected, nexpanded
            Evaluations, failures among them, nodes the GP rejected, cells cut.
        success, status, message
            Whether any value was found, and why the run ended (see `Stop`).
        tree
            The partition, where the algorithm has one.

    Examples
    --------
    >>> import bamsoo
    >>> r = bamsoo.minimize(bamsoo.problems.branin, bamsoo.problems.branin.bounds, 40)
    >>> bool(r.fun < 0.4)
    True
    """
    return _run(
        "minimize",
        fun,
        space,
        budget,
        algorithm,
        seed,
        noise,
        workers,
        study,
        target,
        timeout,
        callback,
        progress,
        on_error,
    )


def maximize(
    fun: Callable[..., Any],
    space: SpaceLike,
    budget: int,
    *,
    algorithm: str | Algorithm = "auto",
    seed: int = 0,
    noise: float | str | None = None,
    workers: Workers = None,
    study: StudyLike = None,
    target: float | None = None,
    timeout: float | None = None,
    callback: Callable[["OptimizeResult"], object] | None = None,
    progress: bool = False,
    on_error: str = "raise",
) -> "OptimizeResult":
    """Find the largest value of a function; all else as in `minimize`."""
    return _run(
        "maximize",
        fun,
        space,
        budget,
        algorithm,
        seed,
        noise,
        workers,
        study,
        target,
        timeout,
        callback,
        progress,
        on_error,
    )


def _run(
    direction: str,
    fun: Callable[..., Any],
    space: SpaceLike,
    budget: int,
    algorithm: str | Algorithm,
    seed: int,
    noise: float | str | None,
    workers: Workers,
    study: StudyLike,
    target: float | None,
    timeout: float | None,
    callback: Callable[["OptimizeResult"], object] | None,
    progress: bool,
    on_error: str,
) -> "OptimizeResult":
    budget = whole_budget(budget)
    if not callable(fun):
        raise SettingsError(f"fun must be callable, got {brief(fun)}")
    if callback is not None and not callable(callback):
        raise SettingsError(f"callback must be callable, got {brief(callback)}")
    if on_error not in ("raise", "fail"):
        raise SettingsError(f"on_error must be 'raise' or 'fail', got {brief(on_error)}")
    if target is not None and not (_is_real(target) and isfinite(target)):
        raise SettingsError(f"target must be a finite number, got {brief(target)}")
    if timeout is not None and not (_is_real(timeout) and timeout > 0):
        raise SettingsError(f"timeout must be a positive number, got {brief(timeout)}")
    check_workers(workers)
    if noise is not None:
        algorithm = resolve(algorithm, noise)
    search: AbstractContextManager[Any]
    if study is None:
        search = nullcontext(Optimizer(space, direction, algorithm, seed))
    else:
        from ..study import Study

        if isinstance(study, Study):
            study.check_settings(space, direction, algorithm, seed)
            search = nullcontext(study)
        else:
            search = Study.open(
                study, space=space, direction=direction, algorithm=algorithm, seed=seed
            )
    with search as opened:
        return drive(opened, fun, budget, target, timeout, callback, progress, on_error, workers)


def drive(
    search: "Optimizer | Study",
    fun: Callable[..., Any],
    budget: int,
    target: float | None = None,
    timeout: float | None = None,
    callback: Callable[["OptimizeResult"], object] | None = None,
    progress: bool = False,
    on_error: str = "raise",
    workers: Workers = None,
    stopping: Callable[[], bool] = lambda: False,
    on_failure: Callable[[str], object] = lambda reason: None,
) -> "OptimizeResult":
    """Ask, evaluate and tell until the budget, in all, is spent; see `minimize`.

    `stopping` says, before an evaluation, whether none is to be started any more; `on_failure`
    hears why an evaluation gave no value.
    """
    line = ProgressLine(budget) if progress else None
    run = Run(search, budget, target, timeout, callback, line, on_error, stopping, on_failure)
    try:
        if run.end is None:
            try:
                with closing(open_pool(workers, fun, run.left)) as pool:
                    run.through(pool)
            except WorkerError as error:
                raise WorkerError(f"{error}; {_how_to_go_on(search)}") from error
        if run.raised is not None:
            raise run.raised
    except BaseException as error:
        _attach(error, search)
        raise
    finally:
        run.abandon(*run.out)
        if line is not None:
            line.close(search)
    assert run.end is not None
    result = search.result
    result.status, result.message = int(run.end[0]), run.end[1]
    return result


@dataclass
class Run:
    """The loop of one `drive`: every free worker gets the next trial, every reply is told.

    Nobody waits for a round: the search is asked with what is known at that moment, and
    takes the trials that are out for pending.
    """

    search: "Optimizer | Study"
    budget: int
    target: float | None
    timeout: float | None
    callback: Callable[["OptimizeResult"], object] | None
    line: "ProgressLine | None"
    on_error: str
    stopping: Callable[[], bool]
    on_failure: Callable[[str], object]

    def __post_init__(self) -> None:
        self.began, self.left, self.started = time.monotonic(), self.budget - self.search.told, 0
        self.out: dict[int, Trial] = {}
        self.raised: BaseException | None = None
        self.end = self.target_reached() or self.over()  # why nothing more is asked for
        self.at_once = False  # then what is out is not waited for either

    def through(self, pool: Pool) -> None:
        """Keep the pool full until the end, then empty it."""
        while not self.at_once:
            self.fill(pool)
            if not self.out:
                return
            try:
                replies = pool.wait()
            except (KeyboardInterrupt, SystemExit) as error:
                if len(self.out) == 1:
                    _note(error, *self.out.values())
                raise
            for number, reply in replies:  # also behind one that ends the run: they have come in
                self.take(self.out.pop(number), reply)

    def fill(self, pool: Pool) -> None:
        """Give every free worker a trial, unless it is over."""
        while self.end is None and len(self.out) < pool.size:
            self.end = self.over()
            if self.end is not None:
                return
            try:
                trial = self.search.ask()
            except ExhaustedError as error:
                self.end = Stop.EXHAUSTED, str(error)
                return
            self.out[trial.number] = trial
            if self.stopping():  # since the search was asked, which may take a while
                self.end = self.over()
                self.abandon(trial.number)
                return
            pool.submit(trial.number, _point(trial, self.search))
            self.started += 1

    def over(self) -> tuple[Stop, str] | None:
        """Why nothing more is to be asked for, if so."""
        if self.started >= self.left:
            return Stop.BUDGET, f"the budget of {self.budget} evaluations is spent"
        if self.timeout is not None and time.monotonic() - self.began > self.timeout:
            return Stop.TIMEOUT, f"the timeout of {self.timeout:g} s is over"
        if self.stopping():
            return Stop.CALLBACK, "the run was stopped"
        return None

    def target_reached(self) -> tuple[Stop, str] | None:
        """The end at a value that is good enough, also one from before the study was opened."""
        if self.target is not None and self.search.reaches(self.target):
            return Stop.TARGET, f"the target {self.target:g} is reached"
        return None

    def take(self, trial: Trial, reply: Reply) -> None:
        """Tell what came of a trial, and see whether that ends the run."""
        if reply.error is not None and self.on_error == "raise":
            self.out[trial.number] = trial
            _note(reply.error, trial)
            self.stop(reply.error)
            return
        if reply.value is not None:
            self.search.tell(trial, reply.value)
        else:
            self.on_failure(reply.reason)
            _fail(self.search, trial, reply.reason)
        if self.at_once:
            return
        if self.line is not None:
            self.line.show(self.search)
        if self.callback is not None:
            try:
                self.callback(self.search.result)
            except StopIteration:
                self.end, self.at_once = (Stop.CALLBACK, "the callback ended the run"), True
            except BaseException as error:
                self.stop(error)
        if not self.at_once and (reached := self.target_reached()) is not None:
            self.end, self.at_once = reached, True

    def stop(self, error: BaseException) -> None:
        """End with an exception, the first of them, once all that has come in is told."""
        self.raised = self.raised or error
        self.at_once = True

    def abandon(self, *numbers: int) -> None:
        """Nobody evaluates these trials any more; a study hands them out again."""
        for number in numbers:
            trial = self.out.pop(number)
            if not isinstance(self.search, Optimizer):
                self.search.give_back(trial)


def _how_to_go_on(search: "Optimizer | Study") -> str:
    if isinstance(search, Optimizer):
        return "the result so far is this error's `result`; with a study a run can go on"
    return f"all that was told is in {search.path}: call again with this study to go on"


def _point(trial: Trial, search: "Optimizer | Study") -> Any:
    return trial.params if search.space.named else trial.x.copy()


def _fail(search: "Optimizer | Study", trial: Trial, reason: str) -> None:
    if isinstance(search, Optimizer):
        search.tell(trial, None)
    else:
        search.tell(trial, None, reason)


def whole_budget(budget: Any) -> int:
    """A budget as an int, or one sentence on why it is none."""
    if isinstance(budget, bool) or not (_is_real(budget) and budget >= 1 and budget % 1 == 0):
        raise SettingsError(f"budget must be a whole number >= 1, got {brief(budget)}")
    return int(budget)


def _is_real(value: Any) -> bool:
    return isinstance(value, Real)


def _note(error: BaseException, trial: Trial) -> None:
    with suppress(Exception):  # an exception may refuse attributes; it propagates all the same
        error.add_note(f"bamsoo: raised by trial {trial.number} at {trial.params}")


def _attach(error: BaseException, search: "Optimizer | Study") -> None:
    result = search.result
    result.status, result.message = int(Stop.ERROR), f"ended by {type(error).__name__}"
    with suppress(Exception):
        error.result = result  # type: ignore[attr-defined]


class ProgressLine:
    """A line on standard error that says how far the run is; rewritten in a terminal."""

    def __init__(self, budget: int) -> None:
        self._budget, self._began = budget, time.monotonic()
        self._shown, self._done = -inf, 0
        self._live = sys.stderr.isatty()
        self._every = 0.1 if self._live else 10.0

    def show(self, search: "Optimizer | Study") -> None:
        """Show the state now, unless the line was shown a moment ago."""
        now, done = time.monotonic(), search.told
        if now - self._shown < self._every and done < self._budget:
            return
        self._shown, self._done = now, done
        best = search.best
        text = (
            f"{done}/{self._budget} evaluations, "
            f"best {'none' if best is None else format(best.value, '.6g')}, "
            f"{search.rejected} rejected, {now - self._began:.1f} s"
        )
        print(
            f"\r\x1b[K{text}" if self._live else text,
            end="" if self._live else "\n",
            file=sys.stderr,
            flush=True,
        )

    def close(self, search: "Optimizer | Study") -> None:
        """Show the last state, and end the line."""
        if self._done < search.told:
            self._shown = -inf
            self.show(search)
        if self._live:
            print(file=sys.stderr)
