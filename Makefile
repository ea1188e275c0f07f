# proa's commands. `make` alone lists them. Needed beforehand: make and Python 3.11, 3.12, 3.13 or 3.14.

# The first interpreter that proa supports; override with `make env PYTHON=/path/to/python`.
PYTHON ?= $(shell for candidate in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$candidate -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' \
	2>/dev/null && echo $$candidate && break; done)
VENV := .venv
# `python -m tool` instead of `.venv/bin/tool`: it also works after the folder was moved.
RUN := $(VENV)/bin/python -m
# More extras for the environment: `make env EXTRAS=test,demo,cuda`.
EXTRAS ?= test,demo
# More arguments for what a command runs: `make test ARGS="tests/core -k dtype"`.
ARGS ?=
# What `make wheel` compiles for: this machine, x86_64 or aarch64.
MACHINE ?=

# How many random programs: `make fuzz PROGRAMS=500`.
PROGRAMS ?= 10000
PADDLE_PROGRAMS := $(if $(filter command line environment,$(origin PROGRAMS)),$(PROGRAMS),3000)

# Two recipes must never install into one environment at the same time.
.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help env demo test check docs docs-site docs-check bench bench-cpu wheel qemu first-minute fuzz fuzz-paddle parity parity-models ecosystem trajectories clean clean-all

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

env: $(VENV)/.installed-$(EXTRAS) $(VENV)/.native-kernels  ## create .venv, install proa into it, compile its native kernels (again only what changed)

demo: env  ## train, save, reload and draw a digit classifier on real handwritten digits
	@$(VENV)/bin/python examples/digits.py $(ARGS)

test: env  ## check import directions, lint, run the tests (ARGS="-m slow" runs the slow ones)
	@$(VENV)/bin/python tools/check_imports.py
	@$(VENV)/bin/python tools/check_operation_names.py
	@$(RUN) tools.check_structure
	@$(RUN) ruff check -q
	@$(RUN) tests.serving.browser
	@$(RUN) pytest -n 2 -q -m "not slow and not fuzz" $(ARGS)

check: env $(VENV)/.installed-dev  ## check formatting, lint and types
	@$(VENV)/bin/python tools/check_imports.py
	@$(VENV)/bin/python tools/check_operation_names.py
	@$(RUN) tools.check_structure
	@$(RUN) ruff format --check -q || \
		{ echo "Some files are not formatted: run '$(RUN) ruff format'."; exit 1; }
	@$(RUN) ruff check -q
	@$(RUN) tools.stubs --check
	@$(RUN) tools.typed_parameters --check 5
	@$(RUN) tools.user_types
	@$(RUN) pyright --pythonpath $(VENV)/bin/python

docs: env  ## run every example in README.md, docs/ and the docstrings, and the tutorials (ARGS=docs/data.md: these pages alone)
	@$(VENV)/bin/python tools/run_doc_examples.py $(ARGS)
	@$(if $(ARGS),,$(RUN) tools.run_docstrings)
	@$(if $(ARGS),,$(RUN) tools.run_notebooks)

docs-site: env $(VENV)/.installed-docs  ## the documentation as a site in build/site, with a page for each public name
	@$(RUN) tools.site $(ARGS)

docs-check: docs-site  ## every page of the site in a headless browser, at the width of a desk and of a phone
	@$(RUN) tools.site.check

bench: env  ## measure proa side by side with its peers
	@$(RUN) benchmarks $(ARGS)

bench-cpu: env  ## training steps on the CPU beside every form of the peers (ARGS="--only encoder --rounds 3")
	@$(RUN) benchmarks.cpu $(ARGS)

fuzz: env  ## random programs, immediate beside self-compiling and a model on NumPy (PROGRAMS=10000)
	@PROA_FUZZ_PROGRAMS=$(PROGRAMS) $(RUN) pytest -q -m fuzz --timeout=14400 $(ARGS)

fuzz-paddle: env  ## random programs beside real PaddlePaddle, installed into .venv-paddle (PROGRAMS=3000)
	@$(RUN) tests.fuzz --against-paddle --programs $(PADDLE_PROGRAMS) $(ARGS)

parity: env  ## compare every sample with real PaddlePaddle, installed into .venv-paddle (ARGS="--only matmul")
	@$(RUN) tests.parity $(ARGS)

parity-models: env  ## models saved by real PaddlePaddle, loaded and run here (ARGS="--only resnet18 --format json")
	@$(RUN) tests.formats.paddle.models $(ARGS)

ecosystem: env  ## libraries written for Paddle, unchanged, each in an environment of its own (ARGS="--only paddleseg")
	@$(RUN) tests.ecosystem $(ARGS)

trajectories: env  ## loss curves of 200 steps beside real PaddlePaddle's
	@$(RUN) benchmarks.trajectories $(ARGS)

wheel: env $(VENV)/.installed-wheel  ## a wheel with compiled native kernels and a source distribution in dist/ (MACHINE=aarch64: for others)
	@$(RUN) tools.wheel $(MACHINE)

qemu: env  ## random cases of every native kernel for arm64, under qemu (needs qemu-user, g++-aarch64-linux-gnu; ARGS="--cases 100")
	@$(RUN) tests.kernels.emulation.emulated neon $(ARGS)

first-minute: wheel  ## the wheel in an empty environment without a compiler, and the demo in a clone: what a newcomer waits for
	@$(RUN) tools.first_minute wheel dist/proa-*_$(shell uname -m).whl
	@$(RUN) tools.first_minute demo

clean:  ## remove build outputs and caches
	@rm -rf build dist .pytest_cache .ruff_cache .hypothesis
	@find . -path ./$(VENV) -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

clean-all: clean  ## remove the environment too
	@rm -rf $(VENV) .venv-paddle .venv-ecosystem

# The native kernels of this machine, compiled into the cache folder. Without a compiler everything works, on XLA alone.
$(VENV)/.native-kernels: $(wildcard proa/kernels/cpu/native/* proa/kernels/cpu/native/headers/*) | $(VENV)/.installed-$(EXTRAS)
	@echo "Compiling the native CPU kernels (a minute on two cores; PROA_NATIVE=0 leaves it out) ..."
	@$(RUN) proa.kernels.cpu || true
	@touch $@

# The name of the stamp carries the extras; its date says whether pyproject.toml changed since.
# pip is told to print errors only.
$(VENV)/.installed-%: pyproject.toml
	@if [ -z "$(PYTHON)" ]; then \
		echo "proa needs Python 3.11, 3.12, 3.13 or 3.14, and none was found on the PATH."; \
		echo "Install one, or name it: make env PYTHON=/path/to/python3.12"; exit 1; fi
	@echo "Installing proa with [$*] into $(VENV) (minutes the first time) ..."
	@$(VENV)/bin/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); \
		echo "$(PYTHON) could not create $(VENV); on Debian and Ubuntu: apt install python3-venv"; \
		exit 1; }
	@$(RUN) pip install -qq --disable-pip-version-check -e '.[$*]'
	@touch $@
