"""Running a search: `minimize` and `maximize`, the loop, and the pools of workers."""
