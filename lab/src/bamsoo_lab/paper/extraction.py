"""Figure of Sec. 7: the best F-score of term extraction against evaluations."""

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bamsoo import Real, maximize
from bamsoo.algorithms import Algorithm
from bamsoo.base.typing import Array
from bamsoo.space import Space

from .. import terms
from ..jobs.task import Finished, Settings, Task
from .algorithms import build
from .benchmarks import ALGORITHMS, SECONDS, band
from .experiment import Experiment, Request
from .output import (
    Assertion,
    Output,
    claims,
    image,
    table,
)
from .priors import fit_priors, sample_size

SYNTHETIC = "synthetic"


def tasks(request: Request) -> list[Task]:
    """The exact optimum; GP-UCB and BaMSOO with every seed; SOO once."""
    corpus, scale = request.corpus, request.scale
    name = SYNTHETIC
    if corpus is not None:
        terms.load(corpus)  # fail before anything is run if the corpus cannot be read
        name = hashlib.sha256(corpus.read_bytes()).hexdigest()
    shared = {"corpus": name, "normalizer": request.normalizer}
    context = {"corpus": None if corpus is None else str(corpus)}
    runs = [
        Task(
            "paper.extraction:run",
            {**shared, "algorithm": algorithm, "seed": seed}
            | {"evaluations": scale.term_evaluations},
            SECONDS[algorithm] * scale.term_evaluations / 200,
            context,
        )
        for algorithm in ALGORITHMS
        for seed in range(1 if algorithm == "SOO" else scale.repeats)
    ]
    return [Task("paper.extraction:ceiling", shared, 5.0, context), *runs]


@cache
def objective(corpus: str | None, normalizer: int | None) -> terms.Objective:
    """The F-score on a corpus, which each worker loads only once."""
    text = terms.synthetic() if corpus is None else terms.load(Path(corpus))
    extractor = terms.Extractor(terms.count(text))
    return terms.Objective(extractor, text.gold, normalizer=normalizer)


def space_of(f: terms.Objective) -> dict[str, Real]:
    """The box of the thresholds, on a log scale."""
    return {name: Real(low, high, log=True) for name, (low, high) in f.box.items()}


@cache
def prior_of(corpus: str | None, normalizer: int | None) -> dict[str, Any]:
    """The objective's prior, obtained as those of the test functions are (see `priors`)."""
    f = objective(corpus, normalizer)
    space = Space(space_of(f))
    return fit_priors(lambda u: f(space.decode(u)), space.dim, sample_size(space.dim))[0]


def ceiling(settings: Settings, context: Settings) -> dict[str, Any]:
    """The exact optimum of the box, by comparing all its combinations, and the prior in use."""
    which = context["corpus"], settings["normalizer"]
    best = terms.optimum(objective(*which))
    return {
        "f": best.score.f,
        "precision": best.score.precision,
        "recall": best.score.recall,
        "normalizer": best.score.normalizer,
        "thresholds": best.thresholds,
        "cells": best.cells,
        "prior": prior_of(*which),
    }


def run(settings: Settings, context: Settings) -> dict[str, Any]:
    """One search: all F-scores in order, the best thresholds, their score and some terms."""
    which = context["corpus"], settings["normalizer"]
    f = objective(*which)
    prior = None if settings["algorithm"] == "SOO" else prior_of(*which)
    algorithm: Algorithm = build({**settings, "prior": prior})
    r = maximize(
        f, space_of(f), settings["evaluations"], algorithm=algorithm, seed=settings["seed"]
    )
    thresholds = [float(r.params[name]) for name in f.box]
    score = f.score(thresholds)
    sample = f.sample(thresholds)
    return {
        "values": r.F.tolist(),
        "rejected": r.nrejected,
        "thresholds": thresholds,
        "precision": score.precision,
        "recall": score.recall,
        "sample": {
            kind: [term.text for term in getattr(sample, kind)]
            for kind in ("right", "wrong", "missed")
        },
    }


def write(runs: Sequence[Finished], output: Output) -> str:
    """Raw runs, the picture, and distances to the optimum; a sample of terms in its own file."""
    top, searches = runs[0], list(runs[1:])
    best = {
        algorithm: np.array(
            [
                np.maximum.accumulate(run.result["values"])
                for run in searches
                if run.settings["algorithm"] == algorithm
            ]
        )
        for algorithm in ALGORITHMS
    }
    output.csv(
        "terms",
        ["algorithm", "seed", "evaluation", "f_score"],
        (
            (run.settings["algorithm"], run.settings["seed"], i + 1, value)
            for run in searches
            for i, value in enumerate(run.result["values"])
        ),
    )
    with output.picture("terms", 6.5, 4.5) as ax:
        for algorithm in ALGORITHMS:
            band(ax, best[algorithm], algorithm)
        ax.axhline(top.result["f"], color="black", linestyle="--", label="optimum of the box")
        ax.set(xlabel="evaluations", ylabel="best F-score", ylim=_limits(best, top.result["f"]))
        ax.figure.legend(loc="outside upper center", ncol=4, fontsize=10)
    champion = max(searches, key=lambda run: max(run.result["values"]))
    output.csv(
        "terms_sample",
        ["kind", "term"],
        ((kind, term) for kind, some in champion.result["sample"].items() for term in some),
    )
    synthetic = top.settings["corpus"] == SYNTHETIC
    text = "\n\n".join(
        [
            "## Term extraction (Sec. 7)",
            ("The synthetic corpus. " if synthetic else "")
            + "Best F-score (mean ± standard deviation, higher is better) with the recall "
            f"normaliser N = {top.result['normalizer']}. The optimum was found by comparing "
            f"{top.result['cells']:,} combinations of thresholds.",
            _distances(best, top),
            _best_rows(top, searches),
            image("terms", "Best F-score: mean and one standard deviation"),
            claims(_judge(best, top)),
        ]
    )
    sample = "\n".join(
        f"{kind}: " + "; ".join(some) for kind, some in champion.result["sample"].items()
    )
    shown = "A sample of terms at the best thresholds found (not stored in the page)"
    return output.section(9, "terms", text) + f"\n\n{shown}:\n\n{sample}"


def _limits(best: dict[str, Array], top: float) -> tuple[float, float]:
    least = min(float(curve[:, len(curve[0]) // 10].mean()) for curve in best.values())
    return least - 0.15 * (top - least), top + 0.08 * (top - least)


def _distances(best: dict[str, Array], top: Finished) -> str:
    budget = best["SOO"].shape[1]
    at = [budget // 4, budget // 2, budget]
    rows = [
        [algorithm, len(curve)]
        + [f"{curve[:, t - 1].mean():.4f} ± {curve[:, t - 1].std():.4f}" for t in at]
        + [f"{top.result['f'] - curve[:, t - 1].mean():.4f}" for t in at]
        for algorithm, curve in best.items()
    ]
    heads = [f"F at {t}" for t in at] + [f"below the optimum at {t}" for t in at]
    return table(["algorithm", "runs", *heads], rows)


def _best_rows(top: Finished, searches: Sequence[Finished]) -> str:
    rows = [
        [
            "optimum of the box",
            ", ".join(f"{T:g}" for T in top.result["thresholds"].values()),
            f"{top.result['f']:.4f}",
            f"{top.result['precision']:.4f}",
            f"{top.result['recall']:.4f}",
        ]
    ]
    for algorithm in ALGORITHMS:
        here = [run for run in searches if run.settings["algorithm"] == algorithm]
        result = max(here, key=lambda run: max(run.result["values"])).result
        rows.append(
            [
                f"{algorithm}, best run",
                ", ".join(f"{T:.2f}" for T in result["thresholds"]),
                f"{max(result['values']):.4f}",
                f"{result['precision']:.4f}",
                f"{result['recall']:.4f}",
            ]
        )
    return table(["thresholds of", "T1, T2, T3, T4", "F", "precision", "recall"], rows)


def _judge(best: dict[str, Array], top: Finished) -> list[Assertion]:
    means = {algorithm: curve.mean(0) for algorithm, curve in best.items()}
    end = {algorithm: float(mean[-1]) for algorithm, mean in means.items()}
    return [
        Assertion(
            f"BaMSOO outperforms {other} in this application",
            f"best F-score at the end: BaMSOO {end['BaMSOO']:.4f}, {other} {end[other]:.4f}, "
            f"optimum {top.result['f']:.4f}; BaMSOO is ahead at "
            f"{float((means['BaMSOO'] > means[other]).mean()):.0%} of the evaluations",
            end["BaMSOO"] > end[other],
        )
        for other in ("GP-UCB", "SOO")
    ]


EXPERIMENT = Experiment("terms", tasks, write)
