"""Build the conda recipe from the sdist in `dist/`, and run the recipe's own tests.

    python tools/try_recipe.py                                 with packages made here
    python tools/try_recipe.py --channel conda-forge           with those of a channel

By default no conda channel is needed, so that this works wherever pip does: the running Python and
the wheels of everything that the recipe asks for become conda packages in a temporary channel. This
tries the recipe itself: it renders, its environments solve, the sdist builds without network or
build isolation, the files and the command are in the package, `pip check` passes in a fresh
environment, and the commands under `tests:` run. Whether conda-forge has every dependency in the
version that is asked for, only a build with `--channel conda-forge` can tell.
"""

import argparse
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from importlib.metadata import Distribution, distributions
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from rattler_build import assemble_package
from rattler_build.cli_api import build_recipes

ROOT = Path(__file__).resolve().parents[1]
RECIPE = ROOT / "recipe" / "recipe.yaml"
PLATFORM = "linux-64"
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
SITE = f"lib/python{VERSION}/site-packages"


def needed() -> list[str]:
    """What the recipe asks for besides Python itself, as pip writes it."""
    sections = yaml.safe_load(RECIPE.read_text("utf-8"))["requirements"]
    lines = {*sections["host"], *sections["run"]}
    return sorted(line.replace(" ", "") for line in lines if line.split()[0] != "python")


def pack(name: str, version: str, files: Path, channel: Path, depends: list[str]) -> None:
    """One conda package of a folder of files."""
    assemble_package(
        name, version, PLATFORM, "0", channel / PLATFORM, files_dir=files, depends=depends,
        compression_level=1,
    )  # fmt: skip


def pack_python(channel: Path, folder: Path) -> None:
    """The running Python as a conda package: interpreter, shared and standard library."""
    base, staged = Path(sys.base_prefix), folder / "python"
    binary = staged / "bin" / f"python{VERSION}"
    binary.parent.mkdir(parents=True)
    shutil.copy2(base / "bin" / binary.name, binary)
    for other in ("python", "python3"):
        (binary.parent / other).symlink_to(binary.name)
    library = Path(sysconfig.get_path("stdlib"))
    left_out = shutil.ignore_patterns("site-packages", "test", "tests", "__pycache__", "config-*")
    shutil.copytree(library, staged / "lib" / library.name, ignore=left_out, symlinks=True)
    for shared in (base / "lib").glob("libpython*.so*"):
        shutil.copy2(shared, staged / "lib" / shared.name, follow_symlinks=False)
    pack("python", sys.version.split()[0], staged, channel, [])


def pack_wheels(channel: Path, folder: Path) -> None:
    """The wheels of what the recipe asks for, and of what those depend on, as conda packages."""
    wheels = folder / "wheels"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "download", "--only-binary=:all:", "-d", wheels, *needed()], check=True)
    for wheel in sorted(wheels.glob("*.whl")):
        staged = folder / wheel.stem
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(staged / SITE)
        (found,) = distributions(path=[str(staged / SITE)])
        name = found.name.lower().replace("_", "-")
        pack(name, found.version, staged, channel, [f"python {VERSION}.*", *depends(found)])


def depends(found: Distribution) -> list[str]:
    """What a wheel needs on this machine, without extras, as conda writes it."""
    lines = [Requirement(line) for line in found.requires or []]
    kept = [line for line in lines if line.marker is None or line.marker.evaluate({"extra": ""})]
    return [f"{line.name.lower().replace('_', '-')} {line.specifier}".strip() for line in kept]


def main() -> None:
    """Make a channel, build the recipe with it, and say what was built."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--channel", action="append", help="a conda channel to build with")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        output = folder / "channel"
        (output / PLATFORM).mkdir(parents=True)
        if options.channel is None:
            pack_python(output, folder)
            pack_wheels(output, folder)
        made = len(list((output / PLATFORM).glob("*.conda")))
        build_recipes([RECIPE], channel=options.channel or [], output_dir=output, test="native")
        (package,) = (output / "noarch").glob("bamsoo-*.conda")
        size = package.stat().st_size / 1e6
        print(f"{package.name}: {size:.2f} MB, built and tested with {made} packages made here")


if __name__ == "__main__":
    main()
