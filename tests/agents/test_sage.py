"""The critic's verdict from several replies, and what it notes where advice fails."""

import pytest

from judgegraph.agents.sage import Sage
from judgegraph.calls import Reader
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample, Scale, Score, keyed

SAMPLE = Sample(id="s1", output="A text.")
CLARITY, TONE = Criterion(name="Clarity"), Criterion(name="Tone", scale=Scale(labels=("warm", "cold", "flat", "odd")))
THREE = Score(criterion="Clarity", agent="evaluator", stage="draft", value=3.0, scale=CLARITY.scale)
WARM = Score(criterion="Tone", agent="evaluator", stage="draft", label="warm", scale=TONE.scale)


def review(verdict, answer, reason="looked"):
    key, name = ("label", "tone") if verdict == "change" or answer in TONE.scale.labels else ("score", "clarity")
    entry = {"reason": reason, "verdict": verdict, key: answer}
    return {"rectifications": {name: entry}, "definitions": [], "new_criteria": []}


async def judged(first, samples=(), criterion=CLARITY, draft=THREE, **settings):
    judge = scripted(first, *([list(samples)] if samples else []))
    sage = Sage(judge=judge, criteria=[criterion], reader=Reader("weighted", samples=len(samples) or 1), **settings)
    written = await sage({"sample": SAMPLE, "scores": keyed(draft)})
    return written["rectifications"][f"{criterion.name}/sage"], written


@pytest.mark.parametrize(
    ("replies", "value", "direction"),
    [
        ([("keep", 3), *[("lower", 1)] * 4], 1.4, "down"),
        ([("lower", 2), *[("keep", 3)] * 4], None, "none"),
        ([*[("raise", 5)] * 3, *[("keep", None)] * 2], 4.2, "up"),
        ([*[("lower", 1)] * 2, *[("keep", 3)] * 2], None, "none"),
        ([*[("raise", 4)] * 3, *[("lower", 1)] * 2], None, "none"),
        ([*[("lower", 1)] * 3, *[("lower", 5)] * 2], 1.8, "down"),
        ([("raise", None)] * 5, None, "none"),
        ([*[("lower", 1)] * 3, ("raise", 4), *[("keep", 3)] * 2], None, "none"),
        ([*[("lower", 1)] * 4, ("raise", 4), *[("keep", 3)] * 2], 2.0, "down"),
    ],
    ids=[
        "lowered",
        "kept",
        "kept without values",
        "a tie",
        "against the mean",
        "against its own verdict",
        "no value",
        "half",
        "more than half",
    ],
)
async def test_the_verdict_is_that_of_most_replies_and_keep_counts_as_the_draft(replies, value, direction):
    said, _ = await judged(review("lower", 1), [review(*reply) for reply in replies])
    assert (said.value, said.direction) == (value if value is None else pytest.approx(value), direction)
    assert said.action == ("keep" if value is None else "change")


async def test_the_distribution_is_of_what_the_value_is_the_mean_of():
    said, _ = await judged(review("keep", 3), [review("keep", 5), *[review("lower", 1)] * 4])
    assert (said.value, said.reader, said.distribution) == (1.4, "samples", {"1": 0.8, "3": 0.2})


async def test_the_reason_is_of_the_first_reply_with_the_verdict():
    samples = [review("keep", 3, "fine"), review("lower", 1, "dull"), review("lower", 2, "flat")]
    said, _ = await judged(review("keep", 3, "first"), samples)
    assert (said.value, said.reason) == (2.0, "dull")


@pytest.mark.parametrize(
    ("replies", "note"),
    [
        ([("lower", 1), ("keep", 3)], "equally many replies say 'keep' and 'lower'; the score stands"),
        ([("raise", 4)] * 2 + [("lower", 1)], "most replies say 'raise' but the mean of all is 3; the score stands"),
        (
            [*[("raise", 4)] * 3, *[("lower", 1)] * 2],
            "most replies say 'raise' but the mean of all is 2.8; the score stands",
        ),
        (
            [*[("lower", 1)] * 2, ("raise", 4), ("keep", 3)],
            "no more than half of the replies say one verdict; the score stands",
        ),
        ([("lower", 5), ("keep", 3), ("keep", 3)], "said 'lower' but gave 5 for a score of 3; the score stands"),
    ],
)
async def test_why_a_score_stands_is_told(replies, note):
    said, _ = await judged(review("keep", 3), [review(*reply) for reply in replies])
    assert [text for text in said.notes if "stands" in text] == [note]


@pytest.mark.parametrize(("verdict", "given"), [("raise", None), ("lower", 4)])
async def test_one_reply_whose_value_does_not_fit_its_verdict_keeps_the_score_with_a_note(verdict, given):
    said, _ = await judged(review(verdict, given))
    what = "no value" if given is None else given
    assert (said.action, said.status) == ("keep", "ok")
    assert said.notes[-1] == f"said '{verdict}' but gave {what} for a score of 3; the score stands"


@pytest.mark.parametrize(
    ("draft", "given", "noted"),
    [(3.0, 4, True), (3.0, 3, False), (3.4, 3, False), (3.4, 4, False), (3.4, 5, True), (3.0, None, False)],
)
async def test_another_value_beside_keep_is_told_and_the_points_next_to_a_weighted_draft_are_none(draft, given, noted):
    said, _ = await judged(review("keep", given), draft=THREE.model_copy(update={"value": draft}))
    told = f"said 'keep' but gave {given} for a score of {draft:g}; the score stands"
    assert (said.action, [n for n in said.notes if "stands" in n]) == ("keep", [told] if noted else [])


async def test_another_label_beside_keep_is_told():
    entry = {"rectifications": {"tone": {"reason": "r", "verdict": "keep", "label": "cold"}}}
    said, _ = await judged(entry, criterion=TONE, draft=WARM)
    assert (said.action, said.notes[-1]) == ("keep", "said 'keep' but gave cold for a score of warm; the score stands")


@pytest.mark.parametrize("verdict", ["KEEP", "Keep ", "\tkeep"])
async def test_the_case_of_a_verdict_costs_no_other_call(verdict):
    judge = scripted(review(verdict, 3))
    sage = Sage(judge=judge, criteria=[CLARITY], reader=Reader("stated"))
    said = (await sage({"sample": SAMPLE, "scores": keyed(THREE)}))["rectifications"]["Clarity/sage"]
    assert (said.status, said.action, len(judge.calls)) == ("ok", "keep", 1)


async def test_without_any_criteria_it_goes_by_the_names_and_scales_of_the_drafts():
    judge = scripted({"rectifications": {"tone": {"reason": "r", "verdict": "change", "label": "cold"}}})
    bare = THREE.model_copy(update={"scale": None})
    written = await Sage(judge=judge, reader=Reader("stated"))({"sample": SAMPLE, "scores": keyed(bare, WARM)})
    assert {r.criterion: r.label for r in written["rectifications"].values()} == {"Tone": "cold"}


@pytest.mark.parametrize(
    ("labels", "label", "note"),
    [
        (["cold", "cold", "warm"], "cold", ()),
        (["warm", "warm", "cold"], None, ()),
        (["flat", "cold", "cold", "flat"], "cold", ("tied with flat",)),
        (["warm", "cold", "cold", "flat"], "cold", ()),
        (["warm", "warm", "cold", "flat", "odd"], None, ()),
        (["warm", "cold"], None, ("equally many replies say 'cold' and 'warm'; the score stands",)),
        (["cold", "warm", "flat"], None, ("equally many replies say 'cold' and 'flat' and 'warm'; the score stands",)),
    ],
)
async def test_of_labels_the_one_with_most_votes_decides_and_the_drafts_is_one_of_them(labels, label, note):
    samples = [review("keep" if name == "warm" else "change", name) for name in labels]
    said, _ = await judged(review("change", "cold"), samples, criterion=TONE, draft=WARM)
    assert (said.label, said.action) == (label, "change" if label else "keep")
    assert said.notes[-1:] == (note or said.notes[:1])  # the first: no log-probabilities


async def test_advice_that_cannot_be_had_is_noted_with_its_status():
    judge = scripted(review("keep", 3), ValueError("gone"), *["no JSON here"] * 3)
    written = await Sage(judge=judge, criteria=[CLARITY], reader=Reader("weighted"), calls="three")(
        {"sample": SAMPLE, "scores": keyed(THREE)}
    )
    assert (written["rectifications"]["Clarity/sage"].status, written["suggestions"]) == ("ok", [])
    notes = sorted(written["notes"].values(), key=lambda note: note.status)
    assert [(note.agent, note.status) for note in notes] == [("sage", "provider_error"), ("sage", "unreadable")]
    assert sorted(note.text.partition(":")[0] for note in notes) == [
        "no advice on definitions",
        "no advice on new criteria",
    ]


async def test_advice_in_a_call_of_its_own_is_asked_for_once_without_samples():
    new = {"new_criteria": [{"name": "Depth", "definition": "d", "reason": "r"}]}
    judge = scripted(review("keep", 3), {"definitions": []}, new, [review("keep", 3)] * 3)
    sage = Sage(judge=judge, criteria=[CLARITY], reader=Reader("weighted", samples=3), calls="three")
    written = await sage({"sample": SAMPLE, "scores": keyed(THREE)})
    assert [s.criterion for s in written["suggestions"]] == ["Depth"]
    assert (written["notes"], len(judge.calls)) == ({}, 4)


async def test_a_judge_known_to_give_no_log_probabilities_is_heard_alike():
    samples = [review("keep", 3), *[review("lower", 1)] * 4]
    judge = scripted(review("keep", 3), samples, samples)
    sage = Sage(judge=judge, criteria=[CLARITY], reader=Reader("weighted", samples=5))
    said = [
        (await sage({"sample": SAMPLE, "scores": keyed(THREE)}))["rectifications"]["Clarity/sage"] for _ in range(2)
    ]
    assert [(one.value, one.direction) for one in said] == [(1.4, "down")] * 2
    assert len(judge.calls) == 3


@pytest.mark.parametrize(("unknown", "status"), [(3, "unreadable"), (2, "ok")])
async def test_a_reply_without_a_known_verdict_is_no_vote_to_keep(unknown, status):
    maybe = [review("maybe", 1)] * unknown
    judge = scripted(review("keep", 3), [*maybe, *[review("lower", 1)] * (5 - unknown)], maybe, maybe)
    sage = Sage(judge=judge, criteria=[CLARITY], reader=Reader("weighted", samples=5))
    said = (await sage({"sample": SAMPLE, "scores": keyed(THREE)}))["rectifications"]["Clarity/sage"]
    assert (said.status, said.action) == (status, "change" if status == "ok" else "keep")
