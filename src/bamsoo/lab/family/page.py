"""The part of a page of the documentation that `bamsoo reproduce family` writes."""

from datetime import UTC, datetime
from pathlib import Path

from ..._version import __version__
from ..bench import docs
from ..jobs.source import searches

PART = "family"


def check(page: Path) -> None:
    """Refuse, before anything runs, a page without that part."""
    docs.split(page, PART)


def rewrite(page: Path, folder: Path) -> None:
    """Put what a reproduction wrote to its folder into the page, with the pictures beside it."""
    sections = sorted((folder / "sections").glob("*-family-*.md"))
    pictures = sorted((folder / "pictures").glob("family-*.png"))
    head = f"Written {datetime.now(UTC).date()} with bamsoo {__version__}, source {searches()}."
    text = "\n\n".join([head, *(section.read_text("utf-8") for section in sections)])
    docs.rewrite(page, PART, text, pictures)
