# Two commands for a newcomer: `make demo` and `make test`.  Both need only Python 3.11+, pip and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST_ARGS ?= -n 2

.PHONY: help demo test lint types pytest torture tools bench screenshots clean

help:            ## show this list
	@grep -hE '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

demo: $(STAMP)   ## open the dashboard with five scripted agents at work
	@$(BIN)/agentdash demo

test: lint types pytest   ## lint, types and every test that this machine has the tools for

lint: $(STAMP)   ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)  ## mypy, strict
	@# The repository root is the package: a link gives the checker its name.
	mkdir -p .types && ln -sfn .. .types/agentdash
	$(BIN)/mypy -p agentdash.sessions -p agentdash.widgets -p agentdash.tui

pytest: $(STAMP) ## the tests alone; PYTEST_ARGS chooses
	$(BIN)/pytest $(PYTEST_ARGS)

torture: $(STAMP) ## hundreds of hostile agents and a kill -9 here and there; prints counts (TORTURE_CYCLES, TORTURE_SEED)
	TORTURE_CYCLES=$${TORTURE_CYCLES:-600} $(BIN)/pytest tests/torture

tools:           ## the real agent CLIs for the end-to-end tests (needs npm)
	cd tests/tools && npm install --no-audit --no-fund --no-package-lock

bench: $(STAMP)  ## benchmarks: medians and ratios
	cd bench && for file in supervision listing following screen table viewer wire; do ../$(BIN)/python $$file.py; done

screenshots: $(STAMP)  ## the pictures of the README
	$(BIN)/python screenshots/make.py

clean:           ## remove what make made
	rm -rf $(VENV) .types .mypy_cache .ruff_cache .pytest_cache .scratch build *.egg-info

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "agentdash needs Python 3.11 or newer; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	@# A stale build folder would be installed instead of the sources.
	rm -rf build
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@
