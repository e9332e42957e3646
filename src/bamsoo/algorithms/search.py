"""The interface of a search: a generator over [0,1]^D that asks for points and receives values.

A search always maximises. It yields the point to evaluate next and receives the outcomes that have
arrived since, which may belong to that point or to earlier ones, or be none at all. When nothing is
left to ask for, it returns the reason.
"""

from collections.abc import Generator
from math import log, pi, sqrt
from typing import NamedTuple, TypeAlias

from ..base.typing import Array


class Outcome(NamedTuple):
    """A value that arrived, for a point that was asked for or for one that nobody asked for."""

    ticket: int | None  # the index of the request; None for a point that nobody asked for
    x: Array
    values: tuple[float, ...]  # one per objective; empty: the evaluation failed
    measured: tuple[float, ...] = ()  # constraints that the evaluation measured, met if <= 0
    allowed: bool = True  # whether the constraints that are known in advance are met
    variances: tuple[float, ...] = ()  # of the noise in each value; empty if it is not known
    final: bool = True  # False: the evaluation was stopped, and the value is what is believed
    residuals: Array | None = None  # in a fit, each times the root of its weight
    shared: bool = False  # whether another request of the same point had this value before


DESIGN, TREE, LOCAL, CANDIDATE, MODEL, RANDOM, REPEAT, PROMOTED = (
    "design",  # a first point, chosen before anything is known
    "tree",  # a cell of the tree
    "local",  # a step near the best point, by a model of what is around it
    "candidate",  # the most promising of many points all over the space
    "model",  # the largest value of an acquisition function
    "random",
    "repeat",  # a known point once more, to average its noise
    "promoted",  # a known point once more, at a higher fidelity
)
"""Which part of a search asks for a point."""

Search: TypeAlias = Generator[Array, list[Outcome], str]
Waiting: TypeAlias = Generator[Array, list[Outcome], None]


def B(N: int, eta: float) -> float:
    r"""Confidence width :math:`B_N = \sqrt{2\log(\pi^2 N^2 / 6\eta)}` (Sec. 4).

    BaMSOO multiplies sigma by it. GP-UCB (Sec. 2) writes :math:`\sqrt{B_t}\sigma`, and its B_t is
    the square of this one (Lemma 4), so sigma is multiplied by the same number.
    """
    return sqrt(2.0 * log(pi**2 * N**2 / (6.0 * eta)))


def sqrt_h_max(n: int) -> float:
    """h_max(n) = sqrt(n), the usual bound on the depth after n expansions."""
    return sqrt(n)
