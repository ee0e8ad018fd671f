# Every target sets up what it needs on a fresh machine; the second time that costs nothing.
# Written for GNU Make 3.81 and newer, which is what macOS brings.

PYTHON ?= python3
ARGS ?=
LITE ?=
# What pip is asked for. A choice made once (TORCH='torch==2.7.1 --index-url ...') is kept.
TORCH_NOW := $(shell cat .venv/.torch 2>/dev/null)
TORCH ?= $(or $(TORCH_NOW),torch -c constraints.txt)

BIN := .venv/bin
# Most modules of what is installed are never loaded: those that are, are compiled then.
PIP := $(BIN)/python -m pip install --no-input --disable-pip-version-check --no-compile
# Qt for ARM wants glibc 2.39; where that is there, the extra adds what pyproject.toml leaves out.
WINDOW := $(shell [ "$$(uname -m)" != aarch64 ] || getconf GNU_LIBC_VERSION | \
  awk '{ split($$2, v, "."); if (v[1] > 2 || v[2] >= 39) print "window" }')
TORCH_STAMP := $(if $(LITE),,.venv/.torch)

# Qt's own list for a window under X11 (Debian and Ubuntu names).
PACKAGES := libglib2.0-0 libgl1 libegl1 libdbus-1-3 libfontconfig1 libxkbcommon0 \
  libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0
# The tests also press real keys in a real window, on a virtual screen.
test sweep bench: PACKAGES += xvfb xauth xdotool
TOLD := .venv/.told
test sweep bench: TOLD := /dev/null

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help run test sweep bench package gpu-check lint format clean libraries another-torch

help: ## say what there is
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' Makefile
	@echo "Options: ARGS='...' for run, LITE=1 without PyTorch, TORCH='...' another PyTorch,"
	@echo "         PYTHON=python3.12 another Python."

run: .venv/.app libraries $(TORCH_STAMP) ## open the window; ARGS='inspect' and others stay in the terminal
	@$(BIN)/coreopsis $(ARGS)

# PyTorch is installed while the style is checked, which takes as long.
test: .venv/.dev libraries ## check the style, the words, the types, the layers, and run the tests
	@$(MAKE) --no-print-directory lint & lint=$$!; \
	  $(if $(TORCH_STAMP),$(MAKE) --no-print-directory $(TORCH_STAMP) &&) wait $$lint
	$(BIN)/python -m pytest -m "not slow" -n auto --dist worksteal $(ARGS)

SLOW := tests
sweep: .venv/.dev libraries $(TORCH_STAMP) ## run the slow tests: every experiment for real, 2,000 damaged machines, 200 kills
	$(BIN)/python -m pytest -m slow $(SLOW) -o faulthandler_timeout=1200 $(ARGS)

bench: .venv/.dev libraries $(TORCH_STAMP) ## measure the budgets of ARCHITECTURE.md
	$(BIN)/python -m tests.tools.bench $(ARGS)

package: .venv/.package ## make a folder that needs no Python, packed in dist/ in two ways
	$(BIN)/python -m tests.tools.package

# On a bare GPU server nothing is installed: what is there is used, and what is missing is named.
gpu-check: ## check the experiments of a GPU, where there is one; ARGS='full' or 'checks'
	@python=$(BIN)/python; [ -x $$python ] || python=$(PYTHON); $$python -m tests.tools.gpu_check $(ARGS)

# Only files that ask the system for something can ask for what Windows or macOS lacks. All the
# others are left out there, and each run takes half as long.
ASKS := ctypes|fcntl|grp|mmap|msvcrt|os|pty|pwd|resource|select|signal|socket|subprocess|sys
ASKING := grep -rlwE '^ *(import|from) ($(ASKS)|termios|time|tty|winreg)' --include='*.py'

lint: .venv/.dev ## check the style, the words, the types (here, on Windows, on macOS) and the layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python -m tests.tools.plain_words
	$(BIN)/mypy
	for system in win32 darwin; do $(BIN)/mypy --platform $$system --cache-dir .mypy_cache/$$system \
	  --follow-imports silent $$($(ASKING) app widgets experiments machine tests) || exit; done
	$(BIN)/lint-imports

format: .venv/.dev ## put the code into its form
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean: ## remove everything that was made here
	rm -rf .venv build dist *.egg-info
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

# --clear takes the stamps of an environment along whose Python has gone.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo \
	  "Coreopsis needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>/dev/null || echo missing)." \
	  "On Debian and Ubuntu: sudo apt-get install python3.11-venv," \
	  "then: make $(MAKECMDGOALS) PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo \
	  "$(PYTHON) comes without venv here." \
	  "On Debian and Ubuntu: sudo apt-get install $(notdir $(PYTHON))-venv" >&2; exit 1; }
	$(PYTHON) -m venv --clear .venv

.venv/.app: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -c constraints.txt -e '.$(WINDOW:%=[%])'
	@touch $@

# Holds all of .app, which is why it stamps both.
.venv/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -c constraints.txt -e '.[dev$(WINDOW:%=,%)]'
	@touch .venv/.app $@

.venv/.package: pyproject.toml constraints.txt | .venv/.app
	$(PIP) -c constraints.txt -e '.[package$(WINDOW:%=,%)]'
	@touch $@

# The stamp's content is the choice. One of one's own comes without the pins, since another torch
# wants other versions beside it.
.venv/.torch: constraints.txt | $(BIN)/python
	@echo "PyTorch is next: 2.5 to 3 GB to load on Linux (with CUDA), some 200 MB as a CPU build;" \
	  "LITE=1 leaves it out."
	@choice='$(TORCH)'; $(PIP) $$choice || { echo \
	  "PyTorch could not be installed. All that does not need it works with LITE=1." >&2; exit 1; }
	@echo '$(TORCH)' > $@

# Away with the old one first: pip takes the same version from another index for the same thing.
ifneq ($(TORCH),$(TORCH_NOW))
.venv/.torch: another-torch
endif
another-torch:
	@[ ! -e .venv/.torch ] || $(BIN)/python -m pip uninstall -q -y torch
	@rm -f .venv/.torch

# Ubuntu 24.04 lists some packages with t64 at the end, and still installs them by the old name.
LISTED = dpkg-query -W -f='$${db:Status-Status}/$${Package} ' $(PACKAGES) $(PACKAGES:=t64) 2>/dev/null
INSTALLED = $(patsubst %t64,%,$(patsubst installed/%,%,$(filter installed/%,$(shell $(LISTED)))))
MISSING = $(filter-out $(INSTALLED),$(PACKAGES))

# No reason for `run` to stop: the terminal works without a window. Who is not root is told once; a
# test run ends there, because its tests need them.
libraries:
	@missing='$(MISSING)'; { [ -n "$$missing" ] && command -v apt-get; } >/dev/null || exit 0; \
	if [ "$$(id -u)" = 0 ]; then \
	  echo "System libraries for the window: $$missing"; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  apt-get update -qq && apt-get install -qq --no-install-recommends $$missing \
	    || echo "apt-get failed: going on without them."; \
	elif ! echo "$$missing" | cmp -s - $(TOLD); then \
	  echo "Qt lacks some system libraries here; the terminal works without them. To install them:"; \
	  echo "  sudo apt-get update && sudo apt-get install --no-install-recommends $$missing"; \
	  echo "$$missing" > $(TOLD); \
	  [ "$(TOLD)" != /dev/null ] || exit 1; \
	fi >&2 </dev/null
