"""SequOOL on an example worked out by hand, and the depth that its budget allows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from searches import told

import bamsoo
from bamsoo.algorithms.sequool import largest_h_max


def test_sequool_opens_the_cells_worked_out_by_hand():
    # f(x) = x, k = 2, h_max = 4: the root; depth 1: both cells, 3/4 first; depth 2: the best
    # two, 7/8 and 5/8; depth 3: the best of the four, 15/16; depth 4: the best of the two
    expected = [8, 24, 20, 28, 4, 12, 26, 30, 18, 22, 29, 31, 30.5, 31.5]
    opt = bamsoo.Optimizer([(0, 1)], "maximize", bamsoo.algorithms.SequOOL(k=2, h_max=4))
    asked = []
    for _ in expected:
        trial = opt.ask()
        asked.append(32 * trial.x[0])
        opt.tell(trial, trial.x[0])
    assert asked == expected


@given(st.integers(1, 5_000), st.integers(1, 9), st.integers(0, 3))
def test_the_plan_is_the_deepest_one_that_fits(budget, slope, power):
    def cost(h):
        return slope * h ** (1 + power)

    fits = [h for h in range(1, budget + 1) if cost(h) <= budget]
    assert largest_h_max(cost, budget) == max(fits, default=1)


def test_stroquool_recommends_the_best_of_those_evaluated_most_before_its_last_phase():
    # k = 2, h_max = 4: 1/4 and 3/4 four times each; then 3/8 and 5/8 or so, fewer times
    f = lambda x: {0.25: 0.1, 0.75: 0.2}.get(x[0], 9.0)
    opt = told(bamsoo.algorithms.StroquOOL(k=2, h_max=4), f, 10)
    assert (opt.result.x[0], opt.result.fun) == (0.75, 0.2)


def test_stroquool_compares_its_candidates_in_turns_and_keeps_them():
    cost = bamsoo.algorithms.sequool.noisy_plan_cost
    f = lambda x: -abs(x[0] - 0.7)
    opt = told(bamsoo.algorithms.StroquOOL(k=2, h_max=4), f, cost(4, 2))
    X = opt.result.X[:, 0].tolist()
    assert X[-3:] == X[-6:-3] == X[-9:-6] == X[-12:-9]  # p = 0, 1, 2; h_max = 4 turns
    best = opt.result.x[0]
    for _ in range(10):  # another plan explores, and has no candidates yet
        trial = opt.ask()
        opt.tell(trial, f(trial.x))
    assert opt.result.x[0] == best


def test_stroquool_planning_again_evaluates_what_is_missing_and_no_more():
    cost = bamsoo.algorithms.sequool.noisy_plan_cost
    first, f = cost(2, 2), lambda x: x[0]
    opt = told(bamsoo.algorithms.StroquOOL(k=2, h_max=2), f, first)
    for _ in range(4):  # the root with h_max = 4: two of four evaluations are there already
        trial = opt.ask()
        opt.tell(trial, f(trial.x))
    assert opt.result.X[first:, 0].tolist() == [0.25, 0.25, 0.75, 0.75]


def test_sequool_ends_when_every_point_of_a_finite_space_is_known():
    opt = bamsoo.Optimizer({"n": bamsoo.Int(0, 4)}, algorithm=bamsoo.algorithms.SequOOL(budget=9))
    for _ in range(5):
        trial = opt.ask()
        opt.tell(trial, trial.params["n"])
    with pytest.raises(bamsoo.errors.ExhaustedError, match="every point of the space"):
        opt.ask()
