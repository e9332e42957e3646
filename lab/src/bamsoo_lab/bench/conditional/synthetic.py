"""Tasks with known optima, which lie in branches that look poor from outside.

The instance moves the optimum inside its branch and changes which option is the best.
"""

from typing import Any

import numpy as np

from bamsoo.space import Choice, Int, Real

from ..tuning.task import Evaluate
from .task import task

UNIT = Real(0.0, 1.0)


def places(instance: int, number: int) -> np.ndarray:
    """The optima of an instance, away from the ends and the middle of [0, 1]."""
    rng = np.random.default_rng([7, instance])
    side = rng.integers(2, size=number)
    return np.where(side, rng.uniform(0.62, 0.9, number), rng.uniform(0.1, 0.38, number))


@task(
    "tree-of-parabolas",
    "synthetic",
    top=Choice(
        {
            "left": {
                "left_shift": UNIT,
                "left_leaf": Choice({"a": {"xa": Real(-1.0, 1.0)}, "b": {"xb": Real(-1.0, 1.0)}}),
            },
            "right": {
                "right_shift": UNIT,
                "right_leaf": Choice({"c": {"xc": Real(-1.0, 1.0)}, "d": {"xd": Real(-1.0, 1.0)}}),
            },
        }
    ),
)
def tree_of_parabolas(instance: int) -> Evaluate:
    """The function of Jenatton et al., "Bayesian optimization with tree-structured dependencies".

    The instance decides in which order the four leaves are good, and where their optima are. The
    least value is 0.1, at a shift of 0.
    """
    order = np.random.default_rng([8, instance]).permutation(4)
    offsets = dict(zip("abcd", (0.1 + 0.1 * order).tolist(), strict=True))
    at = dict(zip("abcd", (2.0 * places(instance, 4) - 1.0).tolist(), strict=True))

    def evaluate(seed: int, top: str, **p: Any) -> float:
        leaf = p[f"{top}_leaf"]
        return float((p[f"x{leaf}"] - at[leaf]) ** 2 + offsets[leaf] + p[f"{top}_shift"])

    return evaluate


EIGHT = "abcdefgh"


@task(
    "eight-options",
    "synthetic",
    option=Choice({o: {f"x{o}": UNIT, f"y{o}": UNIT} for o in EIGHT}),
)
def eight_options(instance: int) -> Evaluate:
    """Eight bowls; the steepest is the deepest, but its typical values are the worst. Best: 0."""
    best = int(np.random.default_rng([9, instance]).integers(8))
    rank = {o: (i - best) % 8 for i, o in enumerate(EIGHT)}
    at = dict(zip(EIGHT, places(instance, 16).reshape(8, 2), strict=True))

    def evaluate(seed: int, option: str, **p: Any) -> float:
        far = (p[f"x{option}"] - at[option][0]) ** 2 + (p[f"y{option}"] - at[option][1]) ** 2
        return float(0.3 * rank[option] + (12.0 if rank[option] == 0 else 1.0) * far)

    return evaluate


@task(
    "optional-steps",
    "synthetic",
    base=UNIT,
    **{f"step{i}": Choice({"off": {}, "on": {f"x{i}": UNIT, f"y{i}": UNIT}}) for i in range(4)},
)
def optional_steps(instance: int) -> Evaluate:
    """Four steps that do harm unless they are set well; then each gains 1. Minimum: 0."""
    at = places(instance, 9)

    def evaluate(seed: int, base: float, **p: Any) -> float:
        value = 4.0 + 4.0 * (base - at[8]) ** 2
        for i in range(4):
            if p[f"step{i}"] == "on":
                far = (p[f"x{i}"] - at[2 * i]) ** 2 + (p[f"y{i}"] - at[2 * i + 1]) ** 2
                value += min(-1.0 + 8.0 * far, 1.0)
        return float(value)

    return evaluate


@task(
    "deep-branch",
    "synthetic",
    one=Choice(
        {
            "shallow": {"s1": UNIT, "s2": UNIT},
            "deep": {
                "two": Choice(
                    {
                        "flat": {"f1": UNIT},
                        "deeper": {
                            "three": Choice(
                                {
                                    "plain": {"p1": UNIT, "p2": UNIT},
                                    "valley": {"v1": UNIT, "v2": UNIT, "v3": UNIT},
                                }
                            )
                        },
                    }
                )
            },
        }
    ),
)
def deep_branch(instance: int) -> Evaluate:
    """The minimum, 0, is at the third level, in a valley whose typical values are poor."""
    at = places(instance, 8)

    def evaluate(seed: int, one: str, **p: Any) -> float:
        if one == "shallow":
            return float(0.6 + (p["s1"] - at[0]) ** 2 + (p["s2"] - at[1]) ** 2)
        if p["two"] == "flat":
            return float(0.8 + 0.1 * (p["f1"] - at[2]) ** 2)
        if p["three"] == "plain":
            return float(0.5 + (p["p1"] - at[3]) ** 2 + 2.0 * (p["p2"] - at[4]) ** 2)
        bend = p["v2"] - at[6] - 0.5 * (p["v1"] - at[5])
        return float(4.0 * (p["v1"] - at[5]) ** 2 + 6.0 * bend**2 + 3.0 * abs(p["v3"] - at[7]))

    return evaluate


@task(
    "machines",
    "synthetic",
    machine=Choice(
        {
            "fixed": {"f_size": Int(1, 50)},
            "geared": {
                "gear": Choice(
                    {
                        "low": {"low_speed": Real(1.0, 100.0, log=True)},
                        "high": {
                            "high_speed": Real(1.0, 1000.0, log=True),
                            "cooling": Choice(
                                {"air": {}, "oil": {"flow": Real(0.1, 10.0, log=True)}}
                            ),
                        },
                    }
                ),
                "g_size": Int(1, 50),
            },
        }
    ),
)
def machines(instance: int) -> Evaluate:
    """Integers, log scales and three levels; the best value, 0, needs a high gear and oil."""
    at = places(instance, 4)
    size, speed, flow = 1 + round(49 * at[0]), 10.0 ** (3.0 * at[1]), 10.0 ** (2.0 * at[2] - 1.0)

    def evaluate(seed: int, machine: str, **p: Any) -> float:
        if machine == "fixed":
            return float(1.0 + abs(p["f_size"] - size) / 25.0)
        value = abs(p["g_size"] - size) / 50.0
        if p["gear"] == "low":
            return float(0.8 + value + (np.log10(p["low_speed"]) / 2.0 - at[3]) ** 2)
        value += 3.0 * (np.log10(p["high_speed"] / speed) / 3.0) ** 2
        if p["cooling"] == "air":
            return float(0.9 + value)
        return float(value + 2.0 * (np.log10(p["flow"] / flow) / 2.0) ** 2)

    return evaluate


OPTIMA: dict[str, float] = {
    "tree-of-parabolas": 0.1,
    "eight-options": 0.0,
    "optional-steps": 0.0,
    "deep-branch": 0.0,
    "machines": 0.0,
}
"""The minima of the tasks of this module, the same for every instance."""
