"""A graph stops at suggested criteria, a person decides, and it goes on by the new ones."""

import json

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

import judgegraph as jg
from judgegraph.agents.person import Person, decided
from judgegraph.errors import ConfigError, DataError
from judgegraph.graphs import fennec, sageval
from judgegraph.testing import scripted
from judgegraph.types import Asked, Criterion, EvalState, Sample, Score, Suggestion, keyed

CRITERIA = [Criterion(name="Clarity", definition="It is clear.", steps=("Read it.",), scale="1-7"),
            Criterion(name="Tone", definition="Its tone.", scale=["formal", "plain"])]  # fmt: skip
SAMPLE = Sample(id="s1", output="A short text.")
NEW = Suggestion(kind="criterion", criterion="Brevity", definition="It is short.")
CHANGED = Suggestion(kind="definition", criterion="Clarity", definition="A child understands it.")


@pytest.mark.parametrize(
    ("answers", "names", "definition", "said"),
    [
        (["accept", "reject"], ["Clarity", "Tone", "Brevity"], "It is clear.", ["accepted", "rejected"]),
        (["reject", "accept"], ["Clarity", "Tone"], "A child understands it.", ["rejected", "accepted"]),
        ([{"name": "Length"}, {"definition": "Mine."}], ["Clarity", "Tone", "Length"], "Mine.", ["edited", "edited"]),
        ("accept", ["Clarity", "Tone", "Brevity"], "A child understands it.", ["accepted", "accepted"]),
        ("reject", ["Clarity", "Tone"], "It is clear.", ["rejected", "rejected"]),
    ],
)
def test_what_is_decided_makes_the_criteria(answers, names, definition, said):
    criteria, lines = decided(CRITERIA, [NEW, CHANGED], answers)
    assert [c.name for c in criteria] == names
    assert criteria[0].definition == definition
    assert [line.split()[0] for line in lines] == said
    assert {str(c.scale) for c in criteria if not c.scale.labels} == {"1-7"}


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (["accept"], "expected 2 answers, got 1"),
        ({"1": "accept"}, "expected 2 answers, got dict"),
        (["yes", "no"], "answer 1: 'yes'"),
        (["accept", 5], "answer 2: 5"),
        ([{"name": "tone"}, "reject"], "answer 1: there is a criterion 'tone' already"),
        (["reject", {"name": "Tone"}], "answer 2: 'Clarity' keeps its name, as its scores stand under it; leave"),
        (["reject", {"name": "clarity"}], "answer 2: 'Clarity' keeps its name, as its scores stand under it; leave"),
        ([{"scale": "5-1"}, "reject"], "answer 1: scale: "),
        ([{"definitoin": "x"}, "reject"], "answer 1: definitoin: "),
    ],
)
def test_what_is_no_answer_is_told(answers, said):
    with pytest.raises(DataError) as raised:
        decided(CRITERIA, [NEW, CHANGED], answers)
    assert str(raised.value).startswith(said)


def test_the_name_of_a_criterion_may_be_said_again_with_its_new_definition():
    criteria, _ = decided(CRITERIA, [CHANGED], [{"name": "Clarity", "definition": "Mine."}])
    assert [(c.name, c.definition) for c in criteria] == [("Clarity", "Mine."), ("Tone", "Its tone.")]


async def persons(graph, *answers):
    """The criteria shown at each stop, and the state in the end; one answer for all of each stop's suggestions."""
    thread = {"configurable": {"thread_id": "1"}}
    state, shown, left = await graph.ainvoke({"sample": SAMPLE}, thread), [], list(answers)
    while stops := state.get("__interrupt__"):
        assert "wrong" not in stops[0].value
        shown.append([s["criterion"] for s in stops[0].value["suggestions"]])
        state = await graph.ainvoke(Command(resume=left.pop(0)), thread)
    assert not left
    return shown, state


def suggesting(*suggestions, runs=None):
    """Scores the criteria it is told, and suggests."""

    async def judge(state: EvalState) -> EvalState:
        asked = [c.name for c in state.get("criteria") or CRITERIA]
        if runs is not None:
            runs.append(asked)
        scores = keyed(*(Score(criterion=name, agent="judge", value=3.0) for name in asked))
        return {"scores": scores, "suggestions": list(suggestions)}

    graph = StateGraph(EvalState, input_schema=Asked, output_schema=EvalState)
    graph.add_node("judge", judge)
    graph.add_edge(START, "judge")
    graph.add_edge("judge", END)
    return graph.compile(name="suggesting")


def kept(graph):
    return graph.compile(checkpointer=InMemorySaver(serde=jg.serializer()))


def in_a_row(*nodes):
    graph = StateGraph(EvalState)
    graph.add_sequence([(f"n{i}", node) for i, node in enumerate(nodes)])
    graph.add_edge(START, "n0")
    graph.add_edge(f"n{len(nodes) - 1}", END)
    return kept(graph)


@pytest.mark.parametrize(
    ("second", "first_says", "asked", "criteria"),
    [
        ("person", ["accept", "reject"], [["Brevity", "Clarity"]], ["Clarity", "Tone", "Brevity"]),
        ("second", ["accept", "accept"], [["Brevity", "Clarity"]], ["Clarity", "Tone", "Brevity"]),
        ("second", ["accept", "reject"], [["Brevity", "Clarity"], ["Clarity"]], ["Clarity", "Tone", "Brevity"]),
        ("second", ["reject", "accept"], [["Brevity", "Clarity"], ["Brevity"]], ["Clarity", "Tone", "Brevity"]),
    ],
    ids=["the same one", "all accepted", "a definition left", "a criterion left"],
)
async def test_a_person_is_asked_about_what_is_open_alone(second, first_says, asked, criteria):
    graph = in_a_row(suggesting(NEW, CHANGED), Person(criteria=CRITERIA), Person(criteria=CRITERIA, name=second))
    shown, state = await persons(graph, first_says, *(["accept"] for _ in asked[1:]))
    assert shown == asked
    assert [c.name for c in state["criteria"]] == criteria


async def test_another_definition_of_a_criterion_is_a_suggestion_of_its_own():
    other = CHANGED.model_copy(update={"definition": "One reading only."})
    again = in_a_row(suggesting(CHANGED), Person(criteria=CRITERIA), suggesting(other), Person(criteria=CRITERIA))
    shown, state = await persons(again, "reject", "accept")
    assert shown == [["Clarity"], ["Clarity"]]
    assert state["criteria"][0].definition == "One reading only."


async def test_a_definition_of_a_criterion_that_does_not_exist_is_noted_and_nobody_is_asked():
    lost = Suggestion(kind="definition", criterion="Nonexistent", definition="x")
    shown, state = await persons(in_a_row(suggesting(lost), Person(criteria=CRITERIA)))
    assert shown == []
    assert [c.name for c in state["criteria"]] == ["Clarity", "Tone"]
    said = "not asked about definition 'Nonexistent': x: there is no such criterion"
    assert [(n.text, n.status) for n in state["notes"].values()] == [(said, "skipped")]
    shown, state = await persons(in_a_row(suggesting(lost, NEW), Person(criteria=CRITERIA)), ["accept"])
    assert shown == [["Brevity"]]
    with pytest.raises(DataError, match="answer 1: there is no criterion 'Nonexistent' to define; reject it"):
        decided(CRITERIA, [lost], ["accept"])


async def test_a_definition_of_a_criterion_that_is_suggested_beside_it_may_be_accepted_with_it():
    own = Suggestion(kind="definition", criterion="Brevity", definition="Ten words.")
    _, state = await persons(in_a_row(suggesting(NEW, own), Person(criteria=CRITERIA)), ["accept", "accept"])
    assert state["criteria"][-1].definition == "Ten words."
    with pytest.raises(DataError, match="answer 2: there is no criterion 'Brevity'"):
        decided(CRITERIA, [NEW, own], ["reject", "accept"])


async def test_what_an_inner_person_accepted_makes_an_outer_one_judge_nothing_again():
    runs = []
    inner = jg.with_person(suggesting(NEW, CHANGED, runs=runs), criteria=CRITERIA)
    outer = kept(jg.with_person(inner, criteria=CRITERIA, name="second"))
    shown, state = await persons(outer, ["accept", "reject"], ["reject"])
    assert shown == [["Brevity", "Clarity"], ["Clarity"]]
    assert runs == [["Clarity", "Tone"], ["Clarity", "Tone", "Brevity"]]
    assert {n.agent for n in state["notes"].values()} == {"person", "second"}


def test_two_persons_of_one_name_are_refused():
    inner = jg.with_person(sageval())
    with pytest.raises(ConfigError, match="there is a person 'person' in the graph; say name="):
        jg.with_person(inner)
    assert jg.with_person(inner, name="second").compile()


def rated(**values):
    return json.dumps({name: {"reason": "r", "score": value} for name, value in values.items()})


def judge():
    """Evaluator and critic, twice: the second time by the new criteria."""
    kept = {"rectifications": {"clarity": {"reason": "fine", "verdict": "keep", "score": 4}}, "definitions": []}
    new = [{"name": "Brevity", "definition": "It is short.", "reason": "nobody asked"}]
    again = {"rectifications": {"clarity": kept["rectifications"]["clarity"],
                                "brevity": {"reason": "fine", "verdict": "keep", "score": 7}}}  # fmt: skip
    return scripted(
        rated(clarity=4), json.dumps({**kept, "new_criteria": new}),
        rated(clarity=5, brevity=7), json.dumps({**again, "definitions": [], "new_criteria": []}),
    )  # fmt: skip


def asking(model):
    graph = sageval(judge=model, criteria=CRITERIA[:1], samples=1)
    return jg.with_person(graph).compile(checkpointer=InMemorySaver(serde=jg.serializer()))


def finals(state):
    return {s.criterion: s.value for s in state["scores"].values() if s.stage == "final"}


CONFIG = {"configurable": {"thread_id": "1"}}


async def test_it_waits_for_the_person_and_goes_on_with_the_new_criterion():
    model = judge()
    graph = asking(model)
    state = await graph.ainvoke({"sample": SAMPLE}, CONFIG)
    asked = state["__interrupt__"][0].value
    assert (asked["sample"], asked["criteria"]) == ("s1", ["Clarity"])
    assert [s["criterion"] for s in asked["suggestions"]] == ["Brevity"]
    assert json.loads(json.dumps(asked)) == asked  # Studio and HTTP carry it
    assert finals(state) == {"Clarity": 4.0}
    state = await graph.ainvoke(Command(resume=["accept"]), CONFIG)
    assert finals(state) == {"Clarity": 5.0, "Brevity": 7.0}
    assert [c.name for c in state["criteria"]] == ["Clarity", "Brevity"]
    assert len(model.calls) == 4


async def test_a_rejection_ends_it_without_another_call():
    model = judge()
    graph = asking(model)
    await graph.ainvoke({"sample": SAMPLE}, CONFIG)
    state = await graph.ainvoke(Command(resume="reject"), CONFIG)
    assert finals(state) == {"Clarity": 4.0}
    assert len(model.calls) == 2
    assert [n.text for n in state["notes"].values() if n.agent == "person"] == [
        "rejected criterion 'Brevity': It is short."
    ]


async def test_a_wrong_answer_stops_it_again_with_what_was_wrong():
    graph = asking(judge())
    await graph.ainvoke({"sample": SAMPLE}, CONFIG)
    state = await graph.ainvoke(Command(resume=["perhaps"]), CONFIG)
    assert state["__interrupt__"][0].value["wrong"].startswith("answer 1: 'perhaps'")
    state = await graph.ainvoke(Command(resume=[{"definition": "Few words."}]), CONFIG)
    assert [c.definition for c in state["criteria"]] == ["It is clear.", "Few words."]


async def test_it_waits_on_disk_over_the_end_of_a_process(tmp_path):
    sqlite = pytest.importorskip("langgraph.checkpoint.sqlite.aio", reason="skipped: no langgraph-checkpoint-sqlite")
    model, file = judge(), str(tmp_path / "kept.sqlite")
    graph = jg.with_person(sageval(judge=model, criteria=CRITERIA[:1], samples=1))
    async with sqlite.AsyncSqliteSaver.from_conn_string(file) as saver:
        saver.serde = jg.serializer()
        await graph.compile(checkpointer=saver).ainvoke({"sample": SAMPLE}, CONFIG)
    async with sqlite.AsyncSqliteSaver.from_conn_string(file) as saver:
        saver.serde = jg.serializer()
        state = await graph.compile(checkpointer=saver).ainvoke(Command(resume="accept"), CONFIG)
    assert finals(state) == {"Clarity": 5.0, "Brevity": 7.0}


def test_a_graph_that_judges_by_nothing_known_is_refused():
    with pytest.raises(ConfigError, match="say by criteria="):
        jg.with_person(fennec())
    assert jg.with_person(fennec(), criteria="general").compile()
    with pytest.raises(ConfigError, match="got str"):
        jg.with_person("sageval")


def test_every_way_through_is_drawn():
    drawn = jg.with_person(sageval()).compile().get_graph()
    assert {f"{e.source} > {e.target}" for e in drawn.edges} == {
        "__start__ > judge", "judge > ask", "ask > again", "ask > __end__", "again > __end__",
    }  # fmt: skip
