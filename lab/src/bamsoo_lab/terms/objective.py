"""The objective: the F-score of the extracted terms, compared with the gold terms.

===========  ==================================================================
E, H         number of extracted terms, and of those that are gold
P, R         precision H / E, and recall min(1, H / N)
N            recall normaliser
F            (1 + beta^2) P R / (beta^2 P + R)
===========  ==================================================================
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from bamsoo.errors import SettingsError
from bamsoo.space.axes import Mask

from .corpus import CorpusError
from .counts import Floats, Ints, K
from .extract import (
    Extractor,
    Term,
    as_thresholds,
)

NAMES = tuple(f"T{k}" for k in range(1, K + 1))

BOX: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"T1": (1.0, 300.0), "T2": (1.0, 100.0), "T3": (1.0, 50.0), "T4": (1.0, 30.0)}
)
"""The default box, to be searched on a log scale."""

_SLACK = 1e-9  # relative; the ends of a log scale may be off by a rounding error


@dataclass(frozen=True)
class Score:
    """F-score of one extraction, and the numbers that it is computed from."""

    f: float
    precision: float
    recall: float
    extracted: int
    right: int
    normalizer: int


@dataclass(frozen=True)
class Sample:
    """Random terms: right and wrong ones of an extraction, and gold terms that it missed."""

    right: list[Term]
    wrong: list[Term]
    missed: list[Term]


class Objective:
    """F-score as a deterministic function of the four support thresholds, to be maximised.

    Call it with four numbers, or by name: ``objective([5, 4, 3, 3])``,
    ``objective(T1=5, T2=4, T3=3, T4=3)``.

    Parameters
    ----------
    extractor : Extractor
        The extractor whose terms are scored.
    gold : set of str
        The correct terms, as in `Corpus.gold`.
    beta : float
        Weight of recall relative to precision.
    normalizer : int, optional
        N; by default the number of gold terms that are candidates at the box's lower bounds, the
        literal reading of the paper's "normalizing the number of extracted correct terms".
    box : mapping of str to (float, float), optional
        Bounds of T1, T2, T3 and T4, meant for a log scale; by default `BOX`.

    Attributes
    ----------
    box : dict of str to (float, float)
        The bounds in use.
    normalizer : int
        N in use.
    right : tuple of arrays of bool
        Which candidates are gold, level by level.
    """

    def __init__(
        self,
        extractor: Extractor,
        gold: Set[str],
        *,
        beta: float = 1.0,
        normalizer: int | None = None,
        box: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        self.extractor = extractor
        self.box = checked_box(BOX if box is None else box)
        if not beta > 0:
            raise SettingsError(f"beta={beta} is not a weight; expected a number above 0")
        self.beta = beta
        if not gold:
            raise CorpusError(
                "there are no gold terms to score against; expected {term} marks or a gold list"
            )
        levels = extractor.counts.levels
        self.right = tuple(np.array([t in gold for t in level.terms], bool) for level in levels)
        reachable = sum(
            int((level.support[right] >= low).sum())
            for level, right, (low, _) in zip(levels, self.right, self.box.values(), strict=True)
        )
        if reachable == 0:
            raise CorpusError(
                f"none of the {len(gold)} gold terms is a candidate at the lower bounds of the "
                "box; expected gold terms that occur in the corpus"
            )
        self.normalizer = reachable if normalizer is None else normalizer
        if self.normalizer < 1:
            raise SettingsError(f"normalizer={normalizer} is too small; expected 1 or more")

    def __call__(self, thresholds: ArrayLike | None = None, /, **named: float) -> float:
        """F-score at these thresholds."""
        if thresholds is None:
            if set(named) != set(NAMES):
                raise SettingsError(f"expected thresholds {', '.join(NAMES)}, got {sorted(named)}")
            thresholds = [named[name] for name in NAMES]
        elif named:
            raise SettingsError(
                "thresholds were given both as an array and by name; expected one of them"
            )
        return self.score(thresholds).f

    def score(self, thresholds: ArrayLike) -> Score:
        """F-score at these thresholds, with precision, recall and counts."""
        masks = self.extractor.masks(inside(self.box, thresholds))
        E = sum(int(np.count_nonzero(mask)) for mask in masks)
        H = sum(
            int(np.count_nonzero(mask & right))
            for mask, right in zip(masks, self.right, strict=True)
        )
        P, R, F = (float(value) for value in self.f(np.array(E), np.array(H)))
        return Score(F, P, R, E, H, self.normalizer)

    def sample(self, thresholds: ArrayLike, size: int = 10, seed: int = 0) -> Sample:
        """Draw at random up to `size` terms each that are right, wrong and missed.

        Missed terms are gold terms among the candidates. Gold terms that are not candidates,
        because they are too long, too rare or absent, cannot be extracted at any thresholds.
        """
        rng = np.random.default_rng(seed)
        masks = self.extractor.masks(inside(self.box, thresholds))
        pairs = list(zip(masks, self.right, strict=True))

        def draw(rows: Sequence[Mask]) -> list[Term]:
            found = self.extractor.listed(rows)
            drawn = rng.choice(len(found), min(size, len(found)), replace=False)
            return [found[i] for i in sorted(drawn.tolist())]

        return Sample(
            right=draw([mask & gold for mask, gold in pairs]),
            wrong=draw([mask & ~gold for mask, gold in pairs]),
            missed=draw([~mask & gold for mask, gold in pairs]),
        )

    def f(self, E: Ints, H: Ints) -> tuple[Floats, Floats, Floats]:
        """Precision, recall and F-score of E extracted terms, of which H are right."""
        P = H / np.maximum(E, 1)
        R = np.minimum(1.0, H / self.normalizer)
        b = self.beta**2
        F = (1 + b) * P * R / np.maximum(b * P + R, np.finfo(float).tiny)
        return P, R, F


def inside(box: Mapping[str, tuple[float, float]], thresholds: ArrayLike) -> Floats:
    """Thresholds as an array; raises an error if they are outside the box."""
    T = as_thresholds(thresholds)
    for k, (name, (low, high)) in enumerate(box.items()):
        if not low * (1 - _SLACK) <= T[k] <= high * (1 + _SLACK):
            raise SettingsError(
                f"{name}={T[k]:g} is outside the box; expected a number from {low:g} to {high:g}"
            )
    return np.minimum(T, [high for _, high in box.values()])


def checked_box(box: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """A box in the order T1..T4; raises an error if it does not have these four bounds."""
    if set(box) != set(NAMES):
        raise SettingsError(f"expected a box with bounds of {', '.join(NAMES)}, got {sorted(box)}")
    for name, (low, high) in box.items():
        if not 0 < low < high < np.inf:
            raise SettingsError(f"{name}: expected bounds 0 < low < high, got ({low}, {high})")
    return {name: (float(box[name][0]), float(box[name][1])) for name in NAMES}
