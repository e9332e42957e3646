"""What all settings of algorithms have in common: their checks, and the budget to plan for."""

from dataclasses import fields

import pytest

from bamsoo.algorithms import BY_NAME, SOO, SequOOL, check_several, planned, resolve
from bamsoo.errors import SettingsError

BAD = {
    "k": [(1, "a whole number >= 2"), (1001, "at most 1000"), (2.0, "a whole number >= 2")],
    "eta": [(0.0, "strictly between 0 and 1"), (1.0, "strictly between 0 and 1")],
    "mean": [(float("nan"), "finite"), ("0", "finite")],
    "kernel": [(1.0, "a Kernel")],
    "patience": [(0, "a whole number >= 1"), (100_001, "at most 100000")],
    "budget": [(0, "a whole number >= 1"), (1_000_001, "at most 1000000")],
    "noise": [(-1.0, "a finite variance >= 0"), ("guess", "a finite variance >= 0")],
}
BAD_DEPTHS = {False: [(3, "callable")], True: [(0, "a whole number >= 1")]}


@pytest.mark.parametrize("name", BY_NAME)
def test_settings_that_several_algorithms_have_are_checked_by_all_of_them(name):
    kind = BY_NAME[name]
    bad = {**BAD, "h_max": BAD_DEPTHS[kind.plans]}
    for field in fields(kind):
        for value, expected in bad.get(field.name, []):
            words = f"^{kind.__name__}: {field.name} must be {expected}"
            with pytest.raises(SettingsError, match=words):
                kind(**{field.name: value})


def test_a_setting_may_be_none_only_if_that_is_its_default():
    assert BY_NAME["imgpo"](kernel=None).kernel is None
    with pytest.raises(SettingsError, match="BaMSOO: kernel must be a Kernel, got None"):
        BY_NAME["bamsoo"](kernel=None)


def test_a_budget_may_be_missing_at_first_and_is_asked_for_when_it_is_needed():
    assert SequOOL(budget=7).own_budget() == 7
    with pytest.raises(SettingsError, match=r"as in SequOOL\(budget=200\)"):
        SequOOL().own_budget()


def test_only_an_algorithm_that_plans_and_has_no_budget_gets_one():
    assert planned(SequOOL(), 50) == SequOOL(budget=50)
    assert planned(SequOOL(budget=20), 50) == SequOOL(budget=20)
    assert planned(SequOOL(), None) == SequOOL()
    assert planned(SOO(), 50) == SOO()


def test_what_an_algorithm_cannot_do_names_those_that_can():
    for name, kind in BY_NAME.items():
        if kind.several:
            check_several(resolve(name))
    with pytest.raises(SettingsError, match=r"use auto, random, mosoo or sobol$"):
        check_several(SOO())
    with pytest.raises(SettingsError, match="noise needs one of the algorithms auto, bamsoo or"):
        resolve("soo", 0.1)
