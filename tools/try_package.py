"""Try the package as a user gets it: install the wheel in `dist/` into an empty environment.

Then install the laboratory's wheel in `dist/lab/` too, and ask its commands for their help.

    python tools/try_package.py            the wheel and its dependencies, nothing else
    python tools/try_package.py --tests    the extras too, and the tests that are not slow

By default, exactly the oldest supported versions of the dependencies are installed, because the
test suite itself runs with the newest. `--newest` installs the newest versions instead.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

LARGEST = {"src/bamsoo": 690_000, "lab/src/bamsoo_lab": 2_900_000}
"""For each package, the largest number of bytes of its wheel. The package of users is small: with
anything of the laboratory it would be larger than this. Most of the laboratory are stored runs of
`bamsoo bench`."""

EXTRAS = ("plot", "parquet", "pandas", "dask", "optuna", "sklearn")
"""The extras for users. The others are for development, and are tested only with the newest
versions."""

TOOLS = ("pytest>=8", "pytest-xdist>=3.5", "hypothesis>=6.100", "loky>=3.4")


def the_wheel(folder: Path) -> Path:
    """The only wheel in a folder."""
    found = sorted(folder.glob("*.whl"))
    if len(found) != 1:
        sys.exit(f"{folder}: expected one wheel, found {len(found)}; run make dist")
    return found[0]


def check_contents(wheel: Path, package: str) -> None:
    """Check that a wheel is small and contains all files of a package and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", package],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    parent = package.rpartition("/")[0] + "/"
    expected = {name.removeprefix(parent) for name in listed if (ROOT / name).exists()}
    if found != expected:
        sys.exit(
            f"{wheel.name}: missing files: {sorted(expected - found)}; files that are not part of "
            f"the package: {sorted(found - expected)}"
        )
    size = wheel.stat().st_size
    if size > LARGEST[package]:
        sys.exit(f"{wheel.name}: has {size:,} bytes, more than the limit of {LARGEST[package]:,}")
    print(f"{wheel.name}: {len(found)} files, {size / 1e6:.2f} MB")


def oldest(wheel: Path) -> list[str]:
    """Each dependency that the wheel declares, with those of extras, at its oldest version."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
        declared = Parser().parsestr(archive.read(name).decode()).get_all("Requires-Dist", [])
    pinned = []
    for line in declared:
        requirement, _, marker = line.partition(";")
        extra = re.search(r"extra == ['\"](.*)['\"]", marker)
        if extra is None or extra.group(1) in EXTRAS:
            pinned.append(requirement.strip().replace(">=", "=="))
    return pinned


class Environment:
    """An empty virtual environment, and an empty directory to work in."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.work = folder / "venv", folder / "work"
        self.work.mkdir()
        run([sys.executable, "-m", "venv", "--without-pip", str(self.folder)], self.work)
        self.bin = self.folder / ("Scripts" if os.name == "nt" else "bin")

    def install(self, *what: str) -> None:
        """Install packages with the pip of the interpreter that runs this script.

        Nothing is compiled: Python compiles the modules that are used, which are a small part.
        """
        command = [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "install"]
        quiet = ["--quiet", "--disable-pip-version-check", "--no-compile"]
        run([*command, *quiet, *what], self.work)

    def run(self, program: str, *arguments: str) -> str:
        """Run one of its programs, and return what it prints."""
        return run([str(self.bin / program), *arguments], self.work)


def run(command: list[str], folder: Path) -> str:
    """Run a program without access to the packages of this working copy."""
    environment = {key: v for key, v in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def use(environment: Environment) -> None:
    """Do what a newcomer does first: the example of the package's page, and a run of the command.

    That of the README needs scikit-learn, so it runs with the tests.
    """
    page = (ROOT / "DESCRIPTION.md").read_text("utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.S)
    (environment.work / "example.py").write_text(example, "utf-8")
    environment.run("python", "example.py")
    begin = ["minimize", "branin", "--budget", "30", "--study", "run.db", "--json"]
    found = json.loads(environment.run("bamsoo", *begin))
    if not found["value"] < 0.4:
        sys.exit(f"bamsoo minimize branin: expected a value below 0.4, got {found['value']}")
    environment.run("bamsoo", "show", "run.db")
    environment.run("bamsoo", "export", "run.db")
    environment.run("bamsoo", "report", "run.db")
    where = environment.run("python", "-c", "import bamsoo; print(bamsoo.__file__)").strip()
    if not Path(where).is_relative_to(environment.folder):
        sys.exit(f"bamsoo was imported from {where}, not from the new environment")


def use_laboratory(environment: Environment, wheel: Path) -> None:
    """Check that its commands are there with the laboratory, and only with it.

    Its dependencies are left out: they are large, and the tests of the laboratory use them.
    """
    before = environment.run("bamsoo", "--help")
    environment.install("--no-deps", str(wheel.resolve()))
    after = environment.run("bamsoo", "--help")
    for name in ("bench", "reproduce", "terms"):
        line = re.compile(rf"^  {name} ", re.M)
        if line.search(before) or not line.search(after):
            sys.exit(f"bamsoo --help: expected {name} with the laboratory, and only with it")
        environment.run("bamsoo", name, "--help")


def main() -> None:
    """Check the wheels, install them, and use them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="folder with the wheels")
    parser.add_argument("--newest", action="store_true", help="install the newest dependencies")
    parser.add_argument("--tests", action="store_true", help="install the extras and run tests")
    options = parser.parse_args()
    wheel = the_wheel(options.dist)
    check_contents(wheel, "src/bamsoo")
    laboratory = the_wheel(options.dist / "lab")
    check_contents(laboratory, "lab/src/bamsoo_lab")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        limits: list[str] = []
        if not options.newest:
            pinned = folder / "oldest.txt"
            pinned.write_text("\n".join(oldest(wheel)))
            limits = ["--constraint", str(pinned)]
        began = time.monotonic()
        environment = Environment(folder)
        environment.install(str(wheel.resolve()), *limits)
        installed = time.monotonic()
        use(environment)
        use_laboratory(environment, laboratory)
        used = time.monotonic()
        listing = "from importlib.metadata import distributions as d; " \
            "print(*sorted(f'{x.name} {x.version}' for x in d()), sep=', ')"  # fmt: skip
        print(environment.run("python", "-c", listing).strip())
        print(f"installed in {installed - began:.0f} s, used in {used - installed:.0f} s")
        if options.tests:
            environment.install(f"{wheel.resolve()}[{','.join(EXTRAS)}]", *TOOLS, *limits)
            test(environment)


def test(environment: Environment) -> None:
    """Run the tests of this working copy that are not slow against the installed package.

    Warnings are neither errors nor shown, because old versions of other packages cause some.
    """
    command = [str(environment.bin / "python"), "-m", "pytest", "-n", "auto", "-m", "not slow"]
    quick = [*command, "-p", "no:cacheprovider", "-o", "filterwarnings=default"]
    quick += ["--disable-warnings"]
    quick += ["tests", "--ignore=tests/test_architecture.py"]
    variables = {key: v for key, v in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(quick, cwd=ROOT, env=variables)
    if done.returncode != 0:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
