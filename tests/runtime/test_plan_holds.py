"""A plan and what then came to pass: every method over 200 items of human-judged data, counted by the stub.

Further settings of a method are tried on fewer.
"""

import importlib.util
import json
import sqlite3
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import judgegraph as jg
from judgegraph.calls import Endpoint
from judgegraph.registry import METHODS, factory

COUNT, FEWER = 200, 40
_spec = importlib.util.spec_from_file_location(
    "methods_on_data", Path(__file__).parents[1] / "recorded" / "test_methods_on_data.py"
)
assert _spec is not None
assert _spec.loader is not None
data = importlib.util.module_from_spec(_spec)  # how its items are loaded is theirs
_spec.loader.exec_module(data)

CASES: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "sageval, one critic call": ("sageval", data.summaries, {"criteria": "summary"}),
    "sageval, three critic calls": ("sageval", data.summaries, {"criteria": "summary", "critic_calls": "three"}),
    "sageval, each criterion alone": ("sageval", data.summaries, {"criteria": "summary", "each": True}),
    "coascore": ("coascore", data.stories, {"criteria": "story"}),
    "fennec, single": ("fennec", data.pairs, {"mode": "single", "correct": "at-most"}),
    "fennec, pairs in both orders": ("fennec", data.pairs, {"orders": "both"}),
    "fennec, pairs apart": ("fennec", data.pairs, {"mode": "apart", "correct": "at-most"}),
    "fusion-eval": ("fusion-eval", data.dialogues, {"criteria": "dialogue"}),
    "fusion-eval, selected": ("fusion-eval", data.dialogues, {"criteria": "dialogue", "fuse": "selected"}),
    "fusion-eval, average and direct": (
        "fusion-eval",
        data.dialogues,
        {"criteria": "dialogue", "fuse": "average", "direct": "g-eval"},
    ),
    "g-eval": ("g-eval", data.summaries, {"criteria": "summary"}),
    "llm-score": ("llm-score", data.stories, {"criteria": "story"}),
}
FIRST = {method: name for name, (method, _, _) in reversed(CASES.items())}.values()


def test_every_method_is_planned():
    assert {method for method, _, _ in CASES.values()} == set(METHODS)


def asked(url: str, path: str, method: str = "GET") -> dict[str, Any]:
    address = f"{url.removesuffix('/v1')}{path}"
    with urllib.request.urlopen(urllib.request.Request(address, method=method)) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def addresses(ledger: Path) -> set[bytes]:
    with sqlite3.connect(ledger) as db:
        return {row[0] for row in db.execute("SELECT address FROM replies")}


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", CASES)
def test_a_run_asks_what_its_plan_called_exact_and_of_the_rest_a_number_in_its_range(
    name: str, shared: Path, stub_url: str, tmp_path: Path
):
    method, read, settings = CASES[name]
    samples, ledger = read(shared)[: COUNT if name in FIRST else FEWER], tmp_path / "ledger.sqlite"
    graph = factory(method)(judge=Endpoint(model="openai:stub", base_url=stub_url), **settings)

    asked(stub_url, "/reset", "POST")
    forecast = jg.plan(graph, samples)
    assert asked(stub_url, "/stats")["requests"] == 0, "a plan sends nothing"
    assert forecast.complete

    jg.evaluate(graph, samples, ledger=ledger)
    sent, paid = asked(stub_url, "/stats")["requests"], addresses(ledger)
    assert sent == len(paid)
    certain = forecast.exact_addresses
    assert len(certain) == forecast.total.exact
    assert certain <= paid, "each exact call was made"
    lowest, readable, highest = forecast.total.rest
    assert lowest <= sent - len(certain) <= readable <= highest, "every reply of the stub can be read"

    after = jg.plan(graph, samples, ledger=ledger)
    made = {node.node: node.exact for node in after.nodes}
    for node in forecast.nodes:
        assert node.exact + node.rest[0] <= made.get(node.node, 0) <= node.exact + node.rest[1], node.node
    assert (after.total.missing, after.total.rest) == (0, (0, 0, 0)), "nothing is left to pay"
    assert after.total.exact == after.total.kept == sent
    assert after.total.cost.highest.usd == 0
    assert after.exact_addresses == paid
