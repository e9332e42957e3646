"""`minimize` and `maximize`: a search, a function and the loop between them."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from inspect import signature
from math import isfinite
from os import PathLike
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeAlias, TypeVar

from ..algorithms import Algorithm, Name, planned, resolve
from ..checks import brief
from ..defaults import ALGORITHM, SEED
from ..errors import SettingsError
from ..optimizer import AskTell, Optimizer, as_value, drawn_seed
from ..space import Space, SpaceLike
from ..stop import Rule, as_rules
from .evaluation import apart
from .loop import Rules, drive
from .pool import Workers, check_trial_timeout, check_workers
from .progress import ProgressLine

if TYPE_CHECKING:
    from ..result import Result
    from ..study import Study

StudyLike: TypeAlias = "str | PathLike[str] | Study | None"


def optimize(
    direction: str,
    fun: Callable[..., Any],
    space: SpaceLike,
    budget: int,
    *,
    algorithm: Name | Algorithm = ALGORITHM,
    seed: int | None = SEED,
    noise: float | str | None = None,
    workers: Workers = None,
    study: StudyLike = None,
    x0: Any = None,
    known: Iterable[tuple[Any, float | None]] | None = None,
    constraints: Sequence[Any] | None = None,
    target: float | None = None,
    timeout: float | None = None,
    stop: Rule | Sequence[Rule] | None = None,
    callback: Callable[["Result"], object] | None = None,
    progress: bool = False,
    on_error: str = "raise",
    trial_timeout: float | None = None,
) -> "Result":
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
    seed : int or None
        Same settings, same seed, same points. None: a new study or search draws one, and a study
        that exists keeps its own.
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
    x0 : point or list of points, optional
        Evaluate these first; they count towards the budget. A point is an array, or a dict for a
        named space.
    known : list of (point, value), optional
        Evaluations from earlier work, which the search begins with; they do not count towards the
        budget. The value None is a failure. Where constraints are measured, a value is a pair
        ``(value, {"name": number})``, as `fun` returns it.
    constraints : list, optional
        A callable is cheap and known in advance: it is called like `fun` and returns a bool (True:
        allowed) or a number (<= 0: allowed). A point that violates it is never asked for. scipy's
        `LinearConstraint` and `NonlinearConstraint`, and `Formula`, are known in advance too. A
        string names a constraint that the evaluation measures: `fun` then returns ``(value,
        {"name": number})``, and a point is feasible where every number is <= 0. See
        docs/constraints.md.
    target : float, optional
        Stop at the first value at least as good; evaluations still running are abandoned.
    timeout : float, optional
        Start no evaluation after this many seconds; those running are waited for.
    stop : callable or list of callables, optional
        Rules that are called with the result so far after each evaluation, and return True, or a
        sentence, to end the run; evaluations still running are abandoned. `Stalled(n)` ends it
        when the best value has not improved in n evaluations, `Gap(width)` when the model's
        bounds say that no more than `width` is left to gain.
    callback : callable, optional
        ``callback(intermediate_result)`` after each evaluation; raising StopIteration
        ends the run. What it returns is ignored: see `stop`.
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
    Result
        A scipy OptimizeResult that can also `predict`, `plot` itself and become a table by
        `to_dataframe`.

        x, fun, params
            The best feasible point, its value, and the point by name. Under noise, the evaluated
            point with the best posterior mean, and that mean. With "stosoo" and "stroquool", which
            evaluate points again, the point they recommend and the mean of its values.
        X, F
            Every point and value in the order they were told, nan where the evaluation
            failed. X is an (n, D) array, or a list of dicts for a named space.
        feasible, C
            For each of them whether it has a value and meets every constraint; and by name, what
            was measured of each constraint.
        nfev, nfailed, ninfeasible, nrejected, nexpanded
            Evaluations, failures among them, those that violate a constraint, nodes the GP
            rejected, cells cut.
        direction, failures, gap
            "minimize" or "maximize"; for each failure the number of its trial and the reason;
            and how much the model's bounds say may still be gained.
        success, status, message
            Whether any feasible point was found, and why the run ended (see `Stop`).
        tree
            The partition, where the algorithm has one.

    Examples
    --------
    >>> import bamsoo
    >>> r = bamsoo.minimize(bamsoo.problems.branin, bamsoo.problems.branin.bounds, 40)
    >>> bool(r.fun < 0.4)
    True
    """
    rules = Rules(budget, target, timeout, callback, on_error, trial_timeout, stop=as_rules(stop))
    if not callable(fun):
        raise SettingsError(f"fun must be callable, got {brief(fun)}")
    check_workers(workers)
    check_trial_timeout(trial_timeout, workers)
    chosen = resolve(algorithm, noise)
    with _search(space, direction, chosen, seed, study, rules.budget, constraints) as search:
        first = search.space.points([] if x0 is None else x0)
        for point in first:
            search.constraints.check_point(point)
        give(search, as_known(search.space, known))
        for point in first:
            search.enqueue(point)
        line = ProgressLine(rules.budget) if progress else None
        return drive(search, fun, rules, workers, line)


Known: TypeAlias = tuple[Any, float | None, Mapping[str, Any] | None]
"""An earlier evaluation: point, value (None where it failed), and what was measured."""


def as_known(space: Space, known: Any) -> list[Known]:
    """Earlier evaluations, checked."""
    form = "known must be a list of (point, value) pairs"
    if known is None:
        return []
    if isinstance(known, (str, Mapping)) or not hasattr(known, "__iter__"):
        raise SettingsError(f"{form}, got {brief(known)}")
    checked: list[Known] = []
    for pair in known:
        try:
            point, value = pair
        except (TypeError, ValueError):
            raise SettingsError(f"{form}, got {brief(pair)} among them") from None
        said, measured = apart(value)
        number = as_value(said)
        checked.append((space.point(point), number if isfinite(number) else None, measured))
    return checked


def give(search: AskTell, known: Iterable[Known]) -> None:
    """Tell earlier evaluations, except for points whose value a study holds already.

    Several values of one point are all told where the search takes their mean.
    """
    held = {evaluation.x.tobytes() for evaluation in search.ledger.evaluations}
    for point, value, measured in known:
        key = search.space.point(point).tobytes()
        if key not in held:
            search.tell(point, value, constraints=measured)
            if not search.ledger.repeats:
                held.add(key)


def _search(
    space: SpaceLike,
    direction: str,
    algorithm: Algorithm,
    seed: int | None,
    study: StudyLike,
    budget: int,
    constraints: Sequence[Any] | None,
) -> AbstractContextManager[AskTell]:
    """What is asked and told; a study that the caller has opened is left open."""
    if study is None:
        chosen = planned(algorithm, budget)
        return nullcontext(Optimizer(space, direction, chosen, seed, constraints=constraints))
    from ..study import Study

    if isinstance(study, Study):
        study.check_settings(space, direction, algorithm, seed, constraints)
        return nullcontext(study)
    if seed is None and not os.path.lexists(study):
        seed = drawn_seed()
    return Study.open(
        study,
        space=space,
        direction=direction,
        algorithm=algorithm,
        seed=seed,
        budget=budget,
        constraints=constraints,
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
