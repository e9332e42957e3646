"""The part of a page of the documentation that `bamsoo reproduce family` writes."""

from datetime import UTC, datetime
from pathlib import Path

from bamsoo._version import __version__

from ..bench import docs
from ..jobs.source import searches

PART = "family"


def check(page: Path) -> None:
    """Raise an error, before anything runs, if the page does not have that part."""
    docs.split(page, PART)


def rewrite(page: Path, folder: Path) -> None:
    """Copy what a reproduction wrote to its folder into the page, and the pictures next to it."""
    sections = sorted((folder / "sections").glob("*-family-*.md"))
    pictures = sorted((folder / "pictures").glob("family-*.png"))
    today = datetime.now(UTC).date()
    head = (
        f"Written on {today} by `bamsoo reproduce family` with bamsoo {__version__}, "
        f"source {searches()}."
    )
    text = "\n\n".join([head, *(section.read_text("utf-8") for section in sections)])
    docs.rewrite(page, PART, text, pictures)
