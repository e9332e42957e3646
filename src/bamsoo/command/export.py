"""The command `bamsoo export`: a study's trials for other programs."""

import io
from pathlib import Path

import click

from ..errors import SettingsError
from ..study import Study
from .options import output_option, study_argument
from .table import write_csv, write_json, write_parquet


@click.command("export")
@study_argument
@click.option(
    "--format",
    "kind",
    type=click.Choice(["csv", "json", "parquet"]),
    default="csv",
    show_default=True,
    help="The format of the table.",
)
@output_option("The file to write; by default the table is printed.")
def export(study: str, kind: str, output: str | None) -> None:
    """Write all trials of STUDY as a table. The study may be running."""
    with Study.open(study, readonly=True) as stored:
        trials, space, constraints = stored.trials, stored.space, stored.constraints
    if kind == "parquet":
        if output is None:
            raise SettingsError("parquet cannot be printed; give a file with -o")
        write_parquet(trials, space, Path(output), constraints)
        return
    text = io.StringIO(newline="")
    if kind == "csv":
        write_csv(trials, space, text, constraints)
    else:
        write_json(trials, text)
    if output is None:
        click.echo(text.getvalue(), nl=False)
        return
    try:
        Path(output).write_text(text.getvalue(), encoding="utf-8", newline="")
    except OSError as error:
        raise SettingsError(f"{output}: cannot be written: {error.strerror}") from error
