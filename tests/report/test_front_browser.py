"""The page of a study with several objectives: the front, and one objective at a time elsewhere.

See tests/browser.py.
"""

import pytest

import bamsoo
from bamsoo.report import describe, write

from browser import Page, browser, page

__all__ = ["browser", "page"]  # fixtures

pytestmark = pytest.mark.slow  # each starts a browser


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("front") / "two.db"

    def both(x, y):
        return {"loss": (x - 0.2) ** 2 + 0.3 * y, "accuracy": 1 - (x - 0.8) ** 2 - 0.2 * (1 - y)}

    objectives = {"loss": "min", "accuracy": "max"}
    space = {"x": (0, 1), "y": (0, 1)}
    bamsoo.minimize(both, space, 20, objectives=objectives, study=path)
    write(path)
    return path


def test_the_front_is_shown_and_the_objective_can_be_chosen(page, study):
    with bamsoo.Study.open(study, readonly=True) as stored:
        front = stored.result.front
    assert f"on the front\n{len(front)}\n" in page.text("#best")
    assert page.js("return bamsooReport.report.front.length") == len(front)
    assert "best loss" in page.text("#best")
    before = page.picture("#convergence-chart")
    page.set("#objective", 1)
    page.frame()
    assert "best accuracy" in page.text("#best")
    assert page.picture("#convergence-chart") != before
    assert page.js("return bamsooReport.best") == page.js(
        "const v = bamsooReport.report.trials.value; return v.indexOf(Math.max(...v))"
    )
    assert {"loss", "accuracy", "front"} <= set(page.text("#trials thead").split())


def test_a_click_on_the_front_marks_the_trial_everywhere(page):
    before = page.picture("#convergence-chart")
    place = page.js(
        "const c = document.querySelector('#front-0-1'); c.focus();"
        "c.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft'}));"
        "c.dispatchEvent(new MouseEvent('click')); c.blur();"
        "return bamsooReport.state.pin"
    )
    assert place is not None
    page.frame()
    assert page.text("#front-chosen").startswith(f"trial {place}")
    assert page.picture("#convergence-chart") != before


def test_a_point_of_the_front_is_chosen_by_preference(page):
    values = "bamsooReport.report.objectives.map(o => o.value[bamsooReport.state.pin])"
    assert "different points of the front are" in page.text("#prefer-said")
    slide = (
        "const s = document.getElementById(arguments[0]); s.value = arguments[1];"
        "s.dispatchEvent(new Event('input', { bubbles: true }))"
    )
    page.js(slide, "prefer-0", 0)  # the best of the first objective
    page.frame()
    assert "1 of the" in page.text("#prefer-said")
    first = page.js(f"return {values}")
    least = "Math.min(...r.front.map(i => r.objectives[0].value[i]))"
    assert first[0] == page.js(f"const r = bamsooReport.report; return {least}")
    page.js(slide, "prefer-1", 0)  # and of the second one
    page.frame()
    assert page.text("#prefer-said").startswith("No point")
    assert page.js("return bamsooReport.state.pin") is None


def test_an_infeasible_outlier_is_at_the_edge_of_the_front_and_equal_points_count_once(
    browser, tmp_path
):
    path = tmp_path / "far.db"
    settings = {"space": {"x": (0, 1)}, "objectives": ["a", "b"], "constraints": ["c"]}
    with bamsoo.Study.open(path, **settings) as study:
        for x in (0.0, 0.25, 0.5, 0.75):
            study.tell({"x": x}, (round(x, 1), 1 - round(x, 1)), constraints={"c": -1.0})
        study.tell({"x": 0.6}, (0.5, 0.5), constraints={"c": -1.0})  # as at 0.5
        study.tell({"x": 1.0}, (-5e3, 4e3), constraints={"c": 1.0})
    page = Page(browser, write(path))
    assert "1 evaluation is further away" in page.text("#front")
    assert "violates a constraint" in page.text("#front .legend")
    assert "4 of the 4 different points" in page.text("#prefer-said")
    assert page.complaints() == []


def test_the_predicted_front_is_non_dominated_and_near_the_measured_one(study):
    shown = describe(study)
    for front in shown["predicted"].values():
        losses = [loss for loss, _ in front]
        assert losses == sorted(losses)
        assert [a for _, a in front] == sorted(a for _, a in front)


def test_curves_are_drawn_and_stopped_ones_are_marked(browser, tmp_path):
    def train(rate):
        for step in range(1, 9):
            yield (rate - 0.3) ** 2 + 1 / step + (rate > 0.6)

    path = tmp_path / "steps.db"
    r = bamsoo.minimize(train, {"rate": (0, 1)}, 12, steps=8, study=path)
    write(path)
    page = Page(browser, path.with_suffix(".html"))
    assert page.js("return Object.keys(bamsooReport.report.trials.curves).length") == len(r.curves)
    assert page.js("return document.querySelector('#curves-chart').clientHeight") > 0
    if r.nstopped:
        assert f"stopped\n{r.nstopped}\n" in page.text("#best")
        assert "stopped early" in page.text("#curves")
    assert page.complaints() == []
