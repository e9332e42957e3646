"""The state of the source that decides an algorithm's runs, and no more of it.

The default changes more often than the others: their stored runs outlive it.
"""

from ....algorithms import BY_NAME
from ...jobs.source import searches, state_of

_TREE = ("algorithms/tree.py", "algorithms/search.py")
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
"""What an algorithm is built on, besides its own module and the tree."""


def state(name: str) -> str:
    """The state of an algorithm's source; of the default, that of all searches."""
    if name == "auto":
        return searches()
    own = BY_NAME[name].__module__.removeprefix("bamsoo.").replace(".", "/") + ".py"
    return state_of((own, *_TREE, *_BUILT_ON.get(name, ())))
