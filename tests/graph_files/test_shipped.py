"""The graph files that come with the package give what their twins in Python give, for the same calls."""

from importlib.resources import files
from pathlib import Path

import pytest

import judgegraph as jg
from judgegraph.graph_files.read import GraphSpec
from judgegraph.graphs import coascore, sageval
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample

EXAMPLES = Path(__file__).parents[2] / "examples"
TWINS = {"sageval": sageval, "coascore": coascore}
CLARITY = Criterion(name="Clarity", definition="One reading only.")
SAMPLE = Sample(id="s1", query="A survey on lunch.", output="Hungry?")


def shipped(name):
    return Path(str(files("judgegraph.graph_files").joinpath("shipped", f"{name}.yaml")))


def panel_with_gate():
    """The third file in Python."""
    from langgraph.graph import END, START, StateGraph

    second = jg.Endpoint(model="embedded", temperature=1)
    judges = {"first": "embedded", "second": second}
    graph = StateGraph(jg.EvalState)
    graph.add_node("panel", jg.panel(judges, "llm-score", combine="mean", stage="draft", criteria="summary"))
    graph.add_node("metrics", jg.metric_node("rouge-l"))
    graph.add_node("critique", jg.critique("sage", when=jg.disagree(above=0.1), criteria="summary"))
    graph.add_edge(START, "panel")
    graph.add_edge(START, "metrics")
    graph.add_edge(["panel", "metrics"], "critique")
    graph.add_edge("critique", END)
    return graph.compile(name="panel-with-gate")


TWINS["panel-with-gate"] = panel_with_gate


def results(graph, samples, **settings):
    """Of every sample all that a graph gave; in whichever order its scores were written."""
    items = jg.evaluate(graph, samples, **settings).items
    found = [item.model_dump(exclude={"ms", "scores"}) | {s.key: s for s in item.scores} for item in items]
    return sorted(found, key=lambda one: one["place"])


def every_example(limit):
    """Samples of all files, no two of one id."""
    paths = sorted(EXAMPLES.glob("*.jsonl"))
    return [s.model_copy(update={"id": f"{p.stem}/{s.id}"}) for p in paths for s in jg.load(p, limit=limit)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("limit", [1, pytest.param(None, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", TWINS)
def test_a_file_and_its_twin_give_the_same_of_every_sample(name, limit):
    samples = every_example(limit)
    theirs, ours = results(TWINS[name](), samples), results(jg.load_graph(shipped(name)), samples)
    assert len(ours) == len(samples) >= 8
    assert ours == theirs


def test_the_gate_of_the_shipped_panel_opens_for_some_samples_only():
    found = results(jg.load_graph(shipped("panel-with-gate")), list(jg.load(EXAMPLES / "articles.jsonl", limit=12)))
    reviewed = [bool(one["rectifications"]) for one in found]
    assert any(reviewed)
    assert not all(reviewed)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", TWINS)
def test_a_ledger_of_the_twin_answers_every_call_of_the_file(name, tmp_path):
    samples = list(jg.load(EXAMPLES / "articles.jsonl", limit=6))
    ledger = tmp_path / "ledger.sqlite"
    first = jg.evaluate(TWINS[name](), samples, ledger=ledger)
    again = jg.evaluate(jg.load_graph(shipped(name)), samples, ledger=ledger)
    assert first.manifest["calls"]["requests"] > 0
    assert again.manifest["calls"]["requests"] == 0


CRITIQUE = {
    "rectifications": {"clarity": {"reason": "again", "verdict": "lower", "score": 2}},
    "definitions": [], "new_criteria": [{"name": "Tone", "definition": "d", "reason": "r"}],
}  # fmt: skip
GOOD, BAD = {"clarity": {"reason": "fine", "score": 4}}, "I would rather not."
ASPECTS = {"aspects": [{"name": f"A{i}", "definition": "d"} for i in range(10)]}
RATED = {f"a{i}": {"score": 3} for i in range(10)}
SCRIPTS = {
    "sageval": {"changed": [GOOD] * 5 + [CRITIQUE] * 5, "unread": [BAD] * 40, "critic fails": [GOOD] * 5 + [BAD] * 40},
    "coascore": {
        "scored": [ASPECTS, RATED, {"score": 4, "reason": "r"}], "no aspects": [BAD] * 40,
        "no ratings": [ASPECTS, *[BAD] * 40],
    },
}  # fmt: skip


@pytest.mark.parametrize(("name", "script"), [(n, s) for n, scripts in SCRIPTS.items() for s in scripts])
async def test_scripted_judges_are_asked_the_same_and_read_the_same(name, script):
    ours, theirs = scripted(*SCRIPTS[name][script]), scripted(*SCRIPTS[name][script])
    graph = jg.load_graph(shipped(name), judge=ours, criteria=[CLARITY])
    twin = TWINS[name](theirs, criteria=[CLARITY])
    assert await graph.ainvoke({"sample": SAMPLE}) == await twin.ainvoke({"sample": SAMPLE})
    assert [[m.content for m in call] for call in ours.calls] == [[m.content for m in call] for call in theirs.calls]
    assert ours.asked == theirs.asked
    assert ours.calls


@pytest.mark.parametrize("name", TWINS)
def test_a_shipped_file_says_what_it_is(name):
    graph = jg.load_graph(shipped(name))
    assert graph.get_name() == name
    assert jg.check(graph).findings == ()
    assert set(GraphSpec.model_fields) >= {"about"}


def test_every_shipped_file_can_be_printed_and_has_a_twin_here():
    from judgegraph.cli.lists import EXAMPLES as printed

    lying = {path.stem for path in shipped("sageval").parent.iterdir()}
    assert lying == set(printed) == set(TWINS)
