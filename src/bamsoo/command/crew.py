"""Who evaluates for the command: this process, some of its own, threads that run programs, Dask."""

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
"""Seconds a Dask scheduler has to answer."""


@contextmanager
def crew(
    target: Target, directory: str, workers: int | None, scheduler: str | None
) -> Iterator[Workers]:
    """The workers that a run's options mean, for as long as it runs."""
    if scheduler is not None:
        with _cluster(scheduler) as executor:
            _send_by_value(target, directory)
            yield executor if workers is None else (executor, workers)
    elif workers is not None and "command" in target:
        with ThreadPoolExecutor(workers) as threads:  # each waits for the program it has started
            try:
                yield threads
            finally:
                process.end_all()
    else:
        yield workers


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    try:
        distributed: Any = import_module("distributed")  # loaded where it is asked for
    except ImportError:
        raise SettingsError(
            "--scheduler needs Dask, which comes with the extra bamsoo[dask]"
        ) from None
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SettingsError(f"{address}: no Dask scheduler answers there ({error})") from error
    try:
        yield client.get_executor(pure=False)
    finally:
        client.close()


def _send_by_value(target: Target, directory: str) -> None:
    """A module of the run's own directory travels with its function: workers may not have it."""
    import cloudpickle

    module = sys.modules.get(target.get("function", "").partition(":")[0])
    file = getattr(module, "__file__", None)
    if file is not None and Path(file).resolve().is_relative_to(Path(directory).resolve()):
        cloudpickle.register_pickle_by_value(module)
