"""The report's data and its file; how it looks and behaves is in test_report_browser.py."""

import json
import re
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from math import isfinite

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

import bamsoo
from bamsoo.command.main import main
from bamsoo.errors import SettingsError, StudyError
from bamsoo.optimizer import Optimizer
from bamsoo.report import describe, render, write
from bamsoo.report.growth import cuts, oldest
from bamsoo.report.model import option_texts
from bamsoo.report.page import embedded
from bamsoo.report.surrogate import learn, nothing_to_learn, own
from bamsoo.space.axes import cube

from checksums import renew_checksums

MIXED = {
    "x": (0, 10),
    "rate": bamsoo.Real(1e-5, 1e-1, log=True),
    "layers": bamsoo.Int(1, 12),
    "mode": bamsoo.Choice(["fast", "exact", "auto"]),
}


def cost(x, rate, layers, mode):
    if x > 6:
        raise RuntimeError("the solver diverged")
    return (x - 3) ** 2 + (np.log10(rate) + 3) ** 2 + abs(layers - 5) + 0.3 * (mode == "fast")


def run(path, fun, space, budget, **settings):
    maximize = settings.pop("maximize", False)
    search = bamsoo.maximize if maximize else bamsoo.minimize
    return search(fun, space, budget, study=path, on_error="fail", **settings)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "mixed.db"
    return path, run(path, cost, MIXED, 40)


def test_the_page_has_every_trial_and_the_best(mixed):
    path, result = mixed
    report = describe(path)
    trials = report["trials"]
    assert len(trials["state"]) == len(trials["value"]) == 40
    assert trials["state"].count("f") == result.nfailed > 0
    assert report["messages"] == ["RuntimeError: the solver diverged"]
    assert set(trials["message"]) == {i for i, s in enumerate(trials["state"]) if s == "f"}
    assert float(report["best"]["value"]) == result.fun
    assert trials["value"][report["best"]["row"]] == result.fun
    assert report["best"]["params"][3] == result.params["mode"]
    assert [len(column) for column in trials["params"]] == [40] * 4
    assert report["gap"] == (result.gap if isfinite(result.gap) else "unknown")
    json.dumps(report, allow_nan=False)


def test_the_page_and_the_plot_give_the_same_importance(mixed):
    pytest.importorskip("matplotlib")
    path, result = mixed
    drawn = sorted(bar.get_width() for bar in result.plot("importance").patches)
    shown = describe(path)["model"]["importance"]
    assert shown == result.predictor.importance().tolist()
    assert sorted(shown) == drawn


def test_a_gap_that_is_unknown_is_not_shown_as_a_number(tmp_path):
    run(tmp_path / "a.db", lambda x: 1.0, {"x": (0, 1)}, 12)
    assert describe(tmp_path / "a.db")["gap"] == "unknown"
    assert describe(tmp_path / "a.db", replay=False)["gap"] is None
    run(tmp_path / "b.db", lambda x: x, {"x": (0, 1)}, 12, algorithm="soo")
    assert describe(tmp_path / "b.db")["gap"] is None


def test_maximising_finds_the_largest(tmp_path):
    result = run(tmp_path / "a.db", lambda x: -((x - 0.3) ** 2), {"x": (0, 1)}, 15, maximize=True)
    report = describe(tmp_path / "a.db")
    assert (report["sign"], float(report["best"]["value"])) == (-1.0, result.fun)
    unit = report["trials"]["params"][0][report["best"]["row"]]
    points = [x for (x,) in report["model"]["points"]]
    y = report["model"]["y"]
    assert points[y.index(max(y))] == pytest.approx(unit)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["auto", "bamsoo", "soo", "doo"])
@pytest.mark.parametrize("space", [{"x": (0, 1), "y": (-3, 7)}, MIXED], ids=["real", "mixed"])
def test_the_cuts_are_the_tree(tmp_path, algorithm, space):
    names = list(space)

    def fun(**params):
        return sum(float(v) for v in params.values() if not isinstance(v, str))

    run(tmp_path / "a.db", fun, space, 20, algorithm=algorithm)
    partition = describe(tmp_path / "a.db")["partition"]
    with bamsoo.Study.open(tmp_path / "a.db") as study:
        tree = study.result.tree
    low, high, centre = rebuilt(partition, len(names))
    assert_allclose(low, tree.low, atol=1e-12)
    assert_allclose(high, tree.high, atol=1e-12)
    assert_allclose(centre, tree.x, atol=1e-12)
    assert partition["marks"]["status"] == "".join(map(str, tree.status))
    assert partition["sizes"] == sorted(partition["sizes"])
    assert partition["sizes"][-1] == len(tree) == partition["nodes"]
    evaluated = [r for r, s in zip(*partition["marks"].values(), strict=True) if s == "1"]
    assert -1 not in evaluated  # each evaluated centre is some trial's point


def rebuilt(partition, dim):
    """The tree as the page rebuilds it from the splits."""
    low, high, centre = [np.zeros(dim)], [np.ones(dim)], [np.array(partition["root"])]
    for i, (parent, axis) in enumerate(zip(partition["cut"], partition["axis"], strict=True)):
        a, b = low[parent][axis], high[parent][axis]
        if partition["parts"] is None:
            edges = np.linspace(a, b, partition["k"] + 1)
            centres = 0.5 * (edges[1:] + edges[:-1])
        else:
            inner, centres = partition["parts"][i]
            edges = [a, *inner, b]
        for j in range(len(centres)):
            for kept, value in ((low, edges[j]), (high, edges[j + 1]), (centre, centres[j])):
                kept.append(kept[parent].copy())
                kept[-1][axis] = value
    if partition["points"] is not None:
        centre[1:] = [np.array(point) for point in partition["points"]]
    return np.array(low), np.array(high), np.array(centre)


def test_a_large_tree_keeps_its_oldest_cells(tmp_path):
    optimizer = Optimizer([(0, 1), (0, 1)], algorithm="soo")
    for _ in range(50):
        trial = optimizer.ask()
        optimizer.tell(trial, float(trial.x.sum()))
    tree = optimizer.result.tree
    assert oldest(tree, len(tree), 10**6) == len(tree)
    assert [oldest(tree, len(tree), most) for most in (18, 19, 20, 21)] == [16, 19, 19, 19]  # k = 3
    whole, part = cuts(tree, len(tree)), cuts(tree, 19)
    assert part["cut"] == whole["cut"][:6]


@pytest.mark.parametrize("algorithm", ["random", "gp-ucb", "shrinking"])
def test_without_a_tree_it_says_so_and_models_the_values(tmp_path, algorithm):
    run(tmp_path / "a.db", lambda x: (x - 0.3) ** 2, {"x": (0, 1)}, 6, algorithm=algorithm)
    report = describe(tmp_path / "a.db")
    assert "does not partition" in report["partition"]["reason"]
    assert len(report["model"]["lengths"]) == 1


def test_the_partition_can_be_left_out(mixed):
    assert describe(mixed[0], replay=False)["partition"] == {
        "reason": "Not shown, because of --no-replay."
    }


def test_a_study_that_no_longer_replays_shows_the_partition_up_to_the_difference(tmp_path):
    run(tmp_path / "a.db", lambda x: (x - 0.3) ** 2, {"x": (0, 1)}, 12, algorithm="soo")
    with closing(sqlite3.connect(tmp_path / "a.db")) as file, file:
        file.execute(
            "UPDATE events SET body = '{\"point\": [0.123]}' WHERE kind = 'ask' AND trial = 7"
        )
        renew_checksums(file)
    partition = describe(tmp_path / "a.db")["partition"]
    assert "trial 7 differs" in partition["ended"]
    assert len(partition["sizes"]) == 7
    assert len(partition["marks"]["status"]) == partition["sizes"][-1]


def test_after_a_restart_the_partition_is_the_new_searchs(tmp_path):
    path = tmp_path / "a.db"
    run(path, lambda x: (x - 0.3) ** 2, {"x": (0, 1)}, 5, algorithm="soo")
    with bamsoo.Study.open(path, replay=False) as study:
        assert "has not divided" in describe(path)["partition"]["reason"]
        for _ in range(4):
            trial = study.ask()
            study.tell(trial, (trial.params["x"] - 0.3) ** 2)
    partition = describe(path)["partition"]
    assert (partition["first"], len(partition["sizes"])) == (5, 4)


# --- the model


def test_a_learned_model_explains_a_smooth_function():
    rng = np.random.default_rng(0)
    X = rng.random((40, 2))
    value = lambda X: -((X[:, 0] - 0.3) ** 2) - 0.01 * X[:, 1]
    model = learn(cube(2), X, value(X))
    lengths = model.gp.kernel.lengths(2)
    assert lengths[0] < lengths[1]  # x0 matters more
    unseen = rng.random((20, 2))
    mu, sigma = model.gp.posterior(unseen)
    truth = np.array([model.transform(v) for v in value(unseen).tolist()])
    assert np.all(np.abs(truth - mu) < 5.0 * sigma + 0.1)


def test_points_next_to_a_better_one_are_left_out_of_a_learned_model():
    points = np.array([[0.5], [0.505], [0.9], [0.1], [0.3]])
    model = learn(cube(1), points, -np.array([1.0, 0.0, 2.0, 3.0, 1.5]))
    assert sorted(model.gp.X[:, 0]) == [0.1, 0.3, 0.505, 0.9]


def test_a_learned_model_tells_noise_from_the_function():
    rng = np.random.default_rng(0)
    X = rng.random((120, 1))
    values = -((X[:, 0] - 0.3) ** 2) + 0.05 * rng.standard_normal(120)
    model = learn(cube(1), X, values, "learn")
    low, high = model.transform.inverse(np.array([0.0, np.sqrt(model.gp.noise)]))
    assert 0.03 < high - low < 0.07
    assert "noise or jumps with a standard deviation" in model.description()


@pytest.mark.parametrize(
    ("values", "reason"),
    [([], "there are 0"), ([1.0], "there are 1"), ([7.0] * 20, "All values are equal")],
)
def test_where_nothing_can_be_learned_it_says_why(values, reason):
    assert reason in nothing_to_learn(np.array(values))
    assert nothing_to_learn(np.array([1.0, 2.0, 3.0, 4.0])) is None


NOISY = [
    (bamsoo.algorithms.Auto(noise="learn"), bamsoo.minimize),
    (bamsoo.algorithms.Auto(noise=0.01), bamsoo.maximize),
    (bamsoo.algorithms.BaMSOO(noise=0.01, random_start=True), bamsoo.minimize),
    (bamsoo.algorithms.GPUCB(noise=0.01, direct_evaluations=50), bamsoo.maximize),
]


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "search"), NOISY, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("workers", [None, 3])
def test_a_noisy_study_has_one_best_wherever_it_is_looked_at(tmp_path, algorithm, search, workers):
    path = tmp_path / "a.db"
    rng = np.random.default_rng(0)

    def measured(x, y):
        sign = 1.0 if search is bamsoo.minimize else -1.0
        return sign * ((x - 0.3) ** 2 + (y - 0.6) ** 2) + 0.1 * rng.standard_normal()

    with ThreadPoolExecutor(workers or 1) as threads:
        r = search(
            measured, {"x": (0, 1), "y": (0, 1)}, 25,
            algorithm=algorithm, study=path, workers=None if workers is None else threads,
        )  # fmt: skip
    told = min(r.F) if search is bamsoo.minimize else max(r.F)
    assert r.fun != told  # a posterior mean
    shown = CliRunner().invoke(main, ["show", str(path), "--json"])
    shown = json.loads(shown.stdout)
    assert (shown["value"], shown["params"]) == (r.fun, r.params)
    report = describe(path)
    assert report["best"]["value"] == repr(r.fun)
    assert report["best"]["params"] == [repr(value) for value in r.params.values()]
    assert "posterior mean" in report["notes"]["best"]
    model = report["model"]
    assert f"that {type(algorithm).__name__} used" in model["says"]
    assert model["noise"] > 0
    assert len(model["points"]) == 25
    # without a replay, both say that the best is that of the measured values
    hasty = CliRunner().invoke(main, ["show", str(path), "--json", "--no-replay"])
    assert json.loads(hasty.stdout)["value"] == told
    assert "values as told" in hasty.stderr
    report = describe(path, replay=False)
    assert report["best"]["value"] == repr(float(told))
    assert "not replayed" in report["notes"]["best"]
    assert "not replayed" in report["model"]["says"]
    assert report["model"]["noise"] > 0


def test_a_noisy_search_of_a_finite_space_is_known_as_it_ended(tmp_path):
    # the six points are evaluated again and again
    path = tmp_path / "a.db"
    rng = np.random.default_rng(1)
    r = bamsoo.minimize(
        lambda i: (i - 2) ** 2 + 2.0 * rng.standard_normal(),
        {"i": bamsoo.Int(0, 5)}, 50, noise="learn", study=path,
    )  # fmt: skip
    assert r.nfev == 50
    assert describe(path)["best"]["value"] == repr(r.fun)
    with bamsoo.Study.open(path, readonly=True) as study:
        assert study.replay().result.fun == r.fun


@pytest.mark.parametrize("algorithm", ["auto", "bamsoo", "gp-ucb", "shrinking"])
def test_the_model_is_the_searchs_own(tmp_path, algorithm):
    run(tmp_path / "a.db", lambda x: (x - 0.3) ** 2, {"x": (0, 1)}, 12, algorithm=algorithm)
    with bamsoo.Study.open(tmp_path / "a.db", readonly=True) as study:
        gp = study.replay().book.gp
    model = describe(tmp_path / "a.db")["model"]
    assert " used, as of the last trial" in model["says"]
    assert (model["kernel"], model["mean"]) == (type(gp.kernel).__name__, gp.mean)
    assert (model["lengths"], model["variance"]) == ([gp.kernel.lengths(1)[0]], gp.kernel.variance)
    assert model["points"] == gp.X[: gp.known].tolist()
    assert model["y"] == gp.values.tolist()


@pytest.mark.parametrize("algorithm", ["soo", "doo", "random"])
def test_a_search_without_a_model_is_given_one(tmp_path, algorithm):
    run(tmp_path / "a.db", lambda x: (x - 0.3) ** 2, {"x": (0, 1)}, 12, algorithm=algorithm)
    model = describe(tmp_path / "a.db")["model"]
    assert "has no model" in model["says"]
    assert "the default algorithm fits its own" in model["says"]


def test_the_page_says_that_the_default_has_not_learned_its_model_yet(tmp_path):
    run(tmp_path / "a.db", lambda x: (x - 0.3) ** 2, {"x": (0, 1)}, 4)
    assert "has not learned its model yet" in describe(tmp_path / "a.db")["model"]["says"]


def test_a_large_model_is_thinned_to_the_best_points_and_an_even_sample(monkeypatch):
    monkeypatch.setattr("bamsoo.report.surrogate.MOST_ROWS", 10)
    search = Optimizer([(0, 1)], algorithm="bamsoo")
    for _ in range(30):
        trial = search.ask()
        search.tell(trial, float(abs(trial.x[0] - 0.3)))
    model = own(search)
    assert model.gp.known == 10
    assert model.gp.values.max() == search.book.gp.values.max()


# --- any study


def fails(x):
    raise ValueError("never")


@pytest.mark.parametrize(
    ("fun", "budget"),
    [(fails, 4), (lambda x: x, 1), (lambda x: 7.0, 12), (lambda x: 1e300 * (x - 0.5), 12)],
    ids=["all failed", "one", "constant", "huge"],
)
def test_odd_studies_have_a_page(tmp_path, fun, budget):
    run(tmp_path / "a.db", fun, {"x": (0, 1)}, budget)
    assert write(tmp_path / "a.db") == tmp_path / "a.html"


def test_a_study_that_is_new_or_being_written_has_a_page(tmp_path):
    path = tmp_path / "a.db"
    with bamsoo.Study.open(path, space={"x": (0, 1)}) as study:
        assert describe(path)["best"] is None
        study.tell({"x": 0.25}, 3.0)
        trial = study.ask()
        report = describe(path)
        assert report["trials"]["state"] == "go"
        assert report["trials"]["number"] == [None, 0]
        study.tell(trial, 1.0)
    assert describe(path)["best"]["number"] == 0


NASTY = "</script><script>alert(1)</script><!--\u2028&amp;"


def test_names_options_and_messages_are_harmless(tmp_path):
    def fun(**params):
        raise ValueError(NASTY)

    path = tmp_path / "<b>&.db"
    run(path, fun, {NASTY: (0, 1), "m": bamsoo.Choice([NASTY, "b"])}, 3)
    page = write(path).read_text()
    assert page.count("</script>") == 2  # the data's and the script's own
    assert "alert(1)" not in page.replace("alert(1)\\u003c/script", "")
    assert "<title>&lt;b&gt;&amp;.db" in page
    data = re.search(r'id="data">(.*?)</script>', page, re.S).group(1)
    assert json.loads(data)["parameters"][0]["name"] == NASTY
    assert json.loads(embedded({"a": NASTY})) == {"a": NASTY}


def test_options_that_read_the_same_are_told_apart():
    assert option_texts([1, "a", None]) == ["1", "a", "None"]
    assert option_texts([1, "1"]) == ["1", "'1'"]


def test_long_messages_are_shortened_and_the_page_says_so(tmp_path):
    def fun(x):
        raise ValueError("x" * 5000)

    run(tmp_path / "a.db", fun, {"x": (0, 1)}, 2)
    report = describe(tmp_path / "a.db")
    assert len(report["messages"][0]) < 2100
    assert "shortened" in report["notes"]["messages"]


def test_the_page_may_load_nothing(mixed):
    page = render(describe(mixed[0]))
    assert "default-src 'none'" in page
    markup = re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.S)
    assert re.findall(r"""(?:src|href)=["'](?!#|data:)""", markup) == []
    assert "http" not in markup.replace("http-equiv", "")


def test_the_settings_say_how_it_ran(tmp_path):
    path = tmp_path / "a.db"
    args = ["minimize", "branin", "--budget", "5", "--study", str(path), "--algorithm", "bamsoo"]
    assert CliRunner().invoke(main, args).exit_code == 0
    groups = {name: dict(pairs) for name, pairs in describe(path)["settings"]}
    assert groups["Search"]["algorithm"] == "BaMSOO"
    assert groups["BaMSOO"]["kernel"] == "Matern52(length=0.25, variance=1.0)"
    assert groups["Run"]["budget"] == "5"
    assert groups["Written with"]["bamsoo"] == bamsoo.__version__


# --- the file and the command


def test_the_command_writes_and_replaces_its_page(mixed, tmp_path):
    page = tmp_path / "r.html"
    for _ in range(2):
        ran = CliRunner().invoke(main, ["report", str(mixed[0]), "-o", str(page), "--no-replay"])
        assert (ran.exit_code, ran.output) == (0, f"{page}\n")
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]


def test_another_file_is_not_replaced(mixed, tmp_path):
    path = tmp_path / "notes.html"
    path.write_text("mine")
    with pytest.raises(SettingsError, match="is not a report"):
        write(mixed[0], path)
    assert path.read_text() == "mine"
    with pytest.raises(SettingsError, match="is not a report"):
        write(mixed[0], mixed[0])
    with pytest.raises(SettingsError, match="does not exist"):
        write(mixed[0], tmp_path / "none" / "r.html")


def test_a_file_that_is_not_a_study_gives_one_sentence(tmp_path):
    (tmp_path / "a.txt").write_text("hello, world, this is text" * 50)
    ran = CliRunner().invoke(main, ["report", str(tmp_path / "a.txt")])
    assert ran.exit_code == 2
    assert "is not a study file" in ran.output
    with pytest.raises(StudyError, match="no such study"):
        write(tmp_path / "none.db")
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_import_bamsoo_does_not_load_it():
    code = "import bamsoo, sys; sys.exit('bamsoo.report' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
