"""Studies of which a report is made, or which a page follows."""

import numpy as np

import bamsoo

MIXED = {
    "x": (0, 10),
    "rate": bamsoo.Real(1e-5, 1e-1, log=True),
    "layers": bamsoo.Int(1, 12),
    "mode": bamsoo.Choice(["fast", "exact", "auto"]),
}
SPACE = {"x": (0, 10), "n": bamsoo.Int(1, 9), "mode": bamsoo.Choice(["fast", "exact"])}
NOTHING = {"trials": 0, "search": 0}  # what a page knows when it is opened


def cost(x, rate, layers, mode):
    if x > 6:
        raise RuntimeError("the solver diverged")
    return (x - 3) ** 2 + (np.log10(rate) + 3) ** 2 + abs(layers - 5) + 0.3 * (mode == "fast")


def run(path, fun, space, budget, **settings):
    maximize = settings.pop("maximize", False)
    search = bamsoo.maximize if maximize else bamsoo.minimize
    return search(fun, space, budget, study=path, on_error="fail", **settings)


def value(params):
    if params["x"] > 8:
        return None
    return (params["x"] - 3) ** 2 + abs(params["n"] - 4) + (params["mode"] == "fast")


def evaluate(study, trials, leave_out=0):
    for i in range(trials):
        trial = study.ask()
        if i < trials - leave_out:
            study.tell(trial, value(trial.params), "the solver diverged")
