"""All tuning tasks, and which of them are for development and which for reporting."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Literal

from ..errors import require
from ..named import Named
from .task import TASKS, TuningTask

Part = Literal["develop", "report"]

INSTANCES: dict[Part, tuple[int, ...]] = {"develop": (0, 1), "report": (10, 11)}
"""Instances of each part; they determine rows, folds and loads, and seed the searches."""

SPLIT: dict[Part, tuple[str, ...]] = {
    "develop": (
        "adaboost-friedman-noisy",
        "annealing-noisy",
        "bagging-wine-noisy",
        "boosting-classes",
        "boosting-friedman",
        "cantilever-fails",
        "concrete-beam",
        "elastic-net-sparse",
        "epidemic",
        "extra-trees-useless-columns",
        "forest-digits",
        "gaussian-process-friedman-fails",
        "hist-boosting-cancer",
        "image-filter",
        "isolation-forest-noisy",
        "kernel-ridge-diabetes",
        "knn-diabetes",
        "logistic-cost",
        "lotka-volterra-fails",
        "network-diabetes-fails",
        "network-moons-noisy",
        "nu-svc-fails",
        "pid-controller",
        "pipeline-digits",
        "pipeline-knn-digits",
        "pls-wide",
        "radius-neighbours-friedman-fails",
        "sgd-friedman-fails",
        "speed-reducer",
        "svc-cancer",
        "svc-useless-columns",
        "svr-diabetes",
        "thin-film",
        "tree-cancer",
        "tree-friedman",
        "tree-wine",
        "voting-digits",
        "welded-beam",
    ),
    "report": (
        "adaboost-digits",
        "boosting-diabetes-noisy",
        "clusters-moons-fails",
        "discriminant-digits-fails",
        "extra-trees-friedman",
        "forest-cancer-noisy",
        "forest-diabetes-fails",
        "forest-wine",
        "gaussian-process-lengths",
        "gear-train",
        "hist-boosting-diabetes",
        "huber-outliers",
        "inventory-noisy-fails",
        "job-shop",
        "logistic-digits-fails",
        "naive-bayes-digits",
        "network-digits",
        "peaks-with-outliers",
        "pendulum-noisy",
        "pipeline-features-noisy",
        "pipeline-friedman",
        "pipeline-lasso-best-columns",
        "pressure-vessel",
        "projectile",
        "radius-neighbours-wine-fails",
        "reactor",
        "ridge-polynomial",
        "robot-arm",
        "sgd-cancer-noisy",
        "smoothing-fails",
        "staffing-noisy",
        "svc-digits",
        "svr-friedman",
        "ten-bar-truss",
        "tension-spring",
        "tree-diabetes",
        "tree-digits",
        "tree-moons",
    ),
}
"""The result of `split` before the first run, fixed so that new tasks do not change it."""


def tasks() -> Named[TuningTask]:
    """Every task by name."""
    require("sklearn")
    from . import (  # noqa: F401 -- importing a module registers its tasks
        designs,
        kernels,
        linear,
        pipelines,
        simulations,
        trees,
    )

    return TASKS


def split(tasks: Iterable[TuningTask]) -> dict[Part, tuple[str, ...]]:
    """The rule that divided the tasks before anybody had seen a result.

    The tasks are sorted by whether they fail, whether they are noisy, their family and the hash of
    their name, and assigned to the two parts alternately. Neighbours are similar, so the two parts
    are similar too.
    """
    kinds = {t.name: (t.fails, t.noisy, t.family) for t in tasks}
    names = sorted(kinds, key=lambda name: (kinds[name], sha256(name.encode()).hexdigest()))
    return {"develop": tuple(sorted(names[::2])), "report": tuple(sorted(names[1::2]))}
