"""COCO's virtual best: the fastest algorithm of 2009 to 2016 on each BBOB function and target.

Its file holds expected numbers of evaluations, and ``python -m bamsoo_lab.bench.reference`` writes
it from the package cocopp.
"""

import json
import lzma
import tarfile
from collections.abc import Iterable
from decimal import ROUND_DOWN, Context
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from .archive import DATA
from .case import Case
from .errors import MissingPackageError
from .score import Runs
from .suites.bbob import DIMS, FUNCTIONS

FILE = DATA / "virtual-best.json.xz"
"""By dimension and function: evaluations, and the regret expected after these."""

SOURCE = "cocopp/refalgs/best09-16-bbob.tar.gz"
"""The file in the package cocopp."""

LABEL = "COCO's best of 2009 to 2016 per target, in hindsight"

CAVEAT = (
    f"“{LABEL}”: expected times, published by COCO for other instances, of the algorithm that is "
    "fastest on each function and target. No algorithm reaches this area, because the choice is "
    "made anew for each target."
)


@cache
def stored() -> dict[str, dict[str, list[list[float]]]]:
    """Expected evaluations and regrets, by dimension and function."""
    found: dict[str, dict[str, list[list[float]]]]
    found = json.loads(lzma.decompress(FILE.read_bytes()))["expected"]
    return found


def runs(cases: Iterable[Case]) -> Runs:
    """The virtual best as runs of those cases that COCO has, the same on all instances."""
    found: Runs = {}
    for case in cases:
        steps = stored().get(f"{case.dim}", {}).get(case.problem)
        if case.suite == "bbob" and steps is not None:
            found[case] = {"budget": case.budget, "steps": steps}
    return found


def write(archive: Path, made_with: str, to: Path = FILE) -> None:
    """Write the file from COCO's archive, which has one text file per function and dimension."""
    with tarfile.open(archive) as files:
        texts = {Path(m.name).name: files.extractfile(m) for m in files if m.isfile()}
        tables = {
            dim: {
                f"f{f}": _steps(texts[f"bbob-bestalg_f{f:02d}_d{dim:02d}.dat"]) for f in FUNCTIONS
            }
            for dim in DIMS
        }
    text = json.dumps({"made_with": made_with, "expected": tables})
    to.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def _steps(lines: Any) -> list[list[float]]:
    """Evaluations and regrets of a file of COCO: one per line, before the algorithm's name."""
    rows = [line.split()[:2] for line in lines.read().decode().splitlines() if line[0] != "%"]
    return [[int(evaluations), _below(float(regret))] for evaluations, regret in rows]


def _below(regret: float) -> float:
    """A little less than a regret, with three digits.

    COCO's regrets are the targets of the score, and must not exceed them by a rounding error.
    """
    return float(Context(3, ROUND_DOWN).create_decimal_from_float(regret * (1.0 - 1e-9)))


def main() -> None:
    """Write the file from the installed package, which need not be imported."""
    try:
        package = distribution("cocopp")
    except PackageNotFoundError:
        raise MissingPackageError(
            "cocopp has COCO's data and is not installed; pip install 'bamsoo-lab[coco]' brings it"
        ) from None
    write(Path(str(package.locate_file(SOURCE))), f"cocopp {package.version}, {SOURCE}")


if __name__ == "__main__":
    main()
