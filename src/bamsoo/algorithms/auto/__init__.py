"""The default algorithm: BaMSOO with a learned prior, and with steps outside its tree.

`loop` is the search itself, and `prior` refits its Gaussian process as values arrive. `schedule`
decides whose turn it is: that of the tree, or of a proposer of points outside it. These are `axes`,
with the search along one of them in `line`; `climb`, with the models `local` and `cubic` and the
solver `small`; and `candidates`. `demand` says what a point must be able to gain,
`failures` where evaluations fail, and `design` makes the first points. With several objectives,
`front` is the search, and `gain` says what a point may add to the front. The constants of each part
are beside it, and `loop.Constants` holds them all.
"""

from .loop import Auto

__all__ = ["Auto"]
