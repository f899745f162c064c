"""Conditions: what counts as doubt, at the very threshold too, and how each is written."""

from dataclasses import dataclass

import pytest
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.agents.evaluator import Evaluator
from judgegraph.answers import distribution_width
from judgegraph.compose.conditions import CONDITIONS, EVERY, Own, condition_of, title
from judgegraph.errors import ConfigError
from judgegraph.types import Criterion, EvalState, Scale, Score, keyed

FIVE, LABELS = Scale.of("1-5"), Scale.of(["good", "bad", "odd"])


def score(value=3.0, shares=None, criterion="Clarity", agent="a", stage="draft", scale=FIVE, **more):
    given = {"label": value} if isinstance(value, str) else {"value": value}
    return Score(
        criterion=criterion, agent=agent, stage=stage, scale=scale, distribution=shares, **(given | more)
    )  # fmt: skip


def lost(criterion="Clarity", status="refused", **more):
    return score(None, criterion=criterion, status=status, **more)


def state(*scores, criteria=()):
    return {"scores": keyed(*scores), "criteria": list(criteria)}


@pytest.mark.parametrize(
    ("given", "width"),
    [
        (score(3.0, {"3": 1.0}), 0.0),
        (score(3.0, {"1": 0.5, "5": 0.5}), 0.5),
        (score(2.5, {"2": 0.5, "3": 0.5}), 0.125),
        (score(2.5, {"2": 0.25, "3": 0.25}), 0.125),
        (score(0.5, {"0": 0.5, "1": 0.5}, scale=Scale.of("0-1")), 0.5),
        (score("good", {"good": 0.75, "bad": 0.25}, scale=LABELS), 0.25),
        (score("good", {"good": 0.4, "bad": 0.3, "odd": 0.3}, scale=LABELS), 0.6),
        (score(3.0), None),
        (score(3.0, {"3": 1.0}, scale=None), None),
        (score(3.0, {"three": 1.0}), None),
        (score(3.0, {}), None),
    ],
    ids=[
        "one point", "both ends", "two neighbours", "shares that sum to less", "another scale", "labels",
        "three labels", "stated", "no scale", "no numbers", "empty",
    ],
)  # fmt: skip
def test_width_is_a_share_of_the_range(given, width):
    assert distribution_width(given) == pytest.approx(width) if width is not None else distribution_width(given) is None


@pytest.mark.parametrize(("above", "doubted"), [(0.124, True), (0.125, False), (0.126, False)])
def test_wide_is_more_than_the_threshold(above, doubted):
    found = jg.wide(above)(state(score(2.5, {"2": 0.5, "3": 0.5})))
    assert found == (
        {"Clarity": "the standard deviation as a share of the range is 0.125, above 0.124"} if doubted else {}
    )


def test_an_answer_without_a_distribution_is_in_doubt_unless_it_is_taken_for_sure():
    assert "no distribution" in jg.wide()(state(score(3.0)))["Clarity"]
    assert jg.wide(unknown=False)(state(score(3.0))) == {}


def test_what_has_no_answer_is_failed_and_not_wide():
    held = state(lost(), lost("Wit", "abstained"), score(4.0, {"4": 1.0}, "Tone"), criteria=[Criterion(name="New")])
    assert jg.wide()(held) == {}
    assert jg.failed()(held) == {
        "Clarity": "there is no answer (refused)", "Wit": "there is no answer (abstained)", "New": "it has no score",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("condition", "value", "scale", "doubted"),
    [
        (jg.low(3), 2.99, "1-5", True),
        (jg.low(3), 3.0, "1-5", False),
        (jg.low(below=0.5), 0.4, "0-1 any", True),
        (jg.low(share=0.5), 2.9, "1-5", True),
        (jg.low(share=0.5), 3.0, "1-5", False),
        (jg.low(share=0.5), 4.9, "0-10", True),
        (jg.low(3), "bad", ["good", "bad"], False),
    ],
)
def test_low_is_below_a_value_or_a_share_of_the_range(condition, value, scale, doubted):
    assert bool(condition(state(score(value, scale=Scale.of(scale))))) is doubted


@pytest.mark.parametrize(
    ("scores", "doubted"),
    [
        ([score(3.0, agent="a"), score(4.0, agent="b")], False),
        ([score(3.0, agent="a"), score(4.01, agent="b")], True),
        ([score(1.0, agent="a"), score(2.0, agent="b"), score(3.0, agent="c")], True),
        ([score(1.0, agent="a"), lost(agent="b")], False),
        ([score(5.0, agent="a")], False),
        ([score(1.0, agent="a"), score(5.0, criterion="Wit", agent="b")], False),
        ([score(1.0, agent="a", stage="ballot"), score(5.0, agent="b", stage="final")], True),
        ([score(1.0, agent="a", stage="round-1"), score(5.0, agent="b")], False),
        ([score("good", agent="a", scale=LABELS), score("bad", agent="b", scale=LABELS)], True),
        ([score("good", agent="a", scale=LABELS), score("good", agent="b", scale=LABELS)], False),
        ([score("good", agent="a", scale=LABELS), score(3.0, agent="b")], True),
        ([score(0.5, agent="a", scale=Scale.of("0-1 any")), score(3.0, agent="b")], False),
        ([score(1.0, agent="a"), score(5.0, agent="a", of="rival")], False),
        ([score(1.0, agent="a", of="rival"), score(5.0, agent="b", of="rival")], False),
    ],
    ids=[
        "a quarter of the range", "more", "three judges", "one failed", "one alone", "another criterion", "two stages",
        "a stage that is not looked at", "two labels", "one label", "a label and a number", "two scales", "the rival",
        "two about the rival",
    ],
)  # fmt: skip
def test_judges_disagree_where_their_answers_lie_apart(scores, doubted):
    assert bool(jg.disagree()(state(*scores))) is doubted


@pytest.mark.parametrize("condition", [jg.low(3), jg.wide(0.1), jg.failed()], ids=["low", "wide", "failed"])
def test_a_rivals_scores_put_nothing_in_doubt(condition):
    sure, unsure = {"4": 1.0}, {"1": 0.5, "5": 0.5}
    fine = score(4.0, sure)
    rivals = score(1.0, unsure, of="rival"), score(1.0, unsure, "Wit", of="rival"), lost("Tone", of="rival")
    others = score(4.0, sure, "Wit"), score(4.0, sure, "Tone")
    assert condition(state(fine, *others, *rivals)) == {}
    assert condition(state(*(r.model_copy(update={"of": "output"}) for r in rivals)))


def test_of_a_panel_the_ballots_count_and_not_what_they_were_taken_from():
    ballots = [score(value, agent=agent, stage="ballot") for agent, value in (("a", 2.0), ("b", 4.0))]
    copied = [score(2.0, agent="a-inside", stage="final"), score(3.0, agent="panel", stage="draft")]
    said = jg.disagree()(state(*ballots, *copied))
    assert said == jg.disagree()(state(*ballots))
    assert said["Clarity"].startswith("2 judges")


@pytest.mark.parametrize("stage", ["draft", "final"])
def test_a_panel_s_score_is_looked_at_and_not_its_members(stage):
    inner = [score(v, agent=f"p-{a}", stage="final", member=f"p-{a}") for a, v in (("a", 2.0), ("b", 4.0))]
    whole = score(3.0, agent="p", stage=stage)
    assert jg.low(below=2.5, stage="final")(state(*inner, whole)) == {}
    assert jg.low(below=3.5, stage="final")(state(*inner, whole))
    assert jg.low(below=2.5, stage="final", agent="p-a")(state(*inner, whole))


def test_a_rectified_score_does_not_disagree_with_what_became_of_it():
    draft, other = score(1.0, agent="evaluator"), score(5.0, agent="g-eval", stage="final")
    final = score(5.0, agent="sage", stage="final", draft=draft.key)
    assert jg.disagree()(state(draft, other))
    assert jg.disagree()(state(draft, final, other)) == {}
    assert jg.disagree(stage="draft")(state(draft, final, other)) == {}


def test_a_stage_and_an_agent_of_its_own_stand_before_those_it_is_given():
    held = state(score(1.0), score(1.0, agent="b", stage="final", criterion="Wit"))
    assert set(jg.low(3)(held)) == set(jg.low(3).at("draft")(held)) == {"Clarity"}
    assert set(jg.low(3).at("final")(held)) == set(jg.low(3, stage="final").at("draft")(held)) == {"Wit"}
    assert jg.low(3).at("final", "a")(held) == {}
    assert set(jg.either(jg.low(3, agent="b"), jg.failed()).at("final", "a")(held)) == {"Wit"}


def test_either_tells_the_first_reason():
    held = state(score(1.0), lost("Wit"))
    found = jg.either(jg.low(3), jg.wide(), jg.failed())(held)
    assert found == {"Clarity": "1 is below 3", "Wit": "there is no answer (refused)"}


def says(state):
    return len(state["scores"]) > 1


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (True, {EVERY: "decide says so"}),
        (False, {}),
        ({"Clarity": "odd"}, {"Clarity": "odd"}),
        (["Clarity"], {"Clarity": "decide says so"}),
        ([], {}),
    ],
)
def test_a_function_may_say_yes_name_criteria_or_give_reasons(said, found):
    def decide(state):
        return said

    assert condition_of(decide)(state()) == found


@dataclass(frozen=True)
class Short:
    words: int = 5

    def __call__(self, state):
        return len(state["sample"].output.split()) < self.words


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("wide", jg.wide()),
        ({"wide": {"above": 0.2}}, jg.wide(above=0.2)),
        ({"wide": 0.2}, jg.wide(0.2)),
        ({"wide": None}, jg.wide()),
        ({"low": 3}, jg.low(below=3)),
        ({"low": {"share": 0.5, "stage": "final"}}, jg.low(share=0.5, stage="final")),
        ({"disagree": {"stage": ["ballot"]}}, jg.disagree(stage=("ballot",))),
        ({"either": ["wide", {"low": 3}]}, jg.either(jg.wide(), jg.low(3))),
        (["wide", "failed"], jg.either(jg.wide(), jg.failed())),
        (jg.failed(), jg.failed()),
        (says, Own(says)),
        (Short(3), Own(Short(3))),
    ],
)
def test_a_condition_is_a_name_settings_a_list_or_a_function(given, made):
    assert condition_of(given) == made


async def asks(state):
    return True


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("wiede", "no condition 'wiede'; did you mean 'wide'? known: wide, disagree, low, failed, either"),
        ({"low": {"under": 3}}, "condition 'low' has no setting under; known: stage, agent, below, share"),
        ({"wide": 1, "low": 3}, "one name each"),
        ({"wide": {"above": 1.5}}, "wide: above: expected a number from 0 to 1, got 1.5"),
        ({"wide": "0.2"}, "expected a number from 0 to 1, got '0.2'"),
        ({"wide": True}, "got True"),
        ({"disagree": -0.1}, "disagree: above: expected a number from 0 to 1, got -0.1"),
        ({"disagree": float("nan")}, "got nan"),
        ("low", "either below=, in units of the scale, or share="),
        ({"low": {"below": 3, "share": 0.5}}, "either below="),
        ({"low": {"share": 2}}, "low: share: expected a number from 0 to 1"),
        ({"low": "three"}, "low: below: expected a number, got 'three'"),
        ([], "either: expected one condition or more"),
        ({"either": []}, "either: expected one condition or more"),
        (0.2, "no condition: 0.2; known: wide"),
        (jg.wide, "write wide(...)"),
        (asks, "a condition asks nobody"),
    ],
)
def test_a_condition_that_makes_no_sense_is_refused(given, said):
    with pytest.raises(ConfigError) as error:
        condition_of(given)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (jg.wide(), "wide"),
        (jg.wide(0.2, unknown=False), "wide(above=0.2, unknown=False)"),
        (jg.either(jg.low(3), jg.failed()), "either(low(below=3), failed)"),
        (condition_of(says), "says"),
        (condition_of(Short(3)), "Short"),
    ],
)
def test_a_condition_is_told_in_a_few_words(condition, text):
    assert title(condition) == text


def test_every_condition_has_its_name_and_a_public_function():
    for name, kind in CONDITIONS.items():
        assert kind.name == name
        assert callable(getattr(jg, name))


@pytest.mark.parametrize(("text", "said"), [("Coherense", "did you mean 'Coherence'?"), ("no", "there are Coherence")])
def test_a_condition_that_gives_a_text_of_no_criterion_is_refused(text: str, said: str):
    scores = keyed(Score(criterion="Coherence", agent="judge", value=3.0))
    with pytest.raises(jg.ConfigError, match="gave the text") as error:
        condition_of(lambda state: text)({"scores": scores})
    assert said in str(error.value)
    assert "return True, False or the criteria in doubt" in str(error.value)
    assert condition_of(lambda state: "Coherence")({"scores": scores}) == {"Coherence": "<lambda> says so"}


def test_a_condition_that_forgets_to_return_is_refused():
    def forgetful(state: EvalState):  # noqa: RET503
        if state.get("scores"):
            return True

    with pytest.raises(jg.ConfigError, match="condition forgetful gave None, which says nothing"):
        condition_of(forgetful)({})
    graph = StateGraph(EvalState)
    graph.add_node("judge", Evaluator(criteria=jg.criteria_set("summary").criteria))
    graph.add_node("gate", jg.gate(jg.critique("sage"), when=forgetful))
    graph.add_edge(START, "judge")
    graph.add_edge("judge", "gate")
    graph.add_edge("gate", END)
    found = jg.check(graph, strict=False).findings
    assert [(one.code, one.node) for one in found] == [("forgotten-return", "gate")]
    assert "decides by forgetful, which returns nothing on some way" in found[0].message


def test_a_function_that_gives_a_condition_itself_is_told_so_before_anything_is_paid_for():
    """It was true whatever the scores were."""
    judge, criteria = Evaluator(criteria=jg.criteria_set("summary").criteria), "summary"

    def graph(when):
        made = StateGraph(EvalState)
        made.add_node("judge", judge)
        made.add_node("critique", jg.critique("sage", when=when, criteria=criteria))
        made.add_edge(START, "judge")
        made.add_edge("judge", "critique")
        made.add_edge("critique", END)
        return made

    def way(state):
        return jg.low(below=3)

    for when in (lambda state: jg.low(below=3), way):
        with pytest.raises(
            jg.WiringError, match=r"unasked-condition: node 'critique' takes .*write jg.low\(below=3\)\("
        ):
            jg.check(graph(when))
        with pytest.raises(ConfigError, match=r"gave low\(below=3\) itself and never asked it: .*when=low\(below=3\)"):
            Own(when)(state(score()))
    assert not jg.check(graph(lambda state: jg.low(below=3)(state))).findings
