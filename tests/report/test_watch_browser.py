"""The live page in a real browser during a real run, which is killed and resumed meanwhile.

See tests/browser.py.
"""

import os
import re
import signal
import subprocess
import sys

import pytest

from bamsoo import Choice, Int, Real, Study

from browser import Page, browser
from waiting import wait_for

__all__ = ["browser"]  # a fixture

pytestmark = pytest.mark.slow  # starts a browser and a run

TARGET = """
import os, time
from pathlib import Path

def cost(x, rate, mode):
    # No more evaluations end than the test allows.
    begun = os.open("begun", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(begun, b".")
    number = os.lseek(begun, 0, os.SEEK_CUR)
    os.close(begun)
    while number > int(Path("allowed").read_text()):
        time.sleep(0.02)
    if x > 8:
        raise RuntimeError("the <b>solver</b> diverged")
    return (x - 3) ** 2 + abs(rate - 0.01) + (mode == "fast")
"""
BUDGET = 30


class Bamsoo:
    """The command, in a process group of its own."""

    def __init__(self, folder, *arguments):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(folder)])}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bamsoo", *arguments], cwd=folder, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.kill()
        self.process.stdout.close()

    def kill(self):
        """Kill it and its workers without a chance to clean up."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def number_of(page):
    return int(re.match(r"\d+", page.js("return document.title")).group())


def test_the_page_follows_a_run_that_is_killed_and_resumed(browser, tmp_path):
    (tmp_path / "target.py").write_text(TARGET)
    allowed = tmp_path / "allowed"
    allowed.write_text("4")
    study = tmp_path / "run.db"
    begin = [
        "minimize", "target:cost", "--param", "x:0:10", "--param", "rate:1e-4:1:log",
        "--param", "mode=fast,exact", "--budget", str(BUDGET), "--study", "run.db",
        "--workers", "2",
    ]  # fmt: skip
    with Bamsoo(tmp_path, *begin) as run:
        wait_for(lambda: study.exists() and Study.open(study, readonly=True).told >= 3)
        with Bamsoo(tmp_path, "watch", "run.db", "--port", "0") as watch:
            address = re.search(r"http://\S+", watch.process.stdout.readline()).group()
            page = Page(browser, address)
            page.js("window.loadedOnce = true")
            page.set("#theme", "dark")
            page.set("#table-search", "exact", "input")

            # new evaluations appear
            wait_for(lambda: number_of(page) == 4)
            write_at_once(allowed, "20")
            wait_for(lambda: number_of(page) == 20)
            assert page.text("#live") in ("running", "live")

            # the run is killed with pending trials, which the page lists with their age
            run.kill()
            with Study.open(study, readonly=True) as stored:
                told, out = stored.told, [t.number for t in stored.trials if t.state == "out"]
            assert len(out) == 2
            wait_for(lambda: number_of(page) == told)
            if sys.platform == "linux":
                wait_for(lambda: page.text("#live") == "not running")
            listed = page.js(
                "return [...document.querySelectorAll('#out tbody tr')].map(r => r.innerText)"
            )
            assert [int(re.match(r"trial (\d+)\s+\d", line).group(1)) for line in listed] == out

            # it is resumed, and the same page follows to the end
            write_at_once(allowed, "1000")
            with Bamsoo(tmp_path, "resume", "run.db", "--json") as run:
                assert run.process.wait(120) == 0
            wait_for(lambda: number_of(page) == BUDGET)
            wait_for(lambda: page.js("return !bamsooReport.report.model.reason"))
            wait_for(lambda: page.text("#behind") == "")

            with Study.open(study, readonly=True) as stored:
                best, failed = stored.best, stored.ledger.failed
            assert f"exactly {best.value!r}" in page.text("#best")
            assert re.search("expected best value|left to gain", page.text("#best"))
            assert "No trial is running." in page.text("#now")
            assert failed
            assert "the <b>solver</b> diverged" in page.text("#reasons")
            assert page.js("return document.querySelectorAll('[id^=slice-]').length") >= 3
            assert page.js("return window.loadedOnce")
            assert page.js("return document.querySelector('#table-search').value") == "exact"
            assert page.js("return document.documentElement.dataset.theme") == "dark"
            assert all("exact" in row for row in map(str, page.rows()))
            assert page.complaints() == []
            phone = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
            page.frame()
            assert page.js("return document.documentElement.scrollWidth") <= 390

        # the server is gone: the page says so, and keeps what it has
        wait_for(lambda: page.text("#live") == "no answer from bamsoo watch")
        assert number_of(page) == BUDGET


def test_pending_trials_with_different_parameters_are_shown(browser, tmp_path):
    space = {"model": Choice({"svm": {"C": Real(1e-3, 1e3, log=True)}, "forest": {"n": Int(1, 9)}})}
    with Study.open(tmp_path / "run.db", space=space, algorithm="random") as study:
        for i in range(12):
            trial = study.ask()
            if i < 6:
                study.tell(trial, len(trial.params) + i / 10)
        models = {t.params["model"] for t in study.trials if t.state == "out"}
        with Bamsoo(tmp_path, "watch", "run.db") as watch:
            page = Page(browser, re.search(r"http://\S+", watch.process.stdout.readline()).group())
            wait_for(lambda: page.js("return !bamsooReport.report.model.reason"))
            listed = page.js(
                "return [...document.querySelectorAll('#out tbody tr')].map("
                "r => [...r.cells].map(c => c.innerText))"
            )
            assert len(listed) == 6
            assert {row[2] for row in listed} == models == {"svm", "forest"}
            assert all((row[3] != "") == (row[2] == "svm") for row in listed)
            assert "undefined" not in page.text("main")
            assert "NaN" not in page.text("main")
            assert page.complaints() == []


def write_at_once(path, text):
    """Write atomically, so that a reader finds either the old text or the new one."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)
