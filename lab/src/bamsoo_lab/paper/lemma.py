"""Theory (b): once f is known at x, sigma(y) <= L ||x - y||, with the constant L of the kernel."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bamsoo.base.typing import Array
from bamsoo.kernels import (
    Kernel,
    Matern32,
    Matern52,
    Matern72,
    SquaredExponential,
)
from bamsoo.model.gp import GP

from ..jobs.task import Finished, Settings, Task
from .experiment import Experiment, Request
from .output import (
    Assertion,
    Output,
    claims,
    table,
)

KERNELS: tuple[type[Kernel], ...] = (SquaredExponential, Matern32, Matern52, Matern72)


def tasks(request: Request) -> list[Task]:
    """Random designs for each kernel, in one to three dimensions."""
    return [
        Task("paper.lemma:run", {"kernel": family.__name__, "dim": dim, "designs": 200}, 0.3)
        for family in KERNELS
        for dim in (1, 2, 3)
    ]


def ratio(kernel: Kernel, X: Array, Y: Array) -> float:
    """Largest sigma(y) / (L ||x - y||) over rows y of `Y`, where x is the nearest row of `X`."""
    gp = GP(kernel, X.shape[1])
    for i, x in enumerate(X):
        gp.expect(i, x)
    _, sigma = gp.posterior(Y)
    distance = np.linalg.norm(X[:, None] - Y[None], axis=2).min(0)
    return float((sigma / (kernel.lipschitz(X.shape[1]) * distance)).max())


def run(settings: Settings, context: Settings) -> dict[str, Any]:
    """The largest ratio over random designs, lengths and distances."""
    family = {k.__name__: k for k in KERNELS}[settings["kernel"]]
    dim, rng = settings["dim"], np.random.default_rng([7, settings["dim"]])
    largest = 0.0
    for _ in range(settings["designs"]):
        kernel = family(rng.uniform(0.1, 1.0, dim), rng.uniform(0.1, 10.0))
        X = rng.random((int(rng.integers(1, 12)), dim))
        step = rng.standard_normal((50, dim))
        step *= 10.0 ** rng.uniform(-2.5, 0.0, (50, 1)) / np.linalg.norm(step, axis=1)[:, None]
        largest = max(largest, ratio(kernel, X, X[rng.integers(len(X), size=50)] + step))
    return {"largest": largest}


def write(runs: Sequence[Finished], output: Output) -> str:
    """The largest ratios; the lemma says none exceeds one."""
    rows = [(r.settings["kernel"], r.settings["dim"], r.result["largest"]) for r in runs]
    output.csv("lemma", ["kernel", "dim", "largest_ratio"], rows)
    largest = max(row[2] for row in rows)
    text = "\n\n".join(
        [
            "## Theory (b): sigma(y) ≤ L ‖x − y‖ (Lemma 3)",
            "Largest σ(y) / (L ‖x − y‖) over 10,000 points y, for each kernel and dimension.",
            table(
                ["kernel", "D = 1", "D = 2", "D = 3"],
                [
                    [name, *(f"{row[2]:.4f}" for row in rows if row[0] == name)]
                    for name in dict.fromkeys(row[0] for row in rows)
                ],
            ),
            claims(
                [
                    Assertion(
                        "σ(y) ≤ L ‖x − y‖ after an evaluation at x",
                        f"largest ratio {largest:.4f}",
                        largest <= 1.0 + 1e-6,
                    )
                ]
            ),
        ]
    )
    return output.section(7, "lemma", text)


EXPERIMENT = Experiment("lemma", tasks, write)
