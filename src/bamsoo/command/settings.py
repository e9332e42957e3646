"""The settings of a run on the command line, each in one place: a field of `Plan`.

A field says how its setting is given as an option and in a TOML file, whether a study notes it for
`resume`, how such a note is checked, and whether the note is signed because it decides what runs.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import Field, dataclass, field, fields
from typing import Any, NamedTuple, TypeVar

import click

from .. import problems
from ..algorithms import BY_NAME, Algorithm, resolve
from ..base.checks import is_finite
from ..base.defaults import ALGORITHM, DIRECTION
from ..errors import SettingsError
from ..record.objectives import Objectives
from ..record.residuals import LOSSES, SumOfSquares
from ..run.residuals import read_data
from ..space import Formula
from ..stop import Gap, Rule, Stalled
from .options import COUNT, POSITIVE
from .target import GivenTarget

Check = Callable[[Any], bool]


AS_THE_FIELD = "?"


class Given(NamedTuple):
    """How a setting is given."""

    flag: str = AS_THE_FIELD
    """The option of `bamsoo minimize`, by default with the field's name; empty if there is none."""
    help: str = ""
    type: Any = None
    metavar: str | None = None
    key: str = AS_THE_FIELD
    """The key of a TOML file, by default the field's name; empty if there is none."""
    kinds: tuple[type, ...] = ()
    """The types that the value of the key may have, by default as the option's type says."""
    noted: Check | None = None
    """How a study's note is checked; None if the study does not note the setting."""
    signed: bool = False
    """Whether the setting decides what runs."""
    of_run: bool = False
    """Whether the setting may be another one at every start, also with `resume`."""
    since: str = ""
    """The version that added a signed setting; earlier ones made signatures without it."""


def _is_target(given: Any) -> bool:
    if not isinstance(given, dict) or len(given) != 1:
        return False
    ((kind, what),) = given.items()
    if kind == "command":
        return isinstance(what, list) and bool(what) and all(isinstance(w, str) for w in what)
    if kind == "problem":
        return isinstance(what, str) and what in problems.ALL
    return kind == "function" and isinstance(what, str)


def _is_path(given: Any) -> bool:
    return isinstance(given, str)


def _is_text(given: Any) -> bool:
    return given is None or isinstance(given, str)


def _are_names(given: Any) -> bool:
    return given is None or (
        isinstance(given, (list, tuple)) and all(isinstance(name, str) for name in given)
    )


def _are_measurements(given: Any) -> bool:
    """Whether these are numbers, of which None is missing."""
    return given is None or (isinstance(given, list) and all(map(_is_number, given)))


def _is_number(given: Any) -> bool:
    """Whether a run can check the field as it checks the option of the same name."""
    return given is None or is_finite(given)


def _is_positive(given: Any) -> bool:
    return given is None or (is_finite(given) and given > 0)


def _variance(text: str) -> float | str:
    """The option as a number if it is one; the algorithm checks any other text."""
    try:
        return float(text)
    except ValueError:
        return text


NUMBERS = {COUNT: (int,), POSITIVE: (int, float), float: (int, float)}
"""The types in a TOML file of options that are numbers; others are text."""


def _setting(default: Any = None, **given: Any) -> Any:
    return field(default=default, metadata={"given": Given(**given)})


@dataclass(frozen=True)
class Plan:
    """What to run; a field that is None is taken from the study, or has the library's default."""

    target: GivenTarget = field(
        metadata={"given": Given("", key="", noted=_is_target, signed=True)}
    )
    """What is evaluated."""
    directory: str = field(metadata={"given": Given("", key="", noted=_is_path, signed=True)})
    space: Any = _setting(
        flag="--param",
        metavar="PARAM",
        help="NAME:LOW:HIGH[:log][:int][:step=S], or NAME=a,b,c for a choice; once per parameter.",
        key="params",
        kinds=(dict,),
    )
    fix: tuple[Any, ...] = _setting(
        (),
        metavar="NAME=VALUE",
        help="A parameter with one value, which every evaluation gets. The model also learns from "
        "evaluations of --import that had other values. May be given several times.",
        kinds=(dict,),
    )
    budget: int | None = _setting(
        type=COUNT,
        help="The total number of evaluations; may be left out with --timeout, --stalled or --gap.",
        noted=_is_number,
        of_run=True,
    )
    study: str | None = _setting(
        type=click.Path(dir_okay=False),
        help="A file that stores every evaluation, so that the run can be resumed and several "
        "processes can share it; or postgresql://USER@HOST/DB#NAME for several machines.",
    )
    workers: int | None = _setting(
        type=COUNT,
        help="The number of evaluations to run at once.",
        noted=_is_number,
        signed=True,
        of_run=True,
    )
    scheduler: str | None = _setting(
        metavar="ADDRESS",
        help="Evaluate on a Dask cluster; the address of its scheduler, such as tcp://HOST:8786.",
        noted=_is_text,
        signed=True,
        of_run=True,
    )
    algorithm: str | None = _setting(
        type=click.Choice(list(BY_NAME)),
        help="The search algorithm; auto by default.",
    )
    seed: int | None = _setting(
        type=click.IntRange(min=0),
        help="The same seed gives the same points; 0 by default. With real numbers alone, another "
        "seed changes nothing.",
        kinds=(int,),
    )
    noise: float | str | None = _setting(
        type=_variance,
        metavar="VARIANCE|learn",
        help="The variance of the noise in a value, or 'learn'; by default, values are exact.",
        kinds=(int, float, str),
    )
    direction: str | None = _setting(
        DIRECTION,
        flag="--maximize",
        help="Find the largest value instead.",
        key="maximize",
        kinds=(bool,),
    )
    objectives: tuple[Any, ...] = _setting(
        (),
        flag="--objective",
        metavar="NAME[:max]",
        help="The label of the value: the command prints `NAME: NUMBER`. It is minimised unless "
        ":max follows. Given several times, up to four, it makes a search with several objectives; "
        "a function returns a number for each, in order or by name.",
        kinds=(str, list, dict),
    )
    residuals: str | None = _setting(
        metavar="NAME",
        help="Fit a model to data: the smallest sum of squares of the numbers that the command "
        "prints as `NAME: ...`, or of the list in this field of its last JSON line; FILE:COLUMN is "
        "a column of a CSV file that it writes. A function returns the numbers.",
        noted=_is_text,
    )
    data: Any = _setting(
        metavar="FILE[:COLUMN]",
        help="With --residuals: subtract these measurements from the numbers. An empty cell is "
        "missing data.",
        noted=_are_measurements,
    )
    """The path of the file, or the numbers in it."""
    loss: str | None = _setting(
        metavar="NAME",
        help=f"With --residuals: one of {', '.join(LOSSES)}, so that outliers count less.",
        noted=_is_text,
    )
    f_scale: float | None = _setting(
        type=POSITIVE,
        metavar="SIZE",
        help="With --loss: the size of a residual above which it counts as an outlier; 1 by "
        "default.",
        noted=_is_positive,
    )
    weights: Any = _setting(
        metavar="FILE[:COLUMN]",
        help="With --residuals: the weight of each squared residual, such as one over the variance "
        "of its error.",
        noted=_are_measurements,
    )
    goal: float | None = _setting(
        flag="--target",
        type=float,
        metavar="VALUE",
        help="Stop at the first value that is at least this good.",
        noted=_is_number,
        of_run=True,
    )
    tol: float | None = _setting(
        type=POSITIVE,
        metavar="GAIN",
        help="The smallest gain that matters, in units of the value.",
    )
    timeout: float | None = _setting(
        type=POSITIVE,
        metavar="SECONDS",
        help="Start no evaluation after this time; running ones may finish for as long again, but "
        "at least a minute.",
        of_run=True,
    )
    trial_timeout: float | None = _setting(
        type=POSITIVE,
        metavar="SECONDS",
        help="End an evaluation that takes longer, and count it as failed. For a Python function "
        "this needs --workers.",
        noted=_is_positive,
        signed=True,
        of_run=True,
    )
    stalled: int | None = _setting(
        type=COUNT,
        metavar="N",
        help="Stop when the best value has not improved, by at least --tol, in N evaluations.",
        noted=_is_number,
        of_run=True,
    )
    gap: float | None = _setting(
        type=POSITIVE,
        metavar="WIDTH",
        help="Stop when, by the model's bounds, at most WIDTH is left to gain.",
        noted=_is_number,
        of_run=True,
    )
    constraints: tuple[str, ...] = _setting(
        (),
        flag="--constraint",
        metavar="FORMULA",
        help="A condition that every point must meet, such as 'x + 2*y <= 3'; may be given several "
        "times.",
    )
    """Formulas, known in advance."""
    measured: tuple[str, ...] = _setting(
        (),
        metavar="NAME[<=LIMIT]",
        help="A constraint that the evaluation measures, such as 'Tpeak<=520' or 'yield>=0.9'; a "
        "name alone must be at most 0. The command prints `NAME: NUMBER`; with --value, NAME is a "
        "field of its last JSON line.",
    )
    """The constraints that an evaluation measures."""
    steps: int | None = _setting(
        type=COUNT,
        metavar="N",
        help="An evaluation has N steps: the command prints a value after each, or one for each "
        "--objective, and is ended when it cannot win. The budget counts full evaluations.",
    )
    value: str | None = _setting(
        metavar="KEY",
        help="Read the value from this field of the last JSON line that the command prints, and "
        "from this column of a file of --import that has it.",
        noted=_is_text,
        signed=True,
    )
    record: tuple[str, ...] = _setting(
        (),
        metavar="NAME",
        help="Keep what the command prints as `NAME: ...` with the trial; with --value, NAME is a "
        "field of its last JSON line. May be given several times.",
        noted=_are_names,
    )
    """The labels that are kept with each trial."""
    template: tuple[str, ...] = _setting(
        (),
        metavar="FILE[:NAME]",
        help="A file in which {name} and {name:12.5e} are replaced by the value of a parameter; it "
        "is written into the directory of each trial, as NAME if that is given. May be given "
        "several times.",
        noted=_are_names,
        signed=True,
        since="0.4",
    )
    """Files that are filled in for each trial."""
    workdir: str | None = _setting(
        metavar="DIR",
        help="Run each trial in a directory of its own, DIR/NUMBER; 'runs' if there are templates. "
        "Otherwise the command runs in the current directory.",
        noted=_is_text,
        signed=True,
        since="0.4",
    )
    files: tuple[str, ...] = _setting(
        (),
        flag="--with",
        metavar="FILE",
        help="Another file or directory that the command needs in the directory of a trial; it is "
        "linked. May be given several times.",
        key="with",
        noted=_are_names,
        signed=True,
        since="0.4",
    )
    """Files that are linked into the directory of each trial."""
    keep: str | None = _setting(
        metavar="all|failed|best|none",
        help="Which directories of trials to keep; by default failed,best.",
        noted=_is_text,
        signed=True,
        since="0.4",
    )
    output: str | None = _setting(
        metavar="FILE",
        help="Read the results from this file, which the command writes where it runs, instead of "
        "from what it prints. A .json file has fields, which --value, --objective, --measured and "
        "--record name.",
        noted=_is_text,
        signed=True,
        since="0.4",
    )
    given: tuple[str, ...] = _setting(
        (),
        flag="--import",
        metavar="SOURCE",
        help="Earlier evaluations: another study, or a CSV file with one column per parameter, and "
        "one called value, or as --value says. Rows that do not fit are left out.",
        key="import",
    )
    fill: tuple[Any, ...] = _setting(
        (),
        metavar="NAME=VALUE",
        help="The value of a parameter in earlier evaluations of --import that do not have it.",
        kinds=(dict,),
    )
    ignore: tuple[str, ...] = _setting(
        (),
        metavar="NAME",
        help="A parameter or column of --import that the space does not have, and on which the "
        "values do not depend.",
    )
    x0: tuple[Any, ...] = _setting(
        (),
        metavar="NAME=VALUE,...",
        help="A point to evaluate first, such as rate=0.1,size=3; may be given several times.",
        kinds=(dict, list),
    )
    keep_going: bool = _setting(
        False,
        help="Go on, however many evaluations fail.",
        kinds=(bool,),
        of_run=True,
    )
    fatal_failures: int | None = _setting(
        type=COUNT,
        metavar="N",
        help="End the run when N evaluations in a row have failed with the same reason, apart from "
        "its numbers; 10 by default.",
        noted=_is_number,
        of_run=True,
    )
    patience: float | None = _setting(
        type=POSITIVE,
        metavar="SECONDS",
        help="How long to wait if a program says that it cannot be run now, by the exit status 75, "
        "before the run ends with everything pending; a day by default.",
        noted=_is_positive,
        of_run=True,
    )
    replay: bool = _setting(
        True,
        flag="--no-replay",
        key="",
        help="Continue from a study's values with a fresh search, if a replay asks for other "
        "points.",
    )

    @property
    def aims(self) -> dict[str, str] | SumOfSquares | None:
        """The direction of each objective by name; None if none was given."""
        if self.data is not None and self.residuals is None:
            raise SettingsError("--data needs --residuals NAME, the numbers that it is compared to")
        how = self.losses
        if how and self.residuals is None:
            raise SettingsError(f"--{next(iter(how)).replace('_', '-')} needs --residuals NAME")
        if self.residuals is not None:
            if self.objectives or self.value is not None or self.steps is not None:
                raise SettingsError(
                    "--residuals cannot be combined with --objective, --value or --steps; leave "
                    "these out"
                )
            return SumOfSquares(**how)
        if not self.objectives:
            return None
        aims: dict[str, str] = {}
        for name, way in self._ways():
            if name in aims:
                raise SettingsError(f"the objective {name!r} is given twice; give each once")
            aims[name] = way
        return aims

    def _ways(self) -> Iterator[tuple[str, str]]:
        """The name and the direction of each objective, as given."""
        usual = "max" if self.direction == "maximize" else "min"
        for each in self.objectives or ():
            if isinstance(each, dict):  # the table of a TOML file
                yield from each.items()
                continue
            name, colon, way = str(each).rpartition(":")
            if colon and way not in ("min", "max"):
                raise SettingsError(f"--objective {each}: expected NAME, NAME:min or NAME:max")
            yield (name, way) if colon else (str(each), usual)

    @property
    def losses(self) -> dict[str, Any]:
        """The settings of a fit that were given: its loss, and weights."""
        how = {"loss": self.loss, "f_scale": self.f_scale, "weights": self.weights}
        return {name: each for name, each in how.items() if each is not None}

    def check_scale(self, aims: Objectives) -> None:
        """Raise an error if a scale was given for a fit that has no loss."""
        if self.f_scale is not None and self.loss is None and aims.squares is not None:
            aims.squares.check_scale("--f-scale", "--loss soft_l1")

    @property
    def limits(self) -> list[Any] | None:
        """All constraints; None if none was given, so that those of a study apply."""
        both = [*map(Formula, self.constraints), *self.measured]
        return both or None

    @property
    def stop(self) -> tuple[Rule, ...]:
        """The rules that end the run early."""
        rules: list[Rule] = [] if self.stalled is None else [Stalled(self.stalled)]
        return (*rules, *([] if self.gap is None else [Gap(self.gap)]))

    @property
    def ends(self) -> bool:
        """Whether a run without a budget ends."""
        return self.timeout is not None or bool(self.stop)

    @property
    def search(self) -> Algorithm | None:
        """The algorithm with its noise, if either is given; otherwise None."""
        if self.algorithm is None and self.noise is None:
            return None
        return resolve(self.algorithm or ALGORITHM, self.noise)


def _given(each: "Field[Any]") -> Given:
    given: Given = each.metadata["given"]
    usual = (str, list) if each.default == () else (str,)
    return given._replace(
        flag=f"--{each.name.replace('_', '-')}" if given.flag == AS_THE_FIELD else given.flag,
        key=each.name if given.key == AS_THE_FIELD else given.key,
        kinds=given.kinds or NUMBERS.get(given.type, usual),
    )


KEYS = {
    "target": (str,),
    "command": (list,),
    **{_given(each).key: _given(each).kinds for each in fields(Plan) if _given(each).key},
}
"""The keys of a TOML file, with the types of their values."""

NOTED: dict[str, Check] = {
    each.name: check for each in fields(Plan) if (check := _given(each).noted) is not None
}
"""The settings that a study notes for `resume`, each with a check of what a study says."""

SIGNED = [each.name for each in fields(Plan) if _given(each).signed and not _given(each).since]
"""The settings that decide what runs. They are signed, together with the parameters."""

SIGNED_IF_GIVEN = [each.name for each in fields(Plan) if _given(each).since]
"""More of them, which are signed where they are given."""


def option_of(name: str) -> str:
    """The option that gives the setting of this name."""
    return next(_given(each).flag for each in fields(Plan) if each.name == name)


C = TypeVar("C", bound=Callable[..., Any])


def all_options(command: C, of_run: bool = False, leave_out: Collection[str] = ()) -> C:
    """Give a command an option for each setting that has one, or only for those `of_run`."""
    for each in reversed(fields(Plan)):
        given = _given(each)
        if not given.flag or (of_run and not given.of_run) or each.name in leave_out:
            continue
        how: dict[str, Any] = {"help": given.help, "type": given.type, "metavar": given.metavar}
        if each.default is True or given.kinds == (bool,):
            how = {"help": given.help, "is_flag": True}
        elif each.default == () or each.name == "space":
            how["multiple"] = True
        command = click.option(given.flag, each.name, **how)(command)
    return command


def chosen(options: dict[str, Any], stated: dict[str, Any]) -> dict[str, Any]:
    """The settings from the command line, or else from a TOML file, by field of `Plan`."""
    found = {}
    for each in fields(Plan):
        option, key = options.get(each.name), _given(each).key
        if each.default == ():  # may be given several times; in a file, a single one needs no list
            several = stated.get(key, [])
            option = option or tuple(several if isinstance(several, list) else [several])
        elif option is None or option is False:
            option = stated.get(key)
        found[each.name] = option
    for name in ("data", "weights"):
        if found[name] is not None:
            found[name] = read_data(str(found[name]))
    return found
