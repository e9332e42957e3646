"""The model in a report: the search's own, or one that is learned from the values."""

import numpy as np
import pytest
from report_runs import run

import bamsoo
from bamsoo.report import describe
from bamsoo.report.surrogate import Surrogate, nothing_to_learn, own
from bamsoo.result.substitute import learn
from bamsoo.search.optimizer import Optimizer
from bamsoo.space.axes import cube


def test_a_learned_model_explains_a_smooth_function():
    rng = np.random.default_rng(0)
    X = rng.random((40, 2))
    value = lambda X: -((X[:, 0] - 0.3) ** 2) - 0.01 * X[:, 1]
    model = Surrogate(*learn(cube(2), X, value(X)))
    lengths = model.gp.kernel.lengths(2)
    assert lengths[0] < lengths[1]  # x0 matters more
    unseen = rng.random((20, 2))
    mu, sigma = model.gp.posterior(unseen)
    truth = np.array([model.transform(v) for v in value(unseen).tolist()])
    assert np.all(np.abs(truth - mu) < 5.0 * sigma + 0.1)


def test_points_next_to_a_better_one_are_left_out_of_a_learned_model():
    points = np.array([[0.5], [0.505], [0.9], [0.1], [0.3]])
    model = Surrogate(*learn(cube(1), points, -np.array([1.0, 0.0, 2.0, 3.0, 1.5])))
    assert sorted(model.gp.X[:, 0]) == [0.1, 0.3, 0.505, 0.9]


def test_a_learned_model_tells_noise_from_the_function():
    rng = np.random.default_rng(0)
    X = rng.random((120, 1))
    values = -((X[:, 0] - 0.3) ** 2) + 0.05 * rng.standard_normal(120)
    model = Surrogate(*learn(cube(1), X, values, "learn"))
    low, high = model.transform.inverse(np.array([0.0, np.sqrt(model.gp.noise)]))
    assert 0.03 < high - low < 0.07
    assert "noise or jumps with a standard deviation" in model.description()


@pytest.mark.parametrize(
    ("values", "reason"),
    [([], "there are 0"), ([1.0], "there are 1"), ([7.0] * 20, "All values are equal")],
)
def test_where_nothing_can_be_learned_it_says_why(values, reason):
    assert reason in nothing_to_learn(np.array(values))
    assert nothing_to_learn(np.array([1.0, 2.0, 3.0, 4.0])) is None


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["auto", "bamsoo", "gp-ucb", "shrinking"])
def test_the_model_is_the_searchs_own(tmp_path, algorithm):
    run(tmp_path / "a.db", lambda x: (x - 0.3) ** 2, {"x": (0, 1)}, 12, algorithm=algorithm)
    with bamsoo.Study.open(tmp_path / "a.db", readonly=True) as study:
        gp = study.replay().book.gp
    model = describe(tmp_path / "a.db")["model"]
    assert " used, as of trial 11" in model["says"]
    assert (model["kernel"], model["mean"]) == (type(gp.kernel).__name__, gp.mean.value)
    assert (model["lengths"], model["variance"]) == ([gp.kernel.lengths(1)[0]], gp.kernel.variance)
    assert model["points"] == gp.X[: gp.known].tolist()
    assert model["y"] == gp.values.tolist()


@pytest.mark.parametrize("algorithm", ["soo", "doo", "random"])
def test_a_search_without_a_model_is_given_one(tmp_path, algorithm):
    run(tmp_path / "a.db", lambda x: (x - 0.3) ** 2, {"x": (0, 1)}, 12, algorithm=algorithm)
    model = describe(tmp_path / "a.db")["model"]
    assert "has no model" in model["says"]
    assert "the default algorithm fits its own" in model["says"]


def test_a_large_model_is_thinned_to_the_best_points_and_an_even_sample(monkeypatch):
    monkeypatch.setattr("bamsoo.report.surrogate.MOST_ROWS", 10)
    search = Optimizer([(0, 1)], algorithm="bamsoo")
    for _ in range(30):
        trial = search.ask()
        search.tell(trial, float(abs(trial.x[0] - 0.3)))
    model = own(search)
    assert model.gp.known == 10
    assert model.gp.values.max() == search.book.gp.values.max()
