"""Random spaces, searches and objectives: nothing raises, repeats a point or leaves the space.

Used by test_fuzz.py, and for as long as one likes by lab/benchmarks/faults.py.
"""

import math
import random
from zlib import crc32

import numpy as np
from searches import QUICK

import bamsoo

NAMES = ("auto", "bamsoo", "soo", "doo", "random", "gp-ucb", "shrinking")


def parameter(rng):
    kind = rng.randrange(6)
    if kind == 0:
        low, high = sorted(rng.uniform(-1, 1) * 10.0 ** rng.uniform(-300, 300) for _ in range(2))
        return bamsoo.Real(low, high if high > low else math.nextafter(low, math.inf))
    if kind == 1:
        low = 10.0 ** rng.uniform(-300, 290)
        return bamsoo.Real(low, low * 10.0 ** rng.uniform(0.001, 9), log=True)
    if kind == 2:
        low = rng.randint(-(2**40), 2**40)
        return bamsoo.Int(low, low + rng.choice([1, 2, 7, 1000, 2**45]))
    if kind == 3:
        return bamsoo.Int(1, rng.choice([2, 3, 50, 10**6]), log=True)
    if kind == 4:
        low, step = round(rng.uniform(-9, 9), 2), rng.choice([0.01, 0.1, 0.25, 0.3])
        return bamsoo.Real(low, low + step * rng.choice([1.5, 4, 1000.9]), step=step)
    options = [None, True, 0, "a", "", "\x00", 2.5, (), "long" * 50][: rng.randint(1, 9)]
    rng.shuffle(options)
    return bamsoo.Choice(options)


def objective(rng):
    """Values of every kind: smooth, constant, huge, tiny, absent, of one point in a hundred."""
    kind = rng.randrange(8)
    scale = 10.0 ** rng.uniform(-300, 300)
    weights = [rng.uniform(-2, 2) for _ in range(12)]

    def fun(params):
        u = [
            math.atan(v) if isinstance(v, float) else crc32(str(v).encode()) / 2**32 for v in params
        ]
        total = sum(w * (x - 0.3) ** 2 for w, x in zip(weights, u, strict=False))
        if kind == 0:
            return total
        if kind == 1:
            return 7.0
        if kind == 2:
            return scale * total
        if kind == 3:
            return None if total > 0.5 else total
        if kind == 4:
            return math.nan if int(total * 1e6) % 3 == 0 else total
        if kind == 5:
            return math.inf
        if kind == 6:
            return np.float32(total)
        return round(total)

    return fun


def one_case(seed):
    """One random run with several pending trials at a time; returns the number of evaluations."""
    rng = random.Random(seed)
    space = {f"p{i}": parameter(rng) for i in range(rng.randint(1, 5))}
    algorithm, direction = rng.choice(NAMES), rng.choice(["minimize", "maximize"])
    settings = {
        "algorithm": QUICK.get(algorithm, algorithm),
        "direction": direction,
        "seed": rng.randrange(100),
    }
    if algorithm == "auto" and rng.random() < 0.3:
        settings["noise"] = rng.choice(["learn", 0.1])
    try:
        opt = bamsoo.Optimizer(space, **settings)
    except bamsoo.errors.SettingsError:
        assert algorithm == "shrinking"  # in many dimensions
        return 0
    fun, at_once = objective(rng), rng.choice([1, 1, 1, 3, 8])
    budget = rng.choice([5, 20, 60])
    seen, out, values, repeats = set(), [], [], 0
    while len(values) < budget:
        try:
            while len(out) < at_once:
                out.append(opt.ask())
        except bamsoo.errors.ExhaustedError:
            if not out:
                break
        trial = out.pop(rng.randrange(len(out)))
        # under noise, a point may be measured again; otherwise few are, each after twice as many
        # evaluations without a gain as the one before, to see whether values repeat
        repeats += trial.point in seen
        few = repeats <= len(values).bit_length()
        assert few or "noise" in settings or opt.book.noisy, f"asked for twice: {trial}"
        seen.add(trial.point)
        opt.space.point(trial.params)  # refuses what is not in the space
        value = fun(list(trial.params.values()))
        values.append(math.nan if value is None else float(value))
        opt.tell(trial, value)
    result = opt.result
    assert result.nfev == len(values)
    finite = [value for value in values if math.isfinite(value)]
    assert result.nfailed == len(values) - len(finite)
    assert result.success == bool(finite)
    if finite and "noise" not in settings:
        assert result.fun == (min if direction == "minimize" else max)(finite)
    return len(values)
