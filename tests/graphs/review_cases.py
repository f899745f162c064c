"""Drafts that critics review, and what a critic's replies must come to; for the tests of several critics."""

from langchain_core.messages import AIMessage

from judgegraph.calls import Reader
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample, Scale, Score, keyed

SAMPLE = Sample(id="s1", query="Ask for a loan.", output="Dear bank, lend me money.")
CLARITY = Criterion(name="Clarity", definition="One reading only.")
TONE = Criterion(name="Tone", scale=Scale(labels=("warm", "cold", "flat")))
THREE = Score(criterion="Clarity", agent="evaluator", stage="draft", value=3.0, scale=CLARITY.scale, reason="fine")
WARM = Score(criterion="Tone", agent="evaluator", stage="draft", label="warm", scale=TONE.scale, reason="kind")
ABSTAINED = Score(criterion="Clarity", agent="evaluator", stage="draft", status="abstained", reason="nothing to read")

STANDS = "; the score stands"
VERDICTS = {  # verdict, value -> what becomes of a draft of 3, and the note on it
    "keep": (("keep", 3), None, "none", ""),
    "keep, whatever the value": (("keep", 5), None, "none", f"said 'keep' but gave 5 for a score of 3{STANDS}"),
    "in any case": (("RAISE", 5), 5.0, "up", ""),
    "with space around": ((" Keep ", 3), None, "none", ""),
    "keep, no value": (("keep", None), None, "none", ""),
    "raise": (("raise", 5), 5.0, "up", ""),
    "lower": (("lower", 1), 1.0, "down", ""),
    "a value against its verdict": (("lower", 4), None, "none", f"said 'lower' but gave 4 for a score of 3{STANDS}"),
    "no value": (("raise", None), None, "none", f"said 'raise' but gave no value for a score of 3{STANDS}"),
}
LABELS = {  # verdict, label -> what becomes of "warm"
    "keep": (("keep", "warm"), None),
    "another label": (("change", "cold"), "cold"),
    "in any case": (("Change", "COLD"), "cold"),
    "keep, whatever the label": (("keep", "cold"), None),
    "the same label": (("change", "warm"), None),
    "no label": (("change", None), None),
}
BROKEN = ["no JSON here"] * 3
FAILURES = {  # replies -> status
    "broken": (BROKEN, "unreadable"),
    "refused": ([AIMessage("", additional_kwargs={"refusal": "I would rather not."})], "refused"),
    "filtered": ([AIMessage("", response_metadata={"finish_reason": "content_filter"})], "filtered"),
    "cut off": ([AIMessage('{"cla', response_metadata={"finish_reason": "length"})] * 2, "truncated"),
    "no server": ([ValueError("gone")] * 3, "provider_error"),
}


async def reviewed(critic, *replies, criteria=(CLARITY,), drafts=(THREE,), samples=1, **settings):
    """(what the critic writes, the judge it asked)."""
    judge = scripted(*replies)
    agent = critic(judge=judge, criteria=list(criteria), reader=Reader("weighted", samples=samples), **settings)
    return await agent({"sample": SAMPLE, "scores": keyed(*drafts)}), judge


def asked_of(judge, call=0):
    """(system text, user text) of a call."""
    return tuple(str(message.content) for message in judge.calls[call])


def schema_of(judge, call=0):
    """The JSON schema that was sent."""
    return judge.asked[call]["response_format"]["json_schema"]["schema"]
