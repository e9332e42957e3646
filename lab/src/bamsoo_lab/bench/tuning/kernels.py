"""Tasks: support vectors, nearest neighbours, kernel methods and Gaussian processes."""

from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as gp
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import (
    KNeighborsRegressor,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC

from bamsoo.space import Choice, Int, Real

from . import data
from .steps import SCALERS, scaler
from .task import Evaluate, task

YES_NO = Choice([False, True])
STEPS = 3000
"""Iterations after which a support vector machine is cut off: some settings never converge."""


@task(
    "svc-digits",
    "svm",
    C=Real(1e-5, 1e5, log=True),
    gamma=Real(1e-7, 1e3, log=True),
)
def svc_digits(instance: int) -> Evaluate:
    """A support vector machine on handwritten digits, wide ranges: error rate."""
    rows = data.bundled("digits", instance, 250)
    return lambda seed, **p: rows.error(SVC(**p))


@task(
    "svc-cancer",
    "svm",
    C=Real(1e-5, 1e5, log=True),
    gamma=Real(1e-7, 1e3, log=True),
    kernel=Choice(["rbf", "poly", "sigmoid", "linear"]),
    degree=Int(1, 6),
    coef0=Real(-5.0, 5.0),
    class_weight=Choice([None, "balanced"]),
)
def svc_cancer(instance: int) -> Evaluate:
    """A support vector machine with four kernels on the breast cancer data: balanced accuracy."""
    rows = data.bundled("breast_cancer", instance, 300)
    return lambda seed, **p: rows.unbalance(
        make_pipeline(StandardScaler(), SVC(max_iter=STEPS, **p))
    )


@task(
    "svc-useless-columns",
    "svm",
    C=Real(1e-5, 1e5, log=True),
    gamma=Real(1e-7, 1e3, log=True),
    scale=Choice(SCALERS),
    class_weight=Choice([None, "balanced"]),
)
def svc_useless(instance: int) -> Evaluate:
    """A support vector machine on rare classes and useless columns."""
    rows = data.classes(
        instance, 250, n_features=15, n_informative=4, n_classes=3, weights=[0.7, 0.2]
    )

    def evaluate(seed: int, scale: str, **options: Any) -> float:
        return rows.unbalance(make_pipeline(scaler(scale), SVC(max_iter=STEPS, **options)))

    return evaluate


@task(
    "nu-svc-fails",
    "svm",
    "fails",
    nu=Real(0.01, 1.0),
    gamma=Real(1e-6, 1e3, log=True),
    kernel=Choice(["rbf", "poly", "sigmoid"]),
    degree=Int(1, 6),
    coef0=Real(-2.0, 2.0),
)
def nu_svc(instance: int) -> Evaluate:
    """A nu-SVM on a rare and a frequent class; a nu too large for the classes raises an error."""
    rows = data.classes(instance, 250, n_features=8, n_informative=5, weights=[0.75])
    return lambda seed, **p: rows.unbalance(
        make_pipeline(StandardScaler(), NuSVC(max_iter=STEPS, **p))
    )


@task(
    "svr-friedman",
    "svm",
    C=Real(1e-4, 1e4, log=True),
    epsilon=Real(1e-6, 10.0, log=True),
    gamma=Real(1e-6, 1e2, log=True),
)
def svr_friedman(instance: int) -> Evaluate:
    """Support vector regression on Friedman's first function: RMSE."""
    rows = data.friedman(1, instance)
    return lambda seed, **p: rows.rmse(make_pipeline(StandardScaler(), SVR(max_iter=STEPS, **p)))


@task(
    "svr-diabetes",
    "svm",
    C=Real(1e-3, 1e6, log=True),
    epsilon=Real(1e-3, 1e3, log=True),
    gamma=Real(1e-6, 1e3, log=True),
    kernel=Choice(["rbf", "poly", "sigmoid", "linear"]),
    degree=Int(1, 5),
    shrinking=YES_NO,
)
def svr_diabetes(instance: int) -> Evaluate:
    """Support vector regression with four kernels on the diabetes data: mean absolute error."""
    rows = data.bundled("diabetes", instance, 200)
    return lambda seed, **p: rows.mae(make_pipeline(StandardScaler(), SVR(max_iter=STEPS, **p)))


@task(
    "knn-diabetes",
    "neighbours",
    n_neighbors=Int(1, 130),
    weights=Choice(["uniform", "distance"]),
    metric=Choice(["euclidean", "manhattan", "chebyshev", "cosine"]),
    scale=Choice(SCALERS),
)
def knn_diabetes(instance: int) -> Evaluate:
    """Nearest neighbours on the diabetes data, with only integers and options: RMSE."""
    rows = data.bundled("diabetes", instance, 200)

    def evaluate(seed: int, scale: str, **options: Any) -> float:
        return rows.rmse(make_pipeline(scaler(scale), KNeighborsRegressor(**options)))

    return evaluate


@task(
    "radius-neighbours-wine-fails",
    "neighbours",
    "fails",
    radius=Real(1e-2, 1e3, log=True),
    p=Real(1.0, 6.0),
    weights=Choice(["uniform", "distance"]),
    scale=Choice(SCALERS),
)
def radius_wine(instance: int) -> Evaluate:
    """Neighbours within a radius on the wine data; fails if a row has none."""
    rows = data.bundled("wine", instance)

    def evaluate(seed: int, scale: str, **options: Any) -> float:
        return rows.error(make_pipeline(scaler(scale), RadiusNeighborsClassifier(**options)))

    return evaluate


@task(
    "radius-neighbours-friedman-fails",
    "neighbours",
    "fails",
    radius=Real(1e-2, 10.0, log=True),
    p=Real(1.0, 6.0),
    weights=Choice(["uniform", "distance"]),
)
def radius_friedman(instance: int) -> Evaluate:
    """Neighbours within a radius on Friedman's first function; fails without neighbours."""
    rows = data.friedman(1, instance, 250)
    rows = data.Folds(rows.X[:, :5], rows.y, rows.parts)
    return lambda seed, **p: rows.rmse(RadiusNeighborsRegressor(**p))


@task(
    "kernel-ridge-diabetes",
    "kernel",
    alpha=Real(1e-8, 1e4, log=True),
    gamma=Real(1e-6, 1e3, log=True),
    kernel=Choice(["rbf", "laplacian", "polynomial", "sigmoid"]),
    degree=Int(1, 5),
    coef0=Real(-2.0, 2.0),
)
def kernel_ridge(instance: int) -> Evaluate:
    """Kernel ridge regression with four kernels on the diabetes data: log of the RMSE."""
    rows = data.bundled("diabetes", instance, 200)
    return lambda seed, **p: float(
        np.log(rows.rmse(make_pipeline(StandardScaler(), KernelRidge(**p))))
    )


@task(
    "gaussian-process-friedman-fails",
    "kernel",
    "fails",
    length=Real(1e-3, 1e3, log=True),
    alpha=Real(1e-18, 1e2, log=True),
    kernel=Choice(["rbf", "matern32", "matern52"]),
    variance=Real(1e-4, 1e4, log=True),
    normalize=YES_NO,
)
def gaussian_process(instance: int) -> Evaluate:
    """Gaussian-process regression; smooth kernels with little noise cannot be factorised."""
    rows = data.friedman(1, instance, 120)
    rows = data.Folds(rows.X[:, 2:5], rows.y, rows.parts)

    def evaluate(
        seed: int, length: float, alpha: float, kernel: str, variance: float, normalize: bool
    ) -> float:
        shape = {
            "rbf": gp.RBF(length),
            "matern32": gp.Matern(length, nu=1.5),
            "matern52": gp.Matern(length, nu=2.5),
        }[kernel]
        return rows.rmse(
            GaussianProcessRegressor(
                gp.ConstantKernel(variance) * shape,
                alpha=alpha,
                optimizer=None,
                normalize_y=normalize,
            )
        )

    return evaluate


@task(
    "gaussian-process-lengths",
    "kernel",
    **{f"length{i}": Real(1e-2, 1e3, log=True) for i in range(6)},
    alpha=Real(1e-6, 1e2, log=True),
)
def gaussian_process_lengths(instance: int) -> Evaluate:
    """One length scale per column, one of which is useless: log of the RMSE."""
    rows = data.friedman(1, instance, 120)
    rows = data.Folds(rows.X[:, :6], rows.y, rows.parts)

    def evaluate(seed: int, alpha: float, **lengths: float) -> float:
        kernel = gp.ConstantKernel(1.0) * gp.Matern([*lengths.values()], nu=2.5)
        model = GaussianProcessRegressor(kernel, alpha=alpha, optimizer=None, normalize_y=True)
        return float(np.log(rows.rmse(model)))

    return evaluate
