"""A damaged ledger under a run: what is damaged is asked again, and the scores are those that were."""

import sqlite3

import judgegraph as jg
from judgegraph.graphs import sageval
from judgegraph.types import Criterion, Sample


def test_damaged_replies_are_asked_again_counted_and_change_no_score(server, tmp_path):
    site, path = server("ok"), tmp_path / "calls.sqlite"
    graph = sageval(site.judge(), criteria=[Criterion(name="Clarity")])
    samples = [Sample(id=f"s{n}", output=f"text number {n}") for n in range(6)]
    first = jg.evaluate(graph, samples, ledger=path)
    paid = site.count
    with sqlite3.connect(path) as db:  # every score of 4 becomes a 2, as if somebody had written so
        changed = db.execute(
            "UPDATE replies SET body = CAST(replace(CAST(body AS TEXT), '4', '2') AS BLOB)"
            " WHERE instr(CAST(body AS TEXT), '4')"
        ).rowcount
    db.close()
    assert changed == paid
    second = jg.evaluate(graph, samples, ledger=path)
    assert site.count == 2 * paid
    assert second.manifest["calls"]["ledger"]["damaged"] == paid

    def values(run):
        return sorted((row["id"], row["criterion"], row["stage"], row["value"]) for row in run.scores())

    assert values(first) == values(second)
    assert {value for *_, value in values(second)} != {2.0}
