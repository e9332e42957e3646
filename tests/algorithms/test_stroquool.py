"""StroquOOL: what it recommends, and how it plans again."""

from searches import told

import bamsoo


def test_stroquool_recommends_the_best_of_those_evaluated_most_before_its_last_phase():
    # k = 2, h_max = 4: 1/4 and 3/4 four times each; then 3/8 and 5/8 or so, fewer times
    f = lambda x: {0.25: 0.1, 0.75: 0.2}.get(x[0], 9.0)
    opt = told(bamsoo.algorithms.StroquOOL(k=2, h_max=4), f, 10)
    assert (opt.result.x[0], opt.result.fun) == (0.75, 0.2)


def test_stroquool_compares_its_candidates_in_turns_and_keeps_them():
    cost = bamsoo.algorithms.stroquool.plan_cost
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
    cost = bamsoo.algorithms.stroquool.plan_cost
    first, f = cost(2, 2), lambda x: x[0]
    opt = told(bamsoo.algorithms.StroquOOL(k=2, h_max=2), f, first)
    for _ in range(4):  # the root with h_max = 4: two of four evaluations are there already
        trial = opt.ask()
        opt.tell(trial, f(trial.x))
    assert opt.result.X[first:, 0].tolist() == [0.25, 0.25, 0.75, 0.75]
