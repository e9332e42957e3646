"""Loaders: GENIA-shaped XML with invented text, marked text, damaged files, the real corpus."""

import gzip
import io
import os
import tarfile
import time
from pathlib import Path

import numpy as np
import pytest

from bamsoo_lab import terms
from bamsoo_lab.terms import corpus as corpora

# Invented text in GENIA's markup: nested terms, a term cut by punctuation, a coordination whose
# parts have no `sem`, entities, a DTD that is not there, an id that occurs twice.
XML = b"""<?xml version="1.0" encoding="UTF-8"?>
<?xml-stylesheet type="text/css" href="gpml.css" ?>
<!DOCTYPE set SYSTEM "gpml.dtd">
<set>
<import resource="x.daml" prefix="G"></import>
<article><articleinfo><bibliomisc>MEDLINE:1</bibliomisc></articleinfo>
<title><sentence><cons lex="blue_engine_oil" sem="G#x"><cons lex="Blue_engine" sem="G#x">Blue
engine</cons> oil</cons> burns.</sentence></title>
<abstract><sentence>Both <cons lex="(AND red_gear green_gear)" sem="(AND G#x G#x)"><cons
lex="red*">red</cons> and <cons lex="green*">green</cons> <cons lex="*gear">gears</cons></cons>
turn at &lt;5 rpm &amp; stop.</sentence></abstract></article>
<article><articleinfo><bibliomisc>MEDLINE:1</bibliomisc></articleinfo>
<title><sentence>The <cons lex="blue_engine" sem="G#x">blue engine</cons>.</sentence></title>
<abstract><sentence><cons lex="gear_(G)_box" sem="G#x">gear (G) box</cons>es</sentence></abstract>
</article>
</set>
"""


def archive(xml: bytes, name: str = "GENIA_term_3.02/GENIAcorpus3.02.xml") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for path, content in ((name, xml), ("GENIA_term_3.02/LICENSE", b"words")):
            member = tarfile.TarInfo(path)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


@pytest.mark.parametrize("wrap", [lambda xml: xml, archive, gzip.compress])
def test_genia_markup(tmp_path, wrap):
    path = tmp_path / "corpus"
    path.write_bytes(wrap(XML))
    corpus = terms.load(path, verify=False)
    assert corpus.segments == [
        ["blue", "engine", "oil", "burns"],
        ["both", "red", "and", "green", "gears", "turn", "at"],
        ["5", "rpm"],
        ["stop"],
        ["the", "blue", "engine"],
        ["gear"],
        ["g"],
        ["boxes"],
    ]
    assert corpus.gold == {
        "blue engine oil", "blue engine", "red and green gears", "red", "green", "gears"
    }  # fmt: skip
    assert corpus.facts == {
        "articles": 2,
        "distinct ids": 1,
        "sentences": 4,
        "cons": 8,
        "cons with sem": 5,
        "outermost cons": 4,
        "surface terms": 8,
        "lower-cased surface terms": 7,
    }


def test_marked_text(tmp_path):
    path = tmp_path / "entries.dict.dz"  # dictzip is gzip with an index in its header
    path.write_bytes(gzip.compress(b"A {query\n  language}, see\n {SQL}.\n\nfor {(ftp://x.y)} it"))
    corpus = terms.load(path)
    assert corpus.gold == {"query language", "sql"}
    assert corpus.segments == [
        ["a", "query", "language"], ["see", "sql"], ["for"], ["ftp"], ["x"], ["y"], ["it"]
    ]  # fmt: skip
    assert corpus.facts == {"paragraphs": 2, "marks": 3}


def test_a_blank_line_ends_a_segment():
    assert corpora.marked("one\n \ntwo three").segments == [["one"], ["two", "three"]]


def test_gold_list(tmp_path):
    path = tmp_path / "gold.txt"
    path.write_text("Query Language\n\nSE (steam)\n SQL \n", encoding="utf-8")
    assert terms.read_gold(path) == {"query language", "sql"}


WHOLE = archive(XML)
BAD = {
    "truncated archive": (WHOLE[: len(WHOLE) // 2], "truncated or damaged"),
    "truncated tar": (gzip.decompress(WHOLE)[:700], "truncated or damaged"),
    "gzip in name only": (b"\x1f\x8bnothing of the sort", "truncated or damaged"),
    "archive without XML": (archive(b"words", "readme.txt"), "contains 0 .xml files"),
    "another XML": (XML, "is not GENIA 3.02: its XML has sha256"),
    "changed archive": (WHOLE, "is not GENIA 3.02: its XML has sha256"),
    "picture": (b"\x89PNG\r\n\x1a\n\0\0\xff", "neither GENIA's archive or XML nor UTF-8 text"),
    "binary": (b"plain\0bytes", "neither GENIA's archive or XML nor UTF-8 text"),
    "empty file": (b"", "contains no words"),
    "punctuation": (b"... {} !", "contains no words"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_in_one_sentence(tmp_path, name):
    content, message = BAD[name]
    path = tmp_path / "corpus.tgz"
    path.write_bytes(content)
    with pytest.raises(terms.CorpusError) as refusal:
        terms.load(path)
    assert message in str(refusal.value) and "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        (b"<?xml version='1.0'?><set><article>", "not well-formed"),
        (b"<?xml version='1.0'?><set/>", "contains no <sentence>"),
        (b"<?xml version='1.0'?><set><sentence> .</sentence></set>", "contains no words"),
    ],
)
def test_unverified_xml_is_still_checked(tmp_path, xml, message):
    path = tmp_path / "corpus.xml"
    path.write_bytes(xml)
    with pytest.raises(terms.CorpusError, match=message):
        terms.load(path, verify=False)


def test_missing_files_are_refused(tmp_path):
    for read in (terms.load, terms.read_gold):
        with pytest.raises(terms.CorpusError, match=r"cannot read .*No such file"):
            read(tmp_path / "nowhere")
        with pytest.raises(terms.CorpusError, match=r"cannot read .*directory"):
            read(tmp_path)


def test_a_gold_list_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "gold"
    path.write_bytes(b"\xff\xfe\0")
    with pytest.raises(terms.CorpusError, match="one gold term per line"):
        terms.read_gold(path)


# ---- the real corpus, where it is at hand ----

BESIDE = Path(__file__).resolve().parents[4] / "shared" / "genia" / "GENIAcorpus3.02.tgz"
GENIA = Path(os.environ.get("BAMSOO_GENIA", BESIDE))
needs_genia = pytest.mark.skipif(
    not GENIA.exists(), reason="GENIA 3.02 is not at hand: set BAMSOO_GENIA to its .tgz or .xml"
)


@pytest.fixture(scope="module")
def genia():
    corpus = terms.load(GENIA)
    return corpus, terms.Extractor(terms.count(corpus))


@pytest.mark.slow
@needs_genia
def test_genia_counts(genia):
    corpus, extractor = genia
    assert corpus.facts == {
        "articles": 2_000,
        "distinct ids": 1_999,
        "sentences": 18_546,
        "cons": 97_876,
        "cons with sem": 92_722,
        "outermost cons": 76_592,
        "surface terms": 36_616,
        "lower-cased surface terms": 35_517,
    }
    assert sum(term.count(" ") < 4 for term in corpus.gold) == 29_235
    assert extractor.counts.kgrams == (10_939, 39_151, 35_330, 18_588)


@pytest.mark.slow
@needs_genia
def test_genia_objective(genia):
    corpus, extractor = genia
    objective = terms.Objective(extractor, corpus.gold)
    assert objective.normalizer == 12_364
    assert terms.optimum(objective).thresholds == {"T1": 2, "T2": 2, "T3": 3, "T4": 5}
    assert objective([2, 2, 3, 5]) == pytest.approx(0.5224, abs=5e-5)
    smaller = terms.Objective(extractor, corpus.gold, normalizer=5_000)
    assert smaller([5, 4, 10, 10]) == pytest.approx(0.656, abs=5e-4)
    assert terms.optimum(smaller).score.f == pytest.approx(0.6557, abs=5e-5)


@pytest.mark.slow
@needs_genia
def test_genia_evaluates_in_less_than_5_ms(genia):
    corpus, extractor = genia
    objective = terms.Objective(extractor, corpus.gold)
    seconds = []
    for T in np.geomspace(1, 30, 50):
        start = time.perf_counter()
        objective([T, T, T, T])
        seconds.append(time.perf_counter() - start)
    assert np.median(seconds) < 5e-3
