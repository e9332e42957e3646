"""The functions of Sec. 6 with other settings: which settings a result depends on."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bamsoo.problems import ALL, Problem

from ..jobs.task import Finished, Settings, Task
from .benchmarks import (
    LOW,
    MODERATE,
    SECONDS,
    log_distance,
    run_on,
    settings_of,
)
from .experiment import Experiment, Request
from .output import Output, table
from .priors import (
    fit_priors,
    on_unit_cube,
    sample_size,
    sampled,
    stored,
)

VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "BaMSOO as in the figures": {},
    "the other kernel family": {"family": 1},
    "prior from a quarter of the points": {"sample": 0.25},
    "prior from half the points": {"sample": 0.5},
    "prior from twice the points": {"sample": 2},
    "prior mean 0": {"options": {"mean": 0.0}},
    "k = 3": {"options": {"k": 3}},
    "h_max = n^(1/3)": {"options": {"h_max": "n^(1/3)"}},
    "h_max = 2 sqrt(n)": {"options": {"h_max": "2 sqrt(n)"}},
    "no h_max": {"options": {"h_max": "none"}},
    "eta = 0.5": {"options": {"eta": 0.5}},
    "patience 100": {"options": {"patience": 100}},
    "smallest sigma 1e-5 of the prior's": {"options": {"jitter": 1e-10}},
    "smallest sigma 1e-7 of the prior's": {"options": {"jitter": 1e-14}},
    "Rosenbrock on [-2.1, 2]^2": {"problem": "rosenbrock", "box": [[-2.1, 2.0]] * 2},
    "Rosenbrock on [-2.048, 2.048]^2": {"problem": "rosenbrock", "box": [[-2.048, 2.048]] * 2},
    "no random first point": {"options": {"random_start": False}},
    "GP-UCB, 100 calls of DIRECT": {"algorithm": "GP-UCB", "options": {"direct_evaluations": 100}},
    "GP-UCB, expected improvement": {"algorithm": "GP-UCB", "options": {"acquisition": "ei"}},
    "SOO as in the figures": {"algorithm": "SOO"},
    "SOO, k = 3": {"algorithm": "SOO", "options": {"k": 3}},
    "SOO, no h_max": {"algorithm": "SOO", "options": {"h_max": "none"}},
}
"""What each variant changes in the settings of the figures, by name."""


def tasks(request: Request) -> list[Task]:
    """Every variant on every function; variants that do not depend on a seed, only once."""
    scale = request.scale
    found = []
    for name, change in VARIANTS.items():
        algorithm = change.get("algorithm", "BaMSOO")
        fixed = algorithm == "SOO" or change.get("options", {}).get("random_start") is False
        for problem in LOW + MODERATE:
            if change.get("problem", problem) != problem:
                continue
            for seed in range(min(1, scale.variant_repeats) if fixed else scale.variant_repeats):
                settings = settings_of(problem, algorithm, seed, scale.evaluations)
                cost = SECONDS[algorithm] * scale.evaluations / 200
                settings |= {"variant": name, "change": dict(change)}
                if "family" in change:
                    settings["prior"] = stored()[problem][change["family"]]
                found.append(Task("paper.variants:run", settings, cost))
    return found


def run(settings: Settings, context: Settings) -> dict[str, Any]:
    """A run of `benchmarks` with the changes of the variant."""
    change, name = settings["change"], settings["problem"]
    changed = {**settings, "options": change.get("options", {})}
    problem = ALL[name]
    if "box" in change:
        optimizers = problem.optimizers.tolist()
        problem = Problem(name, problem, change["box"], problem.optimum, optimizers)
        prior = fit_priors(on_unit_cube(problem), problem.dim, sample_size(problem.dim))
        changed["prior"] = prior[0]
    if "sample" in change:
        changed["prior"] = sampled(name, int(change["sample"] * sample_size(problem.dim)))[0]
    return run_on(problem, changed)


def write(runs: Sequence[Finished], output: Output) -> str:
    """Mean log10 distance at the end of the budget for each variant and function."""
    problems = LOW + MODERATE
    ends: dict[tuple[str, str], list[float]] = {}
    for r in runs:
        here = ends.setdefault((r.settings["variant"], r.settings["problem"]), [])
        here.append(float(log_distance(r)[-1]))
    rows = [(*key, len(end), np.mean(end), np.std(end)) for key, end in ends.items()]
    output.csv("variants", ["variant", "problem", "runs", "mean", "std"], rows)
    cells = {row[:2]: f"{row[3]:.1f} ± {row[4]:.1f}" for row in rows}
    shown = [
        [name, *(cells.get((name, problem), "") for problem in problems)]
        for name in dict.fromkeys(row[0] for row in rows)
    ]
    evaluations, repeats = runs[0].settings["evaluations"], max(r[2] for r in rows)
    text = "\n\n".join(
        [
            "## Variants",
            "Each row changes one setting. A cell gives log10 of the distance to the optimum "
            f"after {evaluations} evaluations: the mean ± the standard deviation of {repeats} "
            "runs. Lower is better.",
            table(["variant", *(p.capitalize() for p in problems)], shown),
        ]
    )
    return output.section(4, "variants", text)


EXPERIMENT = Experiment("variants", tasks, write)
