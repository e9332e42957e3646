"""Tasks: decision trees and ensembles of them."""

import numpy as np
from sklearn import ensemble
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bamsoo.space import Choice, Int, Real

from . import data
from .task import Evaluate, task

YES_NO = Choice([False, True])
DEPTH, SPLIT, LEAF = Int(1, 40), Int(2, 100), Int(1, 60)


@task(
    "tree-digits",
    "tree",
    max_depth=DEPTH,
    min_samples_split=SPLIT,
    min_samples_leaf=LEAF,
    max_features=Real(0.02, 1.0),
    ccp_alpha=Real(1e-6, 1.0, log=True),
    criterion=Choice(["gini", "entropy", "log_loss"]),
)
def tree_digits(instance: int) -> Evaluate:
    """A decision tree on handwritten digits: error rate."""
    rows = data.bundled("digits", instance, 400)
    return lambda seed, **p: rows.error(DecisionTreeClassifier(random_state=0, **p))


@task(
    "tree-cancer",
    "tree",
    max_depth=DEPTH,
    min_samples_split=SPLIT,
    min_samples_leaf=LEAF,
    max_leaf_nodes=Int(2, 200, log=True),
    min_impurity_decrease=Real(0.0, 0.5),
    class_weight=Choice([None, "balanced"]),
)
def tree_cancer(instance: int) -> Evaluate:
    """A decision tree on the breast cancer data: balanced accuracy."""
    rows = data.bundled("breast_cancer", instance, 300)
    return lambda seed, **p: rows.unbalance(DecisionTreeClassifier(random_state=0, **p))


@task(
    "tree-wine",
    "tree",
    max_depth=DEPTH,
    min_samples_split=SPLIT,
    min_samples_leaf=LEAF,
    ccp_alpha=Real(0.0, 1.0),
    max_features=Int(1, 13),
    splitter=Choice(["best", "random"]),
)
def tree_wine(instance: int) -> Evaluate:
    """A decision tree on the wine data: log loss, which penalises pure leaves."""
    rows = data.bundled("wine", instance)
    return lambda seed, **p: rows.log_loss(DecisionTreeClassifier(random_state=0, **p))


@task(
    "tree-moons",
    "tree",
    max_depth=DEPTH,
    min_samples_split=SPLIT,
    min_samples_leaf=LEAF,
    max_features=Real(0.05, 1.0),
)
def tree_moons(instance: int) -> Evaluate:
    """A decision tree on half moons with useless columns: log loss."""
    rows = data.moons(instance, useless=4)
    return lambda seed, **p: rows.log_loss(DecisionTreeClassifier(random_state=0, **p))


@task(
    "tree-friedman",
    "tree",
    max_depth=DEPTH,
    min_samples_split=SPLIT,
    min_samples_leaf=LEAF,
    max_features=Real(0.05, 1.0),
    ccp_alpha=Real(1e-6, 1e2, log=True),
    criterion=Choice(["squared_error", "friedman_mse", "absolute_error"]),
)
def tree_friedman(instance: int) -> Evaluate:
    """A regression tree on Friedman's first function: RMSE."""
    rows = data.friedman(1, instance)
    return lambda seed, **p: rows.rmse(DecisionTreeRegressor(random_state=0, **p))


@task(
    "tree-diabetes",
    "tree",
    max_depth=DEPTH,
    min_samples_split=SPLIT,
    min_samples_leaf=Int(1, 150),
    max_leaf_nodes=Int(2, 300, log=True),
)
def tree_diabetes(instance: int) -> Evaluate:
    """A regression tree on the diabetes data: mean absolute error."""
    rows = data.bundled("diabetes", instance, 300)
    return lambda seed, **p: rows.mae(DecisionTreeRegressor(random_state=0, **p))


@task(
    "forest-digits",
    "forest",
    n_estimators=Int(1, 100),
    max_depth=DEPTH,
    min_samples_split=SPLIT,
    min_samples_leaf=LEAF,
    max_features=Choice(["sqrt", "log2", None]),
    bootstrap=YES_NO,
    criterion=Choice(["gini", "entropy"]),
)
def forest_digits(instance: int) -> Evaluate:
    """A random forest on handwritten digits: error rate."""
    rows = data.bundled("digits", instance, 200)
    return lambda seed, **p: rows.error(ensemble.RandomForestClassifier(random_state=0, **p))


@task(
    "forest-wine",
    "forest",
    n_estimators=Int(1, 100),
    max_depth=DEPTH,
    min_samples_leaf=LEAF,
    max_features=Real(0.05, 1.0),
    ccp_alpha=Real(1e-5, 1.0, log=True),
)
def forest_wine(instance: int) -> Evaluate:
    """A random forest on the wine data: log loss."""
    rows = data.bundled("wine", instance)
    return lambda seed, **p: rows.log_loss(ensemble.RandomForestClassifier(random_state=0, **p))


@task(
    "forest-cancer-noisy",
    "forest",
    "noisy",
    n_estimators=Int(1, 60),
    max_depth=DEPTH,
    min_samples_split=SPLIT,
    min_samples_leaf=LEAF,
    max_features=Real(0.03, 1.0),
    class_weight=Choice([None, "balanced", "balanced_subsample"]),
)
def forest_cancer(instance: int) -> Evaluate:
    """A random forest without a fixed seed on the breast cancer data: balanced accuracy."""
    rows = data.bundled("breast_cancer", instance, 200)
    return lambda seed, **p: rows.unbalance(ensemble.RandomForestClassifier(random_state=seed, **p))


@task(
    "forest-diabetes-fails",
    "forest",
    "fails",
    n_estimators=Int(1, 80),
    max_depth=DEPTH,
    min_samples_leaf=LEAF,
    max_features=Real(0.05, 1.0),
    bootstrap=YES_NO,
    oob_score=YES_NO,
    max_samples=Choice([None, 0.1, 0.3, 0.6, 0.9]),
)
def forest_diabetes(instance: int) -> Evaluate:
    """A forest on the diabetes data; `max_samples` and `oob_score` fail without bootstrap."""
    rows = data.bundled("diabetes", instance, 200)
    return lambda seed, **p: rows.rmse(ensemble.RandomForestRegressor(random_state=0, **p))


@task(
    "extra-trees-friedman",
    "forest",
    n_estimators=Int(1, 100),
    max_depth=DEPTH,
    min_samples_split=SPLIT,
    min_samples_leaf=LEAF,
    max_features=Real(0.05, 1.0),
    bootstrap=YES_NO,
)
def extra_friedman(instance: int) -> Evaluate:
    """Extremely randomised trees on Friedman's second function: mean absolute error."""
    rows = data.friedman(2, instance, noise=50.0)
    return lambda seed, **p: rows.mae(ensemble.ExtraTreesRegressor(random_state=0, **p))


@task(
    "extra-trees-useless-columns",
    "forest",
    n_estimators=Int(1, 80),
    max_depth=DEPTH,
    min_samples_leaf=LEAF,
    max_features=Int(1, 40),
    min_impurity_decrease=Real(1e-7, 0.3, log=True),
    criterion=Choice(["gini", "entropy"]),
)
def extra_useless(instance: int) -> Evaluate:
    """Extremely randomised trees with 35 useless columns of 40: log loss."""
    rows = data.classes(instance, 200, n_features=40, n_informative=5, n_redundant=0, flip_y=0.05)
    return lambda seed, **p: rows.log_loss(ensemble.ExtraTreesClassifier(random_state=0, **p))


@task(
    "boosting-classes",
    "boosting",
    n_estimators=Int(1, 80),
    learning_rate=Real(1e-4, 10.0, log=True),
    max_depth=Int(1, 12),
    subsample=Real(0.1, 1.0),
    min_samples_leaf=LEAF,
    max_features=Real(0.05, 1.0),
)
def boosting_classes(instance: int) -> Evaluate:
    """Gradient boosting on two classes with some wrong labels: log loss."""
    rows = data.classes(instance, 200, n_features=12, n_informative=4, flip_y=0.1)
    return lambda seed, **p: rows.log_loss(ensemble.GradientBoostingClassifier(random_state=0, **p))


@task(
    "boosting-friedman",
    "boosting",
    n_estimators=Int(1, 120),
    learning_rate=Real(1e-4, 3.0, log=True),
    max_depth=Int(1, 15),
    min_samples_split=SPLIT,
    subsample=Real(0.05, 1.0),
    loss=Choice(["squared_error", "absolute_error", "huber", "quantile"]),
    alpha=Real(0.01, 0.99),
)
def boosting_friedman(instance: int) -> Evaluate:
    """Gradient boosting on Friedman's first function, four losses: RMSE."""
    rows = data.friedman(1, instance, 150)
    return lambda seed, **p: rows.rmse(ensemble.GradientBoostingRegressor(random_state=0, **p))


@task(
    "boosting-diabetes-noisy",
    "boosting",
    "noisy",
    n_estimators=Int(1, 100),
    learning_rate=Real(1e-3, 1.0, log=True),
    max_depth=Int(1, 10),
    subsample=Real(0.1, 0.9),
    max_features=Real(0.1, 1.0),
)
def boosting_diabetes(instance: int) -> Evaluate:
    """Stochastic gradient boosting without a fixed seed on the diabetes data: RMSE."""
    rows = data.bundled("diabetes", instance, 150)
    return lambda seed, **p: rows.rmse(ensemble.GradientBoostingRegressor(random_state=seed, **p))


@task(
    "hist-boosting-cancer",
    "boosting",
    learning_rate=Real(1e-4, 1.0, log=True),
    max_iter=Int(1, 60),
    max_leaf_nodes=Int(2, 100),
    min_samples_leaf=LEAF,
    l2_regularization=Real(1e-8, 1e3, log=True),
    max_bins=Int(2, 255),
)
def hist_cancer(instance: int) -> Evaluate:
    """Histogram boosting on the breast cancer data: log loss."""
    rows = data.bundled("breast_cancer", instance, 200)
    return lambda seed, **p: rows.log_loss(
        ensemble.HistGradientBoostingClassifier(random_state=0, early_stopping=False, **p)
    )


@task(
    "hist-boosting-diabetes",
    "boosting",
    learning_rate=Real(1e-4, 3.0, log=True),
    max_iter=Int(1, 60),
    max_depth=Int(1, 20),
    min_samples_leaf=LEAF,
    l2_regularization=Real(1e-6, 1e4, log=True),
    loss=Choice(["squared_error", "absolute_error", "poisson", "gamma"]),
    max_features=Real(0.1, 1.0),
)
def hist_diabetes(instance: int) -> Evaluate:
    """Histogram boosting on the diabetes data, four losses: mean absolute error."""
    rows = data.bundled("diabetes", instance, 200)
    return lambda seed, **p: rows.mae(
        ensemble.HistGradientBoostingRegressor(random_state=0, early_stopping=False, **p)
    )


@task(
    "adaboost-digits",
    "boosting",
    n_estimators=Int(1, 40),
    learning_rate=Real(1e-3, 10.0, log=True),
    max_depth=Int(1, 12),
    min_samples_leaf=LEAF,
)
def adaboost_digits(instance: int) -> Evaluate:
    """AdaBoost on handwritten digits: error rate."""
    rows = data.bundled("digits", instance, 250)

    def evaluate(
        seed: int, max_depth: int, min_samples_leaf: int, n_estimators: int, learning_rate: float
    ) -> float:
        tree = DecisionTreeClassifier(max_depth=max_depth, min_samples_leaf=min_samples_leaf)
        return rows.error(
            ensemble.AdaBoostClassifier(
                tree, n_estimators=n_estimators, learning_rate=learning_rate, random_state=0
            )
        )

    return evaluate


@task(
    "adaboost-friedman-noisy",
    "boosting",
    "noisy",
    n_estimators=Int(1, 60),
    learning_rate=Real(1e-3, 10.0, log=True),
    loss=Choice(["linear", "square", "exponential"]),
    max_depth=Int(1, 15),
)
def adaboost_friedman(instance: int) -> Evaluate:
    """AdaBoost without a fixed seed on Friedman's third function: RMSE."""
    rows = data.friedman(3, instance, 150, noise=0.1)

    def evaluate(seed: int, max_depth: int, **options: object) -> float:
        tree = DecisionTreeRegressor(max_depth=max_depth, random_state=seed)
        return rows.rmse(ensemble.AdaBoostRegressor(tree, random_state=seed, **options))

    return evaluate


@task(
    "isolation-forest-noisy",
    "forest",
    "noisy",
    n_estimators=Int(1, 60),
    max_samples=Int(2, 200, log=True),
    max_features=Real(0.03, 1.0),
    bootstrap=YES_NO,
)
def isolation(instance: int) -> Evaluate:
    """An isolation forest that detects rare cancers, without a fixed seed: 1 - AUC."""
    from sklearn.metrics import roc_auc_score

    rows = data.bundled("breast_cancer", instance)
    benign, rare = rows.X[rows.y == 1][:200], rows.X[rows.y == 0][:25]
    X = np.vstack([benign, rare])
    strange = np.repeat([0, 1], [len(benign), len(rare)])

    def evaluate(seed: int, **options: object) -> float:
        forest = ensemble.IsolationForest(random_state=seed, **options).fit(X)
        return float(1.0 - roc_auc_score(strange, -forest.score_samples(X)))

    return evaluate
