"""The structure of a space, inferred from the trials of an Optuna study."""

import numpy as np
import optuna
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import create_trial

from bamsoo.study.optuna_space import (
    Suggested,
    flat,
    structure_of,
    suggested_by,
    values_of,
)

BRANCHES = {
    "c": Suggested(
        CategoricalDistribution(["a", "b", "c"]),
        {
            0: {"x": Suggested(FloatDistribution(0, 1)), "d": Suggested(IntDistribution(1, 4))},
            2: {
                "e": Suggested(
                    IntDistribution(1, 5, log=True),
                    {2: {"y": Suggested(FloatDistribution(1e-3, 1, log=True))}},
                )
            },
        },
    ),
    "z": Suggested(FloatDistribution(-1, 1)),
}


def trial_of(structure, rng):
    """A trial that suggests at random."""
    sampler = optuna.samplers.RandomSampler(seed=int(rng.integers(2**31)))
    params, distributions = {}, {}

    def suggest(inner):
        for name, suggested in inner.items():
            distribution = suggested.distribution
            params[name] = sampler.sample_independent(None, None, name, distribution)
            distributions[name] = distribution
            number = distribution.to_internal_repr(params[name])
            counted = 1 if isinstance(distribution, IntDistribution) and not distribution.log else 0
            suggest(suggested.brings.get(int(number) - counted, {}))

    suggest(structure)
    return create_trial(params=params, distributions=distributions, value=0.0)


@pytest.mark.slow
@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32), st.integers(200, 300))
def test_enough_trials_show_the_structure(seed, count):
    rng = np.random.default_rng(seed)
    trials = [trial_of(BRANCHES, rng) for _ in range(count)]
    found = structure_of(trials)
    assert found == BRANCHES
    assert flat(found).keys() == {"c", "x", "d", "e", "y", "z"}
    for trial in trials:
        point, whole = suggested_by(found, trial)
        assert whole
        values = values_of(found, point)
        assert values.keys() == trial.params.keys()
        assert values.pop("c") == trial.params["c"]
        assert values == pytest.approx({k: v for k, v in trial.params.items() if k != "c"})


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32), st.integers(1, 12))
def test_few_trials_give_a_structure_that_fits_them(seed, count):
    rng = np.random.default_rng(seed)
    trials = [trial_of(BRANCHES, rng) for _ in range(count)]
    found = structure_of(trials)
    for trial in trials:
        point, whole = suggested_by(found, trial)
        assert whole
        assert values_of(found, point).keys() <= trial.params.keys()
