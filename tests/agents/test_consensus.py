"""The consensus: what ballots come to, who is left out, and what stands where nobody could be counted."""

import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgegraph.agents.panel import Consensus
from judgegraph.errors import ConfigError
from judgegraph.types import Criterion, Scale, Score, keyed

FIVE = Scale.of("1-5")
TONE = Scale.of(["cold", "warm", "dry"])


def ballot(agent, answer=None, scale=FIVE, criterion="Clarity", **fields):
    if isinstance(answer, str):
        fields["label"] = answer
    elif answer is not None:
        fields["value"] = float(answer)
    else:
        fields.setdefault("status", "refused")
    return Score(criterion=criterion, agent=agent, stage="ballot", scale=scale, **fields)


async def agreed(cast, criteria=None, **settings):
    state = {"scores": keyed(*cast)} | ({"criteria": criteria} if criteria else {})
    return await Consensus(**settings)(state)


async def score(*answers, scale=FIVE, **settings):
    ballots = [ballot("abcdefgh"[i], answer, scale) for i, answer in enumerate(answers)]
    (found,) = (await agreed(ballots, **settings))["scores"].values()
    return found


@pytest.mark.parametrize(
    ("combine", "answers", "value", "shares"),
    [
        ("mean", (4, 5), 4.5, {"4": 0.5, "5": 0.5}),
        ("mean", (1, 1, 4), 2.0, {"1": 2 / 3, "4": 1 / 3}),
        ("median", (1, 4, 5), 4.0, {"1": 1 / 3, "4": 1 / 3, "5": 1 / 3}),
        ("median", (1, 2, 4, 5), 3.0, {"1": 0.25, "2": 0.25, "4": 0.25, "5": 0.25}),
        ("vote", (4, 4, 1), 4.0, {"1": 1 / 3, "4": 2 / 3}),
        ("vote", (1, 5, 5, 5, 1, 1, 4), 5.0, {"1": 3 / 7, "4": 1 / 7, "5": 3 / 7}),  # the mean is 3.14
        ("vote", (3.7, 4.2, 1), 4.0, {"1": 1 / 3, "4": 2 / 3}),
        ("vote", (3.7, 3.7), 3.7, {"3.7": 1.0}),
        ("vote", (3.5, 3.5, 1), 3.0, {"1": 1 / 3, "3": 2 / 3}),
    ],
    ids=[
        "mean", "mean of three", "median", "median between two", "most", "tie nearer the mean",
        "nearest points", "all the same stay as they are", "half way counts for the lower",
    ],
)  # fmt: skip
async def test_numbers(combine, answers, value, shares):
    found = await score(*answers, combine=combine)
    assert (found.value, found.scale, found.reader, found.stage, found.agent) == (
        value,
        FIVE,
        "panel",
        "final",
        "panel",
    )
    assert found.distribution == pytest.approx(shares)


async def test_points_with_equally_many_votes_and_points_that_are_none_are_noted():
    assert (await score(1, 1, 2, 5, 5, 4.6, 2, combine="vote")).notes == ("4.6 counts as 5",)
    assert (await score(1, 5, 1, 5, 4, combine="vote")).notes == ("tied with 1; 5 is nearest to the mean of all, 3.2",)
    assert (await score(3.7, 1, 4, combine="vote")).notes == ("3.7 counts as 4",)
    assert (await score(4, 4, 1, combine="vote")).notes == ()


@pytest.mark.parametrize("combine", ["mean", "median", "vote"])
async def test_labels_are_always_voted_and_it_is_said(combine):
    found = await score("warm", "cold", "warm", scale=TONE, combine=combine)
    assert (found.label, found.value) == ("warm", None)
    assert found.distribution == pytest.approx({"cold": 1 / 3, "warm": 2 / 3})
    assert found.notes == (() if combine == "vote" else (f"labels have no {combine}: they were voted",))


@pytest.mark.parametrize(
    ("ballots", "scale", "said"),
    [(("warm", "cold"), TONE, "cold 50%, warm 50% of 2 votes"), ((1, 5), FIVE, "1 50%, 5 50% of 2 votes")],
)
async def test_a_tie_that_no_rule_decides_is_no_answer_whoever_is_named_first(ballots, scale, said):
    for order in (ballots, ballots[::-1]):
        found = await score(*order, scale=scale, combine="vote")
        assert (found.answer, found.status) == (None, "abstained")
        assert found.distribution == dict.fromkeys(map(str, sorted(ballots)), 0.5)
        assert found.reason == f"a tie, which no rule decides: {said}"


async def test_the_reason_names_every_answer_and_gives_that_of_the_winning_side():
    ballots = [
        ballot("a", 1, reason="a\nbad"), ballot("b", 4, reason="good\nso"), ballot("c", 4, reason="too"), ballot("d"),
    ]  # fmt: skip
    (found,) = (await agreed(ballots, combine="vote"))["scores"].values()
    assert found.reason == "a: 1, b: 4, c: 4, d: refused; b says: good so"


async def test_a_failed_ballot_is_left_out_and_never_counts_as_a_number():
    ballots = [ballot("a", 4), ballot("b", status="timeout", reason="60 s"), ballot("c", 5)]
    (found,) = (await agreed(ballots, members=("a", "b", "c", "d")))["scores"].values()
    assert (found.value, found.distribution) == (4.5, {"4": 0.5, "5": 0.5})
    assert found.notes == ("b left out: timeout: 60 s", "d left out: no ballot")


@pytest.mark.parametrize(
    ("statuses", "status"),
    [
        (("refused", "timeout", "refused"), "refused"),
        (("timeout", "refused"), "refused"),
        (("abstained",), "abstained"),
    ],
    ids=["most", "of equally many the first by name", "one"],
)
async def test_where_all_failed_the_score_has_a_status_and_no_number(statuses, status):
    ballots = [ballot("abc"[i], status=s, reason=f"r{i}") for i, s in enumerate(statuses)]
    (found,) = (await agreed(ballots))["scores"].values()
    assert (found.status, found.answer, found.distribution) == (status, None, None)
    assert f"a left out: {statuses[0]}: r0" in found.reason


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (ballot("c", 9, Scale.of("1-10")), "on 1-10, not 1-5"),
        (ballot("c", "warm", TONE), "on cold / warm / dry, not 1-5"),
        (ballot("c", 3, None), "on no scale, not 1-5"),
        (ballot("c", 7, FIVE), "7.0 is not on the scale 1-5"),
    ],
    ids=["another range", "labels", "no scale", "off the scale"],
)
async def test_what_stands_on_another_scale_is_left_out_with_a_note_and_not_carried_over(other, why):
    for criteria in (None, [Criterion(name="Clarity", scale=FIVE)]):
        (found,) = (await agreed([ballot("a", 4), ballot("b", 5), other], criteria))["scores"].values()
        assert (found.value, found.notes) == (4.5, (f"c left out: {why}",))


async def test_whole_numbers_and_any_numbers_of_one_range_count_together():
    (found,) = (await agreed([ballot("a", 4), ballot("b", 4.5, Scale.of("1-5 any"))]))["scores"].values()
    assert found.value == 4.25


async def test_scores_are_in_the_order_of_the_criteria_and_one_that_nobody_scored_is_skipped():
    criteria = [Criterion(name=name) for name in ("B", "None", "A")]
    ballots = [ballot("a", 1, criterion="A"), ballot("a", 2, criterion="B"), ballot("a", 3, criterion="Other")]
    found = (await agreed(ballots, criteria, members=("a",)))["scores"]
    assert [(s.criterion, s.status) for s in found.values()] == [("B", "ok"), ("None", "skipped"), ("A", "ok")]
    assert found["None/panel/final/0"].reason == "a left out: no ballot"


async def test_only_members_and_only_its_stage_count():
    ballots = [ballot("a", 2), ballot("x", 5), ballot("panel", 5), ballot("a", 5).model_copy(update={"stage": "draft"})]
    for members, value in (("a",), 2.0), ((), 3.5):
        (found,) = (await agreed(ballots, members=members))["scores"].values()
        assert found.value == value
    (found,) = (await agreed(ballots, ballots="draft"))["scores"].values()
    assert found.value == 5.0


async def test_two_outputs_and_two_orders_are_questions_of_their_own():
    ballots = [ballot("a", 2), ballot("a", 5, repeat=1), ballot("b", 4), *(ballot(m, 4, of="rival") for m in "ab")]
    found = (await agreed(ballots))["scores"]
    assert {key: s.value for key, s in found.items()} == {
        "Clarity/panel/final/0": 3.0, "Clarity/panel/final/0/rival": 4.0, "Clarity/panel/final/1": 5.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rivals", "value", "status", "note"),
    [
        ([ballot("a", 4, of="rival"), ballot("b", 5, of="rival")], 4.5, "ok", None),
        ([ballot("a", 4, of="rival")], None, None, "no score of the rival: a judged it, a, b the output"),
        ([ballot("a", 4, of="rival"), ballot("b", of="rival")], None, None, "no score of the rival: a judged it, a, b"),
        ([ballot("c", 4, of="rival")], None, None, "no score of the rival: c judged it, a, b the output"),
        ([ballot("a", of="rival")], None, "refused", None),
    ],
    ids=["the same", "one of two", "one failed", "another one", "nobody could"],
)
async def test_the_rival_has_no_mean_of_other_judges_than_the_output(rivals, value, status, note):
    for criteria in (None, [Criterion(name="Clarity", scale=FIVE)]):
        found = (await agreed([ballot("a", 2), ballot("b", 4), *rivals], criteria))["scores"]
        output, rival = found["Clarity/panel/final/0"], found.get("Clarity/panel/final/0/rival")
        assert output.value == 3.0
        assert output.notes[-1].startswith(note) if note else output.notes == ()
        assert (rival and rival.value, rival and rival.status) == (value, status)


async def test_nothing_to_combine_is_told():
    found = await agreed([])
    assert (found["scores"], [n.status for n in found["notes"].values()]) == ({}, ["skipped"])


def test_another_rule_is_refused():
    with pytest.raises(ConfigError, match="combine: expected 'mean', 'median' or 'vote', got 'average'"):
        Consensus(combine="average")


ANSWERS = st.lists(st.one_of(st.none(), st.integers(1, 5), st.floats(1, 5)), min_size=1, max_size=4)
LABELS = st.lists(st.one_of(st.none(), st.sampled_from(TONE.labels)), min_size=1, max_size=4)


@given(st.one_of(ANSWERS, LABELS), st.sampled_from(["mean", "median", "vote"]))
async def test_the_order_of_ballots_and_of_members_changes_nothing(answers, combine):
    scale = TONE if any(isinstance(a, str) for a in answers) else FIVE
    ballots = [ballot("abcd"[i], a, scale) for i, a in enumerate(answers)]
    found = set()
    for order in permutations(ballots):
        members = tuple(b.agent for b in order)
        (said,) = (await agreed(order, members=members, combine=combine))["scores"].values()
        found.add((said.answer, said.status, repr(said.distribution)))
    assert len(found) == 1


@given(st.one_of(st.integers(1, 5), st.floats(1, 5), st.sampled_from(TONE.labels)), st.integers(1, 7))
async def test_of_judges_that_say_the_same_it_is_that(answer, count):
    scale = TONE if isinstance(answer, str) else FIVE
    for combine in ("mean", "median", "vote"):
        found = await score(*[answer] * count, scale=scale, combine=combine)
        assert found.answer == answer
        assert found.distribution is not None
        assert math.isclose(sum(found.distribution.values()), 1.0)


@given(st.lists(st.floats(1, 5), min_size=1, max_size=8), st.sampled_from(["mean", "median", "vote"]))
async def test_it_lies_among_the_ballots(answers, combine):
    found = await score(*answers, combine=combine)
    low, high = min(answers), max(answers)
    assert (math.floor(low) <= found.value <= math.ceil(high)) if combine == "vote" else (low <= found.value <= high)


def silent(found):
    return [note.text for note in found["notes"].values() if note.kind == "panel-member-silent"]


async def test_a_member_that_gave_no_answer_at_all_is_noted_with_what_became_of_its_ballots():
    """Not where it answered one criterion, where its requests came to nothing, or where nobody answered."""
    two = [Criterion(name="Clarity", scale=FIVE), Criterion(name="Depth", scale=FIVE)]

    async def told(*cast):
        return silent(await agreed(cast, two))

    heard = [ballot("a", 4), ballot("a", 5, criterion="Depth")]
    mute = [ballot("b", status="refused"), ballot("b", status="refused", criterion="Depth")]
    mixed = [ballot("c", status="unreadable"), ballot("c", status="abstained", criterion="Depth")]
    assert await told(*heard, *mute) == ["'b' gave no answer: 2 refused"]
    assert await told(*heard, *mixed, *mute) == [
        "'c' gave no answer: 1 unreadable, 1 abstained",
        "'b' gave no answer: 2 refused",
    ]
    assert await told(*heard, mute[0], ballot("b", 3, criterion="Depth")) == []
    assert await told(*heard, ballot("b", status="timeout"), ballot("b", status="timeout", criterion="Depth")) == []
    assert await told(*mute, *mixed) == []
    assert await told(*heard, ballot("b", status="timeout"), mute[1]) == ["'b' gave no answer: 1 timeout, 1 refused"]
