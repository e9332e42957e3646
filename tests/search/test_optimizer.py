"""The optimiser: asking and telling, batches, pickles, copies, threads."""

import copy
import inspect
import pickle
import subprocess
import sys
from math import nan

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from searches import QUICK

import bamsoo
from bamsoo import Choice, Int, Optimizer, Real, problems
from bamsoo.errors import ExhaustedError, SettingsError

from threads import in_threads

branin = problems.branin
BOX = branin.bounds
NAMED = {"a": (-5, 10), "b": (0, 15)}

MIXED = {"rate": Real(1e-4, 1.0, log=True), "n": Int(1, 12), "kind": Choice(["a", "b"])}


def cost(rate, n, kind):
    return (np.log10(rate) + 2.5) ** 2 + 0.1 * (n - 4) ** 2 + (kind == "b")


def grown(algorithm="auto", n=12, **settings):
    """A search with pending trials, one that was given back, failures and known points."""
    opt = Optimizer(MIXED, algorithm=algorithm, seed=3, **settings)
    opt.tell({"rate": 0.5, "n": 3, "kind": "a"}, 3.0)
    opt.expect({"rate": 0.7, "n": 9, "kind": "a"})
    opt.enqueue({"rate": 0.01, "n": 7, "kind": "b"})
    for i in range(n):
        trial = opt.ask()
        opt.tell(trial, None if i == 4 else cost(**trial.params))
        if i % 5 == 0:
            opt.result  # noqa: B018
    out = opt.ask(3)
    opt.give_back(out[1])
    opt.enqueue({"rate": 0.02, "n": 7, "kind": "b"})
    return opt, [out[0], out[2]]


def go_on(opt, trials, n=8):
    for trial in trials:
        opt.tell(trial, cost(**trial.params))
    for _ in range(n):
        trial = opt.ask()
        opt.tell(trial, cost(**trial.params))
    return opt.result


# --- batches


def test_a_batch_is_a_list_of_trials():
    opt, twin = Optimizer(MIXED), Optimizer(MIXED)
    assert [t.params for t in opt.ask(4)] == [twin.ask().params for _ in range(4)]
    assert [t.number for t in opt.ask(1)] == [4]
    assert isinstance(opt.ask(), bamsoo.Trial)


def test_a_batch_is_shorter_if_few_points_are_left():
    opt = Optimizer({"n": Int(1, 3)})
    trials = opt.ask(5)
    assert sorted(t.params["n"] for t in trials) == [1, 2, 3]
    with pytest.raises(ExhaustedError):
        opt.ask(2)


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "3"])
def test_an_invalid_number_of_trials_is_refused(n, tmp_path):
    with pytest.raises(bamsoo.errors.SettingsError, match="ask: n must be a whole number >= 1"):
        Optimizer(MIXED).ask(n)


def test_a_study_gives_batches_too(tmp_path):
    with bamsoo.Study.open(tmp_path / "run.db", space=MIXED) as study:
        trials = study.ask(3)
        assert [t.number for t in trials] == [0, 1, 2]
        for trial in trials:
            study.tell(trial, 1.0)
    with bamsoo.Study.open(tmp_path / "run.db") as study:
        assert study.result.nfev == 3


# --- pickles and copies

SETTINGS = {
    "auto": {},
    "noisy": {"noise": 0.01},
    "bamsoo": {"algorithm": bamsoo.algorithms.BaMSOO(random_start=True)},
    "gp-ucb": {"algorithm": QUICK["gp-ucb"]},
    "soo": {"algorithm": "soo"},
    "random": {"algorithm": "random"},
}


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize(
    "again",
    [lambda it: pickle.loads(pickle.dumps(it)), copy.deepcopy, copy.copy],
    ids=["pickle", "deepcopy", "copy"],
)
def test_a_search_goes_on_in_a_copy_as_in_itself(settings, again):
    opt, trials = grown(**settings)
    other = again(opt)
    assert other.result.X == opt.result.X
    a, b = go_on(other, trials), go_on(opt, trials)
    assert a.X == b.X
    assert_array_equal(a.F, b.F)
    assert (a.fun, a.nrejected, a.nexpanded, a.failures) == (
        b.fun,
        b.nrejected,
        b.nexpanded,
        b.failures,
    )


def test_a_copy_is_apart_from_what_it_was_made_of():
    opt, trials = grown()
    other = copy.copy(opt)
    go_on(other, trials)
    assert opt.result.nfev == 12


def test_a_pickled_trial_is_accepted_by_its_search():
    opt = Optimizer(MIXED)
    trial = pickle.loads(pickle.dumps(opt.ask()))
    assert trial.params == opt.ledger.trials[0].params
    opt.tell(trial, 1.0)
    assert opt.result.nfev == 1
    with pytest.raises(bamsoo.errors.TrialError, match="already been told"):
        opt.tell(trial, 1.0)


def test_a_trial_of_another_search_is_refused_also_when_pickled():
    trial = pickle.loads(pickle.dumps(Optimizer(MIXED).ask()))
    opt = Optimizer(MIXED)
    opt.ask()
    with pytest.raises(bamsoo.errors.TrialError, match="another optimiser"):
        opt.tell(trial, 1.0)


def test_a_pickle_can_be_loaded_by_another_process():
    opt, trials = grown("soo")
    code = (
        "import pickle, sys\n"
        "opt, trials = pickle.load(sys.stdin.buffer)\n"
        "for trial in trials: opt.tell(trial, 1.0)\n"
        "sys.stdout.buffer.write(pickle.dumps((opt, opt.ask())))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps((opt, trials)), capture_output=True
    )
    assert ran.returncode == 0, ran.stderr
    other, trial = pickle.loads(ran.stdout)
    assert other.result.nfev == opt.result.nfev + 2
    other.tell(trial, 1.0)


# --- threads


def test_fifty_threads_share_an_optimizer_for_a_thousand_trials():
    opt = Optimizer(MIXED | {"x": (0, 1)}, algorithm="soo")

    def work():
        for trial in opt.ask(20):
            opt.tell(trial, cost(**{k: v for k, v in trial.params.items() if k != "x"}))

    in_threads(50, work)
    r = opt.result
    assert r.nfev == 1000
    assert len({tuple(point.values()) for point in r.X}) == 1000
    assert pickle.loads(pickle.dumps(opt)).result.X == r.X


def test_fifty_threads_share_a_study_for_a_thousand_trials(tmp_path):
    path = tmp_path / "run.db"
    with bamsoo.Study.open(path, space=[(0, 1)] * 2, algorithm="soo") as study:

        def work():
            for _ in range(20):
                trial = study.ask()
                study.tell(trial, float(trial.x @ trial.x))

        in_threads(50, work)
        points = study.result.X
    assert len({x.tobytes() for x in points}) == 1000
    with bamsoo.Study.open(path) as study:  # which replays it, and compares every point
        assert_array_equal(study.result.X, points)
        assert study.result.nfev == 1000
        assert sorted(t.number for t in study.trials) == list(range(1000))


@pytest.mark.parametrize("wrong", [-0.1, 1.1, nan])
def test_an_algorithm_that_leaves_the_unit_cube_is_refused(wrong):
    class Elsewhere(bamsoo.algorithms.Algorithm):
        def start(self, domain, rng, book):
            book.begin()
            yield from book.evaluate_point(np.array([0.5, wrong]))

    with pytest.raises(SettingsError, match="outside the unit cube"):
        Optimizer([(0, 1)] * 2, algorithm=Elsewhere()).ask()


def test_without_a_seed_one_is_drawn():
    first, second = (Optimizer([(0, 1)], algorithm="random", seed=None) for _ in range(2))
    assert first.seed != second.seed
    assert first.ask().x != second.ask().x
    again = Optimizer([(0, 1)], algorithm="random", seed=second.seed)
    assert again.ask().x == second.ledger.trials[0].x


def test_the_optimizers_signature_is_the_contracts():
    parameters = inspect.signature(bamsoo.Optimizer).parameters
    assert {name: p.default for name, p in parameters.items()} == {
        "space": inspect.Parameter.empty,
        "direction": "minimize",
        "algorithm": "auto",
        "seed": 0,
        "noise": None,
        "constraints": None,
        "objectives": None,
        "steps": None,
        "tol": None,
        "rng": None,
    }


@pytest.mark.parametrize("low", [-0.0, 0.0])
def test_a_point_known_at_minus_zero_is_known_at_zero(low):
    opt = bamsoo.Optimizer([(-1, 1)], algorithm="soo")
    opt.tell([-low], 1.0)
    assert opt.ask().x[0] != 0.0


def test_a_trial_carries_its_number_point_and_parameters():
    opt = bamsoo.Optimizer(NAMED, algorithm="soo")
    trials = [opt.ask() for _ in range(3)]
    assert [t.number for t in trials] == [0, 1, 2]
    for trial in trials:
        assert isinstance(trial, bamsoo.Trial)
        assert trial.x.shape == (2,)
        assert trial.params == {"a": trial.x[0], "b": trial.x[1]}
        assert str(trial.number) in repr(trial)


def test_trials_of_a_space_without_names_call_their_parameters_x0_and_x1():
    assert list(bamsoo.Optimizer(BOX).ask().params) == ["x0", "x1"]


@pytest.mark.parametrize("space", [BOX, NAMED], ids=["pairs", "dict"])
def test_the_result_before_any_value_is_empty(space):
    opt = bamsoo.Optimizer(space)
    for asked in range(2):
        r = opt.result
        assert r.x is None
        assert r.params is None
        assert np.isnan(r.fun)
        assert not r.success
        assert (r.nfev, len(r.X), len(r.F)) == (0, 0, 0)
        if space is BOX:
            assert r.X.shape == (0, 2)
        if not asked:
            opt.ask()


def test_evaluations_are_listed_in_the_order_they_were_told():
    opt = bamsoo.Optimizer(BOX, algorithm="soo")
    a, b, c = (opt.ask() for _ in range(3))
    opt.tell(c, 3.0)
    opt.tell(a, None)
    opt.tell(b, 1.0)
    assert_array_equal(opt.result.X, [c.x, a.x, b.x])
    assert_array_equal(opt.result.F, [3.0, np.nan, 1.0])
    assert (opt.result.nfev, opt.result.nfailed, opt.result.fun) == (3, 1, 1.0)


@pytest.mark.parametrize(("direction", "best"), [("minimize", 1.0), ("maximize", 3.0)])
def test_the_optimizers_direction_says_which_value_is_best(direction, best):
    opt = bamsoo.Optimizer(BOX, direction=direction)
    for value in (2.0, 1.0, 3.0):
        opt.tell(opt.ask(), value)
    assert opt.result.fun == best


def test_the_first_of_equal_values_is_the_best():
    opt = bamsoo.Optimizer(BOX)
    first = opt.ask()
    opt.tell(first, 1.0)
    opt.tell(opt.ask(), 1.0)
    assert_array_equal(opt.result.x, first.x)


def test_a_search_with_nothing_left_says_so_as_often_as_it_is_asked():
    opt = bamsoo.Optimizer([(1.0, 1.0 + 2**-50)], algorithm="soo")
    asked = 0
    with pytest.raises(bamsoo.errors.ExhaustedError) as first:
        while asked < 100:
            opt.tell(opt.ask(), 1.0)
            asked += 1
    assert asked >= 1
    with pytest.raises(RuntimeError) as again:
        opt.ask()
    assert str(again.value) == str(first.value)
    assert opt.result.nfev == asked


def test_a_warm_start_may_be_a_dict_a_list_or_an_array():
    opt = bamsoo.Optimizer(NAMED)
    opt.tell({"b": 2.0, "a": 1.0}, 3.0)
    opt.tell([2.0, 3.0], 2.0)
    opt.tell(np.array([3.0, 4.0]), 1.0)
    assert opt.result.X == [{"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 3.0}, {"a": 3.0, "b": 4.0}]
    assert opt.result.params == {"a": 3.0, "b": 4.0}
    assert opt.result.nfev == 0


def test_a_warm_start_is_a_copy():
    opt = bamsoo.Optimizer(BOX)
    x = np.array([1.0, 2.0])
    opt.tell(x, 3.0)
    x[:] = 0.0
    assert_array_equal(opt.result.X, [[1.0, 2.0]])


def test_a_pending_point_told_from_elsewhere_may_still_be_told_as_a_trial():
    opt = bamsoo.Optimizer(BOX, algorithm="soo")
    trial = opt.ask()
    opt.tell(trial.x, 2.0)
    other = opt.ask()
    assert not np.array_equal(other.x, trial.x)
    opt.tell(trial, 1.0)
    assert opt.result.F.tolist() == [2.0, 1.0]
    assert opt.result.fun == 1.0


def test_noise_is_suspected_only_where_it_could_be_learned_and_is_not():
    rng = np.random.default_rng(0)
    for settings in ({"algorithm": "soo"}, {"noise": "learn"}, {"noise": 0.1}):
        opt = bamsoo.Optimizer([(0, 1)], **settings)
        for x in 0.5 + 1e-3 * rng.standard_normal(40):
            opt.tell([x], rng.standard_normal())
        assert not opt.suspects_noise


def test_noise_is_suspected_from_neighbours_where_no_point_is_repeated():
    for settings in ({"steps": 4}, {"objectives": ["a"]}, {}):
        rng = np.random.default_rng(0)
        opt = bamsoo.Optimizer([(0, 1)], **settings)
        for x in 0.5 + 1e-3 * rng.standard_normal(40):
            opt.tell([x], rng.standard_normal())
        assert opt.suspects_noise == ("steps" in settings)


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_values_of_a_point_that_differ_are_told_as_they_came(direction):
    opt = bamsoo.Optimizer([(0, 1)] * 2, direction)
    draws, sign = np.random.default_rng(0), 1.0 if direction == "minimize" else -1.0
    seen = {}
    while opt.unequal is None and len(seen) < 80:
        trial = opt.ask()
        value = sign * (((trial.x - 0.4) ** 2).sum() + 0.1 * draws.standard_normal())
        opt.tell(trial, value)
        both = seen.get(trial.x.tobytes()), value
        seen[trial.x.tobytes()] = value
        opt.result  # noqa: B018 (a value arrives when something is asked of the search)
    assert opt.unequal == ("value", *both)
