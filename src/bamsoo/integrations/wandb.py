"""Weights & Biases: each evaluation as a step of the active run."""

from typing import TYPE_CHECKING

from ..errors import SettingsError
from .tracking import News, best_of

try:
    import wandb
except ImportError:
    raise SettingsError("bamsoo.integrations.wandb needs wandb: pip install wandb") from None

if TYPE_CHECKING:
    from ..result.result import Result


class WandbCallback:
    """A callback for `minimize` that records every evaluation in the active run.

    Each evaluation is a step with its value, the best value so far, the measured constraints and
    the extras; parameters are called ``param:NAME``.

    Examples
    --------
    >>> import bamsoo, wandb  # doctest: +SKIP
    >>> from bamsoo.integrations.wandb import WandbCallback  # doctest: +SKIP
    >>> with wandb.init(project="training"):  # doctest: +SKIP
    ...     bamsoo.minimize(train, space, 50, callback=WandbCallback())
    """

    def __init__(self) -> None:
        self._news = News()

    def __call__(self, intermediate_result: "Result") -> None:
        """Record the evaluations that are new."""
        run = wandb.run
        if run is None:
            raise SettingsError("there is no active run of wandb; call wandb.init() first")
        best = best_of(intermediate_result)
        for each in self._news.of(intermediate_result):
            params = {f"param:{name}": value for name, value in each.params.items()}
            run.log({**params, **each.texts, **each.metrics, **best})
