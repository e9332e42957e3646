"""Tasks: pipelines, in which steps are options and each has parameters of its own."""

from typing import Any

import numpy as np
from sklearn import ensemble, linear_model
from sklearn.cluster import DBSCAN
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.metrics import adjusted_rand_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, SplineTransformer, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bamsoo.space import Choice, Int, Real

from . import data
from .steps import SCALERS, scaler
from .task import Evaluate, task

YES_NO = Choice([False, True])


@task(
    "pipeline-knn-digits",
    "pipeline",
    scale=Choice(SCALERS),
    components=Int(1, 60),
    whiten=YES_NO,
    n_neighbors=Int(1, 100, log=True),
    weights=Choice(["uniform", "distance"]),
    p=Choice([1, 2, 3]),
)
def knn_digits(instance: int) -> Evaluate:
    """Principal components and nearest neighbours on handwritten digits: error rate."""
    rows = data.bundled("digits", instance, 300)

    def evaluate(seed: int, scale: str, components: int, whiten: bool, **options: Any) -> float:
        reduce = PCA(components, whiten=whiten, random_state=0)
        return rows.error(make_pipeline(scaler(scale), reduce, KNeighborsClassifier(**options)))

    return evaluate


@task(
    "pipeline-digits",
    "pipeline",
    scale=Choice(SCALERS),
    reduce=Choice(["none", "pca", "best"]),
    columns=Int(1, 64),
    model=Choice(["logistic", "svm", "neighbours", "tree"]),
    C=Real(1e-5, 1e5, log=True),
    gamma=Real(1e-7, 1e2, log=True),
    neighbours=Int(1, 60),
    max_depth=Int(1, 40),
)
def pipeline_digits(instance: int) -> Evaluate:
    """The choice of model, columns and scaling for handwritten digits: error rate."""
    rows = data.bundled("digits", instance, 250)

    def evaluate(
        seed: int,
        scale: str,
        reduce: str,
        columns: int,
        model: str,
        C: float,
        gamma: float,
        neighbours: int,
        max_depth: int,
    ) -> float:
        chosen = {
            "logistic": linear_model.LogisticRegression(C=C, max_iter=30),
            "svm": SVC(C=C, gamma=gamma, max_iter=3000),
            "neighbours": KNeighborsClassifier(neighbours),
            "tree": DecisionTreeClassifier(max_depth=max_depth, random_state=0),
        }[model]
        fewer = {
            "none": "passthrough",
            "pca": PCA(columns, random_state=0),
            "best": SelectKBest(f_classif, k=columns),
        }[reduce]
        return rows.error(make_pipeline(scaler(scale), fewer, chosen))

    return evaluate


@task(
    "pipeline-friedman",
    "pipeline",
    scale=Choice(SCALERS),
    best=Int(1, 25),
    terms=Choice(["none", "spline", "bins", "fourier"]),
    knots=Int(2, 12),
    degree=Int(1, 3),
    model=Choice(["ridge", "lasso", "svm", "neighbours", "tree"]),
    alpha=Real(1e-6, 1e4, log=True),
    C=Real(1e-3, 1e4, log=True),
    gamma=Real(1e-5, 1e2, log=True),
    neighbours=Int(1, 60),
    max_depth=Int(1, 20),
    min_samples_leaf=Int(1, 40),
)
def pipeline_friedman(instance: int) -> Evaluate:
    """Twelve parameters, of which three to six matter, on Friedman's first function: RMSE."""
    rows = data.friedman(1, instance, 150)
    more = np.random.default_rng(instance).random((150, 15))
    rows = data.Folds(np.hstack([rows.X, more]), rows.y, rows.parts)

    def evaluate(
        seed: int,
        scale: str,
        best: int,
        terms: str,
        knots: int,
        degree: int,
        model: str,
        alpha: float,
        C: float,
        gamma: float,
        neighbours: int,
        max_depth: int,
        min_samples_leaf: int,
    ) -> float:
        expand = {
            "none": "passthrough",
            "spline": SplineTransformer(knots, degree=degree),
            "bins": KBinsDiscretizer(knots, quantile_method="linear"),
            "fourier": RBFSampler(gamma=gamma, n_components=10 * knots, random_state=0),
        }[terms]
        chosen = {
            "ridge": linear_model.Ridge(alpha),
            "lasso": linear_model.Lasso(alpha, max_iter=200),
            "svm": SVR(C=C, gamma=gamma, max_iter=3000),
            "neighbours": KNeighborsRegressor(neighbours),
            "tree": DecisionTreeRegressor(
                max_depth=max_depth, min_samples_leaf=min_samples_leaf, random_state=0
            ),
        }[model]
        choose = SelectKBest(f_regression, k=best)
        return rows.rmse(make_pipeline(choose, scaler(scale), expand, chosen))

    return evaluate


@task(
    "pipeline-features-noisy",
    "pipeline",
    "noisy",
    gamma=Real(1e-5, 1e3, log=True),
    n_components=Int(1, 200, log=True),
    kind=Choice(["fourier", "nystroem"]),
    C=Real(1e-5, 1e5, log=True),
)
def random_features(instance: int) -> Evaluate:
    """Random features, drawn again each time, and logistic regression on moons: log loss."""
    rows = data.moons(instance, 200, useless=2)

    def evaluate(seed: int, gamma: float, n_components: int, kind: str, C: float) -> float:
        features = {"fourier": RBFSampler, "nystroem": Nystroem}[kind](
            gamma=gamma, n_components=n_components, random_state=seed
        )
        model = linear_model.LogisticRegression(C=C, max_iter=50)
        return rows.log_loss(make_pipeline(StandardScaler(), features, model))

    return evaluate


@task(
    "pipeline-lasso-best-columns",
    "pipeline",
    best=Int(1, 60),
    scale=Choice(SCALERS),
    alpha=Real(1e-5, 1e4, log=True),
    knots=Int(2, 8),
    degree=Int(1, 3),
    spline=YES_NO,
)
def lasso_columns(instance: int) -> Evaluate:
    """A lasso on the best columns, with or without splines: mean absolute error."""
    rows = data.sparse(instance, 120, 60, 6)

    def evaluate(
        seed: int, best: int, scale: str, alpha: float, knots: int, degree: int, spline: bool
    ) -> float:
        expand = SplineTransformer(knots, degree=degree) if spline else "passthrough"
        model = linear_model.Lasso(alpha, max_iter=100)
        choose = SelectKBest(f_regression, k=best)
        return rows.mae(make_pipeline(choose, scaler(scale), expand, model))

    return evaluate


@task(
    "bagging-wine-noisy",
    "pipeline",
    "noisy",
    n_estimators=Int(1, 25),
    max_samples=Real(0.05, 1.0),
    max_features=Real(0.05, 1.0),
    bootstrap=YES_NO,
    bootstrap_features=YES_NO,
    n_neighbors=Int(1, 5),
    scale=Choice(SCALERS),
)
def bagging(instance: int) -> Evaluate:
    """Bagged nearest neighbours without a fixed seed on the wine data: log loss."""
    rows = data.bundled("wine", instance)

    def evaluate(seed: int, n_neighbors: int, scale: str, **options: Any) -> float:
        bag = ensemble.BaggingClassifier(
            KNeighborsClassifier(n_neighbors), random_state=seed, **options
        )
        return rows.log_loss(make_pipeline(scaler(scale), bag))

    return evaluate


@task(
    "voting-digits",
    "pipeline",
    **{f"weight{i}": Real(0.0, 1.0) for i in range(4)},
    temperature=Real(1e-2, 1e2, log=True),
    floor=Real(1e-9, 1e-1, log=True),
)
def voting(instance: int) -> Evaluate:
    """Weights of four trained models, and the sharpness of their vote: log loss."""
    rows = data.bundled("digits", instance, 250)
    models = [
        GaussianNB(var_smoothing=0.1),
        KNeighborsClassifier(5),
        DecisionTreeClassifier(random_state=0),
        linear_model.LogisticRegression(C=0.01, max_iter=50),
    ]
    votes = []
    for train, test in rows.parts:
        fitted = [model.fit(rows.X[train], rows.y[train]) for model in models]
        votes.append((np.array([m.predict_proba(rows.X[test]) for m in fitted]), rows.y[test]))

    def evaluate(seed: int, temperature: float, floor: float, **weights: float) -> float:
        w = np.array([*weights.values()])
        losses = []
        for chances, y in votes:
            logs = np.tensordot(w, np.log(chances + floor), 1) / temperature
            share = np.exp(logs - logs.max(axis=1, keepdims=True))
            share /= share.sum(axis=1, keepdims=True)
            losses.append(data.log_loss(share, np.arange(10), y))
        return float(np.mean(losses))

    return evaluate


@task(
    "clusters-moons-fails",
    "pipeline",
    "fails",
    eps=Real(1e-2, 2.0, log=True),
    min_samples=Int(1, 20),
    metric=Choice(["euclidean", "manhattan", "chebyshev"]),
    scale=Choice(SCALERS),
)
def clusters(instance: int) -> Evaluate:
    """DBSCAN on half moons; fails if it finds fewer than two clusters."""
    rows = data.moons(instance, 200, noise=0.12)

    def evaluate(seed: int, scale: str, **options: Any) -> float | None:
        labels = make_pipeline(scaler(scale), DBSCAN(**options)).fit_predict(rows.X)
        if len(set(labels) - {-1}) < 2:
            return None
        return float(1.0 - adjusted_rand_score(rows.y, labels))

    return evaluate
