"""Tasks: pipelines with optional steps, each of which has parameters of its own."""

from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter1d, median_filter
from scipy.signal import butter, savgol_filter, sosfiltfilt
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    PowerTransformer,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)

from bamsoo.space import Choice, Int, Real

from ..tuning import data
from ..tuning.steps import SCALERS, scaler
from ..tuning.task import Evaluate
from .models import CLASSIFIERS, REGRESSORS, classifier, regressor
from .task import task


@task(
    "pipeline-digits",
    "pipeline",
    scale=Choice(SCALERS),
    reduce=Choice(
        {
            "none": {},
            "pca": {"components": Int(1, 60), "whiten": Choice([False, True])},
            "best": {"columns": Int(1, 60)},
        }
    ),
    model=Choice(CLASSIFIERS),
)
def pipeline_digits(instance: int) -> Evaluate:
    """Scaling, selection of columns and one of five classifiers for digits: error rate."""
    rows = data.bundled("digits", instance, 250)

    def evaluate(seed: int, scale: str, reduce: str, model: str, **p: Any) -> float:
        fewer: Any = "passthrough"
        if reduce == "pca":
            fewer = PCA(p["components"], whiten=p["whiten"], random_state=0)
        elif reduce == "best":
            fewer = SelectKBest(f_classif, k=p["columns"])
        return rows.error(make_pipeline(scaler(scale), fewer, classifier(model, p)))

    return evaluate


@task(
    "pipeline-cancer",
    "pipeline",
    shape=Choice(
        {
            "as it is": {},
            "power": {},
            "quantiles": {"quantiles": Int(5, 100), "onto": Choice(["uniform", "normal"])},
            "bins": {"bins": Int(2, 20)},
        }
    ),
    select=Choice({"all": {}, "best": {"columns": Int(1, 30)}}),
    model=Choice(CLASSIFIERS),
)
def pipeline_cancer(instance: int) -> Evaluate:
    """Transformed and selected columns, and one of five classifiers of tumours: error rate."""
    rows = data.bundled("breast_cancer", instance, 200)

    def evaluate(seed: int, shape: str, select: str, model: str, **p: Any) -> float:
        change: Any = "passthrough"
        if shape == "power":
            change = PowerTransformer()
        elif shape == "quantiles":
            change = QuantileTransformer(
                n_quantiles=p["quantiles"], output_distribution=p["onto"], random_state=0
            )
        elif shape == "bins":
            change = KBinsDiscretizer(p["bins"], encode="ordinal", quantile_method="linear")
        fewer: Any = "passthrough"
        if select == "best":
            fewer = SelectKBest(f_classif, k=p["columns"])
        return rows.error(make_pipeline(change, fewer, classifier(model, p)))

    return evaluate


@task(
    "pipeline-friedman",
    "pipeline",
    select=Choice({"all": {}, "best": {"columns": Int(1, 20)}}),
    terms=Choice(
        {
            "none": {},
            "spline": {"knots": Int(2, 12), "degree": Int(1, 3)},
            "fourier": {"waves": Int(5, 100), "width": Real(1e-4, 1e1, log=True)},
        }
    ),
    model=Choice(REGRESSORS),
)
def pipeline_friedman(instance: int) -> Evaluate:
    """Selected columns, added terms, one of five regressors; Friedman's first function: RMSE."""
    rows = data.friedman(1, instance, 150)
    more = np.random.default_rng(instance).random((150, 10))
    rows = data.Folds(np.hstack([rows.X, more]), rows.y, rows.parts)

    def evaluate(seed: int, select: str, terms: str, model: str, **p: Any) -> float:
        fewer: Any = "passthrough"
        if select == "best":
            fewer = SelectKBest(f_regression, k=p["columns"])
        expand: Any = "passthrough"
        if terms == "spline":
            expand = SplineTransformer(p["knots"], degree=p["degree"])
        elif terms == "fourier":
            expand = RBFSampler(gamma=p["width"], n_components=p["waves"], random_state=0)
        return rows.rmse(make_pipeline(StandardScaler(), fewer, expand, regressor(model, p)))

    return evaluate


@task(
    "smoothing-steps",
    "pipeline",
    spikes=Choice({"keep": {}, "remove": {"wide": Int(3, 31), "limit": Real(0.5, 10.0)}}),
    smooth=Choice(
        {
            "none": {},
            "gauss": {"sigma": Real(0.2, 30.0, log=True)},
            "polynomial": {"half": Int(3, 40), "order": Int(1, 5)},
            "low-pass": {"poles": Int(1, 6), "cutoff": Real(0.005, 0.9, log=True)},
        }
    ),
)
def smoothing_steps(instance: int) -> Evaluate:
    """A signal with noise and spikes that is to be cleaned: RMSE of the result."""
    rng = np.random.default_rng(instance)
    t = np.linspace(0.0, 1.0, 400)
    clean = np.sin(9.0 * t) + 0.5 * np.sin(31.0 * t + instance) + (t > 0.6)
    noisy = clean + 0.25 * rng.normal(size=len(t))
    noisy[rng.integers(len(t), size=20)] += rng.normal(scale=4.0, size=20)

    def evaluate(seed: int, spikes: str, smooth: str, **p: Any) -> float:
        signal = noisy
        if spikes == "remove":
            middle = median_filter(signal, 2 * p["wide"] + 1)
            far = np.abs(signal - middle) > p["limit"] * np.std(signal - middle)
            signal = np.where(far, middle, signal)
        if smooth == "gauss":
            signal = gaussian_filter1d(signal, p["sigma"])
        elif smooth == "polynomial":
            signal = savgol_filter(signal, 2 * p["half"] + 1, p["order"])
        elif smooth == "low-pass":
            signal = sosfiltfilt(butter(p["poles"], p["cutoff"], output="sos"), signal)
        return float(np.sqrt(np.mean((signal - clean) ** 2)))

    return evaluate
