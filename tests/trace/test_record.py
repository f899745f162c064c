"""Recording: spans begin and end where things are done, in order, whatever happens in them."""

import asyncio
import json
import threading
from typing import Any

import pytest
from langgraph.types import Command

from judgegraph.errors import ReplyError
from judgegraph.trace.record import Recorder, recorded_trace, recorder, span, within, written


@pytest.fixture
def spans() -> Any:
    made = Recorder("s1", "g")
    token = recorder.set(made)
    yield made
    recorder.reset(token)


def whole(made: Recorder, status: str = "ok", **settings: Any) -> Any:
    found = recorded_trace(made.line(status, **settings))
    assert found is not None
    return found


def test_without_a_recorder_nothing_is_kept():
    with span("tool", "t", {"a": 1}) as about:
        about["b"] = 2
    assert (recorder.get(), within.get()) == (None, 0)


def test_spans_stand_in_the_order_of_their_beginning_below_what_they_were_begun_in(spans):
    with span("node", "a"):
        with span("model", "m"):
            pass
        with span("tool", "t"):
            pass
    with span("node", "b"):
        pass
    found = whole(spans)
    assert [(one.id, one.parent, one.name) for one in found.spans] == [
        (0, None, "g"), (1, 0, "a"), (2, 1, "m"), (3, 1, "t"), (4, 0, "b"),
    ]  # fmt: skip
    assert [found.node_path(one) for one in found.spans] == ["", "a", "a", "a", "b"]
    assert (found.sample, found.kept) == ("s1", True)


async def test_tasks_side_by_side_keep_their_own_place(spans):
    async def work(name: str) -> None:
        with span("node", name):
            await asyncio.sleep(0.001)
            with span("model", f"{name}-m"):
                await asyncio.sleep(0.001)

    await asyncio.gather(*(work(f"n{n}") for n in range(5)))
    found = whole(spans)
    parents = {one.name: found.spans[one.parent].name for one in found.spans[1:]}
    assert parents == {f"n{n}-m": f"n{n}" for n in range(5)} | {f"n{n}": "g" for n in range(5)}


def test_threads_never_share_a_number(spans):
    def work() -> None:
        for _ in range(300):
            spans.end(spans.begin("tool", "t", {}))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert [one.id for one in whole(spans).spans] == list(range(2401))


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


ENDS = [
    (ValueError("a\n b"), "agent_error", "ValueError: a b"),
    (ReplyError("late", status="timeout"), "timeout", "ReplyError: late"),
    (asyncio.CancelledError(), "timeout", "it was cut off"),
    (GeneratorExit(), "agent_error", "GeneratorExit"),
    (Unspeakable(), "agent_error", "Unspeakable"),
    (ValueError("x" * 1000), "agent_error", f"ValueError: {'x' * 188}"),
]


@pytest.mark.parametrize(("error", "status", "said"), ENDS, ids=lambda x: type(x).__name__)
def test_what_raises_ends_with_a_status_and_a_short_word(spans, error, status, said):
    with pytest.raises(type(error)), span("model", "m"):
        raise error
    one = whole(spans).spans[1]
    assert (one.status, one.about["error"]) == (status, said)


def test_a_bare_recorder_keeps_no_word_of_an_error():
    made = Recorder("s1", "g", bare=True)
    made.end(made.begin("node", "n", {"error": "secret", "place": "n"}), "agent_error")
    assert whole(made).spans[1].about == {"place": "n"}


@pytest.mark.parametrize(
    ("status", "open_as"), [("ok", "skipped"), ("timeout", "timeout"), ("agent_error", "agent_error")]
)
def test_what_is_open_at_the_end_is_closed_within_what_it_was_begun_in(spans, status, open_as):
    token = within.set(spans.begin("node", "n", {})[0])
    spans.begin("model", "m", {})
    within.reset(token)
    graph, node, model = whole(spans, status).spans
    assert [one.status for one in (graph, node, model)] == [status, open_as, open_as]
    assert model.start + model.ms <= node.start + node.ms + 0.003
    assert node.start + node.ms <= graph.ms + 0.003


def test_a_journey_whose_item_was_not_kept_says_so(spans):
    assert whole(spans, kept=False).kept is False


WRITTEN = [
    ({"scores": {"Clarity/a/final/0": 1}}, {"scores": ["Clarity/a/final/0"]}),
    ({"scores": {str(n): n for n in range(100)}}, {"scores": 100}),
    ({"notes": {"a/secret text": 1}}, {"notes": 1}),
    ({"mine": {"secret text": 1}}, {"mine": 1}),
    ({"overall": 2.5, "n": 3, "flag": True}, {"overall": 2.5, "n": 3, "flag": True}),
    ({"plan": "a text", "bad": float("nan"), "huge": float("inf")}, {"plan": None, "bad": None, "huge": None}),
    ({"suggestions": ["a text", "another"]}, {"suggestions": 2}),
    (None, {}),
    ("a text", {}),
    (Command(update=[("overall", 2.5)]), {"overall": 2.5}),
    (Command(goto="end"), {}),
]


@pytest.mark.parametrize(("update", "said"), WRITTEN, ids=range(len(WRITTEN)))
def test_what_was_written_is_told_by_keys_and_counts_and_never_by_a_text(update, said):
    assert written(update) == said


def test_of_what_was_written_only_the_named_keys_are_told():
    assert written({"overall": 2.5, "a text that a model wrote": 1}, {"overall"}) == {"overall": 2.5}


def test_a_bare_recorder_keeps_no_key_that_is_no_name():
    made = Recorder("s1", "g", bare=True)
    made.end(made.begin("node", "n", {"writes": {"overall": 2.5, "a text that a model wrote": 1}}))
    told = whole(made).spans[1].about["writes"]
    assert (told.pop("overall"), [key[0] for key in told]) == (2.5, ["#"])


def test_a_line_is_one_line_of_json_whatever_the_names_are():
    made = Recorder('a"b\n\ud800', "g\n")
    made.begin("node", "n\n\u2028", {"writes": {"x": object()}})
    line = made.line("ok")
    assert line.count(b"\n") == 1
    assert json.loads(line)["spans"][1][3] == "n\n\u2028"
