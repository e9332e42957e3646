"""The part of a page of the documentation that `bamsoo reproduce family` writes."""

from pathlib import Path

from ..bench import docs

PART = "family"


def check(page: Path) -> None:
    """Raise an error, before anything runs, if the page does not have that part."""
    docs.find(page, PART)


def rewrite(page: Path, folder: Path) -> None:
    """Copy what a reproduction wrote to its folder into the page, and the pictures next to it."""
    sections = sorted((folder / "sections").glob("*-family-*.md"))
    pictures = sorted((folder / "pictures").glob("family-*.png"))
    head = docs.written("bamsoo reproduce family")
    text = "\n\n".join([head, *(section.read_text("utf-8") for section in sections)])
    docs.rewrite(page, PART, text, pictures)
