"""What follows from one factorisation, against the dense formulas."""

import numpy as np
import pytest

from bamsoo.kernels import Matern52
from bamsoo.model.conditioned import Conditioned, Factor, drawn, stacked

RNG = np.random.default_rng(3)
X, Y, AT = RNG.random((12, 2)), RNG.normal(size=12), RNG.random((5, 2))
KERNEL = Matern52(0.4)
K, CROSS = KERNEL(X, X) + 0.01 * np.eye(12), KERNEL(AT, X)


@pytest.mark.parametrize("lower", [True, False])
def test_a_factor_solves_and_whitens(lower):
    factor = Factor.of(K, lower)
    assert factor.solve(Y) == pytest.approx(np.linalg.solve(K, Y))
    assert factor.log_root == pytest.approx(0.5 * np.linalg.slogdet(K)[1])
    white = factor.whiten(CROSS.T)
    assert white.T @ white == pytest.approx(CROSS @ np.linalg.solve(K, CROSS.T))
    assert factor.explained(CROSS) == pytest.approx((white**2).sum(0))


def test_the_inverse_is_symmetric_and_its_triangle_is_the_lower_half():
    factor = Factor.of(K)
    inverse = factor.inverse
    assert (inverse == inverse.T).all()
    assert inverse == pytest.approx(np.linalg.inv(K))
    assert np.tril(Factor.of(K).triangle()) == pytest.approx(np.tril(inverse))


def test_a_singular_matrix_has_no_factor_until_a_nugget_makes_it_possible():
    flat = np.ones((4, 4))
    assert Factor.of(flat) is None
    factor = Factor.with_nugget(flat, (0.0, 1e-3, 1.0))
    assert pytest.approx(1.0 + 1e-3 * np.eye(4)) == factor.L @ factor.L.T
    assert np.isfinite(Factor.with_nugget(np.ones((4, 4)), (0.0,)).L).all()


def test_the_evidence_and_its_slopes():
    terms = np.stack([KERNEL(X, X), np.eye(12)])

    def evidence(theta):
        return Conditioned(Factor.of(np.tensordot(theta, terms, 1)), Y)

    theta, step = np.array([1.3, 0.2]), 1e-6
    _, logdet = np.linalg.slogdet(np.tensordot(theta, terms, 1))
    alpha = np.linalg.solve(np.tensordot(theta, terms, 1), Y)
    assert evidence(theta).evidence == pytest.approx(-0.5 * (Y @ alpha + logdet))
    numeric = [
        (evidence(theta + e).evidence - evidence(theta - e).evidence) / (2 * step)
        for e in step * np.eye(2)
    ]
    assert evidence(theta).slopes(terms) == pytest.approx(numeric, rel=1e-5)


def test_leave_one_out_errors_are_those_of_leaving_each_value_out():
    known = Conditioned(Factor.of(K), Y)
    squares = []
    for i in range(len(Y)):
        rest = np.arange(len(Y)) != i
        weights = np.linalg.solve(K[np.ix_(rest, rest)], K[rest, i])
        variance = K[i, i] - weights @ K[rest, i]
        assert known.precisions[i] == pytest.approx(1.0 / variance)
        squares.append((Y[i] - weights @ Y[rest]) ** 2 / variance)
    ratio = np.sqrt(np.mean(squares))
    assert known.error_ratio(1e6) == pytest.approx(ratio)
    assert ratio > 1.5 and known.error_ratio(1.5) == 1.5
    assert Conditioned(Factor.of(K), 1e-6 * Y).error_ratio(4.0) == 1.0


def test_a_stack_of_matrices_is_the_same_one_by_one():
    many, sides = np.stack([K, K + np.eye(12)]), np.stack([CROSS.T, CROSS.T])
    solved, roots = stacked(many, sides)
    for each, side, found, root in zip(many, sides, solved, roots, strict=True):
        factor = Factor.of(each)
        assert found == pytest.approx(factor.whiten(side))
        assert root == pytest.approx(factor.log_root)


def test_draws_have_the_mean_and_the_covariance_also_if_it_is_singular():
    covariance = np.ones((3, 3))
    mean, noise = np.array([1.0, 2.0, 3.0]), np.random.default_rng(0).standard_normal((4000, 3))
    found = drawn(mean, covariance, noise)
    assert found.mean(0) == pytest.approx(mean, abs=0.1)
    assert np.cov(found.T) == pytest.approx(covariance, abs=0.1)
