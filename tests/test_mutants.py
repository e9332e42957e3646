"""The mutants of tools/mutants.py: each is another valid program, and texts are left alone."""

import ast
import runpy
from pathlib import Path

TOOL = Path(__file__).parents[1] / "tools" / "mutants.py"
SOURCE = '''
"""A docstring with 2 numbers."""
LIMIT: float = 1.5

class Pile:
    """Of 3 things."""
    def add(self, x: int) -> bool:
        if x < LIMIT and not self.full:
            raise ValueError(f"{x + 1} is too much")
        self.top = max(x, -self.top)  # a comment
        return self.full

    def __repr__(self) -> str:
        return f"{1 + 1}"
'''
EXPECTED = {
    "LIMIT: float = 1.5 => LIMIT: float = 3.0",
    "LIMIT: float = 1.5 => LIMIT: float = 2.5",
    "LIMIT: float = 1.5 => LIMIT: float = 0.0",
    "if x < LIMIT and not self.full: => if (x < LIMIT or not self.full):",
    "if x < LIMIT and not self.full: => if (not (x < LIMIT and (not self.full))):",
    "if x < LIMIT and not self.full: => if (x <= LIMIT) and not self.full:",
    "if x < LIMIT and not self.full: => if (x >= LIMIT) and not self.full:",
    "if x < LIMIT and not self.full: => if x < LIMIT and (self.full):",
    "self.top = max(x, -self.top) => pass",
    "self.top = max(x, -self.top) => self.top = min(x, -self.top)",
    "self.top = max(x, -self.top) => self.top = max(x, (self.top))",
    "return self.full => return None",
}


def test_mutants_change_operators_constants_and_statements_but_no_texts(tmp_path):
    tool = runpy.run_path(str(TOOL))
    tool["mutants"].__globals__["SOURCE"] = tmp_path
    file = tmp_path / "pile.py"
    file.write_text(SOURCE)
    found = list(tool["mutants"](file))
    assert {f"{mutant.before} => {mutant.after}" for mutant, _ in found} == EXPECTED
    assert len(found) == len(EXPECTED)
    assert {mutant.where for mutant, _ in found} == {"module", "Pile.add"}
    programs = {ast.dump(ast.parse(text)) for _, text in found}
    assert len(programs | {ast.dump(ast.parse(SOURCE))}) == len(EXPECTED) + 1
