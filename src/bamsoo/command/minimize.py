"""The commands `bamsoo minimize` and `bamsoo resume`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..base.defaults import DIRECTION
from ..study import Study
from ..study.address import parse
from . import parameters, target
from .options import json_option, study_argument
from .plan import execute, read_toml
from .settings import NOTED, Plan, all_options, chosen
from .trust import check_note, confirm


class WithCommand(click.Command):
    """A click command that takes another command after `--`, separate from its own arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Split the command line at `--`."""
        ctx.meta["command"] = []
        if "--" in args:
            at = args.index("--")
            ctx.meta["command"], args = args[at + 1 :], args[:at]
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if "unexpected extra argument" not in error.message or ctx.meta["command"]:
                raise
            said = f"{error.message}; write -- before the command that is to be run"
            raise click.UsageError(said, ctx) from None

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Show the words after `--` in the usage line."""
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND...]"]


def run_command(name: str) -> Callable[[Callable[..., None]], click.Command]:
    """A click command of this name with everything that a run can be told."""

    def made(function: Callable[..., None]) -> click.Command:
        with_options = all_options(json_option(click.pass_context(function)))
        argument = click.argument("target_", metavar="[TARGET]", required=False)
        return click.command(name, cls=WithCommand)(argument(with_options))

    return made


@run_command("minimize")
def minimize(ctx: click.Context, /, **options: Any) -> None:
    """Find the smallest value of a function or a program.

    TARGET is module:function, a built-in problem such as branin, or a TOML file with these
    options. Alternatively, give a command after --, with {NAME} in place of each parameter. With
    --objective cost, its value is what it prints as `cost: NUMBER`; otherwise it is the last number
    that it prints.

    \b
    bamsoo minimize --param x:0:10 --param rate:1e-5:1e-1:log --param mode=fast,exact \\
        --budget 60 --study run.db --objective cost \\
        -- ./simulate --x {x} --rate {rate} --mode {mode}
    """  # noqa: D301 (click reads the \\b)
    ctx.exit(_run(ctx.meta["command"], **options))


@run_command("maximize")
def maximize(ctx: click.Context, /, **options: Any) -> None:
    """Find the largest value of a function or a program.

    TARGET, the command after -- and all options are those of bamsoo minimize.
    """
    ctx.exit(_run(ctx.meta["command"], **{**options, "direction": True}))


def _run(command: list[str], target_: str | None, as_json: bool, **options: Any) -> int:
    stated: dict[str, Any] = {}
    if target_ is not None and target_.endswith(".toml"):
        stated = read_toml(Path(target_))
        target_ = stated.get("target")
        command = command or [str(word) for word in stated.get("command", [])]
    settings = chosen(options, stated)
    settings |= {
        "target": target.parse_target(target_, command),
        "directory": str(Path.cwd()),
        "space": parameters.parse_space(options["space"]) or stated.get("params"),
        "direction": "maximize" if settings["direction"] else DIRECTION,
        "replay": not options["replay"],
    }
    return execute(Plan(**settings), as_json)


@click.command("resume")
@study_argument
@partial(all_options, of_run=True)
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
    ctx: click.Context, /, study: str, no_replay: bool, yes: bool, as_json: bool, **options: Any
) -> None:
    """Continue the run that is stored in STUDY.

    This starts the command, or imports the module, that the file names. Unless you created the
    study yourself in this directory, the command is shown first and you are asked to confirm.
    Options that are not given are as before.
    """
    with Study.open(study, readonly=True) as stored:
        note, space = check_note(parse(study).shown, stored.note), stored.settings["space"]
    given = {name: value for name, value in options.items() if value not in (None, False)}
    if given.keys() & {"workers", "scheduler"}:  # one of them takes the place of both
        given = {"workers": None, "scheduler": None, **given}
    settings: dict[str, Any] = {**{name: note.get(name) for name in NOTED}, "budget": None, **given}
    confirm(parse(study).shown, note, settings, space, yes)
    plan = Plan(**settings, study=study, direction=None, replay=not no_replay)
    ctx.exit(execute(plan, as_json))
