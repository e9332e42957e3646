"""The bamsoo sweeper: `hydra/sweeper=bamsoo`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import (
    ChoiceSweep,
    IntervalSweep,
    Override,
    RangeSweep,
    Transformer,
)
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf

import bamsoo


@dataclass
class BamsooSweeperConf:
    """The settings of the sweeper."""

    _target_: str = "hydra_plugins.bamsoo_sweeper.BamsooSweeper"
    budget: int = 40
    batch: int = 1
    direction: str = "minimize"
    algorithm: str = "auto"
    seed: int = 0
    study: str | None = None
    params: dict[str, str] = field(default_factory=dict)


ConfigStore.instance().store(
    group="hydra/sweeper", name="bamsoo", node=BamsooSweeperConf, provider="bamsoo_sweeper"
)


def parameter(override: Override) -> Any:
    """What bamsoo searches for a sweep of Hydra."""
    value = override.value()
    name = override.get_key_element()
    if isinstance(value, IntervalSweep):
        low, high, log = value.start, value.end, "log" in value.tags
        if isinstance(low, int) and isinstance(high, int) and _is_whole(override):
            return bamsoo.Int(low, high, log=log)
        return bamsoo.Real(float(low), float(high), log=log)
    if isinstance(value, RangeSweep):
        return bamsoo.Choice(list(value.range()))
    if isinstance(value, ChoiceSweep):
        options = list(override.sweep_iterator(transformer=Transformer.encode))
        return bamsoo.Choice(options)
    raise bamsoo.BamsooError(
        f"{name}: {override.input_line} is not a sweep; use interval, range or choice"
    )


def _is_whole(override: Override) -> bool:
    return "int(" in (override.input_line or "").replace(" ", "")


class BamsooSweeper(Sweeper):
    """Launches jobs at the points that a search asks for, and tells it what they return."""

    def __init__(
        self,
        budget: int,
        batch: int,
        direction: str,
        algorithm: str,
        seed: int,
        study: str | None,
        params: DictConfig | None,
    ) -> None:
        self.budget, self.batch, self.direction = budget, batch, direction
        self.algorithm, self.seed, self.study = algorithm, seed, study
        self.params = {} if params is None else dict(params)

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Prepare the launcher."""
        self.hydra_context, self.config = hydra_context, config
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> Any:
        """Search until the budget is spent, and write the best point to a file."""
        stated = [f"{name}={value}" for name, value in self.params.items()]
        space, fixed = {}, []
        for override in OverridesParser.create().parse_overrides([*stated, *arguments]):
            if override.is_sweep_override():
                space[override.get_key_element()] = parameter(override)
            else:
                fixed.append(override.input_line or "")
        if not space:
            raise bamsoo.BamsooError(
                "there is nothing to search; give a parameter such as 'rate=interval(0, 1)'"
            )
        settings = {"direction": self.direction, "algorithm": self.algorithm, "seed": self.seed}
        if self.study is None:
            search = bamsoo.Optimizer(space, **settings)
        else:
            search = bamsoo.Study.open(self.study, space=space, budget=self.budget, **settings)
        try:
            self._search(search, fixed)
            result = search.result
        finally:
            if isinstance(search, bamsoo.Study):
                search.close()
        best = {"name": "bamsoo", "best_evaluated_result": float(result.fun)}
        best["best_evaluated_params"] = result.params
        place = Path(self.config.hydra.sweep.dir)
        place.mkdir(parents=True, exist_ok=True)
        OmegaConf.save(OmegaConf.create(best), place / "optimization_results.yaml")
        return result.params

    def _search(self, search: bamsoo.Optimizer, fixed: Sequence[str]) -> None:
        launched = 0
        while True:
            trials: list[Any] = []
            while len(trials) < self.batch:
                trial = search.ask_within(self.budget, {t.number: 0 for t in trials})
                if trial is None:
                    break
                trials.append(trial)
            if not trials:  # the rest is being evaluated by other sweeps of the study
                return
            jobs = [[*fixed, *(f"{n}={v}" for n, v in t.params.items())] for t in trials]
            self.validate_batch_is_legal(jobs)
            returned = self.launcher.launch(jobs, initial_job_idx=launched)
            launched += len(jobs)
            for trial, job in zip(trials, returned, strict=True):
                self._tell(search, trial, job)

    def _tell(self, search: bamsoo.Optimizer, trial: Any, job: JobReturn) -> None:
        if job.status != JobStatus.COMPLETED:
            search.tell(trial, None, f"the job failed: {job._return_value}")
            return
        value, extras = job.return_value, {}
        if isinstance(value, (tuple, list)) and len(value) == 2 and hasattr(value[1], "items"):
            value, extras = value[0], dict(value[1])
        bad = value is None or not isfinite(float(value))
        search.tell(trial, None if bad else float(value), extras=extras)
