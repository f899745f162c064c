"""Studio and LangGraph's server send JSON; every function of langgraph.json takes it."""

import json
from importlib import import_module
from pathlib import Path

import pytest

from judgegraph.errors import DataError
from judgegraph.registry import METHODS, factory
from judgegraph.registry.shipped import PEER_METHODS
from judgegraph.types import Sample

ROOT = Path(__file__).resolve().parents[1]
LISTED = json.loads((ROOT / "langgraph.json").read_text())["graphs"]
INPUT = {"sample": {"id": "1", "query": "Why?", "source": "It rained on Monday.", "output": "Because it rained."}}


async def graph_of(name):
    path, _, function = LISTED[name].partition(":")
    module = import_module(str(Path(path).with_suffix("")).replace("/", "."))
    return await getattr(module, function)()


@pytest.mark.parametrize("name", LISTED)
async def test_json_goes_in_and_the_methods_own_answer_comes_out(name):
    graph = await graph_of(name)
    final = await graph.ainvoke(json.loads(json.dumps(INPUT)))
    alone = await factory(name)().ainvoke({"sample": Sample(**INPUT["sample"])})
    assert final == alone
    assert any(score.status == "ok" for score in final["scores"].values())
    assert graph.get_name() == name


@pytest.mark.parametrize("name", LISTED)
async def test_criteria_come_as_json_too(name):
    final = await (await graph_of(name)).ainvoke({**INPUT, "criteria": [{"name": "Coherence", "scale": "1-7"}]})
    finals = {s.criterion: str(s.scale) for s in final["scores"].values() if s.stage == "final"}
    assert finals["Coherence"].startswith("1-7")


@pytest.mark.parametrize("name", LISTED)
async def test_the_form_that_studio_shows_has_the_fields_of_a_sample(name):
    graph = await graph_of(name)
    schema = graph.get_input_jsonschema()
    assert set(schema["properties"]) == {"sample", "criteria", "task"}
    assert {"id", "output"} <= set(schema["$defs"]["Sample"]["properties"])
    assert "scores" in graph.get_output_jsonschema()["properties"]


async def test_the_method_stands_behind_read():
    arrows = {f"{e.source} > {e.target}" for e in (await graph_of("sageval")).get_graph().edges}
    assert arrows == {"__start__ > read", "read > sageval", "sageval > __end__"}
    assert set(LISTED) == {*METHODS, *PEER_METHODS}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"criteria": []}, "sample: missing; send "),
        ({"sample": "text"}, "sample: expected an object, got str"),
        ({"sample": {"output": "x"}}, "sample.id: Field required"),
        ({"sample": {"id": "1", "output": "x", "outputs": "y"}}, "sample.outputs: Extra inputs"),
        ({"sample": {"id": "1", "output": 5}}, "sample.output: "),
        ({**INPUT, "criteria": "forms"}, "criteria: expected a list of objects, got str"),
        ({**INPUT, "criteria": []}, "criteria: the list is empty"),
        ({**INPUT, "criteria": [{"name": "Flow"}, {"name": "flow"}]}, "criteria: .*2 criteria share one name"),
        ({**INPUT, "criteria": [{"name": "a"}, {"name": "b", "scale": "5-1"}]}, r"criteria\[1\].scale: "),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
async def test_what_is_no_sample_is_told_by_its_field(given, said):
    with pytest.raises(DataError, match=f"^{said}"):
        await (await graph_of("g-eval")).ainvoke(given)


async def test_what_is_wrong_with_the_input_is_told_over_http():
    """By the serializer of LangGraph's server, which hides the messages of errors that are not Python's own."""
    serde = pytest.importorskip("langgraph_api.serde", reason="skipped: langgraph dev comes with the extra studio")
    with pytest.raises(DataError) as caught:
        await (await graph_of("g-eval")).ainvoke({"sample": {"id": "1"}})
    assert serde.default(caught.value) == {"error": "InputError", "message": "sample.output: Field required"}


async def test_values_are_taken_as_they_are():
    sample = Sample(**INPUT["sample"])
    assert (await (await graph_of("g-eval")).ainvoke({"sample": sample}))["scores"]


async def test_an_empty_name_of_a_judge_means_the_embedded_one(monkeypatch):
    monkeypatch.setenv("JUDGEGRAPH_JUDGE", "")
    assert (await (await graph_of("g-eval")).ainvoke(INPUT))["scores"]
