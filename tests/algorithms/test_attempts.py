"""Failures at a low level of a fidelity: which points climb, and which levels are left out."""

from bamsoo.algorithms.attempts import Attempts, Climbs
from bamsoo.algorithms.tree import Status


class Nodes(dict):
    """The states of some nodes, as a tree has them."""

    def status_of(self, node):
        return self[node]


def test_a_level_is_left_out_once_most_points_fail_at_it_alone():
    assert Attempts().says_little
    assert not Attempts().fails_alone
    assert Attempts(saved=1).fails_alone
    assert not Attempts(values=1, saved=2, lost=1).fails_alone
    assert not Attempts(lost=1).says_little


def test_a_node_that_failed_climbs_and_what_becomes_of_it_is_counted():
    climbs, nodes = Climbs(3), Nodes({0: Status.FAILED})
    climbs.expect(0, 0)
    assert climbs.fallen(nodes) == 0
    assert [*climbs.usable(0)] == [1, 2]
    assert climbs.fallen(nodes) is None  # nothing is out now
    nodes[0] = Status.EVALUATED
    climbs.expect(0, 1)
    assert climbs.fallen(nodes) is None
    assert [*climbs.usable(5)] == [
        1,
        2,
    ]  # level 0 fails alone
    nodes[1] = Status.FAILED
    climbs.expect(1, 2)
    assert climbs.fallen(nodes) is None  # there is nothing above the top
    assert [*climbs.usable(1)] == [1, 2]


def test_nodes_that_are_pending_do_not_hide_others():
    climbs = Climbs(2)
    nodes = Nodes({0: Status.PENDING, 1: Status.FAILED, 2: Status.FAILED})
    for node, level in ((0, 0), (1, 1), (2, 0)):
        climbs.expect(node, level)
    assert climbs.fallen(nodes) == 2
    nodes[0] = Status.FAILED
    assert climbs.fallen(nodes) == 0
    nodes |= {0: Status.FAILED, 2: Status.EVALUATED}
    climbs.expect(0, 1)
    climbs.expect(2, 1)
    assert climbs.fallen(nodes) is None
    assert [*climbs.usable(9)] == [0, 1]  # one saved, one lost: points still begin at level 0
    nodes[3] = Status.FAILED
    climbs.expect(3, 0)
    assert climbs.fallen(nodes) == 3  # and still climb
