"""The files around the package agree with it: version, dependencies, licence, issue forms."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import bamsoo

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]


def as_toml(path):
    return tomllib.loads((ROOT / path).read_text())["project"]


LABORATORY = as_toml("lab/pyproject.toml")


def as_yaml(path):
    return yaml.safe_load((ROOT / path).read_text())


def test_the_version_is_the_same_everywhere():
    assert as_yaml("CITATION.cff")["version"] == bamsoo.__version__
    assert as_yaml("recipe/recipe.yaml")["context"]["version"] == bamsoo.__version__
    assert LABORATORY["version"] == bamsoo.__version__
    assert f"bamsoo[plot]=={bamsoo.__version__}" in LABORATORY["dependencies"]
    assert as_toml("hydra/pyproject.toml")["version"] == bamsoo.__version__
    changes = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert next(each for each in changes if each != "Unreleased") == bamsoo.__version__
    begun = bamsoo.__version__.rpartition(".")[0]
    for page in ("README.md", "docs/index.md"):
        assert re.findall(r"once version (\S+) is", (ROOT / page).read_text()) in ([], [begun])
    page = (ROOT / "docs" / "tutorials" / "first-run.md").read_text()
    assert f"bamsoo-{bamsoo.__version__}-py3-none-any.whl" in page


def test_the_conda_recipe_needs_what_the_package_needs():
    needed = {
        line.replace(" ", "") for line in as_yaml("recipe/recipe.yaml")["requirements"]["run"]
    }
    assert needed == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}


def test_every_dependency_has_a_floor_that_can_be_installed():
    extras = PROJECT["optional-dependencies"]
    requirements = PROJECT["dependencies"].copy()
    for name in ("plot", "parquet", "pandas", "dask", "optuna", "sklearn"):
        requirements += extras[name]
    for requirement in requirements:
        assert re.fullmatch(r"[a-z-]+>=\d+(\.\d+)*", requirement)


def test_extras_are_for_users_and_groups_for_developers():
    assert not {"dev", "docs", "dist", "test"} & PROJECT["optional-dependencies"].keys()
    assert {"dev", "docs", "dist"} <= PYPROJECT["dependency-groups"].keys()
    makefile = (ROOT / "Makefile").read_text()
    for group in re.findall(r"--group (\w+)", makefile):
        assert group in PYPROJECT["dependency-groups"]
    (extras,) = re.findall(r"^EXTRAS := (.*)$", makefile, re.M)
    assert set(extras.split(",")) <= PROJECT["optional-dependencies"].keys()


def test_the_versions_of_python_begin_with_the_oldest_supported():
    listed = re.findall(r"Python :: 3\.(\d+)", "\n".join(PROJECT["classifiers"]))
    assert [int(each) for each in listed] == list(range(11, 11 + len(listed)))
    assert PROJECT["requires-python"] == f">=3.{listed[0]}"
    assert all(address.startswith("https://") for address in PROJECT["urls"].values())


def test_the_licence_is_the_same_everywhere():
    assert PROJECT["license"] == "MIT"
    assert as_yaml("CITATION.cff")["license"] == "MIT"
    assert as_yaml("recipe/recipe.yaml")["about"]["license"] == "MIT"
    assert (ROOT / "LICENSE").read_text().startswith("MIT License")


@pytest.mark.parametrize("form", ["bug.yml", "idea.yml"])
def test_an_issue_form_has_the_required_fields(form):
    given = as_yaml(f".github/ISSUE_TEMPLATE/{form}")
    assert {"name", "description", "body"} <= set(given)
    fields = [field["id"] for field in given["body"]]
    assert len(fields) == len(set(fields))
