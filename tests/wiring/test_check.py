"""`jg.check` and `judgegraph check`: what is said, what is only warned of, and what is not claimed."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import pytest
from click.testing import CliRunner
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from sound_functions import SOUND, Own
from typing_extensions import TypedDict

import judgegraph as jg
from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.merge import Merge
from judgegraph.agents.pairwise import Comparer
from judgegraph.agents.panel import CriticPanel
from judgegraph.agents.sage import Rectify, Sage
from judgegraph.cli.main import main
from judgegraph.embedded.model import EmbeddedJudge
from judgegraph.graphs import fennec, fusion_eval, g_eval, sageval
from judgegraph.types import EvalState, Sample, Scores, Suggestion, keyed
from judgegraph.wiring.check import of_a_run

CRITERIA = jg.criteria_set("forms").criteria
UNWIRED = """
import judgegraph as jg
from judgegraph.agents.sage import Rectify
from judgegraph.agents.sage import Sage
from langgraph.graph import END, START, StateGraph

def graph(judge="embedded"):
    made = StateGraph(jg.EvalState)
    made.add_node("critique", Sage(judge=judge))
    made.add_edge(START, "critique")
    made.add_edge("critique", END)
    return made

def warned(judge="embedded"):
    async def own(state):
        score = jg.Score(criterion="a", agent="own", value=3)
        return {"scores": {score.key: score}}

    made = StateGraph(jg.EvalState)
    for name in ("own", "other"):
        made.add_node(name, own)
        made.add_edge(START, name)
    made.add_edge("other", END)
    return made
"""


class Small(TypedDict, total=False):
    sample: Sample
    scores: Scores


class Wrote(TypedDict):
    scores: Scores


class Read(TypedDict):
    sample: Sample
    scores: Scores


def rated(value: float) -> Scores:
    return keyed(jg.Score(criterion="Brevity", agent="brevity", value=value, scale="1-5"))  # type: ignore[arg-type]


class Advised(TypedDict):
    suggestions: list[Suggestion]


class Overall(TypedDict):
    overall: float | None


async def sum_up(state: Wrote) -> Overall:
    return {"overall": None}


async def metric(state: Small) -> Wrote:
    return {"scores": {}}


def line(*nodes: tuple[str, Any], state: Any = EvalState, end: bool = True) -> StateGraph[Any, None, Any, Any]:
    graph = StateGraph(state)
    names = [START, *(name for name, _ in nodes), *([END] if end else [])]
    for name, node in nodes:
        graph.add_node(name, node)
    for one, other in pairwise(names):
        graph.add_edge(one, other)
    return graph


def codes(graph: Any) -> list[tuple[str, str]]:
    return [(finding.code, finding.severity) for finding in jg.check(graph, strict=False).findings]


def test_a_wiring_says_what_each_node_reads_and_writes():
    wiring = jg.check(fennec())
    by_name = {node.node: node for node in wiring.nodes}
    assert by_name["weigh/judge"].reads == ("criterion", "sample")
    assert by_name["weigh/judge"].may_read == ("guidelines",)
    assert by_name["merge"].writes == ("comparisons", "notes", "overall", "verdict")
    assert str(by_name["weigh/guide"]) == "weigh/guide: reads criterion, sample; writes guidelines, notes"
    assert str(wiring).splitlines()[0] == "fennec: wired, 7 nodes"
    assert json.loads(json.dumps(wiring.to_dict()))["wired"] is True
    assert wiring.calls.per_sample == "2C to 2C + 1"


def test_without_strictness_errors_are_given_back():
    wiring = jg.check(line(("critique", Sage()), ("rectify", Rectify())), strict=False)
    assert not wiring.ok
    assert [finding.code for finding in wiring.findings] == ["missing-writer"]
    assert "not wired" in str(wiring)


@pytest.mark.parametrize("graph", [None, "sageval", sageval, object()])
def test_what_is_no_graph_is_told(graph: Any):
    with pytest.raises(jg.ConfigError, match="expected a StateGraph or a compiled graph"):
        jg.check(graph)


def test_what_is_not_annotated_is_not_claimed():
    async def own(state):  # type: ignore[no-untyped-def]
        return {"scores": {}}

    assert codes(line(("own", own), ("critique", Sage()), ("rectify", Rectify()))) == []


def test_a_key_of_the_input_schema_needs_no_writer():
    graph = StateGraph(EvalState, input_schema=Wrote)
    graph.add_node("sum", sum_up)
    graph.add_edge(START, "sum")
    graph.add_edge("sum", END)
    assert codes(graph) == []


def advise_node() -> Any:
    async def advise(state: Small) -> Advised:
        return {"suggestions": []}

    return advise


def unmapped(decide: Any) -> Any:
    graph = line(("a", metric), ("b", sum_up))
    graph.add_conditional_edges("a", decide)
    return graph


def one_ends_and_one_does_not() -> Any:
    graph = line(("own", metric))
    graph.add_node("other", metric)
    graph.add_edge(START, "other")
    return graph


def set_to_a_constant(state: Any = None) -> Any:
    """A loop that goes by a number which nothing counts."""

    async def reset(state: Rounds) -> Round:
        return {"rounds": 0}

    graph = StateGraph(Rounds)
    graph.add_node("a", reset)
    graph.add_edge(START, "a")
    graph.add_conditional_edges("a", lambda state: "a" if state["rounds"] < 3 else END, ["a", END])
    return graph


WARNED = {
    "dead-end": one_ends_and_one_does_not,
    "unbounded-loop": set_to_a_constant,
    "dropped-key": lambda: line(("advise", advise_node()), state=Small),
    "panel-of-one": lambda: line(("a", jg.panel("openai:m", criteria="forms"))),
    "same-opinion": lambda: line(("a", Evaluator(criteria=SUMMARY)), ("b", Evaluator(criteria=SUMMARY))),
    "no-path-map": lambda: unmapped(lambda state: "b" if state else END),
}


class Handed(TypedDict):
    sample: Sample


class Says(TypedDict):
    scores: Scores


async def forgets(state: Handed) -> Says:  # type: ignore[return,empty-body]
    _ = {"scores": {}}


async def mistypes(state: Handed) -> Says:
    return {"scores": {state["sampel"]: 1}}  # type: ignore[typeddict-item,dict-item]


async def declines(state: Handed) -> Says:
    raise NotImplementedError


@pytest.mark.parametrize(
    ("node", "told"),
    [
        (forgets, ("unwritten-key", "return {...}")),
        (mistypes, ("not-handed", "did you mean 'sample'?")),
        (declines, None),
    ],
)
def test_a_node_that_returns_nothing_or_mistypes_a_key_is_refused(node: Any, told: Any):
    findings = jg.check(line(("mine", node)), strict=False).findings
    assert [(one.code, one.message.endswith(told[1])) for one in findings] == ([(told[0], True)] if told else [])


OVERWRITTEN = {
    "two critiques": (lambda judge: jg.critique("sage", judge=judge, criteria="forms"), "'a/settle' and 'b/settle'"),
    "critics that are graphs": (
        lambda judge: jg.critique("critic-panel", judge=judge, criteria="forms"), "'a/settle' and 'b/settle'",
    ),
    "two refinements": (lambda judge: jg.refine("sage", judge=judge, criteria="forms"), "'a/round' and 'b/round'"),
    "two of a method": (lambda judge: sageval(critic_judge=judge), "'a/rectify' and 'b/rectify'"),
}  # fmt: skip


@pytest.mark.parametrize("name", OVERWRITTEN)
def test_final_scores_of_one_critic_are_told_apart_by_who_it_asks(name: str):
    made, nodes = OVERWRITTEN[name]

    def graph(other: str) -> Any:
        return line(("e", Evaluator(name="first")), ("a", made("openai:x")), ("b", made(other)))

    (told,) = jg.check(graph("openai:y"), strict=False).findings
    assert (told.code, told.severity) == ("same-scores", "error")
    assert nodes in told.message
    assert codes(graph("openai:x")) == [("same-opinion", "warning")]


def test_a_critique_and_a_refinement_by_one_critic_overwrite_one_another():
    graph = line(("e", Evaluator()), ("a", jg.critique("sage")), ("b", jg.refine("sage")))
    assert codes(graph) == [("same-scores", "error")]


SUMMARY = jg.criteria_set("summary").criteria
TEN = tuple(c.model_copy(update={"scale": jg.Scale.of("1-10")}) for c in SUMMARY)
REVIEWS = {  # by criteria of the critic, behind judges by "summary"
    "of a method's judge": lambda own: (
        ("judge", fennec(criteria="summary", correct="off")),
        ("b", jg.critique(criteria=own, stage="final", of="judge")),
    ),
    "of a panel": lambda own: (
        ("jury", jg.panel("embedded", "g-eval", criteria="summary")),
        ("b", jg.critique(criteria=own, stage="final", of="panel")),
    ),
    "of a critic": lambda own: (
        ("e", Evaluator(criteria=SUMMARY)), ("a", jg.critique(criteria="summary")),
        ("b", jg.critique("devils-advocate", criteria=own, stage="final")),
    ),
    "by a critic's own criteria": lambda own: (
        ("e", Evaluator(criteria=SUMMARY)), ("b", jg.critique(Sage(criteria=own))),
    ),
    "by one of a panel of critics": lambda own: (
        ("e", Evaluator(criteria=SUMMARY)),
        ("b", CriticPanel(criteria=SUMMARY, critics=["sage", Sage(name="other", cot=True, criteria=own)])),
        ("r", Rectify(name="critic-panel")),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REVIEWS)
def test_a_critic_knows_criteria_on_the_scales_that_their_scores_have(name: str):
    (told,) = jg.check(line(*REVIEWS[name](TEN)), strict=False).findings
    assert (told.code, told.severity, told.node) == ("unfit-scale", "error", "b")
    assert "'Coherence' on 1-10 and on 1-5: give both the same criteria" in told.message
    assert jg.check(line(*REVIEWS[name](SUMMARY))).findings == ()


def test_a_critic_of_criteria_that_only_some_scores_have_is_warned_of():
    graph = line(("e", Evaluator(criteria=SUMMARY)), ("c", jg.critique(criteria="general")))
    (told,) = jg.check(graph).findings
    assert (told.code, told.severity, told.node) == ("no-such-criteria", "warning", "c")
    assert "'Accuracy', 'Clarity'" in told.message
    assert "none for 'Coherence', 'Consistency' and 'Fluency'" in told.message
    fewer = line(("e", Evaluator(criteria=SUMMARY)), ("c", jg.critique(criteria=SUMMARY[:2])))
    assert jg.check(fewer).findings == ()


def test_a_panel_whose_members_judge_by_other_criteria_is_warned_of():
    other = [SUMMARY[0], jg.Criterion(name="Wit", definition="It is funny.")]
    graph = line(("p", jg.panel(Evaluator(name="a", criteria=SUMMARY), Evaluator(name="b", criteria=other))))
    (told,) = jg.check(graph).findings
    assert (told.code, told.severity) == ("panel-of-one", "warning")
    assert "'Consistency' is judged by 'panel-a' alone, 4 of 5 criteria by one member each" in told.message


class Listed(TypedDict):
    scores: list[jg.Score]


def test_scores_in_a_list_are_refused_before_anything_is_paid():
    async def mine(state: jg.EvalState) -> Listed:
        return {"scores": []}

    with pytest.raises(jg.WiringError, match=r"node 'mine' writes 'scores' as a list.*jg.keyed"):
        jg.check(line(("mine", mine)))


@pytest.mark.parametrize("code", WARNED)
def test_what_runs_all_the_same_is_a_warning(code: str):
    wiring = jg.check(WARNED[code]())
    assert [(finding.code, finding.severity) for finding in wiring.findings] == [(code.split()[0], "warning")]
    assert wiring.ok


def test_two_agents_of_one_name_are_told_of_across_graphs_only_where_both_run():
    twice = line(("a", sageval(judge="openai:a")), ("b", sageval(judge="openai:b")))
    told = [finding.message for finding in jg.check(twice, strict=False).findings]
    assert ["'a/evaluate' and 'b/evaluate'" in told[0], "'a/rectify' and 'b/rectify'" in told[1]] == [True, True]
    assert codes(line(("a", sageval()), ("b", sageval()))) == [("same-opinion", "warning")]
    either = StateGraph(EvalState)
    for name in "ab":
        either.add_node(name, sageval(judge=f"openai:{name}"))
        either.add_edge(name, END)
    either.add_conditional_edges(START, lambda state: "a", ["a", "b"])
    assert codes(either) == []


def looping(decide: Any) -> Any:
    graph = line(("a", metric), ("b", sum_up))
    graph.add_conditional_edges("b", decide, ["a", END])
    graph.edges.discard(("b", END))
    return graph


def test_a_condition_may_be_marked_as_bounded():
    def again(state: Small) -> str:
        return "a" if state.get("scores") else END

    assert codes(looping(again)) == [("unbounded-loop", "error")]
    assert codes(looping(jg.bounded(again, at_most=2))) == []

    @jg.bounded(at_most=3)
    def marked(state: Small) -> str:
        return "a"

    assert codes(looping(marked)) == []


@pytest.mark.parametrize("at_most", [0, -1, True, 1.5, "3"])
def test_a_bound_is_a_whole_number_of_one_or_more(at_most: Any):
    with pytest.raises(jg.ConfigError, match="at_most"):
        jg.bounded(lambda state: END, at_most=at_most)


class Rounds(EvalState, total=False):
    rounds: int
    seen: bool


class Round(TypedDict):
    rounds: int


class Saw(TypedDict):
    seen: bool


@pytest.mark.parametrize(
    ("counts", "reads", "bounded"), [(True, True, True), (True, False, False), (False, True, False)]
)
def test_a_loop_is_bounded_by_a_count_that_it_writes_and_its_condition_reads(counts: bool, reads: bool, bounded: bool):
    async def count(state: Rounds) -> Round:
        return {"rounds": state.get("rounds", 0) + 1}

    async def look(state: Rounds) -> Saw:
        return {"seen": True}

    def by_count(state: Rounds) -> str:
        return "a" if state.get("rounds", 0) < 3 else END

    def by_flag(state: Rounds) -> str:
        return "a" if state.get("seen") else END

    graph = StateGraph(Rounds)
    graph.add_node("a", count if counts else look)
    graph.add_edge(START, "a")
    graph.add_conditional_edges("a", by_count if reads else by_flag, ["a", END])
    assert codes(graph) == ([] if bounded else [("unbounded-loop", "error")])


def test_a_command_leads_where_its_annotation_says():
    async def go(state: Small) -> Command[Literal["b"]]:
        return Command(goto="b", update={"scores": {}})

    graph = StateGraph(EvalState)
    graph.add_node("a", go)
    graph.add_node("b", sum_up)
    graph.add_edge(START, "a")
    graph.add_edge("b", END)
    assert codes(graph) == []


class Chooses:
    """A condition that says what it chooses between."""

    outcomes = (("own", "b"), ("b",))

    def __call__(self, state: Small) -> list[str]:
        return ["own", "b"]


def test_a_condition_may_say_what_it_chooses_between():
    def graph(decide: Any) -> Any:
        made = line(("a", advise_node()), ("own", metric))
        made.add_node("b", sum_up, defer=True)
        made.add_edge("b", END)
        made.edges.discard(("a", "own"))
        made.add_conditional_edges("a", decide, ["own", "b"])
        return made

    def all_of_them(state: Small) -> list[str]:
        return ["own", "b"]

    assert codes(graph(all_of_them)) == []
    assert codes(graph(Chooses())) == [("missing-writer", "error")]


def test_too_many_ways_are_said_and_nothing_is_made_up():
    graph = StateGraph(EvalState)
    for number in range(14):
        for name in (f"a{number}", f"b{number}", f"c{number}"):
            graph.add_node(name, metric)
        graph.add_edge(START, f"a{number}")
        graph.add_conditional_edges(f"a{number}", lambda state: END, [f"b{number}", f"c{number}", END])
        graph.add_edge(f"b{number}", END)
        graph.add_edge(f"c{number}", END)
    assert codes(graph) == [("too-many-ways", "warning")]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(UNWIRED)
    return path


@pytest.mark.parametrize("method", ["sageval", "fusion-eval"])
@pytest.mark.long
def test_the_command_prints_nodes_with_what_they_read_and_write(method: str):
    done = CliRunner().invoke(main, ["check", method])
    assert done.exit_code == 0
    assert f"{method}: wired" in done.stdout
    told = json.loads(CliRunner().invoke(main, ["check", method, "--json"]).stdout)
    assert told["wired"] is True
    assert told["nodes"][0]["reads"] is not None


def test_the_command_fails_with_a_line_for_each_mistake(own: Path):
    done = CliRunner().invoke(main, ["check", f"{own}:graph"])
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("error: missing-writer: node 'critique' reads 'scores'")
    told = CliRunner().invoke(main, ["check", f"{own}:graph", "--json"])
    assert told.exit_code == 1
    assert json.loads(told.stdout)["findings"][0]["code"] == "missing-writer"


@pytest.mark.parametrize("command", ["run", "plan"])
def test_a_run_of_a_graph_that_is_not_wired_is_refused_before_any_call(command: str, own: Path, tmp_path: Path):
    data = tmp_path / "data.jsonl"
    data.write_text('{"id": "a", "output": "text"}\n')
    done = CliRunner().invoke(main, [command, f"{own}:graph", str(data), "-o", str(tmp_path / "run")])
    assert done.exit_code == 1
    assert "WiringError: missing-writer: node 'critique' reads 'scores'" in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_run_tells_warnings_in_one_line_each_and_goes_on(own: Path, tmp_path: Path):
    data = tmp_path / "data.jsonl"
    data.write_text('{"id": "a", "output": "text"}\n')
    done = CliRunner().invoke(main, ["run", f"{own}:warned", str(data)])
    assert done.exit_code == 0
    assert [line for line in done.stderr.splitlines() if line.startswith("warning: dead-end: nothing leads on from")]


@pytest.mark.long
def test_networkx_comes_with_the_first_check_and_no_sooner():
    code = (
        "import sys, judgegraph as jg; jg.never_empty; from judgegraph.graphs import sageval; g = sageval(each=True)\n"
        "assert 'networkx' not in sys.modules; jg.check(g); assert 'networkx' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def adds_up(state: Read) -> Wrote:
    return {"scores": rated(sum(s.val or 0 for s in state["scores"].values()))}  # type: ignore[attr-defined]


def goes_over_keys(state: Read) -> Wrote:
    return {"scores": rated(max(s.value for s in state["scores"]))}  # type: ignore[attr-defined]


def takes_the_first(state: EvalState) -> EvalState:
    scores = state.get("scores") or {}
    first = list(scores.values())[0]  # noqa: RUF015
    return {"scores": rated(first.score)}  # type: ignore[attr-defined]


def reads_the_sample(state: Read) -> Wrote:
    sample = state["sample"]
    return {"scores": rated(len(sample.outptu))}  # type: ignore[attr-defined]


def reads_as_it_should(state: EvalState) -> EvalState:
    lengths = [len(key.split("/")) for key in state["scores"]]
    best = max((s.value or 0 for s in state["scores"].values() if s.answer is not None), default=1)
    texts = [note.text for note in state.get("notes", {}).values()]
    names = [one.name for one in state.get("criteria", [])]
    for s in range(3):
        lengths.append(s.real)
    return {"scores": rated(min(5, best + 0 * len([*lengths, *texts, *names, state["sample"].output])))}


ATTRIBUTES = [
    (adds_up, "takes 'val' of a Score of 'scores', which has no such attribute: did you mean 'value'?"),
    (goes_over_keys, "takes 'value' of the keys of 'scores': go over state['scores'].values()"),
    (takes_the_first, "takes 'score' of a Score of 'scores', which has no such attribute: it has criterion, agent"),
    (reads_the_sample, "takes 'outptu' of a Sample of 'sample', which has no such attribute: did you mean 'output'?"),
]


@pytest.mark.parametrize(("function", "said"), ATTRIBUTES, ids=[one.__name__ for one, _ in ATTRIBUTES])
def test_an_attribute_that_a_value_of_the_state_lacks_is_told(function: Any, said: str):
    (told,) = jg.check(line(("e", Evaluator(criteria=CRITERIA)), ("mine", function)), strict=False).findings
    assert (told.code, told.severity) == ("misread-state", "error")
    assert told.message.startswith(f"node 'mine' {said}")


def test_attributes_that_values_of_the_state_have_pass():
    assert jg.check(line(("e", Evaluator(criteria=CRITERIA)), ("mine", reads_as_it_should))).findings == ()


def test_a_condition_that_takes_an_attribute_of_no_score_is_told():
    when = jg.critique(when=lambda state: any(s.vlue < 3 for s in state["scores"].values()), criteria=CRITERIA)
    (told,) = jg.check(line(("e", Evaluator(criteria=CRITERIA)), ("c", when)), strict=False).findings
    assert "node 'c' takes 'vlue' of a Score" in told.message


def of_agent(state: Read) -> Wrote:
    return {"scores": rated(sum(s.value or 0 for s in state["scores"].values() if s.agent == "evalutor"))}


def of_stage(state: Read) -> Wrote:
    return {"scores": rated(sum(s.value or 0 for s in state["scores"].values() if s.stage in ("drafft", "x")))}


def of_criterion(state: Read) -> Wrote:
    return {"scores": rated(sum(s.value or 0 for s in state["scores"].values() if s.criterion != "Fluencey"))}


def of_what_there_is(state: Read) -> Wrote:
    chosen = [s for s in state["scores"].values() if s.agent == "evaluator" and s.criterion in ("Fluency", "Wit")]
    return {"scores": rated(len(chosen) or 1)}


COMPARED = [(of_agent, "evaluator"), (of_stage, "draft"), (of_criterion, "Fluency")]


@pytest.mark.parametrize(("function", "meant"), COMPARED, ids=[one.__name__ for one, _ in COMPARED])
def test_a_misspelt_name_by_which_a_function_looks_for_scores_is_warned_of(function: Any, meant: str):
    judge = Evaluator(criteria=SUMMARY)
    (told,) = jg.check(line(("e", judge), ("mine", function))).findings
    assert (told.code, told.severity, told.node) == ("no-such-scores", "warning", "mine")
    assert told.message.endswith(f"did you mean '{meant}'?")
    assert jg.check(line(("e", judge), ("mine", of_what_there_is))).findings == ()


def test_a_rectify_at_another_stage_than_its_critic_reviewed_is_refused():
    def graph(stage: str) -> Any:
        second = Evaluator(criteria=SUMMARY, name="second", stage="final", cot=True)
        critic = Sage(criteria=SUMMARY, stage="final", name="critic")
        return line(
            ("e", Evaluator(criteria=SUMMARY)), ("f", second), ("c", critic), ("r", Rectify(name="critic", stage=stage))
        )

    (told,) = jg.check(graph("draft"), strict=False).findings
    assert (told.code, told.severity, told.node) == ("no-such-scores", "error", "r")
    assert "'c' reviews those at 'final': give both the same stage" in told.message
    assert jg.check(graph("final")).findings == ()


def test_a_round_that_a_refinement_never_comes_to_is_no_stage():
    def graph(stage: str) -> Any:
        refine = jg.refine("sage", rounds=2, criteria=SUMMARY)
        last = jg.critique("devils-advocate", criteria=SUMMARY, stage=stage)
        return line(("e", Evaluator(criteria=SUMMARY)), ("r", refine), ("c", last))

    assert codes(graph("round-3")) == [("no-such-scores", "error")]
    assert codes(graph("round-2")) == []


@pytest.mark.parametrize("function", SOUND, ids=[one.__name__ for one in SOUND])
def test_an_attribute_that_may_be_there_passes(function: Any):
    assert jg.check(line(("e", Evaluator(criteria=CRITERIA)), ("mine", function))).findings == ()


def test_a_state_of_ones_own_says_what_stands_under_its_keys():
    graph = StateGraph(Own)
    graph.add_node("mine", lambda state: {"task": state["sample"].pages})
    graph.add_edge(START, "mine")
    graph.add_edge("mine", END)
    assert jg.check(graph).findings == ()


def anything(state: EvalState) -> EvalState:
    return {}


@pytest.mark.parametrize(("first", "severity"), [(False, "error"), (True, "warning")], ids=["behind", "before"])
def test_a_node_of_one_s_own_hides_no_mistake_of_others(first: bool, severity: str):
    def findings(*nodes: tuple[str, Any]) -> list[tuple[str, str]]:
        whole = [("own", anything), *nodes] if first else [*nodes, ("own", anything)]
        return [(one.code, one.severity) for one in jg.check(line(*whole), strict=False).findings]

    judge = ("e", Evaluator(criteria=SUMMARY))
    critic = jg.critique(Sage(criteria=SUMMARY), of="evaluater")
    assert ("no-such-scores", severity) in findings(judge, ("c", critic))
    gate = jg.gate(jg.metric_node("novelty"), jg.low(below=7))
    assert ("unfit-scale", severity) in findings(judge, ("g", gate))
    assert not findings(judge, ("c", jg.critique(Sage(criteria=SUMMARY))))


def test_a_critic_of_the_last_of_several_judges_drafts_is_warned_of():
    def found(critic: Any, *names: str) -> list[tuple[str, str, str]]:
        graph = StateGraph(EvalState)
        graph.add_node("c", critic, defer=True)
        for name in names:
            graph.add_node(name, Evaluator(criteria=SUMMARY, name=name, cot=name == "other"))
            graph.add_edge(START, name)
            graph.add_edge(name, "c")
        graph.add_edge("c", END)
        return [(one.code, one.severity, one.node) for one in jg.check(graph).findings]

    sage = Sage(criteria=SUMMARY)
    assert found(jg.critique(sage), "evaluator", "other") == [("drafts-passed-over", "warning", "c")]
    assert not found(jg.critique(sage), "evaluator")
    assert not any(
        code == "drafts-passed-over" for code, *_ in found(jg.critique(sage, of="other"), "other", "evaluator")
    )


def test_one_opinion_that_is_given_twice_is_told_whatever_its_names():
    for method in (g_eval, sageval, fusion_eval):
        assert codes(line(("a", method()), ("b", method()))) == [("same-opinion", "warning")]
        assert codes(line(("a", method()), ("b", method(name="b")))) == [("same-opinion", "warning")]
        assert codes(line(("a", method()), ("b", method(name="b", judge="openai:x")))) == []
    flat = line(
        ("e", Evaluator(criteria=SUMMARY)), ("s", Sage(criteria=SUMMARY)), ("r", Rectify()),
        ("t", Sage(criteria=SUMMARY, name="t")), ("u", Rectify(name="t")),
    )  # fmt: skip
    assert codes(flat) == [("same-opinion", "error")]


def test_what_merges_what_nobody_writes_and_a_judge_that_is_a_class_are_refused():
    assert codes(line(("m", Merge()))) == [("no-such-scores", "error")]
    nobody = ("no-such-scores", "error")
    assert nobody in codes(line(("c", Comparer(name="pairs")), ("m", Merge(mode="pair"))))
    assert nobody not in codes(line(("c", Comparer()), ("m", Merge())))
    (told,) = jg.check(line(("e", Evaluator(judge=EmbeddedJudge, criteria=SUMMARY))), strict=False).findings
    assert told.code == "no-judge"
    assert "EmbeddedJudge(...)" in told.message
    escalated = line(("x", jg.escalate("embedded", "openai:x")))
    assert {one.code for one in of_a_run(escalated)} == {"no-criteria"}
