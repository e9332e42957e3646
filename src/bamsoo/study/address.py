"""Addresses of studies: the only place that reads one, and that says which part may be shown.

A study is in a file, given by its path or as ``sqlite:///PATH``, or on a server, given as
``SCHEME://USER:PASSWORD@HOST/DATABASE?OPTIONS#NAME``. People type passwords as they are, with
characters that should be written as ``%2F`` and the like. Such an address is understood as long as
it can be read in only one way; otherwise it is refused. No message ever repeats a part of an
address that was refused, because that part may be the password.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import NamedTuple, TypeAlias
from urllib.parse import quote, unquote, urlencode

from ..base.checks import LONGEST_NAME
from ..errors import SettingsError

OWN = ("postgresql", "postgres")
"""The schemes of bamsoo's own studies on servers."""

KNOWN = ("sqlite", *OWN, "mysql", "mariadb", "oracle", "mssql")
"""The databases that bamsoo or Optuna can use; a driver may follow, as in mysql+pymysql."""

SHOWN_OPTIONS = ("host", "hostaddr", "port", "dbname", "user", "sslmode", "service")
"""The options of an address that are shown. Several others contain secrets, and a newer version of
PostgreSQL may add more."""

LONGEST_FILE = 120
"""Largest number of characters of the name of a file that is made from another name. File systems
allow 255 bytes, of which some are needed for what is appended."""

SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*)://")
ALMOST = re.compile(
    rf"(?:{'|'.join(KNOWN)})(?:\+\w+)?:|[a-z][\w+.-]+:.*@|.*(?:://|/.*:.*@|\bpassword\s*=)",
    re.IGNORECASE | re.DOTALL,
)
"""How a text begins, or what it contains, that was meant as an address and is not one."""

HOST = r"(?:\[[^\]@/?#]*\]|[^:,\[\]@/?#]*)(?::\d*)?"
READING = re.compile(
    rf"(?P<hosts>{HOST}(?:,{HOST})*)(?:/(?P<database>[^@/?#]*))?(?:\?(?P<options>[^#]*))?"
    r"(?:#(?P<name>.*))?",
    re.DOTALL,
)
"""What follows the user and the password."""

OPTION = re.compile(r"[?&]\w+=")
"""An option, which does not belong into the name of a study."""


class SafeAddress(str):
    """The address of a study on a server, without its password."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the study."""
        return self.partition("#")[2]


StudyPlace: TypeAlias = Path | SafeAddress
"""Where a study is, for people to read: a file, or a name on a server."""


@dataclass(frozen=True)
class FileAddress:
    """A study in a file."""

    path: Path
    name: str = ""
    """The name of a study of Optuna, of which a file may have several."""

    @property
    def shown(self) -> str:
        """The address for people to read."""
        return os.fspath(self.path)

    @property
    def file(self) -> Path:
        """The file; what is made from a study has names that derive from it."""
        return self.path


@dataclass(frozen=True)
class ServerAddress:
    """A study on a server."""

    scheme: str
    user: str
    password: str = field(repr=False)
    hosts: str
    """One or several hosts with their ports, as they were given."""
    database: str
    options: tuple[tuple[str, str], ...] = field(repr=False)
    name: str
    """The name of the study; empty if the address has none."""

    @property
    def own(self) -> bool:
        """Whether it is an address of bamsoo's own studies."""
        return self.scheme in OWN

    @property
    def shown(self) -> SafeAddress:
        """The address for people to read: without a password."""
        options = urlencode([each for each in self.options if each[0] in SHOWN_OPTIONS], safe="/")
        return SafeAddress(
            f"{self.scheme}://{self.user}{'@' if self.user else ''}{self.hosts}"
            f"{'/' if self.database else ''}{self.database}{'?' if options else ''}{options}"
            f"{'#' if self.name else ''}{self.name}"
        )

    @property
    def file(self) -> Path:
        """The name of a file in this directory that the study could have."""
        return Path(f"{file_name(self.name)}.db")

    @property
    def keywords(self) -> dict[str, str]:
        """The address as libpq takes it, part by part, so that nothing has to be quoted."""
        hosts, ports = [], []
        for each in self.hosts.split(","):
            host, _, port = each.rpartition(":") if re.search(r":\d*$", each) else (each, "", "")
            hosts.append(unquote(host.strip("[]")))
            ports.append(port)
        found = {
            "user": unquote(self.user),
            "password": unquote(self.password),
            "host": ",".join(hosts),
            "port": ",".join(ports) if any(ports) else "",
            "dbname": unquote(self.database),
        }
        return {key: value for key, value in found.items() if value} | dict(self.options)

    @property
    def uri(self) -> str:
        """The address as other programs read it, with the password and without the name."""
        who = quote(unquote(self.user), safe="")
        if self.password:
            who += f":{quote(unquote(self.password), safe='')}"
        options = urlencode(self.options)
        return (
            f"{self.scheme}://{who}{'@' if who else ''}{self.hosts}/{self.database}"
            f"{'?' if options else ''}{options}"
        )


Address: TypeAlias = FileAddress | ServerAddress


def parse(study: str | PathLike[str]) -> Address:
    """Read the path or the address of a study.

    Raises
    ------
    SettingsError
        If it is an address that cannot be read, or that can be read in several ways.
    """
    text = os.fspath(study)
    found = SCHEME.match(text) if isinstance(study, str) else None
    if found is None:  # the name of a file, which may have any characters if it exists
        if ALMOST.match(text) and not os.path.lexists(text):
            raise SettingsError(
                "the address of a study must be a string such as postgresql://user@host/db#name; "
                "what was given looks like an address, but is not one"
            )
        return FileAddress(Path(text))
    scheme = found[1].lower()
    kind = scheme.partition("+")[0]
    if kind not in KNOWN:
        raise SettingsError(
            f"a study cannot be at an address that begins with {scheme}://; give the path of a "
            "file, or postgresql://user@host/db#name"
        )
    return (_file if kind == "sqlite" else _server)(scheme, text[found.end() :])


def _file(scheme: str, rest: str) -> FileAddress:
    """The file of an address as Optuna and SQLAlchemy write it; its options are not needed."""
    whole, name = rest.removeprefix("/"), ""
    before, _, after = whole.rpartition("#")
    if after and not os.path.lexists(whole) and os.path.lexists(before.partition("?")[0]):
        whole, name = before, after
    path, _, options = whole.partition("?")
    if path.startswith("file:") and "uri=true" in options.lower():
        path = unquote(path.removeprefix("file:"))
    if not rest.startswith("/") or path in ("", ":memory:"):
        raise SettingsError(
            f"the address {scheme}://… names no file; write sqlite:/// and then the path, such as "
            "sqlite:///run.db"
        )
    return FileAddress(Path(path), name)


def _server(scheme: str, rest: str) -> ServerAddress:
    found = [each for each in _readings(rest) if scheme in OWN or not each.name]
    if len(found) != 1 or not found[0].certain:
        raise SettingsError(
            f"the address that begins with {scheme}:// cannot be read, or in more than one way; "
            f"expected {scheme}://USER:PASSWORD@HOST/DATABASE, and #NAME for a study of bamsoo, "
            "where the user name and the password have % as %25, : as %3A, @ as %40, / as %2F, "
            "? as %3F and # as %23"
        )
    (reading,) = found
    return ServerAddress(scheme, *reading[:-1])


class AddressReading(NamedTuple):
    """One way to read an address on a server."""

    user: str
    password: str
    hosts: str
    database: str
    options: tuple[tuple[str, str], ...]
    name: str
    doubtful: bool
    """Whether an @ comes so late that what is before it may be the end of a password."""

    @property
    def certain(self) -> bool:
        """Whether neither the name nor the hosts are parts of a password, as far as can be seen."""
        known = all(key in SHOWN_OPTIONS for key, _ in self.options)
        name = (known or "#" not in self.name) and not OPTION.search(self.name)
        return not self.doubtful and name


def _readings(rest: str) -> Iterator[AddressReading]:
    """Each way to tell the user and the password from what follows them."""
    ats = (match.start() for match in re.finditer("@", rest))
    for at in chain((-1,), ats):
        user, colon, password = rest[: max(at, 0)].partition(":")
        match = READING.fullmatch(rest[at + 1 :])
        if match is not None and not re.search("[@/?#]", user):
            hosts, database, options, name = match.groups("")
            pairs = (each.partition("=") for each in options.split("&") if each)
            given = {unquote(key): unquote(value) for key, _, value in pairs}
            if given.get("ssl") == "true":  # as libpq reads it
                given = {key: value for key, value in given.items() if key != "ssl"}
                given["sslmode"] = "require"
            doubtful = "@" in options + name and ":" in colon + hosts
            kept = tuple(given.items())
            yield AddressReading(user, password, hosts, database, kept, name, doubtful)


def own_server(address: ServerAddress) -> ServerAddress:
    """The same address; raises an error unless it is that of one of bamsoo's own studies."""
    if not address.own:
        raise SettingsError(
            f"{address.shown}: a study of bamsoo can be on a PostgreSQL server only; give an "
            "address such as postgresql://user@host/db#name"
        )
    if not 0 < len(address.name) <= LONGEST_NAME or not address.name.isprintable():
        raise SettingsError(
            f"{address.shown}: the name of the study is missing; add it at the end, as in "
            "postgresql://user@host/db#name"
        )
    return address


def file_name(text: str) -> str:
    """A name for a file, made from any text: one without directories, and not a hidden one."""
    plain = "".join(c if c.isalnum() or c in "-_." else "-" for c in text)[:LONGEST_FILE]
    return re.sub(r"^\.+", lambda dots: "-" * len(dots[0]), plain) or "study"
