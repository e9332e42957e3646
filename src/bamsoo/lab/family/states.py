"""The state of the source that is an algorithm's own.

The default changes more often than the others: their stored runs outlive it. The tree, the book
and the optimiser, which all share, are left out: tests see to it that the points asked for stay
the same.
"""

from ...algorithms import BY_NAME
from ..jobs.source import searches, state_of

_GP = ("model/gp.py", "model/kernels.py")
_LEARNED = (
    *_GP,
    *("algorithms/empirical.py", "model/prior.py", "model/learning.py", "model/warp.py"),
)
_BUILT_ON = {
    "bamsoo": _GP,
    "gp-ucb": _GP,
    "shrinking": _GP,
    "bamlogo": ("algorithms/logo.py", *_LEARNED),
    "imgpo": _LEARNED,
    "sequool": ("algorithms/planning.py",),
    "stroquool": ("algorithms/planning.py",),
    "stosoo": ("algorithms/planning.py",),
}
"""What an algorithm is built on, besides its own module and what all share."""


def state(name: str) -> str:
    """The state of an algorithm's source; of the default, that of all searches."""
    if name == "auto":
        return searches()
    own = BY_NAME[name].__module__.removeprefix("bamsoo.").replace(".", "/") + ".py"
    return state_of((own, *_BUILT_ON.get(name, ())))
