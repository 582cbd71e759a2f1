PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := -m pip --quiet --disable-pip-version-check

.PHONY: demo core test test-all test-random test-bare test-checked test-older test-old-pip test-wheels coverage fuzz-core
.PHONY: wheels docs lint types check bench clean

# an environment with all that the tests need, and a core that is as new as its sources
READY := $(VENV)/.installed-dev $(VENV)/.core
CORE_SOURCES := setup.py $(wildcard denoise_crawler/kernel/*.pyx denoise_crawler/kernel/*.pxi)

OLDER := 2.15 2.16
# Scrapy as it is developed
SCRAPY_HEAD := scrapy@https://github.com/scrapy/scrapy/archive/refs/heads/master.tar.gz
# a crawl with the add-on and with the pipelines, through all kinds of ends, on another Scrapy
CRAWL_TESTS := $(addprefix tests/crawl/test_,scrapy_internals.py politeness.py crawl.py pipelines.py scripts.py item_fields.py)
# It does not wait for the compiler: the core changes no item, only the time that a crawl takes.
demo: $(VENV)/.installed ## crawl the bundled news site and show what came out
	@$(BIN)/python -m examples.demo_site
	@$(MAKE) --no-print-directory --question core || printf '\n%s\n' \
	  'Pages were cleaned without the compiled core, which takes half a minute to compile: make core'

core: $(VENV)/.core ## compile the core again if a source of it is newer

test: $(READY) ## what a change needs: all but long tests, with few examples each, and a crawl
	@echo 'Running the tests that most changes need, 7 CPU minutes; each minute a line says how far'
	$(BIN)/python -m pytest -n auto --dist worksteal --hypothesis-profile few \
	  -m "smoke or not (browser or crawl or fuzz or process or project or spark)"

test-all: $(READY) ## all tests
	@echo 'Running all tests; each minute a line says how far'
	$(BIN)/python -m pytest -n auto --dist worksteal

test-random: $(READY) ## the tests of properties, with a thousand new examples each; a failure says how to repeat it
	$(BIN)/python -m pytest -n auto --dist worksteal -m hypothesis --hypothesis-profile random

test-bare: $(READY) ## what wants Chromium or Java, with a PATH that has none of them
	rm -rf build/bare-path
	mkdir -p build/bare-path
	for program in $$(echo "$$PATH" | tr : ' ' | xargs -n 1 sh -c 'ls -d "$$0"/*' 2>/dev/null); do \
	  case $${program##*/} in chromium* | google-chrome* | java) ;; *) ln -sf "$$program" build/bare-path/ ;; esac; \
	done
	env -u JAVA_HOME PATH="$(CURDIR)/build/bare-path" $(BIN)/python -m pytest -m "browser or spark" \
	  >build/bare.txt || { cat build/bare.txt; false; }
	for missing in Chromium Java; do grep "^SKIPPED.*$$missing.* installed" build/bare.txt || exit 1; done
	tail -n 1 build/bare.txt

test-older: $(OLDER:%=test-on-%) ## on the oldest Scrapies we run on: the tests of crawls, with the extra [test] alone

.PRECIOUS: .venv-%/.installed
test-on-%: .venv-%/.installed $(VENV)/.core
	.venv-$*/bin/python -m pytest --collect-only >.venv-$*/collected.txt || { tail -n 50 .venv-$*/collected.txt; false; }
	.venv-$*/bin/python -m pytest -n auto --dist worksteal $(CRAWL_TESTS)

test-old-pip: ## that pip 23.2 can tell what to install for the extractors
	rm -rf build/old-pip
	$(PYTHON) -m venv build/old-pip
	build/old-pip/bin/python $(PIP) install 'pip==23.2'
	DENOISE_BUILD=python build/old-pip/bin/python $(PIP) install --dry-run '.[peers]'

# what says whether the compiled core is there
NODES := -c 'import denoise_crawler.page as page; page.Page.parse("", "<p>x").nodes'

# the first installation has a folder of its own to build in, where nothing is compiled yet
test-wheels: $(VENV)/.core ## an installation without a compiler crawls in Python; the wheel with the core uses it
	rm -rf build/empty build/uncompiled
	$(PYTHON) -m venv --upgrade-deps build/empty
	printf '[build]\nbuild_base = build/uncompiled\n' >build/empty/build.cfg
	CC=/bin/false DIST_EXTRA_CONFIG=build/empty/build.cfg build/empty/bin/python $(PIP) install '.[commands]'
	cd build/empty && ! DENOISE_CORE=require bin/python $(NODES) 2>require.txt && grep CoreError require.txt
	rm -rf build/empty/examples && cp -r examples build/empty/examples
	cd build/empty && bin/python -m examples.demo_site >demo.txt && grep '68 items, 68 with text' demo.txt
	build/empty/bin/python $(PIP) install --force-reinstall --no-deps build/wheels/*.whl
	cd build/empty && DENOISE_CORE=require bin/python $(NODES)

# in Python, since nothing sees which lines of compiled code run
coverage: $(VENV)/.installed-dev ## which lines of the package no test runs; in build/coverage
	DENOISE_CORE=off $(BIN)/python -m pytest -n auto --dist worksteal --ignore tests/kernel -m "not (browser or project or spark)" \
	  --cov --cov-report=html:build/coverage --cov-report=term:skip-covered

# tests of methods, and of both roads
CHECKED_TESTS := tests/kernel tests/methods

test-checked: $(VENV)/.installed-dev ## CHECKED_TESTS with a kernel that looks at every index, built aside
	rm -rf build/checked
	DENOISE_BUILD=checked $(BIN)/python setup.py --quiet build --build-base build/checked --build-lib build/checked/lib
	cd build/checked/lib && PYTHONPATH="$(CURDIR)" DENOISE_CORE=require ../../../$(BIN)/python -m pytest \
	  -c "$(CURDIR)/pyproject.toml" --rootdir "$(CURDIR)" --import-mode append -n auto --dist worksteal \
	  $(CHECKED_TESTS:%=$(CURDIR)/%)

PAGES := 100000
SANITIZED := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
LIBRARIES = $(shell gcc -print-file-name=libasan.so) $(shell gcc -print-file-name=libubsan.so)

fuzz-core: $(VENV)/.installed-dev ## PAGES mutated pages by the core, built with sanitizers; 2,000 in Python too: both alike
	rm -rf build/sanitized
	CC=gcc CFLAGS="$(SANITIZED)" $(BIN)/python setup.py --quiet build --build-base build/sanitized \
	  --build-lib build/sanitized/lib
	cd build/sanitized/lib && LD_PRELOAD="$(LIBRARIES)" ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
	  PYTHONPATH="$(CURDIR)" ../../../$(BIN)/python -m benchmarks.fuzz_core --inputs $(PAGES)

wheels: $(VENV)/.installed-dev ## an sdist, a wheel with the core for this machine, one without it for all others; in dist/
	rm -rf build/lib dist
	$(BIN)/python -m build
	DENOISE_BUILD=python $(BIN)/python -m build --wheel

docs: $(VENV)/.installed-docs ## the documentation site, in build/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# an installed copy, since mypy does not follow the mapping of pipelines/ and spiders/ in an editable install
types: $(VENV)/.installed-dev
	rm -rf build/lib build/installed
	DENOISE_BUILD=python $(BIN)/python $(PIP) install --no-deps --target build/installed .
	cd build/installed && ../../$(BIN)/mypy --config-file ../../pyproject.toml -p denoise_crawler

check: lint types test-all

bench: $(READY) ## needs DENOISE_CORPUS, a folder of gold pages
	$(BIN)/python -m benchmarks.quality
	$(BIN)/python -m benchmarks.scale

# a Python brings the pip of its own day, which may be years old
$(BIN)/python:
	@echo 'Making $(VENV), an environment of its own for all that follows'
	@$(PYTHON) -m venv --upgrade-deps $(VENV)

# without the core, which has a rule of its own; and without the warning that a folder here has the package's name
EDITABLE := DENOISE_BUILD=python PYTHONWARNINGS=ignore

# Python compiles a module when it is first used.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo 'Installing Scrapy and what else a crawl needs'
	@$(EDITABLE) $(BIN)/python $(PIP) install --no-compile -e '.[commands]'
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	@echo 'Installing what the tests, the benchmarks and the documentation need: some 150 packages'
	@$(EDITABLE) $(BIN)/python $(PIP) install -e '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml | $(BIN)/python
	@echo 'Installing what the documentation needs'
	@$(EDITABLE) $(BIN)/python $(PIP) install -e '.[docs]'
	@touch $@

# One wheel is built, in a clean environment, and only what changed is compiled. All environments here use its modules.
$(VENV)/.core: $(CORE_SOURCES) pyproject.toml | $(BIN)/python
	@echo 'Compiling the core: half a minute of CPU time; later, only what changed'
	@mkdir -p build && find build -path 'build/lib*' -type f ! -name '*.so' -delete
	@rm -rf build/wheels
	@$(BIN)/python $(PIP) wheel --no-deps --wheel-dir build/wheels .
	@find denoise_crawler -name '*.so' -delete
	@$(BIN)/python -c '$(TAKE_MODULES)' build/wheels/*.whl
	@touch $@

TAKE_MODULES := import sys, zipfile; wheel = zipfile.ZipFile(sys.argv[1]); \
  made = [name for name in wheel.namelist() if name.endswith(".so")]; wheel.extractall(members=made); \
  print(f"{len(made)} modules are compiled" if made else "There is no C compiler: pages are cleaned in Python, more slowly")

.venv-%/.installed: pyproject.toml
	$(PYTHON) -m venv --upgrade-deps .venv-$*
	$(EDITABLE) .venv-$*/bin/python $(PIP) install -e '.[test]' $(if $(filter head,$*),'$(SCRAPY_HEAD)','scrapy==$*.*')
	touch $@

clean:
	rm -rf $(VENV) .venv-* build dist *.egg-info demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
