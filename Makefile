# Three commands do everything: `make demo`, `make serve-demo` and `make test`. Each makes .venv first, if it is missing or
# out of date, and installs there what it needs and no more.

PYTHON ?= python3
BIN := .venv/bin
CLIENT := client/pyproject.toml

# A stamp per extra says that it is installed. Where the tools of developers are, all else is.
DEV := .venv/.dev
LAB := $(if $(wildcard $(DEV)),$(DEV),.venv/.lab)
SERVICE := $(if $(wildcard $(DEV)),$(DEV),.venv/.service)

.PHONY: demo serve-demo test check tests kernels docs faults bench format clean

# Checks run beside the compiling of kernels and the first tests: each of the two leaves cores to the other.
MAKEFLAGS += --jobs=2

# Where this is set, every process compiles every module that it imports: Numba alone is two seconds, a hundred times over.
unexport PYTHONDONTWRITEBYTECODE

demo: $(LAB)
	@$(BIN)/ocucb compare

serve-demo: $(SERVICE)
	@$(BIN)/ocucb serve --demo

test: check tests

# Many tests wait for servers and browsers, so there are more workers than cores (tests/conftest.py says how many). Each
# begins with a part of the tests in a row, which share servers, and helps out others at the end.
tests: kernels
	$(BIN)/python -m pytest -n auto --dist worksteal

check: $(DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Once, before several processes of tests would compile the same at the same time: kernels, and the modules of all tests.
kernels: $(DEV)
	$(BIN)/python tests/compile_kernels.py
	@$(BIN)/python -m pytest --collect-only -qq > .cache/collected.txt || { cat .cache/collected.txt; exit 1; }

# The site, of the pages in docs/ and the docstrings: into site/.
docs: $(DEV)
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs site
	@echo "open site/index.html"

# Not part of `make test`: each fault is planted in a copy, and the tests that must find it are run there.
faults: $(DEV) kernels
	$(BIN)/python -m tools.faults

bench: $(DEV)
	$(BIN)/python -m benchmarks

format: $(DEV)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The service's demo asks it with the client, which is installed from its folder.
OF_LAB := --editable ".[lab]"
OF_SERVICE := --editable "./client" --editable ".[service]"
OF_DEV := --editable "./client" --editable ".[dev]"

# uv installs in a tenth of the time of pip; where it fails, as with an index that only pip was told of, pip does it.
# --no-compile: Python compiles what is imported, when it is; all that these packages bring takes as long as the rest.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
define install
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing into .venv"
	@$(PIP) uv
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt $(1) 2> .venv/uv.log || $(PIP) $(1)
	@touch $@
endef

.venv/.lab: pyproject.toml constraints.txt
	$(call install,$(OF_LAB))

.venv/.service: pyproject.toml constraints.txt $(CLIENT)
	$(call install,$(OF_SERVICE))

$(DEV): pyproject.toml constraints.txt $(CLIENT)
	$(call install,$(OF_DEV))

clean:
	rm -rf .venv .cache site jupyter_execute .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
