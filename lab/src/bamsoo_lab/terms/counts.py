"""k-gram counts, prepared once as arrays of candidates.

========  ============================================================
S(g)      support: how often the k-gram g occurs inside segments
pre(g)    S(g) / S(g without its last word)
post(g)   S(g) / S(g without its first word)
========  ============================================================
"""

from collections.abc import Set
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from bamsoo.errors import SettingsError

from .corpus import Corpus
from .text import STOP_WORDS

K = 4
"""The longest k-gram, and the number of thresholds."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Level:
    """The candidates of one length k, one per row, in alphabetical order of their words.

    Attributes
    ----------
    terms : tuple of str
        The k-grams g.
    support : array of int
        S(g).
    pre, post : array of float
        Confidences of g against g without its last and without its first word; nan for k = 1.
    prefix, suffix : array of int
        Rows of these two in the level below; -1 for one that is not a candidate itself.
    """

    terms: tuple[str, ...]
    support: Ints
    pre: Floats
    post: Floats
    prefix: Ints
    suffix: Ints


@dataclass(frozen=True)
class Counts:
    """The candidates of a corpus.

    Attributes
    ----------
    levels : tuple of Level
        Candidates of length 1 to 4.
    kgrams : tuple of int
        Number of distinct k-grams that occur at least `min_count` times, candidates or not.
    min_count : int
        The smallest support that was kept.
    """

    levels: tuple[Level, ...]
    kgrams: tuple[int, ...]
    min_count: int


def count(corpus: Corpus, *, min_count: int = 2, stop_words: Set[str] = STOP_WORDS) -> Counts:
    """Count the k-grams of a corpus and keep the candidates.

    A candidate occurs at least `min_count` times, neither begins nor ends with a stop-word, and
    contains a letter.

    Parameters
    ----------
    corpus : Corpus
        The corpus whose k-grams are counted.
    min_count : int
        2 leaves out k-grams that occur once, which no threshold above 1 would extract; 1 keeps all.
    stop_words : set of str
        Lower-cased words that no candidate begins or ends with.
    """
    if min_count < 1:
        raise SettingsError(f"min_count={min_count} is too small, expected 1 or more")
    words = list(chain.from_iterable(corpus.segments))
    vocabulary = sorted(set(words))
    number = {word: i for i, word in enumerate(vocabulary)}
    tokens = np.fromiter((number[word] for word in words), np.int64, len(words))
    stop = np.array([word in stop_words for word in vocabulary])[tokens]
    letter = np.array([any(map(str.isalpha, word)) for word in vocabulary])[tokens]
    lengths = np.array([len(segment) for segment in corpus.segments])
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(words))

    levels: list[Level] = []
    kgrams: list[int] = []
    gram = np.zeros(len(words) + 1, np.int64)  # index of the (k-1)-gram that starts at a token
    below = np.array([len(words)])  # supports of the (k-1)-grams; for k = 1, of the empty one
    row = np.array([-1])  # their rows among the candidates
    for k in range(1, K + 1):
        at = np.flatnonzero(left >= k)
        key = gram[at] * len(vocabulary) + tokens[at + k - 1]
        _, first, inverse, support = np.unique(
            key, return_index=True, return_inverse=True, return_counts=True
        )
        start = at[first]
        prefix, suffix = gram[start], gram[start + 1]
        kept = support >= min_count
        kgrams.append(int(kept.sum()))
        kept &= ~stop[start] & ~stop[start + k - 1]
        kept &= np.logical_or.reduce([letter[start + j] for j in range(k)])
        s, p, q = support[kept], prefix[kept], suffix[kept]
        none = np.full(len(s), np.nan)
        levels.append(
            Level(
                terms=tuple(" ".join(words[i : i + k]) for i in start[kept].tolist()),
                support=s,
                pre=s / below[p] if k > 1 else none,
                post=s / below[q] if k > 1 else none,
                prefix=row[p],
                suffix=row[q],
            )
        )
        gram[at] = inverse
        below = support
        row = np.where(kept, np.cumsum(kept) - 1, -1)
    return Counts(tuple(levels), tuple(kgrams), min_count)
