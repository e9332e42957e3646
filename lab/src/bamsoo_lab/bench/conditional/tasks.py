"""All conditional tasks, and which of them are for development and which for reporting."""

from ..errors import require
from ..named import Named
from ..tuning.task import TuningTask
from ..tuning.tasks import Part
from .task import TASKS

SPLIT: dict[Part, tuple[str, ...]] = {
    "develop": (
        "beam-section",
        "classifier-clusters",
        "classifier-wine",
        "clusters-blobs",
        "controller",
        "gaussian-process-kernels",
        "machines",
        "network-solvers",
        "pipeline-digits",
        "pipeline-friedman",
        "tree-of-parabolas",
    ),
    "report": (
        "classifier-digits",
        "deep-branch",
        "eight-options",
        "kernel-ridge-kernels",
        "optional-steps",
        "pipeline-cancer",
        "regressor-diabetes",
        "regressor-friedman",
        "smoothing-steps",
        "stock-policy",
        "svm-kernels",
    ),
}
"""The result of `tuning.tasks.split` before the first run."""


def tasks() -> Named[TuningTask]:
    """Every task by name."""
    require("sklearn")
    from . import models, pipelines, simulations, synthetic  # noqa: F401 -- registers their tasks

    return TASKS
