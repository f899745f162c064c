"""Fennec as a graph: its figure, its fan-out and join, its answers, and what happens when a step fails."""

import pytest
from langgraph.graph import END, START, StateGraph

from judgegraph.errors import ConfigError, CriteriaError
from judgegraph.graphs.fennec import fennec
from judgegraph.testing import scripted
from judgegraph.types import Criterion, EvalState, Sample

ONE = Sample(id="s1", query="Why?", output="text of a")
PAIR = Sample(id="s2", query="Why?", output="text of a", rival="text of b")
NAMES = ("Truth", "Depth", "Tone", "Length", "Order")


class Cast:
    """A judge that answers each step of Fennec; `scores`: criterion -> score, or (a, b), or a reply as it is."""

    def __init__(self, scores, names=NAMES, **replies):
        self.scores, self.names, self.replies = scores, names, replies
        self.steps: list[str] = []
        self.model = scripted(*[self.answer] * 100)

    def answer(self, messages):
        step = self.step(str(messages[1].content))
        self.steps.append(step.partition(" ")[0])
        name = step.partition(" ")[2]
        if self.steps[-1] in self.replies:
            return self.replies[self.steps[-1]]
        if self.steps[-1] == "branch":
            return {"criteria": [{"name": n, "definition": f"about {n}"} for n in self.names]}
        if self.steps[-1] in ("guide", "correct"):
            return {"guideline": f"how to grade {name}"} if name else {"response": "rewritten"}
        return self.scored(self.scores[name])

    @staticmethod
    def step(text):
        name = text.partition("## ")[2].partition("\n")[0]
        if "<judgements-" in text:
            return "correct"
        if "<criterion-" not in text:
            return "branch"
        return f"judge {name}" if "<output-" in text or "<response_a-" in text else f"guide {name}"

    @staticmethod
    def scored(given):
        if isinstance(given, tuple):
            a, b = given
            said = {"explanation_a": "of a", "score_a": a, "explanation_b": "of b", "score_b": b}
            return {**said, "comparison": "of both"}
        return given if isinstance(given, str) else {"reason": "of a", "score": given}

    async def __call__(self, sample, graph=None, **settings):
        return await (graph or fennec(self.model, **settings)).ainvoke({"sample": sample})


def arrows(graph):
    return {f"{edge.source} > {edge.target}" for edge in graph.get_graph().edges}


FIGURE = {
    "__start__ > branch", "branch > weigh", "branch > merge", "weigh > merge",
    "merge > correct", "merge > __end__", "correct > __end__",
}  # fmt: skip


@pytest.mark.parametrize("mode", ["auto", "single", "pair"])
@pytest.mark.parametrize("criteria", [None, "general"])
def test_the_graph_is_the_figure_of_the_paper(mode, criteria):
    assert arrows(fennec(mode=mode, criteria=criteria)) == FIGURE


def test_without_correction_merge_is_the_last_step():
    without = {"__start__ > branch", "branch > weigh", "branch > merge", "weigh > merge", "merge > __end__"}
    assert arrows(fennec(correct="off")) == without


@pytest.mark.parametrize(
    ("mode", "steps"),
    [("auto", {"guide", "judge", "compare"}), ("single", {"guide", "judge"}), ("pair", {"guide", "compare"})],
)
def test_one_criterion_goes_from_guide_to_judge(mode, steps):
    drawn = fennec(mode=mode).get_graph(xray=True)
    inside = {e.source + ">" + e.target for e in drawn.edges if e.source == "weigh:guide"}
    assert inside == {f"weigh:guide>weigh:{step}" for step in steps - {"guide"}}


async def test_five_criteria_each_get_a_guideline_and_a_score():
    cast = Cast(dict(zip(NAMES, (5, 4, 3, 4, 4), strict=True)))
    final = await cast(ONE)
    assert sorted(cast.steps) == ["branch", *["guide"] * 5, *["judge"] * 5]
    assert [s.criterion for s in final["scores"].values()] == list(NAMES)
    assert final["guidelines"] == {name: f"how to grade {name}" for name in NAMES}
    assert (final["overall"], final["verdict"], final["corrections"]) == (4.0, None, {})
    judged = [str(m[1].content) for m in cast.model.calls if "<output-" in str(m[1].content)]
    assert sorted(text.partition("how to grade ")[2].partition("\n")[0] for text in judged) == sorted(NAMES)


@pytest.mark.parametrize(
    ("scores", "correct", "corrected"),
    [
        ((5, 5, 2), "below", True),
        ((5, 5, 3), "below", False),
        ((5, 5, 3), "at-most", True),
        ((5, 5, 4), "at-most", False),
        ((1, 1, 1), "off", False),
        (("nonsense", "nonsense", "nonsense"), "at-most", False),
    ],
)
async def test_only_a_low_criterion_asks_for_a_correction(scores, correct, corrected):
    cast = Cast(dict(zip("abc", scores, strict=True)), names="abc")
    final = await cast(ONE, branches=3, correct=correct)
    assert ("output" in final.get("corrections", {})) is corrected
    assert ("correct" in cast.steps) is corrected


@pytest.mark.parametrize(
    ("scores", "verdict", "overall"),
    [(((5, 1), (1, 2)), "A", 3.0), (((5, 5), (4, 4)), "tie", 4.5), (((3, 4), (3, 3)), "B", 3.0)],
)
async def test_a_pair_is_decided_by_the_sums(scores, verdict, overall):
    final = await Cast(dict(zip("ab", scores, strict=True)), names="ab")(PAIR, branches=2)
    merged = final["comparisons"]["overall/merge/AB"]
    assert (final["verdict"], final["overall"], merged.verdict) == (verdict, overall, verdict)
    assert merged.score_a == sum(a for a, _ in scores)


async def test_both_orders_are_asked_and_their_agreement_is_kept():
    cast = Cast({"a": (4, 2)}, names="a")
    final = await cast(PAIR, branches=1, orders="both", labels="response")
    assert [key for key in final["comparisons"] if key.startswith("overall")] == [
        "overall/merge/AB", "overall/merge/BA", "overall/merge/both",
    ]  # fmt: skip
    assert final["comparisons"]["overall/merge/both"].notes == ("the orders agree: AB says A, BA says A",)
    by_position = await Cast({"a": (4, 2)}, names="a")(PAIR, branches=1, orders="both")
    verdicts = [c.verdict for c in by_position["comparisons"].values()]
    assert verdicts == ["A", "B", "A", "B", "tie"]


async def test_both_responses_of_a_pair_can_be_corrected():
    cast = Cast({"a": (1, 5), "b": (5, 2)}, names="ab")
    final = await cast(PAIR, branches=2)
    assert {of: c.criteria for of, c in final["corrections"].items()} == {"output": ("a",), "rival": ("b",)}
    assert cast.steps.count("correct") == 2


async def test_an_unreadable_judgement_is_left_out_of_both_sums():
    cast = Cast({"a": (2, 5), "b": "I would rather not say.", "c": (4, 5)}, names="abc")
    final = await cast(PAIR, branches=3)
    merged = final["comparisons"]["overall/merge/AB"]
    assert (merged.score_a, merged.score_b, final["overall"]) == (6.0, 10.0, 3.0)
    assert merged.notes == ("b: left out of both sums (unreadable)",)
    assert final["comparisons"]["b/comparer/AB"].status == "unreadable"
    assert {n.status for n in final["notes"].values()} == {"unreadable"}


@pytest.mark.parametrize("sample", [ONE, PAIR])
async def test_without_criteria_the_run_ends_with_a_status_and_no_number(sample):
    final = await Cast({}, branch="I cannot think of any.")(sample)
    assert (final["branches"], final["overall"], final["verdict"]) == ({}, None, None)
    (note,) = final["notes"].values()
    assert (note.agent, note.status) == ("criteria-writer", "unreadable")
    assert [c.status for c in final["comparisons"].values()] == (["skipped"] if sample is PAIR else [])


async def test_a_pair_without_a_rival_is_skipped_before_anything_is_judged():
    cast = Cast({})
    final = await cast(ONE, mode="pair")
    assert cast.steps == []
    assert final["comparisons"]["overall/merge/AB"].status == "skipped"


async def test_single_mode_leaves_the_rival_alone():
    cast = Cast({"a": 4}, names="a")
    final = await cast(PAIR, mode="single", branches=1)
    assert (final["overall"], final["verdict"], final["comparisons"]) == (4.0, None, {})
    assert all("text of b" not in str(m[1].content) for m in cast.model.calls)


async def test_without_a_guideline_the_judge_goes_on():
    final = await Cast({"a": 4}, names="a", guide="")(ONE, branches=1)
    assert (final["overall"], final["guidelines"]) == (4.0, {})
    assert [(n.agent, n.status) for n in final["notes"].values()] == [("guideline-writer", "unreadable")]


@pytest.mark.parametrize("by_state", [True, False])
async def test_given_criteria_replace_the_branch(by_state):
    given = [Criterion(name="Wit", guideline="5 is funny"), Criterion(name="Truth", scale="0-1 any")]
    cast = Cast({"Wit": 2, "Truth": 0.75})
    graph = fennec(cast.model, criteria=None if by_state else given)
    final = await graph.ainvoke({"sample": ONE, **({"criteria": given} if by_state else {})})
    assert cast.steps.count("branch") == 0
    assert cast.steps.count("guide") == 1
    assert [s.value for s in final["scores"].values()] == [2.0, 0.75]
    assert final["overall"] is None  # two scales have no mean
    assert final["corrections"]["output"].criteria == ("Wit",)


async def test_merge_runs_once_however_many_criteria_there_are():
    for names in ("abcde", "a", ""):
        graph = fennec(Cast(dict.fromkeys("abcde", 4), names=names).model)
        updates = [u async for u in graph.astream({"sample": ONE}, stream_mode="updates")]
        assert [key for u in updates for key in u].count("merge") == 1


async def test_inside_another_graph_nothing_is_doubled():
    cast = Cast({"a": (1, 4), "b": (2, 2)}, names="ab")
    second = Cast(dict(zip(NAMES, (5, 4, 4, 5, 4.5), strict=True)))
    outer = StateGraph(EvalState)
    outer.add_node("first", fennec(cast.model, branches=2))
    outer.add_node("second", fennec(second.model, mode="single", correct="off", name="second"))
    outer.add_edge(START, "first")
    outer.add_edge("first", "second")
    outer.add_edge("second", END)
    final = await outer.compile().ainvoke({"sample": PAIR})
    assert list(final["comparisons"]) == ["a/comparer/AB", "b/comparer/AB", "overall/merge/AB"]
    assert {s.agent for s in final["scores"].values()} == {"comparer", "second-judge"}
    assert list(final["corrections"]) == ["output", "rival"]
    assert list(final["branches"]) == [
        "a/criteria-writer", "b/criteria-writer", *(f"{name}/second-criteria-writer" for name in NAMES),
    ]  # fmt: skip
    assert "criteria" not in final
    assert (final["overall"], len(final["scores"])) == (4.5, 9)


async def test_the_roles_may_have_judges_of_their_own():
    writer, judge, corrector = (Cast({"a": 1}, names="a") for _ in range(3))
    graph = fennec(judge.model, writer_judge=writer.model, corrector_judge=corrector.model, branches=1)
    await graph.ainvoke({"sample": ONE})
    assert (writer.steps, judge.steps, corrector.steps) == (["branch", "guide"], ["judge"], ["correct"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "pairs"}, {"orders": "AA"}, {"labels": "x"}, {"reply": "xml"}, {"merge": "mean"},
        {"correct": None}, {"branches": 0}, {"branches": 51}, {"branches": True}, {"threshold": float("nan")},
        {"temperature": -1}, {"task": 3},
    ],
    ids=str,
)  # fmt: skip
def test_an_unknown_option_is_refused_when_the_graph_is_built(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        fennec(**wrong)


def test_unknown_criteria_are_refused_when_the_graph_is_built():
    with pytest.raises(CriteriaError):
        fennec(criteria="no such set")
