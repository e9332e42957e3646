"""Limit BLAS to one thread while a search computes.

The matrices are small, so threads that wait for each other cost more than they gain, and on a
busy machine many times more. The number of threads also changes the rounding, so that two runs
with the same seed would differ.
"""

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread inside the block, if threadpoolctl is installed."""
    return at_most(1)


def at_most(threads: int) -> AbstractContextManager[Any]:
    """Limit BLAS to this many threads inside the block, if threadpoolctl is installed."""
    controller = _controller()
    if controller is None:
        return nullcontext()
    limits: AbstractContextManager[Any] = controller.limit(limits=threads, user_api="blas")
    return limits


@cache
def kernels_in_use() -> str:
    """The BLAS libraries that are loaded, each with the processor type its routines target."""
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
