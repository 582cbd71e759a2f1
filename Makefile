PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test docs lint types check bench clean

demo: $(VENV)/.installed ## crawl the bundled news site and show what came out
	$(BIN)/python -m denoise_crawler.demo

test: $(VENV)/.installed-dev ## run the tests
	$(BIN)/python -m pytest -n auto --dist worksteal

docs: $(VENV)/.installed-dev ## the documentation site, in build/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# an installed copy, since mypy does not follow the mapping of pipelines/ and spiders/ in an editable install
types: $(VENV)/.installed-dev
	rm -rf build
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target build/installed .
	cd build/installed && ../../$(BIN)/mypy --config-file ../../pyproject.toml -p denoise_crawler
	rm -rf build

check: lint types test

bench: $(VENV)/.installed-dev ## needs DENOISE_CORPUS, a folder of gold pages
	$(BIN)/python -m benchmarks.quality
	$(BIN)/python -m benchmarks.scale

# older pips than the newest cannot resolve the extras of lxml that some extractors ask for
$(BIN)/python:
	$(PYTHON) -m venv --upgrade-deps $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build dist *.egg-info demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
