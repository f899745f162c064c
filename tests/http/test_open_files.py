"""Open files do not grow with samples or runs."""

import os
from pathlib import Path

import pytest

import judgegraph as jg
from judgegraph.graphs import llm_score

OPEN = Path("/proc/self/fd")


@pytest.mark.skipif(not OPEN.exists(), reason="no /proc here")
@pytest.mark.long
def test_a_run_leaves_no_more_files_open_than_the_one_before(server, tmp_path):
    graph = llm_score(server("ok").judge(), criteria=[jg.Criterion(name="Clarity")])
    during, after = [], []
    for turn, count in enumerate((20, 40, 160)):
        samples = [jg.Sample(id=f"s{n}", output=f"text {turn} {n}") for n in range(count)]
        seen: list[int] = []
        jg.evaluate(
            graph,
            samples,
            out=tmp_path / str(turn),
            concurrency=4,
            on_item=lambda _, seen=seen: seen.append(len(os.listdir(OPEN))),
        )
        during.append(max(seen))
        after.append(len(os.listdir(OPEN)))
    assert after[1] == after[2]
    assert during[2] <= during[1] + 1
