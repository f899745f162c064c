"""The configuration of a graph names the packages that its parts come from, with their versions."""

import pytest
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph import registry
from judgegraph.agents.panel import CriticPanel
from judgegraph.graphs import fusion_eval, sageval
from judgegraph.registry.shipped import METHODS, brought_by, installed
from judgegraph.runs.identity import configuration, differences
from judgegraph.types import Sample

MODULE = "strict_part"
DATA = [Sample(id="s", query="Say when it opens.", source="It opens in May.", output="The bridge opens in May.")]


def brought(graph):
    return {key: value for key, value in configuration(graph).items() if key.endswith(".package")}


def node(which):
    graph = StateGraph(jg.EvalState)
    graph.add_node("one", which)
    graph.add_edge(START, "one")
    graph.add_edge("one", END)
    return graph.compile()


@pytest.fixture
def strict(packages):
    more = "\ndef build(judge='embedded'):\n    return Strict(judge=judge)\ndef plain(state):\n    return {}\n"
    points = f"[judgegraph.critics]\nstrict = {MODULE}:Strict\nbuilt = {MODULE}:build\nplain = {MODULE}:plain\n"
    packages.add("acritics", points, **{MODULE: packages.code + more})
    return packages


@pytest.mark.parametrize("name", ["strict", "built", "plain"])
def test_a_critic_of_a_package_is_told_with_its_version(strict, name):
    assert brought(sageval(critic=name)) == {"nodes.critique.package": "acritics 1.0"}


def test_it_is_told_wherever_a_node_holds_it(strict):
    strict.add("tools", "[judgegraph.assistants]\nshout = shout_part:shout\n",
               shout_part="def shout(sample):\n    'Capitals.'\n    return 1.0\n")  # fmt: skip
    made = registry.make("critic", "strict")
    assert brought(sageval(critic=made)) == {"nodes.critique.package": "acritics 1.0"}
    assert brought(sageval(critic=made.__call__)) == {"nodes.critique.package": "acritics 1.0"}
    for critics in (("strict",), (made,)):
        panel = CriticPanel(critics=critics)
        assert brought(sageval(critic=panel)) == {"nodes.critique.package": "acritics 1.0"}
    consulting = dict.fromkeys(("nodes.consult/call.package", "nodes.consult/call_all.package"), "tools 1.0")
    assert brought(fusion_eval(assistants=["chrf", "shout"])) == consulting
    assert brought(node(sageval(critic="strict"))) == {"nodes.one/critique.package": "acritics 1.0"}


@pytest.mark.parametrize("method", METHODS)
def test_what_is_ours_or_ones_own_is_of_no_package(strict, method):
    class Mine:
        async def __call__(self, state): ...

    assert brought(registry.factory(method)()) == {}
    assert brought(sageval(critic=Mine())) == brought(node(lambda state: {})) == {}


def test_a_run_does_not_go_on_with_another_version_of_a_package(strict, tmp_path):
    old = configuration(sageval(critic="strict"))
    jg.evaluate(sageval(critic="strict"), DATA, out=tmp_path / "run")
    metadata = strict.site / "acritics-1.0.dist-info/METADATA"
    metadata.write_text(metadata.read_text().replace("Version: 1.0", "Version: 2.0"))
    installed.cache_clear()
    line = "nodes.critique.package: acritics 1.0 -> acritics 2.0"
    assert differences(old, configuration(sageval(critic="strict"))) == [line]
    with pytest.raises(jg.JudgegraphError, match=line):
        jg.evaluate(sageval(critic="strict"), DATA, out=tmp_path / "run")


def test_of_packages_that_share_a_name_space_the_nearest_is_named(packages):
    packages.add("acme-one", "[judgegraph.critics]\none = acme.one.critics:One\n")
    packages.add("acme-two", "[judgegraph.critics]\ntwo = acme.two:Two\n", version="2.0")
    assert brought_by("acme.one.critics") == brought_by("acme.one.words") == "acme-one 1.0"
    assert brought_by("acme.two") == brought_by("acme.two.inner") == "acme-two 2.0"
    assert brought_by("acme.shared") == "acme-one 1.0 and acme-two 2.0"
    assert brought_by("acmes") == brought_by("") == ""
