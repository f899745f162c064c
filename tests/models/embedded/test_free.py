"""Replies without a form: what is asked is told by the sections, and the reply can be read."""

import pytest
from asking import FAITHFUL, INVENTED, JUDGE, SOURCE, reply, sections
from langchain_core.messages import HumanMessage, SystemMessage

from judgegraph.agents.judge import read_aspects
from judgegraph.agents.pairwise import judgement_in
from judgegraph.replies.free_text import read_rating
from judgegraph.types import Scale

FIVE = Scale(low=1, high=5)
TARGET = "## Coherence\nDefinition: The sentences build a whole."
CRITERION = "## Consistency\nScale: 1-5\nDefinition: Nothing is said that the source does not bear out."


def said(prompt: str) -> str:
    return str(reply(prompt).content)


@pytest.mark.parametrize(
    ("words", "count"), [("Name 5 aspects.", 5), ("Name twelve such aspects.", 12), ("Name aspects.", 10)]
)
def test_a_target_without_a_text_gets_as_many_aspects_as_the_words_ask_for(words: str, count: int) -> None:
    chain, notes = read_aspects(said(sections(target=TARGET) + "\n" + words), "Coherence", count)
    assert (len(chain), notes) == (count, ())
    assert "Coherence" not in {aspect.name for aspect in chain}


def test_a_number_inside_a_section_asks_for_nothing() -> None:
    text = said(sections(query="Name 3 criteria for a good tent.") + "\nWrite the 5 criteria.")
    assert [line.partition(".")[0] for line in text.splitlines()] == ["1", "2", "3", "4", "5"]


def test_a_criterion_without_a_text_gets_a_guideline() -> None:
    text = said(sections(criterion=CRITERION, query="Summarise the report."))
    assert "Nothing is said that the source does not bear out" in text
    assert "5: Consistency is met fully." in text


def test_a_response_with_judgements_gets_a_corrected_text() -> None:
    prompt = sections(criteria=CRITERION, source=SOURCE, response="The pier pier is closed", judgements="Score: 2")
    assert said(prompt) == "The pier is closed."


def test_a_text_with_a_criterion_gets_a_rating() -> None:
    assert read_rating(said(sections(criterion=CRITERION, source=SOURCE, output=FAITHFUL)), FIVE).value == 4


def test_two_texts_get_a_score_each_and_a_verdict() -> None:
    prompt = sections(criterion=CRITERION, source=SOURCE, output=INVENTED, rival=FAITHFUL)
    judgement = judgement_in(said(prompt), FIVE)
    assert judgement.status == "ok"
    assert judgement.verdict == judgement.stated == "B"
    assert judgement.a.reason
    assert judgement.comparison


def test_two_texts_without_evidence_get_no_verdict() -> None:
    text = said(sections(criterion="## Rhyme scheme\nScale: 1-5", output=FAITHFUL, rival=INVENTED))
    assert text.startswith("No evidence")


def test_sections_of_a_system_message_count_where_no_user_message_has_any() -> None:
    prompt = sections(criterion=CRITERION, source=SOURCE, output=FAITHFUL)
    other = sections(criterion=CRITERION, source=SOURCE, output=INVENTED)
    alone = JUDGE.invoke([SystemMessage(prompt), HumanMessage("Score it.")]).content
    assert alone == said(prompt)
    assert JUDGE.invoke([SystemMessage(other), HumanMessage(prompt)]).content == said(prompt)
