"""The command `bamsoo` and its subcommands, each of which is loaded when it is called."""

from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from ..errors import BamsooError
from .text import visible

COMMANDS = {
    "minimize": ("bamsoo.command.minimize", "Find the smallest value of a function or program."),
    "resume": ("bamsoo.command.minimize", "Continue the run that is stored in a study file."),
    "show": ("bamsoo.command.show", "Show a study file as a table."),
    "export": ("bamsoo.command.export", "Write a study's trials as CSV, JSON or parquet."),
    "backup": ("bamsoo.command.rescue", "Copy a study file, even while it is running."),
    "repair": ("bamsoo.command.rescue", "Save what can be read of a damaged study file."),
    "report": ("bamsoo.command.report", "Write a study as a web page in a single file."),
    "watch": ("bamsoo.command.watch", "Show a study as a live page while it runs."),
    "bench": ("bamsoo.lab.bench.cli", "Compare the default algorithm with other optimisers."),
    "reproduce": ("bamsoo.lab.reproduce", "Rerun the paper's experiments."),
    "terms": ("bamsoo.lab.terms.cli", "Extract terms from a corpus, and tune the extraction."),
}
"""For each subcommand, the module with a click command of that name, and one line of help."""


class Lazy(click.Group):
    """A group that imports a subcommand when it is run, and prints errors as one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every subcommand."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the subcommand."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[cmd_name][0]), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the subcommand; where there is none, name the one that was probably meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], COMMANDS, 1)
            if not near:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]}?", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the subcommand; a `BamsooError` is printed as one sentence, with exit code 2."""
        try:
            return super().invoke(ctx)
        except click.ClickException as error:  # it may repeat the name of a file
            lines = map(visible, error.message.expandtabs().split("\n"))
            error.message = "\n".join(lines)  # type: ignore[misc]
            raise
        except BamsooError as error:
            said = str(error)
        except MemoryError:
            said = "there is not enough memory for this study"
        click.echo(f"bamsoo: {visible(said)}", err=True)
        raise click.exceptions.Exit(2)


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="bamsoo")
def main() -> None:
    """Global optimisation of expensive black boxes."""


if __name__ == "__main__":
    main()
