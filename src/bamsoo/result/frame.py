"""The evaluations of a result as a data frame of pandas."""

from collections.abc import Collection
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SettingsError
from ..plotting import Run
from ..record.headings import heading, objective_heading
from ..record.ledger import rows_of
from ..record.trials import extra_names

if TYPE_CHECKING:
    import pandas


def frame_of(result: Run) -> "pandas.DataFrame":
    """Every evaluation as a row; see `Result.to_dataframe`."""
    try:
        import pandas
    except ImportError:
        raise SettingsError("to_dataframe needs pandas: pip install pandas") from None
    told = result.evaluations
    columns: dict[str, Any] = {
        "trial": pandas.array([e.number for e in told], dtype="Int64"),
        "state": [e.state for e in told],
    }
    columns |= _parameter_columns(result)
    columns |= _value_columns(result, columns)
    if any(e.variance is not None for e in told):
        columns["variance"] = [nan if e.variance is None else e.variance for e in told]
    if result.steps is not None:
        columns["steps"] = pandas.array([e.steps for e in told], dtype="Int64")
        columns |= _last_columns(result)
    if result._details.constraints:
        columns |= {f"constraint:{name}": numbers for name, numbers in result.C.items()}
        columns["feasible"] = result.feasible
    columns |= _recorded_columns(result)
    columns["origin"] = pandas.Series([e.origin for e in told], dtype=object)
    columns["error"] = pandas.Series([e.error for e in told], dtype=object)
    return pandas.DataFrame(columns)


def _parameter_columns(result: Run) -> dict[str, Any]:
    """The parameters, with missing cells where one does not exist."""
    import pandas

    space, columns = result.space, {}
    params = [space.columns(space.params(e.x)) for e in result.evaluations]
    for name, parameter in space.parameters.items():
        everywhere = all(name in each for each in params)
        values: Any = [each.get(name, pandas.NA) for each in params]
        if parameter.options is not None:  # keep options as they are, even None
            values = pandas.Series(values, dtype=object)
        elif parameter.whole and not everywhere:
            values = pandas.array(values, dtype="Int64")
        elif not everywhere:
            values = [each.get(name, nan) for each in params]
        columns[heading(name)] = values
    return columns


def _value_columns(result: Run, taken: Collection[str]) -> dict[str, Any]:
    """The values; with several objectives, also what is on the front."""
    if not result.objectives.several:
        return {"value": result.F}
    names = [objective_heading(name, taken) for name in result.objectives.names]
    front = rows_of(result.front, result.evaluations)
    on_it = [i in front for i in range(len(result.evaluations))]
    return {**dict(zip(names, result.F.T, strict=True)), "front": on_it}


def _recorded_columns(result: Run) -> dict[str, Any]:
    """What was recorded with the evaluations."""
    import pandas

    columns, told = {}, result.evaluations
    for name in extra_names(told):
        cells = [e.extras.get(name) for e in told]
        mixed = len({type(each) for each in cells}) > 1 or isinstance(cells[0], str)
        columns[f"extra:{name}"] = pandas.Series(cells, dtype=object if mixed else None)
    return columns


def _last_columns(result: Run) -> dict[str, Any]:
    """The values after the last step of each evaluation."""
    curves = result.curves
    rows = [() if e.number is None else curves.get(e.number, ()) for e in result.evaluations]
    last = [np.ravel(row[-1]) if row else None for row in rows]
    return {
        f"last:{name}": [nan if each is None else each[j] for each in last]
        for j, name in enumerate(result.objectives.names)
    }
