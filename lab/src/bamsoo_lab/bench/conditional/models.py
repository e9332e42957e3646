"""Tasks: the choice of a model, each with its own parameters."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import linear_model
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.gaussian_process import GaussianProcessRegressor, kernels
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bamsoo.space import Choice, Int, Real

from ..tuning import data
from ..tuning.task import Evaluate
from .task import task

ITERATIONS = 3000
"""Iteration limit of a support vector machine, which may never converge with an extreme C."""

CLASSIFIERS: dict[str, Any] = {
    "svm": {
        "C": Real(1e-3, 1e4, log=True),
        "gamma": Real(1e-7, 1e2, log=True),
    },
    "logistic": {"strength": Real(1e-6, 1e4, log=True)},
    "neighbours": {
        "k": Int(1, 80, log=True),
        "weights": Choice(["uniform", "distance"]),
        "power": Choice([1, 2, 3]),
    },
    "tree": {
        "depth": Int(1, 30),
        "leaf": Int(1, 40, log=True),
        "criterion": Choice(["gini", "entropy"]),
    },
    "bayes": {"smoothing": Real(1e-12, 1e2, log=True)},
}
REGRESSORS: dict[str, Any] = {
    "ridge": {"alpha": Real(1e-6, 1e5, log=True)},
    "elastic-net": {
        "penalty": Real(1e-5, 1e3, log=True),
        "l1": Real(0.0, 1.0),
    },
    "svm": {
        "C": Real(1e-3, 1e5, log=True),
        "gamma": Real(1e-6, 1e2, log=True),
        "epsilon": Real(1e-3, 1e2, log=True),
    },
    "neighbours": {"k": Int(1, 80, log=True), "weights": Choice(["uniform", "distance"])},
    "tree": {"depth": Int(1, 20), "leaf": Int(1, 40, log=True)},
}


def classifier(model: str, p: dict[str, Any]) -> Any:
    """A classifier of `CLASSIFIERS` with its parameters."""
    made: dict[str, Callable[[], Any]] = {
        "svm": lambda: SVC(C=p["C"], gamma=p["gamma"], max_iter=ITERATIONS),
        "logistic": lambda: linear_model.LogisticRegression(C=p["strength"], max_iter=40),
        "neighbours": lambda: KNeighborsClassifier(p["k"], weights=p["weights"], p=p["power"]),
        "tree": lambda: DecisionTreeClassifier(
            max_depth=p["depth"],
            min_samples_leaf=p["leaf"],
            criterion=p["criterion"],
            random_state=0,
        ),
        "bayes": lambda: GaussianNB(var_smoothing=p["smoothing"]),
    }
    return made[model]()


def regressor(model: str, p: dict[str, Any]) -> Any:
    """A regressor of `REGRESSORS` with its parameters."""
    made: dict[str, Callable[[], Any]] = {
        "ridge": lambda: linear_model.Ridge(p["alpha"]),
        "elastic-net": lambda: linear_model.ElasticNet(
            p["penalty"], l1_ratio=p["l1"], max_iter=200
        ),
        "svm": lambda: SVR(C=p["C"], gamma=p["gamma"], epsilon=p["epsilon"], max_iter=ITERATIONS),
        "neighbours": lambda: KNeighborsRegressor(p["k"], weights=p["weights"]),
        "tree": lambda: DecisionTreeRegressor(
            max_depth=p["depth"], min_samples_leaf=p["leaf"], random_state=0
        ),
    }
    return made[model]()


@task("classifier-digits", "model", model=Choice(CLASSIFIERS))
def classifier_digits(instance: int) -> Evaluate:
    """Five classifiers of handwritten digits: error rate."""
    rows = data.bundled("digits", instance, 300)
    return lambda seed, model, **p: rows.error(classifier(model, p))


@task("classifier-wine", "model", model=Choice(CLASSIFIERS))
def classifier_wine(instance: int) -> Evaluate:
    """Five classifiers of wines whose columns have very different scales: error rate."""
    rows = data.bundled("wine", instance)
    return lambda seed, model, **p: rows.error(classifier(model, p))


@task("classifier-clusters", "model", model=Choice(CLASSIFIERS))
def classifier_clusters(instance: int) -> Evaluate:
    """Five classifiers of clusters with useless columns: error rate."""
    rows = data.classes(
        instance, 250, n_features=20, n_informative=6, n_redundant=4, n_clusters_per_class=3
    )
    return lambda seed, model, **p: rows.error(classifier(model, p))


@task("regressor-diabetes", "model", model=Choice(REGRESSORS))
def regressor_diabetes(instance: int) -> Evaluate:
    """Five regressors of the progress of diabetes: RMSE."""
    rows = data.bundled("diabetes", instance, 250)
    return lambda seed, model, **p: rows.rmse(make_pipeline(StandardScaler(), regressor(model, p)))


@task("regressor-friedman", "model", model=Choice(REGRESSORS))
def regressor_friedman(instance: int) -> Evaluate:
    """Five regressors of Friedman's second function: RMSE."""
    rows = data.friedman(2, instance, 150, noise=20.0)
    return lambda seed, model, **p: rows.rmse(make_pipeline(StandardScaler(), regressor(model, p)))


def of_kernel(kernel: str, p: dict[str, Any]) -> dict[str, Any]:
    """A kernel's parameters as scikit-learn calls them, without the kernel in front."""
    return {name.removeprefix(f"{kernel}_"): value for name, value in p.items()}


@task(
    "svm-kernels",
    "kernel",
    C=Real(1e-3, 1e4, log=True),
    kernel=Choice(
        {
            "linear": {},
            "rbf": {"rbf_gamma": Real(1e-5, 1e3, log=True)},
            "poly": {
                "degree": Int(2, 6),
                "poly_gamma": Real(1e-4, 1e1, log=True),
                "poly_coef0": Real(0.0, 5.0),
            },
            "sigmoid": {
                "sigmoid_gamma": Real(1e-4, 1e2, log=True),
                "sigmoid_coef0": Real(-2.0, 2.0),
            },
        }
    ),
)
def svm_kernels(instance: int) -> Evaluate:
    """The choice of a kernel that separates two moons with useless columns: error rate."""
    rows = data.moons(instance, 200, useless=3)

    def evaluate(seed: int, C: float, kernel: str, **p: Any) -> float:
        return rows.error(SVC(C=C, kernel=kernel, max_iter=ITERATIONS, **of_kernel(kernel, p)))

    return evaluate


@task(
    "kernel-ridge-kernels",
    "kernel",
    alpha=Real(1e-6, 1e2, log=True),
    kernel=Choice(
        {
            "laplacian": {"laplacian_gamma": Real(1e-4, 1e2, log=True)},
            "rbf": {"rbf_gamma": Real(1e-5, 1e2, log=True)},
            "polynomial": {
                "degree": Int(1, 5),
                "polynomial_coef0": Real(0.0, 5.0),
            },
        }
    ),
)
def kernel_ridge_kernels(instance: int) -> Evaluate:
    """The choice of a kernel for Friedman's first function: RMSE."""
    rows = data.friedman(1, instance, 150)

    def evaluate(seed: int, alpha: float, kernel: str, **p: Any) -> float:
        model = KernelRidge(alpha=alpha, kernel=kernel, **of_kernel(kernel, p))
        return rows.rmse(make_pipeline(StandardScaler(), model))

    return evaluate


@task(
    "gaussian-process-kernels",
    "kernel",
    noise=Real(1e-6, 1e1, log=True),
    kernel=Choice(
        {
            "rbf": {"rbf_length": Real(1e-2, 1e2, log=True)},
            "matern": {
                "matern_length": Real(1e-2, 1e2, log=True),
                "nu": Choice([0.5, 1.5, 2.5]),
            },
            "rational": {
                "rational_length": Real(1e-2, 1e2, log=True),
                "mixture": Real(1e-2, 1e2, log=True),
            },
            "periodic": {
                "periodic_length": Real(1e-2, 1e2, log=True),
                "period": Real(1e-1, 1e1, log=True),
            },
        }
    ),
)
def gaussian_process_kernels(instance: int) -> Evaluate:
    """The choice of a kernel that continues a periodic wave: RMSE of the held-out end."""
    rng = np.random.default_rng(instance)
    t = np.sort(rng.uniform(0.0, 10.0, 110))
    y = np.sin(2.0 * np.pi * t / 1.7) + 0.4 * np.cos(4.0 * np.pi * t / 1.7)
    y = y + 0.15 * rng.normal(size=len(t))
    X, cut = t[:, None], 75

    def evaluate(seed: int, noise: float, kernel: str, **p: Any) -> float:
        made: dict[str, Callable[[], Any]] = {
            "rbf": lambda: kernels.RBF(p["rbf_length"]),
            "matern": lambda: kernels.Matern(p["matern_length"], nu=p["nu"]),
            "rational": lambda: kernels.RationalQuadratic(p["rational_length"], p["mixture"]),
            "periodic": lambda: kernels.ExpSineSquared(p["periodic_length"], p["period"]),
        }
        model = GaussianProcessRegressor(made[kernel](), alpha=noise, optimizer=None)
        model.fit(X[:cut], y[:cut])
        return float(np.sqrt(np.mean((model.predict(X[cut:]) - y[cut:]) ** 2)))

    return evaluate


@task(
    "clusters-blobs",
    "model",
    algorithm=Choice(
        {
            "k-means": {"means": Int(2, 20), "start": Choice(["k-means++", "random"])},
            "density": {"radius": Real(1e-2, 1e1, log=True), "least": Int(1, 30)},
            "tree": {
                "groups": Int(2, 20),
                "linkage": Choice(["ward", "complete", "average", "single"]),
            },
            "mixture": {
                "parts": Int(2, 20),
                "covariance": Choice(["full", "tied", "diag", "spherical"]),
            },
        }
    ),
)
def clusters_blobs(instance: int) -> Evaluate:
    """Clustering of stretched groups of points: one minus the adjusted Rand index."""
    X, groups = make_blobs(200, centers=7, cluster_std=0.9, random_state=instance)
    X = X @ np.array([[1.0, 0.6], [-0.5, 0.4]])

    def evaluate(seed: int, algorithm: str, **p: Any) -> float:
        made: dict[str, Callable[[], Any]] = {
            "k-means": lambda: KMeans(p["means"], init=p["start"], n_init=1, random_state=0),
            "density": lambda: DBSCAN(eps=p["radius"], min_samples=p["least"]),
            "tree": lambda: AgglomerativeClustering(p["groups"], linkage=p["linkage"]),
            "mixture": lambda: GaussianMixture(
                p["parts"], covariance_type=p["covariance"], max_iter=30, random_state=0
            ),
        }
        return 1.0 - float(adjusted_rand_score(groups, made[algorithm]().fit_predict(X)))

    return evaluate


@task(
    "network-solvers",
    "model",
    alpha=Real(1e-7, 1e1, log=True),
    layers=Choice(
        {
            "one": {"only": Int(2, 40, log=True)},
            "two": {"first": Int(2, 40, log=True), "second": Int(2, 20, log=True)},
        }
    ),
    solver=Choice(
        {
            "lbfgs": {},
            "adam": {"adam_rate": Real(1e-5, 1.0, log=True), "beta": Real(0.5, 0.99)},
            "sgd": {
                "sgd_rate": Real(1e-5, 1.0, log=True),
                "momentum": Choice({"off": {}, "on": {"inertia": Real(0.5, 0.99)}}),
            },
        }
    ),
)
def network_solvers(instance: int) -> Evaluate:
    """A small network for two moons, trained for 25 epochs by one of three solvers: log loss."""
    rows = data.moons(instance, 180, noise=0.25)

    def evaluate(seed: int, alpha: float, layers: str, solver: str, **p: Any) -> float:
        sizes = (p["only"],) if layers == "one" else (p["first"], p["second"])
        own: dict[str, Any] = {}
        if solver == "adam":
            own = {"learning_rate_init": p["adam_rate"], "beta_1": p["beta"]}
        elif solver == "sgd":
            inertia = p["inertia"] if p["momentum"] == "on" else 0.0
            own = {"learning_rate_init": p["sgd_rate"], "momentum": inertia}
        model = MLPClassifier(
            sizes, alpha=alpha, solver=solver, max_iter=25, random_state=instance, **own
        )
        return rows.log_loss(make_pipeline(StandardScaler(), model))

    return evaluate
