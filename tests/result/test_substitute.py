"""The model of values of a search that has not learned one yet."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bamsoo
from bamsoo.errors import ModelError
from bamsoo.report.surrogate import Surrogate
from bamsoo.result.substitute import learn


def test_before_the_search_has_learned_a_model_answers_come_from_one_like_that_of_the_report():
    data = 2.5 * np.exp(-1.3 * np.linspace(0, 4, 20))
    fun = lambda height, rate: height * np.exp(-rate * np.linspace(0, 4, 20)) - data
    r = bamsoo.least_squares(fun, {"height": (0, 10), "rate": (0, 5)}, 8)
    assert r._details.predictors == []
    X = np.array([r.space.encode(r.space.point(each)) for each in r.X])
    model = Surrogate(*learn(r.space.domain, X, -r.F))
    mu, _ = model.gp.posterior(X[:3])
    assert_allclose(r.predict(r.X[:3])[0], -model.transform.inverse(mu))
    assert_allclose(pickle.loads(pickle.dumps(r)).predict(r.X[:3]), r.predict(r.X[:3]))
    assert r.what_if([]).fun <= r.what_if("height <= 1").fun
    same = bamsoo.minimize(lambda x: 1.0, [(0, 1)], 4)
    with pytest.raises(ModelError, match="has not learned its model yet; tell it a few more"):
        same.what_if([])


def test_failures_are_left_out_and_each_objective_has_a_model():
    opt = bamsoo.Optimizer([(0, 1)], objectives=["a", "b"])
    for i in range(5):
        trial = opt.ask()
        opt.tell(trial, None if i == 1 else (trial.x[0], -trial.x[0]))
    assert opt.result._details.predictors == []
    mean = opt.result.predict([[0.1], [0.9]])
    assert mean["a"][0][0] < mean["a"][0][1]
    assert mean["b"][0][0] > mean["b"][0][1]
