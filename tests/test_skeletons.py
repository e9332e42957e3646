"""The files of docs/skeletons/ do what they promise, as they are."""

import sys

import numpy as np
import pytest
import searches
import skeletons
from click.testing import CliRunner

import bamsoo
from bamsoo import algorithms
from bamsoo.algorithms.auto import loop
from bamsoo.base.guard import OvertakenError
from bamsoo.command.main import main
from bamsoo.record.events import Restarted
from bamsoo.space import Space
from bamsoo.study import address, backends, settings
from bamsoo.study.repair import repair

SPACE = {"rate": bamsoo.Real(1e-3, 1, log=True), "depth": bamsoo.Int(1, 6)}


def value(rate, depth):
    if depth >= 5:
        raise RuntimeError("too deep")
    return (np.log10(rate) + 1.3) ** 2 + 0.1 * (depth - 3) ** 2


def run(algorithm, budget=25, space=SPACE, **options):
    return bamsoo.minimize(value, space, budget, algorithm=algorithm, on_error="fail", **options)


@pytest.mark.parametrize("file", sorted(skeletons.FOLDER.glob("*.py")), ids=lambda file: file.stem)
def test_each_is_linked_and_says_what_must_not_go_there(file):
    page = (skeletons.FOLDER.parent / "architecture.md").read_text("utf-8")
    assert f"(skeletons/{file.name})" in page
    assert "What must not go here" in file.read_text("utf-8")


# --- an algorithm


@pytest.fixture
def best_first(monkeypatch):
    kind = skeletons.load("algorithm").BestFirst
    monkeypatch.setitem(algorithms.BY_NAME, "best-first", kind)
    monkeypatch.setitem(settings.ALGORITHMS, "BestFirst", kind)
    return kind


def test_the_algorithm_splits_the_best_leaf(best_first):
    # thirds of [0, 1], followed on paper; the middle child has its parent's centre
    found = searches.visited(best_first(), searches.identity, 7)
    assert np.allclose(found, [1 / 2, 1 / 6, 5 / 6, 13 / 18, 17 / 18, 49 / 54, 53 / 54])


def test_the_algorithm_is_chosen_by_name_and_continued_from_a_study(best_first, tmp_path):
    whole = run("best-first")
    assert (whole.nfev, whole.nfailed > 0, whole.params["depth"]) == (25, True, 3)
    run("best-first", 11, study=tmp_path / "run.db")
    searches.same(run(best_first(), study=tmp_path / "run.db"), whole)


def test_the_algorithm_has_several_pending_trials(best_first):
    opt = bamsoo.Optimizer(SPACE, algorithm=best_first(k=2))
    trials = opt.ask(7)
    assert len({tuple(trial.x) for trial in trials}) == 7
    for trial in trials[::-1]:
        opt.tell(trial, None if trial.params["depth"] >= 5 else value(**trial.params))
    assert opt.ask().number == 7


# --- a proposer of the default


def test_the_proposer_takes_turns(monkeypatch):
    Middle, Schedule = skeletons.load("proposer").Middle, loop.Schedule
    middles = []

    class Noted(Middle):
        def propose(self, focus):
            step = super().propose(focus)
            middles.append(step)
            return step

    def schedule(domain, book, leader, climbs, *rest):
        return Schedule(domain, book, leader, [Noted(domain, book), *climbs], *rest)

    before = run("auto")
    monkeypatch.setattr(loop, "Schedule", schedule)
    with_it = run("auto")
    space = Space(SPACE)
    taken = [step for step in middles if space.params(space.decode(step.x)) in with_it.X]
    assert len(taken) > 2
    assert with_it.X != before.X
    assert with_it.params["depth"] == 3


# --- a place for studies


@pytest.fixture
def folders(monkeypatch):
    """Addresses such as folder:runs, while the test runs."""
    skeleton = skeletons.load("backend")

    def parse(study):
        text = str(study)
        known = text.startswith("folder:")
        return skeleton.FolderAddress(path(text)) if known else address.parse(study)

    def path(text):
        return type(skeletons.FOLDER)(text.removeprefix("folder:"))

    monkeypatch.setitem(sys.modules, "skeleton_backend", skeleton)
    monkeypatch.setitem(backends.MODULES, skeleton.FolderAddress, "skeleton_backend")
    monkeypatch.setattr(backends, "parse", parse)


def test_a_study_in_a_folder_is_continued_shown_and_mended(folders, tmp_path):
    study, whole = f"folder:{tmp_path / 'runs'}", run("auto", 12)
    run("auto", 7, study=study)
    assert backends.exists(study)
    assert not backends.is_written(study)
    before = backends.signature(study)
    with bamsoo.Study.open(study):
        assert backends.is_written(study)
        with pytest.raises(bamsoo.errors.StudyError, match="another process has the study open"):
            bamsoo.Study.open(study)
    searches.same(run("auto", 12, study=study), whole)
    assert backends.signature(study) != before
    shown = CliRunner().invoke(main, ["show", study, "--json"], catch_exceptions=False)
    assert shown.exit_code == 0
    (tmp_path / "runs" / "24.json").write_text("{}")  # the last value
    with pytest.raises(bamsoo.errors.StudyError, match="is damaged"):
        bamsoo.Study.open(study)
    mended = repair(study, tmp_path / "mended.db")
    assert mended.events == 23
    searches.same(run("auto", 12, study=tmp_path / "mended.db"), whole)


def test_an_event_that_was_not_read_is_not_written_over(folders, tmp_path):
    skeleton = skeletons.load("backend")
    journal = skeleton.FolderJournal(skeleton.FolderAddress(tmp_path / "runs"), True, dict)
    assert journal.events() == []
    (tmp_path / "runs" / "1.json").write_text("somebody else's")
    with pytest.raises(OvertakenError):
        journal.append(Restarted())
    assert (tmp_path / "runs" / "1.json").read_text() == "somebody else's"
