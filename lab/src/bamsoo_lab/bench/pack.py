"""Put peers' runs into the package: ``python -m bamsoo_lab.bench.pack FOLDER``.

FOLDER is where `bamsoo bench --run-peers` stored them, such as ``out/bench/runs`` or
``out/bench/parallel``. Only runs that the plan lists are packed; runs packed before are kept.
"""

import sys
from pathlib import Path

import numpy as np

from . import plan
from .archive import DATA, PARALLEL, pack, read
from .methods.plain import SAMPLE
from .parallel.runs import peers as parallel_peers
from .runs import Measurement, key
from .suites import ALL


def main(folder: Path) -> int:
    """Pack the planned runs found in a folder; returns how many are packed now."""
    kept = 0
    for place, tasks in ((DATA, plan.peers()), (PARALLEL, parallel_peers())):
        planned = {key(task.settings) for task in tasks}
        found = {key(run): run for where in (place, folder) for run in read(where)}
        runs = [_brief(run) for name, run in found.items() if name in planned]
        pack(runs, place)
        kept += len(runs)
    return kept


def _brief(run: Measurement) -> Measurement:
    """A run of a suite with many values, whose file would be large, as scores need it.

    After the first points, which are the scale of random search, only the best one so far matters.
    """
    if not ALL[run["suite"]].relative:
        return run
    values = [float(f"{value:.8g}") for value in run["values"]]
    best = np.minimum.accumulate(values).tolist()
    return {**run, "values": values[:SAMPLE] + best[SAMPLE:]}


if __name__ == "__main__":
    print(main(Path(sys.argv[1])), "runs packed")
