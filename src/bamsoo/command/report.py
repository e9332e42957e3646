"""The command `bamsoo report`: a study as one page to look at in a browser."""

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
    help="Walk the search again to show its partition (the default), or leave that out.",
)
def report(study: str, output: str | None, replay: bool) -> None:
    """Write STUDY as one page that needs no network; also while a run is writing it."""
    click.echo(write(study, output, replay=replay))
