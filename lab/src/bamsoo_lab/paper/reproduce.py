"""Run experiments and write the page of their results."""

import platform
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

import numpy as np
import scipy
from rich.console import Console

from bamsoo._version import __version__

from ..jobs.pool import Batch, perform
from ..jobs.source import searches
from ..jobs.store import Store
from . import (
    benchmarks,
    coverage,
    extraction,
    feasible,
    lemma,
    table,
    theory,
    trees,
    variants,
)
from .experiment import Experiment, Request
from .output import Output, pyplot

PARTS: Mapping[str, tuple[Experiment, ...]] = {
    "figures": (feasible.EXPERIMENT, trees.EXPERIMENT, benchmarks.EXPERIMENT),
    "variants": (variants.EXPERIMENT,),
    "table": (table.EXPERIMENT,),
    "theory": (coverage.EXPERIMENT, lemma.EXPERIMENT, theory.EXPERIMENT),
    "terms": (extraction.EXPERIMENT,),
}
"""What `bamsoo reproduce` can be asked for, besides all of it."""


def reproduce(
    part: str,
    request: Request,
    folder: Path,
    jobs: int,
    console: Console,
    others: Mapping[str, tuple[Experiment, ...]] = MappingProxyType({}),
) -> Path:
    """Run a part, or "all", and return the page.

    `others` are further parts, by name, that are not about the paper and not included in "all".

    Runs that are already in `folder` are not made again. Each new run is stored when it finishes.
    """
    pyplot()  # fail now, and not after an hour, if pictures cannot be drawn
    parts = {**PARTS, **others}
    chosen = [e for name in (PARTS if part == "all" else [part]) for e in parts[name]]
    tasks = {e.name: e.tasks(request) for e in chosen}
    chosen = [e for e in chosen if tasks[e.name]]
    output, store = Output(folder), Store(folder / "runs")
    together, alone = [e for e in chosen if not e.alone], [e for e in chosen if e.alone]
    batches = [
        Batch([task for e in together for task in tasks[e.name]], jobs),
        *(Batch(tasks[e.name], 1) for e in alone),
    ]
    runs = (finished for batch in perform(batches, store, console) for finished in batch)
    results = {e.name: [next(runs) for _ in tasks[e.name]] for e in (*together, *alone)}
    for e in chosen:
        console.print(e.write(results[e.name], output), markup=False, highlight=False)
        console.print()
    return output.page(_head(part, request, jobs))


def _head(part: str, request: Request, jobs: int) -> str:
    versions = (
        f"bamsoo {__version__}, source {searches()}, Python {platform.python_version()}, "
        f"numpy {np.__version__}, scipy {scipy.__version__}"
    )
    today = datetime.now(UTC).date().isoformat()
    return "\n\n".join(
        [
            "# The paper's claims, and what was measured",
            f"Written on {today} by `bamsoo reproduce {part} --jobs {jobs}` ({versions}). "
            "Raw runs are in `data/`, pictures in `pictures/`.",
            "Sizes: "
            + ", ".join(
                f"{name.replace('_', ' ')} {size}" for name, size in asdict(request.scale).items()
            )
            + ".",
        ]
    )
