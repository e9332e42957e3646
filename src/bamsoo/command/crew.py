"""The workers of a command's run: this process, worker processes, threads for programs, or Dask."""

import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import SettingsError
from ..run.pool import Workers
from . import process
from .target import Target

PATIENCE = 10.0
"""Seconds to wait for an answer of a Dask scheduler."""


@contextmanager
def crew(
    target: Target, directory: str, workers: int | None, scheduler: str | None
) -> Iterator[Workers]:
    """The workers that the options of a run describe, for as long as the run lasts."""
    if scheduler is not None:
        with _cluster(scheduler) as executor:
            _send_by_value(target, directory)
            yield executor if workers is None else (executor, workers)
    elif "command" in target:
        with ThreadPoolExecutor(workers or 1) as threads:  # each thread waits for its program
            try:
                yield threads
            finally:
                process.end_all()
    else:
        yield workers


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    try:
        distributed: Any = import_module("distributed")  # an optional dependency
    except ImportError:
        raise SettingsError("--scheduler needs Dask: pip install 'bamsoo[dask]'") from None
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"{address}: no Dask scheduler answers at this address ({error}); check --scheduler"
        ) from error
    try:
        yield client.get_executor(pure=False)
    finally:
        client.close()


def _send_by_value(target: Target, directory: str) -> None:
    """Send the function's module by value if it is in the run's directory.

    The workers may not have that directory.
    """
    import cloudpickle

    module = sys.modules.get(target.get("function", "").partition(":")[0])
    file = getattr(module, "__file__", None)
    if file is not None and Path(file).resolve().is_relative_to(Path(directory).resolve()):
        cloudpickle.register_pickle_by_value(module)
