"""Data sets of a few hundred rows, split into folds, for the scikit-learn tasks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import KFold, StratifiedKFold

AnyArray = np.ndarray[Any, Any]

FOLDS = 3
LEAST = 1e-7
"""Smaller probabilities count as this in the log loss."""


@dataclass(frozen=True)
class Folds:
    """Rows, what is to be predicted, and three (train, test) pairs of row numbers."""

    X: AnyArray
    y: AnyArray
    parts: list[tuple[AnyArray, AnyArray]]

    def error(self, model: Any) -> float:
        """Share of rows that are classified wrongly."""
        return self._mean(model, lambda m, X, y: float(np.mean(m.predict(X) != y)))

    def unbalance(self, model: Any) -> float:
        """One minus the balanced accuracy."""
        return self._mean(model, lambda m, X, y: 1.0 - balanced_accuracy_score(y, m.predict(X)))

    def log_loss(self, model: Any) -> float:
        """Mean negative log of the probability given to the right class."""
        return self._mean(model, lambda m, X, y: log_loss(m.predict_proba(X), m.classes_, y))

    def rmse(self, model: Any) -> float:
        """Root of the mean squared error."""
        mean = self._mean(model, lambda m, X, y: float(np.mean((m.predict(X).ravel() - y) ** 2)))
        return float(np.sqrt(mean))

    def mae(self, model: Any) -> float:
        """Mean absolute error."""
        return self._mean(model, lambda m, X, y: float(np.mean(np.abs(m.predict(X).ravel() - y))))

    def _mean(self, model: Any, loss: Callable[[Any, AnyArray, AnyArray], float]) -> float:
        losses = []
        for train, test in self.parts:
            model.fit(self.X[train], self.y[train])
            losses.append(loss(model, self.X[test], self.y[test]))
        return float(np.mean(losses))


def log_loss(chances: AnyArray, classes: AnyArray, y: AnyArray) -> float:
    """Mean negative log of each row's probability of its own class."""
    own = chances[np.arange(len(y)), np.searchsorted(classes, y)]
    return float(-np.mean(np.log(np.clip(own, LEAST, 1.0))))


def bundled(name: str, instance: int, rows: int | None = None) -> Folds:
    """A data set that comes with scikit-learn; the instance draws its rows and folds."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    keep = np.random.default_rng(instance).permutation(len(y))[:rows]
    return folds(X[keep], y[keep], instance)


def folds(X: AnyArray, y: AnyArray, instance: int) -> Folds:
    """Split rows into folds; if `y` contains classes, each fold has the same share of each."""
    kind = StratifiedKFold if y.dtype.kind in "iu" else KFold
    cut = kind(FOLDS, shuffle=True, random_state=instance)
    return Folds(X, y, list(cut.split(X, y)))


def friedman(number: int, instance: int, rows: int = 200, noise: float = 1.0) -> Folds:
    """Friedman's function 1, 2 or 3 with noise on its values."""
    make = getattr(datasets, f"make_friedman{number}")
    X, y = make(n_samples=rows, noise=noise, random_state=instance)
    return folds(X, y, instance)


def moons(instance: int, rows: int = 240, noise: float = 0.3, useless: int = 0) -> Folds:
    """Two half moons, with useless columns added."""
    X, y = datasets.make_moons(n_samples=rows, noise=noise, random_state=instance)
    more = np.random.default_rng(instance).normal(size=(rows, useless))
    return folds(np.hstack([X, more]), y, instance)


def classes(instance: int, rows: int = 300, **options: Any) -> Folds:
    """Clusters of `make_classification`."""
    X, y = datasets.make_classification(n_samples=rows, random_state=instance, **options)
    return folds(X, y, instance)


def sparse(instance: int, rows: int = 150, columns: int = 60, useful: int = 8) -> Folds:
    """A linear function of a few of many columns, with noise."""
    X, y = datasets.make_regression(
        n_samples=rows,
        n_features=columns,
        n_informative=useful,
        noise=20.0,
        effective_rank=None,
        random_state=instance,
    )
    return folds(X, y, instance)
