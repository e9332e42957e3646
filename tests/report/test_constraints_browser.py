"""Measured constraints on the page: infeasible and failed trials apart, and where limits are met.

See tests/browser.py.
"""

import re
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bamsoo
from bamsoo import Choice, Real, Study
from bamsoo.report import write
from bamsoo.report.server import Server
from bamsoo.report.watch import Watch

from browser import Page, browser, page
from waiting import wait_for

__all__ = ["browser", "page"]  # fixtures

pytestmark = pytest.mark.slow  # each starts a browser

SPACE = {"width": (1, 10), "height": (1, 20), "steel": Choice(["mild", "tough"])}
NAMES = ["stress", "slender"]
LIMITS = "bamsooReport.limitPosteriors()"


def beam(width, height, steel):
    if width > 7.5 and height > 12:
        raise RuntimeError("the mesh could not be built")
    strength = 1.5 if steel == "mild" else 2.2
    price = 1.0 if steel == "mild" else 1.3
    stress = 600 / (width * height**2) - strength
    return price * width * height, {"stress": stress, "slender": height - 4 * width}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("constraints") / "beam.db"
    bamsoo.minimize(beam, SPACE, 40, constraints=NAMES, study=path, on_error="fail")
    write(path)
    return path


def test_infeasible_and_failed_trials_are_told_apart(page, study):
    with Study.open(study, readonly=True) as stored:
        failed = sum(t.value is None for t in stored.trials)
        infeasible = sum(t.value is not None and not t.feasible for t in stored.trials)
        best = stored.best
    assert failed and infeasible
    assert re.search(rf"failed\n{failed}\n", page.text("#best"))
    assert re.search(rf"infeasible\n{infeasible}\n", page.text("#best"))
    assert f"exactly {best.value!r}" in page.text("#best")
    for section in ("#convergence", "#parameters"):
        assert "a value that violates a constraint" in page.text(section)
    marks = page.js(
        "return [...document.querySelectorAll('#convergence .swatch')].map(s => s.className)"
    )
    assert len(marks) == len(set(marks))


def test_what_was_measured_is_in_the_table_and_beside_the_best(page, study):
    with Study.open(study, readonly=True) as stored:
        records, best = stored.trials, stored.best
    heads = page.js("return [...document.querySelectorAll('#table th')].map(h => h.innerText)")
    columns = [heads.index(name) for name in NAMES]
    for row in page.rows():
        measured = records[int(row[0])].measured
        if measured is None:
            assert [row[i] for i in columns] == ["", ""]
        else:
            shown = [float(row[i]) for i in columns]
            assert_allclose(shown, [measured[name] for name in NAMES], rtol=1e-4)
    table = page.text("#best table")
    for name in NAMES:
        shown = float(re.search(rf"{name}\s+(\S+)", table).group(1))
        assert_allclose(shown, records[best.number].measured[name], rtol=5e-6)  # six digits


def test_the_pages_models_of_the_constraints_are_the_librarys(page, study):
    with Study.open(study) as stored:
        space, search = stored.space, stored.replay()
    models = search.book.limits.models
    where = np.array([space.domain.snap(u) for u in np.random.default_rng(0).random((30, 3))])
    computed = page.js(
        f"return {LIMITS}.map(([name, p]) => [name, arguments[0].map(x => p.mean(x))])",
        where.tolist(),
    )
    assert [name for name, _ in computed] == NAMES
    for (_, means), model in zip(computed, models, strict=True):
        mu, _ = model.gp.posterior(where)
        assert_allclose(means, mu, rtol=1e-6, atol=1e-6 * np.sqrt(model.gp.kernel.variance))
        assert model.transform(0.0) == 0.0  # so that the page may look at the sign alone


def test_the_colours_rank_feasible_values(page):
    """A value that violates a constraint may be better than the best: that one is still the end."""
    assert page.js("return bamsooReport.goodness(bamsooReport.values.bestTold)") == 1
    for scale in ("linear", "near"):
        page.set("#scale", scale)
        page.frame()
        ends = page.js(
            "const { scale, values: { smallest, bestTold, largest } } = bamsooReport;"
            "return [smallest, bestTold, largest]"
            ".map(v => [scale.at(v), scale.value(scale.at(v)) / v])"
        )
        places = [at for at, _ in ends]
        assert 0 < places[0] < places[1] < places[2] < 1
        assert_allclose([back for _, back in ends], 1, rtol=1e-9)


def test_a_map_shows_where_a_constraint_is_violated(page):
    before = page.picture("#heat")
    page.js("bamsooReport.report.limits = []; document.querySelector('#heat').redraw()")
    assert page.picture("#heat") != before
    assert page.complaints() == []


def test_where_nothing_is_feasible_slices_go_through_the_least_violation(browser, tmp_path):
    path = tmp_path / "never.db"
    r = bamsoo.minimize(
        lambda x, y: ((x - 0.3) ** 2 + y, {"c": 0.2 + (x - 0.8) ** 2}),
        {"x": (0, 1), "y": (0, 1)}, 20, constraints=["c"], study=path,
    )  # fmt: skip
    assert not r.success
    page = Page(browser, write(path))
    least = int(np.argmin(r.C["c"]))
    shown = page.js("return Number(document.querySelector('#slice-through').value)")
    assert r.C["c"][shown] == r.C["c"][least]
    assert "no feasible point has been found yet" in page.text("#best")
    assert "could not be drawn" not in page.text("main")
    assert page.js("return [0, 1].map((i) => bamsooReport.swing(i)).every(Number.isFinite)")
    assert page.complaints() == []


def test_constraints_and_parameters_that_exist_only_with_an_option(browser, tmp_path):
    space = {"model": Choice({"a": {"rate": Real(0, 1)}, "b": {"depth": Real(0, 1)}})}

    def loss(model, rate=None, depth=None):
        x = rate if model == "a" else depth
        return (x - 0.4) ** 2 + (model == "b"), {"c": 0.3 - x}

    path = tmp_path / "models.db"
    bamsoo.minimize(loss, space, 30, constraints=["c"], study=path)
    page = Page(browser, write(path))
    expected = page.js(
        f"return {LIMITS}.map(([, p]) => p.mean(bamsooReport.pointOf(bamsooReport.best)))"
    )
    assert np.isfinite(expected).all()
    shaded = page.js(
        "const c = document.querySelector('#slice-1');"  # rate, along which c is violated below 0.3
        "const p = c.getContext('2d').getImageData(c.width * 0.22, c.height * 0.6, 1, 1).data;"
        "return p[0] > p[2] + 5"
    )
    assert shaded
    assert page.complaints() == []


def test_a_live_page_follows_the_models_of_the_constraints(browser, tmp_path):
    path = tmp_path / "live.db"
    settings = {"constraints": NAMES, "on_error": "fail"}
    bamsoo.minimize(beam, SPACE, 14, study=path, **settings)
    followed = Watch(path)
    with Server(followed) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        followed.start()
        page = Page(browser, server.url)
        points = f"return {LIMITS}.length ? {LIMITS}[0][1].points.length : 0"
        wait_for(lambda: page.js(points) > 0)
        bamsoo.minimize(beam, SPACE, 30, study=path, **settings)
        wait_for(lambda: page.js(points) > 20)
        wait_for(lambda: page.js("return document.title").startswith("30"))
        assert page.complaints() == []
        server.shutdown()
        followed.stop()


def test_what_limits_the_best_point_has_a_price_and_a_slider(page, study):
    with Study.open(study) as stored:
        r = stored.result
    said = page.text("#best .active")
    assert [f"limited by {each.limit} " in said for each in r.active] == [True] * len(r.active)
    output = "#best .what-if output"
    before = page.text(output)
    page.js(
        "const slider = document.getElementById('what-if-0'); slider.value = slider.max;"
        "slider.dispatchEvent(new Event('input'))"
    )
    assert page.text(output) != before
    bound, value = re.search(r"≤ (\S+), the models expect (\S+) \(", page.text(output)).groups()
    assert float(bound) > 0.0
    assert float(value) < r.fun


def test_the_model_of_a_measured_number_is_that_of_the_library(page, study):
    with Study.open(study) as stored:
        r = stored.result
    at = [0.4, 0.6, 0.25]
    mean = page.js(
        "const of = bamsooReport.numberPosterior('stress'); return of.value(of.mean(arguments[0]))",
        at,
    )
    expected = r.predict(r.space.params(r.space.decode(np.array(at))), "stress")[0][0]
    assert mean == pytest.approx(expected, rel=1e-6)
    page.js(
        "const shown = document.getElementById('slice-what'); shown.value = 'stress';"
        "shown.dispatchEvent(new Event('change'));"
        "const map = document.getElementById('heat-what'); map.value = 'number:stress';"
        "map.dispatchEvent(new Event('change'))"
    )
    wait_for(lambda: "Expected stress from" in page.text("#slices"))


def test_what_counts_as_close_and_whose_importance_is_shown_can_be_chosen(page, study):
    narrow, wide = (page.set("#within", k) or page.text("#best table.best") for k in (0, 2))
    assert "stays within" in narrow
    assert narrow != wide
    assert page.js("return document.querySelectorAll('#best .close').length") > 0
    before = page.text("#importance table")
    page.set("#importance-of", "slender")  # it does not depend on the material
    after = page.text("#importance table")
    assert after != before
    assert re.search(r"steel\s+(< 0.1|0) %\s+(< 0.1|0) %", after)
