"""The command `bamsoo report`: a study as a web page in a single file."""

import click

from ..integrations.optuna_study import OptunaSource, is_optuna
from ..report import write
from ..report.source import TrialSource
from .options import name_option, output_option, replay_option, study_argument
from .text import visible


@click.command("report")
@study_argument
@output_option("The page to write; by default STUDY with the suffix .html.")
@name_option
@replay_option("Replay the search to show its partition and its own model (the default), or not.")
def report(study: str, output: str | None, name: str | None, replay: bool) -> None:
    """Write STUDY as a web page in a single file. The study may be running.

    STUDY may also be a study of Optuna: sqlite:///optuna.db, the path of its database or journal
    file, or the address of another database together with --name.
    """
    click.echo(visible(str(write(source(study, name), output, replay=replay))))


def source(study: str, name: str | None) -> str | TrialSource:
    """Where to read a study from, which may be one of Optuna."""
    return OptunaSource(study, name) if is_optuna(study, name) else study
