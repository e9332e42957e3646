"""The data of a report; how the page looks and behaves is in test_report_browser.py."""

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from math import isfinite
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from report_runs import run

import bamsoo
from bamsoo.command.main import main
from bamsoo.report import describe, write

from checksums import renew_checksums


@pytest.mark.slow
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
    assert {*map(tuple, model["points"])} == {tuple(e.x.tolist()) for e in r.evaluations}
    if workers is None:  # the order of threads decides whether a point is out twice at one time
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


def test_the_page_says_that_the_default_has_not_learned_its_model_yet(tmp_path):
    run(tmp_path / "a.db", lambda x: (x - 0.3) ** 2, {"x": (0, 1)}, 4)
    assert "has not learned its model yet" in describe(tmp_path / "a.db")["model"]["says"]


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


def test_long_messages_are_shortened_and_the_page_says_so(tmp_path):
    def fun(x):
        raise ValueError("x" * 5000)

    run(tmp_path / "a.db", fun, {"x": (0, 1)}, 2)
    report = describe(tmp_path / "a.db")
    assert len(report["messages"][0]) < 2100
    assert "shortened" in report["notes"]["messages"]


def test_the_settings_say_how_it_ran(tmp_path):
    path = tmp_path / "a.db"
    args = ["minimize", "branin", "--budget", "5", "--study", str(path), "--algorithm", "bamsoo"]
    assert CliRunner().invoke(main, args).exit_code == 0
    groups = {name: dict(pairs) for name, pairs in describe(path)["settings"]}
    assert groups["Search"]["algorithm"] == "BaMSOO"
    assert groups["BaMSOO"]["kernel"] == "Matern52(length=0.25, variance=1.0)"
    assert groups["Run"]["budget"] == "5"
    assert groups["Written with"]["bamsoo"] == bamsoo.__version__


def test_the_page_says_what_limits_the_best_point_and_what_other_limits_would_bring(tmp_path):
    def fun(x, y):
        return (x - 1) ** 2 + (y - 1) ** 2, {"s": 100 * (x + y)}

    path = tmp_path / "run.db"
    r = bamsoo.minimize(fun, {"x": (0, 1), "y": (0, 1)}, 40, study=path, constraints=["s <= 100"])
    shown = describe(path)
    (held,) = shown["active"]
    assert (held["limit"], held["price"]) == ("s <= 100", pytest.approx(0.01, rel=0.05))
    (slider,) = shown["what_if"]
    steps = {step["bound"]: step["fun"] for step in slider["steps"]}
    assert len(steps) == 9
    assert steps[100] == pytest.approx(r.fun, abs=1e-3)
    assert sorted(steps.values(), reverse=True) == [steps[bound] for bound in sorted(steps)]
    bound = max(steps)
    assert steps[bound] == pytest.approx(2 * (1 - bound / 200) ** 2, abs=0.02)
    low, high = shown["expected"]
    assert 0.5 - 1e-3 < low <= 0.5 + 1e-9
    assert 0.5 - 1e-6 < high <= r.fun


def test_a_bound_of_a_parameter_has_a_slider_too(tmp_path):
    path, space = tmp_path / "run.db", {"x": (1, 3), "rate": bamsoo.Real(1e-3, 1, log=True)}
    bamsoo.maximize(lambda x, rate: -(x**2) - np.log10(rate) ** 2, space, 25, study=path)
    shown = describe(path)
    sliders = {(each["name"], each["upper"]): each for each in shown["what_if"]}
    below = sliders["x", False]
    assert [step["bound"] for step in below["steps"]] == pytest.approx(np.linspace(0.9, 1.1, 9))
    assert below["steps"][below["now"]]["bound"] == 1.0
    found = [step["fun"] for step in below["steps"]]
    assert found == pytest.approx(-(np.linspace(0.9, 1.1, 9) ** 2), abs=0.02)
    low, high = shown["expected"]
    assert low <= -1.0 + 1e-6 <= high + 2e-6


def test_distances_that_count_as_close_do_not_depend_on_how_long_a_search_polished(tmp_path):
    path, space = tmp_path / "run.db", {"x": (0, 1), "y": (0, 1)}
    for budget in (25, 60):
        bamsoo.minimize(lambda x, y: (x - 0.3) ** 2 + y, space, budget, study=path, tol=1e-9)
        levels = describe(path)["ranges"]["levels"]
        assert [level["within"] for level in levels] == sorted(level["within"] for level in levels)
        assert levels[0]["within"] == 1e-9
        assert 0.05 <= levels[-1]["within"] <= 0.1
        widths = [level["of"][0][1] - level["of"][0][0] for level in levels]
        assert widths == sorted(widths)
        assert widths[-1] == pytest.approx(2 * levels[-1]["within"] ** 0.5, rel=0.1)


def test_measured_numbers_have_an_importance_of_their_own(tmp_path):
    path, space = tmp_path / "run.db", {"x": (0, 1), "y": (0, 1)}
    bamsoo.minimize(lambda x, y: (x**2 + y**2, {"load": 3 * y}), space, 20, study=path)
    (load,) = describe(path)["numbers"]
    assert load["importance"] == pytest.approx([0.0, 1.0], abs=0.01)
    assert load["near"] == pytest.approx([0.0, 1.0], abs=0.01)


def test_while_nothing_is_feasible_the_page_shows_the_least_violation(tmp_path):
    path = tmp_path / "run.db"
    r = bamsoo.minimize(
        lambda x: (x[0], {"T": 530.0 + x[0]}), [(0, 1)], 8, study=path, constraints=["T <= 520"]
    )
    shown = describe(path)
    assert (shown["active"], shown["what_if"]) == (None, [])
    assert shown["least"]["by"] == {"T <= 520": pytest.approx(10.0 + r.X.min())}
    assert shown["trials"]["params"][0][shown["least"]["row"]] == pytest.approx(r.X.min())


def test_a_formula_and_a_parameter_of_one_option_have_sliders(tmp_path):
    path = tmp_path / "formula.db"
    limit = bamsoo.Formula("x + y >= 1")
    bamsoo.minimize(
        lambda x, y: x**2 + y**2, {"x": (-1, 2), "y": (-1, 2)}, 25, study=path, constraints=[limit]
    )
    (slider,) = describe(path)["what_if"]
    assert (slider["name"], slider["upper"]) == ("x + y", False)
    for step in slider["steps"]:
        assert step["fun"] == pytest.approx(0.5 * max(step["bound"], 0.0) ** 2, abs=0.02)

    path = tmp_path / "options.db"
    options = {"a": {"C": bamsoo.Real(1e-3, 1e3, log=True)}, "b": {"C": (0, 1)}}
    bamsoo.minimize(
        lambda k, C: (np.log10(C) - 4) ** 2 if k == "a" else 3 + C,
        {"k": bamsoo.Choice(options)}, 30, study=path,
    )  # fmt: skip
    (slider,) = describe(path)["what_if"]
    assert slider["name"] == "C (k='a')"
    assert slider["steps"][-1]["bound"] > 1000  # beyond the space


def test_a_noisy_best_point_that_met_a_limit_by_chance_is_doubted(tmp_path):
    path, rng = tmp_path / "noise.db", np.random.default_rng(0)

    def fun(x):  # below 0.5, the limit is met by chance only
        return x + 0.01 * rng.normal(), {"g": x + 0.1 * rng.normal()}

    bamsoo.minimize(fun, {"x": (0, 1)}, 40, study=path, noise="learn", constraints=["g >= 0.5"])
    said = describe(path)["notes"]["best"]
    assert "It met g >= 0.5 when it was measured, but the models" in said
    assert said.endswith(" % that it does not.")


def test_it_is_said_that_nothing_limits_the_best_point(tmp_path):
    bamsoo.minimize(lambda x: (x[0] - 0.3) ** 2, [(0, 1)], 15, study=tmp_path / "inside.db")
    assert describe(tmp_path / "inside.db")["active"] == []
    assert describe(tmp_path / "inside.db")["failed_nearby"] is None
    path = tmp_path / "fails.db"
    r = bamsoo.minimize(
        lambda x: None if x[0] < 0.5 else x[0], [(0, 1)], 20, study=path, on_error="fail"
    )
    failed = r.X[describe(path)["failed_nearby"], 0]
    assert 0.48 < failed < 0.5 <= r.x[0] < 0.52
    bamsoo.minimize(lambda n: n, {"n": bamsoo.Int(0, 9)}, 8, study=tmp_path / "whole.db")
    assert describe(tmp_path / "whole.db")["active"] is None  # whole numbers have no prices


def test_a_fit_has_its_errors_and_correlations(tmp_path):
    t = np.linspace(0.0, 1.0, 8)
    path, space = tmp_path / "fit.db", {"a": (0.0, 1.0), "kind": bamsoo.Choice(["x"])}
    r = bamsoo.least_squares(
        lambda a, kind: a * t - 0.4 + 0.1 * t**2, space, 6, study=path, weights=[0.0] + [1.0] * 7
    )
    fit = describe(path)["fit"]
    assert fit["correlations"] == [[1.0, None], [None, None]]
    assert fit["deviations"][0] == pytest.approx(r.deviations[0], rel=1e-3)
    assert sum(fit["costs"]) == pytest.approx(r.fun, rel=1e-3)
    assert fit["costs"][0] == 0.0
    json.dumps(fit, allow_nan=False)


def test_the_best_sum_of_squares_is_not_expected_to_be_negative(tmp_path):
    t = np.linspace(0.0, 10.0, 40)
    measured = 2.5 * np.exp(-0.7 * t) + 0.3 + 0.02 * np.sin(40.0 * t)
    r = bamsoo.least_squares(
        lambda scale, rate, ground: scale * np.exp(-rate * t) + ground - measured,
        {"scale": (0, 10), "rate": bamsoo.Real(1e-3, 10, log=True), "ground": (0, 1)},
        12,
        study=tmp_path / "fit.db",
    )
    low, high = describe(tmp_path / "fit.db")["expected"]
    assert 0.0 <= low < high <= r.fun


def test_stopped_trials_count_as_what_is_believed_about_them(tmp_path):
    def train(x, y):
        for step in range(1, 21):
            yield (x - 0.3) ** 2 + y**2 + 1.0 / step, {"seconds": step}

    path = tmp_path / "run.db"
    with bamsoo.Study.open(path, space={"x": (0, 1), "y": (0, 1)}, steps=20) as study:
        for _ in range(12):
            trial = study.ask()
            for step, (value, _) in enumerate(train(**trial.params), 1):
                if not study.report(trial, step, value):
                    break
            else:
                study.tell(trial, value)
        stopped = [e for e in study.evaluations if e.stopped]
    assert len(stopped) > 6
    for replay in (True, False):
        shown = json.loads(json.dumps(describe(path, replay=replay)))
        assert len(shown["believed"]) == len(stopped)
        assert shown["model"]["values"] == 12
        assert "stopped trial" in shown["model"]["says"]
        assert max(shown["model"]["importance"]) > 0.3
    states, curves = shown["trials"]["state"], shown["trials"]["curves"]
    for row, (mean, deviation) in shown["believed"].items():
        params = [column[int(row)] for column in shown["trials"]["params"]]
        *_, (end, _) = train(*params)
        assert states[int(row)] == "s"
        assert abs(mean - end) < max(4 * deviation, 0.1)
        assert shown["trials"]["steps"][int(row)] == len(curves[row])


def test_an_interval_of_the_best_value_that_says_nothing_is_not_shown(tmp_path, monkeypatch):
    path = tmp_path / "run.db"
    bamsoo.minimize(lambda x: (x - 0.3) ** 2, {"x": (0, 1)}, 15, study=path)
    assert describe(path)["expected"] is not None
    wide = SimpleNamespace(low=-9.0, high=9.0)  # the values lie between 0 and 0.49
    monkeypatch.setattr("bamsoo.report.model.what_if", lambda *_: wide)
    assert describe(path)["expected"] is None


def test_limits_and_parameters_of_answers_have_the_digits_that_they_need(tmp_path):
    space = {"price": (1_000_000, 1_234_567.5), "x": (0, 1)}
    r = run(tmp_path / "a.db", lambda price, x: price * (1.0 + (x - 0.3) ** 2), space, 25)
    assert [each.limit for each in r.active] == ["price >= 1000000"]
    (slider,) = describe(tmp_path / "a.db")["what_if"]
    now = slider["steps"][slider["now"]]
    assert (now["bound"], now["params"][0]) == (1e6, "1000000")
