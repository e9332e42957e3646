"""Invalid input: one family of errors, each a sentence that says what was given."""

from math import inf, nan

import numpy as np
import pytest
from scipy.optimize import Bounds

import bamsoo
from bamsoo import Real

SQUARE = [(0, 1), (0, 1)]


def refused(call, builtin, *named):
    """Check that the error has both types and says in one line what was given."""
    with pytest.raises(bamsoo.BamsooError) as caught:
        call()
    assert isinstance(caught.value, builtin)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert len(message) < 200
    for word in named:
        assert word in message


def minimise(fun=lambda x: 0.0, space=SQUARE, budget=3, **options):
    return bamsoo.minimize(fun, space, budget, **options)


class Opaque:
    """An object that is not a number and has a long repr."""

    def __repr__(self):
        return "<opaque\n" + "and long " * 50 + ">"


def rows(table):
    return pytest.mark.parametrize(
        ("given", "named"), [pytest.param(*row[1:], id=row[0]) for row in table]
    )


SPACES = [
    ("reversed", [(1, 0)], ["x0", "low=1", "high=0"]),
    ("reversed second axis", [(0, 1), (3, 2)], ["x1", "low=3", "high=2"]),
    ("equal", [(2, 2)], ["x0", "2"]),
    ("nan low", [(nan, 1)], ["x0", "nan"]),
    ("nan high", [(0, nan)], ["x0", "nan"]),
    ("inf", [(0, inf)], ["x0", "inf"]),
    ("-inf", [(-inf, 0)], ["x0", "-inf"]),
    ("a whole number beyond floats", [(0, 10**400)], ["x0"]),
    ("empty list", [], ["empty"]),
    ("empty dict", {}, ["empty"]),
    ("empty array", np.empty((0, 2)), ["empty"]),
    ("None", None, ["None"]),
    ("a number", 3, ["3"]),
    ("a string", "branin", ["branin"]),
    ("bytes", b"01", ["b'01'"]),
    ("one pair instead of a list of them", (0, 1), ["x0", "0"]),
    ("triples", [(0, 1, 2)], ["x0", "(0, 1, 2)"]),
    ("singles", [(0,)], ["x0", "(0,)"]),
    ("strings for numbers", [("0", "1")], ["x0", "'0'", "'1'"]),
    ("strings of two letters", ["01"], ["x0", "'01'"]),
    ("None for a bound", [(None, 1)], ["x0", "None"]),
    ("complex bounds", [(0j, 1j)], ["x0", "1j"]),
    ("numpy complex bounds", [(np.complex128(0), np.complex128(1j))], ["x0", "1j"]),
    ("arrays for bounds", [(np.zeros(2), np.ones(2))], ["x0"]),
    ("a long object for a bound", [(0, Opaque())], ["x0", "opaque"]),
    ("a long list for a pair", [list(range(1000))], ["x0"]),
    ("a long array for a pair", [np.linspace(0, 1, 1000)], ["x0"]),
    ("names that are not strings", {1: (0, 1)}, ["1"]),
    ("reversed by name", {"rate": (1, 0)}, ["rate", "low=1"]),
    ("None by name", {"rate": None}, ["rate", "None"]),
    ("nan by name", {"rate": (nan, 1)}, ["rate", "nan"]),
    ("reversed Bounds", Bounds([0, 1], [1, 0]), ["x1", "low=1"]),
    ("Bounds without limits", Bounds(), ["inf"]),
]


@rows(SPACES)
def test_a_space_is_refused(given, named):
    refused(lambda: bamsoo.Optimizer(given), ValueError, *named)
    refused(lambda: minimise(space=given), ValueError, *named)


REALS = [
    ("reversed", lambda: Real(1, 0), ["low=1"]),
    ("equal", lambda: Real(1, 1), ["low=1"]),
    ("nan", lambda: Real(nan, 1), ["nan"]),
    ("inf", lambda: Real(0, inf), ["inf"]),
    ("string", lambda: Real("0", 1), ["'0'"]),
    ("log from zero", lambda: Real(0, 1, log=True), ["log", "low=0"]),
    ("log below zero", lambda: Real(-1, 1, log=True), ["log", "low=-1"]),
]


@rows(REALS)
def test_a_real_is_refused(given, named):
    refused(given, ValueError, *named)


BUDGETS = [
    ("zero", 0),
    ("negative", -3),
    ("not whole", 10.5),
    ("True", True),
    ("numpy True", np.True_),
    ("string", "10"),
    ("bytes", b"10"),
    ("nan", nan),
    ("inf", inf),
    ("None", None),
    ("complex", 10 + 0j),
    ("list", [10]),
    ("array of one", np.array([10])),
    ("array of two", np.array([10, 10])),
    ("class", int),
]


@pytest.mark.parametrize("budget", [b for _, b in BUDGETS], ids=[i for i, _ in BUDGETS])
def test_a_budget_is_refused(budget):
    shown = str(budget) if isinstance(budget, (int, float, str)) else ""
    for run in (bamsoo.minimize, bamsoo.maximize):
        refused(lambda run=run: run(lambda x: 0.0, SQUARE, budget), ValueError, "budget", shown)


@pytest.mark.parametrize("budget", [3, 3.0, np.int64(3), np.float64(3.0)])
def test_any_whole_number_is_a_budget(budget):
    assert minimise(budget=budget).nfev == 3


ALGORITHMS = [
    ("unknown name", "simplex", ["simplex", "bamsoo", "gp-ucb"]),
    ("wrong case", "SOO", ["SOO"]),
    ("empty name", "", ["''"]),
    ("class instead of instance", bamsoo.algorithms.SOO, ["SOO"]),
    ("None", None, ["None"]),
    ("a kernel", bamsoo.kernels.Matern52(0.2), ["Matern52"]),
    ("a number", 3, ["3"]),
    ("something else that has a start", range(3), ["range"]),
    ("a long object", Opaque(), ["opaque"]),
]


@rows(ALGORITHMS)
def test_an_algorithm_is_refused(given, named):
    refused(lambda: minimise(algorithm=given), ValueError, *named)
    refused(lambda: bamsoo.Optimizer(SQUARE, algorithm=given), ValueError, *named)


WITH_ETA = [
    bamsoo.algorithms.BaMSOO,
    bamsoo.algorithms.GPUCB,
    bamsoo.algorithms.Shrinking,
    bamsoo.algorithms.Auto,
]
WITH_MEAN = [bamsoo.algorithms.BaMSOO, bamsoo.algorithms.GPUCB, bamsoo.algorithms.Shrinking]
WITH_K = [
    bamsoo.algorithms.SOO,
    bamsoo.algorithms.DOO,
    bamsoo.algorithms.BaMSOO,
    bamsoo.algorithms.Auto,
]
WITH_H_MAX = [bamsoo.algorithms.SOO, bamsoo.algorithms.BaMSOO, bamsoo.algorithms.Auto]
KERNELS = [
    bamsoo.kernels.SquaredExponential,
    bamsoo.kernels.Matern32,
    bamsoo.kernels.Matern52,
    bamsoo.kernels.Matern72,
]


def each_kind_with(name, kinds, values):
    """Each value with the first kind of settings, and the first value with the others."""
    return pytest.mark.parametrize(
        ("settings", name),
        [(kinds[0], value) for value in values] + [(kind, values[0]) for kind in kinds[1:]],
        ids=repr,
    )


@each_kind_with("eta", WITH_ETA, [0.0, 1.0, -0.1, 1.5, nan, "0.05", None, [0.05], 1j])
def test_an_eta_that_is_not_a_number_between_0_and_1_is_refused(settings, eta):
    refused(lambda: settings(eta=eta), ValueError, settings.__name__, "eta", str(eta))


@each_kind_with("k", WITH_K, [1, 0, -2, 2.5, True, "3", None, nan])
def test_a_k_that_is_not_a_whole_number_of_2_or_more_is_refused(settings, k):
    refused(lambda: settings(k=k), ValueError, settings.__name__, "k ", str(k))


@pytest.mark.parametrize("settings", WITH_K)
def test_a_numpy_whole_number_is_a_k(settings):
    assert minimise(algorithm=settings(k=np.int64(3))).nfev == 3


@each_kind_with("mean", WITH_MEAN, [nan, inf, -inf, "0", None, 1j])
def test_a_mean_that_is_not_a_finite_number_is_refused(settings, mean):
    refused(lambda: settings(mean=mean), ValueError, settings.__name__, "mean", str(mean))


@each_kind_with("h_max", WITH_H_MAX, [3, "sqrt", None])
def test_an_h_max_that_cannot_be_called_is_refused(settings, h_max):
    refused(lambda: settings(h_max=h_max), ValueError, settings.__name__, "h_max", str(h_max))


@each_kind_with("kernel", WITH_MEAN, ["matern52", None, 0.25, bamsoo.kernels.Matern52])
def test_an_invalid_kernel_is_refused(settings, kernel):
    refused(lambda: settings(kernel=kernel), ValueError, settings.__name__, "kernel")


@pytest.mark.parametrize(
    "length",
    [0.0, -1.0, nan, inf, [], [0.1, 0.0], [[0.1, 0.2]], "a", None, [0.1, "b"], 1j, [0.1, [0.2]]],
    ids=repr,
)
def test_lengths_that_are_not_positive_numbers_are_refused(length):
    refused(lambda: bamsoo.kernels.Matern52(length), ValueError, "Matern52", "length")


@pytest.mark.parametrize("variance", [0.0, -1.0, nan, inf, "1", None, [1.0], 1j], ids=repr)
def test_a_variance_that_is_not_a_positive_number_is_refused(variance):
    refused(
        lambda: bamsoo.kernels.Matern52(0.2, variance=variance),
        ValueError,
        "Matern52",
        "variance",
        str(variance),
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_checks_its_length_and_variance(kernel):
    refused(lambda: kernel(0.0), ValueError, kernel.__name__, "0.0")
    refused(lambda: kernel(variance=0.0), ValueError, kernel.__name__, "0.0")


@pytest.mark.parametrize("settings", WITH_MEAN)
@pytest.mark.parametrize("lengths", [(0.1,) * 3, (0.1,) * 5])
def test_a_kernel_with_the_wrong_number_of_lengths_is_refused_before_any_evaluation(
    settings, lengths
):
    algorithm = settings(kernel=bamsoo.kernels.Matern52(lengths))
    refused(lambda: minimise(algorithm=algorithm), ValueError, str(len(lengths)), "2")


SETTINGS = [
    ("DOO c zero", lambda: bamsoo.algorithms.DOO(c=0.0), ["DOO", "c ", "0.0"]),
    ("DOO c nan", lambda: bamsoo.algorithms.DOO(c=nan), ["DOO", "c ", "nan"]),
    ("DOO c string", lambda: bamsoo.algorithms.DOO(c="1"), ["DOO", "c ", "'1'"]),
    ("DOO alpha negative", lambda: bamsoo.algorithms.DOO(alpha=-1.0), ["DOO", "alpha", "-1.0"]),
    ("DOO alpha None", lambda: bamsoo.algorithms.DOO(alpha=None), ["DOO", "alpha", "None"]),
    (
        "GPUCB acquisition",
        lambda: bamsoo.algorithms.GPUCB(acquisition="UCB"),
        ["GPUCB", "'UCB'", "'ei'"],
    ),
    (
        "GPUCB acquisition list",
        lambda: bamsoo.algorithms.GPUCB(acquisition=["ei"]),
        ["GPUCB", "['ei']"],
    ),
    (
        "GPUCB no DIRECT",
        lambda: bamsoo.algorithms.GPUCB(direct_evaluations=0),
        ["direct_evaluations", "0"],
    ),
    ("GPUCB DIRECT 9.5", lambda: bamsoo.algorithms.GPUCB(direct_evaluations=9.5), ["9.5"]),
    ("BaMSOO patience", lambda: bamsoo.algorithms.BaMSOO(patience=0), ["BaMSOO", "patience", "0"]),
    ("Auto patience", lambda: bamsoo.algorithms.Auto(patience=1.5), ["Auto", "patience", "1.5"]),
    ("Auto width zero", lambda: bamsoo.algorithms.Auto(width=0.0), ["Auto", "width", "0.0"]),
    ("Auto width nan", lambda: bamsoo.algorithms.Auto(width=nan), ["Auto", "width", "nan"]),
    ("Auto width string", lambda: bamsoo.algorithms.Auto(width="1"), ["Auto", "width", "'1'"]),
    ("Gap beyond floats", lambda: bamsoo.Gap(10**400), ["Gap", "width"]),
    (
        "Shrinking no lattice",
        lambda: bamsoo.algorithms.Shrinking(max_lattice=0),
        ["max_lattice", "0"],
    ),
    *(
        (f"{kind.__name__} {what} huge", lambda k=kind, w=what: k(**{w: 10**12}), [what, "at most"])
        for kind, what in [
            (bamsoo.algorithms.SequOOL, "budget"),
            (bamsoo.algorithms.StroquOOL, "h_max"),
            (bamsoo.algorithms.StoSOO, "evaluations"),
            (bamsoo.algorithms.SOO, "k"),
            (bamsoo.algorithms.LOGO, "w"),
            (bamsoo.algorithms.BaMSOO, "patience"),
            (bamsoo.algorithms.GPUCB, "direct_evaluations"),
            (bamsoo.algorithms.IMGPO, "Xi_max"),
            (bamsoo.algorithms.Shrinking, "max_lattice"),
        ]
    ),
    (
        "IMGPO too many bounds",
        lambda: bamsoo.algorithms.IMGPO(k=100, Xi_max=3),
        ["k^Xi_max", "100^3"],
    ),
    (
        "Auto constants",
        lambda: bamsoo.algorithms.Auto(constants=5),
        ["constants", "Constants", "5"],
    ),
    (
        "a kernel beyond floats",
        lambda: bamsoo.kernels.Matern52(10**400),
        ["length-scale", "positive"],
    ),
    ("noise beyond floats", lambda: bamsoo.algorithms.Auto(noise=10**400), ["noise", "finite"]),
]


@rows(SETTINGS)
def test_a_setting_is_refused(given, named):
    refused(given, ValueError, *named)


def test_shrinking_refuses_more_dimensions_than_its_lattice_fits():
    refused(
        lambda: minimise(space=[(0, 1)] * 12, algorithm="shrinking"), ValueError, "12", "lattice"
    )


@pytest.mark.parametrize("seed", [-1, 1.0, 0.5, True, "0", nan, [1]])
def test_a_seed_is_refused(seed):
    refused(lambda: minimise(seed=seed), ValueError, "seed", str(seed))
    refused(lambda: bamsoo.Optimizer(SQUARE, seed=seed), ValueError, "seed", str(seed))


@pytest.mark.parametrize(
    "settings",
    [{"seed": 10**5000}, {"space": {"x": bamsoo.Choice([1, 10**5000])}}],
    ids=["seed", "space"],
)
def test_settings_of_too_many_digits_are_not_stored(settings, tmp_path):
    path = tmp_path / "run.db"
    refused(lambda: minimise(lambda **x: 0.0, study=path, **settings), RuntimeError, "digits")
    assert not path.exists()


@pytest.mark.parametrize("seed", [0, 2**200, np.int32(5), np.uint64(2**63)])
def test_any_whole_number_is_a_seed(seed):
    assert minimise(seed=seed, algorithm="random").nfev == 3


@pytest.mark.parametrize("direction", ["min", "MINIMIZE", "", None, 1, True, ["minimize"]])
def test_a_direction_is_refused(direction):
    refused(
        lambda: bamsoo.Optimizer(SQUARE, direction=direction),
        ValueError,
        "direction",
        repr(direction),
    )


OPTIONS = [
    ("fun None", {"fun": None}, ["fun", "None"]),
    ("fun a value", {"fun": 3.0}, ["fun", "3.0"]),
    ("fun a string", {"fun": "branin"}, ["fun", "branin"]),
    ("fun opaque", {"fun": Opaque()}, ["fun", "opaque"]),
    ("target nan", {"target": nan}, ["target", "nan"]),
    ("target inf", {"target": inf}, ["target", "inf"]),
    ("target beyond floats", {"target": 10**400}, ["target", "finite"]),
    ("timeout beyond floats", {"timeout": 10**400}, ["timeout"]),
    ("target string", {"target": "0"}, ["target", "'0'"]),
    ("target complex", {"target": 1j}, ["target", "1j"]),
    ("target list", {"target": [0.0]}, ["target", "[0.0]"]),
    ("target array", {"target": np.zeros(2)}, ["target"]),
    ("target beyond floats", {"target": 10**400}, ["target", "1000"]),
    ("target of many digits", {"target": 10**5000}, ["target", "5000 digits"]),
    ("trial_timeout beyond floats", {"trial_timeout": 10**400, "workers": 1}, ["trial_timeout"]),
    ("noise of many digits", {"noise": 10**5000}, ["noise", "5000 digits"]),
    ("timeout zero", {"timeout": 0}, ["timeout", "0"]),
    ("timeout negative", {"timeout": -1.0}, ["timeout", "-1.0"]),
    ("timeout nan", {"timeout": nan}, ["timeout", "nan"]),
    ("timeout string", {"timeout": "1"}, ["timeout", "'1'"]),
    ("timeout list", {"timeout": [1]}, ["timeout", "[1]"]),
    ("on_error", {"on_error": "ignore"}, ["on_error", "'ignore'"]),
    ("on_error None", {"on_error": None}, ["on_error", "None"]),
    ("on_error True", {"on_error": True}, ["on_error", "True"]),
    ("callback a string", {"callback": "print"}, ["callback", "'print'"]),
    ("callback a number", {"callback": 1}, ["callback", "1"]),
]


@rows(OPTIONS)
def test_an_option_is_refused_before_any_evaluation(given, named):
    calls = []
    options = {"fun": calls.append, **given}
    refused(lambda: minimise(**options), ValueError, *named)
    assert calls == []


VALUES = [
    ("string", "1.0", ["'1.0'"]),
    ("numpy string", np.str_("1.0"), ["1.0"]),
    ("array of a string", np.array("1.0"), ["1.0"]),
    ("list of a string", ["1.0"], ["1.0"]),
    ("bytes", b"1.0", ["b'1.0'"]),
    ("bytearray", bytearray(b"1"), ["bytearray"]),
    ("complex", 1 + 2j, ["(1+2j)"]),
    ("numpy complex", np.complex128(1j), ["1j"]),
    ("array of a complex", np.array([1j]), ["1.j"]),
    ("array of two", np.zeros(2), ["(2,)"]),
    ("list of two", [1.0, 2.0], []),
    ("tuple of two", (1.0, 2.0), []),
    ("ragged list", [1.0, [2.0, 3.0]], []),
    ("empty list", [], []),
    ("empty array", np.zeros((0, 3)), ["(0, 3)"]),
    ("dict", {"loss": 1.0}, ["loss"]),
    ("long dict", {f"loss {i}": float(i) for i in range(1000)}, ["loss"]),
    ("set", {1.0}, ["1.0"]),
    ("object", Opaque(), ["opaque"]),
    ("long array", np.zeros(10_000), ["(10000,)"]),
    ("long list", [0.0] * 10_000, []),
    ("long string", "long " * 1000, ["long"]),
    ("date", np.datetime64("2014-01-01"), ["2014"]),
    ("function", len, ["len"]),
    ("class", float, ["float"]),
]


@rows(VALUES)
def test_a_value_is_refused_and_may_be_told_again(given, named):
    opt = bamsoo.Optimizer(SQUARE)
    trial = opt.ask()
    refused(lambda: opt.tell(trial, given), TypeError, *named)
    assert opt.result.nfev == 0
    opt.tell(trial, 1.0)
    assert opt.result.nfev == 1


@rows(VALUES)
def test_a_value_from_the_objective_is_refused(given, named):
    with pytest.raises(bamsoo.errors.ValueTypeError) as caught:
        minimise(fun=lambda x: given)
    assert any("trial 0" in note for note in caught.value.__notes__)


GOOD_VALUES = [
    1,
    1.0,
    np.float32(1.0),
    np.int8(1),
    np.array(1.0),
    np.array([1.0]),
    [[1.0]],
    (1,),
    True,
]


@pytest.mark.parametrize("value", GOOD_VALUES, ids=repr)
def test_anything_that_is_one_real_number_is_a_value(value):
    opt = bamsoo.Optimizer(SQUARE)
    opt.tell(opt.ask(), value)
    assert type(opt.result.fun) is float
    assert opt.result.fun == 1.0


def test_a_trial_told_twice_is_refused():
    opt = bamsoo.Optimizer(SQUARE)
    trial = opt.ask()
    opt.tell(trial, 1.0)
    refused(lambda: opt.tell(trial, 2.0), ValueError, "trial 0", "already")
    assert opt.result.F.tolist() == [1.0]


def test_a_failed_trial_told_twice_is_refused():
    opt = bamsoo.Optimizer(SQUARE)
    trial = opt.ask()
    opt.tell(trial, None)
    refused(lambda: opt.tell(trial, 2.0), ValueError, "trial 0", "already")


def test_a_trial_of_another_optimiser_is_refused():
    opt, other = bamsoo.Optimizer(SQUARE), bamsoo.Optimizer(SQUARE)
    opt.ask()
    refused(lambda: opt.tell(other.ask(), 1.0), ValueError, "trial 0", "another")
    assert opt.result.nfev == 0


def test_a_foreign_trial_with_a_number_never_asked_is_refused():
    opt, other = bamsoo.Optimizer(SQUARE), bamsoo.Optimizer(SQUARE)
    for _ in range(3):
        trial = other.ask()
    refused(lambda: opt.tell(trial, 1.0), ValueError, "trial 2", "another")


POINTS = [
    ("below", [-0.1, 0.5], ["x0", "-0.1"]),
    ("above", [0.5, 1.1], ["x1", "1.1"]),
    ("nan", [nan, 0.5], ["x0", "nan"]),
    ("inf", [0.5, inf], ["x1", "inf"]),
    ("too few", [0.5], ["(2,)", "(1,)"]),
    ("too many", [0.5, 0.5, 0.5], ["(2,)", "(3,)"]),
    ("two rows", np.full((2, 2), 0.5), ["(2, 2)"]),
    ("ragged", [0.5, [0.5, 0.5]], ["2 numbers"]),
    ("a number", 0.5, ["()"]),
    ("None", None, ["2 numbers", "None"]),
    ("None inside", [None, 0.5], ["2 numbers", "None"]),
    ("empty", [], ["(0,)"]),
    ("string", "ab", ["'ab'"]),
    ("strings for numbers", ["0.5", "0.5"], ["'0.5'"]),
    ("complex", [0.5 + 1j, 0.5], ["j"]),
    ("numpy complex", np.array([0.5 + 1j, 0.5]), ["j"]),
    ("a whole number beyond floats", [10**400, 0.5], ["1000"]),
    ("long list of strings", ["word"] * 1000, ["word"]),
    ("object", Opaque(), ["opaque"]),
    ("missing name", {"x0": 0.5}, ["x1", "['x0']"]),
    ("unknown name", {"x0": 0.5, "x1": 0.5, "x2": 0.5}, ["x2"]),
    ("other names", {"a": 0.5, "b": 0.5}, ["x0", "a"]),
    ("no names", {}, ["x0"]),
    ("string by name", {"x0": "0.5", "x1": 0.5}, ["0.5"]),
    ("outside by name", {"x0": 0.5, "x1": -3.0}, ["x1", "-3.0"]),
    ("too many names", {f"name {i}": 0.5 for i in range(1000)}, ["name"]),
]


@rows(POINTS)
def test_a_point_is_refused_and_leaves_no_trace(given, named):
    opt = bamsoo.Optimizer(SQUARE)
    refused(lambda: opt.tell(given, 1.0), ValueError, *named)
    assert len(opt.result.F) == 0
    assert opt.result.x is None


def test_a_named_space_of_many_parameters_still_refuses_in_one_line():
    opt = bamsoo.Optimizer({f"parameter number {i}": (0, 1) for i in range(100)})
    refused(lambda: opt.tell({"parameter number 0": 0.5}, 1.0), ValueError, "parameter number 0")


def test_a_value_is_checked_before_a_point_is_told():
    opt = bamsoo.Optimizer(SQUARE)
    refused(lambda: opt.tell([0.5, 0.5], "1.0"), TypeError, "'1.0'")
    assert len(opt.result.F) == 0
