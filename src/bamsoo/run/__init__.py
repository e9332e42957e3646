"""Evaluating a function: `minimize` and `maximize`, the loop, and the pools of workers."""
