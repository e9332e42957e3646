"""A command that prints a value after each step is ended when it cannot win."""

import csv
import io
import json
from pathlib import Path

from command_line import PYTHON, bamsoo_, refused, trials

PROGRAM = """
import signal, sys

def end(*_):
    with open("ended", "a") as file:
        file.write("x")
    sys.exit(1)

signal.signal(signal.SIGTERM, end)
x = float(sys.argv[1])
for step in range(1, 9):
    print("step", step, "loss", (x - 0.3) ** 2 + 1 / step, flush=True)
"""


def test_a_program_that_cannot_win_is_ended():
    Path("train.py").write_text(PROGRAM)
    words = ["--param", "x:0:1", "--budget", "5", "--steps", "8", "--trial-timeout", "20"]
    out = bamsoo_(
        "minimize", *words, "--study", "run.db", "--json", "--", PYTHON, "train.py", "{x}"
    )
    said = json.loads(out)
    assert said["cost"] <= 5
    assert said["stopped"] > 0
    stopped = [t for t in trials() if t.state == "stopped"]
    assert len(stopped) == said["stopped"]
    assert all(t.value is None and t.steps < 8 for t in stopped)
    assert abs(said["params"]["x"] - 0.3) < 0.1
    exported = [*csv.DictReader(io.StringIO(bamsoo_("export", "run.db")))]
    for row, trial in zip(exported, trials(), strict=True):  # also of those that were stopped
        last = (float(row["x"]) - 0.3) ** 2 + 1 / trial.steps
        assert int(row["last:step"]) == trial.steps
        assert float(row["last:value"]) == trial.reported["value"] == last
    assert json.loads(bamsoo_("export", "run.db", "--format", "json"))[-1]["reported"]
    assert "last value" in bamsoo_("show", "run.db")
    bamsoo_("export", "run.db", "-o", "old.csv")  # the new columns are not taken for parameters
    bamsoo_(
        "minimize", "--param", "x:0:1", "--budget", "1", "--import", "old.csv", "--", "echo", "{x}"
    )


def test_the_steps_of_an_objective_are_printed_after_its_name():
    program = "for step in (1, 2): print('loss:', {x} + 1 / step); print('acc: 9, lr = 0.1')"
    words = ["--param", "x:0:1", "--budget", "2", "--steps", "2", "--objective", "loss"]
    said = json.loads(bamsoo_("minimize", *words, "--json", "--", PYTHON, "-c", program))
    assert said["value"] == said["params"]["x"] + 0.5


def test_a_step_with_several_objectives_ends_when_each_is_printed():
    program = (
        "for step in (1, 2): print('loss:', {x} + 1 / step); print('bits: 7'); print('cost: 3')"
    )
    words = ["--param", "x:0:1", "--budget", "2", "--steps", "2", "--objective", "loss"]
    words += ["--objective", "cost:max", "--study", "run.db"]
    bamsoo_("minimize", *words, "--", PYTHON, "-c", program)
    for trial in trials():
        assert trial.steps == 2
        assert trial.values == {"loss": trial.params["x"] + 0.5, "cost": 3.0}


def test_labels_need_a_line_of_their_own():
    words = ["minimize", "--param", "x:0:1", "--budget", "2", "--steps", "3"]
    assert "--value" in refused(*words, "--record", "time", "--", "echo", "{x}")
