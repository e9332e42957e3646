"""Search an estimator's parameters with bamsoo and at random, on the same folds and budget.

It needs `pip install 'bamsoo[sklearn]'`. The search uses a random part of the data, with five
folds; the rest of the data is used to test the best candidate.
"""

import argparse
from collections import defaultdict
from statistics import median
from typing import Any

from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.datasets import load_digits, make_friedman1
from sklearn.model_selection import KFold, RandomizedSearchCV, train_test_split
from sklearn.svm import SVC, SVR

from bamsoo import Real
from bamsoo.integrations.sklearn import BamsooSearchCV

BUDGETS = 12, 25, 50
SHARE = 0.3
PROBLEMS: dict[str, tuple[Any, Any, dict[str, tuple[float, float]]]] = {
    "digits, accuracy of an SVC": (
        load_digits(return_X_y=True),
        SVC(),
        {"C": (1e-3, 1e5), "gamma": (1e-9, 1e1)},
    ),
    "friedman1, R2 of an SVR": (
        make_friedman1(600, noise=0.5, random_state=0),
        SVR(),
        {"C": (1e-2, 1e3), "gamma": (1e-4, 1e1), "epsilon": (1e-3, 1e1)},
    ),
}


def compare(data: Any, estimator: Any, ranges: Any, seeds: int) -> None:
    space = {name: Real(low, high, log=True) for name, (low, high) in ranges.items()}
    distributions = {name: loguniform(low, high) for name, (low, high) in ranges.items()}
    found: dict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
    for seed in range(seeds):
        X, X_other, y, y_other = train_test_split(*data, train_size=SHARE, random_state=seed)
        folds = KFold(5, shuffle=True, random_state=seed)
        settings = {"n_iter": BUDGETS[-1], "cv": folds, "random_state": seed, "refit": False}
        for name, search in (
            ("bamsoo", BamsooSearchCV(estimator, space, **settings)),
            ("random", RandomizedSearchCV(estimator, distributions, **settings)),
        ):
            table = search.fit(X, y).cv_results_
            for n in BUDGETS:  # the first n candidates are those of a shorter search
                best = int(table["mean_test_score"][:n].argmax())
                winner = clone(estimator).set_params(**table["params"][best]).fit(X, y)
                score = float(table["mean_test_score"][best])
                found[name, n].append((score, winner.score(X_other, y_other)))
    for n in BUDGETS:
        ours, random = found["bamsoo", n], found["random", n]
        for i, where in enumerate(("over the folds", "on the rest")):
            a, b = [scores[i] for scores in ours], [scores[i] for scores in random]
            better = sum(x > y for x, y in zip(a, b, strict=True))
            worse = sum(x < y for x, y in zip(a, b, strict=True))
            print(
                f"  {n} candidates, {where}: bamsoo {median(a):.4f}, random {median(b):.4f}; "
                f"bamsoo better {better} times, worse {worse}"
            )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    for name, problem in PROBLEMS.items():
        print(f"{name}, medians over {arguments.seeds} splits")
        compare(*problem, arguments.seeds)


if __name__ == "__main__":
    main()
