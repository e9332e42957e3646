"""Arguments and options that several commands have."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

COUNT = click.IntRange(min=1)
POSITIVE = click.FloatRange(min=0, min_open=True)

study_argument = click.argument("study", type=click.Path(dir_okay=False))
"""STUDY, the file of a study."""

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the result as JSON, and no progress."
)


def output_option(text: str) -> Callable[..., Any]:
    """`-o`, the file that a command writes."""
    return click.option("-o", "--output", type=click.Path(dir_okay=False), help=text)


def replay_option(text: str) -> Callable[..., Any]:
    """`--replay`, whether a command that reads a study replays its search."""
    return click.option("--replay/--no-replay", default=True, help=text)


def docs_option(text: str) -> Callable[..., Any]:
    """`--docs`, the page that has a part for what a command measures."""
    return click.option(
        "--docs", type=click.Path(dir_okay=False, exists=True, path_type=Path), help=text
    )


def out_option(default: str) -> Callable[..., Any]:
    """The option `--out`, the folder for the output of a command."""
    return click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        default=default,
        show_default=True,
        help="Folder for runs, tables, pictures and the page.",
    )


def jobs_option(text: str) -> Callable[..., Any]:
    """The option `--jobs`, the number of processes that run in parallel."""
    return click.option(
        "--jobs",
        type=COUNT,
        default=os.cpu_count() or 1,
        show_default="one per core",
        help=text,
    )
