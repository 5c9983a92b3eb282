# Three commands do everything: `make demo`, `make serve-demo` and `make test`. All make .venv first, if it is missing or
# out of date.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: demo serve-demo test check bench format clean

demo: $(STAMP)
	@$(BIN)/ocucb compare

serve-demo: $(STAMP)
	@$(BIN)/ocucb serve --demo

test: check
	$(BIN)/python -m pytest -n 2

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m benchmarks

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	@touch $@

clean:
	rm -rf .venv .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
