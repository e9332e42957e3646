"""Evaluations from earlier work: pairs, data frames, CSV files and studies."""

import numpy as np
import pytest

import bamsoo
from bamsoo import Choice, Fidelity, Int, Real, Study
from bamsoo.command.table import write_csv
from bamsoo.errors import SettingsError, SpaceError
from bamsoo.run.earlier import Terms
from bamsoo.run.known import as_known
from bamsoo.space import Constraints, Point, Space

from command_line import bamsoo_

SPACE = {
    "rate": Real(1e-3, 1.0, log=True),
    "model": Choice({"svm": {"C": Real(0.1, 10.0)}, "forest": {"depth": Int(1, 9)}, "none": None}),
}


def objective(rate, model, C=1.0, depth=3):
    if rate > 0.5:
        return None
    return abs(np.log10(rate) + 1) + {"svm": C, "forest": depth, "none": 4.0}[model]


@pytest.fixture
def earlier(tmp_path):
    return bamsoo.minimize(objective, SPACE, 14, study=tmp_path / "run.db")


def given(known, space=SPACE, **settings):
    """What a run begins with: the points and values that were told before the first trial."""
    r = bamsoo.minimize(lambda **_: 9.0, space, 1, known=known, **settings)
    before = [e for e in r.evaluations if e.number is None]
    return r, [(r.space.params(e.x), e.value) for e in before]


def same(one, other):
    return [(p, repr(v)) for p, v in one] == [(p, repr(v)) for p, v in other]


def test_a_data_frame_a_csv_file_and_a_study_say_the_same(earlier, tmp_path):
    expected = list(zip(earlier.X, earlier.F.tolist(), strict=True))
    assert any(np.isnan(value) for _, value in expected)
    frame = earlier.to_dataframe()
    frame.to_csv(tmp_path / "run.csv", index=False)
    with Study.open(tmp_path / "run.db", readonly=True) as study:
        for known in (frame, tmp_path / "run.csv", str(tmp_path / "run.db"), study):
            r, told = given(known)
            assert same(told, expected)
            assert "left out" not in r.message


def test_several_sources_are_all_taken(earlier, tmp_path):
    expected = list(zip(earlier.X, earlier.F.tolist(), strict=True))
    frame = earlier.to_dataframe()
    pairs = [({"rate": 0.01, "model": "none"}, 3.5), ({"rate": 0.4, "model": "none"}, 3.0)]
    frame[5:9].to_csv(tmp_path / "part.csv", index=False)
    sources = [frame[:5], tmp_path / "part.csv", frame[9:], pairs]
    r, told = given(sources)
    assert same(told, expected + pairs)
    assert given((tmp_path / "run.db",))[1] == given(tmp_path / "run.db")[1]
    study = tmp_path / "again.db"
    for _ in range(2):
        r = bamsoo.minimize(objective, SPACE, 2, known=sources, study=study, algorithm="random")
        assert (r.nfev, len(r.F)) == (2, 18)
    with Study.open(study, readonly=True) as stored:
        assert len(stored.ledger.imports) == 3
    with pytest.raises(SettingsError, match=r"there is no file .*nowhere.db"):
        given([frame, "nowhere.db"])


def test_what_lies_outside_other_ranges_is_left_out_and_counted(earlier, tmp_path, caplog):
    narrow = {**SPACE, "rate": Real(0.02, 0.2, log=True)}
    inside = [each for each in earlier.X if 0.02 <= each["rate"] <= 0.2]
    assert 0 < len(inside) < 14
    for known in (earlier.to_dataframe(), tmp_path / "run.db"):
        r, told = given(known, narrow)
        assert [point for point, _ in told] == inside
        count = f"{14 - len(inside)} of 14 known evaluations do not fit the space and were left out"
        assert count in r.message
        assert count in caplog.text


def test_measured_constraints_and_variances_come_with_a_study(tmp_path):
    with Study.open(tmp_path / "run.db", space={"x": (0, 1)}, constraints=["load"]) as study:
        study.tell({"x": 0.25}, 2.0, constraints={"load": 0.5}, variance=0.01)
        study.tell({"x": 0.5}, 3.0, constraints={"load": -0.5})
    r = bamsoo.minimize(
        lambda x: (x, {"load": 0.0}), {"x": (0, 1)}, 1, known=tmp_path / "run.db",
        constraints=["load"],
    )  # fmt: skip
    assert [(e.value, e.measured, e.variance) for e in r.evaluations[:2]] == [
        (2.0, (0.5,), 0.01),
        (3.0, (-0.5,), None),
    ]
    _, told = given(tmp_path / "run.db", {"x": (0, 1)})  # measured numbers that nobody asks for
    assert told == [({"x": 0.25}, 2.0), ({"x": 0.5}, 3.0)]


def test_columns_of_optuna_are_understood():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "number": [0, 1, 2, 3],
            "value": [1.0, 2.0, np.nan, 4.0],
            "params_x": [0.1, 0.2, 0.3, 0.4],
            "state": ["COMPLETE", "COMPLETE", "FAIL", "PRUNED"],
        }
    )
    _, told = given(frame, {"x": (0, 1)})
    assert same(told, [({"x": 0.1}, 1.0), ({"x": 0.2}, 2.0), ({"x": 0.3}, np.nan)])


class LikePolars:
    """What a data frame of polars has, as far as it is used."""

    def __init__(self, rows):
        self.columns, self._rows = list(rows[0]), rows

    def iter_rows(self, *, named):
        assert named
        return iter(self._rows)


ROWS = [
    {"kind": "a", "x": 0.1, "n": 2, "value": 1.0},
    {"kind": "b", "x": None, "n": 3, "value": 2.0},
    {"kind": "b", "x": np.nan, "n": 4, "value": None},
]


def arrow_table(rows):
    return pytest.importorskip("pyarrow").Table.from_pylist(rows)


@pytest.mark.parametrize(
    "made", [LikePolars, arrow_table, lambda rows: arrow_table(rows).to_batches()[0]]
)
def test_a_data_frame_of_any_library_is_read(made):
    space = {"kind": bamsoo.Choice({"a": {"x": (0, 1)}, "b": {}}), "n": bamsoo.Int(1, 5)}
    _, told = given(made(ROWS), space)
    assert same(
        told,
        [
            ({"kind": "a", "x": 0.1, "n": 2}, 1.0),
            ({"kind": "b", "n": 3}, 2.0),
            ({"kind": "b", "n": 4}, np.nan),
        ],
    )


@pytest.mark.parametrize("made", [LikePolars, arrow_table])
def test_the_first_points_may_be_a_data_frame(made):
    space = {"kind": bamsoo.Choice({"a": {"x": (0, 1)}, "b": {}}), "n": bamsoo.Int(1, 5)}
    points = [{name: cell for name, cell in row.items() if name != "value"} for row in ROWS]
    r = bamsoo.minimize(lambda n, **rest: n, space, 3, x0=made(points))
    assert r.X == [{"kind": "a", "x": 0.1, "n": 2}, {"kind": "b", "n": 3}, {"kind": "b", "n": 4}]
    rows = [{"u": 0.1, "v": 2.0}, {"u": 0.2, "v": 3.0}]
    r = bamsoo.minimize(lambda x: x.sum(), [(0, 1), (0, 5)], 2, x0=made(rows))
    assert r.X.tolist() == [[0.1, 2.0], [0.2, 3.0]]
    for row, message in [
        ({"kind": "b", "x": None, "n": None}, "x0, row 1: n must be a number"),
        ({"kind": "b", "x": None, "n": 9}, "x0, row 1: n: 9.* lies outside"),
    ]:
        with pytest.raises(SpaceError, match=message):
            bamsoo.minimize(lambda n, **rest: n, space, 3, x0=made([points[0], row]))
    with pytest.raises(SettingsError, match="x0, row 0: has no value of n"):
        bamsoo.minimize(lambda n, **rest: n, space, 3, x0=made([{"kind": "b"}]))


def test_a_data_frame_that_is_not_understood_is_to_be_converted():
    class Stream:
        __arrow_c_stream__ = None

    class Lazy:
        columns = ("x", "value")

        def collect(self):
            raise AssertionError

    with pytest.raises(SettingsError, match=r"pandas, polars and pyarrow, .*frame\.to_pandas"):
        given(Stream(), {"x": (0, 1)})
    with pytest.raises(SettingsError, match=r"for example with frame\.collect"):
        given(Lazy(), {"x": (0, 1)})


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (3, "known must be a list of .* pairs, a data frame, a CSV file, or a study or its path"),
        ("nowhere.db", "there is no file 'nowhere.db'"),
        ({"x": 1}, "known must be a list"),
        ([3], "but one item of the list is 3"),
    ],
)
def test_what_is_none_of_these_is_refused(known, message):
    with pytest.raises(SettingsError, match=message):
        given(known, {"x": (0, 1)})


def test_a_source_without_a_parameter_is_refused(earlier, tmp_path):
    space = {**SPACE, "other": (0, 1)}
    with pytest.raises(SettingsError, match="has no parameter 'other', only C, depth"):
        given(tmp_path / "run.db", space)
    with pytest.raises(SettingsError, match="known: has no column 'other', only"):
        given(earlier.to_dataframe(), space)


def train(rate):
    for step in range(8):
        yield (rate - 0.3) ** 2 + (1.0 + rate) / (1 + step)


@pytest.fixture
def stopped(tmp_path):
    path = tmp_path / "steps.db"
    result = bamsoo.minimize(train, {"rate": (0.0, 1.0)}, 12, steps=8, study=path)
    assert result.nstopped and not result.nfailed
    return path, result


@pytest.mark.slow
@pytest.mark.parametrize("form", ["study", "frame", "csv"])
def test_an_evaluation_that_was_stopped_has_no_final_value_and_is_left_out(stopped, form, tmp_path):
    path, result = stopped
    frame = result.to_dataframe()
    frame.to_csv(tmp_path / "steps.csv", index=False)
    known = {"study": path, "frame": frame, "csv": tmp_path / "steps.csv"}[form]
    found = bamsoo.minimize(lambda rate: rate, {"rate": (0.0, 1.0)}, 1, known=known)
    assert found.nfailed == 0
    assert len(found.F) == 1 + result.nfev - result.nstopped
    count = f"{result.nstopped} of {result.nfev} known evaluations were left out"
    assert f"{count} ({result.nstopped} without a final value" in found.message


@pytest.mark.parametrize("form", ["study", "frame"])
def test_cheap_values_do_not_count_without_their_fidelity(form, tmp_path, caplog):
    space = {"rate": (0.0, 1.0), "rows": Fidelity(10, 1000, log=True)}
    path = tmp_path / "cheap.db"
    result = bamsoo.minimize(lambda rate, rows: rate - 100 / rows, space, 4, study=path)
    known = path if form == "study" else result.to_dataframe()
    ignore = () if form == "study" else "rows"  # in a table, nothing says what a column is
    found = bamsoo.minimize(lambda rate: rate, {"rate": (0.0, 1.0)}, 1, known=known, ignore=ignore)
    assert found.fun >= -0.1
    assert "known evaluations do not fit the space and were left out" in caplog.text
    assert "a fidelity that this space does not have" in caplog.text
    again = bamsoo.minimize(lambda rate, rows: rate, space, 1, known=known)
    assert len(again.F) > len(result.F)


def test_a_column_that_is_there_twice_is_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0.1, 0.2, 1.0]], columns=["rate", "rate", "value"])
    with pytest.raises(SettingsError, match="known: has several columns 'rate'; leave one of them"):
        bamsoo.minimize(lambda rate: rate, {"rate": (0.0, 1.0)}, 1, known=frame)
    frame.columns = ["rate", "other", "value"]
    more = frame[["rate", "other", "other", "value"]]
    found = bamsoo.minimize(lambda rate: rate, {"rate": (0.0, 1.0)}, 1, known=more, ignore="other")
    assert len(found.F) == 2


def test_a_parameter_may_be_called_state(tmp_path):
    (tmp_path / "valves.csv").write_text("state,value\nout,1\nstopped,2\ncheap,3\nin,4\n")
    space = {"state": Choice(["in", "out", "stopped", "cheap"])}
    found = bamsoo.minimize(lambda state: 9.0, space, 1, known=tmp_path / "valves.csv")
    assert sorted(found.F) == [1.0, 2.0, 3.0, 4.0]


# --- sources that say more or less than the space


def plane(a, d):
    return a + (d - 0.3) ** 2


@pytest.fixture
def varied(tmp_path):
    """A study that varied `d`, which later spaces do not have."""
    path = tmp_path / "k.db"
    bamsoo.minimize(plane, {"a": (0, 1), "d": (0, 1)}, 8, study=path)
    return path


@pytest.mark.parametrize("form", ["study", "path", "frame", "csv"])
def test_a_source_that_says_more_than_the_space_is_refused_by_name(varied, form, tmp_path):
    with Study.open(varied, readonly=True) as study:
        frame = study.result.to_dataframe()
        frame.to_csv(tmp_path / "k.csv")  # with its index
        known = {"study": study, "path": varied, "frame": frame, "csv": tmp_path / "k.csv"}[form]
        with pytest.raises(SettingsError, match=r"also say 'd', which .* give ignore=\['d'\]"):
            given(known, {"a": (0, 1)})
        r, told = given(known, {"a": (0, 1)}, ignore=["d"])
    assert len(told) == 8
    assert r._details.evaluations[0].params.keys() == {"a"}


@pytest.mark.parametrize("form", ["study", "frame", "pairs"])
def test_a_misspelt_name_to_ignore_is_refused(varied, form):
    with Study.open(varied, readonly=True) as study:
        frame = study.result.to_dataframe()
    known = {"study": varied, "frame": frame, "pairs": [({"a": 0.3, "d": 0.1}, 0.5)]}[form]
    space = {"a": (0, 1), "d": (0, 1)}
    with pytest.raises(SettingsError, match=r"the earlier evaluations have no 'dd', only .*a.*, d"):
        given(known, space, ignore=["dd"])
    with pytest.raises(SettingsError, match=r"have no 'site', only x0; correct"):
        bamsoo.minimize(lambda x: 1.0, [(0, 1)], 1, known=[([0.3], 0.5)], ignore="site")
    assert given([], space, ignore="dd")[1] == []  # nothing says that it is misspelt


@pytest.mark.parametrize("setting", [{"fill": {"x": 0.5}}, {"ignore": "site"}])
def test_what_is_said_about_no_earlier_evaluations_is_refused(setting):
    with pytest.raises(SettingsError, match="is about the earlier evaluations of known=; give"):
        bamsoo.minimize(lambda x: x, {"x": (0, 1)}, 2, **setting)


def test_what_does_not_fit_may_say_more(varied, tmp_path):
    r, told = given(varied, {"a": (2, 3)})
    assert told == []
    assert "8 of 8 known evaluations do not fit" in r.message
    path = tmp_path / "models.db"
    old = {"model": Choice({"svm": {"C": Real(0.1, 10.0)}, "none": None})}
    bamsoo.minimize(lambda model, C=1.0: C, old, 6, study=path)
    r, told = given(path, {"model": Choice(["none", "mlp"])})  # C came with svm only
    assert {p["model"] for p, _ in told} == {"none"}
    assert "left out" in r.message


def test_a_table_column_that_is_nothing_known_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("x,value,site,empty\n0.5,1,Ulm,\n0.6,2,Bonn,\n")
    with pytest.raises(SettingsError, match="'site', which the space does not have"):
        given(tmp_path / "t.csv", {"x": (0, 1)})
    assert len(given(tmp_path / "t.csv", {"x": (0, 1)}, ignore="site")[1]) == 2


@pytest.mark.parametrize("form", ["path", "frame", "csv", "pairs"])
def test_fill_says_what_value_a_new_parameter_had(varied, form, tmp_path):
    with Study.open(varied, readonly=True) as study:
        result = study.result
    result.to_dataframe().to_csv(tmp_path / "k.csv", index=False)
    known = {
        "path": varied,
        "frame": result.to_dataframe(),
        "csv": tmp_path / "k.csv",
        "pairs": list(zip(result.X, result.F, strict=True)),
    }[form]
    space = {"a": (0, 1), "d": (0, 1), "mesh": Choice(["fine", "coarse"])}
    with pytest.raises(bamsoo.BamsooError, match="mesh"):
        given(known, space)
    _, told = given(known, space, fill={"mesh": "coarse"})
    assert [p["mesh"] for p, _ in told] == ["coarse"] * 8
    with pytest.raises(SettingsError, match=r"fill: mesh: expected one of .* got 'medium'"):
        given(known, space, fill={"mesh": "medium"})


def test_a_new_option_and_its_parameters_need_no_word(earlier, tmp_path):
    more = Choice({**dict(zip(SPACE["model"].options, SPACE["model"].opens, strict=True)),
                   "mlp": {"layers": Int(1, 4)}})  # fmt: skip
    wide = {"rate": Real(1e-4, 10.0), "model": more}
    earlier.to_dataframe().to_csv(tmp_path / "run.csv", index=False)
    for known in (tmp_path / "run.db", tmp_path / "run.csv"):
        r, told = given(known, wide)
        assert len(told) == 14
        assert "left out" not in r.message


def test_what_was_measured_and_recorded_comes_along(tmp_path):
    old = tmp_path / "old.db"
    with Study.open(old, space={"x": (0, 1)}, constraints=["load"]) as study:
        study.tell({"x": 0.25}, 2.0, constraints={"load": 0.5}, extras={"heat": 7.0})
        study.tell({"x": 0.5}, None, "no licence", extras={"heat": 9.0})
        frame = study.result.to_dataframe()
    for known in (old, frame):
        r = bamsoo.minimize(
            lambda x: (x, {"heat": -1.0}), {"x": (0, 1)}, 1, known=known, constraints=["heat"]
        )
        done, failed = r.evaluations[:2]
        assert (done.measured, dict(done.extras)) == ((7.0,), {"load": 0.5})
        assert failed.error == "no licence"


def test_a_study_remembers_what_was_taken_over(varied, tmp_path):
    space = {"a": (0, 0.5), "mesh": (0, 1)}
    for _ in range(2):  # the second time, everything is known already
        bamsoo.minimize(
            lambda a, mesh: a, space, 3, study=tmp_path / "new.db", known=varied,
            fill={"mesh": 0.5}, ignore="d",
        )  # fmt: skip
    with Study.open(tmp_path / "new.db") as study:
        (about,) = study.ledger.imports.values()
        assert about.taken + about.left_out == 8
        assert (about.filled, about.ignored) == ({"mesh": 0.5}, ("d",))
        assert study.ledger.given == about.taken


# --- several values of one point


@pytest.mark.parametrize("noise", [None, "learn"])
def test_every_value_of_a_point_counts(noise, tmp_path):
    pairs = [({"x": 0.5}, None), ({"x": 0.5}, 1.0), ({"x": 0.5}, 3.0), ({"x": 0.5}, None)]
    for _ in range(2):
        r = bamsoo.minimize(
            lambda x: 9.0, {"x": (0, 1)}, 2, known=pairs, noise=noise, study=tmp_path / "run.db"
        )
        assert [e.value for e in r.evaluations if e.number is None and e.numbers] == [1.0, 3.0]
        assert (r.nfev, r.nfailed, len(r.F)) == (2, 0, 6)
        assert ("have the values 1 and 3; if values are noisy" in r.message) == (noise is None)
    opt = bamsoo.Optimizer({"x": (0, 1)}, algorithm="soo")
    opt.give([(point, value, None, None, None) for point, value in pairs])
    assert opt.ledger.at(Point.given(opt.space, {"x": 0.5})).value == 3.0


# --- counts


def test_counts_are_those_of_this_run(tmp_path):
    with Study.open(tmp_path / "old.db", space={"x": (0, 1)}, constraints=["c"]) as study:
        for i in range(20):
            value = None if i % 5 == 0 else float(i)
            study.tell({"x": i / 20}, value, constraints={"c": 1.0})
    r = bamsoo.minimize(
        lambda x: (x, {"c": x - 0.5}), {"x": (0, 1)}, 6, known=tmp_path / "old.db",
        constraints=["c"], study=tmp_path / "new.db",
    )  # fmt: skip
    assert (r.nfev, r.nfailed) == (6, 0)
    assert r.ninfeasible == (r.C["c"][-6:] > 0).sum()
    assert len(r.F) == 26
    with Study.open(tmp_path / "new.db") as study:
        assert all(0 <= t.seconds < 10 for t in study.trials if t.number is not None)


def test_an_objective_is_the_number_of_that_name_and_nothing_else(tmp_path):
    def fun(x):
        return x, {"yield": 10 - x, "note": "fine"}

    space, old, table = {"x": (1, 2)}, tmp_path / "old.db", tmp_path / "old.csv"
    was = bamsoo.minimize(fun, space, 3, objectives=["cost"], study=old)
    was.to_dataframe().to_csv(table)
    for known in (old, table, was.to_dataframe()):
        other = bamsoo.maximize(lambda x: 10 - x, space, 1, objectives=["yield"], known=known)
        assert other.F[:3].tolist() == (10 - was.F).tolist()
        kept = "value" if known is not old else "cost"  # what was the value is kept
        assert [e.extras[kept] for e in other.evaluations[:3]] == was.F.tolist()
        both = {"cost": "min", "yield": "max"}
        if known is old:
            r = bamsoo.minimize(lambda x: [x, 10 - x], space, 1, objectives=both, known=known)
            assert r.F[:3].tolist() == np.c_[was.F, 10 - was.F].tolist()
    with pytest.raises(SettingsError, match="has no objective 'price', only 'cost'"):
        bamsoo.minimize(fun, space, 1, objectives=["price"], known=old)
    r = bamsoo.minimize(lambda x: x, space, 1, objectives=["note"], known=old)
    assert "it has no number 'note', which is an objective now" in r.message
    unnamed = bamsoo.minimize(lambda x: x, space, 1, known=old)
    assert unnamed.F[:3].tolist() == was.F.tolist()


def test_a_table_of_the_users_own_has_columns_of_plain_names(tmp_path):
    table = tmp_path / "runs.csv"
    table.write_text("x,cost,Tpeak\n1.2,3,400\n1.5,2,600\n")
    r = bamsoo.minimize(
        lambda x: (x, {"Tpeak": 1.0}), {"x": (1, 2)}, 1, objectives=["cost"],
        constraints=["Tpeak <= 520"], known=table,
    )  # fmt: skip
    assert (r.F[:2].tolist(), r.feasible[:2].tolist()) == ([3.0, 2.0], [True, False])
    with pytest.raises(SettingsError, match="has no column 'price'"):
        bamsoo.minimize(lambda x: x, {"x": (1, 2)}, 1, objectives=["price"], known=table)


def test_the_steps_of_finished_and_failed_evaluations_come_along(tmp_path):
    def train(x):
        for step in range(1, 4):
            if x > 0.8 and step == 3:
                raise ValueError("diverged")
            yield None if step == 2 else x + 1 / step

    one, two, three = (tmp_path / f"{i}.db" for i in range(3))
    options = {"steps": 3, "algorithm": "soo", "on_error": "fail"}
    bamsoo.minimize(train, {"x": (0, 1)}, 5, study=one, **options)
    with Study.open(one, readonly=True) as study:
        ended = [t for t in study.trials if t.state != "stopped"]
        assert {t.state for t in ended} == {"finished", "failed"}
        whole = {t.params["x"]: t.curve for t in ended}
    assert all(curve[0][1] == x + 1 for x, curve in whole.items())
    bamsoo.minimize(train, {"x": (0, 2)}, 1, study=two, known=one, **options)
    r = bamsoo.minimize(train, {"x": (0, 3)}, 1, study=three, known=two, **options)
    given = {e.params["x"]: e.curve for e in r.evaluations if e.number is None}
    assert all(repr(given[x]) == repr(curve) for x, curve in whole.items())  # some are nan


def test_a_list_of_pairs_that_say_more_than_the_space_is_refused_by_name():
    known = [({"a": 0.1, "site": "Ulm"}, 1.0)]
    with pytest.raises(SettingsError, match=r"also say 'site'.* give ignore=\['site'\]"):
        given(known, {"a": (0, 1)})
    _, told = given(known, {"a": (0, 1)}, ignore=["site"])
    assert told == [({"a": 0.1}, 1.0)]


def test_the_named_index_of_a_data_frame_is_a_column():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [0.1, 0.2], "site": ["Ulm", "Bonn"], "value": [1.0, 2.0]})
    with pytest.raises(SettingsError, match="also say 'site'"):
        given(frame.set_index("site"), {"a": (0, 1)})
    _, told = given(frame.set_index(["site", "a"]), {"a": (0, 1)}, ignore="site")
    assert told == [({"a": 0.1}, 1.0), ({"a": 0.2}, 2.0)]


@pytest.mark.parametrize("name", ["duration", "steps", "seconds", "number", "trial", "state"])
def test_columns_of_our_tables_may_be_parameters_in_those_of_others(name):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [0.1, 0.2], name: [1.0, 2.0], "value": [1.0, 2.0]})
    with pytest.raises(SettingsError, match=f"also say '{name}'"):
        given(frame, {"a": (0, 1)})
    _, told = given(frame, {"a": (0, 1), name: (0, 3)})
    assert [point[name] for point, _ in told] == [1.0, 2.0]


def test_what_an_option_opens_may_be_filled():
    pandas = pytest.importorskip("pandas")
    known = pandas.DataFrame({"a": [0.1], "value": [1.0]})
    space = {"a": (0, 1), "m": Choice({"x": {"y": (0, 1)}, "z": None})}
    _, told = given(known, space, fill={"m": "x", "y": 0.2})
    assert told == [({"a": 0.1, "m": "x", "y": 0.2}, 1.0)]
    with pytest.raises(SettingsError, match=r"has no (column|parameter) 'y'.* fill={'y': value}"):
        given(known, space, fill={"m": "x"})
    with pytest.raises(SettingsError, match="fill: m: expected one of"):
        given(known, space, fill={"m": "w"})


@pytest.mark.parametrize("kind", ["one", "several", "fit"])
def test_the_message_says_if_values_of_one_point_contradict_each_other(kind):
    if kind == "fit":
        known = [({"a": 0.5}, [1.0, 2.0]), ({"a": 0.5}, [1.0, 3.0]), ({"a": 0.6}, [0.0, 0.0])]
        r = bamsoo.least_squares(lambda a: [a, a], {"a": (0, 1)}, 2, known=known)
    elif kind == "several":
        known = [({"a": 0.5}, (5.0, 1.0)), ({"a": 0.5}, (10.0, 1.0)), ({"a": 0.6}, (0.0, 0.0))]
        r = bamsoo.minimize(lambda a: (a, a), {"a": (0, 1)}, 2, known=known, objectives=["p", "q"])
    else:
        known = [({"a": 0.5}, 5.0), ({"a": 0.5}, 10.0), ({"a": 0.6}, 0.0)]
        r = bamsoo.minimize(lambda a: a, {"a": (0, 1)}, 2, known=known)
    assert "known evaluations of one point have the values 5 and 10" in r.message


def test_a_table_has_each_point_of_a_front_once():
    pytest.importorskip("pandas")
    known = [({"a": 0.5}, v) for v in [(0.8, 0.8), (0.5, 0.5), (0.5, 0.5), (0.6, 0.4)]]
    r = bamsoo.minimize(lambda a: (a, 1 - a), {"a": (0, 1)}, 3, known=known, objectives=["p", "q"])
    on_front = r.to_dataframe()["front"].tolist()
    assert on_front[:4] == [False, True, False, False]
    assert sum(on_front) == len(r.front)


OURS = ("steps", "variance", "front", "value", "told_at", "extra:x", "last:value", "objective:a")


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("form", ["frame", "csv"])
def test_a_parameter_may_have_the_name_of_any_of_our_columns(name, form, tmp_path):
    space = {name: (0.5, 9), "y": (0, 1)}

    def fun(**p):
        for step in range(3):
            yield (p[name] - 3) ** 2 + p["y"] + step

    first = bamsoo.minimize(
        fun, space, 4, algorithm="random", steps=3, study=str(tmp_path / "run.db")
    )
    source = first.to_dataframe()
    assert len({*source.columns}) == len(source.columns)
    if form == "csv":
        source = tmp_path / "trials.csv"
        with Study.open(tmp_path / "run.db", readonly=True) as study, source.open("w") as file:
            write_csv(study.trials, study.space, file)
    done = [e for e in first.evaluations if not e.failed and not e.stopped]
    again = bamsoo.Optimizer(space, algorithm="random")
    again.give(as_known(again.constraints, source).known)
    found = [(e.params, e.value, e.variance) for e in again.evaluations]
    assert found == [(e.params, e.value, None) for e in done]
    assert done


def test_a_column_of_a_parameter_is_not_the_variance_too(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("variance,error,value\n4,7,1.5\n5,8,\n")
    opt = bamsoo.Optimizer({"variance": (0, 9), "error": (0, 9)})
    opt.give(as_known(opt.constraints, str(path)).known)
    assert [(e.params, e.variance) for e in opt.evaluations] == [
        ({"variance": 4.0, "error": 7.0}, None),
        ({"variance": 5.0, "error": 8.0}, None),
    ]


def training(length):
    def train(x):
        for step in range(1, length + 1):
            yield (x - 0.3) ** 2 + step

    return train


def test_values_after_other_steps_are_not_those_of_full_evaluations(tmp_path):
    space, path = {"x": (0.0, 1.0)}, tmp_path / "steps.db"
    old = bamsoo.minimize(training(5), space, 8, steps=5, study=path)
    ended = [x["x"] for x, value in zip(old.X, old.F, strict=True) if value == value]
    shorter = bamsoo.minimize(training(3), space, 1, steps=3, known=path)
    given = shorter.evaluations[: len(ended)]
    assert [e.value for e in given] == [(x - 0.3) ** 2 + 3 for x in ended]
    assert all(e.curve[-1][0] == 3 for e in given)
    longer = bamsoo.minimize(training(9), space, 1, steps=9, known=path)
    assert len(longer.F) == 1
    assert "its value is that after 5 steps, and there are 9 now" in longer.message
    limited = bamsoo.Optimizer(space, steps=3, constraints=["T <= 1"])
    source = as_known(limited.constraints, str(path), limited.objectives, steps=3)
    assert source.left_out == old.nfev  # T may have been another one after three steps
    assert len(bamsoo.minimize(lambda x: 0.0, space, 1, known=path).F) == 1 + len(ended)


def test_what_is_assumed_of_a_fidelity_is_said(tmp_path):
    bamsoo.minimize(lambda x: x, {"x": (0.0, 1.0)}, 2, study=tmp_path / "old.db")
    space = {"x": (0.0, 1.0), "rows": Fidelity(10, 1000)}
    terms = Terms(Space(space))
    constraints = Constraints(terms.space, None)
    for given, rows in (({}, 1000), ({"rows": 50}, 50)):
        terms = Terms(terms.space, fill=given)
        earlier = as_known(constraints, str(tmp_path / "old.db"), terms=terms)
        assert f"assumed to have had rows={rows}" in str(earlier.event)


def test_a_result_s_data_frame_says_the_variances():
    pytest.importorskip("pandas")
    space = {"x": (0.0, 1.0)}
    r = bamsoo.minimize(lambda x: (x, {"variance": 0.1}), space, 3, noise="learn")
    again = bamsoo.minimize(lambda x: x, space, 1, noise="learn", known=r.to_dataframe())
    assert [e.variance for e in again.evaluations] == [0.1, 0.1, 0.1, None]


@pytest.mark.parametrize("form", ["study", "csv"])
def test_the_variance_of_one_number_is_not_that_of_another(form, tmp_path):
    def fun(x):
        return x, {"flow": 2 * x, "variance": 0.1}

    space, path = {"x": (0.0, 1.0)}, tmp_path / "old.db"
    bamsoo.minimize(fun, space, 3, objectives=["cost"], study=path, noise="learn")
    known = str(path)
    if form == "csv":
        known = str(tmp_path / "old.csv")
        bamsoo_("export", path, "-o", known)
    for aim, variance in (("cost", 0.1), ("flow", None)):
        r = bamsoo.minimize(lambda x: x, space, 1, objectives=[aim], known=known, noise="learn")
        assert {e.variance for e in r.evaluations[:3]} == {variance}


def test_a_recorded_number_may_have_the_name_of_the_value(tmp_path):
    space, path = {"x": (0.0, 1.0)}, tmp_path / "old.db"
    bamsoo.minimize(lambda x: (x, {"value": "high"}), space, 2, study=path)
    r = bamsoo.minimize(lambda x: x, space, 1, known=path)
    assert r.evaluations[0].value == 0.5
    assert r.evaluations[0].extras == {"value": "high"}
