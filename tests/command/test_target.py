"""Targets: functions and programs, and bad ones."""

import json
import os

import pytest

from command_line import bamsoo_, refused, run, trials


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
            assert (t.state, t.value) == ("failed", None)
            assert t.error.startswith(message)


def test_an_array_of_one_is_a_value(here):
    (here / "bad_one.py").write_text("import numpy as np\ndef f(x):\n    return np.array([[x]])\n")
    bamsoo_(
        *("minimize", "bad_one:f", "--param", "x:0:10", "--budget", 3, "--study", "run.db"),
    )
    assert [t.value for t in trials()] == [t.params["x"] for t in trials()]


def test_a_misspelt_placeholder_is_named():
    code, output = run(
        "minimize", "--param", "rate:0:1", "--budget", 2, "--", "echo", "{rat}", "{rat}"
    )
    assert code == 2
    assert "the command does not use the parameter rate" in " ".join(output.split())
    assert "{rat} is not a parameter" in " ".join(output.split())


def test_an_unknown_placeholder_is_refused_before_the_first_evaluation(tmp_path):
    line = ("minimize", "--param", "x:0:1", "--budget", 2, "--", "sh", "-c")
    code, output = run(*line, f"touch {tmp_path}/ran; echo {{x}} {{q}}")
    assert code == 2
    assert "unknown placeholder {q} in the command; the parameters are x" in output
    assert not (tmp_path / "ran").exists()
    script = f"echo {{{{q}}}} > {tmp_path}/ran; q=3; echo ${{q}}"
    code, output = run(*line, f"{script}; echo {{x}}")
    assert code == 0
    assert (tmp_path / "ran").read_text() == "{q}\n"


@pytest.mark.parametrize("more", [[], ["--study", "run.db"]])
def test_a_function_that_does_not_take_the_parameters_is_refused_before_it_is_called(here, more):
    (here / "mine_b.py").write_text("def loss(x, d):\n    raise SystemExit('called')\n")
    for options, why in [
        (["--param", "x:0:1"], "fun needs the argument 'd'"),
        (["--param", "x:0:1", "--fix", "d=1", "--param", "site=U,V"], "takes no argument 'site'"),
    ]:
        said = refused("minimize", "mine_b:loss", *options, "--budget", 5, *more)
        assert why in said
        assert not (here / "run.db").exists()


@pytest.mark.parametrize("target", ["branin", "bamsoo.problems:branin"])
def test_a_built_in_problem_keeps_its_own_parameters(target):
    said = refused("minimize", target, "--param", "a:0:1", "--param", "x:0:1", "--budget", 9)
    assert "branin takes the parameters x0, x1 in ranges of its own, got a, x; leave out" in said
    assert "failed" not in said
