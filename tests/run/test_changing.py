"""Whatever is changed, in any order, no value is lost, or counts where it was not measured."""

from contextlib import ExitStack
from itertools import count
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

import bamsoo
from bamsoo import Study
from bamsoo.run.earlier import Terms
from bamsoo.run.history import with_history
from bamsoo.run.known import as_known

SPACES = ("narrow", "widen", "fix", "fix elsewhere", "free", "add", "drop")
LIMITS = {"a limit": ["T <= 0.75"], "no limit": [], "other limits": ["V >= -5", "T <= 0.5"]}
AIMS = {"another objective": {"U": "max"}, "the first objective": {"y": "min"}}
EVENTS = ("evaluate", "fail", "retry", "reopen")
WHAT = st.sampled_from([*SPACES, *LIMITS, *AIMS, *EVENTS])


def changed(space, what):
    """A space after a change of one kind, and what has to be said about old evaluations."""
    space, fill, ignore = dict(space), {}, []
    d, (low, high) = space["d"], space["x"]
    if what == "narrow":
        space["x"] = (low + 0.25 * (high - low), high)
    elif what == "widen":
        space["x"] = (low - 1.0, high + 1.0)
    elif what.startswith("fix") and isinstance(d, tuple):
        space["d"] = 0.5 if what == "fix" else 3.0
    elif what == "free":
        space["d"] = (0.0, 4.0)
    elif what == "add" and "mesh" not in space:
        space["mesh"], fill = (0.0, 1.0), {"mesh": 0.25}
    elif what == "drop" and "mesh" in space:
        del space["mesh"]
        ignore = ["mesh"]
    return space, fill, ignore


def numbers(record):
    """Every number that an evaluation of a study said, by name; None if it failed."""
    said = {**(record.values or {}), **(record.measured or {}), **record.extras}
    return {name: said[name] for name in ("y", "T", "U", "V")} if record.values else None


def told(study):
    return [t for t in study.trials if t.state != "out"]


def tell(study, said, trial, error=None):
    """Tell an evaluation as this study expects it: some of the numbers are extras here."""
    (aim,), limits = study.objectives.names, study.constraints.measured
    if error is not None:
        study.tell(trial, None, error)
        return
    rest = {name: number for name, number in said.items() if name != aim}
    measured = {name: said[name] for name in limits}
    extras = {name: number for name, number in rest.items() if name not in limits}
    study.tell(trial, said[aim], constraints=measured, extras=extras)


@settings(max_examples=25, deadline=None)
@given(st.lists(WHAT, min_size=1, max_size=7), st.data())
def test_no_value_is_lost_and_none_counts_where_it_was_not_measured(changes, data):
    values = count()

    def outcome(point):
        y = float(next(values))
        return {"y": y, "T": point["x"], "U": -y, "V": -y}

    with TemporaryDirectory() as folder, ExitStack() as stack:
        space: dict = {"x": (0.0, 1.0), "d": (0.0, 1.0)}
        limits, aims, path = LIMITS["a limit"], AIMS["the first objective"], f"{folder}/0.db"
        study = stack.enter_context(
            Study.open(path, space=space, constraints=limits, objectives=aims, algorithm="random")
        )
        truth = []  # what was measured: a point, and its numbers or None
        for d in (0.5, 0.5, 0.1, 0.1):
            point = {"x": data.draw(st.floats(0, 1)), "d": d}
            truth.append((point, outcome(point)))
            tell(study, truth[-1][1], point)
        own: list = []  # the numbers of the trials of this study, by their place in `truth`
        for number, what in enumerate(changes, 1):
            if what in ("evaluate", "fail"):
                trial = study.ask()
                said = None if what == "fail" else outcome(trial.params)
                tell(study, said, trial, "broken" if what == "fail" else None)
                truth.append((trial.params, said))
                own.append(trial.params)
            elif what == "retry":
                pending = study.retry()
                failed = [p for p, said in truth if said is None and p in own]
                assert len(pending) == len(failed)
                truth = [(p, said) for p, said in truth if said is not None or p not in own]
            elif what == "reopen":  # with a replay
                study.close()
                study = stack.enter_context(Study.open(path))
            else:
                space, fill, ignore = changed(space, what)
                limits, aims = LIMITS.get(what, limits), AIMS.get(what, aims)
                old, path, own = path, f"{folder}/{number}.db", []
                study = stack.enter_context(
                    Study.open(
                        path, space=with_history(space, [old]), constraints=limits,
                        objectives=aims, algorithm="random",
                    )
                )  # fmt: skip
                terms = Terms(study.space, fill, ignore)
                earlier = as_known(study.constraints, old, study.objectives, terms)
                study.give(earlier.known, earlier.event)
                low, high = space["x"]
                kept = [
                    ({n: v for n, v in {**point, **fill}.items() if n in space}, said)
                    for point, said in truth
                    if low <= point["x"] <= high
                ]
                assert earlier.left_out - earlier.unfinished == len(truth) - len(kept)
                assert (study.told, study.ledger.failed) == (0, 0)  # nothing was evaluated here
                truth = kept
            assert sorted(map(str, ((t.params, numbers(t)) for t in told(study)))) == sorted(
                map(str, truth)
            ), what
            check_the_answer(study, truth, space, aims)


def check_the_answer(study, truth, space, aims):
    """The best point is one of those that were measured where this study may look."""
    ((aim, way),) = aims.items()
    fixed = {n: v for n, v in space.items() if not isinstance(v, tuple)}
    bounds = study.constraints.limits
    here = [
        said[aim]
        for point, said in truth
        if said is not None
        and all(point[n] == v for n, v in fixed.items())
        and all(limit.excess(said[limit.name]) <= 0 for limit in bounds)
    ]
    result = study.result
    assert result.success == bool(here)
    assert not here or result.fun == (max(here) if way == "max" else min(here))


def test_a_run_that_is_killed_and_called_again_takes_nothing_twice(tmp_path):
    def fun(x):
        return (x - 0.3) ** 2

    old, new = tmp_path / "old.db", tmp_path / "new.db"
    bamsoo.minimize(fun, {"x": (0, 1)}, 5, study=old)
    for budget in (2, 4):
        r = bamsoo.minimize(fun, {"x": (0, 2)}, budget, study=new, known=old)
    assert (r.nfev, len(r.F)) == (4, 5 + 4)
