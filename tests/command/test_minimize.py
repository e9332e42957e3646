"""The commands minimize and resume."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from searches import PLANNING

import bamsoo
from bamsoo import Study
from bamsoo.command.main import main
from bamsoo.run import loop

from checksums import renew_checksums
from command_line import COMMAND, bamsoo_, refused, run, shell, trials


def test_a_built_in_problem_needs_no_parameters():
    out = json.loads(bamsoo_("minimize", "branin", "--budget", 30, "--json"))
    r = bamsoo.minimize(bamsoo.problems.branin, bamsoo.problems.branin.bounds, 30)
    assert out == {
        "value": r.fun,
        "params": r.params,
        "success": True,
        "status": 0,
        "message": "the budget of 30 evaluations is spent",
        "evaluations": 30,
        "cost": 30.0,
        "stopped": 0,
        "failed": 0,
        "infeasible": 0,
        "rejected": r.nrejected,
        "origins": r.origins,
        "study": None,
    }
    text = bamsoo_("minimize", "branin", "--budget", 30)
    assert f"best {r.fun!r} at" in text
    assert "30 evaluations: the budget of 30 evaluations is spent" in text


def test_options_reach_the_search():
    given = ("--budget", 12, "--json", "--maximize", "--seed", 5, "--algorithm", "random")
    out = json.loads(bamsoo_("minimize", "sines", *given))
    r = bamsoo.maximize(bamsoo.problems.sines, [(0, 1)], 12, algorithm="random", seed=5)
    assert (out["value"], out["params"]) == (r.fun, r.params)


WRONG = [
    ([], "the target is missing"),
    (["brainin", "--budget", 3], "'brainin' is not a target"),
    (["branin"], "the budget is missing"),
    (["branin", "--budget", 3, "--", "echo"], "expected one target"),
    (["no_such_module:f", "--param", "x:0:1", "--budget", 3], "cannot be imported"),
    (["math:no_such", "--param", "x:0:1", "--budget", 3], "cannot be imported"),
    (["math:pi", "--param", "x:0:1", "--budget", 3], "expected a function"),
    (["math:sin", "--budget", 3], "there are no parameters"),
    (["--budget", 3, "--", "echo"], "there are no parameters"),
    (
        ["math:sin", "--param", "x:0:1", "--budget", 3, "--trial-timeout", 3],
        "--trial-timeout needs --workers for a Python function",
    ),
    (["--param", "x:0:1", "--budget", 3, "--", "echo", "{y}"], "does not use the parameter x"),
    (["--param", "x:0:1", "--budget", 3, "--", "no-such-program", "{x}"], "no such program"),
    (["branin", "--budget", 3, "--study", "no/such/place.db"], "cannot be written here"),
    (["branin", "--budget", 0], "Invalid value for '--budget'"),
    (["branin", "--param", "x", "--budget", 3], "expected NAME:LOW:HIGH"),
    (["branin", "--param", "x:0", "--budget", 3], "expected NAME:LOW:HIGH"),
    (["branin", "--param", "x:0:1:lin", "--budget", 3], "expected NAME:LOW:HIGH"),
    (["branin", "--param", "x:0:1:log:log", "--budget", 3], "expected NAME:LOW:HIGH"),
    (["branin", "--param", "x:a:b", "--budget", 3], "LOW, HIGH and S must be numbers"),
    (["branin", "--param", "x:1:0", "--budget", 3], "low must be below high"),
    (["branin", "--param", "x:0:1:log", "--budget", 3], "a log scale needs low > 0"),
    (["branin", "--param", "x:0.5:1.5:int", "--budget", 3], "must be a whole number"),
    (["branin", "--param", "x:0:1", "--param", "x:0:2", "--budget", 3], "x is listed twice"),
    (["branin", "--param", "x=a,a", "--budget", 3], "twice"),
    (["branin", "--budget", 3, "--fill", "x0=1"], "--fill is about the earlier evaluations"),
    (["branin", "--budget", 3, "--ignore", "x9"], "--ignore is about the earlier evaluations"),
    (["branin", "--param", "a b:0:1", "--budget", 3], "the name must be a single word"),
]


@pytest.mark.parametrize(("args", "message"), WRONG)
def test_what_makes_no_sense_is_refused_in_one_line(args, message, here):
    assert message in refused("minimize", *args)
    assert not list(here.glob("*.db"))


@pytest.mark.parametrize(
    "args",
    [
        ["branin"],
        ["math:sin", "--budget", 3],
        ["no_such_module:f", "--param", "x:0:1", "--budget", 3],
        ["--param", "x:0:1", "--budget", 3, "--", "echo", "{y}"],
        ["branin", "--budget", 3, "--import", "old.csv"],
        ["branin", "--budget", 3, "--trial-timeout", 3],
        ["shekel", "--budget", 3, "--param", "x:1:0"],
    ],
)
def test_what_is_refused_leaves_no_study(args, here):
    (here / "old.csv").write_text("x0,value\n1,2\n")
    refused("minimize", "--study", "run.db", *args)
    assert not Path("run.db").exists()


def test_resume_needs_nothing_else_and_takes_a_larger_budget():
    bamsoo_("minimize", "branin", "--budget", 10, "--study", "run.db", "--maximize")
    again = CliRunner().invoke(main, ["resume", "run.db", "--json"])
    assert json.loads(again.stdout)["evaluations"] == 10
    assert "10 evaluations is spent; to go on, give a larger one with --budget" in again.stderr
    assert json.loads(bamsoo_("resume", "run.db", "--budget", 15, "--json"))["evaluations"] == 15
    r = bamsoo.maximize(bamsoo.problems.branin, bamsoo.problems.branin.bounds, 15)
    assert [list(t.params.values()) for t in trials()] == r.X.tolist()
    with Study.open("run.db", readonly=True) as study:
        assert study.note["budget"] == 15


@pytest.mark.parametrize("name", PLANNING)
def test_a_search_that_plans_gets_the_commands_budget(name):
    f = bamsoo.problems.branin
    ours = ("minimize", "branin", "--budget", 40, "--algorithm", name, "--json")
    r = bamsoo.minimize(f, f.bounds, 40, algorithm=name)
    assert json.loads(bamsoo_(*ours))["value"] == r.fun
    bamsoo_(*ours, "--study", "run.db")
    later = json.loads(bamsoo_("resume", "run.db", "--budget", 70, "--json"))
    r = bamsoo.minimize(f, f.bounds, 70, algorithm=bamsoo.algorithms.BY_NAME[name](budget=40))
    assert later["value"] == r.fun


def test_resume_where_the_commands_directory_is_gone_spends_nothing(here):
    (here / "work").mkdir()
    os.chdir(here / "work")
    shell("echo 1", study="../run.db")
    os.chdir(here)
    (here / "work").rmdir()
    assert "does not exist" in refused("resume", "run.db", "--budget", 9, "--yes")
    assert len(trials()) == 3


def test_resume_of_a_study_made_in_python_says_what_to_do():
    Study.open("run.db", space=[(0, 1)]).close()
    assert "does not say what to evaluate" in refused("resume", "run.db")


def test_a_replay_that_differs_can_be_passed_over():
    import sqlite3

    bamsoo_("minimize", "branin", "--budget", 6, "--study", "run.db", "--algorithm", "soo")
    with sqlite3.connect("run.db") as connection:
        connection.execute("UPDATE events SET body = '{\"point\": [1.0, 2.0]}' WHERE id = 3")
        renew_checksums(connection)
    connection.close()
    assert "trial 1 differs" in refused("resume", "run.db", "--budget", 8)
    bamsoo_("resume", "run.db", "--budget", 8, "--no-replay")
    bamsoo_("resume", "run.db", "--budget", 9)
    assert len(trials()) == 9


def test_a_program_that_hangs_is_ended_some_time_after_the_timeout(monkeypatch):
    monkeypatch.setattr(loop, "AFTER_TIMEOUT", 0.0)
    assert "1 evaluation had not finished" in shell("sleep 600", "--timeout", 1, budget=1, code=1)


def test_import_is_a_warm_start_and_is_not_repeated(here):
    (here / "old.csv").write_text("x0,note,value,x1\n3.14,good,0.4,2.28\n0,bad,,0\n9.4,,0.41,2.5\n")
    common = ("minimize", "branin", "--study", "run.db", "--import", "old.csv", "--json",
              "--ignore", "note")  # fmt: skip
    out = json.loads(bamsoo_(*common, "--budget", 3))
    assert out["value"] <= 0.4
    assert (out["evaluations"], out["failed"]) == (3, 0)  # that of the table is not ours
    bamsoo_(*common, "--budget", 5)
    assert [t.state for t in trials()][:4] == ["given", "failed", "given", "done"]
    assert len(trials()) == 8
    opt = bamsoo.Optimizer(bamsoo.problems.branin.bounds)
    for point, value in (((3.14, 2.28), 0.4), ((0, 0), None), ((9.4, 2.5), 0.41)):
        opt.tell(point, value)
    assert opt.ask().params == trials()[3].params


@pytest.mark.slow
def test_json_comes_alone():
    ran = subprocess.run(
        [*COMMAND, "minimize", "branin", "--budget", "9", "--json"], capture_output=True, text=True
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)["evaluations"] == 9


def test_the_command_says_one_evaluation():
    output = run("minimize", "branin", "--budget", 1)[1]
    assert "1 evaluation: the budget of 1 evaluation is spent" in output


def test_the_command_stops_at_a_target():
    code, output = run("minimize", "branin", "--budget", 100, "--target", "0.5", "--json")
    found = json.loads(output)
    assert (code, found["status"]) == (0, 1)
    assert found["value"] <= 0.5
    assert found["evaluations"] < 100


def test_the_command_has_a_time_limit_for_the_whole_run():
    code, output = run(
        "minimize", "--param", "x:0:1", "--budget", 1000, "--timeout", 2, "--json",
        "--", "sh", "-c", "sleep 0.2; echo {x}",
    )  # fmt: skip
    found = json.loads(output)
    assert (code, found["status"]) == (0, 2)
    assert 1 <= found["evaluations"] <= 11


@pytest.mark.slow
def test_the_command_stops_when_nothing_improves_or_is_left(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = json.loads(
        run("minimize", "branin", "--budget", 300, "--stalled", 5, "--study", "a.db", "--json")[1]
    )
    assert found["status"] == 6
    assert json.loads(run("resume", "a.db", "--json")[1])["evaluations"] == found["evaluations"]
    found = json.loads(run("minimize", "hartmann3", "--budget", 200, "--gap", "0.01", "--json")[1])
    assert (found["status"], found["evaluations"] < 200) == (6, True)


def test_settings_of_the_run_may_be_other_ones_at_every_start():
    shell("echo $0", budget=3)
    line = ("--trial-timeout", 5, "--stalled", 40, "--timeout", 60, "--workers", 2, "--keep-going")
    bamsoo_("resume", "run.db", "--budget", 5, *line)
    with Study.open("run.db", readonly=True) as study:
        note = study.note
    assert (note["trial_timeout"], note["stalled"], note["workers"]) == (5.0, 40, 2)
    bamsoo_("resume", "run.db", "--budget", 6, "--trial-timeout", 9)
    shell("echo $0", "--workers", "1", "--trial-timeout", "7", "--target", "-1", budget=7)
    with Study.open("run.db", readonly=True) as study:
        assert study.note["stalled"] is None  # minimize states all of it again
        assert study.told == 7
    assert "algorithm" in refused("resume", "run.db", "--algorithm", "auto")


def test_a_fixed_parameter_is_passed_on_and_shown(here):
    words = ("--budget", 6, "--json", "--", sys.executable, "-c",
             "import sys; print(sum(map(float, sys.argv[1:])))", "{x}", "{d}")  # fmt: skip
    bamsoo_("minimize", "--param", "x:0:1", "--param", "d:0:1", "--study", "old.db", *words)
    for how in (("--fix", "d=0.5"), ("--param", "d:0.5:0.5")):
        name = f"{how[1][1]}.db"
        line = ("minimize", "--param", "x:0:1", *how, "--study", name, "--import", "old.db")
        out = json.loads(bamsoo_(*line, *words))
        assert out["params"]["d"] == 0.5 and out["value"] >= 0.5
        shown = bamsoo_("show", name)
        assert "fixed: d=0.5" in shown and "old.db: 6 evaluations" in shown
    assert "NAME=VALUE" in refused("minimize", "branin", "--fix", "d", "--budget", 3)
    assert "parameters with names" in refused("minimize", "branin", "--fix", "d=1", "--budget", 3)


def test_without_a_budget_a_run_stops_when_no_gain_that_matters_comes(here):
    given = ["branin", "--tol", "0.01", "--stalled", 12, "--study", "run.db"]
    out = bamsoo_("minimize", *given)
    assert "the best value has not improved by 0.01 in 12 evaluations" in out
    assert "best 0.40 at" in out or "best 0.4 at" in out  # not 0.397887
    with bamsoo.Study.open("run.db", readonly=True) as study:
        assert study.tol == 0.01
        assert len(study.trials) < 60
