"""The default algorithm: BaMSOO with a learned prior, and with steps outside its tree.

`loop` is the search itself, and `prior` refits its Gaussian process as values arrive. `steps`, or
`constrained_steps` if there are constraints, decides on the evaluations outside the tree. The
points of these come from a model around the best point (`local`, `constrained`) and from candidates
all over the space (`near`). `branches`, `stall`, `turns` and `failures` guide these decisions, and
`constants` holds every number behind them.
"""

from .loop import Auto

__all__ = ["Auto"]
