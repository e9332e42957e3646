"""Models that engineers and scientists fit to measurements, with boxes and made-up data.

An instance draws the true parameters from the middle of the box, and the errors of measurement.
Parameters whose size is unknown are given as decimal logarithms.
"""

import zlib
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import exp1

from bamsoo.base.typing import Array

from ..case import Box
from .more_wild import osborne_1, osborne_2
from .problem import FitProblem, Kind

MIDDLE = 0.2, 0.8
"""Where in the box the true parameters are, as shares of each range."""

T = np.linspace(0.0, 10.0, 41)


class Model(NamedTuple):
    """A model, its box, and the size of the errors relative to the largest value."""

    predict: Callable[[Array], Array]
    box: Box
    error: float
    basins: bool = False


def solved(rates: Callable[[Array], Array], start: Array, times: Array, steps: int = 8) -> Array:
    """The states of an ODE at these times, by the method of Runge and Kutta, one row per time."""
    y, found = start, [start]
    for before, after in pairwise(times.tolist()):
        h = (after - before) / steps
        for _ in range(steps):
            a = rates(y)
            b = rates(y + 0.5 * h * a)
            c = rates(y + 0.5 * h * b)
            y = np.clip(y + h / 6.0 * (a + 2.0 * b + 2.0 * c + rates(y + h * c)), -1e6, 1e6)
        found.append(y)
    return np.array(found)


def kinetics(x: Array) -> Array:
    """A reaction A -> B -> C with a loss of B of second order; B and C are measured."""
    first, second, loss = 10.0**x

    def rates(y: Array) -> Array:
        a, b, _ = y
        return np.array([-first * a, first * a - second * b - loss * b * b, second * b])

    return solved(rates, np.array([1.0, 0.0, 0.0]), T[::2], 12)[1:, 1:].ravel()


def enzyme(x: Array) -> Array:
    """The rate of an enzyme that its substrate inhibits."""
    v, (km, ki) = x[0], 10.0 ** x[1:]
    s = np.geomspace(0.05, 50.0, 16)
    return np.asarray(v * s / (km + s + s * s / ki))


def pumping(x: Array) -> Array:
    """Theis: the drawdown near a pumped well, by transmissivity and storage, at two distances."""
    transmissivity, storage = 10.0**x
    t = np.geomspace(1.0, 1000.0, 20)
    u = np.concatenate([r * r * storage / (4.0 * transmissivity * t) for r in (30.0, 90.0)])
    return np.asarray(2.0 / (4.0 * np.pi * transmissivity) * exp1(np.maximum(u, 1e-300)))


def impedance(x: Array) -> Array:
    """An electrode: a resistance, and another one in parallel with a leaky capacitor."""
    serial, parallel, q = 10.0 ** x[:3]
    omega = 2.0 * np.pi * np.geomspace(0.1, 1e5, 25)
    z = serial + parallel / (1.0 + parallel * q * (1j * omega) ** x[3])
    return np.concatenate([z.real, -z.imag])


def two_decays(x: Array) -> Array:
    """The sum of two exponential decays and a background."""
    return np.asarray(x[0] * np.exp(-T / 10.0 ** x[1]) + x[2] * np.exp(-T / 10.0 ** x[3]) + x[4])


def drug(x: Array) -> Array:
    """The concentration of a drug after it was swallowed: absorbed, distributed, excreted."""
    absorbed, excreted, volume = 10.0**x
    apart = absorbed - excreted
    apart = apart if abs(apart) > 1e-9 else 1e-9
    times = T[1:] * 2.4
    return np.asarray(
        absorbed / (volume * apart) * (np.exp(-excreted * times) - np.exp(-absorbed * times))
    )


def epidemic(x: Array) -> Array:
    """The infected of an epidemic day by day."""
    contact, recovery, seed = x[0], x[1], 10.0 ** x[2]

    def rates(y: Array) -> Array:
        s, i = y
        return np.array([-contact * s * i, contact * s * i - recovery * i])

    return solved(rates, np.array([1.0 - seed, seed]), np.arange(0.0, 31.0), 6)[1:, 1]


def beam(x: Array) -> Array:
    """The deflections of a clamped beam on an elastic bed, with a soft joint."""
    s = np.linspace(0.05, 1.0, 20)
    bed, joint, load = 10.0 ** x[0], 10.0 ** x[1], x[2]
    wave = bed**0.25
    shape = np.cosh(wave * s) * np.cos(wave * s) - 1.0
    return np.asarray(
        load * (s * s * (6.0 - 4.0 * s + s * s) / (24.0 + bed) - joint * s + 1e-4 * shape)
    )


def oscillation(x: Array) -> Array:
    """A damped oscillation with amplitude, damping, frequency and phase."""
    return np.asarray(x[0] * np.exp(-x[1] * T) * np.cos(x[2] * T + x[3]))


def peaks(x: Array) -> Array:
    """Two peaks on a background: height, place and width of each."""
    s = np.linspace(0.0, 10.0, 60)
    first = x[0] * np.exp(-0.5 * ((s - x[1]) / x[2]) ** 2)
    return np.asarray(first + x[3] * np.exp(-0.5 * ((s - x[4]) / x[5]) ** 2) + x[6])


def tones(x: Array) -> Array:
    """Two tones: amplitude and frequency of each, and a common phase."""
    return np.asarray(x[0] * np.sin(x[1] * T + x[4]) + x[2] * np.sin(x[3] * T))


def predators(x: Array) -> Array:
    """Hares and lynxes of Lotka and Volterra."""
    grow, eat, die, gain = x

    def rates(y: Array) -> Array:
        hares, lynxes = y
        return np.array([grow * hares - eat * hares * lynxes, gain * hares * lynxes - die * lynxes])

    return np.log1p(np.abs(solved(rates, np.array([1.5, 1.0]), T * 1.5, 5)[1:])).ravel()


def nerve(x: Array) -> Array:
    """The voltage of a nerve of FitzHugh and Nagumo."""
    a, b, c = x

    def rates(y: Array) -> Array:
        v, w = y
        return np.array([c * (v - v**3 / 3.0 + w), -(v - a + b * w) / c])

    return solved(rates, np.array([-1.0, 1.0]), np.linspace(0.0, 20.0, 41), 10)[1:, 0]


def film(x: Array) -> Array:
    """The light reflected by a thin film on glass: thickness, and an index by Cauchy's formula."""
    thickness, index, dispersion = x
    wave = np.linspace(0.4, 0.8, 50)
    n = index + dispersion / wave**2
    first, second = (1.0 - n) / (1.0 + n), (n - 1.52) / (n + 1.52)
    turn = np.exp(-4j * np.pi * n * thickness / wave)
    return np.asarray(np.abs((first + second * turn) / (1.0 + first * second * turn)) ** 2)


MODELS = {
    "kinetics": Model(kinetics, [(-2.0, 1.0), (-2.0, 1.0), (-3.0, 1.0)], 0.01),
    "enzyme": Model(enzyme, [(0.1, 10.0), (-1.5, 1.5), (0.0, 2.5)], 0.01),
    "pumping": Model(pumping, [(-4.0, -1.0), (-5.0, -2.0)], 0.01),
    "impedance": Model(impedance, [(0.0, 2.0), (1.0, 4.0), (-6.0, -3.0), (0.5, 1.0)], 0.005),
    "two decays": Model(
        two_decays, [(0.2, 5.0), (-0.8, 0.3), (0.2, 5.0), (0.2, 1.5), (-1.0, 1.0)], 0.005
    ),
    "drug": Model(drug, [(-0.3, 1.0), (-2.0, -0.4), (0.0, 2.0)], 0.02),
    "epidemic": Model(epidemic, [(0.3, 1.5), (0.05, 0.5), (-4.0, -1.5)], 0.01),
    "beam": Model(beam, [(0.0, 2.5), (-3.0, -1.0), (0.5, 5.0)], 0.01),
    "oscillation": Model(
        oscillation, [(0.5, 5.0), (0.02, 0.4), (1.0, 12.0), (-3.0, 3.0)], 0.02, True
    ),
    "peaks": Model(
        peaks,
        [(0.3, 4.0), (0.5, 9.5), (0.1, 1.0), (0.3, 4.0), (0.5, 9.5), (0.1, 1.0), (-0.5, 0.5)],
        0.02,
        True,
    ),
    "tones": Model(
        tones, [(0.5, 3.0), (0.5, 4.0), (0.3, 2.0), (3.0, 8.0), (-1.5, 1.5)], 0.02, True
    ),
    "predators": Model(predators, [(0.3, 2.0), (0.2, 2.0), (0.3, 2.0), (0.2, 2.0)], 0.02, True),
    "nerve": Model(nerve, [(-0.5, 1.0), (-0.5, 1.0), (1.0, 5.0)], 0.02, True),
    "film": Model(film, [(0.2, 2.0), (1.6, 2.6), (0.0, 0.05)], 0.01, True),
}

OSBORNE: dict[str, tuple[Callable[[Array, int], Array], Box, list[float]]] = {
    "Osborne 1": (
        osborne_1,
        [(0.0, 1.5), (0.5, 3.5), (-3.0, 0.0), (0.003, 0.04), (0.005, 0.06)],
        [0.3754, 1.9358, -1.4647, 0.01287, 0.02212],
    ),
    "Osborne 2": (
        osborne_2,
        [
            *[(0.5, 2.0), (0.1, 1.5), (0.1, 1.5), (0.1, 1.5), (0.1, 3.0), (0.3, 6.0), (0.3, 9.0)],
            *[(0.3, 9.0), (1.0, 4.0), (3.0, 6.0), (4.0, 7.0)],
        ],
        [1.31, 0.4315, 0.6336, 0.5993, 0.7539, 0.9056, 1.3651, 4.8248, 2.3988, 4.5689, 5.6754],
    ),
}  # fmt: skip
"""By name: published data, to which an instance adds small errors, and the published solution."""


def _build(name: str, instance: int) -> FitProblem:
    model, rng = MODELS[name], np.random.default_rng([zlib.crc32(name.encode()), instance])
    low, high = np.array(model.box).T
    truth = low + rng.uniform(*MIDDLE, len(low)) * (high - low)
    clean = model.predict(truth)
    size = float(np.abs(clean).max())
    data = clean + model.error * size * rng.standard_normal(len(clean))
    return FitProblem(
        lambda x: (model.predict(np.asarray(x, dtype=float)) - data) / size, model.box, truth
    )


def _osborne(name: str, instance: int) -> FitProblem:
    fun, box, found = OSBORNE[name]
    m = len(fun(np.array(found), 0))
    errors = np.random.default_rng([81, instance]).standard_normal(m) * 0.01 * (instance > 1)
    return FitProblem(lambda x: fun(np.asarray(x, dtype=float), m) + errors, box, np.array(found))


KINDS = {
    name: Kind(partial(_build, name), len(model.box), model.basins)
    for name, model in MODELS.items()
} | {
    name: Kind(partial(_osborne, name), len(box), name == "Osborne 2")
    for name, (_, box, _) in OSBORNE.items()
}
"""Sixteen fits by name."""
