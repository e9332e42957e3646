"""Carrying out a plan, which was made from options, a TOML file or a study, with its workers."""

import json
import shlex
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from importlib import import_module
from math import inf, isfinite
from pathlib import Path
from typing import Any, NamedTuple

import click

from ..algorithms import planned, resolve
from ..base.checks import brief, count, readable
from ..base.defaults import ALGORITHM, DIRECTION
from ..errors import SettingsError, StudyError, WorkerError
from ..record.ledger import on_the_front
from ..record.objectives import Objectives
from ..result.result import Result
from ..run.command import KEPT, Command
from ..run.earlier import Earlier, Terms
from ..run.evaluation import ResidualFunction
from ..run.history import with_history
from ..run.known import as_known
from ..run.loop import Ending, Rules, drive, whole_budget
from ..run.outage import PATIENCE
from ..run.pool import Workers, check_workers
from ..run.program import end_all
from ..run.residuals import minus
from ..run.threads import fair_share
from ..search.optimizer import Optimizer
from ..space import Constraints, Space
from ..study import OtherSettingsError, Study, withdrawn_if_wrong
from ..study.address import parse
from ..study.backends import exists
from . import parameters
from .options import visible
from .progress import Interrupt, Progress
from .settings import KEYS, NOTED, Plan, option_of
from .table import as_python
from .target import GivenTarget, callable_of, default_space
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


class Work(NamedTuple):
    """What a run evaluates, and what it begins with."""

    fun: Callable[..., Any]
    given: list[Earlier]
    first: list[Any]


class End(NamedTuple):
    """How a run has ended."""

    result: Result
    interrupted: bool
    lost: BaseException | None
    """The error that ended the workers."""


def execute(plan: Plan, as_json: bool) -> int:
    """Run until the budget or a rule ends the run, print the result, and return the exit code."""
    space = _space(plan)
    check_workers(plan.workers)
    new = plan.study is None or not exists(plan.study)
    # If the space is known already, errors are reported before a study file is created.
    work = _prepare(plan, *_given(plan, space)) if new and space is not None else None
    _check_start(plan, space)
    with ExitStack() as stack:
        workers = stack.enter_context(
            crew(plan.target, plan.directory, plan.workers, plan.scheduler)
        )
        study = None if plan.study is None else stack.enter_context(_open(plan, space))
        search: Optimizer = _optimizer(plan, space) if study is None else study
        stack.enter_context(withdrawn_if_wrong(search, new))
        work = work or _prepare(plan, search.constraints, search.objectives, search.steps)
        budget = plan.budget if study is None else _note(study, plan)
        _hand_over(search, work)
        if study is not None:
            _say_continued(study, plan, budget, as_json)
        end = _run(plan, search, work, budget, workers, as_json)
    _print(end.result, plan, search.space, as_json)
    return _exit_code(end, plan, budget)


def _space(plan: Plan) -> Any:
    """The space of a plan with its fixed parameters; None if only its study has it."""
    space = plan.space if plan.space is not None else default_space(plan.target, plan.directory)
    space = parameters.with_fixed(space, plan.fix or ())
    if space is not None and plan.given and not (plan.study and exists(plan.study)):
        space = with_history(space, [*plan.given, parameters.fill_texts(plan.fill)])
    return space


def _check_start(plan: Plan, space: Any) -> None:
    """A run that continues no study needs parameters, and something that ends it."""
    if plan.study is not None and exists(plan.study):
        return
    if space is None:
        raise SettingsError(f"there are no parameters; give --param {parameters.FORM}")
    if plan.budget is None and not plan.ends:
        raise SettingsError(NO_BUDGET)


def _hand_over(search: Optimizer, work: Work) -> None:
    """Tell the search what is known, and which points are evaluated first."""
    for earlier in work.given:
        search.give(earlier.known, earlier.event)
        if said := earlier.said(search):
            _say(visible(said))
    for point in work.first:
        search.enqueue(point, again=False)  # the same line goes on


def _say_continued(study: Study, plan: Plan, budget: int | None, as_json: bool) -> None:
    """Say what of the run was found in its study."""
    if study.replayed.adopted or (study.replayed.trials and not as_json):
        _say(str(study.replayed))
    spent = study.ledger.costs.free(_most(budget), {}) < study.ledger.costs.unit
    if plan.budget is None and spent:
        _say(
            f"the budget of {budget} evaluations is spent; to go on, give a larger one with "
            "--budget"
        )


def _run(
    plan: Plan,
    search: Optimizer,
    work: Work,
    budget: int | None,
    workers: Workers,
    as_json: bool,
) -> End:
    """Evaluate until a rule, an interrupt or the loss of the workers ends it."""
    progress = Progress(_most(budget), search.ledger.costs.cost, as_json)
    if isinstance(work.fun, Command) and not as_json:
        work.fun.say = lambda said: progress.say(visible(said))
    interrupt = Interrupt(progress.say)
    rules = _rules(plan, budget, lambda: interrupt.asked)
    lost: BaseException | None = None
    try:
        with progress, interrupt:
            result = drive(search, work.fun, rules, workers, progress)
    except KeyboardInterrupt as error:
        interrupt.asked = True
        result = getattr(error, "result", None) or search.result
    except WorkerError as error:
        lost, result = error.__cause__ or error, search.result
        result.message = "the workers are gone"
    if interrupt.asked:
        result.message = "interrupted"
    said = (each.said(search) for each in work.given)
    result.message = "; ".join([result.message, *filter(None, said)])
    return End(result, interrupt.asked, lost)


def _rules(plan: Plan, budget: int | None, interrupted: Callable[[], bool]) -> Rules:
    """What ends the run, and what happens when an evaluation fails."""
    return Rules(
        budget,
        plan.goal,
        plan.timeout,
        on_error="fail",
        trial_timeout=None if "command" in plan.target else plan.trial_timeout,
        interrupted=interrupted,
        stop=plan.stop,
        insist="" if plan.keep_going else "--keep-going",
        patience=PATIENCE if plan.patience is None else plan.patience,
        fatal_failures=None if plan.keep_going else plan.fatal_failures or FATAL_FAILURES,
    )


def _exit_code(end: End, plan: Plan, budget: int | None) -> int:
    """The exit code of a run; if it has ended early, also say what is saved."""
    result = end.result
    stuck = result.status in (Ending.OUTAGE, Ending.FAILING)
    early = end.interrupted or end.lost is not None or stuck
    if not early or result.cost >= _most(budget):
        return 0 if result.success else 1
    saved = (
        f"{result.cost:.4g}{'' if budget is None else f' of {budget}'} evaluations are saved; "
        f"continue with: bamsoo resume {visible(parse(plan.study).shown)}"
        if plan.study is not None
        else "nothing is saved; with --study FILE, a run can be continued later"
    )
    why = end.lost or ("the run has ended early" if stuck else "interrupted")
    again = ""
    if result.status == Ending.FAILING and plan.study is not None:
        name = visible(parse(plan.study).shown)
        again = f"; to evaluate again what has failed, first: bamsoo retry {name}"
    _say(f"{why}; {saved}{again}")
    return 130 if end.interrupted else 3


def _most(budget: int | None) -> float:
    """The largest number of evaluations."""
    return inf if budget is None else budget


def _say(what: str) -> None:
    click.echo(f"bamsoo: {what}", err=True)


def _given(plan: Plan, space: Any) -> tuple[Constraints, Objectives, int | None]:
    """The constraints on a space, the objectives and the steps of a new search."""
    aims = Objectives.of(plan.aims, plan.direction or DIRECTION)
    plan.check_scale(aims)
    return Constraints(Space(space), plan.limits), aims, plan.steps


def _prepare(
    plan: Plan, constraints: Constraints, objectives: Objectives, steps: int | None
) -> Work:
    """The function, the earlier evaluations, and the points to evaluate first."""
    if plan.goal is not None and objectives.several:
        raise SettingsError("--target needs a single objective; leave it out, or use --stalled")
    fun = function_of(plan, constraints, objectives, steps)
    space = constraints.space
    first = [parameters.parse_point(x, space) if isinstance(x, str) else x for x in plan.x0]
    points = space.points(first)
    for point in points:
        constraints.check_point(point)
    terms = Terms(space, parameters.parse_fill(plan.fill, space), plan.ignore, flags=True)
    given = [
        as_known(constraints, each, objectives, terms, plan.value, steps) for each in plan.given
    ]
    terms.check_use(given)
    return Work(fun, given, points)


def function_of(
    plan: Plan, constraints: Constraints, objectives: Objectives, steps: int | None
) -> Callable[..., Any]:
    """What the workers call: a function of Python, or a program with its template and places."""
    if "command" in plan.target:
        return _program(plan, constraints, objectives.names if objectives.named else (), steps)
    if plan.trial_timeout is not None and plan.workers is None:
        raise SettingsError(
            "--trial-timeout needs --workers for a Python function, so that it is evaluated in "
            "processes that can be ended"
        )
    for name in PROGRAM:
        if getattr(plan, name) and not (name == "value" and plan.given):
            way = ", and cannot be used for a function"
            if name == "record":
                way = "; a function returns (value, {name: ...}) instead"
            raise SettingsError(f"{option_of(name)} needs a command after --{way}")
    fun = callable_of(plan.target, plan.directory, constraints.space)
    if objectives.squares is None:
        return fun
    return ResidualFunction(fun if plan.data is None else minus(fun, plan.data))


def _program(
    plan: Plan, constraints: Constraints, objectives: Sequence[str], steps: int | None
) -> Command:
    """The program of a plan, which uses just the parameters of the space."""
    if steps is not None and plan.value is None and (constraints.measured or plan.record):
        raise SettingsError(
            "with --steps, what a command prints besides its value must be in the same line; "
            "print a JSON object after each step, and name its field with --value"
        )
    command = Command(
        plan.target["command"],
        template=plan.template or (),
        workdir=plan.workdir,
        files=plan.files or (),
        keep=plan.keep or KEPT,
        output=plan.output,
        value=plan.value,
        residuals=plan.residuals,
        objectives=objectives,
        measured=constraints.measured,
        record=plan.record or (),
        timeout=plan.trial_timeout,
        steps=steps is not None,
        directory=plan.directory,
    )
    threads = None if plan.workers is None or plan.scheduler else fair_share(plan.workers)
    command.how = command.how._replace(threads=threads, data=plan.data)
    command.check(constraints.space.own_names)
    return command


def _settings(plan: Plan, space: Any) -> dict[str, Any]:
    """The settings of a search that a plan has; None for those of its study, or the default."""
    return {
        "space": space,
        "direction": plan.direction,
        "algorithm": plan.search,
        "seed": plan.seed,
        "constraints": plan.limits,
        "objectives": plan.aims,
        "steps": plan.steps,
        "tol": plan.tol,
    }


def _optimizer(plan: Plan, space: Any) -> Optimizer:
    settings = {name: each for name, each in _settings(plan, space).items() if each is not None}
    settings["algorithm"] = planned(resolve(plan.search or ALGORITHM), plan.budget)
    return Optimizer(**settings)


def _open(plan: Plan, space: Any) -> Study:
    assert plan.study is not None
    try:
        settings = _settings(plan, space)
        study = Study.open(plan.study, **settings, budget=plan.budget, replay=plan.replay)
    except OtherSettingsError as error:
        words = [error.command, *_options_of_program(plan)]
        if len(words) == 1 or not error.command:
            raise
        raise OtherSettingsError(error.differs, " ".join(words), error.python) from None
    before = (study.note or {}).get("target", plan.target)
    if before != plan.target:
        study.close()
        old = parse(plan.study).shown
        ways = "give its own target, or another --study"
        if "command" in plan.target:
            ways += f", or begin one that knows this one: bamsoo fork {old} NEW -- COMMAND"
        raise StudyError(
            f"{study.path}: the study's target is {brief(_words(before))}, got "
            f"{brief(_words(plan.target))}; {ways}"
        )
    return study


def _options_of_program(plan: Plan) -> list[str]:
    """What `bamsoo fork` has to be told about a program that is not that of the study."""
    assert plan.study is not None
    with Study.open(plan.study, readonly=True) as study:
        note = study.note if isinstance(study.note, dict) else {}
    if "command" not in plan.target:
        return []
    words: list[str] = []
    for field in PROGRAM:
        flag, given, before = option_of(field), getattr(plan, field), note.get(field)
        values = [given] if isinstance(given, str) else [*(given or ())]
        if values and values != ([before] if isinstance(before, str) else before):
            words += [f"{flag} {shlex.quote(value)}" for value in values]
    if note.get("target") != plan.target:
        words.append(f"-- {shlex.join(plan.target['command'])}")
    return words


PROGRAM = ("value", "record", "template", "workdir", "files", "keep", "output")
"""Settings of a program that a new study takes over unless they are given."""


def _words(target: GivenTarget) -> str:
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
    fit = {"deviations": deviations(result)} if result.objectives.squares is not None else {}
    return {
        **value,
        "params": result.params,
        **fit,
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
        if result.nothing not in result.message:
            click.echo(result.nothing)
        return
    if result.objectives.several:
        click.echo(f"{on_the_front(result.front)}:")
        for each in result.front:
            values = ", ".join(f"{visible(n)} {v:.6g}" for n, v in each.values.items())
            at = ", ".join(f"{visible(n)}={readable(v)}" for n, v in each.params.items())
            click.echo(f"  {values} at {at}")
        compromise = ", ".join(f"{visible(n)} {readable(v)}" for n, v in result.fun.items())
        click.echo(f"a compromise is {compromise} at")
    else:
        click.echo(f"best {result.shown_fun} at")
    width, errors = max(map(len, result.params)), deviations(result)
    for name, value in result.params.items():
        error = f" ± {errors[name]:.2g}" if errors.get(name) is not None else ""
        click.echo(f"  {visible(name):{width}} = {readable(value)}{error}")
    if result.objectives.squares is not None:
        for remark in result.fitted.remarks:
            click.echo(visible(remark))


def deviations(result: Result) -> dict[str, float | None]:
    """The standard deviation of each parameter of a fit by name; None where it is not known."""
    if result.objectives.squares is None or not result.success:
        return {}
    pairs = zip(result.fitted.names, result.deviations.tolist(), strict=True)
    return {name: error if isfinite(error) else None for name, error in pairs}


ANSWERS = 10.0
"""Seconds to wait for an answer of a Dask scheduler."""


@contextmanager
def crew(
    target: GivenTarget, directory: str, workers: int | None, scheduler: str | None
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


def _send_by_value(target: GivenTarget, directory: str) -> None:
    """Send the function's module by value if it is in the run's directory.

    The workers may not have that directory.
    """
    import cloudpickle

    module = sys.modules.get(target.get("function", "").partition(":")[0])
    file = getattr(module, "__file__", None)
    if file is not None and Path(file).resolve().is_relative_to(Path(directory).resolve()):
        cloudpickle.register_pickle_by_value(module)
