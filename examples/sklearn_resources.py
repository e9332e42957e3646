"""Cheaper fits in BamsooSearchCV: with and without steps, and with and without a resource.

Every search has the budget of 8 full candidates on part of scikit-learn's digits, and is judged by
the mean score over the folds of its best candidate with the full resource. Run it with:

    python examples/sklearn_resources.py
"""

from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.svm import SVC

from bamsoo import Real
from bamsoo.integrations.sklearn import BamsooSearchCV

BUDGET, STEPS, SPLITS = 8, 20, 5

LINEAR = {"alpha": Real(1e-6, 1.0, log=True), "eta0": Real(1e-4, 10.0, log=True)}
KERNEL = {"C": Real(1e-2, 1e3, log=True), "gamma": Real(1e-4, 10.0, log=True)}


def linear() -> SGDClassifier:
    """A linear classifier that takes as many passes over the rows as there are steps."""
    return SGDClassifier(
        loss="log_loss", learning_rate="constant", max_iter=STEPS, tol=None, random_state=0
    )


def main() -> None:
    """Print the medians over several samples of the digits."""
    X, y = load_digits(return_X_y=True)
    searches: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "linear, whole fits": (linear(), LINEAR, {}),
        f"linear, steps={STEPS}": (linear(), LINEAR, {"steps": STEPS}),
        "SVC, whole fits": (SVC(), KERNEL, {}),
        "SVC, resource='n_samples'": (SVC(), KERNEL, {"resource": "n_samples"}),
    }
    for title, (estimator, space, more) in searches.items():
        scores, counts = [], []
        for split in range(SPLITS):
            rows = np.random.default_rng(split).permutation(len(y))[:600]
            search = BamsooSearchCV(
                estimator, space, n_iter=BUDGET, cv=3, random_state=0, **more
            )  # fmt: skip
            search.fit(X[rows] / 16.0, y[rows])
            scores.append(search.best_score_)
            counts.append(len(search.cv_results_["params"]))
        print(f"{title}: score {np.median(scores):.4f}, {np.median(counts):.0f} candidates")


if __name__ == "__main__":
    main()
