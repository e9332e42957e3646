"""Conditional tasks: the registry, and what the modules that define them share."""

from functools import partial

from ..named import Named
from ..tuning.task import TuningTask, register

TASKS: Named[TuningTask] = Named("conditional task")

BUDGET = 50

task = partial(register, TASKS, BUDGET)
"""Register the decorated ``build(instance)`` as a task."""
