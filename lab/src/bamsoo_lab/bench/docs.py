"""Parts of a page that a command writes, between markers that are not visible to a reader."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from .errors import BenchError


def split(page: Path, name: str) -> tuple[str, str]:
    """The text before and after the part `name` of a page, including the markers."""
    begin, end = f"<!-- bench:{name} -->", f"<!-- end of bench:{name} -->"
    before, found, rest = page.read_text("utf-8").partition(begin)
    _, found_too, after = rest.partition(end)
    if not (found and found_too):
        raise BenchError(f"{page} has no part {name!r}: expected the lines {begin} and {end}")
    return before + begin, end + after


def rewrite(page: Path, name: str, text: str, pictures: Iterable[Path]) -> None:
    """Replace the part `name` of a page; its pictures go to the folder named after the page."""
    before, after = split(page, name)
    folder = page.with_suffix("")
    for picture in pictures:
        folder.mkdir(exist_ok=True)
        shutil.copyfile(picture, folder / picture.name)
    body = text.replace("](pictures/", f"]({folder.name}/")
    page.write_text(f"{before}\n\n{body}\n\n{after}", "utf-8")
