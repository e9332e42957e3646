"""What the columns of a table of trials are called, so that no two of them have the same name."""

from collections.abc import Collection

OURS = ("trial", "state", "origin", "value", "variance", "feasible", "error", "steps", "front",
        "asked_at", "told_at")  # fmt: skip
"""Columns of data frames and of CSV files that are not parameters."""

PREFIXES = ("param:", "constraint:", "extra:", "last:", "objective:")
"""How the names of other such columns begin."""


def heading(name: str) -> str:
    """The column of a parameter: its name, with a prefix if it could be mistaken for another."""
    return f"param:{name}" if name in OURS or name.startswith(PREFIXES) else name


def objective_heading(name: str, taken: Collection[str]) -> str:
    """The column of one of several objectives: its name, with a prefix if that is taken."""
    return f"objective:{name}" if name in OURS or name in taken or ":" in name else name
