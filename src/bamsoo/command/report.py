"""The command `bamsoo report`: a study as a web page in a single file."""

import click

from ..report import write


@click.command("report")
@click.argument("study", type=click.Path(dir_okay=False))
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    help="The page to write; by default STUDY with the suffix .html.",
)
@click.option(
    "--replay/--no-replay",
    default=True,
    help="Replay the search to show its partition and its own model (the default), or not.",
)
def report(study: str, output: str | None, replay: bool) -> None:
    """Write STUDY as a web page in a single file. The study may be running."""
    click.echo(write(study, output, replay=replay))
