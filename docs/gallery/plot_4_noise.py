"""
Noisy values
============

With ``noise="learn"`` the search treats values as measurements. What it returns is the evaluated
point with the best posterior mean, not the one with the luckiest measurement.
"""

import matplotlib.pyplot as plt
import numpy as np

import bamsoo

rng = np.random.default_rng(0)


def truth(x):
    return np.sin(3 * x) + 0.4 * (x - 1.2) ** 2


def measure(x):
    return float(truth(x) + 0.2 * rng.standard_normal())


r = bamsoo.maximize(measure, {"x": (-2.0, 3.0)}, 50, noise="learn")

# %%
# The band is what the model believes of the function itself, without the noise of a measurement.

x = np.linspace(-2, 3, 300)
mean, deviation = r.predict([{"x": float(each)} for each in x])
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.fill_between(x, mean - 2 * deviation, mean + 2 * deviation, alpha=0.25, label="model")
ax.plot(x, mean)
ax.plot(x, truth(x), "k--", linewidth=1, label="the true function")
ax.plot([p["x"] for p in r.X], r.F, ".", color="tab:gray", label="measurements")
ax.axvline(r.params["x"], color="tab:orange", label="returned")
ax.set_xlabel("x")
ax.set_ylabel("value")
ax.legend()
plt.show()
