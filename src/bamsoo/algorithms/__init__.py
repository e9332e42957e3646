"""The algorithms: each is a settings object and a generator that can be read next to its paper."""

from dataclasses import replace
from typing import Literal, TypeAlias, get_args

from ..base.checks import brief
from ..errors import SettingsError
from .algorithm import Algorithm, planned
from .auto.loop import Auto
from .bamlogo import BaMLOGO
from .bamsoo import BaMSOO
from .doo import DOO
from .gp_ucb import GPUCB
from .imgpo import IMGPO
from .logo import LOGO
from .mfdoo import MFDOO
from .mosoo import MOSOO
from .random import Random
from .sequool import SequOOL, StroquOOL
from .shrinking import Shrinking
from .sobol import Sobol
from .soo import SOO
from .stosoo import StoSOO

Name: TypeAlias = Literal[
    "auto", "bamsoo", "soo", "doo", "gp-ucb", "shrinking", "random", "stosoo", "sequool",
    "stroquool", "logo", "bamlogo", "imgpo", "mosoo", "mfdoo", "sobol",
]  # fmt: skip
"""The names of the algorithms, so that a type checker reports a misspelt one."""

_KINDS = (Auto, BaMSOO, SOO, DOO, GPUCB, Shrinking, Random, StoSOO, SequOOL,
          StroquOOL, LOGO, BaMLOGO, IMGPO, MOSOO, MFDOO, Sobol)  # fmt: skip

BY_NAME: dict[str, type[Algorithm]] = dict(zip(get_args(Name), _KINDS, strict=True))


def able(ability: str) -> str:
    """The names of the algorithms with this ability, a class variable of theirs, in words."""
    *some, last = (name for name, kind in BY_NAME.items() if getattr(kind, ability))
    return f"{', '.join(some)} or {last}"


def resolve(algorithm: str | Algorithm, noise: float | str | None = None) -> Algorithm:
    """The settings object for a name, or the object itself, with this noise if one is given."""
    if noise is not None:
        return _with_noise(resolve(algorithm), noise)
    if isinstance(algorithm, str):
        if algorithm not in BY_NAME:
            raise SettingsError(
                f"unknown algorithm {brief(algorithm)}; expected one of {', '.join(BY_NAME)}"
            )
        return BY_NAME[algorithm]()
    if not isinstance(algorithm, Algorithm):
        raise SettingsError(
            "algorithm must be a name or a settings object such as SOO(k=3), "
            f"got {brief(algorithm)}"
        )
    return algorithm


def check_several(algorithm: Algorithm) -> None:
    """Raise an error unless the algorithm can search with several objectives."""
    if not algorithm.several:
        raise SettingsError(
            f"{type(algorithm).__name__} searches for the best value of one objective; with "
            f"several objectives, use {able('several')}"
        )
    if algorithm.noise not in (0.0, "learn"):
        raise SettingsError(
            "with several objectives, noise must be 'learn' or left out, because each objective "
            f"has its own units, got {brief(algorithm.noise)}"
        )


def _with_noise(algorithm: Algorithm, noise: float | str) -> Algorithm:
    if algorithm.takes_noise:
        noisy: Algorithm = replace(algorithm, noise=noise)  # type: ignore[type-var]
        return noisy
    if algorithm.repeats:
        raise SettingsError(
            f"{type(algorithm).__name__} assumes that every value is noisy and takes no noise; "
            f"leave out noise={brief(noise)}"
        )
    raise SettingsError(
        f"noise needs one of the algorithms {able('takes_noise')}, got {brief(algorithm)}"
    )


__all__ = [
    "BY_NAME",
    "DOO",
    "GPUCB",
    "IMGPO",
    "LOGO",
    "MFDOO",
    "MOSOO",
    "SOO",
    "Algorithm",
    "Auto",
    "BaMLOGO",
    "BaMSOO",
    "Name",
    "Random",
    "SequOOL",
    "Shrinking",
    "Sobol",
    "StoSOO",
    "StroquOOL",
    "able",
    "check_several",
    "planned",
    "resolve",
]
