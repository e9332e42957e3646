"""Cheaper fits for `BamsooSearchCV`: fewer rows, and models that are trained step by step."""

from collections import deque
from collections.abc import Iterator
from math import ceil
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _num_samples

from ..errors import SettingsError

ROWS = "n_samples"
"""The resource that is the number of rows, as in scikit-learn's halving searches."""


class SameSplits:
    """A splitter that splits only once, so that all candidates are compared on the same splits."""

    def __init__(self, splitter: Any) -> None:
        self._splitter = splitter
        self._splits: list[Any] | None = None

    def split(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        """The splits that the splitter made the first time."""
        if self._splits is None:
            self._splits = list(self._splitter.split(*args, **kwargs))
        return iter(self._splits)


class FewerRows:
    """A splitter with the same splits, but only a share of the rows to train on.

    A larger share contains a smaller one. Of a classifier's rows, each share has every class in
    proportion. The rows to test on are all there, so that scores differ by the training alone.
    """

    def __init__(self, splitter: SameSplits, count: int, stratify: bool) -> None:
        self._splitter, self._count, self._stratify = splitter, count, stratify

    def split(self, X: Any, y: Any = None, **kwargs: Any) -> Iterator[Any]:
        """The splits with fewer rows to train on."""
        share = self._count / _num_samples(X)
        for train, test in self._splitter.split(X, y, **kwargs):
            train = np.random.default_rng(0).permutation(train)
            if self._stratify and y is not None and np.ndim(y) == 1:
                train = train[_alternating(np.asarray(y)[train])]
            yield np.sort(train[: max(ceil(share * len(train)), 1)]), test


def _alternating(classes: Any) -> Any:
    """An order of rows in which each beginning has every class in proportion."""
    _, which, counts = np.unique(classes, return_inverse=True, return_counts=True)
    place = np.empty(len(which))
    for i, count in enumerate(counts.tolist()):
        place[which == i] = np.arange(count) / count
    return np.argsort(place, kind="stable")


class Trained:
    """The models of a candidate, one per split, which were trained before they are scored."""

    def __init__(self) -> None:
        self.models: deque[Any] = deque()
        """Each is a model or, if its training failed, the exception."""
        self.seconds: list[float] = []
        """How long the training of each took."""

    def __sklearn_clone__(self) -> "Trained":
        return self  # so that copies of a `Stepwise` find the models


class Stepwise(BaseEstimator):  # type: ignore[misc]
    """An estimator that is fitted in steps: calls of `partial_fit`, or of `fit` with `warm_start`.

    Parameters
    ----------
    estimator : estimator
    steps : int
    resource : str, optional
        The parameter that grows from step to step; None for `partial_fit`.
    most : int
        The value of the resource after the last step.
    trained : Trained
        What `fit` returns as long as there are such models.
    """

    def __init__(
        self, estimator: Any, steps: int, resource: str | None, most: int, trained: Trained
    ) -> None:
        self.estimator, self.steps, self.resource = estimator, steps, resource
        self.most, self.trained = most, trained

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "estimator" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.__dict__.get("estimator_", self.estimator), name)

    def __sklearn_tags__(self) -> Any:
        return self.estimator.__sklearn_tags__()

    def set_params(self, **params: Any) -> "Stepwise":
        """Set parameters of the estimator itself."""
        self.estimator.set_params(**params)
        return self

    def reached(self, step: int) -> int:
        """The resource after a step."""
        return max(round(self.most * step / self.steps), 1)

    def take_step(self, step: int, X: Any, y: Any, classes: Any) -> None:
        """Train a little more."""
        model = self.estimator
        if self.resource is not None:
            model.set_params(**{self.resource: self.reached(step), "warm_start": True})
            model.fit(X) if y is None else model.fit(X, y)
        elif step == 1 and classes is not None:
            model.partial_fit(X, y, classes=classes)
        else:
            model.partial_fit(X) if y is None else model.partial_fit(X, y)

    def fit(self, X: Any, y: Any = None) -> "Stepwise":
        """Take the next of the trained models, or all steps if there is none."""
        if self.trained.models:
            model = self.trained.models.popleft()
            if isinstance(model, Exception):
                raise model
            self.estimator_ = model
            return self
        if self.resource is not None:  # no stops are needed on the way
            self.estimator_ = self.estimator.set_params(**{self.resource: self.most})
            self.estimator_.fit(X) if y is None else self.estimator_.fit(X, y)
            return self
        classes = np.unique(y) if is_classifier(self.estimator) else None
        for step in range(1, self.steps + 1):
            self.take_step(step, X, y, classes)
        self.estimator_ = self.estimator
        return self


class SteppedFolds:
    """The models of one candidate, which advance together, one per split."""

    def __init__(self, model: Stepwise, params: dict[str, Any], X: Any, y: Any, splits: Any):
        self._trained = model.trained
        self._models = [clone(model).set_params(**clone(params, safe=False)) for _ in splits]
        self._rows = []
        for each, (train, test) in zip(self._models, splits, strict=True):
            inside = _safe_split(each.estimator, X, y, train)
            self._rows.append((inside, _safe_split(each.estimator, X, y, test, train)))
        self._classes = np.unique(y) if is_classifier(model) else None
        self._failed: dict[int, Exception] = {}
        self._seconds = [0.0] * len(self._models)

    def take_step(self, step: int) -> bool:
        """Train all models a little more; False if one of them could not be trained."""
        for i, (model, (inside, _)) in enumerate(zip(self._models, self._rows, strict=True)):
            begin = perf_counter()
            try:
                model.take_step(step, *inside, self._classes)
            except Exception as error:  # scikit-learn decides what follows from it
                self._failed[i] = error
            self._seconds[i] += perf_counter() - begin
        return not self._failed

    def score(self, scorer: Any, name: Any) -> float:
        """The mean score over the splits; of several, the one with this name or the first."""
        found = []
        for model, (_, rows) in zip(self._models, self._rows, strict=True):
            each = scorer(model.estimator, *(rows if rows[1] is not None else rows[:1]))
            if isinstance(each, dict):
                each = each[name] if name in each else next(iter(each.values()))
            found.append(each)
        return float(np.mean(found))

    def end(self) -> None:
        """Hand the models over to be scored."""
        ends = (self._failed.get(i, model.estimator) for i, model in enumerate(self._models))
        self._trained.models.extend(ends)
        self._trained.seconds = self._seconds


def check_stepwise(estimator: Any, resource: str | None) -> None:
    """Raise an error unless the estimator can be trained step by step."""
    name = type(estimator).__name__
    if resource is None and not hasattr(estimator, "partial_fit"):
        raise SettingsError(
            f"steps= needs an estimator with partial_fit, or one with warm_start and resource= as "
            f"the parameter that grows, such as n_estimators; {name} has no partial_fit"
        )
    if resource is not None and "warm_start" not in estimator.get_params():
        raise SettingsError(
            f"steps= with resource= needs an estimator with warm_start, and {name} has none; leave "
            "out steps="
        )


def check_resource(estimator: Any, resource: Any) -> None:
    """Raise an error unless the resource is one that the estimator has."""
    if resource != ROWS and resource not in estimator.get_params():
        raise SettingsError(
            f"resource must be {ROWS!r} or a parameter of {type(estimator).__name__}, "
            f"got {resource!r}"
        )
