"""What a program prints is read as it is meant, and one that fails or hangs fails its trial."""

import os
import re
import signal
import subprocess
from math import inf, isnan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bamsoo.errors import EvaluationError
from bamsoo.run import program
from bamsoo.run.program import labelled, last_number

from command_line import PYTHON, shell, trials
from waiting import LONG, ends


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Run the test in a directory of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


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
    assert program.last_number(text) == number


def test_nan_is_the_last_number():
    for word in ("nan", "-NaN", "NAN.", "-nan(ind)"):
        assert isnan(program.last_number(f"3\nloss = {word}"))


@pytest.mark.parametrize("word", NOT_NUMBERS)
@pytest.mark.parametrize("line", ["{}", "step 7 loss={} (best)", "7 {}"])
def test_what_is_not_a_number_is_not_read_as_another_one(word, line):
    line = line.format(word)
    with pytest.raises(EvaluationError) as caught:
        program.last_number(f"1\n2.5\n{line}\n\nwords\n")
    assert line in str(caught.value)
    assert "is not a number" in str(caught.value)
    assert program.last_number(f"{line}\n2.5") == 2.5


@given(st.floats(allow_nan=False), st.sampled_from(["", "loss = ", "loss: ", "7 ", "(", "a,"]))
def test_whatever_python_prints_is_read_back(number, before):
    for text in (repr(number), f"{number:.17e}".replace("e", "D"), f"{number:+.17G}"):
        assert program.last_number(f"1\n{before}{text}\n") == number


def test_a_program_that_prints_no_number_fails_with_the_line():
    shell("echo 7; echo loss 12%", budget=1, code=1)
    assert trials()[0].error.startswith("'12%' in the line 'loss 12%' is not a number")


PROGRAMS = {
    "nan": ("echo 3; echo nan", "the value is nan"),
    "inf": ("echo 3 -inf", "the value is -inf"),
    "exit": ("echo 1; echo no licence >&2; exit 3", "exit code 3; standard error: no licence"),
    "signal": ("kill -SEGV $$", "killed by SIGSEGV"),
    "silent": ("true", "the command printed nothing"),
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


def test_a_field_that_is_not_in_the_first_line_ends_the_run():
    said = shell("""echo '{"n": 3}'""", "--value", "loss", budget=1, code=2)
    assert "the last JSON line has no 'loss'" in said
    assert "the labels that were printed are n" in said


def hangs(script, budget=1):
    """Run a script that hangs after writing to the file `children`; its time limit in seconds.

    A busy machine may take longer than the first of the limits to start a shell.
    """
    for seconds in ("0.3", "3", "30"):
        shell(script, "--trial-timeout", seconds, budget=budget, code=1, study=f"{seconds}.db")
        if Path("children").exists() and Path("children").read_text():
            return seconds
    raise AssertionError("it has not begun")


def test_a_hung_program_is_ended_with_all_it_started():
    seconds = hangs("sleep 600 & echo $! >> children; echo 5; sleep 600", budget=2)
    errors = [t.error for t in trials(f"{seconds}.db")]
    assert errors == [f"ended after the timeout of {seconds} s"] * 2
    for pid in Path("children").read_text().split():
        ends(int(pid))


def test_a_program_that_will_not_end_is_killed(monkeypatch):
    monkeypatch.setattr(program, "GRACE", 0.2)
    shell(
        "trap '' TERM; while true; do sleep 0.05; done", "--trial-timeout", "0.3", budget=1, code=1
    )
    assert trials()[0].state == "failed"


def test_a_program_that_closes_its_output_and_hangs_is_ended():
    shell("exec >&- 2>&-; sleep 60", "--trial-timeout", "0.3", budget=1, code=1)
    assert trials()[0].error == "ended after the timeout of 0.3 s"


def test_a_program_that_prints_megabytes_fills_no_memory():
    noise = (
        "import sys\n"
        "for i in range(3000): sys.stdout.write('9 ' * 5000); sys.stderr.write('e' * 5000)\n"
        "print(); print('loss', 2.5)"
    )
    script = (
        "import resource, sys; from bamsoo.run.program import Program, value_of\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "value = value_of([sys.executable, '-c', sys.argv[1]], Program(timeout=60))\n"
        "print(value, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)"
    )
    ran = subprocess.run([PYTHON, "-c", script, noise], capture_output=True, text=True, check=True)
    value, megabytes = ran.stdout.split()
    assert float(value) == 2.5
    assert int(megabytes) < 10  # of 45 printed


def test_a_number_cut_in_two_is_not_read():
    tail = program.Tail(8)
    tail.add(b"loss 123456789")
    assert tail.text == ""
    tail.add(b" 7.5")
    assert program.last_number(tail.text) == 7.5


def read(script, **how):
    return program.value_of([PYTHON, "-c", script], program.Program(timeout=LONG, **how))


def test_labels_are_found_anywhere_in_a_long_output():
    script = "print('cost: 3\\nT = 5 K\\nnote: all done')\n"
    script += "print('iteration 12345\\n' * 100_000)"
    labels = {"objectives": ["cost"], "measured": ["T"], "record": ["note"]}
    assert read(script, **labels) == ({"cost": 3.0}, {"T": 5.0, "note": "all done"})
    assert read(f"{script}\nprint('cost: 4')", **labels)[0] == {"cost": 4.0}
    to_file = f"import sys; sys.stdout = open('log.txt', 'w')\n{script}"
    assert read(to_file, output="log.txt", **labels)[0] == {"cost": 3.0}


def test_the_lines_with_a_label_are_kept_in_their_order_and_not_without_end():
    tail = program.Tail(20, ["cost"])
    for i in range(1000):
        tail.add(f"cost: {i}\nother {i} ".encode())
        tail.add(b"\n" if i % 2 else b"words\n")
    lines = tail.text.splitlines()
    costs = [int(line.partition(": ")[2]) for line in lines if line.startswith("cost: ")]
    assert costs == [*range(1000 - len(costs), 1000)]
    assert 3 <= len(costs) <= 5
    tail.add(b"x" * 19 + b"y" * 22 + b" end")  # a line that is longer than what is kept
    assert tail.text.endswith("end")
    assert "xy" not in tail.text


def test_a_file_and_a_line_of_json_may_be_long():
    script = "import json; text = json.dumps({'cost': 3, 'history': [*range(30_000)]}, indent=1)\n"
    to_file = f"{script}open('out.json', 'w').write(text)"
    assert read(to_file, output="out.json", objectives=["cost"]) == {"cost": 3.0}
    assert read(f"{script}print(text.replace('\\n', ''))", key="cost") == 3.0
    with pytest.raises(EvaluationError, match=r"out\.json has no JSON object, only '3'"):
        read("open('out.json', 'w').write('3')", output="out.json", key="cost")


@pytest.mark.parametrize("line", ["a" * 300_000, "a." * 150_000, "ab " * 100_000, "=" * 300_000])
def test_a_long_line_takes_no_time(line):
    """A program may print an image as text; each of these once took minutes."""
    assert program.labels_in(f"{line}\ncost: 3") == ["cost"]


def test_labels_in_a_message_can_be_given_as_they_are():
    text = "Total cost = 3 EUR\nmass [kg]: 4\nstep 7 loss: 1\na: 1 b: 2, c-d.e = .5\nnote: none\n"
    labels = program.labels_in(text)
    assert labels == ["Total cost", "mass [kg]", "loss", "a", "b", "c-d.e"]
    found = labelled(text, labels, [])[1]
    assert [found[name] for name in labels] == [3.0, 4.0, 1.0, 1.0, 2.0, 0.5]


@pytest.mark.parametrize("word", ["******", "failed", "n/a"])
def test_a_label_without_a_number_is_a_failure_and_not_a_wrong_label(word):
    expected = f"the objective cost was not printed as a number, only as '{re.escape(word)}'"
    with pytest.raises(EvaluationError, match=expected) as caught:
        labelled(f"cost: {word}\nT: 5", ["cost"], ["T"])
    assert not isinstance(caught.value, program.MissingError)


def test_zero_bytes_are_spaces():
    """A program in Fortran or C may print the rest of a buffer, too."""
    assert read("print('7\\0\\0cost: 3\\0\\0')", objectives=["cost"]) == {"cost": 3.0}


def test_a_program_that_prints_nothing_is_said_to():
    with pytest.raises(EvaluationError, match="the command printed nothing"):
        read("")


def test_a_program_that_leaves_another_behind_is_not_waited_for(here):
    shell("echo 4; sleep 600 & echo $! >> children", budget=2)
    for pid in (here / "children").read_text().split():
        os.kill(int(pid), signal.SIGKILL)
    assert [t.value for t in trials()] == [4.0, 4.0]


def test_a_program_that_leaves_a_printing_one_behind_is_not_waited_for(here):
    shell("echo 4; yes 9 & echo $! >> children; sleep 0.1", budget=1)
    assert trials()[0].state == "done"
    for pid in (here / "children").read_text().split():
        ends(int(pid))


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux's /proc")
def test_a_program_is_ended_with_what_it_started_in_another_session():
    hangs("setsid sleep 600 & echo $! > children; sleep 600")
    ends(int(Path("children").read_text()))


def test_a_constraints_number_is_not_taken_for_the_value():
    text, found = labelled("stress: 1\nstress = -2e-1\nvalue 7\nslack:3", [], ["stress", "slack"])
    assert found == {"stress": -0.2, "slack": 3.0}
    assert last_number(text) == 7
    with pytest.raises(EvaluationError, match="the constraint other was not printed"):
        labelled("stress: 1", [], ["other"])
    with pytest.raises(EvaluationError, match="the objective loss was not printed"):
        labelled("stress: 1", ["loss"], ["stress"])


@pytest.mark.parametrize(
    "line",
    ["max-stress: 5", "max.stress=5", "max/stress: 5", "max stress: 5", "max_stress = 5",
     "max:stress: 5", "Stress: 5", "STRESS=5", "stress_old: 5", "stress(max): 5",
     "stress: unknown", "\u0394stress: 5"],
)  # fmt: skip
def test_a_label_does_not_match_inside_another_one(line):
    for text in (f"stress: -1\n{line}\n", f"{line}\nstress: -1\n"):
        assert labelled(text, [], ["stress"])[1] == {"stress": -1.0}
    error = EvaluationError if line == "stress: unknown" else program.MissingError
    with pytest.raises(error, match="the constraint stress was not printed"):
        labelled(line, [], ["stress"])


@pytest.mark.parametrize(
    "line",
    ["stress: -1", "  stress=-1", "done; stress = -1", "[info] stress: -1", "7 stress=-1",
     "a=ok stress=-1", "(stress: -1)", "loss=3,stress=-1", "stress=5 stress=-1",
     "stress: \u22121", "stress: -1.D0"],
)  # fmt: skip
def test_a_label_may_follow_something_else_on_its_line(line):
    assert labelled(f"stress: 9\n{line}", [], ["stress"])[1] == {"stress": -1.0}


def test_the_longer_of_two_names_comes_first():
    text, found = labelled("t.s=9 s=1\nmax s: 3; s: 2\n7", [], ["s", "t.s", "max s"])
    assert found == {"s": 2.0, "t.s": 9.0, "max s": 3.0}
    assert last_number(text) == 7


@pytest.mark.parametrize("word", ["1.#QNAN", "1,5", "5%", "0x1p3"])
def test_a_constraint_that_is_not_a_number_fails_with_its_line(word):
    with pytest.raises(EvaluationError, match=f"in the line 'stress: {word}' is not a number"):
        labelled(f"stress: -1\nstress: {word}\n7", [], ["stress"])
