"""Every value is checked where it enters a run: wrong agents, each with the node, key and cure that it is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Overwrite, Send
from pydantic import BaseModel
from typing_extensions import TypedDict

import judgegraph as jg
from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.sage import Rectify
from judgegraph.graphs import llm_score
from judgegraph.testing import scripted
from judgegraph.trace.record import SPANS, recorded_traces
from judgegraph.types import (
    Comparison,
    Correction,
    Criterion,
    EvalState,
    Finding,
    Note,
    Rectification,
    Sample,
    Scale,
    Score,
    Suggestion,
    keyed,
    merged,
)

CLARITY = Criterion(name="Clarity", definition="It is clear.", scale=Scale.of("1-5"))
SAMPLE = Sample(id="s1", query="q", output="A short and clear text about nothing much, in ten words.")
FINE = Score(criterion="Clarity", agent="mine", value=4, scale=CLARITY.scale)
KEY = FINE.key


def line(*nodes: tuple[str, Any], state: Any = EvalState) -> Any:
    """One node after the other."""
    made = StateGraph(state)
    for name, node in nodes:
        made.add_node(name, node)
    made.add_edge(START, nodes[0][0])
    for (one, _), (other, _) in pairwise(nodes):
        made.add_edge(one, other)
    made.add_edge(nodes[-1][0], END)
    return made.compile()


def writes(update: Any) -> Any:
    """A node that returns this."""

    async def node(state: Any) -> Any:
        return update

    return node


@dataclass(frozen=True)
class Judge:
    """An agent of one's own, whose criteria are known."""

    update: Any
    criteria: tuple[Criterion, ...] = field(default=(CLARITY,))

    async def __call__(self, state: EvalState) -> EvalState:
        return self.update


def score(**changed: Any) -> Score:
    """As who changes a copy has it: pydantic does not look."""
    return FINE.model_copy(update=changed)


class Fields(BaseModel):
    scores: Any


class Loose(TypedDict, total=False):
    sample: Any
    scores: Any
    overall: Any
    mine: Any


WRONG: list[tuple[str, Any, str, str]] = [  # what is wrong, what the node returns, key, cure
    ("off its own scale", {"scores": keyed(score(value=80.0))}, f"scores['{KEY}']: 80.0 is not on the scale 1-5",
     "scale= the one it is on"),
    ("off the criterion's scale", {"scores": keyed(score(value=80.0, scale=None))},
     "80.0 is not on the scale 1-5", "write a value of that scale"),
    ("another scale", {"scores": keyed(score(value=80.0, scale=Scale.of("0-100")))},
     "its scale is 0-100, and criterion 'Clarity' is judged on 1-5", "give the criterion another name"),
    ("nan", {"scores": keyed(score(value=float("nan")))}, "its value nan is no number", "write a float"),
    ("infinite", {"scores": keyed(score(value=float("inf")))}, "its value inf is no number", "write a float"),
    ("a text for a number", {"scores": keyed(score(value="4"))}, "its value '4' is no number", "write a float"),
    ("a truth value", {"scores": keyed(score(value=True))}, "its value True is no number", "write a float"),
    ("no label of its scale", {"scores": keyed(score(value=None, label="so so", scale=Scale.of(["yes", "no"]),
                                                     criterion="Fit"))},
     "'so so' is none of yes / no", "write a value of that scale"),
    ("ok without an answer", {"scores": keyed(score(value=None))}, "its status is 'ok' and it has 0 answers",
     "an ok score has one value or one label"),
    ("failed with an answer", {"scores": keyed(score(status="refused"))}, "its status is 'refused'",
     "any other has none"),
    ("no status", {"scores": keyed(score(status="bad"))}, "'bad' is no status", "write one of abstained"),
    ("shares of more than one", {"scores": keyed(score(distribution={"4": 0.9, "5": 0.9}))},
     "its distribution sums to 1.8", "share of 1"),
    ("counts for shares", {"scores": keyed(score(distribution={"4": 3, "5": 2}))},
     "a share of its distribution is no number from 0 to 1", "share of 1"),
    ("shares of no point", {"scores": keyed(score(distribution={"9": 1.0}))},
     "'9' in its distribution is not on the scale 1-5", "leave distribution out"),
    ("no probability", {"scores": keyed(score(unseen=3))}, "unseen=3 is no probability", "from 0 to 1"),
    ("a number for a score", {"scores": {KEY: 4.0}}, "which is a float and no Score", "keyed(Score("),
    ("a dict for a score", {"scores": {KEY: FINE.model_dump()}}, "which is a dict and no Score", "keyed(Score("),
    ("a list of scores", {"scores": [FINE]}, "scores, which is a list and no mapping", "write scores=keyed(Score("),
    ("one score", {"scores": FINE}, "scores, which is a Score and no mapping", "keyed(Score("),
    ("a key of one's own", {"scores": {"Clarity": FINE}}, f"whose own key is '{KEY}'", "by keyed(Score(...))"),
    ("an undeclared key", {"score": keyed(FINE)}, "'score', a key that the graph's state does not declare",
     "did you mean 'scores'?"),
    ("no mapping", [FINE], "returned a list", "return a mapping of keys of the state"),
    ("a number", 4.0, "returned a float", "return a mapping of keys of the state"),
    ("a text for overall", {"overall": "4"}, "overall = '4': it is no number", "write a float, or None"),
    ("nan for overall", {"overall": float("nan")}, "overall = nan: it is no number", "write a float, or None"),
    ("another verdict", {"verdict": "a"}, "verdict = 'a': it is no verdict", 'write "A", "B" or "tie"'),
    ("a verdict without a rival", {"verdict": "B"}, "verdict = 'B': the sample has no rival", "write None"),
    ("a comparison without a rival", {"comparisons": keyed(Comparison(criterion="Q", agent="mine", verdict="A"))},
     "it is a verdict, and the sample has no rival", "where sample.rival is not None"),
    ("a rival's score without a rival", {"scores": keyed(score(of="rival"))},
     "it is of the rival, and the sample has no rival", "where sample.rival is not None"),
    ("a verdict against its scores", {"comparisons": keyed(Comparison(
        criterion="Q", agent="mine", verdict="A", score_a=1, score_b=5))},
     "its verdict is A, and its scores 1 and 5 are for B", "or no scores"),
    ("nan compared", {"comparisons": keyed(Comparison(criterion="Clarity", agent="mine", verdict="A").model_copy(
        update={"score_a": float("nan")}))}, "nan is no number", "write a float"),
    ("a score for a comparison", {"comparisons": keyed(FINE)}, "which is a Score and no Comparison",
     "keyed(Comparison("),
    ("a comparison without a verdict", {"comparisons": keyed(Comparison(criterion="Q", agent="mine"))},
     "comparisons['Q/mine/AB']: its status is 'ok' and it has no verdict", 'write verdict="A", "B" or "tie"'),
    ("no criterion", {"scores": keyed(score(criterion=""))}, "its criterion has no name", "write criterion="),
    ("no agent", {"scores": keyed(score(agent=" "))}, "its agent has no name", "write agent="),
    ("a value off its distribution", {"scores": keyed(score(value=3.0, distribution={"5": 1.0}))},
     "its value is 3, and its distribution holds 5 alone", "leave distribution out"),
    ("a change to nothing", {"rectifications": keyed(Rectification(criterion="Q", agent="mine", action="change"))},
     "rectifications['Q/mine']: its action is 'change', and it says to what nowhere", "or action='keep'"),
    ("a change off the scale", {"rectifications": keyed(Rectification(criterion="Clarity", agent="mine", value=9))},
     "rectifications['Clarity/mine']: 9.0 is not on the scale 1-5", "write a value of that scale"),
    ("nan found", {"findings": {"x": Finding(assistant="x").model_copy(update={"value": float("nan")})}},
     "findings['x']: nan is no number", "write a float"),
    ("a finding under another name", {"findings": {"y": Finding(assistant="x", value=1)}},
     "findings['y'], whose own key is 'x'", "under its assistant's name"),
    ("a text for a note", {"notes": {"a/b": "b"}}, "which is a str and no Note", "keyed(Note("),
    ("a text for a correction", {"corrections": {"output": "better"}}, "which is a str and no Correction",
     "keyed(Correction("),
    ("one suggestion", {"suggestions": Suggestion(kind="criterion", criterion="New", definition="d")},
     "suggestions, which is a Suggestion", "write suggestions=[Suggestion("),
    ("names for criteria", {"criteria": ["Clarity"]}, "criteria, which holds a str", "[Criterion(name=...)]"),
    ("a text for a plan", {"plan": "first this"}, "plan, which holds a str", "Plan(text=...)"),
    ("by a command", Command(update={"scores": keyed(score(value=80.0))}), "80.0 is not on the scale 1-5", "scale="),
    ("by an object", Fields(scores=keyed(score(value=80.0))), "80.0 is not on the scale 1-5", "scale="),
    ("past the reducer", {"scores": Overwrite([FINE])}, "scores, which is a list and no mapping", "keyed(Score("),
]  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("trace", [True, False], ids=["traced", "untraced"])
@pytest.mark.parametrize(("update", "wrong", "cure"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_a_wrong_value_fails_its_sample_with_node_key_and_cure(
    update: Any, wrong: str, cure: str, trace: bool, tmp_path: Path
):
    graph = line(("before", writes({})), ("mine", Judge(update)))
    (item,) = jg.evaluate(graph, [SAMPLE], out=tmp_path / "run", trace=trace).items
    assert item.status == "agent_error"
    assert item.reason.startswith("node 'mine' ")
    assert wrong in item.reason
    assert cure in item.reason
    assert not item.scores
    if trace:
        (journey,) = recorded_traces(tmp_path / "run" / SPANS)
        assert [(span.name, span.status) for span in journey.spans[1:]] == [("before", "ok"), ("mine", "agent_error")]


@pytest.mark.parametrize(("direction", "value", "way"), [("up", 1.0, "below"), ("down", 5.0, "above")])
def test_a_change_that_goes_the_other_way_than_it_says_fails_where_it_is_written(
    direction: Any, value: float, way: str
):
    said = Rectification(criterion="Clarity", agent="mine", action="change", direction=direction, value=value)
    draft = {"scores": keyed(score(agent="judge", stage="draft", value=3.0))}
    (item,) = jg.evaluate(
        line(
            ("judge", Judge(draft)), ("mine", Judge({"rectifications": keyed(said)})), ("rectify", Rectify(name="mine"))
        ),
        [SAMPLE],
    ).items
    assert item.reason.startswith(f"node 'mine' wrote rectifications['Clarity/mine']: its direction is '{direction}'")
    assert f"lies {way} the score that it reviews (3); write direction=" in item.reason


def test_votes_that_are_not_there_fail_the_sample():
    lost, ballot = ("Clarity/other/ballot/0",), score(agent="othr", stage="ballot")
    for more, cure in (([], "leave votes out"), ([ballot], "did you mean 'Clarity/othr/ballot/0'?")):
        update = {"scores": keyed(score(votes=lost), *more)}
        (item,) = jg.evaluate(line(("mine", Judge(update))), [SAMPLE]).items
        assert f"node 'mine' wrote scores['{KEY}'], whose votes name '{lost[0]}', which is not there" in item.reason
        assert cure in item.reason


def test_what_pydantic_refuses_names_the_key_and_a_cure():
    async def mine(state: EvalState) -> EvalState:
        return {"scores": keyed(Score(criterion="Clarity", agent="mine", value=float("nan")))}

    (item,) = jg.evaluate(line(("mine", mine)), [SAMPLE]).items
    assert "for the state's 'scores', Score: value: Input should be a finite number, got a float; write " in item.reason
    assert "(node 'mine')" in item.reason


def given() -> Sample:
    turn: Any = [{"role": "user", "content": "hi there"}]
    return Sample(
        id="s1", output={"text": ["one", "two"]}, human={"Clarity": 1.0}, meta={"group": "x"}, references=[{"a": 1}],
        turns=turn,
    )  # fmt: skip


CHANGES: dict[str, Any] = {  # field -> how a node changes it in place
    "human": lambda one: one.human.update(Clarity=5.0),
    "meta": lambda one: one.meta.clear(),
    "output": lambda one: one.output["text"].append("three"),
    "reference": lambda one: one.references[0].update(a=2),
    "facts": lambda one: one.facts.update(new=1),
    "query": lambda one: object.__setattr__(one, "query", "another"),
}


@pytest.mark.parametrize("field", CHANGES)
def test_a_node_that_changes_the_sample_in_place_fails_it_and_leaves_it_as_it_was(field: str):
    async def mine(state: EvalState) -> EvalState:
        CHANGES[field](state["sample"])
        return {"scores": keyed(FINE)}

    sample = given()
    (item,) = jg.evaluate(line(("mine", mine)), [sample]).items
    assert item.reason.startswith(f"node 'mine' changed the sample's '{field}' in place")
    assert "leave state['sample'] as it is" in item.reason
    assert item.sample == sample == given()


def test_a_condition_that_changes_the_sample_in_place_fails_it():
    def way(state: EvalState) -> str:
        state["sample"].human["Clarity"] = 5.0
        return END

    made = StateGraph(EvalState)
    made.add_node("mine", Judge({"scores": keyed(FINE)}))
    made.add_edge(START, "mine")
    made.add_conditional_edges("mine", way, [END])
    sample = given()
    (item,) = jg.evaluate(made.compile(), [sample]).items
    assert "changed the sample's 'human' in place" in item.reason
    assert item.sample == sample == given()


RIGHT: dict[str, Any] = {
    "on its scale": {"scores": keyed(FINE)},
    "between the points": {"scores": keyed(score(value=4.5))},
    "of any number": {"scores": keyed(score(scale=Scale.of("1-5 any"), value=4.25))},
    "a whole number": {"scores": keyed(score(value=4))},
    "an aspect of that name": {"scores": keyed(score(stage="aspect", scale=Scale.of("0-100"), value=80.0))},
    "a criterion of its own": {"scores": keyed(score(criterion="Length", value=812.0, scale=None))},
    "shares, rounded": {"scores": keyed(score(distribution={"3": 0.333, "4": 0.333, "5": 0.333}))},
    "abstained": {"scores": keyed(score(value=None, status="abstained"))},
    "nothing": None,
    "nothing under a key": {"scores": {}, "overall": None, "verdict": None, "undeclared": None},
    "a rewritten text": {"corrections": keyed(Correction(text="better", original="good"))},
    "a note": {"notes": keyed(Note(agent="mine", text="fine"))},
}  # fmt: skip


def test_a_label_is_kept_as_its_scale_spells_it():
    """Else "Good" and "good" were two labels wherever they are counted."""
    for label in ("YES", " yes", "yes"):
        fit = score(criterion="Fit", value=None, label=label, scale=Scale.of(["yes", "no"]))
        (item,) = jg.evaluate(line(("mine", Judge({"scores": keyed(fit)}))), [SAMPLE]).items
        assert (item.status, [one.label for one in item.scores]) == ("ok", ["yes"])


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_taken_up_as_it_is(name: str):
    (item,) = jg.evaluate(line(("mine", Judge(RIGHT[name]))), [SAMPLE]).items
    assert (item.status, item.reason) == ("ok", "")
    given = (RIGHT[name] or {}).get("scores", {})
    assert item.scores == tuple(given.values())


def replaced(old: Any, new: Any) -> Any:
    return new


class Plain(TypedDict, total=False):  # a later node's scores take the place of all others
    sample: Sample
    scores: dict[str, Score]


class Reducer(TypedDict, total=False):
    sample: Sample
    scores: Annotated[dict[str, Score], replaced]


class Losing(TypedDict, total=False):
    sample: Sample
    scores: Annotated[dict[str, Score], lambda old, new: merged(old, new) if len(merged(old, new)) < 2 else {}]


class Seldom(TypedDict, total=False):
    sample: Sample
    scores: Annotated[dict[str, Score], merged]


DRAFT = Score(criterion="Clarity", agent="first", stage="draft", value=2, scale=CLARITY.scale)
LOST = [  # the state, what the second node returns, who is told, and of what
    (Plain, {"scores": keyed(FINE)}, "node 'mine' deleted scores of node 'first' (Clarity/first/draft/0)"),
    (Plain, {"scores": {}}, "node 'mine' deleted scores of node 'first'"),
    (Reducer, {"scores": keyed(FINE)}, "node 'mine' deleted scores of node 'first'"),
    (Losing, {"scores": keyed(FINE)}, "node 'mine' deleted scores of node 'first'"),
    (Seldom, {"scores": Overwrite(keyed(FINE))}, "node 'mine' deleted scores of node 'first'"),
    (Seldom, {"scores": keyed(DRAFT.model_copy(update={"value": 5.0}))},
     "node 'mine' wrote scores['Clarity/first/draft/0'], which is of node 'first' and says something else"),
]  # fmt: skip


@pytest.mark.parametrize(("state", "update", "told"), LOST, ids=range(len(LOST)))
def test_scores_of_others_are_not_deleted_and_not_changed(state: Any, update: Any, told: str):
    graph = line(("first", writes({"scores": keyed(DRAFT)})), ("mine", writes(update)), state=state)
    (item,) = jg.evaluate(graph, [SAMPLE]).items
    assert item.status == "agent_error"
    assert told in item.reason
    assert "draft= the key" in item.reason or "judgegraph.types.merged" in item.reason


@pytest.mark.parametrize("update", [{"scores": keyed(DRAFT, FINE)}, {"scores": keyed(FINE)}, {"scores": None}, None])
def test_scores_that_are_handed_on_or_left_alone_stay(update: Any):
    state = Seldom if not update or not update["scores"] or len(update["scores"]) < 2 else Plain
    graph = line(("first", writes({"scores": keyed(DRAFT)})), ("mine", writes(update)), state=state)
    (item,) = jg.evaluate(graph, [SAMPLE]).items
    assert (item.status, item.reason) == ("ok", "")
    assert DRAFT in item.scores


def test_a_wrong_value_within_a_graph_names_the_way_to_its_node():
    inner = line(("deep", Judge({"scores": keyed(score(value=80.0))})))
    (item,) = jg.evaluate(line(("outer", inner)), [SAMPLE]).items
    assert item.reason.startswith("node 'outer/deep' wrote scores[")


def test_a_key_of_a_graph_within_may_be_called_like_one_of_ours():
    class Inner(TypedDict, total=False):
        sample: Sample
        plan: str

    def plans(state: Inner) -> Inner:
        return {"plan": "first this, then that"}

    class Out(TypedDict, total=False):
        scores: Annotated[dict[str, Score], merged]

    class All(Inner, Out, total=False):
        pass

    made = StateGraph(All, output_schema=Out)
    made.add_node("plans", plans)
    made.add_node("judges", writes({"scores": keyed(FINE)}))
    made.add_edge(START, "plans")
    made.add_edge("plans", "judges")
    made.add_edge("judges", END)
    (item,) = jg.evaluate(line(("inner", made.compile())), [SAMPLE]).items
    assert (item.status, item.scores) == ("ok", (FINE,))


def test_a_graph_that_an_agent_runs_is_checked_too():
    inner = line(("deep", Judge({"scores": keyed(score(value=80.0))})))
    assistant = jg.as_assistant(inner, name="sub", about="clarity, 1 to 5")
    from judgegraph.graphs import fusion_eval

    graph = fusion_eval(criteria=[CLARITY], assistants=[assistant], plan=False)
    (item,) = jg.evaluate(graph, [SAMPLE]).items
    assert "80.0 is not on the scale 1-5" in item.findings[0].reason
    assert item.findings[0].status != "ok"


def test_what_no_file_holds_is_told_with_its_key():
    graph = line(("mine", writes({"mine": {"a": [1.0, float("nan")]}})), state=Loose)
    (item,) = jg.evaluate(graph, [SAMPLE]).items
    assert item.reason == "node 'mine' wrote 'mine' = nan, which no file holds: write None instead"


class Opaque:
    """Whatever can be run as a graph is, and is no LangGraph: what it gives out is looked at."""

    def get_name(self) -> str:
        return "opaque"

    async def ainvoke(self, state: Any) -> Any:
        return {**state, "scores": keyed(score(value=80.0))}


def test_what_comes_of_any_graph_is_checked():
    (item,) = jg.evaluate(Opaque(), [SAMPLE]).items
    assert item.reason.startswith(f"the graph wrote scores['{KEY}']: 80.0 is not on the scale 1-5")


async def test_a_sync_node_and_a_node_of_a_method_are_checked_alike():
    def plain(state: EvalState) -> EvalState:
        return {"scores": keyed(score(value=80.0))}

    graph = line(("judge", llm_score(scripted({"reason": "r", "score": 4}), criteria=[CLARITY])), ("mine", plain))
    (item,) = (await jg.aevaluate(graph, [SAMPLE])).items
    assert item.reason.startswith("node 'mine' wrote scores[")  # its scale is known by the method's criterion


def test_a_wrong_value_is_not_asked_for_again_and_fails_no_other_sample():
    seen: list[str] = []

    async def node(state: EvalState) -> EvalState:
        seen.append(state["sample"].id)
        return {"scores": keyed(score(value=80.0 if state["sample"].id == "s1" else 3.0))}

    given = [SAMPLE, SAMPLE.model_copy(update={"id": "s2"})]
    run = jg.evaluate(line(("mine", node)), given)
    assert {item.id: item.status for item in run.items} == {"s1": "agent_error", "s2": "ok"}
    assert sorted(seen) == ["s1", "s2"]


def test_a_critic_that_rewrites_drafts_under_their_own_key_is_told_how():
    async def harsh(state: EvalState) -> EvalState:
        return {"scores": {key: s.model_copy(update={"value": 1.0}) for key, s in state["scores"].items()}}

    judge = Evaluator(judge="embedded", criteria=(CLARITY,))
    (item,) = jg.evaluate(line(("evaluate", judge), ("harsh", harsh)), [SAMPLE]).items
    assert "which is of node 'evaluate' and says something else: write a score of its own" in item.reason


def judged(graph: Any) -> Any:
    """What came of the one sample."""
    [item] = jg.evaluate(graph, [SAMPLE]).items
    return item


OTHER = FINE.model_copy(update={"value": 1.0})


def in_place(change: Any) -> Any:
    """A node that changes the state which it is handed, and returns nothing."""

    async def sly(state: EvalState) -> dict[str, Any]:
        change(state)
        return {}

    return sly


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state["scores"].__setitem__(KEY, OTHER),
        lambda state: state["scores"].update(keyed(OTHER)),
        lambda state: state["scores"].update(keyed(FINE.model_copy(update={"agent": "another"}))),
    ],
)
@pytest.mark.parametrize("within", [False, True])
def test_a_node_that_changes_the_state_in_place_fails_its_sample(change: Any, within: bool):
    wrote = writes({"scores": keyed(FINE), "notes": keyed(Note(agent="mine", text="a note"))})
    graph = line(("judge", wrote), ("sly", in_place(change)))
    item = judged(line(("inner", graph)) if within else graph)
    assert item.status == "agent_error"
    assert f"node '{'inner/' if within else ''}sly' changed" in item.reason
    assert "return" in item.reason or "write" in item.reason


def returned(change: Any) -> Any:
    """A node that changes the state which it is handed, and returns it."""

    async def sly(state: EvalState) -> dict[str, Any]:
        change(state)
        return {"scores": state["scores"], "notes": state["notes"]}

    return sly


def emptied(state: EvalState) -> None:
    state["scores"].clear()
    state["scores"].update(keyed(OTHER.model_copy(update={"agent": "another"})))


@pytest.mark.parametrize(
    "change", [lambda state: state["scores"].pop(KEY), lambda state: state["notes"].clear(), emptied]
)
@pytest.mark.parametrize("made", [in_place, returned])
def test_a_node_that_takes_entries_out_of_the_state_is_told_to_return_a_new_mapping(change: Any, made: Any):
    wrote = writes({"scores": keyed(FINE), "notes": keyed(Note(agent="mine", text="a note"))})
    item = judged(line(("judge", wrote), ("sly", made(change))))
    assert item.status == "agent_error"
    assert item.reason.startswith("node 'sly' took ")
    assert "leave the state as it is, and return a new mapping of what is new alone" in item.reason


def test_a_condition_that_empties_the_state_is_told_of():
    made = StateGraph(EvalState)
    made.add_node("judge", writes({"scores": keyed(FINE)}))
    made.add_node("rest", writes({"notes": keyed(Note(agent="mine", text="a note"))}))
    made.add_edge(START, "judge")
    made.add_edge("judge", "rest")
    made.add_conditional_edges("rest", lambda state: state["scores"].clear() or END, [END])
    item = judged(made.compile())
    assert "a reducer or a condition did" in item.reason
    assert "change no state in place" in item.reason


def test_a_final_score_on_a_scale_of_another_set_is_told_of_the_critics_criteria():
    ten = Criterion(name="Clarity", definition="It is clear.", scale=Scale.of("1-10"))
    graph = line(("judge", Judge({"scores": keyed(score(stage="draft"))})), ("critic", jg.critique(criteria=[ten])))
    item = judged(graph)
    assert item.reason.startswith("node 'critic/settle' wrote scores['Clarity/sage/final/0']: its scale is 1-5")
    assert item.reason.endswith("give the critic the criteria of the judge that it reviews")


def test_a_condition_that_changes_the_state_in_place_fails_its_sample():
    def route(state: EvalState) -> str:
        state["scores"][KEY] = OTHER
        return END

    made = StateGraph(EvalState)
    made.add_node("judge", writes({"scores": keyed(FINE)}))
    made.add_node("rest", writes({"notes": keyed(Note(agent="mine", text="a note"))}))
    made.add_edge(START, "judge")
    made.add_edge("judge", "rest")
    made.add_conditional_edges("rest", route, [END])
    item = judged(made.compile())
    assert item.status == "agent_error"
    assert f"scores['{KEY}'] of node 'judge' is not as any node wrote it" in item.reason


def test_a_state_that_is_changed_and_returned_is_what_was_written():
    async def hands_on(state: EvalState) -> Any:
        state["scores"].update(keyed(FINE.model_copy(update={"agent": "another"})))
        return {"scores": state["scores"]}

    item = judged(line(("judge", writes({"scores": keyed(FINE)})), ("more", hands_on)))
    assert item.status == "ok"
    assert {score.agent for score in item.scores} == {"mine", "another"}


@pytest.mark.parametrize("field", ["id", "query", "source", "output", "rival"])
def test_no_node_exchanges_the_sample_that_is_judged(field: str):
    other = SAMPLE.model_copy(update={field: "something else"})
    item = judged(line(("swap", writes({"sample": other})), ("judge", writes({"scores": keyed(FINE)}))))
    assert item.status == "agent_error"
    assert f"node 'swap' wrote a sample whose '{field}' is another" in item.reason
    assert "jg.Correction" in item.reason


def test_a_sample_that_says_the_same_may_be_handed_on():
    same = Sample(**{**SAMPLE.model_dump(), "meta": {"seen": True}})
    item = judged(line(("more", writes({"sample": same, "scores": keyed(FINE)}))))
    assert item.status == "ok"


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        ("Clarity/mine/drafts/0", "which is not there; did you mean"),
        ("Wit/mine/final/0", "which is of 'Wit'"),
    ],
)
def test_a_draft_that_is_no_score_of_the_same_criterion_fails_its_sample(draft: str, said: str):
    first = {"scores": keyed(FINE, FINE.model_copy(update={"criterion": "Wit"}))}
    final = FINE.model_copy(update={"agent": "critic", "stage": "final", "draft": draft})
    item = judged(line(("judge", writes(first)), ("critic", writes({"scores": keyed(final)}))))
    assert item.status == "agent_error"
    assert "node 'critic' wrote" in item.reason
    assert said in item.reason


def test_finals_that_name_each_other_as_draft_are_told_so():
    one, other = (FINE.model_copy(update={"agent": name, "stage": "final"}) for name in ("one", "other"))
    both = keyed(one.model_copy(update={"draft": other.key}), other.model_copy(update={"draft": one.key}))
    item = judged(line(("judge", writes({"scores": both}))))
    assert "each is the draft of the other" in item.reason


class Sent(TypedDict):
    sample: Sample
    number: int


def fanned(**differs: Any) -> Any:
    async def judge(state: Sent) -> EvalState:
        number = state["number"]
        return {"scores": keyed(score(value=float(number), **{k: v(number) for k, v in differs.items()}))}

    made = StateGraph(EvalState)
    made.add_node("judge", judge)  # type: ignore[type-var]
    fan = lambda state: [Send("judge", {"sample": state["sample"], "number": n}) for n in (1, 2, 3)]  # noqa: E731
    made.add_conditional_edges(START, fan, ["judge"])
    made.add_edge("judge", END)
    return made.compile()


def test_runs_of_a_fan_out_that_write_under_one_key_fail_the_sample():
    item = judged(fanned())
    assert item.status == "agent_error"
    assert item.reason.startswith(f"node 'judge' was sent to several times, and wrote scores['{KEY}'] differently")
    assert "repeat=" in item.reason
    assert len(judged(fanned(repeat=lambda number: number)).scores) == 3


def test_a_node_of_a_loop_may_write_its_own_score_anew():
    class Turning(EvalState, total=False):
        rounds: int

    async def judge(state: Turning) -> Turning:
        rounds = state.get("rounds", 0) + 1
        return {"rounds": rounds, "scores": keyed(score(value=float(rounds)))}

    made = StateGraph(Turning)
    made.add_node("judge", judge)
    made.add_edge(START, "judge")
    made.add_conditional_edges("judge", lambda state: "judge" if state["rounds"] < 3 else END, ["judge", END])
    (found,) = judged(made.compile()).scores
    assert found.value == 3.0


def test_two_scores_of_one_key_that_differ_are_not_written_as_one():
    async def thrice(state: EvalState) -> EvalState:
        return {"scores": keyed(FINE, OTHER)}

    item = judged(line(("judge", thrice)))
    assert item.status == "agent_error"
    assert item.reason.startswith(f"two scores of one key, '{KEY}', differ, and the first would be lost: give each")
    assert keyed(FINE, FINE) == {KEY: FINE}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda score: object.__setattr__(score, "value", 1.0), "its 'value' was 4.0 and is 1.0"),
        (lambda score: vars(score).update(reason="mine"), "its 'reason' was '' and is 'mine'"),
        (lambda score: score.distribution.update({"4": 0.5, "1": 0.5}), "its 'distribution' was {'4': 1.0}"),
    ],
)
def test_a_score_that_a_later_node_changes_past_pydantic_fails_the_sample_with_what_it_was(change, field):
    async def judge(state: jg.EvalState) -> jg.EvalState:
        said = {"criterion": "Clarity", "agent": "judge", "value": 4.0, "scale": jg.Scale.of("1-5")}
        return {"scores": jg.keyed(jg.Score(**said, distribution={"4": 1.0}))}

    async def meddle(state: jg.EvalState) -> jg.EvalState:
        change(state["scores"]["Clarity/judge/final/0"])
        return {}

    made = StateGraph(jg.EvalState)
    made.add_sequence([("judge", judge), ("meddle", meddle)])
    made.add_edge(START, "judge")
    (item,) = jg.evaluate(made.compile(name="mine"), [jg.Sample(id="1", output="A text.")]).items
    assert item.status == "agent_error"
    assert field in item.reason
    assert "scores['Clarity/judge/final/0'] of node 'judge' was changed in place" in item.reason


def test_a_scale_that_is_none_is_told_and_no_raw_error():
    def judge(state: jg.EvalState) -> jg.EvalState:
        about = {"criterion": "Clarity", "agent": "judge", "stage": "final", "status": "ok", "value": 4.0}
        return {"scores": jg.keyed(jg.Score.model_construct(**about, scale="1-5"))}

    made = StateGraph(jg.EvalState)
    made.add_node("judge", judge)
    made.add_edge(START, "judge")
    (item,) = jg.evaluate(made.compile(name="mine"), [jg.Sample(id="1", output="A text.")]).items
    assert item.reason.startswith("node 'judge' wrote scores['Clarity/judge/final/0']: its scale '1-5' is no Scale")
