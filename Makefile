# The commands of the project. `make report` and `make test` need only Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
PINNED := --constraint requirements.lock
# An active conda environment that has mebnb (environment.yml) is used as it is.
ifneq ($(and $(CONDA_PREFIX),$(wildcard $(CONDA_PREFIX)/bin/mebnb)),)
VENV := $(CONDA_PREFIX)
PYTHON := $(CONDA_PREFIX)/bin/python
PINNED :=
endif
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
BENCH_STAMP := $(VENV)/.bench-installed
BROWSER_STAMP := $(VENV)/.browser-installed
TREES_STAMP := $(VENV)/.trees-installed
MUTATION_STAMP := $(VENV)/.mutation-installed
OLDEST := .venv-oldest
# Python compiles what is imported; pip would compile all that it installs, which takes long.
INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile
# tests/mutation is a program of its own: its import switches the compiler off.
UNIT_TESTS = $(BIN)/python -m pytest tests mebnb --ignore tests/browser --ignore tests/mutation --doctest-modules -n 2 --dist worksteal --durations 20 -q $(UNIT)

# One BLAS thread: the kernels share the cores with each other, and counts stay the same everywhere.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1
# A kernel of this environment wins over one installed for the user.
export JUPYTER_PREFER_ENV_PATH := 1

.PHONY: report test lint test-unit test-notebooks test-oldest test-browser test-large setup store lab bench bench-gpu judgement mutate imbalanced lock clean
.DEFAULT_GOAL := report

setup: $(STAMP)

$(STAMP): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; (3, 11) <= v <= (3, 13) or sys.exit("mebnb needs Python 3.11 to 3.13; this is %d.%d. Name another: make PYTHON=python3.12" % v)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV): about 2 minutes and 2 GB of disk"
	$(BIN)/python $(INSTALL) $(PINNED) --editable '.[test]'
	$(BIN)/python -m mebnb.solvers.warming
	@touch $@

$(TREES_STAMP): $(STAMP)
	$(BIN)/python $(INSTALL) $(PINNED) --editable '.[test,trees]'
	@touch $@

$(BENCH_STAMP): $(STAMP)
	$(BIN)/python $(INSTALL) $(PINNED) --editable '.[test,bench]'
	@touch $@

$(MUTATION_STAMP): $(STAMP)
	$(BIN)/python $(INSTALL) $(PINNED) --editable '.[test,mutation]'
	@touch $@

report: setup
	$(BIN)/mebnb report --out reports

test: lint test-unit test-notebooks

lint: setup
	$(BIN)/ruff check mebnb tests benchmarks
	$(BIN)/ruff format --check mebnb tests benchmarks

test-unit: setup
	$(UNIT_TESTS)

test-notebooks: setup
	$(BIN)/python -m pytest notebooks --nbval --nbval-current-env --nbval-sanitize-with tests/nbval_sanitize.cfg -p no:cacheprovider -n 2 --dist loadfile -q

# The oldest versions that pyproject.toml allows, in an environment of their own.
test-oldest: $(OLDEST)/.installed
	$(subst $(BIN),$(OLDEST)/bin,$(UNIT_TESTS))

$(OLDEST)/.installed: pyproject.toml .ci/oldest.txt
	@test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python $(INSTALL) --constraint .ci/oldest.txt --editable '.[test]'
	@touch $@

$(BROWSER_STAMP): $(STAMP)
	$(BIN)/python $(INSTALL) $(PINNED) --editable '.[test,browser]'
	@touch $@

# The exported pages and JupyterLab in a Chromium that is installed (Debian: apt-get install chromium).
test-browser: $(BROWSER_STAMP)
	$(BIN)/python -m pytest tests/browser -m browser -n 2 --dist loadgroup -q

test-large: setup
	$(BIN)/python -m pytest tests --ignore tests/browser -m large -s

# One fault at a time in the sources, to see whether a test notices: hours for all, or
# make mutate MUTATE='--only solvers.steps' and MUTATE='--every 20' for one mutant in twenty.
mutate: $(MUTATION_STAMP)
	$(BIN)/python tests/mutation/run.py $(MUTATE)

# Run a notebook in place and store it clean: make store NOTEBOOK=notebooks/09_breast_cancer.ipynb
store: setup
	$(BIN)/python -m mebnb.report.storing $(NOTEBOOK)

lab: setup
	@test "$$(id -u)" != 0 || { echo "JupyterLab refuses to run as root. Run make lab as another user, or, in a container of your own: $(BIN)/jupyter lab --allow-root notebooks" >&2; exit 1; }
	$(BIN)/jupyter lab notebooks

bench: $(BENCH_STAMP)
	$(BIN)/python -m benchmarks.run
	$(BIN)/python -m benchmarks.frank_wolfe
	$(BIN)/python -m benchmarks.ellipsoids
	$(BIN)/python -m benchmarks.soft
	$(BIN)/python -m benchmarks.first_call
	$(BIN)/python -m benchmarks.workers
	$(BIN)/python -m benchmarks.scale
	$(BIN)/python -m benchmarks.own_tables

# Needs a CUDA card, and CuPy or PyTorch for it; says so where there is none.
bench-gpu: $(BENCH_STAMP)
	$(BIN)/python $(INSTALL) $(PINNED) --editable '.[test,bench,gpu]'
	$(BIN)/python -m benchmarks.gpu

# The tables of notebook 20: detectors judged on real sets, some of which are downloaded, and on laws.
judgement: setup
	$(BIN)/python -m benchmarks.judgement

# The tables of notebook 16, about a quarter of an hour: mebnb/experiments/rare_classes/results.csv.
imbalanced: $(TREES_STAMP)
	$(BIN)/python -m mebnb.experiments.rare_classes --repeats 10 --out mebnb/experiments/rare_classes/results.csv
	$(BIN)/python -m mebnb.experiments.rare_classes --repeats 10 --standardised --out mebnb/experiments/rare_classes/standardised.csv

lock:
	uv pip compile --universal --python-version 3.11 --all-extras --no-header --no-emit-index-url --no-emit-find-links --upgrade --output-file requirements.lock pyproject.toml
	uv pip compile --universal --python-version 3.11 --all-extras --no-header --no-annotate --no-emit-index-url --no-emit-find-links --generate-hashes --constraint requirements.lock --upgrade --output-file requirements.sha256.lock pyproject.toml
	uv pip compile --python-version 3.11 --extra test --resolution lowest-direct --no-header --no-annotate --no-emit-index-url --no-emit-find-links --upgrade --output-file .ci/oldest.txt pyproject.toml

clean:
	rm -rf .venv .venv-* reports
