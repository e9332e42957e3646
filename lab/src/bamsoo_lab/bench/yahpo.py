"""Surrogates of real training runs (YAHPO Gym), read from a folder that the user names.

The surrogates are neural networks that were fitted to hundreds of thousands of training runs on
OpenML data sets (Pfisterer, Schneider, Moosbauer, Binder and Bischl, "YAHPO Gym: an efficient
multi-objective multi-fidelity benchmark for hyperparameter optimization", AutoML 2022; the data are
in the repository slds-lmu/yahpo_data). They are not part of this package. The folder has one folder
per scenario, with `config_space.json`, `encoding.json` and `model.onnx`. Predictions need the
package onnxruntime.
"""

import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bamsoo.base.typing import Array
from bamsoo.space import Choice, Int, Real

from .errors import BenchError, require
from .tuning.tasks import Part

FOLDER = "BAMSOO_YAHPO"
"""The environment variable with the folder of the data; `--data` sets it."""


class Scenario(NamedTuple):
    """What the files of a scenario do not say about its model."""

    task: str
    """The parameter that names the task."""
    options: tuple[str, ...]
    """The other options, in the order in which the model expects them."""
    numbers: tuple[str, ...]
    """The numbers, in the same way."""
    outputs: tuple[str, ...]
    """The results of a training, in the order of the model's outputs."""
    full: Mapping[str, float]
    """Parameters that make a training cheaper, with their values for a full training."""

    @property
    def dim(self) -> int:
        """Number of parameters that are searched; known without the data."""
        return len(self.options) + len(self.numbers) - len(self.full)


_IMPUTE = "num.impute.selected.cpo"
_RBV2 = ("acc", "bac", "auc", "brier", "f1", "logloss", "timetrain", "timepredict", "memory")

SCENARIOS = {
    "lcbench": Scenario(
        "OpenML_task_id",
        (),
        (
            *("epoch", "batch_size", "learning_rate", "momentum", "weight_decay"),
            *("num_layers", "max_units", "max_dropout"),
        ),
        (
            *("time", "val_accuracy", "val_cross_entropy", "val_balanced_accuracy"),
            *("test_cross_entropy", "test_balanced_accuracy"),
        ),
        {"epoch": 52.0},
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
        {"trainsize": 1.0, "repl": 10.0},
    ),
    "rbv2_rpart": Scenario(
        "task_id",
        (_IMPUTE,),
        ("cp", "maxdepth", "minbucket", "minsplit", "trainsize", "repl"),
        _RBV2,
        {"trainsize": 1.0, "repl": 10.0},
    ),
    "iaml_glmnet": Scenario(
        "task_id",
        (),
        ("alpha", "s", "trainsize"),
        (
            *("mmce", "f1", "auc", "logloss", "ramtrain", "rammodel", "rampredict", "timetrain"),
            *("timepredict", "mec", "ias", "nf"),
        ),
        {"trainsize": 1.0},
    ),
}
"""By the name of its folder."""

TASKS: dict[Part, dict[str, tuple[str, ...]]] = {
    "develop": {
        "lcbench": (*("189905", "168331", "167168", "167149", "189873", "126029", "167190"),),
        "rbv2_xgboost": (
            *("23381", "4538", "1050", "41142", "41166", "300", "1111"),
            *("182", "3", "23512", "4541", "1475", "38", "23"),
            *("40927", "12", "40983", "1049", "41168", "41169"),
        ),
        "rbv2_rpart": (
            *("1494", "1050", "151", "40499", "3", "1478", "1590"),
            *("23512", "41027", "40496", "31", "41212", "41164", "1464"),
            *("54", "458", "40984", "32", "182", "40670"),
        ),
        "iaml_glmnet": (*("40981", "1067"),),
    },
    "report": {
        "lcbench": (*("189354", "168868", "167200", "167201", "189866", "189908", "167181"),),
        "rbv2_xgboost": (
            *("1068", "1486", "40978", "41216", "29", "334", "1067"),
            *("4135", "28", "41165", "1461", "41278", "41163", "1053"),
            *("32", "40900", "40981", "181", "1494", "470"),
        ),
        "rbv2_rpart": (
            *("41143", "41146", "23381", "42", "1220", "1068", "46"),
            *("4538", "40978", "1501", "469", "4134", "1462", "1461"),
            *("38", "181", "334", "18", "23517", "40983"),
        ),
        "iaml_glmnet": (*("41146", "1489"),),
    },
}
"""The tasks of each part by scenario; about half of all tasks are in neither."""


def available() -> bool:
    """Whether the user named a folder."""
    return bool(os.environ.get(FOLDER))


def folder() -> Path:
    """The folder of the data."""
    if not available():
        raise BenchError(
            "the surrogates of YAHPO Gym need a folder with their data; name it with --data or in "
            f"the environment variable {FOLDER}"
        )
    return Path(os.environ[FOLDER])


@cache
def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BenchError(
            f"there is no file {file}; expected the data of YAHPO Gym in {file.parent}"
        ) from None


def split() -> dict[Part, tuple[str, ...]]:
    """The names of the tasks of each part, such as lcbench-189354."""
    return {
        part: tuple(f"{name}-{task}" for name, some in tasks.items() for task in some)
        for part, tasks in TASKS.items()
    }


def scenario_of(name: str) -> str:
    """The scenario of a task, such as lcbench for lcbench-189354."""
    return name.partition("-")[0]


@cache
def space(scenario: str) -> dict[str, Any]:
    """The parameters that are searched; those with a condition are inside the options."""
    about, config = SCENARIOS[scenario], _read(folder() / scenario / "config_space.json")
    given = {each["name"]: each for each in config["hyperparameters"]}
    parents = {
        each["child"]: (each["parent"], each.get("values") or [each["value"]])
        for each in config["conditions"]
    }
    names = [name for name in (*about.options, *about.numbers) if name not in about.full]

    def parameter(name: str) -> Any:
        each = given[name]
        if each["type"] != "categorical":
            kind = Int if each["type"] == "uniform_int" else Real
            return kind(each["lower"], each["upper"], log=each["log"])
        below = [child for child in names if parents.get(child, ("",))[0] == name]
        if not below:
            return Choice(each["choices"])
        return Choice(
            {
                option: {child: parameter(child) for child in below if option in parents[child][1]}
                for option in each["choices"]
            }
        )

    return {name: parameter(name) for name in names if name not in parents}


@cache
def _model(scenario: str) -> Any:
    runtime: Any = require("onnxruntime")
    settings = runtime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    file = folder() / scenario / "model.onnx"
    if not file.exists():
        raise BenchError(f"there is no file {file}; expected the model of the scenario {scenario}")
    return runtime.InferenceSession(str(file), settings, providers=["CPUExecutionProvider"])


class TaskSurrogate:
    """One task, such as lcbench-189354.

    Attributes
    ----------
    scenario : Scenario
    space : dict
        The parameters that are searched.
    """

    def __init__(self, name: str) -> None:
        scenario, _, self._task = name.partition("-")
        self.scenario, self.space = SCENARIOS[scenario], space(scenario)
        self._codes = _read(folder() / scenario / "encoding.json")
        self._model = _model(scenario)

    def __call__(self, params: Mapping[str, Any], **cheaper: float) -> dict[str, float]:
        """All results of a training by name; it is a full one unless `cheaper` says otherwise."""
        return {name: float(column[0]) for name, column in self.predict(params, **cheaper).items()}

    def predict(self, params: Mapping[str, Any], **cheaper: float | Array) -> dict[str, Array]:
        """The same for arrays of values in `cheaper`, such as all epochs of a learning curve."""
        about = self.scenario
        known = {**params, **about.full, **cheaper, about.task: self._task}
        rows = max((np.size(value) for value in cheaper.values()), default=1)
        names = (about.task, *about.options)
        codes = [self._codes[name][known.get(name, "#na#")] for name in names]
        numbers = [np.broadcast_to(known.get(name, 0.0), rows) for name in about.numbers]
        inputs = {
            "x_cat": np.tile(np.array([codes], np.int32), (rows, 1)),
            "x_cont": np.column_stack(numbers).astype(np.float32),
        }
        (found,) = self._model.run(None, inputs)
        return dict(zip(about.outputs, found.T, strict=True))
