"""Pictures of a run, drawn with matplotlib. They need the extra ``bamsoo[plot]``.

Each function draws one picture on the axes it is given; `Result.plot` makes the axes if need be.
"""

from collections.abc import Callable, Sequence
from inspect import signature
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from .algorithms.tree import Status
from .base.typing import Array
from .errors import CallError, SettingsError
from .space import Space, SpaceLike

BLUE, ORANGE, GREY, GREEN = "#0072B2", "#D55E00", "#999999", "#009E73"
"""Colours by Okabe and Ito, which colour-blind readers can tell apart."""

NOWHERE = "#e9edf1"
"""Behind a map where a parameter does not exist."""


Run: TypeAlias = Any
"""A `Result`. Its method `plot` uses these functions, so this module cannot import it."""


def plot_convergence(ax: Any, result: Run, optimum: float | None = None) -> None:
    """Each value and the best value so far against the number of evaluations.

    Points that violate a constraint are marked and do not count for the best value. Under noise,
    the best so far is the best measured value, and the search's own estimate of the value at its
    best point is drawn as a separate line.

    Parameters
    ----------
    ax : matplotlib Axes
    result : Result
    optimum : float, optional
        The true best value, if it is known: the distance to it is then shown, on a log scale.
    """
    if result.objectives.several:
        volumes = result.hypervolumes
        ax.step(np.arange(1, len(volumes) + 1), volumes, where="post", lw=2, color=BLUE)
        ax.set_xlabel("evaluations")
        _whole_ticks(ax, "x")
        ax.set_ylabel("hypervolume")
        return
    F = _finished(result)
    down = result.direction == "minimize"
    infeasible = np.isfinite(F) & ~np.asarray(result.feasible, dtype=bool)
    counted = np.where(infeasible, np.nan, F)
    best = np.fmin.accumulate(counted) if down else np.fmax.accumulate(counted)
    evaluations = np.arange(1, len(F) + 1)
    believed = result.fun
    if optimum is not None:
        F, best = np.abs(F - optimum), np.maximum(np.abs(best - optimum), 1e-16)
        believed = abs(believed - optimum)
        ax.set_yscale("log")
    elif spans_decades(F):
        ax.set_yscale("log")
    ax.plot(
        evaluations[~infeasible], F[~infeasible], "o", ms=3, color=GREY, label="each evaluation"
    )
    if infeasible.any():
        ax.plot(evaluations[infeasible], F[infeasible], "x", ms=4, color=ORANGE, label="infeasible")
    ax.step(evaluations, best, where="post", lw=2, color=BLUE, label="best so far")
    if result.success and believed != best[-1] and result.fun not in result.F:
        ax.axhline(believed, lw=1, ls="--", color=ORANGE, label="estimated value of the best point")
    ax.set_xlabel("evaluations")
    _whole_ticks(ax, "x")
    ax.set_ylabel("value" if optimum is None else "distance to the optimum")
    _plain(ax.yaxis)
    ax.legend(frameon=False)


DECADES = 100.0
"""Positive values whose largest is more than this many times the smallest are drawn on a log axis:
on a linear one, the last third of a run would be a straight line at the bottom. The page has the
same rule, in `numbers.js`."""


def spans_decades(F: Array) -> bool:
    """Whether values are drawn on a log axis."""
    known = F[np.isfinite(F)]
    return len(known) > 0 and bool(known.min() > 0.0 and known.max() > DECADES * known.min())


def plot_partition(
    ax: Any,
    result: Run,
    space: SpaceLike = None,
    optimizers: Array | None = None,
) -> None:
    """The cells of a search in two dimensions, with the points evaluated and those rejected.

    Parameters
    ----------
    ax : matplotlib Axes
    result : Result
        The result of a search that has a tree.
    space : sequence of (low, high), scipy.optimize.Bounds or dict, optional
        The space that was searched; by default, the result's own. Its first two parameters are
        drawn.
    optimizers : ndarray, optional
        Known optima, one per row.
    """
    from matplotlib.collections import LineCollection

    domain, tree = result.space if space is None else Space(space), result.tree
    if tree is None:
        raise SettingsError(
            "this result has no partition to draw: random, gp-ucb and shrinking keep no tree, and "
            "a study that is open for reading only does not build one; use another algorithm, or "
            "open the study for writing"
        )
    if domain.dim < 2:
        raise SettingsError("a partition is drawn over two parameters, but this space has only one")
    leaves = tree.leaves()
    low, high = _corners(domain, tree.low[leaves], tree.high[leaves])
    corners = [
        [(a[0], a[1]), (b[0], a[1]), (b[0], b[1]), (a[0], b[1]), (a[0], a[1])]
        for a, b in zip(low, high, strict=True)
    ]
    ax.add_collection(LineCollection(corners, lw=0.4, color=GREY, label="edge of a cell"))
    rejected = np.array([domain.decode(u) for u in tree.x[tree.status == Status.REJECTED]])
    evaluated = np.array([domain.point(x) for x in result.X])
    ax.plot(*rejected.reshape(-1, domain.dim)[:, :2].T, "x", ms=3, mew=0.6, color=ORANGE,
            label="rejected")  # fmt: skip
    ax.plot(*evaluated[:, :2].T, "o", ms=3.5, color=BLUE, label="evaluated")
    if optimizers is not None:
        ax.plot(*np.asarray(optimizers)[:, :2].T, "*", ms=11, mfc="none", mew=1.2, color=GREEN,
                label="optima")  # fmt: skip
    _label(ax, "x", domain, 0)
    _label(ax, "y", domain, 1)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.12), ncols=4, frameon=False,
              columnspacing=1.2, handlelength=1.2)  # fmt: skip


def _corners(space: Space, low: Array, high: Array) -> tuple[Array, Array]:
    """The first two coordinates of the corners of cells, in the caller's units.

    A cell of whole numbers, or of options, ends halfway between those in it and their neighbours.
    """
    inside = 1e-9  # so that an edge between two numbers is decoded as the one in the cell
    ends = []
    for corner, side in ((low, 1.0), (high, -1.0)):
        values = np.array([space.decode_all(u) for u in np.clip(corner + side * inside, 0, 1)])
        for i in range(2):
            values[:, i] -= side * _half(space, i)
        ends.append(values)
    return ends[0], ends[1]


def _half(space: Space, i: int) -> float:
    """Half the distance of two values of a parameter; 0 if it has no smallest distance."""
    if i in space.domain.continuous:
        return 0.0
    return 0.5 * float(getattr(space.parameters[space.names[i]], "step", None) or 1.0)


MOST_BARS = 30
"""More whole numbers than these are drawn as a curve: their bars would touch."""


def plot_slices(figure: Any, result: Run, points: int = 101) -> None:
    """One panel per parameter: the model along it through the best point, with its uncertainty.

    The band is two deviations wide on each side. The value of the best point is marked. Parameters
    that do not exist with the options of the best point have no panel. Along a parameter with
    options, the parameters that another option opens are set to the middle of their ranges.

    Parameters
    ----------
    figure : matplotlib Figure
    result : Result
        The result of a search that has a model.
    points : int, default 101
        The number of points of a curve.
    """
    space, best, least = result.space, _best(result), _least(result)
    shown = np.flatnonzero(~np.isnan(best[: space.domain.dim])).tolist()
    columns = min(len(shown), 3)
    rows = -(-len(shown) // columns)
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False).ravel()
    drawn = [_finished(result)]
    for place, (i, ax) in enumerate(zip(shown, panels.tolist(), strict=False)):
        grid = _grid(space, i, points)
        X = np.repeat(best[None], len(grid), axis=0)
        X[:, i] = grid
        mean, deviation = result.predict([space.completed(x) for x in X])
        low, high = mean - 2 * deviation, mean + 2 * deviation
        if least is not None:
            ax.set_yscale("log")
            mean, low, high = (np.maximum(each, least) for each in (mean, low, high))
        drawn.append(mean)
        if i in space.domain.continuous or len(grid) > MOST_BARS:
            ax.fill_between(grid, low, high, color=BLUE, alpha=0.2, lw=0, label="two deviations")
            ax.plot(grid, mean, color=BLUE, lw=1.5, label="model")
        else:
            bars = np.array([mean - low, high - mean])
            ax.errorbar(  # not clipped, since the first and the last value lie on the frame
                grid, mean, bars, fmt="o", ms=3, color=BLUE, label="model, two deviations",
                clip_on=False,
            )  # fmt: skip
        ax.plot(best[i], result.fun, "*", ms=11, color=ORANGE, label="best point")
        _label(ax, "x", space, i)
        if columns > 1 and not space.parameters[space.names[i]].log:
            _few_ticks(ax, space, i)
        if place % columns == 0:
            ax.set_ylabel("value")
            _plain(ax.yaxis)
    for ax in panels[len(shown) :].tolist():
        ax.set_visible(False)
    known = np.concatenate([each[np.isfinite(each)] for each in drawn])
    if least is None:  # a band where nothing is known would leave no room for the rest
        room = 0.08 * float(np.ptp(known)) or 1.0
        panels[0].set_ylim(known.min() - room, known.max() + room)
    panels[0].legend(frameon=False, fontsize="small")


def plot_importance(ax: Any, result: Run) -> None:
    """How much each parameter matters to the model, as bars; see `Predictor.importance`.

    Parameters
    ----------
    ax : matplotlib Axes
    result : Result
        The result of a search that has a model.
    """
    shares = result.predictor.importance()
    order = np.argsort(shares, kind="stable")
    names = [result.space.names[i] for i in order]
    ax.barh(names, shares[order], color=BLUE)
    ax.set_xlim(0, 1)
    ax.set_xlabel("share of the model's variance that involves the parameter")


MOST_LEVEL = 5
"""With more parameters than this, their names would overlap if they were written level."""


def plot_parallel(ax: Any, result: Run) -> None:
    """Every evaluation as a line across the parameters; the darker the line, the better its value.

    The axis of each parameter runs from its lower to its upper bound. Failed evaluations are left
    out, and the best one is drawn on top. A line has a gap where a parameter does not exist with
    the options of its evaluation.
    """
    from matplotlib.collections import LineCollection

    space, best = result.space, _best(result)
    F = _finished(result)
    known = np.flatnonzero(np.isfinite(F))
    worst_first = known[np.argsort(result.objectives.sense.turn(F[known]), kind="stable")]
    dim = space.domain.dim
    points = _points(result)[:, :dim]
    U = np.array([space.encode(x) for x in points])
    U[np.isnan(points)] = np.nan
    at = np.arange(dim)
    lines = [np.column_stack([at, U[i]]) for i in worst_first]
    ranks = np.linspace(0.0, 1.0, len(lines))
    drawn = LineCollection(lines, cmap="cividis_r", array=ranks, lw=0.8, alpha=0.6)
    ax.add_collection(drawn)
    if space.domain.conditional:  # dots, for values whose neighbours on both sides do not exist
        ax.scatter(np.tile(at, len(worst_first)), U[worst_first].ravel(), s=6,
                   c=np.repeat(ranks, dim), cmap="cividis_r", alpha=0.6)  # fmt: skip
    there = np.where(np.isnan(best[:dim]), np.nan, space.encode(best))
    ax.plot(at, there, "-o", color=ORANGE, lw=2, ms=4, label="best")
    for i in at:
        ax.axvline(i, color=GREY, lw=0.5)
    labels = [name.replace(" (", "\n(") for name in space.names[:dim]]
    ends = [space.parameters[name].range_in_words for name in space.names[:dim]]
    ax.set_xticks(at, [f"{label}\n{each}" for label, each in zip(labels, ends, strict=True)])
    if dim > MOST_LEVEL:
        ax.tick_params(axis="x", labelrotation=60, labelsize="small")
        for label in ax.get_xticklabels():
            label.set_horizontalalignment("right")
            label.set_rotation_mode("anchor")
    ax.set_xlim(-0.2, dim - 0.8)
    ax.set_ylim(-0.03, 1.03)
    ax.set_yticks([0.0, 1.0], ["lower bound", "upper bound"])
    bar = ax.figure.colorbar(drawn, ax=ax, ticks=[0.0, 1.0])
    bar.ax.set_yticklabels(["worst", "best"])
    ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0))


def plot_contour(
    ax: Any, result: Run, x: str | None = None, y: str | None = None, points: int = 60
) -> None:
    """The model's mean over two parameters, with the others as in the best point.

    Parameters
    ----------
    ax : matplotlib Axes
    result : Result
        The result of a search that has a model.
    x, y : str, optional
        Names of the parameters. By default, the two that matter most to the model among those that
        exist with the options of the best point; parameters with an order come before options.
    points : int, default 60
        The number of points of the grid along each side.
    """
    space, best, least = result.space, _best(result), _least(result)
    i, j = _pair(result, x, y, of=np.flatnonzero(~np.isnan(best[: space.domain.dim])).tolist())
    across, up = _grid(space, i, points), _grid(space, j, points)
    X = np.repeat(best[None], len(across) * len(up), axis=0)
    X[:, i], X[:, j] = np.tile(across, len(up)), np.repeat(up, len(across))
    mean = result.predict([space.completed(x) for x in X])[0].reshape(len(up), len(across))
    there = ~np.isnan(np.array([space.completed(x)[[i, j]] for x in X])).any(axis=1)
    mean = np.where(there.reshape(mean.shape), mean, np.nan)  # a parameter may not exist there
    ax.set_facecolor(NOWHERE)
    levels: int | Array = 14
    norm = None
    if least is not None:
        mean = np.maximum(mean, least)
        low, high = float(np.nanmin(mean)), float(np.nanmax(mean))
        if high > low:
            levels, norm = np.geomspace(low, high, 15), "log"
    if {i, j} <= set(space.domain.continuous):
        drawn = ax.contourf(across, up, mean, levels=levels, norm=norm, cmap="cividis")
    else:  # nothing is between two options or two whole numbers
        edges = _edges(across), _edges(up)
        drawn = ax.pcolormesh(*edges, mean, norm=norm, cmap="cividis", shading="flat")
    if not there.all():
        shown = [slot for slot in (space.slots[i], space.slots[j]) if slot.when]
        when = "; ".join(f"{slot.name} exists only with {slot.when}" for slot in shown)
        ax.plot([], [], "s", color=NOWHERE, mec=GREY, label=when)
    bar = ax.figure.colorbar(drawn, ax=ax, label="the model's mean")
    _plain(bar.ax.yaxis)
    if norm is not None:  # powers of ten, not the levels
        from matplotlib.ticker import LogFormatterSciNotation, LogLocator

        bar.set_ticks(LogLocator(numticks=8), minor=False)
        bar.formatter = LogFormatterSciNotation(labelOnlyBase=False, minor_thresholds=(1, 0.5))
        bar.update_ticks()
    told, feasible = _points(result), np.asarray(result.feasible, dtype=bool)
    good, bad = told[feasible], told[~feasible & np.isfinite(_finished(result))]
    ax.plot(good[:, i], good[:, j], "o", ms=3, mfc="white", mec="black", mew=0.5, label="evaluated")
    if len(bad):
        from matplotlib.patheffects import withStroke

        rim = [withStroke(linewidth=3, foreground="black")]  # seen on any colour
        ax.plot(bad[:, i], bad[:, j], "x", ms=5, color="white", path_effects=rim, clip_on=False,
                label="infeasible")  # fmt: skip
    ax.plot(best[i], best[j], "*", ms=13, color=ORANGE, mec="black", mew=0.5, label="best point")
    _label(ax, "x", space, i)
    _label(ax, "y", space, j)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)


def plot_failures(ax: Any, result: Run, x: str | None = None, y: str | None = None) -> None:
    """Where evaluations failed, over two parameters, and why.

    Parameters
    ----------
    ax : matplotlib Axes
    result : Result
    x, y : str, optional
        Names of the parameters; by default, the first two.
    """
    space = result.space
    i, j = _pair(result, x, y, by_importance=False)
    told, failed = (
        _points(result),
        ~np.isfinite(np.asarray(result.F)).reshape(len(result.F), -1).all(1),
    )
    done = told[~failed]
    ax.plot(done[:, i], done[:, j], "o", ms=3, color=GREY, label=f"gave a value: {len(done)}")
    reasons: dict[str, list[int]] = {}
    for row, (_, reason) in zip(np.flatnonzero(failed).tolist(), result.failures, strict=True):
        reasons.setdefault(" ".join(reason.split())[:60], []).append(row)
    most = sorted(reasons.items(), key=lambda each: -len(each[1]))
    shown, rest = most[: len(_MARKS)], [row for _, rows in most[len(_MARKS) :] for row in rows]
    for (mark, colour), (reason, rows) in zip(_MARKS, shown, strict=False):
        where = told[rows]
        ax.plot(where[:, i], where[:, j], mark, ms=6, color=colour, label=f"{reason}: {len(rows)}")
    if rest:
        where = told[rest]
        ax.plot(where[:, i], where[:, j], "k.", label=f"other reasons: {len(rest)}")
    _label(ax, "x", space, i)
    _label(ax, "y", space, j)
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False, fontsize="small")


_MARKS = [("x", ORANGE), ("+", BLUE), ("1", GREEN)]


def plot_front(ax: Any, result: Run, x: str | None = None, y: str | None = None) -> None:
    """The evaluations by two objectives: the front as a line, what it dominates pale.

    Parameters
    ----------
    ax : matplotlib Axes
    result : Result
    x, y : str, optional
        The names of the two objectives; by default the first two.
    """
    names = list(result.objectives.names)
    if len(names) < 2:
        raise SettingsError("a front needs several objectives; this result has only one")
    for name in (x, y):
        if name is not None:
            result.objectives.only(name)  # raises an error if it is unknown
    rest = [name for name in names if name not in (x, y)]
    first = names.index(x if x is not None else rest.pop(0))
    second = names.index(y if y is not None else rest.pop(0))
    told = [each for each in result.evaluations if each.numbers]
    good = np.array([e.numbers for e in told if e.feasible]).reshape(-1, len(names))
    bad = np.array([e.numbers for e in told if not e.feasible]).reshape(-1, len(names))
    front = np.array([e.numbers for e in result.front]).reshape(-1, len(names))
    ax.plot(good[:, first], good[:, second], "o", ms=4, color=GREY, alpha=0.4, label="dominated")
    if len(bad):
        ax.plot(bad[:, first], bad[:, second], "x", ms=4, color=ORANGE, alpha=0.6,
                label="infeasible")  # fmt: skip
    front = front[np.argsort(front[:, first], kind="stable")]
    if len(names) == 2:  # the border of what the front dominates
        up = result.objectives.signs[first] > 0.0
        ax.step(front[:, first], front[:, second], where="pre" if up else "post", lw=1, color=BLUE)
    ax.plot(front[:, first], front[:, second], "o", ms=5, color=BLUE, label="front")
    ways = result.objectives.ways
    for which, i in (("x", first), ("y", second)):
        getattr(ax, f"set_{which}label")(f"{names[i]} ({ways[names[i]]})")
    ax.legend(frameon=False)


def plot_fronts(figure: Any, result: Run) -> None:
    """The front by each pair of objectives, one panel for each."""
    pairs = list(combinations(result.objectives.names, 2))
    columns = min(len(pairs), 3)
    rows = -(-len(pairs) // columns)
    figure.set_size_inches(max(6.0, 3.0 * columns), 3.0 * rows)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel, (x, y) in zip(panels, pairs, strict=True):
        plot_front(panel, result, x, y)
    if len(pairs) > 1:  # one legend for all, where it hides no points
        for panel in panels:
            panel.get_legend().remove()
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3,
                      frameon=False)  # fmt: skip


def _best_of_curves(result: Run) -> int | None:
    """The number of the best trial that has a curve and was finished."""
    finished = [e for e in result.evaluations if e.numbers and e.number in result.curves]
    if not (result.success and finished):
        return None
    better = min if result.direction == "minimize" else max
    found: int | None = better(finished, key=lambda each: each.value).number
    return found


def plot_curves(ax: Any, result: Run) -> None:
    """The values of each trial step by step; a curve that was stopped ends in a cross.

    The best trial is drawn in blue. A trial that is still running ends in a bar, which shows the
    final value that the model of curves expects, with two deviations to either side.
    """
    if not result.curves:
        raise SettingsError("there are no curves to draw; give steps= to a search that has steps")
    states = {each.number: each for each in result.evaluations}
    best = _best_of_curves(result)
    marked = False
    for number, values in result.curves.items():
        steps = np.arange(1, len(values) + 1)
        state = states[number].state if number in states else "out"
        colour = BLUE if number == best else ORANGE if state == "out" else GREY
        ax.plot(steps, values, lw=2.0 if number == best else 0.8, color=colour)
        if state == "stopped":
            label = None if marked else "stopped"
            ax.plot(steps[-1], values[-1], "x", ms=5, color=ORANGE, label=label)
            marked = True
    for number, (mean, deviation) in result.expected_ends.items():
        if number in result.curves:
            ax.errorbar(result.steps, mean, 2.0 * deviation, fmt="_", color=ORANGE, capsize=3)
    ax.set_xlabel("steps")
    _whole_ticks(ax, "x")
    ax.set_ylabel("value")
    if marked:
        ax.legend(frameon=False)


def plot_fit(ax: Any, result: Run, data: Sequence[float] | None = None) -> None:
    """The residuals of a fit at its best point, or the fitted values against the measured ones.

    The shaded band is twice the standard deviation that comes from those of the parameters. The
    three most costly residuals are marked.

    Parameters
    ----------
    ax : matplotlib Axes
    result : Result
        Of `least_squares`.
    data : sequence of float, optional
        The measurements, if residuals are fitted minus measured values. They are then drawn with
        the fitted values.
    """
    fit = result.fitted
    r, number = np.array(result.residuals, dtype=float), np.arange(1, len(result.residuals) + 1)
    level, dots = np.zeros(len(r)), r
    if data is not None:
        dots = np.asarray(data, dtype=float)
        if dots.shape != r.shape:
            raise SettingsError(
                f"data must have one number for each of the {len(r)} residuals, "
                f"got an array of shape {dots.shape}"
            )
        level = dots + r
    width = 2.0 * np.nan_to_num(fit.band)
    ax.fill_between(number, level - width, level + width, color=BLUE, alpha=0.2, lw=0)
    ax.plot(number, level, color=BLUE, lw=1.5, label="fitted" if data is not None else None)
    ax.plot(number, dots, "o", ms=3, color=GREY, label="measured" if data is not None else None)
    most = fit.largest[:3]
    ax.plot(number[most], dots[most], "x", ms=7, mew=2, color=ORANGE, label="largest residuals")
    ax.set_xlabel("number of the residual")
    _whole_ticks(ax, "x")
    ax.set_ylabel("value" if data is not None else "residual")
    ax.legend(frameon=False)


KINDS: dict[str, Callable[..., None]] = {
    "convergence": plot_convergence,
    "partition": plot_partition,
    "slices": plot_slices,
    "importance": plot_importance,
    "parallel": plot_parallel,
    "contour": plot_contour,
    "failures": plot_failures,
    "fit": plot_fit,
    "front": plot_front,
    "curves": plot_curves,
}
"""The pictures that `Result.plot` draws, by name."""


def plot(result: Run, kind: str = "convergence", ax: Any = None, **options: Any) -> Any:
    """Draw one of `KINDS`; see `Result.plot`."""
    if kind not in KINDS:
        raise SettingsError(f"unknown kind of plot {kind!r}; expected one of {', '.join(KINDS)}")
    if result.objectives.several and kind not in ("convergence", "front", "partition", "failures"):
        aim = options.pop("objective", result.objectives.names[0])
        return plot(result.only(aim), kind, ax, **options)
    known = [*signature(KINDS[kind]).parameters][2:]
    if unknown := [name for name in options if name not in known]:
        which = f"its options are {', '.join(known)}" if known else "it has none"
        raise CallError(f"the plot {kind!r} has no option {unknown[0]!r}; {which}")
    if kind == "front" and ax is None and len(result.objectives) > 2 and not options:
        figure = _new_figure(result)
        plot_fronts(figure, result)
        return np.array(figure.axes)
    if kind == "slices":
        if ax is not None:
            raise SettingsError(
                "slices need one panel per parameter and make their own axes; leave out ax"
            )
        figure = _new_figure(result)
        plot_slices(figure, result, **options)
        return np.array(figure.axes)
    if ax is None:
        ax = _new_figure(result).subplots()
    KINDS[kind](ax, result, **options)
    return ax


def _new_figure(result: Run) -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise SettingsError("plots need matplotlib: pip install 'bamsoo[plot]'") from None
    return pyplot.figure(layout="constrained")


def _points(result: Run) -> Array:
    """The points of `X` as numbers; an option becomes its index."""
    space = result.space
    return np.array([space.point(x) for x in result.X]).reshape(-1, space.dim)


def _finished(result: Run) -> Array:
    """The values as a column; nan for one that was measured below the top of a fidelity."""
    F: Array = np.asarray(result.F, dtype=float)
    if result.space.fidelity is None:
        return F
    return np.where(_points(result)[:, -1] == result.space.high[-1], F, np.nan)


def _best(result: Run) -> Array:
    if not result.success:
        raise SettingsError("there is nothing to draw, because no evaluation gave a usable value")
    best: Array = result.space.point(result.x)
    return best


def _grid(space: Space, i: int, points: int) -> Array:
    """Values of a parameter from end to end, evenly spaced on its own scale."""
    parameter = space.parameters[space.names[i]]
    low, high = float(space.low[i]), float(space.high[i])
    if parameter.options is not None:
        return np.arange(low, high + 1)
    grid: Array = (
        np.geomspace(low, high, points) if parameter.log else np.linspace(low, high, points)
    )
    grid = np.clip(grid, low, high)
    return np.unique([space.nearest(i, value) for value in grid.tolist()])


def _check_shown(result: Run, name: str, names: Sequence[str], order: Sequence[int]) -> None:
    """Raise an error unless this is the name of a parameter that can be drawn."""
    if name not in names:
        raise SettingsError(f"unknown parameter {name!r}; expected one of {', '.join(names)}")
    if names.index(name) not in order:
        when = result.space.slots[names.index(name)].when
        raise SettingsError(
            f"{name} exists only with {when}, and the best point has another option; expected "
            f"two of {', '.join(names[i] for i in order)}"
        )


def _pair(
    result: Run,
    x: str | None,
    y: str | None,
    by_importance: bool = True,
    of: Sequence[int] | None = None,
) -> list[int]:
    """The indices of two parameters, chosen by importance or in order where they are not named.

    If `of` is given, only those indices are considered.
    """
    names = result.space.names[: result.space.domain.dim]
    order = list(range(len(names)) if of is None else of)
    for name in (x, y):
        if name is not None:
            _check_shown(result, name, names, order)
    if len(order) < 2:
        raise SettingsError("this picture is drawn over two parameters, but there is only one")
    if by_importance and (x is None or y is None):  # parameters with an order come first
        shares, space = result.predictor.importance(), result.space
        unordered = [space.parameters[name].options is not None for name in names]
        order.sort(key=lambda i: (unordered[i], -float(shares[i])))
    free = [names[i] for i in order if names[i] not in (x, y)]
    first = x if x is not None else free.pop(0)
    second = y if y is not None else free.pop(0)
    return [names.index(first), names.index(second)]


def _edges(grid: Array) -> Array:
    """The edges of cells around the values of a grid."""
    if len(grid) == 1:
        return np.array([grid[0] - 0.5, grid[0] + 0.5])
    inner = 0.5 * (grid[1:] + grid[:-1])
    return np.array([grid[0] - (inner[0] - grid[0]), *inner, grid[-1] + (grid[-1] - inner[-1])])


def _least(result: Run) -> float | None:
    """The least value if values are drawn on a log axis, else None."""
    F = _finished(result)
    return float(np.nanmin(F)) if F.ndim == 1 and spans_decades(F) else None


def _few_ticks(ax: Any, space: Space, i: int) -> None:
    """At most four ticks, so that the numbers below a narrow panel do not touch."""
    if space.parameters[space.names[i]].ticks is None:
        ax.locator_params(axis="x", nbins=3)


def _whole_ticks(ax: Any, which: str) -> None:
    from matplotlib.ticker import MaxNLocator

    locator = getattr(ax, f"{which}axis").get_major_locator()
    if isinstance(locator, MaxNLocator):  # the axes may be the caller's, with another scale
        locator.set_params(integer=True)


def _label(ax: Any, which: str, space: Space, i: int) -> None:
    """Set the label, scale and limits of one axis for a parameter."""
    parameter = space.parameters[space.names[i]]
    low, high = float(space.low[i]), float(space.high[i])
    getattr(ax, f"set_{which}label")(space.names[i])
    if parameter.ticks is not None:
        getattr(ax, f"set_{which}ticks")(*zip(*parameter.ticks, strict=True))
        low, high = low - 0.5, high + 0.5
    elif parameter.log:
        getattr(ax, f"set_{which}scale")("log")
        if high < NARROW * low:
            _narrow_log_ticks(getattr(ax, f"{which}axis"))
    elif parameter.whole:
        _whole_ticks(ax, which)
        if (high - low) / (2 * _half(space, i)) < MOST_BARS:
            low, high = low - _half(space, i), high + _half(space, i)
    getattr(ax, f"set_{which}lim")(low, high)


NARROW = 300.0
"""A log axis whose ends are further apart has enough powers of ten for its labels."""


def _narrow_log_ticks(axis: Any) -> None:
    """Label 0.02, 0.05, 0.1 and so on: matplotlib's own labels between powers of ten overlap."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _plain(axis: Any) -> None:
    """Write large values as 800000 instead of as 0.8 with a remote 1e6."""
    from matplotlib.ticker import ScalarFormatter

    formatter = axis.get_major_formatter()
    if isinstance(formatter, ScalarFormatter):
        formatter.set_powerlimits((-4, 7))
