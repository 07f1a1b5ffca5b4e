# Camshaft's two commands are `make run` and `make test`; `make help` lists the others.
PYTHON := .venv/bin/python
JOBS := $(shell nproc)

.DEFAULT_GOAL := build
.PHONY: help setup build run lint check test dev asan ubsan tsan cuda fuzz zoo wheels site integrations bench clean

help:  ## list the targets
	@grep -E '^[a-z ]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/:/'

setup:  ## install what is missing: system packages (as root) and .venv
	@scripts/setup.sh

build: setup build/build.ninja  ## build/bin/trtexec, build/lib/libcamshaft.so and the Python module
	@cmake --build --preset release --target product

run: build  ## read the text of a picture with a trained model, beside ONNX Runtime
	@$(PYTHON) examples/ocr.py

lint: setup build/build.ninja  ## layout, names, lengths of lines and files, likely slips
	@$(PYTHON) scripts/lint.py

all: setup build/build.ninja
	@cmake --build --preset release

check: all  ## the tests of two minutes, while working
	@ctest --preset release -j $(JOBS) -LE slow
	@$(PYTHON) -m pytest -q tests/python tests/tools

test: all lint  ## all tests: C++ ones, those that read what comes from outside under sanitizers, Python ones
	@ctest --preset release -j $(JOBS)
	@$(MAKE) --no-print-directory asan
	@$(PYTHON) -m pytest -q tests

dev asan ubsan tsan cuda: %: setup build-%/build.ninja  ## build and C++ tests with that preset
	@cmake --build --preset $@
	@ctest --preset $@ -j $(JOBS)

FUZZ_SECONDS := 600
fuzz: setup build-fuzz/build.ninja  ## mutate models, engines, timing caches and command lines, ten minutes each (needs clang)
	@cmake --build --preset fuzz
	@$(PYTHON) tests/fuzz/make_corpus.py build-fuzz/fuzz_corpus/import_fuzz
	@build-fuzz/bin/make_engines build-fuzz/fuzz_corpus/engine_fuzz
	@cd build-fuzz && for fuzzer in import_fuzz engine_fuzz timing_cache_fuzz options_fuzz; do \
	  mkdir -p fuzz_found/$$fuzzer fuzz_corpus/$$fuzzer && \
	  UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	  ASAN_OPTIONS=$$(test $$fuzzer = engine_fuzz && echo max_allocation_size_mb=64:allocator_may_return_null=1) \
	  bin/$$fuzzer -max_total_time=$(FUZZ_SECONDS) -timeout=20 -max_len=16384 \
	    -malloc_limit_mb=$$(test $$fuzzer = engine_fuzz && echo 4096 || echo 512) \
	    -print_final_stats=1 fuzz_found/$$fuzzer fuzz_corpus/$$fuzzer || exit 1; done

zoo: setup  ## export the full models into zoo/ with PyTorch (downloads gigabytes)
	@scripts/setup.sh venv .venv-zoo scripts/zoo/requirements.txt
	@.venv-zoo/bin/python scripts/zoo/export.py

wheels: build  ## wheels for x86-64 and aarch64, in dist/
	@scripts/wheels.sh

site: build  ## the documentation as a site, in build/site
	@scripts/setup.sh venv .venv-site scripts/requirements-site.txt
	@.venv-site/bin/mkdocs build --strict -q

integrations: all  ## tests with other programs: servers and frameworks (downloads gigabytes)
	@scripts/setup.sh venv .venv-integrations scripts/requirements-integrations.txt
	@scripts/setup.sh venv .venv-optimum scripts/requirements-optimum.txt
	@PYTHONPATH=$(CURDIR)/build/python OPTIMUM_PYTHON=$(CURDIR)/.venv-optimum/bin/python \
	  .venv-integrations/bin/python -m pytest -q tests/integrations

bench: build  ## time the zoo's models beside ONNX Runtime and OpenVINO
	@$(PYTHON) -m pip install -q -r scripts/requirements-bench.txt
	@$(PYTHON) benchmarks/compare.py

clean:  ## remove build folders; environments and zoo/ stay
	rm -rf build build-*

# Configured once; from then on Ninja runs CMake again by itself when a CMake file changes.
build/build.ninja: CMakePresets.json | setup
	@cmake --preset release

build-%/build.ninja: CMakePresets.json | setup
	@cmake --preset $*
