"""A small network on handwritten digits: trainings that cannot win are stopped."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

import bamsoo

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16.0, y, test_size=0.3, random_state=0)
EPOCHS = 50


def train(rate: float, width: int, alpha: float, batch: int) -> Iterator[float]:
    net = MLPClassifier(
        (width,),
        learning_rate_init=rate,
        alpha=alpha,
        batch_size=batch,
        solver="sgd",
        random_state=0,
    )
    for _ in range(EPOCHS):
        net.partial_fit(X_train, y_train, classes=np.arange(10))
        yield log_loss(y_test, net.predict_proba(X_test), labels=np.arange(10))


def train_fully(**params: Any) -> float:
    return list(train(**params))[-1]


space = {
    "rate": bamsoo.Real(1e-4, 1, log=True),
    "width": bamsoo.Int(4, 128, log=True),
    "alpha": bamsoo.Real(1e-6, 1e-1, log=True),
    "batch": bamsoo.Int(16, 256, log=True),
}

if __name__ == "__main__":
    for budget in (10, 20):
        stopped = bamsoo.minimize(train, space, budget=budget, steps=EPOCHS)
        full = bamsoo.minimize(train_fully, space, budget=budget)
        print(
            f"{budget} full trainings: with stopping {stopped.fun:.4f} ({stopped.nfev} started, "
            f"{stopped.nstopped} stopped), without {full.fun:.4f}"
        )
