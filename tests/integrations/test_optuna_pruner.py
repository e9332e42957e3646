"""The pruner for Optuna stops trials that cannot win, with any sampler."""

import copy
import pickle

import pytest

optuna = pytest.importorskip("optuna")

from bamsoo.errors import SettingsError  # noqa: E402
from bamsoo.integrations.optuna import BaMSOOPruner  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.WARNING)


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
@pytest.mark.parametrize("first", [0, 1])
def test_trials_that_cannot_win_are_pruned(direction, first):
    sign = 1.0 if direction == "minimize" else -1.0

    def objective(trial):
        x = trial.suggest_float("x", 0.0, 1.0)
        kind = trial.suggest_categorical("kind", ["a", "b"])
        for step in range(first, first + 12):
            value = (x - 0.3) ** 2 + (kind == "b") + 1.0 / (1 + step)
            trial.report(sign * value, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return sign * value

    sampler = optuna.samplers.RandomSampler(seed=0)
    study = optuna.create_study(direction=direction, sampler=sampler, pruner=BaMSOOPruner())
    study.optimize(objective, n_trials=25)
    pruned = [t for t in study.trials if t.state == optuna.trial.TrialState.PRUNED]
    assert len(pruned) >= 8
    full = [t for t in study.trials if t.state == optuna.trial.TrialState.COMPLETE]
    assert all(len(t.intermediate_values) == 12 for t in full)
    finals = [(t.params["x"] - 0.3) ** 2 + (t.params["kind"] == "b") for t in study.trials]
    best = study.best_trial.params
    assert (best["x"] - 0.3) ** 2 + (best["kind"] == "b") <= min(finals) + 0.01


def falling(trial):
    x = trial.suggest_float("x", 0.0, 1.0)
    for step in range(12):
        trial.report((x - 0.3) ** 2 + 1.0 / (1 + step), step)
        if trial.should_prune():
            raise optuna.TrialPruned
    return (x - 0.3) ** 2


@pytest.mark.parametrize("at", [(5, 6), (0, 5), (100, 200)])
def test_a_trial_that_reports_more_than_all_its_steps_is_not_pruned(at):
    def long(trial):
        x = trial.suggest_float("x", 0.0, 1.0)
        for step in at if trial.number else range(3):
            trial.report(x, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return x

    study = optuna.create_study(
        sampler=optuna.samplers.RandomSampler(seed=0), pruner=BaMSOOPruner(3)
    )
    study.optimize(long, n_trials=12)
    pruned = [t for t in study.trials if t.state == optuna.trial.TrialState.PRUNED]
    assert all(max(t.intermediate_values) < 3 for t in pruned)
    assert len(pruned) < 11


def test_threads_of_one_study_share_the_pruner():
    for seed in range(3):
        sampler = optuna.samplers.RandomSampler(seed=seed)
        study = optuna.create_study(sampler=sampler, pruner=BaMSOOPruner(12))
        study.optimize(falling, n_trials=24, n_jobs=4)
        assert len(study.trials) == 24


def test_a_pruner_can_be_copied_and_pickled_in_the_middle_of_a_study():
    study = optuna.create_study(
        sampler=optuna.samplers.RandomSampler(seed=0), pruner=BaMSOOPruner(12)
    )
    study.optimize(falling, n_trials=12)
    others = copy.deepcopy(study), pickle.loads(pickle.dumps(study))
    for each in (study, *others):
        each.optimize(falling, n_trials=12)
    states = [[(t.params, t.state) for t in each.trials] for each in (study, *others)]
    assert states[0] == states[1] == states[2]


def test_the_pruner_checks_what_it_is_given():
    with pytest.raises(SettingsError, match="steps"):
        BaMSOOPruner(steps=0)
    study = optuna.create_study(directions=["minimize", "minimize"], pruner=BaMSOOPruner())
    with pytest.raises(SettingsError, match="one objective"):
        study.pruner.prune(study, optuna.trial.create_trial(values=[1.0, 2.0]))
