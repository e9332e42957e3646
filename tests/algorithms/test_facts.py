"""The facts of a search that its book and the parts of it share."""

import numpy as np

from bamsoo.algorithms.facts import Facts
from bamsoo.algorithms.known import Known
from bamsoo.algorithms.limits import Limits
from bamsoo.kernels import Matern52
from bamsoo.model.gp import GP
from bamsoo.space.axes import cube


def test_facts_of_constraints_are_those_of_their_models():
    known = Known(2)
    facts = Facts(limits=Limits(cube(1), known))
    assert facts.known is known and not facts.several


def test_there_is_a_transform_and_a_gp_for_each_objective():
    facts = Facts(known=Known(0, 3))
    assert facts.several and len(facts.transforms) == 3
    assert facts.gp is None
    facts.gps = [GP(Matern52(0.3), 1) for _ in range(3)]
    assert facts.gp is facts.gps[0] and facts.transform is facts.transforms[0]


def test_pending_points_are_those_without_a_value():
    facts = Facts(out={4: (np.array([0.2]), None), 7: (np.array([0.6]), 3)})
    facts.known._X = np.empty((0, 1))
    assert facts.pending.tolist() == [[0.2], [0.6]] and facts.t == 0
