"""
How much is left to gain
========================

``r.gap`` is the largest improvement that the model's bounds still allow. ``bamsoo.Gap`` ends a run
when that is small enough, and ``bamsoo.Stalled`` when nothing has improved for a while.
"""

import matplotlib.pyplot as plt
import numpy as np

import bamsoo

hartmann3 = bamsoo.problems.hartmann3
gaps = []
r = bamsoo.minimize(
    hartmann3,
    hartmann3.bounds,
    200,
    callback=lambda so_far: gaps.append(so_far.gap),
    stop=[bamsoo.Gap(1e-3), bamsoo.Stalled(60)],
)
print(r.message)

# %%

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
evaluations = np.arange(1, r.nfev + 1)
left = np.minimum.accumulate(r.F) - hartmann3.optimum
ax.semilogy(evaluations, np.maximum(left, 1e-9), label="really left to gain")
ax.semilogy(evaluations, np.maximum(gaps, 1e-9), label="at most, by the model's bound")
ax.axhline(1e-3, color="tab:gray", linewidth=1, linestyle="--")
ax.set_xlabel("evaluations")
ax.set_ylabel("gain")
ax.legend()
plt.show()
