"""An algorithm to copy: the best leaf of the tree is split, whatever its depth.

Copy this file to `src/bamsoo/algorithms/`, rename the class and the function, and add the name to
`BY_NAME` and `Name` and the class to `__all__` in the `__init__.py` there. `CONTRIBUTING.md` lists
what else a new algorithm needs: a literal transcription of its paper, golden runs, and pages. A
test takes this file, as it is, through runs, several pending trials, failures and a study.

What must not go here:

- the sign: a search always maximises, and values have been turned before they arrive;
- the caller's units: a search sees the unit cube, and which axes it has (`Domain`);
- pending, failed and late evaluations: the `Book` has a grade for each of them, and matches values
  to nodes in whatever order they come;
- checks of settings that several algorithms have, such as `k` and `eta`: `Algorithm` makes them;
- clocks, files, processes, and random numbers from anywhere but `rng`. A study is continued by
  repeating the search, so it may depend only on its settings and on what it was told.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

from bamsoo.algorithms.algorithm import Algorithm
from bamsoo.algorithms.book import Book, leftovers
from bamsoo.algorithms.search import Search
from bamsoo.algorithms.tree import Tree
from bamsoo.space.axes import Domain


@dataclass(frozen=True)  # frozen, since studies store the settings; they are numbers and texts
class BestFirst(Algorithm):
    """Settings of a search that always splits the best leaf.

    Parameters
    ----------
    k : int, default 3
        The number of children of a node.
    """

    # What the rest of the package has to know goes into the class variables of `Algorithm`, such as
    # `repeats` or `takes_noise`. Nothing elsewhere asks for the class or the name of an algorithm.

    k: int = 3

    def start(self, domain: Domain, rng: np.random.Generator, book: Book) -> Search:
        """Begin a search. It has no state but in its tree, its book and its local variables."""
        return best_first(self, Tree(domain, self.k), book)


# The search reads beside its paper: the paper's symbols, and its lines in their order.
def best_first(settings: BestFirst, tree: Tree, book: Book) -> Search:
    """Split the best leaf; g is f, or -inf for a node that is pending or has failed."""
    book.begin(tree)
    yield from book.evaluate(0)  # the root
    while True:
        leaves = [leaf for h in tree.sweep(inf) if (leaf := tree.best_leaf(h)) is not None]
        if not leaves:  # cells cannot be split for ever, since floating-point numbers cannot
            return (yield from leftovers(tree, book))
        for child in tree.split(max(leaves, key=lambda leaf: tree.g[leaf])):
            # The middle one of three children has the centre of its parent, and its value.
            if tree.is_new(child):
                # Here the search pauses until somebody asks for the next point. By then the values
                # of some pending points may have arrived, or none: `book.t` counts them.
                yield from book.evaluate(child)
        book.n += 1
