"""Following a study gives what reading it at the end gives."""

import json
import shutil

import numpy as np
import pytest
from report_runs import NOTHING, SPACE, evaluate

import bamsoo
from bamsoo import Study
from bamsoo.errors import StudyError
from bamsoo.report import describe
from bamsoo.report.watch import Watch


def joined(watch):
    """The whole data of the page, joined as the page joins it."""
    news = watch.news(NOTHING)
    trials, search = news["trials"], news["search"]
    notes = {**trials["notes"], **search["notes"]}
    return {**trials, **search, "notes": notes, "best": search["best"] or trials["best"]}


def same(found, expected):
    for each in (found, expected):
        each.pop("made")
    assert json.loads(json.dumps(found)) == json.loads(json.dumps(expected))


@pytest.mark.slow
@pytest.mark.parametrize(
    "algorithm",
    [
        bamsoo.algorithms.Auto(),
        bamsoo.algorithms.Auto(noise="learn"),
        bamsoo.algorithms.BaMSOO(),
        bamsoo.algorithms.SOO(),
        bamsoo.algorithms.Random(),
    ],
    ids=lambda algorithm: type(algorithm).__name__ + str(getattr(algorithm, "noise", "")),
)
def test_a_study_that_is_followed_looks_like_one_that_is_read_at_the_end(tmp_path, algorithm):
    path = tmp_path / "a.db"
    with Study.open(path, space=SPACE, algorithm=algorithm) as study:
        watch = Watch(path)
        for trials in (0, 1, 7, 6, 9):
            evaluate(study, trials, leave_out=min(trials, 2))
            watch.look()
            watch.think()
    with Study.open(path) as study:  # resumed: pending trials are handed out first
        evaluate(study, 4)
        watch.look()
        watch.think()
        same(joined(watch), describe(path))


def test_the_page_is_told_only_what_it_wants_and_does_not_know(tmp_path):
    path = tmp_path / "a.db"
    with Study.open(path, space=SPACE) as study:
        watch = Watch(path)
        first = watch.news(NOTHING)
        assert {"trials", "search"} <= set(first)
        versions = first["versions"]
        assert not {"trials", "search"} & set(watch.news(versions))
        evaluate(study, 5)
        watch.look()
        assert len(watch.news(versions)["trials"]["trials"]["value"]) == 5
        assert "search" not in watch.news(versions)
        watch.think()
        assert "search" in watch.news(versions)
        assert "search" not in watch.news({"trials": versions["trials"]})


def test_a_search_begun_afresh_or_another_study_in_its_place_is_walked_from_its_start(tmp_path):
    path, other = tmp_path / "a.db", tmp_path / "b.db"
    with Study.open(path, space=SPACE) as study:
        evaluate(study, 8)
    watch = Watch(path)
    watch.think()
    with Study.open(path, replay=False) as study:
        evaluate(study, 6)
    watch.look()
    watch.think()
    same(joined(watch), describe(path))
    with Study.open(other, space=SPACE, seed=1, algorithm="soo") as study:
        evaluate(study, 20)
    shutil.move(other, path)
    watch.look()
    watch.think()
    same(joined(watch), describe(path))


def test_a_study_that_replays_to_other_points_is_replayed_once(tmp_path, monkeypatch):
    path = tmp_path / "a.db"
    with Study.open(path, space=SPACE) as study:
        evaluate(study, 8)
    watch, walks = Watch(path), []

    def differs(study, search, observer):
        walks.append(study)
        raise StudyError("trial 0 differs")

    monkeypatch.setattr(Study, "_lead", differs)
    for _ in range(3):
        watch.think()
        assert watch.news(NOTHING)["search"]["partition"]["ended"] == "trial 0 differs"
        assert "fitted to the study" in watch.news(NOTHING)["search"]["model"]["says"]
        with Study.open(path, readonly=True) as study:
            watch._study = study  # read again, as if there were something new
    assert len(walks) == 1


def test_a_search_that_was_exhausted_and_goes_on_is_walked_again(tmp_path):
    path = tmp_path / "a.db"
    with Study.open(path, space={"n": bamsoo.Int(1, 3)}, algorithm="soo") as study:
        trials = [study.ask() for _ in range(3)]
        with pytest.raises(bamsoo.errors.ExhaustedError):
            study.ask()
        watch = Watch(path)
        watch.think()
        for trial in trials:
            study.tell(trial, float(trial.params["n"]))
        watch.look()
        watch.think()
        same(joined(watch), describe(path))


def test_the_page_says_when_a_study_disappears_and_comes_back(tmp_path):
    path = tmp_path / "a.db"
    with Study.open(path, space=SPACE) as study:
        evaluate(study, 5)
    watch = Watch(path)
    path.rename(tmp_path / "elsewhere.db")
    watch.look()
    assert "there is no such study" in watch.news({})["problem"]
    (tmp_path / "elsewhere.db").rename(path)
    watch.look()
    assert watch.news({})["problem"] is None


@pytest.mark.slow
def test_many_trials_are_described_quickly_enough_to_follow(tmp_path):
    """The data sent to the page for a trial does not grow with the number of trials before it."""
    path = tmp_path / "a.db"
    rng = np.random.default_rng(0)
    with Study.open(path, space=SPACE, algorithm="random") as study:
        sizes = []
        for trials in (100, 100, 100):
            for _ in range(trials):
                study.tell(study.ask(), float(rng.random()))
            watch = Watch(path, replay=False)
            watch.think()
            sizes.append(len(json.dumps(watch.news(NOTHING)["trials"])))
    assert sizes[2] - sizes[1] < 1.1 * (sizes[1] - sizes[0])
