"""Conditional tasks: the registry, and what the modules that define them share."""

from functools import partial

from ..named import Named
from ..tuning.task import TuningTask, register

TASKS: Named[TuningTask] = Named("conditional task")

task = partial(register, TASKS)
"""Register the decorated ``build(instance)`` as a task."""
