"""Parameters that exist only with some options: the space, its axes, its points and the kernel."""

from collections.abc import Mapping

import numpy as np
import pytest
from conditional_spaces import ANY, FINITE, MODELS, belongs, every_point
from hypothesis import given, settings
from hypothesis import strategies as st

from bamsoo import Choice, Int, Real
from bamsoo.errors import SpaceError
from bamsoo.kernels import Matern52, SquaredExponential
from bamsoo.model.gp import GP
from bamsoo.space import Space


def test_options_may_have_parameters_of_their_own():
    space = Space(MODELS)
    assert space.names == [
        "rate", "model", "C (model='svm' or 'logistic')", "kernel", "gamma", "depth",
        "C (model='net')",
    ]  # fmt: skip
    point = space.point({"rate": 0.1, "model": "forest", "depth": 3})
    np.testing.assert_array_equal(point, [0.1, 1, np.nan, np.nan, np.nan, 3, np.nan])
    assert space.params(point) == {"rate": 0.1, "model": "forest", "depth": 3}


def test_a_choice_whose_options_have_no_parameters_equals_a_plain_one():
    assert Choice(["a", "b"]) == Choice({"a": None, "b": {}})
    assert repr(Choice(["a", "b"])) == "Choice(options=('a', 'b'))"
    assert not Space({"c": Choice({"a": None, "b": {}})}).domain.conditional


def test_the_repr_of_a_conditional_choice_evaluates_to_the_choice():
    choice = Choice({"a": {"x": Real(0, 1)}, "b": None})
    assert eval(repr(choice), {"Choice": Choice, "Real": Real}) == choice
    assert hash(choice) == hash(Choice({"a": {"x": (0, 1)}, "b": {}}))


@pytest.mark.parametrize(
    ("point", "said"),
    [
        ({"rate": 0.1}, "'model' has none, got"),
        (
            {"rate": 0.1, "model": "forest"},
            "but 'depth', which exists with model='forest', has none",
        ),
        (
            {"rate": 0.1, "model": "forest", "depth": 3, "gamma": 0.5},
            "'gamma' exists only with kernel='rbf', but the point has no 'kernel'; leave 'gamma'",
        ),
        (
            {"rate": 0.1, "model": "svm", "C": 1.0, "kernel": "linear", "gamma": 0.5},
            "'gamma' exists only with kernel='rbf', but the point has kernel='linear'",
        ),
        (
            {"rate": 0.1, "model": "forest", "depth": 3, "C": 3},
            "'C' exists only with model='svm' or 'logistic', but the point has model='forest'",
        ),
        ({"rate": 0.1, "model": "forest", "depth": 3, "size": 3}, "'size' is not a parameter"),
        ({"rate": 0.1, "model": "tree", "depth": 3}, "model: expected one of"),
        ({"rate": 0.1, "model": "net", "C": 5}, r"C \(model='net'\): 5 lies outside"),
        ([0.1, 1, 2.0, np.nan, np.nan, 3, np.nan], "so it must be nan in the array .* got 2.0"),
        ([0.1, 1, np.nan, np.nan, np.nan, np.nan, np.nan], r"depth: nan lies outside \[1.0, 20.0"),
    ],
)
def test_an_invalid_point_is_refused_in_a_sentence(point, said):
    with pytest.raises(SpaceError, match=said):
        Space(MODELS).point(point)


@pytest.mark.parametrize(
    ("space", "said"),
    [
        ({"a": Choice({"x": {"b": (0, 1)}}), "b": (0, 1)}, "'b' is the name of two parameters"),
        (
            {"a": Choice({"x": {"n": (0, 1)}}), "b": Choice({"y": {"n": (0, 1)}})},
            "'n' is the name of two parameters that can exist together",
        ),
        ({"a": Choice({"x": {"a": (0, 1)}})}, "'a' is the name of two parameters"),
    ],
)
def test_two_parameters_with_the_same_name_that_can_exist_together_are_refused(space, said):
    with pytest.raises(SpaceError, match=said):
        Space(space)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"a": 3}, "the option 'a' must map to a dict of parameters or to None, got 3"),
        ({"a": {1: (0, 1)}}, "a parameter's name must be a string, got 1"),
        ({"a": {"x": (1, 0)}}, "x: low must be below high"),
        ({}, "at least one option"),
    ],
)
def test_invalid_options_are_refused_in_a_sentence(options, said):
    with pytest.raises(SpaceError, match=said):
        Choice(options)


@given(ANY, st.integers(0, 2**32))
def test_a_point_survives_the_round_trip_between_cube_and_space(parameters, seed):
    space = Space(parameters)
    u = space.domain.snap(np.random.default_rng(seed).random(space.dim))
    x = space.decode(u)
    params = space.params(x)
    assert belongs(parameters, params)
    assert space.point(params).tobytes() == space.point(x).tobytes() == x.tobytes()
    np.testing.assert_allclose(space.encode(x), u, atol=1e-9)
    absent = ~space.domain.exists(u)
    np.testing.assert_array_equal(absent, np.isnan(x))
    np.testing.assert_array_equal(space.encode(x)[absent], space.domain.middle[absent])


@given(ANY, st.integers(0, 2**32))
def test_coordinates_along_axes_that_do_not_exist_make_no_difference(parameters, seed):
    domain = Space(parameters).domain
    rng = np.random.default_rng(seed)
    u = domain.snap(rng.random(domain.dim))
    other = np.where(domain.exists(u), u, rng.random(domain.dim))
    np.testing.assert_array_equal(domain.snap(other), u)
    np.testing.assert_array_equal(domain.features(other), domain.features(u))


@given(ANY, st.integers(0, 2**32))
def test_the_same_axes_exist_at_a_point_and_at_a_row_of_several(parameters, seed):
    domain = Space(parameters).domain
    U = np.random.default_rng(seed).random((5, domain.dim))
    U[0], U[1] = 0.0, 1.0
    np.testing.assert_array_equal([domain.exists(u) for u in U], domain.exists(U))


@given(FINITE)
def test_the_size_of_a_finite_space_is_its_number_of_points(parameters):
    assert Space(parameters).domain.size == len(every_point(parameters))


def test_points_are_counted_where_each_option_brings_others():
    kinds = {"a": {"n": Int(1, 5)}, "b": None, "c": {"m": Int(1, 2), "l": Int(1, 3)}}
    assert Space({"kind": Choice(kinds), "k": Int(0, 1)}).domain.size == (5 + 1 + 2 * 3) * 2


@given(ANY)
def test_most_axes_is_the_largest_number_that_exist_together(parameters):
    domain = Space(parameters).domain
    rng = np.random.default_rng(0)
    most = domain.exists(rng.random((500, domain.dim))).sum(1).max()
    assert most <= domain.most_axes <= domain.dim
    # in larger spaces, 500 random points may miss the combination with the most axes
    assert most == domain.most_axes or domain.dim > 8


@settings(deadline=None)
@given(ANY, st.integers(0, 2**32), st.sampled_from([Matern52, SquaredExponential]))
def test_the_kernel_is_positive_semi_definite(parameters, seed, family):
    domain = Space(parameters).domain
    rng = np.random.default_rng(seed)
    X = rng.random((30, domain.dim))  # the GP itself converts these to points of the domain
    gp = GP(family(np.exp(rng.normal(-0.5, 1.0, domain.dim))), domain.dim, domain=domain)
    for i, x in enumerate(X):
        gp.expect(i, x)
    K = gp.correlations(X)
    np.testing.assert_allclose(K, K.T, atol=1e-12)
    assert np.linalg.eigvalsh(K).min() > -1e-9


def test_an_axis_that_neither_point_has_adds_nothing_to_their_distance():
    space = Space(MODELS)
    short = GP(Matern52([1, 1, 1e-3, 1e-3, 1e-3, 1, 1e-3]), space.dim, domain=space.domain)
    one, other = (
        space.encode(space.point({"rate": 0.1, "model": "forest", "depth": depth}))
        for depth in (3, 4)
    )
    short.expect(0, one)
    chord = 2.0 / np.pi * np.sin(np.pi / 2.0 * (one[5] - other[5]))
    np.testing.assert_allclose(short.correlations(other), Matern52(1.0)([[chord]], [[0.0]]))


def test_between_different_options_only_coordinates_on_shared_axes_matter():
    space = Space(MODELS)
    lengths = np.array([0.5, 2.0, 0.3, 1.5, 0.4, 0.6, 0.7])
    gp = GP(Matern52(lengths), space.dim, domain=space.domain)
    gp.expect(0, space.encode(space.point({"rate": 0.1, "model": "forest", "depth": 3})))
    one = {"rate": 0.01, "model": "svm", "kernel": "rbf"}
    points = [{**one, "C": C, "gamma": gamma} for C in (1e-3, 2.0, 1e3) for gamma in (0.0, 0.3, 1)]
    K = gp.correlations(np.array([space.encode(space.point(point)) for point in points]))
    # The rate is the only axis that both points have. The options of model differ, and one of the
    # points lacks kernel, C, gamma or depth, which adds a constant for each.
    constant = lengths[1] ** -2 + lengths[3] ** -2 + (lengths[[2, 4, 5]] ** -2).sum() / np.pi**2
    rates = (np.log(0.1 / 0.01) / np.log(1e4)) ** 2 / lengths[0] ** 2
    np.testing.assert_allclose(K, Matern52(1.0).of(np.full((9, 1), constant + rates)))


@given(ANY, st.integers(0, 2**32))
def test_the_gradient_is_the_derivative_of_the_posterior(parameters, seed):
    domain = Space(parameters).domain
    rng = np.random.default_rng(seed)
    kernel = Matern52(np.exp(rng.normal(0.0, 0.5, domain.dim)))
    gp = GP(kernel, domain.dim, noise=0.01, domain=domain)
    for i in range(6):
        gp.expect(i, domain.snap(rng.random(domain.dim)))
        gp.observe(i, float(rng.normal()))
    x = domain.snap(0.1 + 0.8 * rng.random(domain.dim))
    _, _, d_mu, d_sigma = gp.gradient(x)
    for i in set(range(domain.dim)) - set(domain.unordered):
        step = np.zeros(domain.dim)
        step[i] = 1e-5
        above, below = gp.posterior_at(x + step), gp.posterior_at(x - step)
        np.testing.assert_allclose(d_mu[i], (above[0] - below[0]) / 2e-5, atol=1e-3)
        np.testing.assert_allclose(d_sigma[i], (above[1] - below[1]) / 2e-5, atol=1e-3)


def test_a_point_moved_to_another_option_is_completed_with_middle_values():
    space = Space(MODELS)
    x = space.point({"rate": 0.1, "model": "svm", "C": 2.0, "kernel": "rbf", "gamma": 0.1})
    x[1] = 1.0
    assert space.params(space.completed(x)) == {"rate": 0.1, "model": "forest", "depth": 10}


def test_a_space_can_be_any_mapping_and_its_parameters_any_pair():
    class Table(Mapping):
        def __init__(self, **entries):
            self.entries = entries

        def __getitem__(self, name):
            return self.entries[name]

        def __iter__(self):
            return iter(self.entries)

        def __len__(self):
            return len(self.entries)

    space = Space(Table(a=Choice(Table(x=Table(n=Int(1, 2)), y=Table(t=(0, 1))))))
    assert space.names == ["a", "n", "t"]
