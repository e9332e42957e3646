"""The default algorithm: its parts one by one, and the guarantees of the whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

import bamsoo
from bamsoo.algorithms.auto.climb import Climb, ClimbConstants, Shared, TrustRegion
from bamsoo.algorithms.auto.failures import Failures
from bamsoo.algorithms.auto.local import (
    Local,
    LocalConstants,
    Model,
    UpperBound,
    covariance,
    curvature_frame,
)
from bamsoo.algorithms.auto.loop import CONSTANTS
from bamsoo.algorithms.auto.schedule import Focus, Pending, Schedule, Step, Turns
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.search import Outcome
from bamsoo.algorithms.tree import Status
from bamsoo.model.learning import (
    Evidence,
    Track,
    fit,
    representative,
)
from bamsoo.model.prior import PriorConstants, leave_one_out_ratio
from bamsoo.model.warp import candidates
from bamsoo.space.axes import cube


def slanted(x, condition=1e4):
    """A narrow valley across the axes, lowest at 0.41 in each."""
    dim = len(x)
    axes = np.linalg.qr(np.random.default_rng(dim).normal(size=(dim, dim)))[0]
    z = axes @ (np.asarray(x) - 0.41)
    return float(z @ (np.logspace(0, np.log10(condition), dim) * z))


@pytest.mark.parametrize("dim", [2, 3])
def test_it_finds_the_bottom_of_a_slanted_valley(dim):
    r = bamsoo.minimize(slanted, [(0, 1)] * dim, 40 * dim)
    assert r.fun < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("problem", bamsoo.problems.PAPER, ids=lambda problem: problem.name)
def test_it_finds_the_optima_of_the_paper(problem):
    r = bamsoo.minimize(problem, problem.bounds, 150)
    assert r.fun - problem.optimum < 1e-5


@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=30, unique=True),
    extra=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=5, unique=True),
)
def test_transforms_never_change_the_order_of_values(values, extra):
    for transform, log_slope in candidates(np.array(values), PriorConstants().bends):
        assert np.isfinite(log_slope)
        everything = np.sort([*values, *extra])
        moved = np.array([transform(v) for v in everything.tolist()])
        assert np.all(np.diff(moved) >= 0)  # strictly increasing, except for rounding
        of_values = np.array([transform(v) for v in values])
        assert_allclose(of_values.mean(), 0, atol=1e-6)
        assert_allclose(of_values.std(), 1, rtol=1e-6)


def test_the_slopes_of_transforms_are_their_derivatives():
    values = np.array([-3.0, -1.0, 0.5, 2.0, 7.0])
    found = list(candidates(values, PriorConstants().bends))
    assert len(found) == 4
    for transform, log_slope in found:
        step = 1e-6
        slopes = [(transform(v + step) - transform(v - step)) / (2 * step) for v in values]
        # up to a factor that all slopes have in common, the largest value
        assert log_slope - 5 * np.log(7.0) == pytest.approx(np.log(slopes).sum(), abs=1e-5)


def test_constant_values_are_not_warped():
    assert len(list(candidates(np.full(6, 3.0), PriorConstants().bends))) == 1


def test_leave_one_out_errors_equal_those_of_leaving_each_point_out():
    rng = np.random.default_rng(0)
    X = rng.random((20, 2))
    y = np.sin(6 * X).sum(1) + 3 * rng.normal(size=20)
    y = (y - y.mean()) / y.std()
    fitted = fit(bamsoo.SquaredExponential, X, y, [np.full(2, 0.5)])
    ratios = []
    for i in range(20):
        rest = [j for j in range(20) if j != i]
        K = fitted.kernel(X[rest], X[rest]) + 1e-8 * fitted.kernel.variance * np.eye(19)
        k = fitted.kernel(X[rest], X[i])[:, 0]
        mu = fitted.mean + k @ np.linalg.solve(K, y[rest] - fitted.mean)
        variance = fitted.kernel.variance * (1 + 1e-8) - k @ np.linalg.solve(K, k)
        ratios.append((y[i] - mu) ** 2 / variance)
    expected = np.sqrt(np.clip(np.mean(ratios), 1, 16))
    assert leave_one_out_ratio(fitted, X, y, [], 4.0) == pytest.approx(expected, rel=1e-6)


def test_a_fit_uses_all_of_a_few_points_and_of_many_the_best_and_a_spread():
    line = np.linspace(0, 30, 1000)[:, None]
    assert representative(line[:50], np.arange(50.0)) == list(range(50))
    chosen = representative(line, np.arange(1000.0))
    assert len(chosen) == 200
    assert set(range(900, 1000)) <= set(chosen)
    assert min(chosen) == 0


def test_a_fit_uses_only_the_best_of_points_close_together():
    X = np.array([[0.5, 0.5], [0.51, 0.5], [0.5, 0.519], [0.5, 0.9], [0.1, 0.1]])
    assert representative(X, np.array([1.0, 3.0, 2.0, 0.0, -1.0])) == [1, 3, 4]


def climb_of(X, f, pending=()):
    """A close climb on a cube whose values are known at these points."""
    domain, book = cube(X.shape[1]), Book()
    book.begin()
    book.receive([Outcome(None, x, value) for x, value in zip(X, f.tolist(), strict=True)])
    for x in pending:
        book.expect(np.array(x))
    parts = CONSTANTS.climb, CONSTANTS.local, CONSTANTS.learning
    shared = Shared(book, CONSTANTS.climb)
    failures = Failures(domain, book, CONSTANTS.failures, CONSTANTS.learning)
    return Climb(domain, book, failures, np.random.default_rng(0), shared, False, *parts)


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


def test_the_climb_waits_until_points_differ_along_every_axis():
    X = np.random.default_rng(5).random((12, 3))
    f = -((X - 0.4) ** 2).sum(1)
    assert proposed(X, f) is not None
    X[:, 2] = 0.5
    assert proposed(X, f) is None


def test_the_trust_region_shrinks_after_worse_steps_and_grows_after_better_ones():
    region = TrustRegion(ClimbConstants(), noisy=False)
    radii = []
    for better in [False] * 10 + [True] * 6:
        region.judge(better)
        radii.append(region.radius)
    assert radii[0] == 0.7
    assert radii[9] == 0.03
    assert radii[10] == 0.06
    assert radii[-1] == 1.0


class Scripted:
    """A proposer whose steps go to fixed points of a line, one after another."""

    def __init__(self, start):
        self.start, self.asked, self.judged = start, 0, []

    def propose(self, focus):
        self.asked += 1
        return Step(np.array([(self.start + self.asked) / 1000.0]))

    def judge(self, step, better, row):
        self.judged.append(better)


def scheduled(dim=1, count=3):
    """A schedule of scripted proposers on a book with one value."""
    book = Book()
    book.begin()
    book.receive([Outcome(None, np.full(1, 0.999), 0.0)])
    proposers = [Scripted(100 * i) for i in range(count)]
    return Schedule(cube(dim), book, proposers, CONSTANTS.schedule), book, proposers


def take(schedule, book, value):
    """Take a step and tell its value; returns the index of its proposer."""
    search = schedule._step()
    x = next(search)
    with pytest.raises(StopIteration):
        search.send([Outcome(book.latest, x, value)])
    schedule.judge()
    return int(x[0] * 1000) // 100


def test_a_climb_goes_on_while_it_improves_and_then_it_is_the_next_ones_turn():
    schedule, book, _ = scheduled()
    values = [1.0, 2.0, 0.0, 3.0, 0.0, 0.0, 0.0]
    assert [take(schedule, book, value) for value in values] == [0, 0, 0, 1, 1, 0, 1]


def test_candidates_wait_until_all_climbs_have_failed_since_the_last_success():
    turns = Turns(2, 3.0)

    def taken(count, improving=()):
        """The proposers of the next steps, of which some improve."""
        found = []
        for _ in range(count):
            found.append(turns.order(False)[0])
            turns.count(found[-1], found[-1] in improving)
        return found

    assert taken(7) == [0, 1, 0, 1, 0, 1, 2]
    assert taken(3) == [0, 1, 2]
    assert taken(1, improving=[0]) == [0]
    assert taken(7) == [0, 1, 0, 1, 0, 1, 2]
    assert taken(4, improving=[2]) == [0, 1, 2, 0]  # a candidate that improves does not go on


@pytest.mark.parametrize(("dim", "otherwise"), [(4, 1.0), (5, 1 / 3)])
def test_steps_are_more_frequent_after_an_improvement_and_rarer_after_many_failures(dim, otherwise):
    schedule, book, _ = scheduled(dim)
    assert schedule.every == otherwise
    take(schedule, book, 1.0)
    assert schedule.every == 1 / 3
    for _ in range(4 * (dim + 1)):
        take(schedule, book, -1.0)
        assert schedule.every == otherwise
    for _ in range(10):
        take(schedule, book, -1.0)
    assert schedule.every == pytest.approx(32 * otherwise)


def test_a_step_is_judged_when_its_own_value_arrives():
    schedule, book, proposers = scheduled()
    steps = [Pending(Step(np.full(1, x)), 0, 0, ()) for x in (0.1, 0.2)]
    schedule._turns[()] = Turns(2, 2.0)
    for pending in steps:
        schedule._pending[book.expect(pending.step.x)] = pending
    book.receive([Outcome(0, np.full(1, 0.1), 5.0)])
    schedule.judge()
    assert proposers[0].judged == [True]
    assert list(schedule._pending) == [1]
    book.receive([Outcome(1, np.full(1, 0.2), np.nan)])
    schedule.judge()
    assert proposers[0].judged == [True, False]
    assert not schedule._pending


def test_the_local_model_takes_logarithms_of_peaks_on_a_plain_but_not_of_bowls():
    X = np.random.default_rng(3).uniform(-1, 1, size=(25, 2))
    squares = (X**2).sum(1)
    local = Local(2, LocalConstants())
    view, points = 8, local._framed(np.eye(2), X, None)
    peak, bowl = 1.0 / (squares + 0.02), -squares
    standard = lambda v: (v - v.mean()) / v.std()
    assert_allclose(local._unbent(view, points, bowl), standard(bowl))
    unbent = local._unbent(view, points, peak)
    assert np.all(np.argsort(unbent) == np.argsort(peak))
    assert unbent.max() < standard(peak).max()
    assert not np.allclose(unbent, standard(peak))


def test_a_track_reaches_the_result_of_a_fit():
    rng = np.random.default_rng(0)
    X = rng.random((30, 2))
    y = np.sin(5 * X[:, 0]) + 0.3 * X[:, 1]
    y = (y - y.mean()) / y.std()
    track = Track(2, 0.5)
    evidence = Evidence(bamsoo.SquaredExponential(1.0), X, y)
    for _ in range(20):
        value, lengths, _, _ = track.follow(evidence, 4)
    best = fit(bamsoo.SquaredExponential, X, y, [np.full(2, 0.5)])
    assert value == pytest.approx(best.log_posterior, abs=1e-2)
    assert_allclose(lengths, best.kernel.lengths(2), rtol=0.05)


def test_a_pending_step_is_not_taken_again():
    rng = np.random.default_rng(2)
    X = 0.41 + 0.05 * rng.normal(size=(40, 2))
    f = np.array([-slanted(x, 100.0) for x in X])
    top = proposed(X, f)
    assert top.top
    out = top.x[None]
    assert proposed(X, f, out + 0.3).top
    length = np.linalg.norm(top.x - X[f.argmax()])
    others = 0
    while (other := proposed(X, f, out)) is not None:  # each goes to a different place
        assert not other.top
        assert np.linalg.norm(out - other.x, axis=1).min() > 0.01 * length
        out, others = np.vstack([out, other.x]), others + 1
    assert 1 <= others < 20  # until the model is certain of all that is left


def a_model(dim=3, tau=0.0):
    rng = np.random.default_rng(1)
    return Model(0.0, np.eye(dim), rng.normal(size=(8, dim)), rng.uniform(0.5, 2, dim),
                 tau, rng.normal(size=8), 0.7, np.zeros(8))  # fmt: skip


@pytest.mark.parametrize("tau", [0.0, 1.0])
def test_the_upper_bound_is_that_of_a_gp_that_knows_the_pending_points(tau):
    model, z = a_model(tau=tau), np.array([0.1, -0.2, 0.3])
    pending = np.random.default_rng(4).normal(size=(3, 3))
    bound = UpperBound(model, pending, 2.0)
    Z = np.vstack([model.Z, pending, z])
    K = covariance(Z, model.lengths, tau)
    variance = K[-1, -1] - K[-1, :-1] @ np.linalg.solve(K[:-1, :-1], K[:-1, -1])
    value, gradient = bound.value(z)
    assert value == pytest.approx(model.value(z)[0] + 2.0 * np.sqrt(0.7 * variance), rel=1e-6)
    assert_allclose(gradient, approx_fprime(z, lambda z: bound.value(z)[0], 1e-7), atol=1e-5)
    for known in Z[:-1]:
        assert bound.value(known)[0] == pytest.approx(model.value(known)[0], abs=1e-4)


def test_the_upper_bound_is_above_the_mean_at_points_with_noisy_values():
    model = a_model()._replace(noise=np.full(8, 0.5))
    bound = UpperBound(model, np.empty((0, 3)), 2.0)
    K = covariance(model.Z, model.lengths, 0.0)
    variances = np.diag(K - K @ np.linalg.solve(K + 0.5 * np.eye(8), K))
    for z, variance in zip(model.Z, variances, strict=True):
        assert bound.value(z)[0] == pytest.approx(model.value(z)[0] + 2.0 * np.sqrt(0.7 * variance))


@pytest.mark.parametrize("tau", [0.0, 1.0])
def test_the_derivatives_of_a_local_model_equal_finite_differences(tau):
    model, z = a_model(tau=tau), np.array([0.1, -0.2, 0.3])
    value, gradient = model.value(z)
    assert_allclose(gradient, approx_fprime(z, lambda z: model.value(z)[0], 1e-7), atol=1e-5)
    numeric = np.array([approx_fprime(z, lambda z, i=i: model.value(z)[1][i]) for i in range(3)])
    assert_allclose(model.hessian(z), numeric, atol=1e-5)
    assert np.isfinite(value)


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


def test_a_flat_model_does_not_turn_the_frame():
    model = a_model()._replace(alpha=np.zeros(8))
    assert_allclose(
        np.abs(curvature_frame(model, np.zeros(3), LocalConstants())), np.eye(3), atol=1e-12
    )


def test_a_frame_that_is_too_skewed_is_dropped():
    model = a_model()._replace(S=np.diag([1.0, 1e-9, 1.0]))
    assert curvature_frame(model, np.zeros(3), LocalConstants()) is None


def test_at_least_every_fourth_evaluation_is_in_the_tree():
    f = bamsoo.problems.hartmann6
    opt = bamsoo.Optimizer(f.bounds)
    for _ in range(120):
        trial = opt.ask()
        opt.tell(trial, f(trial.x))
    tree = opt.result.tree
    centres = np.unique(tree.x[tree.status == Status.EVALUATED], axis=0)
    assert len(centres) >= 29


def test_the_search_on_a_draw_from_a_gp_never_stops_expanding():
    rng = np.random.default_rng(4)
    W, b = rng.normal(size=(200, 2)) / 0.2, rng.uniform(0, 2 * np.pi, 200)
    draw = lambda x: float(np.cos(W @ x + b).sum() / 10)
    opt = bamsoo.Optimizer([(0, 1)] * 2, "maximize")
    progress = []  # the shallowest depth with leaves, and minus the number of leaves there
    for i in range(240):
        trial = opt.ask()
        opt.tell(trial, draw(trial.x))
        if i % 60 == 59:
            depths = [opt.result.tree.depth[leaf] for leaf in opt.result.tree.leaves()]
            progress.append((min(depths), -depths.count(min(depths))))
    assert progress == sorted(set(progress))


def test_parts_can_be_switched_off():
    f = bamsoo.problems.branin
    plain = bamsoo.minimize(f, f.bounds, 60, algorithm=bamsoo.Auto(local=False, warp=False))
    full = bamsoo.minimize(f, f.bounds, 60)
    tree = plain.tree
    assert len(np.unique(tree.x[tree.status == Status.EVALUATED], axis=0)) == 60
    assert full.fun < plain.fun
