"""Put peers' runs into the package: `python -m bamsoo.bench.pack FOLDER`, where FOLDER holds them.

Runs of the plan are kept, and nothing else; runs that were packed before stay.
"""

import sys
from pathlib import Path

from .plan import peers
from .runs import key
from .store import pack, read

DATA = Path(__file__).parent / "data"
"""The peers' runs that come with the package."""


def main(folder: Path) -> int:
    """Pack the planned runs found in a folder; returns how many there are now."""
    planned = {key(job.settings) for job in peers()}
    found = {key(r): r for place in (DATA, folder) for r in read(place)}
    kept = [record for name, record in found.items() if name in planned]
    pack(kept, DATA)
    return len(kept)


if __name__ == "__main__":
    print(main(Path(sys.argv[1])), "runs packed")
