"""What was judged, and what a model wrote of it, stands inside of sections, in every prompt of every agent."""

import re

import pytest
from canaries import mark, state
from parts_in_use import PARTS, SILENT, ran
from watching import Watching, outside, within

from judgegraph.registry.shipped import AGENTS, CRITICS, METHODS

MARK = re.compile(r"zq\w+?qz|praise\.|Scale: 1-9")


FREE = (  # sections of free texts
    "output", "source", "query", "rival", "response", "response_a", "response_b", "plan", "guideline", "reference",
)  # fmt: skip
known: dict[str, list[str]] = {}  # what was sent without a code that was seen before


async def sent(name: str, codes: tuple[str, ...] = ()) -> list[str]:
    if not codes and name in known:
        return known[name]
    judge = Watching()
    await ran(PARTS[name](judge), state(codes), name)
    return judge.seen if codes else known.setdefault(name, judge.seen)


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTS)
async def test_nothing_of_it_stands_outside_of_its_section(name):
    messages = await sent(name)
    assert bool(messages) == (name not in SILENT), "it asks a model, or is known to ask none"
    first = {code for text in messages for _, code, _ in within(text)}
    again = await sent(name, tuple(sorted(first))[:60])  # by somebody who saw the first prompts
    for text in (*messages, *again):
        assert MARK.findall(outside(text)) == []
    for text in again:
        for _, code, body in within(text):
            assert code not in body
            assert code not in first or "zq" not in body, "a code that was seen is not used again"


@pytest.mark.parametrize("name", PARTS)
async def test_what_a_model_wrote_adds_no_criterion_score_or_finding(name):
    for text in await sent(name):
        for tag, _, body in within(text):
            if tag not in FREE:
                headings = [
                    line for line in body.splitlines() if line.startswith(("## Extra", "Scale: 1-9", "Score: 9"))
                ]
                assert headings == [], tag
            if tag == "findings":
                assert "- rouge-l: 1.0" not in body.splitlines()


def test_every_row_of_the_tables_is_tried():
    wanted = [
        f"{kind}/{n}" for kind, table in (("agent", AGENTS), ("critic", CRITICS), ("method", METHODS)) for n in table
    ]
    assert set(wanted) <= set(PARTS)


async def test_the_marks_are_there_to_be_found():
    shown = ("critic/sage", "method/fusion-eval", "FusionJudge", "ReverseCriteriaWriter", "ReverseGuidelineWriter")
    seen = "\n".join([text for name in shown for text in await sent(name)])
    fields = ("output", "source", "query", "reason", "plan", "value", "error", "onename", "foreign", "rival")
    assert {mark(f) for f in fields} <= set(MARK.findall(seen))
