"""The report's data for conditional spaces, whose options open further parameters."""

import json

import numpy as np
import pytest
from conditional_spaces import MODELS, loss

import bamsoo
from bamsoo import Study
from bamsoo.report import describe


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "models.db"
    bamsoo.minimize(loss, MODELS, 30, study=path)
    return path


@pytest.mark.slow
def test_parameters_say_when_they_exist(study):
    parameters = describe(study)["parameters"]
    assert [p.get("condition") for p in parameters] == [
        None,
        None,
        {"axis": 1, "options": [0, 2]},
        {"axis": 1, "options": [0]},
        {"axis": 3, "options": [0]},
        {"axis": 1, "options": [1]},
        {"axis": 1, "options": [3]},
    ]
    assert parameters[4]["when"] == "kernel='rbf'"
    assert [p["middle"] for p in parameters] == [0.5, 0.125, 0.5, 0.25, 0.5, 0.475, 0.5]


@pytest.mark.slow
def test_what_does_not_exist_is_null(study):
    report = describe(study)
    with Study.open(study, readonly=True) as opened:
        trials = opened.trials
    depth, own = report["trials"]["params"][5], report["trials"]["params"][6]
    assert depth == [t.params.get("depth") for t in trials]
    assert own == [t.params["C"] if t.params["model"] == "net" else None for t in trials]
    best = report["best"]["params"]
    exists = ~np.isnan(bamsoo.space.Space(MODELS).point(trials[report["best"]["row"]].params))
    assert [each is not None for each in best] == exists.tolist()


def test_the_page_is_json(study):
    report = describe(study)
    assert json.loads(json.dumps(report, allow_nan=False))["parameters"] == report["parameters"]


@pytest.mark.parametrize("algorithm", ["soo", "bamsoo", "random", "auto"])
def test_every_algorithm_has_a_page(tmp_path, algorithm):
    path = tmp_path / "run.db"
    bamsoo.minimize(loss, MODELS, 12, study=path, algorithm=algorithm)
    report = describe(path)
    assert report["partition"].get("ended") is None
    if algorithm != "random":
        rows = [row for row in report["partition"]["marks"]["row"] if row >= 0]
        assert len(rows) > 2
