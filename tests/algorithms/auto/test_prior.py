"""When the prior of the default is refitted, from which points, and how wide its bounds are."""

from dataclasses import replace

import numpy as np
from searches import auto_with, stepwise

import bamsoo
from bamsoo.algorithms.auto.loop import CONSTANTS


def test_leave_one_out_errors_widen_the_bounds():
    rugged = lambda x: float(np.sin(40 * x[0]) * np.cos(35 * x[1]) + x[0])
    sure = bamsoo.algorithms.Auto(
        constants=replace(CONSTANTS, prior=replace(CONSTANTS.prior, widest=1.0)), local=False
    )
    calibrated = bamsoo.algorithms.Auto(local=False)
    space = [(0, 1)] * 2
    one, other = (bamsoo.minimize(rugged, space, 60, algorithm=a).X for a in (sure, calibrated))
    assert not np.array_equal(one, other)


def test_the_prior_is_refitted_after_the_longest_gap_at_the_latest():
    def fits(longest_gap):
        _, gps, _ = stepwise(auto_with(growth=1, longest_gap=longest_gap), 60)
        return len({id(gp) for gp in gps})

    assert fits(5) >= 9
    assert fits(10**6) <= 6
    assert CONSTANTS.refit.longest_gap == 250


def test_the_gp_is_rebuilt_when_it_has_too_many_rows():
    opt, gps, _ = stepwise(auto_with(rows=20, longest_gap=5), 60)
    assert max(gp.known for gp in gps[30:]) <= 20 + 5 + 4
    assert opt.book.t == 60
    assert CONSTANTS.refit.rows == 1000
