"""What the page shows: a study of bamsoo, or of another program."""

import sqlite3
from contextlib import closing
from pathlib import Path

import bamsoo
from bamsoo.record.trials import Record
from bamsoo.report.source import Own, known_values, source_of, title_of
from bamsoo.study.address import parse


def test_a_study_is_read_as_it_is_now(tmp_path):
    path = tmp_path / "run.db"
    with bamsoo.Study.open(path, space=[(0, 1)], algorithm="soo") as study:
        source = source_of(str(path))
        assert isinstance(source, Own)
        assert source.running()
        before = source.signature()
        study.tell(study.ask(), 1.0)
        assert source.signature() != before
        assert [r.value for r in source.read().trials] == [1.0]
    assert not source.running()
    assert title_of(source.read()) == "run.db"
    assert source_of(source) is source


def test_the_title_of_a_study_on_a_server_is_its_name():
    class Shown:
        path = parse("postgresql://host/db#my run").shown

    assert title_of(Shown()) == "my run"
    Shown.path = Path("a") / "b.db"
    assert title_of(Shown()) == "b.db"
    Shown.path = "postgresql://x#/any/path"  # the name of a study of Optuna, which may be anything
    assert title_of(Shown()) == Shown.path


def test_values_below_the_top_of_a_fidelity_do_not_count():
    def record(state, values):
        return Record(0, {}, None, state, None, None, None)._replace(values=values)

    records = [record("finished", {"f": 1.0}), record("cheap", {"f": 2.0}), record("out", None)]
    assert known_values(records, "f") == [1.0, None, None]


def test_a_study_of_another_program_is_recognised_by_its_address_or_its_tables(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("bamsoo.report.source.OptunaSource", lambda *given: given)
    assert isinstance(source_of("run.db"), Own)
    assert source_of("mysql://host/db", "a") == ("mysql://host/db", "a")
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as file:
        for table in ("studies", "trials", "trial_params"):
            file.execute(f"CREATE TABLE {table} (id)")
        file.commit()
    assert source_of(path) == (str(path), None)
    assert source_of(f"sqlite:///{path}", "a") == (f"sqlite:///{path}", "a")
