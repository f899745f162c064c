"""The blend: means of what assistants say, on a criterion's scale, and what is missing never a zero."""

import pytest

from judgegraph.agents.fusion import Blend
from judgegraph.types import Criterion, Finding, Plan, Score, keyed

RANGES = {"rouge": (0, 1), "chrf": (0, 100), "perplexity": (50, 1)}  # of the last, lower is better
DEPTH = Criterion(name="Depth")


def said(**values):
    found = [
        v if isinstance(v, Finding) else Finding(assistant=name, value=v) for name, v in values.items()
    ]  # fmt: skip
    return {finding.assistant: finding for finding in found}


def lost(name, status="agent_error", reason="it broke"):
    return Finding(assistant=name, status=status, reason=reason)


def blended(findings, criteria=(DEPTH,), plan=None, scores=None, **settings):
    state = {"findings": findings}
    state |= {"plan": plan} if plan is not None else {}
    state |= {"scores": scores} if scores is not None else {}
    return Blend(**{"ranges": RANGES, "criteria": criteria, **settings})(state)


def only(written):
    (score,) = written["scores"].values()
    return score


def direct(value, criterion="Depth", status="ok", scale="1-5"):
    agent = {"agent": "llm-score", "stage": "direct", "scale": scale}
    return keyed(Score(criterion=criterion, value=value, status=status, **agent))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"rouge": 0, "chrf": 0, "perplexity": 50}, 1),
        ({"rouge": 1, "chrf": 100, "perplexity": 1}, 5),
        ({"rouge": 0.5, "chrf": 50, "perplexity": 25.5}, 3),
        ({"rouge": 1, "chrf": 25, "perplexity": 50}, 1 + 4 * 1.25 / 3),
    ],
)
def test_every_assistant_counts_alike_whatever_its_range_and_direction(values, expected):
    score = only(blended(said(**values)))
    assert score.value == pytest.approx(expected)
    assert (score.key, score.reader, score.notes) == ("Depth/blend/final/0", "plain", ())


def test_the_mean_stands_on_the_criterions_own_scale():
    yes = [Criterion(name="Depth", scale="0-1"), Criterion(name="Size", scale="1-100")]
    scores = blended(said(rouge=0.5, chrf=50, perplexity=25.5), yes)["scores"].values()
    assert [s.value for s in scores] == pytest.approx([0.5, 50.5])


@pytest.mark.parametrize("why", ["agent_error", "skipped", "over_budget"])
def test_who_fails_is_left_out_and_noted_never_a_zero(why):
    score = only(blended(said(rouge=0.5, chrf=50, perplexity=lost("perplexity", why))))
    assert score.value == 3
    assert score.notes == (f"perplexity: left out of the mean ({why}: it broke)",)


@pytest.mark.parametrize(
    ("failures", "status"),
    [
        (["agent_error"] * 3, "agent_error"),
        (["skipped"] * 3, "skipped"),
        (["skipped", "over_budget", "skipped"], "over_budget"),
    ],
)
def test_where_all_fail_there_is_a_status_and_no_number(failures, status):
    written = blended({n: lost(n, why) for n, why in zip(RANGES, failures, strict=True)})
    score = only(written)
    assert (score.value, score.status, written["overall"]) == (None, status, None)
    assert "rouge: left out" in score.reason


def test_who_was_not_asked_and_who_gave_words_are_left_out():
    score = only(blended(said(rouge=0.5, chrf="good")))
    assert score.value == 3
    assert score.notes == (
        "chrf: left out of the mean (no number: 'good')",
        "perplexity: left out of the mean (skipped: not consulted)",
    )


def test_a_value_beyond_its_range_stands_at_its_end_and_is_noted():
    score = only(blended(said(rouge=1.5, chrf=50, perplexity=25.5)))
    assert score.value == pytest.approx(1 + 4 * 2 / 3)
    assert score.notes == ("rouge: 1.5 lies beyond its range 0 to 1 and stands at its end",)


def plan(**alignment):
    return Plan(text="t", alignment={k: tuple(v) for k, v in alignment.items()})


def test_selected_counts_those_of_the_plan_for_each_criterion():
    both = [Criterion(name="Depth"), Criterion(name="Tone")]
    written = blended(
        said(rouge=1, chrf=50, perplexity=50), both, plan(Depth=["rouge"], Tone=["chrf", "perplexity"]),
        rule="selected",
    )  # fmt: skip
    assert [s.value for s in written["scores"].values()] == [5, 2]
    assert written["overall"] == 3.5


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (plan(Depth=[]), "the plan selects no assistant for it"),
        (plan(Tone=["rouge"]), "the plan selects no assistant for it"),
        (plan(Depth=["elsewhere"]), "the plan selects no assistant for it"),
        (Plan(text="", status="refused"), "no plan selects assistants for it (refused)"),
        (None, "no plan selects assistants for it (none was made)"),
    ],
)
@pytest.mark.parametrize("settings", [{}, {"direct": "llm-score", "direct_key": "llm-score"}])
def test_selected_is_undefined_without_a_selected_assistant_also_beside_a_direct_score(made, why, settings):
    scores = direct(4) if settings else None
    written = blended(said(rouge=1, chrf=50, perplexity=50), (DEPTH,), made, scores, rule="selected", **settings)
    assert (only(written).status, only(written).reason, written["overall"]) == ("skipped", why, None)


def test_weights_are_those_of_the_criterion_brought_to_a_sum_of_one():
    weights = {"depth": {"rouge": 3, "chrf": 1, "perplexity": 0, "unknown": 9}}
    score = only(blended(said(rouge=1, chrf=0, perplexity=lost("perplexity")), rule="weighted", weights=weights))
    assert (score.value, score.notes) == (4, ())  # who has no weight is not missed
    left = only(blended(said(rouge=lost("rouge"), chrf=0, perplexity=1), rule="weighted", weights=weights))
    assert (left.value, left.notes) == (1, ("rouge: left out of the mean (agent_error: it broke)",))


@pytest.mark.parametrize(
    ("weights", "why"),
    [
        ({}, "no weights are given for it"),
        ({"Depth": {}}, "no weights are given for it"),
        ({"Depth": {"rouge": 0}}, "all its weights are 0: nobody agreed with people on it"),
    ],
)
def test_without_weights_a_criterion_is_skipped(weights, why):
    score = only(blended(said(rouge=1, chrf=0, perplexity=1), rule="weighted", weights=weights))
    assert (score.status, score.reason) == ("skipped", why)


@pytest.mark.parametrize("large", [1e308, 1.7e308])
def test_weights_as_large_as_numbers_are_count_by_their_proportion(large):
    weights = {"Depth": {"rouge": large, "chrf": large, "perplexity": 0}}
    assert only(blended(said(rouge=1, chrf=0), rule="weighted", weights=weights)).value == 3


def test_criteria_in_any_script_have_weights_and_plans_of_their_own():
    criteria = [Criterion(name="\u6df1\u5ea6"), Criterion(name="\u8bed\u6c14")]
    weights = {"\u6df1\u5ea6": {"rouge": 1}, "\u8bed\u6c14": {"chrf": 1}}
    for settings in (
        {"rule": "weighted", "weights": weights},
        {"rule": "selected", "made": Plan(text="t", alignment={name: tuple(by) for name, by in weights.items()})},
    ):
        scores = blended(said(rouge=1, chrf=0), criteria, settings.pop("made", None), **settings)["scores"].values()
        assert [score.value for score in scores] == [5, 1]


VOICE = {"direct": "llm-score", "direct_key": "llm-score"}


@pytest.mark.parametrize(
    ("rule", "more", "expected"),
    [
        ("average", {}, 1 + 4 * (1 + 0 + 0 + 0.75) / 4),
        ("selected", {"plan": plan(Depth=["rouge"])}, 1 + 4 * (1 + 0.75) / 2),
        ("weighted", {"weights": {"Depth": {"rouge": 1, "chrf": 0, "perplexity": 0, "llm-score": 3}}}, 4.25),
    ],
)
def test_a_direct_score_is_one_more_voice(rule, more, expected):
    written = blended(said(rouge=1, chrf=0, perplexity=50), scores=direct(4), rule=rule, **VOICE, **more)
    assert only(written).value == pytest.approx(expected)


def test_a_direct_score_counts_from_its_own_scale_and_only_its_own_criterion():
    scores = direct(10, scale="0-10") | direct(1, "Tone")
    assert only(blended({}, scores=scores, ranges={}, **VOICE)).value == 5


def test_a_direct_score_that_fails_is_left_out_and_one_that_nobody_wants_is_not_read():
    findings = said(rouge=1, chrf=100, perplexity=1)
    score = only(blended(findings, scores=direct(None, status="refused"), **VOICE))
    assert (score.value, score.notes) == (5, ("llm-score: left out of the mean (refused)",))
    assert only(blended(findings, scores=direct(1))).value == 5


def test_labels_have_no_mean():
    tone = Criterion(name="Tone", scale=["warm", "cold"])
    score = only(blended(said(rouge=1), [tone]))
    assert (score.status, score.reason) == ("skipped", "a scale of labels has no mean")


@pytest.mark.parametrize(
    ("criteria", "overall"),
    [
        ([Criterion(name="Depth"), Criterion(name="Tone")], 3),
        ([Criterion(name="Depth"), Criterion(name="Overall", scale="0-1")], 0.5),
        ([Criterion(name="Depth"), Criterion(name="Tone", scale="0-1")], None),
        ([Criterion(name="Depth"), Criterion(name="Tone", scale=["warm", "cold"])], None),
    ],
    ids=["the mean", "its own", "two scales", "one skipped"],
)
def test_the_overall_score_is_its_own_or_the_mean_of_all(criteria, overall):
    assert blended(said(rouge=0.5, chrf=50, perplexity=25.5), criteria)["overall"] == overall


def test_the_states_criteria_come_before_its_own():
    written = Blend(ranges=RANGES, criteria=[DEPTH])({"criteria": [Criterion(name="Tone")], "findings": said(rouge=1)})
    assert only(written).criterion == "Tone"
