"""Calls as other libraries taught people to make them."""

import numpy as np
import pytest

import bamsoo
from bamsoo.errors import CallError, SpaceError

LINE = [(0.0, 1.0)]


def square(x):
    return float(((x - 0.3) ** 2).sum())


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"n_trials": 5}, "did you mean budget, the largest number"),
        ({"n_calls": 5}, "did you mean budget"),
        ({"max_evals": 5}, "did you mean budget"),
        ({"maxiter": 5}, "did you mean budget"),
        ({"n_jobs": 2}, r"did you mean workers\?"),
        ({"random_state": 2}, r"did you mean seed\?"),
        ({"bounds": LINE}, r"did you mean space\?"),
        ({"dimensions": LINE}, r"did you mean space\?"),
        ({"direction": "maximize"}, r"bamsoo\.maximize"),
        ({"algoritm": "soo"}, r"did you mean algorithm\?"),
        ({"qqq": 1}, "it takes fun, space, budget, algorithm"),
    ],
)
@pytest.mark.parametrize("name", ["minimize", "maximize"])
def test_an_unknown_argument_is_named_and_the_right_one_too(name, given, meant):
    with pytest.raises(CallError, match=rf"^{name} has no argument '{next(iter(given))}'.*{meant}"):
        getattr(bamsoo, name)(square, LINE, 5, **given)


def test_what_is_missing_is_explained():
    with pytest.raises(CallError, match="minimize needs budget: the largest number of evaluations"):
        bamsoo.minimize(square, LINE)
    with pytest.raises(TypeError, match="maximize needs space: the parameters and their ranges"):
        bamsoo.maximize(square, budget=5)
    with pytest.raises(CallError, match="everything else by name"):
        bamsoo.minimize(square, LINE, 5, "soo")


@pytest.mark.parametrize("options", [["a", "b"], ["a", "b", "c"], ("a", "b", "c"), [1, "b"]])
def test_a_list_of_options_suggests_choice(options):
    with pytest.raises(SpaceError, match=r"x: expected .*; for options, give Choice\("):
        bamsoo.Optimizer({"x": options})


def test_a_list_of_two_numbers_is_no_range():
    with pytest.raises(SpaceError, match=r"x: a list could be a range or options, got \[1, 10\]"):
        bamsoo.Optimizer({"x": [1, 10]})
    assert bamsoo.Optimizer([[1, 10]]).space.names == ["x0"]  # not in a dict


def test_a_function_that_needs_whole_numbers_is_told_of_int():
    with pytest.raises(TypeError) as caught:
        bamsoo.minimize(lambda n: sum(range(n)), {"n": (1, 10)}, 5)
    assert caught.value.__notes__[-1] == (
        "bamsoo: n is a range of real numbers; for whole numbers, give Int(1, 10)"
    )
    with pytest.raises(TypeError) as caught:
        bamsoo.minimize(lambda n: sum(range(n)), {"n": (1.5, 10)}, 5)
    assert len(caught.value.__notes__) == 1


def test_a_seed_may_be_drawn_and_is_told():
    drawn = bamsoo.minimize(square, LINE, 3, algorithm="random", seed=None)
    again = bamsoo.minimize(square, LINE, 3, algorithm="random", seed=drawn.seed)
    assert again.X.tolist() == drawn.X.tolist()
    one, other = (
        bamsoo.minimize(square, LINE, 3, algorithm="random", seed=np.random.default_rng(4))
        for _ in range(2)
    )
    assert one.seed == other.seed
    assert one.X.tolist() == other.X.tolist()


def test_callbacks_may_be_several_and_end_a_run_by_returning_true():
    seen = []
    r = bamsoo.minimize(square, LINE, 20, callback=[seen.append, lambda r: r.nfev == 6])
    assert (r.nfev, len(seen)) == (6, 6)
    assert r.message == "the callback ended the run"
    bamsoo.minimize(square, LINE, 4, callback=lambda r: "go on")  # only True itself ends it


@pytest.mark.slow
def test_a_single_constraint_needs_no_list():
    r = bamsoo.minimize(square, LINE, 15, constraints=lambda x: x[0] - 0.2)
    assert r.X.max() <= 0.2
    r = bamsoo.minimize(lambda x: (square(x), {"c": x[0] - 0.2}), LINE, 15, constraints="c")
    assert r.x[0] <= 0.2


@pytest.mark.slow
def test_minus_one_worker_means_all_cores():
    r = bamsoo.minimize(lambda x: float(x[0]), LINE, 6, workers=-1)
    assert r.nfev == 6
