"""What each variant of SAGEval, CoAScore, LLMScore and G-Eval asks, and what stands in view: the named thing alone."""

import re

import pytest

from judgegraph import prompts
from judgegraph.agents.aspects import Average, RandomRater, moved
from judgegraph.agents.judge import aspect_stage
from judgegraph.errors import ConfigError
from judgegraph.registry import factory
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample, Scale, Score, keyed

SAMPLE = Sample(id="s1", query="QUERY-MARK", source="SOURCE-MARK", output="OUTPUT-MARK")
ONE = Criterion(name="Relevance", definition="Holds what matters.", steps=("Look.",), scale="1-3")
TWO = Criterion(name="Fluency", definition="Reads well.", guideline="1: badly", scale="0-100 any")
TONE = Criterion(name="Tone", definition="How it sounds.", scale=["warm", "cold"])
CHAIN = [{"name": "Focus", "definition": "No side issue."}, {"name": "Coverage", "definition": "All there."}]


def kind(messages):
    """Which agent of a chain asks."""
    text = str(messages[-1].content)
    if "<target-" in text:
        return "propose"
    return "fuse" if "<criterion-" in text else "rate"


def answer(messages):
    asked = str(messages[-1].content)
    names = re.findall(r"^## (\w+)$", asked, re.M)
    rates = {name.lower(): {"score": 2 + place} for place, name in enumerate(names)}
    fused = {"label": "warm", "score": 2, "reason": "so"}
    return {"propose": {"aspects": CHAIN}, "rate": rates, "fuse": fused}[kind(messages)]


async def ran(name, criteria=(ONE,), sample=SAMPLE, **settings):
    """(what was asked, the final state), of a judge that answers anything."""
    judge = scripted(*[answer] * 12)
    if (
        "aspects" not in settings
        and name.startswith("coascore")
        and name != "coascore-inter"
        and not name[-1].isdigit()
    ):
        settings["aspects"] = 2
    return judge, await factory(name)(judge, criteria=criteria, **settings).ainvoke({"sample": sample})


def section(messages, name):
    found = re.search(rf"<{name}-(\w+)>(.*?)</{name}-\1>", str(messages[-1].content), re.S)
    return found[2].strip() if found else None


def words(messages):
    """A prompt without the codes of its tags."""
    return [re.sub(r"(</?[a-z_]+)-\w+>", r"\1>", str(m.content)) for m in messages]


@pytest.mark.parametrize("m", [5, 10, 20])
async def test_coascore_m_asks_for_m_aspects_and_changes_nothing_else(m):
    judge, _ = await ran(f"coascore-{m}")
    assert [kind(call) for call in judge.calls] == ["propose", "rate", "fuse"]
    assert f"Name {m} aspects." in str(judge.calls[0][-1].content)
    other, _ = await ran("coascore", aspects=7)
    assert words(judge.calls[0])[-1].replace(f"Name {m} ", "Name 7 ") == words(other.calls[0])[-1]
    assert list(map(words, judge.calls[1:])) == list(map(words, other.calls[1:]))


async def test_inter_asks_no_proposer_and_takes_the_other_criteria_by_name_and_definition():
    judge, state = await ran("coascore-inter", criteria=(ONE, TWO, TONE))
    calls = sorted(judge.calls, key=kind)
    assert [kind(call) for call in calls] == ["fuse"] * 3 + ["rate"] * 3
    shown = {section(call, "aspects") for call in calls if kind(call) == "rate"}
    one, two = (f"## {c.name}\nScale: 1-5\nDefinition: {c.definition}" for c in (ONE, TWO))
    assert shown == {one, two, f"{one}\n\n{two}"}
    assert [a.name for a in state["aspects"]["Relevance"]] == ["Fluency"]
    assert [a.name for a in state["aspects"]["Tone"]] == ["Relevance", "Fluency"]
    plain, _ = await ran("coascore")
    assert {words(call)[0] for call in calls if kind(call) == "fuse"} == {words(plain.calls[2])[0]}
    assert {words(call)[0] for call in calls if kind(call) == "rate"} == {words(plain.calls[1])[0]}


async def test_inter_goes_by_the_states_criteria_where_there_are_some():
    judge = scripted(*[answer] * 12)
    graph = factory("coascore-inter")(judge, criteria="summary")
    state = await graph.ainvoke({"sample": SAMPLE, "criteria": [ONE, TWO]})
    assert {target: [a.name for a in chain] for target, chain in state["aspects"].items()} == {
        "Relevance": ["Fluency"], "Fluency": ["Relevance"],
    }  # fmt: skip
    alone = await graph.ainvoke({"sample": SAMPLE, "criteria": [ONE]})
    (score,) = alone["scores"].values()
    assert (score.status, score.value) == ("skipped", None)


@pytest.mark.parametrize("criteria", [(ONE,), (ONE, TONE)])
async def test_inter_refuses_a_set_in_which_a_target_stands_alone(criteria):
    with pytest.raises(ConfigError, match="'Relevance' has no other criterion"):
        factory("coascore-inter")(criteria=criteria)


async def test_without_scores_the_rater_is_not_asked_and_the_fuser_sees_definitions_alone():
    judge, state = await ran("coascore-no-scores")
    assert [kind(call) for call in judge.calls] == ["propose", "fuse"]
    plain, _ = await ran("coascore")
    seen, whole = judge.calls[1], plain.calls[2]
    assert section(seen, "scores") is None
    assert section(whole, "scores")
    for name in ("criterion", "aspects", "query", "source", "output"):
        assert section(seen, name) == section(whole, name), name
    assert words(judge.calls[0]) == words(plain.calls[0])
    assert judge.asked[1].keys() == plain.asked[2].keys()
    assert {key: s.value for key, s in state["scores"].items()} == {"Relevance/fuser/final/0": 2.0}


def test_the_fusers_prompt_without_scores_is_the_fusers_but_for_its_words_on_scores():
    plain, bare = (
        str(prompts.load(name).render(**dict.fromkeys(prompts.load(name).fields, "x")).messages[0][1]).splitlines()
        for name in ("fuse", "fuse_definitions")
    )
    other = [(a, b) for a, b in zip(plain, bare, strict=True) if a != b]
    assert len(other) == 2
    assert all("scores" in a and "scores" not in b for a, b in other)


async def test_random_scores_are_shown_to_the_fuser_as_the_raters_would_be():
    judge, state = await ran("coascore-random")
    assert [kind(call) for call in judge.calls] == ["propose", "fuse"]
    plain, _ = await ran("coascore")
    drawn = {s.criterion: s for s in state["scores"].values() if s.stage == aspect_stage("Relevance")}
    shown = "\n\n".join(f"## {name}\nScore: {drawn[name].value:g}" for name in ("Focus", "Coverage"))
    assert section(judge.calls[1], "scores") == shown
    assert {s.reader for s in drawn.values()} == {"random"}
    real = section(plain.calls[2], "scores")
    same = [w.replace(shown, real) for w in words(judge.calls[1])]
    assert same == words(plain.calls[2])


def drawn(sample="s1", target="T", seed=0, scale="1-5", names=("Focus", "Coverage")):
    chain = [Criterion(name=name, scale=scale) for name in names]
    state = {"sample": Sample(id=sample, output="x"), "aspects": {target: chain}}
    return [score.answer for score in RandomRater(seed=seed)(state)["scores"].values()]


def test_a_draw_follows_from_seed_sample_target_and_aspect_alone():
    names = [f"Aspect {i}" for i in range(40)]
    first = drawn(names=names)
    assert first == drawn(names=names)
    assert drawn(names=names[::-1]) == first[::-1]
    for other in ({"sample": "s2"}, {"target": "U"}, {"seed": 1}):
        assert drawn(names=names, **other) != first


def test_draws_are_the_same_on_every_python():
    names = ["Wit", "caf\u00e9", "\U0001fae8", "\u0378", "it's", 'a"b', "line\nbreak"]  # some newer than others
    assert drawn(sample="s\U0001fae8", names=names) == [3, 2, 2, 5, 3, 2, 3]


def test_what_a_draw_follows_from_cannot_run_into_one_another():
    names = [f"Aspect {i}" for i in range(40)]
    one = drawn(sample="s', 'T", target="U", names=names)
    assert one != drawn(sample="s", target="T', 'U", names=names)


def test_all_points_of_a_scale_are_drawn_alike():
    values = drawn(names=[f"Aspect {i}" for i in range(2000)])
    counts = [values.count(point) for point in (1.0, 2.0, 3.0, 4.0, 5.0)]
    assert sum(counts) == 2000
    assert all(320 <= count <= 480 for count in counts)  # 400, four standard deviations of 18 either side
    assert all(0 <= value <= 1 for value in drawn(scale="0-1 any", names=[f"A {i}" for i in range(50)]))
    assert set(drawn(scale=["warm", "cold"], names=[f"A {i}" for i in range(50)])) == {"warm", "cold"}


async def test_average_asks_no_fuser_and_is_the_mean_on_the_targets_scale():
    judge, state = await ran("coascore-average", criteria=(ONE,))
    assert [kind(call) for call in judge.calls] == ["propose", "rate"]
    plain, _ = await ran("coascore")
    assert list(map(words, judge.calls)) == list(map(words, plain.calls[:2]))
    score = state["scores"]["Relevance/average/final/0"]
    assert score.value == pytest.approx(1 + 2 * (2.5 - 1) / 4)  # of 2 and 3 on 1-5, on 1-3
    assert score.reader == "mean"


@pytest.mark.parametrize("settings", [{}, {"chain": "inter"}, {"scores": "random"}], ids=str)
async def test_a_target_with_labels_has_no_mean_and_nothing_is_asked_for_it(settings):
    judge, state = await ran(
        "coascore-average", criteria=(ONE, TWO, TONE), **settings, **({"aspects": 10} if settings else {})
    )
    assert not any("Tone" in str(call[-1].content) for call in judge.calls)
    assert state["scores"]["Tone/average/final/0"].status == "skipped"
    assert [*state["aspects"]] == ["Relevance", "Fluency"]
    fewer, _ = await ran("coascore-average", criteria=(ONE, TWO), **settings, **({"aspects": 10} if settings else {}))
    assert len(judge.calls) == len(fewer.calls)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"chain": "inter", "aspects": 5}, "aspects: 5 would do nothing, as chain: 'inter'"),
        ({"scores": "none", "reasons": True}, "reasons would do nothing, as scores: 'none' asks no rater"),
        ({"scores": "random", "reasons": True}, "reasons would do nothing"),
        ({"seed": 3}, "seed: 3 would do nothing, as only scores: 'random' draws by it"),
    ],
    ids=str,
)
def test_settings_that_would_do_nothing_are_refused(settings, said):
    with pytest.raises(ConfigError, match=f"^coascore: {said}"):
        factory("coascore")(**settings)


def test_a_rows_own_settings_count_among_those_that_would_do_nothing():
    with pytest.raises(ConfigError, match="aspects: 5 would do nothing"):
        factory("coascore-5")(chain="inter")
    assert factory("coascore-inter")(aspects=10)
    assert factory("coascore-random")(seed=3)


@pytest.mark.parametrize(
    ("value", "scale", "to", "moves"),
    [(4, "1-5", "1-5", 4), (1, "1-5", "0-100", 0), (5, "1-5", "0-100", 100), (3, "1-5", "-1-1 any", 0),
     (0.25, "0-1 any", "1-5", 2)],
)  # fmt: skip
def test_a_value_moves_to_the_same_share_of_another_scale(value, scale, to, moves):
    assert moved(value, Scale.of(scale), Scale.of(to)) == pytest.approx(moves)


def averaged(*rated, target=ONE, chain=("Focus", "Coverage")):
    aspects = [Criterion(name=name, scale="1-5") for name in chain]
    stage = aspect_stage(target.name)
    common = {"agent": "rater", "stage": stage, "scale": Scale.of("1-5")}
    scores = [Score(criterion=name, **common, **said) for name, said in zip(chain, rated, strict=True)]
    done = Average(criteria=(target,))({"sample": SAMPLE, "aspects": {target.name: aspects}, "scores": keyed(*scores)})
    (score,) = done["scores"].values()
    return score, [note.text for note in done["notes"].values()]


def test_an_average_leaves_out_and_notes_what_has_no_score():
    score, _ = averaged({"value": 5.0}, {"status": "abstained", "reason": "none"})
    assert (score.value, score.status) == (3.0, "ok")
    assert score.notes == ("1 of 2 aspects without a score, left out: Coverage",)


def test_an_average_of_nothing_is_a_status_and_a_note():
    score, notes = averaged({"status": "refused", "reason": "no"}, {"status": "refused", "reason": "no"})
    assert (score.status, score.value) == ("refused", None)
    assert notes == ["Relevance: not scored, none of its 2 aspects has a score"]
    assert averaged({"value": 5.0}, {"value": 4.0}, target=TONE)[0].status == "skipped"


async def test_llm_score_cot_reasons_before_its_score():
    judge, _ = await ran("llm-score-cot")
    plain, _ = await ran("llm-score")
    assert [[*form_of(j.asked[0])] for j in (judge, plain)] == [["reason", "score"], ["score", "reason"]]
    for name in ("criterion", "query", "source", "output"):
        assert section(judge.calls[0], name) == section(plain.calls[0], name)


async def test_g_eval_20_samples_twenty_at_once_and_never_asks_for_log_probabilities():
    judge = scripted(["2"] * 10 + ["3"] * 10)
    state = await factory("g-eval-20")(judge, criteria=(ONE,)).ainvoke({"sample": SAMPLE})
    (score,) = state["scores"].values()
    assert (score.value, score.reader, len(judge.calls)) == (2.5, "samples", 1)
    asked = judge.asked[0]
    assert (asked["n"], asked["temperature"], asked["top_p"]) == (20, 1.0, 1.0)
    assert not asked.get("logprobs")
    plain = scripted("2", ["2"] * 20)
    await factory("g-eval")(plain, criteria=(ONE,)).ainvoke({"sample": SAMPLE})
    assert plain.asked[0]["logprobs"]
    assert words(judge.calls[0]) == words(plain.calls[0])


DRAFT = {"relevance": {"thoughts": "THOUGHT-MARK", "reason": "REASON-MARK", "score": 2}}
VERDICT = {"relevance": {"thoughts": "t", "reason": "looked again", "verdict": "raise", "score": 3}}
REVIEW = {"rectifications": VERDICT, "definitions": [], "new_criteria": []}


def form_of(asked):
    return asked["response_format"]["json_schema"]["schema"]["properties"]


def entries_of(judge):
    """The keys of an evaluator's entry, and of a verdict."""
    verdicts = form_of(judge.asked[1])["rectifications"]["properties"]
    return [[*entry["relevance"]["properties"]] for entry in (form_of(judge.asked[0]), verdicts)]


async def sageval(name, *replies, **settings):
    judge = scripted(*replies)
    graph = factory(name)(judge, criteria=(ONE,), samples=1, **settings)
    return judge, await graph.ainvoke({"sample": SAMPLE})


async def test_sageval_cot_leaves_room_to_think_before_each_reason_and_shows_the_critic_no_thought():
    judge, state = await sageval("sageval-cot", DRAFT, REVIEW)
    plain, _ = await sageval("sageval", DRAFT, REVIEW)
    assert entries_of(judge) == [["thoughts", *keys] for keys in entries_of(plain)]
    assert "REASON-MARK" in section(judge.calls[1], "scores")
    assert "THOUGHT-MARK" not in str(judge.calls[1])
    for mine, theirs in zip(judge.calls, plain.calls, strict=True):
        assert words(mine)[-1] == words(theirs)[-1]  # what is in view
        assert "step by step" in words(mine)[0]
    assert state["scores"]["Relevance/sage/final/0"].value == 3.0
    assert state["scores"]["Relevance/evaluator/draft/0"].reason == "REASON-MARK"


async def test_of_three_critic_calls_the_one_that_rectifies_thinks():
    def duty(messages):
        text = str(messages)
        return {"definitions": []} if "better definition" in text else {"new_criteria": []} if "further" in text else {
            "rectifications": VERDICT
        }  # fmt: skip

    judge, _ = await sageval("sageval-cot", DRAFT, *[duty] * 3, critic_calls="three")
    plain, _ = await sageval("sageval", DRAFT, *[duty] * 3, critic_calls="three")
    asked, before = ([form_of(kwargs) for kwargs in j.asked[1:]] for j in (judge, plain))
    changed = [a for a, b in zip(asked, before, strict=True) if a != b]
    assert [[*form] for form in changed] == [["rectifications"]]


async def test_sageval_sr_shows_the_judge_its_own_scores_and_asks_for_no_advice():
    judge, state = await sageval("sageval-sr", DRAFT, {"rectifications": VERDICT})
    plain, _ = await sageval("sageval", DRAFT, REVIEW)
    assert words(judge.calls[0]) == words(plain.calls[0])
    assert "REASON-MARK" in section(judge.calls[1], "own_scores")
    assert section(judge.calls[1], "scores") is None
    assert [*form_of(judge.asked[1])] == ["rectifications"]
    assert state["suggestions"] == []
    assert state["scores"]["Relevance/self-reflection/final/0"].value == 3.0
