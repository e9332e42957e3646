"""The contents of the page as plain data: a study read once, in a form that fits into JSON."""

import platform
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import islice
from math import ceil, inf, isfinite, isnan, log10
from os import PathLike
from typing import Any

import numpy as np

from .._version import __version__
from ..base.checks import count, is_finite, readable
from ..base.pareto import non_dominated
from ..base.typing import Array, Simple
from ..errors import ModelError
from ..model.warp import deviation
from ..record.trials import Evaluation, extra_names
from ..result.answers import (
    Active,
    Forecast,
    active,
    failed_nearby,
    least_violating,
    scene_of,
    what_if,
    what_if_steps,
)
from ..result.fits import Fitted
from ..result.measured import Numbers
from ..result.predictor import Predictor
from ..result.ranges import Requirements, range_of
from ..result.scene import Scene
from ..result.substitute import learn
from ..run.command import that_exist
from ..search.optimizer import Optimizer
from ..space import Constraints, Formula, Space, key_of
from ..space.limit import Side, sides_of
from ..study import Record, Study
from .growth import MOST_NODES, Growth, partition
from .source import Shown, TrialSource, known_values, source_of, title_of
from .surrogate import Surrogate, nothing_to_learn, own

LONGEST, ALL_MESSAGES = 2_000, 1_000_000
"""Largest number of characters of one error message, and of all of them together; longer messages
are shortened."""


STOPPED = "ended early because they could not win"
"""What the page says of trials that were stopped."""

LONGEST_EXTRA = 200
"""Largest number of characters of an extra in the table; it is a cell among others."""


def describe(study: str | PathLike[str] | TrialSource, *, replay: bool = True) -> dict[str, Any]:
    """Everything that the page shows about a study; `replay` is as in `bamsoo.report.write`."""
    shown = source_of(study).read()
    growth = None
    if replay and isinstance(shown, Study):
        growth = Growth()
        growth.catch_up(shown)
    return joined_descriptions(describe_trials(shown), describe_search(shown, growth))


def joined_descriptions(trials: dict[str, Any], search: dict[str, Any]) -> dict[str, Any]:
    """Join the descriptions of the trials and of the search, which was read no later."""
    notes = {**trials["notes"], **search["notes"]}
    best = search["best"] if search["best"] is not None else trials["best"]
    each = zip(trials["objectives"], search["objectives"], strict=True)
    objectives = [{**one, **other} for one, other in each]
    return {**trials, **search, "notes": notes, "best": best, "objectives": objectives}


def describe_trials(study: Shown) -> dict[str, Any]:
    """The trials of the study, which can be described quickly because nothing is replayed."""
    space, records = study.space, study.trials
    messages, message_of, cut = _messages(records)
    points = _points(space, records)
    rows = _rows(points)
    columns = _columns(space, records, points, message_of, study.constraints.measured)
    states = columns["state"]
    objectives = [_objective(study, i, states, rows) for i in range(len(study.objectives))]
    columns["value"] = objectives[0]["value"]
    columns["curves"] = objectives[0]["curves"]
    of_first = ("direction", "sign", "size", "best")
    note = study.note if isinstance(study.note, dict) else {}
    budget = note.get("budget")  # the file may come from elsewhere and contain anything
    notes = {}
    if cut:
        notes["messages"] = "Long messages are shortened; bamsoo export writes them in full."
    if missing := getattr(study, "left_out", 0):  # of a study that another program made
        said = f"{count(missing, 'trial')} without a complete point not shown."
        notes["messages"] = f"{notes.get('messages', '')} {said}".strip()
    return {
        "title": title_of(study),
        "made": time.time(),
        "created": study.created,
        **{key: objectives[0][key] for key in of_first},
        "parameters": [_parameter(space, i) for i in _shown_parameters(space)],
        "constraints": [
            _constraint(study.constraints, name) for name in study.constraints.measured
        ],
        "constrained": bool(study.constraints),
        "extras": extra_names(records),
        "trials": columns,
        "messages": messages,
        "objectives": objectives if study.objectives.several else [],
        "front": _front(study, rows),
        "fit": _fit(study, note.get("data")),
        "tol": study.tol,
        "budget": budget if type(budget) is int and 0 < budget < 2**53 else None,
        # with steps, the budget counts full evaluations
        "cost": study.ledger.costs.shown,
        "settings": settings_of(study),
        "stopped": STOPPED if isinstance(study, Study) else "ended early by a pruner of Optuna",
        "notes": notes,
    }


def _objective(study: Shown, i: int, states: str, rows: dict[bytes, int]) -> dict[str, Any]:
    """One objective: its direction, the scale and the column of its values, and its best one."""
    name, sense = study.objectives.names[i], study.objectives.senses[i]
    records = study.trials
    column = known_values(records, name)
    values = _numbers(column)
    size = float(np.nanmax(np.abs(values), initial=0.0))
    if study.objectives.several:
        feasible = [k for k, v in enumerate(column) if v is not None and states[k] != "i"]
        order = sorted(feasible, key=lambda k: -sense.turn(values[k]))
        best = None
        if order:
            best = _shown_best(study.space, records, order[0], repr(column[order[0]]))
    else:
        best = _best(study.best, study.space, records, rows)
    return {
        "name": name,
        "direction": study.objectives.only(name).direction,
        "sign": -study.objectives.signs[i],
        "size": size if size > 0.0 else 1.0,
        "best": best,
        "value": column,
        "curves": _curves(study, i),
    }


def _curves(study: Shown, i: int) -> dict[int, list[float | None]]:
    """The value of objective i after each step, by row, of the trials that reported their steps."""
    curves, several = study.curves, study.objectives.several
    found = {}
    for row, record in enumerate(study.trials):
        if record.number is not None and record.number in curves:
            values = [value[i] if several else value for value in curves[record.number]]
            found[row] = [_short(v) if isfinite(v) else None for v in values]
    return found


def _fit(study: Shown, data: Any) -> dict[str, Any] | None:
    """The fit at the best point, and the measurements if the command subtracted them."""
    best = None if study.objectives.several else study.best
    if best is None or not best.residuals:
        return None
    fitted = Fitted(study.ledger.evaluations, best)
    own = isinstance(data, list) and len(data) == len(best.residuals)
    measured = np.array([each if own and is_finite(each) else np.nan for each in data or []])
    return {
        "names": fitted.names,
        "values": [None if isnan(x) else x for x in best.x.tolist()],
        "deviations": _nones(fitted.deviations),
        "correlations": [_nones(row) for row in fitted.correlations],
        "residuals": _nones(fitted.residuals),
        "costs": _nones(fitted.costs),
        "band": _nones(fitted.band),
        "remarks": fitted.remarks,
        "data": _nones(measured) if own else None,
        "fitted": _nones(measured + best.residuals) if own else None,
    }


def _nones(numbers: Array) -> list[float | None]:
    return [_short(each) if isfinite(each) else None for each in numbers.tolist()]


def _front(study: Shown, rows: dict[bytes, int]) -> list[int]:
    """The rows of the front, if there are several objectives."""
    if not study.objectives.several:
        return []
    numbers = {r.number: row for row, r in enumerate(study.trials) if r.number is not None}
    return [
        rows[e.point.key] if e.number is None else numbers[e.number]
        for e in study.front
        if e.number is None or e.number in numbers
    ]


def _estimated_best(
    study: Shown, records: Sequence[Record], rows: dict[bytes, int], search: Optimizer | None
) -> dict[str, Any] | None:
    """Under noise, the point that the search takes for the best, which only it knows."""
    if search is None or not study.noise:
        return None
    return _best(search.best, study.space, records, rows)


def describe_search(study: Shown, growth: Growth | None) -> dict[str, Any]:
    """The search's view of the trials: its partition, its model, and what is left to gain.

    `growth` must have caught up with the study; it is None if the search was not replayed.
    """
    records = study.trials
    points = _points(study.space, records)
    rows = _rows(points)
    unknown = "Not shown, because of --no-replay."
    if not isinstance(study, Study):
        unknown = "Only the searches of bamsoo have a partition."
    tree: dict[str, Any] = {"reason": unknown}
    search: Optimizer | None = None
    if growth is not None and isinstance(study, Study):
        tree = partition(study, growth, rows)
        search = growth.replayed
    columns = [_numbers(known_values(records, name)) for name in study.objectives.names]
    beliefs = _beliefs(study)
    numbers = Numbers(study.space, study.constraints, study.trials, bool(study.noise))
    models = [
        _model(study, search, points, values, beliefs, numbers, i)
        for i, values in enumerate(columns)
    ]
    best = study.best if search is None else search.best
    several = study.objectives.several
    objectives = [
        {
            "model": model,
            "ranges": _ranges(study, numbers, predictor, best),
            "believed": {row: [*map(_short, each[i])] for row, each in beliefs.items()},
        }
        for i, ((model, predictor), values) in enumerate(zip(models, columns, strict=True))
    ]
    model, predictor = models[0]
    return {
        "partition": tree,
        **objectives[0],
        "objectives": objectives if several else [],
        "predicted": _predicted(study, [predictor for _, predictor in models], points),
        "limits": _limits(study, search),
        "numbers": _number_models(numbers, predictor),
        **_held(study, numbers, None if several else predictor, best),
        "gap": None if several else _gap(search),
        "best": None if several else _estimated_best(study, records, rows, search),
        "notes": _notes(model, study, search, tree, _doubts(study, numbers, best)),
        "seen": len(records),
    }


def _beliefs(study: Shown) -> dict[int, Sequence[tuple[float, float]]]:
    """What is believed about the final values of stopped trials, by row."""
    ends = study.believed_ends
    numbered = ((row, r.number) for row, r in enumerate(study.trials) if r.number is not None)
    return {row: ends[number] for row, number in numbered if number in ends}


def _points(space: Space, records: Sequence[Record]) -> list[Array]:
    return [space.point(record.params) for record in records]


def _numbers(column: Sequence[float | None]) -> Array:
    return np.array([np.nan if value is None else value for value in column], dtype=float)


def _rows(points: Sequence[Array]) -> dict[bytes, int]:
    """The row of each point, by key; the last one if a point occurs several times."""
    return {key_of(x): row for row, x in enumerate(points)}


def _shown_parameters(space: Space) -> list[int]:
    """The indices of the parameters without those that have one value in all evaluations."""
    return [i for i in range(space.dim) if i < space.domain.dim or i not in space.fixed]


def _parameter(space: Space, i: int) -> dict[str, Any]:
    """A parameter; if it exists only with certain options, also which ones."""
    slot = space.slots[i]
    described = {"name": slot.label, **slot.parameter.described()}
    if slot.condition is not None:
        described["when"] = slot.when
        described["condition"] = {
            "axis": slot.condition.axis,
            "options": sorted(slot.condition.options),
        }
    if space.domain.conditional:
        described["middle"] = float(space.domain.middle[i]) if i < space.domain.dim else 1.0
    return described


def _letter(record: Record) -> str:
    """The state of a trial as a letter; a value that violates a constraint has its own."""
    if record.values is not None and record.feasible is False:
        return "i"
    return "d" if record.state == "finished" else record.state[0]


def _number(measured: float | None) -> float | None:
    return measured if measured is not None and isfinite(measured) else None


def _shown(extra: Simple) -> Simple:
    """An extra as JSON can hold it, with long texts shortened."""
    if isinstance(extra, float) and not isfinite(extra):
        return str(extra)
    short = isinstance(extra, str) and len(extra) > LONGEST_EXTRA
    return f"{extra[:LONGEST_EXTRA]}…" if short and isinstance(extra, str) else extra


def _columns(
    space: Space,
    records: Sequence[Record],
    points: Sequence[Array],
    message_of: dict[int, int],
    names: Sequence[str],
) -> dict[str, Any]:
    """The trials by column, so that a page with ten thousand rows stays small."""
    nothing = dict.fromkeys(names)
    measured = [r.measured or nothing for r in records]
    return {
        "number": [r.number for r in records],
        "origin": [r.origin for r in records],
        "state": "".join(map(_letter, records)),  # done, failed, out (pending), given, infeasible
        "measured": [[_number(m[name]) for m in measured] for name in names],
        "extras": [
            [_shown(that_exist(r.extras).get(n)) for r in records] for n in extra_names(records)
        ],
        "params": _parameter_columns(space, points),
        "message": message_of,
        **_times(records),
        "steps": [r.steps if r.reported is not None else None for r in records],
    }


def _times(records: Sequence[Record]) -> dict[str, Any]:
    """When the first trial began, and when and how long each was evaluated after that."""
    begun = [t for t in (r.asked_at or r.told_at for r in records) if t is not None]
    start = min(begun, default=0.0)
    return {
        "start": start,
        "asked": [None if r.asked_at is None else round(r.asked_at - start, 3) for r in records],
        "took": [None if r.seconds is None else _short(r.seconds, 4) for r in records],
    }


def _parameter_columns(space: Space, points: Sequence[Array]) -> list[list[float | int | None]]:
    """The values of each parameter, with nine digits, or more if the range is narrow.

    A value is None if the parameter does not exist with the options of the trial.
    """
    columns: list[list[float | int | None]] = []
    for i in _shown_parameters(space):
        low, high = float(space.low[i]), float(space.high[i])
        width, largest = 0.5 * high - 0.5 * low, max(abs(low), abs(high))
        same = ceil(log10(0.5 * largest / width)) if 0.0 < width < largest else 0
        digits = min(9 + max(same, 0), 17)
        columns.append([None if isnan(x[i]) else _short(float(x[i]), digits) for x in points])
    return columns


def _short(number: float, digits: int = 9) -> float | int:
    rounded = float(f"{number:.{digits}g}")
    if not isfinite(rounded):  # rounding the largest doubles up gives inf
        return number
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e9 else rounded


def _messages(records: Sequence[Record]) -> tuple[list[str], dict[int, int], bool]:
    """The different error messages, the message of each row, and whether any was shortened."""
    order: dict[str, int] = {}
    rows = {}
    for row, record in enumerate(records):
        said = [record.error] if record.error else []
        said += [f"retried; it failed before: {why or 'no reason'}" for why in record.retried[-1:]]
        if said:
            rows[row] = order.setdefault("; ".join(said), len(order))
    most = LONGEST if sum(min(len(m), LONGEST) for m in order) <= ALL_MESSAGES else 200
    texts = [text if len(text) <= most else f"{text[:most]} …" for text in order]
    return texts, rows, any(len(text) > most for text in order)


def _best(
    best: Evaluation | None, space: Space, records: Sequence[Record], row_of: dict[bytes, int]
) -> dict[str, Any] | None:
    """The best evaluation, with the search's estimate of its value and the value as told."""
    if best is None:
        return None
    row = row_of[best.point.key]
    if best.number is not None:  # its point may have been evaluated several times
        row = next(i for i, record in enumerate(records) if record.number == best.number)
    return _shown_best(space, records, row, repr(best.value))


def _shown_best(space: Space, records: Sequence[Record], row: int, value: str) -> dict[str, Any]:
    record = records[row]
    existing = space.columns(record.params)
    texts = {k: v if isinstance(v, str) else repr(v) for k, v in existing.items()}
    params = [texts.get(space.names[i]) for i in _shown_parameters(space)]
    told = repr(record.value) if record.value is not None else value
    return {"row": row, "number": record.number, "value": value, "told": told, "params": params}


def _model(
    study: Shown,
    search: Optimizer | None,
    points: Sequence[Array],
    values: Array,
    beliefs: Mapping[int, Sequence[tuple[float, float]]],
    numbers: Numbers,
    i: int,
) -> tuple[dict[str, Any], Predictor | None]:
    """The search's own GP, or one that is fitted here, or the reason why there is none.

    What is believed about stopped trials, by row, counts as in the search: as values with a
    variance.
    """
    values, variances = values.copy(), np.full(len(values), np.nan)
    for row, each in beliefs.items():
        values[row], variances[row] = each[i][0], each[i][1] ** 2
    known: list[int] = np.flatnonzero(np.isfinite(values)).tolist()
    sense = study.objectives.senses[i]
    reason = nothing_to_learn(values[known])
    if study.space.fidelity is not None:
        level = study.space.names[-1]
        reason = f"The model is over all parameters except {level}, and is not shown."
    if reason is not None:
        return {"reason": reason}, None
    name = study.settings["algorithm"]["class"]
    model = None if search is None else own(search, i)
    if model is not None and search is not None:
        predictor = search.result.predictors[i]  # `model` may have fewer rows
        said = f"This is the Gaussian process that {name} used"
        if numbered := [t.number for t in study.trials if t.number is not None]:
            said += f", as of trial {max(numbered)}"
    else:
        space = study.space
        unit = np.array([space.encode(points[i]) for i in known])
        own_noise = variances[known] if beliefs else None
        learned = learn(space.domain, unit, sense.turn(values[known]), study.noise, own_noise)
        model = Surrogate(*learned)
        predictor = Predictor(space, sense, model.gp, model.transform)
        why = f"{name} has no model"
        if not isinstance(study, Study):
            why = f"{name} stores no model"
        elif search is None:
            why = "The search was not replayed to its end, so its model is not known"
        elif search.book.gp is not None:
            why = f"{name} has not learned its model yet"
        said = (
            f"{why}. This Gaussian process was fitted to the study’s values, in the way the "
            "default algorithm fits its own"
        )
    if beliefs:
        said += f". What the curves of {count(len(beliefs), 'stopped trial')} say counts as well"
    return {
        **model.as_data(),
        **_importance(predictor, predictor, numbers),
        "values": len(known),
        "says": f"{said} ({model.description()}).",
    }, predictor


def _importance(of: Predictor, value: Predictor, numbers: Numbers) -> dict[str, Any]:
    """The share of each parameter, in the whole space and near the best point."""
    near = of.importance(partial(numbers.near_best, value))
    return {"importance": of.importance().tolist(), "near": near.tolist()}


CLOSE = (0.02, 0.1, 0.5)
"""The page shows where the value stays within each of these shares of the distance from the best
value to the worst one near the best, as for the importance. What counts as close differs from task
to task, so there is a choice."""


def _ranges(
    study: Shown, numbers: Numbers, predictor: Predictor | None, best: Evaluation | None
) -> dict[str, Any] | None:
    """Where each parameter may lie so that the value stays close to the best one, and feasible."""
    if predictor is None or best is None or study.objectives.several:
        return None
    if (lost := study.constraints.forgotten) is not None:
        return {"lost": lost}
    found = []
    for within in _distances(study, numbers, predictor, best.numbers[0]):
        try:
            standing = numbers.standing(predictor, best.numbers[0], within)
        except ModelError:  # too few measurements of a constraint
            return None
        ends = [_range(study.space, standing, best.x, i) for i in _shown_parameters(study.space)]
        found.append({"within": within, "of": ends})
    return {"levels": found} if found else None


def _distances(study: Shown, numbers: Numbers, predictor: Predictor, best: float) -> list[float]:
    """Distances from the best value that may count as close, smallest first, with one digit.

    They come from predictions all over the space: most evaluations of a long search are close to
    the best one.
    """
    near = numbers.near_best(predictor, _spread(study.space))
    values = predictor.in_callers_units(predictor.posterior(near)[0])
    with np.errstate(over="ignore"):
        reach = float(np.abs(values - best).max())
    tol = study.tol or 0.0
    found = {float(f"{share * reach:.0e}") for share in CLOSE if 0.0 < share * reach < inf}
    return sorted({within for within in found if within > tol} | ({tol} if tol else set()))


def _range(space: Space, standing: Requirements, best: Array, i: int) -> list[Any] | None:
    """The ends of the range of parameter i, or the numbers of its options, and how sure it is."""
    slot = space.slots[i]
    if isnan(best[i]) or i in space.fixed:
        return None
    each = range_of(space, standing, best, i)
    if each.options is None:
        return [each.low, each.high, each.sure]
    numbers = [int(slot.parameter.number_of(slot.name, option)) for option in each.options]
    return [numbers, each.sure]


MOST_NUMBERS = 6
"""The largest number of measured numbers whose models the page gets; each has to be fitted."""


def _number_models(numbers: Numbers, value: Predictor | None) -> list[dict[str, Any]]:
    """The models of the measured constraints and of recorded numbers, for slices and the map."""
    found: list[dict[str, Any]] = []
    for name in numbers.names:
        column = numbers.column(name)
        if len(found) == MOST_NUMBERS:
            break
        if nothing_to_learn(column[np.isfinite(column)]) is not None:
            continue
        model = numbers.predictor(name)
        shares = {} if value is None else _importance(model, value, numbers)
        found.append({"name": name, **Surrogate(model.gp, model.transform).as_data(), **shares})
    return found


STEPS = 4
"""Number of other bounds on either side of a limit that the page's slider offers."""

SLIDERS = 3
"""The largest number of limits with a slider; the others cost the least to meet."""

FURTHEST = 0.2
"""How far a slider goes to either side, as a share of the distance between the 5 % and the 95 %
quantile of the measured numbers. Further away, few points have been evaluated."""

BEYOND = 0.05
"""How far the slider of a parameter's bound goes to either side, as a share of its range. Nothing
has been evaluated beyond the bound, and models say little about places further away."""


def _held(
    study: Shown, numbers: Numbers, predictor: Predictor | None, best: Evaluation | None
) -> dict[str, Any]:
    """What holds the best point, and what other limits would bring; or the least violation."""
    nothing: dict[str, Any] = {
        "active": None, "failed_nearby": None, "what_if": [], "least": None, "expected": None,
    }  # fmt: skip
    if best is None:
        least = least_violating(numbers)
        found = None if least is None else {"row": least.row, "by": least.by}
        return {**nothing, "least": found}
    fidelity = study.space.fidelity is not None
    if predictor is None or fidelity or study.constraints.forgotten is not None:
        return nothing
    scene = scene_of(predictor, numbers)
    try:
        held = active(scene, best.x)
        any_point = what_if(scene, [])
    except ModelError:  # too few measurements of a constraint, or models that know no such point
        return nothing
    sliders = (_slider(scene, each, best, numbers) for each in held)
    return {
        **nothing,
        "active": [asdict(each) for each in held] if study.space.domain.continuous else None,
        "failed_nearby": failed_nearby(scene, best.x),
        "what_if": list(islice((each for each in sliders if each is not None), SLIDERS)),
        "expected": _expected(study, any_point, best),
    }


def _expected(study: Shown, said: Forecast, best: Evaluation) -> list[float] | None:
    """The ends of the interval for the best value; without noise, it is no worse than the best.

    It is None if it is wider than the values vary: looking at them then says more.
    """
    ends = [said.low, said.high]
    if not study.noise:
        turn, value = study.objectives.sense.turn, best.numbers[0]
        ends = sorted(turn(max(turn(end), turn(value))) for end in ends)
    if best.residuals:
        low, high = ends  # of a sum of squares, which the model does not know
        ends = [max(low, 0.0), high if high > 0.0 else best.numbers[0]]
    known = [v for v in known_values(study.trials, study.objectives.names[0]) if v is not None]
    return ends if ends[1] - ends[0] <= deviation(np.array(known)) else None


def _slider(
    scene: Scene, held: Active, best: Evaluation, numbers: Numbers
) -> dict[str, Any] | None:
    """What is expected under other bounds of a limit; None if it cannot be moved."""
    space, u = scene.space, scene.space.encode(best.x)
    shares = np.arange(-STEPS, STEPS + 1) / STEPS
    if (limit := _side_of(scene, held)) is None:
        return None
    now = limit.bound
    if limit.what in space.names:
        i = space.names.index(limit.what)
        places = float(limit.side > 0.0) + BEYOND * shares
        bounds = [space.value_at(i, place) for place in places.tolist()]
        bounds = [each for each in bounds if each * now >= 0.0]  # a width of 0 stays a width
    else:
        column = _column_of(limit, numbers)
        reach = FURTHEST * float(np.ptp(np.nanquantile(column, [0.05, 0.95])))
        bounds = [now + reach * each for each in shares.tolist()]
    bounds = sorted({now, *(_short(each, 4) for each in bounds)} - {_short(now, 4)} | {now})
    middle = bounds.index(now)
    moved = [limit._replace(bound=each) for each in bounds]
    down = what_if_steps(scene, moved[middle::-1], u)
    up = what_if_steps(scene, moved[middle:], u)
    columns = space.columns
    steps = [
        {"bound": bound, "fun": said.fun, "low": said.low, "high": said.high,
         "params": [_told(columns(said.params).get(n)) for n in space.names]}
        for bound, said in zip(bounds, [*down[:0:-1], *up], strict=True)
    ]  # fmt: skip
    return {"name": held.name, "upper": limit.side > 0.0, "now": middle, "steps": steps}


def _side_of(scene: Scene, held: Active) -> Side | None:
    """The bound that holds the best point, if `what_if` can move it."""
    for limit in scene.limits:
        if held.limit == (limit.text or f"{limit.name} <= 0"):
            return Side(limit.name, limit.side, limit.bound)
    if held.name in scene.space.names:
        i, upper = scene.space.names.index(held.name), held.limit.startswith(f"{held.name} <=")
        return Side(
            held.name,
            1.0 if upper else -1.0,
            float((scene.space.high if upper else scene.space.low)[i]),
        )
    known = [each for each in sides_of(held.limit) if scene.constraints.with_bound(each)]
    return known[0] if known else None


def _column_of(limit: Side, numbers: Numbers) -> Array:
    """The number of each evaluation that a limit is about."""
    if limit.what in numbers.names:
        return numbers.column(limit.what)
    formula, params = Formula(f"{limit.what} <= 0"), [row.params for row in numbers.told]
    known = [formula(**p) if formula.names <= p.keys() else np.nan for p in params]
    return np.array(known, dtype=float)


def _told(value: Any) -> str:
    """A parameter's value as text; empty if it does not exist."""
    if value is None:
        return ""
    return readable(value, 4).removesuffix(".0") if isinstance(value, float) else str(value)


SPREAD = 512
"""Number of points all over the space, besides those evaluated, at which the page's front of the
model is looked for. With more it is smoother and takes longer."""


def _spread(space: Space) -> Array:
    """Points of the unit cube, all over the space."""
    from scipy.stats import qmc  # takes long to load

    spread = qmc.Sobol(space.domain.dim, seed=0).random(SPREAD)
    return np.array([space.domain.snap(u) for u in spread])


def _predicted(
    study: Shown, predictors: Sequence[Predictor | None], points: Sequence[Array]
) -> dict[str, Any] | None:
    """The front that the models of two objectives predict, and how far it may be off.

    It is the front of the predicted means, and those of the means one deviation better and worse.
    """
    if len(predictors) != 2 or any(each is None for each in predictors) or not len(points):
        return None
    space = study.space
    U = np.array([*map(space.encode, points), *_spread(space)])
    X = [space.decode(u) for u in U]
    turned = study.objectives.turned
    both = [each.predict(X) for each in predictors if each is not None]
    mean, deviation = (np.column_stack([pair[k] for pair in both]) for k in (0, 1))

    def front(shift: float) -> list[list[float]]:
        Y = turned(mean) + shift * deviation
        kept = np.flatnonzero(non_dominated(Y))
        order = kept[np.argsort(-Y[kept, 0], kind="stable")]
        return [list(map(float, each)) for each in turned(Y[order])]

    return {"worse": front(-1.0), "mean": front(0.0), "better": front(1.0)}


def _gap(search: Optimizer | None) -> float | str | None:
    """What is left to gain; None if the search has no model or was not replayed."""
    if search is None or (result := search.result).has_no_model:
        return None
    return gap if isfinite(gap := result.shown_gap) else "unknown"


def _limits(study: Shown, search: Optimizer | None) -> list[dict[str, Any]]:
    """The models of the measured constraints at the end of the search."""
    limits = None if search is None else search.book.limits
    if limits is None:
        return []
    return [
        {"name": limit.text, **Surrogate(model.gp, model.transform).as_data()}
        for limit, model in zip(study.constraints.limits, limits.models, strict=False)
        if model.gp is not None
    ]


def settings_of(study: Shown) -> list[tuple[str, list[tuple[str, str]]]]:
    """Groups of settings, each with a heading and pairs of name and text."""
    algorithm = dict(study.settings["algorithm"])
    name, note = algorithm.pop("class"), study.note
    if isinstance(note, dict):  # the signature of what it runs says nothing to people
        note = {k: v for k, v in note.items() if k != "mark"}
    here = {"bamsoo": __version__, "numpy": np.__version__, "python": platform.python_version()}
    groups = [
        ("Search", [("direction", study.settings["direction"]), ("algorithm", name),
                    ("seed", str(study.settings["seed"])), *_constraint_texts(study),
                    *_fixed_texts(study.space)]),
        (name, list(_texts(algorithm))),
        ("Earlier evaluations", [(i.source, str(i)) for i in study.ledger.imports.values()]),
        ("Run", list(_texts(note)) if note is not None else []),
        ("Written with", list(_texts(study.versions))),
        ("Report made with", list(_texts(here))),
    ]  # fmt: skip
    return [group for group in groups if group[1]]


def _fixed_texts(space: Space) -> Iterator[tuple[str, str]]:
    for i, fixed in space.fixed.items():
        past = "; in earlier evaluations it had other values" if fixed.was is not None else ""
        yield "fixed", f"{space.names[i]} = {fixed.value!r}{past}"


def _constraint(constraints: Constraints, name: str) -> dict[str, Any]:
    """A measured number with its limits, of which one may be missing."""
    own = {limit.side: limit.bound for limit in constraints.limits if limit.name == name}
    return {"name": name, "low": own.get(-1.0), "high": own.get(1.0)}


def _constraint_texts(study: Shown) -> Iterator[tuple[str, str]]:
    for each in study.settings.get("constraints", []):
        ((kind, what),) = each.items()
        limited = "<=" in str(what) or ">=" in str(what)
        measured = f"{what}, measured" if limited else f"{what} <= 0, measured"
        said = {"measured": measured, "linear": "a LinearConstraint"}
        yield "constraint", said.get(kind, str(what))


def _texts(value: Any, name: str = "note") -> Iterator[tuple[str, str]]:
    """Any JSON value as pairs of name and text."""
    if isinstance(value, dict) and isinstance(value.get("kernel"), str):
        inner = ", ".join(f"{key}={v}" for key, v in value.items() if key != "kernel")
        yield name, f"{value['kernel']}({inner})"
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _texts(each, str(key))
    elif isinstance(value, list) and all(isinstance(each, str) for each in value):
        yield name, shlex.join(value)
    elif value is not None:
        yield name, str(value)


def _doubts(study: Shown, numbers: Numbers, best: Evaluation | None) -> str:
    """What the models say of a noisy best point that met its limits, as measured, by chance."""
    if not study.noise or best is None or study.constraints.forgotten is not None:
        return ""
    try:
        chances = [float(each.chance([best.x])[0]) for each in numbers.demands]
    except ModelError:  # too few measurements of a constraint
        return ""
    said = [
        f" It met {limit.text or limit.name} when it was measured, but the models, which average "
        f"the noise out, expect with {100.0 * (1.0 - chance):.0f} % that it does not."
        for limit, chance in zip(study.constraints.limits, chances, strict=True)
        if chance < 0.5
    ]
    return "".join(said)


def _notes(
    model: dict[str, Any],
    study: Shown,
    search: Optimizer | None,
    tree: dict[str, Any],
    doubts: str,
) -> dict[str, str]:
    """Notes about thinned data and special cases, by the part of the page that shows them."""
    notes = {}
    if study.noise:
        notes["best"] = (
            "The values are noisy and the search was not replayed to its end, so the best is the "
            "best of the measured values."
            if search is None
            else "The values are noisy: the best is the evaluated point with the best posterior "
            f"mean, and its value is that mean.{doubts}"
        )
    if "points" in model and len(model["points"]) < model["values"]:
        notes["model"] = (
            f"It is computed from {len(model['points']):,} of the {model['values']:,} values."
        )
    if tree.get("nodes", 0) > MOST_NODES:
        notes["partition"] = f"Only the oldest {MOST_NODES:,} of {tree['nodes']:,} cells are drawn."
    return notes
