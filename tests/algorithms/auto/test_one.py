"""What the search for one best value asks of a cell."""

from types import SimpleNamespace

import numpy as np
import pytest

from bamsoo import Choice, Int, Real
from bamsoo.algorithms.auto.loop import CONSTANTS
from bamsoo.algorithms.auto.one import One
from bamsoo.algorithms.auto.worth import Width
from bamsoo.space import Space


def rules(domain, patience=100, **more):
    """The rules of a search that knows only what is given here."""
    known = SimpleNamespace(count=more.pop("measured", 0))
    book = SimpleNamespace(
        t=more.pop("t", 0), known=known, limits=known if known.count else None, f_plus=0.0
    )
    book.learn_limits = lambda width: None
    prior = SimpleNamespace(
        calibrations=np.array([2.0]), update=lambda: False, rough=False, ready=True
    )
    demand = SimpleNamespace(least=more.pop("least", -np.inf), goal=lambda: 0.0)
    schedule = SimpleNamespace(evaluated=None, rejected=None, forces=lambda patience: False)
    parts = domain, None, book, np.random.default_rng(0), prior, demand, schedule
    width = Width(0.5, 0.05)
    return One(*parts, SimpleNamespace(rough=True), width, patience, True, CONSTANTS.loop)


SPACE = {"a": Int(0, 9), "b": Real(0, 1), "c": Choice(["x", "y"])}


@pytest.mark.parametrize(
    ("space", "measured", "count"), [([(0, 1)] * 3, 0, 0), ([(0, 1)] * 3, 1, 5), (SPACE, 0, 3)]
)
def test_a_design_comes_first_where_models_need_points_that_differ(space, measured, count):
    assert len(list(rules(Space(space).domain, measured=measured).design())) == count


@pytest.mark.parametrize(
    ("t", "measured", "expected"), [(10, 0, 100), (1000, 0, 10), (1000, 3, 2), (10**6, 0, 1)]
)
def test_fewer_nodes_are_rejected_in_a_row_as_bounds_cost_more(t, measured, expected):
    found = rules(Space([(0, 1)]).domain, t=t, measured=measured)
    found.begin()
    assert found._patience == expected


@pytest.mark.parametrize(
    ("upper", "least", "dull", "worth"),
    [(0.1, -np.inf, False, True), (-0.1, -np.inf, False, False), (0.1, 0.2, False, False),
     (0.1, -np.inf, True, False)],
)  # fmt: skip
def test_a_cell_is_worth_an_evaluation_if_its_bound_reaches_what_is_wanted(
    upper, least, dull, worth
):
    found = rules(Space([(0, 1)]).domain, least=least)
    found.begin()
    asked = []
    found.posterior = SimpleNamespace(bounds=lambda i, width: asked.append(width) or (-1.0, upper))
    found._ahead = SimpleNamespace(can_meet=lambda i: True, grade=lambda i, lcb: lcb)
    found._dull = [dull]
    assert found.judge(0, 1) == (worth, -1.0)
    assert asked == [2.0 * Width(0.5, 0.05).now]  # sigma is calibrated
