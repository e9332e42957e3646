"""From one basin of a fit to the next."""

import numpy as np

import bamsoo

T = np.linspace(0.0, 10.0, 40)


def wave(x):
    return np.sin(x[0] * T + x[1]) - np.sin(5.3 * T + 0.4)


def test_a_fit_finds_the_right_basin_and_its_bottom():
    r = bamsoo.least_squares(wave, [(1.0, 8.0), (-1.5, 1.5)], 80)
    assert r.fun < 1e-8
    assert np.abs(r.x - [5.3, 0.4]).max() < 1e-4


def test_the_tree_goes_on_while_fits_climb():
    r = bamsoo.least_squares(wave, [(1.0, 8.0), (-1.5, 1.5)], 80)
    origins = r.to_dataframe()["origin"].value_counts()
    assert origins["tree"] >= 5


def test_a_fit_of_a_finite_space_ends():
    space = {"a": bamsoo.Int(0, 3), "b": bamsoo.Choice(["x", "y"])}
    r = bamsoo.least_squares(lambda a, b: [a - 2.0, b == "x"], space, 50)
    assert r.nfev == 8
    assert r.params == {"a": 2, "b": "y"}


def test_values_may_come_with_and_without_residuals():
    opt = bamsoo.Optimizer([(0.0, 1.0)] * 2)
    for i in range(20):
        trial = opt.ask()
        r = trial.x - 0.3
        if i % 3:
            opt.tell(trial, residuals=r)
        else:
            opt.tell(trial, float(r @ r))
    assert opt.result.fun < 1e-6


def test_a_climb_that_crawls_goes_on_if_there_is_nothing_elsewhere():
    def bdqrtic(x):
        s = x**2
        sums = s[:4] + 2.0 * s[1:5] + 3.0 * s[2:6] + 4.0 * s[3:7] + 5.0 * s[-1]
        return np.concatenate([3.0 - 4.0 * x[:4], sums])

    r = bamsoo.least_squares(bdqrtic, [(-1.5, 3.5)] * 8, 80)
    assert r.fun < 10.239 * (1.0 + 1e-3)
