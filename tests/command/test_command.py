"""The commands minimize, resume, show and export, and the objectives that try to break them."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from math import inf, isnan
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import bamsoo
from bamsoo import Study
from bamsoo.command import parameters, plan, process, table
from bamsoo.command.main import main
from bamsoo.errors import EvaluationError
from bamsoo.run import loop

from checksums import renew_checksums
from command_line import bamsoo_
from waiting import alive, wait_for

PYTHON = sys.executable
COMMAND = [PYTHON, "-m", "bamsoo"]


def refused(*args):
    """The one sentence with which the command refuses."""
    done = CliRunner().invoke(main, [str(a) for a in args])
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    message = done.stderr.strip().splitlines()[-1]
    assert "Traceback" not in done.stderr
    return message


def trials(study="run.db"):
    with Study.open(study, readonly=True) as opened:
        return opened.trials


def shell(script, *options, budget=3, study="run.db", code=0):
    """Minimise a shell script in which $0 is the parameter x."""
    return bamsoo_(
        *("minimize", "--param", "x:0:10", "--budget", budget, "--study", study),
        *("--algorithm", "soo", *options, "--", "sh", "-c", script, "{x}"),
        code=code,
    )


# --- targets


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
        "failed": 0,
        "infeasible": 0,
        "rejected": r.nrejected,
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


def test_a_function_of_a_module_here(here):
    (here / "mine_a.py").write_text(
        "def loss(x, n, mode):\n"
        "    assert type(x) is float and type(n) is int and mode in ('fast', 2)\n"
        "    return (x - 1) ** 2 + n + (mode == 'fast')\n"
    )
    out = bamsoo_(
        *("minimize", "mine_a:loss", "--param", "x:0.1:10:log", "--param", "n:1:8:int"),
        *("--param", "mode=fast,2", "--budget", 40, "--json"),
    )
    best = json.loads(out)
    assert best["params"]["n"] == 1
    assert best["params"]["mode"] == 2
    assert best["failed"] == 0
    assert best["value"] < 1.1


def test_a_program_gets_its_parameters_and_its_last_number_counts(here):
    (here / "sim").write_text('#!/bin/sh\necho "step 1"\necho "args $1 $2" >&2\necho "loss: $1" \n')
    (here / "sim").chmod(0o755)
    bamsoo_(
        *("minimize", "--param", "rate:1e-5:1e-1:log", "--param", "mode=fast,exact"),
        *("--budget", 5, "--study", "run.db", "--", "./sim", "{rate}", "--mode={mode}"),
    )
    assert len(trials()) == 5
    for t in trials():
        assert t.value == t.params["rate"]
    elsewhere = here / "elsewhere"
    elsewhere.mkdir()
    os.chdir(elsewhere)
    out = bamsoo_(
        "resume", "../run.db", "--budget", 7, "--json", "--yes"
    )  # finds ./sim all the same
    assert json.loads(out)["failed"] == 0
    assert len(trials("../run.db")) == 7


def test_a_json_field_is_the_value():
    shell(
        """echo '{"loss": 9, "n": 1}'; echo "{\\"loss\\": $0, \\"n\\": 2}"; echo done 77""",
        "--value",
        "loss",
    )
    assert [t.value for t in trials()] == [t.params["x"] for t in trials()]


PRINTED = [
    ("1.5", 1.5),
    ("step 7\nloss=-2.5e-3\n", -2.5e-3),
    ("loss 3.\n", 3.0),
    ("took 12 s, loss .5!", 0.5),
    ("loss 0.25 after 3 s", 3.0),
    ("version 1.2.3 of x2: 8", 8.0),
    ("+4E2,", 400.0),
    ("best 7 information nano", 7.0),
    ("1.25D+05", 1.25e5),
    ("f = -3.0d-12", -3e-12),
    ("0.5Q2", 50.0),
    ("1.234-101", 1.234e-101),
    ("-.5+100", -0.5e100),
    ("loss: \u22125", -5.0),
    ("\u22121.5e\u22123", -1.5e-3),
    ("5.", 5.0),
    ("the loss is 0.5.", 0.5),
    (".5", 0.5),
    ("+5", 5.0),
    ("-Infinity", -inf),
    ("inf", inf),
    ("-1e400", -inf),
    ("9" * 5000, inf),
    ("[0.1, 0.2]", 0.2),
    ("(x, 3)", 3.0),
    ("a=1,b=2", 2.0),
    ("step3:0.5", 0.5),
    ("--lr:0.5", 0.5),
    ("<loss>0.5</loss>", 0.5),
    ("loss=0.5; saved as out/run-7.txt by model-3 and v1.2", 0.5),
    ("12:30:01 loss 0.5", 0.5),
    ("7\n*****\n--- done ---\n", 7.0),
]

NOT_NUMBERS = [
    "0x1.8p+3", "1.#QNAN", "-1.#IND", "1,234.5", "0,5", "1,2", "3.5s", "12%", "1_000", "1.2.3",
    "12:30", "2024-01-31", "1/2", "$5", "~5", "5e", "5e+", "1d", "1.5-10", "5-101", "--5", "+-5",
    "1e5.5", "10\u00b2", "\u20135", "0.5\u00b10.1", "\u0663",
]  # fmt: skip


@pytest.mark.parametrize(("text", "number"), PRINTED)
def test_the_last_number_of_a_text(text, number):
    assert process.last_number(text) == number


def test_nan_is_the_last_number():
    for word in ("nan", "-NaN", "NAN.", "-nan(ind)"):
        assert isnan(process.last_number(f"3\nloss = {word}"))


@pytest.mark.parametrize("word", NOT_NUMBERS)
@pytest.mark.parametrize("line", ["{}", "step 7 loss={} (best)", "7 {}"])
def test_what_is_not_a_number_is_not_read_as_another_one(word, line):
    line = line.format(word)
    with pytest.raises(EvaluationError) as caught:
        process.last_number(f"1\n2.5\n{line}\n\nwords\n")
    assert line in str(caught.value)
    assert "is not a number" in str(caught.value)
    assert process.last_number(f"{line}\n2.5") == 2.5


@given(st.floats(allow_nan=False), st.sampled_from(["", "loss = ", "loss: ", "7 ", "(", "a,"]))
def test_whatever_python_prints_is_read_back(number, before):
    for text in (repr(number), f"{number:.17e}".replace("e", "D"), f"{number:+.17G}"):
        assert process.last_number(f"1\n{before}{text}\n") == number


def test_a_program_that_prints_no_number_fails_with_the_line():
    shell("echo 7; echo loss 12%", budget=1, code=1)
    assert trials()[0].error.startswith("'12%' in the line 'loss 12%' is not a number")


# --- a TOML file


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
        ("target = 'branin'\n[params]\nx = 3", "params.x: expected"),
        ("target = 'branin'\n[params]\nx = {low = 3}", "params.x: expected"),
        ("target = 'branin'\n[params]\nx = {low = 3, high = 1}", "low must be below high"),
    ],
)
def test_a_toml_file_that_is_wrong_is_refused(text, message, here):
    (here / "run.toml").write_text(text)
    assert message in refused("minimize", "run.toml")


# --- what is refused

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


def test_options_become_numbers_if_they_print_the_same():
    _, choice = parameters.parse_one("m=1,2.5,1e3,007,a,nan,true")
    assert choice.options == (1, 2.5, "1e3", "007", "a", "nan", "true")


# --- bad objectives: the table of docs/study.md, a test a row

FUNCTIONS = {
    "nan": ("float('nan')", "the value is nan"),
    "inf": ("float('inf')", "the value is inf"),
    "-inf": ("-float('inf')", "the value is -inf"),
    "exception": ("1 / 0", "ZeroDivisionError: division by zero"),
    "none": ("None", "the value is None"),
    "string": ("'0.5'", "an objective value must be one real number, got '0.5'"),
    "two": ("[1.0, 2.0]", "an objective value must be one real number, got an array of shape (2,)"),
    "complex": ("1j", "an objective value must be one real number, got 1j"),
    "exit": ("__import__('sys').exit(3)", "the function called sys.exit(3)"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_bad_function_fails_only_its_trials(name, here):
    expression, message = FUNCTIONS[name]
    module = f"bad_{name.replace('-', 'minus_')}"
    (here / f"{module}.py").write_text(f"def f(x):\n    return x if x > 5 else {expression}\n")
    out = bamsoo_(
        *("minimize", f"{module}:f", "--param", "x:0:10", "--budget", 9, "--algorithm", "soo"),
        *("--study", "run.db", "--json"),
    )
    assert json.loads(out)["evaluations"] == 9
    for t in trials():
        if t.params["x"] > 5:
            assert (t.state, t.value, t.error) == ("done", t.params["x"], None)
        else:
            assert (t.state, t.value, t.error) == ("failed", None, message)


def test_an_array_of_one_is_a_value(here):
    (here / "bad_one.py").write_text("import numpy as np\ndef f(x):\n    return np.array([[x]])\n")
    bamsoo_(
        *("minimize", "bad_one:f", "--param", "x:0:10", "--budget", 3, "--study", "run.db"),
    )
    assert [t.value for t in trials()] == [t.params["x"] for t in trials()]


PROGRAMS = {
    "nan": ("echo 3; echo nan", "the value is nan"),
    "inf": ("echo 3 -inf", "the value is -inf"),
    "exit": ("echo 1; echo no licence >&2; exit 3", "exit code 3; standard error: no licence"),
    "signal": ("kill -SEGV $$", "killed by SIGSEGV"),
    "silent": ("true", "the command printed no number, only ''"),
    "words": ("echo none found", "the command printed no number, only 'none found\\n'"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_bad_program_fails_its_trials_with_its_standard_error_kept(name):
    script, message = PROGRAMS[name]
    shell(script, budget=2, code=1)
    assert [(t.state, t.error) for t in trials()] == [("failed", message)] * 2


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 3", "the command printed no JSON line"),
        ("echo '{\"n\": 3}'", "the last JSON line has no 'loss'"),
        ('echo \'{"loss": "low"}\'', "'loss' is 'low', not a number"),
        ("echo '{\"loss\": true}'", "'loss' is True, not a number"),
        ("echo '{\"loss\": NaN}'", "the value is nan"),
        ('echo \'{"loss": 1' + 5000 * "0" + "}'", "the value is inf"),
        ("echo '{\"loss\": '", "the command printed no JSON line"),
    ],
)
def test_a_json_line_without_a_number_fails(script, message):
    shell(script, "--value", "loss", budget=1, code=1)
    assert message in trials()[0].error


def test_a_hung_program_is_ended_with_all_it_started(here):
    script = "sleep 61.25 & echo $! >> children; echo 5; sleep 61.25"
    began = time.monotonic()
    shell(script, "--trial-timeout", "0.3", budget=2, code=1)
    assert time.monotonic() - began < 10
    assert [t.error for t in trials()] == ["ended after the timeout of 0.3 s"] * 2
    assert all(gone(int(pid)) for pid in (here / "children").read_text().split())


def test_a_program_that_will_not_end_is_killed(monkeypatch):
    monkeypatch.setattr(process, "GRACE", 0.2)
    shell(
        "trap '' TERM; while true; do sleep 0.05; done", "--trial-timeout", "0.3", budget=1, code=1
    )
    assert trials()[0].state == "failed"


def test_a_program_that_closes_its_output_and_hangs_is_ended():
    shell("exec >&- 2>&-; sleep 60", "--trial-timeout", "0.3", budget=1, code=1)
    assert trials()[0].error == "ended after the timeout of 0.3 s"


def gone(pid):
    for _ in range(100):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False


def test_a_program_that_prints_megabytes_fills_no_memory():
    noise = (
        "import sys\n"
        "for i in range(3000): sys.stdout.write('9 ' * 5000); sys.stderr.write('e' * 5000)\n"
        "print(); print('loss', 2.5)"
    )
    script = (
        "import resource, sys; from bamsoo.command.process import value_of\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "value = value_of([sys.executable, '-c', sys.argv[1]], None, 60, None)\n"
        "print(value, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)"
    )
    ran = subprocess.run([PYTHON, "-c", script, noise], capture_output=True, text=True, check=True)
    value, megabytes = ran.stdout.split()
    assert float(value) == 2.5
    assert int(megabytes) < 10  # of 45 printed


def test_a_number_cut_in_two_is_not_read():
    tail = process.Tail(8)
    tail.add(b"loss 123456789")
    assert tail.text == ""
    tail.add(b" 7.5")
    assert process.last_number(tail.text) == 7.5


def test_a_program_that_leaves_another_behind_is_not_waited_for(here):
    began = time.monotonic()
    shell("echo 4; sleep 61.5 & echo $! >> children", budget=2)
    took = time.monotonic() - began
    for pid in (here / "children").read_text().split():
        os.kill(int(pid), signal.SIGKILL)
    assert took < 10
    assert [t.value for t in trials()] == [4.0, 4.0]


def test_a_program_that_leaves_a_printing_one_behind_is_not_waited_for(here):
    began = time.monotonic()
    shell("echo 4; yes 9 & echo $! >> children; sleep 0.1", budget=1)
    took = time.monotonic() - began
    assert took < 10
    assert trials()[0].state == "done"
    for pid in (here / "children").read_text().split():
        assert gone(int(pid))  # the process has ended


# --- Ctrl-C


def started(*args, script):
    command = [*COMMAND, "minimize", "--param", "x:0:10", "--budget", "5", "--study", "run.db"]
    run = subprocess.Popen(
        [*command, "--algorithm", "soo", *args, "--", "sh", "-c", script, "{x}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: Path("running").exists())
    return run


@pytest.mark.slow
def test_the_first_interrupt_awaits_the_evaluation_and_the_run_goes_on_later():
    run = started(script="touch running; sleep 1; echo $0")
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=20)
    assert run.returncode == 130
    assert "stopping when the running evaluations are done; press Ctrl-C again to end now" in err
    assert "1 of 5 evaluations are saved; continue with: bamsoo resume run.db" in err
    assert "Traceback" not in err
    assert [t.state for t in trials()] == ["done"]
    Path("running").unlink()
    assert "5 evaluations" in bamsoo_("resume", "run.db")
    r = bamsoo.minimize(lambda x: x, {"x": (0, 10)}, 5, algorithm="soo")
    assert [t.params for t in trials()] == r.X


@pytest.mark.slow
@pytest.mark.parametrize("how", ["twice", "SIGTERM"])
def test_the_second_interrupt_ends_the_evaluation_and_its_trial_is_asked_again(how):
    run = started(script="echo $$ > pid; touch running; [ -e go ] || sleep 60; echo $0")
    wait_for(lambda: Path("pid").exists() and Path("pid").read_text().strip())
    pid = int(Path("pid").read_text())
    if how == "twice":
        run.send_signal(signal.SIGINT)
        time.sleep(0.3)
        run.send_signal(signal.SIGINT)
    else:
        run.terminate()
    _, err = run.communicate(timeout=20)
    assert run.returncode == 130
    assert "0 of 5 evaluations are saved; continue with: bamsoo resume run.db" in err
    assert "Traceback" not in err
    assert gone(pid)
    assert [t.state for t in trials()] == ["out"]
    Path("go").touch()
    bamsoo_("resume", "run.db")
    assert [t.state for t in trials()] == ["done"] * 5


@pytest.mark.slow
def test_a_study_in_use_can_be_shown_and_not_resumed():
    run = started(script="touch running; sleep 2; echo $0")
    assert "0 of 5 evaluations, 0 failed, 1 pending" in bamsoo_("show", "run.db")
    assert "another process is writing this study" in refused("resume", "run.db")
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=20)


# --- resume, show, export, import


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


@pytest.mark.parametrize("name", ["stosoo", "sequool", "stroquool"])
def test_a_search_that_plans_gets_the_commands_budget(name):
    f = bamsoo.problems.branin
    ours = ("minimize", "branin", "--budget", 40, "--algorithm", name, "--json")
    r = bamsoo.minimize(f, f.bounds, 40, algorithm=name)
    assert json.loads(bamsoo_(*ours))["value"] == r.fun
    bamsoo_(*ours, "--study", "run.db")
    later = json.loads(bamsoo_("resume", "run.db", "--budget", 70, "--json"))
    planned = {
        "stosoo": bamsoo.algorithms.StoSOO,
        "sequool": bamsoo.algorithms.SequOOL,
        "stroquool": bamsoo.algorithms.StroquOOL,
    }
    r = bamsoo.minimize(f, f.bounds, 70, algorithm=planned[name](budget=40))
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


def test_show_lists_the_best_and_the_failures():
    shell("case $0 in 5*) echo [bold] >&2; exit 9;; esac; echo $0", budget=6)
    out = bamsoo_("show", "run.db", "--rows", 2)
    assert "minimize, SOO, seed 0; 6 of 6 evaluations, 1 failed, 0 pending" in out
    assert re.search(r"best [\d.]+ at x=", out)
    assert "trial 0 failed: exit code 9; standard error: [bold]" in out
    assert out.count("done") == 2
    best = json.loads(bamsoo_("show", "run.db", "--json"))
    assert best["value"] == min(t.value for t in trials() if t.value is not None)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux's /proc")
def test_a_program_is_ended_with_what_it_started_in_another_session():
    script = "setsid sleep 600 & echo $! > pid; sleep 600"
    shell(script, "--trial-timeout", "0.3", budget=1, code=1)
    wait_for(lambda: not alive(int(Path("pid").read_text())))


def test_a_program_that_hangs_is_ended_some_time_after_the_timeout(monkeypatch):
    monkeypatch.setattr(loop, "AFTER_TIMEOUT", 0.0)
    assert "1 evaluation had not finished" in shell("sleep 600", "--timeout", 0.1, budget=1, code=1)


def test_an_export_is_in_the_format_that_its_name_says():
    bamsoo_("minimize", "branin", "--budget", 3, "--study", "run.db")
    bamsoo_("export", "run.db", "-o", "out.JSON")
    assert len(json.loads(Path("out.JSON").read_text())) == 3
    bamsoo_("export", "run.db", "-o", "out.txt")
    assert Path("out.txt").read_text() == bamsoo_("export", "run.db")
    message = refused("export", "run.db", "--format", "csv", "-o", "out.parquet")
    assert "the name says parquet, but --format says csv" in message
    assert not Path("out.parquet").exists()


def test_an_export_replaces_a_file_at_once_or_not_at_all(monkeypatch):
    bamsoo_("minimize", "branin", "--budget", 3, "--study", "run.db")
    Path("out.csv").write_text("before")
    with monkeypatch.context() as failing:
        failing.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
        assert "cannot be written: full" in refused("export", "run.db", "-o", "out.csv")
    assert Path("out.csv").read_text() == "before"
    bamsoo_("export", "run.db", "-o", "out.csv")
    assert Path("out.csv").read_text() == bamsoo_("export", "run.db")
    assert {each.name for each in Path().iterdir()} >= {"run.db", "out.csv"}
    assert not list(Path().glob(".out*"))
    assert "is the study itself" in refused("export", "run.db", "-o", "./run.db")
    bamsoo_("show", "run.db")


def test_export_and_import_carry_every_evaluation():
    space = {"value": (0.0, 1.0), "n": bamsoo.Int(1, 9), "mode": bamsoo.Choice(["a", 3, None])}

    def fun(value, n, mode):
        return value / 3 + n if n < 8 else None

    r = bamsoo.minimize(fun, space, 15, study="old.db", algorithm="soo")
    text = bamsoo_("export", "old.db")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["param:value"]) for row in rows] == [x["value"] for x in r.X]
    as_json = json.loads(bamsoo_("export", "old.db", "--format", "json"))
    assert [t["params"] for t in as_json] == r.X
    bamsoo_("export", "old.db", "-o", "old.csv")
    assert Path("old.csv").read_text() == text
    with Study.open("old.db") as study:
        again = table.read_csv(Path("old.csv"), study.space)
    assert [params for params, _, _ in again] == r.X
    assert [value for _, value, _ in again] == [t.value for t in trials("old.db")]


def test_import_is_a_warm_start_and_is_not_repeated(here):
    (here / "old.csv").write_text("x0,note,value,x1\n3.14,good,0.4,2.28\n0,bad,,0\n9.4,,0.41,2.5\n")
    common = ("minimize", "branin", "--study", "run.db", "--import", "old.csv", "--json")
    out = json.loads(bamsoo_(*common, "--budget", 3))
    assert out["value"] <= 0.4
    assert (out["evaluations"], out["failed"]) == (3, 1)
    bamsoo_(*common, "--budget", 5)
    assert [t.state for t in trials()][:4] == ["given", "failed", "given", "done"]
    assert len(trials()) == 8
    opt = bamsoo.Optimizer(bamsoo.problems.branin.bounds)
    for point, value in (((3.14, 2.28), 0.4), ((0, 0), None), ((9.4, 2.5), 0.41)):
        opt.tell(point, value)
    assert opt.ask().params == trials()[3].params


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x0,value\n1,2\n", "has no column 'x1'"),
        ("x0,x1\n1,2\n", "has no column 'value'"),
        ("x0,x1,value\n1,2,3\n99,2,3\n", "line 3: x0: 99.0 lies outside"),
        ("x0,x1,value\n1,b,3\n", "line 2: x1 must be a number"),
        ("x0,x1,value\n1,2,good\n", "line 2: expected a number"),
        ("", "has no column"),
    ],
)
def test_an_import_that_does_not_fit_is_refused_whole(text, message, here):
    (here / "old.csv").write_text(text)
    assert message in refused("minimize", "branin", "--budget", 3, "--import", "old.csv")


def test_parquet_needs_pyarrow_and_a_file(here, monkeypatch):
    bamsoo_("minimize", "branin", "--budget", 3, "--study", "run.db")
    assert "give a file with -o" in refused("export", "run.db", "--format", "parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = refused("export", "run.db", "--format", "parquet", "-o", "out.parquet")
    assert "parquet needs pyarrow" in message


def test_parquet_is_read_back():
    parquet = pytest.importorskip("pyarrow.parquet")
    bamsoo_("minimize", "branin", "--budget", 3, "--study", "run.db")
    bamsoo_("export", "run.db", "--format", "parquet", "-o", "out.parquet")
    assert parquet.read_table("out.parquet")["value"].to_pylist() == [t.value for t in trials()]


# --- docs/study.md


PAGE = (Path(__file__).parents[2] / "docs" / "study.md").read_text()
SIMULATE = """#!/bin/sh
[ "$1 $3 $5" = "--x --rate --mode" ] || exit 1
echo "$2"
"""


def test_the_pages_python_runs():
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(block, {"__name__": "page"})


@pytest.mark.slow
def test_the_pages_commands_run(here):
    (here / "simulate").write_text(SIMULATE)
    (here / "simulate").chmod(0o755)
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE, re.S)
    script = f'set -e; bamsoo() {{ "{PYTHON}" -m bamsoo "$@"; }}\n{block}'
    ran = subprocess.run(["sh", "-c", script], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert len(trials("sim.db")) == 20
    last = json.loads(ran.stdout.splitlines()[-1])
    assert (last["evaluations"], last["failed"]) == (5, 0)
    assert last["value"] <= min(t.value for t in trials("sim.db"))


def test_the_pages_file_runs(here):
    (here / "simulate").write_text(SIMULATE)
    (here / "simulate").chmod(0o755)
    block, _ = re.findall(r"```toml\n(.*?)```", PAGE, re.S)
    (here / "sim.toml").write_text(block)
    assert json.loads(bamsoo_("minimize", "sim.toml", "--json"))["evaluations"] == 12


# --- progress


def test_progress_is_plain_lines_when_not_in_a_terminal():
    done = CliRunner().invoke(main, ["minimize", "branin", "--budget", "20"])
    last = done.stderr.strip().splitlines()[-1]
    assert re.fullmatch(
        r"20/20 evaluations, best [\d.]+, gap unknown, \d+ rejected, [\d.e-]+ s each, 0 s left",
        last,
    )
    assert "\x1b" not in done.stderr


def test_the_first_failures_are_shown_as_they_come():
    common = ["minimize", "--param", "x:0:10", "--budget", "5", "--algorithm", "soo"]
    script = ["--", "sh", "-c", "echo no licence >&2; exit 3", "{x}"]
    done = CliRunner().invoke(main, [*common, *script])
    assert done.exit_code == 1
    lines = done.stderr.splitlines()
    assert lines.count("failed: exit code 3; standard error: no licence") == 3
    assert lines[-1].startswith("5/5 evaluations, 5 failed, no value yet")
    assert "no evaluation gave a value" in done.stdout
    assert CliRunner().invoke(main, [*common, "--json", *script]).stderr == ""


def test_json_comes_alone():
    ran = subprocess.run(
        [*COMMAND, "minimize", "branin", "--budget", "9", "--json"], capture_output=True, text=True
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)["evaluations"] == 9


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_progress_is_live_in_a_terminal():
    ours, theirs = os.openpty()
    command = ["--", "sh", "-c", "sleep 0.3; echo $0", "{x}"]
    run = subprocess.Popen(
        [*COMMAND, "minimize", "--param", "x:0:10", "--budget", "3", *command],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    os.close(theirs)
    seen = b""
    try:
        while data := os.read(ours, 4096):
            seen += data
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert run.wait(20) == 0
    assert re.search(rb"[12]/3 evaluations, best", seen)
    assert b"\x1b[2K" in seen or b"\r" in seen


# --- what the command builds


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


@pytest.mark.parametrize(
    ("typed", "said"),
    [("minimise", " Did you mean minimize?"), ("repport", " Did you mean report?"), ("sing", "")],
)
def test_a_command_that_does_not_exist_names_the_one_that_was_meant(typed, said):
    done = CliRunner().invoke(main, [typed, "branin"])
    assert done.exit_code == 2
    assert done.stderr.endswith(f"Error: No such command '{typed}'.{said}\n")
