"""Stacks of thin layers, computed by their admittance, one layer after the other.

Mirrors and coatings like these are in the package nevergrad (Moreau and others). These have other
numbers of layers, materials and wavelengths.
"""

from collections.abc import Callable

import numpy as np

from bamsoo.base.typing import Array

from ..case import Box
from .problem import Value, sizes

THIN, THICK = 30.0, 180.0
"""The thinnest and the thickest layer of a mirror, in nanometres."""


def reflected(
    index: Array, thickness: Array, waves: Array, substrate: float, angle: float = 0.0
) -> Array:
    """The share of light that a stack of layers reflects at each wavelength, unpolarised.

    Parameters
    ----------
    index, thickness : array
        Of every layer, from the air to the substrate.
    waves : array
        Wavelengths, in the unit of the thickness.
    substrate : float
        The refractive index below the layers.
    angle : float
        Of the light in the air, in radians.
    """
    inside = np.sqrt(np.append(index, substrate) ** 2 - np.sin(angle) ** 2)  # n cos(angle there)
    phase = 2.0 * np.pi * (inside[:-1] * thickness)[:, None] / waves
    cosine, sine = np.cos(phase), 1j * np.sin(phase)
    total = np.zeros(len(waves))
    across = np.cos(angle)
    for own, air in (
        (inside, across),
        (np.append(index, substrate) ** 2 / inside, 1.0 / across),
    ):  # the electric field perpendicular and parallel to the plane of incidence
        Y = np.full(len(waves), own[-1], dtype=complex)
        for n, c, s in zip(own[-2::-1], cosine[::-1], sine[::-1], strict=True):
            Y = (Y * c + n * s) / (c + Y * s / n)
        total += np.abs((air - Y) / (air + Y)) ** 2
    return total / 2.0


@sizes(
    "mirror",
    bragg_24=("develop", 240, [24]),
    bragg_10=("report", 120, [10]),
    bragg_60=("report", 300, [60]),
)
def bragg(size: int) -> tuple[Box, Callable[[], Value]]:
    """A mirror for one wavelength: the permittivity and the thickness of each layer."""
    layers = size // 2
    bounds = [(2.0, 3.2)] * layers + [(THIN, THICK)] * layers

    def build() -> Value:
        wave = np.array([633.0])
        return lambda x: float(1.0 - reflected(np.sqrt(x[:layers]), x[layers:], wave, 1.52)[0])

    return bounds, build


@sizes(
    "mirror",
    chirped_10=("develop", 120, [10, 520.0, 700.0]),
    chirped_60=("develop", 300, [60, 450.0, 800.0]),
    chirped_24=("report", 240, [24, 480.0, 760.0]),
)
def chirped(layers: int, low: float, high: float) -> tuple[Box, Callable[[], Value]]:
    """A mirror for a band of wavelengths: the thickness of layers of two materials in turn."""

    def build() -> Value:
        index, waves = np.resize([2.1, 1.46], layers), np.linspace(low, high, 40)
        return lambda x: float(1.0 - reflected(index, x, waves, 1.52).mean())

    return [(THIN, THICK)] * layers, build


@sizes(
    "coating",
    coating_8=("develop", 100, [8, 320.0]),
    coating_15=("report", 160, [15, 600.0]),
)
def coating(layers: int, depth: float) -> tuple[Box, Callable[[], Value]]:
    """A coating that reflects little: the permittivity of layers of equal thickness."""

    def build() -> Value:
        thickness, waves = np.full(layers, depth / layers), np.linspace(420.0, 920.0, 60)
        return lambda x: 100.0 * float(reflected(np.sqrt(x), thickness, waves, 3.5).mean())

    return [(1.0, 12.0)] * layers, build


@sizes(
    "coating",
    oblique_6=("develop", 100, [6]),
    oblique_12=("report", 160, [12]),
)
def oblique(layers: int) -> tuple[Box, Callable[[], Value]]:
    """A coating for light from three directions: the thickness of layers of three materials."""

    def build() -> Value:
        index, waves = np.resize([1.38, 2.35, 1.63], layers), np.linspace(430.0, 670.0, 30)
        angles = np.radians([0.0, 30.0, 55.0])
        return lambda x: (
            100.0 * float(np.mean([reflected(index, x, waves, 1.8, angle) for angle in angles]))
        )

    return [(10.0, 220.0)] * layers, build
