# Everything below sets itself up: a virtual environment in .venv, made once and
# again only when pyproject.toml changes.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# One BLAS thread: small matrices are slower with more, and tests run side by side.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1

.PHONY: run test test-fast lint layers types tests docs dist package floors architecture bench clean

run: $(READY)
	$(BIN)/python examples/branin.py

# Everything, as CI runs it.
test: lint layers types tests package

# What to run after each edit: the style, the layers, and the tests that are not slow.
test-fast: lint layers
	$(BIN)/pytest -n auto -m "not slow"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell src docs tools examples optunahub recipe .github *.md *.cff

# The contracts in pyproject.toml, and whether docs/architecture.md shows the layers as they are.
layers: $(READY)
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/python tools/draw_architecture.py --check

types: $(READY)
	$(BIN)/mypy

tests: $(READY)
	$(BIN)/pytest -n auto

# The documentation site, in out/docs; a warning is an error.
docs: $(VENV)/.docs
	MPLBACKEND=agg $(BIN)/python -m sphinx -E -a -W --keep-going -q -b html docs out/docs
	$(BIN)/python tools/check_site.py out/docs

# The sdist and the wheel, in dist/.
dist: $(READY)
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	$(BIN)/twine check --strict dist/*

# The wheel in an empty environment, with the oldest dependencies it promises to work with.
package: dist
	$(BIN)/python tools/try_package.py

# The same with the extras, and the tests that are not slow.
floors: dist
	$(BIN)/python tools/try_package.py --tests

# Draw the layers again, after a change of what imports what.
architecture: $(READY)
	$(BIN)/python tools/draw_architecture.py

bench: $(READY)
	$(BIN)/python benchmarks/speed.py

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "bamsoo needs Python 3.11 or newer; this is " + sys.version.split()[0] + " (choose another with make PYTHON=...)")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(READY)

$(VENV)/.docs: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $(VENV)/.docs

clean:
	rm -rf dist docs/api docs/examples $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis out
