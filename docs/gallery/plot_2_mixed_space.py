"""
A mixed space
=============

A learning rate over four decades, a whole number and a choice between three methods.
"""

import math

import matplotlib.pyplot as plt

import bamsoo


def loss(rate, layers, optimiser):
    penalty = {"adam": 0.0, "sgd": 0.4, "rmsprop": 0.1}[optimiser]
    return (math.log10(rate) + 3) ** 2 + 0.1 * (layers - 5) ** 2 + penalty


space = {
    "rate": bamsoo.Real(1e-5, 1e-1, log=True),
    "layers": bamsoo.Int(1, 12),
    "optimiser": bamsoo.Choice(["sgd", "rmsprop", "adam"]),
}
r = bamsoo.minimize(loss, space, 50)
print(r)

# %%
# Every evaluation is a line across all parameters; the best are drawn last and darkest.

r.plot("parallel")
plt.show()

# %%
# The model along each parameter through the best point, with a band of two deviations.

r.plot("slices")
plt.show()
