"""Tasks: linear models, small networks and naive Bayes."""

from typing import Any

import numpy as np
from sklearn import linear_model, naive_bayes
from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler

from bamsoo.space import Choice, Int, Real

from . import data
from .steps import SCALERS, scaler
from .task import Evaluate, task

YES_NO = Choice([False, True])


@task(
    "logistic-digits-fails",
    "linear",
    "fails",
    C=Real(1e-6, 1e6, log=True),
    l1_ratio=Choice([0.0, 0.25, 0.5, 0.75, 1.0]),
    solver=Choice(["lbfgs", "newton-cg", "sag", "saga"]),
    max_iter=Int(1, 100, log=True),
    fit_intercept=YES_NO,
)
def logistic_digits(instance: int) -> Evaluate:
    """Logistic regression on five digits; most solvers refuse the L1 penalty: log loss."""
    rows = data.bundled("digits", instance, 400)
    few = rows.y < 5
    rows = data.folds(rows.X[few] / 16.0, rows.y[few], instance)
    return lambda seed, **p: rows.log_loss(linear_model.LogisticRegression(random_state=0, **p))


@task(
    "logistic-cost",
    "linear",
    C=Real(1e-6, 1e4, log=True),
    weight=Real(1e-3, 1e3, log=True),
    threshold=Real(0.0, 1.0),
)
def logistic_cost(instance: int) -> Evaluate:
    """Logistic regression with a rare class; a false alarm costs 1 and a miss costs 20."""
    rows = data.classes(instance, 400, n_features=10, n_informative=4, weights=[0.92], flip_y=0.02)

    def evaluate(seed: int, C: float, weight: float, threshold: float) -> float:
        model = make_pipeline(
            StandardScaler(), linear_model.LogisticRegression(C=C, class_weight={0: 1.0, 1: weight})
        )
        cost = 0.0
        for train, test in rows.parts:
            model.fit(rows.X[train], rows.y[train])
            alarm, real = model.predict_proba(rows.X[test])[:, 1] > threshold, rows.y[test] == 1
            cost += float(np.sum(alarm & ~real) + 20.0 * np.sum(~alarm & real))
        return cost / len(rows.y)

    return evaluate


@task(
    "elastic-net-sparse",
    "linear",
    alpha=Real(1e-6, 1e4, log=True),
    l1_ratio=Real(0.0, 1.0),
    fit_intercept=YES_NO,
    positive=YES_NO,
    max_iter=Int(1, 500, log=True),
    tol=Real(1e-8, 1.0, log=True),
    selection=Choice(["cyclic", "random"]),
)
def elastic_net(instance: int) -> Evaluate:
    """Elastic net with 8 useful columns of 60: RMSE."""
    rows = data.sparse(instance)
    return lambda seed, **p: rows.rmse(linear_model.ElasticNet(random_state=0, **p))


@task(
    "ridge-polynomial",
    "linear",
    degree=Int(1, 5),
    interaction_only=YES_NO,
    alpha=Real(1e-8, 1e8, log=True),
    scale=Choice(SCALERS),
)
def ridge_polynomial(instance: int) -> Evaluate:
    """Ridge regression on polynomials of four columns of the diabetes data: log of the RMSE."""
    rows = data.bundled("diabetes", instance, 200)
    rows = data.Folds(rows.X[:, [2, 3, 8, 9]], rows.y, rows.parts)

    def evaluate(seed: int, degree: int, interaction_only: bool, alpha: float, scale: str) -> float:
        terms = PolynomialFeatures(degree, interaction_only=interaction_only)
        ridge = linear_model.Ridge(alpha, solver="svd")
        return float(np.log(rows.rmse(make_pipeline(scaler(scale), terms, ridge))))

    return evaluate


@task(
    "huber-outliers",
    "linear",
    epsilon=Real(1.0, 20.0),
    alpha=Real(1e-8, 1e4, log=True),
    max_iter=Int(1, 200, log=True),
)
def huber(instance: int) -> Evaluate:
    """Huber regression with every tenth value wrong: mean absolute error."""
    rows = data.sparse(instance, 120, 20, 10)
    wrong = np.random.default_rng(instance).choice(len(rows.y), len(rows.y) // 10, replace=False)
    y = rows.y.copy()
    y[wrong] *= -5.0
    rows = data.Folds(rows.X, y, rows.parts)
    return lambda seed, **p: rows.mae(linear_model.HuberRegressor(**p))


@task(
    "sgd-cancer-noisy",
    "linear",
    "noisy",
    loss=Choice(["hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron"]),
    penalty=Choice(["l2", "l1", "elasticnet"]),
    alpha=Real(1e-8, 1e2, log=True),
    learning_rate=Choice(["constant", "optimal", "invscaling", "adaptive"]),
    eta0=Real(1e-6, 10.0, log=True),
    power_t=Real(0.0, 1.0),
    average=YES_NO,
    max_iter=Int(1, 50),
)
def sgd_cancer(instance: int) -> Evaluate:
    """Stochastic gradient descent without a fixed seed on the breast cancer data: error rate."""
    rows = data.bundled("breast_cancer", instance, 300)
    return lambda seed, **p: rows.error(
        make_pipeline(StandardScaler(), linear_model.SGDClassifier(random_state=seed, **p))
    )


@task(
    "sgd-friedman-fails",
    "linear",
    "fails",
    loss=Choice(["squared_error", "huber", "epsilon_insensitive"]),
    alpha=Real(1e-8, 1e2, log=True),
    learning_rate=Choice(["constant", "invscaling", "adaptive"]),
    eta0=Real(1e-6, 1e2, log=True),
    power_t=Real(0.0, 1.0),
    max_iter=Int(1, 60),
)
def sgd_friedman(instance: int) -> Evaluate:
    """Stochastic gradient descent on products of columns; large steps diverge and fail."""
    rows = data.friedman(1, instance)

    def evaluate(seed: int, **options: Any) -> float | None:
        terms = PolynomialFeatures(2, include_bias=False)
        model = linear_model.SGDRegressor(random_state=0, **options)
        error = rows.rmse(make_pipeline(terms, StandardScaler(), model))
        return error if error < 1e3 else None

    return evaluate


@task(
    "pls-wide",
    "linear",
    n_components=Int(1, 40),
    scale=YES_NO,
    useful=Int(1, 80),
)
def pls(instance: int) -> Evaluate:
    """Partial least squares on the columns most like the target: RMSE."""
    from sklearn.feature_selection import SelectKBest, f_regression

    rows = data.sparse(instance, 150, 80, 12)

    def evaluate(seed: int, n_components: int, scale: bool, useful: int) -> float:
        choose = SelectKBest(f_regression, k=useful)
        model = PLSRegression(min(n_components, useful), scale=scale)
        return rows.rmse(make_pipeline(choose, model))

    return evaluate


@task(
    "discriminant-digits-fails",
    "linear",
    "fails",
    solver=Choice(["svd", "lsqr", "eigen"]),
    shrinkage=Choice([None, 0.0, 0.01, 0.03, 0.1, 0.3, 0.6, 1.0]),
    tol=Real(1e-8, 10.0, log=True),
    columns=Int(1, 64),
)
def discriminant(instance: int) -> Evaluate:
    """Linear discriminants on digits; not every solver supports shrinkage: error rate."""
    rows = data.bundled("digits", instance, 300)

    def evaluate(seed: int, columns: int, **options: Any) -> float:
        from sklearn.decomposition import PCA

        reduce = PCA(columns, random_state=0)
        return rows.error(make_pipeline(reduce, LinearDiscriminantAnalysis(**options)))

    return evaluate


@task(
    "naive-bayes-digits",
    "linear",
    kind=Choice(["gaussian", "multinomial", "complement", "bernoulli"]),
    alpha=Real(1e-10, 1e3, log=True),
    binarize=Real(0.0, 1.0),
    var_smoothing=Real(1e-12, 1e2, log=True),
    fit_prior=YES_NO,
    norm=YES_NO,
)
def bayes(instance: int) -> Evaluate:
    """Four kinds of naive Bayes, each with parameters of its own, on digits: log loss."""
    rows = data.bundled("digits", instance, 400)

    def evaluate(
        seed: int,
        kind: str,
        alpha: float,
        binarize: float,
        var_smoothing: float,
        fit_prior: bool,
        norm: bool,
    ) -> float:
        model = {
            "gaussian": naive_bayes.GaussianNB(var_smoothing=var_smoothing),
            "multinomial": naive_bayes.MultinomialNB(alpha=alpha, fit_prior=fit_prior),
            "complement": naive_bayes.ComplementNB(alpha=alpha, norm=norm),
            "bernoulli": naive_bayes.BernoulliNB(
                alpha=alpha, binarize=binarize, fit_prior=fit_prior
            ),
        }[kind]
        return rows.log_loss(make_pipeline(MinMaxScaler(clip=True), model))

    return evaluate


@task(
    "network-digits",
    "network",
    units=Int(1, 64, log=True),
    alpha=Real(1e-7, 1e2, log=True),
    learning_rate_init=Real(1e-6, 1.0, log=True),
    batch_size=Int(8, 128, log=True),
    activation=Choice(["relu", "tanh", "logistic", "identity"]),
    max_iter=Int(1, 25),
)
def network_digits(instance: int) -> Evaluate:
    """A network with one hidden layer on handwritten digits: log loss."""
    rows = data.bundled("digits", instance, 250)
    rows = data.Folds(rows.X / 16.0, rows.y, rows.parts)

    def evaluate(seed: int, units: int, **options: Any) -> float:
        return rows.log_loss(MLPClassifier(hidden_layer_sizes=(units,), random_state=0, **options))

    return evaluate


@task(
    "network-moons-noisy",
    "network",
    "noisy",
    first=Int(1, 32, log=True),
    second=Int(1, 32, log=True),
    alpha=Real(1e-7, 1e2, log=True),
    learning_rate_init=Real(1e-5, 1.0, log=True),
    momentum=Real(0.0, 0.99),
    solver=Choice(["adam", "sgd", "lbfgs"]),
    activation=Choice(["relu", "tanh", "logistic"]),
)
def network_moons(instance: int) -> Evaluate:
    """A network with two hidden layers and no fixed seed on half moons: log loss."""
    rows = data.moons(instance, 150)

    def evaluate(seed: int, first: int, second: int, **options: Any) -> float:
        model = MLPClassifier(
            hidden_layer_sizes=(first, second), max_iter=20, random_state=seed, **options
        )
        return rows.log_loss(model)

    return evaluate


@task(
    "network-diabetes-fails",
    "network",
    "fails",
    units=Int(1, 64, log=True),
    alpha=Real(1e-6, 1e3, log=True),
    learning_rate_init=Real(1e-5, 1e3, log=True),
    activation=Choice(["relu", "tanh", "identity"]),
    solver=Choice(["adam", "sgd"]),
    max_iter=Int(1, 40),
)
def network_diabetes(instance: int) -> Evaluate:
    """A network on the diabetes data; plain gradient descent diverges with large steps: RMSE."""
    rows = data.bundled("diabetes", instance, 200)

    def evaluate(seed: int, units: int, **options: Any) -> float | None:
        model = MLPRegressor(hidden_layer_sizes=(units,), batch_size=32, random_state=0, **options)
        error = rows.rmse(make_pipeline(StandardScaler(), model))
        return error if error < 1e3 else None

    return evaluate
