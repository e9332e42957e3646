# Each target first creates a virtual environment in .venv, if there is none yet or if a
# pyproject.toml has changed. `make run` installs what the example needs, and the other targets
# install the laboratory and the tools for development too.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
MADE   := $(VENV)/.made
BASIC  := $(VENV)/.basic
READY  := $(VENV)/.ready
# Packages are not compiled on installation, because few of their modules are ever used. The tools that
# build our own packages are in the environment, so that pip does not install them again each time.
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
EDIT   := $(PIP) --no-build-isolation
# The extras that the tests and the documentation need. MLflow and W&B are large, and faked in tests.
EXTRAS := plot,parquet,pandas,dask,optuna,sklearn,postgresql
# One BLAS thread, because small matrices are slower with more, and tests run in parallel.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1
# Compiled modules are kept even where the environment says otherwise, because each of the many
# processes that the tests start would compile the package again.
unexport PYTHONDONTWRITEBYTECODE
# Each process runs the tests of whole modules as far as it can, so that module fixtures are set up
# once; a process that has run out of tests takes over some of another. A test that hangs fails.
PYTEST := $(BIN)/pytest -n auto --dist worksteal --timeout 300

.PHONY: run test test-fast test-long lint layers types tests lengthy docs dist package floors recipe architecture golden mutants bench clean

run: $(BASIC)
	$(BIN)/python examples/branin.py

# All checks, as CI runs them. The tests use all cores and take the longest, so they start first; the
# other checks follow one another next to them. Trying the package is mostly waiting for downloads.
test: $(READY)
	$(MAKE) --no-print-directory --jobs 2 tests lint layers types package

# Quick checks after each edit: the style, the layers, and the tests that are quick with the first of
# their parameters.
test-fast: lint layers
	$(PYTEST) --quick -m "not slow and not long"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell src lab docs tools examples optunahub hydra recipe .github *.md *.cff

# Check the import contracts in pyproject.toml, and that docs/architecture.md is up to date.
layers: $(READY)
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/python tools/draw_architecture.py --check

types: $(READY)
	$(BIN)/mypy

tests: $(READY)
	$(PYTEST) -m "not long"

# The tests that take the longest: before a release, and after a change to what they check.
test-long: $(READY)
	$(PYTEST) -m long

# Write the list of the tests that `make test-fast` leaves out, after tests have been added. For this,
# the machine should have nothing else to do.
lengthy: $(READY)
	mkdir -p out
	: >tests/lengthy.txt
	$(PYTEST) --quick -m "not slow and not long" --durations 0 --durations-min 0.2 >out/durations.txt
	sed -n 's/^[0-9.]*s [a-z]* *\([^[]*\).*/\1/p' out/durations.txt | sort -u >tests/lengthy.txt

# Build the documentation site in out/docs; a warning is an error.
docs: $(VENV)/.docs
	MPLBACKEND=agg $(BIN)/python -m sphinx -E -a -W --keep-going -q -b html docs out/docs
	$(BIN)/python tools/check_site.py out/docs

# Build the sdist and the wheel in dist/, and the wheel of the laboratory in dist/lab.
dist: $(READY)
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	$(BIN)/twine check --strict dist/*
	$(BIN)/python -m build --no-isolation --wheel --outdir dist/lab lab

# Try the wheels in an empty environment, with the oldest supported dependencies.
package: dist
	$(BIN)/python tools/try_package.py

# The same with the extras, and run the tests that are not slow.
floors: dist
	$(BIN)/python tools/try_package.py --tests

# The conda package, built from the sdist by the recipe, with the recipe's tests.
recipe: dist
	$(PIP) py-rattler-build
	$(BIN)/python tools/try_recipe.py

# Redraw the layers and their table after the imports or sizes of layers have changed.
architecture: $(READY)
	$(BIN)/python tools/draw_architecture.py

# Write the stored points of the golden runs again, after a change that is meant to change them.
golden: $(READY)
	$(BIN)/python tests/golden/write.py

# Run the tests against a random sample of mutants of the source, and list those that survive.
mutants: $(READY)
	$(BIN)/python tools/mutants.py

bench: $(READY)
	$(BIN)/python lab/benchmarks/speed.py

$(MADE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "bamsoo needs Python 3.11 or newer; this is " + sys.version.split()[0] + " (choose another with make PYTHON=...)")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) 'hatchling>=1.25' editables
	touch $(MADE)

$(BASIC): $(MADE) pyproject.toml
	$(EDIT) --editable '.[plot]'
	touch $(BASIC)

$(READY): $(MADE) pyproject.toml lab/pyproject.toml
	$(PIP) 'pip>=25.1'
	$(EDIT) --editable '.[$(EXTRAS)]' --editable ./lab --group dev
	touch $(BASIC) $(READY)

$(VENV)/.docs: $(READY)
	$(EDIT) --editable '.[$(EXTRAS)]' --group docs
	touch $(VENV)/.docs

clean:
	rm -rf dist docs/api docs/examples $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis out
