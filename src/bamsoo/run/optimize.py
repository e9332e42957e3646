"""`minimize` and `maximize`: a search, a function and the loop between them."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from inspect import signature
from os import PathLike
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeAlias, TypeVar

from ..algorithms import Algorithm, planned, resolve
from ..checks import brief
from ..defaults import ALGORITHM, SEED
from ..errors import SettingsError
from ..optimizer import AskTell, Optimizer
from ..space import SpaceLike
from .loop import Rules, drive
from .pool import Workers, check_trial_timeout, check_workers
from .progress import ProgressLine

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

    from ..study import Study

StudyLike: TypeAlias = "str | PathLike[str] | Study | None"


def optimize(
    direction: str,
    fun: Callable[..., Any],
    space: SpaceLike,
    budget: int,
    *,
    algorithm: str | Algorithm = ALGORITHM,
    seed: int = SEED,
    noise: float | str | None = None,
    workers: Workers = None,
    study: StudyLike = None,
    target: float | None = None,
    timeout: float | None = None,
    callback: Callable[["OptimizeResult"], object] | None = None,
    progress: bool = False,
    on_error: str = "raise",
    trial_timeout: float | None = None,
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
        "auto", "bamsoo", "soo", "doo", "gp-ucb", "shrinking", "random", "stosoo", "sequool",
        "stroquool", "logo", "bamlogo", "imgpo", or such as ``BaMSOO(kernel=Matern52(0.2))``.
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
    trial_timeout : float, optional
        Seconds that one evaluation may take, with ``workers=N``: a process that takes longer is
        ended with all it has started, and its trial has failed.

    Returns
    -------
    scipy.optimize.OptimizeResult
        x, fun, params
            The best point, its value, and the point by name. Under noise, the evaluated point
            with the best posterior mean, and that mean. With "stosoo" and "stroquool", which
            evaluate points again, the point they recommend and the mean of its values.
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
    rules = Rules(budget, target, timeout, callback, on_error, trial_timeout)
    if not callable(fun):
        raise SettingsError(f"fun must be callable, got {brief(fun)}")
    check_workers(workers)
    check_trial_timeout(trial_timeout, workers)
    chosen = resolve(algorithm, noise)
    with _search(space, direction, chosen, seed, study, rules.budget) as search:
        line = ProgressLine(rules.budget) if progress else None
        return drive(search, fun, rules, workers, line)


def _search(
    space: SpaceLike,
    direction: str,
    algorithm: Algorithm,
    seed: int,
    study: StudyLike,
    budget: int,
) -> AbstractContextManager[AskTell]:
    """What is asked and told; a study that the caller has opened is left open."""
    if study is None:
        return nullcontext(Optimizer(space, direction, planned(algorithm, budget), seed))
    from ..study import Study

    if isinstance(study, Study):
        study.check_settings(space, direction, algorithm, seed)
        return nullcontext(study)
    return Study.open(
        study, space=space, direction=direction, algorithm=algorithm, seed=seed, budget=budget
    )


P = ParamSpec("P")
R = TypeVar("R")


def _towards(direction: str, run: Callable[Concatenate[str, P], R]) -> Callable[P, R]:
    """`optimize` in one direction, with its other arguments: they are listed once, above."""

    @wraps(run)
    def directed(*args: P.args, **kwargs: P.kwargs) -> R:
        return run(direction, *args, **kwargs)

    given = signature(run)
    parameters = [each for name, each in given.parameters.items() if name != "direction"]
    directed.__signature__ = given.replace(parameters=parameters)  # type: ignore[attr-defined]
    directed.__annotations__ = {n: a for n, a in run.__annotations__.items() if n != "direction"}
    directed.__name__ = directed.__qualname__ = direction
    return directed


minimize = _towards("minimize", optimize)
maximize = _towards("maximize", optimize)
maximize.__doc__ = "Find the largest value of a function; all else as in `minimize`."
