"""Results of conditional spaces, whose options open further parameters: tables, plots, models."""

import pickle

import numpy as np
import pytest
from conditional_spaces import MODELS, loss

import bamsoo
from bamsoo.errors import SettingsError, SpaceError
from bamsoo.plotting import KINDS


@pytest.fixture(scope="module")
def result():
    return bamsoo.minimize(loss, MODELS, 40)


def test_a_data_frame_has_missing_cells(result):
    pandas = pytest.importorskip("pandas")
    frame = result.to_dataframe()
    assert list(frame.columns) == [
        "trial", "state", "rate", "model", "C (model='svm' or 'logistic')", "kernel", "gamma",
        "depth", "C (model='net')", "value", "origin", "error",
    ]  # fmt: skip
    for row, params in zip(frame.to_dict("records"), result.X, strict=True):
        shared, own = row["C (model='svm' or 'logistic')"], row["C (model='net')"]
        assert (params["model"] == "net") == (not pandas.isna(own))
        assert (params["model"] in ("svm", "logistic")) == (not pandas.isna(shared))
        assert ("depth" in params) == (not pandas.isna(row["depth"]))
        assert ("kernel" in params) == (not pandas.isna(row["kernel"]))
        if "depth" in params:
            assert row["depth"] == params["depth"]
    assert str(frame["depth"].dtype) == "Int64"
    assert frame["gamma"].dtype == float


def test_the_best_point_is_nan_where_a_parameter_does_not_exist(result):
    assert result.params == result.X[int(np.argmin(result.F))]
    assert np.isnan(result.x[[5, 6]]).all()
    assert result.space.params(result.x) == result.params


def test_predict_takes_points_with_the_parameters_that_exist(result):
    mean, deviation = result.predict(result.X)
    # not equal: with options, the model may take small jumps of the values for noise
    assert np.corrcoef(mean, result.F)[0, 1] > 0.9
    assert (deviation >= 0).all()
    one, _ = result.predict({"rate": 0.1, "model": "forest", "depth": 20})
    array, _ = result.predict([0.1, 1, np.nan, np.nan, np.nan, 20, np.nan])
    assert one == array
    with pytest.raises(SpaceError, match="'gamma' exists only with kernel='rbf'"):
        result.predict({"rate": 0.1, "model": "forest", "depth": 20, "gamma": 0.5})


def test_the_gap_is_that_of_points_of_the_space(result):
    assert result.gap >= 0.0
    top = result.bounds.top
    np.testing.assert_array_equal(result.space.domain.canonical(top), top)


def test_a_pickle_comes_back(result):
    again = pickle.loads(pickle.dumps(result))
    assert again.X == result.X
    np.testing.assert_allclose(again.predict(result.X)[0], result.predict(result.X)[0])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("front", "curves", "fit")])
def test_every_picture_is_drawn(result, kind):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    result.plot(kind)
    pyplot.gcf().canvas.draw()
    assert all(ax.has_data() for ax in pyplot.gcf().axes if ax.get_visible())
    assert pyplot.gcf().axes
    pyplot.close("all")


def test_slices_are_of_the_parameters_that_the_best_point_has(result):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    axes = result.plot("slices")
    assert [ax.get_xlabel() for ax in axes if ax.get_visible()] == [
        name for name, x in zip(result.space.names, result.x, strict=True) if x == x
    ]
    pyplot.close("all")


def test_lines_are_broken_at_parameters_that_do_not_exist(result):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ax = result.plot("parallel")
    drawn = [~np.isnan(path.vertices[:, 1]) for path in ax.collections[0].get_paths()]
    existing = [~np.isnan(result.space.point(params)) for params in result.X]
    assert sorted(map(tuple, drawn)) == sorted(map(tuple, existing))
    pyplot.close("all")


def test_a_contour_of_what_does_not_exist_is_refused(result):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    with pytest.raises(SettingsError, match="depth exists only with model='forest'"):
        result.plot("contour", x="depth", y="rate")
    result.plot("contour", x="model", y="rate")
    pyplot.close("all")


def test_importance_has_a_share_for_every_parameter(result):
    shares = result.predictor.importance()
    assert shares.shape == (result.space.dim,)
    assert ((shares >= 0) & (shares <= 1)).all()
