"""The functions minimize and maximize: their signatures and what they accept."""

import inspect
import pickle
from math import inf, nan

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


# ---- no budget, tolerances and generators of random numbers

PLANE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}


def bowl(x, y):
    return (x - 0.3) ** 2 + (y - 0.5) ** 2


def test_without_a_budget_a_rule_or_the_timeout_ends_the_run(tmp_path, capsys):
    given = {"stop": bamsoo.Stalled(5, gain=1e-3), "progress": True}
    r = bamsoo.minimize(bowl, PLANE, None, **given, study=tmp_path / "run.db")
    assert r.message.startswith("the best value has not improved by 0.001 in 5")
    assert "inf" not in capsys.readouterr().err
    with bamsoo.Study.open(tmp_path / "run.db", readonly=True) as study:
        assert study.note == {}
    again = bamsoo.minimize(bowl, PLANE, r.nfev + 3, study=tmp_path / "run.db")
    assert again.nfev == r.nfev + 3
    assert bamsoo.minimize(bowl, PLANE, None, timeout=0.01).status == 2


@pytest.mark.parametrize("given", [{}, {"timeout": inf}, {"target": 0.0}])
def test_without_a_budget_something_else_must_end_the_run(given):
    with pytest.raises(bamsoo.errors.SettingsError, match="would never end; give timeout= or stop"):
        bamsoo.minimize(bowl, PLANE, None, **given)


def test_a_tolerance_is_a_setting_of_the_search_and_of_its_study(tmp_path):
    r = bamsoo.minimize(bowl, PLANE, 20, tol=0.01, study=tmp_path / "run.db")
    assert r.tol == 0.01
    assert f"fun: {r.fun:.0f}" in repr(r)
    with bamsoo.Study.open(tmp_path / "run.db") as study:
        assert study.tol == study.result.tol == 0.01
    with pytest.raises(bamsoo.errors.StudyError, match=r"the study.s tol is 0\.01, got 0\.1"):
        bamsoo.minimize(bowl, PLANE, 30, tol=0.1, study=tmp_path / "run.db")
    with pytest.raises(bamsoo.errors.SettingsError, match="tol is for one objective"):
        bamsoo.minimize(bowl, PLANE, 3, tol=0.1, objectives=["a", "b"])
    for wrong in (0, -1.0, nan, "x", True):
        with pytest.raises(bamsoo.errors.SettingsError, match="tol must be a finite number > 0"):
            bamsoo.Optimizer(PLANE, tol=wrong)


def test_rng_is_another_name_of_seed():
    space = {"a": bamsoo.Choice(["u", "v", "w"]), "x": (0.0, 1.0)}

    def seed(**given):
        return bamsoo.minimize(lambda a, x: x, space, 3, **given).seed

    assert seed(rng=5) == seed(seed=5) == bamsoo.Optimizer(space, rng=5).seed == 5
    drawn = seed(rng=np.random.default_rng(5))
    assert drawn == seed(rng=np.random.PCG64(5)) == seed(seed=np.random.default_rng(5))
    assert seed(rng=[5]) == seed(rng=np.random.SeedSequence([5])) == seed(rng=(5,))
    with pytest.raises(bamsoo.errors.SettingsError, match="two names for one thing"):
        seed(rng=1, seed=2)
    for wrong in ("x", -1, 1.5, [-1], True):
        with pytest.raises(bamsoo.errors.SettingsError, match="rng must be a whole number"):
            seed(rng=wrong)
