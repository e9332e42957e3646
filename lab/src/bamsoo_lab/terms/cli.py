"""The command `bamsoo terms`, which writes the terms of a corpus as a table."""

import csv
from typing import TextIO

import click

from bamsoo.errors import BamsooError

from .corpus import CorpusError, load, read_gold
from .counts import count
from .extract import Extractor, Term
from .objective import (
    NAMES,
    Objective,
    checked_box,
    inside,
)
from .synthetic import synthetic


def _four(_: click.Context, __: click.Parameter, value: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in value.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) != len(NAMES):
        raise click.BadParameter(
            f"expected four numbers separated by commas, such as 5,4,3,3, got {value!r}"
        )
    return numbers


@click.command("terms", short_help="Extract terms from a corpus, and tune the extraction.")
@click.argument("corpus", required=False, type=click.Path())
@click.option(
    "--thresholds",
    callback=_four,
    default="5,4,3,3",
    show_default=True,
    metavar="T1,T2,T3,T4",
    help="How often terms of 1, 2, 3 and 4 words must occur.",
)
@click.option("--tune", is_flag=True, help="Search for the thresholds with the best F-score.")
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Number of evaluations for --tune.",
)
@click.option("--seed", default=0, show_default=True, help="Seed for --tune.")
@click.option(
    "--gold",
    type=click.Path(),
    help="File of gold terms, one per line, to use instead of the marked ones.",
)
@click.option(
    "--normalizer",
    type=click.IntRange(min=1),
    help="Recall normaliser N; by default, the number of gold terms that can be reached.",
)
@click.option(
    "--highest",
    callback=_four,
    default="300,100,50,30",
    show_default=True,
    metavar="T1,T2,T3,T4",
    help="Upper bounds of the thresholds; the lower bounds are 1.",
)
@click.option(
    "--no-verify", is_flag=True, help="Read XML even if its sha256 is not that of GENIA 3.02."
)
@click.option(
    "-o",
    "--output",
    type=click.File("w", encoding="utf-8", lazy=True),
    default="-",
    help="CSV file to write; standard output if not given.",
)
@click.pass_context
def terms(
    context: click.Context,
    corpus: str | None,
    thresholds: tuple[float, ...],
    tune: bool,
    budget: int,
    seed: int,
    gold: str | None,
    normalizer: int | None,
    highest: tuple[float, ...],
    no_verify: bool,
    output: TextIO,
) -> None:
    """Write the terms of CORPUS as a table: term, words, count, confidences, gold or not.

    CORPUS is GENIA 3.02 (its .tgz or .xml) or UTF-8 text, plain or gzipped, with gold terms in
    braces. Without CORPUS, a synthetic one is used.
    """
    given = context.get_parameter_source("thresholds") is not click.core.ParameterSource.DEFAULT
    if tune and given:
        raise click.UsageError(
            "--thresholds and --tune cannot be used together; leave out one of them"
        )
    try:
        text = load(corpus, verify=not no_verify) if corpus else synthetic()
        right = text.gold if gold is None else read_gold(gold)
        if not right and (tune or gold):
            raise CorpusError(
                f"{gold or text.name} contains no gold terms; expected {{term}} marks in the "
                "corpus, or a --gold file with one term per line"
            )
        extractor = Extractor(count(text))
        ends = zip(NAMES, highest, strict=True)
        box = checked_box({name: (1.0, high) for name, high in ends})
        score = None
        if right:
            objective = Objective(extractor, right, normalizer=normalizer, box=box)
            if tune:
                thresholds = _tuned(objective, budget, seed)
            score = objective.score(thresholds)
        found = extractor.extract(inside(box, thresholds))
    except BamsooError as error:
        raise click.ClickException(str(error)) from error
    _write(found, right, output)
    at = ", ".join(f"{name}={T:.4g}" for name, T in zip(NAMES, thresholds, strict=True))
    click.echo(f"{len(found)} terms of {text.name} at {at}", err=True)
    if score is not None:
        click.echo(
            f"F {score.f:.4f}, precision {score.precision:.4f}, recall {score.recall:.4f} "
            f"({score.right} right, N = {score.normalizer})",
            err=True,
        )


def _tuned(objective: Objective, budget: int, seed: int) -> tuple[float, ...]:
    import bamsoo

    space = {name: bamsoo.Real(low, high, log=True) for name, (low, high) in objective.box.items()}
    best = bamsoo.maximize(objective, space, budget, seed=seed).params
    return tuple(float(best[name]) for name in NAMES)


def _write(found: list[Term], gold: frozenset[str], output: TextIO) -> None:
    table = csv.writer(output, lineterminator="\n")
    table.writerow(["term", "words", "count", "pre", "post", *(["gold"] if gold else [])])
    for term in found:
        words = term.text.count(" ") + 1
        confidences = [f"{c:.6g}" if words > 1 else "" for c in (term.pre, term.post)]
        mark = [int(term.text in gold)] if gold else []
        table.writerow([term.text, words, term.count, *confidences, *mark])
