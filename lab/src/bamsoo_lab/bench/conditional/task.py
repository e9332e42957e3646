"""Conditional tasks: the registry, and what the modules that define them share."""

from functools import partial

from ..tuning.task import TuningTask, register

TASKS: dict[str, TuningTask] = {}
"""Every task by name, filled by the modules that define them."""

task = partial(register, TASKS)
"""Register the decorated ``build(instance)`` as a task."""
