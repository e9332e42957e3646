"""What the caller says about earlier evaluations, and which of them fit."""

import pytest

from bamsoo.errors import SettingsError, SpaceError
from bamsoo.run.earlier import EarlierValue, ReadRow, Terms, UnfinishedError, fitting
from bamsoo.space import Choice, Constraints, Real, Space


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fill": {"mesh": 1}}, "fill: 'mesh' is not a parameter of the space, which has a, d"),
        ({"fill": {"d": 3}}, r"fill: d: 3.* lies outside"),
        ({"fill": 3}, "fill must be a dict"),
        ({"ignore": ["d"]}, "ignore: 'd' is a parameter of the space"),
        ({"ignore": 3}, "ignore must be a list of names, got 3"),
    ],
)
def test_terms_that_mean_nothing_are_refused(settings, message):
    with pytest.raises(SettingsError, match=message):
        Terms(Space({"a": (0, 1), "d": (0, 1)}), **settings)


def test_a_value_is_filled_in_where_its_parameter_exists():
    space = Space({"model": Choice({"svm": {"C": Real(0.1, 10.0)}, "none": None})})
    terms = Terms(space, fill={"C": 1.0}, ignore="site")
    assert terms.completed({"model": "svm", "site": 3}) == ({"model": "svm", "C": 1.0}, [])
    assert terms.completed({"model": "none"}) == ({"model": "none"}, [])
    assert Terms(space).completed({"model": "svm"}) == ({"model": "svm"}, ["C"])


def test_only_evaluations_that_fit_can_say_too_much():
    constraints = Constraints(Space({"x": (0, 1)}))

    def row(x, **more):
        if x is None:
            raise SpaceError("it has no x")
        return ReadRow(EarlierValue({"x": x}, 1.0), more=more)

    rows = [("one", lambda: row(0.5)), ("two", lambda: row(7, d=1)), ("three", lambda: row(None))]
    found = fitting(constraints, Terms(constraints.space), "old.db", rows, ["x", "d"])
    assert [each.point for each in found.known] == [{"x": 0.5}]
    assert (found.left_out, found.why[:4]) == (2, "two:")
    assert found.note.startswith("2 of 3 known evaluations do not fit the space")

    def unfinished():
        raise UnfinishedError

    more = [*rows, ("five", unfinished)]
    found = fitting(constraints, Terms(constraints.space), "old.db", more, ["x", "d"])
    assert (found.left_out, found.unfinished) == (3, 1)
    assert found.note.startswith("3 of 4 known evaluations were left out (two:")
    assert found.why.endswith("; 1 without a final value: stopped early, or not finished")
    alone = fitting(constraints, Terms(constraints.space), "old.db", more[3:], ["x"])
    assert alone.note.startswith("1 of 1 known evaluations were left out (1 without")
    rows.append(("four", lambda: row(0.2, d=1)))
    for flags, way in ((False, r"{'d': 1}, .* ignore=\['d'\]"), (True, "--fix d=1, .* --ignore d")):
        terms = Terms(constraints.space, flags=flags)
        with pytest.raises(SettingsError, match=f"old.db: its evaluations also say 'd', .*{way}"):
            fitting(constraints, terms, "old.db", rows, ["x", "d"])
