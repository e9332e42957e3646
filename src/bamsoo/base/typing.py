"""Type names that the whole package shares."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]

Simple: TypeAlias = float | int | str | bool | None
"""A value that people read in a table, and that fits into a file."""
