"""Minimise Branin with the default algorithm, print the result, and draw the run: `make run`."""

from pathlib import Path
from time import perf_counter

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import bamsoo
from bamsoo.plotting import plot_convergence, plot_partition

BUDGET = 60
OUT = Path("out")


def main() -> None:
    branin = bamsoo.problems.branin
    began = perf_counter()
    r = bamsoo.minimize(branin, branin.bounds, BUDGET, progress=True)
    took = perf_counter() - began
    distance = np.linalg.norm(branin.optimizers - r.x, axis=1).min()
    print(f"best point        x = ({r.x[0]:.8f}, {r.x[1]:.8f})")
    print(f"value             {r.fun:.12f}   (optimum {branin.optimum:.12f})")
    print(f"distance          {r.fun - branin.optimum:.1e} in value, {distance:.1e} in x")
    print(f"evaluations       {r.nfev}, and {r.nrejected} nodes rejected without an evaluation")
    print(f"time              {took:.2f} s, {1e3 * took / r.nfev:.1f} ms per evaluation")

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    plot_convergence(left, r, branin.optimum)
    left.set_title("Branin, default settings")
    plot_partition(right, r, branin.bounds, branin.optimizers)
    OUT.mkdir(exist_ok=True)
    path = OUT / "branin.png"
    figure.savefig(path, dpi=110)
    print(f"picture           {path}")


if __name__ == "__main__":
    main()
