"""How Sphinx builds the documentation site: `make docs`."""

import inspect
import os
import re
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_extensions"))

import bamsoo

project = "bamsoo"
author = "The bamsoo developers"
copyright = "the bamsoo developers; MIT licence"
version = release = bamsoo.__version__

extensions = [
    "mathml",  # ours: formulas without a script from the network
    "myst_nb",  # pages in Markdown, and the notebook, which is executed
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    *("gallery/*", "examples/*.ipynb", "**/sg_execution_times.rst", "sg_execution_times.rst")
]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme = "furo"
html_title = f"bamsoo {release}"
html_theme_options = {"navigation_with_keys": True}
html_show_sphinx = False
html_copy_source = False
pygments_style = "friendly"
pygments_dark_style = "monokai"

# In docstrings, `name` links to the object of that name if there is one.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc's sections say what a parameter is
autodoc_mock_imports = ["mlflow", "wandb"]  # large, and not needed to read docstrings
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]  # sphinx-gallery keeps a class in its settings
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 10_000,
    "remove_config_comments": True,
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
}

# --- the API reference: every public name, grouped by the layer that defines it

GROUPS = {
    "Optimise": (
        "bamsoo.run",
        "bamsoo.search.optimizer",
        "bamsoo.record.trials",
        "bamsoo.result.result",
        "bamsoo.study",
    ),
    "Spaces": ("bamsoo.space",),
    "Algorithms": ("bamsoo.algorithms",),
    "Kernels": ("bamsoo.model",),
    "Stopping rules": ("bamsoo.stop",),
}
MORE = {
    "Reports": ("bamsoo.report.write",),
    "Integrations": (
        "bamsoo.integrations.optuna.BaMSOOSampler",
        "bamsoo.integrations.optuna.BaMSOOPruner",
        "bamsoo.integrations.sklearn.BamsooSearchCV",
        "bamsoo.integrations.mlflow.MLflowCallback",
        "bamsoo.integrations.wandb.WandbCallback",
    ),
}


def api_page() -> str:
    """The page that lists the public names."""
    groups: dict[str, list[str]] = {title: [] for title in GROUPS}
    modules, other = [], []
    for name in bamsoo.__all__:
        thing: Any = getattr(bamsoo, name)
        if isinstance(thing, ModuleType):
            modules.append(f"bamsoo.{name}")
        elif inspect.isclass(thing) or callable(thing):
            home = thing.__module__
            if home == "bamsoo.errors":  # on the page of that module
                continue
            fits = [title for title, homes in GROUPS.items() if home.startswith(homes)]
            (groups[fits[0]] if fits else other).append(f"bamsoo.{name}")
    for names in groups.values():
        names.sort(key=lambda name: inspect.isclass(getattr(bamsoo, name.partition(".")[2])))
    sections = [*groups.items(), ("Other", other), ("Modules", modules), *MORE.items()]
    lines = ["API reference", "=============", "", *API_INTRODUCTION, ""]
    for title, names in sections:
        if names:
            lines += [title, "-" * len(title), "", ".. autosummary::", "   :toctree: .", ""]
            lines += [f"   {name}" for name in names] + [""]
    return "\n".join(lines)


API_INTRODUCTION = [
    "Everything that is promised to stay: a program that uses these names, and those documented",
    "on their pages, keeps working with the next version. Whatever is found elsewhere in the",
    "package may change.",
]


MADE_BY_US = {"bamsoo.Result", "bamsoo.Study", "bamsoo.Trial"}
"""Classes whose objects callers receive; how they are made is not part of the interface."""


def shorten(
    app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, returns: Any
) -> tuple[str, Any] | None:
    """Leave out defaults that are longer than a line, and the addresses of functions."""
    if signature is None:
        return None
    if name in MADE_BY_US:
        return "", returns
    parts, depth, start = [], 0, 1
    for i, character in enumerate(signature):
        depth += (character in "([{") - (character in ")]}")
        if (character == "," and depth == 1) or (character == ")" and depth == 0):
            parts.append(signature[start:i].strip())
            start = i + 1
    named = [re.sub(r"<function (\w+)[^>]*>", r"\1", part) for part in parts]
    short = [p if len(p) <= 50 else p.partition("=")[0] + "=..." for p in named]
    return f"({', '.join(short)})", returns


def link_pages(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """In a docstring, the file of a page becomes a link to the page."""
    lines[:] = [re.sub(r"`{0,2}docs/([\w/-]+)\.md`{0,2}", r":doc:`/\1`", line) for line in lines]


def leave_out(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """A function that is the default of a setting is not a method, and a protocol is internal."""
    if inspect.isclass(thing) and getattr(thing, "_is_protocol", False):
        return True
    is_default = inspect.isfunction(thing) and "." not in thing.__qualname__ and what == "class"
    return True if is_default else None


def setup(app: Any) -> None:
    """Write the pages that are made here before Sphinx looks for pages."""
    app.connect("autodoc-process-signature", shorten)
    app.connect("autodoc-process-docstring", link_pages)
    app.connect("autodoc-skip-member", leave_out)
    folder = DOCS / "api"
    folder.mkdir(exist_ok=True)
    page, text = folder / "index.rst", api_page()
    if not page.exists() or page.read_text() != text:
        page.write_text(text)
    # The kernel of the notebook warns that it listens on loopback without encryption.
    settings = Path(tempfile.mkdtemp()) / "profile_default" / "ipython_kernel_config.py"
    settings.parent.mkdir()
    settings.write_text("get_config().IPKernelApp.log_level = 40\n")
    os.environ["IPYTHONDIR"] = str(settings.parent.parent)
    os.environ.pop("MPLBACKEND", None)  # or its pictures would not be shown
    notebook = DOCS / "api" / "notebook.ipynb"
    notebook.write_text((DOCS.parent / "examples" / "first_look.ipynb").read_text())
