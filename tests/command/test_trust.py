"""Files from strangers: `resume` asks before it runs them, and they cannot control the terminal."""

import json
import os
import pty
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from math import nan
from pathlib import Path

import pytest
from click.testing import CliRunner

import bamsoo
from bamsoo import Study
from bamsoo.command import settings, trust
from bamsoo.command.main import main
from bamsoo.command.options import visible

from checksums import renew_checksums
from command_line import bamsoo_


def made(budget=2):
    command = ("--", "sh", "-c", "echo ran >> log; echo $0", "{x}")
    bamsoo_("minimize", "--param", "x:0:1", "--budget", budget, "--study", "run.db", *command)


def runs():
    return len(Path("log").read_text().split()) if Path("log").exists() else 0


def meta(key, change):
    """Change the contents of the file, as somebody with a database editor could."""
    with closing(sqlite3.connect("run.db")) as file, file:
        (text,) = file.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        value = change(json.loads(text))
        file.execute("UPDATE meta SET value = ? WHERE key = ?", (json.dumps(value), key))
        renew_checksums(file)


# --- what resume runs


def test_a_study_of_this_user_in_this_directory_goes_on_at_once():
    made()
    bamsoo_("resume", "run.db", "--budget", 4)
    assert runs() == 4


CHANGES = {
    "another time limit": lambda note: {**note, "trial_timeout": 1e-3},
    "more at once": lambda note: {**note, "workers": 25},
    "another command": lambda note: {
        **note,
        "target": {"command": ["sh", "-c", "echo evil >> log; echo 1", "{x}"]},
    },
    "a module": lambda note: {**note, "target": {"function": "os:getpid"}},
    "a cluster": lambda note: {**note, "scheduler": "tcp://evil:8786"},
    "a longer time limit": lambda note: {**note, "trial_timeout": 60.0},
    "another number of workers": lambda note: {**note, "workers": 2},
    "another field of its output": lambda note: {**note, "value": "loss"},
    "no mark": lambda note: {k: v for k, v in note.items() if k != "mark"},
    "a mark that is none": lambda note: {**note, "mark": 5},
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_stranger_has_put_into_the_file_is_shown_and_not_run(name):
    made()
    meta("note", CHANGES[name])
    said = bamsoo_("resume", "run.db", "--budget", 4, code=2)
    assert "was not created by you in this directory. It runs the " in said
    assert "give --yes to run it" in said
    shown = {
        "another command": "echo evil",
        "a module": "os:getpid",
        "a cluster": "evil:8786",
        "another time limit": "for at most 0.001 s each",
        "more at once": "25 at once",
    }
    assert shown.get(name, "echo ran") in said
    assert runs() == 2


def test_the_parameters_go_into_the_command_and_are_under_the_mark_too():
    bamsoo_(
        *("minimize", "--param", "x=1,2,3", "--budget", 2, "--study", "run.db"),
        *("--", "sh", "-c", "echo ran >> log; echo {x}"),
    )

    def evil(settings):
        settings["space"]["parameters"][0]["options"] = [1, 2, "$(echo evil >> log)"]
        return settings

    meta("settings", evil)
    assert "not created by you" in bamsoo_("resume", "run.db", "--budget", 3, code=2)
    assert runs() == 2


def hidden(count):
    def change(settings):
        options = [f"harmless{i}" for i in range(count)]
        settings["space"]["parameters"][0]["options"] = [*options, "$(echo evil >> log)", "1", "2"]
        return settings

    return change


def test_all_parameters_are_shown_or_the_study_is_refused():
    bamsoo_(
        *("minimize", "--param", "x=a,1,2", "--budget", 2, "--study", "run.db"),
        *("--", "sh", "-c", "echo ran >> log; echo {x}"),
    )
    meta("settings", hidden(300))
    assert "$(echo evil >> log)" in bamsoo_("resume", "run.db", "--budget", 3, code=2)
    meta("settings", hidden(3000))
    said = bamsoo_("resume", "run.db", "--budget", 3, code=2)
    assert "characters to show, more than 10000; give --yes only if you trust" in said
    assert runs() == 2


def test_a_built_in_problem_does_not_start_processes_without_a_question():
    bamsoo_("minimize", "branin", "--budget", 2, "--study", "run.db")
    meta("note", CHANGES["more at once"])
    assert "It runs the problem branin in" in bamsoo_("resume", "run.db", "--budget", 3, code=2)
    bamsoo_("resume", "run.db", "--budget", 3, "--workers", 1)


def test_in_another_directory_it_asks_and_yes_is_an_answer(here):
    made()
    (here / "elsewhere").mkdir()
    os.chdir(here / "elsewhere")
    assert f"in {here}" in bamsoo_("resume", "../run.db", "--budget", 3, code=2)
    bamsoo_("resume", "../run.db", "--budget", 3, "--yes")
    os.chdir(here)
    assert runs() == 3


def test_another_user_is_asked(monkeypatch, tmp_path_factory):
    made()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("other")))
    assert "not created by you" in bamsoo_("resume", "run.db", "--budget", 3, code=2)


def test_if_no_key_can_be_stored_nothing_is_trusted_and_nothing_fails(monkeypatch, here):
    (here / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(here / "file"))
    made()
    assert "not created by you" in bamsoo_("resume", "run.db", "--budget", 3, code=2)
    bamsoo_("resume", "run.db", "--budget", 3, "--yes")


def test_the_key_is_this_users_alone_and_is_made_once():
    first = trust._key()
    assert len(first) == 32
    assert trust._key() == first
    file = Path(os.environ["XDG_STATE_HOME"]) / "bamsoo" / "key"
    assert file.stat().st_mode & 0o077 == 0


def test_a_built_in_problem_runs_without_asking():
    bamsoo_("minimize", "branin", "--budget", 2, "--study", "run.db")
    meta("note", CHANGES["no mark"])
    bamsoo_("resume", "run.db", "--budget", 3)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a terminal of its own")
@pytest.mark.parametrize(("answer", "ran"), [("n", 2), ("y", 3)])
def test_in_a_terminal_it_asks(answer, ran):
    made()
    meta("note", CHANGES["no mark"])
    leader, follower = pty.openpty()
    os.write(leader, f"{answer}\n".encode())
    done = subprocess.run(
        [sys.executable, "-m", "bamsoo", "resume", "run.db", "--budget", "3"],
        stdin=follower,
        capture_output=True,
        text=True,
        timeout=120,
    )
    os.close(leader)
    os.close(follower)
    assert "Run this? [y/N]" in done.stderr
    assert runs() == ran
    assert done.returncode == (0 if answer == "y" else 2)


@pytest.mark.parametrize(
    "note",
    [
        5,
        {"target": 5},
        {"target": {"command": []}},
        {"target": {"command": ["a", 5]}},
        {"target": {"problem": "no such"}},
        {"target": {"problem": "branin"}},
        {"target": {"problem": "branin"}, "directory": 5},
        {"target": {"problem": "branin"}, "directory": ".", "workers": "many"},
        *(
            {"target": {"problem": "branin"}, "directory": ".", "trial_timeout": limit}
            for limit in ("soon", -1, nan, True)
        ),
        {"target": {"problem": "branin"}, "directory": ".", "budget": "many"},
        {"target": {"problem": "branin"}, "directory": ".", "budget": 1e400},
        {"target": {"problem": "branin"}, "directory": ".", "stalled": 10**400},
        {"target": {"problem": "branin"}, "directory": ".", "goal": "low"},
        {"target": {"problem": "branin"}, "directory": ".", "trial_timeout": float("nan")},
    ],
    ids=str,
)
def test_a_note_that_makes_no_sense_is_one_sentence(note):
    bamsoo_("minimize", "branin", "--budget", 2, "--study", "run.db")
    meta("note", lambda _: note)
    said = bamsoo_("resume", "run.db", code=2)
    assert said.startswith("bamsoo: ")
    assert len(said.splitlines()) == 1
    bamsoo_("show", "run.db")


# --- the terminal


HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202e\r\x9b31m"


def test_no_escape_sequence_reaches_the_terminal():
    space = {f"n{HOSTILE}": bamsoo.Choice([f"a{HOSTILE}", f"b{HOSTILE}"])}

    def fails(**params):
        if next(iter(params.values())).startswith("a"):
            raise ValueError(HOSTILE)
        return 1.0

    bamsoo.minimize(fails, space, 2, study="run.db", on_error="fail")
    with Study.open("run.db") as study:
        study.note = {"budget": HOSTILE}
    printed = [
        bamsoo_("show", "run.db"),
        bamsoo_("show", "run.db", "--json"),
        bamsoo_("export", "run.db"),
        bamsoo_("export", "run.db", "--format", "json"),
        bamsoo_("resume", "run.db", code=2),
        bamsoo_("report", "run.db", "-o", f"no{HOSTILE}/such.html", code=2),
    ]
    for text in printed:
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text), text
    assert r"\x1b[2J" in printed[0]


def test_the_name_of_a_file_does_not_reach_the_terminal_either(here):
    name = f"run{HOSTILE}.db"
    bamsoo.minimize(lambda x: x, {"x": (0, 1)}, 2, study=name)
    (here / f"folder{HOSTILE}").mkdir()
    for words, code in (
        (["show", name], 0),
        (["report", name], 0),
        (["backup", name, f"copy{HOSTILE}.db"], 0),
        (["repair", name], 0),
        (["show", f"folder{HOSTILE}"], 2),
        (["show", f"none{HOSTILE}"], 2),
        (["export", name, "-o", f"none{HOSTILE}/table.csv"], 2),
    ):
        text = bamsoo_(*words, code=code)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text), text
        assert r"\x1b[2J" in text


def test_text_that_is_printed_as_it_is_stays_as_it_is():
    assert visible("naïve 数 🙂 a b") == "naïve 数 🙂 a b"
    assert visible("a\tb\n\x1b") == r"a\tb\n\x1b"


def test_a_program_that_fails_with_escape_sequences_does_not_reach_the_terminal_either():
    script = ("--", "sh", "-c", "printf '\\033[2Jhidden' >&2; exit 3", "{x}")
    done = CliRunner().invoke(main, ["minimize", "--param", "x:0:1", "--budget", "1", *script])
    assert done.exit_code == 1
    assert "\x1b" not in done.stderr
    assert r"\x1b[2Jhidden" in done.stderr


# --- time limits for functions


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs processes of our own")
def test_a_function_may_have_a_time_limit_where_it_has_workers(here):
    (here / "mine_t.py").write_text(
        "import time\ndef loss(x):\n    time.sleep(60 if x < 0.3 else 0)\n    return x\n"
    )
    out = json.loads(
        bamsoo_(
            *("minimize", "mine_t:loss", "--param", "x:0:1", "--budget", 3, "--algorithm", "soo"),
            *("--workers", 1, "--trial-timeout", 4, "--study", "run.db", "--json"),
        )
    )
    assert (out["evaluations"], out["failed"]) == (3, 1)
    with Study.open("run.db", readonly=True) as study:
        assert "ended after the trial timeout of 4 s" in [t.error for t in study.trials]
        assert study.note["trial_timeout"] == 4


def test_the_note_has_every_field_that_is_signed():
    bamsoo_("minimize", "branin", "--budget", 2, "--study", "run.db")
    with Study.open("run.db", readonly=True) as study:
        assert set(study.note) == {*settings.NOTED, "mark"}
