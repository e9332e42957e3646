"""The suite `yahpo`: surrogates of real training runs, from a folder that the user names.

The surrogates are neural networks that were fitted to hundreds of thousands of training runs on
OpenML data sets (Pfisterer, Schneider, Moosbauer, Binder and Bischl, "YAHPO Gym: an efficient
multi-objective multi-fidelity benchmark for hyperparameter optimization", AutoML 2022; the data are
in the repository slds-lmu/yahpo_data). They are not part of this package. The folder has one folder
per scenario, with `config_space.json`, `encoding.json` and `model.onnx`, and a file `tasks.json`
that divides the tasks of each scenario:

    {"lcbench": {"develop": ["189905", ...], "report": ["189354", ...]}, ...}

The number of epochs, or the share of the rows that a model is trained on, is always the largest.
"""

import json
import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bamsoo.space import Choice, Int, Real, Space

from ..case import Case, Target
from ..errors import BenchError, require
from ..tuning.tasks import INSTANCES, Part
from .suite import Selection, Suite, named_cases

BUDGET = 100

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
    full: Mapping[str, float]
    """Parameters that are not searched, and their values."""
    sign: float
    """Of the first output that is minimised: -1 for a score."""
    output: int
    """The index of this output."""


SCENARIOS = {
    "lcbench": Scenario(
        "OpenML_task_id",
        (),
        (
            *("epoch", "batch_size", "learning_rate", "momentum", "weight_decay"),
            *("num_layers", "max_units", "max_dropout"),
        ),
        {"epoch": 52.0},
        -1.0,
        1,  # val_accuracy
    ),
    "rbv2_xgboost": Scenario(
        "task_id",
        ("booster", "num.impute.selected.cpo"),
        (
            *("nrounds", "eta", "gamma", "lambda", "alpha", "subsample", "max_depth"),
            *("min_child_weight", "colsample_bytree", "colsample_bylevel", "rate_drop"),
            *("skip_drop", "trainsize", "repl"),
        ),
        {"trainsize": 1.0, "repl": 10.0},
        -1.0,
        0,  # acc
    ),
    "rbv2_rpart": Scenario(
        "task_id",
        ("num.impute.selected.cpo",),
        ("cp", "maxdepth", "minbucket", "minsplit", "trainsize", "repl"),
        {"trainsize": 1.0, "repl": 10.0},
        -1.0,
        0,  # acc
    ),
    "iaml_glmnet": Scenario(
        "task_id",
        (),
        ("alpha", "s", "trainsize"),
        {"trainsize": 1.0},
        1.0,
        0,  # mmce
    ),
}
"""By the name of its folder."""


def folder() -> Path:
    """The folder of the data."""
    named = os.environ.get(FOLDER)
    if not named:
        raise BenchError(
            "the suite 'yahpo' needs a folder with its data; name it with --data or in the "
            f"environment variable {FOLDER}"
        )
    return Path(named)


@cache
def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BenchError(
            f"there is no file {file}; expected the data of the suite 'yahpo' in {file.parent}"
        ) from None


def split() -> dict[Part, tuple[str, ...]]:
    """The names of the tasks of each part, such as lcbench-189354."""
    tasks = _read(folder() / "tasks.json")
    parts: tuple[Part, ...] = "develop", "report"
    found = [name for name in SCENARIOS if name in tasks]
    return {
        part: tuple(f"{name}-{task}" for name in found for task in tasks[name].get(part, ()))
        for part in parts
    }


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


def evaluation(scenario: str, task: str) -> Callable[..., float]:
    """The function of a task, to be minimised."""
    about, codes = SCENARIOS[scenario], _read(folder() / scenario / "encoding.json")
    model = _model(scenario)

    def evaluate(**params: Any) -> float:
        params = {**params, **about.full, about.task: task}
        options = [codes[name][params.get(name, "#na#")] for name in (about.task, *about.options)]
        numbers = [float(params.get(name, 0.0)) for name in about.numbers]
        inputs = {"x_cat": np.array([options], np.int32), "x_cont": np.array([numbers], np.float32)}
        return about.sign * float(model.run(None, inputs)[0][0, about.output])

    return evaluate


def cases(wanted: Selection) -> list[Case]:
    """The tasks of one part."""
    return named_cases(
        "yahpo", wanted, split(), INSTANCES, BUDGET, lambda name: Space(space(_names(name)[0])).dim
    )


def _names(problem: str) -> tuple[str, str]:
    scenario, _, task = problem.partition("-")
    return scenario, task


def target(case: Case) -> Target:
    """A task; the instance is only the seed of the search."""
    scenario, task = _names(case.problem)
    return Target(evaluation(scenario, task), space(scenario))


SUITE = Suite(
    "yahpo",
    "Surrogates of training runs",
    4,
    cases,
    target,
    peers=("optuna-tpe", "optuna-tpe-group", "optuna-gp", "smac", "random"),
    modules=("onnxruntime",),
    instances="Seeds",
    mixed=True,
)
