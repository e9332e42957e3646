"""The partition in a report is that of the tree."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from report_runs import MIXED, run

import bamsoo
from bamsoo.report import describe
from bamsoo.report.growth import cuts, oldest
from bamsoo.search.optimizer import Optimizer


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["auto", "bamsoo", "soo", "doo"])
@pytest.mark.parametrize("space", [{"x": (0, 1), "y": (-3, 7)}, MIXED], ids=["real", "mixed"])
def test_the_cuts_are_the_tree(tmp_path, algorithm, space):
    names = list(space)

    def fun(**params):
        return sum(float(v) for v in params.values() if not isinstance(v, str))

    run(tmp_path / "a.db", fun, space, 20, algorithm=algorithm)
    partition = describe(tmp_path / "a.db")["partition"]
    with bamsoo.Study.open(tmp_path / "a.db") as study:
        tree = study.result.tree
    low, high, centre = rebuilt(partition, len(names))
    assert_allclose(low, tree.low, atol=1e-12)
    assert_allclose(high, tree.high, atol=1e-12)
    assert_allclose(centre, tree.x, atol=1e-12)
    assert partition["marks"]["status"] == "".join(map(str, tree.status))
    assert partition["sizes"] == sorted(partition["sizes"])
    assert partition["sizes"][-1] == len(tree) == partition["nodes"]
    evaluated = [r for r, s in zip(*partition["marks"].values(), strict=True) if s == "1"]
    assert -1 not in evaluated  # each evaluated centre is some trial's point


def rebuilt(partition, dim):
    """The tree as the page rebuilds it from the splits."""
    low, high, centre = [np.zeros(dim)], [np.ones(dim)], [np.array(partition["root"])]
    for i, (parent, axis) in enumerate(zip(partition["cut"], partition["axis"], strict=True)):
        a, b = low[parent][axis], high[parent][axis]
        if partition["parts"] is None:
            edges = np.linspace(a, b, partition["k"] + 1)
            centres = 0.5 * (edges[1:] + edges[:-1])
        else:
            inner, centres = partition["parts"][i]
            edges = [a, *inner, b]
        for j in range(len(centres)):
            for kept, value in ((low, edges[j]), (high, edges[j + 1]), (centre, centres[j])):
                kept.append(kept[parent].copy())
                kept[-1][axis] = value
    if partition["points"] is not None:
        centre[1:] = [np.array(point) for point in partition["points"]]
    return np.array(low), np.array(high), np.array(centre)


def test_a_large_tree_keeps_its_oldest_cells(tmp_path):
    optimizer = Optimizer([(0, 1), (0, 1)], algorithm="soo")
    for _ in range(50):
        trial = optimizer.ask()
        optimizer.tell(trial, float(trial.x.sum()))
    tree = optimizer.result.tree
    assert oldest(tree, len(tree), 10**6) == len(tree)
    assert [oldest(tree, len(tree), most) for most in (18, 19, 20, 21)] == [16, 19, 19, 19]  # k = 3
    whole, part = cuts(tree, len(tree)), cuts(tree, 19)
    assert part["cut"] == whole["cut"][:6]
