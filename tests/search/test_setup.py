"""The arguments of a search are checked, and made into what decides its course."""

from math import nan

import numpy as np
import pytest

from bamsoo import Fidelity
from bamsoo.errors import SettingsError
from bamsoo.search.setup import as_seed, given_seed, setup_of

PLANE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
LEVELS = {"x": (0.0, 1.0), "level": Fidelity(0.25, 1.0)}


def test_what_was_given_is_what_the_search_has():
    setup = setup_of(PLANE, "maximize", "soo", seed=5, tol=1, constraints=["c <= 2"])
    assert setup.space.names == ["x", "y"]
    assert setup.objectives.direction == "maximize"
    assert type(setup.algorithm).__name__ == "SOO"
    assert (setup.seed, setup.tol, setup.steps) == (5, 1.0, None)
    assert list(setup.constraints.measured) == ["c"]
    assert not setup.trainings


def test_equal_arguments_are_two_searches():
    one, other = setup_of(PLANE), setup_of(PLANE)
    assert one.seed == other.seed
    assert one.identity != other.identity


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"constraints": ["c <= 2"], "algorithm": "stosoo"}, "cannot handle measured constraints"),
        ({"constraints": ["c <= 2"], "objectives": ["c", "d"]}, "'c' is both an objective and"),
        ({"objectives": ["a", "b"], "tol": 0.1}, "tol is for one objective"),
        ({"tol": nan}, "tol must be a finite number > 0"),
        ({"steps": 0}, "steps must be a whole number >= 1, got 0"),
        ({"steps": True}, "steps must be a whole number >= 1, got True"),
        ({"steps": 3, "algorithm": "stosoo"}, "cannot stop evaluations"),
    ],
)
def test_settings_that_exclude_each_other_are_refused(settings, said):
    with pytest.raises(SettingsError, match=said):
        setup_of(PLANE, **settings)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"steps": 3}, "level is a Fidelity, which cannot be combined with steps="),
        ({"objectives": ["a", "b"]}, "level is a Fidelity, which is for one objective"),
        ({"algorithm": "soo"}, "SOO cannot choose a Fidelity, which level is; use auto"),
    ],
)
def test_a_fidelity_needs_a_search_that_can_choose_it(settings, said):
    with pytest.raises(SettingsError, match=said):
        setup_of(LEVELS, **settings)


def test_seed_and_rng_are_two_names_for_one_thing():
    assert given_seed(7, None) == given_seed(None, 7) == given_seed(np.int64(7), None) == 7
    assert given_seed(None, None) is None
    drawn = given_seed(np.random.default_rng(3), None)
    assert drawn == given_seed(None, np.random.PCG64(3))
    assert given_seed(None, [3]) == given_seed(None, np.random.SeedSequence([3]))
    with pytest.raises(SettingsError, match="give one of them"):
        given_seed(7, 7)


def test_without_a_seed_one_is_drawn():
    seeds = {setup_of(PLANE, seed=None).seed for _ in range(3)}
    assert len(seeds) == 3
    assert all(0 <= seed < 2**32 for seed in seeds)


@pytest.mark.parametrize("wrong", [-1, 0.5, True, "x", [1]])
def test_what_is_no_seed_is_refused(wrong):
    with pytest.raises(SettingsError, match="seed must be a whole number >= 0"):
        as_seed(wrong)
    with pytest.raises(SettingsError, match="rng must be a whole number >= 0"):
        given_seed(None, ["x"])
