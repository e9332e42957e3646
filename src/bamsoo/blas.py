"""One BLAS thread while a search thinks, and a fair share of them for each worker.

The matrices are small: threads that wait for each other cost more than they bring, many times
over on a busy machine, and their number would change the rounding, so that equal runs would
not be equal.
"""

import os
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
"""Where numerical libraries look, when they are loaded, for how many threads to start."""


def one_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread inside the block, where threadpoolctl is installed."""
    return at_most(1)


def at_most(threads: int) -> AbstractContextManager[Any]:
    """Limit BLAS to so many threads inside the block, where threadpoolctl is installed."""
    controller = _controller()
    if controller is None:
        return nullcontext()
    limits: AbstractContextManager[Any] = controller.limit(limits=threads, user_api="blas")
    return limits


def fair_share(workers: int) -> int:
    """Threads for each of so many workers on this machine: together, one a core."""
    return max(1, (os.cpu_count() or 1) // workers)


def environment(threads: int) -> dict[str, str]:
    """Variables for a new process; none where the user, or a scheduler, has set one."""
    if any(name in os.environ for name in VARIABLES):
        return {}
    return dict.fromkeys(VARIABLES, str(threads))


def limit_process(threads: int) -> None:
    """Limit this process for good: what is loaded, and what will be; unless that was decided."""
    decided = environment(threads)
    os.environ.update(decided)
    if decided and (controller := _controller()) is not None:
        controller.limit(limits=threads, user_api="blas")


@cache
def kernels_in_use() -> str:
    """The BLAS libraries that are loaded, and the processors that their routines are made for."""
    controller = _controller()
    if controller is None:
        return "unknown"
    found = {
        f"{library.get('internal_api')} {library.get('architecture') or ''}".strip()
        for library in controller.info()
        if library.get("user_api") == "blas"
    }
    return ", ".join(sorted(found)) or "unknown"


@cache
def _controller() -> Any:
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()
