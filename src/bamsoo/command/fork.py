"""The command `bamsoo fork`: a new study that begins with what an old one knows."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from ..algorithms import Algorithm, resolve
from ..base.checks import count
from ..errors import SettingsError
from ..record.objectives import Objectives
from ..run.earlier import Earlier, Terms
from ..run.history import with_history
from ..run.known import as_known
from ..run.loop import whole_budget
from ..space import Constraints, Parameter, Space
from ..space.limit import limits_of
from ..study import Study
from ..study.address import FileAddress, parse
from ..study.backends import exists
from ..study.settings import algorithm_from_json, constraints_from_json
from . import parameters, target
from .minimize import WithCommand
from .options import study_argument, visible
from .plan import function_of
from .settings import NOTED, Plan, all_options, chosen
from .trust import check_note, is_ours, mark

OTHERS = ("study", "given", "x0", "replay", "keep_going", "timeout")
"""Settings of a run that a new study does not note."""


@click.command("fork", cls=WithCommand)
@study_argument
@click.argument("new", type=click.Path(dir_okay=False))
@partial(all_options, leave_out=OTHERS)
@click.pass_context
def fork(ctx: click.Context, /, study: str, new: str, **options: Any) -> None:
    """Create the study NEW, which begins with what STUDY knows.

    Settings that are not given are those of STUDY; `--ignore NAME` also drops a parameter or a
    measured constraint. Nothing is evaluated; bamsoo resume NEW goes on. STUDY is not changed.

    \b
    bamsoo fork run.db run-2.db --param x:0:20 --measured 'Tpeak<=530'
    """  # noqa: D301 (click reads the \\b)
    place = parse(new)
    if exists(new):
        raise SettingsError(f"{place.shown}: exists already; choose another name")
    command = ctx.meta["command"]
    given = target.parse_target(None, command) if command else None
    plan = Plan(**{**chosen(options, {}), "target": given, "directory": str(Path.cwd())})
    with ExitStack() as stack:
        old = stack.enter_context(Study.open(study, readonly=True))
        space = _space(old, plan, parameters.parse_space(options["space"]))
        constraints = Constraints(Space(space), _constraints(old, plan) or None)
        direction = "maximize" if plan.direction else old.settings["direction"]
        aims = _objectives(old, plan, direction)
        plan.check_scale(aims)
        ways = dict(aims.ways) if aims.named else aims.squares
        note = _noted(old, study, plan)
        if not command:  # what the same program has printed so far is kept, though no longer needed
            _record_still(note, old, {*constraints.measured, *aims.names})
        terms = Terms(
            constraints.space,
            parameters.parse_fill(plan.fill, constraints.space),
            [name for name in plan.ignore if name in old.space.own_names],
            flags=True,
        )
        kept = _kept(old, plan)
        earlier = as_known(constraints, old, aims, terms, steps=kept["steps"])
        trusted = "target" in note and is_ours(old.note, old.settings["space"])
        if trusted:
            _check_program(note, constraints, aims, kept["steps"], terms.ignore)
        drafts = stack.enter_context(TemporaryDirectory())
        draft = Path(drafts) / "draft.db" if isinstance(place, FileAddress) else new
        made = Study.open(
            draft,
            space=space,
            direction=None if ways else direction,
            objectives=ways,
            algorithm=_algorithm(old, plan),
            budget=note.get("budget"),
            constraints=list(constraints.given) or None,
            **kept,
        )
        stack.enter_context(made)
        made.give(earlier.known, earlier.event)
        _write_note(made, note, trusted)
        if isinstance(place, FileAddress):  # so that there is never half a study under this name
            made.backup(place.path)
    click.echo(_said(study, new, earlier, "target" in note))


def _write_note(made: Study, note: dict[str, Any], trusted: bool) -> None:
    """Note how the new study is run, signed if the old one was."""
    if note:
        signed = {"mark": mark(note, made.settings["space"])} if trusted else {}
        made.note = note | signed


def _record_still(note: dict[str, Any], old: Study, wanted: Collection[str]) -> None:
    """Note that a program's numbers are recorded which were needed before, and are not wanted."""
    before = [*old.constraints.measured, *(old.objectives.names if old.objectives.named else ())]
    more = [name for name in dict.fromkeys(before) if name not in wanted]
    if "command" in note.get("target", {}) and more:
        note["record"] = list(dict.fromkeys([*(note.get("record") or ()), *more]))


def _kept(old: Study, plan: Plan) -> dict[str, Any]:
    """Settings that stay unless they are given."""
    given = {name: getattr(plan, name) for name in ("seed", "steps", "tol")}
    return {name: old.settings.get(name) if v is None else v for name, v in given.items()}


def _check_program(
    note: dict[str, Any],
    constraints: Constraints,
    aims: Objectives,
    steps: int | None,
    dropped: Sequence[str],
) -> None:
    """Raise an error if the program or its templates do not fit the new parameters."""
    if "command" not in note["target"]:
        return
    noted: dict[str, Any] = {name: note.get(name) for name in NOTED}
    plan = Plan(**noted)
    command = function_of(plan, constraints, aims, steps)
    for template in getattr(command, "templates", ()):
        for name in template.mentions(dropped):
            raise SettingsError(
                f"the template {template.name} has {{{name}}}, which is no longer a parameter; "
                f"write its value there, or give --fix {name}=VALUE instead of --ignore {name}"
            )


def _said(study: str, new: str, earlier: Earlier, can_resume: bool) -> str:
    name = visible(parse(new).shown)
    said = f"{name}: begins with {count(len(earlier.known), 'evaluation')}"
    said += f" of {visible(parse(study).shown)}"
    if earlier.left_out:
        said += f"; {visible(earlier.note)}"
    return f"{said}; to go on: bamsoo resume {name}" if can_resume else said


def _space(old: Study, plan: Plan, given: dict[str, Any]) -> Any:
    """The old parameters, without those that are ignored, and with those that are given."""
    names = {*old.space.own_names, *old.constraints.measured}
    for name in plan.ignore:
        if name not in names:
            raise SettingsError(
                f"--ignore {name}: {old.path} has no parameter and no measured constraint of this "
                f"name, only {', '.join(sorted(names))}"
            )
    if not old.space.named:
        return _array(old, plan, given)
    fixed = parameters.with_fixed({}, plan.fix or ())
    space = _changed(old.space.given, given, fixed, plan.ignore)
    more = {**given, **fixed}
    space |= {name: each for name, each in more.items() if name not in old.space.own_names}
    return with_history(space, [old, parameters.fill_texts(plan.fill)])


def _changed(
    old: Mapping[str, Parameter],
    given: Mapping[str, Parameter],
    fixed: Mapping[str, Any],
    dropped: Collection[str],
) -> dict[str, Any]:
    """Parameters with others in their places, also among those that their options open."""
    space: dict[str, Any] = {}
    for name, before in old.items():
        opens = [_changed(each, given, fixed, dropped) for each in before.opens]
        if name in fixed:  # as text, and the options need not be texts
            same = (each for each in before.options or () if str(each) == str(fixed[name]))
            space[name] = next(same, fixed[name])
            i = before.index(space[name]) if opens else None
            space |= {} if i is None else opens[i]
        elif name in given:
            space[name] = _opening_the_same(given[name], before, opens)
        elif name not in dropped:
            space[name] = before.opening(opens) if opens else before
    return space


def _opening_the_same(
    now: Parameter, before: Parameter, opens: Sequence[Mapping[str, Parameter]]
) -> Parameter:
    """A parameter whose options open what the same options opened before."""
    if not opens or now.options is None:
        return now
    there = [before.index(option) for option in now.options]
    return now.opening([{} if i is None else opens[i] for i in there])


def _array(old: Study, plan: Plan, given: dict[str, Any]) -> list[Any]:
    """The parameters of a study whose points are arrays, so that each has to keep its place."""
    names = list(old.space.given)
    kept = [name for name in names if name not in plan.ignore]
    more = [f"x{len(kept) + i}" for i in range(len(given))]
    if plan.fix or names[: len(kept)] != kept or not {*given} <= {*kept, *more}:
        raise SettingsError(
            f"{old.path}: its points are arrays, whose parameters {', '.join(names)} have no other "
            "names: the last ones may be dropped and others follow them, but none can be fixed; in "
            "Python, call minimize with a space with these names and known= of this study"
        )
    return [*({name: old.space.given[name] for name in kept} | given).values()]


def _constraints(old: Study, plan: Plan) -> list[Any]:
    """The old constraints, with given limits in the place of those on the same side of a number."""
    kept, missing = constraints_from_json(old.settings.get("constraints", []), None)
    if missing is not None:
        raise SettingsError(
            f"{old.path}: its constraint {missing} is a Python function, which the command does "
            f"not have; in Python, call minimize with study= and known={str(old.path)!r}"
        )
    given = {limit[:2] for each in plan.measured for limit in limits_of(each, ())}

    def stays(constraint: Any) -> bool:
        """Whether a constraint is neither dropped nor replaced by one on the same side."""
        if not isinstance(constraint, str):
            return not plan.constraints
        (limit,) = limits_of(constraint, ())
        return limit.name not in plan.ignore and limit[:2] not in given

    kept = [each for each in kept if stays(each)]
    return [*kept, *(plan.limits or [])]


def _objectives(old: Study, plan: Plan, direction: str) -> Objectives:
    squares = old.objectives.squares
    if squares is not None and plan.data is not None:
        raise SettingsError(
            "--data cannot be changed, because the residuals of the earlier evaluations are those "
            "of the old measurements; start a new study with bamsoo minimize"
        )
    if squares is not None and (plan.residuals or plan.losses):
        return Objectives.of(replace(squares, **plan.losses), direction)
    if plan.aims is not None:
        return Objectives.of(plan.aims, direction)
    if not plan.direction or not old.objectives.named:
        return old.objectives if old.objectives.named else Objectives.of(squares, direction)
    if old.objectives.several:
        raise SettingsError(
            "--maximize is for a single objective; give --objective NAME:max for each one"
        )
    return Objectives.of(old.objectives.names, direction)


def _algorithm(old: Study, plan: Plan) -> Algorithm:
    stored = algorithm_from_json(old.settings["algorithm"])
    if plan.algorithm is None:
        return resolve(stored, plan.noise)
    return resolve(plan.algorithm, plan.noise)


def _noted(old: Study, study: str, plan: Plan) -> dict[str, Any]:
    """What the new study notes about its run: what is given, or else what the old one says."""
    given = {name: getattr(plan, name) for name in NOTED}
    given = {name: each for name, each in given.items() if each not in (None, ())}
    before = old.note if isinstance(old.note, dict) else {}
    if "target" in before:
        before = check_note(parse(study).shown, before)
        if "target" not in given:
            given["directory"] = before["directory"]
    elif "target" not in given:  # it was made in Python
        given = {name: each for name, each in given.items() if name == "budget"}
    note = {**{name: each for name, each in before.items() if name != "mark"}, **given}
    if "record" in note:
        note["record"] = list(note["record"] or ())
    if note.get("budget") is not None:
        note["budget"] = whole_budget(note["budget"])
    return note
