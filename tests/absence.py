"""What the docs say that bamsoo does not do: such a claim outlives its truth if nobody looks.

`python tests/absence.py` writes the list of them, `tests/absence.txt`. Each line has been checked
by hand; the first line says for which version.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIST = Path(__file__).with_suffix(".txt")
HEADING = "# Checked by hand for version "

PAGES = [
    ROOT / "README.md",
    ROOT / "llms.txt",
    *(
        ROOT / "docs" / f"{name}.md"
        for name in (
            *("index", "usage", "spaces", "constraints", "answers", "objectives", "steps", "fits"),
            *("study", "changing", "programs", "parallel", "machines", "report", "optuna"),
            *("sklearn", "habits", "gap"),
        )
    ),
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
]
"""Pages that users read. Others speak of algorithms, measurements and the code, or of what must not
happen, for which there are tests."""

CLAIM = re.compile(
    r"\bcannot (?!win\b)|\bunsupported\b|\bnot (?:supported|possible|available|implemented|yet)\b"
    r"|\bthere (?:is|are) no\b|\bhave no\b|\bno (?:equivalent|option|effect)\b|^no: ",
    re.IGNORECASE,
)


def sentences(text: str) -> list[str]:
    """The sentences and the cells of tables of a page, without its code."""
    text = re.sub(r"^(```|~~~).*?^\1|<!--.*?-->", "", text, flags=re.S | re.M)
    found: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        rows = block.splitlines() if block.lstrip().startswith("|") else [block]
        for row in (" ".join(each.split()) for each in rows):
            parts = row.strip("|").split(" | ") if row.startswith("|") else SENTENCE.split(row)
            found += [part.strip() for part in parts]
    return found


SENTENCE = re.compile(r"(?<=[.!?:;])\s+(?=[A-Z`*\[(-])")


def claims() -> list[str]:
    """Every claim of absence, with its page."""
    return [
        f"{page.relative_to(ROOT)}: {each}"
        for page in PAGES
        for each in dict.fromkeys(sentences(page.read_text("utf-8")))
        if CLAIM.search(each)
    ]


if __name__ == "__main__":
    heading = LIST.read_text("utf-8").splitlines()[0] if LIST.exists() else f"{HEADING}0"
    LIST.write_text("\n".join([heading, *claims()]) + "\n", "utf-8")
