"""The places where a study can be, each with the module that knows how to use it."""

from importlib import import_module
from os import PathLike

from ..errors import SettingsError
from .address import Address, FileAddress, ServerAddress, parse
from .journal import Backend, Journal, Metadata, Readable

MODULES: dict[type[Address], str] = {FileAddress: ".files", ServerAddress: ".postgresql"}
"""For each kind of address, the module whose `BACKEND` it belongs to. It is loaded when it is
needed, because some take long to load."""


def _of(study: str | PathLike[str]) -> tuple[Backend, Address]:
    address = parse(study)
    if isinstance(address, FileAddress) and address.name:
        raise SettingsError(
            f"{address.shown}: a file has one study of bamsoo, which has no name; leave out "
            f"#{address.name}"
        )
    backend: Backend = import_module(MODULES[type(address)], __package__).BACKEND
    return backend, address


def open_journal(study: str | PathLike[str], write: bool, new: Metadata) -> Journal:
    """Open a study; to write, create it if need be, with the metadata of `new()`."""
    backend, address = _of(study)
    return backend.open(address, write, new)


def exists(study: str | PathLike[str]) -> bool:
    """Whether there is something under this path, or a study at this address."""
    backend, address = _of(study)
    return backend.exists(address)


def is_written(study: str | PathLike[str]) -> bool:
    """Whether a process has the study open for writing."""
    backend, address = _of(study)
    return backend.is_open(address)


def signature(study: str | PathLike[str]) -> object:
    """A value that changes whenever the study has been written to."""
    backend, address = _of(study)
    return backend.signature(address)


def readable(study: str | PathLike[str]) -> Readable:
    """What can be read of a study that may be damaged."""
    backend, address = _of(study)
    return backend.readable(address)
