"""The command `bamsoo watch`: a study as a live page in a browser."""

import os
import webbrowser
from contextlib import suppress

import click

from ..report.server import LOOPBACK, Server
from ..report.watch import Watch
from ..study.backends import shown
from .options import name_option, replay_option, study_argument
from .report import source
from .text import visible


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
    followed = Watch(source(study, name), replay=replay)
    with Server(followed, host, port) as server, suppress(KeyboardInterrupt):
        if hasattr(os, "nice"):
            os.nice(10)  # so that the run itself has priority
        followed.start()
        click.echo(f"{visible(shown(study))}: {server.url} (Ctrl-C to stop)")
        if in_browser:
            webbrowser.open(server.url)
        server.serve_forever()
