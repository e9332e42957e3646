"""Minimise Branin with the sampler of the folder that holds this file."""

from __future__ import annotations

from math import cos
from math import pi
from pathlib import Path

import optuna
import optunahub


def objective(trial: optuna.Trial) -> float:
    """Branin's function, whose minimum is 0.397887."""
    x = trial.suggest_float("x", -5, 10)
    y = trial.suggest_float("y", 0, 15)
    bow = y - 5.1 * (x / (2 * pi)) ** 2 + 5 * x / pi - 6
    return bow**2 + 10 * (1 - 1 / (8 * pi)) * cos(x) + 10


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]  # the folder `package` of the registry
    module = optunahub.load_local_module(package="samplers/bamsoo", registry_root=str(root))
    study = optuna.create_study(sampler=module.BaMSOOSampler(seed=0))
    study.optimize(objective, n_trials=40)
    print(study.best_value, study.best_params)
