"""The default algorithm: BaMSOO with a learned prior, and with steps outside its tree.

`loop` is the search itself, and `prior` refits its Gaussian process as values arrive. `schedule`
decides whose turn it is: that of the tree, or of a proposer of points outside it. There are two
kinds of these, `climb`, with the models `local` and `cubic`, and `candidates`. `demand` says what a
point must be able to gain, and `failures` where evaluations fail. The constants of each part are
beside it, and `loop.Constants` holds them all.
"""

from .loop import Auto

__all__ = ["Auto"]
