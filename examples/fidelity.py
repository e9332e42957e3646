"""What cheaper versions of a function save: with a Fidelity, and with every evaluation at the top.

python examples/fidelity.py
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss

import bamsoo
from bamsoo import Fidelity, Real
from bamsoo.problems import branin, hartmann3

BUDGETS = (5, 10, 20)


def smooth_bias(x: float, y: float, rows: int) -> float:
    """Branin, with a difference that shrinks with the root of the rows and depends on x."""
    bias: float = 200.0 / rows**0.5 * (1.0 + 0.1 * x)
    return float(branin([x, y])) + bias


def coarse_mesh(x: float, y: float, z: float, cells: int) -> float:
    """Hartmann 3 on a mesh: its points are rounded, and the error falls with the cells."""
    shift = 1.0 / cells
    return float(hartmann3(np.clip([x + shift, y - shift, z + shift], 0.0, 1.0)))


def misleading(x: float, y: float, share: float) -> float:
    """Branin, whose cheap versions have their minimum elsewhere."""
    far = (x - 8.0) ** 2 + (y - 13.0) ** 2
    return float(branin([x, y])) * share + (1.0 - share) * far


X, LABELS = load_digits(return_X_y=True)
X = X / 16.0
TRAINED = 1200


def digits(alpha: float, rate: float, rows: int) -> float:
    """The loss of a linear classifier of handwritten digits, trained on some of the images."""
    model = SGDClassifier(
        loss="log_loss", alpha=alpha, learning_rate="constant", eta0=rate, max_iter=5, tol=None,
        random_state=0,
    )  # fmt: skip
    model.fit(X[:rows], LABELS[:rows])
    return float(log_loss(LABELS[TRAINED:], model.predict_proba(X[TRAINED:]), labels=range(10)))


PLANE = {"x": (-5, 10), "y": (0, 15)}
CUBE = {"x": (0, 1), "y": (0, 1), "z": (0, 1)}
RATES = {"alpha": Real(1e-7, 1e-1, log=True), "rate": Real(1e-4, 10.0, log=True)}
PROBLEMS: dict[str, tuple[Callable[..., float], dict[str, Any], str, Fidelity]] = {
    "smooth bias": (smooth_bias, PLANE, "rows", Fidelity(500, 60_000, log=True)),
    "coarse mesh": (coarse_mesh, CUBE, "cells", Fidelity(10, 1000, log=True)),
    "misleading": (misleading, PLANE, "share", Fidelity(0.05, 1.0)),
    "digits": (digits, RATES, "rows", Fidelity(60, TRAINED, log=True)),
}


def main() -> None:
    """Print the best value at the top after several budgets."""
    for title, (fun, space, name, fidelity) in PROBLEMS.items():
        for budget in BUDGETS:
            r = bamsoo.minimize(fun, {**space, name: fidelity}, budget)
            top = bamsoo.minimize(partial(fun, **{name: fidelity.high}), space, budget)
            points = len({tuple(v for k, v in p.items() if k != name) for p in r.X})
            print(
                f"{title}, {budget:2} full evaluations: with a fidelity {r.fun:.4f} "
                f"({points} points), at the top {top.fun:.4f}"
            )


if __name__ == "__main__":
    main()
