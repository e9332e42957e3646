"""The files of docs/skeletons/, loaded as modules."""

from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "docs" / "skeletons"


@cache
def load(name):
    """The skeleton of this name."""
    spec = spec_from_file_location(f"skeleton_{name}", FOLDER / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
