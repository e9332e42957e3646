"""The functions minimize and maximize: their signatures and what they accept."""

import inspect
import pickle

import numpy as np
import pytest
from scipy.optimize import Bounds
from searches import same

import bamsoo
from bamsoo import problems

branin = problems.branin
BOX = branin.bounds


@pytest.mark.parametrize("run", [bamsoo.minimize, bamsoo.maximize])
def test_the_signature_is_the_contracts(run):
    parameters = inspect.signature(run).parameters
    assert list(parameters)[:3] == ["fun", "space", "budget"]
    defaults = {
        "algorithm": "auto",
        "seed": 0,
        "target": None,
        "timeout": None,
        "callback": None,
        "progress": False,
    }
    for name, default in defaults.items():
        assert parameters[name].default == default
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY


def test_minimize_and_maximize_take_the_same_arguments():
    minimize, maximize = map(inspect.signature, (bamsoo.minimize, bamsoo.maximize))
    assert minimize == maximize


def test_fun_gets_an_array_of_floats():
    seen = []
    bamsoo.minimize(lambda x: seen.append(x) or 0.0, BOX, 3)
    assert all(type(x) is np.ndarray and x.shape == (2,) and x.dtype == float for x in seen)


def test_the_default_algorithm_is_auto():
    a = bamsoo.minimize(branin, BOX, 20)
    same(a, bamsoo.minimize(branin, BOX, 20, algorithm="auto"))


def test_a_settings_object_can_be_used_again():
    algorithm = bamsoo.algorithms.BaMSOO(random_start=True)
    a = bamsoo.minimize(branin, BOX, 10, algorithm=algorithm)
    same(a, bamsoo.minimize(branin, BOX, 10, algorithm=algorithm))


def test_bounds_and_pairs_are_the_same_space():
    a = bamsoo.minimize(branin, BOX, 12)
    same(a, bamsoo.minimize(branin, Bounds(*np.array(BOX).T), 12))
    same(a, bamsoo.minimize(branin, np.array(BOX), 12))


def test_both_directions_have_one_explicit_signature():
    given = inspect.signature(bamsoo.minimize)
    assert inspect.signature(bamsoo.maximize) == given
    assert list(given.parameters)[:4] == ["fun", "space", "budget", "algorithm"]
    assert given.parameters["algorithm"].default == "auto"
    assert given.parameters["seed"].default == 0
    assert all(each.kind is each.KEYWORD_ONLY for each in list(given.parameters.values())[3:])
    for name in ("minimize", "maximize"):
        function = getattr(bamsoo, name)
        assert function.__name__ == name
        assert pickle.loads(pickle.dumps(function)) is function
    assert "largest" in bamsoo.maximize.__doc__
    with pytest.raises(TypeError, match="budgt"):
        bamsoo.minimize(branin, BOX, budgt=5)
