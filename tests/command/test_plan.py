"""A run of the command: its TOML file, the study it belongs to, and what is built for it."""

import sys
from concurrent.futures import Executor
from pathlib import Path

import pytest

import bamsoo
from bamsoo import Study
from bamsoo.command import plan
from bamsoo.command.plan import crew
from bamsoo.errors import SettingsError

from command_line import bamsoo_, refused, shell, trials

TOML = """
command = ["sh", "-c", "echo $0 $1", "{mode}", "{x}"]
budget = 6
study = "run.db"
algorithm = "soo"
seed = 3
trial_timeout = 20

[params]
x = {low = 1, high = 9}
n = {low = 1, high = 9, int = true, log = true}
mode = {choices = ["a", "b"]}
"""


def test_a_toml_file_says_it_all_and_options_say_more(here):
    (here / "run.toml").write_text(TOML.replace('"{x}"', '"{x}", "{n}"'))
    bamsoo_("minimize", "run.toml", "--budget", 4)
    assert len(trials()) == 4
    bamsoo_("minimize", "run.toml")
    assert len(trials()) == 6
    assert all(t.value == t.params["x"] for t in trials())
    with Study.open("run.db", readonly=True) as study:
        assert study.settings["seed"] == 3
        assert study.note["trial_timeout"] == 20


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("budgets = 3", "unknown key 'budgets'"),
        ("budget = 'many'", "budget must be a whole number, got 'many'"),
        ("budget = ", "cannot be read"),
        ("budget = " + 5000 * "[", "it is nested too deeply"),
        ("budget = 1" + 5000 * "0", "cannot be read"),
        ("[params." + ".choices.a.x".join(["x"] * 2000) + "]", "nested too deeply"),
        ("target = 'branin'\n[params]\nx = 3", "the space needs another one to search"),
        ("target = 'branin'\n[params]\nx = {low = 3}", "params.x: expected"),
        ("target = 'branin'\n[params]\nx = {low = 3, high = 1}", "low must be below high"),
    ],
)
def test_a_toml_file_that_is_wrong_is_refused(text, message, here):
    (here / "run.toml").write_text(text)
    assert message in refused("minimize", "run.toml")


def test_a_study_of_another_run_is_refused():
    shell("echo 1")
    before = Path("run.db").read_bytes()
    common = ("minimize", "--param", "x:0:10", "--budget", 3, "--study", "run.db")
    message = refused(*common, "--", "echo", "{x}")
    assert "the study's target is 'sh -c echo 1 {x}', got 'echo {x}'" in message
    assert "the study's direction is" in refused(
        *common, "--maximize", "--", "sh", "-c", "echo 1", "{x}"
    )
    assert "the study's seed is" in refused(*common, "--seed", 4, "--", "sh", "-c", "echo 1", "{x}")
    assert "x is Real" in refused(
        *("minimize", "--param", "x:0:9", "--budget", 3, "--study", "run.db"),
        *("--", "sh", "-c", "echo 1", "{x}"),
    )
    assert Path("run.db").read_bytes() == before
    for name in ("show", "export", "resume"):
        assert "there is no such study" in refused(name, "none.db")
    assert not Path("none.db").exists()


def test_the_command_builds_its_function_once_and_few_results(here, monkeypatch):
    (here / "mine.py").write_text("def loss(x):\n    return x\n")
    functions, results = [], []
    make, result = plan.callable_of, bamsoo.Optimizer.result

    def made(*args):
        functions.append(args)
        return make(*args)

    def counted(self):
        results.append(self)
        return result.fget(self)

    monkeypatch.setattr(plan, "callable_of", made)
    monkeypatch.setattr(bamsoo.Optimizer, "result", property(counted))
    for options in ([], ["--study", "run.db"]):
        functions.clear()
        results.clear()
        bamsoo_("minimize", "mine:loss", "--param", "x:0:1", "--budget", 30, *options)
        assert len(functions) == 1
        assert len(results) < 30  # not one for each evaluation: the last, and for progress lines


PROBLEM, PROGRAM = {"problem": "branin"}, {"command": ["true"]}


def test_a_function_runs_in_this_process_or_in_as_many_as_were_asked_for():
    for workers in (None, 3):
        with crew(PROBLEM, ".", workers, None) as found:
            assert found == workers


def test_programs_run_in_threads_and_are_ended_with_the_run(monkeypatch):
    ended = []
    monkeypatch.setattr(plan, "end_all", lambda: ended.append(True))
    with crew(PROGRAM, ".", 2, None) as found:
        assert isinstance(found, Executor)
        assert found._max_workers == 2
        assert not ended
    assert ended == [True]
    with pytest.raises(KeyError), crew(PROGRAM, ".", None, None):
        raise KeyError
    assert len(ended) == 2


def test_a_cluster_needs_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SettingsError, match="--scheduler needs Dask"):
        crew(PROBLEM, ".", None, "tcp://host:1").__enter__()
