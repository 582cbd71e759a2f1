PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-all test-bare test-older test-old-pip test-wheels fuzz-core wheels docs lint types check bench clean

OLDER := 2.15 2.16
# a crawl with the add-on and with the pipelines, through all kinds of ends, on an older Scrapy
CRAWL_TESTS := tests/crawl/test_scrapy_versions.py tests/crawl/test_crawl.py tests/crawl/test_pipelines.py
# those that look for Chromium, Graphviz or Java
BARE_TESTS = $(shell grep -lE 'hromium|Graphviz|Java ' tests/*/test_*.py)

demo: $(VENV)/.installed ## crawl the bundled news site and show what came out
	$(BIN)/python -m denoise_crawler.demo

# a crawl of each kind stands for the many that test-all runs
SMOKE := tests/crawl/test_one_file_script.py tests/crawl/test_start.py

test: $(VENV)/.installed-dev ## what a change needs: all but long tests, and a few crawls
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not (browser or crawl or fuzz or project or spark)"
	$(BIN)/python -m pytest -n auto --dist worksteal $(SMOKE)

test-all: $(VENV)/.installed-dev ## all tests
	$(BIN)/python -m pytest -n auto --dist worksteal

test-bare: $(VENV)/.installed-dev ## what wants Chromium, Graphviz or Java, with a PATH that has none of them
	rm -rf build/bare-path
	mkdir -p build/bare-path
	for program in $$(echo "$$PATH" | tr : ' ' | xargs -n 1 sh -c 'ls -d "$$0"/*' 2>/dev/null); do \
	  case $${program##*/} in chromium* | google-chrome* | dot | java) ;; *) ln -sf "$$program" build/bare-path/ ;; esac; \
	done
	env -u JAVA_HOME PATH="$(CURDIR)/build/bare-path" $(BIN)/python -m pytest -n auto --dist worksteal $(BARE_TESTS) \
	  >build/bare.txt || { cat build/bare.txt; false; }
	for missing in Chromium Graphviz Java; do grep "^SKIPPED.*$$missing.* installed" build/bare.txt || exit 1; done
	tail -n 1 build/bare.txt

test-older: $(OLDER:%=test-on-%) ## the tests of crawls, on the oldest Scrapies we run on

.PRECIOUS: .venv-%/.installed
test-on-%: .venv-%/.installed
	.venv-$*/bin/python -m pytest -n auto --dist worksteal $(CRAWL_TESTS)

test-old-pip: ## that pip 23.2 can tell what to install for the extractors
	rm -rf build/old-pip
	$(PYTHON) -m venv build/old-pip
	build/old-pip/bin/python -m pip install --quiet --disable-pip-version-check 'pip==23.2'
	build/old-pip/bin/python -m pip install --quiet --disable-pip-version-check --dry-run '.[peers]'

# what says whether the compiled core is there
NODES := -c 'import denoise_crawler.page as page; page.Page.parse("", "<p>x").nodes'
PIP := -m pip --quiet --disable-pip-version-check

test-wheels: ## an installation without a compiler crawls in Python; a wheel with the core uses it
	rm -rf build
	$(PYTHON) -m venv --upgrade-deps build/empty
	CC=/bin/false build/empty/bin/python $(PIP) install '.[commands]'
	cd build/empty && ! DENOISE_CORE=require bin/python $(NODES) 2>require.txt && grep CoreError require.txt
	cd build/empty && bin/python -m denoise_crawler.demo >demo.txt && grep '68 items, 68 with text' demo.txt
	rm -rf build/lib* build/temp* build/bdist*
	build/empty/bin/python $(PIP) wheel --no-deps --wheel-dir build/wheels .
	build/empty/bin/python $(PIP) install --force-reinstall --no-deps build/wheels/*.whl
	cd build/empty && DENOISE_CORE=require bin/python $(NODES)

PAGES := 100000
SANITIZED := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
LIBRARIES = $(shell gcc -print-file-name=libasan.so) $(shell gcc -print-file-name=libubsan.so)

fuzz-core: $(VENV)/.installed-dev ## PAGES mutated pages by the core, built with sanitizers, and in Python: both alike
	rm -rf build/sanitized
	CC=gcc CFLAGS="$(SANITIZED)" $(BIN)/python setup.py --quiet build --build-base build/sanitized \
	  --build-lib build/sanitized/lib
	cd build/sanitized/lib && LD_PRELOAD="$(LIBRARIES)" ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
	  PYTHONPATH="$(CURDIR)" ../../../$(BIN)/python -m benchmarks.fuzz_core --inputs $(PAGES)

wheels: $(VENV)/.installed-dev ## an sdist, a wheel with the core for this machine, one without it for all others; in dist/
	rm -rf build dist
	$(BIN)/python -m build
	rm -rf build
	DENOISE_BUILD=python $(BIN)/python -m build --wheel

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

check: lint types test-all

bench: $(VENV)/.installed-dev ## needs DENOISE_CORPUS, a folder of gold pages
	$(BIN)/python -m benchmarks.quality
	$(BIN)/python -m benchmarks.scale

# a Python brings the pip of its own day, which may be years old
$(BIN)/python:
	$(PYTHON) -m venv --upgrade-deps $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[commands]'
	touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ $(VENV)/.installed

.venv-%/.installed: pyproject.toml
	$(PYTHON) -m venv --upgrade-deps .venv-$*
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test]' 'scrapy==$*.*'
	touch $@

clean:
	rm -rf $(VENV) $(OLDER:%=.venv-%) build dist *.egg-info demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
