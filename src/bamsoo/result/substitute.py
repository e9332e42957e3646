"""A model of values that is fitted for those who look, if the search has not learned one."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..algorithms.auto.loop import CONSTANTS
from ..base.blas import one_thread
from ..base.sense import Sense
from ..base.typing import Array
from ..model.gp import GP
from ..model.learning import representative, spread_of
from ..model.prior import learn_prior
from ..model.warp import Transform, all_equal
from ..record.trials import Evaluation
from ..space import Space
from ..space.axes import Domain
from .predictor import Predictor

FEWEST = 4
"""Smallest number of values for a model."""

STEPS = 50
"""Number of steps of a fit. It is larger than in the default algorithm, which continues from its
previous fit, while this one starts from scratch."""


def learn(
    domain: Domain,
    X: Array,
    values: Array,
    noise: float | str = 0.0,
    variances: Array | None = None,
) -> tuple[GP, Transform]:
    """Fit a GP as the default algorithm does, to values to be maximised, in the unit cube.

    `variances` are those of values that are only believed, and nan for the others.
    """
    learning = CONSTANTS.learning
    order = np.argsort(-values, kind="stable")
    rows = spread_of(order, learning.most) if noise else representative(X, values, learning)
    typical = np.full(domain.dim, learning.typical)
    constants = replace(CONSTANTS.prior, steps=STEPS, noisy_steps=STEPS)
    with one_thread():
        learned = learn_prior(
            domain, X[rows], values[rows], [(typical, None)],
            warp=not noise, noise=noise, constants=constants, learning=learning,
            variances=None if variances is None else variances[rows],
        )  # fmt: skip
        gp, transform = learned.gp(domain), learned.transform
        seen = np.array([transform(value) for value in values.tolist()])
        noises = np.full(len(values), gp.noise)
        if variances is not None:
            for i in np.flatnonzero(~np.isnan(variances)):
                noises[i] = transform.variance(float(variances[i]), float(values[i]))
        return conditioned(gp, X, seen, rows, noises), transform


def conditioned(gp: GP, X: Array, values: Array, rows: Sequence[int], noises: Array) -> GP:
    """The GP, after these rows were entered into it."""
    for i in rows:
        gp.expect(i, X[i])
        gp.observe(i, float(values[i]), float(noises[i]))
    return gp


def substitutes(
    space: Space, senses: Sequence[Sense], told: Sequence[Evaluation], noise: float | str
) -> list[Predictor]:
    """A model of each objective, from evaluations; none if there is not enough to learn from."""
    known = [each for each in told if each.numbers and not each.cheap]
    F = np.array([each.numbers for each in known]).reshape(len(known), len(senses))
    if len(known) < FEWEST or any(all_equal(column) for column in F.T):
        return []
    X = np.array([space.encode(each.x) for each in known])
    return [
        Predictor(space, sense, *learn(space.domain, X, sense.turn(column), noise))
        for sense, column in zip(senses, F.T, strict=True)
    ]
