"""The part of a page of the documentation that `bamsoo reproduce family` writes."""

from pathlib import Path

from ..bench import docs

PART = "family"


def check(page: Path) -> None:
    """Refuse, before anything runs, a page without that part."""
    docs.split(page, PART)


def rewrite(page: Path, folder: Path) -> None:
    """Put what a reproduction wrote to its folder into the page, with the pictures beside it."""
    sections = sorted((folder / "sections").glob("*-family-*.md"))
    pictures = sorted((folder / "pictures").glob("family-*.png"))
    text = "\n\n".join(section.read_text("utf-8") for section in sections)
    docs.rewrite(page, PART, text, pictures)
