"""A fair share of the cores for the BLAS threads of each worker."""

import os

from ..blas import at_most

VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
"""Where numerical libraries look, when they are loaded, for how many threads to start."""


def fair_share(workers: int) -> int:
    """Threads for each of so many workers on this machine: together, one per core."""
    return max(1, (os.cpu_count() or 1) // workers)


def environment(threads: int) -> dict[str, str]:
    """Variables for a new process; none where the user, or a scheduler, has set one."""
    if any(name in os.environ for name in VARIABLES):
        return {}
    return dict.fromkeys(VARIABLES, str(threads))


def limit_process(threads: int) -> None:
    """Limit this process for good: what is loaded, and what will be; unless that was decided."""
    if decided := environment(threads):
        os.environ.update(decided)
        at_most(threads).__enter__()  # and never left
