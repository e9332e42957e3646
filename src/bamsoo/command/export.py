"""The command `bamsoo export`: a study's trials for other programs."""

import io
import os
from pathlib import Path

import click

from ..errors import SettingsError
from ..report.page import replace_file
from ..study import Study
from .options import output_option, study_argument
from .table import write_csv, write_json, write_parquet

FORMATS = ["csv", "json", "parquet"]


@click.command("export")
@study_argument
@click.option(
    "--format",
    "kind",
    type=click.Choice(FORMATS),
    help="The format of the table; by default that of the file's name, or csv.",
)
@output_option("The file to write; by default the table is printed.")
def export(study: str, kind: str | None, output: str | None) -> None:
    """Write all trials of STUDY as a table. The study may be running."""
    suffix = "" if output is None else Path(output).suffix.lower().removeprefix(".")
    if kind is not None and suffix in FORMATS and suffix != kind:
        raise SettingsError(
            f"{output}: the name says {suffix}, but --format says {kind}; change one of them"
        )
    kind = kind or (suffix if suffix in FORMATS else "csv")
    if output is not None and os.path.realpath(output) == os.path.realpath(study):
        raise SettingsError(f"{output}: is the study itself; give another name with -o")
    with Study.open(study, readonly=True) as stored:
        trials, space = stored.trials, stored.space
        about = stored.constraints, stored.objectives
    table, text = io.BytesIO(), io.StringIO(newline="")
    if kind == "parquet":
        if output is None:
            raise SettingsError("parquet cannot be printed; give a file with -o")
        write_parquet(trials, space, table, *about)
    elif kind == "csv":
        write_csv(trials, space, text, *about)
    else:
        write_json(trials, text)
    if output is None:
        click.echo(text.getvalue(), nl=False)
    else:
        replace_file(Path(output), table.getvalue() or text.getvalue().encode())
