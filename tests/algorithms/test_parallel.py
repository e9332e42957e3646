"""Several pending trials at once, on virtual workers: orders of completion, replay, one worker."""

import numpy as np
import pytest
import searches
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import bamsoo
from bamsoo.problems import branin

# a kernel that suits values between 0 and 200, and one of another family
KERNEL, SMOOTH = bamsoo.kernels.Matern52(0.3, 3e3), bamsoo.kernels.SquaredExponential(0.3, 3e3)
GIVEN = ("bamsoo", "gp-ucb", "gp-ei", "shrinking", "bamlogo", "imgpo")
SEARCHES = {
    **searches.ONCE,
    **searches.VARIANTS,
    **searches.with_settings(*GIVEN, kernel=KERNEL),
    **searches.with_settings("bamsoo-3", kernel=SMOOTH),
    "doo": bamsoo.algorithms.DOO(c=100.0),
    "bamlogo-learned": bamsoo.algorithms.BaMLOGO(),
    "imgpo-learned": bamsoo.algorithms.IMGPO(),
}
REPEATING = {
    **searches.with_settings("stosoo", spread=100.0),
    **searches.with_settings("stroquool", budget=60),
    "stosoo-2": bamsoo.algorithms.StoSOO(k=2, evaluations=3, spread=100.0, budget=10),
    "stroquool-2": bamsoo.algorithms.StroquOOL(k=2, h_max=4),
}
main_algorithms = searches.main_of({**SEARCHES, **REPEATING})
each_repeating = searches.each_of(REPEATING)

SPACES = {
    "plane": {"a": (-5.0, 10.0), "b": (0.0, 15.0)},
    "mixed": {
        "a": (0.0, 1.0),
        "n": bamsoo.Int(1, 20),
        "mode": bamsoo.Choice(["fast", "exact", "off"]),
    },
    "finite": {"n": bamsoo.Int(1, 6), "mode": bamsoo.Choice(["fast", "exact"])},
}
each_space = pytest.mark.parametrize("space", SPACES.values(), ids=SPACES.keys())


def in_each_space(algorithms):
    """Each algorithm in a mixed space, and those in `searches.MAIN` in each; variants of one are
    tried in the plane only."""
    return pytest.mark.parametrize(
        ("algorithm", "space"),
        [
            pytest.param(algorithm, space, id=f"{name}-{where}")
            for name, algorithm in algorithms.items()
            for where, space in SPACES.items()
            if name in searches.MAIN
            or where == ("mixed" if name in searches.ALGORITHMS else "plane")
        ],
    )


# The events of a history: None asks for another trial, a number is the index of a pending trial
# that returns its value, and a tuple is the index of one that fails.
histories = st.lists(
    st.one_of(st.none(), st.none(), st.integers(0, 15), st.tuples(st.integers(0, 15))),
    min_size=10,
    max_size=40,
)


def value(params):
    if "b" in params:
        return branin(list(params.values()))
    return abs(params["n"] - 4) + params.get("a", 0.3) + (params["mode"] == "fast")


def play(opt, history, again=False):
    """Drive an optimiser or a study through a history; return all points asked for, in order.

    `again` says whether it may ask for a point that is known or pending.
    """
    asked, out = [], []
    for event in history:
        if event is None:
            try:
                trial = opt.ask()
            except bamsoo.errors.ExhaustedError:
                continue
            point = tuple(trial.params.values())
            if not again:
                assert point not in {tuple(t.params.values()) for t in out}, "out twice"
                assert point not in asked, "asked for again"
            asked.append(point)
            out.append(trial)
        elif out:
            place, failed = (event[0], True) if isinstance(event, tuple) else (event, False)
            trial = out.pop(place % len(out))
            opt.tell(trial, None if failed else value(trial.params))
    return asked


@pytest.mark.slow
@in_each_space(SEARCHES)
@settings(deadline=None, max_examples=4)
@given(history=histories)
def test_pending_trials_are_all_different_and_the_same_order_gives_the_same_points(
    algorithm, space, history
):
    opt = bamsoo.Optimizer(space, algorithm=algorithm, seed=2)
    asked = play(opt, history)
    assert asked == play(bamsoo.Optimizer(space, algorithm=algorithm, seed=2), history)
    if space is SPACES["finite"]:
        assert len(asked) <= 12


@each_space
@each_repeating
@settings(deadline=None, max_examples=4)
@given(history=histories)
def test_a_search_that_repeats_points_repeats_an_order_exactly(algorithm, space, history):
    opt = bamsoo.Optimizer(space, algorithm=algorithm, seed=2)
    asked = play(opt, history, again=True)
    other = bamsoo.Optimizer(space, algorithm=algorithm, seed=2)
    assert asked == play(other, history, again=True)
    assert opt.result.params == other.result.params
    if opt.result.success:
        assert opt.result.fun == other.result.fun


def completions(seed):
    """Workers on a virtual clock: random durations decide which pending trial is done next."""
    rng = np.random.default_rng(seed)
    done_at, now = {}, 0.0

    def choose(out):
        nonlocal now
        for trial in out:
            done_at.setdefault(trial.number, now + rng.exponential())
        first = min(out, key=lambda trial: done_at[trial.number])
        now = done_at[first.number]
        return first

    return choose


def run(opt, workers, budget, choose, killed_at=None):
    """Keep this many trials pending until this many have been told."""
    out = []
    while opt.told < (killed_at or budget):
        try:
            while len(out) < workers and opt.told + len(out) < budget:
                out.append(opt.ask())
        except bamsoo.errors.ExhaustedError:
            pass
        if not out:
            break
        trial = choose(out)
        out.remove(trial)
        opt.tell(trial, value(trial.params))
    return opt.result


@pytest.mark.slow
@in_each_space({**SEARCHES, **REPEATING})
def test_a_parallel_run_is_replayed_from_its_study(algorithm, space, tmp_path):
    path = tmp_path / "run.db"
    whole = run(bamsoo.Optimizer(space, algorithm=algorithm), 6, 14, completions(3))
    choose = completions(3)
    for killed_at in (1, 7, None):  # with six pending trials, or as many as the space has
        with bamsoo.Study.open(path, space=space, algorithm=algorithm) as study:
            again = run(study, 6, 14, choose, killed_at)
    assert again.X == whole.X
    assert_array_equal(again.F, whole.F)
    assert again.nfev == whole.nfev
    if (
        space is not SPACES["finite"]
    ):  # there the last ask, that found nothing more, is in no journal
        assert again.nrejected == whole.nrejected


@main_algorithms
def test_trials_pending_at_the_end_of_a_run_come_first_in_the_next(algorithm, tmp_path):
    path, space = tmp_path / "run.db", SPACES["plane"]
    with bamsoo.Study.open(path, space=space, algorithm=algorithm) as study:
        out = [study.ask() for _ in range(5)]
        study.tell(out[3], value(out[3].params))
        study.give_back(out[1])
        assert study.ask().number == 1
    with bamsoo.Study.open(path) as study:
        assert [study.ask().number for _ in range(5)] == [0, 1, 2, 4, 5]


@main_algorithms
def test_one_worker_is_the_sequential_algorithm_point_by_point(algorithm):
    space = SPACES["plane"]
    one = run(bamsoo.Optimizer(space, algorithm=algorithm), 1, 20, lambda out: out[0])
    sequential = bamsoo.minimize(lambda **p: value(p), space, 20, algorithm=algorithm)
    assert one.X == sequential.X
    assert_array_equal(one.F, sequential.F)
    assert one.nrejected == sequential.nrejected


@pytest.mark.parametrize("name", ["bamsoo", "bamsoo-3", "gp-ucb", "gp-ei", "bamlogo", "imgpo"])
def test_a_gp_keeps_trials_apart_while_nothing_comes_back(name):
    opt = bamsoo.Optimizer(SPACES["plane"], algorithm=SEARCHES[name])
    for _ in range(8):
        trial = opt.ask()
        opt.tell(trial, value(trial.params))
    X = np.array([opt.ask().x for _ in range(16)]) / 15.0
    apart = np.abs(X[:, None] - X[None]).max(-1) + np.eye(len(X))
    assert apart.min() > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(("name", "close"), [("auto", 1e-6), ("bamsoo", 0.2), ("gp-ucb", 0.05)])
def test_eight_workers_still_find_it(name, close):
    opt = bamsoo.Optimizer(SPACES["plane"], algorithm=SEARCHES[name])
    r = run(opt, 8, 80, completions(5))
    assert r.nfev == 80
    assert r.fun - branin.optimum < close


@pytest.mark.parametrize(
    ("algorithm", "noise", "space"),
    [
        ("auto", 1.0, {"n": bamsoo.Int(1, 6)}),
        ("auto", "learn", {"n": bamsoo.Int(1, 3), "mode": bamsoo.Choice(["fast", "exact"])}),
        ("bamsoo", 1.0, {"n": bamsoo.Int(1, 6)}),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_under_noise_each_value_counts_once_and_answers_the_request_of_its_trial(
    algorithm, noise, space, seed
):
    rng = np.random.default_rng(seed)
    opt = bamsoo.Optimizer(space, algorithm=algorithm, noise=noise)
    out, told = [], []
    for _ in range(36):
        if len(out) < 4 and (not out or rng.random() < 0.5):
            out.append(opt.ask())
            continue
        trial = out.pop(rng.integers(len(out)))
        told.append((trial.params["n"], rng.normal()))
        opt.tell(trial, told[-1][1])
    known = opt._course.look().known
    entered = [opt.space.params(opt.space.decode(x))["n"] for x in known.X]
    assert sorted(zip(entered, (-known.values).tolist(), strict=True)) == sorted(told)
