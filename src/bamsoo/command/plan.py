"""Carrying out a plan, which was made from options, a TOML file or a study, with its workers."""

import json
import sys
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from importlib import import_module
from math import inf, isfinite
from pathlib import Path
from typing import Any

import click

from ..algorithms import planned, resolve
from ..base.checks import brief, count
from ..base.defaults import ALGORITHM, DIRECTION
from ..errors import SettingsError, StudyError, WorkerError
from ..record.ledger import on_the_front
from ..record.objectives import Objectives
from ..result.result import Result
from ..run.command import Command
from ..run.earlier import Earlier, Terms
from ..run.evaluation import ResidualFunction
from ..run.history import with_history
from ..run.known import as_known
from ..run.loop import Rules, Stop, drive, whole_budget
from ..run.outage import PATIENCE
from ..run.pool import Workers, check_workers
from ..run.program import Program, end_all
from ..run.residuals import minus
from ..run.threads import fair_share
from ..search.optimizer import Optimizer
from ..space import Constraints, Space
from ..study import Study
from ..study.address import parse
from ..study.backends import exists
from . import parameters
from .options import visible
from .progress import Interrupt, Progress
from .settings import KEYS, NOTED, Plan
from .table import as_python
from .target import Places, Target, callable_of, default_space
from .trust import mark

NO_BUDGET = (
    "the budget is missing; give --budget N, the largest number of evaluations, or --timeout, "
    "--stalled or --gap"
)


FATAL_FAILURES = 10
"""A run of a program ends when this many evaluations in a row have failed with the same reason. A
licence server that is down, a full disk or a wrong path fails each of them. With fewer, a run near
a region where the program fails would end too."""


def read_toml(path: Path) -> dict[str, Any]:
    """Read the TOML file of a run, and check its keys."""
    try:
        stated = tomllib.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise SettingsError(f"{path}: cannot be read: it is nested too deeply") from error
    except (OSError, ValueError) as error:  # the latter also for whole numbers of too many digits
        raise SettingsError(f"{path}: cannot be read: {error}") from error
    for key, value in stated.items():
        if key not in KEYS:
            raise SettingsError(f"{path}: unknown key {key!r}; expected one of {', '.join(KEYS)}")
        if not isinstance(value, KEYS[key]):
            raise SettingsError(f"{path}: {key} must be {_kinds(KEYS[key])}, got {brief(value)}")
    if "params" in stated:
        try:
            stated["params"] = parameters.from_table(stated["params"])
            Space(stated["params"])  # follows all conditions
        except RecursionError as error:
            raise SettingsError(f"{path}: its parameters are nested too deeply") from error
    return stated


def _kinds(types: tuple[type, ...]) -> str:
    """In words, the types that a key may have."""
    words = {
        str: "a string",
        list: "an array",
        int: "a whole number",
        float: "a number",
        bool: "true or false",
        dict: "a table",
    }
    return " or ".join(words[each] for each in types if not (each is int and float in types))


def execute(plan: Plan, as_json: bool) -> int:
    """Run until the budget or a rule ends the run, print the result, and return the exit code."""
    space = plan.space if plan.space is not None else default_space(plan.target, plan.directory)
    space = parameters.with_fixed(space, plan.fix or ())
    if space is not None and plan.given and not (plan.study and exists(plan.study)):
        space = with_history(space, plan.given)
    check_workers(plan.workers)
    # If the space is known already, errors are reported before a study file is created.
    ready = None if space is None else _prepare(plan, *_given(plan, space))
    new = plan.study is None or not exists(plan.study)
    if new and space is None:
        raise SettingsError(f"there are no parameters; give --param {parameters.FORM}")
    if new and plan.budget is None and not plan.ends:
        raise SettingsError(NO_BUDGET)
    with ExitStack() as stack:
        workers = stack.enter_context(
            crew(plan.target, plan.directory, plan.workers, plan.scheduler)
        )
        study = None if plan.study is None else stack.enter_context(_open(plan, space))
        search: Optimizer = _optimizer(plan, space) if study is None else study
        fun, given, first = ready or _prepare(
            plan, search.constraints, search.objectives, search.steps
        )
        budget = plan.budget if study is None else _note(study, plan)
        for earlier in given:
            search.give(earlier.known, earlier.event)
            if said := earlier.said(search):
                click.echo(f"bamsoo: {visible(said)}", err=True)
        for point in first:
            search.enqueue(point, again=False)  # the same line goes on
        if study is not None and (
            study.replayed.adopted or (study.replayed.trials and not as_json)
        ):
            click.echo(f"bamsoo: {study.replayed}", err=True)
        most = inf if budget is None else budget
        spent = search.ledger.free(most, {}) < search.ledger.unit
        if study is not None and plan.budget is None and spent:
            click.echo(
                f"bamsoo: the budget of {budget} evaluations is spent; to go on, give a larger one "
                "with --budget",
                err=True,
            )
        progress = Progress(most, search.ledger.cost, as_json)
        if isinstance(fun, Command) and not as_json:
            fun.say = lambda said: progress.say(visible(said))
        interrupt = Interrupt(progress.say)
        rules = Rules(
            budget,
            plan.goal,
            plan.timeout,
            on_error="fail",
            trial_timeout=None if "command" in plan.target else plan.trial_timeout,
            stopping=lambda: interrupt.asked,
            stop=plan.stop,
            insist="" if plan.keep_going else "--keep-going",
            patience=PATIENCE if plan.patience is None else plan.patience,
            fatal_failures=None if plan.keep_going else plan.fatal_failures or FATAL_FAILURES,
        )
        lost: BaseException | None = None
        try:
            with progress, interrupt:
                result = drive(search, fun, rules, workers, progress)
        except KeyboardInterrupt as error:
            interrupt.asked = True
            result = getattr(error, "result", None) or search.result
        except WorkerError as error:
            lost, result = error.__cause__ or error, search.result
            result.message = "the workers are gone"
        if interrupt.asked:
            result.message = "interrupted"
        result.message = "; ".join([result.message, *filter(None, (e.said(search) for e in given))])
    _print(result, plan, search.space, as_json)
    stuck = result.status in (Stop.OUTAGE, Stop.FAILING)
    if (interrupt.asked or lost is not None or stuck) and result.cost < most:
        saved = (
            f"{result.cost:.4g}{'' if budget is None else f' of {budget}'} evaluations are saved; "
            f"continue with: bamsoo resume {visible(parse(plan.study).shown)}"
            if plan.study is not None
            else "nothing is saved; with --study FILE, a run can be continued later"
        )
        why = lost or ("the run has ended early" if stuck else "interrupted")
        click.echo(f"bamsoo: {why}; {saved}", err=True)
        return 130 if interrupt.asked else 3
    return 0 if result.success else 1


def _given(plan: Plan, space: Any) -> tuple[Constraints, Objectives, int | None]:
    """The constraints on a space, the objectives and the steps; by default those of a study."""
    limits, aims, steps = plan.limits, plan.aims, plan.steps
    if None in (limits, aims, steps) and plan.study is not None and exists(plan.study):
        with Study.open(plan.study, readonly=True) as study:
            own = study.constraints, study.objectives
            steps = study.steps if steps is None else steps
    else:
        direction = plan.direction or DIRECTION
        own = Constraints(Space(space), limits), Objectives.of(aims, direction)
    constraints = own[0] if limits is None else Constraints(Space(space), limits)
    return constraints, own[1] if aims is None else Objectives.of(aims, DIRECTION), steps


def _prepare(
    plan: Plan, constraints: Constraints, objectives: Objectives, steps: int | None
) -> tuple[Callable[..., Any], list[Earlier], list[Any]]:
    """The function, the earlier evaluations, and the points to evaluate first."""
    space = constraints.space
    names = list(dict.fromkeys(slot.name for slot in space.slots)) if space.named else []
    threads = None if plan.workers is None or plan.scheduler else fair_share(plan.workers)
    if plan.trial_timeout is not None and "command" not in plan.target and plan.workers is None:
        raise SettingsError(
            "--trial-timeout needs --workers for a Python function, so that it is evaluated in "
            "processes that can be ended"
        )
    timeout = plan.trial_timeout if "command" in plan.target else None
    if plan.goal is not None and objectives.several:
        raise SettingsError("--target needs a single objective; leave it out, or use --stalled")
    key = plan.value if "command" in plan.target or not plan.given else None
    aims = objectives.names if objectives.named else ()
    stepwise, record = steps is not None, plan.record or ()
    how = Program(None, timeout, key, threads, constraints.measured, record, aims, stepwise)
    how = how._replace(residuals=plan.residuals)
    places = Places(plan.template or (), plan.workdir, plan.files or (), plan.keep, plan.output)
    fun = callable_of(plan.target, names, plan.directory, how, places)
    if objectives.squares is not None:
        fun = ResidualFunction(fun if plan.data is None else minus(fun, plan.data))
    first = [parameters.parse_point(x, space) if isinstance(x, str) else x for x in plan.x0]
    points = space.points(first)
    for point in points:
        constraints.check_point(point)
    terms = Terms(space, parameters.parse_fill(plan.fill, space), plan.ignore, flags=True)
    given = [as_known(constraints, each, objectives, terms, plan.value) for each in plan.given]
    return fun, given, points


def _optimizer(plan: Plan, space: Any) -> Optimizer:
    settings: dict[str, Any] = {
        "direction": plan.direction,
        "algorithm": planned(resolve(plan.search or ALGORITHM), plan.budget),
        "seed": plan.seed,
        "constraints": plan.limits,
        "objectives": plan.aims,
        "steps": plan.steps,
        "tol": plan.tol,
    }
    return Optimizer(
        space, **{name: value for name, value in settings.items() if value is not None}
    )


def _open(plan: Plan, space: Any) -> Study:
    assert plan.study is not None
    study = Study.open(
        plan.study,
        space=space,
        direction=plan.direction,
        algorithm=plan.search,
        seed=plan.seed,
        budget=plan.budget,
        constraints=plan.limits,
        objectives=plan.aims,
        steps=plan.steps,
        tol=plan.tol,
        replay=plan.replay,
    )
    before = (study.note or {}).get("target", plan.target)
    if before != plan.target:
        study.close()
        raise StudyError(
            f"{study.path}: the study's target is {brief(_words(before))}, got "
            f"{brief(_words(plan.target))}; give its own target, or another --study"
        )
    return study


def _words(target: Target) -> str:
    (what,) = target.values()
    return what if isinstance(what, str) else " ".join(what)


def _note(study: Study, plan: Plan) -> int | None:
    """Write everything that `resume` needs into the study; return the budget."""
    budget = plan.budget if plan.budget is not None else (study.note or {}).get("budget")
    if budget is None and not plan.ends:
        raise SettingsError(NO_BUDGET)
    note: dict[str, Any] = {}
    for name in NOTED:
        value = getattr(plan, name)
        note[name] = list(value) if isinstance(value, tuple) else value
    note["record"] = note["record"] or []
    note["budget"] = budget = None if budget is None else whole_budget(budget)
    note["mark"] = mark(note, study.settings["space"])
    if note != study.note:
        study.note = note
    return budget


def as_dict(result: Result, study: str | None) -> dict[str, Any]:
    """A result in the form in which it is printed as JSON."""
    value: dict[str, Any] = {}
    if result.objectives.several:
        front = [{"trial": e.number, "params": e.params, "values": e.values} for e in result.front]
        value = {"values": result.fun if result.success else None, "front": front}
        volume = result.hypervolume()
        value["hypervolume"] = volume if isfinite(volume) else None  # it may be beyond floats
    else:
        value = {"value": result.fun if isfinite(result.fun) else None}
    return {
        **value,
        "params": result.params,
        "success": bool(result.success),
        "status": int(result.status),
        "message": result.message,
        "evaluations": int(result.nfev),
        "cost": float(result.cost),
        "stopped": int(result.nstopped),
        "failed": int(result.nfailed),
        "infeasible": int(result.ninfeasible),
        "rejected": int(result.nrejected),
        "origins": result.origins,
        "study": study,
    }


def _print(result: Result, plan: Plan, space: Space, as_json: bool) -> None:
    if as_json:
        study = None if plan.study is None else parse(plan.study).shown
        json.dump(as_dict(result, study), sys.stdout, default=as_python)
        click.echo()
        return
    click.echo(f"{count(result.nfev, 'evaluation')}{result.not_counted}: {result.message}")
    if result.spent:
        click.echo(f"{count(result.nfev, 'evaluation')}: {result.spent}")
    if not result.success:
        click.echo(result.nothing)
        return
    if result.objectives.several:
        click.echo(f"{on_the_front(result.front)}:")
        for each in result.front:
            values = ", ".join(f"{visible(n)} {v:.6g}" for n, v in each.values.items())
            at = ", ".join(f"{visible(n)}={v!r}" for n, v in each.params.items())
            click.echo(f"  {values} at {at}")
        compromise = ", ".join(f"{visible(n)} {v!r}" for n, v in result.fun.items())
        click.echo(f"a compromise is {compromise} at")
    else:
        click.echo(f"best {result.shown_fun} at")
    width = max(map(len, result.params))
    for name, value in result.params.items():
        click.echo(f"  {visible(name):{width}} = {value!r}")


ANSWERS = 10.0
"""Seconds to wait for an answer of a Dask scheduler."""


@contextmanager
def crew(
    target: Target, directory: str, workers: int | None, scheduler: str | None
) -> Iterator[Workers]:
    """The workers that the options of a run describe, for as long as the run lasts."""
    if scheduler is not None:
        with _cluster(scheduler) as executor:
            _send_by_value(target, directory)
            yield executor if workers is None else (executor, workers)
    elif "command" in target:
        with ThreadPoolExecutor(workers or 1) as threads:  # each thread waits for its program
            try:
                yield threads
            finally:
                end_all()
    else:
        yield workers


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    try:
        distributed: Any = import_module("distributed")  # an optional dependency
    except ImportError:
        raise SettingsError("--scheduler needs Dask: pip install 'bamsoo[dask]'") from None
    try:
        client = distributed.Client(address, timeout=ANSWERS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"{address}: no Dask scheduler answers at this address ({error}); check --scheduler"
        ) from error
    try:
        yield client.get_executor(pure=False)
    finally:
        client.close()


def _send_by_value(target: Target, directory: str) -> None:
    """Send the function's module by value if it is in the run's directory.

    The workers may not have that directory.
    """
    import cloudpickle

    module = sys.modules.get(target.get("function", "").partition(":")[0])
    file = getattr(module, "__file__", None)
    if file is not None and Path(file).resolve().is_relative_to(Path(directory).resolve()):
        cloudpickle.register_pickle_by_value(module)
