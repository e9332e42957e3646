"""Corpora: segments of words, and the gold terms that are marked in them."""

import gzip
import hashlib
import io
import re
import tarfile
import xml.etree.ElementTree as ET
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from bamsoo.errors import BamsooError

from .text import as_term, segments

GENIA_SHA256 = "c6d6966ea48522e48aa4b268323934897d9336fab3942fb48134ac174d989c5e"
"""sha256 of `GENIAcorpus3.02.xml`, alone or inside its archive."""

_MARK = re.compile(r"\{([^{}]+)\}")
_PARAGRAPH = re.compile(r"\n\s*\n")


class CorpusError(BamsooError, ValueError):
    """A corpus that cannot be read, is not the expected one, or contains nothing to work on."""


@dataclass(frozen=True)
class Corpus:
    """A corpus, ready to be counted.

    Attributes
    ----------
    name : str
        Its name in messages.
    segments : sequence of sequences of str
        Runs of lower-cased words; no k-gram crosses from one into the next.
    gold : frozenset of str
        The marked terms, of any length, words joined by one space.
    facts : mapping of str to int
        What the loader counted, to be checked against what is known about the corpus.
    """

    name: str
    segments: Sequence[Sequence[str]]
    gold: frozenset[str] = frozenset()
    facts: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not any(self.segments):
            raise CorpusError(f"{self.name} contains no words; expected text to extract terms from")


def load(path: str | PathLike[str], *, verify: bool = True) -> Corpus:
    """Read a corpus; its kind is recognised by its content, not by its name.

    Parameters
    ----------
    path : path
        GENIA 3.02 as its ``.tgz`` or its ``.xml``, or UTF-8 text, plain or gzipped, in which gold
        terms are in braces: ``the {query language} of {Forth}``.
    verify : bool
        Refuse XML whose sha256 is not that of GENIA 3.02.

    Raises
    ------
    CorpusError
        If the file cannot be read, is damaged, is of another kind, or contains no words.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        if data[257:262] == b"ustar":
            data = _only_xml(data, path.name)
    except OSError as error:
        if isinstance(error, gzip.BadGzipFile):
            raise _damaged(path.name, error) from error
        raise CorpusError(f"cannot read {path}: {error.strerror or error}") from error
    except (EOFError, zlib.error, tarfile.TarError) as error:
        raise _damaged(path.name, error) from error
    if data.lstrip().startswith((b"<?xml", b"<set")):
        if verify and (found := hashlib.sha256(data).hexdigest()) != GENIA_SHA256:
            raise CorpusError(
                f"{path.name} is not GENIA 3.02: its XML has sha256 {found}, expected "
                f"{GENIA_SHA256}; fetch it again, or pass verify=False (--no-verify)"
            )
        return genia(data, path.name)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unknown(path.name) from error
    if "\0" in text:
        raise _unknown(path.name)
    return marked(text, path.name)


def genia(xml: bytes, name: str = "GENIA") -> Corpus:
    """Read GENIA's XML; every ``<cons>`` is a term, also nested ones and parts of coordinations."""
    try:
        root = ET.fromstring(xml)
    except ET.ParseError as error:
        raise CorpusError(f"{name} is not well-formed XML ({error}); expected GENIA's") from error
    sentences = list(root.iter("sentence"))
    if not sentences:
        raise CorpusError(f"{name} contains no <sentence>; expected GENIA's XML")
    cons = list(root.iter("cons"))
    inner = {part for whole in cons for part in whole.iter("cons") if part is not whole}
    surfaces = {_surface(term) for term in cons}
    ids = [_surface(element) for element in root.iter("bibliomisc")]
    return Corpus(
        name,
        [words for sentence in sentences for words in segments(_surface(sentence))],
        _gold(surfaces),
        {
            "articles": len(list(root.iter("article"))),
            "distinct ids": len(set(ids)),
            "sentences": len(sentences),
            "cons": len(cons),
            "cons with sem": sum("sem" in term.attrib for term in cons),
            "outermost cons": len(cons) - len(inner),
            "surface terms": len(surfaces),
            "lower-cased surface terms": len({surface.lower() for surface in surfaces}),
        },
    )


def marked(text: str, name: str = "text") -> Corpus:
    """Read text with its gold terms in braces; a blank line ends a sentence."""
    marks = _MARK.findall(text)
    paragraphs = _PARAGRAPH.split(_MARK.sub(r"\1", text))
    return Corpus(
        name,
        [words for paragraph in paragraphs for words in segments(paragraph)],
        _gold(marks),
        {"paragraphs": len(paragraphs), "marks": len(marks)},
    )


def read_gold(path: str | PathLike[str]) -> frozenset[str]:
    """Read gold terms from a UTF-8 file, one per line."""
    path = Path(path)
    try:
        return _gold(path.read_text(encoding="utf-8").splitlines())
    except OSError as error:
        raise CorpusError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{path.name} is not UTF-8 text; expected one gold term per line"
        ) from error


def _gold(surfaces: Iterable[str]) -> frozenset[str]:
    return frozenset(term for term in map(as_term, surfaces) if term is not None)


def _surface(element: ET.Element) -> str:
    return " ".join("".join(element.itertext()).split())


def _only_xml(data: bytes, name: str) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        found = [member for member in archive.getmembers() if member.name.endswith(".xml")]
        if len(found) != 1 or (file := archive.extractfile(found[0])) is None:
            raise CorpusError(
                f"{name} contains {len(found)} .xml files; expected one, GENIA's corpus"
            )
        return file.read()


def _damaged(name: str, error: Exception) -> CorpusError:
    return CorpusError(f"{name} is truncated or damaged ({error}); expected a complete archive")


def _unknown(name: str) -> CorpusError:
    return CorpusError(
        f"{name} is neither GENIA's archive or XML nor UTF-8 text; expected one of these"
    )
