"""`minimize` and `maximize`, which connect a search, a function and the loop between them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from inspect import Parameter, Signature, signature
from os import PathLike
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeAlias, TypeVar

import numpy as np

from ..algorithms import Algorithm, Name, planned, resolve
from ..base.defaults import ALGORITHM, SEED
from ..base.typing import Array
from ..errors import SettingsError
from ..record.objectives import Objectives, ObjectivesLike
from ..record.residuals import SumOfSquares
from ..search.optimizer import Optimizer
from ..search.setup import checked_tol, drawn_seed, given_seed
from ..space import SpaceLike
from ..stop import Rule, as_rules
from .calls import check_arguments, check_call
from .earlier import Terms
from .evaluation import Companion, ResidualFunction, check_function
from .history import with_history
from .known import as_known, as_points, sources_of
from .loop import Callbacks, Rules, drive, log, whole_budget
from .outage import PATIENCE
from .pool import Workers, check_trial_timeout, checked_initializer, checked_workers
from .progress import progress_display

if TYPE_CHECKING:
    from ..result.result import Result
    from ..study import Study

StudyLike: TypeAlias = "str | PathLike[str] | Study | None"


def optimize(
    direction: str,
    fun: Callable[..., Any],
    space: SpaceLike,
    budget: int | None,
    *,
    algorithm: Name | Algorithm = ALGORITHM,
    seed: int | np.random.Generator | None = SEED,
    rng: Any = None,
    noise: float | str | None = None,
    workers: Workers = None,
    study: StudyLike = None,
    x0: Any = None,
    known: Any = None,
    fill: Mapping[str, Any] | None = None,
    ignore: str | Sequence[str] = (),
    constraints: Sequence[Any] | None = None,
    objectives: ObjectivesLike = None,
    steps: int | None = None,
    tol: float | None = None,
    target: float | Mapping[str, float] | None = None,
    timeout: float | None = None,
    stop: Rule | Sequence[Rule] | None = None,
    callback: Callbacks = None,
    progress: bool = False,
    on_error: str = "raise",
    patience: float = PATIENCE,
    fatal_failures: int | None = None,
    trial_timeout: float | None = None,
    initializer: Callable[..., object] | None = None,
    initargs: Sequence[Any] = (),
) -> "Result":
    """Find the smallest value of a function that is slow to evaluate.

    Parameters
    ----------
    fun : callable
        The function to minimise. It is called as ``fun(x)`` with an array if `space` is a sequence
        or Bounds, and as ``fun(**params)`` if `space` is a dict. It returns one number; None, nan
        and inf mean that the evaluation failed. With `objectives`, it returns one number for each.
        It may also return ``(number, {"name": anything})`` to keep more with the evaluation:
        numbers, strings, booleans or None. The name "variance" is reserved for the variance of the
        noise in the number.
    space : sequence of (low, high), scipy.optimize.Bounds or dict
        A dict maps names to (low, high), `Real`, `Int` or `Choice`. A pair is a range of real
        numbers, even if its ends are whole; `Int` gives whole numbers. A plain value, such as
        ``{"d": 0.08}``, is a fixed parameter, which `fun` receives. A dict may also have one
        `Fidelity`: how exact an evaluation is, which the search chooses. See docs/steps.md.
    budget : int or None
        The largest number of calls of `fun`. With `steps` or a `Fidelity`, it counts full
        evaluations, and a cheaper one counts as what it costs. With None, the run is ended by
        `timeout` or `stop`, one of which is then needed.
    algorithm : str or settings object, default "auto"
        "auto", "bamsoo", "soo", "doo", "gp-ucb", "shrinking", "random", "stosoo", "sequool",
        "stroquool", "logo", "bamlogo", "imgpo", "mosoo", "mfdoo" or "sobol", or a settings object
        such as ``BaMSOO(kernel=Matern52(0.2))``.
    seed : int, numpy Generator or None, default 0
        The same settings and the same seed give the same points. In a space of real numbers alone,
        the default algorithm draws no random numbers, so there another seed changes nothing: three
        runs with three seeds are the same run three times. With whole numbers or options, the seed
        decides which points are drawn inside the cells. With None, a new search or study draws a
        seed at random, and an existing study keeps its own; `Result.seed` says which. A Generator
        draws the seed.
    rng : int, list of int, numpy Generator, BitGenerator or SeedSequence, optional
        Another name for `seed`, as in scipy (SPEC 7); give one of them.
    noise : float or "learn", optional
        The variance of the noise in a value, in squared units of the objective, for "auto",
        "bamsoo" and "gp-ucb"; "auto" can also learn it. By default, the function is assumed to be
        deterministic. See docs/usage.md.
    workers : int, concurrent.futures.Executor or (Executor, int), optional
        Evaluate several points at once. A number starts that many processes, and a crash of `fun`
        in one of them does not end the run. An executor, such as Dask's
        ``client.get_executor(pure=False)``, gets as many trials at once as it has workers;
        ``(executor, trials)`` sets that number. By default, points are evaluated one at a time in
        this process. See docs/parallel.md.
    study : path or Study, optional
        A file that keeps every evaluation. The run may be killed at any moment, and the same call
        continues where it ended, up to `budget` evaluations in total. See docs/study.md.
    x0 : point, list of points or data frame, optional
        Points to evaluate first; they count towards the budget. A point is an array, or a dict for
        a named space. A data frame has one row per point and one column per parameter.
    known : list of (point, value), data frame, path, Study, or a list of these, optional
        Evaluations from earlier work that the search starts with; they do not count towards the
        budget. A value of None is a failed evaluation. With measured constraints, a value is a pair
        ``(value, {"name": number})``, as `fun` returns it. A data frame, of pandas, polars or
        pyarrow, has one column per parameter and one called ``value``, as that of
        `Result.to_dataframe`. A path is that of a
        CSV file with the same columns, or of a study. What does not fit the space, because another
        run had other ranges, is left out, and `Result.message` says how much. If it says more than
        the space, such as another parameter, or less, that is an error, unless `fill` or `ignore`
        say what it means. See docs/changing.md.
    fill : dict, optional
        Which value a parameter of the space had in earlier evaluations that do not say, by name.
    ignore : str or list of str, optional
        Parameters or columns of earlier evaluations that the space does not have, and on which the
        values do not depend.
    constraints : list, optional
        A callable is a cheap constraint that is known in advance: it is called like `fun` and
        returns a bool (True means allowed) or a number (<= 0 means allowed). A point that violates
        it is never evaluated. scipy's `LinearConstraint` and `NonlinearConstraint`, and `Formula`,
        are also known in advance. A string such as ``"Tpeak <= 520"`` is a limit of a number that
        the evaluation measures: `fun` then returns ``(value, {"Tpeak": number})``, and a point is
        feasible if every number is within its limit. A name alone means at most 0. See
        docs/constraints.md.
    objectives : list of str or dict, optional
        The names of two to four objectives, for which `fun` returns a sequence of numbers in this
        order, or a dict by name. A dict gives the direction of each, "min" or "max"; names in a
        list all have the direction of this function. The answer is then a front, `Result.front`,
        instead of one point. One name alone is an ordinary search. See docs/objectives.md.
    steps : int, optional
        The number of steps of a full evaluation. `fun` is then a generator function that yields a
        value after each step, of which the last one counts, or one for each of the `objectives`.
        An evaluation that cannot win is stopped, and its generator closed. The budget counts full
        evaluations: at most ``budget * steps`` steps are taken. See docs/steps.md.
    tol : float, optional
        The smallest gain that matters, in units of the value. The default algorithm evaluates no
        point that can hardly gain as much, `Stalled` does not count smaller gains, and values are
        printed with the digits that it justifies. It is a setting of the search, which a study
        stores. It is for one objective.
    target : float, optional
        Stop at the first value that is at least this good. Evaluations still running are abandoned.
        With several objectives it is a dict of values by name, which one point has to reach.
    timeout : float, optional
        Start no evaluation after this many seconds. The run waits for those still running for as
        long again, but at least a minute, and then abandons them: they stay pending, and processes
        of ``workers=N`` are ended. Without workers, an evaluation runs in the calling process and
        cannot be interrupted.
    stop : callable or list of callables, optional
        Rules that are called with the result so far after each evaluation and return True, or a
        sentence that says why, to end the run. Evaluations still running are abandoned.
        `Stalled(n, gain)` ends the run when the best value has not improved in n evaluations, and
        `Gap(width)` when, by the model's bounds, at most `width` is left to gain.
    callback : callable or list of callables, optional
        Called as ``callback(intermediate_result)`` after each evaluation. It can raise
        StopIteration, or return True, to end the run.
    progress : bool, default False
        Whether to show a progress line on standard error.
    on_error : {"raise", "fail"}, default "raise"
        What to do with an exception from `fun`. With "raise" it propagates, with the trial in its
        notes and the result so far as its attribute ``result``. With "fail" the evaluation counts
        as failed. Without "fail", the run also ends if its first 3 evaluations return None, or its
        first 30 give no value. In any case `fun` may raise `TryAgain`: the evaluation then did not
        take place, its trial stays pending, and the run pauses until it can be tried again.
    patience : float, default 86400
        The number of seconds after which a run ends whose evaluations raise `TryAgain`.
    fatal_failures : int, optional
        End the run when this many evaluations in a row have failed with the same reason, apart from
        the numbers in it. By default, failures end no run with ``on_error="fail"``.
    trial_timeout : float, optional
        The number of seconds that one evaluation may take; it needs ``workers=N``. A process that
        takes longer is ended together with everything it has started, and its trial fails.
    initializer : callable, optional
        Called as ``initializer(*initargs)`` in each process of ``workers=N`` when it starts, as in
        executors. The processes do not import your script, so warning filters, logging levels and
        ``torch.set_num_threads`` belong here.
    initargs : sequence, default ()
        The arguments of `initializer`.

    Returns
    -------
    Result
        A scipy OptimizeResult with the further methods `predict`, `plot` and `to_dataframe`.

        x, fun, params
            The best feasible point, its value, and the point as a dict by name. Under noise, it is
            the evaluated point with the best posterior mean minus deviation, and `fun` is an
            estimate of its value without noise. With "stosoo" and "stroquool", which evaluate
            points repeatedly, it is the point they recommend, and `fun` is the mean of its values.
            With several objectives, it is a compromise: the point of the front that dominates the
            largest volume, and `fun` is a dict by name.
        front
            With several objectives, the evaluations that no other one dominates.
        X, F
            Every point and every value in the order in which they were told; a value is nan if
            the evaluation failed. X is an (n, D) array, or a list of dicts for a named space. With
            m objectives, F is an (n, m) array.
        feasible, C
            Whether each evaluation has a value and meets every constraint, and the measurements of
            each constraint by name.
        nfev, nstopped, nfailed, ninfeasible, nrejected, nexpanded
            The number of evaluations, of those that were stopped, that failed and that violate a
            constraint, of nodes that the GP rejected, and of cells that were split.
        cost, curves
            What the evaluations cost, in full evaluations, and with `steps` the values of each
            trial step by step, by its number.
        direction, failures, gap
            "minimize" or "maximize"; the trial number and the reason of each failure; and how much
            may still be gained by the model's bounds.
        success, status, message
            Whether a feasible point was found, and why the run ended (see `Ending`).
        tree
            The partition of the space, if the algorithm has one.

    Examples
    --------
    >>> import bamsoo
    >>> r = bamsoo.minimize(bamsoo.problems.branin, bamsoo.problems.branin.bounds, 40)
    >>> bool(r.fun < 0.4)
    True
    """
    workers = checked_workers(workers)
    check_trial_timeout(trial_timeout, workers)
    rules = Rules(
        budget,
        target,
        timeout,
        callback,
        on_error,
        trial_timeout,
        stop=as_rules(stop),
        insist="" if on_error == "fail" else 'on_error="fail"',
        patience=patience,
        fatal_failures=fatal_failures,
        initializer=checked_initializer(initializer, initargs, workers),
    )
    chosen = resolve(algorithm, noise)
    seed = given_seed(seed, rng)
    aims = Objectives.of(objectives, direction)
    if target is not None:
        aims.target(target)
    if tol is not None:
        tol = checked_tol(tol, aims)
    sources = sources_of(known)
    new = _is_new(study)
    if new:
        check_function(fun, steps)  # before a file is created
        if space is not None and sources:
            space = with_history(space, [*sources.values(), fill])
    settings: dict[str, Any] = {
        "space": space,
        "direction": direction,
        "algorithm": chosen,
        "seed": seed,
        "constraints": constraints,
        "objectives": objectives,
        "steps": steps,
        "tol": tol,
    }
    with _search(settings, study, budget) as search, _withdrawing(search, study, new):
        fun = _fitting(fun, search)
        _check_aims(aims, search)
        first = _first_points(search, x0)
        if study is not None:
            _note_budget(search, budget)
        terms = Terms(search.space, fill, ignore)
        how = search.objectives, terms, None, search.steps
        given = [as_known(search.constraints, s, *how, name) for name, s in sources.items()]
        terms.check_use(given)
        for earlier in given:
            search.give(earlier.known, earlier.event)
        for point in first:
            search.enqueue(point, again=False)  # the same call goes on
        line = progress_display(rules.most) if progress else None
        if said := "; ".join(filter(None, (each.said(search) for each in given))):
            log.warning("%s", said)
        result = drive(search, fun, rules, workers, line)
        if said:
            result.message += f"; {said}"
        return result


def _withdrawing(search: Optimizer, study: StudyLike, new: bool) -> AbstractContextManager[None]:
    if study is None:
        return nullcontext()
    from ..study import withdrawn_if_wrong

    return withdrawn_if_wrong(search, new)


def _is_new(study: StudyLike) -> bool:
    """Whether there is no study yet; one that cannot be looked up is not new."""
    if study is None or not isinstance(study, (str, PathLike)):
        return study is None
    from ..study import exists

    return not exists(study)


def _fitting(fun: Callable[..., Any], search: Optimizer) -> Callable[..., Any]:
    """The function as this search calls it; raises an error if it cannot be called like that."""
    check_function(fun, search.steps)
    check_arguments(fun, search.space)
    if search.objectives.squares is None or isinstance(fun, Companion):
        return fun
    return ResidualFunction(fun)


def _check_aims(aims: Objectives, search: Optimizer) -> None:
    """Raise an error if a study has other objectives, or was made by the other function."""
    own = search.objectives
    if aims.names != own.names and (aims.several or own.several):
        raise SettingsError(
            f"the study has the objectives {', '.join(own.names)}; give them as objectives="
        )
    if (aims.squares is None) != (own.squares is None):
        which = "least_squares" if aims.squares is None else "minimize"
        raise SettingsError(f"the study was made by {which}; continue it with {which}")


def _first_points(search: Optimizer, x0: Any) -> list[Array]:
    """The points to evaluate first, all of which are possible."""
    first = search.space.points([] if x0 is None else as_points(search.space, x0))
    for point in first:
        search.constraints.check_point(point)
    return first


def _note_budget(search: Optimizer, budget: int | None) -> None:
    """Write the budget into a study, for those who look at it."""
    from ..study import Study

    if isinstance(search, Study) and isinstance(search.note, dict | None):
        note = {name: each for name, each in (search.note or {}).items() if name != "budget"}
        search.note = note if budget is None else {**note, "budget": whole_budget(budget)}


def _search(
    settings: dict[str, Any], study: StudyLike, budget: int | None
) -> AbstractContextManager[Optimizer]:
    """The search or study to drive; a study that the caller has opened is left open."""
    if study is None:
        algorithm = planned(settings["algorithm"], budget)
        return nullcontext(Optimizer(**{**settings, "algorithm": algorithm}))
    from ..study import Study

    if isinstance(study, Study):
        study.check_settings(**settings)
        return nullcontext(study)
    if settings["seed"] is None and _is_new(study):
        settings = {**settings, "seed": drawn_seed()}
    return Study.open(study, **settings, budget=budget)


P = ParamSpec("P")
R = TypeVar("R")


def _towards(direction: str, run: Callable[Concatenate[str, P], R]) -> Callable[P, R]:
    """`optimize` in one direction, so that the other arguments are listed only once."""
    given = signature(run)
    parameters = [each for name, each in given.parameters.items() if name != "direction"]
    own = given.replace(parameters=parameters)

    @wraps(run)
    def directed(*args: P.args, **kwargs: P.kwargs) -> R:
        check_call(direction, own, args, kwargs)
        try:
            return run(direction, *args, **kwargs)
        except KeyboardInterrupt as error:
            # Ctrl-C: nobody wants to read through which lines of a search it went
            raise error.with_traceback(None) from None

    directed.__signature__ = own  # type: ignore[attr-defined]
    directed.__annotations__ = {n: a for n, a in run.__annotations__.items() if n != "direction"}
    directed.__name__ = directed.__qualname__ = direction
    return directed


def least_squares(*args: Any, **kwargs: Any) -> "Result":
    """Fit a model to data: find the smallest sum of squares of a vector of residuals.

    All arguments of `minimize` that are not listed here have the same meaning, except that there is
    one objective, and there are no steps. See docs/fits.md.

    Parameters
    ----------
    fun : callable
        Returns the vector of residuals, such as model minus data; it has the same length at each
        point. An entry of nan is missing data and does not count. None, or a vector with an
        infinite entry, means that the evaluation failed. It may also return ``(residuals, {"name":
        anything})``, as in `minimize`.
    space, budget
        As in `minimize`.
    loss : {"linear", "soft_l1", "huber", "cauchy", "arctan"}, default "linear"
        What takes the place of a squared residual, as in scipy's `least_squares`, so that outliers
        count less.
    f_scale : float, default 1.0
        The size of a residual above which it counts as an outlier; without effect for "linear", so
        that it needs a `loss`.
    weights : sequence of float, optional
        The weight of each squared residual, such as one over the variance of its error.
    noise : float or "learn", optional
        If `fun` is random, the variance of the noise in each residual; that of their sum follows.

    Returns
    -------
    Result
        As of `minimize`; `fun` is the sum of squares, without the factor of 1/2 that scipy has. Its
        further fields are:

        residuals, R
            The residuals at the best point, and those of all evaluations, one row each.
        covariance, deviations
            The covariance matrix of the parameters and their standard deviations, by a linear model
            of the residuals at the best point. Options are not covered; they have nan.

    Examples
    --------
    >>> import bamsoo, numpy as np
    >>> t = np.linspace(0, 4, 20)
    >>> data = 2.5 * np.exp(-1.3 * t)
    >>> r = bamsoo.least_squares(
    ...     lambda height, rate: height * np.exp(-rate * t) - data,
    ...     {"height": (0, 10), "rate": (0, 5)}, 30)
    >>> bool(abs(r.params["rate"] - 1.3) < 1e-3)
    True
    """
    check_call("least_squares", _FITTED, args, kwargs)
    given = {name: kwargs.pop(name) for name in ("loss", "f_scale", "weights") if name in kwargs}
    squares = SumOfSquares(**given)
    if "f_scale" in given and "loss" not in given:
        squares.check_scale("f_scale=", 'loss="soft_l1"')
    return minimize(*args, **kwargs, objectives=squares)


def _fitted() -> Signature:
    """The signature of `least_squares`."""
    own = dict(signature(optimize).parameters)
    for name in ("direction", "objectives", "steps"):
        del own[name]
    how = signature(SumOfSquares).parameters.values()
    more = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in how]
    return Signature([*own.values(), *more])


_FITTED = _fitted()
least_squares.__signature__ = _FITTED  # type: ignore[attr-defined]
minimize = _towards("minimize", optimize)
maximize = _towards("maximize", optimize)
maximize.__doc__ = "Find the largest value of a function; everything else is as in `minimize`."
