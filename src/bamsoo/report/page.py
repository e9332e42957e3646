"""The page: HTML, style, scripts and data in a single file that loads nothing else."""

import json
import os
import tempfile
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from html import escape
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Any

from ..errors import SettingsError

SCRIPTS = (
    *("numbers.js", "base.js", "charts.js", "sections/best.js", "sections/convergence.js"),
    "sections/fit.js",
    *("sections/parameters.js", "sections/front.js", "sections/curves.js", "sections/parallel.js"),
    *("sections/partition.js", "sections/slices.js", "sections/trials.js", "start.js"),
)
"""The scripts in the order in which they depend on each other. Together with what starts the page,
they are joined into one."""

MARK = '<meta name="generator" content="bamsoo report">'
"""Identifies a report; it is in the first kilobyte of the file."""


def render(report: dict[str, Any]) -> str:
    """The page for the data that `describe` returned."""
    return _page(report["title"], report, "start(first);\n", "", "")[0]


def render_live(news: dict[str, Any]) -> tuple[str, str]:
    """The page of `bamsoo watch`, and the content security policy to send with it.

    `news` is the data that the page shows at first; it asks the server for later changes.
    """
    title = news["trials"]["title"]
    now = (
        '  <section id="now" aria-labelledby="now-h"><h2 id="now-h">Running now</h2>'
        '<div class="body"></div></section>\n'
    )
    return _page(title, news, _asset("live.js"), now, "; connect-src 'self'")


def render_static(title: str, sections: str) -> str:
    """A page without scripts; the sections are HTML."""
    style = _asset("page.css")
    policy = f"default-src 'none'; style-src '{_hash(style)}'; img-src data:; base-uri 'none'"
    parts = {
        "MARK": MARK,
        "POLICY": f"{policy}; form-action 'none'",
        "TITLE": escape(title),
        "STYLE": style,
        "SECTIONS": sections,
    }
    return _filled("compare.html", parts)


def _filled(template: str, parts: dict[str, str]) -> str:
    pieces = _asset(template).split("@@")
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def _page(
    title: str, data: dict[str, Any], starter: str, sections: str, allowed: str
) -> tuple[str, str]:
    style = _asset("page.css")
    script = '"use strict";\n(() => {\n' + "\n".join([*map(_asset, SCRIPTS), starter]) + "})();\n"
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        f"img-src data:; base-uri 'none'; form-action 'none'{allowed}"
    )
    parts = {
        "MARK": MARK,
        "POLICY": policy,
        "TITLE": escape(title),
        "STYLE": style,
        "LIVE": sections,
        "DATA": embedded(data),
        "SCRIPT": script,
    }
    return _filled("page.html", parts), policy


def as_json(data: Any) -> str:
    """JSON that a browser reads, with null for a number that is not finite."""
    try:
        return json.dumps(data, allow_nan=False, separators=(",", ":"))
    except ValueError:
        return as_json(_finite(data))


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(each) for key, each in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(each) for each in data]
    return data if not isinstance(data, float) or isfinite(data) else None


def embedded(data: Any) -> str:
    """JSON that is safe inside a script element, whatever strings it contains."""
    text = as_json(data)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def replace_report(path: Path, make: Callable[[], str]) -> None:
    """Write the text that `make` returns, atomically; replace a file only if it is a report."""
    if os.path.lexists(path) and not _is_report(path):
        raise SettingsError(
            f"{path}: this file exists and is not a report; give another name with -o"
        )
    if not path.parent.is_dir():
        raise SettingsError(
            f"{path}: the directory {str(path.parent)!r} does not exist; create it first"
        )
    replace_file(path, make().encode("utf-8", "backslashreplace"))


def replace_file(path: Path, content: bytes) -> None:
    """Write a file under another name, then rename it, so that there is never half a file."""
    path = Path(os.path.realpath(path))  # replace the file, not a symbolic link to it
    new: str | None = None
    try:
        if path.exists() and not path.is_file():  # a pipe or a device cannot be replaced
            path.write_bytes(content)
            return
        handle, new = tempfile.mkstemp(path.suffix, f".{path.stem}-", path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(new).chmod(0o666 & ~_umask())  # the usual permissions of a new file
        Path(new).replace(path)
    except OSError as error:
        raise SettingsError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        if new is not None:
            with suppress(OSError):
                Path(new).unlink()


def _is_report(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return MARK.encode() in file.read(1024)
    except OSError:
        return False


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
