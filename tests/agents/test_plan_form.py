"""A plan as it is read: what is unknown is dropped and told, what is missing is asked for."""

import pytest

from judgegraph.agents.planner import plan_form, plan_text
from judgegraph.prompts.template import slugs
from judgegraph.types import Criterion, Plan

CRITERIA = slugs([Criterion(name="Coherence"), Criterion(name="Fact check")])
FORM = plan_form(CRITERIA, ["rouge-l", "nli"])


def said(alignment, usage=None):
    return {"plan": "Read twice.", "alignment": alignment, "usage": usage or {}}


def test_the_form_offers_the_assistants_for_every_criterion():
    parts = FORM.schema["properties"]
    assert list(parts) == ["plan", "alignment", "usage"]
    assert parts["alignment"]["properties"]["fact_check"] == {
        "type": "array", "items": {"type": "string", "enum": ["rouge-l", "nli"]}, "title": "Fact check",
    }  # fmt: skip
    assert parts["usage"]["required"] == ["rouge-l", "nli"]


@pytest.mark.parametrize(
    ("alignment", "read", "mended"),
    [
        ({"coherence": ["nli"], "fact_check": []}, (("nli",), ()), ()),
        ({"Coherence": ["NLI "], "Fact check": ["nli", "nli"]}, (("nli",), ("nli",)), ()),
        ({"coherence": ["nosuch", "nli"], "fact_check": []}, (("nli",), ()), ("unknown assistant 'nosuch' dropped",)),
        (
            {"coherence": [], "fact_check": [], "style": ["nli"]},
            ((), ()),
            ("unknown criterion 'style' dropped",),
        ),
        ({"coherence": ["nli"]}, (("nli",), ()), ("no list of assistants for 'Fact check'",)),
        (
            {"coherence": "nli", "fact_check": [3]},
            ((), ()),
            ("no list of assistants for 'Coherence'", "unknown assistant '3' dropped"),
        ),
    ],
    ids=["as asked", "names in other letters", "unknown assistant", "unknown criterion", "one left out", "no list"],
)
def test_an_alignment_keeps_what_is_known(alignment, read, mended):
    plan, notes = FORM.read(said(alignment))
    assert plan.alignment == dict(zip(("Coherence", "Fact check"), read, strict=True))
    assert notes == mended


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"alignment": {}, "usage": {}}, "'plan' is missing"),
        ({"plan": "  ", "alignment": {}, "usage": {}}, "'plan' is missing"),
        ({"plan": "x", "usage": {}}, "'alignment' is missing"),
        ([], "'plan' is missing"),
    ],
)
def test_a_plan_without_its_parts_is_asked_for_again(data, message):
    with pytest.raises(ValueError, match=message):
        FORM.read(data)


def test_a_plan_is_shown_with_its_usage_and_alignment():
    plan = Plan(text="Read twice.", alignment={"A": ("nli", "rouge-l"), "B": ()}, usage={"nli": "high = supported"})
    assert plan_text(plan).splitlines() == [
        "Read twice.", "", "How to read them:", "- nli: high = supported", "",
        "Which assistants serve which criterion:", "- A: nli, rouge-l", "- B: absent (no assistant)",
    ]  # fmt: skip


@pytest.mark.parametrize("plan", [None, Plan(text="", status="timeout")])
def test_no_plan_is_shown_as_nothing(plan):
    assert plan_text(plan) == ""
