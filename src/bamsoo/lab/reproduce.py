"""The command `bamsoo reproduce`."""

from dataclasses import replace
from pathlib import Path

import click

from ..command.options import jobs_option, out_option
from .paper.scale import FULL, QUICK

PARTS = ("figures", "variants", "table", "theory", "terms", "family", "all")


@click.command("reproduce")
@click.argument("part", type=click.Choice(PARTS), default="all")
@click.option("--quick", is_flag=True, help="A small version of everything, in minutes.")
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    help=f"Runs of each randomised algorithm; {FULL.repeats}, or {QUICK.repeats} with --quick.",
)
@out_option("reproduction")
@jobs_option("Processes.")
@click.option(
    "--corpus",
    type=click.Path(path_type=Path),
    help="GENIA 3.02 (.tgz or .xml) or marked text for `terms`; else a synthetic corpus.",
)
@click.option(
    "--normalizer",
    type=click.IntRange(min=1),
    help="Recall normaliser N for `terms`; else all gold terms that can be reached.",
)
@click.option(
    "--docs",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="family: a page whose part on it is written anew, with the pictures beside it.",
)
def reproduce(
    part: str,
    quick: bool,
    repeats: int | None,
    out: Path,
    jobs: int,
    corpus: Path | None,
    normalizer: int | None,
    docs: Path | None,
) -> None:
    """Rerun the experiments of the BaMSOO paper, or a PART of them.

    The part family measures what the papers on its relatives claim, and is not part of all.

    Runs are kept in the folder as they finish: after an interruption the same command goes
    on where it stopped.
    """
    from rich.console import Console

    from .family import EXPERIMENTS
    from .family import page as family_page
    from .paper.experiment import Request
    from .paper.reproduce import reproduce as run

    if docs is not None:
        if part != "family" or quick:
            raise click.UsageError("--docs is for the part family in full")
        family_page.check(docs)
    scale = QUICK if quick else FULL
    if repeats is not None:
        scale = replace(scale, repeats=repeats)
    console = Console(soft_wrap=True)
    try:
        request = Request(scale, corpus, normalizer)
        page = run(part, request, out, jobs, console, {"family": EXPERIMENTS})
    except KeyboardInterrupt:
        raise click.ClickException(
            "interrupted; the finished runs are kept, the same command goes on from there"
        ) from None
    if docs is not None:
        family_page.rewrite(docs, out)
    console.print(f"The page: {page}", highlight=False)
