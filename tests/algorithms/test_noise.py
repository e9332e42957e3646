"""Noisy values: the model's estimates, repeated measurements, and the same points without noise."""

import hashlib
import json
import pickle
from collections import Counter
from dataclasses import replace
from functools import cache
from math import inf, nan, sqrt

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

import bamsoo
from bamsoo.algorithms.auto.loop import CONSTANTS
from bamsoo.algorithms.tree import Status
from bamsoo.command.main import main
from bamsoo.kernels import Matern52
from bamsoo.problems import branin

SD = 3.0
BEST = 0.397887
TRUSTING = bamsoo.algorithms.Auto(
    constants=replace(CONSTANTS, schedule=replace(CONSTANTS.schedule, doubts=False))
)


def noisy_branin(seed, sd=SD):
    rng = np.random.default_rng(seed)
    return lambda x: branin(x) + sd * rng.standard_normal()


@cache
def without(seed):
    """What the default finds when it takes every value to be exact, whatever happens."""
    r = bamsoo.minimize(noisy_branin(seed), branin.bounds, 50, algorithm=TRUSTING)
    return r.x, r.fun


def points(r):
    return hashlib.sha256(np.ascontiguousarray(r.X).tobytes()).hexdigest()


# --- without noise


@pytest.mark.parametrize("name", ["auto", "bamsoo"])
def test_without_noise_the_points_are_those_of_an_exact_search(name):
    plain = bamsoo.minimize(branin, branin.bounds, 25, algorithm=name)
    for noise in (None, 0, 0.0):
        r = bamsoo.minimize(branin, branin.bounds, 25, algorithm=name, noise=noise)
        assert points(r) == points(plain)
        assert r.fun == r.F.min()


def test_bamsoo_without_noise_asks_for_the_points_it_always_asked_for():
    r = bamsoo.minimize(branin, branin.bounds, 60, algorithm="bamsoo", seed=3)
    assert points(r) == "212804839fa3d69249598521fbdeb628cb0c6b98eb54ac5bd0f73667c655b1ff"


# --- settings


@pytest.mark.parametrize("noise", [-1.0, nan, inf, "learm", True, [1.0], 1j])
@pytest.mark.parametrize(
    "settings", [bamsoo.algorithms.Auto, bamsoo.algorithms.BaMSOO, bamsoo.algorithms.GPUCB]
)
def test_invalid_noise_is_refused_in_one_sentence(settings, noise):
    with pytest.raises(
        bamsoo.errors.SettingsError, match="noise must be a finite variance >= 0"
    ) as e:
        settings(noise=noise)
    assert "\n" not in str(e.value)
    with pytest.raises(bamsoo.errors.SettingsError, match="noise must be"):
        bamsoo.minimize(branin, branin.bounds, 5, algorithm=settings(), noise=noise)


@pytest.mark.parametrize("settings", [bamsoo.algorithms.BaMSOO, bamsoo.algorithms.GPUCB])
def test_only_auto_learns_noise(settings):
    with pytest.raises(bamsoo.errors.SettingsError, match="only Auto can learn it"):
        settings(noise="learn")


@pytest.mark.parametrize("name", ["soo", "doo", "shrinking", "random"])
def test_algorithms_that_cannot_handle_noise_refuse_it(name):
    with pytest.raises(bamsoo.errors.SettingsError, match="auto, bamsoo or gp-ucb"):
        bamsoo.Optimizer([(0, 1)], algorithm=name, noise=1.0)


def test_the_argument_noise_sets_the_algorithms_setting():
    assert bamsoo.Optimizer([(0, 1)], noise="learn").algorithm == bamsoo.algorithms.Auto(
        noise="learn"
    )
    opt = bamsoo.Optimizer([(0, 1)], algorithm=bamsoo.algorithms.BaMSOO(k=3), noise=2)
    assert opt.algorithm == bamsoo.algorithms.BaMSOO(k=3, noise=2)


# --- the result


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_x_is_where_the_posterior_mean_is_best_and_fun_is_corrected_for_luck(sign):
    kernel, mean = Matern52(0.2, 3000.0), 40.0
    f = noisy_branin(5, 10.0)
    run = bamsoo.minimize if sign > 0 else bamsoo.maximize
    settings = bamsoo.algorithms.BaMSOO(kernel, mean=sign * mean, noise=100.0)
    r = run(lambda x: sign * f(x), branin.bounds, 30, algorithm=settings)
    low, high = np.array(branin.bounds).T
    U = (r.X - low) / (high - low)
    distance = np.sqrt(((U[:, None] - U[None]) ** 2).sum(-1)) * sqrt(5) / 0.2
    K = 3000.0 * (1 + distance + distance**2 / 3) * np.exp(-distance)
    W = K @ np.linalg.inv(K + 100.0 * np.eye(30))
    mu, variance = mean + W @ (sign * r.F - mean), np.diag(K - W @ K)
    best = int((mu + np.sqrt(variance)).argmin())
    assert_array_equal(r.x, r.X[best])
    means, deviations = r.predict(r.X)
    assert_allclose(means, sign * mu, rtol=1e-5)
    assert_allclose(deviations, np.sqrt(variance), rtol=1e-5)
    assert mu[best] < sign * r.fun < mu[best] + 2.0 * deviations[best]
    assert r.tree is not None


@pytest.mark.slow
@pytest.mark.parametrize("noise", [SD**2, "learn"])
def test_the_default_tells_a_lucky_value_from_a_good_one(noise):
    regrets, naive, bias = [], [], []
    for seed in range(4):
        r = bamsoo.minimize(noisy_branin(seed), branin.bounds, 50, noise=noise)
        assert any((r.x == x).all() for x in r.X)
        x, value = without(seed)
        regrets.append(branin(r.x) - BEST)
        naive.append(branin(x) - BEST)
        bias.append((abs(r.fun - branin(r.x)), abs(value - branin(x))))
    assert np.median(regrets) < np.median(naive)
    assert np.median(regrets) < 1.0
    ours, theirs = np.median(bias, axis=0)
    assert ours < 0.5 * theirs


def test_gp_ucb_too_returns_an_estimate_under_noise():
    settings = bamsoo.algorithms.GPUCB(Matern52(0.3, 1e4), mean=50.0, direct_evaluations=100)
    r = bamsoo.minimize(noisy_branin(0), branin.bounds, 12, algorithm=settings, noise=SD**2)
    assert r.fun not in r.F
    assert any((r.x == x).all() for x in r.X)


def test_best_and_target_use_the_estimate():
    f = noisy_branin(2)
    opt = bamsoo.Optimizer(branin.bounds, noise=SD**2)
    for _ in range(40):
        trial = opt.ask()
        opt.tell(trial, f(trial.x))
    assert opt.best.value == opt.result.fun
    assert_array_equal(opt.best.x, opt.result.x)
    assert opt.result.fun > opt.result.F.min()
    assert not opt.reaches(opt.result.F.min())
    assert opt.reaches(opt.result.fun)


def test_values_at_points_nobody_asked_for_count_and_may_be_the_best():
    opt = bamsoo.Optimizer([(-1, 3), (0, 1)], algorithm="bamsoo", noise=0.01)
    for value in (-2.0, -2.1, -1.9):
        opt.tell([0.7, 0.2], value)
    opt.tell(opt.ask(), 0.5)
    assert opt.result.x.tolist() == [0.7, 0.2]
    assert opt.result.fun == pytest.approx(-2.0, abs=0.02)


# --- unusual values and spaces


@pytest.mark.slow
@pytest.mark.parametrize("noise", [1.0, "learn", 1e-300, 1e300])
@pytest.mark.parametrize(
    "fun",
    [
        lambda x: 5.0,
        lambda x: nan,
        lambda x: nan if x[0] > 0.5 else x[0],
        lambda x: 1e300 * (x[0] - 0.4),
        lambda x: 1e-300 * (x[0] - 0.4),
        lambda x: 1.7e308 if x[0] > 0.4 else -1.7e308,
        lambda x: float(x[0] > 0.3),
    ],
    ids=["constant", "nan", "half nan", "huge", "tiny", "extreme", "step"],
)
def test_a_run_survives_any_values(fun, noise):
    r = bamsoo.minimize(fun, [(0, 1), (0, 1)], 14, noise=noise)
    assert r.nfev == 14
    assert r.success == np.isfinite(r.fun) == np.isfinite(r.F).any()
    if noise != "learn":
        assert bamsoo.minimize(fun, [(0, 1)], 10, algorithm="bamsoo", noise=noise).nfev == 10


def test_a_space_with_whole_numbers_and_options():
    rng = np.random.default_rng(0)
    space = {"n": bamsoo.Int(1, 9), "kind": bamsoo.Choice(["a", "b"]), "x": (0.0, 1.0)}

    def fun(n, kind, x):
        return (n - 4) ** 2 + (kind == "a") + x + 0.1 * rng.standard_normal()

    for noise, algorithm in (("learn", "auto"), (0.01, "auto"), (0.01, "bamsoo")):
        r = bamsoo.minimize(fun, space, 40, algorithm=algorithm, noise=noise)
        assert r.params in r.X
    small = bamsoo.minimize(lambda n: (n - 4) ** 2, {"n": bamsoo.Int(1, 9)}, 40, noise="learn")
    assert 9 <= small.nfev < 40  # a few are repeated until it is clear that there is no noise
    assert {x["n"] for x in small.X} == set(range(1, 10))
    assert small.params == {"n": 4}


# --- the command


@pytest.mark.parametrize("noise", ["9", "learn"])
def test_the_command_takes_noise_as_an_option_and_in_a_file(tmp_path, noise):
    file = tmp_path / "run.toml"
    stated = f"noise = {noise if noise == '9' else repr(noise)}"
    file.write_text(f'target = "branin"\nbudget = 12\n{stated}\n')
    expected = bamsoo.minimize(branin, branin.bounds, 12, noise="learn" if noise != "9" else 9.0)
    for line in (["branin", "--budget", "12", "--noise", noise], [str(file)]):
        ran = CliRunner().invoke(main, ["minimize", *line, "--json"])
        assert ran.exit_code == 0, ran.output
        assert json.loads(ran.stdout)["value"] == expected.fun


def test_the_command_refuses_invalid_noise():
    ran = CliRunner().invoke(main, ["minimize", "branin", "--budget", "5", "--noise", "learm"])
    assert ran.exit_code == 2
    assert "noise must be a finite variance >= 0 or 'learn', got 'learm'" in ran.stderr


# --- studies


def measured(x):
    """A value that looks like noise but depends only on the point, so that runs can be compared."""
    return branin(x) + SD * np.sin(1e6 * x[0] + 1e5 * x[1])


@pytest.mark.slow
@pytest.mark.parametrize("noise", [SD**2, "learn"])
def test_a_resumed_study_asks_for_the_same_points(tmp_path, noise):
    whole = bamsoo.minimize(measured, branin.bounds, 25, noise=noise)
    path = tmp_path / "run.db"
    for budget in (7, 16, 25):
        r = bamsoo.minimize(measured, branin.bounds, budget, noise=noise, study=path)
    assert_array_equal(r.X, whole.X)
    assert_array_equal(r.x, whole.x)
    assert r.fun == whole.fun
    with pytest.raises(bamsoo.errors.StudyError, match="noise"):
        bamsoo.minimize(measured, branin.bounds, 26, study=path)
    with bamsoo.Study.open(path) as study:
        assert study.settings["algorithm"]["noise"] == noise
        assert study.result.fun == whole.fun


def test_looking_at_the_result_with_pending_trials_changes_nothing():
    runs = []
    for look in (False, True):
        opt, asked = bamsoo.Optimizer(branin.bounds, noise=SD**2), []
        for _ in range(12):
            trials = [opt.ask() for _ in range(3)]
            for trial in trials[::-1]:
                opt.tell(trial, measured(trial.x))
                if look:
                    assert opt.best is not None
            asked += [trial.x for trial in trials]
        runs.append(asked)
    assert_array_equal(*runs)


def test_a_study_without_noise_is_stored_as_before(tmp_path):
    with bamsoo.Study.open(tmp_path / "run.db", space=[(0, 1)]) as study:
        assert "noise" not in study.settings["algorithm"]


@pytest.mark.parametrize("noise", [0.25, "learn"])
def test_study_open_takes_noise(tmp_path, noise):
    path = tmp_path / "run.db"
    with bamsoo.Study.open(path, space=branin.bounds, noise=noise) as study:
        assert study.noise == noise
        assert study.settings["algorithm"]["noise"] == noise
        asked = [study.ask().x for _ in range(3)]
    with bamsoo.Study.open(path, noise=noise) as study:
        assert_array_equal([study.ask().x for _ in range(3)], asked)
    for other in (0.5, 0):
        with pytest.raises(bamsoo.errors.StudyError, match="noise"):
            bamsoo.Study.open(path, noise=other)
    with pytest.raises(bamsoo.errors.SettingsError, match="noise must be"):
        bamsoo.Study.open(tmp_path / "bad.db", space=[(0, 1)], noise=-1.0)
    assert not (tmp_path / "bad.db").exists()
    with pytest.raises(bamsoo.errors.SettingsError, match="auto, bamsoo or gp-ucb"):
        bamsoo.Study.open(tmp_path / "bad.db", space=[(0, 1)], algorithm="soo", noise=1.0)
    with bamsoo.Study.open(
        tmp_path / "own.db", space=[(0, 1)], algorithm=bamsoo.algorithms.BaMSOO(k=3), noise=2.0
    ) as study:
        assert study.settings["algorithm"]["k"] == 3
        assert study.noise == 2.0


# --- repeats


def test_good_points_of_a_finite_space_are_measured_again():
    rng = np.random.default_rng(1)
    fun = lambda n: 0.3 * abs(n - 6) + rng.standard_normal()
    for algorithm in ("auto", bamsoo.algorithms.BaMSOO(Matern52(0.5, 4.0), mean=2.0)):
        r = bamsoo.minimize(fun, {"n": bamsoo.Int(1, 10)}, 80, algorithm=algorithm, noise=1.0)
        assert r.nfev == 80
        counts = np.bincount([x["n"] for x in r.X], minlength=11)[1:]
        assert counts.min() >= 1
        assert counts[4:7].sum() > 40  # 5, 6 and 7
        assert r.params["n"] in (5, 6, 7)


@pytest.mark.parametrize("algorithm", ["auto", "bamsoo", "gp-ucb"])
@pytest.mark.parametrize(("points", "at_once"), [(2, 1), (2, 4), (3, 1), (3, 5)])
def test_a_space_of_a_few_points_is_repeated_until_the_budget_is_spent(algorithm, points, at_once):
    space, random = {"n": bamsoo.Int(1, points)}, np.random.default_rng(0)
    opt = bamsoo.Optimizer(space, algorithm=algorithm, noise=1.0)
    counts = Counter()
    while sum(counts.values()) < 20:
        for trial in opt.ask(at_once):
            counts[trial.params["n"]] += 1
            opt.tell(trial, trial.params["n"] + float(random.normal()))
    assert len(counts) == points


def test_repeats_are_the_same_in_a_resumed_study_and_after_pickling(tmp_path):
    def fun(i):
        return float(np.sin(37.0 * i))  # depends only on the index of the evaluation

    path, space = tmp_path / "run.db", {"n": bamsoo.Int(1, 4)}
    whole = bamsoo.Optimizer(space, noise=0.25)
    for i in range(20):
        trial = whole.ask()
        whole.tell(trial, fun(i))
    assert len({x["n"] for x in whole.result.X}) == 4
    for begin in (0, 7, 13):
        with bamsoo.Study.open(path, space=space, noise=0.25) as study:
            for i in range(begin, {0: 7, 7: 13, 13: 20}[begin]):
                study.tell(study.ask(), fun(i))
    with bamsoo.Study.open(path) as study:
        assert study.result.X == whole.result.X
        assert study.ask().params == pickle.loads(pickle.dumps(whole)).ask().params


def test_steps_near_the_best_may_measure_a_point_again():
    rng = np.random.default_rng(3)
    space = {"n": bamsoo.Int(0, 30), "kind": bamsoo.Choice(["a", "b", "c"])}
    fun = lambda n, kind: (n - 11) ** 2 / 50 + (kind != "b") + rng.standard_normal()
    r = bamsoo.minimize(fun, space, 60, noise=1.0)
    again = len(r.X) - len({(x["n"], x["kind"]) for x in r.X})
    assert again >= 1
    exact = bamsoo.minimize(lambda n, kind: (n - 11) ** 2 / 50 + (kind != "b"), space, 60)
    assert len({(x["n"], x["kind"]) for x in exact.X}) == len(exact.X)


@pytest.mark.parametrize("seed", range(2))
def test_a_point_is_not_measured_again_where_little_but_the_noise_is_unknown(seed):
    luck = np.random.default_rng(seed + 10)

    def fun(n, m):
        return ((n - 20) / 10) ** 2 + ((m - 5) / 10) ** 2 + luck.normal()

    space = {"n": bamsoo.Int(0, 30), "m": bamsoo.Int(0, 30)}
    r = bamsoo.minimize(fun, space, 60, seed=seed, noise=1.0)
    assert len({(params["n"], params["m"]) for params in r.X}) >= 46  # 33 to 40 otherwise


# --- the guarantee


@pytest.mark.parametrize("noise", [1.0, "learn"])
def test_every_cell_is_still_expanded_in_finite_time(noise):
    rng = np.random.default_rng(4)
    opt = bamsoo.Optimizer([(0, 1)] * 2, noise=noise)
    progress = []  # the shallowest depth with leaves, and minus the number of leaves there
    for i in range(80):
        trial = opt.ask()
        opt.tell(trial, float(((trial.x - 0.3) ** 2).sum() + rng.standard_normal()))
        if i % 20 == 19:
            tree = opt.result.tree
            depths = [tree.depth[leaf] for leaf in tree.leaves()]
            progress.append((min(depths), -depths.count(min(depths))))
            in_tree = len(np.unique(tree.x[tree.status == Status.EVALUATED], axis=0))
            assert in_tree >= (i + 1) / 4 - 1
    assert progress == sorted(set(progress))


# --- noise that the caller has not stated


def repeated(r):
    """The rows of each point that was evaluated more than once."""
    rows = {}
    for i, x in enumerate(r.X):
        rows.setdefault(x.tobytes(), []).append(i)
    return [some for some in rows.values() if len(some) > 1]


def test_a_study_shows_the_estimates_of_a_search_that_found_noise(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "run.db"

    def fun(x):
        return float(((x - 0.3) ** 2).sum() + 0.05 * rng.standard_normal())

    r = bamsoo.minimize(fun, [(0, 1)] * 2, 60, study=path)
    assert "noisy" in r.message
    with bamsoo.Study.open(path) as study:
        assert study.noise == "learn"
        assert study.result.fun == r.fun != r.F.min()
    shown = CliRunner().invoke(main, ["show", str(path)])
    assert f"{r.fun:.8g}"[:6] in shown.output and "estimate" in shown.output


def test_a_value_that_does_not_repeat_is_noticed():
    rng = np.random.default_rng(0)
    fun = lambda x: float(((x - 0.4) ** 2).sum() + 0.3 * rng.standard_normal())
    r = bamsoo.minimize(fun, [(0, 1)] * 3, 60)
    first, again = min(repeated(r), key=lambda rows: rows[1])[:2]
    assert f"one point gave {r.F[first]:.6g} and {r.F[again]:.6g}" in r.message
    assert r.F[first] == r.F[:again].min()  # the best point so far
    assert r.fun > r.F.min()  # the model's estimate from then on
    for noise in (0.09, "learn"):
        assert "noisy" not in bamsoo.minimize(fun, [(0, 1)] * 3, 30, noise=noise).message


def test_the_value_of_the_repeated_point_may_come_late_or_never():
    rng = np.random.default_rng(0)
    opt, fun = bamsoo.Optimizer([(0, 1)] * 2), lambda x: float(((x - 0.4) ** 2).sum())
    seen, late = set(), []
    for _ in range(80):
        trial = opt.ask()
        if trial.x.tobytes() in seen:
            late.append(trial)
            continue
        seen.add(trial.x.tobytes())
        opt.tell(trial, fun(trial.x) + 0.1 * rng.standard_normal())
    assert len(late) == 1  # asked for once, although its value has not arrived
    failed = pickle.loads(pickle.dumps(opt))
    failed.tell(late[0], None)
    assert failed.unequal is None
    assert failed.ask().x.tobytes() not in seen
    opt.tell(late[0], 5.0)
    opt.ask()
    assert opt.unequal is not None and opt.unequal[2] == 5.0
    assert opt.book.noisy and np.isfinite(opt.result.fun)


@pytest.mark.parametrize(
    ("fun", "rough"),
    [
        (lambda x: float(((x - 0.4) ** 2).sum()), False),
        (lambda x: float(np.floor(9 * x[0]) + np.floor(7 * x[1])), False),
        (lambda x: float(np.abs(x - 0.4).sum() + 0.1 * np.sin(60 * x).sum()), True),
        (lambda x: 1.0, False),
    ],
    ids=["bowl", "steps", "rugged", "constant"],
)
def test_exact_values_do_not_seem_noisy(fun, rough):
    r = bamsoo.minimize(fun, [(0, 1)] * 2, 60)
    assert "noisy" not in r.message
    assert r.fun == r.F.min()
    # one evaluation may settle it where neighbours differ; elsewhere nothing has to be settled
    assert len(repeated(r)) <= rough


@pytest.mark.parametrize("noise", ["learn", SD**2])
def test_a_point_that_has_become_the_best_one_is_measured_again(noise):
    opt, repeated = bamsoo.Optimizer(branin.bounds, noise=noise), 0
    measure = noisy_branin(4)
    for _ in range(40):
        trial = opt.ask()
        repeated += any((trial.x == e.x).all() for e in opt.result.evaluations)
        opt.tell(trial, measure(trial.x))
    assert 2 <= repeated <= 20
    best = opt.result
    assert (best.x == best.X).all(axis=1).sum() >= 2


def test_nothing_is_measured_again_under_negligible_noise_nor_if_the_repeat_fails():
    r = bamsoo.minimize(branin, branin.bounds, 40, noise=1e-12)
    assert len(np.unique(r.X, axis=0)) == 40
    opt, seen = bamsoo.Optimizer(branin.bounds, noise=SD**2), set()
    measure, again = noisy_branin(5), {}
    for _ in range(40):
        trial = opt.ask()
        key = tuple(trial.x)
        again[key] = again.get(key, 0) + 1
        opt.tell(trial, None if key in seen else measure(trial.x))
        seen.add(key)
    assert max(again.values()) <= 2


@pytest.mark.parametrize("kind", ["steps", "fidelity"])
def test_no_long_evaluation_is_repeated_to_look_for_noise(kind):
    def rough(x, y):  # rough enough that the search would repeat a point of it
        return (x - 0.4) ** 2 + (y - 0.6) ** 2 + (hash((x, y)) % 7) / 7

    def in_steps(x, y):
        yield from (rough(x, y) + 1.0 / step for step in range(1, 5))

    if kind == "steps":
        r = bamsoo.minimize(in_steps, {"x": (0, 1), "y": (0, 1)}, 40, steps=4)
    else:
        space = {"x": (0, 1), "y": (0, 1), "rows": bamsoo.Fidelity(1, 4)}
        r = bamsoo.minimize(lambda x, y, rows: rough(x, y) + 1.0 / rows, space, 40)
    frame = r.to_dataframe()
    full = frame[frame["state"] == "finished"]
    assert "repeat" not in set(frame["origin"])
    assert not full[["x", "y"]].duplicated().any()


def beam(noise=0.0):
    """Cost and deflection of a beam: one is steep where the other is flat."""
    rng = np.random.default_rng(4)

    def fun(x):
        width, height, length = x
        bend = length**3 / (width * height**3)
        return 1e3 * width * height * length, bend + noise * abs(bend) * rng.standard_normal()

    return fun, [(0.05, 0.3), (0.05, 0.5), (1, 3)]


def searched(fun, space, pending, evaluations=60):
    """A search with several objectives, with this number of pending trials at any time."""
    opt, out = bamsoo.Optimizer(space, objectives=["cost", "bend"]), []
    for _ in range(evaluations):
        while len(out) < pending:
            out.append(opt.ask())
        trial = out.pop(0)
        opt.tell(trial, fun(trial.x))
    return opt


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_exact_values_of_several_objectives_are_not_called_noisy(workers, monkeypatch):
    monkeypatch.setattr("bamsoo.algorithms.auto.prior.Prior.evidence_of_noise", lambda _: inf)
    opt = searched(*beam(), workers, 30)
    assert opt.unequal is None and not opt.book.noisy
    assert opt.book.checks  # they look noisy, so one point was evaluated again
    assert len(repeated(opt.result)) == 1


def test_a_little_noise_in_one_of_several_objectives_is_noticed_in_a_short_run():
    rng = np.random.default_rng(0)

    def fun(x):
        return [x[0] + 0.05 * rng.standard_normal(), (x[0] - 1) ** 2]

    r = bamsoo.minimize(fun, [(0, 1)], 22, objectives=["a", "b"])
    assert "since one point gave a" in r.message


@pytest.mark.slow
def test_noise_in_one_of_several_objectives_is_noticed_and_learned():
    fun, space = beam(0.2)
    r = bamsoo.minimize(fun, space, 80, objectives=["cost", "bend"])
    assert "since one point gave bend" in r.message and "front are estimates" in r.message
    points = [each.x.tobytes() for each in r.front]
    assert len(set(points)) == len(points)
    assert r.to_dataframe()["front"].sum() == len(points)
