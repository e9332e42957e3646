"""Run the fault tests for a long time: kills, interrupts, damage, stale files, fuzzing and others.

    python lab/benchmarks/faults.py --seconds 60 [--only driver-kills,fuzz] [--seed 0]

The faults are those of the tests, and so are the checks after each of them: nothing is lost,
nothing changes silently, nothing hangs. The first violation ends the run with a traceback.
`docs/reliability.md` has the results of a long run.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from math import isnan
from pathlib import Path
from typing import Any

import bamsoo

TESTS = Path(__file__).parents[2] / "tests"
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None

Figures = Counter[str]


def test(name: str) -> Any:
    """Import a module of the tests."""
    place = TESTS / Path(name).parent
    if str(place) not in sys.path:
        sys.path[:0] = [str(place), str(TESTS)]
    return import_module(Path(name).name)


def seeds(seconds: float, seed: int) -> Iterator[int]:
    """Consecutive seeds until the time is up, but at least one."""
    end = time.monotonic() + seconds
    yield seed
    while time.monotonic() < end:
        seed += 1
        yield seed


def driver_kills(seconds: float, seed: int) -> Figures:
    """Kill the driver with SIGKILL again and again until its run is done."""
    driver, figures = test("study/kill_driver"), Figures()
    with tempfile.TemporaryDirectory(dir=MEMORY) as place:
        for each in seeds(seconds, seed):
            path, log = f"{place}/{each}.db", f"{place}/{each}.log"
            run = driver.RUNS[each % len(driver.RUNS)]
            kills, evaluations, _ = driver.one_run(path, log, run, random.Random(each))
            figures.update(runs=1, kills=kills, evaluations=evaluations)
    return figures


def worker_kills(seconds: float, seed: int) -> Figures:
    """Kill workers with SIGKILL: only their own trials fail, and every value stays correct."""
    figures = Figures()
    for each in seeds(seconds, seed):
        with tempfile.TemporaryDirectory(dir=MEMORY) as place:
            figures.update(_run_with_killed_workers(Path(place), random.Random(each)))
    return figures


def _run_with_killed_workers(place: Path, rng: random.Random) -> dict[str, int]:
    stop, kills = threading.Event(), 0

    def value(x: float) -> float:
        (place / str(os.getpid())).touch()
        time.sleep(0.002)
        return (x - 0.3) ** 2

    def kill() -> None:
        nonlocal kills
        while not stop.wait(rng.random() * 0.3):
            workers = list(place.iterdir())
            if workers:
                victim = rng.choice(workers)
                with suppress(ProcessLookupError):
                    os.kill(int(victim.name), signal.SIGKILL)
                    kills += 1
                victim.unlink()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        r = bamsoo.minimize(value, {"x": (0.0, 1.0)}, 200, workers=2, algorithm="soo")
    finally:
        stop.set()
        killer.join()
    assert r.nfev == 200
    for point, got in zip(r.X, r.F.tolist(), strict=True):
        assert isnan(got) or got == (point["x"] - 0.3) ** 2
    assert r.nfailed <= kills  # killing an idle worker fails no trial
    return {"runs": 1, "kills": kills, "evaluations": 200, "failed trials": int(r.nfailed)}


def interrupts(seconds: float, seed: int) -> Figures:
    """Raise KeyboardInterrupt at random lines inside ask and tell."""
    guard, writers, figures = test("test_guard"), test("study/test_writers"), Figures()
    for each in seeds(seconds, seed):
        algorithm = ("auto", "bamsoo", "soo", "gp-ucb")[each % 4]
        noise = 0.01 if each % 8 > 3 and algorithm != "soo" else None
        guard.test_a_call_that_is_interrupted_anywhere_has_not_happened(algorithm, noise, each)
        with tempfile.TemporaryDirectory(dir=MEMORY) as place:
            writers.test_an_interrupt_anywhere_in_a_call_loses_nothing_and_repeats_nothing(
                ("auto", "soo")[each % 2], Path(place) / "run.db", each
            )
        figures.update(runs=2, interrupts=46)
    return figures


def damage(seconds: float, seed: int) -> Figures:
    """Change bytes of study files: the damage is found or has no effect, and can be repaired."""
    found, repaired, figures = test("study/test_damage"), test("study/test_repair"), Figures()
    for each in seeds(seconds, seed):
        with tempfile.TemporaryDirectory(dir=MEMORY) as place:
            path = Path(place) / "run.db"
            found.test_a_flipped_bit_is_found_or_does_no_harm(path, 100, each)
            path.unlink()
            repaired.test_random_damage_is_repaired_or_refused_and_no_value_changes(path, 20, each)
        figures.update({"damaged files": 100, "repairs": 20})
    return figures


def stale_side_files(seconds: float, seed: int) -> Figures:
    """Kill a run, delete its file but not its log, and begin another one under the same name."""
    files, figures = test("faulty_files"), Figures()
    for each in seeds(seconds, seed):
        with tempfile.TemporaryDirectory(dir=MEMORY) as place:
            files.stale_side_files(Path(place), random.Random(each))
        figures.update({"stale logs": 1})
    return figures


def restored_copies(seconds: float, seed: int) -> Figures:
    """Kill a run, and put a copy of a study in the place of its file, next to its log."""
    files, figures = test("faulty_files"), Figures()
    for each in seeds(seconds, seed):
        with tempfile.TemporaryDirectory(dir=MEMORY) as place:
            how = files.restored_copy(Path(place), random.Random(each))
        figures.update({f'copies made by "{how}"': 1})
    return figures


def zeroed_pages(seconds: float, seed: int) -> Figures:
    """Fill every page of ten studies with zeros, and compare each repaired file with the truth.

    All of it is done once, whatever the time.
    """
    files, figures = test("faulty_files"), Figures()
    for make in files.STUDIES:
        with tempfile.TemporaryDirectory(dir=MEMORY) as place:
            figures.update({"studies": 1})
            figures.update(files.zeroed_pages(Path(place), make))
    return figures


# Settings in the file that are hostile (huge, infinite, deeply nested) go here, as a function
# `hostile_settings(seconds, seed)`, and into FAULTS below.


def failing_writes(seconds: float, seed: int) -> Figures:
    """Cause an I/O error or a full disk at every single call that writes a study."""
    figures = Figures()
    for _ in seeds(seconds, seed):
        with tempfile.TemporaryDirectory(dir=MEMORY) as place:
            command = [sys.executable, str(TESTS / "study" / "io_faults.py"), place]
            ran = subprocess.run(command, capture_output=True, text=True, check=True)
        outcomes = json.loads(ran.stdout)
        if outcomes is None:
            return Figures({"skipped, because there is no C compiler": 1})
        figures.update(outcomes)
    return figures


def fuzz(seconds: float, seed: int) -> Figures:
    """Run random searches with random spaces and objectives."""
    cases, figures = test("fuzz"), Figures()
    for each in seeds(seconds, seed):
        figures.update(cases=1, evaluations=cases.one_case(each))
    return figures


def hostile(seconds: float, seed: int) -> Figures:
    """Replace a value of a study by a hostile one: every command that reads still ends well."""
    cases, figures = test("hostile"), Figures()
    with tempfile.TemporaryDirectory(dir=MEMORY) as place, tempfile.TemporaryDirectory() as there:
        bases = cases.bases(there)
        for each in seeds(seconds, seed):
            base = bases[each % len(bases)]
            _, codes = cases.one_case(base, Path(place), random.Random(each))
            figures.update(files=1, refused=codes["show"] != 0, commands=len(codes))
            figures["commands refused"] += sum(code != 0 for code in codes.values())
    return figures


def writer_kills(seconds: float, seed: int) -> Figures:
    """Kill half of eight processes that share a study, and restart the server if it is on one."""
    import writers

    figures = Figures()
    with writers.places("file") as file, writers.places("server") as server:
        for each in seeds(seconds, seed):
            for backend, (address, running) in (("file", file), ("server", server)):
                study = address(f"run-{each}")
                row = writers.fault_run(backend, "soo", each, study, running)
                figures.update(runs=1, kills=row["killed"], restarts=row["restarts"])
                figures.update(evaluations=writers.BUDGET)
                if backend == "file":
                    Path(study).unlink()
    return figures


def changed_rows(seconds: float, seed: int) -> Figures:
    """Change or delete rows on a server: the damage is found, and the rest can be repaired."""
    import writers

    from bamsoo.study.repair import repair

    figures = Figures()
    with (
        writers.places("server") as (address, running),
        tempfile.TemporaryDirectory(dir=MEMORY) as place,
    ):
        study = address("rows")
        bamsoo.minimize(
            bamsoo.problems.branin, bamsoo.problems.branin.bounds, 12, algorithm="soo", study=study
        )
        running.execute("CREATE TABLE kept AS SELECT * FROM bamsoo_events")
        for each in seeds(seconds, seed):
            rng = random.Random(each)
            row = rng.randrange(1, 25)
            what, how = rng.choice(
                [
                    ("body", "replace(body, '1', '2') || ' '"),
                    ("time", "time + 1"),
                    ("kind", "'tell '"),
                    ("trial", "coalesce(trial, 0) + 1"),
                    ("checksum", "'0' || checksum"),
                    ("id", "id + 100"),
                ]
            )
            running.execute(f"UPDATE bamsoo_events SET {what} = {how} WHERE id = {row}")
            try:
                bamsoo.Study.open(study, readonly=True)
            except bamsoo.errors.StudyError as error:
                assert "\n" not in str(error)
            else:
                raise AssertionError(f"{what} of event {row} was changed unnoticed")
            target = Path(place) / f"{each}.db"
            saved = repair(study, target)
            assert saved.events == row - 1, saved
            with bamsoo.Study.open(target) as good:
                assert good.result.F.size >= 11
            target.unlink()
            running.execute("TRUNCATE bamsoo_events")
            running.execute("INSERT INTO bamsoo_events SELECT * FROM kept")
            figures.update({"changed rows": 1, "repairs": 1})
    return figures


FAULTS: dict[str, Callable[[float, int], Figures]] = {
    "driver-kills": driver_kills,
    "worker-kills": worker_kills,
    "interrupts": interrupts,
    "damage": damage,
    "stale-side-files": stale_side_files,
    "restored-copies": restored_copies,
    "zeroed-pages": zeroed_pages,
    "failing-writes": failing_writes,
    "fuzz": fuzz,
    "hostile": hostile,
    "writer-kills": writer_kills,
    "changed-rows": changed_rows,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="seconds per fault")
    parser.add_argument(
        "--only", default=",".join(FAULTS), help="names of faults, separated by commas"
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print("| fault | seconds | figures |\n|---|---|---|")
    for name in given.only.split(","):
        began = time.monotonic()
        figures = FAULTS[name](given.seconds, given.seed)
        said = ", ".join(f"{count:,} {what}" for what, count in figures.items())
        print(f"| {name} | {time.monotonic() - began:.0f} | {said} |", flush=True)


if __name__ == "__main__":
    main()
