"""A real cluster on this machine, whose scheduler and workers are separate processes that die."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

import bamsoo
from bamsoo.command import plan
from bamsoo.command.main import main
from bamsoo.run import executors

from waiting import wait_for

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.slow  # each needs a cluster of processes

SPACE = {"x": (0.0, 1.0)}


class Cluster:
    """`dask scheduler` and some `dask worker`, started and killed one by one."""

    def __init__(self, place):
        self.place, self.processes = place, []
        file = place / "scheduler.json"
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)
        )
        self.address = wait_for(lambda: file.exists() and file.read_text())
        self.address = json.loads(self.address)["address"]

    def _start(self, *words):
        log = (self.place / f"{words[0]}{len(self.processes)}.log").open("w")
        with log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *words, "--no-dashboard"],
                stdout=log,
                stderr=log,
                cwd=self.place,
            )
        self.processes.append(process)
        return process

    def worker(self):
        return self._start("worker", self.address, "--nthreads", "1", "--no-nanny")

    def close(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()


@contextmanager
def cluster_in(place, workers):
    cluster = Cluster(place)
    try:
        for _ in range(workers):
            cluster.worker()
        yield cluster
    finally:
        cluster.close()


@contextmanager
def client_of(address, workers=0, timeout=60):
    # the client also tries for this long to reconnect to a lost scheduler
    client = distributed.Client(address, timeout=timeout, set_as_default=False)
    try:
        if workers:
            client.wait_for_workers(workers, timeout=60)
        yield client
    finally:
        client.close(timeout=1)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with cluster_in(tmp_path_factory.mktemp("cluster"), 2) as made:
        yield made


def objective(log):
    def slow(x):
        with log.open("a") as file:
            file.write(f"{os.getpid()} {x!r}\n")
        time.sleep(0.05)
        return (x - 0.3) ** 2

    return slow


def pids(log):
    return {int(line.split()[0]) for line in log.read_text().splitlines()}


def test_a_worker_killed_in_mid_evaluation_and_another_started(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(executors, "LOOK", 0.1)
    log, path, told = tmp_path / "log", tmp_path / "run.db", []
    fun = objective(log)

    def meddle(intermediate_result):
        told.append(intermediate_result.X[-1])
        if len(told) == 4:
            victim = int(log.read_text().splitlines()[-1].split()[0])
            os.kill(victim, 9)
            meddle.victim = victim
        if len(told) == 8:
            meddle.fresh = cluster.worker().pid
            client.wait_for_workers(2, timeout=60)

    with client_of(cluster.address, 2) as client:
        executor = client.get_executor(pure=False)
        r = bamsoo.minimize(
            fun, SPACE, 60, workers=executor, algorithm="soo", study=path, callback=meddle
        )
    assert (r.nfev, r.nfailed) == (60, 0)
    assert told == r.X
    assert meddle.victim in pids(log)
    assert meddle.fresh in pids(log)
    with bamsoo.Study.open(path) as study:  # the order of completions is in it, and is replayed
        assert told == study.result.X
        assert not [t for t in study.trials if t.state == "out"]


def test_exceptions_and_deaths_on_the_cluster(cluster):
    def fails(x):
        raise LookupError(f"no {x}")

    with client_of(cluster.address, 2) as client:
        executor = client.get_executor(pure=False)
        with pytest.raises(LookupError, match="no ") as caught:
            bamsoo.minimize(fails, SPACE, 5, workers=executor)
        assert "in fails" in caught.value.__notes__[0]
        with pytest.raises(bamsoo.errors.SettingsError, match=r"client.get_executor\(pure=False\)"):
            bamsoo.minimize(fails, SPACE, 5, workers=client)


def resumed(path, told):
    """The study has everything that was acknowledged, and continues without the cluster."""
    r = bamsoo.minimize(lambda x: (x - 0.3) ** 2, SPACE, 30, algorithm="soo", study=path)
    assert r.nfev == 30
    assert r.X[: len(told)] == told
    with bamsoo.Study.open(path) as study:
        assert {t.state for t in study.trials} == {"done"}


class Proxy:
    """A network connection between a client and a scheduler, which can be cut."""

    def __init__(self, address):
        host, port = re.fullmatch(r"tcp://(.*):(\d+)", address).groups()
        self._to, self._ends = (host, int(port)), []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads = []
        self._spawn(self._accept)

    def _spawn(self, target, *args):
        thread = threading.Thread(target=target, args=args)
        thread.start()
        self._threads.append(thread)

    def _accept(self):
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._to)
                self._ends += [near, far]
                self._spawn(self._carry, near, far)
                self._spawn(self._carry, far, near)

    @staticmethod
    def _carry(source, sink):
        with suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def cut(self):
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)
        for end in self._ends:
            end.close()


@pytest.mark.long
def test_a_network_cut_to_the_scheduler_loses_nothing_told(cluster, tmp_path):
    told, path = [], tmp_path / "run.db"
    wire = Proxy(cluster.address)

    def cut(intermediate_result):
        told.append(intermediate_result.X[-1])
        if len(told) == 6:
            wire.cut()

    with (
        client_of(wire.address, 2, timeout=5) as client,
        pytest.raises(bamsoo.errors.WorkerError, match="everything told so far is in") as caught,
    ):
        bamsoo.minimize(
            *(objective(tmp_path / "log"), SPACE, 30),
            workers=client.get_executor(pure=False),
            algorithm="soo",
            study=path,
            callback=cut,
        )
    assert caught.value.result.X[: len(told)] == told
    resumed(path, told)


def test_the_command_on_a_cluster(cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine_d.py").write_text(
        "import os\ndef loss(x):\n    open('pids', 'a').write(f'{os.getpid()}\\n')\n    return x\n"
        .replace("'pids'", repr(str(tmp_path / "pids")))
    )  # fmt: skip
    with client_of(cluster.address, 2):
        pass

    def run(*args, code=0):
        done = CliRunner().invoke(main, [str(a) for a in args])
        assert done.exit_code == code, done.output + done.stderr
        return done

    common = ("--param", "x:0:10", "--algorithm", "soo", "--json", "--scheduler", cluster.address)
    out = run("minimize", "mine_d:loss", *common, "--budget", 6).stdout
    assert json.loads(out)["evaluations"] == 6
    assert json.loads(out)["failed"] == 0
    assert os.getpid() not in {int(pid) for pid in (tmp_path / "pids").read_text().split()}
    script = ("--", "sh", "-c", "echo $PPID >> parents; echo $0", "{x}")
    run("minimize", *common, "--workers", 3, "--budget", 6, "--study", "run.db", *script)
    parents = {int(pid) for pid in (tmp_path / "parents").read_text().split()}
    assert parents <= {process.pid for process in cluster.processes}
    out = run("resume", "run.db", "--budget", 8, "--json").stdout  # on the same cluster again
    assert json.loads(out)["evaluations"] == 8

    def lost(*args, **kwargs):
        raise bamsoo.errors.WorkerError(
            "the cluster is gone; and so on"
        ) from bamsoo.errors.WorkerError("gone")

    monkeypatch.setattr(plan, "drive", lost)
    done = run("resume", "run.db", "--budget", 9, code=3)
    assert "gone; 8 of 9 evaluations are saved; continue with: bamsoo resume run.db" in done.stderr


def test_a_scheduler_that_is_not_there_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plan, "ANSWERS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = taken.getsockname()[1]
    line = ["minimize", "branin", "--budget", "3", "--study", "run.db", "--scheduler"]
    done = CliRunner().invoke(main, [*line, f"tcp://127.0.0.1:{free}"])
    assert done.exit_code == 2
    assert "no Dask scheduler answers at this address" in done.stderr
    assert not Path("run.db").exists()
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = CliRunner().invoke(main, [*line, "tcp://127.0.0.1:1"])
    assert "needs Dask" in done.stderr


@pytest.mark.long
def test_a_scheduler_that_is_lost_takes_nothing_told_with_it(tmp_path):
    told, path = [], tmp_path / "run.db"
    with (
        cluster_in(tmp_path, 1) as cluster,
        client_of(cluster.address, 1, timeout=5) as client,
    ):

        def kill(intermediate_result):
            told.append(intermediate_result.X[-1])
            if len(told) == 6:
                cluster.scheduler.kill()

        with pytest.raises(
            bamsoo.errors.WorkerError, match="everything told so far is in"
        ) as caught:
            bamsoo.minimize(
                *(objective(tmp_path / "log"), SPACE, 30),
                workers=(client.get_executor(pure=False), 2),
                algorithm="soo",
                study=path,
                callback=kill,
            )
    assert caught.value.result.X[: len(told)] == told
    resumed(path, told)
