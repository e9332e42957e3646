"""Studies in which one value is replaced by a hostile one, and the commands that read them."""

import json
import os
import re
import shutil
import signal
import sqlite3
import traceback
from contextlib import closing
from math import inf, nan
from pathlib import Path

from click.testing import CliRunner

import bamsoo
from bamsoo import Choice, Formula, Int, Real
from bamsoo.command.main import main
from bamsoo.report.page import as_json, render_live
from bamsoo.report.watch import Watch

from checksums import renew_checksums

LIMIT = 60
"""Seconds that a command may take on a busy machine; most take a fraction of one."""

MEMORY = 1 << 20
"""Kilobytes that a command may use."""


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


VALUES = [
    *(10**12, 10**400, -(10**12), 2**63, 0, -1, 1, 0.5, nan, inf, -inf, 1e308, 5e-324, True, None),
    *("", "x", "x" * 100_000, "\x1b[2J\x9b31m", "\ud800", "=1+1", "nan", "learn"),
    *([], {}, [[]], {"a": {"b": 1}}, nested(150), nested(900), list(range(20_000))),
    {f"key {i}": i for i in range(5_000)},
]
"""What may be anywhere."""

FORMULAS = [{"formula": f"{'x + ' * 400}{i} <= 1"} for i in range(3_000)]
OPTIONS = [f"option {i}" for i in range(20_000)]

ALGORITHMS = [
    *({"class": name, "budget": 10**12} for name in ("SequOOL", "StroquOOL", "StoSOO")),
    *({"class": name, "k": 10**12} for name in ("Auto", "SOO", "DOO", "IMGPO", "LOGO")),
    {"class": "StroquOOL", "h_max": 10**12},
    {"class": "LOGO", "w": 10**12},
    {"class": "IMGPO", "Xi_max": 60},
    {"class": "GPUCB", "direct_evaluations": 10**12},
    {"class": "BaMSOO", "patience": 10**12, "kernel": {"kernel": "Matern52", "variance": 1e308}},
    {"class": "Auto", "constants": {"loop": {}}},
    {"class": "SequOOL", "k": 1_000, "budget": 10**6},
    {"class": "DOO", "c": 1e308, "alpha": 1e308},
    {"class": "GPUCB", "kernel": {"kernel": "Matern52", "length": 5e-324}},
]

FITTING = {
    ("algorithm",): ALGORITHMS,
    ("constraints",): [
        FORMULAS,
        [{"formula": f"{'x + ' * 490}1 <= -1"}],
        [{"measured": f"m{i}"} for i in range(2_000)],
        [{"measured": f"m{i}"} for i in range(100)],
        [{"linear": {"A": [[1.0] * 2] * 3_000, "lb": [nan], "ub": [inf]}}],
        [{"linear": {"A": [[1.0]], "lb": -inf, "ub": -1.0}}],
    ],
    ("space", "parameters"): [
        [{"name": f"p{i}", "kind": "Real", "low": 0.0, "high": 1.0} for i in range(3_000)],
        [{"name": "x", "kind": "Choice", "options": OPTIONS}],
        [{"name": "x", "kind": "Choice", "options": list(range(20_000))}],
        [{"name": "x", "kind": "Choice", "options": nested(150)}],
        [{"name": "x", "kind": "Int", "low": 0, "high": 2**52}],
    ],
    ("seed",): [10**4000],
}
"""Values for parts of the settings that have the right form for them."""


def bases(place):
    """Some small studies that together have all kinds of settings."""
    conditional = {
        "model": Choice({"svm": {"C": Real(1e-3, 1e3, log=True)}, "tree": {"n": Int(1, 9)}}),
        "x": Real(0.0, 1.0, step=0.1),
    }
    runs = {
        "auto": (lambda x, y: x * y, {"x": (0, 1), "y": Int(0, 9)}, {}),
        "conditional": (lambda x, **rest: x, conditional, {"algorithm": "soo"}),
        "constrained": (
            lambda x, y: (x + y, {"m": 0.5 - x}),
            {"x": (0, 1), "y": (0, 1)},
            {"constraints": [Formula("x + y >= 0.2"), "m"]},
        ),
        "planned": (lambda x: (x - 0.3) ** 2, {"x": (0, 1)}, {"algorithm": "sequool"}),
        "noisy": (lambda x: (x - 0.3) ** 2, {"x": (0, 1)}, {"noise": 0.1}),
        "model": (lambda x: (x - 0.3) ** 2, {"x": (0, 1)}, {"algorithm": "bamsoo"}),
    }
    paths = []
    for name, (fun, space, settings) in runs.items():
        paths.append(Path(place) / f"{name}.db")
        bamsoo.minimize(fun, space, 8, study=paths[-1], **settings)
        with bamsoo.Study.open(paths[-1]) as study:
            study.note = {
                "target": {"command": ["echo", "{x}"]},
                "directory": ".",
                "budget": 8,
                "workers": 2,
                "trial_timeout": 1.5,
                "goal": None,
                "value": "loss",
            }
    return paths


def nodes(value, path=()):
    """The paths of all values inside a JSON value."""
    yield path
    inside = dict(enumerate(value)) if isinstance(value, list) else value
    for key, each in inside.items() if isinstance(inside, dict) else ():
        yield from nodes(each, (*path, key))


def replaced(value, path, by):
    if not path:
        return by
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(copy[path[0]], path[1:], by) if len(path) > 1 else by
    return copy


def spoil(path, rng):
    """Replace one value in a study, with its checksum, and say in words which one."""
    by = rng.choice(VALUES)
    with closing(sqlite3.connect(path)) as file, file:
        if rng.random() < 0.85:
            table = "meta"
            where = rng.choice(["settings", "settings", "settings", "note", "created", "versions"])
            query = "SELECT value FROM meta WHERE key = ?"
        else:
            table, where = "events", rng.randint(1, 16)
            query = "SELECT body FROM events WHERE id = ?"
        (text,) = file.execute(query, (where,)).fetchone()
        value = json.loads(text)
        node = rng.choice(list(nodes(value)))
        if where == "settings" and rng.random() < 0.4:
            node = rng.choice(list(FITTING))
            by = rng.choice(FITTING[node])
        new = json.dumps(replaced(value, node, by))
        if table == "meta":
            file.execute("UPDATE meta SET value = ? WHERE key = ?", (new, where))
        else:
            field = rng.choice(["body", "body", "body", "time", "trial", "kind"])
            if field == "body":
                by = new
            elif (isinstance(by, int) and abs(by) >= 2**63) or isinstance(by, (list, dict)):
                by = json.dumps(by)
            by = by.replace("\ud800", "?") if isinstance(by, str) else by
            file.execute(f"UPDATE OR IGNORE events SET {field} = ? WHERE id = ?", (by, where))
            node = (field,)
        renew_checksums(file)
    return f"{path.stem}: {table} {where} {'.'.join(map(str, node))} = {repr(by)[:80]}"


def watch(path):
    followed = Watch(path)
    followed.look()
    followed.think()
    news = followed.news({"trials": 0, "search": 0})
    render_live(news)
    as_json(news)


def commands(path, place):
    return {
        "show": ["show", path],
        "show --json": ["show", path, "--json"],
        "export": ["export", path],
        "report": ["report", path, "-o", place / "out.html"],
        "backup": ["backup", path, place / "copy.db"],
        "repair": ["repair", path, "-o", place / "repaired.db"],
        "watch": None,
    }


def run(path, words):
    """The exit code of a command, after checking that it said what it should."""
    if words is None:
        try:
            watch(path)
        except bamsoo.BamsooError as error:
            assert "\n" not in str(error)
            return 2
        return 0
    done = CliRunner().invoke(main, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    if done.exit_code != 0:
        assert done.exit_code == 2
        assert re.fullmatch(r"bamsoo: [^\n]{1,2000}\n", done.stderr), done.stderr[:3000]
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", done.output)
    return done.exit_code


def reads(path, place):
    """Run every command that only reads, each in a process of its own; their exit codes."""
    codes = {}
    for name, words in commands(path, place).items():
        for made in ("out.html", "copy.db", "repaired.db"):
            (place / made).unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            code = 99
            signal.alarm(LIMIT)
            try:
                code = run(path, words)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        _, status, used = os.wait4(child, 0)
        codes[name] = os.waitstatus_to_exitcode(status)
        assert codes[name] in (0, 2), f"{name} ended with {codes[name]}"
        assert used.ru_maxrss < MEMORY, f"{name} used {used.ru_maxrss} kB"
    return codes


def one_case(base, place, rng):
    """Spoil a copy of a study, and read it with every command; which of them refused it."""
    path = place / base.name
    shutil.copy(base, path)
    words = spoil(path, rng)
    try:
        return words, reads(path, place)
    except BaseException as error:
        error.add_note(words)
        raise
