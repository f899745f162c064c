"""Every method over 200 items of human-judged data: on the embedded judge, and over HTTP."""

import gzip
import json
from pathlib import Path

import pytest

import judgegraph as jg
from judgegraph.calls import Endpoint
from judgegraph.registry import METHODS, factory

COUNT = 200


def summaries(shared: Path) -> list[jg.Sample]:
    with gzip.open(shared / "data/summeval/summeval_human.json.gz", "rt") as file:
        documents = json.load(file)
    return [
        jg.Sample(id=f"{name}/{system}", source=doc["src"], output=made["sys_summ"], human=made["scores"])
        for name, doc in documents.items()
        for system, made in doc["sys_summs"].items()
    ]


def dialogues(shared: Path) -> list[jg.Sample]:
    rows = json.loads((shared / "data/topical_chat/topical_chat_result.json").read_text())
    return [
        jg.Sample(id=str(i), source={"history": r["source"], "fact": r["context"]}, output=r["system_output"])
        for i, r in enumerate(rows)
    ]


def stories(shared: Path) -> list[jg.Sample]:
    rows = json.loads((shared / "data/openmeva/openmeva.json").read_text())
    return [
        jg.Sample(id=f"{r['doc_id']}/{system}", query=r["prompt"], output=made["text"])
        for r in rows
        for system, made in r["gen"].items()
    ]


def pairs(shared: Path) -> list[jg.Sample]:
    rows = json.loads((shared / "data/pandalm/testset-v1.json").read_text())
    return [
        jg.Sample(
            id=str(r["idx"]), query=f"{r['instruction']}\n{r['input']}", output=r["response1"], rival=r["response2"]
        )
        for r in rows
        if all(isinstance(r[k], str) and r[k].strip() for k in ("response1", "response2"))
    ]


DATA = {
    "sageval": (summaries, "summary"), "coascore": (stories, "story"), "fennec": (pairs, None),
    "fusion-eval": (dialogues, "dialogue"), "g-eval": (summaries, "summary"), "llm-score": (stories, "story"),
}  # fmt: skip


def test_every_method_has_its_data():
    assert set(DATA) == set(METHODS)


def judged(method: str, shared: Path, judge: object) -> jg.Run:
    read, criteria = DATA[method]
    settings = {"criteria": criteria} if criteria else {}
    graph = factory(method)(judge=judge, **settings)
    return jg.evaluate(graph, read(shared)[:COUNT])


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("method", sorted(DATA))
@pytest.mark.parametrize("where", ["embedded", "HTTP"])
def test_200_items_all_end_with_scores(method: str, where: str, shared: Path, stub_url: str):
    judge = "embedded" if where == "embedded" else Endpoint(model="openai:stub", base_url=stub_url)
    run = judged(method, shared, judge)
    items = list(run.items)
    assert {item.status for item in items} == {"ok"}
    assert len({item.id for item in items}) == COUNT
    ends = {s.status for item in items for s in item.scores}
    assert ends <= ({"ok", "abstained"} if where == "embedded" else {"ok"})
    if method == "fennec":
        silent = [item for item in items if item.verdict is None]  # the embedded judge abstains on some texts
        assert len(silent) <= (COUNT // 10 if where == "embedded" else 0)
        assert {c.status for item in silent for c in item.comparisons} <= {"abstained", "skipped"}
    else:
        assert all(any(s.stage == "final" for s in item.scores) for item in items)
