"""
Algorithms compared
===================

The same budget for several algorithms on Hartmann's function in three dimensions. SOO uses only
the order of the values; BaMSOO adds the bounds of a Gaussian process with a given prior; the
default learns its prior.
"""

import matplotlib.pyplot as plt
import numpy as np

import bamsoo

hartmann3 = bamsoo.problems.hartmann3
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for name in ("random", "soo", "bamsoo", "auto"):
    r = bamsoo.minimize(hartmann3, hartmann3.bounds, 100, algorithm=name)
    regret = np.minimum.accumulate(r.F) - hartmann3.optimum
    ax.semilogy(np.arange(1, 101), np.maximum(regret, 1e-10), label=name)
ax.set_xlabel("evaluations")
ax.set_ylabel("best value minus the optimum")
ax.legend()
plt.show()
