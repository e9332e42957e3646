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
import traceback
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
    guard, writers, figures = test("base/test_guard"), test("study/test_writers"), Figures()
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


def small_spaces(seconds: float, seed: int) -> Figures:
    """Steps in small finite spaces: the result is finished, and nothing is left."""
    figures = Figures()
    for each in seeds(seconds, seed):
        rng = random.Random(each)
        size, steps, budget = rng.randint(1, 9), rng.randint(2, 60), rng.randint(1, 12)
        best = rng.randrange(size)

        def curve(n: int, best: int = best, steps: int = steps) -> Iterator[float]:
            yield from ((n - best) ** 2 + 1.0 / (i + 1) for i in range(steps))

        space = {"n": bamsoo.Int(0, size - 1) if size > 1 else bamsoo.Choice([0])}
        algorithm: Any = rng.choice(["auto", "bamsoo", "soo", "logo", "random"])
        r = bamsoo.minimize(curve, space, budget, steps=steps, algorithm=algorithm, seed=each)
        assert r.success, r.message
        number = next(e.number for e in r.evaluations if e.numbers and e.value == r.fun)
        assert number is not None and len(r.curves[number]) == steps
        finished = {e.params["n"] for e in r.evaluations if e.numbers}
        assert len(finished) == size or r.cost > budget - 1
        figures.update({"runs": 1, "steps": sum(map(len, r.curves.values()))})
    return figures


def equal_rows(seconds: float, seed: int) -> Figures:
    """Fronts with equal rows and repeated points: one row per point, and tables agree with it."""
    figures = Figures()
    for each in seeds(seconds, seed):
        rng = random.Random(each)
        levels, noise = rng.randint(2, 6), rng.choice([None, "learn"])

        def pair(x: Any, levels: int = levels) -> list[float]:
            first = float(round(levels * x[0]) / levels)
            return [first, float(round(levels * (1 - first + x[1])) / levels)]

        given = [[rng.choice([0.0, 0.5, 1.0]), 0.0] for _ in range(4)]  # some of them twice
        known = [(x, pair(x)) for x in given]
        r = bamsoo.minimize(
            pair, [(0, 1)] * 2, 20, objectives=["a", "b"], noise=noise, known=known, seed=each
        )
        points = [e.x.tobytes() for e in r.front]
        assert len(set(points)) == len(points)
        table = r.to_dataframe()
        assert table["front"].sum() == len(points)
        marked = {tuple(row) for row in table.loc[table["front"], ["x0", "x1"]].to_numpy()}
        assert marked == {tuple(e.x) for e in r.front}
        figures.update({"runs": 1, "points on fronts": len(points)})
    return figures


def known_values(seconds: float, seed: int) -> Figures:
    """Earlier evaluations with several values per point and failures: all of them count."""
    figures = Figures()
    for each in seeds(seconds, seed):
        rng = random.Random(each)
        points = [rng.random() for _ in range(rng.randint(1, 6))]
        known = [([rng.choice(points)], rng.choice([None, rng.random()])) for _ in range(12)]
        noise = rng.choice([None, 0.1, "learn"])
        r = bamsoo.minimize(lambda x: 2.0 + x[0], [(0, 1)], 3, known=known, noise=noise, seed=each)
        good = [value for _, value in known if value is not None]
        assert r.nfev == 3
        if noise is None and good:
            assert r.fun == min(good)
        if noise is not None:
            assert sorted(v for v in r.F.tolist() if v < 2.0) == sorted(good)
        figures.update({"runs": 1, "known values": len(known)})
    return figures


def failing_levels(seconds: float, seed: int) -> Figures:
    """A fidelity some of whose levels fail: the budget does not go there, and there is a result."""
    figures = Figures()
    for each in seeds(seconds, seed):
        rng = random.Random(each)
        fidelity = bamsoo.Fidelity(1, 27, log=True)
        broken = set(rng.sample(fidelity.levels[:-1], rng.randint(1, len(fidelity.levels) - 1)))

        def value(x: float, rows: float, broken: set[float] = broken) -> float:
            return float("nan") if rows in broken else (x - 0.3) ** 2 + 1.0 / rows

        algorithm: Any = rng.choice(["auto", "mfdoo"])
        space = {"x": (0, 1), "rows": fidelity}
        r = bamsoo.minimize(value, space, 8, algorithm=algorithm, on_error="fail", seed=each)
        assert r.success, r.message
        assert r.nfailed <= r.nfev / 2 + 3, (broken, r)
        figures.update({"runs": 1, "failures": int(r.nfailed), "evaluations": int(r.nfev)})
    return figures


def exact_with_pruner(seconds: float, seed: int) -> Figures:
    """The sampler and the pruner for Optuna on exact functions: nothing is declared noisy."""
    import optuna

    from bamsoo.integrations.optuna import BaMSOOPruner, BaMSOOSampler

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    figures = Figures()
    for each in seeds(seconds, seed):
        target = random.Random(each).random()

        def objective(trial: Any, target: float = target) -> float:
            x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
            for step in range(8):
                value = (x - target) ** 2 + (y - 0.4) ** 2 + 1.0 / (step + 1)
                trial.report(value, step)
                if trial.should_prune():
                    raise optuna.TrialPruned
            return float(value)

        sampler = BaMSOOSampler(seed=each)
        study = optuna.create_study(sampler=sampler, pruner=BaMSOOPruner(8))
        study.optimize(objective, n_trials=40)
        assert sampler._walk is not None
        assert sampler._walk._optimizer.unequal is None
        assert len({tuple(t.params.values()) for t in study.trials}) == len(study.trials)
        pruned = sum(t.state.name == "PRUNED" for t in study.trials)
        figures.update({"studies": 1, "trials": len(study.trials), "pruned": pruned})
    return figures


PLACES = (
    *("me:{}@host/db#n", "me@host/db?password={}#n", "me:{}@host#n", "me:{}@[::1/db#n"),
    "host:1/db?user=me&password={}#n",
)
"""Where an address has its password; one of the hosts cannot be read."""


def passwords(seconds: float, seed: int) -> Figures:
    """Addresses with random passwords and typing errors: no part of a password is in an error."""
    cases, figures = test("study/test_address"), Figures()
    for each in seeds(seconds, seed):
        rng = random.Random(each)
        pieces = [
            cases.SECRET,
            *rng.choices([cases.SECRET, *cases.HARD, "12", "x"], k=rng.randint(0, 7)),
        ]
        rng.shuffle(pieces)
        password = "".join(pieces)
        place = rng.choice(PLACES)
        scheme = rng.choice(["postgresql", "postgres", "mysql", "postgresql+psycopg2", "sqlite"])
        given = f"{scheme}{rng.choice(['://', ':/', '//', ':'])}{place.format(password)}"
        try:
            with bamsoo.Study.open(given, readonly=True):
                raise AssertionError("there is no such server")
        except bamsoo.BamsooError as error:
            trace = "".join(traceback.format_exception_only(error))
            assert not cases.found_in(trace), trace
        figures.update({"addresses": 1})
    return figures


def server_restarts(seconds: float, seed: int) -> Figures:
    """Restart the PostgreSQL server at random moments of a run: it waits, and nothing is lost."""
    import writers

    figures = Figures()
    with writers.places("server") as (address, running):
        for each in seeds(seconds, seed):
            rng = random.Random(each)
            stop, study = threading.Event(), address(f"restart-{each}")
            restarts = 0

            def restart(rng: random.Random = rng, stop: threading.Event = stop) -> None:
                nonlocal restarts
                while not stop.wait(0.2 + rng.random()):
                    running.restart()
                    restarts += 1

            killer = threading.Thread(target=restart)
            killer.start()
            try:
                r = bamsoo.minimize(
                    slow_branin, bamsoo.problems.branin.bounds, 60, algorithm="soo", study=study
                )
            finally:
                stop.set()
                killer.join()
            whole = bamsoo.minimize(
                bamsoo.problems.branin, bamsoo.problems.branin.bounds, 60, algorithm="soo"
            )
            assert r.F.tolist() == whole.F.tolist()
            figures.update(runs=1, restarts=restarts, evaluations=60)
    return figures


def cut_connections(seconds: float, seed: int) -> Figures:
    """End connections to the server while studies are opened and used: none of it is noticed."""
    import writers

    figures = Figures()
    ending = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s"
    with writers.places("server") as (address, running):
        for each in seeds(seconds, seed):
            rng, stop, cut = random.Random(each), threading.Event(), 0

            def end(rng: random.Random = rng, stop: threading.Event = stop) -> None:
                nonlocal cut
                while not stop.wait(0.2 * rng.random()):
                    cut += len(running.execute(ending, "bamsoo"))

            killer = threading.Thread(target=end)
            killer.start()
            try:
                with bamsoo.Study.open(address(f"cut-{each}"), space={"x": (0, 1)}) as study:
                    for _ in range(12):
                        trial = study.ask()
                        study.tell(trial, trial.params["x"])
            finally:
                stop.set()
                killer.join()
            with bamsoo.Study.open(address(f"cut-{each}"), readonly=True) as study:
                assert [t.value for t in study.trials] == [t.params["x"] for t in study.trials]
                assert len(study.trials) == 12
            figures.update({"runs": 1, "connections cut": cut, "evaluations": 12})
    return figures


FAILING = """
CREATE OR REPLACE FUNCTION failing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF random() < {share} THEN RAISE EXCEPTION 'cannot be done' USING ERRCODE = '{code}'; END IF;
RETURN NEW; END $$
"""


def server_errors(seconds: float, seed: int) -> Figures:
    """Let the server refuse a fifth of all writes: what may pass is waited for, and else raised."""
    import writers

    figures, branin = Figures(), bamsoo.problems.branin
    passing = {"53100": "full disk", "55P03": "lock timeout", "57014": "statement timeout"}
    whole = bamsoo.minimize(branin, branin.bounds, 30, algorithm="soo")
    with writers.places("server") as (address, running):
        bamsoo.minimize(branin, branin.bounds, 1, algorithm="soo", study=address("first"))
        running.execute(FAILING.format(share=0, code="53100"))
        running.execute(
            "CREATE TRIGGER failing BEFORE INSERT ON bamsoo_events FOR EACH ROW "
            "EXECUTE FUNCTION failing()"
        )
        for each in seeds(seconds, seed):
            code = random.Random(each).choice([*passing, "22000"])
            share, study = 0.2 if code in passing else 1, address(f"errors-{each}")
            running.execute(FAILING.format(share=share, code=code))
            try:
                r = bamsoo.minimize(branin, branin.bounds, 30, algorithm="soo", study=study)
            except bamsoo.errors.StudyError:
                assert code not in passing
            else:
                assert code in passing
                assert r.F.tolist() == whole.F.tolist()
            figures.update({"runs": 1, passing.get(code, "no use to wait"): 1})
    return figures


def slow_branin(x: Any) -> float:
    """Branin's function, which takes a moment."""
    time.sleep(0.05)
    return float(bamsoo.problems.branin(x))


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
    "small-spaces": small_spaces,
    "equal-rows": equal_rows,
    "known-values": known_values,
    "failing-levels": failing_levels,
    "exact-with-pruner": exact_with_pruner,
    "passwords": passwords,
    "server-restarts": server_restarts,
    "cut-connections": cut_connections,
    "server-errors": server_errors,
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
