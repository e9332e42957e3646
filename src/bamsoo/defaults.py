"""What a search is where its caller does not say: shared by every way of starting one."""

from typing import Final

ALGORITHM: Final = "auto"
DIRECTION = "minimize"
SEED = 0
