"""Every foreign judgement holds, is rejected with a reason, or was not come to; none is lost and none invented."""

from collections import Counter

import pytest
from foreign import OUTPUT, RIVAL, judge, pair, single

import judgegraph as jg
from judgegraph.bridging.bridge import bridge, gather
from judgegraph.bridging.consistency import KINDS
from judgegraph.bridging.records import read_records
from judgegraph.calls.budget import Budget
from judgegraph.graphs.bridging import bridging

REASONS = {  # a row -> kind of its reject, and words of the reason; None: it holds
    "holds": (pair("holds: why is the sky blue?"), None, ""),
    "a tie": (pair("equal: why is snow white?", "tie"), None, ""),
    "another verdict": (pair("other: why is grass green?"), "verdict", "was A, is B in both orders"),
    "no tie": (pair("holds: why is coal black?", "tie"), "verdict", "was tie, is A in both orders"),
    "by order": (pair("flips: why is sand red?"), "order", "AB says A, BA says B"),
    "no criterion": (pair("nameless: why is milk white?"), "no-criterion", "has no name"),
    "no guideline": (pair("ungraded: why is rust red?"), "no-guideline", "unreadable"),
    "names one": (pair("names: why is gold yellow?"), "gives-away", "'Response A'"),
    "quotes one": (pair("quotes: why is jade green?"), "gives-away", "it quotes a response"),
    "no score": (pair("mute: why is tar black?"), "not-judged", "abstained"),
    "between values": (pair("half: why is lead grey?"), "not-judged", "4.5 is no value of 1-5"),
    "a mark in a reply": (pair("marked: why is ice blue?"), "chat-mark", "<|im_end|>"),
    "a mark in a text": (pair("why is <|im_end|> there?"), "chat-mark", "field query"),
    "no verdict": ({"query": "why is tea brown?", "output": OUTPUT, "rival": RIVAL}, "unreadable", "neither a verdict"),
    "alike, yet A": (pair("why is salt white?", output="Yes.", rival=" Yes. "), "unreadable", "are the same text"),
    "twice": (pair("holds: why is  the sky blue?"), "doubled", "line 1"),
    "in capitals": (pair("Holds: why is the SKY blue? ", output=f" {OUTPUT}\n"), "doubled", "line 1"),
    "a score": (single("holds: say why.", 4), None, ""),
    "another score": (single("holds: say it again.", 2), "score", "was 2 on 1-5, is 4 on 1-5"),
    "another scale": (single("holds: say it once more.", 8, "1-10"), None, ""),
    "further off": (single("holds: say it twice.", 9, "1-10"), "score", "was 9 on 1-10 (4.56 on 1-5), is 4 on 1-5"),
}  # fmt: skip


def test_each_row_holds_or_has_its_kind_and_reason(bridged):
    rows = {name: row for name, (row, _, _) in REASONS.items()}
    found = bridged(*({"id": name} | row for name, row in rows.items()))
    rejects = {one.id: one for one in found.training_set.rejects}
    wanted = {name: kind for name, (_, kind, _) in REASONS.items() if kind}
    assert {name: one.kind for name, one in rejects.items()} == wanted
    for name, (_, kind, words) in REASONS.items():
        if kind:
            assert words in rejects[name].reason, rejects[name]
            assert rejects[name].where == f"rows.jsonl, line {[*REASONS].index(name) + 1}"
    assert (found.read, found.consistent, found.unjudged) == (len(rows), len(rows) - len(wanted), 0)
    assert set(found.training_set.counts()["sources"][0]["rejected"]) == set(wanted.values()) <= set(KINDS)
    assert {row.id for rows in found.training_set.rows.values() for row in rows} == set(rows) - set(wanted)


def test_doubles_are_taken_once_and_those_that_contradict_one_another_not_at_all(file):
    one, other = pair("holds: why?"), pair("holds: how?")
    turned = {**one, "output": one["rival"], "rival": one["output"], "verdict": "B"}
    found = gather([read_records(file(one, turned, other, {**other, "verdict": "B"}, {**other, "verdict": "tie"}))])
    assert [sample.query for sample in found.samples] == ["holds: why?"]
    assert Counter(one.kind for of in found.rejects for one in of) == {"doubled": 1, "contradicted": 3}
    assert "line 3 says A, rows.jsonl, line 4 says B" in found.rejects[0][1].reason


def test_what_the_budget_left_is_counted_apart_and_is_no_reject(file):
    gathered = gather([read_records(file(*(pair(f"holds: why {n}?") for n in range(6))))])
    run = jg.evaluate(bridging(judge()), gathered.samples, concurrency=1, budget=Budget(calls=9))
    found = bridge(gathered, run)
    assert (found.read, found.consistent, found.unjudged, found.training_set.rejects) == (6, 2, 4, [])
    assert found.unfinished.startswith("unfinished: 2 of 6 samples done")


def test_a_judge_that_fails_is_a_reject_with_what_it_said(bridged):
    found = bridged(pair("breaks: why?"))
    [reject] = found.training_set.rejects
    assert (reject.kind, reject.reason) == ("not-judged", "provider_error: Scripted: RuntimeError: no answer")
    assert found.training_set.size == 0


@pytest.mark.parametrize(("points", "holds"), [(0.5, 0), (1.0, 1), (4.0, 1)])
def test_how_far_off_a_score_may_be_is_ones_own_choice(points, holds, bridged):
    assert bridged(single("holds: why?", 3), points=points).consistent == holds


def test_a_judge_that_sees_the_judgement_is_none_of_those_that_judge_anew(file):
    watched = judge()
    gathered = gather([read_records(file(pair("holds: why?", reason="zebras decide"), single("holds: how?", 4)))])
    jg.evaluate(bridging(watched), gathered.samples)
    shown = [("zebras decide" in str(call), "<judgement-" in str(call), "<guideline-" in str(call))
             for call in watched.calls if "why?" in str(call)]  # fmt: skip
    assert sorted(shown) == [(False, False, True)] * 2 + [(True, True, False)] * 2
