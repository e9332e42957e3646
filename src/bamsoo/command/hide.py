"""Keep a password that was typed into an address out of the list of processes.

Everybody on a machine can read the command line of a process. So a command that was given a
password starts itself again, with the address as it may be shown, and hands the password over in
the environment, which only the same user can read. This module loads nothing that takes long, so
that the password is visible for a moment only.
"""

import json
import os
import sys

from ..errors import SettingsError
from ..study.address import ServerAddress, parse

VARIABLE = "BAMSOO_ADDRESSES"
"""The addresses in full, by how they may be shown, in JSON."""


def restored() -> list[str]:
    """The arguments of this process, after a start without the passwords in them."""
    handed = os.environ.pop(VARIABLE, None)  # which no program that is run needs to know
    if handed is not None:
        full = json.loads(handed)
        return [full.get(word, word) for word in sys.argv[1:]]
    secret = {word: shown for word in sys.argv[1:] if (shown := _without_password(word)) != word}
    if secret and hasattr(os, "fork"):  # elsewhere, a caller would not wait for the new process
        line = [secret.get(word, word) for word in sys.orig_argv]
        full = json.dumps({shown: word for word, shown in secret.items()})
        sys.stdout.flush()
        os.execve(sys.executable, line, {**os.environ, VARIABLE: full})
    return sys.argv[1:]


def _without_password(word: str) -> str:
    """The word as it may be shown, if it is an address or an option with one."""
    if "://" not in word:
        return word
    option, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    try:
        address = parse(value)
    except SettingsError:
        return word  # the command will refuse it
    if isinstance(address, ServerAddress):
        return f"{option}{equals}{address.shown}"
    return word
