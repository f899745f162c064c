PY ?= .venv/bin/python
# tests that kill, stop or measure processes of their own: not beside those that take all of the machine
ALONE = $(addprefix tests/runtime/test_,kill.py faulty.py unclean.py resume.py load.py disk_index.py bridge.py) \
	tests/cli/test_stop.py

.venv/bin/python:
	python3 -m venv .venv
	.venv/bin/python -m pip install -q -r requirements.lock -e .

.PHONY: setup check lint types test long soak real phoenix bench docs notebooks lock clean
setup: .venv/bin/python          ## environment of pinned packages in .venv

check: lint types test           ## what every commit passes

lint:
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types:
	$(PY) -m mypy

test:                            ## the fast suite
	$(PY) -m pytest -n 2 -m "not long and not soak"

long:                            ## tests over a minute
	$(PY) -m pytest -n 2 -m "long and not browser" $(ALONE:%=--ignore=%)
	$(PY) -m pytest -n 2 -m browser tests/browser
	$(PY) -m pytest -n 2 --dist loadfile -m long $(ALONE)

soak:                            ## a run killed a hundred times, and the longest simulations: many minutes
	$(PY) -m pytest -m soak -s

real:                            ## every method on a real small model, whose server is built in .real once (minutes)
	$(PY) tests/real/llama_server.py .real
	JUDGEGRAPH_REAL=.real $(PY) -m pytest -n 0 -s -m real tests/real

phoenix:                         ## export to a real Phoenix, installed in .phoenix (about 850 MB)
	test -x .phoenix/bin/phoenix || (python3 -m venv .phoenix && .phoenix/bin/pip install -q arize-phoenix)
	$(PY) -m pytest tests/trace/test_phoenix.py -m long

bench:                           ## figures of the embedded judge
	$(PY) benchmarks/embedded.py

docs:                            ## docs/commands.md, of the commands
	$(PY) -m judgegraph.cli.reference docs/commands.md

notebooks:                       ## the outputs of notebooks/, by running them
	$(PY) tests/notebooks/executed.py

lock:                            ## pin what is installed now
	$(PY) -m pip freeze --exclude-editable | sort -f > requirements.lock

clean:
	rm -rf .venv .phoenix .real build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
