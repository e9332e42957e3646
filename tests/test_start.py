"""The user's own points: those to evaluate first, and those known from earlier work."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_array_equal
from searches import ONCE, main_of

import bamsoo
from bamsoo import Choice, Int, Optimizer, Real, Study
from bamsoo.command.main import main

BOX = [(-5, 10), (0, 15)]
MIXED = {"rate": Real(1e-4, 1.0, log=True), "n": Int(1, 12), "kind": Choice(["a", "b"])}
branin = bamsoo.problems.branin


def cost(rate, n, kind):
    return (np.log10(rate) + 2.5) ** 2 + 0.1 * (n - 4) ** 2 + (kind == "b")


class Counted:
    def __init__(self, function):
        self.function, self.points = function, []

    def __call__(self, *args, **kwargs):
        self.points.append(kwargs or args[0].tolist())
        return self.function(*args, **kwargs)


@main_of(ONCE)
def test_the_given_points_are_evaluated_first_and_count(algorithm):
    first = [[1.0, 2.0], [-5.0, 15.0], [3.3, 3.3]]
    fun = Counted(branin)
    r = bamsoo.minimize(fun, BOX, 10, algorithm=algorithm, x0=first)
    assert fun.points[:3] == first
    assert len(fun.points) == r.nfev == 10
    assert r.F[:3].tolist() == [branin(np.array(x)) for x in first]


def test_one_point_needs_no_list():
    assert bamsoo.minimize(branin, BOX, 2, x0=[1, 2]).X[0].tolist() == [1, 2]
    assert bamsoo.minimize(branin, BOX, 2, x0=np.array([1, 2])).X[0].tolist() == [1, 2]
    point = {"rate": 0.1, "n": 3, "kind": "b"}
    assert bamsoo.minimize(cost, MIXED, 2, x0=point).X[0] == point
    assert bamsoo.minimize(cost, MIXED, 2, x0=[point]).X[0] == point


def test_the_budget_holds_whatever_is_given():
    r = bamsoo.minimize(branin, BOX, 2, x0=[[1, 2], [3, 4], [5, 6]])
    assert r.X.tolist() == [[1, 2], [3, 4]]


def test_a_point_given_twice_is_evaluated_once():
    fun = Counted(branin)
    bamsoo.minimize(fun, BOX, 5, x0=[[1, 2], [1, 2]], known=[([3, 4], 7.0)])
    assert fun.points.count([1, 2]) == 1
    fun = Counted(branin)
    bamsoo.minimize(fun, BOX, 5, x0=[[3, 4]], known=[([3, 4], 7.0)])
    assert [3, 4] not in fun.points


def test_with_the_centre_given_first_the_search_goes_on_as_without():
    centre = [2.5, 7.5]
    with_it = bamsoo.minimize(branin, BOX, 30, x0=centre, algorithm="soo")
    assert_array_equal(with_it.X, bamsoo.minimize(branin, BOX, 30, algorithm="soo").X)


@main_of(ONCE)
def test_what_is_known_does_not_count_and_is_not_evaluated(algorithm):
    known = [([2.5, 7.5], branin(np.array([2.5, 7.5]))), ((1, 1), None)]
    fun = Counted(branin)
    r = bamsoo.minimize(fun, BOX, 8, algorithm=algorithm, known=known)
    assert r.nfev == len(fun.points) == 8
    assert len(r.F) == 10
    assert [2.5, 7.5] not in fun.points
    assert r.failures == [(None, "the value is None")]


def test_known_values_are_those_of_tells():
    known = [({"rate": 0.5, "n": n, "kind": "a"}, float(n)) for n in (2, 5, 9)]
    opt = Optimizer(MIXED)
    for point, value in known:
        opt.tell(point, value)
    for _ in range(15):
        trial = opt.ask()
        opt.tell(trial, cost(**trial.params))
    assert bamsoo.minimize(cost, MIXED, 15, known=iter(known)).X == opt.result.X


@pytest.mark.parametrize(
    "given, match",
    [
        ({"x0": [[1, 2], [3, 99]]}, "outside"),
        ({"x0": 3.0}, r"a point \(2 numbers\) or a list of points, got 3.0"),
        ({"x0": [1, 2, 3]}, "shape"),
        ({"known": [[1, 2]]}, "outside|must"),
        ({"known": {"a": 1}}, r"a list of \(point, value\) pairs"),
        ({"known": [([1, 2], "low")]}, "one real number"),
        ({"known": [([1, 2, 3], 1.0)]}, "shape"),
    ],
)
def test_an_invalid_point_is_refused_before_anything_is_evaluated(given, match, tmp_path):
    fun = Counted(branin)
    with pytest.raises(bamsoo.BamsooError, match=match):
        bamsoo.minimize(fun, BOX, 5, study=tmp_path / "run.db", **given)
    assert fun.points == []
    if (tmp_path / "run.db").exists():
        with Study.open(tmp_path / "run.db", readonly=True) as study:
            assert study.trials == []


# --- in studies


@pytest.mark.parametrize(
    "algorithm", ["auto", "soo", "logo", bamsoo.algorithms.StoSOO(budget=20)], ids=str
)
def test_a_study_keeps_them_and_goes_on_as_one_run(algorithm, tmp_path):
    given = {
        "algorithm": algorithm,
        "x0": [{"rate": 0.1, "n": 3, "kind": "b"}, {"rate": 0.2, "n": 12, "kind": "a"}],
        "known": [({"rate": 0.3, "n": 5, "kind": "b"}, 2.5)],
    }
    whole = bamsoo.minimize(cost, MIXED, 20, **given)
    path = tmp_path / "run.db"
    for budget in (1, 2, 7, 20):
        r = bamsoo.minimize(cost, MIXED, budget, study=path, **given)
        assert r.nfev == budget
    assert r.X == whole.X
    with Study.open(path, readonly=True) as study:
        assert [t.state for t in study.trials].count("given") == 1
        assert [t.number for t in study.trials if t.number is not None] == list(range(20))
        assert study.replay().result.X == whole.X
    with Study.open(path, replay=False) as study:
        trial = study.ask()
        study.tell(trial, cost(**trial.params))
        assert study.result.nfev == 21
    with Study.open(path) as study:
        assert study.result.nfev == 21


def test_points_that_were_pending_when_the_process_ended_are_evaluated_first(tmp_path):
    path = tmp_path / "run.db"
    with Study.open(path, space=BOX, algorithm="soo") as study:
        study.enqueue([1, 2])
        study.enqueue([3, 4])
        assert study.ask().x.tolist() == [1, 2]
        assert [t.state for t in study.trials] == ["out", "out"]
    with Study.open(path) as study:
        trials = study.ask(3)
        assert [t.x.tolist() for t in trials] == [[1, 2], [3, 4], [2.5, 7.5]]
        for trial in trials:
            study.tell(trial, 1.0)
    with Study.open(path) as study:
        assert study.result.nfev == 3


def test_the_report_of_a_study_with_points_of_ones_own(tmp_path):
    from bamsoo import report

    path = tmp_path / "run.db"
    bamsoo.minimize(branin, BOX, 12, study=path, x0=[[1, 2], [3, 4]])
    assert report.write(path, tmp_path / "page.html")


def test_several_workers_take_them_first():
    r = bamsoo.minimize(branin, BOX, 12, x0=[[1, 2], [3, 4], [5, 6]], workers=2)
    table = r.to_dataframe().sort_values("trial")
    assert table[["x0", "x1"]].values[:3].tolist() == [[1, 2], [3, 4], [5, 6]]
    assert r.nfev == 12


def test_an_enqueued_point_is_pending_in_the_gp():
    opt = Optimizer([(0, 1)], algorithm="bamsoo")
    opt.enqueue([0.3])
    first = opt.ask()
    for _ in range(3):
        opt.tell(opt.ask(), 0.0)
    assert [x.tolist() for x, _ in opt.book.out.values()] == [[0.3]]
    opt.tell(first, 1.0)
    assert opt.book.t == 4


# --- in the command


def run(*args):
    done = CliRunner().invoke(main, list(args))
    return done.exit_code, done.output


def module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "objective_of_x0.py").write_text(
        "def f(rate, n, kind):\n    return rate + n + (kind == 'b')\n"
    )
    return [
        "minimize", "objective_of_x0:f", "--param", "rate:1e-4:1:log", "--param", "n:1:12:int",
        "--param", "kind=a,b", "--budget", "3", "--study", "run.db",
    ]  # fmt: skip


def test_x0_on_the_command_line(tmp_path, monkeypatch):
    line = module(tmp_path, monkeypatch)
    given = ["--x0", "rate=0.1,n=3,kind=b", "--x0", "n=7, kind=a, rate=0.5"]
    code, output = run(*line, *given, "--json")
    assert code == 0
    assert json.loads(output)["evaluations"] == 3
    with Study.open("run.db", readonly=True) as study:
        assert [t.params for t in study.trials[:2]] == [
            {"rate": 0.1, "n": 3, "kind": "b"},
            {"rate": 0.5, "n": 7, "kind": "a"},
        ]
    assert run("resume", "run.db", "--budget", "5")[0] == 0


@pytest.mark.parametrize(
    "text, match",
    [
        ("rate=0.1,n=3", "kind"),
        ("rate=0.1,n=3,mode=b", "unknown parameter 'mode'; expected some of rate, n, kind"),
        ("rate=fast,n=3,kind=b", "rate must be a number, got 'fast'"),
        ("0.1,3,b", "expected NAME=VALUE,NAME=VALUE, got '0.1'"),
        ("rate=7,n=3,kind=b", "outside"),
        ("rate=0.1,n=3,kind=c", "expected one of"),
    ],
)
def test_an_invalid_x0_is_refused(text, match, tmp_path, monkeypatch):
    code, output = run(*module(tmp_path, monkeypatch), "--x0", text)
    assert code == 2
    assert match in output
    assert not (tmp_path / "run.db").exists()


def test_x0_in_a_file(tmp_path, monkeypatch):
    module(tmp_path, monkeypatch)
    (tmp_path / "run.toml").write_text(
        'target = "objective_of_x0:f"\nbudget = 2\nx0 = [{rate = 0.1, n = 3, kind = "b"}]\n'
        "[params]\nrate = {low = 1e-4, high = 1}\nn = {low = 1, high = 12, int = true}\n"
        'kind = {choices = ["a", "b"]}\n'
    )
    code, output = run("minimize", "run.toml", "--study", "run.db")
    assert code == 0, output
    with Study.open("run.db", readonly=True) as study:
        assert study.trials[0].params == {"rate": 0.1, "n": 3, "kind": "b"}
