# Every target makes what it needs: a machine with python3 (3.11 or newer) and make is enough.
PYTHON ?= python3
INSPECT ?= inspect-ai# another one on which to try everything: INSPECT=inspect-ai==0.3.285
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test check bench commands dist docs test-wheel test-vllm test-real help

help: ## what there is
	@grep -hE '^[a-z-]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 14

demo: .venv/installed ## evaluate the two bundled storytellers, offline
	$(BIN)/genie demo

# what was compiled is kept, also where the environment says otherwise: eight seconds of each of the processes
test: .venv/developing ## run the tests
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n auto --dist worksteal

check: .venv/developing ## formatting, lints, types, layers, what must not appear
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -p no:cacheprovider tests/test_forbidden.py

bench: .venv/developing ## print the benchmark tables
	for script in benchmarks/*.py; do $(BIN)/python $$script || exit 1; done

commands: .venv/developing ## run every command of README and docs that can run offline; say which cannot, and why
	$(BIN)/python -m tests.documented

docs: .venv-docs/installed ## build the site of README and docs in build/docs/site; a link that leads nowhere fails
	.venv-docs/bin/python tools/docs_pages.py build/docs
	.venv-docs/bin/zensical build --strict --clean --config-file build/docs/zensical.toml

dist: .venv/developing ## make the source archive, and the wheel out of that
	rm -rf dist
	$(BIN)/python -m build

# the first holds that the wheel's files are the sources'; the others use what it carries: entry points, data, templates
ON_THE_WHEEL := $(addprefix tests/,test_installed.py test_registry.py test_contracts.py test_starter.py tasks cli/test_results.py \
	populations prompting/test_templates.py engines/test_embedders.py)

test-wheel: .venv/developing ## build the wheel and run on it the tests of what it carries
	rm -rf dist .venv-wheel
	$(BIN)/python -m build --quiet --wheel
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/pip install --quiet --upgrade "pip>=25.1"
	.venv-wheel/bin/pip install --quiet dist/*.whl --group dev
	.venv-wheel/bin/pytest -n auto --dist worksteal $(ON_THE_WHEEL)

test-vllm: .venv/developing ## run the tests that need a real vLLM (VLLM_BASE_URL=http://.../v1, or VLLM_COMMAND and VLLM_FOLDER)
	$(BIN)/pytest tests -m vllm -p no:cacheprovider

test-real: .venv/developing ## run a short evaluation on a real model's server (VLLM_BASE_URL=http://.../v1); minutes on a CPU
	$(BIN)/pytest tests -m real -p no:cacheprovider

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade "pip>=25.1" # the first that reads dependency groups
	$(BIN)/pip install --quiet --editable '.[charts]' "$(INSPECT)"
	@touch $@

.venv-docs/installed: pyproject.toml
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/pip install --quiet --upgrade "pip>=25.1"
	.venv-docs/bin/pip install --quiet --group docs
	@touch $@

.venv/developing: .venv/installed
	$(BIN)/pip install --quiet --group dev
	@touch $@
