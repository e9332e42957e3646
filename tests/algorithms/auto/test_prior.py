"""When the prior of the default is refitted, from which points, and how wide its bounds are."""

from dataclasses import replace

import numpy as np
from searches import auto_with, stepwise

import bamsoo
from bamsoo.algorithms.auto.loop import CONSTANTS
from bamsoo.algorithms.auto.prior import Prior
from bamsoo.algorithms.book import Book
from bamsoo.algorithms.known import Known
from bamsoo.algorithms.search import Outcome
from bamsoo.algorithms.tree import Tree
from bamsoo.space.axes import cube


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
    def fits(rows):
        _, gps, _ = stepwise(auto_with(growth=1, rows=rows), 60)
        return len({id(gp) for gp in gps})

    assert fits(5) >= 9
    assert fits(10**6) <= 6
    assert CONSTANTS.prior.most_rows == 1250


def test_the_gp_is_rebuilt_when_it_has_too_many_rows():
    opt, gps, _ = stepwise(auto_with(rows=20), 60)
    assert max(gp.known for gp in gps[30:]) <= 20 + 5 + 4
    assert opt.book.t == 60
    assert CONSTANTS.prior.rows == 1000


def told(values, count):
    """A prior and a book with this many points of a line, each with the values of a function."""
    tree, book = Tree(cube(1), 2), Book(known=Known(0, len(values(0.0))))
    prior = Prior(tree, book, True, 0.0, CONSTANTS.prior, CONSTANTS.learning)
    book.begin(tree, prior.gps)
    receive(book, values, np.linspace(0.0, 1.0, count))
    return prior, book


def receive(book, values, xs):
    book.receive([Outcome(None, np.array([x]), values(x)) for x in xs.tolist()])


def both(x):
    return -((x - 0.3) ** 2), -1e6 * abs(x - 0.8)


def test_nothing_is_learned_before_the_first_fit_and_then_when_the_values_have_grown():
    prior, book = told(both, CONSTANTS.prior.growth - 1)
    assert not prior.update()
    assert not prior.ready
    receive(book, both, np.array([0.1]))
    assert prior.update()
    assert prior.ready
    assert not prior.update()
    receive(book, both, np.array([0.41]))
    assert prior.update()
    assert prior.fits == 2


def test_each_objective_has_a_model_of_its_own_in_its_own_units():
    prior, book = told(both, 9)
    assert prior.update()
    X = np.array([[0.3], [0.8]])
    means = [book.transforms[j].inverse(prior.gps[j].posterior(X)[0]) for j in (0, 1)]
    assert means[0][0] > means[0][1]
    assert means[1][1] > means[1][0]
    assert abs(means[1]).max() > 1e3 > 1.0 > abs(means[0]).max()


def test_an_objective_with_its_best_value_at_many_points_is_not_seen_on_a_log_scale():
    def flat(x):
        return min(x, 0.5), -((x - 0.3) ** 2)

    prior, book = told(flat, 12)
    prior.update()
    assert type(book.transforms[0]).__name__ == "Linear"


def test_two_values_at_one_point_make_the_prior_learn_the_noise_at_once_and_only_once():
    rng = np.random.default_rng(0)
    prior, book = told(lambda x: (np.sin(5.0 * x) + 0.3 * rng.standard_normal(),), 12)
    assert prior.update()
    assert prior.gps[0].noise == 0.0
    assert not prior.update()
    book.unequal = 0.1, 0.4
    assert prior.update()
    assert prior.gps[0].noise > 0.0
    assert not prior.update()
