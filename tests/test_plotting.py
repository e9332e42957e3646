"""The pictures of a result."""

import random
import re
from pathlib import Path

import numpy as np
import pytest
from mixed_result import mixed
from numpy.testing import assert_array_equal

import bamsoo
from bamsoo import plotting
from bamsoo.plotting import KINDS, plot_convergence, plot_partition

__all__ = ["mixed"]  # a fixture

matplotlib = pytest.importorskip("matplotlib")
ROOT = Path(__file__).parent.parent
matplotlib.use("Agg")


@pytest.fixture
def axes():
    from matplotlib.figure import Figure

    return Figure().subplots()


def drawn(axes, label):
    (line,) = [line for line in axes.lines if line.get_label() == label]
    return np.asarray(line.get_ydata(), dtype=float)


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_under_noise_the_convergence_is_drawn_the_right_way_up(direction, axes):
    luck = random.Random(0)
    run = getattr(bamsoo, direction)
    r = run(lambda x: (x[0] - 0.3) ** 2 + luck.gauss(0, 0.1), [(0, 1)], 20, noise=0.01)
    assert r.fun not in r.F  # which is what used to tell the direction
    plot_convergence(axes, r)
    best = np.minimum if direction == "minimize" else np.maximum
    assert_array_equal(drawn(axes, "best so far"), best.accumulate(r.F))
    assert_array_equal(drawn(axes, "estimated value of the best point"), [r.fun, r.fun])


def test_the_help_of_plot_lists_every_kind():
    assert re.findall(r'^ *- "(\w+)": ', bamsoo.Result.plot.__doc__, re.M) == list(KINDS)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("front", "curves", "fit")])
def test_every_picture_can_be_drawn(kind, mixed):
    from matplotlib import pyplot

    try:
        made = mixed.plot(kind)
        figure = np.atleast_1d(made).ravel()[0].figure
        figure.canvas.draw()
        assert figure.axes
    finally:
        pyplot.close("all")


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind not in ("slices", "front", "curves", "fit")]
)
def test_a_picture_can_be_drawn_on_given_axes(kind, mixed, axes):
    assert mixed.plot(kind, axes) is axes


def test_slices_go_through_the_best_point():
    from matplotlib import pyplot

    r = bamsoo.minimize(bamsoo.problems.branin, bamsoo.problems.branin.bounds, 30)
    panels = r.plot("slices", points=51)
    assert [ax.get_xlabel() for ax in panels] == ["x0", "x1"]
    grid, mean = panels[1].lines[0].get_data()
    assert_array_equal(mean, r.predict([[r.x[0], each] for each in grid])[0])
    pyplot.close("all")


def test_the_importance_is_of_what_matters():
    def f(x):
        return 10.0 * (x[1] - 0.4) ** 2 + 0.1 * x[0]

    r = bamsoo.minimize(f, [(0, 1)] * 3, 60)
    shares = r.predictor.importance()
    np.testing.assert_array_equal(shares, r.predictor.importance())
    assert shares.argmax() == 1
    assert shares[1] > 0.9
    assert shares[0] < 0.1
    assert shares[2] < 0.05


def test_a_partition_needs_a_tree_and_two_parameters(axes):
    r = bamsoo.minimize(lambda x: 0.0, [(0, 1)] * 2, 5, algorithm="random")
    with pytest.raises(bamsoo.errors.SettingsError, match="no partition to draw: random"):
        r.plot("partition", axes)
    r = bamsoo.minimize(lambda x: 0.0, [(0, 1)], 5)
    with pytest.raises(bamsoo.errors.SettingsError, match="this space has only one"):
        plot_partition(axes, r)


def test_unknown_pictures_and_parameters_are_refused(mixed, axes):
    with pytest.raises(bamsoo.errors.SettingsError, match="expected one of convergence, partition"):
        mixed.plot("convergenc")
    with pytest.raises(bamsoo.errors.SettingsError, match="unknown parameter 'depth'"):
        mixed.plot("contour", axes, x="depth")


def test_plotting_needs_no_import_of_its_own():
    assert bamsoo.plotting.plot_convergence is plot_convergence


def test_three_objectives_are_drawn_in_pairs_with_one_legend():
    def three(x):
        return x[0], 1 - x[0], (x[0] - 0.5) ** 2

    r = bamsoo.minimize(three, [(0, 1)], 6, algorithm="random", objectives=["a", "b", "c"])
    panels = r.plot("front")
    assert [(ax.get_xlabel(), ax.get_ylabel()) for ax in panels] == [
        ("a (min)", "b (min)"),
        ("a (min)", "c (min)"),
        ("b (min)", "c (min)"),
    ]
    assert_array_equal(np.sort(drawn(panels[1], "front")), np.sort(r.F[:, 2]))  # all are on it
    assert all(ax.get_legend() is None for ax in panels)
    (legend,) = panels[0].figure.legends
    assert [each.get_text() for each in legend.get_texts()] == ["dominated", "front"]


def test_evaluations_are_counted_in_whole_ticks(axes):
    plot_convergence(axes, bamsoo.minimize(lambda x: x[0], [(0, 1)], 3))
    assert all(tick == round(tick) for tick in axes.get_xticks())


def test_curves_that_were_stopped_end_in_a_cross(axes):
    def train(rate):
        for step in range(1, 9):
            yield (rate - 0.3) ** 2 + 1 / step

    r = bamsoo.minimize(train, {"rate": (0, 1)}, 8, steps=8)
    assert r.nstopped > 0
    r.plot("curves", axes)
    crosses = [line for line in axes.lines if line.get_marker() == "x"]
    assert len(axes.lines) == r.nfev + r.nstopped and len(crosses) == r.nstopped


def test_an_option_that_a_picture_does_not_have_is_named(mixed):
    with pytest.raises(bamsoo.BamsooError, match="no option 'objective'; its options are optimum"):
        mixed.plot("convergence", objective="loss")


def test_values_over_decades_have_a_log_axis_by_the_rule_of_the_page():
    from matplotlib import pyplot

    numbers = (ROOT / "src/bamsoo/report/assets/numbers.js").read_text()
    assert f"const DECADES = {plotting.DECADES:.0f};" in numbers

    def f(x, y):
        return 1e-15 * ((x - 0.3) ** 2 + y) + 1e-21

    r = bamsoo.minimize(f, {"x": (0, 1), "y": bamsoo.Int(0, 9)}, 30)
    try:
        assert r.plot("convergence").get_yscale() == "log"
        assert {ax.get_yscale() for ax in r.plot("slices")} == {"log"}
        bar = r.plot("contour").figure.axes[1]
        assert bar.get_yscale() == "log"
        pyplot.gcf().canvas.draw()
    finally:
        pyplot.close("all")


def test_a_map_says_where_a_parameter_does_not_exist():
    from matplotlib import pyplot

    svm = {"C": bamsoo.Real(1e-3, 1e3, log=True), "gamma": (0, 1)}
    space = {"model": bamsoo.Choice({"svm": svm, "forest": {}}), "n": (0, 1)}
    r = bamsoo.minimize(
        lambda model, n, **own: n + (own["gamma"] - 0.3) ** 2 + own["C"] if own else 3.0, space, 20
    )
    try:
        ax = r.plot("contour")
        assert "model" not in {ax.get_xlabel(), ax.get_ylabel()}  # it has no order
        ax = r.plot("contour", x="model", y="C")
        said = [each.get_text() for each in ax.get_legend().get_texts()]
        assert "C exists only with model='svm'" in said
    finally:
        pyplot.close("all")


def test_cells_of_options_and_whole_numbers_end_between_them(axes):
    space = {"kind": bamsoo.Choice(["p", "q", "r"]), "n": bamsoo.Int(1, 4), "x": (0, 1)}
    r = bamsoo.minimize(lambda kind, n, x: n + x, space, 15, algorithm="soo")
    plot_partition(axes, r)
    corners = np.vstack([path.vertices for path in axes.collections[0].get_paths()])
    assert set(corners[:, 0]) <= {-0.5, 0.5, 1.5, 2.5}
    assert set(corners[:, 1]) <= {0.5, 1.5, 2.5, 3.5, 4.5}
    assert axes.get_xlim() == (-0.5, 2.5)
    assert axes.get_ylim() == (0.5, 4.5)


def test_the_labels_of_a_picture_are_plain_numbers_that_do_not_overlap():
    from matplotlib import pyplot

    space = {"d": bamsoo.Real(0.02, 0.2, log=True), "many": bamsoo.Int(0, 500)}
    r = bamsoo.minimize(lambda d, many: 8e5 + 1e6 * d + 100 * many, space, 12)
    try:
        panels = r.plot("slices")
        panels[0].figure.canvas.draw()
        labels = [each.get_text() for each in panels[0].get_xticklabels()]
        assert [each for each in labels if each in ("0.02", "0.05", "0.1", "0.2")] == [
            *("0.02", "0.05", "0.1", "0.2")
        ]
        assert not any(each.get_text() for each in panels[0].get_xticklabels(minor=True))
        assert panels[0].yaxis.get_offset_text().get_text() == ""
        assert panels[0].get_yticklabels()[1].get_text().isdigit()
        assert not panels[1].containers  # a curve, and no bars that touch
    finally:
        pyplot.close("all")
