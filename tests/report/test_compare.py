"""One page that compares several studies."""

import re
from math import inf

import numpy as np
import pytest

import bamsoo
from bamsoo import Study
from bamsoo.errors import SettingsError
from bamsoo.report.compare import best_so_far, compare, sections_of


def made(path, values, known=(), **settings):
    space = settings.pop("space", {"x": (0, 1), "y": (0, 1)})
    settings = {"algorithm": "soo", **settings}
    with Study.open(path, space=space, **settings) as study:
        for i, value in enumerate(known):
            study.tell(study.space.params(study.space.decode(np.full(2, 0.01 * i))), value)
        for value in values:
            study.tell(study.ask(), value)
    return path


def read(path):
    with Study.open(path, readonly=True) as study:
        return study


def test_a_line_is_the_best_value_after_each_evaluation(tmp_path):
    one = made(tmp_path / "a.db", [3.0, None, 1.0, 2.0])
    assert best_so_far(read(one)) == [inf, 3.0, 3.0, 1.0, 1.0]
    two = made(tmp_path / "b.db", [3.0, 7.0], known=[5.0, 4.0], direction="maximize")
    assert best_so_far(read(two)) == [5.0, 5.0, 7.0]
    limited = tmp_path / "c.db"
    with Study.open(limited, space=[(0, 1)], constraints=["c <= 1"]) as study:
        for number in (2.0, 1.0):
            study.tell(study.ask(), -number, constraints={"c": number})
    assert best_so_far(read(limited)) == [inf, inf, -1.0]


def test_the_page_shows_lines_best_points_and_differences(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    one = made("a.db", [3.0, 1.0])
    two = made(
        "b.db", [2.0, None], [0.5], seed=3, space={"x": (0, 2), "<z>": bamsoo.Choice(["p", "q"])}
    )
    page = compare([one, two])
    assert page.name == "a-b.html"
    text = page.read_text()
    assert "<title>a.db and b.db" in text
    assert len(re.findall(r'<path d="M[^"]*\.[^"]*H[^"]*V', text)) == 4  # the lines, for two widths
    rows = dict(re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', text))
    cells = {name: re.findall("<td>(.*?)</td>", inner) for name, inner in rows.items()}
    assert cells["value"] == ["1", "0.5"]
    assert cells["evaluations"] == ["2", "2"]
    assert cells["given"] == ["0", "1"]
    assert cells["failed"] == ["0", "1"]
    assert cells["&lt;z&gt;"][0] == "–"
    assert cells["seed"] == ["0", "3"]
    assert cells["parameter x"] == ["Real(low=0.0, high=1.0)", "Real(low=0.0, high=2.0)"]
    assert "direction" not in cells
    assert "<z>" not in text
    assert "<script" not in text
    assert compare([one, two]) == page  # a report may be replaced
    assert compare([one, one], "same.html").name == "same.html"


def test_a_number_is_compared_that_is_limited_in_one_study_and_recorded_in_another(tmp_path):
    def fun(x):
        return x, {"T": 10 * x, "remark": "high"}

    bamsoo.minimize(fun, {"x": (0.2, 1)}, 1, study=tmp_path / "a.db")
    bamsoo.minimize(fun, {"x": (0.2, 1)}, 1, study=tmp_path / "b.db", constraints=["T <= 9"])
    text = compare([tmp_path / "a.db", tmp_path / "b.db"], tmp_path / "page.html").read_text()
    assert '<th scope="row">T (measured)</th><td>6</td><td>6</td>' in text
    assert "remark" not in text


def labels(text):
    return re.findall(r'text-anchor="end">(.*?)</text>', text)


def test_the_labels_of_values_differ_and_equal_lines_are_both_seen(tmp_path):
    near = [15_233.0742, 15_233.0731, 15_233.071]
    one, two = made(tmp_path / "a.db", near), made(tmp_path / "b.db", near)
    text = sections_of([read(one), read(two)], ["a", "b"])
    assert labels(text)[:4] == ["15,233.071", "15,233.072", "15,233.073", "15,233.074"]
    dashes = re.findall(r'stroke-dasharray="(.*?)"', text)
    assert dashes[:2] == ["", "7 3"]


def test_values_of_many_magnitudes_are_on_a_log_axis_as_on_the_page_of_a_study(tmp_path):
    one = made(tmp_path / "a.db", [1e-15, 1e-17, 2e-20])
    two = made(tmp_path / "b.db", [3e-9, 3e-20])
    text = sections_of([read(one), read(two)], ["a", "b"])
    assert labels(text)[:3] == ["1e-20", "1e-18", "1e-16"]
    positive = made(tmp_path / "c.db", [2e-15, 1e-15])
    assert labels(sections_of([read(positive)] * 2, ["a", "b"]))[0] == "1.0e-15"


def test_equal_and_empty_studies_and_several_objectives(tmp_path):
    one, two = made(tmp_path / "a.db", []), made(tmp_path / "b.db", [])
    text = sections_of([read(one), read(two)], ["a", "b"])
    assert "No study has a feasible value yet" in text
    three = made(
        tmp_path / "c.db", [(1.0, 2.0), (2.0, 1.0)], objectives=["f", "g"], algorithm="random"
    )
    text = sections_of([read(three), read(three)], ["c", "d"])
    assert "compared by their tables only" in text
    assert "points on the front</th><td>2" in text
    assert "Their settings are equal" in text


def test_what_cannot_be_compared_is_refused(tmp_path):
    one = made(tmp_path / "a.db", [1.0])
    two = made(tmp_path / "b.db", [1.0], direction="maximize")
    with pytest.raises(SettingsError, match="only studies with the same objectives"):
        compare([one, two], tmp_path / "page.html")
    four = made(tmp_path / "d.db", [1.0], objectives=["cost"])
    five = made(tmp_path / "e.db", [1.0], objectives=["weight"])
    with pytest.raises(SettingsError, match="only studies with the same objectives"):
        compare([four, five], tmp_path / "page.html")
    with pytest.raises(SettingsError, match="2 to 8 studies can be compared, got 1"):
        compare([one])
    bamsoo.minimize(lambda x: x[0], [(0, 1)], 2, study=tmp_path / "c.db")
    (tmp_path / "page.html").write_text("something else")
    with pytest.raises(SettingsError, match="is not a report"):
        compare([one, tmp_path / "c.db"], tmp_path / "page.html")


def test_a_value_without_a_name_is_compared_with_one_that_has_a_name(tmp_path):
    two = made(tmp_path / "a.db", [2.0]), made(tmp_path / "b.db", [1.0], objectives=["cost"])
    text = compare(two, tmp_path / "page.html").read_text()
    assert '<th scope="row">cost</th><td>2</td><td>1</td>' in text
