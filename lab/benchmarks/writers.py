"""Several processes on one study: faults, speed, catching up, and quality, on a file and a server.

    python lab/benchmarks/writers.py faults --runs 20 [--algorithms soo,bamsoo] [--backends file]
    python lab/benchmarks/writers.py speed
    python lab/benchmarks/writers.py catch-up
    python lab/benchmarks/writers.py quality
    python lab/benchmarks/writers.py table

`faults` starts eight processes on one study at the same moment, kills half of them with SIGKILL at
random moments, and restarts the server in the middle. It then checks that the budget is spent
exactly, that no point is asked for twice, that a replay asks for the same points, that every value
that was acknowledged is stored, and that each process that was left alive returned the result of
the whole study. The first violation ends it with a traceback. One line per run is appended to
`docs/parallel/writers.jsonl`, and runs that are there are not repeated. `table` prints a summary.
"""

import argparse
import heapq
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import bamsoo
from bamsoo import Study, problems

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "parallel" / "writers.jsonl"
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
PROCESSES, BUDGET = 8, 400
FORK = multiprocessing.get_context("fork")
SCALE = 0.1
"""The durations of 0.01 to 0.5 s are multiplied by this, because they only wait."""

sys.path.insert(0, str(ROOT / "tests"))


class Logged(Study):
    """A study that notes in a file what was acknowledged."""

    log: Callable[..., None]

    def tell_checked(self, trial: Any, event: Any) -> None:
        super().tell_checked(trial, event)
        self.log("told", trial.number, *event.values)


def work(address: str, log: str, algorithm: Any, seed: str) -> None:
    """One of the processes; what it notes is written at once, and so survives its death."""
    file, rng = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), random.Random(seed)

    def note(*what: Any) -> None:
        os.write(file, json.dumps(what).encode() + b"\n")

    def slow(x: Any) -> float:
        note("called", x.tolist())
        time.sleep(SCALE * rng.uniform(0.01, 0.5))
        return problems.hartmann3(x)

    box = problems.hartmann3.bounds
    with Logged.open(address, space=box, algorithm=algorithm) as study:
        study.log = note  # type: ignore[attr-defined]
        r = bamsoo.minimize(slow, box, BUDGET, algorithm=algorithm, study=study)
    note("result", r.nfev, r.fun)


@contextmanager
def places(backend: str) -> Iterator[Any]:
    """A function from a name to the address of a new study, and the server if there is one."""
    if backend == "server":
        server = import_module("postgresql").server  # a module of the tests
        with server(f"writers-{os.getpid()}") as running:
            yield running.address, running
    else:
        with tempfile.TemporaryDirectory(dir=MEMORY) as place:
            yield (lambda name: f"{place}/{name}.db"), None


def lines_of(file: Path) -> list[Any]:
    """What the processes noted; the last line of a killed one may be incomplete."""
    found = []
    for line in file.read_text().splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            found.append(["cut"])
    return found


def fault_run(backend: str, algorithm: str, seed: int, address: str, server: Any) -> dict[str, Any]:
    """One run with kills and, on a server, a restart; an AssertionError if anything is lost."""
    rng = random.Random(f"{backend} {algorithm} {seed}")
    with tempfile.TemporaryDirectory(dir=MEMORY) as place:
        log = Path(place) / "log"
        began = time.monotonic()
        given = [(address, str(log), algorithm, f"{seed} {i}") for i in range(PROCESSES)]
        processes = [FORK.Process(target=work, args=each) for each in given]
        for process in processes:
            process.start()
        victims = rng.sample(processes, PROCESSES // 2)
        moments = sorted(rng.uniform(0.05, 0.9) for _ in victims)  # as a share of the budget
        restart_at = rng.uniform(0.2, 0.8) if server is not None else 2.0
        killed = restarts = 0
        while any(each.is_alive() for each in processes):
            time.sleep(0.1)
            told = log.read_text().count('["told"') if log.exists() else 0
            if told / BUDGET >= restart_at:
                server.restart(rng.choice(["fast", "immediate"]))
                restart_at, restarts = 2.0, 1
            if victims and told / BUDGET >= moments[0]:
                moments.pop(0)
                victim = victims.pop()
                killed += victim.is_alive()
                victim.kill()
        took = time.monotonic() - began
        noted = lines_of(log)
    codes = Counter(each.exitcode for each in processes)
    assert set(codes) <= {0, -9}, codes
    with Study.open(address) as study:  # it replays
        trials, result = study.trials, study.result
        assert study.replayed.trials == len(trials)
        assert study.replayed.adopted == ()
    points = [tuple(t.params.values()) for t in trials]
    assert len(trials) == len(set(points)) == result.nfev == BUDGET
    assert {t.state for t in trials} == {"done"}
    assert all(t.value == problems.hartmann3(list(t.params.values())) for t in trials)
    acknowledged = [each[1:] for each in noted if each[0] == "told"]
    assert all(trials[number].value == value for number, value in acknowledged)
    assert len({number for number, _ in acknowledged}) == len(acknowledged)
    calls = Counter(tuple(each[1]) for each in noted if each[0] == "called")
    assert set(calls) == set(points)
    assert sum(calls.values()) <= BUDGET + killed
    ended = [each[1:] for each in noted if each[0] == "result"]
    assert len(ended) == codes[0]
    assert all(each == [BUDGET, result.fun] for each in ended)
    if backend == "file":
        assert [each.name for each in Path(address).parent.iterdir()] == [Path(address).name]
    return {
        "backend": backend,
        "algorithm": algorithm,
        "seed": seed,
        "killed": killed,
        "restarts": restarts,
        "calls": sum(calls.values()),
        "acknowledged": len(acknowledged),
        "seconds": round(took, 1),
    }


def faults(runs: int, algorithms: list[str], backends: list[str]) -> None:
    """Run with faults until there are `runs` runs of each algorithm on each backend."""
    done = defaultdict(set)
    if RESULTS.exists():
        for line in RESULTS.read_text().splitlines():
            each = json.loads(line)
            done[each["backend"], each["algorithm"]].add(each["seed"])
    with ExitStack() as stack:
        opened = {backend: stack.enter_context(places(backend)) for backend in backends}
        for seed in range(runs):
            for algorithm in algorithms:
                for backend, (address, server) in opened.items():
                    if seed in done[backend, algorithm]:
                        continue
                    study = address(f"{algorithm}-{seed}")
                    row = fault_run(backend, algorithm, seed, study, server)
                    if backend == "file":
                        Path(study).unlink()
                    with RESULTS.open("a") as file:
                        file.write(json.dumps(row) + "\n")
                    print(json.dumps(row), flush=True)


def table() -> None:
    """Print a summary of the runs with faults."""
    rows = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    print("| study | algorithm | runs | evaluations | killed | restarts | calls made twice |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for backend in ("file", "server"):
        for algorithm in ("soo", "bamsoo", "auto"):
            some = [r for r in rows if (r["backend"], r["algorithm"]) == (backend, algorithm)]
            if some:
                total = {key: sum(r[key] for r in some) for key in ("killed", "restarts", "calls")}
                twice = total["calls"] - BUDGET * len(some)
                print(
                    f"| {backend} | {algorithm} | {len(some)} | {BUDGET * len(some):,} | "
                    f"{total['killed']} | {total['restarts']} | {twice} |"
                )


# --- speed


def write_some(address: str, count: int, barrier: Any, spent: Any) -> None:
    """Ask and tell `count` times; add the processor time that it took."""
    with Study.open(address) as study:
        barrier.wait()
        began = time.process_time()
        for _ in range(count):
            study.tell(study.ask(), 1.0)
        with spent.get_lock():
            spent.value += time.process_time() - began
        barrier.wait()


def speed(total: int = 800) -> None:
    """Print asks and tells per second, and processor time per event, by number of writers."""
    print("| study | writers | asks and tells per second | processor time per event (ms) |")
    print("|---|--:|--:|--:|")
    context = multiprocessing.get_context("spawn")
    for backend in ("file", "server"):
        for writers in (1, 4, 16):
            with places(backend) as (address, _):
                name = address("speed")
                Study.open(name, space=[(0, 1)] * 2, algorithm="random").close()
                barrier, spent = context.Barrier(writers + 1), context.Value("d", 0.0)
                given = (name, total // writers, barrier, spent)
                some = [context.Process(target=write_some, args=given) for _ in range(writers)]
                for each in some:
                    each.start()
                barrier.wait()
                began = time.perf_counter()
                barrier.wait()
                took = time.perf_counter() - began
                for each in some:
                    each.join()
            events = 2 * (total // writers) * writers
            own = 1e3 * spent.value / events
            print(f"| {backend} | {writers} | {events / took:.0f} | {own:.2f} |")


def catch_up(trials: int = 500) -> None:
    """Print how long a process takes to catch up with the asks and tells of another one."""
    print("| study | algorithm | processor time to catch up with 1,000 events (s) |")
    print("|---|---|--:|")
    problem = problems.hartmann3
    for backend in ("file", "server"):
        for algorithm in ("random", "soo", "bamsoo", "auto"):
            with places(backend) as (address, _):
                name = address("late")
                with (
                    Study.open(name, space=problem.bounds, algorithm=algorithm) as one,
                    Study.open(name) as two,
                ):
                    for _ in range(trials):
                        trial = one.ask()
                        one.tell(trial, problem(trial.x))
                    began = time.process_time()
                    two.refresh()
                    took = time.process_time() - began
                    assert two.told == trials
            print(f"| {backend} | {algorithm} | {took * 500 / trials:.2f} |", flush=True)


# --- quality


def points_of(searches: list[Any], workers: int, budget: int, problem: Any, seed: int) -> list[Any]:
    """The points of a run by a virtual clock, with each worker's trials asked by its own search."""
    rng = random.Random(seed)
    clock: list[tuple[float, int, Any]] = []
    asked = 0
    for worker in range(workers):
        clock.append((rng.uniform(0.01, 0.5), worker, searches[worker % len(searches)].ask()))
        asked += 1
    heapq.heapify(clock)
    points = []
    while clock:
        now, worker, trial = heapq.heappop(clock)
        search = searches[worker % len(searches)]
        search.tell(trial, problem(trial.x))
        points.append(tuple(trial.x))
        if asked < budget:
            heapq.heappush(clock, (now + rng.uniform(0.01, 0.5), worker, search.ask()))
            asked += 1
    return points


def quality(budget: int = 80) -> None:
    """Compare eight processes with one process that has eight workers, by a virtual clock."""
    print("| problem | algorithm | runs | runs with the same points |")
    print("|---|---|--:|--:|")
    for problem in (problems.branin, problems.hartmann3, problems.hartmann6):
        for algorithm in ("soo", "bamsoo", "auto"):
            same, seeds = 0, 3
            for seed in range(seeds):
                alone = bamsoo.Optimizer(problem.bounds, algorithm=algorithm)
                one = points_of([alone], PROCESSES, budget, problem, seed)
                with places("file") as (address, _):
                    first = Study.open(address("a"), space=problem.bounds, algorithm=algorithm)
                    others = [Study.open(address("a")) for _ in range(PROCESSES - 1)]
                    studies = [first, *others]
                    eight = points_of(studies, PROCESSES, budget, problem, seed)
                    for study in studies:
                        study.close()
                same += one == eight
            print(f"| {problem.name} | {algorithm} | {seeds} | {same} |", flush=True)


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["faults", "speed", "catch-up", "quality", "table"])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--algorithms", default="soo,bamsoo,auto")
    parser.add_argument("--backends", default="file,server")
    given = parser.parse_args()
    if given.what == "faults":
        faults(given.runs, given.algorithms.split(","), given.backends.split(","))
    else:
        {"speed": speed, "catch-up": catch_up, "quality": quality, "table": table}[given.what]()


if __name__ == "__main__":
    main()
