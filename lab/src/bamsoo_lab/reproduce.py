"""The command `bamsoo reproduce`."""

from dataclasses import replace
from pathlib import Path

import click

from .options import docs_option, jobs_option, out_option
from .paper.scale import FULL, QUICK

PARTS = ("figures", "variants", "table", "theory", "terms", "family", "all")


@click.command("reproduce", short_help="Rerun the experiments of the papers.")
@click.argument("part", type=click.Choice(PARTS), default="all")
@click.option("--quick", is_flag=True, help="Run a small version, which takes minutes.")
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    help="Runs of each randomised algorithm; by default "
    f"{FULL.repeats}, or {QUICK.repeats} with --quick.",
)
@out_option("reproduction")
@jobs_option("Number of processes.")
@click.option(
    "--corpus",
    type=click.Path(path_type=Path),
    help="GENIA 3.02 (.tgz or .xml) or marked text for `terms`; by default, a synthetic corpus.",
)
@click.option(
    "--normalizer",
    type=click.IntRange(min=1),
    help="Recall normaliser N for `terms`; by default, the number of reachable gold terms.",
)
@docs_option("family: a page in which the part about it is replaced, with its pictures.")
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

    The part `family` tests the claims of the papers on related algorithms, and is not included in
    `all`.

    Runs are stored in the folder as they finish, so after an interruption the same command
    continues where it stopped.
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
            "interrupted; the finished runs are stored, and the same command continues from there"
        ) from None
    if docs is not None:
        family_page.rewrite(docs, out)
    console.print(f"The page: {page}", highlight=False)
