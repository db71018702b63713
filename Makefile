# Two commands for a newcomer: `make demo` and `make test`.  Both need only Python 3.11+, pip and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV := $(VENV)/.installed-dev
# More workers than cores: a test that waits for another process leaves its core to the others.
PYTEST_ARGS ?= -n 4 --dist worksteal

.PHONY: help demo check test full lint types pytest texts torture tools bench screenshots reference prices clean

help:            ## show this list
	@grep -hE '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

demo: $(STAMP)   ## open the dashboard with scripted sessions
	@$(BIN)/agentdash demo

# The checkers are one process each: the tests use the other cores meanwhile.
check: $(DEV)    ## lint, types and the unit tests: before each commit
	@$(MAKE) --no-print-directory -j 3 lint types pytest PYTEST_ARGS='$(PYTEST_ARGS) -m "not slow" tests/unit'

test: $(DEV)     ## lint, types, the tests of units and of keys, and a smoke test of each part of a session's life
	@$(MAKE) --no-print-directory -j 3 lint types pytest PYTEST_ARGS='$(PYTEST_ARGS) -m "not slow"'

full: test       ## make test, then every other test: processes, real agents, torture, installing, benchmarks
	$(BIN)/pytest $(PYTEST_ARGS) -m slow

lint: $(DEV)   ## ruff: rules and format; import-linter: which folder may know which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

types: $(DEV)  ## mypy: the package strictly, the tests as far as they have types
	$(BIN)/mypy src/agentdash tests

pytest: $(DEV) ## the tests alone; PYTEST_ARGS chooses
	$(BIN)/pytest $(PYTEST_ARGS)

texts: $(DEV)  ## every text of the screen and the command line, to be read as a whole
	@$(BIN)/python tests/texts.py

torture: $(DEV) ## the tests that repeat themselves, many times, with new dice: hostile agents, examples, kills (TORTURE_CYCLES, TORTURE_SEED)
	TORTURE=1 $(BIN)/pytest $(PYTEST_ARGS) -m torture

tools: $(DEV)   ## the real agent CLIs for the end-to-end tests (needs npm)
	$(BIN)/python tests/tools/install.py

bench: $(DEV)  ## benchmarks: medians and ratios
	cd bench && for file in supervision next_turn live mcp_server listing following events streams screen table viewer wire live_wire tasks admission usage; do ../$(BIN)/python $$file.py; done

screenshots: $(DEV)  ## the pictures of the documents
	$(BIN)/python screenshots/make.py

reference: $(DEV) ## the documents that are made from the program: docs/reference, docs/schema (of --json) and the manual page
	$(BIN)/python -m agentdash.tui.cli.reference docs

prices: $(DEV)   ## sessions/rules/costs/price_table.py, from the installed release of genai-prices
	$(BIN)/python tests/tools/prices.py

clean:           ## remove what make made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .scratch build src/*.egg-info

# pip prints errors only; a stale build folder would be installed instead of the sources.
$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "agentdash needs Python 3.11 or newer; set PYTHON=")'
	@echo 'Installing agentdash into $(VENV) (about a minute the first time)…'
	@$(PYTHON) -m venv $(VENV)
	@rm -rf build
	@PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install -qq --editable .
	@touch $@

$(DEV): $(STAMP)
	@echo 'Installing what the tests need into $(VENV) (about a minute the first time)…'
	@PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install -qq --editable '.[dev]'
	@touch $@
