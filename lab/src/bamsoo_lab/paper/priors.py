"""Hyper-parameters of the kernels: one set per function, the same for GP-UCB and BaMSOO.

The paper fixes them and does not say how. Here they are found in three steps:

1. evaluate the function at the first points of the Sobol sequence in the unit cube, 64 per
   dimension and rounded up to a power of two, and standardise the values (in few dimensions, many
   more points make the kernel matrix singular up to rounding, and the fitted variance too small);
2. fit a squared exponential and a Matérn 5/2 kernel, with one length scale per dimension and a
   constant mean, by `bamsoo.model.learning.fit` (maximum a posteriori) from five starting lengths;
3. keep the kernel that explains the values better, and convert its mean and variance back to the
   units of the function.

No algorithm and no knowledge of the optimum is involved. ``python -m
bamsoo_lab.paper.priors`` computes the numbers anew and writes `priors.json`.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache
from math import ceil, log2
from pathlib import Path
from typing import Any

import numpy as np

from bamsoo.base.typing import Array
from bamsoo.kernels import Kernel, Matern52, SquaredExponential
from bamsoo.problems import ALL, Problem

FAMILIES: dict[str, type[Kernel]] = {
    "SquaredExponential": SquaredExponential,
    "Matern52": Matern52,
}
_FILE = Path(__file__).with_name("priors.json")
_STARTS = (0.1, 0.2, 0.5, 1.0, 2.0)


def sample_size(dim: int) -> int:
    """How many points a prior is fitted to."""
    return 1 << ceil(log2(64 * dim))


def fit_priors(f: Callable[[Array], float], dim: int, sample: int) -> list[dict[str, Any]]:
    """Both families fitted to `f` on the unit cube, the likelier first."""
    from scipy.stats.qmc import Sobol

    from bamsoo.model.learning import fit

    X: Array = Sobol(dim, scramble=False).random(sample)
    raw = np.array([f(x) for x in X])
    shift, scale = float(raw.mean()), float(raw.std())
    starts = [np.full(dim, length) for length in _STARTS]
    priors = []
    for name, family in FAMILIES.items():
        fitted = fit(family, X, (raw - shift) / scale, starts)
        priors.append(
            {
                "family": name,
                "length": [float(f"{length:.4g}") for length in fitted.kernel.lengths(dim)],
                "variance": float(f"{fitted.kernel.variance * scale**2:.6g}"),
                "mean": float(f"{shift + scale * fitted.mean:.6g}"),
                "log_posterior": round(fitted.log_posterior, 1),
            }
        )
    return sorted(priors, key=lambda prior: -prior["log_posterior"])


def on_unit_cube(problem: Problem) -> Callable[[Array], float]:
    """The problem with its domain rescaled to [0,1]^D."""
    low, high = np.array(problem.bounds).T
    return lambda u: problem(low + u * (high - low))


@cache
def sampled(name: str, sample: int) -> tuple[dict[str, Any], ...]:
    """`fit_priors` of a test function."""
    problem = ALL[name]
    return tuple(fit_priors(on_unit_cube(problem), problem.dim, sample))


@cache
def stored() -> Mapping[str, list[dict[str, Any]]]:
    """The contents of `priors.json`: both families for each function, the likelier first."""
    priors: dict[str, list[dict[str, Any]]] = json.loads(_FILE.read_text("utf-8"))
    return priors


def kernel(prior: Mapping[str, Any]) -> Kernel:
    """The kernel that a prior describes."""
    return FAMILIES[prior["family"]](prior["length"], prior["variance"])


if __name__ == "__main__":
    fitted = {name: sampled(name, sample_size(p.dim)) for name, p in ALL.items()}
    _FILE.write_text(json.dumps(fitted, indent=1) + "\n", "utf-8")
