"""What every kind of parameter promises, and a new one in one file."""

import json

import numpy as np
import pytest
import skeletons
from click.testing import CliRunner

import bamsoo
from bamsoo import Choice, Fidelity, Int, Real
from bamsoo.command.main import main
from bamsoo.command.parameters import from_table, parse_one
from bamsoo.errors import SpaceError, StudyError
from bamsoo.space import Fixed, Space
from bamsoo.space.parameters import (
    KINDS,
    Parameter,
    parameters_from_json,
    parameters_to_json,
    texts_of,
)

Ordinal = skeletons.load("parameter").Ordinal

EACH = {
    "Real": [Real(-1, 2), Real(1e-3, 1, log=True), Real(0, 1, step=0.1)],
    "Int": [Int(1, 5), Int(1, 100, log=True), Int(0, 10, step=5)],
    "Choice": [Choice(["a", "b", 3]), Choice({"a": {"c": (0, 1)}, "b": {"n": Int(1, 2)}})],
    "Fidelity": [Fidelity(10, 1000), Fidelity(0.5, 8.0, log=True)],
    "Fixed": [Fixed(0.5), Fixed("a"), Fixed(3, Int(1, 5)), Fixed("b", Choice(["a", "b"]))],
    "Ordinal": [Ordinal(["small", "medium", "large"])],
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_kind_comes_back(kind):
    """From JSON, from the numbers of a point, and from what the command writes."""
    for parameter in EACH[kind]:
        stored = json.loads(json.dumps(parameters_to_json({"p": parameter})))
        assert parameters_from_json(stored) == {"p": parameter}
        space = Space({"x": (0, 1), "p": parameter})
        for number in parameter.ends:
            value = parameter.value_of(number)
            x = space.point({"x": 0.5, "p": value} | inner(space, value))
            assert x[space.names.index("p")] == number
            assert space.params(x)["p"] == value
            assert type(space.params(x)["p"]) is type(value)
        option = parameter.as_option("p")
        if option is not None and option[0] == "--param" and kind != "Ordinal":
            assert parse_one(option[1]) == ("p", parameter)


def inner(space, value):
    """Values for the parameters that an option opens."""
    opened = [s for s in space.existing({"p": value}) if s.name not in ("x", "p")]
    return {slot.name: slot.parameter.value_of(slot.parameter.ends[0]) for slot in opened}


def test_two_kinds_of_one_name_are_not_confused_in_a_study():
    class Real(Parameter):
        pass

    assert KINDS["Real"] is bamsoo.Real
    with pytest.raises(StudyError, match="another kind is called Real; rename this one"):
        parameters_to_json({"x": Real()})


def test_options_that_read_the_same_are_told_apart():
    assert texts_of([1, "a", None]) == ["1", "a", "None"]
    assert texts_of([1, "1"]) == ["1", "'1'"]


def size_and_rate(size, x):
    """The best is a medium size."""
    return ["small", "medium", "large"].index(size) * (size != "medium") + (x - 0.3) ** 2


def test_a_new_kind_is_one_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    space = {"size": Ordinal(["small", "medium", "large"]), "x": (0.0, 1.0)}
    r = bamsoo.minimize(lambda size, x: size_and_rate(size, x) + 1.0, space, 25)
    assert r.params["size"] in ("small", "medium")
    assert {p["size"] for p in r.X} == {"small", "medium", "large"}
    assert r.to_dataframe()["size"].tolist() == [p["size"] for p in r.X]
    assert r.ranges(0.5)["size"].options == ("small", "medium")
    r.plot("slices")
    # a study: the second run continues the first
    bamsoo.minimize(size_and_rate, space, 6, study="run.db")
    again = bamsoo.minimize(size_and_rate, space, 12, study="run.db")
    assert again.nfev == 12
    with bamsoo.Study.open("run.db") as study:
        assert study.replayed.trials == 12
        assert study.space.parameters == Space(space).parameters
        asked = [trial.params for trial in study.trials]

    # an export, which can be read again
    def run(*words):
        done = CliRunner().invoke(main, words, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    run("export", "run.db", "-o", "run.csv")
    told = bamsoo.minimize(size_and_rate, space, 1, known="run.csv").evaluations
    assert [e.point.params for e in told[:12]] == asked
    # a report, in which the kind is described without its name
    run("report", "run.db", "-o", "run.html")
    page = (tmp_path / "run.html").read_text()
    shown, _ = json.JSONDecoder().raw_decode(page.split('"parameters":')[1])
    assert shown[0] == {"name": "size", "options": ["small", "medium", "large"], "ordered": True}
    assert "size" in run("show", "run.db")
    entry = {"choices": ["small", "medium", "large"], "ordinal": True}
    assert from_table({"size": entry}) == {"size": space["size"]}
    np.testing.assert_array_equal(Space(space).domain.unordered, [])


@pytest.mark.parametrize("parameter", [Real(0, 1), Int(0, 1), Choice(["a", "b"])])
def test_a_number_outside_is_refused_and_one_inside_is_not(parameter):
    for number in (0.0, 1.0):
        parameter.check("p", number, number)
    for number in (-1.0, 2.0):
        with pytest.raises(SpaceError, match=r"p: .* lies outside \[0.0, 1.0\]"):
            parameter.check("p", number, number)
