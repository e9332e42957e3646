"""The defaults of a search, shared by every way of starting one."""

from typing import Final

ALGORITHM: Final = "auto"
DIRECTION = "minimize"
SEED = 0
