"""The command fork, and the errors that name it."""

import re
import shlex
from pathlib import Path

import pytest

import bamsoo
from bamsoo import Choice, Int, Real, Study
from bamsoo.errors import StudyError
from bamsoo.record.residuals import SumOfSquares, Vector
from bamsoo.space import Fixed

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


def test_there_is_never_half_a_new_study(here, monkeypatch):
    shell(LINE, budget=3)

    def gone(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("bamsoo.command.fork.mark", gone)  # the last step before it is there
    with pytest.raises(ZeroDivisionError):
        bamsoo_("fork", "run.db", "new.db")
    assert sorted(path.name for path in Path().glob("*.db*")) == ["run.db"]


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


def test_what_is_not_mentioned_stays_inside_a_branch_too(here):
    def fun(a, m, C=0.0, depth=0):
        return a + C + depth

    space = {"a": (0, 1), "m": Choice({"p": {"C": (0, 1)}, "q": {"depth": Int(1, 4)}})}
    old = bamsoo.minimize(fun, space, 8, study="run.db")
    depth = Int(1, 4)

    def forked(*options):
        Path("new.db").unlink(missing_ok=True)
        bamsoo_("fork", "run.db", "new.db", *options)
        with Study.open("new.db", readonly=True) as new:
            return new.space.given, [t.params for t in new.trials]

    given, points = forked("--param", "C:0:2")
    assert given["m"] == Choice({"p": {"C": Real(0, 2)}, "q": {"depth": depth}})
    assert points == old.X
    given, points = forked("--fix", "C=0.5")
    assert given["m"].opens[0] == {"C": Fixed(0.5, Real(0, 1))}
    assert points == old.X
    given, points = forked("--param", "m=q,r")
    assert given["m"] == Choice({"q": {"depth": depth}, "r": None})
    given, points = forked("--fix", "m=q")
    assert list(given) == ["a", "m", "depth"]
    assert points == [p for p in old.X if p["m"] == "q"]
    given, points = forked("--ignore", "C")
    assert given["m"] == Choice({"p": None, "q": {"depth": depth}})
    assert "no parameter and no measured constraint of this name, only C, a, depth, m" in refused(
        "fork", "run.db", "other.db", "--ignore", "c"
    )


def test_parameters_of_arrays_keep_their_places(here):
    bamsoo.minimize(lambda x: x.sum(), [(0, 1), (0, 2), (0, 3)], 4, study="run.db")
    for options in (["--fix", "x1=1"], ["--ignore", "x1"], ["--param", "y:0:1", "--fill", "y=1"]):
        said = refused("fork", "run.db", "new.db", *options)
        assert "whose parameters x0, x1, x2 have no other names" in said
    bamsoo_("fork", "run.db", "a.db", "--param", "x1:0:4", "--param", "x3:0:1", "--fill", "x3=1")
    bamsoo_("fork", "run.db", "b.db", "--ignore", "x2")
    assert [t.params["x3"] for t in trials("a.db")] == [1.0] * 4
    assert list(trials("b.db")[0].params) == ["x0", "x1"]


def test_one_side_of_a_limit_moves_and_the_other_stays(here):
    bamsoo.minimize(
        lambda x: (x, {"T": x, "U": -x}), {"x": (0, 9)}, 4, study="run.db",
        constraints=["2 <= T <= 5", "U"],
    )  # fmt: skip
    for number, (options, limits) in enumerate([
        (["--measured", "T<=6"], ["T >= 2", "U", "T <= 6"]),
        (["--measured", "T<=6", "--ignore", "T"], ["U", "T <= 6"]),
        (["--measured", "1 <= T <= 7"], ["U", "T >= 1", "T <= 7"]),
    ]):  # fmt: skip
        bamsoo_("fork", "run.db", f"{number}.db", *options)
        with Study.open(f"{number}.db", readonly=True) as new:
            assert [each.text for each in new.constraints.limits] == limits
    assert "the limits U and U >= 1 cannot both be met" in refused(
        "fork", "run.db", "new.db", "--measured", "U >= 1"
    )
    with pytest.raises(StudyError) as caught:
        bamsoo.minimize(lambda x: x, {"x": (0, 9)}, 4, study="run.db", constraints=["T <= 5", "U"])
    assert "--measured 'T <= 5' --measured U --ignore T, or in Python" in str(caught.value)


def test_a_number_that_is_no_longer_needed_is_recorded(here):
    program = "echo T: $0; echo cost: $0"
    shell(program, "--measured", "T <= 6", "--objective", "cost", budget=3)
    bamsoo_("fork", "run.db", "new.db", "--ignore", "T", "--objective", "T:max", "--budget", "2")
    bamsoo_("resume", "new.db")
    assert [t.extras["cost"] for t in trials("new.db")] == [t.value for t in trials("new.db")]
    bamsoo_("fork", "new.db", "free.db", "--objective", "cost", "--budget", "2")
    bamsoo_("resume", "free.db")
    assert [t.extras["T"] for t in trials("free.db")] == [t.value for t in trials("free.db")]


def test_the_error_names_files_as_they_are_called_here(here, monkeypatch):
    (here / "runs").mkdir()
    bamsoo.minimize(lambda x: x, {"x": (0, 1)}, 2, study="runs/run.db")
    for there in ("runs/run-2.db", "runs/run-3.db"):
        with pytest.raises(StudyError) as caught:
            bamsoo.minimize(lambda x: x, {"x": (0, 2)}, 2, study="runs/run.db")
        assert f"bamsoo fork runs/run.db {there} --param x:0:2, or" in str(caught.value)
        assert f"study={there!r}, known='runs/run.db'" in str(caught.value)
        bamsoo_("fork", "runs/run.db", there)
    monkeypatch.chdir(here / "runs")
    with pytest.raises(StudyError, match=r"bamsoo fork run-3\.db run-4.db --param y:0:1") as caught:
        bamsoo.minimize(lambda y: y, {"y": (0, 1)}, 2, study="run-3.db")
    assert "fill={'y': value}, ignore=['x'] if the values do not depend on x" in str(caught.value)


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


def test_every_setting_of_the_old_study_stays_unless_another_is_given(here):
    def fun(x):
        return x, {"yield": 10 - x}

    bamsoo.minimize(fun, {"x": (1, 2)}, 3, objectives=["cost"], study="o.db", tol=0.01, noise=0.1)
    for number, (words, way, tol, noise) in enumerate([
        ([], "min", 0.01, 0.1),
        (["--maximize"], "max", 0.01, 0.1),
        (["--tol", "0.5", "--noise", "0.2"], "min", 0.5, 0.2),
    ]):  # fmt: skip
        bamsoo_("fork", "o.db", f"{number}.db", *words)
        with Study.open(f"{number}.db", readonly=True) as new:
            assert new.settings["objectives"] == [["cost", way]]
            assert (new.settings["tol"], new.settings["algorithm"]["noise"]) == (tol, noise)
    bamsoo_("fork", "o.db", "y.db", "--objective", "yield:max")
    assert [t.value for t in trials("y.db")] == [10 - t.value for t in trials("o.db")]
    bamsoo.least_squares(lambda x: [x, 1.0], {"x": (1, 2)}, 3, study="fit.db", loss="huber")
    bamsoo_("fork", "fit.db", "fit-2.db", "--param", "x:1:3")
    with Study.open("fit-2.db", readonly=True) as new:
        assert new.settings["residuals"]["loss"] == "huber"
        assert len(new.result.R) == 3
    (here / "a.csv").write_text("1\n2\n")
    bamsoo_("fork", "fit.db", "fit-3.db", "--loss", "soft_l1", "--f-scale", "0.5")
    with Study.open("fit-3.db", readonly=True) as new:
        squares = SumOfSquares(loss="soft_l1", f_scale=0.5)
        assert new.result.fun == pytest.approx(squares.value(Vector(new.result.residuals)))
    assert "--data cannot be changed" in refused("fork", "fit.db", "fit-4.db", "--data", "a.csv")
    bamsoo_("fork", "fit.db", "fit-5.db", "--f-scale", "0.5")  # the loss is still that of the old
    bamsoo.least_squares(lambda x: [x, 1.0], {"x": (1, 2)}, 3, study="plain.db")
    said = refused("fork", "plain.db", "fit-6.db", "--f-scale", "0.5")
    assert "--f-scale has no effect on plain squares" in said


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"objectives": {"y": "max"}}, "--objective y:max"),
        ({"tol": 0.1}, "--tol 0.1"),
        ({"noise": 0.5}, "--noise 0.5"),
        ({"algorithm": "bamsoo", "noise": 0.5}, "--algorithm bamsoo --noise 0.5"),
    ],
)
def test_the_error_names_the_options_for_each_setting(here, given, words):
    given = {"objectives": ["cost"], **given}
    bamsoo.minimize(lambda x: x, {"x": (1, 2)}, 2, objectives=["cost"], study="o.db")
    with pytest.raises(StudyError, match=f"bamsoo fork o.db o-2.db {words}, or in Python"):
        bamsoo.minimize(lambda x: x, {"x": (1, 2)}, 3, study="o.db", **given)


def test_a_program_that_does_not_fit_the_new_parameters_makes_no_study(here):
    (here / "in.tpl").write_text("{x} {y}")
    given = ("--param", "x:0:1", "--param", "y:0:1", "--budget", 2, "--study", "run.db")
    bamsoo_("minimize", *given, "--template", "in.tpl", "--", "cut", "-d ", "-f1", "in.tpl")
    assert "the template in.tpl has {y}, which is no longer a parameter" in refused(
        "fork", "run.db", "new.db", "--ignore", "y"
    )
    assert "the command does not use the parameter z" in refused(
        "fork", "run.db", "new.db", "--param", "z:0:1", "--fill", "z=0"
    )
    assert not (here / "new.db").exists()
    assert "bamsoo fork run.db NEW -- COMMAND" in refused("minimize", *given, "--", "cat", "{x}{y}")


def test_how_failures_are_met_may_change_with_resume(here):
    shell("exit 3", budget=9, code=1)
    said = bamsoo_("resume", "run.db", "--budget", "30", "--fatal-failures", "2", code=3)
    assert "2 evaluations in a row failed with the same reason" in said
    assert "to evaluate again what has failed, first: bamsoo retry run.db" in said


def test_the_error_names_what_changed_of_the_program_too(here):
    (here / "in.tpl").write_text("{x}")
    old = ("--param", "x:0.1:0.7", "--budget", 2, "--study", "run.db", "--objective", "cost")
    bamsoo_("minimize", *old, "--template", "in.tpl", "--", "sh", "-c", "echo cost: $(cat in.tpl)")
    (here / "in.tpl").write_text("{x} {y}")
    program = ("--record", "y", "--", "sh", "-c", "echo y: {y}; echo cost: $(cut -c1-3 in.tpl)")
    said = refused(
        "minimize", *old, "--param", "y:0.1:0.30000001", "--template", "in.tpl", *program
    )
    assert "or in Python" in said
    command = re.search(r"(bamsoo fork .*), or in Python", said)[1]
    assert "--param y:0.1:0.30000001 --fill y=VALUE --record y -- sh -c 'echo y: " in command
    bamsoo_(*shlex.split(command.replace("VALUE", "0.2"))[1:])
    bamsoo_("resume", "run-2.db", "--yes")
    assert [t.params["y"] for t in trials("run-2.db")][:2] == [0.2, 0.2]
    assert all("y" in t.extras for t in trials("run-2.db") if t.number is not None)


def test_a_study_of_optuna_is_to_be_imported(here):
    optuna = pytest.importorskip("optuna")
    old = optuna.create_study(storage="sqlite:///optuna.db")
    old.optimize(lambda trial: trial.suggest_float("x", 0, 1), 2)
    said = refused("fork", "optuna.db", "new.db")
    assert "is a study of Optuna" in said
    assert "--import optuna.db" in said
