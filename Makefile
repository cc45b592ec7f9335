# make run    sets up what is missing and opens the app
# make class  the same, and opens the lessons for a class (docs/teach.md)
# make test   sets up what is missing and runs the tests that need no browser; run it after each change
# make quick  the tests nearest to what changed, in under 90 seconds
# make check  lint, types, these tests and those in a browser; all of it has to pass
# make lock   resolves requirements*.txt into requirements*.lock again; what is pinned there is what gets installed
# make images records the digests of the containers' base images in .env, for compose.yaml (docs/host.md)
# make serve  opens the app to others: HOSTS=class.example.org [ADDRESS=0.0.0.0] [PORT=8501] (docs/host.md)
# also: make setup, make test-browser, make thorough, make bench, make mutants, make audit, make inspect, make licences, make sbom,
#       make release, make check-release, make clean

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null && echo $$p && break; done)
FETCHED_PYTHON := 3.12
UV := uv==0.13.9
TORCH_INDEX := https://download.pytorch.org/whl/cpu
PIP_AUDIT := pip-audit==2.10.1
CYCLONEDX := cyclonedx-bom==7.5.0
COMPILE := UV_CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
	--no-annotate --generate-hashes
INSTALL = $(BIN)/uv pip install --quiet --no-deps --require-hashes

# One process more than there are processors: some tests wait.
PYTEST = $(BIN)/python -m pytest -n $$(($$($(BIN)/python -c 'import os; print(os.cpu_count())') + 1)) --dist loadfile --no-loadscope-reorder
LINT = $(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/codespell core pages docs tools *.md && $(BIN)/mypy \
	&& $(BIN)/python tools/sizes.py

ADDRESS := 127.0.0.1
PORT := 8501

.PHONY: run class serve images quick test test-browser thorough check lint lock setup setup-dev bench mutants inspect audit docs licences sbom release check-release clean

run: $(VENV)/.ready
	@$(BIN)/python -m streamlit run app.py -- --open

class: $(VENV)/.ready
	@$(BIN)/python -m streamlit run app.py -- --open=lessons

# Under a public name the app is hosted: what a visitor could harm the host with is off, also behind a proxy that alone
# reaches it. It listens on loopback until it is told otherwise.
serve: $(VENV)/.ready
	@case "$(HOSTS)" in ""|localhost|127.*) \
		echo "Say by which name people reach it: make serve HOSTS=class.example.org (docs/host.md)" >&2; exit 2;; esac
	@EXPLAIN_HOSTS="$(HOSTS)" $(BIN)/python -m streamlit run app.py --server.address "$(ADDRESS)" --server.port "$(PORT)"

# Tags move; a digest does not. Compose takes exactly what is recorded here, until this is called again.
IMAGES := PYTHON_IMAGE=python:3.12-slim PROXY_IMAGE=caddy:2

images:
	@umask 077; touch .env; for one in $(IMAGES); do name=$${one%%=*}; image=$${one#*=}; \
		docker pull "$$image" >&2; digest=$$(docker image inspect --format '{{range .RepoDigests}}{{println .}}{{end}}' "$$image" \
			| grep "^$${image%%:*}@sha256:" | head -n 1); \
		[ -n "$$digest" ] || { echo "$$image could not be pulled, and .env keeps what it has of it." >&2; exit 1; }; \
		{ grep -v "^$$name=" .env; echo "$$name=$$digest"; } > .env.new; mv .env.new .env; echo "$$name=$$digest"; done

setup: $(VENV)/.ready

setup-dev: $(VENV)/.ready-dev

# Hundreds of files are compiled for the tests, in each of their processes: what the first has compiled the others find,
# wherever Python is told to keep none of it.
quick test test-browser thorough check: export PYTHONDONTWRITEBYTECODE =

quick: $(VENV)/.ready-dev
	@$(BIN)/python -m tools.quick

test: $(VENV)/.ready-dev
	@$(PYTEST) -m "not browser and not thorough"

# In two processes, each with an app and a Chromium of its own.
test-browser: $(VENV)/.ready-dev
	@$(PYTEST) -n 2 -m "browser and not thorough"

# With every hostile text for every parser, all random runs, and the tests that repeat on more of the same kind what
# others assert; then the rest in other orders, with other numbers of workers. Hours.
thorough: $(VENV)/.ready-dev
	@ATTACKS=all $(PYTEST) -m ""
	@for workers in 1 2 4 8; do seed=$$(date +%s); echo "== $$workers workers, --randomly-seed=$$seed"; \
		$(PYTEST) -n $$workers --randomly-seed=$$seed -m "not thorough" || exit 1; done

lint: $(VENV)/.ready-dev
	@$(LINT)

# In one run: while the browsers wait, the other tests go on. Mypy takes a single processor, so lint runs beside them.
check: $(VENV)/.ready-dev
	@{ $(LINT); } & lint=$$!; $(PYTEST) -m "not thorough"; tests=$$?; \
		wait $$lint || { echo "lint failed, see above" >&2; exit 1; }; exit $$tests

bench: $(VENV)/.ready-dev
	@failed=; for script in benchmarks/*.py; do \
		case $$script in */cell.py) few="2000 200";; */papers.py) few="--whole 20 --few 2";; \
			*/desk.py) few="5000 --rounds 1";; *) few=;; esac; \
		echo "== $$script $$few"; $(BIN)/python $$script $$few || failed="$$failed $$script"; \
	done; [ -z "$$failed" ] || { echo "Did not come to their end:$$failed" >&2; exit 1; }

# All are resolved for every system and every Python we take. `make lock UPGRADE=--upgrade` takes newer ones where
# requirements*.txt leave them open.
lock: $(VENV)/.$(UV)
	@$(COMPILE) $(UPGRADE) requirements.txt -o requirements.lock
	@$(COMPILE) $(UPGRADE) -c requirements.lock requirements-cluster.txt -o requirements-cluster.lock
	@$(COMPILE) $(UPGRADE) -c requirements.lock -c requirements-cluster.lock requirements-dev.txt -o requirements-dev.lock
	@$(COMPILE) $(UPGRADE) requirements-docs.txt -o requirements-docs.lock
	@echo "$(UV)" | $(COMPILE) - -o requirements-uv.lock
	@echo "$(PIP_AUDIT)" | $(COMPILE) $(UPGRADE) - -o requirements-audit.lock
	@echo "$(CYCLONEDX)" | $(COMPILE) $(UPGRADE) - -o requirements-sbom.lock
	@sed -n 's/^torch==.*/&+cpu/p' requirements.txt | UV_HTTP_TIMEOUT=15 $(COMPILE) --no-deps --default-index $(TORCH_INDEX) \
		- -o requirements-torch.lock || echo "requirements-torch.lock stays as it is: $(TORCH_INDEX) cannot be reached." >&2

# The documentation site, in site/. Its packages are installed for this alone.
docs: $(VENV)/.$(UV)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/uv run --quiet --isolated --no-project --with-requirements requirements-docs.lock \
		mkdocs build --quiet --strict $(DOCS)

# How many small changes of the code the tests notice; make mutants FILES="parse metrics" for some of the files. Hours.
mutants: $(VENV)/.ready-dev
	@$(BIN)/python benchmarks/mutants/run.py $(FILES)

# Known faults of what the locks pin. Nothing fails where no database of them can be reached: it says so.
audit: $(VENV)/audit/.ready
	@$(BIN)/python tools/audit.py $(VENV)/audit/bin/pip-audit requirements-dev.lock

# In environments of their own: the app needs none of them.
$(VENV)/%/.ready: requirements-%.lock | $(VENV)/.$(UV)
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(VENV)/$*
	@$(INSTALL) --python $(VENV)/$*/bin/python -r requirements-$*.lock
	@touch $@

# The tests in which Inspect reads our logs and runs our scorers, with its newest version. Others pin one.
inspect: $(VENV)/.ready-dev
	@INSPECT_AI=inspect_ai $(BIN)/python -m pytest -n 0 -m thorough tests/core/report/test_inspect_log.py tests/core/test_inspect_solvers.py

licences: $(VENV)/.ready-dev
	@$(BIN)/python tools/licences.py > docs/licences.md

# What the app is made of, with versions and digests, as CycloneDX lists it: from the lock, so the same each time.
sbom: $(VENV)/sbom/.ready
	@$(VENV)/sbom/bin/cyclonedx-py requirements --output-reproducible --of JSON -o sbom.json requirements.lock

# Wheel, bill of materials, notes and sums in dist/explain-yourself-VERSION; then what check-release checks of any release.
release: $(VENV)/.ready-dev $(VENV)/sbom/.ready
	@$(VENV)/sbom/bin/python tools/release.py make dist $(BIN)

check-release: $(VENV)/.$(UV) $(VENV)/sbom/.ready
	@$(VENV)/sbom/bin/python tools/release.py check "$(RELEASE)" $(BIN)

# Where no Python fits, uv brings one: with any older Python that can install uv, or with a uv that is there already.
$(VENV)/bin/python:
	@if [ -n "$(PYTHON)" ]; then \
		echo "Setting up $(VENV) with $(PYTHON); this happens once."; \
		$(PYTHON) -m venv --clear $(VENV); exit; fi; \
	echo "Explain Yourself needs Python 3.11, 3.12, 3.13 or 3.14, and none of them is on the PATH."; \
	echo "Setting up $(VENV) with Python $(FETCHED_PYTHON) by uv, which fetches it from github.com (about 30 MB) unless it has it."; \
	if ! uv=$$(command -v uv); then \
		{ python3 -m venv $(VENV).uv && $(VENV).uv/bin/pip install --quiet --require-hashes -r requirements-uv.lock; } >&2 || { rm -rf $(VENV).uv; \
			echo "There is no uv, and no Python 3.8 or newer to install it with. Install a Python (https://www.python.org/downloads/)" >&2; \
			echo "or uv (https://docs.astral.sh/uv/), or name a Python: make PYTHON=/path/to/python3.12" >&2; exit 1; }; \
		uv=$(VENV).uv/bin/uv; fi; \
	$$uv venv --quiet --seed --clear --python $(FETCHED_PYTHON) $(VENV); made=$$?; rm -rf $(VENV).uv; \
	[ $$made = 0 ] || { echo "No Python could be fetched. Install one, or name it: make PYTHON=/path/to/python3.12" >&2; exit 1; }

$(VENV)/.$(UV): | $(VENV)/bin/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.lock
	@touch $@

# PyTorch first and by itself. The lock names everything else, so nothing is drawn in that it does not name (--no-deps),
# and nothing is taken whose bytes are not those that the lock names (--require-hashes).
$(VENV)/.ready: requirements.lock requirements-torch.lock tools/pytorch.py | $(VENV)/.$(UV)
	@$(BIN)/python tools/pytorch.py
	@$(INSTALL) --compile-bytecode --python $(BIN)/python -r requirements.lock
	@touch $@

$(VENV)/.ready-dev: requirements-dev.lock $(VENV)/.ready
	@$(INSTALL) --compile-bytecode --python $(BIN)/python -r requirements-dev.lock
	@touch $@

clean:
	rm -rf $(VENV) $(VENV).uv .pytest_cache .mypy_cache .ruff_cache .hypothesis
