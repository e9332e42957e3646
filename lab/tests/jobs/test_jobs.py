"""The job runner: tasks are run once, kept line by line, and belong to a state of the source."""

import io
import os

import pytest
from rich.console import Console

from bamsoo_lab.jobs.pool import Batch, perform, perform_batch
from bamsoo_lab.jobs.source import Source
from bamsoo_lab.jobs.store import Store, StoreError
from bamsoo_lab.jobs.task import Task


def lemma(dim=1, designs=1, **more):
    return Task("paper.lemma:run", {"kernel": "Matern52", "dim": dim, "designs": designs}, **more)


def test_a_run_is_known_by_its_settings_and_not_by_where_its_files_lie():
    task, elsewhere = lemma(), lemma(cost=5.0, context={"corpus": "/elsewhere"})
    assert task.key == elsewhere.key != lemma(dim=2).key


def test_a_result_that_depends_on_no_source_has_another_key():
    assert len({lemma(source=source).key for source in Source}) == len(Source)


@pytest.mark.slow
def test_results_come_in_the_order_of_the_tasks_and_are_kept(tmp_path):
    costs, before = [], dict(os.environ)
    batch = Batch([lemma(dim, 2, cost=dim) for dim in (3, 1)], 2)
    runs = perform_batch(batch, Store(tmp_path), costs.append)
    assert [run.settings["dim"] for run in runs] == [3, 1]
    assert sorted(costs) == [1, 3]
    assert dict(os.environ) == before
    assert perform_batch(batch, Store(tmp_path), costs.append) == runs


def test_batches_come_back_in_their_order(tmp_path, monkeypatch):
    monkeypatch.setattr(Task, "run", lambda task: pytest.fail("stored already"))
    store, tasks = Store(tmp_path), [lemma(dim) for dim in (1, 2, 3)]
    for task in tasks:
        store.put(task, {"largest": task.settings["dim"]})
    batches = [Batch(tasks[2:], 1), Batch(tasks[:2], 1)]
    done = perform(batches, Store(tmp_path), Console(quiet=True))
    assert [[run.result["largest"] for run in batch] for batch in done] == [[3], [1, 2]]


def test_an_error_in_a_run_is_raised(tmp_path):
    task = Task("paper.lemma:run", {"kernel": "no such kernel", "dim": 1, "designs": 1})
    with pytest.raises(KeyError, match="no such kernel"):
        perform_batch(Batch([task], 1), Store(tmp_path), lambda cost: None)


def test_an_unfinished_line_is_made_again_and_the_files_are_equal(tmp_path):
    tasks = [lemma(dim) for dim in (1, 2, 3)]
    whole = Store(tmp_path / "whole")
    for task in tasks:
        whole.put(task, {"largest": 1.0 / task.settings["dim"]})
    expected = (tmp_path / "whole" / "paper.lemma.jsonl").read_bytes()
    for cut in range(0, len(expected), 17):  # killed at any moment
        file = tmp_path / "torn" / "paper.lemma.jsonl"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(expected[:cut])
        torn = Store(file.parent)
        assert len(torn.finished()) == expected[:cut].count(b"\n")
        for task in tasks:
            if torn.get(task) is None:
                torn.put(task, {"largest": 1.0 / task.settings["dim"]})
        assert file.read_bytes() == expected
        assert Store(file.parent).finished() == whole.finished()


def test_a_damaged_line_is_named(tmp_path):
    (tmp_path / "paper.lemma.jsonl").write_text('{"a": \n{}\n')
    with pytest.raises(StoreError, match="line 1 is not a stored run; delete the line"):
        Store(tmp_path)


def test_a_run_of_another_source_is_kept_counted_and_not_used(tmp_path, monkeypatch):
    ours, peer = lemma(source=Source.SEARCHES), lemma(source=Source.NONE)
    monkeypatch.setattr("bamsoo_lab.jobs.source.searches", lambda: "before")
    store = Store(tmp_path)
    for task in (ours, peer):
        store.put(task, {"largest": 0.5})
    assert Store(tmp_path).stale == 0
    monkeypatch.setattr("bamsoo_lab.jobs.source.searches", lambda: "after")
    store = Store(tmp_path)
    assert store.stale == 1
    assert store.get(ours) is None
    assert store.get(peer).result == {"largest": 0.5}
    said = io.StringIO()
    perform([], store, Console(file=said, width=300))
    assert "1 stored run in" in said.getvalue()
    assert "made by another state of the source" in said.getvalue()
    store.put(ours, {"largest": 0.6})
    assert (tmp_path / "paper.lemma.jsonl").read_text().count("\n") == 3
    monkeypatch.setattr("bamsoo_lab.jobs.source.searches", lambda: "before")
    assert Store(tmp_path).get(ours).result == {"largest": 0.5}
