"""
Evaluations that fail
=====================

The solver diverges in a part of the space, and the optimum lies close to its edge. The search
learns where evaluations fail and keeps away from there.
"""

import matplotlib.pyplot as plt

import bamsoo


def simulate(step, damping):
    if step > 0.6 + 0.3 * damping:
        raise RuntimeError("the solver diverged")
    return (damping - 0.3) ** 2 + (0.7 - step) ** 2


r = bamsoo.minimize(simulate, {"step": (0, 1), "damping": (0, 1)}, 60, on_error="fail")
print(f"{r.nfailed} of {r.nfev} evaluations failed; best value {r.fun:.2g} at {r.params}")

# %%

r.plot("failures")
plt.show()
