"""The command `bamsoo retry`: failures that may be taken back."""

import click

from ..base.checks import count
from ..study import Study
from ..study.address import parse
from .options import study_argument, visible


@click.command("retry")
@study_argument
@click.option(
    "--matching",
    metavar="TEXT",
    help="Only the trials whose error contains TEXT, such as 'no licence'.",
)
def retry(study: str, matching: str | None) -> None:
    """Make the failed trials of STUDY pending again, because what made them fail was put right.

    They are evaluated first when the run goes on, and do not count towards the budget until then.
    The search forgets what it has learned from their failures.
    """
    with Study.open(study) as opened:
        chosen = [
            each.number
            for each in opened.trials
            if each.state == "failed" and each.number is not None
            if matching is None or matching in (each.error or "")
        ]
        opened.retry(chosen)
        earlier = sum(t.state == "failed" and t.number is None for t in opened.trials)
    name = visible(parse(study).shown)
    said = f"{name}: {count(len(chosen), 'trial')} pending again: bamsoo resume {name}"
    if not chosen:
        matched = "" if matching is None else f" with an error that contains {visible(matching)!r}"
        said = f"{name}: no trial of this study has failed{matched}"
    if earlier:
        came = f"; {count(earlier, 'failure')} came from earlier work"
        said += f"{came}: take them back there, and begin a new study with that"
    click.echo(said)
