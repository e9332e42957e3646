"""The columns of a result: one row for each evaluation, in the order in which they were told."""

from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.typing import Array
from ..space import Constraints
from .objectives import Objectives
from .trials import Evaluation


class Columns:
    """All evaluations, and what they say by column.

    Each method takes a number of evaluations, the first ones, whose rows never change. It returns
    copies.

    Parameters
    ----------
    constraints : Constraints
    objectives : Objectives
    """

    def __init__(self, constraints: Constraints, objectives: Objectives) -> None:
        self._constraints, self._objectives = constraints, objectives
        self._space = constraints.space
        self.evaluations: list[Evaluation] = []
        """Every evaluation, in the order in which the values were told."""
        self.nresiduals = 0
        """In a fit, the number of residuals of an evaluation."""
        self._X: Array = np.empty((16, self._space.dim))
        self._F: Array = np.empty((16, len(objectives)))
        self._params: list[dict[str, Any]] = []

    def add(self, evaluation: Evaluation) -> None:
        """Add a row."""
        t = len(self.evaluations)
        if t == len(self._F):
            self._X = np.concatenate([self._X, np.empty_like(self._X)])
            self._F = np.concatenate([self._F, np.empty_like(self._F)])
        self._X[t], self._F[t] = evaluation.x, evaluation.numbers or nan
        self.evaluations.append(evaluation)
        self.nresiduals = self.nresiduals or len(evaluation.residuals)

    def X(self, number: int) -> Array | list[dict[str, Any]]:
        """The points that were told: an array, or a list of dicts if the space has names."""
        if not self._space.named:
            return self._X[:number].copy()
        params = self._params
        if len(params) < number:  # a new list, because another thread may be here too
            more = [self._space.params(each.x) for each in self.evaluations[len(params) : number]]
            self._params = params = [*params, *more]
        return [dict(each) for each in params[:number]]

    def F(self, number: int) -> Array:
        """The values that were told; nan if the evaluation failed.

        With several objectives there is one column for each.
        """
        F: Array = self._F[:number].copy()
        return F if self._objectives.several else F[:, 0]

    def C(self, number: int) -> dict[str, Array]:
        """The measurements of each constraint, by name; nan where nothing was measured."""
        names = self._constraints.measured
        rows = [each.measured or (nan,) * len(names) for each in self.evaluations[:number]]
        columns = np.array(rows).reshape(len(rows), len(names)).T
        return {name: column.copy() for name, column in zip(names, columns, strict=True)}

    def R(self, number: int) -> Array:
        """The residuals of each evaluation, one row each; nan if it failed or data is missing."""
        missing = (nan,) * self.nresiduals
        rows = [each.residuals or missing for each in self.evaluations[:number]]
        return np.array(rows, dtype=float).reshape(len(rows), self.nresiduals)

    def feasible(self, number: int) -> NDArray[np.bool_]:
        """Whether each point that was told is feasible."""
        return np.array([each.feasible for each in self.evaluations[:number]], dtype=bool)
