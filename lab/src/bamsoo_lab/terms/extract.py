"""The extractor: support thresholds, and the dismissal of sub-concepts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bamsoo.errors import SettingsError
from bamsoo.space.axes import Mask

from .counts import (
    Counts,
    Floats,
    Ints,
    K,
    Level,
)


@dataclass(frozen=True)
class Term:
    """A term, how often it occurs, and its confidences (nan for a single word)."""

    text: str
    count: int
    pre: float
    post: float


class Extractor:
    """Extract terms at support thresholds T_1..T_4.

    A candidate g of k words is *well supported* if S(g) >= T_k. It then dismisses the two
    (k-1)-grams inside it: both if min(pre, post) >= c_rel, otherwise the one whose confidence is
    at least c_sub. The terms are the well-supported candidates that nothing dismisses. A candidate
    that is dismissed itself still dismisses others.

    Let D(g) be the largest support among the candidates that can dismiss g. Then g is dismissed
    exactly if D(g) >= T_{k+1}. D does not depend on the thresholds, so an extraction needs two
    comparisons per row.

    Parameters
    ----------
    counts : Counts
        The prepared candidates.
    c_sub : float
        Confidence at which one side is dismissed.
    c_rel : float
        Confidence at which both sides are dismissed, if both reach it.
    """

    def __init__(self, counts: Counts, *, c_sub: float = 0.8, c_rel: float = 0.5) -> None:
        if not (c_sub >= 0 and c_rel >= 0):
            raise SettingsError(f"c_sub={c_sub}, c_rel={c_rel}: expected confidences of 0 or more")
        self.counts = counts
        above = (*counts.levels[1:], None)
        self.dismissers: tuple[Ints, ...] = tuple(
            _largest_dismisser(level, longer, c_sub, c_rel)
            for level, longer in zip(counts.levels, above, strict=True)
        )

    def masks(self, thresholds: ArrayLike) -> tuple[Mask, ...]:
        """Which rows of each level are terms."""
        T = as_thresholds(thresholds)
        above = (*T[1:], np.inf)
        return tuple(
            (level.support >= here) & (dismisser < over)
            for level, dismisser, here, over in zip(
                self.counts.levels, self.dismissers, T, above, strict=True
            )
        )

    def extract(self, thresholds: ArrayLike) -> list[Term]:
        """Terms at these thresholds (four real numbers), the most frequent first."""
        return self.listed(self.masks(thresholds))

    def listed(self, masks: Sequence[Mask]) -> list[Term]:
        """Rows as terms, the most frequent first, then in alphabetical order."""
        found = [
            Term(level.terms[i], int(level.support[i]), float(level.pre[i]), float(level.post[i]))
            for level, mask in zip(self.counts.levels, masks, strict=True)
            for i in np.flatnonzero(mask).tolist()
        ]
        return sorted(found, key=lambda term: (-term.count, term.text))


def as_thresholds(thresholds: ArrayLike) -> Floats:
    """Four real thresholds as an array; raises `SettingsError` for anything else."""
    try:
        T = np.asarray(thresholds, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"thresholds {thresholds!r} are not {K} numbers T1..T{K}") from error
    if T.shape != (K,) or np.isnan(T).any():
        raise SettingsError(f"thresholds {thresholds!r} are not {K} numbers T1..T{K}")
    return T


def _largest_dismisser(level: Level, longer: Level | None, c_sub: float, c_rel: float) -> Ints:
    """D(g): the largest support of a longer candidate that can dismiss g; 0 if there is none."""
    D = np.zeros(len(level.terms), np.int64)
    if longer is not None:
        both = np.minimum(longer.pre, longer.post) >= c_rel
        for row, confidence in ((longer.prefix, longer.pre), (longer.suffix, longer.post)):
            dismisses = (both | (confidence >= c_sub)) & (row >= 0)
            np.maximum.at(D, row[dismisses], longer.support[dismisses])
    return D
