"""What the default does differently in different spaces."""

from dataclasses import replace

import pytest

import bamsoo
from bamsoo.algorithms.auto.regime import Regime

PLAIN = Regime(3, False, False, False)
"""A box of three real numbers, without constraints."""


def real(count):
    return {f"x{i}": (0.0, 1.0) for i in range(count)}


@pytest.mark.parametrize(
    ("space", "constraints", "expected"),
    [
        (real(3), [], (3, False, False, False)),
        ({**real(2), "n": bamsoo.Int(1, 5)}, [], (3, True, False, False)),
        (real(3), [lambda x0, x1, x2: x0 <= x1], (3, False, True, False)),
        (real(3), ["c"], (3, False, False, True)),
    ],
)
def test_it_is_read_from_the_space_and_the_constraints(space, constraints, expected):
    opt = bamsoo.Optimizer(space, constraints=constraints)
    opt.tell(opt.ask(), 1.0, constraints={"c": 1.0} if "c" in constraints else None)
    opt.ask()
    domain = replace(opt.space.domain, region=opt.constraints.region())
    assert Regime.of(domain, opt.book) == Regime(*expected)
    assert Regime(*expected).constrained == bool(constraints)


def test_the_tree_settles_in_few_dimensions_and_candidates_come_early_in_many():
    by_dim = [Regime(dim, False, False, False) for dim in range(1, 12)]
    assert [r.dim for r in by_dim if r.settles] == [1, 2, 3, 4]
    assert [r.dim for r in by_dim if r.early] == [r.dim for r in by_dim if r.costly] == [9, 10, 11]
    for other in (Regime(3, True, False, False), Regime(3, False, True, False)):
        assert PLAIN.plain
        assert not other.plain
        assert not other.settles


def test_only_under_measured_constraints_and_with_many_axes_a_climb_is_careful():
    measured = Regime(6, False, False, True)
    assert [axes for axes in range(1, 8) if measured.careful(axes)] == [5, 6, 7]
    assert not any(Regime(6, True, True, False).careful(axes) for axes in range(1, 8))


def test_whole_numbers_and_measured_constraints_begin_with_a_design():
    assert not PLAIN.designs
    assert Regime(3, False, False, True).designs
    mixed = Regime(3, True, False, False)
    assert mixed.designs and mixed.draws and mixed.jumps and mixed.early
