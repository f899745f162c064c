"""Scores are read by the best rung a judge allows; the rung is stored, and a step down is noted."""

import json
import math

import pytest
from langchain_core.messages import AIMessage

from judgegraph.calls import Form, Reader, Slot, rate
from judgegraph.calls.asking import ratings_form
from judgegraph.calls.ratings import NO_LOGPROBS
from judgegraph.errors import ConfigError
from judgegraph.prompts.template import slugs
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Scale, Score

MESSAGES = [("user", "Judge.")]
FIVE, TONE = Scale.of("1-5"), Scale.of(["warm", "cold", "neutral"])
FORM = ratings_form(slugs([Criterion(name="A"), Criterion(name="Tone", scale=TONE)]))
SLOTS = {"a": Slot(FIVE, ("a",)), "tone": Slot(TONE, ("tone",))}
ONE = ratings_form(slugs([Criterion(name="A")]))
TEXT = Form("text", None, str)
WEIGHTED = Reader("weighted", samples=3)


@pytest.mark.parametrize("setting", [{"samples": 0}, {"temperature": -3.0}, {"temperature": math.nan}])
def test_a_reader_that_cannot_be_is_refused(setting):
    with pytest.raises(ConfigError, match="a reader"):
        Reader("mean", **setting)


def reply(score=4, label="warm", reason="4 of 5"):
    return {"a": {"reason": reason, "score": score}, "tone": {"reason": "r", "label": label}}


def weighed(text, tokens):
    """A message with log-probabilities: tokens are texts, or (text, {alternative: p})."""
    content = []
    for token in tokens:
        text_, odds = token if isinstance(token, tuple) else (token, {})
        own = max(1e-9, 1 - sum(odds.values()))
        top = [{"token": t, "logprob": math.log(p)} for t, p in {text_: own, **odds}.items()]
        content.append({**top[0], "top_logprobs": top})
    return AIMessage(text, response_metadata={"finish_reason": "stop", "logprobs": {"content": content}})


def scored(odds, text='{"a": {"reason": "score: 5", "score": 4}}', at="4"):
    """A reply whose score token has these alternatives."""
    start = text.rindex(at)
    return weighed(text, [text[:start], (at, odds), text[start + len(at) :]])


async def one(*script, reader=WEIGHTED, form=ONE, slot=SLOTS["a"], **settings):
    return (await rate(scripted(*script), MESSAGES, form, {"a": slot}, reader, **settings)).answers["a"]


async def test_a_weighted_score_is_read_from_the_tokens():
    found = await one(scored({"5": 0.3, "3": 0.1}))
    assert (found.value, found.reader, found.notes) == (pytest.approx(4.2), "logprobs", ())
    assert (found.unseen, found.reason) == (0, "score: 5")


async def test_less_than_half_of_the_probability_steps_down_to_samples_with_a_note():
    found = await one(scored({"x": 0.6}), [reply(3), reply(4), reply(5)])
    assert (found.value, found.reader) == (4.0, "samples")
    assert found.notes == ("log-probabilities hold too little on the scale",)


@pytest.mark.parametrize("own", [-0.1, float("nan"), 0.7])
async def test_log_probabilities_that_are_no_distribution_are_not_weighed_and_the_samples_count(own):
    first = scored({})
    (place,) = (one for one in first.response_metadata["logprobs"]["content"] if one["token"] == "4")
    place["top_logprobs"] = [{"token": point, "logprob": -0.1 if point != "4" else own} for point in "12345"]
    found = await one(first, [reply(3), reply(4), reply(5)])
    assert (found.value, found.reader, found.distribution) == (4.0, "samples", {"3": 1 / 3, "4": 1 / 3, "5": 1 / 3})
    assert "no distribution" in found.notes[0]
    alone = await one(first, reader=Reader("weighted"))
    assert (alone.value, alone.reader) == (4.0, "stated")


async def test_a_token_that_contradicts_its_alternatives_is_not_weighed():
    first = scored({"5": 0.3})
    (place,) = (one for one in first.response_metadata["logprobs"]["content"] if one["token"] == "4")
    place["logprob"] = -5.0
    found = await one(first, [reply(3), reply(4), reply(5)])
    assert (found.value, found.reader) == (4.0, "samples")
    assert found.notes[0].endswith("positive, no numbers, or at odds with one another")


@pytest.mark.parametrize(
    ("own", "listed", "weighed"),
    [
        (-0.6, [], False),
        (-0.005, [], False),  # as sure as it is: nothing was listed, so it is no distribution
        (0.0, [], False),
        (-0.6, [-0.6], False),
        (-0.005, [-0.005], True),
        (0.0, [0.0], True),
    ],
)
async def test_a_token_without_alternatives_is_weighed_only_where_it_was_listed_and_certain(own, listed, weighed):
    first = scored({"5": 0.3})
    (place,) = (one for one in first.response_metadata["logprobs"]["content"] if one["token"] == "4")
    place |= {"logprob": own, "top_logprobs": [{"token": "4", "logprob": value} for value in listed]}
    found = await one(first, [reply(3), reply(4), reply(5)])
    assert (found.value, found.reader) == (4.0, "logprobs" if weighed else "samples")
    assert weighed or found.notes[0].endswith("no alternatives came with them")


@pytest.mark.parametrize(
    ("odds", "settings", "reader"),
    [
        ({"5": 0.99}, {}, "stated"),
        ({"5": 0.99}, {"temperature": 1.0}, "logprobs"),
        ({"5": 0.6}, {}, "logprobs"),  # near enough for a server that computes in few bits
    ],
)
async def test_at_temperature_0_a_judge_chooses_no_point_that_is_far_less_probable(odds, settings, reader):
    found = await one(scored(odds), reader=Reader("weighted"), **settings)
    assert found.reader == reader
    why = "the log-probabilities are no distribution: at temperature 0 5 has 0.99, and what was chosen 0.01"
    assert found.notes == ((why,) if reader == "stated" else ())


@pytest.mark.parametrize(
    "first",
    [
        weighed('{"a": {"reason": "", "score": 4}}', ['{"a": {"reason": "", "score": ', "5", "}}"]),
        scored({}, '{"x": {"a": {"score": 4}}, "a": {"reason": "", "score": 4}}'),
        weighed('{"a": {"reason": "", "score": 4.5}}', ['{"a": {"reason": "", "score": ', "4", ".5", "}}"]),
        weighed('{"a": {"reason": "\\u00e9", "score": 4}}', ["{", "4", "}"]),
    ],
    ids=["other text", "two places", "a fraction", "other tokens"],
)
async def test_tokens_that_are_not_the_answers_are_never_weighed(first):
    found = await one(first, *[["{prose"] * 3] * 3)
    assert (found.reader, found.value) == ("stated", 4.5 if "4.5" in first.content else 4.0)
    assert found.notes[-1] == "sampling failed (unreadable), the stated answer stands"
    assert ("4.5 is no point of the scale 1-5" in found.notes) is ("4.5" in first.content)


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"a": {"reason": "", "score": 4}}\n```',
        'Score {in braces}: {"a": {"reason": "{\\"score\\": 5}", "score": 4,}}',
        '{"result": {"a": {"reason": "😀", "score": 4}}}',
    ],
    ids=["fence", "prose and comma", "surplus level"],
)
async def test_a_mended_reply_is_weighed_at_its_place(text):
    found = await one(scored({"5": 0.5}, text))
    assert (found.value, found.reader) == (4.5, "logprobs")
    assert found.notes


@pytest.mark.parametrize(
    ("text", "form", "slot", "earlier"),
    [
        (
            '{"a": {"reason": "r", "score": 5}} wait, no: {"a": {"reason": "r", "score": 2}}',
            ONE,
            SLOTS["a"],
            "a.score 5",
        ),
        ('Score: 5 - hmm, no, {"a": {"reason": "r", "score": 2}}', ONE, SLOTS["a"], "5"),
        ("Score: 5. Wait, no. Score: 2", TEXT, Slot(FIVE), "5"),
        ("I give it a 4, no, 2.", TEXT, Slot(FIVE), "4"),
        ("Score: 2. Wait, yes. Score: 2", TEXT, Slot(FIVE), ""),
        ("warm. Actually, on reflection, the verdict is cold.", TEXT, Slot(TONE), "warm"),
    ],
)
async def test_an_answer_that_a_reply_takes_back_is_told(text, form, slot, earlier):
    found = await one(text, form=form, slot=slot, reader=Reader())
    assert (found.value or found.label) == (2.0 if slot.scale is FIVE else "cold")
    assert [note for note in found.notes if "taken back" in note] == (
        [f"an earlier answer taken back ({earlier})"] if earlier else []
    )


async def test_a_label_is_weighed_too():
    text = '{"a": {"reason": "", "label": "warm"}}'
    form = ratings_form(slugs([Criterion(name="A", scale=TONE)]))
    found = await one(scored({"cold": 0.3}, text, "warm"), form=form, slot=Slot(TONE, ("a",)))
    assert (found.label, found.value, found.distribution) == ("warm", None, pytest.approx({"warm": 0.7, "cold": 0.3}))


async def test_null_log_probabilities_are_asked_for_once():
    judge = scripted(reply(), [reply(3)] * 3, [reply(5)] * 3)
    found = [(await rate(judge, MESSAGES, FORM, SLOTS, WEIGHTED)).answers["a"] for _ in range(2)]
    assert [(a.value, a.reader, a.notes) for a in found] == [
        (3.0, "samples", (NO_LOGPROBS,)),
        (5.0, "samples", (NO_LOGPROBS,)),
    ]
    assert [asked.get("logprobs") for asked in judge.asked] == [True, None, None]


async def test_without_samples_the_stated_number_stands_with_a_note():
    found = await one(reply(), reader=Reader("weighted"))
    assert (found.value, found.reader, found.notes) == (4.0, "stated", (NO_LOGPROBS,))


async def test_samples_that_fail_leave_the_stated_number_with_a_note():
    found = await one(reply(), *[["{prose"] * 3] * 3)
    assert (found.value, found.reader) == (4.0, "stated")
    assert found.notes == (NO_LOGPROBS, "sampling failed (unreadable), the stated answer stands")


async def test_samples_that_abstain_outvote_the_stated_number():
    found = await one(reply(4, reason="first"), [reply(None, reason="nothing to read")] * 3)
    assert (found.status, found.value, found.reason) == ("abstained", None, "nothing to read")


async def test_too_few_readable_samples_are_unreadable_for_a_judges_first_sample_as_for_its_later_ones():
    script = [[reply(9), reply(9), reply(3)], *[[reply(9), reply(9)]] * 2]
    judge = scripted(reply(), *script, *script)
    found = [(await rate(judge, MESSAGES, ONE, {"a": SLOTS["a"]}, WEIGHTED)).answers["a"] for _ in range(2)]
    assert {(a.value, a.status) for a in found} == {(None, "unreadable")}


async def test_a_judges_first_sample_is_read_as_its_later_ones():
    judge = scripted(reply(1), [reply(2), reply(3), reply(3)], [reply(2), reply(3), reply(3)])
    first, second = [(await rate(judge, MESSAGES, ONE, {"a": SLOTS["a"]}, WEIGHTED)).answers["a"] for _ in range(2)]
    assert first == second


async def test_one_rung_per_slot():
    text = json.dumps(reply())
    start = text.index("4}")
    judge = scripted(weighed(text, [text[:start], "4", text[start + 1 :]]), [reply(1, "cold")] * 3)
    answers = (await rate(judge, MESSAGES, FORM, SLOTS, WEIGHTED)).answers
    assert (answers["a"].value, answers["a"].reader) == (4.0, "logprobs")
    assert (answers["tone"].label, answers["tone"].reader) == ("warm", "logprobs")


async def test_a_scale_of_any_number_has_no_points_to_weigh():
    form = ratings_form(slugs([Criterion(name="A", scale="0-1 any")]))
    found = await one(scored({}, '{"a": {"reason": "", "score": 0.4}}', "0.4"), form=form,
                      slot=Slot(Scale.of("0-1 any"), ("a",)), reader=Reader("weighted"))  # fmt: skip
    assert (found.value, found.reader, found.notes) == (0.4, "stated", ("the scale has no points to weigh",))


@pytest.mark.parametrize("value", [1 / 3, 0.1, 4.7])
async def test_twenty_identical_samples_give_exactly_that_number(value):
    form = ratings_form(slugs([Criterion(name="A", scale="0-5 any")]))
    slot, many = Slot(Scale.of("0-5 any"), ("a",)), [{"a": {"reason": "r", "score": value}}] * 20
    found = await one(many, reader=Reader("mean", samples=20), form=form, slot=slot)
    assert (found.value, list(found.distribution.values())) == (value, [1.0])


async def test_a_mean_tells_what_it_leaves_out():
    found = await one([reply(4), reply(5), reply(None), reply(9), "prose"], reader=Reader("mean", samples=5))
    assert (found.value, found.distribution) == (4.5, {"4": 0.5, "5": 0.5})
    assert set(found.notes) == {"1 of 5 replies left out: abstained", "2 of 5 replies left out: unreadable"}


MEAN = Reader("mean", samples=5)


async def test_fewer_than_half_of_the_replies_are_no_mean():
    bad = [reply(9), reply(8), "{prose", "{prose"]
    found = await one([reply(4), *bad], bad, bad, reader=MEAN)
    assert (found.status, found.value, found.distribution) == ("unreadable", None, None)
    assert found.reason == "1 of 5 replies could be read, fewer than half"
    assert found.notes == ("4 of 5 replies left out: unreadable",)
    assert found.raw


async def test_replies_are_asked_for_again_until_half_of_them_can_be_read():
    found = await one([reply(4), *["{prose"] * 4], [reply(2), reply(3), "{prose", "{prose"], reader=MEAN)
    assert (found.value, found.notes) == (3.0, ("2 of 5 replies left out: unreadable",))


@pytest.mark.parametrize(("abstaining", "status"), [(2, "ok"), (3, "abstained"), (5, "abstained")])
async def test_an_abstention_of_most_replies_is_one_of_all(abstaining, status):
    found = await one([reply(4)] * (5 - abstaining) + [reply(None)] * abstaining, reader=MEAN)
    assert (found.status, found.value) == (status, 4.0 if status == "ok" else None)
    assert found.notes == ((f"{abstaining} of 5 replies left out: abstained",) if abstaining < 5 else ())


async def test_a_rating_carries_what_every_reply_says():
    rating = await rate(scripted([reply(4), reply(5), "{prose"]), MESSAGES, ONE, {"a": SLOTS["a"]}, Reader("mean", 3))
    assert [value["a"]["score"] for value in rating.values] == [4, 5]
    judge = scripted(reply(1), [reply(2), reply(3), reply(3)])
    rating = await rate(judge, MESSAGES, ONE, {"a": SLOTS["a"]}, WEIGHTED)
    assert [value["a"]["score"] for value in rating.values] == [2, 3, 3]
    rating = await rate(scripted(reply(1)), MESSAGES, ONE, {"a": SLOTS["a"]})
    assert rating.values == (rating.value,)


async def test_the_most_frequent_label_wins_ties_by_name_with_a_note():
    many = [reply(label=label) for label in ("warm", "cold", "warm", "cold", "neutral")]
    rating = await rate(scripted(many), MESSAGES, FORM, SLOTS, MEAN)
    assert (rating.answers["tone"].label, rating.answers["tone"].notes) == ("cold", ("tied with warm",))


async def test_labels_of_equal_weight_are_told():
    form = ratings_form(slugs([Criterion(name="A", scale=TONE)]))
    text = '{"a": {"reason": "", "label": "warm"}}'
    found = await one(scored({"cold": 0.5}, text, "warm"), form=form, slot=Slot(TONE, ("a",)))
    assert (found.label, found.notes) == ("warm", ("tied with cold",))


@pytest.mark.parametrize(
    ("said", "scale", "notes"),
    [
        (4.5, "1-5", ("4.5 is no point of the scale 1-5",)),
        (4.0, "1-5", ()),
        ("2.25", "1-5", ("2.25 is no point of the scale 1-5",)),
        (4.5, "1-5 any", ()),
    ],
)
async def test_a_stated_fraction_is_kept_and_told_on_a_whole_scale(said, scale, notes):
    form = ratings_form(slugs([Criterion(name="A", scale=scale)]))
    found = await one(reply(said), reader=Reader(), form=form, slot=Slot(Scale.of(scale), ("a",)))
    assert (found.value, found.status, found.notes) == (float(said), "ok", notes)


async def test_a_weighted_reading_is_asked_for_at_zero_and_samples_warm():
    judge = scripted(reply(), [reply()] * 3)
    await rate(judge, MESSAGES, FORM, SLOTS, Reader("weighted", samples=3, temperature=0.9))
    assert [asked["temperature"] for asked in judge.asked] == [0.0, 0.9]


async def test_an_abstention_is_not_weighed():
    found = await one(reply(None), [reply(None)] * 3)
    assert (found.status, found.value, found.reason) == ("abstained", None, "4 of 5")


@pytest.mark.parametrize(
    ("script", "status"),
    [
        (["prose"] * 3, "unreadable"),
        ([AIMessage("x", response_metadata={"finish_reason": "length"})] * 2, "truncated"),
        ([AIMessage("", additional_kwargs={"refusal": "No."})], "refused"),
    ],
)
async def test_a_call_that_failed_is_a_status_for_every_slot_and_keeps_the_text(script, status):
    rating = await rate(scripted(*script), MESSAGES, FORM, SLOTS)
    assert {(a.status, a.value) for a in rating.answers.values()} == {(status, None)}
    assert rating.value is None
    assert rating.answers["a"].raw


@pytest.mark.parametrize("score", [0, 6, "high", True, 10**400])
async def test_an_answer_off_its_scale_is_unreadable_and_the_others_stay(score):
    rating = await rate(scripted(*[reply(score)] * 3), MESSAGES, FORM, SLOTS)
    assert (rating.answers["a"].status, rating.answers["tone"].label) == ("unreadable", "warm")


async def test_a_text_reply_is_weighed_where_its_number_stands():
    found = await one(weighed("I gave 2 before. Rating: 4", ["I gave 2 before. Rating:", (" 4", {" 5": 0.4})]),
                      form=TEXT, slot=Slot(FIVE))  # fmt: skip
    assert (found.value, found.reader) == (pytest.approx(4.4), "logprobs")


async def test_an_answer_becomes_a_score_as_it_is():
    found = await one(scored({"5": 0.3}))
    assert Score(criterion="A", agent="x", scale=FIVE, **found.fields()).value == pytest.approx(4.3)


def test_a_reader_needs_a_sample():
    with pytest.raises(ConfigError):
        Reader("mean", samples=0)


def test_a_reader_has_a_short_name():
    assert [str(Reader()), str(WEIGHTED), str(Reader("mean", samples=8))] == ["stated", "weighted:3", "mean:8"]
