"""The scikit-learn search: scikit-learn's own checks, and what BamsooSearchCV adds to them."""

import doctest
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge, SGDClassifier
from sklearn.model_selection import (
    RandomizedSearchCV,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import bamsoo
from bamsoo import Choice, Int, Real
from bamsoo.errors import SpaceError
from bamsoo.integrations import sklearn as integration
from bamsoo.integrations.sklearn import BamsooSearchCV

X, Y = load_iris(return_X_y=True)
SVC_SPACE = {"C": Real(1e-2, 1e3, log=True), "gamma": Real(1e-4, 1e1, log=True)}


def expected_to_fail(search):
    if isinstance(search.estimator, Ridge):  # scikit-learn expects this of its own searches too
        return {"check_supervised_y_2d": "a search does not say that its estimator takes 2-d y"}
    return {}


def checked(estimator, space, **settings):
    # raise, as scikit-learn has it in the checks of its own searches
    return BamsooSearchCV(estimator, space, n_iter=2, cv=2, error_score="raise", **settings)


def own_checks(*estimators):
    """Run a test with each of the checks that scikit-learn has for estimators."""

    def decorated(test):
        for message in ("divide by zero encountered in log", "invalid value encountered in cast"):
            test = pytest.mark.filterwarnings(f"ignore:{message}:RuntimeWarning")(test)
        return parametrize_with_checks(list(estimators), expected_failed_checks=expected_to_fail)(
            test
        )

    return decorated


SMOOTHING = {"var_smoothing": Real(1e-9, 1.0, log=True)}


@pytest.mark.slow
@own_checks(
    checked(GaussianNB(), SMOOTHING),
    checked(Ridge(), {"alpha": Real(1e-2, 1e2, log=True)}, resource="n_samples"),
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.long
@own_checks(checked(GaussianNB(), SMOOTHING, steps=2))
def test_scikit_learns_own_checks_with_steps(estimator, check):
    check(estimator)


def search(**settings):
    return BamsooSearchCV(SVC(), SVC_SPACE, **{"n_iter": 6, "cv": 3, **settings})


def test_the_results_are_complete():
    found = search(return_train_score=True).fit(X, Y)
    random = RandomizedSearchCV(
        SVC(), {"C": [1.0, 2.0], "gamma": [0.1]}, n_iter=2, cv=3, return_train_score=True
    ).fit(X, Y)
    assert found.cv_results_.keys() == random.cv_results_.keys()
    assert {len(column) for column in found.cv_results_.values()} == {6}
    own = {"space", "n_points", "algorithm", "noise", "study", "result_"}
    own |= {"resource", "min_resources", "max_resources", "steps"}
    assert vars(found).keys() - vars(random).keys() == own
    assert found.best_params_ == found.cv_results_["params"][found.best_index_]
    assert found.best_score_ == max(found.cv_results_["mean_test_score"])
    assert found.score(X, Y) > 0.95


def test_it_prints_one_line_per_candidate_and_keeps_the_result_and_a_study(tmp_path, capsys):
    path = tmp_path / "search.db"
    found = search(n_iter=3, verbose=1, study=path).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("]")[0] for line in lines] == [f"[BamsooSearchCV {i}/3" for i in (1, 2, 3)]
    assert found.verbose == 1
    assert found.cv_results_["params"] == found.result_.X
    again = search(n_iter=5, study=path).fit(X, Y)
    assert again.result_.nfev == 5
    assert len(again.cv_results_["params"]) == 3  # the best of before, and two more
    assert again.cv_results_["params"][0] == found.best_params_
    assert again.best_score_ == again.result_.fun


def test_it_asks_for_what_minimize_asks_for():
    found = search(n_iter=8).fit(X, Y)
    scores = iter(found.cv_results_["mean_test_score"])
    r = bamsoo.maximize(lambda C, gamma: next(scores), SVC_SPACE, 8)
    assert found.cv_results_["params"] == r.X


def test_a_pipelines_parameters_and_every_kind_of_them():
    space = {
        "svc__C": Real(1e-2, 1e3, log=True),
        "svc__degree": Int(1, 4),
        "svc__kernel": Choice(["rbf", "poly", "linear"]),
        "standardscaler": Choice([StandardScaler(), "passthrough"]),
    }
    pipeline = make_pipeline(StandardScaler(), SVC())
    found = BamsooSearchCV(pipeline, space, n_iter=12, cv=3).fit(X, Y)
    assert found.best_score_ > 0.96
    assert found.best_estimator_.get_params()["svc__C"] == found.best_params_["svc__C"]
    assert len(found.cv_results_["param_svc__kernel"]) == 12


def test_several_candidates_at_once_are_different_ones():
    found = search(n_points=4, n_iter=10).fit(X, Y)
    params = found.cv_results_["params"]
    assert len(params) == 10
    assert len({tuple(p.values()) for p in params}) == 10


@pytest.mark.slow
def test_it_works_with_processes():
    one, two = search().fit(X, Y), search(n_jobs=2).fit(X, Y)
    assert one.cv_results_["params"] == two.cv_results_["params"]


def test_random_splits_are_the_same_for_all_candidates():
    class Noted(DummyClassifier):
        seen = []

        def fit(self, X, y, sample_weight=None):
            self.seen.append(X.sum())
            return super().fit(X, y)

    space = {"random_state": Int(0, 9)}
    BamsooSearchCV(Noted(), space, n_iter=3, cv=ShuffleSplit(2), refit=False).fit(X, Y)
    assert Noted.seen[:2] == Noted.seen[2:4] == Noted.seen[4:]


def test_it_ends_with_the_space():
    found = BamsooSearchCV(SVC(), {"kernel": Choice(["rbf", "linear"])}, n_iter=9, cv=3).fit(X, Y)
    assert len(found.cv_results_["params"]) == 2


def test_it_is_cloned_and_pickled():
    settings = bamsoo.algorithms.SOO(k=3)
    copy = clone(search(algorithm=settings, random_state=3))
    assert copy.get_params()["algorithm"] == settings
    found = copy.set_params(estimator__tol=1e-2).fit(X, Y)
    again = pickle.loads(pickle.dumps(found))
    assert (again.predict(X) == found.predict(X)).all()
    assert clone(found).fit(X, Y).best_params_ == found.best_params_


class Picky(SVC):
    def fit(self, X, y, sample_weight=None):
        if self.C > 20:
            raise RuntimeError("too large")
        return super().fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
@pytest.mark.parametrize("error_score", [np.nan, -1.0])
@pytest.mark.parametrize("n_points", [1, 3])
def test_a_candidate_that_cannot_be_fitted_is_a_failure_and_keeps_its_row(error_score, n_points):
    space = {"C": Real(1.0, 100.0)}
    found = BamsooSearchCV(
        Picky(), space, n_iter=9, n_points=n_points, cv=3, error_score=error_score
    ).fit(X, Y)
    table = found.cv_results_
    failed = np.array([p["C"] > 20 for p in table["params"]])
    assert 0 < failed.sum() < 9
    assert {len(column) for column in table.values()} == {9}
    assert table["param_C"].tolist() == [p["C"] for p in table["params"]]
    np.testing.assert_equal(table["mean_test_score"][failed], np.full(failed.sum(), error_score))
    assert (table["mean_test_score"][~failed] > 0.9).all()
    assert set(table["rank_test_score"][failed]) == {(~failed).sum() + 1}
    assert found.best_params_["C"] <= 20
    pickle.dumps(found)


def test_where_nothing_can_be_fitted_scikit_learn_says_why():
    with pytest.raises(ValueError, match="too large"):
        BamsooSearchCV(Picky(), {"C": Real(30.0, 100.0)}, n_iter=3, cv=3).fit(X, Y)


def test_a_failure_is_warned_of():
    with (
        pytest.warns(
            FitFailedWarning, match=r"1 of 2 candidates could not be fitted(.|\n)*too large"
        ),
        pytest.warns(UserWarning, match="One or more of the test scores"),
    ):
        BamsooSearchCV(Picky(), {"C": Real(1.0, 60.0)}, n_iter=2, cv=3).fit(X, Y)


def test_noise_is_the_searchs_own_setting():
    exact, noisy = search().fit(X, Y), search(noise="learn").fit(X, Y)
    same = search(algorithm=bamsoo.algorithms.Auto(noise="learn")).fit(X, Y)
    assert noisy.cv_results_["params"] == same.cv_results_["params"]
    assert noisy.cv_results_["params"] != exact.cv_results_["params"]
    assert noisy.best_score_ == noisy.cv_results_["mean_test_score"].max()


def test_other_errors_are_not_taken_for_failures():
    with pytest.raises(ValueError, match="Invalid parameter 'D'"):
        BamsooSearchCV(SVC(), {"D": (0, 1)}, n_iter=2, error_score="raise").fit(X, Y)


def test_of_several_scores_the_one_that_refit_names_is_searched():
    found = search(scoring=["accuracy", "neg_log_loss"], refit="accuracy")
    found.set_params(estimator=SVC(), scoring=["accuracy", "f1_macro"], refit="f1_macro").fit(X, Y)
    alone = search(scoring="f1_macro").fit(X, Y)
    assert found.cv_results_["params"] == alone.cv_results_["params"]
    with pytest.raises(ValueError, match="refit must be set to a scorer key"):
        search(scoring=["accuracy", "f1_macro"], refit=True).fit(X, Y)


def opposite(estimator, X, Y):
    return -float(estimator.score(X, Y))


def test_of_several_scores_a_function_picks_from_the_front():
    seen = {}

    def pick(results):
        seen.update(results)
        return int(np.flatnonzero(results["front"])[0])

    found = search(scoring={"good": "accuracy", "bad": opposite}, refit=pick).fit(X, Y)
    front, good = seen["front"], np.asarray(seen["mean_test_good"])
    assert front.all() and len(set(good)) > 1  # the scores are opposites
    assert found.best_index_ == 0 and found.cv_results_["front"] is front


def test_of_several_scores_without_a_name_the_first_is_searched():
    scores = {"good": "accuracy", "bad": opposite}
    found = search(scoring=scores, refit=False).fit(X, Y)
    alone = search(scoring="accuracy", refit=False).fit(X, Y)
    assert found.cv_results_["params"] == alone.cv_results_["params"]
    turned = search(scoring=dict(reversed(scores.items())), refit=False).fit(X, Y)
    assert turned.cv_results_["params"] != alone.cv_results_["params"]
    assert not hasattr(found, "best_estimator_")


def test_a_scorer_that_gives_several_scores_may_be_searched_without_refit():
    def both(estimator, X, Y):
        score = float(estimator.score(X, Y))
        return {"good": score, "bad": -score}

    found = search(scoring=both, refit=False).fit(X, Y)
    alone = search(scoring="accuracy", refit=False).fit(X, Y)
    assert found.cv_results_["params"] == alone.cv_results_["params"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_iter": 0}, "n_iter must be a whole number >= 1"),
        ({"n_points": 1.5}, "n_points must be a whole number >= 1"),
        ({"space": [(0, 1)]}, "space must be a dict of parameter names"),
        ({"space": {"C": (1, 0)}}, "C: low must be below high"),
        ({"algorithm": "best"}, "algorithm"),
        ({"noise": -1.0}, "noise must be"),
        ({"algorithm": "soo", "noise": 1.0}, "auto, bamsoo or gp-ucb"),
    ],
)
def test_bad_settings_are_refused_in_a_sentence(settings, message):
    with pytest.raises(bamsoo.BamsooError, match=message):
        search().set_params(**settings).fit(X, Y)


def test_without_scikit_learn_one_sentence_says_what_to_install():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "try:\n    import bamsoo.integrations.sklearn\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'bamsoo[sklearn]'" in ran.stdout
    assert ran.stdout.count("\n") == 1


@pytest.mark.slow
def test_the_examples_run():
    page = Path(__file__).parents[2] / "docs/sklearn.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.S)
    assert blocks
    names = {"__name__": "example"}  # the page is read from top to bottom
    for block in blocks:
        exec(block, names)
    results = doctest.testmod(integration)
    assert results.attempted > 0
    assert results.failed == 0


# --- a list of grids

GRIDS = [
    {"kernel": ["rbf"], "C": Real(1e-2, 1e3, log=True), "gamma": Real(1e-4, 1e1, log=True)},
    {"kernel": ["poly"], "C": Real(1e-2, 1e3, log=True), "degree": [2, 3, 4]},
    {"kernel": ["linear"]},
]


def test_a_list_of_grids_is_one_search_of_all_of_them():
    found = BamsooSearchCV(SVC(), GRIDS, n_iter=20, cv=3).fit(X, Y)
    params = found.cv_results_["params"]
    names = {"rbf": {"kernel", "C", "gamma"}, "poly": {"kernel", "C", "degree"}}
    assert all(p.keys() == names.get(p["kernel"], {"kernel"}) for p in params)
    assert {p["kernel"] for p in params} == {"rbf", "poly", "linear"}
    linear = sum(p["kernel"] == "linear" for p in params)
    assert 1 <= linear <= 2  # the only such candidate, and perhaps again to see if values are exact
    assert found.best_score_ > 0.96
    assert found.best_estimator_.get_params()["kernel"] == found.best_params_["kernel"]
    masked = found.cv_results_["param_gamma"].mask
    assert masked.tolist() == [p["kernel"] != "rbf" for p in params]


def test_a_parameter_of_several_grids_is_one_parameter():
    with BamsooSearchCV(SVC(), GRIDS)._search() as found:
        space = found.space
    assert [slot.name for slot in space.slots].count("C") == 1


def test_a_list_that_holds_no_grids_is_refused():
    with pytest.raises(SpaceError, match="a dict of parameter names or a list of such dicts"):
        BamsooSearchCV(SVC(), [("C", (1, 2))]).fit(X, Y)
    with pytest.raises(SpaceError, match="a dict of parameter names or a list of such dicts"):
        BamsooSearchCV(SVC(), []).fit(X, Y)


def test_lists_and_distributions_mean_what_they_mean_to_scikit_learn():
    from scipy import stats

    from bamsoo.integrations.sklearn import _parameter

    assert _parameter("C", [0.1, 10]).options == (0.1, 10)
    assert _parameter("C", np.array([1, 2])).options == (1, 2)
    assert _parameter("C", (0.1, 10)) == (0.1, 10)
    assert _parameter("C", stats.uniform(1, 4)) == Real(1, 5)
    assert _parameter("C", stats.loguniform(1e-3, 1e2)) == Real(1e-3, 1e2, log=True)
    assert _parameter("n", stats.randint(1, 9)) == Int(1, 8)
    with pytest.raises(bamsoo.errors.SpaceError, match=r"C: expected one of .*got norm"):
        _parameter("C", stats.norm())


def test_a_list_of_two_numbers_is_two_values_in_a_search():
    from sklearn.datasets import load_iris
    from sklearn.neighbors import KNeighborsClassifier

    from bamsoo.integrations.sklearn import BamsooSearchCV

    X, y = load_iris(return_X_y=True)
    search = BamsooSearchCV(KNeighborsClassifier(), {"n_neighbors": [3, 30]}, n_iter=5).fit(X, y)
    assert {c["n_neighbors"] for c in search.cv_results_["params"]} == {3, 30}


# --- cheaper fits


def test_with_fewer_rows_the_best_has_all_of_them_and_the_refit_too():
    settings = {"n_iter": 12, "resource": "n_samples", "random_state": 0}
    found = search(**settings).fit(X, Y)
    rows = found.cv_results_["n_resources"]
    assert (found.min_resources_, found.max_resources_) == (18, 150)  # 3 splits, 3 classes
    assert set(rows) == {18, 52, 150} and len(rows) > 12 >= found.result_.cost > 10
    assert rows[found.best_index_] == 150 and "n_samples" not in found.best_params_
    full = np.flatnonzero(rows == 150)
    assert found.best_score_ == max(found.cv_results_["mean_test_score"][full])
    assert found.best_estimator_.shape_fit_[0] == 150
    again = search(**settings, n_points=2, n_jobs=2).fit(X, Y)
    assert set(again.cv_results_["n_resources"]) <= {18, 52, 150}


def test_fewer_rows_are_nested_and_have_every_class():
    splits = integration.SameSplits(StratifiedKFold(3))
    some, more = (
        [train for train, _ in integration.FewerRows(splits, count, True).split(X, Y)]
        for count in (15, 60)
    )
    for few, many, (train, _) in zip(some, more, splits.split(X, Y), strict=True):
        assert (len(few), len(many)) == (10, 40) and set(few) < set(many) < set(train)
        assert np.bincount(Y[few]).tolist() in ([4, 3, 3], [3, 4, 3], [3, 3, 4])


def test_a_parameter_may_be_the_resource():
    found = BamsooSearchCV(
        RandomForestClassifier(random_state=0),
        {"max_depth": Int(1, 4)},
        n_iter=3,
        cv=2,
        resource="n_estimators",
        max_resources=8,
    ).fit(X, Y)
    assert found.best_params_["n_estimators"] == len(found.best_estimator_.estimators_) == 8
    given = [params["n_estimators"] for params in found.cv_results_["params"]]
    assert given == found.cv_results_["n_resources"].tolist() and min(given) == 1


def test_models_are_trained_in_steps_and_stopped():
    model = SGDClassifier(loss="log_loss", learning_rate="constant", random_state=0)
    space = {"eta0": Real(1e-4, 10.0, log=True), "alpha": Real(1e-6, 1.0, log=True)}
    found = BamsooSearchCV(model, space, n_iter=6, cv=3, steps=8, random_state=0).fit(X, Y)
    taken = found.cv_results_["n_resources"]
    assert len(taken) > 6 and taken.sum() <= 6 * 8 and taken.min() < 8
    assert taken[found.best_index_] == 8
    assert found.result_.nstopped == (taken < 8).sum()
    for number, curve in found.result_.curves.items():
        assert len(curve) == taken[number]
        assert curve[-1] == pytest.approx(found.cv_results_["mean_test_score"][number])
    # the refit takes all steps with all rows
    best = clone(model).set_params(**found.best_params_)
    for _ in range(8):
        best.partial_fit(X, Y, classes=[0, 1, 2])
    assert isinstance(found.best_estimator_, SGDClassifier)
    np.testing.assert_array_equal(found.best_estimator_.coef_, best.coef_)
    assert found.estimator is model and (found.cv_results_["mean_fit_time"] > 0).all()
    assert pickle.loads(pickle.dumps(found)).predict(X[:2]).tolist() == [0, 0]


@pytest.mark.parametrize("n_iter", [1, 3, 6])
def test_with_few_candidates_the_best_one_has_all_its_steps(n_iter):
    model = SGDClassifier(loss="log_loss", learning_rate="constant", random_state=0)
    space = {"eta0": [0.001, 0.1, 1.0]}
    found = BamsooSearchCV(model, space, n_iter=n_iter, cv=2, steps=20, random_state=0).fit(X, Y)
    taken = found.cv_results_["n_resources"]
    assert taken[found.best_index_] == 20 and taken.sum() <= n_iter * 20
    assert found.best_score_ == found.result_.fun
    assert found.result_.message != "in progress"


def test_a_parameter_grows_in_steps():
    found = BamsooSearchCV(
        GradientBoostingRegressor(random_state=0),
        {"learning_rate": Real(1e-3, 1.0, log=True)},
        n_iter=4,
        cv=2,
        resource="n_estimators",
        max_resources=12,
        steps=6,
    ).fit(X, X[:, 0] * X[:, 1])
    taken = found.cv_results_["n_resources"]
    assert set(taken) <= {2, 4, 6, 8, 10, 12} and min(taken) < 12
    assert found.best_params_["n_estimators"] == 12 == found.best_estimator_.n_estimators_
    plain = cross_val_score(found.best_estimator_, X, X[:, 0] * X[:, 1], cv=2)
    assert found.best_score_ == pytest.approx(plain.mean())


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_model_that_cannot_be_trained_fails_and_the_search_goes_on(tmp_path):
    class Fussy(SGDClassifier):
        def partial_fit(self, X, y, classes=None):
            if self.alpha > 0.6:
                raise ValueError("too much")
            return super().partial_fit(X, y, classes)

    settings = {"n_iter": 5, "cv": 2, "steps": 3, "study": tmp_path / "fussy.db"}
    with pytest.warns(FitFailedWarning, match="too much"):
        found = BamsooSearchCV(Fussy(random_state=0), {"alpha": (1e-5, 1.0)}, **settings).fit(X, Y)
    assert np.isnan(found.cv_results_["mean_test_score"]).any() and found.best_score_ > 0.5
    assert len(found.cv_results_["n_resources"]) == len(found.cv_results_["params"])
    more = BamsooSearchCV(Fussy(random_state=0), {"alpha": (1e-5, 1.0)}, **settings)
    assert more.set_params(n_iter=6).fit(X, Y).best_score_ >= found.best_score_


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"resource": "epochs"}, "resource must be 'n_samples' or a parameter of SVC"),
        ({"resource": "max_iter"}, "give a number for max_iter"),
        ({"resource": "n_samples", "min_resources": 150}, "below max_resources, got 150 and 150"),
        ({"resource": "n_samples", "max_resources": 151}, "number of rows, 150, got 151"),
        ({"resource": "n_samples", "steps": 5}, "steps= needs a parameter of the estimator"),
        ({"resource": "C", "max_resources": 5}, "C is the resource"),
        ({"resource": "max_iter", "max_resources": 9, "steps": 3}, "needs an estimator with warm"),
        ({"steps": 5}, "SVC has no partial_fit"),
        ({"steps": 0, "estimator": GaussianNB()}, "steps must be a whole number >= 1"),
    ],
)
def test_resources_and_steps_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(bamsoo.BamsooError, match=message):
        search().set_params(**settings).fit(X, Y)


def test_steps_take_no_weights():
    with pytest.raises(bamsoo.BamsooError, match="X and y alone, got sample_weight"):
        BamsooSearchCV(GaussianNB(), {"var_smoothing": (0, 1)}, steps=2).fit(
            X, Y, sample_weight=np.ones(len(Y))
        )
