"""The command fork, and the errors that name it."""

import re
import shlex

import pytest

import bamsoo
from bamsoo import Study
from bamsoo.errors import StudyError

from command_line import bamsoo_, refused, shell, trials

LINE = "echo T: $0; echo $0"


def values(study):
    return [(t.params.get("x"), t.value) for t in trials(study) if t.value is not None]


def test_a_new_study_begins_with_what_the_old_one_knows(here):
    shell(LINE, "--measured", "T <= 6", "--stalled", "50", budget=5)
    old = values("run.db")
    said = bamsoo_("fork", "run.db", "new.db", "--measured", "T<=8", "--budget", "7")
    assert said == "new.db: begins with 5 evaluations of run.db; to go on: bamsoo resume new.db\n"
    with Study.open("new.db", readonly=True) as new:
        assert new.constraints.limits[0].bound == 8.0
        assert new.settings["algorithm"] == {"class": "SOO", **new.settings["algorithm"]}
        assert (new.note["budget"], new.note["stalled"]) == (7, 50)
        assert new.told == 0
        assert [t.feasible for t in new.trials] == [x <= 8 for x, _ in old]
    assert values("new.db") == old
    bamsoo_("resume", "new.db")  # it is ours, and nobody is asked
    assert len(values("new.db")) == 5 + 7
    assert values("run.db") == old
    assert "exists already" in refused("fork", "run.db", "new.db")


def test_parameters_are_changed_added_and_dropped():
    shell(LINE, "--measured", "T <= 6", budget=5)
    assert "say which value it had there with --fill m=VALUE" in refused(
        "fork", "run.db", "new.db", "--param", "m:0:1"
    )
    assert not bamsoo.study.exists("new.db")
    command = ("--", "sh", "-c", "echo $0", "{x} {m}")
    bamsoo_("fork", "run.db", "new.db", "--param", "m:0:1", "--fill", "m=0.5", *command)
    with Study.open("new.db", readonly=True) as new:
        assert list(new.space.given) == ["x", "m"]
        assert {t.params["m"] for t in new.trials} == {0.5}
        assert new.note["target"]["command"][-1] == "{x} {m}"
    said = bamsoo_("fork", "run.db", "small.db", "--param", "x:4:10", "--ignore", "T")
    assert "3 of 5 known evaluations do not fit" in said
    with Study.open("small.db", readonly=True) as small:
        assert not small.constraints
        assert [t.extras["T"] for t in small.trials] == [t.value for t in small.trials]


def test_a_study_of_somebody_else_stays_one(here, monkeypatch):
    shell(LINE, budget=3)
    monkeypatch.setenv("XDG_STATE_HOME", str(here / "other"))
    bamsoo_("fork", "run.db", "new.db", "--budget", "4")
    assert "nothing was run" in refused("resume", "new.db")


CHANGES = [
    ({"space": {"x": (0, 2), "y": (0, 1)}}, "--param x:0:2"),
    ({"space": {"x": bamsoo.Int(1, 5, log=True), "y": (0, 1)}}, "--param x:1:5:log:int"),
    ({"space": {"x": (0, 1)}}, "--ignore y"),
    (
        {"space": {"x": (0, 1), "y": (0, 1), "m": bamsoo.Choice(["a b", "c"])}},
        "--param 'm=a b,c' --fill m=VALUE",
    ),
    ({"seed": 3}, "--seed 3"),
    ({"algorithm": "random"}, "--algorithm random"),
    ({"constraints": ["T <= 5"]}, "--measured 'T <= 5'"),
    ({"constraints": []}, "--ignore T"),
    ({"constraints": [lambda x, y: True]}, ""),
]


@pytest.mark.parametrize(("change", "options"), CHANGES)
def test_the_error_on_changed_settings_names_the_command_that_makes_them(here, change, options):
    space = {"x": (0, 1), "y": (0, 1)}

    def fun(x=0.0, y=0.0, m=None):
        return x + y, {"T": 4.0}

    bamsoo.minimize(fun, space, 4, study="run.db", constraints=["T <= 6"], algorithm="soo")
    given = {"space": space, "constraints": ["T <= 6"], "algorithm": "soo", **change}
    with pytest.raises(StudyError) as caught:
        bamsoo.minimize(fun, budget=4, study="run.db", **given)
    said = str(caught.value)
    assert "known='" in said
    assert "study='run-2.db'" in said
    named = re.search(r"(bamsoo fork run\.db run-2\.db.*), or in Python", said)
    if not options:
        assert named is None
        return
    assert named[1] == f"bamsoo fork run.db run-2.db {options}"
    bamsoo_(*shlex.split(named[1].replace("=VALUE", "=c"))[1:])
    with Study.open("run-2.db") as new:
        new.check_settings(**change)


def test_a_fork_fixes_a_parameter_and_keeps_what_it_was(here):
    bamsoo.minimize(lambda x, d: x + d, {"x": (0, 1), "d": (0, 1)}, 6, study="old.db")
    with pytest.raises(bamsoo.BamsooError, match=r"bamsoo fork old.db old-2.db --fix d=0.5"):
        bamsoo.minimize(lambda x, d: x + d, {"x": (0, 1), "d": 0.5}, 6, study="old.db")
    bamsoo_("fork", "old.db", "old-2.db", "--fix", "d=0.5")
    r = bamsoo.minimize(lambda x, d: x + d, {"x": (0, 1), "d": 0.5}, 6, study="old-2.db")
    assert (r.nfev, len(r.F)) == (6, 12)
    assert r.params["d"] == 0.5 and r.fun >= 0.5
