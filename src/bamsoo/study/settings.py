"""Conversion of settings to JSON and back, for the space and algorithm of a study.

Pickles are not used, because loading one can run any code.
"""

import shlex
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from .. import kernels
from ..algorithms import BY_NAME, Algorithm
from ..base.checks import brief
from ..base.simple import made, plain
from ..errors import StudyError
from ..space import Formula, Space
from ..space.constraints import check_amount
from ..space.limit import limits_of
from ..space.parameters import parameter_from_json, parameters_from_json, parameters_to_json

ALGORITHMS: dict[str, Any] = {kind.__name__: kind for kind in BY_NAME.values()}
KERNELS: dict[str, type[kernels.Kernel]] = {
    kind.__name__: kind
    for kind in vars(kernels).values()
    if isinstance(kind, type) and issubclass(kind, kernels.Kernel)
}
SINCE: dict[str, Any] = {"noise": 0.0}
"""Settings that older studies do not have, with their defaults. A setting is not stored if it has
its default value, so that studies without it still compare equal."""


def space_to_json(given: Space) -> dict[str, Any]:
    """A space as JSON: whether its parameters have names, and the kind and fields of each."""
    return {"named": given.named, "parameters": parameters_to_json(given.given)}


def space_from_json(stored: dict[str, Any]) -> Any:
    """The argument of `Space` from its JSON form."""
    found = parameters_from_json(stored["parameters"])
    return found if stored["named"] else list(found.values())


def constraints_to_json(given: Sequence[Any]) -> list[dict[str, Any]]:
    """The constraints as JSON, in order; of a function, only the name can be stored."""
    stored: list[dict[str, Any]] = []
    for each in given:
        if isinstance(each, str):
            stored += [{"measured": limit.text} for limit in limits_of(each, ())]
        elif isinstance(each, Formula):
            stored.append({"formula": each.text})
        elif hasattr(each, "A"):
            A = each.A.toarray() if hasattr(each.A, "toarray") else each.A
            rows = {
                "A": np.atleast_2d(np.asarray(A, dtype=float)).tolist(),
                "lb": np.asarray(each.lb, dtype=float).tolist(),
                "ub": np.asarray(each.ub, dtype=float).tolist(),
            }
            stored.append({"linear": rows})
        else:
            stored.append({"function": getattr(each, "__name__", type(each).__name__)})
    return stored


def constraints_from_json(stored: Any, given: Sequence[Any] | None) -> tuple[list[Any], str | None]:
    """The constraints from JSON, and the name of the first function that was not given again."""
    if given is not None:
        return list(given), None
    made: list[Any] = []
    missing: str | None = None
    check_amount((), [each["formula"] for each in stored if "formula" in each])  # before parsing
    for each in stored:
        ((kind, what),) = each.items()
        if kind == "measured":
            made.append(str(what))
        elif kind == "formula":
            made.append(Formula(what))
        elif kind == "linear":
            from scipy.optimize import LinearConstraint

            made.append(LinearConstraint(np.array(what["A"]), what["lb"], what["ub"]))
        elif kind == "function":
            missing = missing or str(what)
        else:
            raise StudyError(f"the study has a constraint of an unknown kind, {brief(kind)}")
    return made, missing


def algorithm_to_json(algorithm: Algorithm) -> dict[str, Any]:
    """An algorithm as JSON: its class and all its fields, except those at a default in `SINCE`."""
    kind = type(algorithm)
    if ALGORITHMS.get(kind.__name__) is not kind:
        raise StudyError(
            f"a study stores only the library's own algorithms, got {brief(algorithm)}; "
            "run this one without a study"
        )
    stored: dict[str, Any] = {"class": kind.__name__}
    for field in fields(kind):
        value = getattr(algorithm, field.name)
        if isinstance(value, kernels.Kernel):
            if KERNELS.get(type(value).__name__) is not type(value):
                raise StudyError(
                    f"a study stores only the library's own kernels, got {brief(value)}; "
                    "run this one without a study"
                )
            value = {"kernel": type(value).__name__, **_plain_fields("kernel", value)}
        elif is_dataclass(value):
            if value != field.default:
                raise StudyError(
                    f"{kind.__name__}: a study stores only the default of {field.name}; run other "
                    "values without a study"
                )
            continue
        elif callable(value):
            if value is not field.default:
                raise StudyError(
                    f"{kind.__name__}: a study cannot store the function {field.name}="
                    f"{brief(value)}; leave {field.name} at its default or run without a study"
                )
            continue  # a default function is not stored: each version uses its own
        else:
            value = plain(field.name, value)
        if not _since(field.name, value):
            stored[field.name] = value
    return stored


def _since(name: str, value: Any) -> bool:
    return name in SINCE and bool(value == SINCE[name])


def algorithm_from_json(stored: dict[str, Any]) -> Algorithm:
    """The settings object from its JSON form."""
    given = {key: value for key, value in stored.items() if key != "class"}
    for key, value in given.items():
        if isinstance(value, dict):
            rest = {k: v for k, v in value.items() if k != "kernel"}
            given[key] = _make(KERNELS, value["kernel"], rest)
    algorithm: Algorithm = _make(ALGORITHMS, stored["class"], given)
    return algorithm


def _make(kinds: dict[str, Any], name: str, given: dict[str, Any]) -> Any:
    kind = kinds.get(name)
    if kind is None:
        raise StudyError(
            f"the study uses {brief(name)}, which this version of bamsoo does not have; update "
            "bamsoo"
        )
    return made(kind, given)


def _plain_fields(name: str, thing: Any) -> dict[str, Any]:
    return {field.name: plain(name, getattr(thing, field.name)) for field in fields(thing)}


def difference(stored: dict[str, Any], given: dict[str, Any]) -> str | None:
    """The first given setting that differs from the stored one, in words after "the study's"."""
    for key, value in given.items():
        is_ = "are" if key in ("constraints", "objectives") else "is"
        if key not in stored and value == []:
            continue
        if key == "residuals":
            if (differs := _other_losses(stored.get(key), value)) is not None:
                return differs
            continue
        if key not in stored:
            return f"{key} {is_} not set, got {_short(value)}"
        if _alike(stored[key], value):
            continue
        if key != "space" or value["named"] != stored[key]["named"]:
            return f"{key} {is_} {_short(stored[key])}, got {_short(value)}"
        before = {each["name"]: each for each in stored[key]["parameters"]}
        after = {each["name"]: each for each in value["parameters"]}
        if list(before) != list(after):
            return f"parameters are {list(before)}, got {list(after)}"
        name = next(name for name in before if not _alike(before[name], after[name]))
        return f"parameter {name} is {_short(before[name])}, got {_short(after[name])}"
    return None


def _other_losses(stored: dict[str, Any] | None, given: dict[str, Any]) -> str | None:
    """How another fit adds up its residuals, in words after "the study's"."""
    if stored is None:
        return "objective is a value, got the sum of squares of a fit"
    for name in ("loss", "f_scale", "weights"):
        if stored.get(name) != given.get(name):
            before, after = (
                brief(each[name]) if name in each else "not set" for each in (stored, given)
            )
            return f"{name} {'are' if name == 'weights' else 'is'} {before}, got {after}"
    return None


def options(stored: dict[str, Any], given: dict[str, Any]) -> list[str] | None:
    """The options of `bamsoo fork` that change stored settings into the given ones.

    None if the command has no option for a difference.
    """
    found: list[str] = []
    for key, value in given.items():
        if _alike(stored.get(key), value) or (key == "direction" and "objectives" in given):
            continue
        words = _options_of(key, stored, value)
        if words is None:
            return None
        found += words
    return found


def _options_of(key: str, stored: dict[str, Any], value: Any) -> list[str] | None:
    """The same for one setting."""
    words: list[str] | None = None
    if key == "space" and value["named"] == stored[key]["named"]:
        words = _space_options(stored[key]["parameters"], value["parameters"])
    elif key in ("seed", "steps", "tol"):
        words = [f"--{key} {value}"]
    elif key == "algorithm":
        words = _algorithm_options(stored[key], value)
    elif key == "direction" and value == "maximize" and len(stored.get("objectives", [])) < 2:
        words = ["--maximize"]
    elif key == "objectives":
        words = _objective_options(value)
    elif key == "residuals" and key in stored:
        if stored[key].get("weights") == value.get("weights"):
            words = [f"--loss {value['loss']} --f-scale {value['f_scale']}"]
    elif key == "constraints":
        words = _constraint_options(stored.get(key, []), value)
    return words


def _algorithm_options(before: dict[str, Any], after: dict[str, Any]) -> list[str] | None:
    words = []
    if after["class"] != before["class"]:
        found = (name for name, kind in BY_NAME.items() if kind.__name__ == after["class"])
        if (name := next(found, None)) is None:
            return None
        before, words = algorithm_to_json(BY_NAME[name]()), [f"--algorithm {name}"]
    if "noise" in after and after["noise"] != before.get("noise"):
        before, words = {**before, "noise": after["noise"]}, [*words, f"--noise {after['noise']}"]
    return words if _alike({**before, "budget": 0}, {**after, "budget": 0}) else None


def _objective_options(after: list[Any]) -> list[str]:
    texts = [f"{name}:max" if way == "max" else name for name, way in after]
    return [f"--objective {shlex.quote(text)}" for text in texts]


def _space_options(before: list[Any], after: list[Any]) -> list[str] | None:
    words, old = [], {each["name"]: each for each in before}
    for each in after:
        name = each["name"]
        if _alike(old.get(name), each):
            continue
        option = parameter_from_json(each).as_option(name)
        if option is None or not name.isidentifier():
            return None
        flag, text = option
        words.append(f"{flag} {shlex.quote(text)}")
        if name not in old:
            words.append(f"--fill {name}=VALUE")
    gone = old.keys() - {each["name"] for each in after}
    return words + [f"--ignore {shlex.quote(name)}" for name in old if name in gone]


def _constraint_options(before: list[Any], after: list[Any]) -> list[str] | None:
    if any(each.keys() & {"function", "linear"} for each in (*before, *after)):
        return None
    words = []
    for kind, flag in (("measured", "--measured"), ("formula", "--constraint")):
        old, new = ([each[kind] for each in these if kind in each] for these in (before, after))
        if old != new:
            words += [f"{flag} {shlex.quote(text)}" for text in new]
            if kind == "measured":
                words += [f"--ignore {shlex.quote(name)}" for name in _no_longer(old, new)]
            elif old and not new:
                return None
    return words


def _no_longer(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The names of measured numbers that have lost a limit, each once."""
    before, after = ([each for text in some for each in limits_of(text, ())] for some in (old, new))
    sides = {each[:2] for each in after}
    return list(dict.fromkeys(each.name for each in before if each[:2] not in sides))


def _alike(stored: Any, given: Any) -> bool:
    """Whether two settings are the same; True and 1 are not, although they compare equal."""
    if isinstance(stored, dict) and isinstance(given, dict):
        if stored.get("kind") == "Fixed" and "was" not in given:  # a plain value is meant
            stored = {key: each for key, each in stored.items() if key != "was"}
        return stored.keys() == given.keys() and all(_alike(stored[k], given[k]) for k in stored)
    if isinstance(stored, list) and isinstance(given, list):
        return len(stored) == len(given) and all(map(_alike, stored, given))
    return isinstance(stored, bool) == isinstance(given, bool) and bool(stored == given)


def _short(setting: Any) -> str:
    if not isinstance(setting, dict):
        return brief(setting)
    if "parameters" in setting:
        return f"{'a named' if setting['named'] else 'an unnamed'} space"
    name = setting.get("class") or setting.get("kind") or setting.get("kernel")
    skip = ("class", "kind", "kernel" if isinstance(setting.get("kernel"), str) else "", "name")
    inner = ", ".join(
        f"{key}={_short(value) if isinstance(value, dict) else repr(value)}"
        for key, value in setting.items()
        if key not in skip
    )
    return f"{name}({inner})"
