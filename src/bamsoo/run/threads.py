"""A fair share of the cores for the BLAS threads of each worker."""

import os

from ..base.blas import at_most

VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
"""Environment variables that numerical libraries read, when loaded, for the number of threads."""


def fair_share(workers: int) -> int:
    """The number of threads per worker, so that all workers together have one per core."""
    return max(1, (os.cpu_count() or 1) // workers)


def environment(threads: int) -> dict[str, str]:
    """Variables for a new process; empty if the user or a scheduler has set any of them."""
    if any(name in os.environ for name in VARIABLES):
        return {}
    return dict.fromkeys(VARIABLES, str(threads))


def limit_process(threads: int) -> None:
    """Limit this process for good, unless its environment already does.

    The limit holds for libraries that are loaded now and for those loaded later.
    """
    if variables := environment(threads):
        os.environ.update(variables)
        at_most(threads).__enter__()  # never exited, so the limit stays
