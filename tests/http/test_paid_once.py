"""Paid once: a real server counts what is sent, within a run, between runs, and where many want one thing at once."""

import pytest

import judgegraph as jg
from judgegraph.calls.ledger import LedgerError
from judgegraph.graphs import coascore, fennec, fusion_eval, sageval
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample

CRITERIA = [Criterion(name="Clarity"), Criterion(name="Order")]


def samples(count=12, query="Tell a joke."):
    return [Sample(id=f"s{i}", query=query, source="A source.", output=f"text number {i}") for i in range(count)]


def test_a_second_run_on_one_ledger_sends_nothing(server, tmp_path):
    site = server("ok")
    graph, ledger = sageval(site.judge(), criteria=CRITERIA), tmp_path / "calls.sqlite"
    first = jg.evaluate(graph, samples(), ledger=ledger)
    sent = site.count
    second = jg.evaluate(graph, samples(), ledger=ledger)
    assert sent == 24
    assert site.count == sent
    assert second.manifest["calls"]["ledger"]["hits"] == 24
    assert second.manifest["calls"]["prompt_tokens"] == 0
    drop = {"ms"}
    assert [i.model_dump(exclude=drop) for i in sorted(first.items, key=lambda i: i.id)] == [
        i.model_dump(exclude=drop) for i in sorted(second.items, key=lambda i: i.id)
    ]


def test_another_prompt_of_the_critic_pays_for_the_critic_alone(server, tmp_path):
    site, ledger = server("ok"), tmp_path / "calls.sqlite"
    jg.evaluate(sageval(site.judge(), criteria=CRITERIA), samples(), ledger=ledger)
    sent = site.count
    jg.evaluate(sageval(site.judge(), criteria=CRITERIA, critic_calls="three"), samples(), ledger=ledger)
    assert site.count == sent + 3 * 12


@pytest.mark.parametrize(
    ("make", "shared_calls"),
    [
        (lambda judge: fennec(judge, mode="single", branches=1, correct="off"), 2),  # criteria, guideline
        (lambda judge: fusion_eval(judge, criteria=CRITERIA, predictions=1, consult="all"), 1),  # the plan
    ],
    ids=["fennec", "fusion-eval"],
)
def test_what_does_not_depend_on_the_sample_is_asked_once(server, make, shared_calls):
    site = server("ok")
    run = jg.evaluate(make(site.judge()), samples())
    assert {item.status for item in run.items} == {"ok"}
    own = [messages for messages in site.sent("messages") if "text number" in str(messages)]
    assert len(own) == 12
    assert site.count - len(own) == shared_calls
    assert run.manifest["calls"]["ledger"]["joined"] + run.manifest["calls"]["ledger"]["hits"] >= 11 * shared_calls


def test_an_aspect_chain_is_asked_for_once():
    def answer(messages):
        if "text number" in str(messages):
            rated = {"flow": {"score": 4}} if "<aspects" in str(messages) else {"score": 3, "reason": "r"}
            return {**rated, "score": 3, "reason": "r"}
        return {"aspects": [{"name": "Flow", "definition": "It flows."}]}

    judge = scripted(*[answer] * 100)
    run = jg.evaluate(coascore(judge, criteria=CRITERIA[:1], aspects=1), samples())
    proposals = [messages for messages in judge.calls if "text number" not in str(messages)]
    assert len(proposals) == 1
    assert all(item.aspects["Clarity"][0].name == "Flow" for item in run.items)


def test_equal_samples_that_start_together_are_asked_once(server):
    site = server("ok")
    equal = [Sample(id=f"s{i}", query="q", output="the same text") for i in range(40)]
    jg.evaluate(sageval(site.judge(), criteria=CRITERIA), equal)
    assert site.count == 2


def test_a_foreign_file_ends_the_run_before_a_call(server, tmp_path):
    site, foreign = server("ok"), tmp_path / "calls.sqlite"
    foreign.write_bytes(b"somebody's notes " * 100)
    with pytest.raises(LedgerError, match="left as it is"):
        jg.evaluate(sageval(site.judge(), criteria=CRITERIA), samples(), ledger=foreign)
    assert site.count == 0
    assert foreign.read_bytes() == b"somebody's notes " * 100
