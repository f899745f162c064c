"""The writer of criteria: what it asks, what it makes of a reply, what it does with given criteria."""

import pytest

from judgegraph.agents.criteria import CriteriaWriter, criteria_in, unnumbered
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample

SAMPLE = Sample(id="s1", query="Why is the sky blue?", output="THE-RESPONSE", rival="THE-RIVAL")


def items(*names):
    return {"criteria": [{"name": name, "definition": f"about {name}"} for name in names]}


async def test_it_sees_the_query_and_no_response():
    judge = scripted(items("Physics", "Clarity"))
    written = await CriteriaWriter(judge=judge, count=2)({"sample": SAMPLE})
    text = "\n".join(str(message.content) for message in judge.calls[0])
    assert "Why is the sky blue?" in text
    assert "THE-RESPONSE" not in text
    assert "THE-RIVAL" not in text
    assert [c.name for c in written["criteria"]] == ["Physics", "Clarity"]
    assert {str(c.scale) for c in written["criteria"]} == {"1-5"}
    assert written["notes"] == {}
    assert judge.asked[0]["temperature"] == 0.0


@pytest.mark.parametrize(
    ("names", "kept", "noted"),
    [
        (["a", "b", "c"], ["a", "b", "c"], []),
        (["a", "b"], ["a", "b"], ["3 criteria asked for, 2 came"]),
        (["a", "b", "c", "d"], ["a", "b", "c"], ["3 criteria asked for, 4 came"]),
        (["a", "A ", "b", "c"], ["a", "b", "c"], ["1 of 4 criteria left out: their names had come before"]),
        (["1. a", "2) b", "", "3. Python 3.10"], ["a", "b", "Python 3.10"], []),
    ],
    ids=["as many as asked", "a shortfall", "a surplus is cut", "a double", "leading numbers and no name"],
)
async def test_what_comes_is_read_and_what_is_odd_is_noted(names, kept, noted):
    written = await CriteriaWriter(judge=scripted(items(*names)), count=3)({"sample": SAMPLE})
    assert [c.name for c in written["criteria"]] == kept
    assert [note.text for note in written["notes"].values()] == noted


async def test_an_unreadable_reply_is_no_criteria_and_a_note_with_a_status():
    written = await CriteriaWriter(judge=scripted(*["I would rather not."] * 3))({"sample": SAMPLE})
    (note,) = written["notes"].values()
    assert written["criteria"] == []
    assert note.status == "unreadable"


@pytest.mark.parametrize("by_state", [True, False])
async def test_given_criteria_need_no_call(by_state):
    given = [Criterion(name="Brevity"), Criterion(name="Brevity.")]
    writer = CriteriaWriter(judge=scripted(), criteria=() if by_state else given)
    written = await writer({"sample": SAMPLE, "criteria": given if by_state else []})
    assert written["criteria"] == given[:1]
    assert len(written["notes"]) == 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1. Accuracy : Is it true?\n2. Depth: Is it all?", [("Accuracy", "Is it true?"), ("Depth", "Is it all?")]),
        ("Here they are:\n\n1. **Accuracy**: Is it true?\n\nGood luck!", [("Accuracy", "Is it true?")]),
        ("1. Accuracy:\n   Is it true?\n2. Depth: all", [("Accuracy", "Is it true?"), ("Depth", "all")]),
        ("- Tone: kind\n- Length: short", [("Tone", "kind"), ("Length", "short")]),
        ("Tone: kind\nLength: short", [("Tone", "kind"), ("Length", "short")]),
        ("10. Runs on Python 3.10: 1. it starts", [("Runs on Python 3.10", "1. it starts")]),
        ("1. Does it run from 14:00 to 16:00?", [("Does it run from 14:00 to 16:00?", "")]),
        ("1. Does it name two uses?", [("Does it name two uses?", "")]),
        ("1. " + "x" * 300, [("x" * 199 + "…", "x" * 300)]),
        ("I am sorry, I cannot do that.", []),
        ("", []),
    ],
)
def test_plain_lines_become_criteria(text, found):
    assert [(c.name, c.definition) for c in criteria_in(text)] == found


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("1. x", "x"),
        ("11. x", "x"),
        ("(2) x", "x"),
        ("2) x", "x"),
        ("3.10 is new", "3.10 is new"),
        ("**4.** x", "x"),
    ],
)
def test_only_a_leading_list_mark_is_removed(line, rest):
    assert unnumbered(line) == rest


async def test_a_plain_reply_is_asked_for_by_its_own_prompt():
    judge = scripted("1. Tone: kind\n2. Length: short")
    written = await CriteriaWriter(judge=judge, count=2, reply="text")({"sample": SAMPLE})
    assert [c.name for c in written["criteria"]] == ["Tone", "Length"]
    assert "numbered lines" in str(judge.calls[0][0].content)
    assert "response_format" not in judge.asked[0]
