"""Predictions of the search's own model, in the caller's units, compared with a dense GP."""

import numpy as np
import pytest
from known_functions import knowing
from numpy.testing import assert_allclose

import bamsoo
from bamsoo import Choice, Int, Optimizer, Real
from bamsoo.algorithms import GPUCB, BaMSOO
from bamsoo.algorithms.search import B
from bamsoo.algorithms.tree import Status
from bamsoo.kernels import Matern52, SquaredExponential
from bamsoo.model.warp import Bent, Linear

MIXED = {"rate": Real(1e-4, 1.0, log=True), "n": Int(1, 12), "kind": Choice(["a", "b", "c"])}


def cost(rate, n, kind):
    return (np.log10(rate) + 2.5) ** 2 + 0.1 * (n - 4) ** 2 + (kind == "b")


def features(params):
    """A point of MIXED as the kernel sees it: on the unit interval, or as a corner."""
    corners = np.eye(3)[["a", "b", "c"].index(params["kind"])] * np.sqrt(0.5)
    return np.array([(np.log10(params["rate"]) + 4) / 4, (params["n"] - 0.5) / 12, *corners])


def matern52(r):
    return (1 + np.sqrt(5) * r + 5 / 3 * r**2) * np.exp(-np.sqrt(5) * r)


def dense(Z, y, at, correlation, variance=1.0, mean=0.0, noise=0.0):
    """Posterior mean and deviation by the textbook's formulas; rows are in length-scales."""

    def k(A, B):
        return variance * correlation(np.sqrt(((A[:, None] - B[None]) ** 2).sum(-1)))

    K = k(Z, Z) + noise * np.eye(len(Z))
    weights = np.linalg.solve(K, k(Z, at)).T
    var = variance - np.einsum("ij,ji->i", weights, k(Z, at))
    return mean + weights @ (y - mean), np.sqrt(np.maximum(var, 0))


def squared_exponential(r):
    return np.exp(-0.5 * r**2)


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_a_given_prior_predicts_as_a_dense_gp(direction, noise):
    kernel = SquaredExponential([0.3, 0.5], variance=4.0)
    algorithm = BaMSOO(kernel, mean=1.5, noise=noise)
    opt = Optimizer([(-5, 10), (0, 15)], direction, algorithm)
    rng = np.random.default_rng(0)
    for _ in range(15):
        trial = opt.ask()
        opt.tell(trial, float(np.sin(trial.x).sum() + rng.normal() * 0.1))
    opt.ask()  # a pending point makes no difference
    r = opt.result
    at = rng.uniform([-5, 0], [10, 15], (7, 2))
    scale = np.array([15 * 0.3, 15 * 0.5])
    expected = dense(r.X / scale, r.F, at / scale, squared_exponential, 4.0, 1.5, noise)
    assert_allclose(r.predict(at), expected, rtol=1e-4, atol=1e-5)
    assert_allclose(opt.predict(at), r.predict(at))


def test_gp_ucb_predicts_too():
    r = bamsoo.minimize(
        lambda x: float(np.sin(5 * x[0])), [(0, 2)], 12, algorithm=GPUCB(Matern52(0.25))
    )
    at = np.linspace(0, 2, 9)[:, None]
    expected = dense(r.X / 0.5, r.F, at / 0.5, matern52)
    assert_allclose(r.predict(at), expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("noise", [None, 0.04], ids=["", "noisy"])
def test_the_learned_prior_predicts_as_a_dense_gp_on_a_mixed_space(noise):
    rng = np.random.default_rng(1)
    opt = Optimizer(MIXED, algorithm=bamsoo.algorithms.Auto(warp=False), noise=noise)
    for _ in range(25):
        trial = opt.ask()
        opt.tell(trial, cost(**trial.params) + (rng.normal() * 0.2 if noise else 0.0))
    book, r = opt.book, opt.result
    assert isinstance(book.transform, Linear)
    gp = book.gp
    lengths = gp.kernel.lengths(3)[[0, 1, 2, 2, 2]]
    Z = np.array([features(x) for x in r.X]) / lengths
    units = book.transform.size * book.transform.scale
    centre = book.transform.size * book.transform.shift
    y = (-r.F - centre) / units
    points = [{"rate": 0.02, "n": 3, "kind": kind} for kind in "abc"]
    points += [{"rate": 1e-4, "n": n, "kind": "c"} for n in (1, 6, 12)]
    at = np.array([features(p) for p in points]) / lengths
    mean, deviation = dense(Z, y, at, matern52, gp.kernel.variance, gp.mean.value, gp.noise)
    predicted = r.predict(points)
    assert_allclose(predicted[0], -(mean * units + centre), rtol=1e-3, atol=1e-4)
    # some points nearly agree, so that the last digits of a deviation depend on the nugget
    assert_allclose(predicted[1], deviation * units, rtol=3e-3, atol=1e-4)


@pytest.mark.parametrize("run", [bamsoo.minimize, bamsoo.maximize])
def test_through_a_logarithm_the_median_and_the_quantiles_are_predicted(run):
    sign = 1.0 if run is bamsoo.minimize else -1.0
    opt = Optimizer([(-2, 2)] * 2, run.__name__)
    for _ in range(40):
        trial = opt.ask()
        x, y = trial.x
        opt.tell(trial, sign * (100 * (y - x**2) ** 2 + (1 - x) ** 2) ** 2)
    book = opt.book
    assert isinstance(book.transform, Bent)
    at = np.random.default_rng(0).uniform(-2, 2, (5, 2))
    mu, sigma = book.gp.posterior((at + 2) / 4)
    draws = np.random.default_rng(1).normal(mu, sigma, (200_000, 5))
    values = -sign * book.transform.inverse(draws)
    mean, deviation = opt.predict(at)
    assert_allclose(mean, np.median(values, axis=0), rtol=0.05)
    width = np.quantile(values, 0.8413, axis=0) - np.quantile(values, 0.1587, axis=0)
    assert_allclose(deviation, width / 2, rtol=0.05)


def test_what_was_told_is_predicted_and_near_it_the_model_is_sure():
    r = bamsoo.minimize(cost, MIXED, 30)
    mean, deviation = r.predict(r.X)
    assert_allclose(mean, r.F, atol=1e-3)
    assert deviation.max() < 1e-2


def test_the_bounds_of_the_search_are_the_predictions():
    eta, seen, rejected = 0.05, 0, 0
    opt = Optimizer([(0, 1)] * 2, "maximize", BaMSOO(Matern52(0.4), eta=eta))
    for _ in range(60):
        trial = opt.ask()
        tree = opt.book.tree
        for node in range(seen, len(tree)):  # cut since the last value came
            if tree.status_of(node) == Status.REJECTED:
                mean, deviation = opt.predict(tree.x[node])
                lcb = mean[0] - B(node + 1, eta) * deviation[0]
                assert tree.g[node] == pytest.approx(lcb, abs=1e-6)
                rejected += 1
        seen = len(tree)
        opt.tell(trial, float(np.sin(6 * trial.x).sum()))
    assert rejected > 10


def test_one_point_or_several():
    r = bamsoo.minimize(lambda x: float(x @ x), [(-1, 1)] * 2, 12)
    one, both = r.predict([0.5, 0.5]), r.predict([[0.5, 0.5], [0.1, -0.3]])
    assert [each.shape for each in (*one, *both)] == [(1,), (1,), (2,), (2,)]
    assert one[0][0] == pytest.approx(both[0][0])
    assert [each.shape for each in r.predict([])] == [(0,), (0,)]
    assert [each.shape for each in r.predict(np.zeros((2500, 2)))] == [(2500,)] * 2
    with pytest.raises(bamsoo.errors.SpaceError, match="outside"):
        r.predict([[0.5, 0.5], [0.1, -3.0]])
    with pytest.raises(bamsoo.errors.SpaceError, match=r"2 numbers\) or a list of points"):
        r.predict(0.5)


@pytest.mark.parametrize("algorithm", ["soo", "doo", "random"])
def test_an_algorithm_without_a_model_says_so(algorithm):
    r = bamsoo.minimize(lambda x: x[0], [(0, 1)], 8, algorithm=algorithm)
    with pytest.raises(bamsoo.errors.ModelError, match="has no model to predict with"):
        r.predict([0.5])


def test_a_model_that_is_not_learned_yet_says_so():
    opt = Optimizer([(0, 1)])
    with pytest.raises(bamsoo.errors.ModelError, match="call ask first"):
        opt.predict([0.5])
    opt.tell(opt.ask(), 1.0)
    with pytest.raises(bamsoo.errors.ModelError, match="tell it a few more values"):
        opt.predict([0.5])
    with pytest.raises(bamsoo.errors.ModelError, match="tell it a few more values"):
        opt.result.predict([0.5])


def test_a_study_predicts(tmp_path):
    path = tmp_path / "run.db"
    r = bamsoo.minimize(cost, MIXED, 20, study=path)
    point = {"rate": 0.01, "n": 4, "kind": "a"}
    with bamsoo.Study.open(path, readonly=True) as study:
        with pytest.raises(bamsoo.errors.ModelError):
            study.predict(point)
        assert_allclose(study.replay().predict(point), r.predict(point))


def test_the_importance_of_ishigamis_function_is_its_total_sobol_indices():
    def ishigami(p):
        x, y, z = p["x0"], p["x1"], p["x2"]
        return np.sin(x) + 7 * np.sin(y) ** 2 + 0.1 * z**4 * np.sin(x)

    known = knowing([(-np.pi, np.pi)] * 3, ishigami, 512, 0.4)
    assert_allclose(known.importance(), [0.558, 0.442, 0.244], atol=0.02)


def test_the_importance_of_an_additive_function_is_the_share_of_each_term():
    def additive(p):
        return 4 * p["x"] + 2 * p["y"] + p["n"] / 4 + 3 * (p["kind"] == "b")

    space = {"x": (0, 1), "y": (-1, 1), "n": Int(1, 9), "kind": Choice(["a", "b"]), "none": (0, 1)}
    variances = np.array([16 / 12, 4 * 4 / 12, (9**2 - 1) / 12 / 16, 9 / 4, 0])
    found = knowing(space, additive, 256, [2, 2, 2, 1, 5]).importance()
    assert_allclose(found, variances / variances.sum(), atol=0.01)


def test_a_parameter_has_no_importance_where_it_does_not_exist():
    space = {"c": Choice({"a": {"x": Real(0, 1)}, "b": {"y": Real(0, 1)}})}
    # f = x with a and 0 with b: the variance is 1/6 - 1/16, that within a option is 1/24 in the
    # mean, and that between the options for a given x is 1/12
    known = knowing(space, lambda p: p["x"] if p["c"] == "a" else 0.0, 256, 1.0)
    assert_allclose(known.importance(), [0.8, 0.4, 0.0], atol=0.01)


def test_the_importance_is_of_what_predict_returns():
    def fun(x):
        return 1e4 ** (x[0] + 0.3 * x[1])  # the model sees logarithms

    r = bamsoo.minimize(fun, [(0, 1)] * 2, 40)
    assert isinstance(r.predictor.transform, Bent)
    grid = np.linspace(0, 1, 65)[:-1] + 1 / 128
    mean = r.predict([[x, y] for x in grid for y in grid])[0].reshape(64, 64)
    expected = [mean.var(axis=axis).mean() / mean.var() for axis in (0, 1)]
    assert_allclose(r.predictor.importance(), expected, atol=0.02)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [0.0, 1e300, 3.0])
def test_nothing_matters_to_a_constant(value):
    r = bamsoo.minimize(lambda x: value, [(0, 1)] * 2, 8)
    assert_allclose(r.predictor.importance(), 0.0)
