"""`bamsoo.least_squares`: the fit of a model to data, from the function to the result."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bamsoo
from bamsoo.errors import CallError, ModelError, SettingsError, StudyError, ValueTypeError
from bamsoo.record.residuals import SumOfSquares

T = np.linspace(0.0, 4.0, 12)
DATA = 2.5 * np.exp(-1.3 * T)
SPACE = {"height": (0.0, 10.0), "rate": (0.0, 5.0)}


def decay(height, rate):
    return height * np.exp(-rate * T) - DATA


def test_a_fit_returns_residuals_and_their_sum_of_squares():
    r = bamsoo.least_squares(decay, SPACE, 12)
    assert r.nfev == 12
    assert r.R.shape == (12, len(T))
    assert_allclose((r.R**2).sum(1), r.F)
    assert_allclose(r.residuals, decay(**r.params))
    assert r.fun == r.F.min()


def test_missing_data_does_not_count_and_failures_have_no_residuals():
    def fun(x):
        if x[0] > 0.8:
            return None
        found = x[0] - np.array([0.2, 0.3, 0.4])
        found[1] = np.nan
        return found

    r = bamsoo.least_squares(fun, [(0.0, 1.0)], 12)
    assert abs(r.x[0] - 0.3) < 1e-6
    assert_allclose(r.fun, 0.02, rtol=1e-9)
    assert np.isnan(r.residuals[1])
    failed = np.isnan(r.F)
    assert np.isnan(r.R[failed]).all()


def test_an_infinite_residual_is_a_failure():
    opt = bamsoo.Optimizer([(0.0, 1.0)])
    opt.tell(opt.ask(), residuals=[1.0, np.inf])
    assert opt.result.nfailed == 1
    r = bamsoo.least_squares(lambda x: [x[0] - 0.2, np.inf if x[0] > 0.6 else 0.0], [(0.0, 1.0)], 8)
    assert r.nfailed
    assert abs(r.x[0] - 0.2) < 1e-6


def test_a_fit_without_a_best_point_says_so():
    seen = []
    r = bamsoo.least_squares(
        lambda x: None, [(0.0, 1.0)], 3, callback=lambda r: seen.append(r.residuals)
    )
    assert seen == [None] * 3
    assert r.residuals is None
    assert r.R.shape == (3, 0)
    with pytest.raises(ModelError, match="no evaluation gave a value"):
        _ = r.covariance
    r = bamsoo.least_squares(
        lambda height, rate: (decay(height, rate), {"g": 1.0}), SPACE, 3, constraints=["g"]
    )
    assert r.R.shape == (3, len(T))
    with pytest.raises(ModelError, match="no feasible point was found"):
        _ = r.deviations


def test_ask_and_tell_ask_for_the_same_points_whether_the_fit_was_declared_or_not():
    points = []
    for objectives in (None, SumOfSquares()):
        opt = bamsoo.Optimizer(SPACE, objectives=objectives)
        for _ in range(10):
            trial = opt.ask()
            opt.tell(trial, residuals=decay(**trial.params))
        points.append(opt.result.X)
    assert points[0] == points[1] == bamsoo.least_squares(decay, SPACE, 10).X


def test_a_scale_without_a_loss_is_refused():
    with pytest.raises(SettingsError, match=r'f_scale= has no effect .* such as loss="soft_l1"'):
        bamsoo.least_squares(decay, SPACE, 4, f_scale=0.1)
    assert bamsoo.least_squares(decay, SPACE, 2, f_scale=0.1, loss="linear").nfev == 2


def test_a_study_of_a_fit_continues_with_its_residuals(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = "fit.db"
    weights = [1.0] * 11 + [0.5]
    more = {"loss": "soft_l1", "f_scale": 0.1, "weights": weights}
    whole = bamsoo.least_squares(decay, SPACE, 14, **more)
    bamsoo.least_squares(decay, SPACE, 7, study=path, **more)
    r = bamsoo.least_squares(decay, SPACE, 14, study=path, **more)
    assert r.X == whole.X
    assert_array_equal(r.R, whole.R)
    with bamsoo.Study.open(path, readonly=True) as study:
        assert_array_equal(study.result.R, whole.R)
    with pytest.raises(StudyError, match=r"loss is 'soft_l1', got 'linear'; .* study='fit-2"):
        bamsoo.least_squares(decay, SPACE, 14, study=path)
    fork = "bamsoo fork fit.db fit-2.db --loss huber --f-scale 0.5"
    with pytest.raises(StudyError, match=fork):
        bamsoo.least_squares(
            decay, SPACE, 14, study=path, **{**more, "loss": "huber", "f_scale": 0.5}
        )
    with pytest.raises(StudyError, match=r"the study's weights are .*, got not set"):
        bamsoo.least_squares(decay, SPACE, 14, study=path, **{**more, "weights": None})
    with pytest.raises(SettingsError, match="least_squares"):
        bamsoo.minimize(lambda **p: 1.0, SPACE, 14, study=path)
    values = tmp_path / "values.db"
    bamsoo.minimize(lambda **p: 1.0, SPACE, 2, study=values)
    with pytest.raises(StudyError, match="objective is a value, got the sum of squares"):
        bamsoo.least_squares(decay, SPACE, 2, study=values)


def test_workers_and_pickles_keep_residuals():
    times, data = T, DATA

    def fun(height, rate):
        return height * np.exp(-rate * times) - data

    r = bamsoo.least_squares(fun, SPACE, 8, workers=2)
    assert_allclose((r.R**2).sum(1), r.F)
    assert_array_equal(pickle.loads(pickle.dumps(r)).R, r.R)


def test_extras_and_constraints_come_with_residuals():
    def fun(height, rate):
        return decay(height, rate), {"excess": rate - 1.0, "note": "x"}

    r = bamsoo.least_squares(fun, SPACE, 30, constraints=["excess"])
    assert r.feasible.any()
    assert 0.9 < r.params["rate"] <= 1.0


def test_residuals_that_do_not_fit():
    opt = bamsoo.Optimizer([(0.0, 1.0)])
    opt.tell(opt.ask(), residuals=[1.0, 2.0])
    with pytest.raises(ValueTypeError, match="returned 3 residuals, but earlier ones 2"):
        opt.tell(opt.ask(), residuals=[1.0, 2.0, 3.0])
    with pytest.raises(ValueTypeError, match="either a value or residuals"):
        opt.tell(opt.ask(), 1.0, residuals=[1.0, 2.0])
    with pytest.raises(ValueTypeError, match="tell needs a value"):
        opt.tell(opt.ask())
    most = bamsoo.Optimizer([(0.0, 1.0)], direction="maximize")
    with pytest.raises(ValueTypeError, match="minimises one objective"):
        most.tell(most.ask(), residuals=[1.0])
    with pytest.raises(ValueTypeError, match="returned 12 residuals, but there are 2 weights"):
        bamsoo.least_squares(decay, SPACE, 5, weights=[1.0, 2.0])
    with pytest.raises(ValueTypeError, match=r"bamsoo\.least_squares"):
        bamsoo.minimize(decay, SPACE, 5)
    with pytest.raises(CallError, match="no argument 'steps'"):
        bamsoo.least_squares(decay, SPACE, 5, steps=3)
    with pytest.raises(ValueTypeError, match="must be a vector"):
        bamsoo.least_squares(lambda x: np.ones((2, 2)), [(0.0, 1.0)], 5)


def test_earlier_fits_are_known_with_their_residuals(tmp_path):
    path = tmp_path / "fit.db"
    first = bamsoo.least_squares(decay, SPACE, 10, study=path)
    pairs = [(p, decay(**p)) for p in first.X]
    for known in (path, pairs):
        r = bamsoo.least_squares(decay, SPACE, 1, known=known)
        assert_array_equal(r.R[:10], first.R)
    with pytest.raises(SettingsError, match="a table has no residuals"):
        bamsoo.least_squares(decay, SPACE, 1, known=first.to_dataframe())


def test_noise_is_the_variance_of_each_residual():
    rng = np.random.default_rng(0)

    def fun(height, rate):
        return decay(height, rate) + 0.02 * rng.standard_normal(12)

    r = bamsoo.least_squares(fun, SPACE, 30, noise=4e-4)
    assert abs(r.params["rate"] - 1.3) < 0.1
    mean, deviation = r.predict({"height": 2.5, "rate": 1.3})
    assert abs(mean - 12 * 4e-4) < 3.0 * deviation + 2e-3
