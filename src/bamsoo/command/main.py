"""The command `bamsoo` and its subcommands, each of which is loaded when it is called."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from errno import EDQUOT, EFBIG, ENOSPC
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

from ..errors import BamsooError, SettingsError
from .hide import restored
from .options import visible

COMMANDS = {
    "minimize": ("bamsoo.command.minimize", "Find the smallest value of a function or program."),
    "maximize": ("bamsoo.command.minimize", "Find the largest value; as minimize."),
    "evaluate": ("bamsoo.command.evaluate", "Evaluate the points of a table, without a search."),
    "resume": ("bamsoo.command.minimize", "Continue the run that is stored in a study file."),
    "fork": ("bamsoo.command.fork", "Begin a new study with what an old one knows."),
    "retry": ("bamsoo.command.retry", "Make the failed trials of a study pending again."),
    "show": ("bamsoo.command.show", "Show a study file as a table."),
    "export": ("bamsoo.command.export", "Write a study's trials as CSV, JSON or parquet."),
    "backup": ("bamsoo.command.export", "Copy a study file, even while it is running."),
    "repair": ("bamsoo.command.export", "Save what can be read of a damaged study file."),
    "report": ("bamsoo.command.report", "Write a study as a web page in a single file."),
    "watch": ("bamsoo.command.report", "Show a study as a live page while it runs."),
}
"""For each subcommand, the module with a click command of that name, and one line of help."""

LABORATORY = ("bench", "reproduce", "terms")
"""The subcommands of the distribution `bamsoo-lab`; without it, an error says how to get them."""


def added() -> dict[str, EntryPoint]:
    """The subcommands of other distributions, by name; those of this package take precedence."""
    found = entry_points(group="bamsoo.commands")
    return {entry.name: entry for entry in found if entry.name not in COMMANDS}


class Lazy(click.Group):
    """A group that imports a subcommand when it is run, and prints errors as one line."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **more: Any) -> Any:
        """Run the command with these arguments, or with those of the process."""
        return super().main(restored() if args is None else args, *rest, **more)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every subcommand that is installed."""
        return [*COMMANDS, *added()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the subcommand."""
        command: click.Command | None = None
        if cmd_name in COMMANDS:
            command = getattr(import_module(COMMANDS[cmd_name][0]), cmd_name)
        elif (entry := added().get(cmd_name)) is not None:
            command = entry.load()
        elif cmd_name in LABORATORY:
            raise SettingsError(
                f"the command {cmd_name} belongs to the laboratory, which is not installed; "
                "install it from a clone of the repository with `pip install ./lab`"
            )
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the subcommand; where there is none, name the one that was probably meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], self.list_commands(ctx), 1)
            if not near:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]}?", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands, and import only those of other distributions."""
        rows = [(name, text) for name, (_, text) in COMMANDS.items()]
        rows += [(name, entry.load().get_short_help_str(100)) for name, entry in added().items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the subcommand; a `BamsooError` is printed as one sentence, with exit code 2."""
        try:
            done = super().invoke(ctx)
            sys.stdout.flush()
            return done
        except click.ClickException as error:  # it may repeat the name of a file
            lines = map(visible, error.message.expandtabs().split("\n"))
            error.message = "\n".join(lines)  # type: ignore[misc]
            raise
        except BamsooError as error:
            said = str(error)
        except MemoryError:
            said = "there is not enough memory for this study"
        except OSError as error:
            if error.errno not in (EDQUOT, EFBIG, ENOSPC):
                raise
            with suppress(OSError):  # otherwise Python tries to write the rest when it ends
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            said = f"the output cannot be written: {error.strerror}"
        click.echo(f"bamsoo: {visible(said)}", err=True)
        raise click.exceptions.Exit(2)


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="bamsoo")
def main() -> None:
    """Global optimisation of expensive black boxes."""


if __name__ == "__main__":
    main()
