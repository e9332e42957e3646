"""Studies of conditional spaces, whose options open further parameters."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from conditional_spaces import ANY, MODELS, belongs, loss
from hypothesis import given, settings
from hypothesis import strategies as st

import bamsoo
from bamsoo import Choice, Study
from bamsoo.errors import StudyError

from memory import MEMORY


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["auto", "bamsoo", "soo", "doo", "random"])
def test_a_run_in_two_parts_is_the_same_run(tmp_path, algorithm):
    path = tmp_path / "run.db"
    bamsoo.minimize(loss, MODELS, 9, study=path, algorithm=algorithm)
    parts = bamsoo.minimize(loss, MODELS, 25, study=path, algorithm=algorithm)
    whole = bamsoo.minimize(loss, MODELS, 25, algorithm=algorithm)
    assert parts.X == whole.X
    assert parts.F.tolist() == whole.F.tolist()
    with Study.open(path) as study:
        assert study.replayed.trials == 25
        assert not study.replayed.adopted
        assert [t.params for t in study.trials] == whole.X


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(ANY, st.lists(st.integers(0, 2), max_size=12))
def test_asks_and_tells_in_any_order_replay(parameters, order):
    with TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder) / "run.db"
        with Study.open(path, space=parameters) as study:
            out = []
            for what in order:
                if what == 0 or not out:
                    try:
                        out.append(study.ask())
                    except bamsoo.errors.ExhaustedError:
                        break
                    assert belongs(parameters, out[-1].params)
                else:
                    study.tell(out.pop(0 if what == 1 else -1), 0.5 if what == 1 else None)
            points = [t.params for t in study.trials]
        with Study.open(path) as study:
            assert [t.params for t in study.trials] == points


def test_a_missing_parameter_is_null_in_the_file(tmp_path):
    path = tmp_path / "run.db"
    with Study.open(path, space=MODELS) as study:
        study.tell({"rate": 0.5, "model": "forest", "depth": 3}, 1.0)
        study.enqueue({"rate": 0.5, "model": "net", "C": 3})
    with closing(sqlite3.connect(path)) as file:
        bodies = [json.loads(body) for (body,) in file.execute("select body from events")]
    assert [body["point"] for body in bodies] == [
        [0.5, 1.0, None, None, None, 3.0, None],
        [0.5, 3.0, None, None, None, None, 3.0],
    ]
    with Study.open(path) as study:
        assert study.ask().params == {"rate": 0.5, "model": "net", "C": 3}
        assert study.result.params == {"rate": 0.5, "model": "forest", "depth": 3}


def test_another_space_is_refused(tmp_path):
    path = tmp_path / "run.db"
    Study.open(path, space={"a": Choice({"x": {"n": (0, 1)}, "y": None})}).close()
    with pytest.raises(StudyError, match="the study's parameter a is"):
        Study.open(path, space={"a": Choice({"x": {"n": (0, 2)}, "y": None})})
    with pytest.raises(StudyError, match="the study's parameter a is"):
        Study.open(path, space={"a": Choice(["x", "y"])})
