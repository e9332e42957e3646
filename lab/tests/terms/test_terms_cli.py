"""The command `terms`."""

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner

from bamsoo_lab.terms.cli import terms

TEXT = "The {fox den} is deep. A fox den! One {fox} and one fox, two foxes, a fox.\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("corpus.txt").write_text(TEXT, encoding="utf-8")
    Path("plain.txt").write_text(TEXT.replace("{", "").replace("}", ""), encoding="utf-8")
    return lambda *args: CliRunner().invoke(terms, args)


def table():
    with Path("terms.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_terms_at_given_thresholds(run):
    result = run("corpus.txt", "--thresholds", "2,2,2,2", "-o", "terms.csv")
    assert result.exit_code == 0, result.output
    assert table() == [
        {"term": "fox", "words": "1", "count": "5", "pre": "", "post": "", "gold": "1"},
        {"term": "fox den", "words": "2", "count": "2", "pre": "0.4", "post": "1", "gold": "1"},
    ]
    assert "2 terms of corpus.txt at T1=2, T2=2, T3=2, T4=2" in result.stderr
    assert "F 1.0000, precision 1.0000, recall 1.0000 (2 right, N = 2)" in result.stderr


def test_text_without_gold_terms_needs_none(run):
    result = run("plain.txt", "--thresholds", "2,2,2,2", "-o", "terms.csv")
    assert result.exit_code == 0, result.output
    assert [row["term"] for row in table()] == ["fox", "fox den"]
    assert "gold" not in table()[0] and "precision" not in result.stderr


def test_a_gold_file_takes_the_place_of_marks(run):
    Path("gold.txt").write_text("Fox den\n", encoding="utf-8")
    result = run("corpus.txt", "--thresholds", "2,2,2,2", "--gold", "gold.txt", "-o", "terms.csv")
    assert result.exit_code == 0, result.output
    assert [row["gold"] for row in table()] == ["0", "1"]


@pytest.mark.slow
def test_standard_output_and_the_synthetic_corpus_are_the_defaults(run):
    result = run()
    assert result.exit_code == 0
    assert result.stdout.startswith("term,words,count,pre,post,gold\n")
    assert "terms of synthetic corpus 0 at T1=5, T2=4, T3=3, T4=3" in result.stderr


@pytest.mark.slow
def test_tuning_is_deterministic_and_beats_the_default(run):
    def f(result):
        assert result.exit_code == 0, result.output
        return float(result.stderr.split("F ")[1].split(",")[0])

    tuned = run("--tune", "--budget", "30", "-o", "terms.csv")
    assert f(tuned) > f(run("-o", "other.csv"))
    assert run("--tune", "--budget", "30", "-o", "terms.csv").stderr == tuned.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nowhere.txt"], "cannot read nowhere.txt"),
        (["corpus.txt", "--thresholds", "0.5,2,2,2"], "T1=0.5 is outside the box"),
        (["plain.txt", "--thresholds", "2,2,2,31"], "T4=31 is outside the box"),
        (["corpus.txt", "--thresholds", "2,2"], "expected four numbers"),
        (["corpus.txt", "--thresholds", "a,b,c,d"], "expected four numbers"),
        (["corpus.txt", "--thresholds", "nan,2,2,2"], "are not 4 numbers"),
        (["corpus.txt", "--tune", "--thresholds", "2,2,2,2"], "cannot be used together"),
        (["corpus.txt", "--highest", "300,100,50,1"], "got (1.0, 1.0)"),
        (["plain.txt", "--tune"], "plain.txt contains no gold terms"),
        (["corpus.txt", "--gold", "empty.txt"], "empty.txt contains no gold terms"),
        (["corpus.txt", "--gold", "nowhere.txt"], "cannot read nowhere.txt"),
        (["corpus.txt", "--gold", "other.txt"], "none of the 1 gold terms"),
        (["empty.txt"], "empty.txt contains no words"),
        (["corpus.tgz"], "truncated or damaged"),
    ],
)
def test_bad_input_is_refused_without_a_traceback(run, args, message):
    Path("empty.txt").write_text("", encoding="utf-8")
    Path("other.txt").write_text("badger\n", encoding="utf-8")
    Path("corpus.tgz").write_bytes(b"\x1f\x8b\x08\0\0\0\0\0")
    result = run(*args, "-o", "terms.csv")
    assert result.exit_code in (1, 2)
    assert isinstance(result.exception, SystemExit)
    assert message in result.stderr and "Traceback" not in result.stderr
    assert not Path("terms.csv").exists()
