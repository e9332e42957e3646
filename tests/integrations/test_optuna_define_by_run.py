"""Optuna objectives that suggest some parameters only with some values of others."""

import numpy as np
import optuna
import pytest

from bamsoo import Choice, Int, Real
from bamsoo.integrations.optuna import BaMSOOSampler
from bamsoo.study.optuna_space import (
    as_space,
    structure_of,
)

optuna.logging.set_verbosity(optuna.logging.WARNING)


def objective(trial):
    rate = trial.suggest_float("rate", 1e-4, 1, log=True)
    value = (np.log10(rate) + 2) ** 2
    model = trial.suggest_categorical("model", ["svm", "forest", "net"])
    if model == "svm":
        value += (np.log10(trial.suggest_float("C", 1e-3, 1e3, log=True)) - 1) ** 2
        if trial.suggest_categorical("kernel", ["rbf", "linear"]) == "rbf":
            value += 10 * (trial.suggest_float("gamma", 0, 1) - 0.3) ** 2 - 1
    elif model == "forest":
        value += abs(trial.suggest_int("depth", 2, 20, step=2) - 8) / 5
    else:
        layers = trial.suggest_int("layers", 1, 3)
        for i in range(layers):
            value += 0.1 * np.log(trial.suggest_int(f"width{i}", 1, 256, log=True) / 30) ** 2
        value += [1, 0.5, 0.2][layers - 1]
    return value


class Spy(BaMSOOSampler):
    """Records what is sampled independently."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.independent = []

    def sample_independent(self, study, trial, name, distribution):
        self.independent.append((trial.number, name))
        return super().sample_independent(study, trial, name, distribution)


pytestmark = pytest.mark.slow  # the study that the tests share


@pytest.fixture(scope="module")
def study():
    study = optuna.create_study(sampler=Spy(seed=0))
    study.optimize(objective, n_trials=60)
    return study


def test_the_dependencies_between_parameters_are_inferred(study):
    found = as_space(structure_of(study.trials))
    width = Int(1, 256, log=True)
    assert found == {
        "model": Choice(
            {
                0: {
                    "C": Real(1e-3, 1e3, log=True),
                    "kernel": Choice({0: {"gamma": Real(0, 1)}, 1: {}}),
                },
                1: {"depth": Int(0, 9)},
                2: {
                    "layers": Choice(
                        {0: {}, 1: {"width1": width}, 2: {"width1": width, "width2": width}}
                    ),
                    "width0": width,
                },
            }
        ),
        "rate": Real(1e-4, 1, log=True),
    }


def test_each_parameter_is_sampled_independently_at_most_once_in_a_branch(study):
    branches = [
        (name, *(study.trials[number].params.get(key) for key in ("model", "kernel", "layers")))
        for number, name in study.sampler.independent
    ]
    assert len(branches) == len(set(branches))  # when it is entered for the first time


def test_the_best_branch_is_searched_to_its_optimum(study):
    assert study.best_params["model"] == "svm"
    assert study.best_value < -0.99


def test_a_resumed_study_goes_on_in_the_same_way(study):
    storage = optuna.storages.InMemoryStorage()
    again = optuna.create_study(storage=storage, study_name="a", sampler=BaMSOOSampler(seed=0))
    again.optimize(objective, n_trials=13)
    resumed = optuna.load_study(study_name="a", storage=storage, sampler=BaMSOOSampler(seed=0))
    resumed.optimize(objective, n_trials=12)
    assert [t.params for t in resumed.trials] == [t.params for t in study.trials[:25]]


def test_no_point_is_tried_twice_except_once_to_see_whether_values_are_exact(study):
    assert len({str(sorted(t.params.items())) for t in study.trials}) >= 59


def test_threads_share_the_sampler():
    study = optuna.create_study(sampler=BaMSOOSampler("soo", seed=0))
    study.optimize(objective, n_trials=24, n_jobs=3)
    assert len(study.trials) == 24
    assert all(t.state == optuna.trial.TrialState.COMPLETE for t in study.trials)


def test_a_parameter_without_a_rule_is_sampled_independently():
    sampler = Spy(algorithm="soo", seed=0)

    def fun(trial):
        x = trial.suggest_float("x", 0, 1)
        trial.suggest_categorical("c", ["a", "b"])
        return x + (trial.suggest_float("y", 0, 1) if x < 0.4 else 0)

    study = optuna.create_study(sampler=sampler)
    study.optimize(fun, n_trials=30)
    found = structure_of(study.trials)
    assert set(found) == {"c", "x"}
    late = {name for number, name in sampler.independent if number > 15}
    assert late == {"y"}


def test_ranges_may_differ_from_branch_to_branch():
    def fun(trial):
        if trial.suggest_categorical("c", ["a", "b"]) == "a":
            return trial.suggest_float("n", 0, 1)
        return trial.suggest_float("n", 10, 20)

    sampler = Spy(algorithm="soo", seed=0)
    study = optuna.create_study(sampler=sampler)
    study.optimize(fun, n_trials=25)
    late = [name for number, name in sampler.independent if number > 10]
    assert late == []
    assert as_space(structure_of(study.trials)) == {
        "c": Choice({0: {"n": Real(0, 1)}, 1: {"n": Real(10, 20)}})
    }
