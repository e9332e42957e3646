"""Surrogates of tuning tasks (YAHPO Gym): networks that predict the results of real trainings.

Pfisterer, Schneider, Moosbauer, Binder and Bischl, "YAHPO Gym -- an efficient multi-objective
multi-fidelity benchmark for hyperparameter optimization", 2022. The data is not part of this
package: the user names the folder that has it (`--data`, or the environment variable `FOLDER`).
Predictions need the package onnxruntime.
"""

import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bamsoo._typing import Array
from bamsoo.space import Choice, Int, Parameter, Real

from .errors import BenchError, require

FOLDER = "BAMSOO_YAHPO"
"""The environment variable that names the folder of the data."""


class Scenario(NamedTuple):
    """What was trained: the columns of the network's inputs and outputs, in their order."""

    task: str
    options: tuple[str, ...]
    numbers: tuple[str, ...]
    outputs: tuple[str, ...]
    fidelities: tuple[str, ...]


_RBV2 = ("acc", "bac", "auc", "brier", "f1", "logloss", "timetrain", "timepredict", "memory")
_IMPUTE = "num.impute.selected.cpo"

SCENARIOS = {
    "lcbench": Scenario(
        "OpenML_task_id",
        (),
        (
            *("epoch", "batch_size", "learning_rate", "momentum", "weight_decay", "num_layers"),
            *("max_units", "max_dropout"),
        ),
        (
            *("time", "val_accuracy", "val_cross_entropy", "val_balanced_accuracy"),
            *("test_cross_entropy", "test_balanced_accuracy"),
        ),
        ("epoch",),
    ),
    "rbv2_xgboost": Scenario(
        "task_id",
        ("booster", _IMPUTE),
        (
            *("nrounds", "eta", "gamma", "lambda", "alpha", "subsample", "max_depth"),
            *("min_child_weight", "colsample_bytree", "colsample_bylevel", "rate_drop"),
            *("skip_drop", "trainsize", "repl"),
        ),
        _RBV2,
        ("trainsize", "repl"),
    ),
    "rbv2_rpart": Scenario(
        "task_id",
        (_IMPUTE,),
        ("cp", "maxdepth", "minbucket", "minsplit", "trainsize", "repl"),
        _RBV2,
        ("trainsize", "repl"),
    ),
}
"""The scenarios that can be read, by the name of their folder."""


def folder() -> Path | None:
    """The folder that the user named, or None."""
    named = os.environ.get(FOLDER)
    return Path(named) if named else None


class TaskSurrogate:
    """One task of a scenario.

    Attributes
    ----------
    space : dict
        The parameters by name; those that exist for one option only are inside that option.
    fidelities : dict
        What makes a training cheaper, by name, such as `epoch`.
    """

    def __init__(self, scenario: str, task: str) -> None:
        self.scenario = SCENARIOS[scenario]
        self._session, codes, parameters, conditions = _loaded(scenario)
        self._codes = codes
        if task not in codes[self.scenario.task]:
            raise BenchError(f"{scenario} has no task {task!r}; expected a number such as 189905")
        self._task = codes[self.scenario.task][task]
        self.fidelities = {
            name: parameter
            for name, parameter in parameters.items()
            if name in self.scenario.fidelities and not isinstance(parameter, Choice)
        }
        free = {
            name: parameter
            for name, parameter in parameters.items()
            if name not in self.fidelities and name != self.scenario.task
        }
        self.space = _nested(free, conditions)

    def __call__(self, params: Mapping[str, Any], **fidelity: float) -> dict[str, float]:
        """All results of a training by name; a fidelity that is not given is the highest."""
        return {name: float(column[0]) for name, column in self.predict(params, **fidelity).items()}

    def predict(self, params: Mapping[str, Any], **fidelity: float | Array) -> dict[str, Array]:
        """The same for several values of the fidelities at once, such as all epochs of a curve."""
        top = {name: parameter.high for name, parameter in self.fidelities.items()}
        known = {**top, **params, **fidelity}
        rows = max((np.size(value) for value in fidelity.values()), default=1)
        numbers = [np.broadcast_to(known.get(name, 0.0), rows) for name in self.scenario.numbers]
        absent = "#na#"
        options = [self._codes[name][known.get(name, absent)] for name in self.scenario.options]
        given = {
            "x_cat": np.tile(np.array([[self._task, *options]], dtype=np.int32), (rows, 1)),
            "x_cont": np.column_stack(numbers).astype(np.float32),
        }
        (found,) = self._session.run(None, given)
        return dict(zip(self.scenario.outputs, found.T, strict=True))


@cache
def _loaded(
    scenario: str,
) -> tuple[Any, dict[str, dict[str, int]], dict[str, Parameter], list[Any]]:
    """The network, the codes of options, the parameters and their conditions."""
    place = folder()
    if place is None or not (place / scenario / "model.onnx").exists():
        raise BenchError(
            f"the data of {scenario} was not found; name the folder that contains {scenario}/ with "
            f"--data or {FOLDER}"
        )
    runtime = require("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = runtime.InferenceSession(
        str(place / scenario / "model.onnx"), options, providers=["CPUExecutionProvider"]
    )
    codes = json.loads((place / scenario / "encoding.json").read_text("utf-8"))
    config = json.loads((place / scenario / "config_space.json").read_text("utf-8"))
    parameters = {given["name"]: _parameter(given) for given in config["hyperparameters"]}
    return session, codes, parameters, config["conditions"]


def _parameter(given: Mapping[str, Any]) -> Parameter:
    if given["type"] == "categorical":
        return Choice(given["choices"])
    kind = Int if given["type"] == "uniform_int" else Real
    return kind(given["lower"], given["upper"], log=given["log"])


def _nested(parameters: Mapping[str, Parameter], conditions: list[Any]) -> dict[str, Parameter]:
    """The parameters, each conditional one inside the options that it exists for."""
    opened: dict[str, dict[str, dict[str, Parameter]]] = {}
    for condition in conditions:
        options = condition["values"] if condition["type"] == "IN" else [condition["value"]]
        for option in options:
            inside = opened.setdefault(condition["parent"], {}).setdefault(option, {})
            inside[condition["child"]] = parameters[condition["child"]]
    children = {condition["child"] for condition in conditions}
    found: dict[str, Parameter] = {}
    for name, parameter in parameters.items():
        if isinstance(parameter, Choice) and name in opened:
            parameter = Choice({o: opened[name].get(o) for o in parameter.options})
        if name not in children:
            found[name] = parameter
    return found
