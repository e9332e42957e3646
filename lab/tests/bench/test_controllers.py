"""The controllers: exact values repeat, noisy ones scatter around the true value."""

import numpy as np
import pytest

from bamsoo_lab.bench.simulators.controllers import CONTROLLERS


@pytest.mark.parametrize("name", CONTROLLERS)
def test_exact_episodes_repeat_and_noisy_ones_do_not(name):
    controller = CONTROLLERS[name]
    middle = {key: (p.low + p.high) / 2 for key, p in controller.space.items()}
    exact = controller.exact(0)
    assert exact(**middle) == exact(**middle)
    cost, _ = controller.noisy(0)
    again, _ = controller.noisy(0)
    first = [cost(**middle) for _ in range(3)]
    assert len(set(first)) == 3
    assert [again(**middle) for _ in range(3)] == first


def test_the_value_of_a_lander_jumps():
    controller, rng = CONTROLLERS["lander"], np.random.default_rng(0)
    exact = controller.exact(0)
    gains = np.array([rng.uniform(p.low, p.high, 21) for p in controller.space.values()])
    line = np.linspace(gains[:, 0], gains[:, 1], 200)
    values = np.array([exact(**dict(zip(controller.space, w, strict=True))) for w in line])
    assert np.abs(np.diff(values)).max() > 10.0


def test_the_true_value_is_the_mean_of_noisy_ones():
    controller = CONTROLLERS["swing"]
    middle = {key: (p.low + p.high) / 2 for key, p in controller.space.items()}
    cost, truth = controller.noisy(1)
    values = [cost(**middle) for _ in range(30)]
    assert abs(np.mean(values) - truth(**middle)) < 4.0 * np.std(values) / np.sqrt(30)
