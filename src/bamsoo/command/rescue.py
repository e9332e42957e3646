"""The commands `bamsoo backup` and `bamsoo repair`."""

from pathlib import Path

import click

from ..study import Study
from ..study.backends import local_name
from ..study.repair import repair as repair_study
from .options import output_option, study_argument
from .text import visible


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
    path = local_name(study)
    target = path.with_stem(f"{path.stem}-repaired") if output is None else Path(output)
    click.echo(visible(str(repair_study(study, target, values))))
