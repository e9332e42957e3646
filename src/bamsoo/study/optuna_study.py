"""Studies of Optuna as the report and the live page show them; they are only read.

A study is read through Optuna itself, from a database or a journal file. Its trials become records
of a space that is inferred from their distributions: a parameter that is suggested only with one
value of another becomes a parameter of that option.
"""

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from functools import cached_property
from math import isfinite, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from ..base.checks import brief, short
from ..errors import BamsooError, SettingsError, SpaceError, StudyError
from ..record.ledger import Ledger
from ..record.objectives import Objectives
from ..record.trials import Evaluation, Record
from ..result.result import Result
from ..search.optimizer import Optimizer
from ..search.stopping import Stopping
from ..space import Choice, Constraints, Int, Parameter, Real, Space
from .address import Address, FileAddress, ServerAddress, parse
from .study import Study

STATES = {"COMPLETE": "done", "FAIL": "failed", "PRUNED": "stopped", "RUNNING": "out"}
"""The state of a trial as bamsoo calls it; a waiting trial has no point yet."""


def is_optuna(study: str, name: str | None = None) -> bool:
    """Whether an address or a path is that of a study of Optuna; `name` is one of its studies."""
    address = parse(study)
    if isinstance(address, ServerAddress):
        return not address.own or name is not None  # bamsoo's own addresses contain the name
    return _is_journal(address.path) or _is_database(address.path)


def _is_journal(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as file:
        return b'"op_code"' in file.read(200)
    return False


def _is_database(path: Path) -> bool:
    if not path.is_file():
        return False
    # without a log nobody writes, and an ordinary connection would leave an empty one behind
    how = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
    with suppress(sqlite3.Error), closing(_connect(path, how)) as file:
        tables = {row[0] for row in file.execute("SELECT name FROM sqlite_master")}
        return {"studies", "trials", "trial_params"} <= tables
    return False


def _connect(path: Path, how: str = "mode=ro") -> sqlite3.Connection:
    """A connection that changes nothing, and creates nothing."""
    address = f"{path.resolve().as_uri()}?{how}"
    return sqlite3.connect(address, uri=True, check_same_thread=False)


class OptunaSource:
    """Where a study of Optuna is read from.

    Parameters
    ----------
    study : str
        The address of a database, such as ``sqlite:///optuna.db``, or the path of an SQLite
        database or of a journal file. The name of the study may follow, as in
        ``sqlite:///optuna.db#resnet``.
    name : str, optional
        The name of the study; it may be left out if there is only one.
    """

    def __init__(self, study: str, name: str | None = None) -> None:
        address = parse(study)
        self.address = address.shown
        if isinstance(address, FileAddress):
            name = name or address.name or None
        try:
            import optuna
        except ImportError:
            raise SettingsError(
                f"{self.address} is a study of Optuna, which is not installed: pip install optuna"
            ) from None
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        try:
            self._storage = _storage(address)
            names = optuna.get_all_study_names(self._storage)
        except BamsooError:
            raise
        except Exception as error:  # of SQLAlchemy, of a driver, or of Optuna
            raise StudyError(f"{self.address}: cannot be read: {short(str(error))}") from None
        if name is None and len(names) != 1:
            way = "give --name"
            if isinstance(address, FileAddress) and names:
                way = f"name one, as in sqlite:///{self.address}#{names[0]}"
            several = f"holds {len(names)} studies, {', '.join(names[:10])}; {way}"
            raise StudyError(f"{self.address}: {several if names else 'holds no study'}")
        if name is not None and name not in names:
            there = ", ".join(names[:10]) or "none"
            raise StudyError(f"{self.address}: holds no study {name!r}, only {there}")
        self.name = names[0] if name is None else name
        self._latest: tuple[object, OptunaStudy] | None = None

    def read(self) -> "OptunaStudy":
        """The study as it is now."""
        import optuna

        now = self.signature()
        if self._latest is None or self._latest[0] != now:
            study = optuna.load_study(study_name=self.name, storage=self._storage)
            self._latest = now, OptunaStudy(study, self.name)
        return self._latest[1]

    def signature(self) -> object:
        """The number, state and number of parameters of all trials."""
        study_id = self._storage.get_study_id_from_name(self.name)
        trials = self._storage.get_all_trials(study_id, deepcopy=False)
        return [(t.state, len(t.params), len(t.intermediate_values)) for t in trials]

    def running(self) -> None:
        """None: Optuna's storages do not say whether somebody writes to them."""


@contextmanager
def open_to_read(study: str, name: str | None = None) -> "Iterator[Study | OptunaStudy]":
    """A study of bamsoo or of Optuna, open for reading; `name` is as in `OptunaSource`."""
    if is_optuna(study, name):
        yield OptunaSource(study, name).read()
        return
    with Study.open(study, readonly=True) as own:
        yield own


def _storage(address: Address) -> Any:
    from optuna.storages import JournalStorage, RDBStorage

    if isinstance(address, ServerAddress):
        if address.name:
            raise SettingsError(
                f"an address of {address.scheme}:// with #NAME is that of a study of bamsoo; leave "
                "out --name, or what is behind the #"
            )
        return RDBStorage(address.uri, skip_table_creation=True)
    path = address.path
    if _is_journal(path):
        from optuna.storages.journal import JournalFileBackend

        return JournalStorage(JournalFileBackend(str(path)))
    if not path.is_file():
        raise StudyError(f"{path}: there is no such file")
    if not _is_database(path):
        raise StudyError(f"{path}: is no study of Optuna")
    # an address would have to be quoted, and SQLAlchemy creates what is missing
    return RDBStorage("sqlite://", {"creator": lambda: _connect(path)}, skip_table_creation=True)


class OptunaStudy:
    """A study of Optuna at one moment, with everything that the page shows of a study."""

    noise: float | str = 0.0
    tol: float | None = None
    note: Any = None

    def __init__(self, study: Any, name: str) -> None:
        import optuna

        self.path: str | os.PathLike[str] = name
        trials = study.get_trials(deepcopy=False)
        self.length = sum(len(t.params) + 1 + int(t.state.is_finished()) for t in trials)
        self.versions: Mapping[str, str] = {"optuna": optuna.__version__}
        self.objectives = _objectives(study)
        limits = _limit_names(trials)
        given = _Parameters(trials)
        self.space = given.space
        self.constraints = Constraints(self.space, list(limits) or None)
        self.settings: dict[str, Any] = {
            "direction": self.objectives.only(self.objectives.names[0]).direction,
            "algorithm": {"class": "Optuna"},
            "seed": "not stored",
        }
        self.trials = [
            _record(t, params, extras, limits, self.objectives)
            for t in trials
            if t.state.name in STATES and (params := given.of(t)) is not None
            for extras in [given.beside(t, params)]
        ]
        self.curves = _curves(trials)
        self.left_out = sum(t.state.name in STATES for t in trials) - len(self.trials)
        begun = [t.datetime_start for t in trials if t.datetime_start is not None]
        self.created = min(map(datetime.timestamp, begun), default=None)

    @cached_property
    def _search(self) -> Optimizer:
        """A search that knows all values and asks for nothing."""
        objectives = self.objectives
        search = Optimizer(
            self.space.given,
            self.settings["direction"],
            constraints=list(self.constraints.measured) or None,
            objectives=dict(objectives.ways) if objectives.several else None,
        )
        for record in self.trials:
            if record.values:
                values = record.values if objectives.several else record.value
                search.tell(record.params, values, constraints=record.measured)
        return search

    @property
    def ledger(self) -> Ledger:
        """The values as that search knows them."""
        return self._search.ledger

    @cached_property
    def believed_ends(self) -> dict[int, list[tuple[float, float]]]:
        """For each pruned trial, the mean and deviation of the value it would have had."""
        curves = self.curves
        steps = max(map(len, curves.values()), default=0)
        ended = [t for t in self.trials if t.number in curves and t.state in ("done", "stopped")]
        if self.objectives.several or not any(t.state == "stopped" for t in ended):
            return {}
        turn, rule = self.objectives.sense.turn, Stopping(steps, self.space.domain)
        places: dict[int, int] = {}
        for t in ended:
            assert t.number is not None
            values = [turn(value) for value in curves[t.number]]
            unit = self.space.encode(self.space.point(t.params))
            place = rule.add(unit, len(values), range(1, len(values) + 1), values)
            if t.state == "stopped" and place is not None:
                places[t.number] = place
        beliefs = rule.beliefs([*places.values()]) if places else []
        return {
            number: [(turn(each.means[0]), sqrt(each.variances[0]))]
            for number, each in zip(places, beliefs, strict=True)
        }

    @property
    def result(self) -> Result:
        """The result of the trials; its counts are those of Optuna's trials."""
        states = Counter(record.state for record in self.trials)
        result = self._search.result
        result.nfev = len(self.trials) - states["out"]
        result.nfailed, result.nstopped = states["failed"], states["stopped"]
        result.ninfeasible = sum(each.feasible is False for each in self.trials if each.values)
        curves = self.curves
        steps = max(map(len, curves.values()), default=1)
        ended = [each for each in self.trials if each.state != "out"]
        early = [
            len(curves[t.number]) for t in ended if t.state == "stopped" and t.number in curves
        ]
        result.cost = len(ended) - len(early) + sum(early) / steps
        return result

    @property
    def best(self) -> Evaluation | None:
        """The best trial; with several objectives, one of the front."""
        return self._search.best

    @property
    def front(self) -> list[Evaluation]:
        """The trials that no other one dominates, of several objectives."""
        return self._search.front


def _curves(trials: Sequence[Any]) -> dict[int, list[float]]:
    """The values that each trial reported, in the order of their steps, by its number."""
    steps = {t.number: t.intermediate_values for t in trials if t.intermediate_values}
    return {number: [values[step] for step in sorted(values)] for number, values in steps.items()}


def _objectives(study: Any) -> Objectives:
    directions = ["max" if each.name == "MAXIMIZE" else "min" for each in study.directions]
    if len(directions) == 1:
        return Objectives.of(None, "maximize" if directions[0] == "max" else "minimize")
    names = study.metric_names or [f"value {i}" for i in range(len(directions))]
    if len(set(names)) < len(names):  # Optuna allows equal names
        names = [f"{name} ({i})" for i, name in enumerate(names)]
    return Objectives.of(dict(zip(names, directions, strict=True)), "minimize")


def _limit_names(trials: Sequence[Any]) -> list[str]:
    """Names for the constraints that all completed trials have measured."""
    done = [t for t in trials if t.state.name == "COMPLETE"]
    numbers = [t.system_attrs.get("constraints") for t in done]
    if not numbers or any(each is None or len(each) != len(numbers[0]) for each in numbers):
        return []
    return [f"constraint {i}" for i in range(len(numbers[0]))]


def _outcome(trial: Any, objectives: Objectives) -> tuple[str, dict[str, float] | None]:
    """The state of a trial, and its values by name if it has them."""
    state = STATES[trial.state.name]
    if state != "done":
        return state, None
    if not all(map(isfinite, trial.values)):
        return "failed", None
    return state, dict(zip(objectives.names, map(float, trial.values), strict=True))


def _record(
    trial: Any,
    params: dict[str, Any],
    extras: dict[str, Any],
    limits: Sequence[str],
    objectives: Objectives,
) -> Record:
    state, values = _outcome(trial, objectives)
    measured = None
    if limits and values is not None:
        measured = dict(zip(limits, map(float, trial.system_attrs["constraints"]), strict=True))
    started, ended = trial.datetime_start, trial.datetime_complete
    steps = trial.intermediate_values
    return Record(
        trial.number,
        params,
        None if values is None or objectives.several else values[objectives.names[0]],
        state,
        trial.system_attrs.get("fail_reason"),
        None if started is None else started.timestamp(),
        None if ended is None or state == "out" else ended.timestamp(),
        measured,
        all(each <= 0.0 for each in measured.values()) if measured else None,
        None,
        len(steps) if steps else None,
        extras,
        values,
        curve=tuple((float(step), float(value)) for step, value in sorted(steps.items())),
    )


class _Parameters:
    """The space of the trials, and the point of each in it."""

    def __init__(self, trials: Sequence[Any]) -> None:
        from .optuna_space import structure_of

        self._merged = _merged(trials)
        done = [t for t in trials if t.state.name in ("COMPLETE", "PRUNED")]
        alike = [_with(t, self._merged) for t in done]
        self._structure = structure_of(alike)
        given = _as_space(self._structure, list(self._merged))
        if not given:
            raise StudyError("no parameter of the study varies in its completed trials")
        self.space = Space(given)

    def of(self, trial: Any) -> dict[str, Any] | None:
        """The point of a trial; None if it lacks parameters, as a failed one may."""
        point: dict[str, Any] = {}
        try:
            for slot in self.space.existing(point):
                point[slot.name] = _option(slot.parameter, trial.params[slot.name])
            self.space.point(point)
        except (KeyError, BamsooError):
            return None
        return point

    def beside(self, trial: Any, point: Mapping[str, Any]) -> dict[str, Any]:
        """Attributes of the user, and parameters that follow no rule, as extras."""
        others = {n: v for n, v in trial.params.items() if n not in point}
        simple = (str, int, float, bool, type(None))
        return {
            name: value if isinstance(value, simple) else brief(value)
            for name, value in (others | trial.user_attrs).items()
        }


def _merged(trials: Sequence[Any]) -> dict[str, Any]:
    """One distribution per name, wide enough for all trials, whose ranges may have changed."""
    from optuna.distributions import FloatDistribution, IntDistribution

    merged: dict[str, Any] = {}
    for trial in trials:
        for name, new in trial.distributions.items():
            old = merged.setdefault(name, new)
            numbers = isinstance(new, (FloatDistribution, IntDistribution))
            if old == new or type(old) is not type(new) or not numbers:
                continue
            low, high = min(old.low, new.low), max(old.high, new.high)
            if isinstance(new, IntDistribution):
                merged[name] = IntDistribution(low, high, log=old.log and new.log)
            else:
                merged[name] = FloatDistribution(low, high, log=old.log and new.log)
    return merged


def _with(trial: Any, merged: Mapping[str, Any]) -> Any:
    """A completed trial with the merged distributions."""
    from optuna.trial import create_trial

    kept = {n: merged[n] for n in trial.params if merged[n]._contains(_inner(merged[n], trial, n))}
    return create_trial(
        params={name: trial.params[name] for name in kept}, distributions=kept, value=0.0
    )


def _inner(distribution: Any, trial: Any, name: str) -> float:
    try:
        return float(distribution.to_internal_repr(trial.params[name]))
    except ValueError:
        return float("nan")


def _as_space(structure: Mapping[str, Any], order: Sequence[str]) -> dict[str, Any]:
    """The structure as a space with the options that people know, not their indices."""
    from optuna.distributions import CategoricalDistribution, IntDistribution

    space: dict[str, Any] = {}
    for name in sorted(structure, key=order.index):
        suggested = structure[name]
        d = suggested.distribution
        if isinstance(d, CategoricalDistribution):
            options = _options(d.choices)
            brought = (suggested.brings.get(i, {}) for i in range(len(options)))
            opens = {o: _as_space(each, order) for o, each in zip(options, brought, strict=True)}
            space[name] = Choice(opens)
        elif suggested.brings:  # a whole number that decides which others exist
            values = range(d.low, d.high + 1, d.step)
            keys = values if d.log else range(len(values))
            inner = (suggested.brings.get(key, {}) for key in keys)
            space[name] = Choice(
                {v: _as_space(each, order) for v, each in zip(values, inner, strict=True)}
            )
        elif isinstance(d, IntDistribution):
            step = d.step if d.step != 1 else None
            space[name] = Int(d.low, d.high, log=d.log, step=None if d.log else step)
        else:
            space[name] = Real(d.low, d.high, log=d.log, step=d.step)
    return space


def _options(choices: Sequence[Any]) -> list[Any]:
    """The options, as text where two of them would be equal, such as 1 and True."""
    try:
        Choice(choices)
    except SpaceError:
        return [repr(each) for each in choices]
    return list(choices)


def _option(parameter: Parameter, value: Any) -> Any:
    """A value as the space has it."""
    if parameter.options is not None and parameter.index(value) is None:
        return repr(value)
    if parameter.whole and isinstance(value, (float, np.floating)):
        return int(value)
    return value
