"""Estimates of points that are evaluated repeatedly."""

from math import nan

import numpy as np

from bamsoo.algorithms.estimates import Estimate, Estimates


def told(estimates, ticket, estimate, value):
    estimates.expect(ticket, estimate)
    assert estimates.enter(ticket, value) is estimate


def test_the_mean_is_that_of_the_values_without_failures():
    estimates, one = Estimates(), Estimate(np.array([0.5]))
    for ticket, value in enumerate([1.0, nan, 4.0]):
        told(estimates, ticket, one, value)
    estimates.expect(9, one)
    assert (one.mean, one.count, one.failed, one.out, one.asked) == (2.5, 2, 1, 1, 4)
    assert estimates.enter(5, 1.0) is None  # nobody asked for it


def test_candidates_are_recommended_by_their_means_and_otherwise_points_with_most_values():
    estimates = Estimates()
    lucky, often, poor = (Estimate(np.array([x])) for x in (0.1, 0.5, 0.9))
    assert estimates.recommended() is None
    for ticket, (each, value) in enumerate(
        [(lucky, 9.0), (often, 2.0), (often, 2.0), (poor, 1.0), (poor, 1.0)]
    ):
        told(estimates, ticket, each, value)
    assert estimates.recommended() is often
    estimates.finalists = [poor]
    assert estimates.recommended() is poor
