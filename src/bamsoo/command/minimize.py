"""The commands `bamsoo minimize` and `bamsoo resume`."""

from pathlib import Path
from typing import Any

import click

from ..algorithms import BY_NAME
from ..defaults import DIRECTION
from ..study import Study
from . import parameters, target
from .options import COUNT, POSITIVE, json_option, study_argument
from .plan import Plan, execute, read_toml
from .trust import NOTED, check_note, confirm


class WithCommand(click.Command):
    """A click command that takes another command after `--`, separate from its own arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Split the command line at `--`."""
        ctx.meta["command"] = []
        if "--" in args:
            at = args.index("--")
            ctx.meta["command"], args = args[at + 1 :], args[:at]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Show the words after `--` in the usage line."""
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND...]"]


def variance(text: str) -> float | str:
    """The option as a number if it is one; the algorithm checks any other text."""
    try:
        return float(text)
    except ValueError:
        return text


@click.command("minimize", cls=WithCommand)
@click.argument("target_", metavar="[TARGET]", required=False)
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="PARAM",
    help="NAME:LOW:HIGH[:log][:int][:step=S], or NAME=a,b,c for a choice; once per parameter.",
)
@click.option("--budget", type=COUNT, help="The total number of evaluations.")
@click.option(
    "--study",
    type=click.Path(dir_okay=False),
    help="A file that stores every evaluation, so that the run can be resumed.",
)
@click.option("--workers", type=COUNT, help="The number of evaluations to run at once.")
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Evaluate on a Dask cluster; the address of its scheduler, such as tcp://HOST:8786.",
)
@click.option(
    "--algorithm", type=click.Choice(list(BY_NAME)), help="The search algorithm; auto by default."
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="The same seed gives the same points; 0 by default.",
)
@click.option(
    "--noise",
    type=variance,
    metavar="VARIANCE|learn",
    help="The variance of the noise in a value, or 'learn'; by default, values are exact.",
)
@click.option("--maximize", is_flag=True, help="Find the largest value instead.")
@click.option(
    "--target",
    "goal",
    type=float,
    metavar="VALUE",
    help="Stop at the first value that is at least this good.",
)
@click.option(
    "--timeout",
    type=POSITIVE,
    metavar="SECONDS",
    help="Start no evaluation after this time; running ones may finish for as long again, but at "
    "least a minute.",
)
@click.option(
    "--trial-timeout",
    type=POSITIVE,
    metavar="SECONDS",
    help="End an evaluation that takes longer, and count it as failed. For a Python function this "
    "needs --workers.",
)
@click.option(
    "--stalled",
    type=COUNT,
    metavar="N",
    help="Stop when the best value has not improved in N evaluations.",
)
@click.option(
    "--gap",
    type=POSITIVE,
    metavar="WIDTH",
    help="Stop when, by the model's bounds, at most WIDTH is left to gain.",
)
@click.option(
    "--constraint",
    "constraints",
    multiple=True,
    metavar="FORMULA",
    help="A condition that every point must meet, such as 'x + 2*y <= 3'; may be given several "
    "times.",
)
@click.option(
    "--measured",
    multiple=True,
    metavar="NAME",
    help="A constraint that the evaluation measures, and that is met if its number is <= 0. The "
    "command prints `NAME: NUMBER`; with --value, NAME is a field of its last JSON line.",
)
@click.option(
    "--value",
    metavar="KEY",
    help="Read the value from this field of the last JSON line that the command prints.",
)
@click.option(
    "--import",
    "given",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    help="A CSV file of earlier evaluations: one column per parameter, and one called value.",
)
@click.option(
    "--x0",
    "first",
    multiple=True,
    metavar="NAME=VALUE,...",
    help="A point to evaluate first, such as rate=0.1,size=3; may be given several times.",
)
@click.option(
    "--no-replay",
    is_flag=True,
    help="Continue from a study's values with a fresh search, if a replay asks for other points.",
)
@json_option
@click.pass_context
def minimize(
    ctx: click.Context,
    /,
    target_: str | None,
    as_json: bool,
    no_replay: bool,
    **options: Any,
) -> None:
    """Find the smallest value of a function or a program.

    TARGET is module:function, a built-in problem such as branin, or a TOML file with these
    options. Alternatively, give a command after --, with {NAME} in place of each parameter; the
    last number that it prints is its value.

    \b
    bamsoo minimize --param x:0:10 --param rate:1e-5:1e-1:log --param mode=fast,exact \\
        --budget 60 --study run.db -- ./simulate --x {x} --rate {rate} --mode {mode}
    """  # noqa: D301 (click reads the \\b)
    command: list[str] = ctx.meta["command"]
    stated: dict[str, Any] = {}
    if target_ is not None and target_.endswith(".toml"):
        stated = read_toml(Path(target_))
        target_ = stated.get("target")
        command = command or [str(word) for word in stated.get("command", [])]
    space = parameters.parse(options["params"]) or stated.get("params")
    given, first = stated.get("import", []), stated.get("x0", [])

    def several(key: str) -> tuple[str, ...]:
        stated_there = stated.get(key, [])
        listed = [stated_there] if isinstance(stated_there, str) else stated_there
        return tuple(options[key] or map(str, listed))

    def pick(key: str) -> Any:
        return options[key] if options[key] is not None else stated.get(key)

    plan = Plan(
        target=target.parse(target_, command),
        directory=str(Path.cwd()),
        budget=pick("budget"),
        space=space,
        study=pick("study"),
        algorithm=pick("algorithm"),
        seed=pick("seed"),
        direction="maximize" if options["maximize"] or stated.get("maximize") else DIRECTION,
        goal=pick("goal"),
        timeout=pick("timeout"),
        trial_timeout=pick("trial_timeout"),
        stalled=pick("stalled"),
        gap=pick("gap"),
        value=pick("value"),
        workers=pick("workers"),
        scheduler=pick("scheduler"),
        given=options["given"] or ((given,) if isinstance(given, str) else tuple(given)),
        x0=options["first"] or ((first,) if isinstance(first, dict) else tuple(first)),
        replay=not no_replay,
        noise=pick("noise"),
        constraints=several("constraints"),
        measured=several("measured"),
    )
    ctx.exit(execute(plan, as_json))


@click.command("resume")
@study_argument
@click.option(
    "--budget",
    type=COUNT,
    help="A new total number of evaluations, larger than before.",
)
@click.option(
    "--workers",
    type=COUNT,
    help="The number of evaluations to run at once; by default, as before.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="The address of a Dask scheduler, as in minimize; by default, as before.",
)
@click.option(
    "--no-replay",
    is_flag=True,
    help="Continue from the study's values with a fresh search, if a replay asks for other points.",
)
@click.option(
    "--yes", is_flag=True, help="Run the study's command without asking, whoever created it."
)
@json_option
@click.pass_context
def resume(
    ctx: click.Context,
    study: str,
    budget: int | None,
    workers: int | None,
    scheduler: str | None,
    no_replay: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Continue the run that is stored in STUDY.

    This starts the command, or imports the module, that the file names. Unless you created the
    study yourself in this directory, the command is shown first and you are asked to confirm.
    """
    with Study.open(study, readonly=True) as stored:
        note, space = check_note(study, stored.note), stored.settings["space"]
    if workers is None and scheduler is None:
        workers, scheduler = note.get("workers"), note.get("scheduler")
    confirm(study, note, workers, scheduler, space, yes)
    settings: dict[str, Any] = {name: note.get(name) for name in NOTED}
    settings |= {"workers": workers, "scheduler": scheduler}
    plan = Plan(**settings, budget=budget, study=study, direction=None, replay=not no_replay)
    ctx.exit(execute(plan, as_json))
