"""MLflow: each evaluation as a run of its own below the active run."""

from typing import TYPE_CHECKING

from ..errors import SettingsError
from .tracking import News, best_of

try:
    import mlflow
except ImportError:
    raise SettingsError("bamsoo.integrations.mlflow needs mlflow: pip install mlflow") from None

if TYPE_CHECKING:
    from ..result.result import Result


STATUSES = {"failed": "FAILED", "stopped": "KILLED"}
"""What MLflow calls an evaluation that gave no value, by its state; others are FINISHED."""


class MLflowCallback:
    """A callback for `minimize` that records every evaluation in MLflow.

    Each evaluation becomes a nested run with its parameters, its value, the measured constraints
    and the extras. One that failed has the status FAILED, and one that was stopped because it could
    not win has the status KILLED. The active run, which is started if there is none, gets the
    metric ``best``.

    Examples
    --------
    >>> import bamsoo, mlflow  # doctest: +SKIP
    >>> from bamsoo.integrations.mlflow import MLflowCallback  # doctest: +SKIP
    >>> with mlflow.start_run():  # doctest: +SKIP
    ...     bamsoo.minimize(train, space, 50, callback=MLflowCallback())
    """

    def __init__(self) -> None:
        self._news = News()

    def __call__(self, intermediate_result: "Result") -> None:
        """Record the evaluations that are new."""
        if mlflow.active_run() is None:
            mlflow.start_run()
        last = 0
        for each in self._news.of(intermediate_result):
            last = each.row
            mlflow.start_run(run_name=each.name, nested=True)
            try:
                mlflow.log_params(each.params)
                mlflow.log_metrics(each.metrics)
                mlflow.set_tags(each.texts)
            finally:
                mlflow.end_run(STATUSES.get(each.texts["state"], "FINISHED"))
        mlflow.log_metrics(best_of(intermediate_result), step=last)
