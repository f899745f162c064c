"""The pairwise judge: both orders, both labellings, scores for each side, bare verdicts."""

import pytest

from judgegraph.agents.orders import exchanged
from judgegraph.agents.pairwise import EMPTY, Comparer, judgement_in, pairwise_form, pairwise_text
from judgegraph.runs.item import fallbacks
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample, Scale

SAMPLE = Sample(id="s1", query="Why is the sky blue?", output="alpha text", rival="beta text")
DEPTH = Criterion(name="Depth", definition="Is it all there?")
ONE_TO_FIVE = Scale.of("1-5")


def said(a, b):
    return {"explanation_a": "why a", "score_a": a, "explanation_b": "why b", "score_b": b, "comparison": "both"}


async def compared(answer, sample=SAMPLE, criterion=DEPTH, calls=3, **settings):
    judge = scripted(*[answer] * calls)
    written = await Comparer(judge=judge, **settings)({"sample": sample, "criterion": criterion})
    return written["comparisons"], written["scores"], judge


def sections(judge, call=0):
    """Tag -> place of its text in the prompt."""
    text = str(judge.calls[call][1].content)
    places = {tag: text.find(f"<{tag}-") for tag in ("response_a", "response_b")}
    return text, places


@pytest.mark.parametrize(
    ("a", "b", "verdict", "status"),
    [
        (4, 2, "A", "ok"),
        (1, 2, "B", "ok"),
        (3, 3, "tie", "ok"),
        (None, 3, None, "abstained"),
        (6, 3, None, "unreadable"),
    ],
)
async def test_the_greater_score_is_the_verdict(a, b, verdict, status):
    comparisons, scores, _ = await compared(said(a, b))
    found = comparisons["Depth/comparer/AB"]
    assert (found.verdict, found.status) == (verdict, status)
    assert found.score_b == scores["Depth/comparer/final/0/rival"].value == b


async def test_a_side_that_could_be_read_keeps_its_score():
    broken = {k: v for k, v in said(1, 0).items() if k != "score_b"}
    comparisons, scores, judge = await compared(broken)
    (found,) = comparisons.values()
    assert (found.score_a, found.score_b, found.status) == (1.0, None, "unreadable")
    assert scores["Depth/comparer/final/0"].reason == "why a"
    assert scores["Depth/comparer/final/0/rival"].status == "unreadable"
    assert found.raw
    assert len(judge.calls) == 3  # it was asked again before


async def test_by_response_labels_stay_when_the_order_is_exchanged():
    comparisons, scores, judge = await compared(said(5, 2), orders="both", labels="response", calls=2)
    assert [c.verdict for c in comparisons.values()] == ["A", "A"]
    assert [c.key for c in comparisons.values()] == ["Depth/comparer/AB", "Depth/comparer/BA"]
    assert {key: s.value for key, s in scores.items()} == {
        "Depth/comparer/final/0": 5.0, "Depth/comparer/final/0/rival": 2.0,
        "Depth/comparer/final/1": 5.0, "Depth/comparer/final/1/rival": 2.0,
    }  # fmt: skip
    for call, first in enumerate(("response_a", "response_b")):
        text, places = sections(judge, call)
        assert min(places, key=places.get) == first
        assert places["response_a"] < text.index("alpha text") < text.index("</response_a")
        assert places["response_b"] < text.index("beta text") < text.index("</response_b")


async def test_by_position_a_is_what_stands_first_and_is_mapped_back():
    comparisons, scores, judge = await compared(said(5, 2), orders="both", calls=2)
    assert [c.verdict for c in comparisons.values()] == ["A", "B"]
    exchanged = comparisons["Depth/comparer/BA"]
    assert (exchanged.score_a, exchanged.score_b) == (2.0, 5.0)
    assert scores["Depth/comparer/final/1"].reason == "why b"
    assert "printed first" in exchanged.notes[-1]
    text, places = sections(judge, 1)
    assert places["response_a"] < text.index("beta text") < places["response_b"] < text.index("alpha text")


def test_by_position_nothing_of_a_prompt_tells_the_exchanged_order_from_the_exchanged_pair():
    case = {"sample": SAMPLE, "criterion": DEPTH}
    other = {"sample": exchanged(SAMPLE), "criterion": DEPTH}
    for reply in ("form", "text"):
        assert Comparer(reply=reply).rendered(case, "BA") == Comparer(reply=reply).rendered(other, "AB")
        assert Comparer(reply=reply).rendered(case, "AB") != Comparer(reply=reply).rendered(other, "AB")


@pytest.mark.parametrize(("empty", "orders"), [("", "AB"), (" \n", "BA"), ("", "BA")])
async def test_an_empty_rival_still_has_a_section(empty, orders):
    _, _, judge = await compared(said(5, 1), SAMPLE.model_copy(update={"rival": empty}), orders=orders, calls=1)
    text, places = sections(judge)
    assert text[places["response_b" if orders == "AB" else "response_a"] :].split("\n")[1] == EMPTY
    assert text.count("<response_b-") == 1


@pytest.mark.parametrize(
    ("sample", "criterion"),
    [(SAMPLE.model_copy(update={"rival": None}), DEPTH), (SAMPLE, Criterion(name="Tone", scale=["warm", "cold"]))],
    ids=["no rival", "labels"],
)
async def test_what_cannot_be_compared_is_skipped_without_a_call(sample, criterion):
    comparisons, scores, judge = await compared(said(5, 1), sample, criterion)
    (found,) = comparisons.values()
    assert (found.status, found.verdict, scores, judge.calls) == ("skipped", None, {}, [])


PLAIN = "Response A Score: {a}\nExplanation: why a\nResponse B Score: {b}\nExplanation: why b\nComparison: both"


@pytest.mark.parametrize(
    ("text", "scores", "verdict", "status"),
    [
        (PLAIN.format(a=1, b=4), (1.0, 4.0), "B", "ok"),
        (PLAIN.format(a="**4**", b="4/5"), (4.0, 4.0), "tie", "ok"),
        (PLAIN.format(a=4.5, b=4), (4.5, 4.0), "A", "ok"),
        (PLAIN.format(a=10, b=4), (None, 4.0), None, "unreadable"),
        (PLAIN.format(a="1 - 5", b=4), (None, 4.0), None, "unreadable"),
        (
            "Response A Score: 1Explanation: cut off. It falls under the Score 1",
            (1.0, None),
            None,
            "unreadable",
        ),
        (PLAIN.format(a=2, b=4).replace("\n", ". ") + "Verdict: A", (2.0, 4.0), "B", "ok"),
        ("Response A Score: ?\nResponse B Score: ?\nVerdict: tie", (None, None), "tie", "ok"),
        ("Response A Score: 2\nResponse B Score: 3\nResponse A Score: 4", (None, 3.0), None, "unreadable"),
        ("Output (a)", (None, None), "A", "ok"),
        ("After some thought, Output (b) is better.", (None, None), "B", "ok"),
        ("It is a tie.", (None, None), "tie", "ok"),
        ("", (None, None), None, "unreadable"),
        ("I'm sorry, but I cannot choose.", (None, None), None, "refused"),
    ],
)
def test_a_plain_reply_is_read_for_scores_or_a_verdict(text, scores, verdict, status):
    judgement = judgement_in(text, ONE_TO_FIVE)
    assert (judgement.a.value, judgement.b.value) == scores
    assert (judgement.verdict, judgement.status) == (verdict, status)


async def test_explanations_are_those_of_their_response():
    _, scores, _ = await compared(PLAIN.format(a=1, b=4), reply="text")
    assert [s.reason for s in scores.values()] == ["why a", "why b"]


async def test_scores_count_where_a_plain_reply_contradicts_them():
    comparisons, scores, _ = await compared(PLAIN.format(a=1, b=4) + "\nVerdict: A", reply="text")
    (found,) = comparisons.values()
    assert found.verdict == "B"
    assert {found.notes, *(s.notes for s in scores.values())} == {
        ("the reply says A, its scores say B; the scores count",)
    }
    (told,) = fallbacks(scores.values())
    assert (told.kind, told.text) == ("verdict-contrary", f"2 scores, {found.notes[0]}")


def test_so_they_do_in_a_form_that_holds_a_verdict_though_none_was_asked_for():
    said = pairwise_form(ONE_TO_FIVE).read({"score_a": 5, "score_b": 2, "verdict": "B"})
    assert (said.verdict, said.stated) == ("A", "B")


async def test_a_bare_verdict_has_no_scores():
    comparisons, scores, _ = await compared("Output (a)", orders="both", labels="position", reply="text", calls=2)
    assert [c.verdict for c in comparisons.values()] == ["A", "B"]
    assert scores == {}


@pytest.mark.parametrize(("answer", "status"), [("", "unreadable"), ("I'm sorry, I can't.", "refused")])
async def test_no_verdict_is_a_status_on_every_side(answer, status):
    comparisons, scores, _ = await compared(answer, reply="text")
    assert {v.status for v in (*comparisons.values(), *scores.values())} == {status}
    assert len(scores) == 2


@pytest.mark.parametrize(
    ("text", "scores"),
    [
        ("N/A", {}),
        ("No evidence: neither of the 2 texts can be compared.", {}),
        (PLAIN.format(a="N/A", b=4), {"output": "abstained", "rival": "ok"}),
        (PLAIN.format(a="N/A", b="N/A"), {"output": "abstained", "rival": "abstained"}),
    ],
)
async def test_an_abstention_in_words_is_asked_for_once(text, scores):
    comparisons, found, judge = await compared(text, reply="text")
    (merged,) = comparisons.values()
    assert (merged.status, merged.verdict, len(judge.calls)) == ("abstained", None, 1)
    assert {s.of: s.status for s in found.values()} == (scores or {"output": "abstained", "rival": "abstained"})


async def test_a_fraction_on_a_whole_scale_is_kept_and_told():
    comparisons, scores, _ = await compared(said(4.5, 4))
    (found,) = comparisons.values()
    note = "4.5 is no point of the scale 1-5"
    assert (found.score_a, found.verdict, found.notes) == (4.5, "A", (note,))
    assert [s.notes for s in scores.values()] == [(note,), ()]


@pytest.mark.parametrize(
    "text",
    [
        "**Response A** \u2014 3\n**Response B** \u2014 4", "A - 3\nB - 4", "Response A - 3, Response B - 4",
        "A: 3\nB: 4",
        "Response A: 3/5, Response B: 4/5", '{"score_a": 3, "score_b": 4, "winner": "A"}',
    ],
)  # fmt: skip
def test_bare_scores_of_both_sides_are_scores_and_no_verdict_for_the_first(text):
    found = pairwise_text(Scale.of("1-5")).read(text)
    assert (found.a.value, found.b.value, found.verdict) == (3.0, 4.0, "B")
