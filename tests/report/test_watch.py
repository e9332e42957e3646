"""`bamsoo watch`: the server's answers, and that following a study gives what reading it gives."""

import http.client
import json
import shutil
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest
from click.testing import CliRunner

import bamsoo
from bamsoo import Study
from bamsoo.command.main import main
from bamsoo.errors import StudyError
from bamsoo.report import describe
from bamsoo.report.server import Server
from bamsoo.report.watch import Watch
from bamsoo.study import writer
from bamsoo.study.writer import is_written

SPACE = {"x": (0, 10), "n": bamsoo.Int(1, 9), "mode": bamsoo.Choice(["fast", "exact"])}
NOTHING = {"trials": 0, "search": 0}


def value(params):
    if params["x"] > 8:
        return None
    return (params["x"] - 3) ** 2 + abs(params["n"] - 4) + (params["mode"] == "fast")


def evaluate(study, trials, leave_out=0):
    for i in range(trials):
        trial = study.ask()
        if i < trials - leave_out:
            study.tell(trial, value(trial.params), "the solver diverged")


def joined(watch):
    """The whole data of the page, joined as the page joins it."""
    news = watch.news(NOTHING)
    trials, search = news["trials"], news["search"]
    notes = {**trials["notes"], **search["notes"]}
    return {**trials, **search, "notes": notes, "best": search["best"] or trials["best"]}


def same(found, expected):
    for each in (found, expected):
        each.pop("made")
    assert json.loads(json.dumps(found)) == json.loads(json.dumps(expected))


@pytest.mark.parametrize(
    "algorithm",
    [
        bamsoo.algorithms.Auto(),
        bamsoo.algorithms.Auto(noise="learn"),
        bamsoo.algorithms.BaMSOO(),
        bamsoo.algorithms.SOO(),
        bamsoo.algorithms.Random(),
    ],
    ids=lambda algorithm: type(algorithm).__name__ + str(getattr(algorithm, "noise", "")),
)
def test_a_study_that_is_followed_looks_like_one_that_is_read_at_the_end(tmp_path, algorithm):
    path = tmp_path / "a.db"
    with Study.open(path, space=SPACE, algorithm=algorithm) as study:
        watch = Watch(path)
        for trials in (0, 1, 7, 6, 9):
            evaluate(study, trials, leave_out=min(trials, 2))
            watch.look()
            watch.think()
    with Study.open(path) as study:  # resumed: pending trials are handed out first
        evaluate(study, 4)
        watch.look()
        watch.think()
        same(joined(watch), describe(path))


def test_the_page_is_told_only_what_it_wants_and_does_not_know(tmp_path):
    path = tmp_path / "a.db"
    with Study.open(path, space=SPACE) as study:
        watch = Watch(path)
        first = watch.news(NOTHING)
        assert {"trials", "search"} <= set(first)
        versions = first["versions"]
        assert not {"trials", "search"} & set(watch.news(versions))
        evaluate(study, 5)
        watch.look()
        assert len(watch.news(versions)["trials"]["trials"]["value"]) == 5
        assert "search" not in watch.news(versions)
        watch.think()
        assert "search" in watch.news(versions)
        assert "search" not in watch.news({"trials": versions["trials"]})


def test_a_search_begun_afresh_or_another_study_in_its_place_is_walked_from_its_start(tmp_path):
    path, other = tmp_path / "a.db", tmp_path / "b.db"
    with Study.open(path, space=SPACE) as study:
        evaluate(study, 8)
    watch = Watch(path)
    watch.think()
    with Study.open(path, replay=False) as study:
        evaluate(study, 6)
    watch.look()
    watch.think()
    same(joined(watch), describe(path))
    with Study.open(other, space=SPACE, seed=1, algorithm="soo") as study:
        evaluate(study, 20)
    shutil.move(other, path)
    watch.look()
    watch.think()
    same(joined(watch), describe(path))


def test_a_study_that_replays_to_other_points_is_replayed_once(tmp_path, monkeypatch):
    path = tmp_path / "a.db"
    with Study.open(path, space=SPACE) as study:
        evaluate(study, 8)
    watch, walks = Watch(path), []

    def differs(study, search, observer):
        walks.append(study)
        raise StudyError("trial 0 differs")

    monkeypatch.setattr(Study, "_lead", differs)
    for _ in range(3):
        watch.think()
        assert watch.news(NOTHING)["search"]["partition"]["ended"] == "trial 0 differs"
        assert "fitted to the study" in watch.news(NOTHING)["search"]["model"]["says"]
        with Study.open(path, readonly=True) as study:
            watch._study = study  # read again, as if there were something new
    assert len(walks) == 1


def test_a_search_that_was_exhausted_and_goes_on_is_walked_again(tmp_path):
    path = tmp_path / "a.db"
    with Study.open(path, space={"n": bamsoo.Int(1, 3)}, algorithm="soo") as study:
        trials = [study.ask() for _ in range(3)]
        with pytest.raises(bamsoo.errors.ExhaustedError):
            study.ask()
        watch = Watch(path)
        watch.think()
        for trial in trials:
            study.tell(trial, float(trial.params["n"]))
        watch.look()
        watch.think()
        same(joined(watch), describe(path))


def test_the_page_says_when_a_study_disappears_and_comes_back(tmp_path):
    path = tmp_path / "a.db"
    with Study.open(path, space=SPACE) as study:
        evaluate(study, 5)
    watch = Watch(path)
    path.rename(tmp_path / "elsewhere.db")
    watch.look()
    assert "there is no such study" in watch.news({})["problem"]
    (tmp_path / "elsewhere.db").rename(path)
    watch.look()
    assert watch.news({})["problem"] is None


def test_watching_leaves_the_study_as_it_is(tmp_path):
    path = tmp_path / "a.db"
    with Study.open(path, space=SPACE) as study:
        evaluate(study, 5)
    before = path.read_bytes()
    with serving(Watch(path)) as server:
        assert ask(server, "/")[0] == 200
    assert path.read_bytes() == before


HOLD_OPEN = """
import sys
from bamsoo import Optimizer, Study
from bamsoo.errors import StudyError
with Study.open(sys.argv[1]):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(not writer.LOCKS.exists(), reason="this system lists no locks")
def test_whether_a_process_is_writing_the_study(tmp_path):
    path = tmp_path / "a.db"
    with Study.open(path, space=SPACE):
        pass
    assert is_written(path) is False
    command = [sys.executable, "-c", HOLD_OPEN, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"open\n"
        assert is_written(path) is True
        process.kill()
    assert is_written(path) is False


def test_without_a_list_of_locks_it_is_not_known_whether_a_run_is_active(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "LOCKS", tmp_path / "none")
    assert is_written(tmp_path / "a.db") is None


# --- the server


@contextmanager
def serving(watch, **where):
    with Server(watch, **where) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    path = tmp_path_factory.mktemp("watch") / "a.db"
    with Study.open(path, space=SPACE) as study:
        evaluate(study, 12, leave_out=1)
    with serving(Watch(path)) as running:
        yield running


def ask(server, path, method="GET", **headers):
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=30)
    try:
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, content in headers.items():
            connection.putheader(name, content)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers
    finally:
        connection.close()


def test_the_page_and_its_policy(server):
    status, page, headers = ask(server, "/")
    assert status == 200
    assert "a.db · bamsoo" in page
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in headers


def test_the_news(server):
    status, text, headers = ask(server, "/news?trials=0&search=0")
    news = json.loads(text)
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert len(news["trials"]["trials"]["value"]) == 12
    status, text, _ = ask(server, f"/news?trials={news['versions']['trials']}")
    assert status == 200
    assert "trials" not in json.loads(text)


@pytest.mark.parametrize("query", ["trials=x", "trials=-1", "trials=" + "9" * 400, "a=%00", "&&="])
def test_strange_requests_are_answered(server, query):
    assert ask(server, f"/news?{query}")[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "/a.db", "/..%2fa.db", "/../../../../etc/passwd", "//etc/passwd", "/index.html", "/news/",
        "/%2e%2e/%2e%2e/etc/passwd", "file:///etc/passwd", "/assets/page.css", "/.",
        "http://127.0.0.1/a.db",
    ],
)  # fmt: skip
def test_no_file_can_be_reached(server, path):
    status, text, _ = ask(server, path)
    assert (status, text) == (404, "There is nothing here; the page is at /.\n")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD"])
def test_nothing_can_be_sent(server, method):
    assert ask(server, "/", method)[0] == 501


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8000", 200), ("localhost", 200), ("LOCALHOST:1", 200), ("[::1]:8000", 200),
        ("evil.example", 421), ("127.0.0.1.evil.example", 421), ("localhost.evil.example:80", 421),
        ("", 421), ("[", 421), ("evil.example@localhost.example", 421),
    ],
)  # fmt: skip
def test_another_name_for_this_machine_is_refused(server, host, status):
    assert ask(server, "/news", Host=host)[0] == status


def test_it_listens_only_on_loopback(server):
    assert server.server_address[0] == "127.0.0.1"
    assert server.url == f"http://127.0.0.1:{server.server_port}/"
    machine = socket.gethostbyname(socket.gethostname())
    if not machine.startswith("127."):
        with pytest.raises(OSError):
            socket.create_connection((machine, server.server_port), timeout=2)


def test_a_name_that_was_asked_for_is_answered_to(tmp_path):
    path = tmp_path / "a.db"
    Study.open(path, space=SPACE).close()
    with serving(Watch(path), host="localhost") as server:
        assert ask(server, "/", Host="localhost")[0] == 200


def test_a_port_in_use_gives_one_sentence(server, tmp_path):
    path = server.watch.path
    run = CliRunner().invoke(main, ["watch", str(path), "--port", str(server.server_port)])
    assert run.exit_code == 2
    assert "give another --port" in run.output
    assert run.output.count("\n") == 1
    run = CliRunner().invoke(main, ["watch", str(tmp_path / "none.db")])
    assert run.exit_code == 2
    assert "there is no such study" in run.output


def test_many_trials_are_described_quickly_enough_to_follow(tmp_path):
    """The data sent to the page for a trial does not grow with the number of trials before it."""
    path = tmp_path / "a.db"
    rng = np.random.default_rng(0)
    with Study.open(path, space=SPACE, algorithm="random") as study:
        sizes = []
        for trials in (100, 100, 100):
            for _ in range(trials):
                study.tell(study.ask(), float(rng.random()))
            watch = Watch(path, replay=False)
            watch.think()
            sizes.append(len(json.dumps(watch.news(NOTHING)["trials"])))
    assert sizes[2] - sizes[1] < 1.1 * (sizes[1] - sizes[0])
