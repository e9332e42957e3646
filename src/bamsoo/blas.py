"""One BLAS thread while a search computes.

The matrices are small: threads that wait for each other cost more than they gain, many times
over on a busy machine. Their number would also change the rounding, so that equal runs would
not be equal.
"""

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any


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
