# Two commands: `make demo` runs the main job on embedded defaults, `make test` passes the tests.
# Each sets up what it needs on a fresh machine with Python 3.11, git and make.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   ?= .venv
BIN    := $(abspath $(VENV))/bin
READY  := $(VENV)/.ready
DEMO   ?= workspace
JOBS   ?= 2
SUDO   := $(shell [ "$$(id -u)" = 0 ] || command -v sudo)

.PHONY: demo test check nightly bench browser clean

$(READY): requirements.txt pyproject.toml
	"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11")'
	"$(PYTHON)" -m venv "$(VENV)"
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check uv
	"$(BIN)/uv" pip install --quiet --compile-bytecode --python "$(BIN)/python" --no-deps -r requirements.txt
	"$(BIN)/uv" pip install --quiet --python "$(BIN)/python" --no-deps --editable .
	touch "$(READY)"

demo: $(READY)
	@[ -d "$(DEMO)/.git" ] || "$(BIN)/almanac" init "$(DEMO)"
	"$(BIN)/almanac" cut --offline --workspace "$(DEMO)"
	"$(BIN)/almanac" verify latest --workspace "$(DEMO)"
	"$(BIN)/almanac" evaluate --release latest --player candidate-checker --setting identification --workspace "$(DEMO)"
	"$(BIN)/almanac" evaluate --release latest --player perfect-memory --workspace "$(DEMO)"
	"$(BIN)/almanac" leaderboard --html "$(DEMO)/leaderboard.html" --workspace "$(DEMO)"

test: $(READY) browser
	"$(BIN)/python" -m pytest -n $(JOBS) --dist loadscope -m "not nightly"

check: $(READY)
	"$(BIN)/ruff" check . && "$(BIN)/ruff" format --check . && "$(BIN)/mypy" && "$(BIN)/lint-imports"

nightly: $(READY) browser
	"$(BIN)/python" -m pytest -n $(JOBS) -m nightly
	HYPOTHESIS_PROFILE=nightly "$(BIN)/python" -m pytest -n $(JOBS) tests/environments/law/test_fuzz.py

bench: $(READY)
	for file in benchmarks/*.py; do "$(BIN)/python" "$$file" || exit 1; done

# The board's page is tested in a real browser.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	  { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq chromium fonts-dejavu-core >/dev/null; } || \
	  { echo "Chromium is needed by the tests: install the package chromium." >&2; exit 1; }

clean:
	rm -rf "$(VENV)" .mypy_cache .ruff_cache .hypothesis
