"""Arguments and options that several commands have, and text that is safe to show."""

from collections.abc import Callable
from typing import Any

import click

COUNT = click.IntRange(min=1)
POSITIVE = click.FloatRange(min=0, min_open=True)

study_argument = click.argument("study", type=click.Path(dir_okay=False))
"""STUDY, the file of a study, or its address on a PostgreSQL server."""

name_option = click.option(
    "--name",
    metavar="NAME",
    help="The name of an Optuna study, if the storage holds several.",
)

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the result as JSON, and no progress."
)


def output_option(text: str) -> Callable[..., Any]:
    """`-o`, the file that a command writes."""
    return click.option("-o", "--output", type=click.Path(dir_okay=False), help=text)


def replay_option(text: str) -> Callable[..., Any]:
    """`--replay`, whether a command that reads a study replays its search."""
    return click.option("--replay/--no-replay", default=True, help=text)


def visible(text: str) -> str:
    r"""The text with every character that is not printable replaced by an escape sequence.

    A terminal obeys sequences that begin with \x1b, which can move the cursor, rename the window,
    or hide text.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
