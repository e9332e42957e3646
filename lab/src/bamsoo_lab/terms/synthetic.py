"""A generated corpus: terms of every length, planted among phrases that are not terms.

Terms and decoys are phrases of invented words. Some terms are rare and others frequent; decoys are
more numerous, and rare. So each threshold has a best value inside its box: a lower one lets decoys
in, and a higher one loses terms.
"""

import numpy as np

from .corpus import Corpus, marked
from .text import STOP_WORDS

# For k = 1..4: the number of terms, and how often a term may occur at most; the number of decoys,
# and how often a decoy occurs on average beyond twice.
_TERMS = ((150, 120), (150, 60), (110, 36), (80, 24))
_DECOYS = ((800, 4.0), (600, 2.5), (400, 2.0), (300, 1.5))
_NESTED = 0.3  # share of terms that extend a shorter term by one word
_ITEMS = 6  # phrases per sentence
_GLUE = ("", ", ", *(f"{word} " for word in ("of", "the", "in", "and", "with", "for", "by", "is")))

_ONSETS = (*"bdfgklmnprstvz", "br", "dr", "gl", "kr", "pl", "st", "tr")
_VOWELS = (*"aeiou", "ai", "ou")


def synthetic(seed: int = 0) -> Corpus:
    """Make a corpus with planted gold terms of one to four words.

    Parameters
    ----------
    seed : int
        The same seed makes the same corpus.
    """
    return marked(synthetic_text(seed), f"synthetic corpus {seed}")


def synthetic_text(seed: int = 0) -> str:
    """The text of `synthetic`, with its gold terms in braces."""
    rng = np.random.default_rng(seed)
    words = _invented(rng)
    items: list[str] = []
    shorter: list[list[str]] = []
    for k, ((n_terms, most), (n_decoys, mean)) in enumerate(zip(_TERMS, _DECOYS, strict=True), 1):
        terms: list[list[str]] = []
        for log_frequency in rng.uniform(np.log(2), np.log(most + 1), n_terms):
            if shorter and rng.random() < _NESTED:
                phrase = [*shorter[int(rng.integers(len(shorter)))], words.pop()]
            else:
                phrase = [words.pop() for _ in range(k)]
            terms.append(phrase)
            items += ["{" + " ".join(phrase) + "}"] * int(np.exp(log_frequency))
        for extra in rng.exponential(mean, n_decoys):
            items += [" ".join(words.pop() for _ in range(k))] * (2 + int(extra))
        shorter = terms
    glue = rng.choice(_GLUE, len(items)).tolist()
    order = rng.permutation(len(items)).tolist()
    phrases = [glue[i] + items[j] for i, j in enumerate(order)]
    sentences = [phrases[i : i + _ITEMS] for i in range(0, len(phrases), _ITEMS)]
    return "\n".join(" ".join(sentence) + "." for sentence in sentences) + "\n"


def _invented(rng: np.random.Generator) -> list[str]:
    """Distinct words of two syllables, without stop-words, in random order."""
    syllables = [onset + vowel for onset in _ONSETS for vowel in _VOWELS]
    words = sorted({a + b for a in syllables for b in syllables} - STOP_WORDS)
    return [words[i] for i in rng.permutation(len(words)).tolist()]
