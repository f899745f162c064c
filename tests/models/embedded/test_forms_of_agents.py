"""Every form the agents ask for: critiques, aspects, guidelines, pairs, plans, corrections, fused scores."""

from typing import Any

import pytest
from asking import FAITHFUL, INVENTED, NULLABLE_POINTS, SOURCE, answer, rated, reply, scores, sections

from judgegraph.replies.choices import read_choice
from judgegraph.replies.free_text import read_rating

CRITERIA = (
    "## Consistency\nScale: 1-5\nDefinition: Nothing is invented.\n\n## Rhyme\nScale: 1-5\nDefinition: Lines end alike."
)


def draft(score: object) -> str:
    return f"## Consistency\nScore: {score}\nReason: so it seems"


def critique(score: object, output: str = FAITHFUL) -> dict[str, Any]:
    verdict = {"type": "string", "enum": ["keep", "raise", "lower"]}
    one = {"type": "object", "properties": {"reason": {"type": "string"}, "verdict": verdict, "score": NULLABLE_POINTS}}
    form = {"type": "object", "properties": {"rectifications": {"type": "object", "properties": {"consistency": one}}}}
    prompt = sections(criteria=CRITERIA, source=SOURCE, output=output, scores=draft(score))
    held = answer(prompt, form)["rectifications"]["consistency"]
    assert isinstance(held, dict)
    return held


@pytest.mark.parametrize(
    ("score", "output", "verdict"), [(5, FAITHFUL, "keep"), (1, FAITHFUL, "raise"), (5, INVENTED, "lower")]
)
def test_the_critic_changes_a_score_only_against_its_own_evidence(score: int, output: str, verdict: str) -> None:
    held = critique(score, output)
    assert held["verdict"] == verdict
    assert (held["score"] == score) is (verdict == "keep")
    assert "other evidence" in held["reason"].lower()


def test_a_critic_that_finds_no_fault_of_its_own_raises_nothing() -> None:
    verdict = {"type": "string", "enum": ["keep", "raise", "lower"]}
    one = {"type": "object", "properties": {"reason": {"type": "string"}, "verdict": verdict, "score": NULLABLE_POINTS}}
    form = {"type": "object", "properties": {"rectifications": {"type": "object", "properties": {"fairness": one}}}}
    prompt = sections(criteria="## Fairness\nScale: 1-5", output=FAITHFUL, scores="## Fairness\nScore: 1")
    assert answer(prompt, form)["rectifications"]["fairness"]["verdict"] == "keep"


def test_the_critic_leaves_what_was_abstained() -> None:
    prompt_score = "x\nStatus: abstained"
    assert critique(prompt_score)["score"] is None


def test_a_definition_is_suggested_where_nothing_could_be_measured() -> None:
    row = {"type": "object", "properties": {"criterion": {"type": "string", "enum": ["Consistency", "Rhyme"]},
           "definition": {"type": "string"}, "reason": {"type": "string"}}}  # fmt: skip
    form = {"type": "object", "properties": {"definitions": {"type": "array", "items": row}}}
    held = answer(sections(criteria=CRITERIA, source=SOURCE, output=FAITHFUL, scores=draft(5)), form)["definitions"]
    assert [d["criterion"] for d in held] == ["Rhyme"]
    assert held[0]["definition"].startswith("Lines end alike")


@pytest.mark.parametrize(
    ("output", "names"), [(FAITHFUL, []), (FAITHFUL + " " + FAITHFUL, ["Redundancy", "Conciseness"])]
)
def test_new_criteria_come_only_with_evidence(output: str, names: list[str]) -> None:
    row = {"type": "object", "properties": {k: {"type": "string"} for k in ("name", "definition", "reason")}}
    form = {"type": "object", "properties": {"new_criteria": {"type": "array", "items": row, "maxItems": 3}}}
    held = answer(sections(criteria=CRITERIA, source=SOURCE, output=output), form)["new_criteria"]
    assert [c["name"] for c in held] == names


@pytest.mark.parametrize("count", [5, 10, 20])
@pytest.mark.parametrize("key", ["aspects", "criteria"])
def test_a_chain_of_aspects_is_as_long_as_asked_without_the_target(count: int, key: str) -> None:
    row = {"type": "object", "properties": {"name": {"type": "string"}, "definition": {"type": "string"}}}
    form = {
        "type": "object",
        "properties": {key: {"type": "array", "items": row, "minItems": count, "maxItems": count}},
    }
    target = "## Fluency\nDefinition: The wording runs smoothly."
    held = [a["name"] for a in answer(sections(target=target), form)[key]]
    assert len(set(held)) == count
    assert "Fluency" not in held
    assert held[0] == "Grammar"


def test_a_guideline_has_a_line_for_each_of_five_values() -> None:
    form = {"type": "object", "properties": {"guideline": {"type": "string"}}}
    held = answer(sections(criterion="## Warmth\nDefinition: The letter is kind."), form)["guideline"]
    assert [line[0] for line in held.splitlines()[1:]] == list("12345")
    assert "The letter is kind" in held


def pair(**texts: str) -> dict[str, Any]:
    form = {"type": "object", "properties": {
        "explanation_a": {"type": "string"}, "score_a": NULLABLE_POINTS, "explanation_b": {"type": "string"},
        "score_b": NULLABLE_POINTS, "comparison": {"type": "string"}}}  # fmt: skip
    held = answer(sections(criterion="## Consistency\nScale: 1-5", **texts), form)
    assert isinstance(held, dict)
    return held


def test_the_order_of_a_pair_does_not_matter() -> None:
    one = pair(source=SOURCE, output=FAITHFUL, rival=INVENTED)
    assert one == pair(rival=INVENTED, source=SOURCE, output=FAITHFUL)
    assert one["score_a"] > one["score_b"]
    assert one["comparison"].startswith("A ")


def test_a_pair_exchanged_exchanges_its_scores() -> None:
    one, two = (pair(source=SOURCE, output=a, rival=b) for a, b in ((FAITHFUL, INVENTED), (INVENTED, FAITHFUL)))
    assert (one["score_a"], one["score_b"]) == (two["score_b"], two["score_a"])


def test_a_plan_aligns_assistants_by_what_they_measure() -> None:
    names = ["rouge-l", "length-ratio"]
    known = {"type": "array", "items": {"type": "string", "enum": names}}
    form = {"type": "object", "properties": {
        "plan": {"type": "string"},
        "alignment": {"type": "object", "properties": {"consistency": known, "rhyme": known}},
        "usage": {"type": "object", "properties": {n: {"type": "string"} for n in names}}}}  # fmt: skip
    said = (
        "- rouge-l: longest common run of words with the source\n- length-ratio: length of the text against its source"
    )
    held = answer(sections(criteria=CRITERIA, assistants=said), form)
    assert held["alignment"] == {"consistency": ["rouge-l"], "rhyme": []}
    assert "Rhyme: by no assistant" in held["plan"]
    assert held["usage"]["rouge-l"].startswith("High values speak for Consistency")
    assert len(held["usage"]["length-ratio"].split()) < 20


@pytest.mark.parametrize(
    ("text", "better"),
    [
        ("The pier pier is closed", "The pier is closed."),
        ("The north pier is closed. The north pier is closed.", "The north pier is closed."),
        ("The north pier is closed. So said Queen Matilda of 1702.", "The north pier is closed."),
        ("So said Queen Matilda.", "So said Queen Matilda."),
        ("", ""),
    ],
)
def test_a_correction_mends_and_empties_no_text(text: str, better: str) -> None:
    form = {"type": "object", "properties": {"response": {"type": "string"}}}
    assert answer(sections(source=SOURCE, response=text), form)["response"] == better


def test_a_fused_score_moves_towards_the_aspects_and_findings_given() -> None:
    base = {"criterion": "## Relevance\nScale: 1-5", "source": SOURCE, "output": FAITHFUL}
    own = scores(sections(**base), "Relevance")["Relevance"]
    low = scores(sections(**base, scores="## Coverage\nScore: 1\n\n## Focus\nScore: 1"), "Relevance")["Relevance"]
    found = scores(sections(**base, findings="- rouge-l: 0.01\n- nli: absent (no model)"), "Relevance")["Relevance"]
    assert own is not None
    assert low is not None
    assert found is not None
    assert low < own - 0.3
    assert found < own - 0.3


RHYME = "## Rhyme\nScale: 1-5"


@pytest.mark.parametrize(
    ("given", "score"),
    [
        ({"scores": "## Metre\nScore: 4\n\n## Sound\nScore: 4"}, None),
        ({"findings": "- rouge-l: 0.9"}, None),
        ({"findings": "- rouge-l: 0.9", "plan": "Judge by eye.\n\n- Rhyme: absent (no assistant)"}, None),
        ({"findings": "- rhymes: 0.9\n- rouge-l: 0", "plan": "Which serve which:\n- Rhyme: rhymes, nli"}, 5),
    ],
    ids=["aspects", "a finding", "a plan without an assistant", "a plan that names one"],
)
def test_without_evidence_of_its_own_only_what_a_plan_aligns_speaks(given: dict[str, str], score: int | None) -> None:
    for name, form in (("criterion", _single()), ("criteria", rated("Rhyme"))):
        said = answer(sections(**{name: RHYME}, output=FAITHFUL, **given), form)
        assert (said if name == "criterion" else said["rhyme"])["score"] == score
    text = str(reply(sections(criterion=RHYME, output=FAITHFUL, **given)).content)
    reading = read_rating(text, "1-5")
    assert (reading.value, reading.status) == ((score, "ok") if score else (None, "abstained"))


def _single() -> dict[str, Any]:
    return {"type": "object", "properties": {"score": NULLABLE_POINTS, "reason": {"type": "string"}}}


def test_labels_that_nothing_speaks_for_are_an_abstention_in_form_and_text() -> None:
    shown = sections(criterion="## Coherence\nScale: red / blue", source=SOURCE, output=FAITHFUL)
    label = {"anyOf": [{"type": "string", "enum": ["red", "blue"]}, {"type": "null"}]}
    assert answer(shown, {"type": "object", "properties": {"label": label}})["label"] is None
    assert read_choice(str(reply(shown).content), ["red", "blue"]).status == "abstained"


@pytest.mark.parametrize(
    ("about", "moves"),
    [
        ("Range: 0 to 1; higher = more alike", "down"),
        ("Range: 0 to 1; lower values are better", "up"),
        ("Range: 0 to 1; 1 = its own words, for better (paraphrase) or worse (invention)", ""),
        ("Range: 0 to 1; says nothing of quality by itself", ""),
        ("Range: 0 or more; near 1 is right beside a reference", ""),
    ],
)
def test_only_a_value_with_a_direction_moves_a_score(about: str, moves: str) -> None:
    base = {"criterion": "## Relevance\nScale: 1-5", "source": SOURCE, "output": FAITHFUL}
    own = scores(sections(**base), "Relevance")["Relevance"] or 0
    told = sections(**base, assistants=f"## overlap\n{about}", findings="- overlap: 0.01")
    found = scores(told, "Relevance")["Relevance"] or 0
    assert {-1: "down", 0: "", 1: "up"}[(found > own) - (found < own)] == moves
