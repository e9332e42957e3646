"""The other optimistic trees: how they fill the gaps in their papers, and how they are run."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from searches import PLANNING, REPEATING, wells

import bamsoo
from bamsoo.algorithms import BY_NAME, planned
from bamsoo.problems import branin, hartmann3
from bamsoo.report import describe

each_planning = pytest.mark.parametrize("name", PLANNING)
each_repeating = pytest.mark.parametrize("name", REPEATING)


def parabola(x):
    return (x[0] - 0.3) ** 2


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
@pytest.mark.parametrize("name", ["imgpo", "bamlogo"])
def test_a_learned_prior_knows_no_units(name, scale):
    plain = bamsoo.minimize(hartmann3, hartmann3.bounds, 40, algorithm=name)
    scaled = bamsoo.minimize(lambda x: scale * hartmann3(x), hartmann3.bounds, 40, algorithm=name)
    assert_allclose(plain.X[:20], scaled.X[:20])
    assert plain.nrejected > 0


@pytest.mark.parametrize("name", ["imgpo", "bamlogo"])
def test_a_model_predicts_and_bounds_what_is_left(name):
    r = bamsoo.minimize(hartmann3, hartmann3.bounds, 60, algorithm=name)
    mean, deviation = r.predict(r.X[:20])
    assert_allclose(mean, r.F[:20], atol=1e-3)
    assert (deviation < 1e-2).all()
    assert r.gap >= 0.0  # inf where the bound says nothing
    with pytest.raises(bamsoo.errors.ModelError, match="bamlogo or imgpo"):
        bamsoo.minimize(hartmann3, hartmann3.bounds, 5, algorithm="logo").predict(r.X[:1])


# --- noise


@each_repeating
def test_points_are_evaluated_repeatedly_and_their_mean_counts(name):
    r = bamsoo.minimize(wells(np.random.default_rng(3)), [(0, 1)], 1500, algorithm=name)
    assert r.nfev == 1500
    assert len(np.unique(r.X)) < 500
    assert (r.x[0] - 0.77) ** 2 < 0.03
    assert r.F.min() < -0.2  # a lucky value, which is not what is recommended
    at_best = r.F[(r.x == r.X).all(1)]
    if name == "stosoo":
        assert r.fun == pytest.approx(at_best.mean())
    else:  # the mean of its last values alone, whose luck has not chosen the point
        assert len(at_best) > 10
        assert abs(r.fun - (r.x[0] - 0.77) ** 2) < 0.1


@each_repeating
def test_failed_evaluations_count_and_have_no_mean(name):
    f = lambda x: None if x[0] < 0.5 else x[0]
    r = bamsoo.minimize(f, [(0, 1)], 300, algorithm=name)
    assert r.nfev == 300
    assert r.nfailed > 0
    assert 0.5 <= r.x[0] < 0.56
    assert r.fun == pytest.approx(r.x[0])
    assert not bamsoo.minimize(lambda x: None, [(0, 1)], 60, algorithm=name).success


@each_repeating
def test_several_evaluations_of_one_point_may_be_pending_at_once(name):
    opt = bamsoo.Optimizer([(0, 1)], algorithm=BY_NAME[name](budget=2000))
    out = [opt.ask() for _ in range(3)]
    assert len({trial.x[0] for trial in out}) == 1
    assert len({trial.number for trial in out}) == 3
    for trial, value in zip(reversed(out), (1.0, 2.0, None), strict=True):
        opt.tell(trial, value)
    assert opt.result.fun == 1.5
    assert opt.result.nfailed == 1
    with pytest.raises(bamsoo.errors.TrialError, match="already been told"):
        opt.tell(out[0], 1.0)


@each_repeating
def test_a_value_told_unasked_answers_one_trial(name):
    # log axes: the point as told and the centre of the cell differ in their last bits
    space = {"x": bamsoo.Real(1e-3, 1e2, log=True)}
    one = bamsoo.Optimizer(space, algorithm=BY_NAME[name](budget=2000))
    first = one.ask()
    one.tell(first, 1.0)
    second = one.ask()
    two = bamsoo.Optimizer(space, algorithm=BY_NAME[name](budget=2000))
    two.tell(first.params, 1.0)
    two.tell({"x": 0.7123}, -5.0)  # not the centre of any cell
    only = two.ask()
    assert only.params == second.params
    two.tell(only, 2.0)
    assert two.result.fun == 1.5
    assert (two.result.nfev, len(two.result.F)) == (1, 3)


@each_repeating
def test_a_first_point_is_evaluated_once_and_its_value_answers_a_trial(name):
    opt = bamsoo.Optimizer([(0, 1)], algorithm=BY_NAME[name](budget=2000))
    centre = opt.ask()
    opt.tell(centre, 1.0)
    first = opt.ask().x
    for _ in range(3):  # it is already pending, so it stays one trial
        opt.enqueue([0.123])
    enqueued = opt.ask()
    assert enqueued.x == [0.123]
    opt.tell(enqueued, 7.0)
    opt.enqueue([0.123])  # known by now
    assert opt.ask().x == first
    x0 = bamsoo.minimize(parabola, [(0, 1)], 40, algorithm=name, x0=[[0.5], [0.123]])
    assert_array_equal(x0.X[:3, 0], [0.5, 0.123, x0.X[2, 0]])
    assert (x0.nfev, (x0.X == 0.123).sum()) == (40, 1)


@each_repeating
def test_several_known_values_of_one_point_all_count(name, tmp_path):
    known = [([0.5], 1.0), ([0.5], 2.0), ([0.5], 6.0)]
    for budget in (1, 2):  # the study holds them the second time
        r = bamsoo.minimize(
            lambda x: 3.0,
            [(0, 1)],
            budget,
            algorithm=BY_NAME[name](budget=2000),
            known=known,
            study=tmp_path / "run.db",
        )
        assert_array_equal(r.F, [1.0, 2.0, 6.0] + [3.0] * budget)
    assert r.fun == pytest.approx(3.0)
    assert len(bamsoo.minimize(parabola, [(0, 1)], 1, algorithm="soo", known=known).F) == 4


@each_repeating
def test_a_search_with_several_trials_at_one_point_can_be_pickled(name):
    f = wells(np.random.default_rng(6))
    one = bamsoo.Optimizer([(0, 1)], algorithm=BY_NAME[name](budget=200))
    for i in range(60):
        trial = one.ask()
        if i % 7:
            one.tell(trial, f(trial.x))
    two = pickle.loads(pickle.dumps(one))
    assert two.result.fun == one.result.fun
    assert two.result.x == one.result.x
    for _ in range(30):
        a, b = one.ask(), two.ask()
        assert a.x == b.x
        value = f(a.x)
        one.tell(a, value)
        two.tell(b, value)


@pytest.mark.slow
@each_repeating
def test_workers_and_threads(name):
    with ThreadPoolExecutor(4) as pool:
        r = bamsoo.minimize(parabola, [(0, 1)], 200, algorithm=name, workers=pool)
    assert r.nfev == 200
    assert abs(r.x[0] - 0.3) < 0.02
    f = lambda x: (x[0] - 0.3) ** 2
    r = bamsoo.minimize(f, [(0, 1)], 60, algorithm=name, workers=2)
    assert r.nfev == 60


@pytest.mark.parametrize("name", PLANNING)
def test_spaces_with_one_point_and_with_two_points(name):
    one = bamsoo.minimize(lambda mode: 1.0, {"mode": bamsoo.Choice(["only"])}, 20, algorithm=name)
    two = bamsoo.minimize(lambda n: float(n), {"n": bamsoo.Int(1, 2)}, 20, algorithm=name)
    assert (one.fun, two.fun) == (1.0, 1.0)
    if not bamsoo.algorithms.BY_NAME[name].repeats:
        assert (one.nfev, two.nfev) == (1, 2)
        assert "every point" in two.message
    else:  # under noise there is always something left to learn
        assert (one.nfev, two.nfev) == (20, 20)


@each_repeating
def test_the_best_of_a_few_options_is_found_in_noise(name):
    rng = np.random.default_rng(4)
    worth = {"a": 0.5, "b": 0.3, "c": 0.45, "d": 0.6}
    r = bamsoo.minimize(
        lambda mode: worth[mode] + rng.uniform(-0.5, 0.5),
        {"mode": bamsoo.Choice(list(worth))},
        1500,
        algorithm=name,
    )
    assert r.params == {"mode": "b"}
    assert r.fun == pytest.approx(0.3, abs=0.1)


def test_a_target_is_compared_with_what_is_recommended():
    r = bamsoo.minimize(parabola, [(0, 1)], 500, algorithm="stosoo", target=1e-3)
    assert r.status == 1
    assert r.fun <= 1e-3


def test_algorithms_that_assume_noise_refuse_the_setting():
    with pytest.raises(
        bamsoo.errors.SettingsError, match="StoSOO assumes that every value is noisy"
    ):
        bamsoo.minimize(parabola, [(0, 1)], 10, algorithm="stosoo", noise=0.1)
    with pytest.raises(bamsoo.errors.SettingsError, match="auto, bamsoo or gp-ucb"):
        bamsoo.minimize(parabola, [(0, 1)], 10, algorithm="logo", noise=0.1)


# --- budgets


@each_planning
def test_minimize_gives_its_budget_and_ask_and_tell_must(name):
    with pytest.raises(bamsoo.errors.SettingsError, match=r"plans for a budget.*\(budget=200\)"):
        bamsoo.Optimizer([(0, 1)], algorithm=name)
    a = bamsoo.minimize(parabola, [(0, 1)], 70, algorithm=name)
    b = bamsoo.minimize(parabola, [(0, 1)], 70, algorithm=BY_NAME[name](budget=70))
    assert_array_equal(a.X, b.X)
    own = BY_NAME[name](budget=3)
    assert planned(own, 70) is own
    for bad in (0, 2.5, True, "many"):
        with pytest.raises(bamsoo.errors.SettingsError, match="budget must be a whole number"):
            BY_NAME[name](budget=bad)


@each_planning
def test_a_search_goes_on_when_its_plan_is_carried_out(name):
    short = bamsoo.minimize(hartmann3, hartmann3.bounds, 1, algorithm=BY_NAME[name](budget=1))
    assert short.nfev == 1
    r = bamsoo.minimize(hartmann3, hartmann3.bounds, 900, algorithm=BY_NAME[name](budget=20))
    assert r.nfev == 900
    assert r.fun - hartmann3.optimum < 0.2
    if name == "sequool":
        assert len(np.unique(r.X, axis=0)) == 900
        long = bamsoo.minimize(hartmann3, hartmann3.bounds, 900, algorithm="sequool")
        assert long.fun <= r.fun  # planned for what was there


@each_planning
def test_a_study_keeps_the_budget_it_was_planned_for(name, tmp_path):
    path, f = tmp_path / "run.db", branin
    whole = bamsoo.minimize(f, f.bounds, 90, algorithm=BY_NAME[name](budget=40))
    with pytest.raises(bamsoo.errors.SettingsError, match="plans for a budget"):
        bamsoo.Study.open(path, space=f.bounds, algorithm=name)
    bamsoo.minimize(f, f.bounds, 40, algorithm=name, study=path)
    r = bamsoo.minimize(f, f.bounds, 90, algorithm=name, study=path)
    assert_array_equal(r.X, whole.X)
    assert_array_equal(r.x, whole.x)
    assert r.fun == whole.fun
    with bamsoo.Study.open(path) as study:
        assert study.settings["algorithm"]["budget"] == 40
        r = bamsoo.minimize(f, f.bounds, 95, algorithm=name, study=study)
        assert r.nfev == 95
    with pytest.raises(bamsoo.errors.StudyError, match="the study's algorithm is"):
        bamsoo.minimize(f, f.bounds, 99, algorithm=BY_NAME[name](budget=50), study=path)


@each_repeating
def test_a_study_open_for_reading_recommends_the_same_point(name, tmp_path):
    path, f = tmp_path / "run.db", wells(np.random.default_rng(7))
    r = bamsoo.minimize(f, [(0, 1)], 200, algorithm=name, study=path)
    with bamsoo.Study.open(path, readonly=True) as study:
        again = study.replay()
        assert study.noise == "learn"
        assert study.result.fun == r.F.min()  # as told
    assert again.result.x == r.x
    assert again.result.fun == r.fun > r.F.min()
    beliefs = {each.x[0]: each.value for each in again._believed()}
    assert beliefs == {x: pytest.approx(r.F[r.X[:, 0] == x].mean()) for x in np.unique(r.X)}
    page = describe(path)
    assert float(page["best"]["value"]) == r.fun
    assert len(page["trials"]["value"]) == 200


@each_repeating
def test_a_study_begun_afresh_knows_every_value(name, tmp_path):
    path, space = tmp_path / "run.db", {"x": (0.0, 1.0)}
    f = wells(np.random.default_rng(5))
    algorithm = BY_NAME[name](budget=300)
    with bamsoo.Study.open(path, space=space, algorithm=algorithm) as study:
        out = []
        for i in range(120):
            trial = study.ask()
            if i % 40 == 39:  # left out, at points that were told too
                out.append(trial)
            else:
                study.tell(trial, f([trial.params["x"]]))
    with bamsoo.Study.open(path, replay=False) as study:
        again = [study.ask() for _ in out]
        assert [t.number for t in again] == [t.number for t in out]
        fresh = study.ask()
        for trial in (*again, fresh):
            study.tell(trial, f([trial.params["x"]]))
        before = study.result
    with bamsoo.Study.open(path) as study:
        assert study.result.fun == before.fun
        assert study.told == 121


def test_which_algorithms_repeat_points():
    every = {name: kind() for name, kind in bamsoo.algorithms.BY_NAME.items()}
    assert {name for name, each in every.items() if each.repeats} == {"stosoo", "stroquool"}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: bamsoo.algorithms.StoSOO(evaluations=0),
            "evaluations must be a whole number >= 1",
        ),
        (lambda: bamsoo.algorithms.StoSOO(delta=1.0), "delta must be strictly between 0 and 1"),
        (lambda: bamsoo.algorithms.StoSOO(spread=0.0), "spread must be positive and finite"),
        (lambda: bamsoo.algorithms.StoSOO(h_max=0), "h_max must be a whole number >= 1"),
        (lambda: bamsoo.algorithms.SequOOL(h_max=-1), "h_max must be a whole number >= 1"),
        (lambda: bamsoo.algorithms.StroquOOL(h_max=1.5), "h_max must be a whole number >= 1"),
        (lambda: bamsoo.algorithms.SequOOL(k=1), "k must be a whole number >= 2"),
        (lambda: bamsoo.algorithms.LOGO(w=0), "w must be a whole number >= 1"),
        (lambda: bamsoo.algorithms.LOGO(w=()), "w must be a whole number or a sequence of them"),
        (lambda: bamsoo.algorithms.LOGO(w="345"), "w must be a whole number >= 1"),
        (lambda: bamsoo.algorithms.BaMLOGO(w=[3, 0]), "w must be a whole number >= 1"),
        (lambda: bamsoo.algorithms.BaMLOGO(kernel=1.0), "kernel must be a Kernel"),
        (lambda: bamsoo.algorithms.IMGPO(Xi_max=0), "Xi_max must be a whole number >= 1"),
        (lambda: bamsoo.algorithms.IMGPO(eta=2), "eta must be strictly between 0 and 1"),
    ],
)
def test_settings_are_checked_when_they_are_made(make, words):
    with pytest.raises(bamsoo.errors.SettingsError, match=words):
        make()
