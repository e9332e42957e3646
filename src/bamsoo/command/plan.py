"""A run as it was ordered, by options, a TOML file or a study, and how it is carried out."""

import json
import sys
import tomllib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import click
import numpy as np
from scipy.optimize import OptimizeResult

from ..algorithms import Algorithm, resolve
from ..blas import fair_share
from ..checks import brief
from ..errors import SettingsError, StudyError, WorkerError
from ..optimizer import Optimizer
from ..run.optimize import drive, whole_budget
from ..run.pool import check_workers
from ..space import Space
from ..study import Study
from . import parameters
from .crew import crew
from .interrupt import Interrupt
from .progress import Progress
from .table import read_csv
from .target import Target, callable_of, default_space


@dataclass(frozen=True)
class Plan:
    """What to run; None where the study, or else the library's default, decides."""

    target: Target
    directory: str
    budget: int | None = None
    space: Any = None
    study: str | None = None
    algorithm: str | None = None
    seed: int | None = None
    direction: str | None = "minimize"
    timeout: float | None = None
    value: str | None = None
    workers: int | None = None
    scheduler: str | None = None
    given: tuple[str, ...] = field(default=())
    replay: bool = True
    noise: float | str | None = None

    @property
    def search(self) -> str | Algorithm | None:
        """The algorithm, with its noise where that is given."""
        return (
            self.algorithm if self.noise is None else resolve(self.algorithm or "auto", self.noise)
        )


KEYS = {
    "target": str,
    "command": list,
    "budget": int,
    "study": str,
    "algorithm": str,
    "seed": int,
    "noise": (int, float, str),
    "maximize": bool,
    "timeout": (int, float),
    "value": str,
    "workers": int,
    "scheduler": str,
    "import": (str, list),
    "params": dict,
}
"""What a TOML file may say."""


def read_toml(path: Path) -> dict[str, Any]:
    """A run's TOML file, its keys checked."""
    try:
        stated = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path}: cannot be read: {error}") from error
    for key, value in stated.items():
        if key not in KEYS:
            raise SettingsError(f"{path}: unknown key {key!r}; expected one of {', '.join(KEYS)}")
        if not isinstance(value, KEYS[key]):  # type: ignore[arg-type]
            raise SettingsError(f"{path}: {key} cannot be {brief(value)}")
    if "params" in stated:
        stated["params"] = parameters.from_table(stated["params"])
    return stated


def execute(plan: Plan, as_json: bool) -> int:
    """Run to the end of the budget; print the result; return the exit code."""
    space = plan.space if plan.space is not None else default_space(plan.target, plan.directory)
    known = None if space is None else Space(space)
    check_workers(plan.workers)
    if known is not None:  # what is wrong is said before there is a file
        _function(plan, known)
        _read_given(plan, known)
    new = plan.study is None or not Path(plan.study).exists()
    if new and space is None:
        raise SettingsError(f"a parameter is missing: --param {parameters.FORM}")
    if new and plan.budget is None:
        raise SettingsError("a budget is missing: --budget N, the most evaluations")
    with ExitStack() as stack:
        workers = stack.enter_context(
            crew(plan.target, plan.directory, plan.workers, plan.scheduler)
        )
        search: Optimizer | Study
        if plan.study is None:
            search = Optimizer(
                space, plan.direction or "minimize", plan.search or "auto", plan.seed or 0
            )
        else:
            search = stack.enter_context(_open(plan, space))
        fun = _function(plan, search.space)
        given = _read_given(plan, search.space)
        budget = _note(search, plan)
        _give(search, given)
        progress = Progress(budget, search.told, as_json)
        interrupt = Interrupt(progress.say)
        lost: BaseException | None = None
        try:
            with progress, interrupt:
                result = drive(
                    search,
                    fun,
                    budget,
                    callback=progress.show,
                    on_error="fail",
                    workers=workers,
                    stopping=lambda: interrupt.asked,
                    on_failure=progress.failure,
                )
        except KeyboardInterrupt as error:
            interrupt.asked = True
            result = getattr(error, "result", None) or search.result
        except WorkerError as error:
            lost, result = error.__cause__ or error, search.result
            result.message = "the workers are gone"
        if interrupt.asked:
            result.message = "interrupted"
    _print(result, plan, search.space, as_json)
    if (interrupt.asked or lost is not None) and result.nfev < budget:
        saved = (
            f"{result.nfev} of {budget} evaluations are saved; "
            f"go on with: bamsoo resume {plan.study}"
            if plan.study is not None
            else "nothing is saved; with --study FILE a run can go on later"
        )
        click.echo(f"bamsoo: {lost or 'interrupted'}; {saved}", err=True)
        return 130 if interrupt.asked else 3
    return 0 if result.success else 1


def _open(plan: Plan, space: Any) -> Study:
    assert plan.study is not None
    study = Study.open(
        plan.study,
        space=space,
        direction=plan.direction,
        algorithm=plan.search,
        seed=plan.seed,
        replay=plan.replay,
    )
    before = (study.note or {}).get("target", plan.target)
    if before != plan.target:
        study.close()
        raise StudyError(
            f"{study.path}: the study is of {brief(_words(before))}, got "
            f"{brief(_words(plan.target))}; give its own target or another --study"
        )
    return study


def _words(target: Target) -> str:
    (what,) = target.values()
    return what if isinstance(what, str) else " ".join(what)


def _function(plan: Plan, space: Space) -> Callable[..., Any]:
    names = space.names if space.named else []
    threads = None if plan.workers is None or plan.scheduler else fair_share(plan.workers)
    return callable_of(plan.target, names, plan.directory, plan.timeout, plan.value, threads)


def _note(search: Optimizer | Study, plan: Plan) -> int:
    """The budget; and, for `resume`, all it needs is put into the study."""
    budget = plan.budget
    if isinstance(search, Study):
        if budget is None:
            budget = (search.note or {}).get("budget")
        if budget is None:
            raise SettingsError("a budget is missing: --budget N, the most evaluations")
        note = {
            "target": plan.target,
            "directory": plan.directory,
            "budget": whole_budget(budget),
            "timeout": plan.timeout,
            "value": plan.value,
            "workers": plan.workers,
            "scheduler": plan.scheduler,
        }
        if note != search.note:
            search.note = note
    return whole_budget(budget)


Given = list[tuple[dict[str, Any], float | None]]


def _read_given(plan: Plan, space: Space) -> Given:
    return [each for file in plan.given for each in read_csv(Path(file), space)]


def _give(search: Optimizer | Study, given: Given) -> None:
    """Tell earlier evaluations, those not known yet."""
    known = {tuple(np.asarray(x).tolist()) for x in _known(search)}
    for params, value in given:
        key = tuple(search.space.point(params).tolist())
        if key not in known:
            known.add(key)
            search.tell(params, value)


def _known(search: Optimizer | Study) -> list[Any]:
    if isinstance(search, Optimizer):
        return []
    return [search.space.point(t.params) for t in search.trials if t.told_at is not None]


def as_dict(result: OptimizeResult, study: str | None) -> dict[str, Any]:
    """A result as JSON holds it."""
    return {
        "value": result.fun if isfinite(result.fun) else None,
        "params": result.params,
        "success": bool(result.success),
        "status": int(result.status),
        "message": result.message,
        "evaluations": int(result.nfev),
        "failed": int(result.nfailed),
        "rejected": int(result.nrejected),
        "study": study,
    }


def _print(result: OptimizeResult, plan: Plan, space: Space, as_json: bool) -> None:
    if as_json:
        json.dump(as_dict(result, plan.study), sys.stdout)
        click.echo()
        return
    failed = f" ({result.nfailed} failed)" if result.nfailed else ""
    click.echo(f"{result.nfev} evaluations{failed}: {result.message}")
    if not result.success:
        click.echo("no evaluation gave a value")
        return
    click.echo(f"best {result.fun!r} at")
    width = max(map(len, space.names))
    for name, value in result.params.items():
        click.echo(f"  {name:{width}} = {value!r}")
