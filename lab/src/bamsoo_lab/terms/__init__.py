"""Term extraction after Parameswaran et al. (VLDB 2010): read a corpus and return its terms.

This is the application in Section 7 of the BaMSOO paper, and useful on its own::

    corpus = terms.load("corpus.txt")  # or GENIA's archive, or terms.synthetic()
    extractor = terms.Extractor(terms.count(corpus))
    extractor.extract([5, 4, 3, 3])  # the terms, with counts and confidences

    objective = terms.Objective(extractor, corpus.gold)
    objective(T1=5, T2=4, T3=3, T4=3)  # their F-score, to be maximised
    terms.optimum(objective)  # the exact optimum of the whole box

docs/terms.md lists what the paper leaves open, and what is chosen here.
"""

from .ceiling import Optimum, optimum
from .corpus import (
    Corpus,
    CorpusError,
    load,
    read_gold,
)
from .counts import Counts, Level, count
from .extract import Extractor, Term
from .objective import (
    BOX,
    Objective,
    Sample,
    Score,
)
from .synthetic import synthetic
from .text import STOP_WORDS

__all__ = [
    "BOX",
    "STOP_WORDS",
    "Corpus",
    "CorpusError",
    "Counts",
    "Extractor",
    "Level",
    "Objective",
    "Optimum",
    "Sample",
    "Score",
    "Term",
    "count",
    "load",
    "optimum",
    "read_gold",
    "synthetic",
]
