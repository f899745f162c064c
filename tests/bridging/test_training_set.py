"""What is trained is what Fennec asks; orders are exchanged in earnest; no query stands in two splits."""

import json
import re
from collections import Counter

import pytest
from foreign import OUTPUT, RIVAL, judge, pair, single
from hypothesis import given
from hypothesis import strategies as st

import judgegraph as jg
from judgegraph.bridging.bridge import Branched, Bridge, bridge
from judgegraph.bridging.training_set import SPLITS, Row, training_set
from judgegraph.errors import ConfigError
from judgegraph.graphs import fennec, llm_score
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample
from judgegraph.views.bridge import bridge as laid_out

DEPTH = Criterion(name="Depth", definition="It says why.", guideline="1: no cause. 5: the cause.")


def rows_of(found):
    return [row for split in SPLITS for row in found.training_set.rows[split]]


def preferences_of(found):
    return [one for split in SPLITS for one in found.training_set.preferences[split]]


def asked(judge):
    """Every prompt that was sent, as (role, text) pairs."""
    roles = {"human": "user", "ai": "assistant"}
    return {tuple((roles.get(m.type, m.type), str(m.content)) for m in call) for call in judge.calls}


def test_exchanged_orders_exchange_what_is_printed_first_and_nothing_else(bridged):
    found = bridged(*(pair(f"holds: why {n}?") for n in range(4)), pair("other: how?", "B"))
    by_order = {order: {row.id: row for row in rows_of(found) if row.order == order} for order in ("AB", "BA")}
    assert set(by_order["AB"]) == set(by_order["BA"]) == {f"line-{n}" for n in range(1, 6)}
    for id, one in by_order["AB"].items():
        other = by_order["BA"][id]
        (_, first), (_, second) = one.prompt[1], other.prompt[1]
        assert first.index(OUTPUT) < first.index(RIVAL)
        assert second.index(OUTPUT) > second.index(RIVAL)
        assert sorted(first.split()) == sorted(second.split())
        assert one.prompt[0] == other.prompt[0]
        assert json.loads(one.completion)["score_a"] == json.loads(other.completion)["score_a"]
        assert "<judgement-" not in first + second


@pytest.mark.parametrize(
    ("reason", "kept"),
    [("It names the cause.", True), ("Response 1 names the cause.", False), ("The second one guesses.", False),
     ("the former response is right", False), ("Response A names the cause.", True)],
)  # fmt: skip
def test_a_foreign_reason_that_goes_by_place_is_not_learnt_in_exchanged_order(reason, kept, bridged):
    for row in rows_of(bridged(pair("holds: why?", reason=reason))):
        assert (json.loads(row.completion)["comparison"] == reason) == kept


def test_a_pair_that_holds_in_one_order_is_a_preference_for_the_right_reply(bridged):
    found = bridged(pair("flips: why?", reason="It names the cause."), pair("holds: how?"))
    (one,) = preferences_of(found)
    right, wrong = json.loads(one.chosen), json.loads(one.rejected)
    assert right["score_a"] > right["score_b"]
    assert wrong["score_a"] < wrong["score_b"]
    assert (right["comparison"] == "It names the cause.", "cause" in wrong["comparison"]) == (True, True)
    assert wrong["comparison"] != right["comparison"]
    assert one.prompt[1][1].index(RIVAL) < one.prompt[1][1].index(OUTPUT), "asked in the order that went wrong"
    assert {row.id for row in rows_of(found)} == {"line-2"}


def test_a_single_score_is_carried_over_to_the_scale_that_is_asked_for(bridged):
    (row,) = rows_of(bridged(single("holds: why?", 8, "1-10", reason="Well said.")))
    assert json.loads(row.completion) == {"reason": "Well said.", "score": 4}
    assert (row.task, row.kind, row.order) == ("judge", "single", "")
    text = "1: bad. 10: good."
    (row,) = rows_of(bridged(single("holds: why?", 4, "1-10", criterion="Tone", guideline=text), points=4))
    assert json.loads(row.completion)["score"] == 4
    assert text in row.prompt[1][1]


# Of a run of Fennec.


def fennec_judge(score=2):
    """Writes two criteria, scores as it is told, corrects."""

    def answer(messages):
        said = str(messages[0].content)
        if "by which criteria" in said:
            return {"criteria": [{"name": name, "definition": f"{name}, that is."} for name in ("Depth", "Tone")]}
        if "write the guideline" in said:
            return {"guideline": "1: none. 5: all."}
        if "<judgements-" in str(messages[-1].content):
            return {"response": "Short waves are scattered most."}
        if "<response_b-" not in str(messages[-1].content):
            return {"reason": "A cause.", "score": score}
        sides = {"explanation_a": "A cause.", "score_a": score, "explanation_b": "None.", "score_b": 1}
        return sides | {"comparison": "A names the cause."}

    return scripted(*[answer] * 400)


PAIRS = [Sample(id=f"s{n}", query=f"Why {n}?", output=f"{OUTPUT} {n}", rival=f"{RIVAL} {n}") for n in range(3)]


SETTINGS = [
    {"orders": "both", "labels": "response", "task": "a poem"},
    {"mode": "apart"},
    {"mode": "single", "reference": False},
]


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_what_is_trained_is_what_a_run_of_fennec_asks(settings, tmp_path):
    asking, shown = fennec_judge(), settings.get("reference", True)
    graph = fennec(asking, branches=2, **{key: value for key, value in settings.items() if key != "reference"})
    samples = [sample.model_copy(update={"reference": "As so."}) for sample in PAIRS]
    run = jg.evaluate(graph, samples, out=tmp_path / "run", reference=shown)
    found = bridge(branching=[Branched("fennec", run)], shares=(0, 0))
    rows = rows_of(found)
    assert {row.prompt for row in rows} == asked(asking)
    assert {row.task for row in rows} == {"criteria", "guideline", "judge", "correction"}
    assert (found.training_set.rejects, found.read) == ([], 0)


def test_one_order_that_was_asked_for_stands_in_both_and_that_is_told():
    run = jg.evaluate(fennec(fennec_judge(4), branches=2, correct="off"), PAIRS)
    found = bridge(branching=[Branched("fennec", run)])
    judged = Counter(row.order for row in rows_of(found) if row.task == "judge")
    assert judged == {"AB": 6, "BA": 6}
    told = "judgements of pairs in one order alone: 6; whether they hold is not known"
    assert told in found.training_set.sources[0].notes


def test_labels_by_position_are_not_learnt_as_labels_that_stay():
    def answer(messages):
        text = str(messages[-1].content)
        a, b = (4, 2) if text.index(OUTPUT) < text.index(RIVAL) else (2, 4)
        return {
            "explanation_a": f"{a}",
            "score_a": a,
            "explanation_b": f"{b}",
            "score_b": b,
            "comparison": f"{a} to {b}",
        }

    graph = fennec(scripted(*[answer] * 6), criteria=[DEPTH], orders="both", labels="position", correct="off")
    found = bridge(branching=[Branched("fennec", jg.evaluate(graph, PAIRS))])
    assert found.training_set.rejects == []
    assert {json.loads(row.completion)["comparison"] for row in rows_of(found)} == {"4 to 2"}
    assert any("with the reply to AB" in note for note in found.training_set.sources[0].notes)


def test_a_correction_that_gave_the_original_back_teaches_nothing():
    def answer(messages):
        low = {"reason": "No cause.", "score": 1}
        return {"response": OUTPUT} if "<judgements-" in str(messages[-1].content) else low

    run = jg.evaluate(fennec(scripted(*[answer] * 4), criteria=[DEPTH]), [Sample(id="s", query="Why?", output=OUTPUT)])
    found = bridge(branching=[Branched("fennec", run)])
    assert ([row.task for row in rows_of(found)], preferences_of(found)) == (["judge"], [])
    assert "corrections that gave the original back: 1, left out" in found.training_set.sources[0].notes


def test_marks_of_chat_templates_end_no_turn_wherever_a_model_wrote_them():
    replies = [{"reason": "Low.", "score": 1}, {"response": "Better. <|im_end|> <|im_start|>user"}]
    samples = [Sample(id="s", query="Why?", output="Bad."), Sample(id="m", query="Why [INST]?", output="Bad.")]
    run = jg.evaluate(fennec(scripted(*replies * 2), criteria=[DEPTH]), samples, concurrency=1)
    found = bridge(branching=[Branched("fennec", run)])
    assert [one.kind for one in found.training_set.rejects] == ["chat-mark"] * 2
    assert ([row.task for row in rows_of(found)], preferences_of(found)) == (["judge"], [])


def test_a_run_of_another_method_is_refused():
    run = jg.evaluate(llm_score(criteria=[DEPTH]), [Sample(id="s", output="x")])
    with pytest.raises(ConfigError, match="x: a run of llm-score; data is made by branching in runs of fennec"):
        bridge(branching=[Branched("x", run)])


# Splits.


def row(query, source="", n=0):
    return Row("judge", (("user", f"{query} {source} {n}"),), "{}", "id", "origin", query=query, source=source)


def split_of(found):
    return {(one.query, one.source): split for split in SPLITS for one in found.rows[split]}


texts = st.lists(st.tuples(st.sampled_from("abcdefghij"), st.sampled_from(["", "", "", "x", "y", "z"])), min_size=1)


@given(texts, texts, st.integers(0, 3))
def test_nothing_that_shares_a_query_or_a_source_is_in_two_splits(first, more, seed):
    def made(pairs):
        return training_set([], [row(q, s, n) for n, (q, s) in enumerate(pairs)], shares=(0.3, 0.3), seed=seed)

    found = made(first + more)
    assert found.size == len(first + more)
    for at in (0, 1):
        places = {}
        for key, split in split_of(found).items():
            if key[at]:
                assert places.setdefault(key[at], split) == split
    alone = split_of(made([(query, "") for query, _ in first]))
    grown = split_of(made([(query, "") for query, _ in first + more]))
    assert alone.items() <= grown.items(), "without sources a query stays where it is"


def test_queries_are_told_apart_by_their_words_alone():
    found = training_set([], [row("Why, then?"), row("why  THEN", n=1), row("WHY — then…", n=2)], shares=(0.5, 0.3))
    assert sorted(len(found.rows[split]) for split in SPLITS) == [0, 0, 3]
    assert sum(found.queries.values()) == 1


def test_shares_are_kept_about_and_those_that_are_none_refused():
    found = training_set([], [row(f"query {n}") for n in range(2000)], shares=(0.1, 0.2))
    assert [round(found.queries[split] / 2000, 1) for split in SPLITS] == [0.7, 0.1, 0.2]
    for shares in ((0.5, 0.5), (-0.1, 0.1), (float("nan"), 0)):
        with pytest.raises(ConfigError, match="below 1 together"):
            training_set([], [], shares=shares)


@pytest.mark.parametrize("many", [8, 40, 400])
def test_an_empty_split_is_told_with_its_cause_and_what_is_advised_fills_it(many):
    rows = [row(f"query {n}") for n in range(many)]
    found = training_set([], rows, shares=(0.001 / many, 0.001 / many))
    said = " ".join(map(str, laid_out(Bridge(found))))
    assert f"validation and test are empty: each of {many} queries is drawn by chance, on average 0.001 in" in said
    shares = tuple(map(float, re.search(r"--shares (\S+) puts", said)[1].split(",")))
    drawn = [training_set([], rows, shares=shares, seed=seed).queries for seed in range(20)]
    assert sum(each["validation"] for each in drawn) / 20 == pytest.approx(shares[0] * many, rel=0.5)
    assert any(min(each.values()) for each in drawn)


def test_queries_that_share_a_source_are_told_where_a_split_is_empty():
    said = " ".join(
        str(one) for one in laid_out(Bridge(training_set([], [row(f"q {n}", "the same") for n in range(9)])))
    )
    assert "each of 9 queries, 1 without those that share a source, is drawn by chance" in said
    assert "bridge more data" in said


def test_a_question_that_was_asked_before_is_left_out_and_counted():
    found = training_set([], [row("Why?"), row("Why?")])
    assert (found.size, found.doubled) == (1, 1)


def test_the_judge_is_named_also_where_each_reply_was_kept_from_before(file, tmp_path):
    from judgegraph.bridging.bridge import gather
    from judgegraph.bridging.records import read_records
    from judgegraph.graphs.bridging import bridging

    gathered = gather([read_records(file(pair("holds: why?")))])
    for _ in range(2):
        run = jg.evaluate(bridging(judge()), gathered.samples, ledger=tmp_path / "ledger.sqlite")
        assert bridge(gathered, run).training_set.sources[0].judge == "Scripted"
