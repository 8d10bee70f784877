# Every target makes what it needs: a machine with python3 (3.11 or newer) and make is enough.
PYTHON ?= python3
INSPECT ?= inspect-ai# another one on which to try everything: INSPECT=inspect-ai==0.3.285
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# what is built carries the time of its commit, and so has the same bytes wherever it is built
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2> /dev/null || echo 1767225600)

.PHONY: demo test check bench commands dist audit docs test-wheel test-vllm test-real help

help: ## what there is
	@grep -hE '^[a-z-]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 14

demo: .venv/installed ## evaluate the two bundled storytellers, offline
	$(BIN)/genie demo

# what was compiled is kept, also where the environment says otherwise: eight seconds of each of the processes
test: .venv/developing ## run the tests
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n auto --dist worksteal

check: .venv/developing ## formatting, lints, types, layers, the register's lint, what must not appear
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/inspect-evals-lint --all --output-format github
	$(BIN)/pytest -p no:cacheprovider tests/test_forbidden.py

bench: .venv/developing ## print the benchmark tables
	for script in benchmarks/*.py; do $(BIN)/python $$script || exit 1; done

commands: .venv/developing ## run every command of README and docs that can run offline; say which cannot, and why
	$(BIN)/python -m tests.documented

docs: .venv/developing ## build the site of README and docs in build/docs/site; a link that leads nowhere fails
	$(BIN)/python tools/docs_pages.py build/docs
	$(BIN)/zensical build --strict --clean --config-file build/docs/zensical.toml

dist: .venv/developing ## make the source archive, and the wheel out of that, twice: both times the same bytes
	rm -rf dist build/again
	$(BIN)/python -m build
	$(BIN)/python -m build --outdir build/again
	for file in dist/*; do cmp $$file build/again/$${file#dist/} || exit 1; done

audit: ## bill of materials of what the wheel of dist/ brings, in build/audit; fails on known vulnerabilities, and on what could not be looked up
	rm -rf .venv-audit build/audit
	$(PYTHON) -m venv .venv-audit
	mkdir -p build/audit
	.venv-audit/bin/pip install --quiet --upgrade "pip>=25.1"
	.venv-audit/bin/pip install --quiet dist/*.whl
	.venv-audit/bin/pip freeze --exclude genie-inspect > build/audit/requirements.txt
	.venv-audit/bin/pip install --quiet --group release
	.venv-audit/bin/cyclonedx-py requirements build/audit/requirements.txt --output-reproducible -o build/audit/sbom.json
	.venv-audit/bin/pip-audit --strict --requirement build/audit/requirements.txt --no-deps --disable-pip

# the first holds that the wheel's files are the sources'; the others use what it carries: entry points, data, templates
ON_THE_WHEEL := $(addprefix tests/,test_registry.py test_contracts.py test_starter.py tasks cli/test_results.py \
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

.venv/developing: .venv/installed
	$(BIN)/pip install --quiet --group dev
	@touch $@
