"""The climb: where its steps go, the trust region, and the edge of a failing region."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from searches import slanted

from bamsoo.algorithms.auto.climb import (
    Climb,
    ClimbConstants,
    ClimbProblem,
    Fence,
    Predicted,
    Shared,
    TrustRegion,
    _rounded,
    edge_of,
)
from bamsoo.algorithms.auto.failures import Failures
from bamsoo.algorithms.auto.local import (
    LocalModel,
    Trend,
)
from bamsoo.algorithms.auto.loop import CONSTANTS
from bamsoo.algorithms.auto.schedule import Focus, Proposal
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.search import Outcome
from bamsoo.space.axes import Continuous, Discrete, Domain, cube


def climb_of(X, f, pending=()):
    """A close climb on a cube whose values are known at these points."""
    domain, book = cube(X.shape[1]), Book()
    book.begin()
    book.receive([Outcome(None, x, (value,)) for x, value in zip(X, f.tolist(), strict=True)])
    for x in pending:
        book.expect(np.array(x))
    parts = CONSTANTS.climb, CONSTANTS.local, CONSTANTS.learning
    shared = Shared(book, CONSTANTS.climb)
    failures = Failures(domain, book, CONSTANTS.failures, CONSTANTS.learning)
    return Climb(domain, book, failures, np.random.default_rng(0), shared, False, *parts)


@pytest.mark.parametrize(("dim", "products"), [(12, False), (13, True)])
def test_trends_have_products_where_a_full_quadratic_has_more_terms_than_points(dim, products):
    climb = climb_of(np.full((1, dim), 0.5), np.zeros(1))
    assert climb._local_constants.products == products
    assert climb._local_constants.heavy > 0.0


def proposed(X, f, pending=()):
    return climb_of(X, f, pending).propose(Focus((), np.arange(len(X)), int(f.argmax())))


def test_unexplored_axes_are_probed_if_there_are_more_than_four_axes():
    X = np.full((4, 5), 0.5)
    X[1:, 0] = [0.2, 0.4, 0.8]
    f = np.array([0.0, 1.0, 3.0, 2.0])
    step = proposed(X, f)
    assert_allclose(step.x, [0.4, 0.75, 0.5, 0.5, 0.5])
    assert not step.top
    assert_allclose(proposed(X, f, [[0.4, 0.9, 0.5, 0.5, 0.5]]).x, [0.4, 0.5, 0.75, 0.5, 0.5])
    assert proposed(np.random.default_rng(0).random((4, 5)), f) is None  # too few for a model
    assert proposed(X[:, :4], f) is None


@pytest.mark.parametrize("f", [[0.0, 1.0, 3.0, 0.0], [0.0, 3.0, 3.0, 1.0]], ids=["first", "best"])
def test_a_latin_hypercube_takes_the_place_of_probes_on_a_plateau(f):
    X = np.full((4, 6), 0.5)
    X[1:, 0] = [0.2, 0.4, 0.8]
    climb, focus = climb_of(X, np.array(f)), Focus((), np.arange(4), int(np.argmax(f)))
    steps = [climb.propose(focus) for _ in range(5)]
    assert not any(step.top for step in steps)
    strata = np.sort([np.floor(5 * step.x) for step in steps], axis=0)
    assert_allclose(strata, np.arange(5)[:, None] * np.ones(6))


def test_values_that_are_equal_by_symmetry_are_no_plateau():
    X = np.full((3, 5), 0.5)
    X[1:, 0] = [0.25, 0.75]
    assert_allclose(proposed(X, np.array([1.0, 0.0, 0.0])).x, [0.5, 0.75, 0.5, 0.5, 0.5])


def test_the_climb_waits_until_points_differ_along_every_axis():
    X = np.random.default_rng(5).random((12, 3))
    f = -((X - 0.4) ** 2).sum(1)
    assert proposed(X, f) is not None
    X[:, 2] = 0.5
    assert proposed(X, f) is None


def test_the_trust_region_shrinks_after_worse_steps_and_grows_after_better_ones():
    region = TrustRegion(ClimbConstants(), 2, noisy=False)
    radii = []
    for better in [False] * 10 + [True] * 6:
        region.judge(better, region.radius, 1.0)
        radii.append(region.radius)
    assert radii[0] == 0.7
    assert radii[9] == 0.03
    assert radii[10] == 0.06
    assert radii[-1] == 1.0


def test_the_trust_region_shrinks_more_slowly_with_more_than_four_axes():
    for dim, radius in ((4, 0.7), (8, 0.7**0.5), (40, 0.7**0.1)):
        region = TrustRegion(ClimbConstants(), dim, noisy=False)
        region.judge(False, 1.0, 0.1)
        assert region.radius == pytest.approx(radius)


def test_a_strict_region_ends_before_the_step_that_failed():
    region = TrustRegion(ClimbConstants(), 10, noisy=False, strict=True)
    region.judge(False, 1.0, 0.5)
    assert region.radius == pytest.approx(0.35)
    region.judge(True, 0.35, 0.1)
    assert region.radius == pytest.approx(0.7)
    region.judge(False, 0.7, 0.7)
    assert region.radius == pytest.approx(0.49)
    noisy = TrustRegion(ClimbConstants(), 10, noisy=True, strict=True)
    noisy.judge(False, 1.0, 0.5)
    assert noisy.radius == pytest.approx(0.85)


@pytest.mark.parametrize(
    ("dim", "value", "radius"), [(10, 3.0, 0.8), (10, 2.0, 0.28), (8, 3.0, 0.28)]
)
def test_a_step_on_a_stair_with_many_axes_widens_the_region(dim, value, radius):
    X = np.random.default_rng(1).random((4, dim))
    climb = climb_of(X, np.array([0.0, 1.0, 3.0, value]))
    region = TrustRegion(ClimbConstants(), 4, noisy=False)
    region.radius = 0.4
    note = Predicted(region, 0.4, 0.1, np.empty(0), [])
    climb.judge(Proposal(X[3], note=note), better=False, row=3)
    assert region.radius == pytest.approx(radius)


def test_a_careful_region_grows_as_slowly_as_it_shrinks():
    region = TrustRegion(ClimbConstants(), 2, noisy=False, careful=True)
    region.judge(False, 1.0, 0.1)
    region.judge(False, 0.7, 0.1)
    region.judge(True, region.radius, 0.1)
    assert region.radius == pytest.approx(0.7)


def test_steps_that_were_taken_together_judge_the_trust_region_once():
    region = TrustRegion(ClimbConstants(), 2, noisy=False)
    region.radius = 0.4
    for better, radius in ((False, 0.28), (False, 0.28), (True, 0.8), (False, 0.8), (True, 0.8)):
        region.judge(better, 0.4, 0.1)
        assert region.radius == pytest.approx(radius)


def test_a_pending_step_is_not_taken_again():
    rng = np.random.default_rng(0)
    X = 0.41 + 0.05 * rng.normal(size=(40, 2))
    f = np.array([-slanted(x, 100.0) for x in X])
    top = proposed(X, f).x[None]
    length = np.linalg.norm(top - X[f.argmax()])
    assert proposed(X, f, top + 0.3 * length) is not None
    assert proposed(X, f, top + 0.1 * length) is None


def test_the_curvature_frame_makes_a_slanted_bowl_round():
    rng = np.random.default_rng(2)
    X = 0.41 + 0.05 * rng.normal(size=(40, 2))
    f = np.array([-slanted(x, 100.0) for x in X])
    climb = climb_of(X, f)
    climb.propose(Focus((), np.arange(len(X)), int(f.argmax())))
    (local,) = climb._shared.locals.values()
    hessian = np.array(
        [approx_fprime(np.full(2, 0.41), lambda x, i=i: _gradient(x)[i], 1e-5) for i in range(2)]
    )
    before = np.linalg.cond(hessian)
    after = np.linalg.cond(local._curved.T @ hessian @ local._curved)
    assert before > 50
    assert after < 5


def _gradient(x):
    return approx_fprime(x, lambda x: slanted(x, 100.0), 1e-5)


def a_model(Z):
    dim = Z.shape[1]
    return LocalModel(0.0, np.eye(dim), Z, np.ones(dim), Trend(0.0), np.zeros(len(Z)))


def test_the_edge_is_half_way_between_successes_and_failures():
    good = np.array([[0.0, 0.0], [0.5, 0.3], [0.4, -0.6]])
    edge = edge_of(
        a_model(good), np.array([[-0.2, 0.0], [-0.3, 0.8], [-0.5, -1.0]]), ClimbConstants()
    )
    at = lambda z: float(edge.w @ z + edge.b)
    assert at(np.array([-0.1, 0.0])) == pytest.approx(0.0, abs=1e-3)
    assert all(at(z) > 0 for z in good)
    assert at(np.array([-0.2, 0.0])) < 0


def test_there_is_no_edge_if_no_plane_separates_the_two_sides():
    good = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    assert edge_of(a_model(good), np.array([[0.5, 0.0]]), ClimbConstants()) is None


def test_whole_numbers_are_rounded_alike_whatever_their_order():
    # a bowl at 3.4, 6.7 and 1.2; the sum must stay below 11.3, and the real number makes up for it
    axes, at = [Discrete(10), Discrete(12), Discrete(8), None], np.array([0.39, 0.6, 0.2, 0.5])
    every = []
    for order in permutations(range(4)):
        whole = [(j, axes[i]) for j, i in enumerate(order) if axes[i] is not None]

        def score(z, order=order):
            x = z[np.argsort(order)]
            return float(((x - at) ** 2) @ [1.0, 2.0, 3.0, 0.1]) + 0.3 * float(x[0] * x[1])

        every.append(_rounded(at[list(order)], whole, score)[np.argsort(order)])
    assert_allclose(every, np.tile(every[0], (len(every), 1)))
    assert_allclose(every[0][:3] * [10, 12, 8] % 1.0, 0.5)  # centres of whole numbers
    assert every[0][3] == 0.5


class Bowl:
    """A model that is highest at 0."""

    def __init__(self, dim):
        self.S = np.eye(dim)

    def height(self, z):
        return -float(z @ z)

    def derivatives(self, z):
        return self.height(z), -2.0 * z, -2.0 * np.eye(len(z))


def linear_fence(*rows):
    """A fence of numbers a z + b, given the rows (*a, b)."""
    A = np.array(rows)
    room = lambda z: A[:, :-1] @ z + A[:, -1]
    return Fence(len(A), room, lambda z, weights: (room(z), A[:, :-1], 0.0))


def test_the_lagrangian_does_not_count_what_real_numbers_can_make_up_for():
    # maximise -(x^2 + y^2) with x + y >= 1: the solution is (.5, .5), the multiplier 1
    ends = np.zeros(2), np.ones(2)
    problem = ClimbProblem(Bowl(2), np.zeros(2), [linear_fence((1.0, 1.0, -1.0))], *ends, 30.0)
    z = problem.solve(np.array([0.9, 0.2]))
    assert_allclose(z, [0.5, 0.5], atol=1e-6)
    score = problem.lagrangian(z)
    assert score(z) == pytest.approx(0.5, abs=1e-6)
    below = np.array([0.4, 0.5])  # x is rounded down; y = .6 would make up for it
    assert score(below) == pytest.approx(0.41 + 0.1, abs=1e-5)
    assert problem.merit(below) == pytest.approx(0.41 + 30.0 * 0.1)
    assert_allclose(problem.solve(below, [0]), [0.4, 0.6], atol=1e-6)


def test_the_lagrangian_balances_tight_constraints_along_axes_that_are_not_at_an_end():
    # x + y + z >= 1.2 is tight, x <= 0.9 is not, and z is at its end 0.6: the multiplier is 0.6
    fence = linear_fence((1.0, 1.0, 1.0, -1.2), (-1.0, 0.0, 0.0, 0.9))
    low, high = np.array([0.0, 0.0, 0.6]), np.ones(3)
    problem = ClimbProblem(Bowl(3), np.zeros(3), [fence], low, high, 30.0)
    assert_allclose(problem.solve(np.array([0.8, 0.3, 0.7])), [0.3, 0.3, 0.6], atol=1e-6)
    score = problem.lagrangian(np.array([0.3, 0.3, 0.6]))
    assert score(np.array([0.2, 0.3, 0.6])) == pytest.approx(0.49 + 0.6 * 0.1)
    assert score(np.array([0.4, 0.3, 0.6])) == pytest.approx(0.61 - 0.6 * 0.1)
    assert score(np.array([1.0, 0.3, 0.6])) == pytest.approx(1.45 - 0.6 * 0.7 + 30.0 * 0.1)


@pytest.mark.parametrize("rough", [False, True])
def test_whole_numbers_are_climbed_unless_values_jump(rough):
    domain, book = Domain((Continuous(), Discrete(40))), Book()
    book.begin()
    X = np.random.default_rng(3).random((12, 2))
    X = np.array([domain.snap(x) for x in X])
    values = -((X - [0.3, 0.7125]) ** 2).sum(1)  # the second is the centre of a whole number
    book.receive([Outcome(None, x, (v,)) for x, v in zip(X, values.tolist(), strict=True)])
    shared = Shared(book, CONSTANTS.climb)
    shared.rough = rough
    failures = Failures(domain, book, CONSTANTS.failures, CONSTANTS.learning)
    parts = CONSTANTS.climb, CONSTANTS.local, CONSTANTS.learning
    climb = Climb(domain, book, failures, np.random.default_rng(0), shared, False, *parts)
    step = climb.propose(Focus((), np.arange(len(X)), int(values.argmax())))
    if rough:  # no two points agree on the whole number
        assert step is None
    else:
        assert_allclose(step.x, [0.3, 0.7125], atol=0.01)
        assert (domain.snap(step.x) == step.x).all()
