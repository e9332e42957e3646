"""Evaluations that have steps and run in a fraction of a second: trainings and simulations.

Each instance has its own rows or its own random numbers. The values are losses, capped where a
training diverges.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from bamsoo.base.typing import Array
from bamsoo.space import Choice, Int, Parameter, Real

from .case import Target
from .errors import require
from .named import Named
from .problem import NamedProblem
from .tuning.tasks import Part

Train: TypeAlias = Callable[..., Iterator[float]]
"""Takes the parameters by name, and yields the value after each step."""

CAP = 10.0
"""The largest loss of a training; some diverge."""


@dataclass(frozen=True)
class SteppedTraining(NamedProblem):
    """A problem whose evaluations have steps.

    Parameters
    ----------
    part : str
        Whether it is for development or reported.
    steps : int
        The number of steps of a full evaluation.
    build : callable
        ``build(instance)`` returns the generator function.
    crosses : bool
        Whether curves cross late by design.
    """

    part: Part
    steps: int
    build: Callable[[int], Train]
    crosses: bool = False

    def target(self, instance: int) -> Target:
        """The training of an instance."""
        return Target(self.build(instance), self.space, steps=self.steps)


TRAININGS: Named[SteppedTraining] = Named("training")

BUDGET = 20
"""The number of full evaluations."""


def _training(
    name: str, part: Part, steps: int, /, *tags: Literal["crosses"], **space: Parameter
) -> Callable[[Callable[[int], Train]], Callable[[int], Train]]:
    """Register the decorated ``build(instance)``."""

    def add(build: Callable[[int], Train]) -> Callable[[int], Train]:
        TRAININGS.add(SteppedTraining(name, space, BUDGET, part, steps, build, "crosses" in tags))
        return build

    return add


def _rows(name: str, instance: int, train: int, test: int) -> tuple[Array, Any, Array, Any]:
    """Rows to train on and to validate with, of a data set of scikit-learn, with equal scales."""
    require("sklearn")
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    order = np.random.default_rng([instance, len(y)]).permutation(len(y))
    fit, check = order[:train], order[train : train + test]
    X = (X - X[fit].mean(0)) / (X[fit].std(0) + 1e-9)
    return X[fit], y[fit], X[check], y[check]


def _log_loss(chances: Array, y: Any) -> float:
    loss = -float(np.mean(np.log(np.clip(chances[np.arange(len(y)), y], 1e-12, 1.0))))
    return min(loss, CAP)


def _linear(data: str, train: int, test: int) -> Callable[[int], Train]:
    """A linear classifier of scikit-learn, trained by stochastic gradients."""

    def build(instance: int) -> Train:
        X, y, X_test, y_test = _rows(data, instance, train, test)

        def fit(alpha: float, rate: float, power: float, penalty: str) -> Iterator[float]:
            from sklearn.linear_model import SGDClassifier

            model = SGDClassifier(
                loss="log_loss",
                penalty=penalty,
                alpha=alpha,
                learning_rate="invscaling",
                eta0=rate,
                power_t=power,
                random_state=0,
            )
            while True:
                model.partial_fit(X, y, classes=np.unique(y))
                yield _log_loss(model.predict_proba(X_test), y_test)

        return fit

    return build


_LINEAR: dict[str, Parameter] = {
    "alpha": Real(1e-6, 1.0, log=True),
    "rate": Real(1e-4, 1.0, log=True),
    "power": Real(0.0, 1.0),
    "penalty": Choice(["l2", "l1"]),
}
_training("sgd-cancer", "develop", 25, **_LINEAR)(_linear("breast_cancer", 300, 269))
_training("sgd-digits", "report", 25, **_LINEAR)(_linear("digits", 200, 400))


@_training(
    "network-digits",
    "report",
    25,
    rate=Real(1e-4, 0.1, log=True),
    alpha=Real(1e-6, 1.0, log=True),
    width=Int(4, 48, log=True),
    batch=Int(8, 64, log=True),
    momentum=Real(0.5, 0.99),
)
def _network(instance: int) -> Train:
    """A network of scikit-learn with one hidden layer."""
    X, y, X_test, y_test = _rows("digits", instance, 200, 400)

    def fit(rate: float, alpha: float, width: int, batch: int, momentum: float) -> Iterator[float]:
        from sklearn.neural_network import MLPClassifier

        model = MLPClassifier(
            (width,),
            solver="adam",
            learning_rate_init=rate,
            alpha=alpha,
            batch_size=batch,
            beta_1=momentum,
            random_state=0,
        )
        while True:
            model.partial_fit(X, y, classes=np.unique(y))
            yield _log_loss(model.predict_proba(X_test), y_test)

    return fit


def _boosting(rows: Callable[[int], tuple[Array, Any, Array, Any]]) -> Callable[[int], Train]:
    """Trees that are added to a sum one by one; with a low rate, curves start late."""

    def build(instance: int) -> Train:
        X, y, X_test, y_test = rows(instance)
        scale = float(np.std(y))

        def fit(rate: float, depth: int, leaf: int, share: float) -> Iterator[float]:
            from sklearn.tree import DecisionTreeRegressor

            rng = np.random.default_rng(0)
            sums, sums_test = np.full(len(y), y.mean()), np.full(len(y_test), y.mean())
            while True:
                some = rng.random(len(y)) < share
                tree = DecisionTreeRegressor(max_depth=depth, min_samples_leaf=leaf, random_state=0)
                tree.fit(X[some], (y - sums)[some])
                sums = sums + rate * tree.predict(X)
                sums_test = sums_test + rate * tree.predict(X_test)
                error = float(np.sqrt(np.mean((sums_test - y_test) ** 2))) / scale
                yield min(error, CAP)

        return fit

    return build


def _friedman(instance: int) -> tuple[Array, Any, Array, Any]:
    require("sklearn")
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(500, noise=1.0, random_state=instance)
    return X[:250], y[:250], X[250:], y[250:]


_TREES: dict[str, Parameter] = {
    "rate": Real(0.01, 1.0, log=True),
    "depth": Int(1, 8),
    "leaf": Int(1, 40, log=True),
    "share": Real(0.3, 1.0),
}
_training("boosting-friedman", "develop", 40, **_TREES)(_boosting(_friedman))
_training("boosting-diabetes", "report", 40, **_TREES)(
    _boosting(lambda instance: _rows("diabetes", instance, 250, 192))
)


@_training(
    "heater-meshes",
    "report",
    12,
    place=Real(0.05, 0.95),
    width=Real(0.01, 0.3, log=True),
    flow=Real(1.0, 100.0, log=True),
    power=Real(0.1, 10.0, log=True),
)
def _heater(instance: int) -> Train:
    """The temperature of a fluid that flows past a heater, on meshes of 10, 20, ..., 120 cells.

    Convection and diffusion in one dimension with cold ends: u'' - flow u' + power heat = 0 by
    central differences, where the instance sets the wanted profile. Coarse meshes do not resolve
    narrow heaters and fast flows.
    """
    rng = np.random.default_rng(instance)
    centre, height = rng.uniform(0.4, 0.8), rng.uniform(0.02, 0.06)

    def solve(place: float, width: float, flow: float, power: float) -> Iterator[float]:
        from scipy.linalg import solve_banded

        for step in range(1, 13):
            n = 10 * step
            h = 1.0 / n
            x = np.arange(1, n) * h
            bands = np.empty((3, n - 1))
            bands[0], bands[1], bands[2] = 1 / h**2 - flow / (2 * h), -2 / h**2, 1 / h**2
            bands[2] += flow / (2 * h)
            heat = power * np.exp(-0.5 * ((x - place) / width) ** 2) / width
            u = solve_banded((1, 1), bands, -heat)
            wanted = height * np.exp(-0.5 * ((x - centre) / 0.15) ** 2)
            error = float(np.sqrt(np.mean((u - wanted) ** 2))) / height
            yield min(error + 0.01 * power, CAP)

    return solve


@_training(
    "inventory-samples",
    "report",
    25,
    order=Int(1, 60),
    until=Int(5, 150),
    safety=Real(0.0, 3.0),
    smooth=Real(0.01, 1.0, log=True),
)
def _inventory(instance: int) -> Train:
    """The mean cost of a rule for orders, over 16 more simulated months after each step.

    Demand varies and its level drifts; the rule follows it by exponential smoothing. All
    evaluations see the same demand.
    """
    rng = np.random.default_rng([instance, 7])
    level = 20.0 * np.exp(np.cumsum(0.06 * rng.standard_normal((25, 16, 30)), axis=2))
    demand = rng.poisson(level).astype(float)

    def simulate(order: int, until: int, safety: float, smooth: float) -> Iterator[float]:
        total = 0.0
        for step in range(25):
            stock, seen = np.full(16, float(until)), np.full(16, 20.0)
            cost = np.zeros(16)
            for day in range(30):
                wanted = demand[step, :, day]
                cost += 4.0 * np.maximum(wanted - stock, 0.0)
                stock = np.maximum(stock - wanted, 0.0)
                seen = seen + smooth * (wanted - seen)
                low = stock < seen + safety * np.sqrt(seen)
                bought = np.where(low, np.maximum(order, until - stock), 0.0)
                cost += 0.2 * stock + 3.0 * low
                stock = stock + bought
            total += float(cost.mean())
            yield total / (30 * (step + 1))

    return simulate


def _late(data: str, train: int, test: int) -> Callable[[int], Train]:
    """A classifier whose rate drops after two thirds of the steps: curves cross after that.

    Large rates jump around the minimum until the drop, and are ahead afterwards.
    """

    def build(instance: int) -> Train:
        X, y, X_test, y_test = _rows(data, instance, train, test)
        X, X_test = (np.column_stack([part, np.ones(len(part))]) for part in (X, X_test))
        classes = int(max(y.max(), y_test.max())) + 1
        wanted = np.eye(classes)[y]

        def chances(X: Array, W: Array) -> Array:
            scores = X @ W
            found: Array = np.exp(scores - scores.max(1, keepdims=True))
            found /= found.sum(1, keepdims=True)
            return found

        def fit(rate: float, momentum: float, decay: float, drop: float) -> Iterator[float]:
            rng = np.random.default_rng(0)
            W, speed = np.zeros((X.shape[1], classes)), np.zeros((X.shape[1], classes))
            for step in range(30):
                now = rate if step < 20 else rate * drop
                order = rng.permutation(len(X))
                for some in np.array_split(order, len(X) // 10):
                    error = chances(X[some], W) - wanted[some]
                    speed = momentum * speed - now * (X[some].T @ error / len(some) + decay * W)
                    W = W + speed
                yield _log_loss(chances(X_test, W), y_test)

        return fit

    return build


_LATE: dict[str, Parameter] = {
    "rate": Real(0.01, 3.0, log=True),
    "momentum": Real(0.0, 0.9),
    "decay": Real(1e-4, 0.1, log=True),
    "drop": Real(1e-3, 0.1, log=True),
}
_training("late-drop-wine", "develop", 30, "crosses", **_LATE)(_late("wine", 90, 88))
_training("late-drop-digits", "report", 30, "crosses", **_LATE)(_late("digits", 200, 500))
_training("late-drop-cancer", "report", 30, "crosses", **_LATE)(_late("breast_cancer", 200, 369))
