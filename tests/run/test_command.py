"""`bamsoo.Command`: arguments, templates and directories of trials, and what is read."""

import copy
import errno
import os
import pickle
import platform
import shutil
import subprocess
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

import cloudpickle
import pytest

import bamsoo
from bamsoo.errors import EvaluationError, SettingsError
from bamsoo.run import program

from command_line import refused
from waiting import ends

SPACE = {"x": (0.0, 1.0), "n": bamsoo.Int(1, 3)}
SCRIPT = """#!/bin/sh
read a b < input.txt
echo "cost: $a"
echo "note = $b"
echo "$BAMSOO_TRIAL|$BAMSOO_STUDY|$BAMSOO_WORKDIR" > said.txt
[ "$BAMSOO_TRIAL" != 2 ] || exit 3
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sim = tmp_path / "sim.sh"
    sim.write_text(SCRIPT)
    sim.chmod(0o755)
    (tmp_path / "input.tpl").write_text("{x:.3e} {n} {other} {{x}} {\n")
    return tmp_path


def command(**settings):
    return bamsoo.Command(["./sim.sh"], template="input.tpl:input.txt", **settings)


def test_templates_are_filled_in_and_other_braces_stay(here):
    named = command(objectives=["cost"], keep="all")
    assert named(x=0.25, n=2) == ({"cost": 0.25}, {"workdir": str(next(here.glob("runs/*")))})
    (filled,) = here.glob("runs/*/input.txt")
    assert filled.read_text() == "2.500e-01 2 {other} {0.25} {\n"


def test_each_trial_has_a_directory_and_the_failed_and_the_best_ones_are_kept(here):
    fun = command(objectives=["cost"], workdir="work")
    r = bamsoo.minimize(
        fun, SPACE, 6, algorithm="soo", objectives=["cost"], study="run.db", on_error="fail"
    )
    best = next(e for e in r.evaluations if e.numbers and e.numbers[0] == r.fun)
    kept = {int(place.name) for place in (here / "work").iterdir()}
    assert kept == {2, best.number}
    for number in kept:
        said = (here / "work" / str(number) / "said.txt").read_text().strip().split("|")
        assert said == [str(number), str(here / "run.db"), str(here / "work" / str(number))]
    (failed,) = (e for e in r.evaluations if e.failed)
    assert failed.extras == {"workdir": str(here / "work" / "2")}
    assert "exit code 3" in failed.error
    r = bamsoo.minimize(
        fun, SPACE, 8, algorithm="soo", objectives=["cost"], study="run.db", on_error="fail"
    )  # the best of all is kept when the run goes on
    best = next(e for e in r.evaluations if e.numbers and e.numbers[0] == r.fun)
    assert {int(place.name) for place in (here / "work").iterdir()} == {2, best.number}


@pytest.mark.parametrize(
    ("keep", "left"), [("all", {0, 1, 2, 3}), ("failed", {2}), ("none", set())]
)
@pytest.mark.parametrize("workers", [None, "threads", 2])
def test_what_is_kept_can_be_chosen(here, keep, left, workers):
    with ThreadPoolExecutor(2) as threads:
        bamsoo.minimize(
            command(objectives=["cost"], keep=keep),
            SPACE,
            4,
            algorithm="soo",
            objectives=["cost"],
            on_error="fail",
            workers=threads if workers == "threads" else workers,
        )
    assert {int(place.name) for place in here.glob("runs/*")} == left


def test_programs_in_threads_are_ended_with_their_run(here):
    """Here, a callback ends the run while the first program would run for ten minutes."""
    script = "if [ {x} = 0.5 ]; then echo $$ > pid; exec sleep 600; fi; "
    script += "while ! [ -s pid ]; do sleep 0.05; done; echo {x}"
    fun = bamsoo.Command(["sh", "-c", script])
    with ThreadPoolExecutor(2) as pool:
        r = bamsoo.minimize(
            fun, {"x": (0, 1)}, 9, workers=pool, algorithm="soo", callback=lambda result: True
        )
    assert r.nfev == 1
    ends(int((here / "pid").read_text()))


def test_a_thread_that_is_late_starts_no_program_for_a_run_that_is_over(here):
    program.end_all("a run")
    how = program.Program(run="a run")
    with pytest.raises(EvaluationError, match="the run is over"):
        program.value_of(["sleep", "600"], how)


@pytest.mark.parametrize(
    ("step", "error"),
    [(0, FileNotFoundError), (1, FileNotFoundError), (1, FileExistsError), (2, FileNotFoundError)],
)
def test_a_directory_is_made_although_another_run_removes_the_one_around_it(
    here, monkeypatch, step, error
):
    make, steps = os.mkdir, []

    def refuse_once(place, *args, **kwargs):
        steps.append(place)
        if len(steps) == step + 1:
            raise error(2, "another run was here")
        make(place, *args, **kwargs)

    monkeypatch.setattr(os, "mkdir", refuse_once)
    bamsoo.minimize(command(keep="all"), SPACE, 1)
    assert [place.name for place in here.glob("runs/*")] == ["0"]
    assert len(steps) > step


def test_runs_without_a_study_leave_each_other_alone(here):
    """One run begins in the middle of another one, of which it may replace nothing."""
    inner = command(keep="none")

    def outer_then_inner(result):
        if result.nfev == 2:
            bamsoo.minimize(inner, SPACE, 3, on_error="fail")
            assert {place.name for place in here.glob("runs/*")} == {"0", "1"}

    outer = command(keep="all")
    bamsoo.minimize(outer, SPACE, 3, callback=outer_then_inner, on_error="fail")
    assert {place.name for place in here.glob("runs/*")} == {"0", "1", "2"}
    bamsoo.minimize(outer, SPACE, 1)  # it is over now
    bamsoo.minimize(command(keep="none"), SPACE, 3, on_error="fail")
    assert not (here / "runs").exists()


@pytest.mark.skipif(os.name != "posix", reason="needs numbers of processes")
def test_directories_of_a_run_that_was_killed_are_replaced(here):
    mark = here / "runs" / "0" / ".bamsoo"
    mark.parent.mkdir(parents=True)
    ended = subprocess.Popen(["true"])
    ended.wait()
    for process, places in ((ended.pid, {"0"}), (os.getppid(), {"0", "0-2"})):
        mark.write_text(f"run abc of process {process} on {platform.node()}")
        bamsoo.minimize(command(keep="all"), SPACE, 1)
        assert {place.name for place in here.glob("runs/*")} == places


def test_directories_beside_those_of_another_study_are_removed_too(here):
    """Also when those of the other study, which were there first, have gone meanwhile."""
    first = bamsoo.Command(["echo", "{x}"], workdir="runs", keep="all")
    bamsoo.minimize(first, {"x": (0, 1)}, 4, study="a.db", algorithm="soo")

    def remove(result):
        if result.nfev == 2:
            for number in range(4):
                shutil.rmtree(here / "runs" / str(number))

    second = bamsoo.Command(["echo", "{x}"], workdir="runs")
    r = bamsoo.minimize(second, {"x": (0, 1)}, 4, study="b.db", algorithm="soo", callback=remove)
    (best,) = here.glob("runs/*")
    assert r.evaluations[int(best.name.partition("-")[0])].value == r.fun


def test_without_a_template_it_runs_where_it_is(here):
    fun = bamsoo.Command(["sh", "-c", "pwd > place; echo {x}"])
    r = bamsoo.minimize(fun, {"x": (0, 1)}, 3)
    assert (here / "place").read_text().strip() == os.path.realpath(here)
    assert r.evaluations[0].extras == {}


def test_an_array_of_numbers_is_a_point_too(here):
    r = bamsoo.minimize(bamsoo.Command(["echo", "{x0:.3f}"]), [(0, 1)], 3)
    assert [f"{x:.3f}" for x in r.X[:, 0]] == [f"{f:.3f}" for f in r.F]


def test_other_files_are_linked(here):
    (here / "mesh.dat").write_text("7\n")
    fun = bamsoo.Command(["sh", "-c", "cat mesh.dat; : {x}"], workdir="w", files=["mesh.dat"])
    assert fun(x=0.5) == (7.0, {"workdir": str(next(here.glob("w/*")))})
    with pytest.raises(SettingsError, match=r"no\.dat: there is no such file"):
        bamsoo.Command(["echo"], workdir="w", files=["no.dat"])
    with pytest.raises(SettingsError, match=r"files is about .* give workdir"):
        bamsoo.Command(["echo"], files=["mesh.dat"])
    with pytest.raises(SettingsError, match=r"keep is about .* give workdir"):
        bamsoo.Command(["echo"], keep="all")


def test_results_are_read_from_a_file(here):
    fun = bamsoo.Command(
        ["sh", "-c", "echo 99; printf 'cost = {x}\\nTpeak: 5\\n' > out.txt"],
        output="out.txt",
        objectives=["cost"],
        measured=["Tpeak"],
    )
    assert fun(x=0.5) == ({"cost": 0.5}, {"Tpeak": 5.0})
    script = """printf '{\\n "cost": {x},\\n "deep": [1, 2]\\n}\\n' > out.json"""
    fun = bamsoo.Command(["sh", "-c", script], output="out.json", value="cost", record=["deep"])
    assert fun(x=0.25) == (0.25, {"deep": "[1.0, 2.0]"})
    with pytest.raises(SettingsError, match="has fields"):
        bamsoo.Command(["sh", "-c", script], output="out.json")


@pytest.mark.parametrize("how", [{"output": "out.txt"}, {"residuals": "out.csv:y"}])
def test_workers_do_not_write_one_file(here, how):
    fun = bamsoo.Command(["echo", "{x}"], **how)
    search = bamsoo.least_squares if "residuals" in how else bamsoo.minimize
    with pytest.raises(SettingsError, match=r"would write out\.\w+; give each a directory"):
        search(fun, {"x": (0, 1)}, 4, workers=2, study="run.db")
    assert not (here / "run.db").exists()
    assert "would write out" in refused(
        *("minimize", "--param", "x:0:1", "--budget", "4", "--workers", "2"),
        *(word for name, text in how.items() for word in (f"--{name}", text)),
        *("--", "echo", "{x}"),
    )


def test_a_file_of_results_that_was_not_written_is_a_failure(here):
    (here / "out.txt").write_text("cost = 3\n")
    fun = bamsoo.Command(["echo", "{x}"], output="out.txt")
    with pytest.raises(EvaluationError, match=r"did not write out\.txt, which was there"):
        fun(x=0.5)
    (here / "out.txt").unlink()
    with pytest.raises(EvaluationError, match=r"did not write out\.txt: No such file"):
        fun(x=0.5)


def test_what_was_read_is_said_once(here):
    fun, said = bamsoo.Command(["sh", "-c", "echo {x}; echo Elapsed time 130 ms"]), []
    fun.say = said.append
    bamsoo.minimize(fun, {"x": (0, 1)}, 3)
    assert said == ['value 130 read from the last line "Elapsed time 130 ms"']
    fun = command(objectives=["cost"], record=["note"], keep="none")
    fun.say = said.append
    fun(x=0.5, n=1)
    assert said[1:] == ['cost 0.5 read from the line "cost: 5.000e-01"']


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"objectives": ["cots"]}, "the objective cots was not printed"),
        ({"measured": ["Tpeak"]}, "the constraint Tpeak was not printed"),
        ({"objectives": ["cost"], "record": ["nte"]}, "nte, which is to be recorded, was not"),
    ],
)
def test_a_label_that_is_not_there_ends_the_run_with_those_that_are(here, settings, message):
    given = {"objectives": settings.get("objectives"), "constraints": settings.get("measured")}
    with pytest.raises(SettingsError, match=message) as caught:
        bamsoo.minimize(
            command(**settings), SPACE, 5, on_error="fail", **{k: v for k, v in given.items() if v}
        )
    assert "the labels that were printed are cost, note" in str(caught.value)


def test_once_a_label_was_there_an_evaluation_without_it_has_failed(here):
    fun = bamsoo.Command(
        ["sh", "-c", "[ $BAMSOO_TRIAL = 1 ] || echo cost: {x}"], objectives=["cost"]
    )
    r = bamsoo.minimize(fun, {"x": (0, 1)}, 3, objectives=["cost"], on_error="fail")
    assert [e.failed for e in r.evaluations] == [False, True, False]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"argv": "./sim.sh"}, "must be a list of words"),
        ({"argv": []}, "must begin with a word"),
        ({"argv": ["", "{x}"]}, "must begin with a word"),
        (
            {"argv": ["./sim.sh {x}"]},
            "single word '\\./sim.sh {x}'; write its words without quotes",
        ),
        ({"argv": ["./nosuch"]}, "no such program"),
        ({"template": "no.tpl"}, "cannot be read"),
        ({"template": "input.tpl:a/b"}, "plain name"),
        ({"template": "input.tpl:.."}, "plain name"),
        ({"template": "input.tpl:.bamsoo"}, "plain name"),
        ({"template": 3}, "template must be a text, or a list of them, got 3"),
        ({"files": [3]}, r"files must be a text, or a list of them, got \[3\]"),
        ({"workdir": 3}, "workdir must be a text"),
        ({"output": ""}, "output must not be empty"),
        ({"output": "out.txt", "steps": True}, "values are read as they are printed"),
        ({"objectives": ["cost"], "value": "cost"}, "give one of the two"),
        ({"directory": "nowhere"}, "nowhere: the directory in which the command runs does not"),
        ({"template": ["input.tpl", "input.tpl"]}, "two files of a trial are called input.tpl"),
        ({"keep": "some"}, "keep must be one of"),
        ({"keep": "none,best"}, "keep must be one of"),
        ({"timeout": 0}, "timeout must be a positive number"),
    ],
)
def test_settings_are_checked(here, settings, message):
    with pytest.raises(SettingsError, match=message):
        bamsoo.Command(**{"argv": ["./sim.sh"], **settings})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"argv": ["echo", "{x}"]}, "does not use the parameter n"),
        ({"argv": ["echo", "{x}", "{n}", "{m}"]}, r"unknown placeholder \{m\}"),
        ({"argv": ["echo", "{x}{n}"], "template": "sim.sh"}, "sim.sh mentions no parameter"),
    ],
)
def test_the_parameters_are_checked_before_anything_runs(here, settings, message):
    with pytest.raises(SettingsError, match=message):
        bamsoo.minimize(bamsoo.Command(**settings), SPACE, 3)
    assert not (here / "runs").exists()


def test_a_format_that_does_not_fit_is_an_error(here):
    with pytest.raises(SettingsError, match=r"\{x:d\}: 0.5 has no such format"):
        bamsoo.Command(["echo", "{x:d}"])(x=0.5)


def test_a_command_can_be_pickled_and_copied(here):
    fun = command(objectives=["cost"], keep="none")
    for same in (pickle.loads(pickle.dumps(fun)), copy.deepcopy(fun)):
        assert same(x=0.5, n=1) == {"cost": 0.5}


def test_steps_are_read_as_they_come(here):
    fun = bamsoo.Command(["sh", "-c", "for i in 1 2 3; do echo {x}; done"], steps=True)
    r = bamsoo.minimize(fun, {"x": (0, 1)}, 3, steps=3)
    assert r.curves[0] == [0.5] * 3


LINES = "echo begin; echo loss: {x}; echo loss: 1"
FIELDS = 'for i in 1 2; do echo "{\\"loss\\": {x}, \\"acc\\": $i}"; done'


def trained(script, heard=None, **settings):
    fun = bamsoo.Command(["sh", "-c", script], steps=True, **settings)
    fun.say = None if heard is None else heard.append
    aims = {"objectives": settings["objectives"]} if "objectives" in settings else {}
    return bamsoo.minimize(fun, {"x": (0, 1)}, 2, steps=2, on_error="fail", **aims)


@pytest.mark.parametrize(
    ("script", "settings", "said"),
    [
        (LINES, {}, 'value 0.5 read from the line "loss: 0.5"'),
        (LINES, {"objectives": ["loss"]}, 'loss 0.5 read from the line "loss: 0.5"'),
        (FIELDS, {"value": "loss"}, "value 0.5 read from the field 'loss' of the last JSON line"),
    ],
)
def test_what_was_read_as_the_first_step_is_said_once(here, script, settings, said):
    heard = []
    assert trained(script, heard, **settings).success
    assert heard == [said]


@pytest.mark.parametrize(
    ("script", "settings", "message"),
    [
        (LINES, {"objectives": ["los"]}, "the objective los was not printed; .* printed are loss"),
        (FIELDS, {"value": "los"}, "has no 'los'.* printed are loss, acc"),
        (FIELDS, {"value": "loss", "record": ["ac"]}, "ac, which .* printed are loss, acc"),
    ],
)
def test_a_label_that_is_not_there_ends_a_run_with_steps_too(here, script, settings, message):
    with pytest.raises(SettingsError, match=message):
        trained(script, **settings)


def test_directories_of_another_study_or_of_the_user_are_left_alone(here):
    mine = here / "runs" / "1"
    mine.mkdir(parents=True)
    (mine / "data").write_text("important")
    for study in ("a.db", "b.db", "b.db"):  # the last one goes on
        r = bamsoo.minimize(
            command(keep="all"), SPACE, 2 + (study == "b.db"), study=study, on_error="fail"
        )
    assert (mine / "data").read_text() == "important"
    names = {place.name for place in (here / "runs").iterdir()}
    assert names == {"0", "0-2", "1", "1-2", "1-3", "2"}
    assert [Path(t.extras["workdir"]).name for t in r.evaluations[:2]] == ["0-2", "1-3"]
    bamsoo.minimize(command(keep="none"), SPACE, 3, study="c.db", on_error="fail")
    assert names == {place.name for place in (here / "runs").iterdir()}


def test_a_label_that_is_not_there_leaves_no_study(here):
    for study in ("run.db", "run.db"):
        with pytest.raises(SettingsError, match="the labels that were printed are cost, note"):
            bamsoo.minimize(command(objectives=["cots"]), SPACE, 3, study=study,
                            objectives=["cots"])  # fmt: skip
        assert not list(here.glob("run.db*"))
    r = bamsoo.minimize(command(objectives=["cost"]), SPACE, 2, study="run.db", objectives=["cost"])
    assert r.nfev == 2


def test_parameters_may_have_any_name(here):
    space = {"my-x": (0, 1), "T 0": (1, 2), "a.b": (2, 3), "x": (3, 4)}
    words = ["{my-x} {T 0:.2f}", "{a.b:.1f}", "{x} {{my-x}} {{any}} {print $1} ${x}"]
    (here / "names.tpl").write_text("{T 0:.1f} {a.b} {x}{my-x}} {T} {y} {{T 0}}")
    fun = bamsoo.Command(["echo", *words, "7"], template="names.tpl", keep="all")
    bamsoo.minimize(fun, space, 1)
    assert (here / "runs" / "0" / "names.tpl").read_text() == "1.5 2.5 3.50.5} {T} {y} {1.5}"
    fun.check([*space])
    point = {"my-x": 0.5, "T 0": 1.5, "a.b": 2.5, "x": 3.5}
    assert fun._filled(point)[1:-1] == ["0.5 1.50", "2.5", "3.5 {my-x} {any} {print $1} $3.5"]


def test_settings_that_are_lists_may_be_one_text(here):
    (here / "mesh.dat").write_text("7\n")
    fun = bamsoo.Command(
        ["sh", "-c", "cat mesh.dat; echo cost: {x}; echo T: 5; echo note: 3"],
        workdir="w",
        files="mesh.dat",
        objectives="cost",
        measured="T <= 5",
        record="note",
        keep="none",
    )
    assert fun(x=0.5) == ({"cost": 0.5}, {"T": 5.0, "note": 3.0})
    assert bamsoo.Command(["echo"], measured=["2 <= T <= 5", "p"]).how.measured == ("T", "p")


def test_a_template_that_can_be_run_is_a_program(here):
    script = here / "job.tpl"
    script.write_text("#!/bin/sh\necho {x}\n")
    script.chmod(0o555)
    assert bamsoo.Command(["./job"], template="job.tpl:job", keep="none")(x=0.25) == 0.25


def test_a_program_that_cannot_be_started_says_why(here):
    for name, text in {"plain": "echo 1", "lost": "#!/no/such/shell"}.items():
        (here / name).write_text(text)
        (here / name).chmod(0o755)
    (here / "closed").write_text("#!/bin/sh")
    for word, message in {
        "./plain": r"Exec format error; a script needs a first line such as #!/bin/sh",
        "./lost": "No such file or directory; its first line names a program that does not exist",
    }.items():
        with pytest.raises(SettingsError, match=message):  # at once, not after ten failures
            bamsoo.minimize(bamsoo.Command([word, "{x}"]), {"x": (0, 1)}, 3, on_error="fail")
    with pytest.raises(SettingsError, match=r"\./closed: this file may not be executed; .* chmod"):
        bamsoo.Command(["./closed"])
    with pytest.raises(SettingsError, match=r"write \./sim\.sh for the one here"):
        bamsoo.Command(["sim.sh"], workdir="w", files="sim.sh")
    gone = bamsoo.Command(["echo", "{x}"], directory=here)
    gone.directory = here / "gone"
    with pytest.raises(EvaluationError, match="gone: cannot run anything there"):
        gone._known = True
        gone(x=1)


def test_a_program_that_is_taken_along_with_its_directory_is_found(here):
    tools = here / "elsewhere" / "tools"
    tools.mkdir(parents=True)
    shutil.copy(here / "sim.sh", tools / "run")
    (tools / "run").write_text("#!/bin/sh\necho $1")
    fun = bamsoo.Command(["tools/run", "{x}"], workdir="w", files="elsewhere/tools", keep="none")
    assert fun(x=0.5) == 0.5
    with pytest.raises(SettingsError, match="no such program"):
        bamsoo.Command(["tools/walk"], workdir="w", files="elsewhere/tools")


def test_a_relative_path_in_PATH_is_that_of_this_directory(here, monkeypatch):
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.environ['PATH']}")
    (here / "sim.sh").write_text("#!/bin/sh\necho $1")
    assert bamsoo.Command(["sim.sh", "{x}"], workdir="w", keep="none")(x=0.5) == 0.5


def test_an_error_of_the_system_that_may_pass_fails_no_evaluation(here, monkeypatch):
    monkeypatch.setattr("bamsoo.run.outage.FIRST", 0.01)
    popen, write, refused = subprocess.Popen, Path.write_bytes, []

    def refuse(number, function):
        def called(*args, **kwargs):
            if refused.count(number) < 2:
                refused.append(number)
                raise OSError(number, os.strerror(number))
            return function(*args, **kwargs)

        return called

    monkeypatch.setattr(subprocess, "Popen", refuse(errno.EAGAIN, popen))
    monkeypatch.setattr(Path, "write_bytes", refuse(errno.ENOSPC, write))
    r = bamsoo.minimize(command(), SPACE, 2)
    assert (r.nfev, r.nfailed, len(refused)) == (2, 0, 4)


class InOrder(Executor):
    """Each call gets a copy of the function, as in a process, and ends before the next begins."""

    _max_workers = 1

    def submit(self, call):
        future = Future()
        future.set_result(pickle.loads(cloudpickle.dumps(call))())
        return future


def test_a_label_that_another_process_has_seen_may_be_missing_later(here):
    """Each process calls the command for the first time, but only the first of all ends the run."""
    script = "echo cost: {x}; case $BAMSOO_TRIAL in 0) echo T: 5; echo note: a;; 1) echo T: 3; esac"
    given = {"objectives": ["cost"], "constraints": ["T <= 5"], "on_error": "fail"}
    given |= {"algorithm": "soo", "workers": InOrder()}
    fun = bamsoo.Command(["sh", "-c", script], objectives="cost", measured="T", record="note")
    r = bamsoo.minimize(fun, {"x": (0, 1)}, 3, **given)
    assert [each.failed for each in r.evaluations] == [False, False, True]
    assert r.evaluations[1].extras == {}
    assert "the constraint T was not printed" in r.evaluations[2].error
    for wrong in ({"measured": "P"}, {"measured": "T", "record": "nite"}):
        fun = bamsoo.Command(["sh", "-c", script], objectives="cost", **wrong)
        given["constraints"] = [wrong["measured"]]
        with pytest.raises(SettingsError, match=r"was not printed.*labels that were printed are"):
            bamsoo.minimize(fun, {"x": (0, 1)}, 3, **given)


def test_a_command_that_is_called_by_a_function_has_directories_of_its_own(here):
    """Two runs at once must not replace each other's directories in this case, either."""
    commands = [command(objectives=["cost"]), command(objectives=["cost"])]

    def inner(x, n):
        return commands[0](x=x, n=n)[0]["cost"]

    def outer(x, n):
        value = commands[1](x=x, n=n)[0]["cost"]
        if not (here / "runs" / "0-2").exists():
            bamsoo.minimize(inner, SPACE, 1)
        return value

    bamsoo.minimize(outer, SPACE, 2)
    assert {place.name for place in here.glob("runs/*")} == {"0", "0-2", "1"}


def test_what_was_read_is_in_the_log(here, caplog):
    caplog.set_level("INFO", "bamsoo")
    bamsoo.minimize(bamsoo.Command(["echo", "{x}"]), {"x": (0, 1)}, 1)
    assert 'value 0.5 read from the last line "0.5"' in caplog.text


def test_a_program_in_this_directory_is_named_with_its_path(here):
    with pytest.raises(SettingsError, match=r"write \./sim\.sh for the one here"):
        bamsoo.Command(["sim.sh", "{x}"])
