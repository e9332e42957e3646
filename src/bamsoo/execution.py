"""The loop around a search: budget, target, time, callback, failures, progress."""

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from enum import IntEnum
from math import inf, isfinite
from numbers import Real
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

from .algorithms.base import Algorithm
from .checks import brief
from .errors import BamsooError, ExhaustedError, SettingsError, StudyError
from .optimizer import Optimizer, Trial
from .space import SpaceLike

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

    from .study import Study

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
    study : path or Study, optional
        A file that keeps every evaluation. The run may be killed at any moment; the same call
        goes on where it ended, up to `budget` evaluations in all. See docs/study.md.
    target : float, optional
        Stop at the first value at least as good.
    timeout : float, optional
        Start no evaluation after this many seconds.
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
            The best point, its value, and the point by name.
        X, F
            Every point and value in order, nan where the evaluation failed. X is an
            (n, D) array, or a list of dicts for a named space.
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
    search: AbstractContextManager[Any]
    if study is None:
        search = nullcontext(Optimizer(space, direction, algorithm, seed))
    else:
        from .study import Study

        if isinstance(study, Study):
            study.check_settings(space, direction, algorithm, seed)
            search = nullcontext(study)
        else:
            search = Study.open(
                study, space=space, direction=direction, algorithm=algorithm, seed=seed
            )
    with search as opened:
        return drive(opened, fun, budget, target, timeout, callback, progress, on_error)


def drive(
    search: "Optimizer | Study",
    fun: Callable[..., Any],
    budget: int,
    target: float | None = None,
    timeout: float | None = None,
    callback: Callable[["OptimizeResult"], object] | None = None,
    progress: bool = False,
    on_error: str = "raise",
) -> "OptimizeResult":
    """Ask, evaluate and tell until the budget, in all, is spent; see `minimize`."""
    line = ProgressLine(budget) if progress else None
    began = time.monotonic()
    status = Stop.BUDGET
    message = f"the budget of {budget} evaluations is spent"
    left = budget - search.told
    try:
        if target is not None and search.reaches(target):  # before the study was opened
            left, status, message = 0, Stop.TARGET, f"the target {target:g} is reached"
        for _ in range(left):
            if timeout is not None and time.monotonic() - began > timeout:
                status, message = Stop.TIMEOUT, f"the timeout of {timeout:g} s is over"
                break
            try:
                trial = search.ask()
            except ExhaustedError as error:
                status, message = Stop.EXHAUSTED, str(error)
                break
            try:
                search.tell(trial, _call(fun, trial, search))
            except BaseException as error:
                ours = not isinstance(error, Exception) or isinstance(error, StudyError)
                if on_error == "raise" or ours:  # an interrupt, or a journal that cannot be kept
                    _note(error, trial)
                    raise
                _fail(search, trial, error)
            if line is not None:
                line.show(search)
            if callback is not None:
                try:
                    callback(search.result)
                except StopIteration:
                    status, message = Stop.CALLBACK, "the callback ended the run"
                    break
            if target is not None and search.reaches(target):
                status, message = Stop.TARGET, f"the target {target:g} is reached"
                break
    except BaseException as error:
        _attach(error, search)
        raise
    finally:
        if line is not None:
            line.close(search)
    result = search.result
    result.status, result.message = int(status), message
    return result


def _fail(search: "Optimizer | Study", trial: Trial, error: BaseException) -> None:
    if isinstance(search, Optimizer):
        search.tell(trial, None)
        return
    told = str(error) if isinstance(error, BamsooError) else f"{type(error).__name__}: {error}"
    search.tell(trial, None, told)


def whole_budget(budget: Any) -> int:
    """A budget as an int, or one sentence on why it is none."""
    if isinstance(budget, bool) or not (_is_real(budget) and budget >= 1 and budget % 1 == 0):
        raise SettingsError(f"budget must be a whole number >= 1, got {brief(budget)}")
    return int(budget)


def _is_real(value: Any) -> bool:
    return isinstance(value, Real)


def _call(fun: Callable[..., Any], trial: Trial, search: "Optimizer | Study") -> Any:
    return fun(**trial.params) if search.space.named else fun(trial.x.copy())


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
