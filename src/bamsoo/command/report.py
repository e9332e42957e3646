"""The command `bamsoo report`: a study as a web page in a single file."""

import click

from ..report import write
from .options import output_option, replay_option, study_argument
from .text import visible


@click.command("report")
@study_argument
@output_option("The page to write; by default STUDY with the suffix .html.")
@replay_option("Replay the search to show its partition and its own model (the default), or not.")
def report(study: str, output: str | None, replay: bool) -> None:
    """Write STUDY as a web page in a single file. The study may be running."""
    click.echo(visible(str(write(study, output, replay=replay))))
