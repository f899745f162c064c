PY ?= .venv/bin/python
# tests that kill, stop or measure processes of their own: not beside those that take all of the machine
ALONE = $(addprefix tests/runtime/test_,kill.py faulty.py unclean.py resume.py load.py disk_index.py bridge.py) \
	tests/cli/test_stop.py
# one long test of each kind: a kill, a resume, a stop, an outage, processes that share a ledger, what users see, a notebook
ONE_OF_EACH = tests/runtime/test_kill.py tests/runtime/test_resume.py::test_after_a_kill_only_what_was_not_finished_is_judged \
	tests/cli/test_stop.py::test_a_stopped_run_finishes_what_is_in_flight_and_the_same_command_goes_on \
	tests/http/test_outages.py::test_a_stop_during_an_outage_is_obeyed_at_once_and_nothing_is_lost \
	tests/http/test_shared_ledger.py::test_what_fails_in_one_process_the_other_tries_for_itself \
	tests/golden/test_golden.py \
	"tests/notebooks/test_notebooks.py::test_a_notebook_runs_from_the_top_and_its_stable_outputs_are_fresh[01_sageval.ipynb]"

.venv/bin/python:
	python3 -m venv .venv
	.venv/bin/python -m pip install -q -r requirements.lock -e .

.PHONY: setup check lint types test slow ci long soak real pictures phoenix trl bench docs site notebooks lock clean
setup: .venv/bin/python          ## environment of pinned packages in .venv

check: lint types test           ## what every commit passes

lint:
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types:
	$(PY) -m mypy

test:                            ## the fast suite
	$(PY) -m pytest -n 2 -m "not slow and not long and not soak"

slow:                            ## what takes a second or so each: servers that fail, recordings, the blocks of the docs
	$(PY) -m pytest -n 2 -m "slow and not long and not soak"

ci: lint types                   ## the fast suite and the slow one, collected once
	$(PY) -m pytest -n 2 -m "not long and not soak"

long:                            ## one long test of each kind, pages in a browser: what CI adds
	$(PY) -m pytest -n 2 --dist loadfile -m "long and not soak" $(ONE_OF_EACH)
	$(PY) -m pytest -n 2 -m "long and not soak" tests/browser

soak:                            ## all that `make check` leaves out, whole tables and a run killed a hundred times: an hour
	$(PY) -m pytest -n 2 -m "(slow or long or soak) and not browser" $(ALONE:%=--ignore=%)
	$(PY) -m pytest -n 2 -m browser tests/browser
	$(PY) -m pytest -n 2 --dist loadfile -m "slow or long or soak" $(ALONE)

real:                            ## every method on a real small model, whose server is built in .real once (minutes)
	$(PY) tests/real/llama_server.py .real
	JUDGEGRAPH_REAL=.real $(PY) -m pytest -n 0 -s -m real tests/real

pictures:                        ## docs/pictures anew, by Chromium
	rm -rf build/pictures && mkdir -p build/pictures docs/pictures && ln -s $(CURDIR)/examples build/pictures/examples
	cd build/pictures && $(abspath $(PY)) -m judgegraph run sageval examples/articles.jsonl -c summary -o runs/articles
	cd build/pictures && $(abspath $(PY)) -m judgegraph report runs/articles -o articles.html
	chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1100,980 \
	  --screenshot=docs/pictures/report.png file://$(CURDIR)/build/pictures/articles.html
	cd build/pictures && { $(abspath $(PY)) -m judgegraph view runs/articles --port 8731 & server=$$!; sleep 5; \
	  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1100,980 \
	  --screenshot=$(CURDIR)/docs/pictures/view.png "http://127.0.0.1:8731/runs/0/sample?id=mill-bridge.s2"; \
	  kill $$server; }

site:                            ## docs/ as a site in build/site, checked strictly; installed in .site (60 MB)
	test -x .site/bin/mkdocs || (python3 -m venv .site && .site/bin/pip install -q "mkdocs-material>=9.6,<10" "mkdocstrings[python]>=0.30")
	PYTHONPATH=. NO_MKDOCS_2_WARNING=1 .site/bin/mkdocs build --strict

phoenix:                         ## export to a real Phoenix, installed in .phoenix (about 850 MB)
	test -x .phoenix/bin/phoenix || (python3 -m venv .phoenix && .phoenix/bin/pip install -q arize-phoenix)
	$(PY) -m pytest tests/trace/test_phoenix.py -m long

trl:                             ## train a step on a training set with a real TRL, installed in .trl (about 7 GB)
	test -x .trl/bin/trl || (python3 -m venv .trl && .trl/bin/pip install -q trl datasets)
	$(PY) -m pytest tests/bridging/test_trl.py -m long

bench:                           ## figures of the embedded judge
	$(PY) benchmarks/embedded.py

docs:                            ## docs/commands.md, of the commands
	$(PY) tests/docs/commands_page.py docs/commands.md

notebooks:                       ## the outputs of notebooks/, by running them
	$(PY) tests/notebooks/executed.py

lock:                            ## pin what is installed now
	$(PY) -m pip freeze --exclude-editable | sort -f > requirements.lock

clean:
	rm -rf .venv .phoenix .trl .real build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
