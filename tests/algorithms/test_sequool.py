"""SequOOL on an example worked out by hand."""

import bamsoo


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
