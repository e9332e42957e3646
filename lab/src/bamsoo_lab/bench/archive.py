"""The peers' runs that come with the package: one packed file for each suite and method."""

import json
import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..jobs.store import parsed
from ..jobs.task import Finished
from .runs import Measurement, key, measurement

DATA = Path(__file__).parent / "data"
"""The peers' runs that come with the package."""

PARALLEL = DATA / "parallel"
"""The peers' runs of the suite `parallel`."""


def read(folder: Path) -> Iterator[Measurement]:
    """Read the runs in all files of a folder, packed or written by a `Store`."""
    for path in sorted(folder.glob("*.jsonl*")):
        data = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
        for number, line in enumerate(data.split(b"\n")[:-1], 1):
            found = parsed(line, path, number)
            if "result" in found:
                found = measurement(Finished(found["settings"], found["result"], found["digest"]))
            yield found


def pack(runs: Iterable[Measurement], folder: Path) -> None:
    """Write measurements as packed files; the same measurements give the same bytes.

    Packed files in the folder to which none of these measurements belong are removed.
    """
    files: dict[str, list[Measurement]] = {}
    for run in runs:
        files.setdefault(f"{run['suite']}-{run['method']}", []).append(run)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.jsonl.xz"):
        if old.name.removesuffix(".jsonl.xz") not in files:
            old.unlink()
    for name, some in files.items():
        lines = "".join(json.dumps(r) + "\n" for r in sorted(some, key=lambda r: str(key(r))))
        packed = lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME)
        (folder / f"{name}.jsonl.xz").write_bytes(packed)
