"""What a search gives as its result at one moment, and why it has no model at that moment."""

import numpy as np
import pytest

from bamsoo import Choice, Optimizer
from bamsoo.errors import ExhaustedError, ModelError


def told(opt, n):
    for _ in range(n):
        trial = opt.ask()
        opt.tell(trial, float(((trial.x - 0.3) ** 2).sum()))
    return opt.result


def test_the_result_is_that_of_its_moment():
    opt = Optimizer([(0, 1)], algorithm="soo")
    early = told(opt, 3)
    late = told(opt, 9)
    assert (early.nfev, len(early.F), late.nfev) == (3, 3, 12)
    assert early.fun == min(late.F[:3])
    assert (early.message, early.status, early.success) == ("in progress", 0, True)


def test_the_result_counts_what_happened_to_its_trials():
    opt = Optimizer([(0, 1)], algorithm="random", constraints=["c <= 1"])
    opt.tell(opt.ask(), None, "down")
    opt.tell(opt.ask(), 5.0, constraints={"c": 2.0})
    assert not opt.result.success
    opt.tell(opt.ask(), 7.0, constraints={"c": 0.5})
    r = opt.result
    assert (r.nfev, r.nfailed, r.ninfeasible, r.nstopped) == (3, 1, 1, 0)
    assert (r.fun, r.success) == (7.0, True)
    assert r.feasible.tolist() == [False, False, True]


def test_a_search_that_ended_says_why():
    opt = Optimizer({"x": Choice([1, 2])}, algorithm="random")
    told(opt, 2)
    with pytest.raises(ExhaustedError) as error:
        opt.ask()
    assert str(error.value) == f"nothing is left to evaluate: {opt.result.message}"


@pytest.mark.parametrize(
    ("algorithm", "n", "why"),
    [
        ("auto", 0, "the search has no model yet; call ask first"),
        ("soo", 3, "SOO has no model to predict with; use auto"),
        ("auto", 1, "Auto has not learned its model yet; tell it a few more values"),
    ],
)
def test_a_result_without_a_model_says_why(algorithm, n, why):
    r = told(Optimizer([(0, 1)] * 2, algorithm=algorithm), n)
    assert r.bounds is None
    with pytest.raises(ModelError, match=why):
        r.predict([[0.5, 0.5]])


def test_a_model_without_a_value_says_so():
    opt = Optimizer([(0, 1)] * 2, algorithm="bamsoo")
    opt.ask()
    with pytest.raises(ModelError, match="the model of BaMSOO has no value yet; tell it one first"):
        opt.result.predict([[0.5, 0.5]])


def test_the_model_of_an_earlier_result_stays_as_it_was():
    opt = Optimizer([(0, 1)] * 2, algorithm="bamsoo")
    early = told(opt, 5)
    before = early.predict([[0.2, 0.9]])
    told(opt, 5)
    np.testing.assert_array_equal(before, early.predict([[0.2, 0.9]]))
