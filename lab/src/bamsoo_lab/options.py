"""Options that several commands of the laboratory have."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


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
        type=click.IntRange(min=1),
        default=os.cpu_count() or 1,
        show_default="one per core",
        help=text,
    )
