"""`bamsoo evaluate`: the points of a table, without a search."""

import pytest

from command_line import bamsoo_, run, trials

TABLE = "x,n,mode\n0.5,3,fast\n0.25,1,exact\n1.5,2,fast\n0.5,3,fast\n"
ECHO = ("--", "sh", "-c", "echo run >> log; echo cost: {x}; : {n} {mode}")


def evaluated(*more, points="p.csv", study="run.db", code=0):
    return bamsoo_(
        *("evaluate", "--points", points, "--study", study, "--objective", "cost", *more, *ECHO),
        code=code,
    )


def test_each_point_is_evaluated_once_and_the_same_command_goes_on(here):
    (here / "p.csv").write_text(TABLE)
    evaluated("--workers", 2)
    points = [(t.params["x"], t.params["n"], t.params["mode"]) for t in trials()]
    assert points == [(0.5, 3, "fast"), (0.25, 1, "exact"), (1.5, 2, "fast")]
    assert [t.values["cost"] if t.values else t.value for t in trials()] == [0.5, 0.25, 1.5]
    with (here / "p.csv").open("a") as file:
        file.write("1.0,2,exact\n")
    evaluated()
    assert len(trials()) == 4
    assert (here / "log").read_text() == 4 * "run\n"


def test_a_search_continues_what_was_evaluated(here):
    (here / "p.csv").write_text(TABLE)
    evaluated("--param", "x:0:2")
    bamsoo_(
        *("minimize", "--study", "run.db", "--budget", 6, "--objective", "cost"),
        *("--param", "x:0:2", "--param", "n:1:3:int", "--param", "mode=fast,exact", *ECHO),
    )
    assert len(trials()) == 6


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("x,n\n", "has no points"),
        ("x,n\n1\n", "row 1 does not have one cell per column"),
        ("x,n\n1,2\n1,3\n", "all rows have x=1; give its range, as --param x:LOW:HIGH"),
        ("x,n\n1,2\n,3\n", "a cell of x is empty"),
        ("x,n\n1,2\n2,nan\n", "a cell of n is nan, which is no value"),
        ("x,n,x\n1,2,3\n2,3,4\n", "two columns are called x"),
        ("", "has no points"),
        ("x,n\n1,2,3\n", "row 1 does not have one cell per column"),
    ],
)
def test_a_table_is_checked(here, table, message):
    (here / "p.csv").write_text(table)
    code, said = run("evaluate", "--points", "p.csv", "--", "sh", "-c", "echo {x} {n}")
    assert code == 2
    assert message in " ".join(said.split())


@pytest.mark.parametrize("separator", [",", ", ", " , ", ";", "\t"])
def test_a_table_is_read_as_people_write_it(here, separator):
    text = "# of yesterday\n" + TABLE.replace(",", separator) + "\n# the end\n"
    (here / "p.csv").write_text(text, encoding="utf-8-sig")
    evaluated()
    assert [t.params["mode"] for t in trials()] == ["fast", "exact", "fast"]
    assert [t.params["x"] for t in trials()] == [0.5, 0.25, 1.5]


@pytest.mark.parametrize(
    "table", ["x,n,mode\n0.5,3,fast\n1,3,fast\n", "x,mode\n0.5,fast\n1,fast\n"]
)
def test_a_parameter_of_a_table_may_be_fixed(here, table):
    (here / "p.csv").write_text(table)
    evaluated("--fix", "n=3", "--fix", "mode=fast")
    assert [t.params for t in trials()] == [
        {"x": 0.5, "n": 3, "mode": "fast"},
        {"x": 1.0, "n": 3, "mode": "fast"},
    ]
    evaluated("--fix", "n=3", "--fix", "mode=fast")
    assert len(trials()) == 2


def test_a_point_outside_the_range_is_named(here):
    (here / "p.csv").write_text("x\n0.5\n3\n")
    code, said = run("evaluate", "--points", "p.csv", "--param", "x:0:1", "--", "echo", "{x}")
    assert code == 2
    assert "p.csv: row 2: " in said


def test_a_study_keeps_the_ranges_of_its_first_table(here):
    (here / "p.csv").write_text("x,n,mode\n0.5,3,fast\n0.25,1,exact\n")
    evaluated()
    (here / "p.csv").write_text("x,n,mode\n0.5,3,fast\n2,1,exact\n")
    assert "bamsoo fork run.db NEW --param makes" in " ".join(evaluated(code=2).split())
    bamsoo_("fork", "run.db", "wide.db", "--param", "x:0:2")
    evaluated(study="wide.db")
    assert (here / "log").read_text() == 3 * "run\n"  # what it knew is not evaluated again


def test_a_column_that_is_no_parameter_is_left_out(here):
    (here / "p.csv").write_text("x,n,mode,name\n0.5,3,fast,A\n0.25,1,exact,B\n")
    assert "if the column is not a parameter, give --ignore name" in evaluated(code=2)
    assert "has no column 'names' to ignore" in evaluated("--ignore", "names", code=2)
    evaluated("--ignore", "name")
    assert [list(t.params) for t in trials()] == [["x", "n", "mode"]] * 2
