"""COCO's virtual best: the file, how it is made, and its row in the tables."""

import io
import tarfile

import numpy as np
import pytest

from bamsoo_lab.bench import reference, score, summary, tables
from bamsoo_lab.bench.case import Case
from bamsoo_lab.bench.suites import bbob


@pytest.mark.parametrize(
    "dim, area", [(2, 0.3886), (3, 0.3389), (5, 0.3012), (10, 0.1801), (20, 0.1666)]
)
def test_its_areas_are_those_worked_out_from_the_text_files_of_coco(dim, area):
    cases = bbob.cases(dim, [21])
    found = score.by_function(reference.runs(cases), cases)
    assert len(found) == 24
    assert np.mean([*found.values()]) == pytest.approx(area, abs=5e-5)


def test_the_sphere_in_two_dimensions_by_hand():
    # COCO: 15.8 after 1 evaluation, 6.3 after 2, 2.5 after 3, 1.58 after 5, 1e-8 after 6
    solved = sum([5, 7, 9, 9, 10]) + 95 * 51
    (found,) = score.by_function(*_runs("f1")).values()
    assert found == pytest.approx(solved / 51 / 100)


def _runs(problem):
    case = Case("bbob", problem, 2, 21, 100)
    return reference.runs([case]), [case]


def test_other_suites_dimensions_and_problems_have_no_reference():
    wanted = [("bbob", "f1", 4), ("bbob", "f25", 2), ("inexact", "f1", 2)]
    assert not reference.runs([Case(suite, f, dim, 21, 100) for suite, f, dim in wanted])


def test_the_file_is_made_from_cocos_archive(tmp_path, monkeypatch):
    text = b"% Artificial instance\n1 1.0e+02 1.0e+02 SOME 5 5\n30 1.0e-08 1.0e-08 OTHER 4 15\n"
    path = tmp_path / "archive.tar.gz"
    with tarfile.open(path, "w:gz") as files:
        for dim in bbob.DIMS:
            for f in bbob.FUNCTIONS:
                entry = tarfile.TarInfo(f"best/bbob-bestalg_f{f:02d}_d{dim:02d}.dat")
                entry.size = len(text)
                files.addfile(entry, io.BytesIO(text))
    monkeypatch.setattr(reference, "FILE", tmp_path / "made.json.xz")
    reference.write(path, "made by hand", tmp_path / "made.json.xz")
    found = reference.stored.__wrapped__()
    assert found["20"]["f24"] == [[1, 99.9], [30, 9.99e-9]]
    assert len(found) == 5 and all(len(functions) == 24 for functions in found.values())


def test_it_is_a_row_with_its_caveat_and_no_peer():
    settings = {"suite": "bbob", "dim": 2, "seed": 21, "budget": 100, "steps": [[1, 1.0]]}
    runs = [
        {**settings, "method": name, "problem": f, "instance": 21}
        for name in ("bamsoo", "random")
        for f in ("f1", "f2")
    ]
    table = tables.area(score.by_method(runs), 2)
    label, some, theirs, ours, ratio, outcome = table.rows[-1]
    assert (label, some, outcome) == (reference.LABEL, "2 (expected times)", "0 / 2 / 0")
    assert float(ratio) == pytest.approx(float(ours) / float(theirs), abs=0.01)
    assert "hindsight" in table.note and "expected" in table.note
    assert reference.LABEL in summary.NO_PEERS
