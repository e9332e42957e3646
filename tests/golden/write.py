"""Write the stored points of the golden runs again: python tests/golden/write.py [--check]

A run that asks for the same points up to rounding keeps its lines, so the diff of `traces.txt`
shows what has changed. With `--check` the differences are only printed.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import rounding

rounding.fix()

from golden import changes  # noqa: E402
from golden.runs import RUNS, STORED, first_difference, made, store, stored  # noqa: E402


def main() -> None:
    _, runs = stored()
    changed = 0
    for run in RUNS:
        new = made(run)
        if (found := first_difference(run, runs.get(run, []), new)) is not None:
            print(found, flush=True)
            runs[run] = new
            changed += 1
    print(f"{changed} of {len(RUNS)} runs differ")
    if "--check" not in sys.argv:
        store(runs)
        changes.store()
        for file in (STORED, changes.STORED):
            print(f"wrote {file}, {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
