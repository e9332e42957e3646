"""What fixed parameters were in earlier evaluations, in every kind of source."""

import pytest

import bamsoo
from bamsoo import Choice, Int, Real, Study
from bamsoo.run.history import with_history
from bamsoo.space import Fixed

from command_line import bamsoo_

OLD = {
    "x": (0, 1),
    "d": Real(0.05, 0.2, log=True),
    "n": Int(1, 9),
    "mode": Choice({"fast": {"C": (0, 1)}, "exact": None}),
}
NEW = {"x": (0, 1), "d": 0.3, "n": 3, "mode": "exact", "new": 2.0}


def loss(x, d, n, mode, C=0.0, new=2.0):
    return (x - 0.3) ** 2 + d + n + C


@pytest.fixture
def old(tmp_path):
    bamsoo.minimize(loss, OLD, 12, study=tmp_path / "old.db")
    with Study.open(tmp_path / "old.db", readonly=True) as study:
        study.result.to_dataframe().to_csv(tmp_path / "old.csv", index=False)
        yield study


def source(form, old):
    table = old.result.to_dataframe()
    return {
        "study": old,
        "path": old.path,
        "frame": table,
        "csv": old.path.with_suffix(".csv"),
        "pairs": list(zip(old.result.X, old.result.F, strict=True)),
    }[form]


@pytest.mark.parametrize("form", ["study", "path"])
def test_a_study_says_what_its_parameters_were(form, old):
    made = with_history(NEW, [source(form, old)])
    assert made["x"] == Real(0, 1)
    assert made["d"] == Fixed(0.3, Real(0.05, 0.3, log=True))  # wide enough for the value
    assert made["n"] == Fixed(3, Real(1, 9))
    assert set(made["mode"].was.options) == {"fast", "exact"}
    assert made["new"] == Fixed(2.0)


@pytest.mark.parametrize("form", ["frame", "csv", "pairs"])
def test_a_table_says_which_values_there_were(form, old):
    made = with_history(NEW, [source(form, old)])
    values = [p["d"] for p in old.result.X]
    assert made["d"] == Fixed(0.3, Real(min(values), 0.3))
    assert set(made["mode"].was.options) == {"fast", "exact"}


@pytest.mark.parametrize("form", ["study", "path", "frame", "csv", "pairs"])
def test_a_search_learns_from_all_of_them_and_counts_none(form, old, tmp_path):
    path = tmp_path / "new.db"
    for budget in (4, 7):  # the second time, the study's own settings count
        r = bamsoo.minimize(
            loss, NEW, budget, study=path, known=source(form, old), fill={"new": 2.0}, ignore=["C"]
        )
        assert (r.nfev, r.nfailed, r.ninfeasible, len(r.F)) == (budget, 0, 0, 12 + budget)
        assert not r.feasible[:12].any() and r.feasible[12:].all()
        assert r.params == {"x": r.params["x"], "d": 0.3, "n": 3, "mode": "exact", "new": 2.0}
        assert all(e.params["n"] == 3 for e in r.front)
    with Study.open(path) as study:
        assert study.replayed.trials == 7
        assert sorted(e.value for e in study.evaluations[:12]) == sorted(old.result.F)


def test_sources_that_cannot_be_read_and_other_spaces_are_left_to_others(tmp_path):
    (tmp_path / "bad.csv").write_bytes(b"\xff\x00")
    assert with_history([(0, 1)], [3]) == [(0, 1)]
    made = with_history(NEW, [tmp_path / "bad.csv", "nowhere.db", 3, [(1, 2), "x"]])
    assert made["d"] == Fixed(0.3)


def test_what_was_fixed_before_may_be_fixed_elsewhere(tmp_path):
    path, other = tmp_path / "one.db", {"x": (0, 1), "d": 0.1}
    bamsoo.minimize(lambda x, d: x + d, other, 5, study=path)
    r = bamsoo.minimize(lambda x, d: x + d, {"x": (0, 1), "d": 0.2}, 5, known=path)
    assert len(r.F) == 10
    assert r.fun >= 0.2


def test_answers_are_about_the_fixed_value_and_not_about_better_ones_in_the_past():
    def fun(x, d, mode):
        return (x - 0.3) ** 2 + 10 * (d - 0.1) ** 2 + (mode == "b"), {"T": 10 * x}

    past = {"x": (0, 1), "d": (0.05, 0.2), "mode": Choice(["a", "b"])}
    old = bamsoo.minimize(fun, past, 25)
    pairs = [(e.params, (e.value, dict(e.extras))) for e in old.evaluations]
    now = {"x": (0, 1), "d": 0.15, "mode": "b"}  # at best 1.025, and in the past almost 0
    r = bamsoo.minimize(fun, now, 8, known=pairs, constraints=["T <= 8"])
    assert r.fun == pytest.approx(1.025, abs=1e-4)
    for forecast in (r.what_if([]), r.what_if("T <= 9"), r.what_if("x <= 0.9")):
        assert forecast.params["d"] == 0.15
        assert forecast.fun == pytest.approx(1.025, abs=0.02)
        assert forecast.low > 0.9
    assert r.robust({"x": 0.01}).fun == pytest.approx(1.025, abs=0.02)
    assert r.gap < 0.1  # the old values are not left to gain
    with pytest.raises(bamsoo.BamsooError, match=r"d is fixed at 0\.15"):
        r.what_if("d <= 0.12")
    with pytest.raises(bamsoo.BamsooError, match=r"d is fixed at 0\.15"):
        r.robust({"d": 0.01})


def test_a_new_parameter_is_fixed_at_another_value_than_it_had(tmp_path):
    bamsoo.minimize(lambda x: x, {"x": (0, 1)}, 5, study=tmp_path / "old.db")
    space, path = {"x": (0, 1), "mesh": 0.2}, tmp_path / "new.db"
    settings = {"study": path, "known": tmp_path / "old.db", "fill": {"mesh": 0.3}}
    for budget in (3, 4):  # the same line goes on
        r = bamsoo.minimize(lambda x, mesh: x + mesh, space, budget, **settings)
        assert [p["mesh"] for p in r.X] == [0.3] * 5 + [0.2] * budget
        assert not r.feasible[:5].any()
        assert r.fun >= 0.2
    fork = ("fork", tmp_path / "old.db", tmp_path / "2.db", "--fix", "mesh=0.2", "--fill")
    bamsoo_(*fork, "mesh=0.3")
    with Study.open(tmp_path / "2.db", readonly=True) as study:
        assert [t.feasible for t in study.trials] == [False] * 5


def test_what_is_assumed_of_pairs_is_kept(tmp_path):
    known = [({"x": 0.1, "site": "Ulm"}, 1.0)]
    settings = {"known": known, "ignore": ["site"], "fill": {"mesh": 0.3}}
    space, path = {"x": (0, 1), "mesh": (0, 1)}, tmp_path / "run.db"
    bamsoo.minimize(lambda x, mesh: x + mesh, space, 1, study=path, **settings)
    said = "1 evaluation; assumed to have had mesh=0.3; assumed not to depend on site"
    assert said in bamsoo_("show", path)


def test_a_table_of_first_points_needs_no_column_of_what_is_fixed():
    pandas = pytest.importorskip("pandas")
    x0 = pandas.DataFrame({"x": [0.1, 0.2]})
    r = bamsoo.minimize(lambda x, d: x + d, {"x": (0, 1), "d": 2.0}, 2, x0=x0)
    assert r.X == [{"x": 0.1, "d": 2.0}, {"x": 0.2, "d": 2.0}]
