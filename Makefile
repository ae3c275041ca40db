# Needs Python >= 3.11 with pip, and make; all else goes into .venv.
# Another interpreter: make test PYTHON=python3.13

PYTHON ?= python3
BIN := .venv/bin
# More flags for asv: --quick, --bench pipeline, or --set-commit-hash=HEAD to keep the results for asv show and compare
ASVFLAGS ?=

.DEFAULT_GOAL := help
.NOTPARALLEL:  # two pips at work in one environment break it
.PHONY: help demo test slow fuzz lint docs library bench bench-compare bench-stable bench-stable-write reproduce reproduce-quick clean

help:
	@echo "make demo    find partitions of real data and print them"
	@echo "make test    all tests but the slow ones"
	@echo "make slow    the slow tests"
	@echo "make fuzz MINUTES=10 SEED=0  random problems of every kind against enumeration; CASE=0:123 runs one again"
	@echo "make lint    ruff and mypy"
	@echo "make docs    these pages and the examples, to docs/_build/html/index.html"
	@echo "make library the kernels as machine code, which calls then use in place of numba's (some minutes; make clean removes it)"
	@echo "make bench   benchmarks (asv); make bench ASVFLAGS=--quick runs each once"
	@echo "make bench-compare BASE=rev BENCH=regex FACTOR=1.1  the same benchmarks at rev and at HEAD; fails where one got worse"
	@echo "make bench-stable            prices and bytes against a committed baseline; -write writes it"
	@echo "make reproduce DATA=folder   tables and figures of the papers, anew (hours)"
	@echo "make reproduce-quick         a small part of each, on data that come with scikit-learn"
	@echo "make clean   delete .venv and all caches"

demo: .venv/.has-demo
	$(BIN)/python docs/demo.py

# Tests of a file, and of a group such as those of Spark, run in one process: tests/conftest.py.
PYTEST_IN_TWO := pytest -n 2 --dist loadgroup --no-loadscope-reorder
test: .venv/.has-test
	$(BIN)/$(PYTEST_IN_TWO) -m "not slow"

slow: .venv/.has-test
	$(BIN)/$(PYTEST_IN_TWO) -m slow

# One process; each case follows from the seed and its number. Exits with 1 if any case fails.
MINUTES ?= 10
SEED ?= 0
CASE ?=
fuzz: .venv/.has-test
	PYTHONPATH=tests $(BIN)/python -m fuzz $(if $(CASE),--case $(CASE),--minutes $(MINUTES) --seed $(SEED))

lint: .venv/.has-test .venv/.has-lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# Any warning fails. Pages and examples that have not changed are not made again, unless the last build did not end well:
# its search index may lack pages, its pages may be half written, and of those that it made nothing would be warned again.
docs: .venv/.has-docs
	@test ! -e docs/_build/unfinished || rm -rf docs/_build
	@mkdir -p docs/_build
	@touch docs/_build/unfinished
	$(BIN)/sphinx-build -b html -n -W --keep-going --quiet -d docs/_build/doctrees docs docs/_build/html
	@rm docs/_build/unfinished
	@echo "open docs/_build/html/index.html"

# Into gridmodl/jit, as an installed gridmodl has it; an edited kernel or criterion is not found there, and compiled by numba.
library: .venv/.has-test
	$(BIN)/python -m gridmodl.building --out gridmodl/jit

# asv keeps a file about the machine in HOME; this one stays with the results. Since 0.6 asv fails if a benchmark does.
bench: .venv/.has-bench
	mkdir -p asv_benchmarks/.asv
	cd asv_benchmarks && export HOME="$$PWD/.asv" && \
	../$(BIN)/asv machine --yes >/dev/null && \
	../$(BIN)/asv run --python=same --show-stderr $(ASVFLAGS)

# Each commit is built and installed from PyPI into an environment of asv's own; what is not committed is not measured.
# Exits with 1 where a benchmark got worse by more than FACTOR, and where none matches BENCH.
BENCH ?= .
FACTOR ?= 1.1
bench-compare: .venv/.has-bench
	@test -n "$(BASE)" || { echo "make bench-compare needs BASE=rev, the commit that HEAD is compared with" >&2; exit 2; }
	@git rev-parse --quiet --verify "$(BASE)^{commit}" >/dev/null || { echo "BASE=$(BASE) is no commit" >&2; exit 2; }
	mkdir -p asv_benchmarks/.asv
	cd asv_benchmarks && export HOME="$$PWD/.asv" && \
	../$(BIN)/asv machine --yes >/dev/null && \
	../$(BIN)/asv continuous --show-stderr --split --no-only-changed --factor $(FACTOR) --bench '$(BENCH)' $(ASVFLAGS) \
		"$$(git rev-parse "$(BASE)^{commit}")" "$$(git rev-parse HEAD)"

# Numbers that depend on no load of the machine, against asv_benchmarks/baseline.json; exits with 1 where one rose.
bench-stable bench-stable-write: .venv/.has-bench
	cd asv_benchmarks && ../$(BIN)/python -m benchmarks.stable $(if $(findstring write,$@),--write)

# Tables and figures of the papers, written to docs/results by the modules of reproduce/; the data are not part of this project.
DATA ?= ../shared/data
REPRODUCTIONS := $(addprefix papers.,data_sets grid_tables coclustering_tables many_classes few_labels density_table \
	unification) grids.grid_experiments
# These ask other libraries, each in an environment of its own: how to make them is written in each.
COMPARISONS := peers.comparison peers.comparison_joint peers.prediction
reproduce: .venv/.has-test .venv/.has-docs
	set -e; for name in $(REPRODUCTIONS); do $(BIN)/python -m reproduce.$$name --data $(DATA) --write; done

# JOBS at a time: most of it is compiling, one core each.
JOBS ?= 2
reproduce-quick: .venv/.has-test .venv/.has-docs
	printf '%s\n' $(REPRODUCTIONS) $(COMPARISONS) | xargs -P $(JOBS) -I NAME \
		sh -c 'echo "--- NAME"; exec $(BIN)/python -m reproduce.NAME --quick'

clean:
	rm -rf .venv .pytest_cache .hypothesis .mypy_cache .ruff_cache .numba_cache asv_benchmarks/.asv build dist
	rm -f gridmodl/jit/kernels.so gridmodl/jit/kernels.json
	rm -rf docs/_build docs/api/generated docs/auto_examples
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# gridmodl itself and one dependency group of pyproject.toml; again whenever that file changes.
.venv/.has-%: pyproject.toml | .venv/.has-pip
	$(BIN)/pip install --quiet --editable . --group $*
	@touch $@

# The pip that comes with Python 3.11 does not know --group (25.1 does).
.venv/.has-pip:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@touch $@
