# Every target brings its own environment up to date first, and does nothing to one that is fresh.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# One BLAS thread a test process: the tests run side by side, one process a core.
TEST_ENV := OMP_NUM_THREADS=1

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast test-slow lint types bench docs clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## */  make \1\t/' | expand -t 18

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Dragoman needs Python 3.11 or newer; name one with: make PYTHON=python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(STAMP)  ## train on the built-in German-English corpus and translate with the result
	$(BIN)/dragoman demo

test: lint types test-fast test-slow  ## run every check: ruff, mypy, pytest with doctests, trainings

test-fast: $(STAMP)  ## run the tests that take seconds, and the doctests
	$(TEST_ENV) $(BIN)/python -m pytest -q -n 2 -m 'not slow'

test-slow: $(STAMP)  ## run the end-to-end trainings
	$(TEST_ENV) $(BIN)/python -m pytest -q -n 2 -m slow tests

lint: $(STAMP)  ## run ruff over all code
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)  ## run mypy, strict, over src
	$(BIN)/mypy

bench: $(STAMP)  ## measure our speed beside the peers, as ratios
	$(BIN)/python -m benchmarks

docs: $(STAMP)  ## check that every file and test named in docs/ exists
	$(BIN)/python -m pytest -q tests/docs

clean:  ## remove the environment and every cache
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
