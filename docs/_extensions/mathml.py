"""Formulas as MathML, which browsers draw themselves: the site needs no script from elsewhere."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def inline(self: Any, node: nodes.math) -> None:
    """A formula in a line of text."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(self: Any, node: nodes.math_block) -> None:
    """A formula in a line of its own."""
    self.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Make this the renderer of formulas."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
