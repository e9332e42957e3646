"""The errors that bamsoo raises: one family, in which each is also the matching builtin error.

A message is one sentence: what was given, what was expected, what to do.
"""

__all__ = [
    "BamsooError",
    "CallError",
    "EvaluationError",
    "ExhaustedError",
    "LateError",
    "ModelError",
    "ReplayError",
    "SettingsError",
    "SpaceError",
    "StudyError",
    "TrialError",
    "TryAgain",
    "ValueTypeError",
    "WorkerError",
]


class BamsooError(Exception):
    """The base class of all errors that bamsoo raises: catch this one to catch them all."""


class SpaceError(BamsooError, ValueError):
    """A search space that is empty, reversed, infinite or otherwise unusable."""


class SettingsError(BamsooError, ValueError):
    """An algorithm, budget or option outside what is allowed."""


class CallError(BamsooError, TypeError):
    """A call with an argument that does not exist, or without one that is needed."""


class TrialError(BamsooError, ValueError):
    """A trial that belongs to another optimiser, or whose value has already been told."""


class LateError(TrialError):
    """A value for a trial that another process has finished meanwhile; that one is kept."""


class ValueTypeError(BamsooError, TypeError):
    """An objective value that is not one real number."""


class ExhaustedError(BamsooError, RuntimeError):
    """`ask` was called when the search has nothing left to evaluate."""


class StudyError(BamsooError, RuntimeError):
    """A study file that is invalid, damaged or in use, or that does not fit the request."""


class ReplayError(StudyError):
    """A search that is repeated from its events, and asks for other points than before."""


class EvaluationError(BamsooError, RuntimeError):
    """An evaluation that gave no value; the message says why."""

    beside: "dict[str, str] | None" = None
    """What is recorded with the failed trial, by name."""


class TryAgain(BamsooError, RuntimeError):  # noqa: N818 (it says what to do, and is no failure)
    """An evaluation that could not take place, and that is to be tried again later.

    A function raises it when something that it needs is missing for a while, such as a licence. The
    trial does not fail: it stays pending, and the run pauses.
    """


class WorkerError(BamsooError, RuntimeError):
    """Workers that cannot be started, or an executor that was shut down, broke or disappeared."""


class ModelError(BamsooError, RuntimeError):
    """A prediction was requested from a search that has no model, or has not learned it yet."""
