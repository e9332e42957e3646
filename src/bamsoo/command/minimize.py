"""The commands `bamsoo minimize` and `bamsoo resume`."""

from pathlib import Path
from typing import Any

import click

from ..algorithms import BY_NAME
from ..defaults import DIRECTION
from ..study import Study
from . import parameters, target
from .plan import Plan, execute, read_toml
from .trust import check_note, confirm


class WithCommand(click.Command):
    """A command whose words after `--` are another command, kept apart from its arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Cut the line at `--`."""
        ctx.meta["command"] = []
        if "--" in args:
            at = args.index("--")
            ctx.meta["command"], args = args[at + 1 :], args[:at]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Show the words after `--` in the usage line."""
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND...]"]


def variance(text: str) -> float | str:
    """A number where it is one; what else it may be, the algorithm says."""
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
@click.option("--budget", type=click.IntRange(min=1), help="The total number of evaluations.")
@click.option(
    "--study",
    type=click.Path(dir_okay=False),
    help="A file that stores every evaluation, so that the run can be resumed.",
)
@click.option("--workers", type=click.IntRange(min=1), help="Evaluations at once.")
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Evaluate on the Dask cluster whose scheduler listens here, such as tcp://HOST:8786.",
)
@click.option("--algorithm", type=click.Choice(list(BY_NAME)), help="The search algorithm.")
@click.option("--seed", type=click.IntRange(min=0), help="Same seed, same points.")
@click.option(
    "--noise",
    type=variance,
    metavar="VARIANCE|learn",
    help="Variance of the noise in a value; none by default.",
)
@click.option("--maximize", is_flag=True, help="Find the largest value.")
@click.option(
    "--target",
    "goal",
    type=float,
    metavar="VALUE",
    help="Stop at the first value that is at least this good.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Start no evaluation after this time; running ones are allowed to finish.",
)
@click.option(
    "--trial-timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="End an evaluation that takes longer: it failed. For a function it needs --workers.",
)
@click.option(
    "--stalled",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop when the best value has not improved in N evaluations.",
)
@click.option(
    "--gap",
    type=click.FloatRange(min=0, min_open=True),
    metavar="WIDTH",
    help="Stop when the model's bounds say that no more than WIDTH is left to gain.",
)
@click.option(
    "--constraint",
    "constraints",
    multiple=True,
    metavar="FORMULA",
    help="What every point must meet, such as 'x + 2*y <= 3'; may be given several times.",
)
@click.option(
    "--measured",
    multiple=True,
    metavar="NAME",
    help="A constraint that the evaluation measures, met where it is <= 0: the command prints "
    "`NAME: NUMBER`, or has a field NAME where --value is given.",
)
@click.option("--value", metavar="KEY", help="Field of the command's last JSON line.")
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
    help="Go on from a study's values with a fresh search, where it would ask for other points.",
)
@click.option("--json", "as_json", is_flag=True, help="The result as JSON, and no progress.")
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
    options. Or give a command after --, with {NAME} where parameters go: the last number it
    prints is its value.

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
@click.argument("study", type=click.Path(dir_okay=False))
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    help="A new total number of evaluations, larger than before.",
)
@click.option("--workers", type=click.IntRange(min=1), help="As in minimize; else as before.")
@click.option("--scheduler", metavar="ADDRESS", help="As in minimize; else as before.")
@click.option("--no-replay", is_flag=True, help="As in minimize.")
@click.option(
    "--yes", is_flag=True, help="Run what the study names, whoever has made it, without asking."
)
@click.option("--json", "as_json", is_flag=True, help="The result as JSON, and no progress.")
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
    """Go on with the run that STUDY holds.

    That starts the command, or imports the module, that the file names. It is shown first, and you
    are asked, unless you have made the study yourself in this directory.
    """
    with Study.open(study, readonly=True) as stored:
        note, space = check_note(study, stored.note), stored.settings["space"]
    confirm(study, note, space, yes)
    if workers is None and scheduler is None:
        workers, scheduler = note.get("workers"), note.get("scheduler")
    plan = Plan(
        target=note["target"],
        directory=note["directory"],
        budget=budget,
        space=None,
        study=study,
        direction=None,
        goal=note.get("goal"),
        trial_timeout=note.get("trial_timeout", note.get("timeout")),  # as it was once called
        stalled=note.get("stalled"),
        gap=note.get("gap"),
        value=note.get("value"),
        workers=workers,
        scheduler=scheduler,
        replay=not no_replay,
    )
    ctx.exit(execute(plan, as_json))
