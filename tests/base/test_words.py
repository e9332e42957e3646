"""Words of other libraries: each leads to something that exists here."""

import copy
import pickle
import re
from inspect import signature

import pytest

import bamsoo
from bamsoo.base import words

SPACE = {"x": (0, 1)}


@pytest.fixture(scope="module")
def search():
    opt = bamsoo.Optimizer(SPACE)
    for _ in range(2):
        trial = opt.ask()
        opt.tell(trial, trial.params["x"])
    return opt


@pytest.mark.parametrize(
    ("of", "table"),
    [("result", "RESULT"), ("search", "OPTIMIZER"), ("trial", "TRIAL"), ("package", "PACKAGE")],
)
def test_an_attribute_of_another_library_leads_to_ours(search, of, table):
    owner = {
        "result": search.result,
        "search": search,
        "trial": search.ask(),
        "package": bamsoo,
    }[of]
    for theirs, ours in getattr(words, table).items():
        assert not hasattr(owner, theirs)
        with pytest.raises(AttributeError, match=f"{theirs}'; did you mean {re.escape(ours)}"):
            getattr(owner, theirs)
    with pytest.raises(AttributeError, match=r"has no attribute 'qqq'$"):
        owner.qqq  # noqa: B018


def test_what_is_meant_exists(search):
    result = search.result
    for ours in set(words.RESULT.values()):
        names = re.findall(r"[A-Za-z_]+", ours.partition(",")[0].replace("and", ""))
        assert all(hasattr(result, name) for name in names), ours
    takes = {*signature(bamsoo.minimize).parameters, "bamsoo", "functools"}
    for ours in words.MEANT.values():
        assert re.match("[a-z_0-9]+", ours)[0] in takes
    for ours in words.PACKAGE.values():
        if re.fullmatch("[A-Z][a-z]+", ours):
            assert ours in bamsoo.__all__


def test_objects_that_explain_their_attributes_copy_and_pickle(search):
    for thing in (search, search.result, search.ask()):
        for again in (copy.copy(thing), copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))):
            assert type(again) is type(thing)
