"""The state of the source that one algorithm depends on.

The default changes more often than the other algorithms, and their stored runs should outlive such
changes. The tree, the book and the optimiser, which all algorithms share, are left out, because
tests make sure that the points they ask for stay the same.
"""

from bamsoo.algorithms import BY_NAME

from ..jobs.source import searches, state_of

_GP = ("model/gp.py", "kernels.py")
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
    "mosoo": ("algorithms/soo.py",),
}
"""The modules that an algorithm builds on, besides its own and those that all share."""


def state(name: str) -> str:
    """The state of the source of an algorithm; for the default, the state of all searches."""
    if name == "auto":
        return searches()
    own = BY_NAME[name].__module__.removeprefix("bamsoo.").replace(".", "/") + ".py"
    return state_of((own, *_BUILT_ON.get(name, ())))
