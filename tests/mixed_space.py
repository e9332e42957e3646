"""A space of numbers and options, and an objective over it."""

import numpy as np

from bamsoo import Choice, Int, Real
from bamsoo.space import Space

SPACE = {
    "rate": Real(1e-4, 1.0, log=True),
    "size": Int(1, 64, log=True),
    "count": Int(0, 9),
    "kind": Choice(["a", "b", "c"]),
}
DOMAIN = Space(SPACE).domain


def mixed(rate, size, count, kind):
    return (
        (np.log10(rate) + 2) ** 2
        + abs(np.log2(size) - 3)
        + (count - 7) ** 2 / 9
        + "cab".index(kind)
    )
