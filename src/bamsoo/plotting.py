"""Pictures of a run, drawn on axes the caller brings. Needs the extra ``bamsoo[plot]``."""

from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from ._typing import Array
from .algorithms.tree import Status
from .space import Space, SpaceLike

BLUE, ORANGE, GREY, GREEN = "#0072B2", "#D55E00", "#999999", "#009E73"
"""Okabe and Ito's colours, told apart by colour-blind readers too."""


def plot_convergence(ax: Any, result: OptimizeResult, optimum: float | None = None) -> None:
    """Each value and the best so far against evaluations; as regret where `optimum` is given.

    Parameters
    ----------
    ax : matplotlib Axes
    result : OptimizeResult
        Of `minimize` or `maximize`.
    optimum : float, optional
        The known best value: then the distance to it is shown, on a log scale.
    """
    F = np.asarray(result.F, dtype=float)
    down = bool(np.nanmin(F) == result.fun)
    best = np.fmin.accumulate(F) if down else np.fmax.accumulate(F)
    evaluations = np.arange(1, len(F) + 1)
    if optimum is not None:
        F, best = np.abs(F - optimum), np.maximum(np.abs(best - optimum), 1e-16)
        ax.set_yscale("log")
    ax.plot(evaluations, F, "o", ms=3, color=GREY, label="each evaluation")
    ax.step(evaluations, best, where="post", lw=2, color=BLUE, label="best so far")
    ax.set_xlabel("evaluations")
    ax.set_ylabel("value" if optimum is None else "distance to the optimum")
    ax.legend(frameon=False)


def plot_partition(
    ax: Any,
    result: OptimizeResult,
    space: SpaceLike,
    optimizers: Array | None = None,
) -> None:
    """The cells of a search in two dimensions, with evaluated and rejected centres.

    Parameters
    ----------
    ax : matplotlib Axes
    result : OptimizeResult
        Of a search that has a tree.
    space
        The space that was searched; its first two parameters are drawn.
    optimizers : ndarray, optional
        Known optima, one a row.
    """
    from matplotlib.collections import LineCollection

    domain, tree = Space(space), result.tree
    leaves = tree.leaves()
    low = np.array([domain.decode(u) for u in np.clip(tree.low[leaves], 0, 1)])
    high = np.array([domain.decode(u) for u in np.clip(tree.high[leaves], 0, 1)])
    corners = [
        [(a[0], a[1]), (b[0], a[1]), (b[0], b[1]), (a[0], b[1]), (a[0], a[1])]
        for a, b in zip(low, high, strict=True)
    ]
    ax.add_collection(LineCollection(corners, lw=0.4, color=GREY))
    rejected = np.array([domain.decode(u) for u in tree.x[tree.status == Status.REJECTED]])
    evaluated = np.array([domain.point(x) for x in result.X])
    ax.plot(*rejected.reshape(-1, domain.dim)[:, :2].T, "x", ms=3, mew=0.6, color=ORANGE,
            label="rejected")  # fmt: skip
    ax.plot(*evaluated[:, :2].T, "o", ms=3.5, color=BLUE, label="evaluated")
    if optimizers is not None:
        ax.plot(*np.asarray(optimizers)[:, :2].T, "*", ms=11, mfc="none", mew=1.2, color=GREEN,
                label="optima")  # fmt: skip
    ax.set_xlim(domain.low[0], domain.high[0])
    ax.set_ylim(domain.low[1], domain.high[1])
    ax.set_xlabel(domain.names[0])
    ax.set_ylabel(domain.names[1])
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.12), ncols=3, frameon=False)
