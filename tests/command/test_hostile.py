"""Files from strangers with hostile settings: a command that only reads ends, and ends well."""

import json
import os
import random
import sqlite3
from contextlib import closing
from math import nan

import pytest

import hostile
from checksums import renew_checksums

pytestmark = pytest.mark.skipif(os.name != "posix", reason="each command runs in a forked process")


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    return hostile.bases(tmp_path_factory.mktemp("bases"))


PARAMETERS = ("space", "parameters")
MANY, OPTIONS, *_ = hostile.FITTING[PARAMETERS]
MEASURED = [{"measured": str(i)} for i in range(999)]
CASES = {
    "a huge budget": ("settings", ("algorithm",), {"class": "SequOOL", "budget": 10**12}, 2),
    "a huge k": ("settings", ("algorithm",), {"class": "SOO", "k": 10**12}, 2),
    "no algorithm's settings": ("settings", ("algorithm",), {"class": "Auto", "constants": 5}, 2),
    "a creation that is no time": ("created", (), nan, 0),
    "a budget that is no number": ("note", ("budget",), nan, 0),
    "a note nested deeply": ("note", (), hostile.nested(900), 2),
    "many options": ("settings", PARAMETERS, OPTIONS, 2),
    "many parameters": ("settings", PARAMETERS, MANY, 2),
    "many formulas": ("settings", ("constraints",), hostile.FORMULAS, 2),
    "many measured constraints": ("settings", ("constraints",), MEASURED, 2),
    "a bound beyond all floats": ("settings", (*PARAMETERS, 0, "high"), 10**400, 2),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_hostile_value_is_one_sentence_or_does_no_harm(name, bases, here):
    key, node, by, code = CASES[name]
    path = here / "run.db"
    path.write_bytes(bases[0].read_bytes())
    with closing(sqlite3.connect(path)) as file, file:
        (text,) = file.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        new = hostile.replaced(json.loads(text), node, by)
        file.execute("UPDATE meta SET value = ? WHERE key = ?", (json.dumps(new), key))
        renew_checksums(file)
    codes = hostile.reads(path, here)
    assert {codes[name] for name in codes if name != "repair"} == {code}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_any_hostile_value_is_one_sentence_or_does_no_harm(seed, bases, here):
    hostile.one_case(bases[seed], here, random.Random(seed))
