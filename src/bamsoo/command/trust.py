"""Whether `resume` may run the command that a study file names, which may come from a stranger.

`minimize` signs the command that it writes into a study with a key that only this user has. If the
signature is missing, or does not fit the command, directory or parameters, the file was made by
somebody else or somewhere else.
"""

import hmac
import os
import secrets
import shlex
import sys
from contextlib import suppress
from json import dumps
from pathlib import Path
from typing import Any

import click

from ..base.checks import brief
from ..errors import StudyError
from ..run.command import WORKDIR
from .options import visible
from .settings import NOTED, SIGNED, SIGNED_IF_GIVEN
from .target import GivenTarget

LONGEST = 10_000
"""Largest number of characters of parameters that a person is asked to check, several screens. Of
more than that, nobody would notice the one option that does harm."""


def mark(note: dict[str, Any], space: Any) -> str | None:
    """The user's signature of what a study runs; None if no key can be stored."""
    key = _key()
    if key is None:
        return None
    later = {name: note[name] for name in SIGNED_IF_GIVEN if note.get(name)}
    known = [*(note.get(name) for name in SIGNED), space]
    what = dumps([*known, later] if later else known, sort_keys=True)
    return hmac.new(key, what.encode(), "sha256").hexdigest()


def check_note(study: str, note: Any) -> dict[str, Any]:
    """The note of a study about its run; raises an error unless it is as `minimize` writes it."""
    if not isinstance(note, dict) or "target" not in note:
        raise StudyError(
            f"{study}: does not say what to evaluate; continue with the call that created it, or "
            "with bamsoo minimize TARGET --study"
        )
    for name, fits in NOTED.items():
        if not fits(note.get(name)):
            raise StudyError(f"{study}: its {name} is invalid: {brief(note.get(name))}")
    return note


def confirm(
    study: str,
    note: dict[str, Any],
    settings: dict[str, Any],
    space: Any,
    yes: bool,
) -> None:
    """Show all that will run and ask, unless this user created it here or has given --yes.

    `settings` are those of the run, some of which the user may have given.
    """
    used = {**note, **settings}
    if yes or not _runs_code(note, used) or is_ours(note, space):
        return
    shown = f"{visible(study)} was not created by you in this directory. It runs {what_runs(used)}"
    lines = [visible(dumps(each)) for each in space["parameters"]]
    if (length := len(shown) + sum(map(len, lines))) > LONGEST:
        raise StudyError(
            f"{study} was not created by you in this directory, and what it runs takes {length} "
            f"characters to show, more than {LONGEST}; give --yes only if you trust where it is "
            "from"
        )
    click.echo("\n".join([f"{shown}; its parameters:", *lines]), err=True)
    if not sys.stdin.isatty():
        raise StudyError(f"{study}: nothing was run; check the above, and give --yes to run it")
    if not click.confirm("Run this?", err=True):
        raise StudyError(f"{study}: nothing was run")


def what_runs(note: dict[str, Any]) -> str:
    """What a study will run, in text that is safe to print in a terminal."""
    ((kind, what),) = note["target"].items()
    said = f"the {kind} {shlex.join(what) if kind == 'command' else what} in {note['directory']}"
    if note.get("workers"):
        said += f", {note['workers']} at once"
    if note.get("scheduler"):
        said += f", on the cluster at {note['scheduler']}"
    if note.get("trial_timeout"):
        said += f", for at most {note['trial_timeout']} s each"
    if note.get("value"):
        said += f", and reads the field {note['value']} of what it prints"
    if note.get("template") or note.get("workdir") or note.get("files"):
        files = ", ".join([*(note.get("template") or ()), *(note.get("files") or ())])
        said += f", each in a directory of its own in {note.get('workdir') or WORKDIR}"
        said += f" with {files}" if files else ""
    if note.get("output"):
        said += f", and reads its file {note['output']}"
    return visible(said)


def _runs_code(note: dict[str, Any], used: dict[str, Any]) -> bool:
    """Whether the file starts anything other than a built-in problem in this process."""
    target: GivenTarget = note["target"]
    from_file = [name for name in ("scheduler", "workers") if note.get(name)]
    return "problem" not in target or any(used[name] == note[name] for name in from_file)


def is_ours(note: dict[str, Any], space: Any) -> bool:
    """Whether this user wrote the note, in this directory."""
    here = os.path.realpath(note["directory"]) == os.path.realpath(Path.cwd())
    ours, theirs = mark(note, space), note.get("mark")
    return here and ours is not None and isinstance(theirs, str) and hmac.compare_digest(
        ours.encode(), theirs.encode()
    )  # fmt: skip


def _key() -> bytes | None:
    """The user's secret key, created on first use; None if it can be neither read nor stored."""
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    with suppress(OSError, RuntimeError):  # no home directory, or it cannot be written to
        file = Path(state).expanduser() / "bamsoo" / "key"
        with suppress(FileNotFoundError):
            return file.read_bytes() or None
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_name(f"key-{os.getpid()}")
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(secrets.token_bytes(32))
        try:
            os.link(new, file)  # atomic, and it never replaces a key that another process made
        except FileExistsError:
            pass
        finally:
            new.unlink()
        return file.read_bytes()
    return None
