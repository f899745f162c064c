"""The page of the judge graphs of others: figures, settings and costs are the code's own."""

import ast
import inspect
import re
import shlex
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.calls import Endpoint
from judgegraph.cli import main
from judgegraph.registry import factory, settings_of
from judgegraph.registry.shipped import PEER_METHODS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/judge-graphs.md").read_text()
TITLES = {
    "checkeval": "CheckEval", "mateval": "MATEval", "chateval": "ChatEval", "bsm": "Branch-Solve-Merge", "poll": "PoLL",
}  # fmt: skip
OTHERS = ["anthropic:claude-3-haiku", Endpoint(model="openai:command-r", base_url="http://localhost:1/v1")]


def part(name: str) -> str:
    return TEXT.partition(f"## {TITLES[name]}\n")[2].partition("\n## ")[0]


def test_every_graph_has_its_part_and_no_other_stands_there():
    assert {*TITLES} == {*PEER_METHODS}
    assert re.findall(r"^## (.*)$", TEXT, re.M) == [*TITLES.values()]


@pytest.mark.parametrize("name", PEER_METHODS)
def test_the_figure_is_the_graph_s_own(name: str):
    graph = factory(name)("openai:gpt-4o", judges=OTHERS) if name == "poll" else factory(name)()
    real = {f"{edge.source} > {edge.target}" for edge in graph.get_graph().edges}
    shown: set[str] = set()
    for line in re.findall(r"^    (.*->.*)$", part(name), re.M):
        steps = [[one.strip() for one in step.split("|")] for step in line.split("->")]
        for left, right in pairwise(steps):
            shown |= {f"{a} > {b}" for a in left for b in right}
    assert {arrow.replace("START", "__start__").replace("END", "__end__") for arrow in shown} == real


@pytest.mark.parametrize("name", PEER_METHODS)
def test_the_settings_are_those_of_the_factory(name: str):
    takes, _ = settings_of(factory(name))
    rows = re.findall(r"^\| `(\w+)` \| `([^`]*)` \| (.+) \|$", part(name), re.M)
    assert [row[0] for row in rows] == list(takes)
    signature = inspect.signature(vars(sys.modules[PEER_METHODS[name].partition(":")[0]])["builder"])
    assert [(row[0], ast.literal_eval(row[1])) for row in rows] == [
        (row[0], signature.parameters[row[0]].default) for row in rows
    ]


COSTS = re.findall(r"^\| `([a-z-]+) (examples/\S+)` \| (\d+) \| (\d+) \| `(.*)` \|$", TEXT, re.M)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "data", "n", "calls", "formula"), COSTS)
def test_a_run_costs_what_the_page_says(name, data, n, calls, formula, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    command = shlex.split(f"run {name} {data} -n {n} -o {tmp_path / 'run'}")
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    run = jg.Run.load(tmp_path / "run")
    assert run.manifest["calls"]["replies"] == int(calls)
    letters = {"N": int(n), "C": 4, "B": 5, "Q": len({item.sample.query for item in run.items})}
    assert eval(formula, {"__builtins__": {}}, letters) == int(calls)


def test_every_row_of_the_costs_was_found():
    assert {name for name, *_ in COSTS} >= {*PEER_METHODS}
