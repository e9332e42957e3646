"""Run tasks on several cores, store each result as it arrives, and estimate the remaining time."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.progress import TimeElapsedColumn as Elapsed
from rich.progress import TimeRemainingColumn as Remaining

from .store import Store
from .task import Finished, Task

_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Batch:
    """Tasks that share a pool of processes; timed tasks have a batch of their own."""

    tasks: Sequence[Task]
    processes: int


def perform(batches: Sequence[Batch], store: Store, console: Console) -> list[list[Finished]]:
    """Run batches one after the other and return their finished tasks, in the order given.

    Tasks that are already in the store are not run again. Every new result is stored when it
    arrives, so that after an interruption the same call continues where it stopped.
    """
    if store.stale:
        console.print(
            f"{store.stale:,} stored run{'s' if store.stale > 1 else ''} in {store.folder} "
            f"{'were' if store.stale > 1 else 'was'} made by another state of the source: "
            f"{'they are' if store.stale > 1 else 'it is'} kept, but not used.",
            highlight=False,
            soft_wrap=True,
        )
    total = sum(task.cost for batch in batches for task in batch.tasks)
    with _progress_bar(total, console) as advance:
        return [perform_batch(batch, store, advance) for batch in batches]


def perform_batch(batch: Batch, store: Store, advance: Callable[[float], object]) -> list[Finished]:
    """Run the tasks of a batch that are not in the store; return all of them, in their order.

    Each process computes on one thread, which is faster for small matrices and makes times
    comparable. `advance` is called with the cost of every task that is done.
    """
    tasks = batch.tasks
    done: dict[int, Finished] = {}
    for i, task in enumerate(tasks):
        if (known := store.get(task)) is not None:
            done[i] = known
            advance(task.cost)
    todo = [i for i in range(len(tasks)) if i not in done]
    if todo:
        with _workers(min(batch.processes, len(todo))) as pool:
            futures: dict[Future[dict[str, Any]], int] = {
                pool.submit(tasks[i].run): i for i in todo
            }
            for future in as_completed(futures):
                i = futures[future]
                done[i] = store.put(tasks[i], future.result())
                advance(tasks[i].cost)
    return [done[i] for i in range(len(tasks))]


@contextmanager
def _workers(processes: int) -> Iterator[ProcessPoolExecutor]:
    """A pool whose processes use one thread for linear algebra and end with their parent."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))  # read when a worker loads numpy
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _end_with_parent)
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
    """End this process when its parent is gone, so that a killed command leaves none behind."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


@contextmanager
def _progress_bar(total: float, console: Console) -> Iterator[Callable[[float], object]]:
    """A bar over the summed cost of the tasks, with the time elapsed and the time left."""
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
