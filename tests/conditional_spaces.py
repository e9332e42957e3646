"""Spaces whose options bring along parameters of their own, drawn by hypothesis."""

from itertools import count

from hypothesis import strategies as st

from bamsoo import Choice, Int, Real

MODELS = {
    "rate": Real(1e-4, 1.0, log=True),
    "model": Choice(
        {
            "svm": {
                "C": Real(1e-3, 1e3, log=True),
                "kernel": Choice({"rbf": {"gamma": Real(0.0, 1.0)}, "linear": None}),
            },
            "forest": {"depth": Int(1, 20)},
            "logistic": {"C": Real(1e-3, 1e3, log=True)},
            "net": {"C": Int(1, 3)},
        }
    ),
}
"""Three levels; C is one parameter of two options, and another one of a third."""


def loss(rate, model, **rest):
    """A value for each point of `MODELS`; it fails if a parameter is missing or superfluous."""
    value = (rate - 0.01) ** 2
    if model == "svm":
        kernel = rest["kernel"]
        assert rest.keys() == {"C", "kernel"} | ({"gamma"} if kernel == "rbf" else set())
        return value + abs(rest["C"] - 10.0) / 100.0 + rest.get("gamma", 0.5)
    (name,) = rest
    assert name == {"forest": "depth", "logistic": "C", "net": "C"}[model]
    return value + 1.0 + rest[name] / 1000.0


def spaces(kinds, depth=3):
    """Dicts of parameters, with choices inside choices; every name is another's."""
    level = kinds
    for _ in range(depth):
        inside = st.lists(level, max_size=2)
        level = kinds | st.lists(inside, min_size=1, max_size=3)
    return st.lists(level, min_size=1, max_size=3).map(named)


def named(drawn):
    """A dict of parameters; a list is a choice, with parameters for each of its options."""
    return _named(drawn, count())


def _named(drawn, numbers):
    space = {}
    for each in drawn:
        name = f"p{next(numbers)}"
        if isinstance(each, list):
            each = Choice({f"o{i}": _named(opened, numbers) for i, opened in enumerate(each)})
        space[name] = each
    return space


NUMBERS = st.builds(Int, st.just(1), st.integers(2, 4)) | st.sampled_from(
    [Choice(["a", "b"]), Choice([True, None, 3]), Real(0.0, 0.3, step=0.1)]
)
REALS = st.sampled_from([Real(0.0, 1.0), Real(1e-6, 1e3, log=True), Real(-5.0, 5.0)])
FINITE = spaces(NUMBERS, depth=2)
ANY = spaces(NUMBERS | REALS)


def belongs(parameters, params):
    """Whether a point has exactly the parameters that exist with its options."""
    left = dict(params)

    def take(given):
        for name, parameter in given.items():
            value = left.pop(name)
            if isinstance(parameter, Choice):
                if parameter.opens:
                    take(parameter.opens[parameter.options.index(value)])
                else:
                    assert value in parameter.options
            else:
                assert parameter.low <= value <= parameter.high
                assert isinstance(value, int) == isinstance(parameter, Int)
                if step := getattr(parameter, "step", None):
                    assert abs((value - parameter.low) / step % 1.0 - 0.5) > 0.499

    take(parameters)
    return not left


def every_point(parameters):
    """All points of a finite space, as sorted items."""
    found = [()]
    for name, parameter in parameters.items():
        if isinstance(parameter, Int):
            mine = [((name, n),) for n in range(parameter.low, parameter.high + 1)]
        elif isinstance(parameter, Real):
            mine = [((name, value),) for value in (0.0, 0.1, 0.2, 0.3)]
        else:
            opens = parameter.opens or ({},) * len(parameter.options)
            mine = [
                ((name, option), *rest)
                for option, opened in zip(parameter.options, opens, strict=True)
                for rest in every_point(opened)
            ]
        found = [before + each for before in found for each in mine]
    return found
