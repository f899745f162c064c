"""The proposer: sees task and target, never the item; a failed call is a note with a status."""

import pytest

from judgegraph.agents.aspects import Proposer, Targets, aspects_form
from judgegraph.errors import AuthError
from judgegraph.testing import scripted
from judgegraph.types import Criterion

RELEVANCE = Criterion(
    name="Relevance", definition="Holds what matters.", steps=("Read it twice.",), guideline="1: none"
)
FLUENCY = Criterion(name="Fluency", definition="Reads well.")


def listed(*names):
    return {"aspects": [{"name": name, "definition": f"{name} is good."} for name in names]}


async def proposed(*replies, targets=(RELEVANCE,), **settings):
    judge = scripted(*replies)
    state = await Proposer(judge=judge, task="A summary.", **settings)({"criteria": list(targets)})
    return judge, state


async def test_a_chain_stands_under_its_target():
    _, state = await proposed(listed("A", "B"), listed("B", "C"), targets=(RELEVANCE, FLUENCY), count=2)
    assert {t: [a.name for a in chain] for t, chain in state["aspects"].items()} == {
        "Relevance": ["A", "B"],
        "Fluency": ["B", "C"],
    }
    assert state["notes"] == {}


async def test_task_name_and_definition_are_all_it_shows():
    judge, _ = await proposed(listed("A", "B"), count=2)
    text = "\n".join(str(m.content) for m in judge.calls[0])
    assert "A summary." in text
    assert "Holds what matters." in text
    assert "Name 2 aspects." in text
    assert "Read it twice." not in text
    assert "1: none" not in text


def test_its_signature_lets_no_sample_in():
    assert set(Targets.__annotations__) == {"criteria"}


async def test_it_asks_at_temperature_zero_for_exactly_m():
    judge, _ = await proposed(listed("A", "B"), count=2)
    (asked,) = judge.asked
    schema = asked["response_format"]["json_schema"]["schema"]["properties"]["aspects"]
    assert (asked["temperature"], schema["minItems"], schema["maxItems"]) == (0.0, 2, 2)


async def test_lines_of_text_are_read_where_text_is_asked_for():
    reply = "Here you go:\n1. A: good.\n2. B: good."
    judge, state = await proposed(reply, count=2, reply="text", prompt="propose_text")
    assert [a.name for a in state["aspects"]["Relevance"]] == ["A", "B"]
    assert "response_format" not in judge.asked[0]


async def test_fewer_aspects_than_asked_for_are_noted():
    _, state = await proposed(listed("A", "a", "Relevance"), count=3)
    (note,) = state["notes"].values()
    assert (note.status, note.text) == ("ok", "Relevance: 1 of 3 aspects (1 named twice, 1 the target itself)")


@pytest.mark.parametrize(
    ("replies", "status"),
    [
        (["no list"] * 3, "unreadable"),
        ([listed("Relevance")] * 3, "unreadable"),
        ([{"aspects": "none"}] * 3, "unreadable"),
        ([ValueError("broken")], "provider_error"),
    ],
    ids=["prose", "the target alone", "no list in the form", "the call fails"],
)
async def test_a_proposal_that_fails_leaves_an_empty_chain_and_its_status(replies, status):
    judge, state = await proposed(*replies)
    (note,) = state["notes"].values()
    assert state["aspects"] == {"Relevance": []}
    assert (note.agent, note.status) == ("proposer", status)
    assert note.text.startswith("Relevance: no aspects: ")
    assert len(judge.calls) == len(replies)


async def test_a_refusal_in_text_is_not_asked_again():
    judge, state = await proposed("I'm sorry, I cannot help.", reply="text", prompt="propose_text")
    assert [note.status for note in state["notes"].values()] == ["refused"]
    assert len(judge.calls) == 1


async def test_a_reply_without_an_aspect_is_asked_for_again():
    _, state = await proposed(listed("Relevance"), listed("A"), count=1)
    assert [a.name for a in state["aspects"]["Relevance"]] == ["A"]


async def test_a_refused_key_ends_the_run():
    with pytest.raises(AuthError):
        await proposed(AuthError("no"))


def test_entries_that_are_no_objects_are_nameless():
    chain, notes = aspects_form("T", 2).read({"aspects": ["A", {"name": "B", "definition": "b"}, {"name": None}]})
    assert [a.name for a in chain] == ["B"]
    assert notes == ("1 of 2 aspects (2 without a definition)",)
