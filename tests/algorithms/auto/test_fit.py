"""From one basin of a fit to the next."""

import numpy as np

import bamsoo
from bamsoo.algorithms.auto.fit import Fits

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


def test_scouts_keep_away_from_the_bottoms_of_basins(monkeypatch):
    scout, found = Fits._scout, []

    def noted(self):
        step = scout(self)
        if step is not None:
            apart = np.abs(self._book.known.X[[*self._bottoms]] - step.x).max(1)
            found.append(float(apart.min()) / self._near)
        return step

    monkeypatch.setattr(Fits, "_scout", noted)
    bamsoo.least_squares(wave, [(1.0, 8.0), (-1.5, 1.5)], 60)
    assert len(found) > 5
    assert min(found) >= 1.0


def test_a_climb_in_a_long_valley_of_bad_fits_is_left():
    waves = np.linspace(0.4, 0.8, 50)

    def film(x):
        n = x[1] + x[2] / waves**2
        first, second = (1.0 - n) / (1.0 + n), (n - 1.52) / (n + 1.52)
        turn = np.exp(-4j * np.pi * n * x[0] / waves)
        return np.abs((first + second * turn) / (1.0 + first * second * turn)) ** 2

    data = film([0.65, 2.1, 0.025])
    r = bamsoo.least_squares(lambda x: film(x) - data, [(0.2, 2.0), (1.6, 2.6), (0.0, 0.05)], 50)
    assert r.fun < 1e-6
