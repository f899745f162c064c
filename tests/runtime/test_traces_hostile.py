"""Spans over hostile inputs, and of runs that are killed: no judged text, no lost journey."""

import json
import re
import signal
import time
from pathlib import Path

import pytest
from small import process
from terminal import controls

import judgegraph as jg
from judgegraph.data.load import load
from judgegraph.graphs import fennec, sageval
from judgegraph.runs.run import Run
from judgegraph.trace.record import SPANS, recorded_traces
from judgegraph.traces.read import ranked_samples
from judgegraph.types import text_of

WORD = re.compile(r"\w{7,}")
OURS = {"embedded", "evaluate", "criteria", "requests", "critique", "suggestions"}  # words of spans themselves


@pytest.fixture(scope="module")
def corpus(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> list[jg.Sample]:
    """Those that are samples."""
    rows = []
    for line in (shared / "hostile/inputs.jsonl").read_text().splitlines():
        given = json.loads(line)["sample"]
        rows += given if isinstance(given, list) else [given]
    path = tmp_path_factory.mktemp("corpus") / "hostile.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows if "__raw_line_base64__" not in row) + "\n")
    found = list(load(path, strict=False))
    assert len(found) > 25
    return found


@pytest.mark.parametrize("build", [lambda: sageval(criteria="summary"), fennec], ids=["sageval", "fennec"])
def test_no_word_of_a_hostile_input_stands_in_the_spans(build, corpus: list[jg.Sample], tmp_path: Path):
    run = jg.evaluate(build(), corpus, out=tmp_path / "run")
    told = (tmp_path / "run" / SPANS).read_text()
    lines = {one["id"]: json.dumps(one["spans"], ensure_ascii=False) for one in map(json.loads, told.splitlines())}
    assert set(lines) == {item.id for item in run.items}
    ours = " ".join(f"{c.criterion} {c.agent}" for item in run.items for c in item.scores)
    for item in run.items:
        texts = [text_of(value) for name in ("query", "source", "output") if (value := getattr(item.sample, name))]
        words = {word for text in texts for word in WORD.findall(text)} - {*WORD.findall(ours)}
        said = set(WORD.findall(lines[item.id])) & words
        assert said <= OURS


def test_every_trace_of_a_hostile_input_can_be_shown(corpus: list[jg.Sample], tmp_path: Path):
    run = jg.evaluate(sageval(criteria="summary"), corpus, out=tmp_path / "run")
    assert len(list(ranked_samples(run))) == len(corpus)
    for item in run.items:
        said = str(run.trace(item.id))
        assert controls(said) == set()
        assert "graph sageval" in said
        json.dumps(run.trace(item.id).to_dict(), allow_nan=False)


RUNS = """
async def slow(state):
    import asyncio
    await asyncio.sleep(0.01)
    return await fine(state)

slow.__annotations__ = fine.__annotations__
jg.evaluate(graph_of(slow), samples(400), out=sys.argv[1], concurrency=4)
"""


@pytest.mark.long
def test_of_a_run_that_was_killed_and_goes_on_every_item_has_its_journey(tmp_path: Path):
    out = tmp_path / "run"
    for _ in range(4):
        started = process(RUNS, out)
        before = (out / "items.jsonl").stat().st_size if (out / "items.jsonl").exists() else 0
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and started.poll() is None:
            if (out / "items.jsonl").exists() and (out / "items.jsonl").stat().st_size > before + 3000:
                break
            time.sleep(0.005)
        started.send_signal(signal.SIGKILL)
        started.communicate(timeout=30)
        whole = {one.sample for one in recorded_traces(out / SPANS)}
        assert {item.id for item in Run.load(out).items} <= whole
    last = process(RUNS, out)
    _, said = last.communicate(timeout=120)
    assert last.returncode == 0, said
    run = Run.load(out)
    assert len(list(run.items)) == 400
    assert {one.sample for one in recorded_traces(out / SPANS)} == {f"s{n}" for n in range(400)}
    assert all(one.status == "ok" for one in ranked_samples(run))
    assert run.trace("s0").root.status == "ok"
