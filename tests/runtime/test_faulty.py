"""A server of which three replies in ten are faulty: every sample ends, with the status that its fault deserves."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest
from stub import stub

import judgegraph as jg
from judgegraph.calls import Endpoint
from judgegraph.graphs import llm_score
from judgegraph.runs.run import Run

ATTEMPTS, ASKS = 5, 3  # the endpoint's own
RETRIED = ("429", "500", "reset", "drop", "truncate", "hang")
REASKED = ("malformed", "off-schema")
FINAL = {"length": "truncated", "content_filter": "filtered", "refusal": "refused"}
STATUS = {
    **dict.fromkeys(RETRIED, "provider_error"), "hang": "timeout", **dict.fromkeys(REASKED, "unreadable"), **FINAL,
}  # fmt: skip
REQUESTS = {**dict.fromkeys(RETRIED, ATTEMPTS), **dict.fromkeys(REASKED, ASKS), **dict.fromkeys(FINAL, 1), "length": 2}
SHARE = 0.3 / len(STATUS)
CLARITY = [jg.Criterion(name="Clarity", definition="Every sentence is understood at first reading.")]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judgegraph.calls.call._backoff", lambda _: 0.01)


def run(url: str, samples: list[jg.Sample], out: Path | None = None) -> Run:
    judge = Endpoint(model="openai:stub", base_url=url, timeout=1.0, patience=0)  # how long a 429 is asked on
    return jg.evaluate(llm_score(judge=judge, criteria=CLARITY), samples, out=out)


def statuses(result: Run) -> Counter[str]:
    """One score or one failed item of every sample."""
    return Counter(i.scores[0].status if i.status == "ok" else i.status for i in result.items)


@pytest.mark.parametrize("fault", STATUS)
@pytest.mark.sampled(3)
def test_a_fault_that_stays_ends_as_its_own_status_after_as_many_requests_as_the_table_says(fault, shared):
    with stub(shared, "--retry-after", "0.05") as server:
        marked = jg.Sample(id="marked", output=f"A text. [[fault:{fault}]]")
        result = run(server.url, [marked, jg.Sample(id="plain", output="A text.")])
        requests = server.stats()["requests"] - 1
    found = {i.id: i.scores[0].status for i in result.items}
    assert found == {"marked": STATUS[fault], "plain": "ok"}
    assert requests == REQUESTS[fault]


def predicted() -> dict[str, float]:
    """Shares of statuses that draws of independent faults come to: retried within an ask, asked again if unreadable."""
    again = len(RETRIED) * SHARE
    broken = again**ATTEMPTS  # of one ask
    answered = (1 - broken) / (1 - again)  # weight of each kind of answer, per its share of one draw
    unreadable, one = len(REASKED) * SHARE * answered, SHARE * answered
    shares, new, cut = Counter[str](), 1.0, 0.0  # asks that none was cut off before, and that one was
    for ask in range(1, ASKS + 1):
        shares += Counter({"filtered": (new + cut) * one, "refused": (new + cut) * one, "truncated": cut * one})
        shares += Counter({"failed": (new + cut) * broken})
        if ask == ASKS:
            shares += Counter({"truncated": new * one, "unreadable": (new + cut) * unreadable})
        new, cut = new * unreadable, new * one + cut * unreadable
    return dict(shares)


@pytest.mark.long
@pytest.mark.timeout(300)
def test_with_three_faults_in_ten_every_sample_ends_as_predicted_and_twice_alike(tmp_path, shared):
    samples = [jg.Sample(id=f"s{i}", output=f"The answer to question {i} is short.") for i in range(1000)]
    faults = [word for fault in STATUS for word in ("--fault", f"{fault}={SHARE}")]
    exports = []
    for name in ("first", "second"):
        with stub(shared, "--seed", "5", "--latency-ms", "5", "--retry-after", "0.05", *faults) as server:
            result = run(server.url, samples, tmp_path / name)
            assert server.stats()["requests"] == result.manifest["calls"]["requests"] <= 1000 * ATTEMPTS * ASKS
        result.export(tmp_path / f"{name}.jsonl")
        exports.append((tmp_path / f"{name}.jsonl").read_bytes())
        assert max(item.ms for item in result.items) < 1000 * ASKS * ATTEMPTS * (1.0 + 0.05 + 1.0)  # deadline and waits
    assert exports[0] == exports[1]

    found, wanted = statuses(result), predicted()
    assert sum(found.values()) == 1000
    found["failed"] = found.pop("timeout", 0) + found.pop("provider_error", 0)
    for status, share in wanted.items():
        spread = 4 * math.sqrt(1000 * share * (1 - share)) + 1
        assert abs(found[status] - 1000 * share) <= spread, f"{status}: {found[status]}, predicted {1000 * share:.1f}"
    assert found["ok"] == 1000 - sum(found[status] for status in wanted)
