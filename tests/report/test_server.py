"""The server of a live page: what it answers, and to whom."""

import http.client
import json
import socket
import threading
from contextlib import contextmanager

import pytest
from click.testing import CliRunner
from report_runs import SPACE, evaluate

from bamsoo import Study
from bamsoo.command.main import main
from bamsoo.report.server import Server
from bamsoo.report.watch import Watch


def test_watching_leaves_the_study_as_it_is(tmp_path):
    path = tmp_path / "a.db"
    with Study.open(path, space=SPACE) as study:
        evaluate(study, 5)
    before = path.read_bytes()
    with serving(Watch(path)) as server:
        assert ask(server, "/")[0] == 200
    assert path.read_bytes() == before


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
    path = server.watch._source.study
    run = CliRunner().invoke(main, ["watch", str(path), "--port", str(server.server_port)])
    assert run.exit_code == 2
    assert "give another --port" in run.output
    assert run.output.count("\n") == 1
    run = CliRunner().invoke(main, ["watch", str(tmp_path / "none.db")])
    assert run.exit_code == 2
    assert "there is no such study" in run.output
