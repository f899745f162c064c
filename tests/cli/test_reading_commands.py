"""Commands that read what a run left import no LangGraph: they start quickly, and read where it cannot be imported."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).resolve().parents[1] / "golden/folder_of_today/run"
CODE = """
import json, sys
from judgegraph.cli import main
run, out = sys.argv[1:]
found = {}
for command in (
    f"export {run} -o {out}/scores.csv", f"export {run} -o {out}/items.jsonl", f"trace {run}", f"diff {run} {run}",
    f"report {run} -o {out}/page.html", f"meta {run}", f"rank {run}", f"corrected {run} -o {out}/new.jsonl",
):
    try:
        main(command.split())
    except SystemExit:
        pass
    found[command.split()[0]] = sorted({"langgraph", "langchain_core", "langsmith"} & set(sys.modules))
print(json.dumps(found), file=sys.stderr)
"""


@pytest.mark.slow
def test_a_command_that_reads_a_run_imports_no_langgraph(tmp_path: Path):
    run = shutil.copytree(RUN, tmp_path / "run")
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(run), str(tmp_path)], capture_output=True, text=True, timeout=60,
        env={**os.environ, "JUDGEGRAPH_CACHE": str(tmp_path / "cache")},
    )  # fmt: skip
    assert {name: brought for name, brought in json.loads(done.stderr.splitlines()[-1]).items() if brought} == {}
    assert {"scores.csv", "items.jsonl", "page.html"} <= {path.name for path in tmp_path.iterdir()}
