"""The report page in a real browser: Debian's chromium, headless, driven by selenium.

See tests/browser.py.
"""

import numpy as np
import pytest
from conditional_spaces import MODELS, loss
from numpy.testing import assert_allclose

import bamsoo
from bamsoo import Study
from bamsoo.report import describe, render, write
from bamsoo.report.surrogate import Surrogate, own
from bamsoo.result.substitute import learn

from browser import Page, browser, page

__all__ = ["browser", "page"]  # fixtures

pytestmark = pytest.mark.slow  # each starts a browser

NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
SPACE = {
    "x": (0, 10),
    "rate": bamsoo.Real(1e-5, 1e-1, log=True),
    "layers": bamsoo.Int(1, 12, log=True),
    "mode": bamsoo.Choice(["fast", "exact", "auto"]),
}


def cost(x, rate, layers, mode):
    if x > 6:
        raise RuntimeError("the solver diverged")
    return (x - 3) ** 2 + (np.log10(rate) + 3) ** 2 + abs(layers - 5) + 0.3 * (mode == "fast")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "mixed.db"
    bamsoo.minimize(cost, SPACE, 60, study=path, on_error="fail")
    write(path)
    return path


def test_every_part_is_drawn_without_complaint_or_request(page, study):
    requests = [url for url in page.requests() if not url.startswith("data:")]
    assert requests == [study.with_suffix(".html").as_uri()]
    assert page.complaints() == []
    blank = page.js(
        "return [...document.querySelectorAll('canvas')].filter(c => c.id !== 'parallel-overlay')"
        ".filter(c => !new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height)"
        ".data.buffer).some(Boolean)).map(c => c.id)"
    )
    assert blank == []
    assert page.js("return document.querySelectorAll('canvas').length") == 3 + 2 * 4 + 2
    empty = page.js(
        "return [...document.querySelectorAll('main section .body')]"
        ".filter(b => !b.children.length).length"
    )
    assert empty == 0
    assert "best value" in page.text("#best")
    assert "the solver diverged" in page.text("#failures")


def test_the_pages_axes_are_the_librarys(page, study):
    with Study.open(study, readonly=True) as stored:
        space, trials = stored.space, stored.trials
    points = [space.point(t.params) for t in trials]
    drawn = page.js(
        "const a = bamsooReport.axes;return arguments[0].map(x => x.map((v, i) => a[i].at(v)))",
        [x.tolist() for x in points],
    )
    assert_allclose(drawn, [space.encode(x) for x in points], atol=1e-9)


KERNELS = [
    bamsoo.kernels.Matern32,
    bamsoo.kernels.Matern52,
    bamsoo.kernels.Matern72,
    bamsoo.kernels.SquaredExponential,
]


def bowl(x, rate, layers, mode):
    return (x - 3) ** 2 + (np.log10(rate) + 3) ** 2 + abs(layers - 5) + 0.3 * (mode == "fast")


MODELS_OF = {
    "auto": bamsoo.algorithms.Auto(),
    "auto, maximise": bamsoo.algorithms.Auto(),
    "auto without a warp": bamsoo.algorithms.Auto(warp=False),
    "auto with noise, maximise": bamsoo.algorithms.Auto(noise="learn"),
    **{
        f"{kind.__name__}{', maximise' * (i % 2)}": bamsoo.algorithms.BaMSOO(
            kernel=kind(0.4, 30.0), mean=7.0, noise=0.01
        )
        for i, kind in enumerate(KERNELS)
    },
    "soo": bamsoo.algorithms.SOO(),
    "soo, maximise": bamsoo.algorithms.SOO(),
}


@pytest.mark.parametrize("name", MODELS_OF)
def test_the_pages_posterior_is_the_librarys(browser, tmp_path, name):
    path = tmp_path / "a.db"
    direction = "maximize" if "maximise" in name else "minimize"
    getattr(bamsoo, direction)(bowl, SPACE, 18, algorithm=MODELS_OF[name], study=path)
    with Study.open(path) as stored:
        stored.ask()  # a pending trial
        space, search = stored.space, stored.replay()
    model = own(search)
    if model is None:
        X = np.array([space.encode(e.x) for e in search.evaluations])
        sign = 1.0 if direction == "maximize" else -1.0
        model = Surrogate(
            *learn(space.domain, X, sign * np.array([e.value for e in search.evaluations]))
        )
    else:
        assert model.gp.t == model.gp.known + 1
    page = Page(browser, write(path))
    where = np.array([space.domain.snap(u) for u in np.random.default_rng(0).random((40, 4))])
    where = np.vstack([where, model.gp.X[:5]])
    mu, sigma = model.gp.posterior(where)
    computed = page.js(
        "const p = bamsooReport.posterior(); return arguments[0].map(x => p.at(x))", where.tolist()
    )
    scale = np.sqrt(model.gp.kernel.variance)
    assert_allclose(np.array(computed)[:, 0], mu, rtol=1e-6, atol=1e-6 * scale)
    assert_allclose(np.array(computed)[:, 1], sigma, rtol=1e-4, atol=1e-5 * scale)
    values = page.js(
        "const p = bamsooReport.posterior();"
        "return arguments[0].map(x => p.value(p.mean(x)) * bamsooReport.report.size)",
        where.tolist(),
    )
    believed = model.transform.inverse(mu) * (1.0 if direction == "maximize" else -1.0)
    assert_allclose(values, believed, rtol=1e-5, atol=1e-5 * np.abs(believed).max())
    assert page.complaints() == []


def test_parameters_that_do_not_exist_are_known_to_the_page(browser, tmp_path):
    path = tmp_path / "models.db"
    r = bamsoo.minimize(loss, MODELS, 30, study=path)
    with Study.open(path) as stored:
        space, model = stored.space, own(stored.replay())
    page = Page(browser, write(path))
    where = np.random.default_rng(0).random((40, space.dim))  # options at random, all axes anywhere
    mu, sigma = model.gp.posterior(where)
    computed = page.js(
        "const p = bamsooReport.posterior(); return arguments[0].map(x => p.at(x))", where.tolist()
    )
    assert_allclose(np.array(computed)[:, 0], mu, atol=1e-6)
    assert_allclose(np.array(computed)[:, 1], sigma, rtol=1e-4, atol=1e-5)
    there = ~np.isnan(space.point(r.params))
    names = [name for name, exists in zip(space.names, there, strict=True) if not exists]
    for section in ("best", "parameters", "importance"):  # those of other options are folded away
        folded = page.js(f"return document.querySelector('#{section} .others')")
        assert folded.get_attribute("open") is None
        assert folded.text.endswith(f": {', '.join(names)}")
    panels = "[...document.querySelectorAll('#slices .grid canvas')].map(c => !c.hidden)"
    assert page.js(f"return {panels}") == there.tolist()
    page.set("#slice-through", next(i for i, x in enumerate(r.X) if x["model"] == "forest"))
    assert page.js(f"return {panels}")[space.names.index("depth")]
    heads = "[...document.querySelectorAll('#table th')].filter(e => e.offsetParent)"
    shown = page.js(f"return {heads}.map(e => e.innerText)")
    assert not set(names) & set(shown)
    page.click("#table-whole")
    assert set(names) <= set(page.js(f"return {heads}.map(e => e.innerText)"))
    for row, params in zip(page.rows(), r.X, strict=True):
        assert [bool(cell) for cell in row[3:-2]] == (~np.isnan(space.point(params))).tolist()
    assert "could not be drawn" not in page.text("main")
    page.set("#heat-x", 5)
    page.set("#heat-y", 0)
    page.frame()
    assert "depth exists only with model='forest'" in page.text("#heat-said")
    assert page.complaints() == []


def test_under_noise_the_page_shows_the_estimates_of_the_search(browser, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "noisy.db"
    r = bamsoo.minimize(
        lambda x: (x - 0.3) ** 2 + 0.3 * rng.standard_normal(),
        {"x": (0, 1)}, 30, noise="learn", study=path,
    )  # fmt: skip
    page = Page(browser, write(path))
    assert f"exactly {r.fun!r}; measured value" in page.text("#best")
    assert "best posterior mean" in page.text("#best")
    assert "that Auto used" in page.text("#slices")
    assert "noise or jumps with a standard deviation" in page.text("#slices")
    for scale in ("linear", "near"):
        page.set("#scale", scale)
    assert page.complaints() == []


def test_the_partition_in_any_two_dimensions_and_at_any_trial(page):
    first = page.picture("#partition-chart")
    page.set("#partition-x", 2)
    page.set("#partition-y", 3)
    assert page.picture("#partition-chart") != first
    last = page.text("#partition-count")
    page.set("#partition-trial", 3, "input")
    assert page.text("#partition-now") == "3"
    early = page.text("#partition-count")
    assert int(early.split()[0]) < int(last.split()[0].replace(",", ""))
    page.mouse("#partition-chart", ("Moved", 150, 100))
    assert "cell" in page.text("#tip") or page.text("#tip").startswith("trial")
    page.set("#partition-cells", "all")
    assert page.text("#partition-count") != ""
    page.click("#partition-play")
    page.until("document.querySelector('#partition-now').innerText !== '3'")
    page.click("#partition-play")
    assert "Play" in page.text("#partition-play")


def test_hovering_over_parallel_coordinates_shows_a_trial(page):
    height = page.js("return document.querySelector('#parallel-overlay').clientHeight")
    for y in range(60, height - 20, 6):
        page.mouse("#parallel-overlay", ("Moved", 200, y))
        if not page.js("return document.querySelector('#tip').hidden"):
            break
    shown = page.text("#tip")
    assert shown.startswith("trial ")
    assert {"value", "x", "rate", "layers", "mode"} <= set(shown.split("\n"))
    page.mouse("#parallel-overlay", ("Moved", 200, -50))
    page.until("document.querySelector('#tip').hidden")


def test_brushing_an_axis_keeps_its_trials_on_the_whole_page(page):
    before = page.picture("#convergence-chart")
    height = page.js("return document.querySelector('#parallel-overlay').clientHeight")
    page.mouse(  # the lower half of x
        "#parallel-overlay",
        ("Moved", 44, height - 20),
        ("Pressed", 44, height - 20),
        ("Moved", 44, height - 80),
        ("Moved", 44, height - 110),
        ("Released", 44, height - 110),
    )
    page.until("document.querySelectorAll('.chip').length === 1")
    kept = page.js("return bamsooReport.selectedCount()")
    assert 0 < kept < 60
    assert page.text("#brushed").startswith(f"{kept} of 60")
    assert f"of {kept} trials" in page.text("#table-count")
    assert page.picture("#convergence-chart") != before
    page.click(".chip")
    page.until("bamsooReport.selectedCount() === 60")


def test_brushing_by_numbers_and_by_options(page):
    page.set("#brush-axis", 3)
    page.set("#brush-from", "exact")
    page.set("#brush-to", "exact")
    page.click("#brush-form button")
    page.until("document.querySelectorAll('.chip').length === 1")
    assert {row[6] for row in page.rows()} == {"exact"}
    page.click(".chip")
    page.set("#brush-axis", 4)
    page.set("#brush-from", "")
    page.set("#brush-to", "2")
    page.click("#brush-form button")
    page.until("bamsooReport.state.filters.has(4)")
    page.frame()
    assert all(float(row[1]) <= 2 for row in page.rows())


def test_the_table_sorts_filters_and_turns_pages(page):
    assert len(page.rows()) == 50
    page.click("#table-after")
    assert len(page.rows()) == 10
    page.click("#table th:nth-child(2) button")
    values = [float(row[1]) for row in page.rows() if row[1]]
    assert values == sorted(values)
    page.click("#table th:nth-child(2) button")
    values = [float(row[1]) for row in page.rows() if row[1]]
    assert values == sorted(values, reverse=True)
    order = "document.querySelector('#table th:nth-child(2)').getAttribute('aria-sort')"
    assert page.js(f"return {order}") == "descending"
    page.set("#table-state", "f")
    failed = page.rows()
    assert failed
    assert all("the solver diverged" in row[-1] for row in failed)
    page.set("#table-state", "")
    page.set("#table-search", "DIVERGED", "input")
    assert len(page.rows()) == len(failed)
    page.set("#table-search", "nothing like it", "input")
    assert page.rows() == []
    assert page.text("#table-count") == "No trial matches the filter."


def test_the_models_slices_follow_what_is_chosen(page):
    heat, slices = page.picture("#heat"), page.picture("#slice-0")
    page.set("#heat-what", "sigma")
    sigma = page.picture("#heat")
    assert sigma != heat
    assert page.text("#heat-said").startswith("Uncertainty")
    page.set("#heat-x", 3)
    page.set("#heat-y", 1)
    assert page.picture("#heat") != sigma
    assert "over mode and rate" in page.text("#heat-said")
    page.set("#heat-y", 3)
    assert "two different" in page.text("#heat-said")
    page.set("#slice-through", 0)
    assert page.picture("#slice-0") != slices
    page.set("#slice-through", 999)
    invalid = "document.querySelector('#slice-through').getAttribute('aria-invalid')"
    assert page.js(f"return {invalid}") == "true"


def test_value_axis_and_theme(page):
    light = page.js("return getComputedStyle(document.body).backgroundColor")
    linear = page.picture("#convergence-chart")
    page.set("#theme", "dark")
    assert page.js("return getComputedStyle(document.body).backgroundColor") != light
    dark = page.picture("#convergence-chart")
    assert dark != linear
    for scale in ("near", "linear"):
        page.set("#scale", scale)
        assert page.picture("#convergence-chart") != dark


RANGES = [
    (0.98571, 0.9876),
    (15233.4, 15293.1),
    (8e-20, 9.4e-16),
    (1_234_567.89, 1_484_567.89),
    (-1523.4567, -1511.2),
    (-1523.45671, -1523.45669),
    (15233.000121, 15233.000124),
    (0.0, 1.0),
    (-2e9, 3e9),
    (0.09999999999999984, 0.9),
    (3.0, 4.0),
]


def test_the_labels_of_an_axis_differ_and_say_where_they_are(page):
    for low, high in RANGES:
        for about in (2, 4, 11):
            for logged in (False, True) if low > 0 else (False,):
                ticks = page.js("return bamsooReport.ticks(...arguments)", low, high, about, logged)
                labels = [tick["label"] for tick in ticks["marks"]]
                assert 2 <= len(labels) <= about + 2
                assert len(set(labels)) == len(labels)
                assert max(map(len, labels)) <= 10
                plain = [text.replace(",", "").replace(" ", "") for text in labels]
                offset = float(
                    ticks["offset"].replace(",", "").replace(" ", "").replace("−", "-") or 0
                )
                where = [tick["at"] for tick in ticks["marks"]]
                assert_allclose(
                    np.array(plain, dtype=float) + offset,
                    where,
                    rtol=1e-14,
                    atol=1e-6 * (high - low),
                )


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (-48_211.5302, -48_211.1657, "-48,211.530 to -48,211.166"),
        (4.023, 24.831, "4.02 to 24.8"),
        (0.95, 0.9876, "0.9500 to 0.9876"),
        (2e-16, 1.5e-15, "2e-16 to 1.5e-15"),
        (3.0, 3.0, "3"),
    ],
)
def test_the_ends_of_a_range_have_as_many_digits_as_tell_them_apart(page, low, high, text):
    assert page.js("return bamsooReport.fromTo(...arguments, 2)", low, high) == text


def test_the_labels_of_a_real_axis_are_not_cut(browser, tmp_path):
    """What is drawn for values near 0.98: every label is whole, and none occurs twice."""
    path = tmp_path / "accuracy.db"
    bamsoo.maximize(
        lambda x, y: 0.9876 - 0.002 * ((x - 0.3) ** 2 + (y - 0.6) ** 2),
        {"x": (0.09999999999999984, 0.9), "y": (0, 1)}, 15, study=path,
    )  # fmt: skip
    page = Page(browser, write(path))
    page.js(
        "const p = CanvasRenderingContext2D.prototype, write = p.fillText; window.written = {};"
        "p.fillText = function (text, ...where) {"
        "  (window.written[this.canvas.id] ??= []).push(text); write.call(this, text, ...where); }"
    )
    for canvas in ("convergence-chart", "slice-0", "heat"):
        page.js("window.written = {}; document.getElementById(arguments[0]).redraw()", canvas)
        texts = page.js("return window.written[arguments[0]]", canvas)
        assert not any("…" in text for text in texts)
        values = [text for text in texts if text.startswith("0.98")]
        assert len(values) >= 3
        assert len(set(values)) == len(values)
    best = page.text("#best")
    assert "0.1 to 0.9" in best
    assert "0.0999999" not in best


def test_the_keyboard_walks_over_the_points(page):
    page.js("document.querySelector('#convergence-chart').focus()")
    for _ in range(2):
        for kind in ("keyDown", "keyUp"):
            key = {"type": kind, "key": "ArrowRight", "code": "ArrowRight"}
            page.driver.execute_cdp_cmd("Input.dispatchKeyEvent", key)
    page.until("document.querySelector('#said').innerText.startsWith('trial ')")
    unnamed = page.js(
        "return [...document.querySelectorAll('select, input')].filter(e => !e.labels.length)"
        ".map(e => e.id)"
    )
    assert unnamed == []


def test_a_phone_needs_no_sideways_scrolling(browser, study):
    page = Page(browser, study.with_suffix(".html"), width=390)
    assert page.js("return document.documentElement.scrollWidth") <= 390
    assert page.complaints() == []


def hostile(**params):
    raise ValueError(NASTY)


def test_maximising_along_one_parameter(browser, tmp_path):
    path = tmp_path / "a.db"
    bamsoo.maximize(lambda x: 2.0 - (x - 0.3) ** 2, {"x": (0, 1)}, 12, study=path)
    page = Page(browser, write(path))
    along = page.picture("#slice-0")
    page.set("#slice-through", 1)
    assert page.picture("#slice-0") != along
    page.set("#scale", "near")
    assert page.js("return document.querySelector('#heat')") is None
    believed = page.js("const p = bamsooReport.posterior(); return p.band([0.5], 2)")
    low, median, high = np.array(believed) * 2.0  # the largest value, near enough
    assert low <= median <= high
    assert median == pytest.approx(2.0 - 0.04, abs=1e-3)
    assert page.complaints() == []


@pytest.mark.parametrize(
    ("fun", "space", "budget"),
    [
        (hostile, {NASTY: (0, 1), "m": bamsoo.Choice([NASTY, "b"])}, 3),
        (lambda x: x, {"x": (0, 1)}, 1),
        (lambda x: 7.0, {"x": (0, 1)}, 8),
        (lambda x, y: 1.7e308 * x, {"x": (-1, 1), "y": (-1.7e308, 1.7e308)}, 8),
    ],
    ids=["hostile", "one", "constant", "huge"],
)
def test_odd_studies_are_drawn_without_complaint(browser, tmp_path, fun, space, budget):
    path = tmp_path / f"{'<b>' if fun is hostile else 'a'}.db"
    bamsoo.minimize(fun, space, budget, study=path, on_error="fail", algorithm="soo")
    page = Page(browser, write(path))
    assert page.complaints() == []
    assert page.text("#title") == path.name
    if fun is hostile:
        assert page.rows()[0][3] != ""
        assert NASTY in page.js("return document.querySelector('#table').textContent")
        assert page.js("return document.querySelectorAll('img, script').length") == 2


@pytest.mark.long
def test_ten_thousand_trials_stay_usable(browser, tmp_path, study):
    report = describe(study, replay=False)  # its rows stretched: what counts here is the page
    rng, rows = np.random.default_rng(0), 10_000
    report["parameters"] = [
        {"name": f"p{i}", "kind": "Real", "low": 0, "high": 1, "log": False} for i in range(20)
    ]
    values = rng.random(rows)
    report.update(
        size=float(values.max()),
        best={"row": int(values.argmin()), "number": 0, "value": "0", "params": ["0"] * 20},
        model={"reason": "none"},
        ranges=None,
        trials={
            "number": list(range(rows)),
            "origin": [None] * rows,
            "state": "d" * rows,
            "value": values.tolist(),
            "params": rng.random((20, rows)).round(9).tolist(),
            "message": {},
            "start": 0.0,
            "asked": list(range(rows)),
            "took": [1.0] * rows,
            "steps": [None] * rows,
        },
        messages=[],
    )
    path = tmp_path / "big.html"
    path.write_text(render(report))
    page = Page(browser, path)
    assert "points are drawn" in page.text("#convergence")
    assert "of 10,000 lines are drawn" in page.text("#parallel")
    page.click("#table th:nth-child(2) button")
    assert float(page.rows()[0][1]) == pytest.approx(values.min())
    assert page.complaints() == []
