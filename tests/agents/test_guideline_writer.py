"""The writer of guidelines: one criterion, one query, one guideline or a note."""

import pytest

from judgegraph.agents.criteria import GuidelineWriter
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample

SAMPLE = Sample(id="s1", query="Why is the sky blue?", output="THE-RESPONSE")
DEPTH = Criterion(name="Depth", definition="Is it all there?")


async def test_it_sees_query_criterion_and_scale_but_no_response():
    judge = scripted({"guideline": "1 is nothing, 5 is all."})
    written = await GuidelineWriter(judge=judge)({"sample": SAMPLE, "criterion": DEPTH})
    text = "\n".join(str(message.content) for message in judge.calls[0])
    assert all(part in text for part in ("Why is the sky blue?", "## Depth", "Scale: 1-5", "Is it all there?"))
    assert "THE-RESPONSE" not in text
    assert written == {"guidelines": {"Depth": "1 is nothing, 5 is all."}, "notes": {}}


async def test_a_criterion_with_a_guideline_of_its_own_needs_no_call():
    own = DEPTH.model_copy(update={"guideline": "5 is all."})
    written = await GuidelineWriter(judge=scripted())({"sample": SAMPLE, "criterion": own})
    assert written["guidelines"] == {"Depth": "5 is all."}


async def test_a_failure_is_a_note_and_no_guideline():
    written = await GuidelineWriter(judge=scripted(*[{"guideline": " "}] * 3))({"sample": SAMPLE, "criterion": DEPTH})
    (note,) = written["notes"].values()
    assert written["guidelines"] == {}
    assert note.status == "unreadable"
    assert note.text.startswith("Depth: judged without a guideline")


@pytest.mark.parametrize(
    ("reply", "guideline"),
    [
        ("[Scoring Guideline]: 1. Not at all: nothing", "1. Not at all: nothing"),
        ("**Scoring Guidelines:**\n1: nothing", "1: nothing"),
        ("1 is bad. Scoring guideline: see above", "1 is bad. Scoring guideline: see above"),
    ],
)
async def test_of_a_plain_reply_only_a_leading_label_is_removed(reply, guideline):
    writer = GuidelineWriter(judge=scripted(reply), reply="text")
    assert (await writer({"sample": SAMPLE, "criterion": DEPTH}))["guidelines"] == {"Depth": guideline}
