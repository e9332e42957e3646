"""The cost of the algorithms, as ratios measured in one run with one thread: `make bench`.

1. BaMSOO compared with GP-UCB of this project: same kernel, 200 evaluations, five functions.
2. SOO compared with scipy.optimize.direct: overhead per evaluation.
3. BaMSOO compared with only the matrix operations of its run (lab/benchmarks/limit.py).
4. The growth of BaMSOO's cost with the number of evaluations.
5. The memory of a tree with a million nodes.
"""

import resource
import subprocess
import sys
from functools import partial
from time import perf_counter

import numpy as np
from scipy.optimize import direct

import bamsoo
from bamsoo import problems
from bamsoo.algorithms.tree import Status, Tree
from bamsoo.space.axes import cube

import limit
from common import Array, fitted_prior, seconds, solve, versions


def against_gp_ucb(budget: int = 200) -> None:
    print(f"\nBaMSOO (k = 2) and GP-UCB, same prior, {budget} evaluations: seconds, log10 regret")
    print(
        f"{'':12}{'GP-UCB':>10}{'BaMSOO':>10}{'ratio':>8}{'GP-UCB':>9}{'BaMSOO':>8}{'rejected':>10}"
    )
    for problem in problems.PAPER:
        kernel, mean = fitted_prior(problem)
        found, took = [], []
        for algorithm in (
            bamsoo.algorithms.GPUCB(kernel, mean),
            bamsoo.algorithms.BaMSOO(kernel, mean),
        ):
            began = perf_counter()
            found.append(solve(problem, budget, algorithm))
            took.append(perf_counter() - began)
        regret = [np.log10(max(r.fun - problem.optimum, 1e-16)) for r in found]
        print(
            f"{problem.name:12}{took[0]:10.2f}{took[1]:10.3f}{took[0] / took[1]:8.0f}"
            f"{regret[0]:9.1f}{regret[1]:8.1f}{found[1].nrejected:10}",
            flush=True,
        )


def against_direct() -> None:
    print("\nSOO (k = 3) and scipy.optimize.direct, f(x) = sum(x): overhead per evaluation in")
    print("microseconds (without the time of the function itself)")
    print(f"{'dim':>4}{'evaluations':>13}{'direct':>9}{'SOO':>7}{'ratio':>7}")
    for dim in (2, 6):
        point = np.full(dim, 0.3)
        share = seconds(partial(repeat, point, 10_000), 5) / 10_000
        for budget in (200, 1000, 5000):
            calls = run_direct(dim, budget)
            theirs = seconds(partial(run_direct, dim, budget), 9) / calls - share
            ours = seconds(partial(run_soo, dim, budget), 9) / budget - share
            print(
                f"{dim:4}{calls:13}{theirs * 1e6:9.1f}{ours * 1e6:7.1f}{ours / theirs:7.2f}",
                flush=True,
            )


def cheap(x: Array) -> float:
    return float(x.sum())


def repeat(x: Array, times: int) -> None:
    for _ in range(times):
        cheap(x)


def run_direct(dim: int, budget: int) -> int:
    r = direct(
        cheap,
        [(0.0, 1.0)] * dim,
        maxfun=budget,
        maxiter=10**6,
        vol_tol=0,
        len_tol=0,
        locally_biased=False,
    )
    return int(r.nfev)


def run_soo(dim: int, budget: int) -> None:
    bamsoo.minimize(cheap, [(0.0, 1.0)] * dim, budget, algorithm=bamsoo.algorithms.SOO(k=3))


def growth() -> None:
    print("\nBaMSOO on Hartmann6 with more and more evaluations")
    print(f"{'evaluations':>12}{'seconds':>9}{'nodes':>8}{'us per node':>12}")
    kernel, mean = fitted_prior(problems.hartmann6)
    counts, times = [250, 500, 1000, 2000], []
    for budget in counts:
        began = perf_counter()
        r = solve(problems.hartmann6, budget, bamsoo.algorithms.BaMSOO(kernel, mean))
        times.append(perf_counter() - began)
        print(f"{budget:12}{times[-1]:9.2f}{len(r.tree):8}{1e6 * times[-1] / len(r.tree):12.0f}")
    slope = np.polyfit(np.log(counts), np.log(times), 1)[0]
    print(f"fitted: seconds grow as evaluations^{slope:.2f}")


def memory(nodes: int = 1_000_000) -> None:
    tree = Tree(cube(6), 3)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rng = np.random.default_rng(0)
    tree.set(0, 0.0, Status.EVALUATED)
    while len(tree) < nodes:
        for h in tree.sweep(20):
            leaf = tree.best_leaf(h)
            if leaf is not None:
                for child in tree.split(leaf):
                    if tree.is_new(child):
                        tree.set(child, rng.random(), Status.EVALUATED)
    used = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"\nA tree of {len(tree):,} nodes in 6-D, k = 3: {used:.0f} MB at its peak")


if __name__ == "__main__" and sys.argv[1:] == ["memory"]:
    memory()
elif __name__ == "__main__":
    print(versions())
    against_gp_ucb()
    against_direct()
    print()
    limit.main()
    growth()
    # in a separate process, so that its peak memory is that of the tree
    subprocess.run([sys.executable, __file__, "memory"], check=True)
