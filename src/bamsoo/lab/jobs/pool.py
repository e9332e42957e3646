"""Run tasks on several cores, keep each result as it comes, and say how long it will take."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.progress import TimeElapsedColumn as Elapsed
from rich.progress import TimeRemainingColumn as Remaining

from .store import Store
from .task import Run, Task

_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def perform(
    tasks: Sequence[Task], store: Store, jobs: int, advance: Callable[[float], object]
) -> list[Run]:
    """Results of all tasks, in their order; those in the store already are not run again.

    Parameters
    ----------
    tasks : sequence of Task
    store : Store
    jobs : int
        Processes. Each computes on one thread: that is faster here, and fair to time.
    advance : callable
        Told the cost of every task that is done.
    """
    results: dict[int, dict[str, Any]] = {}
    for i, task in enumerate(tasks):
        if (known := store.get(task)) is not None:
            results[i] = known
            advance(task.cost)
    todo = [i for i in range(len(tasks)) if i not in results]
    if todo:
        with _workers(min(jobs, len(todo))) as pool:
            futures: dict[Future[dict[str, Any]], int] = {
                pool.submit(tasks[i].run): i for i in todo
            }
            for future in as_completed(futures):
                i = futures[future]
                results[i] = store.put(tasks[i], future.result())
                advance(tasks[i].cost)
    return [Run(task.settings, results[i]) for i, task in enumerate(tasks)]


@contextmanager
def _workers(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """A pool whose processes have one thread for linear algebra and outlive nobody."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))  # read when a worker loads numpy
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _end_with_parent)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _end_with_parent() -> None:
    """Leave when the parent is gone: a killed reproduction leaves no worker behind."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


@contextmanager
def progress_bar(total: float, console: Console) -> Iterator[Callable[[float], object]]:
    """A bar over the summed cost of the tasks, with the time gone and the time left."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        Elapsed(),
        TextColumn("left:"),
        Remaining(),
    )
    with Progress(*columns, console=console, speed_estimate_period=300) as bar:
        line = bar.add_task("runs", total=total)
        yield lambda cost: bar.advance(line, cost)
