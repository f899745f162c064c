"""A panel: all judges side by side, a ballot each, one score per criterion."""

import asyncio
import json
from dataclasses import dataclass

import pytest
from drawing import arrows
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

import judgegraph as jg
from judgegraph import registry
from judgegraph.agents.aspects import RandomRater
from judgegraph.agents.evaluator import Case, Evaluator, Scored
from judgegraph.agents.judge import Rater
from judgegraph.agents.person import Person
from judgegraph.agents.sage import Sage
from judgegraph.calls import Endpoint, Reader
from judgegraph.compose.nodes import as_node
from judgegraph.errors import AuthError, ConfigError, ReplyError
from judgegraph.graphs import fennec, g_eval, sageval
from judgegraph.graphs.sageval import builder
from judgegraph.testing import scripted
from judgegraph.types import Criterion, EvalState, Finding, Note, Sample, Scale, Score, Scores, keyed

SAMPLE = Sample(id="s1", source="The bridge closed on Monday. Repairs take a year.", output="It is closed for a year.")
CLARITY = Criterion(name="Clarity", definition="One reading only.")
WIT = Criterion(name="Wit", definition="It is funny.")
TONE = Criterion(name="Tone", scale=Scale(labels=("cold", "warm")))


@dataclass(frozen=True, kw_only=True)
class Says:
    """Gives every criterion one answer."""

    answer: float | str | None
    name: str = "says"
    stage: str = "final"

    async def __call__(self, state: Case) -> Scored:
        what = {"label": self.answer} if isinstance(self.answer, str) else {"value": self.answer}
        if self.answer is None:
            what = {"status": "abstained"}
        return {"scores": keyed(*(self._score(c, what) for c in state["criteria"]))}

    def _score(self, criterion, what):
        return Score(criterion=criterion.name, agent=self.name, stage=self.stage, scale=criterion.scale, **what)


def rated(value, reason="r"):
    return scripted(*[{"clarity": {"reason": reason, "score": value}}] * 3)


async def run(node, **before):
    return await node.ainvoke({"sample": SAMPLE, **before})


def by_stage(final, stage):
    return {s.agent: s.answer for s in final["scores"].values() if s.stage == stage}


async def test_each_judge_casts_a_ballot_and_the_panel_gives_one_score():
    node = jg.panel(rated(4), rated(5), rated(3), criteria=[CLARITY], samples=1)
    final = await run(node)
    assert by_stage(final, "ballot") == {"panel-1": 4.0, "panel-2": 5.0, "panel-3": 3.0}
    assert by_stage(final, "final") == {"panel": 4.0}
    assert list(final["scores"])[-1] == "Clarity/panel/final/0"
    assert set(final) == {"scores", "notes"}


@pytest.mark.parametrize(
    ("combine", "answer"), [("mean", 3.0), ("median", 4.0), ("vote", 4.0)], ids=["mean", "median", "vote"]
)
async def test_ballots_are_combined_by(combine, answer):
    node = jg.panel(Says(answer=4, name="a"), Says(answer=1, name="b"), Says(answer=4, name="c"), combine=combine)
    assert by_stage(await run(node, criteria=[CLARITY]), "final")["panel"] == answer


async def test_in_a_vote_evaluators_are_asked_for_the_number_they_state():
    def readers(**settings):
        node = jg.panel("embedded", combine="vote", **settings)
        return node.builder.nodes["panel-1"].runnable.builder.nodes["ask"].runnable.afunc.reader

    assert (readers(), readers(samples=3)) == (Reader(), Reader("weighted", samples=3))


@pytest.mark.parametrize(
    ("member", "ballot"),
    [
        ("embedded", "panel-1"),
        (Endpoint(model="embedded"), "panel-1"),
        ("g-eval", "panel-g-eval"),
        ("method/g-eval", "panel-g-eval"),
        ("evaluator", "panel-evaluator"),
        (Evaluator(), "panel-evaluator"),
        (sageval(), "panel-sageval"),
        (builder(), "panel-1"),
        ({"strict": "sageval"}, "strict"),
        ({"strict": Evaluator()}, "strict"),
    ],
    ids=[
        "a judge", "an endpoint", "a method", "its kind too", "an agent's name", "an agent", "a graph", "a StateGraph",
        "a named method", "a named agent",
    ],
)  # fmt: skip
async def test_a_member_is(member, ballot):
    final = await run(jg.panel(member, criteria="summary"))
    assert set(by_stage(final, "ballot")) == {ballot}
    finals = {s.criterion: s.answer for s in final["scores"].values() if s.agent == "panel"}
    assert finals == {s.criterion: s.answer for s in final["scores"].values() if s.stage == "ballot"}
    assert set(finals) == {"Coherence", "Consistency", "Fluency", "Relevance"}


@pytest.mark.parametrize(
    "rows",
    [
        ("g-eval", "g-eval-20"),
        ("coascore", "coascore-5", "g-eval"),
        ("fennec-1", "fennec-2"),
        ("sageval", "sageval-sr"),
    ],
)
async def test_rows_of_one_method_each_keep_what_they_wrote(rows):
    node = jg.panel(*rows, criteria="summary")
    assert jg.check(node).findings == ()
    final = await run(node)
    assert not [note for note in final["notes"].values() if "left out" in note.text]
    assert set(by_stage(final, "ballot")) == {f"panel-{row}" for row in rows}
    for row in rows:
        own = f"panel-{row}" if row != "g-eval" or "g-eval-20" in rows else "panel"
        alone = await as_node(row, criteria="summary", name=own).ainvoke({"sample": SAMPLE})
        for key in ("scores", "aspects", "corrections", "comparisons", "rectifications"):
            member = {"member": f"panel-{row}"} if key == "scores" else {}  # the panel says whose they are
            wrote = alone.get(key, {}).items()
            expected = {name: one.model_copy(update=member) if member else one for name, one in wrote}
            assert expected.items() <= final.get(key, {}).items(), (row, key)


async def test_rows_of_one_method_ask_what_each_asks_alone(tmp_path):
    ledger = tmp_path / "calls.sqlite"
    for row in ("coascore-5", "coascore-no-scores"):
        jg.evaluate(as_node(row, criteria=[CLARITY]), [SAMPLE], ledger=ledger)
    held = jg.evaluate(jg.panel("coascore-5", "coascore-no-scores", criteria=[CLARITY]), [SAMPLE], ledger=ledger)
    assert held.manifest["spent"]["calls"] == 0


async def test_a_panel_of_different_methods_writes_under_the_panels_name_alone():
    final = await run(jg.panel("g-eval", "llm-score", "coascore-5", criteria=[CLARITY]))
    agents = {s.agent for s in final["scores"].values() if s.stage not in ("ballot",)}
    assert agents == {"panel", "panel-g-eval", "panel-llm-score", "panel-rater", "panel-fuser"}


async def test_the_answer_of_a_graph_is_its_final_score_and_says_where_it_is_from():
    draft = {"clarity": {"reason": "r", "score": 4}}
    kept = {"rectifications": {"clarity": {"reason": "s", "verdict": "lower", "score": 2}}}
    judge = scripted(draft, {**kept, "definitions": [], "new_criteria": []})
    final = await run(jg.panel(sageval(judge, samples=1), criteria=[CLARITY]))
    assert {key: s.value for key, s in final["scores"].items()} == {
        "Clarity/evaluator/draft/0": 4.0, "Clarity/sage/final/0": 2.0, "Clarity/panel-sageval/ballot/0": 2.0,
        "Clarity/panel/final/0": 2.0,
    }  # fmt: skip
    assert final["scores"]["Clarity/panel-sageval/ballot/0"].notes[-1] == "taken from Clarity/sage/final/0"
    assert "Clarity/sage" in final["rectifications"]


async def test_of_an_agent_without_finals_what_it_wrote_counts():
    final = await run(jg.panel(Says(answer=2, stage="draft"), criteria=[CLARITY]))
    assert by_stage(final, "ballot") == {"panel-says": 2.0}


async def test_a_judge_that_fails_is_left_out_and_told_of():
    node = jg.panel(rated(4), scripted("no", "no", "no"), Says(answer=None), criteria=[CLARITY], samples=1)
    found = (await run(node))["scores"]["Clarity/panel/final/0"]
    assert (found.value, found.status) == (4.0, "ok")
    assert [note.split(":")[0] for note in found.notes] == ["panel-2 left out", "panel-says left out"]


@dataclass(frozen=True, kw_only=True)
class Breaks:
    """Raises, whatever it is asked."""

    error: BaseException
    name: str = "breaks"

    async def __call__(self, state: Case) -> Scored:
        raise self.error


def inside(node):
    graph = StateGraph(EvalState)
    graph.add_node("judge", node)
    graph.add_edge(START, "judge")
    return graph.compile(name="inside")


class Mute(Exception):
    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize("around", [lambda node: node, inside, jg.each], ids=["an agent", "a graph", "each"])
@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (ZeroDivisionError("by\nzero"), "agent_error", "ZeroDivisionError: by zero"),
        (ConfigError("no such file"), "agent_error", "ConfigError: no such file"),
        (ReplyError("too late", "timeout"), "timeout", "ReplyError: too late"),
        (ValueError(), "agent_error", "ValueError, which says no more"),
        (Mute(), "agent_error", "Mute, which says no more"),
    ],
    ids=["any error", "a setting", "a reply", "an error without a word", "an error that cannot be told"],
)
async def test_a_judge_that_raises_has_a_failed_ballot_and_the_panel_goes_on(around, error, status, reason):
    node = jg.panel({"broken": around(Breaks(error=error))}, Says(answer=4), criteria=[CLARITY])
    final = await run(node)
    ballot = final["scores"]["Clarity/broken/ballot/0"]
    assert (ballot.status, ballot.answer, ballot.reason, ballot.scale) == (status, None, reason, CLARITY.scale)
    found = final["scores"]["Clarity/panel/final/0"]
    assert (found.value, found.notes) == (4.0, (f"broken left out: {status}: {reason}",))
    assert final["notes"] == keyed(
        Note(agent="broken", text=f"'broken' failed: {reason}", status=status, kind="panel-member-failed")
    )


async def test_a_judge_of_a_panel_whose_value_is_refused_is_told_with_key_and_cure():
    async def odd(state: jg.EvalState) -> jg.EvalState:
        return {"scores": keyed(jg.Score(criterion="Clarity", agent="odd", value=float("nan"), scale="1-5"))}

    final = await run(jg.panel(odd, Evaluator(criteria=[CLARITY]), criteria=[CLARITY]))
    reason = final["scores"]["Clarity/panel-odd/ballot/0"].reason
    assert all(said in reason for said in ("for the state's 'scores'", "value: Input", "a status other than 'ok'"))
    assert "pydantic.dev" not in reason


async def test_where_a_judge_raises_and_no_criteria_are_known_there_is_a_note():
    final = await run(jg.panel(Breaks(error=ValueError("odd")), Evaluator(criteria=[CLARITY])))
    assert [n.text for n in final["notes"].values()] == [
        "'panel-breaks' failed: ValueError: odd",
        "'panel-breaks' cast no ballot at stage 'ballot'; ballots there are of: panel-evaluator",
    ]
    assert final["scores"]["Clarity/panel/final/0"].notes == ("panel-breaks left out: no ballot",)


def test_what_ends_a_run_ends_it_inside_a_panel_too():
    node = jg.panel(Breaks(error=AuthError("the key is refused")), Says(answer=4), criteria=[CLARITY])
    with pytest.raises(AuthError, match="the key is refused"):
        jg.evaluate(node, [SAMPLE])
    other = jg.panel(Breaks(error=KeyError("x")), Says(answer=4), criteria=[CLARITY])
    (item,) = jg.evaluate(other, [SAMPLE]).items
    assert (item.status, {s.status for s in item.scores}) == ("ok", {"ok", "agent_error"})


async def test_a_judge_that_stops_for_a_person_stops_the_panel_and_goes_on():
    async def asks(state: Case) -> Scored:
        value = interrupt("how good is it?")
        return {"scores": keyed(Score(criterion="Clarity", agent="asks", value=value, scale=CLARITY.scale))}

    graph = inside(jg.panel(inside(asks), Says(answer=4), criteria=[CLARITY])).builder
    kept = graph.compile(checkpointer=InMemorySaver(serde=jg.serializer()))
    thread = {"configurable": {"thread_id": "1"}}
    assert (await kept.ainvoke({"sample": SAMPLE}, thread))["__interrupt__"][0].value == "how good is it?"
    final = await kept.ainvoke(Command(resume=2.0), thread)
    assert final["scores"]["Clarity/panel/final/0"].value == 3.0


def test_a_check_sees_a_member_as_it_is():
    node = jg.panel(Breaks(error=ValueError()), inside(Says(answer=4)), criteria=[CLARITY])
    asks = [
        node.builder.nodes[name].runnable.builder.nodes["ask"].runnable for name in ("panel-breaks", "panel-inside")
    ]
    assert isinstance(asks[0].afunc, Breaks)
    assert "judge" in asks[1].builder.nodes
    assert "panel-inside:ask" in str(inside(node).get_graph(xray=True).nodes)


async def test_of_a_pair_the_rival_has_a_score_where_the_same_judges_saw_it():
    async def both(state: Case) -> Scored:
        def made(of, value):
            return Score(criterion="Clarity", agent="both", of=of, value=value, scale=CLARITY.scale)

        return {"scores": keyed(made("output", 2.0), made("rival", 3.0))}

    final = await run(jg.panel(both, Says(answer=4), criteria=[CLARITY]))
    panels = {key: s for key, s in final["scores"].items() if s.agent == "panel"}
    assert {key: s.value for key, s in panels.items()} == {"Clarity/panel/final/0": 3.0}
    said = "no score of the rival: panel-both judged it, panel-both, panel-says the output"
    assert panels["Clarity/panel/final/0"].notes == (said,)
    final = await run(jg.panel({"a": both, "b": both}, criteria=[CLARITY]))
    assert final["scores"]["Clarity/panel/final/0/rival"].value == 3.0


async def test_where_all_fail_there_is_a_status_and_no_number():
    node = jg.panel(Says(answer=None, name="a"), Says(answer=None, name="b"), criteria=[CLARITY])
    found = (await run(node))["scores"]["Clarity/panel/final/0"]
    assert (found.answer, found.status) == (None, "abstained")


async def test_labels_are_voted_beside_numbers():
    def judge(score, label):
        return scripted({"clarity": {"reason": "r", "score": score}, "tone": {"reason": "r", "label": label}})

    node = jg.panel(judge(4, "warm"), judge(5, "cold"), judge(3, "warm"), criteria=[CLARITY, TONE], samples=1)
    found = (await run(node))["scores"]
    assert (found["Clarity/panel/final/0"].value, found["Tone/panel/final/0"].label) == (4.0, "warm")


async def test_criteria_of_the_state_come_before_the_panels_and_without_any_each_judge_has_its_own():
    own = Evaluator(criteria=[Criterion(name="Own")])
    for given, before, names in (
        (None, {}, {"Own"}), ([CLARITY], {}, {"Clarity"}), ([CLARITY], {"criteria": [TONE]}, {"Tone"}),
    ):  # fmt: skip
        final = await run(jg.panel(own, criteria=given), **before)
        assert {s.criterion for s in final["scores"].values()} == names
        assert "criteria" not in final


async def test_without_any_criteria_it_says_so():
    final = await run(jg.panel("embedded"))
    assert (final["scores"], [n.status for n in final["notes"].values()]) == ({}, ["skipped"])


async def test_what_stood_in_the_state_before_sways_no_judge_and_stays():
    before = keyed(Score(criterion="Clarity", agent="panel-1", stage="ballot", value=1.0, scale=CLARITY.scale))
    graph = StateGraph(EvalState)
    graph.add_node("panel", jg.panel(Says(answer=4), criteria=[CLARITY]))
    graph.add_edge(START, "panel")
    final = await graph.compile().ainvoke({"sample": SAMPLE, "scores": before})
    assert final["scores"]["Clarity/panel/final/0"].value == 4.0
    assert before.items() <= final["scores"].items()


async def test_a_member_reads_what_no_member_writes():
    seen = []

    async def judge(state: EvalState) -> Scored:
        seen.append(state)
        return {"scores": {}}

    said = {"rouge-l": Finding(assistant="rouge-l", value=0.5)}
    scores = keyed(Score(criterion="Clarity", agent="x", value=1.0))
    await run(jg.panel(judge), findings=said, scores=scores)
    assert (seen[0]["findings"], seen[0]["scores"]) == (said, {})


async def test_own_scores_that_clash_are_left_out_with_a_note_and_the_ballots_stand():
    one, two = sageval(rated_twice(4), samples=1), sageval(rated_twice(2), samples=1)
    final = await run(jg.panel({"one": one, "two": two}, criteria=[CLARITY]))
    assert {key: s.value for key, s in final["scores"].items()} == {
        "Clarity/one/ballot/0": 4.0, "Clarity/two/ballot/0": 2.0, "Clarity/panel/final/0": 3.0,
    }  # fmt: skip
    assert any("Clarity/sage/final/0: several runs differ" in n.text for n in final["notes"].values())


def rated_twice(value):
    kept = {"rectifications": {"clarity": {"reason": "r", "verdict": "keep", "score": value}}}
    return scripted({"clarity": {"reason": "r", "score": value}}, {**kept, "definitions": [], "new_criteria": []})


async def test_judges_of_different_length_are_joined_once():
    ran = []

    def slow(steps, value):
        async def step(state: EvalState) -> EvalState:
            await asyncio.sleep(0.001)
            return {}

        graph = StateGraph(EvalState)
        graph.add_node("end", Says(answer=value))
        graph.add_edge(START, *(["s0"] if steps else ["end"]))
        for i in range(steps):
            graph.add_node(f"s{i}", step)
            graph.add_edge(f"s{i}", f"s{i + 1}" if i + 1 < steps else "end")
        return graph.compile()

    async for mode in jg.panel(slow(0, 1), slow(3, 3), slow(7, 5), criteria=[CLARITY]).astream(
        {"sample": SAMPLE}, stream_mode="updates"
    ):
        ran += mode
    assert ran.count("join") == ran.count("consensus") == 1


async def test_nested_in_a_graph_it_doubles_nothing_and_writes_the_same():
    node = jg.panel("sageval", "g-eval", criteria="summary")
    alone = await run(node)
    inner, outer = StateGraph(EvalState), StateGraph(EvalState)
    inner.add_node("panel", node)
    inner.add_edge(START, "panel")
    outer.add_node("inner", inner.compile())
    outer.add_edge(START, "inner")
    final = await outer.compile().ainvoke({"sample": SAMPLE, "suggestions": alone["suggestions"]})
    assert (final["scores"], final["suggestions"]) == (alone["scores"], alone["suggestions"])


async def test_a_panel_sits_on_a_panel_under_another_name():
    inner = jg.panel(Says(answer=1), "embedded", name="inner")
    final = await run(jg.panel(inner, Says(answer=4), criteria=[CLARITY]))
    assert set(by_stage(final, "ballot")) == {"inner-says", "inner-2", "panel-inner", "panel-says"}
    with pytest.raises(ConfigError, match="panel-panel is a panel called 'panel' too"):
        jg.panel(jg.panel("embedded"), "embedded")


def test_the_drawing_shows_every_edge():
    node = jg.panel("embedded", "g-eval", criteria="summary")
    assert arrows(node) == {
        "__start__ > brief", "brief > panel-1", "brief > panel-g-eval", "panel-1 > join", "panel-g-eval > join",
        "join > consensus", "consensus > __end__",
    }  # fmt: skip
    assert arrows(jg.panel("embedded")) == {
        "__start__ > panel-1", "panel-1 > join", "join > consensus", "consensus > __end__",
    }  # fmt: skip
    assert not {":", "|"} & set("".join(node.builder.nodes))


@pytest.mark.parametrize(
    ("judges", "words"),
    [
        ((), "no judges given"),
        (("nobody",), "nobody"),
        ((7,), "got 7"),
        ((Evaluator,), r"write Evaluator\(\.\.\.\)"),
        (("sage",), "panel-sage writes no scores"),
        (("rouge-l",), "measures and judges by no criterion"),
        (({"scores": "embedded"},), "no member can be called 'scores'"),
        (({"a:b": "embedded"},), "no member can be called 'a:b'"),
        (({"a": "embedded"}, {"a": "embedded"}), "two are called so"),
        (("g-eval", {"a": "openai:m", "b": "openai:m"}), "member 2 and member 3 are both 'openai:m': one call"),
        (("g-eval", "sageval", "g-eval"), "member 1 and member 3 are both 'g-eval'"),
        (("openai:m", jg.Endpoint(model="openai:m", timeout=7)), "member 1 and member 2 are both 'openai:m'"),
    ],
    ids=[
        "none",
        "no name",
        "a number",
        "a class",
        "a critic",
        "a metric",
        "a key",
        "a colon",
        "two of one name",
        "twice",
        "a method twice",
        "twice at all",
    ],
)
def test_what_cannot_sit_on_a_panel_is_said_when_it_is_built(judges, words):
    with pytest.raises(ConfigError, match=words):
        jg.panel(*judges, criteria="summary")


def test_another_rule_is_refused():
    with pytest.raises(ConfigError, match="combine: expected"):
        jg.panel("embedded", combine="max")


async def test_by_name_it_takes_its_judges_as_a_setting():
    settings = {"judges": ["embedded", {"strict": "g-eval"}], "combine": "median"}
    node = as_node("panel", settings, criteria="summary", name="jury")
    assert set(by_stage(await run(node), "ballot")) == {"jury-1", "strict"}
    assert registry.find("panel")[0] == "agent"


async def test_two_panels_in_one_graph_need_two_names():
    graph = StateGraph(EvalState)
    for name, value in (("mild", 5), ("strict", 1)):
        graph.add_node(name, jg.panel(Says(answer=value), criteria=[CLARITY], name=name))
        graph.add_edge(START, name)
        graph.add_edge(name, END)
    final = await graph.compile().ainvoke({"sample": SAMPLE})
    panels = {s.agent: s.value for s in final["scores"].values() if s.agent in ("mild", "strict")}
    assert panels == {"mild": 5.0, "strict": 1.0}


def test_it_runs_in_evaluate_with_a_ledger_and_plan_counts_its_calls(tmp_path):
    samples = [Sample(id=f"s{i}", output=f"Text {i}.") for i in range(3)]
    node = jg.panel("embedded", "llm-score", criteria=[CLARITY, Criterion(name="Wit")], combine="vote")
    forecast = jg.plan(node, samples)
    run = jg.evaluate(node, samples, out=tmp_path / "run")
    spent = json.loads((tmp_path / "run" / "manifest.json").read_text())["spent"]
    assert (forecast.total.exact, spent["calls"], forecast.own_code) == (9, 9, ())
    assert {s.agent for item in run.items for s in item.scores if s.stage == "final"} == {"panel", "panel-llm-score"}
    assert "combine:vote" in run.signature
    again = jg.evaluate(node, samples, out=tmp_path / "run")
    assert [item.scores for item in again.items] == [item.scores for item in run.items]


def test_a_run_with_another_rule_is_another_run(tmp_path):
    samples = [Sample(id="s", output="Text.")]
    jg.evaluate(jg.panel("embedded", criteria=[CLARITY]), samples, out=tmp_path)
    with pytest.raises(ConfigError, match="combine"):
        jg.evaluate(jg.panel("embedded", criteria=[CLARITY], combine="median"), samples, out=tmp_path)


def test_scores_survive_the_way_to_the_disk_and_back(tmp_path):
    jg.evaluate(jg.panel("embedded", "g-eval", criteria="summary"), [SAMPLE], out=tmp_path)
    (item,) = jg.Run.load(tmp_path).items
    found: Scores = keyed(*item.scores)
    assert found["Fluency/panel/final/0"].reader == "panel"


def named(name, **settings):
    return Evaluator(name=name, criteria=[CLARITY], **settings)


ONE_OPINION = {
    "agents": lambda: [named("a"), named("b")],
    "agents with one judge": lambda: [named("a", judge="openai:m"), named("b", judge=jg.Endpoint(model="openai:m"))],
    "a judge and an agent by name": lambda: ["embedded", "evaluator"],
    "agents whose criteria are the panel's": lambda: [named("a"), Evaluator(name="b")],
    "methods": lambda: [fennec(name="a"), fennec(name="b")],
    "a method and its name": lambda: [g_eval(criteria=[CLARITY]), "g-eval"],
}


@pytest.mark.parametrize("name", ONE_OPINION)
def test_members_that_differ_in_their_names_alone_are_refused(name):
    with pytest.raises(ConfigError, match="differ in their names alone: one call is made for both"):
        jg.panel(*ONE_OPINION[name](), criteria=[CLARITY])


TWO_OPINIONS = {
    "by judge": [named("a"), named("b", judge="openai:m")],
    "by temperature": [named("a"), named("b", judge=jg.Endpoint(model="embedded", temperature=1.0))],
    "by prompt": [named("a"), named("b", prompt="evaluate_each")],
    "by persona": [named("a"), named("b", task="a text that a strict editor reads")],
    "by criteria": [named("a"), Evaluator(name="b", criteria=[CLARITY, WIT])],
    "of a class of one's own": [Says(answer=1), Says(answer=1, name="other")],
    "by chains": [Rater(name="a", chains="long"), Rater(name="b", chains="short")],
    "without a judge": [RandomRater(name="a"), RandomRater(name="b")],
    "by the stage that a method's critic reviews": [sageval(critic=Sage()), sageval(name="b", critic=Sage(stage="x"))],
    "by a setting of a method": [fennec(name="a"), fennec(name="b", reply="text")],
}


def test_people_are_no_opinion_told_twice():
    with pytest.raises(ConfigError, match="anna writes no scores"):
        jg.panel({"anna": Person(name="anna"), "ben": Person(name="ben")})


@pytest.mark.parametrize("name", TWO_OPINIONS)
def test_members_of_one_judge_that_are_asked_otherwise_are_a_panel(name):
    assert jg.panel(*TWO_OPINIONS[name])


def test_members_with_criteria_of_their_own_are_refused_for_what_it_is():
    own = [jg.Criterion(name="Wit", definition="How witty it is.")]
    members = {
        "a": Evaluator(name="a", criteria=own),
        "b": Evaluator(name="b", criteria=jg.criteria_set("forms").criteria),
    }
    with pytest.raises(ConfigError, match=r"differ in their criteria alone, in whose place those of the panel stand: .*"
                       r"leave criteria= of the panel out"):  # fmt: skip
        jg.panel(members, criteria="summary")
