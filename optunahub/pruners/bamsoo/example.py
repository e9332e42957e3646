"""Prune trainings that cannot win with the pruner of the folder that holds this file."""

from __future__ import annotations

from math import exp
from pathlib import Path

import optuna
import optunahub


def objective(trial: optuna.Trial) -> float:
    """A training of 30 epochs whose loss falls to a level that the rate decides."""
    rate = trial.suggest_float("rate", 1e-4, 1, log=True)
    level = (rate - 0.03) ** 2 * 10
    for epoch in range(30):
        loss = level + exp(-epoch / 5)
        trial.report(loss, epoch)
        if trial.should_prune():
            raise optuna.TrialPruned
    return loss


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]  # the folder `package` of the registry
    module = optunahub.load_local_module(package="pruners/bamsoo", registry_root=str(root))
    study = optuna.create_study(pruner=module.BaMSOOPruner(steps=30))
    study.optimize(objective, n_trials=40)
    pruned = study.get_trials(states=[optuna.trial.TrialState.PRUNED])
    print(study.best_value, study.best_params, f"{len(pruned)} trials pruned")
