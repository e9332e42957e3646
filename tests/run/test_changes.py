"""Whatever is changed, no measured value is lost, or counts where it was not measured."""

from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from bamsoo import Study
from bamsoo.run.earlier import Terms
from bamsoo.run.history import with_history
from bamsoo.run.known import as_known

from memory import MEMORY

WHAT = st.sampled_from(["narrow", "widen", "fix", "fix elsewhere", "free", "add", "drop", "ignore"])


def changed(space, what):
    """A space after a change of one kind, and what has to be said about old evaluations."""
    space, fill, ignore = dict(space), {}, []
    d, x = space.get("d"), space["x"]
    if what == "narrow":
        space["x"] = (x[0] + 0.25 * (x[1] - x[0]), x[1])
    elif what == "widen":
        space["x"] = (x[0] - 1.0, x[1] + 1.0)
    elif what.startswith("fix") and d is not None:
        space["d"] = 0.5 if what == "fix" else 3.0
    elif what == "free" and d is not None:
        space["d"] = (0.0, 4.0)
    elif what == "add" and "mesh" not in space:
        space["mesh"], fill = (0.0, 1.0), {"mesh": 0.25}
    elif what in ("drop", "ignore") and "mesh" in space:
        del space["mesh"]
        ignore = ["mesh"]
    return space, fill, ignore


@settings(max_examples=12, deadline=None)
@given(st.lists(WHAT, min_size=1, max_size=4), st.data())
def test_no_value_is_lost_and_none_counts_where_it_was_not_measured(changes, data):
    with TemporaryDirectory(dir=MEMORY) as folder:
        space: dict = {"x": (0.0, 1.0), "d": (0.0, 1.0)}
        truth: list[tuple[dict, float]] = []  # every value that the latest file has, and its point
        path = f"{folder}/0.db"
        with Study.open(path, space=space, algorithm="random") as study:
            for value in range(6):
                point = {
                    "x": data.draw(st.floats(0, 1)),
                    "d": data.draw(st.sampled_from([0.5, 0.1])),
                }
                study.tell(point, float(value))
                truth.append((point, float(value)))
        for number, what in enumerate(changes, 1):
            space, fill, ignore = changed(space, what)
            old, path = path, f"{folder}/{number}.db"
            made = with_history(space, [old])
            with Study.open(path, space=made, algorithm="random") as study:
                earlier = as_known(
                    study.constraints, old, study.objectives, Terms(study.space, fill, ignore)
                )
                study.give(earlier.known, earlier.event)
                low, high = space["x"]
                kept = [
                    ({n: v for n, v in {**point, **fill}.items() if n in space}, value)
                    for point, value in truth
                    if low <= point["x"] <= high
                ]
                assert [(e.params, e.value) for e in study.evaluations] == kept
                assert earlier.left_out == len(truth) - len(kept)
                assert study.ledger.imports[old].left_out == earlier.left_out
                fixed = {n: v for n, v in space.items() if not isinstance(v, tuple)}
                here = [v for p, v in kept if all(p[n] == v for n, v in fixed.items())]
                result = study.result
                assert result.feasible.tolist() == [value in here for _, value in kept]
                assert result.success == bool(here)
                assert not here or result.fun == min(here)
                assert (result.nfev, result.nfailed, result.ninfeasible) == (0, 0, 0)
                truth = kept
            with Study.open(path) as again:  # replayed
                assert [(e.params, e.value) for e in again.evaluations] == truth
