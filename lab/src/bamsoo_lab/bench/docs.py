"""Parts of a page that a command writes, between markers that are not visible to a reader.

The first marker has a checksum of the part, so that a test notices a part that was edited by hand.
"""

import platform
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bamsoo._version import __version__

from ..jobs.source import searches
from .errors import BenchError

PART = re.compile(
    r"<!-- bench:(?P<name>[\w-]+)(?:, checksum (?P<checksum>\w+))? -->"
    r"(?P<body>.*?)<!-- end of bench:(?P=name) -->",
    re.S,
)


class PagePart(NamedTuple):
    """A part of a page: its name, its text, where it is, and the checksum in its marker."""

    name: str
    body: str
    start: int
    end: int
    checksum: str | None


def checksum(body: str) -> str:
    """The checksum of a part's text."""
    return sha256(body.strip().encode()).hexdigest()[:12]


def parts(text: str) -> Iterator[PagePart]:
    """The parts of a page, in order."""
    for found in PART.finditer(text):
        body = found["body"].strip()
        yield PagePart(found["name"], body, found.start(), found.end(), found["checksum"])


def find(page: Path, name: str) -> PagePart:
    """The part `name` of a page."""
    for part in parts(page.read_text("utf-8")):
        if part.name == name:
            return part
    raise BenchError(
        f"{page} has no part {name!r}: expected the lines <!-- bench:{name} --> and "
        f"<!-- end of bench:{name} -->"
    )


def rewrite(page: Path, name: str, text: str, pictures: Iterable[Path]) -> None:
    """Replace the part `name` of a page; its pictures go to the folder named after the page."""
    part = find(page, name)
    folder = page.with_suffix("")
    for picture in pictures:
        folder.mkdir(exist_ok=True)
        shutil.copyfile(picture, folder / picture.name)
    body = text.replace("](pictures/", f"]({folder.name}/").strip()
    begin, end = (
        f"<!-- bench:{name}, checksum {checksum(body)} -->",
        f"<!-- end of bench:{name} -->",
    )
    whole = page.read_text("utf-8")
    page.write_text(f"{whole[: part.start]}{begin}\n\n{body}\n\n{end}{whole[part.end :]}", "utf-8")


def folded(summary: str, blocks: Sequence[str]) -> list[str]:
    """Blocks of Markdown that a reader opens with a click; nothing if there are none."""
    if not blocks:
        return []
    return [f"<details>\n<summary>{summary}</summary>", *blocks, "</details>"]


def written(command: str) -> str:
    """A sentence on when a part was written, by which command, and with which source."""
    today = datetime.now(UTC).date().isoformat()
    return (
        f"Written on {today} by `{command}` (bamsoo {__version__}, source {searches()}, "
        f"Python {platform.python_version()}, numpy {np.__version__})."
    )
