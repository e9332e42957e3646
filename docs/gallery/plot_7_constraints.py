"""
A limit that is measured
========================

The lightest beam that bears its load. Whether it does is known only after the simulation, which
returns the stress together with the weight.
"""

import matplotlib.pyplot as plt
import numpy as np

import bamsoo


def simulate(width, height):
    stress = 600 / (width * height**2)
    return width * height, {"stress": stress - 1.5, "slender": height - 4 * width}


space = {"width": (1, 10), "height": (1, 20)}
r = bamsoo.minimize(simulate, space, 50, constraints=["stress", "slender"])
print(r)

# %%
# A point is feasible where both numbers are at most 0. The best beam lies where both are 0, and the
# search approaches it from both sides.

width = np.array([x["width"] for x in r.X])
height = np.array([x["height"] for x in r.X])
figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
w, h = np.meshgrid(np.linspace(1, 10, 300), np.linspace(1, 20, 300))
worst = np.maximum(600 / (w * h**2) - 1.5, h - 4 * w)
ax.contourf(w, h, worst, levels=[-100, 0], colors=["tab:blue"], alpha=0.15)
ax.plot(width[r.feasible], height[r.feasible], "o", label="feasible")
ax.plot(width[~r.feasible], height[~r.feasible], "s", mfc="none", label="violates a constraint")
ax.plot(r.params["width"], r.params["height"], "*", ms=16, label="the best")
ax.set_xlabel("width")
ax.set_ylabel("height")
ax.legend()
plt.show()
