"""The commands `bamsoo export`, `backup` and `repair`: what is made from a study file."""

import io
import os
from pathlib import Path

import click

from ..errors import SettingsError
from ..report.page import replace_file
from ..run.command import that_exist
from ..study import Study
from ..study.address import FileAddress, parse
from ..study.repair import repair as repair_study
from .options import output_option, study_argument, visible
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
    kind = _kind(study, kind, output)
    with Study.open(study, readonly=True) as stored:
        trials = [t._replace(extras=that_exist(t.extras)) for t in stored.trials]
        space, about = stored.space, (stored.constraints, stored.objectives)
    table, text = io.BytesIO(), io.StringIO(newline="")
    if kind == "parquet":
        write_parquet(trials, space, table, *about)
    elif kind == "csv":
        write_csv(trials, space, text, *about)
    else:
        write_json(trials, text)
    if output is None:
        click.echo(text.getvalue(), nl=False)
    else:
        replace_file(Path(output), table.getvalue() or text.getvalue().encode())


def _kind(study: str, kind: str | None, output: str | None) -> str:
    """The kind of table that is written; an error if it cannot go to `output`."""
    suffix = "" if output is None else Path(output).suffix.lower().removeprefix(".")
    if kind is not None and suffix in FORMATS and suffix != kind:
        raise SettingsError(
            f"{output}: the name says {suffix}, but --format says {kind}; change one of them"
        )
    kind = kind or (suffix if suffix in FORMATS else "csv")
    address = parse(study)
    own = os.path.realpath(address.path) if isinstance(address, FileAddress) else None
    if output is not None and os.path.realpath(output) == own:
        raise SettingsError(f"{output}: is the study itself; give another name with -o")
    if kind == "parquet" and output is None:
        raise SettingsError("parquet cannot be printed; give a file with -o")
    return kind


@click.command("backup")
@study_argument
@click.argument("copy", type=click.Path(dir_okay=False))
def backup(study: str, copy: str) -> None:
    """Write a copy of STUDY to COPY. The study may be running.

    An ordinary copy of a file that is being written may be damaged; a copy made by this command is
    not.
    """
    with Study.open(study, readonly=True) as stored:
        stored.backup(copy)
    with Study.open(copy, readonly=True) as copied:  # opening it verifies every checksum
        click.echo(f"{visible(copy)}: {copied.told} of {len(copied.ledger.trials)} trials told")


@click.command("repair")
@study_argument
@output_option("The study to write; by default STUDY with -repaired in its name.")
@click.option(
    "--values",
    is_flag=True,
    help="Keep all values as known points for a fresh search, instead of the part that can be "
    "replayed.",
)
def repair(study: str, output: str | None, values: bool) -> None:
    """Save what can be read of a damaged STUDY as a new study. STUDY itself is not changed.

    The longest intact part that can be replayed is kept as it is. Values that come after it are
    kept as known points.
    """
    path = parse(study).file
    target = path.with_stem(f"{path.stem}-repaired") if output is None else Path(output)
    click.echo(visible(str(repair_study(study, target, values))))
