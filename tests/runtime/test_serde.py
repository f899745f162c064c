"""A checkpointer with our serializer gives our values back, and says nothing."""

import logging
import subprocess
import sys

import pytest
from langgraph.checkpoint.memory import InMemorySaver

import judgegraph as jg
from judgegraph import evidence, types
from judgegraph.graphs import fennec, fusion_eval, sageval
from judgegraph.types import Criterion, Exemplar, Sample, Scale

SAMPLE = Sample(
    id="s", query="q", source="A text.", output={"a": [1, {"b": None}]}, human={"x": [1.0, "y"]}, meta={"n": 1}
)
TAUGHT = Criterion(name="Clarity", steps=("read",), examples=(Exemplar(output="Which day?", score=4, reason="Clear."),))
CRITERIA = [TAUGHT, Criterion(name="Tone", scale=Scale(labels=("warm", "cold")))]
VALUES = [
    SAMPLE, *CRITERIA, *TAUGHT.examples, Scale(low=0, high=1, whole=False),
    types.Score(criterion="C", agent="a", value=3, scale=Scale(low=1, high=5), distribution={"3": 1.0}, notes=("n",)),
    types.Score(criterion="C", agent="a", status="timeout", reason="r"),
    types.Rectification(criterion="C", agent="a", action="change", direction="up", value=4),
    types.Suggestion(kind="criterion", criterion="C", definition="d"),
    types.Plan(text="p", alignment={"C": ("a",)}, usage={"a": "u"}),
    types.Finding(assistant="a", status="skipped", reason="r"),
    types.Comparison(criterion="C", agent="a", verdict="tie", order="both"),
    types.Correction(text="t", criteria=("C",)), types.Note(agent="a", text="t"),
    evidence.Passage(id="p", text="t"), evidence.Turn(role="user", content="c"), evidence.Image(url="https://a.example/b.png"),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda v: type(v).__name__)
def test_each_value_comes_back_as_it_was(value, caplog):
    serde = jg.serializer()
    back = serde.loads_typed(serde.dumps_typed({"key": [value]}))["key"][0]
    assert (type(back), back) == (type(value), value)
    assert not caplog.records


def test_the_values_tried_here_are_all_there_are():
    known = {t for t in vars(types).values() if isinstance(t, type) and issubclass(t, types.Value)} - {types.Value}
    assert {type(value) for value in VALUES} == known


@pytest.mark.parametrize("method", [sageval, fennec, fusion_eval])
async def test_a_method_with_a_checkpointer_leaves_its_state_readable(method, caplog):
    graph = method(criteria=CRITERIA[:1]).builder.compile(checkpointer=InMemorySaver(serde=jg.serializer()))
    config = {"configurable": {"thread_id": "1"}}
    final = await graph.ainvoke({"sample": SAMPLE}, config)
    kept = await graph.aget_state(config)
    assert final["scores"]
    assert {**kept.values, **final} == kept.values
    assert [r for r in caplog.records if r.levelno >= logging.WARNING] == []


@pytest.mark.long
def test_strict_checkpoints_take_our_values(tmp_path):
    (tmp_path / "strict.py").write_text(
        "import asyncio, logging\n"
        "logging.basicConfig(level='WARNING')\n"
        "import judgegraph as jg\n"
        "from judgegraph.graphs import sageval\n"
        "from langgraph.checkpoint.memory import InMemorySaver\n"
        "config = {'configurable': {'thread_id': '1'}}\n"
        "async def main():\n"
        "    graph = sageval(criteria='forms').builder.compile(checkpointer=InMemorySaver(serde=jg.serializer()))\n"
        "    final = await graph.ainvoke({'sample': jg.Sample(id='s', query='q', output='t')}, config)\n"
        "    kept = (await graph.aget_state(config)).values\n"
        "    assert {**kept, **final} == kept and type(kept['sample']) is jg.Sample and final['scores']\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", str(tmp_path / "strict.py")],
        env={"LANGGRAPH_STRICT_MSGPACK": "true"}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
