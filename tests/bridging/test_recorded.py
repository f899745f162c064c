"""500 judgements as Auto-J, PandaLM and Prometheus published them, bridged by the embedded judge."""

import json

import pytest

import judgegraph as jg
from judgegraph.bridging.bridge import bridge, gather, write
from judgegraph.bridging.consistency import KINDS
from judgegraph.bridging.records import read_records
from judgegraph.bridging.training_set import SPLITS
from judgegraph.graphs.bridging import bridging
from judgegraph.types import text_of, words

FILES = {
    "autoj/testdata_pairwise.jsonl.gz": 200, "pandalm/testset-v1.json": 150, "autoj/critiques.jsonl": 110,
    "prometheus/vicuna_eval.json.gz": 40,
}  # fmt: skip


@pytest.mark.long
def test_500_recorded_judgements(shared, tmp_path):
    files = enumerate(FILES.items(), 1)
    gathered = gather([read_records(shared / "data" / name, limit=n, prefix=f"{at}:") for at, (name, n) in files])
    found = bridge(gathered, jg.evaluate(bridging("embedded"), gathered.samples), shares=(0.1, 0.1))
    made, rejects = found.training_set, found.training_set.rejects
    unread = sum(one.kind == "unreadable" for one in rejects)  # beyond the limits, which count what could be read
    assert gathered.read == found.read == 500 + unread == found.consistent + len(rejects)
    assert all(one.reason and one.where and one.kind in KINDS for one in rejects)
    assert len({(one.where, one.id) for one in rejects}) == len(rejects)
    assert {"verdict", "score", "doubled"} <= {one.kind for one in rejects}
    for key in ("query", "source"):  # none in two splits
        places: dict[str, set[str]] = {}
        for split in SPLITS:
            for row in made.rows[split]:
                places.setdefault(" ".join(words(getattr(row, key))), set()).add(split)
        places.pop("", None)
        assert {len(splits) for splits in places.values()} == {1}
    assert min(made.queries.values()) > 10
    samples = {sample.id: sample for sample in gathered.samples}
    orders: dict[str, set[str]] = {}
    for row in (row for split in SPLITS for row in made.rows[split] if row.order):
        a, b = (text_of(text) for text in (samples[row.id].output, samples[row.id].rival))
        asked = row.prompt[1][1]
        assert (asked.index("<response_a-") < asked.index("<response_b-")) == (row.order == "AB")
        assert a.strip()[:40] in asked[asked.index("<response_a-") :]
        assert b.strip()[:40] in asked[asked.index("<response_b-") :]
        orders.setdefault(row.id, set()).add(row.order)
    assert {frozenset(one) for one in orders.values()} == {frozenset({"AB", "BA"})}
    folder = write(made, tmp_path / "set")
    written = [json.loads(line) for path in folder.glob("sft/*.jsonl") for line in path.read_bytes().splitlines()]
    assert len(written) == made.size == len(orders) * 2 + sum(1 for row in written if row["kind"] == "single")
