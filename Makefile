# Every job has one target and works alone: it creates .venv, installs from the hash-pinned locks and runs.
# Needed on the machine: Python 3.11 or newer, pip and make; npm for the console's checks. `make help` lists the targets.

PYTHON ?= $(shell command -v python3.11 || command -v python3 || echo python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-input

# A change of a lock or of the project's metadata changes the stamp's name, so the next call installs again.
RUNTIME_LOCKS := requirements/runtime.lock requirements/build.lock
DEVELOPMENT_LOCKS := requirements/development.lock
stamp = $(VENV)/.installed-$(1)-$(shell cat pyproject.toml $(2) | cksum | cut -d ' ' -f 1)
RUNTIME_STAMP := $(call stamp,runtime,$(RUNTIME_LOCKS))
DEVELOPMENT_STAMP := $(call stamp,development,$(DEVELOPMENT_LOCKS))

# What the caller may add: make run ARGUMENTS="--listen 127.0.0.1:0", make test ARGUMENTS="-k cancel".
ARGUMENTS ?=
SEEDS ?= 200
MINUTES ?= 30
PACKAGES := runtime store supervisor
CLIENT := client/greenroom_client
PYTHON_SOURCES := $(PACKAGES) $(CLIENT) tools tests $(wildcard bench examples)

# In this order: the quick ones first.
CHECKS := check-format check-lint check-tidy check-rules check-layers check-dependencies check-types check-contract \
	check-diagrams check-providers check-news check-console check-wheel

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help run test check test-thorough test-providers test-providers-all test-agents test-console simulate torture torture-quick \
	bench bench-startup bench-trees bench-peers bench-scale bench-codex profile rules contract diagrams providers console lock format clean $(CHECKS)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# --- run and test -----------------------------------------------------------------------------------------------

run: $(RUNTIME_STAMP) ## serve on the embedded defaults: SQLite and the built-in demo agent
	@printf '%s\n' \
	  'Greenroom prints one JSON line when it is ready; "url" says where to connect (default ws://127.0.0.1:4517/v1/ws).' \
	  'Stop it with Ctrl-C. From a second shell in this folder, try:' \
	  '  $(BIN)/greenroom run "hello"' \
	  '  $(BIN)/greenroom run -i' \
	  '  $(BIN)/greenroom sessions' \
	  '  $(BIN)/greenroom show SESSION' \
	  'On a terminal it prints a link to the web console as well: open it in a browser.' >&2
	@exec $(BIN)/greenroom serve $(ARGUMENTS)

test: $(DEVELOPMENT_STAMP) ## run the tests that need nothing outside this folder
	@$(BIN)/python -m pytest -q -m "not real_agent and not more_agents and not thorough" -n auto --dist loadfile $(ARGUMENTS)

test-thorough: $(DEVELOPMENT_STAMP) ## run the tests that take minutes: every flipped bit, 50,000 cuts of power
	@$(BIN)/python -m pytest -q -m thorough -n auto $(ARGUMENTS)

test-providers: test-console test-agents ## run the tests that need programs of others: a browser, real agents

test-agents: $(DEVELOPMENT_STAMP) ## run the tests against real agents (installs them into .cache with npm)
	@agent="$$($(BIN)/python -m tools.real_agent)" && \
	  GREENROOM_REAL_AGENT="$$agent" $(BIN)/python -m pytest -q -m real_agent $(ARGUMENTS)

test-providers-all: test-providers $(DEVELOPMENT_STAMP) ## the same, and the tests of agents that are large to install
	@$(BIN)/python -m tools.real_agent --more >/dev/null && \
	  $(BIN)/python -m pytest -q -m more_agents tests/scenarios $(ARGUMENTS)

test-console: $(DEVELOPMENT_STAMP) ## run the tests of the web console in Chromium (as root, installs it with apt-get)
	@$(BIN)/python -m tools.console browser

simulate: $(DEVELOPMENT_STAMP) ## run seeded whole-service simulations with faults: SEEDS=200
	@$(BIN)/greenroom simulate --seeds $(SEEDS) --json $(ARGUMENTS)

torture-quick: $(DEVELOPMENT_STAMP) ## kill and hinder a real daemon for a minute, and check its promises
	@$(BIN)/greenroom torture --sessions 4 --minutes 1 $(ARGUMENTS)

torture: $(DEVELOPMENT_STAMP) ## the same for longer: MINUTES=30
	@$(BIN)/greenroom torture --sessions 12 --minutes $(MINUTES) $(ARGUMENTS)

bench: $(DEVELOPMENT_STAMP) ## measure latency and load, beside a peer where it is installed
	@$(BIN)/python -m bench $(ARGUMENTS)

bench-peers: $(DEVELOPMENT_STAMP) ## install the peer that `make bench` measures beside this program (into .cache, with npm)
	@$(BIN)/python -c 'from bench.sandbox_agent import install; install()'

bench-scale: $(DEVELOPMENT_STAMP) ## measure many sessions: a burst, memory, a start with 10,000, a long history
	@$(BIN)/python -m bench.scale $(ARGUMENTS)

bench-codex: $(DEVELOPMENT_STAMP) ## measure turns and Sides beside Codex's own (after make test-providers, which installs it)
	@$(BIN)/python -m bench.codex && $(BIN)/python -m bench.codex_sides

profile: $(DEVELOPMENT_STAMP) ## where the daemon's time goes while sessions stream: profile.txt, folded stacks
	@$(BIN)/python -m bench.profile $(ARGUMENTS)

bench-startup: $(DEVELOPMENT_STAMP) ## measure a start after an unclean end: 1,000 sessions, 100 MB of log
	@$(BIN)/python -m bench.startup $(ARGUMENTS)

bench-trees: $(DEVELOPMENT_STAMP) ## measure how long the processes of a killed daemon outlive it: 50 trees
	@$(BIN)/python -m bench.process_trees $(ARGUMENTS)

rules: $(DEVELOPMENT_STAMP) ## print which rules and field cases a test carries, which are reserved, and which neither
	@$(BIN)/python -m tools.rules

# --- check: fast things first -----------------------------------------------------------------------------------

check: $(CHECKS) ## run every static check, compare the generated files, build and try the wheel

check-format: $(DEVELOPMENT_STAMP)
	@echo '== format' && $(BIN)/ruff format --check --quiet $(PYTHON_SOURCES)

check-lint: $(DEVELOPMENT_STAMP)
	@echo '== lint' && $(BIN)/ruff check --quiet $(PYTHON_SOURCES)

check-tidy: $(DEVELOPMENT_STAMP)
	@echo '== tidy' && $(BIN)/python -m tools.tidy

check-rules: $(DEVELOPMENT_STAMP)
	@echo '== rule ids' && $(BIN)/python -m tools.rules --unknown-only

check-layers: $(DEVELOPMENT_STAMP)
	@echo '== layers' && $(BIN)/lint-imports --no-cache > .venv/layers.log 2>&1 || { cat .venv/layers.log; exit 1; }

check-dependencies: $(DEVELOPMENT_STAMP)
	@echo '== dependencies' && { $(BIN)/deptry $(PACKAGES) $(CLIENT) && \
	  cd client && ../$(BIN)/deptry greenroom_client; } > .venv/dependencies.log 2>&1 || { cat .venv/dependencies.log; exit 1; }

check-types: $(DEVELOPMENT_STAMP)
	@echo '== types' && $(BIN)/mypy --no-error-summary

check-contract: $(DEVELOPMENT_STAMP)
	@echo '== contract' && $(BIN)/python -m tools.generated contract && $(BIN)/python -m tools.generated client

check-diagrams: $(DEVELOPMENT_STAMP)
	@echo '== diagrams' && $(BIN)/python -m tools.generated diagrams

check-providers: $(DEVELOPMENT_STAMP)
	@echo '== table of providers' && $(BIN)/python -m tools.provider_table

check-news: $(DEVELOPMENT_STAMP)
	@echo '== news fragments' && $(BIN)/python -m tools.news

check-console: $(DEVELOPMENT_STAMP)
	@echo '== console' && $(BIN)/python -m tools.console check test

check-wheel: $(DEVELOPMENT_STAMP)
	@echo '== wheel' && $(BIN)/python -m tools.wheel

# --- generated files --------------------------------------------------------------------------------------------

contract: $(DEVELOPMENT_STAMP) ## write contract/ from the models in runtime/wire, and from it the client's
	@$(BIN)/python -m tools.generated contract --write
	@$(BIN)/python -m tools.generated client --write

diagrams: $(DEVELOPMENT_STAMP) ## write docs/diagrams/ from the transition tables in runtime/lifecycle
	@$(BIN)/python -m tools.generated diagrams --write

providers: $(DEVELOPMENT_STAMP) ## write docs/providers.md from what adapters declare and what the scenarios saw
	@$(BIN)/python -m tools.provider_table --write

console: $(DEVELOPMENT_STAMP) ## build the web console from console/ into runtime/api/console/ (installs its tools with npm)
	@$(BIN)/python -m tools.console write

format: $(DEVELOPMENT_STAMP) ## format the sources and apply safe lint fixes
	@$(BIN)/ruff format --quiet $(PYTHON_SOURCES)
	@$(BIN)/ruff check --quiet --fix $(PYTHON_SOURCES)

lock: $(DEVELOPMENT_STAMP) ## resolve the dependencies again and write requirements/*.lock
	@PYTHON="$(BIN)/python" sh requirements/lock.sh

clean: ## remove everything that can be made again
	@rm -rf $(VENV) .cache console/node_modules build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find $(PACKAGES) client examples tools tests bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# --- the environment --------------------------------------------------------------------------------------------

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo 'Greenroom needs Python 3.11 or newer; "$(PYTHON)" is not. Name one: make PYTHON=/path/to/python3.11' >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(RUNTIME_STAMP): | $(BIN)/python
	@test -e $(DEVELOPMENT_STAMP) || { \
	  echo 'Installing Greenroom into $(VENV) ...' >&2; \
	  $(INSTALL) --require-hashes $(addprefix -r ,$(RUNTIME_LOCKS)) && $(INSTALL) --no-deps --no-build-isolation -e .; }
	@rm -f $(VENV)/.installed-runtime-* && touch $@

$(DEVELOPMENT_STAMP): | $(BIN)/python
	@echo 'Installing Greenroom and its development tools into $(VENV) ...' >&2
	@$(INSTALL) --require-hashes $(addprefix -r ,$(DEVELOPMENT_LOCKS))
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@rm -f $(VENV)/.installed-development-* && touch $@
