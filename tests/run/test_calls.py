"""Calls as other libraries taught people to make them."""

import asyncio
import re
from functools import partial, wraps
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import bamsoo
from bamsoo.errors import CallError, SettingsError, SpaceError, ValueTypeError

LINE = [(0.0, 1.0)]


class FloatDistribution(SimpleNamespace):
    """As in Optuna."""


class IntDistribution(SimpleNamespace):
    """As in Optuna."""


class CategoricalDistribution(SimpleNamespace):
    """As in Optuna."""


class UniformFloat(SimpleNamespace):
    """As in ConfigSpace."""


class Frame(SimpleNamespace):
    """What tells a data frame from a list."""

    columns = ()


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
        ({"algorithms": "soo"}, r"did you mean algorithm\?"),
        ({"catch": (ValueError,)}, 'did you mean on_error="fail"'),
        ({"pruner": None}, "did you mean steps, with which"),
        ({"sampler": None}, r"did you mean algorithm\?"),
        ({"verbose": 1}, "did you mean progress=True"),
        ({"acq_func": "EI"}, "and needs none: the search has no acquisition function"),
        ({"tolerance": 1e-3}, r"did you mean tol, the smallest gain"),
        ({"qqq": 1}, "it takes fun, space, budget, algorithm"),
    ],
)
@pytest.mark.parametrize("name", ["minimize", "maximize"])
def test_an_unknown_argument_is_named_and_the_right_one_too(name, given, meant):
    with pytest.raises(CallError, match=rf"^{name} has no argument '{next(iter(given))}'.*{meant}"):
        getattr(bamsoo, name)(square, LINE, 5, **given)


@pytest.mark.parametrize("name", ["objectives", "steps"])
def test_a_fit_says_why_it_lacks_an_argument(name):
    with pytest.raises(CallError, match=rf"least_squares has no argument '{name}', and needs none"):
        bamsoo.least_squares(square, LINE, 5, **{name: 3})


@pytest.mark.parametrize("call", ["to_dicts", "to_pylist", "to_dict('records')"])
def test_points_in_a_data_frame_are_asked_for_as_dicts(call):
    frame = Frame(**{call: None})
    with pytest.raises(SpaceError, match=re.escape(f"give its rows as dicts: frame.{call}")):
        bamsoo.Optimizer({"x": (0, 1)}).enqueue(frame)


def test_what_is_missing_is_explained():
    with pytest.raises(CallError, match="minimize needs budget: the largest number of evaluations"):
        bamsoo.minimize(square, LINE)
    with pytest.raises(TypeError, match="maximize needs space: the parameters and their ranges"):
        bamsoo.maximize(square, budget=5)
    with pytest.raises(CallError, match="everything else by name"):
        bamsoo.minimize(square, LINE, 5, "soo")


@pytest.mark.parametrize(
    "options", [["a", "b"], ("a", "b"), ["a", "b", "c"], ("a", "b", "c"), [1, "b"]]
)
def test_a_list_of_options_suggests_choice(options):
    with pytest.raises(SpaceError, match=r"x: expected .*; for options, give Choice\("):
        bamsoo.Optimizer({"x": options})


@pytest.mark.parametrize(
    ("given", "ours"),
    [
        ((1e-3, 10.0, "log-uniform"), "Real(0.001, 10.0, log=True)"),
        ((0.0, 1.0, "uniform"), "Real(0.0, 1.0)"),
        ((1, 10, "log-uniform"), "Int(1, 10, log=True)"),
    ],
)
def test_a_range_as_in_scikit_optimize_is_written_out(given, ours):
    with pytest.raises(SpaceError, match=f"; write {re.escape(ours)}$"):
        bamsoo.Optimizer({"x": given})


@pytest.mark.parametrize(
    ("given", "ours"),
    [
        (range(1, 10), "Int(1, 9)"),
        (range(0, 10, 5), "Choice([0, 5])"),
        (stats.uniform(2, 3), "Real(2.0, 5.0)"),
        (stats.loguniform(1e-3, 1), "Real(0.001, 1.0, log=True)"),
        (stats.randint(1, 10), "Int(1, 9)"),
        (FloatDistribution(low=1e-3, high=1, log=True), "Real(0.001, 1.0, log=True)"),
        (IntDistribution(low=1, high=9, log=False), "Int(1, 9)"),
        (UniformFloat(lower=0, upper=2), "Real(0.0, 2.0)"),
        (CategoricalDistribution(choices=("a", "b")), "Choice(['a', 'b'])"),
    ],
)
def test_a_range_of_another_library_is_written_out(given, ours):
    with pytest.raises(SpaceError, match=f"; write {re.escape(ours)}$"):
        bamsoo.Optimizer({"x": given})


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


def objective(trial):
    return trial.suggest_float("x", 0, 1)


NAMED = {"x": (0, 1), "y": (0, 1)}


@pytest.mark.parametrize(
    ("fun", "space", "said"),
    [
        (objective, NAMED, r"needs the argument 'trial'.* fun\(x=\.\.\., .*BaMSOOSampler"),
        (lambda config: 1, NAMED, r"needs the argument 'config'.*lambda \*\*config: fun\(config\)"),
        (lambda x, y, z: 1, NAMED, "needs the argument 'z', which is no parameter of the space"),
        (lambda x: 1, NAMED, "takes no argument 'y', a parameter of the space"),
        (lambda a, b: 1, NAMED, r"by name it takes a, b, and it is called as fun\(x=.*, y=...\)"),
        (lambda x, y, /: 1, NAMED, "takes no argument 'x'.*by name it takes nothing"),
        (lambda x, y: 1, LINE * 2, "fun takes x, y, but a space without names gives it one array"),
        (lambda: 1, LINE, "fun takes no arguments, but"),
    ],
)
def test_a_function_that_no_call_would_fit_is_refused_before_it_is_called(fun, space, said):
    with pytest.raises(CallError, match=said):
        bamsoo.minimize(fun, space, 5)


def test_functions_that_can_be_called_are():
    @wraps(objective)
    def wrapped(**params):
        return params["x"]

    class Model:
        def __call__(self, x, y):
            return x

    for fun in (wrapped, Model(), lambda x, y, z=1: x, lambda x, **rest: x, partial(max, 0.5)):
        space = LINE if isinstance(fun, partial) else NAMED
        assert bamsoo.minimize(fun, space, 2).nfev == 2
    option = bamsoo.Choice({"a": {"x": (0, 1)}, "b": {}})
    assert bamsoo.minimize(lambda kind, x=0.5: x, {"kind": option}, 4).nfev == 4
    different = bamsoo.Choice({"a": {"x": (0, 1)}, "b": {"x": (5, 9)}})  # one name, two parameters
    r = bamsoo.minimize(
        lambda kind, x: x, {"kind": different}, 4, constraints=[bamsoo.Formula("x <= 8")]
    )
    assert r.nfev == 4


def test_an_objective_of_optuna_on_an_array_is_told_of_the_sampler():
    with pytest.raises(AttributeError) as caught:
        bamsoo.minimize(objective, LINE, 5)
    assert "BaMSOOSampler" in caught.value.__notes__[-1]


def test_a_dict_or_a_vector_as_the_value_is_told_what_it_needs():
    with pytest.raises(ValueTypeError, match="name several with objectives="):
        bamsoo.minimize(lambda x: {"loss": 1.0, "size": 2.0}, {"x": (0, 1)}, 5)
    with pytest.raises(ValueTypeError, match=r"shape \(3,\); .*bamsoo\.least_squares"):
        bamsoo.minimize(lambda x: np.ones(3), {"x": (0, 1)}, 5)


async def later(x):
    return x


async def steps(x):
    yield x


@pytest.mark.parametrize(
    ("fun", "options"), [(later, {}), (steps, {"steps": 3}), (lambda x: later(x), {})]
)
def test_an_async_function_is_told_what_to_do(fun, options):
    with pytest.raises(SettingsError, match=r"async function; .*asyncio\.run.*ask and tell"):
        bamsoo.minimize(fun, {"x": (0, 1)}, 5, **options)


def test_a_value_that_was_not_awaited_is_refused():
    opt, coroutine = bamsoo.Optimizer(LINE), later(1.0)
    with pytest.raises(ValueTypeError, match=r"; await it first$"):
        opt.tell(opt.ask(), coroutine)
    assert asyncio.run(coroutine) == 1.0


class Tensor:
    """What torch does with a number that it differentiates."""

    shape, ndim = (), 0

    def __init__(self, value, requires_grad=True):
        self.value, self.requires_grad = value, requires_grad

    def detach(self):
        return Tensor(self.value, False)

    def __array__(self, *args, **kwargs):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return np.array(self.value)


def test_of_a_tensor_that_requires_a_gradient_the_value_is_taken():
    r = bamsoo.minimize(
        lambda x: (Tensor(x**2), {"size": Tensor(x), "over": Tensor(x - 2)}),
        {"x": (0, 1)},
        4,
        constraints=["over"],
    )
    assert r.fun == r.params["x"] ** 2
    assert r.C["over"].tolist() == [p["x"] - 2 for p in r.X]
    assert r.evaluations[0].extras["size"] == r.X[0]["x"]
    several = bamsoo.minimize(
        lambda x: (Tensor(x), Tensor(-x)), {"x": (0, 1)}, 4, objectives=["a", "b"]
    )
    assert several.F[:, 0].tolist() == [p["x"] for p in several.X]
    opt = bamsoo.Optimizer(LINE)
    opt.tell(opt.ask(), Tensor(0.5))
    assert opt.result.fun == 0.5


def test_a_dict_with_what_is_no_number_says_which_name_it_is():
    with pytest.raises(bamsoo.BamsooError, match="got 'ok' for 'status'; return the value, or"):
        bamsoo.minimize(lambda x: {"loss": 1.0, "status": "ok"}, {"x": (0, 1)}, 5)
