"""The commands `bamsoo report` and `bamsoo watch`: a study as a web page, in a file or live."""

import os
import webbrowser
from contextlib import suppress

import click

from ..report import write
from ..report.compare import compare
from ..report.server import LOOPBACK, Server
from ..report.source import source_of
from ..report.watch import Watch
from ..study.address import parse
from .options import name_option, output_option, replay_option, study_argument, visible


@click.command("report")
@click.argument("studies", metavar="STUDY...", nargs=-1, required=True)
@output_option("The page to write; by default STUDY with the suffix .html.")
@name_option
@replay_option("Replay the search to show its partition and its own model (the default), or not.")
def report(studies: tuple[str, ...], output: str | None, name: str | None, replay: bool) -> None:
    """Write STUDY as a web page in a single file. The study may be running.

    STUDY may also be a study of Optuna: sqlite:///optuna.db, the path of its database or journal
    file, or the address of another database together with --name. Two or more studies are compared
    on one page.
    """
    sources = [source_of(study, name) for study in studies]
    page = write(sources[0], output, replay=replay) if len(sources) == 1 else None
    click.echo(visible(str(page or compare(sources, output))))


@click.command("watch")
@study_argument
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="The port to serve the page on; by default, any free one.",
)
@click.option(
    "--host",
    default=LOOPBACK,
    show_default=True,
    help="The address to listen on. With any address other than loopback, everybody who can reach "
    "this machine can read the study.",
)
@click.option("--open", "in_browser", is_flag=True, help="Open the page in a browser.")
@replay_option(
    "Replay the search to show its own model, the gap and the partition (the default), or "
    "leave these out."
)
@name_option
def watch(
    study: str, port: int, host: str, in_browser: bool, replay: bool, name: str | None
) -> None:
    """Serve STUDY as a page that follows the run, until you press Ctrl-C.

    The study is only read. It may be running, finished, or continued later. It may also be a study
    of Optuna, as in bamsoo report.
    """
    followed = Watch(source_of(study, name), replay=replay)
    with Server(followed, host, port) as server, suppress(KeyboardInterrupt):
        if hasattr(os, "nice"):
            os.nice(10)  # so that the run itself has priority
        followed.start()
        click.echo(f"{visible(parse(study).shown)}: {server.url} (Ctrl-C to stop)")
        if in_browser:
            webbrowser.open(server.url)
        server.serve_forever()
