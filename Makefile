PYTHON ?= python3
WORKERS ?= 3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help setup check fmt test test-browser test-model test-npm demo bench docs schema lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup: .venv/ready .venvs/mcp1/ready .venvs/frameworks/ready ## make .venv from the lock, and beside it the 1.x MCP SDK and agent frameworks

.venv/locked: requirements/dev.lock requirements/uv.lock
	$(PYTHON) -c 'import sys; sys.exit("Seatrial needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	@echo 'Installing what requirements/dev.lock names into .venv; this takes a minute.'
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.lock
	$(BIN)/uv pip install --quiet --require-hashes --python $(BIN)/python -r requirements/dev.lock
	touch $@

.venv/ready: .venv/locked pyproject.toml src/seatrial/__init__.py
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

.venvs/mcp1/ready: requirements/mcp1.lock .venv/locked
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venvs/mcp1
	$(BIN)/uv pip install --quiet --require-hashes --python .venvs/mcp1/bin/python -r requirements/mcp1.lock
	touch $@

.venvs/frameworks/ready: requirements/frameworks.lock .venv/locked
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venvs/frameworks
	$(BIN)/uv pip install --quiet --require-hashes --python .venvs/frameworks/bin/python -r requirements/frameworks.lock
	touch $@

check: .venv/ready ## format, lint, types, floors, workflows
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema custom.github-workflows-require-timeout .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml post/action.yml action/*/action.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.gitlab-ci src/seatrial/cli/starter/gitlab-ci.yml
	$(BIN)/actionlint
	$(BIN)/zizmor --offline --no-progress --persona=pedantic .github action.yml post action

fmt: .venv/ready ## format, and fix what the linter can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: setup ## all tests but those with a target of their own, with branch coverage
	SEATRIAL_MCP1_PYTHON=$(CURDIR)/.venvs/mcp1/bin/python \
	SEATRIAL_FRAMEWORKS_PYTHON=$(CURDIR)/.venvs/frameworks/bin/python \
	$(BIN)/pytest -n $(WORKERS) --cov -m 'not browser and not model and not npm'

.venvs/npm/ready: tests/npm/package.json tests/npm/package-lock.json
	mkdir -p .venvs/npm
	cp tests/npm/package.json tests/npm/package-lock.json .venvs/npm/
	npm ci --prefix .venvs/npm --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

test-npm: setup ## real MCP servers from npm behind the gateway, and the schemas in an editor; skipped where there is no Node.js
	@if command -v node >/dev/null && command -v npm >/dev/null; then \
		$(MAKE) .venvs/npm/ready && SEATRIAL_NPM=$(CURDIR)/.venvs/npm $(BIN)/pytest -n $(WORKERS) -m npm tests/npm; \
	else echo 'test-npm: skipped, there is no Node.js (node and npm) on this machine'; fi

test-model: setup ## a small open model plays cases; skipped where SEATRIAL_MODEL_SERVER names no script that serves one
	@if [ -n "$$SEATRIAL_MODEL_SERVER" ]; then $(BIN)/pytest -m model tests/model; \
	else echo 'test-model: skipped, SEATRIAL_MODEL_SERVER names no script that serves a model'; fi

test-browser: setup ## the report in a headless browser; skipped where there is no Chromium
	$(BIN)/pytest -m browser tests/browser

demo: .venv/ready ## the worked example, start to end
	$(BIN)/python examples/demo.py

bench: setup ## measure Seatrial's own speed
	$(BIN)/python benchmarks/run.py

docs: .venv/ready ## write the reference pages that come from the code
	$(BIN)/python docs/generate.py

schema: .venv/ready ## write the JSON Schemas of the documents
	$(BIN)/seatrial schema

COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command 'make lock'

lock: ## resolve the requirements anew
	test -x $(BIN)/uv || $(PYTHON) -m venv .venv && test -x $(BIN)/uv || $(BIN)/pip install --quiet uv
	$(BIN)/$(COMPILE) --upgrade --extra dev pyproject.toml --output-file requirements/dev.lock
	$(BIN)/$(COMPILE) --upgrade --constraint requirements/dev.lock pyproject.toml --output-file requirements/runtime.lock
	$(BIN)/$(COMPILE) --upgrade --constraint requirements/dev.lock requirements/uv.in --output-file requirements/uv.lock
	$(BIN)/$(COMPILE) --upgrade requirements/mcp1.in --output-file requirements/mcp1.lock
	$(BIN)/$(COMPILE) --upgrade requirements/frameworks.in --output-file requirements/frameworks.lock

clean: ## remove what was made here
	rm -rf .venv .venvs build dist htmlcov .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
