"""Kill a driver again and again at random moments, and check what its study holds.

Run by test_study_kill.py in a process of its own, which forks the drivers: a fresh
interpreter for each would spend all the time on imports. Prints what it did as JSON.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bamsoo

MIXED = {
    "x": (0.0, 1.0),
    "rate": bamsoo.Real(1e-4, 1.0, log=True),
    "n": bamsoo.Int(1, 50),
    "mode": bamsoo.Choice(["fast", "exact"]),
}
PLANE = {"a": (-5.0, 10.0), "b": (0.0, 15.0)}
RUNS = [  # space, algorithm, budget, longest life of a driver in seconds, trials at once
    (PLANE, bamsoo.algorithms.SOO(), 120, 0.05, 1),
    (MIXED, bamsoo.algorithms.SOO(k=2), 120, 0.05, 1),
    (PLANE, bamsoo.algorithms.BaMSOO(bamsoo.kernels.Matern52(0.3, 3e3)), 40, 0.08, 1),
    (MIXED, bamsoo.algorithms.Random(), 60, 0.04, 1),
    (PLANE, bamsoo.algorithms.Auto(), 20, 0.2, 1),
    (MIXED, bamsoo.algorithms.BaMSOO(), 60, 0.08, 4),
]


def value(params):
    if "a" in params:
        result = bamsoo.problems.branin(list(params.values()))
        return None if result > 150 else result
    return params["x"] + params["rate"] + abs(params["n"] - 20) + (params["mode"] == "fast")


def drive(path, log, space, algorithm, budget, at_once):
    """The program that is killed; it records pending trials at its start, and each evaluation."""

    def note(*what):
        os.write(log, (json.dumps(what) + "\n").encode())

    def fun(**params):
        note("evaluated", params)
        if at_once > 1:
            time.sleep(random.random() * 0.004)
        return value(params)

    def acknowledged(intermediate_result):
        n = intermediate_result.nfev - 1
        note("acknowledged", intermediate_result.X[n], intermediate_result.F[n])

    with bamsoo.Study.open(path, space=space, algorithm=algorithm) as study:
        note("out", [t.params for t in study.trials if t.state == "out"])
        bamsoo.minimize(
            fun,
            space,
            budget,
            algorithm=algorithm,
            study=study,
            callback=acknowledged,
            workers=ThreadPoolExecutor(at_once) if at_once > 1 else None,
        )


def read(log):
    return [json.loads(line) for line in Path(log).read_text().splitlines()]


def held(path):
    """Every trial that was told, by its parameters."""
    with bamsoo.Study.open(path, readonly=True) as study:
        return {json.dumps(t.params): t.value for t in study.trials if t.told_at is not None}


def check_acknowledged(path, log):
    lines = [line for line in read(log) if line[0] == "acknowledged"]
    if lines:
        told = held(path)
        for _, params, number in lines:
            kept = told[json.dumps(params)]  # KeyError: lost
            assert kept == number or (kept is None and number != number)
    return len(lines)


def check_without_log(path, log):
    """Check the main file without its log: it holds everything, or it is refused."""
    copy = f"{path}-copy"
    shutil.copyfile(path, copy)
    try:
        check_acknowledged(copy, log)
    except bamsoo.errors.StudyError:
        return 1
    return 0


def one_run(path, log, run, rng):
    """Kill the driver until its run is done; return how often it was killed."""
    space, algorithm, budget, longest, at_once = run
    kills = refused = 0
    while True:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                fd = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
                drive(path, fd, space, algorithm, budget, at_once)
                code = 0
            finally:
                os._exit(code)
        time.sleep(rng.random() ** 2 * longest)
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0, "the driver failed"
            break
        kills += 1
        if Path(path).exists():
            refused += check_without_log(path, log)
            if rng.random() < 0.5:  # else the next driver recovers alone
                check_acknowledged(path, log)
        longest *= 1.05  # an opening that takes longer than a life would never end
    assert check_acknowledged(path, log) >= budget - kills  # a kill may cut an answer off
    with bamsoo.Study.open(path) as study:  # which replays it
        result = study.result
        assert result.nfev == budget
        if at_once == 1:  # else the points depend on the order in which evaluations end
            whole = bamsoo.minimize(lambda **p: value(p), space, budget, algorithm=algorithm)
            assert result.X == whole.X, "other points than a run that was never killed"
            assert str(result.F.tolist()) == str(whole.F.tolist())
            assert (result.fun, result.nrejected) == (whole.fun, whole.nrejected)
        assert not [t for t in study.trials if t.state == "out"]
    evaluated, out = Counter(), Counter()
    for kind, what, *_ in read(log):
        if kind == "evaluated":
            evaluated[json.dumps(what)] += 1
        elif kind == "out":
            out.update(json.dumps(params) for params in what)
    assert set(evaluated) == {json.dumps(params) for params in result.X}
    for params, times in evaluated.items():
        assert times <= 1 + out[params], "evaluated twice, and was not out at a kill"
    return kills, sum(evaluated.values()), refused


def main(places, wanted, seed):
    rng = random.Random(seed)
    total, i = Counter(), 0
    while total["kills"] < wanted or i < len(RUNS):
        place = Path(places[i % len(places)])
        kills, evaluations, refused = one_run(
            str(place / f"run{i}.db"), str(place / f"run{i}.log"), RUNS[i % len(RUNS)], rng
        )
        total.update(kills=kills, runs=1, evaluations=evaluations, refused_without_log=refused)
        i += 1
    print(json.dumps(total))


if __name__ == "__main__":
    main(sys.argv[3:], int(sys.argv[1]), int(sys.argv[2]))
