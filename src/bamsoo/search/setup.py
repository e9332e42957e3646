"""What a search is made of: the arguments of an `Optimizer`, checked once."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ..algorithms import Algorithm, Name, able, check_several, resolve
from ..base.checks import brief, is_finite
from ..base.defaults import ALGORITHM, DIRECTION, SEED
from ..errors import SettingsError
from ..record.objectives import Objectives, ObjectivesLike
from ..space import Constraints, Space, SpaceLike


class Setup(NamedTuple):
    """What decides the course of a search, besides the events."""

    space: Space
    constraints: Constraints
    objectives: Objectives
    algorithm: Algorithm
    seed: int
    identity: str
    """Tells trials of this search from those of others, also after they were pickled."""
    steps: int | None = None
    """The number of steps of a full evaluation, if trials report their steps."""
    tol: float | None = None
    """The smallest gain that matters to the caller, in units of the value."""
    trainings: bool = False
    """Whether evaluations are long trainings in steps, which somebody else follows."""


def setup_of(
    space: SpaceLike,
    direction: str = DIRECTION,
    algorithm: Name | Algorithm = ALGORITHM,
    seed: int | np.random.Generator | None = SEED,
    noise: float | str | None = None,
    constraints: Sequence[Any] | None = None,
    objectives: ObjectivesLike = None,
    steps: int | None = None,
    tol: float | None = None,
    rng: Any = None,
) -> Setup:
    """The arguments of an `Optimizer`, checked and made into what decides its course."""
    aims = Objectives.of(objectives, direction)
    seed = given_seed(seed, rng)
    seed = drawn_seed() if seed is None else seed
    if tol is not None:
        tol = checked_tol(tol, aims)
    made = Space(space)
    chosen, limits = resolve(algorithm, noise), Constraints(made, constraints)
    if chosen.repeats and limits.measured:
        raise SettingsError(
            f"{type(chosen).__name__} evaluates points repeatedly and cannot handle "
            "measured constraints; use another algorithm, such as auto"
        )
    if aims.several:
        check_several(chosen)
    for name in aims.names if aims.named else ():
        if name in limits.measured:
            raise SettingsError(
                f"{name!r} is both an objective and a measured constraint; name one of them "
                "differently"
            )
    if steps is not None:
        check_steps(steps, chosen)
    if made.fidelity is not None:
        check_fidelity(made.names[-1], steps, chosen, aims)
    return Setup(made, limits, aims, chosen, seed, f"{_entropy():x}", steps, tol)


def given_seed(seed: Any, rng: Any, usual: Any = SEED) -> int | None:
    """The arguments `seed` and `rng`, of which one is given, as a whole number; None stays None."""
    if rng is None:
        return as_seed(seed)
    if seed is not None and (isinstance(seed, np.random.Generator) or seed != usual):
        raise SettingsError("seed and rng are two names for one thing; give one of them")
    if isinstance(rng, (list, tuple, np.ndarray)):
        with suppress(TypeError, ValueError):  # the message of `as_seed` says what is expected
            rng = np.random.SeedSequence(rng)
    if isinstance(rng, np.random.SeedSequence):
        return int(rng.generate_state(1)[0])
    return as_seed(
        np.random.Generator(rng) if isinstance(rng, np.random.BitGenerator) else rng,
        "rng must be a whole number >= 0, a list of them, a numpy Generator, BitGenerator or "
        "SeedSequence, or None",
    )


def as_seed(
    seed: Any, expected: str = "seed must be a whole number >= 0, a numpy Generator or None"
) -> int | None:
    """The argument `seed` as a whole number, which a numpy Generator draws; None stays None."""
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**32))
    wrong = isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0
    if seed is not None and wrong:
        raise SettingsError(f"{expected}, got {brief(seed)}")
    return None if seed is None else int(seed)


def drawn_seed() -> int:
    """A seed drawn at random."""
    return _entropy() % 2**32


def _entropy() -> int:
    """128 bits from the operating system."""
    entropy = np.random.SeedSequence().entropy
    assert isinstance(entropy, int)
    return entropy


def checked_tol(tol: Any, objectives: Objectives) -> float:
    """The argument `tol` as a number; raises an error unless it is one above 0."""
    if not is_finite(tol) or tol <= 0.0:
        raise SettingsError(
            "tol must be a finite number > 0, the smallest gain that matters in units of the "
            f"value, got {brief(tol)}"
        )
    if objectives.several:
        raise SettingsError(
            "tol is for one objective, because a front has no value; leave out tol="
        )
    return float(tol)


def check_steps(steps: Any, algorithm: Algorithm) -> None:
    """Raise an error unless `steps` is a number of steps that the search can work with."""
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 1:
        raise SettingsError(f"steps must be a whole number >= 1, got {brief(steps)}")
    if algorithm.repeats:
        raise SettingsError(
            f"{type(algorithm).__name__} evaluates points repeatedly and cannot stop evaluations; "
            "use another algorithm, such as auto"
        )


def check_fidelity(name: str, steps: Any, algorithm: Algorithm, objectives: Objectives) -> None:
    """Raise an error unless the search can choose how exact its evaluations are."""
    if steps is not None:
        raise SettingsError(
            f"{name} is a Fidelity, which cannot be combined with steps=; leave one of them out"
        )
    if objectives.several:
        raise SettingsError(
            f"{name} is a Fidelity, which is for one objective, because a front has no value that "
            "a cheap evaluation would have to beat; give the parameter a fixed value"
        )
    if not algorithm.takes_fidelity:
        raise SettingsError(
            f"{type(algorithm).__name__} cannot choose a Fidelity, which {name} is; use "
            f"{able('takes_fidelity')}, or give the parameter a fixed value"
        )
