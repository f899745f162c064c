"""Tool calls: one answer to every call, one run of every assistant."""

from langchain_core.messages import AIMessage

from judgegraph.tools import Metric
from judgegraph.tools.langchain import ToolCalls
from judgegraph.types import Finding, Sample

SAMPLE = Sample(id="s", output="x")


def counting(log, name, measure=lambda s: 0.25):
    def measured(sample):
        log.append(name)
        return measure(sample)

    return Metric(name=name, about=name, measure=measured)


async def answered(*names, findings=None, log=None):
    log = [] if log is None else log
    node = ToolCalls(assistants=(counting(log, "a"), counting(log, "broken", lambda s: 1 / 0)))
    calls = [{"name": name, "id": f"id{i}"} for i, name in enumerate(names)]
    state = {"sample": SAMPLE, "calls": calls, "messages": [AIMessage("")], "findings": findings or {}}
    written = await node(state)
    return written["findings"], [(m.tool_call_id, m.content, m.status) for m in written["messages"][1:]]


async def test_every_call_is_answered_in_order():
    found, answers = await answered("a", "broken", "nosuch\n")
    assert set(found) == {"a", "broken"}
    assert answers == [
        ("id0", "a: 0.25", "success"),
        ("id1", "broken: absent (ZeroDivisionError: division by zero)", "error"),
        ("id2", "no assistant 'nosuch'; there are: a, broken", "error"),
    ]


async def test_equal_calls_are_run_once_and_answered_each():
    log = []
    found, answers = await answered("a", "a", log=log)
    assert log == ["a"]
    assert list(found) == ["a"]
    assert [text for _, text, _ in answers] == ["a: 0.25", "a: 0.25"]


async def test_what_was_said_in_an_earlier_round_is_said_again_not_run():
    log = []
    found, answers = await answered("a", findings={"a": Finding(assistant="a", value=0.75)}, log=log)
    assert (log, found) == ([], {})
    assert answers == [("id0", "a: 0.75", "success")]
