"""What a search is where its caller does not say: shared by every way of starting one."""

ALGORITHM = "auto"
DIRECTION = "minimize"
SEED = 0
