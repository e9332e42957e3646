"""Carrying out a plan, which was made from options, a TOML file or a study, with its workers."""

import json
import sys
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from importlib import import_module
from math import isfinite
from pathlib import Path
from typing import Any

import click

from ..algorithms import planned, resolve
from ..checks import brief, count
from ..defaults import ALGORITHM, DIRECTION
from ..errors import SettingsError, StudyError, WorkerError
from ..objectives import Objectives
from ..optimizer import Optimizer
from ..result import Result
from ..run.known import Earlier, read_csv
from ..run.loop import Rules, drive, whole_budget
from ..run.pool import Workers, check_workers
from ..run.threads import fair_share
from ..space import Constraints, Space
from ..study import Study
from ..study.backends import exists, shown
from . import parameters, process
from .options import visible
from .process import Program
from .progress import Interrupt, Progress
from .settings import KEYS, NOTED, Plan
from .table import as_python
from .target import Target, callable_of, default_space
from .trust import mark

NO_BUDGET = "the budget is missing; give --budget N, the largest number of evaluations"


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
    check_workers(plan.workers)
    # If the space is known already, errors are reported before a study file is created.
    ready = None if space is None else _prepare(plan, *_given(plan, space))
    new = plan.study is None or not exists(plan.study)
    if new and space is None:
        raise SettingsError(f"there are no parameters; give --param {parameters.FORM}")
    if new and plan.budget is None:
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
        budget = whole_budget(plan.budget) if study is None else _note(study, plan)
        for earlier in given:
            search.give(earlier.known)
            if earlier.left_out:
                click.echo(f"bamsoo: {visible(earlier.note)}", err=True)
        for point in first:
            search.enqueue(point)
        if study is not None and (
            study.replayed.adopted or (study.replayed.trials and not as_json)
        ):
            click.echo(f"bamsoo: {study.replayed}", err=True)
        spent = search.ledger.free(budget, {}) < search.ledger.unit
        if study is not None and plan.budget is None and spent:
            click.echo(
                f"bamsoo: the budget of {budget} evaluations is spent; to go on, give a larger one "
                "with --budget",
                err=True,
            )
        progress = Progress(budget, search.ledger.cost, as_json)
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
    _print(result, plan, search.space, as_json)
    if (interrupt.asked or lost is not None) and result.cost < budget:
        saved = (
            f"{result.cost:.4g} of {budget} evaluations are saved; "
            f"continue with: bamsoo resume {visible(shown(plan.study))}"
            if plan.study is not None
            else "nothing is saved; with --study FILE, a run can be continued later"
        )
        click.echo(f"bamsoo: {lost or 'interrupted'}; {saved}", err=True)
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
    fun = callable_of(plan.target, names, plan.directory, how)
    first = [parameters.parse_point(x, space) if isinstance(x, str) else x for x in plan.x0]
    points = space.points(first)
    for point in points:
        constraints.check_point(point)
    given = [read_csv(Path(file), constraints, plan.value, objectives) for file in plan.given]
    return fun, given, points


def _optimizer(plan: Plan, space: Any) -> Optimizer:
    settings: dict[str, Any] = {
        "direction": plan.direction,
        "algorithm": planned(resolve(plan.search or ALGORITHM), plan.budget),
        "seed": plan.seed,
        "constraints": plan.limits,
        "objectives": plan.aims,
        "steps": plan.steps,
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


def _note(study: Study, plan: Plan) -> int:
    """Write everything that `resume` needs into the study; return the budget."""
    budget = plan.budget if plan.budget is not None else (study.note or {}).get("budget")
    if budget is None:
        raise SettingsError(NO_BUDGET)
    note: dict[str, Any] = {name: getattr(plan, name) for name in NOTED}
    note["record"] = list(plan.record or ())
    note["budget"] = whole_budget(budget)
    note["mark"] = mark(note, study.settings["space"])
    if note != study.note:
        study.note = note
    return whole_budget(budget)


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
        study = None if plan.study is None else shown(plan.study)
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
        click.echo(f"{count(len(result.front), 'point')} on the front:")
        for each in result.front:
            values = ", ".join(f"{visible(n)} {v:.6g}" for n, v in each.values.items())
            at = ", ".join(f"{visible(n)}={v!r}" for n, v in each.params.items())
            click.echo(f"  {values} at {at}")
        compromise = ", ".join(f"{visible(n)} {v!r}" for n, v in result.fun.items())
        click.echo(f"a compromise is {compromise} at")
    else:
        click.echo(f"best {result.fun!r} at")
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
                process.end_all()
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
