"""A result as text, and as HTML for notebooks."""

from base64 import b64encode
from html import escape
from io import BytesIO
from typing import Any

from .. import plotting
from ..base.checks import count, readable
from ..plotting import Run
from ..record.ledger import on_the_front

_LONGEST = 500  # characters shown of a parameter's value


def text_of(result: Run) -> str:
    """How the run has ended, and its best point, in a few lines."""
    best = "none" if result.params is None else _brief(result.params)
    if (least := result.least_violating) is not None and least.by:
        best += f"; {least}, at {_brief(least.params)}"
    front = ""
    if result.objectives.several and result.front:
        front = f" front: {on_the_front(result.front)}; a compromise is:\n"
    return (
        f"{result.direction}: {result.message}\n"
        f"{front}"
        f"   fun: {result.shown_fun}\n"
        f"params: {best}\n"
        f"  nfev: {result.nfev}{result.not_counted}{': ' if result.spent else ''}{result.spent}"
    )


def html_of(result: Run) -> str:
    """The same with a picture of the run."""
    total = f"{count(result.nfev, 'evaluation')}{result.not_counted}"
    head = f"{result.direction}: {total}; {result.message}"
    several = result.objectives.several and result.success
    values = result.fun if several else {"value": result.fun}
    rows = [(n, readable(v, 8)) for n, v in values.items()] if result.success else []
    least = result.least_violating
    rows += ((result.params or {}) if least is None else least.params).items()
    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(_brief(value))}</td></tr>"
        for name, value in rows
    )
    best = f"<table>{cells}</table>" if cells else ""
    if not result.success:
        best = f"<p>{escape(result.nothing)}</p>{best}"
    if several:
        best = f"<p>{on_the_front(result.front)}; a compromise is</p>{best}"
    spent = f"<p>evaluations: {escape(result.spent)}</p>" if result.spent else ""
    return f"<div><p>{escape(head)}</p>{best}{spent}{_picture(result)}</div>"


def _picture(result: Run) -> str:
    """The convergence plot as an embedded image; empty if matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return ""
    if not result.success:
        return ""
    figure, file = Figure(figsize=(6, 3), layout="constrained"), BytesIO()
    if result.objectives.several:
        plotting.plot_fronts(figure, result)
    else:
        plotting.plot_convergence(figure.subplots(), result)
    figure.savefig(file, format="png", dpi=100)
    data = b64encode(file.getvalue()).decode()
    what = "the front" if result.objectives.several else "best value against evaluations"
    return f"<img alt='{what}' src='data:image/png;base64,{data}'>"


def _brief(value: Any) -> str:
    text = value if isinstance(value, str) else readable(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
