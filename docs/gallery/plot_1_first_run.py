"""
A first run
===========

Branin has three optima of the same value. The default finds one of them to four digits within sixty
evaluations.
"""

import matplotlib.pyplot as plt

import bamsoo

branin = bamsoo.problems.branin
r = bamsoo.minimize(branin, branin.bounds, 60)
print(r)

# %%
# The tree cuts the space into cells. Small cells are where it spent its evaluations. Crosses are
# points that the bounds of the Gaussian process rejected without an evaluation.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
r.plot("convergence", ax=left, optimum=branin.optimum)
r.plot("partition", ax=right)
plt.show()
