"""The weights of small perceptrons, on data sets of scikit-learn and on curves."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from bamsoo.base.typing import Array

from ..case import Box
from ..errors import require
from .problem import Value, sizes

WEIGHT = 4.0
"""The largest weight."""

HIDDEN = 3


def _weights(sizes: tuple[int, ...]) -> int:
    return sum((a + 1) * b for a, b in pairwise(sizes))


def _output(X: Array, x: Array, sizes: tuple[int, ...]) -> Array:
    """The output of a perceptron with tanh in its hidden layer."""
    start = 0
    for layer, (a, b) in enumerate(pairwise(sizes)):
        if layer:
            X = np.tanh(X)
        end = start + (a + 1) * b
        W = x[start:end].reshape(a + 1, b)
        X, start = X @ W[1:] + W[0], end
    return X


def _principal(name: str, columns: int) -> tuple[Array, Array]:
    """The first principal components of a data set, and its labels or values."""
    require("sklearn")
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    X = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9)
    U, S, _ = np.linalg.svd(X, full_matrices=False)
    top = U[:, :columns] * np.sign(U[:1, :columns]) * S[:columns]
    found: Array = top / top.std(axis=0)
    return found, np.asarray(y, dtype=float)


@sizes(
    "perceptron",
    ("sklearn",),
    perceptron_wine=("develop", 250, ["wine", 4, 3]),
    perceptron_cancer=("report", 240, ["breast_cancer", 5, 2]),
)
def classifier(data: str, columns: int, classes: int) -> tuple[Box, Callable[[], Value]]:
    """The mean log loss of a classifier."""
    sizes = (columns, HIDDEN, classes)

    def build() -> Value:
        X, y = _principal(data, columns)
        rows, label = np.arange(len(y)), y.astype(int)

        def value(x: Array) -> float:
            score = _output(X, x, sizes)
            score = score - score.max(axis=1, keepdims=True)
            return float(np.mean(np.log(np.exp(score).sum(axis=1)) - score[rows, label]))

        return value

    return [(-WEIGHT, WEIGHT)] * _weights(sizes), build


@sizes(
    "perceptron",
    perceptron_wave=("develop", 120, [3, 1]),
    perceptron_bumps=("report", 140, [4, 2]),
)
def curve(hidden: int, seed: int) -> tuple[Box, Callable[[], Value]]:
    """The mean squared error on 40 points of a curve with two frequencies."""
    sizes = (1, hidden, 1)

    def build() -> Value:
        rng = np.random.default_rng(seed)
        X = np.linspace(-2.0, 2.0, 40)[:, None]
        slow, fast = rng.uniform(0.8, 1.4), rng.uniform(2.0, 3.0)
        y = np.sin(slow * X[:, 0]) + 0.5 * np.cos(fast * X[:, 0])
        return lambda x: float(np.mean((_output(X, x, sizes)[:, 0] - y) ** 2))

    return [(-WEIGHT, WEIGHT)] * _weights(sizes), build
