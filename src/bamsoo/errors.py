"""The errors bamsoo raises: one family, each also the builtin a caller would expect.

A message is one sentence: what came, what was expected, what to do.
"""


class BamsooError(Exception):
    """Anything bamsoo refuses; catch this to catch all of it."""


class SpaceError(BamsooError, ValueError):
    """A search space that is empty, reversed, infinite or otherwise unusable."""


class SettingsError(BamsooError, ValueError):
    """An algorithm, budget or option outside what is allowed."""


class TrialError(BamsooError, ValueError):
    """A trial that is not this optimiser's, or was told already."""


class ValueTypeError(BamsooError, TypeError):
    """An objective value that is not one real number."""


class ExhaustedError(BamsooError, RuntimeError):
    """`ask` after the search has nothing left to evaluate."""


class StudyError(BamsooError, RuntimeError):
    """A study file that is not one, is damaged, is in use, or does not fit what is asked of it."""


class EvaluationError(BamsooError, RuntimeError):
    """An evaluation that gave no value; the message says why."""


class WorkerError(BamsooError, RuntimeError):
    """Workers that cannot be started, or an executor that was shut down, broke or went away."""


class ModelError(BamsooError, RuntimeError):
    """A question for the model of a search that has none, or has not learned it yet."""
