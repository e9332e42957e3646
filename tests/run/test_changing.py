"""Changes in any order: no measured value is lost, or counted where it was not measured."""

from contextlib import ExitStack
from math import inf

from hypothesis import given, settings
from hypothesis.strategies import lists, sampled_from

import bamsoo
from bamsoo import Study
from bamsoo.run.earlier import Terms
from bamsoo.run.known import as_known

CHANGES = ("widen", "narrow", "add", "drop", "limit", "no limit", "other limit", "evaluate", "fail")


def same_point(new, old, fill, ignore):
    expected = {n: v for n, v in old.items() if n not in ignore} | fill
    return new == expected


@settings(max_examples=12, deadline=None)
@given(changes=lists(sampled_from(CHANGES), min_size=1, max_size=6))
def test_no_value_is_lost_or_counted_where_it_was_not_measured(changes, tmp_path_factory):
    place = tmp_path_factory.mktemp("changes")
    space, limits, counter = {"x": (0.0, 4.0)}, ["T <= 2"], iter(range(10**6))
    with ExitStack() as stack:
        study = stack.enter_context(
            Study.open(place / "0.db", space=space, constraints=limits, algorithm="random")
        )

        def evaluate(study, fails=False):
            trial = study.ask()
            number = float(next(counter))
            measured = {"T": trial.params["x"], "U": -number}
            names = study.constraints.measured
            study.tell(
                trial,
                None if fails else number,
                "broken" if fails else None,
                constraints=None if fails else {n: measured[n] for n in names},
                extras=None if fails else {n: m for n, m in measured.items() if n not in names},
            )

        for _ in range(4):
            evaluate(study)
        for i, change in enumerate(changes, 1):
            if change in ("evaluate", "fail"):
                evaluate(study, change == "fail")
                continue
            fill, ignore = {}, []
            low, high = space["x"]
            if change == "widen":
                space = {**space, "x": (low - 1, high + 1)}
            elif change == "narrow":
                space = {**space, "x": (low + 0.5, high - 0.5)} if high - low > 2 else space
            elif change == "add":
                space, fill = {**space, f"p{i}": (0.0, 1.0)}, {f"p{i}": 0.5}
            elif change == "drop":
                ignore = [name for name in space if name != "x"][:1]
                space = {n: each for n, each in space.items() if n not in ignore}
            else:
                which = {"limit": ["T <= 3"], "no limit": [], "other limit": ["U >= -5", "T <= 1"]}
                limits = which[change]
            new = stack.enter_context(
                Study.open(place / f"{i}.db", space=space, constraints=limits, algorithm="random")
            )
            terms = Terms(new.space, fill, ignore)
            earlier = as_known(new.constraints, study, new.objectives, terms)
            new.give(earlier.known, earlier.event)
            check(study, new, earlier, fill, ignore)
            study = new


def check(old, new, earlier, fill, ignore):
    low, high = new.space.given["x"].low, new.space.given["x"].high
    before = [t for t in old.trials if t.state != "out"]
    fit = [t for t in before if low <= t.params["x"] <= high]
    assert len(earlier.known) == len(new.trials) == len(fit)
    assert earlier.left_out == len(before) - len(fit)
    assert (new.told, new.ledger.failed) == (0, 0)  # nothing was evaluated here
    for was, now in zip(fit, new.trials, strict=True):
        assert same_point(now.params, was.params, fill, ignore)
        assert (now.value, now.error) == (was.value, was.error)
        if was.value is None:
            continue
        said = {**(was.measured or {}), **was.extras}
        assert {**(now.measured or {}), **now.extras} == said
        met = [limit.excess(said[limit.name]) <= 0 for limit in new.constraints.limits]
        assert now.feasible is (all(met) if met else None)
    best = min((t.value for t in new.trials if t.value is not None and t.feasible is not False),
               default=inf)  # fmt: skip
    assert (new.best.value if new.best else inf) == best
    with Study.open(new.path, readonly=True) as read:
        assert read._events == new._events


def test_a_run_that_is_killed_and_called_again_takes_nothing_twice(tmp_path):
    def fun(x):
        return (x - 0.3) ** 2

    old, new = tmp_path / "old.db", tmp_path / "new.db"
    bamsoo.minimize(fun, {"x": (0, 1)}, 5, study=old)
    for budget in (2, 4):
        r = bamsoo.minimize(fun, {"x": (0, 2)}, budget, study=new, known=old)
    assert (r.nfev, len(r.F)) == (4, 5 + 4)
