"""What was recorded is played as it was, without its judge; what was not is said."""

import asyncio
import json
import stat
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

import judgegraph as jg
from judgegraph.errors import ReplyError
from judgegraph.graphs import coascore, fusion_eval, g_eval, sageval
from judgegraph.testing import NotRecorded, playing, recording, scripted

SAMPLES = [
    jg.Sample(id="a", source="The library opens at nine. On Sundays it is closed.", output="It opens at nine."),
    jg.Sample(id="b", source="Rain fell for three days.", output="Sun shone.", reference="It rained for three days."),
]
METHODS: dict[str, Callable[[Any], Any]] = {
    "sageval": lambda judge: sageval(judge, criteria="summary"),
    "sageval, each": lambda judge: sageval(judge, criteria="summary", each=True),
    "coascore": lambda judge: coascore(judge, criteria="summary"),
    "fusion-eval with tools": lambda judge: fusion_eval(judge, criteria="summary", consult="tools"),
    "g-eval": lambda judge: g_eval(judge, criteria="summary"),
}


def shown(run: jg.Run) -> list[dict[str, Any]]:
    """All that a run says of its samples, but for how long it took and what it cost."""
    return [score.model_dump() for item in run.items for score in item.scores]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("method", METHODS)
def test_a_method_says_the_same_played_as_recorded_and_as_asked(method, tmp_path):
    path, build = tmp_path / "calls.jsonl", METHODS[method]
    asked = shown(jg.evaluate(build("embedded"), SAMPLES))
    recorded = shown(jg.evaluate(build(recording("embedded", path)), SAMPLES))
    judge = playing(path)
    played = shown(jg.evaluate(build(judge), SAMPLES))
    assert asked == recorded == played
    assert {score["status"] for score in played} == {"ok"}
    assert judge.unplayed == 0


def test_a_file_is_its_owners_alone_and_grows_by_whole_lines(tmp_path):
    path = tmp_path / "calls.jsonl"
    judge = recording(scripted("one", "two", "three"), path)

    async def three() -> list[str]:
        return list(await asyncio.gather(*(jg.ask(judge, f"question {i}") for i in range(3))))

    assert sorted(asyncio.run(three())) == ["one", "three", "two"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    head, *lines = map(json.loads, path.read_text().splitlines())
    assert head["judge"] == "Scripted"
    assert [len(line["reply"]["choices"]) for line in lines] == [1, 1, 1]


async def test_equal_requests_are_answered_in_the_order_in_which_they_were_sent(tmp_path):
    path = tmp_path / "calls.jsonl"
    judge = recording(Slow(), path)
    recorded = await asyncio.gather(*(jg.ask(judge, "a word") for _ in range(4)))
    played = playing(path)
    assert await asyncio.gather(*(jg.ask(played, "a word") for _ in range(4))) == recorded
    with pytest.raises(NotRecorded, match="was recorded 4 times is asked once more: a word"):
        await jg.ask(played, "a word")
    assert await jg.ask(playing(path, strict=False), "a word", temperature=0.5) == recorded[0]


class Slow(BaseChatModel):
    """The first asked is the last to answer."""

    speaks_openai: bool = True
    seen: list[int] = []

    @property
    def _llm_type(self) -> str:
        return "slow"

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        self.seen.append(1)
        number = len(self.seen)
        await asyncio.sleep(0.05 / number)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(f"answer {number}"))])


async def test_without_strictness_the_last_of_equal_replies_is_given_again(tmp_path):
    path = tmp_path / "calls.jsonl"
    judge = recording(scripted("one", "two"), path)
    assert [await jg.ask(judge, "a word") for _ in range(2)] == ["one", "two"]
    again = playing(path, strict=False)
    assert [await jg.ask(again, "a word") for _ in range(4)] == ["one", "two", "two", "two"]


async def test_a_request_that_is_not_there_is_shown_beside_the_nearest(tmp_path):
    path = tmp_path / "calls.jsonl"
    judge = recording(scripted("one", "two"), path)
    await jg.ask(judge, "first line\nsecond line\nthird line", temperature=0.5)
    await jg.ask(judge, "quite another matter")
    with pytest.raises(NotRecorded) as caught:
        await jg.ask(playing(path), "first line\nsecond word\nthird line", temperature=1.0)
    assert str(caught.value).splitlines()[1:] == [
        "  temperature: 1, recorded 0.5",
        "  --- recorded",
        "  +++ asked",
        "  @@ -2,3 +2,3 @@",
        "   first line",
        "  -second line",
        "  +second word",
        "   third line",
    ]
    with pytest.raises(NotRecorded) as caught:
        await jg.ask(playing(path), "\x1b[2J".join(map(str, range(500))) * 99)
    assert len(str(caught.value)) < 10_000
    assert "\x1b" not in str(caught.value)


async def test_errors_come_again_and_are_retried_alike(tmp_path):
    path = tmp_path / "calls.jsonl"
    judge = recording(scripted(ConnectionError("gone"), "there again"), path)
    assert await jg.ask(judge, "a word") == "there again"
    again = playing(path)
    assert await jg.ask(again, "a word") == "there again"
    assert again.unplayed == 0


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ([AIMessage("", additional_kwargs={"refusal": "No."})], "refused"),
        ([AIMessage("half", response_metadata={"finish_reason": "length"})] * 2, "truncated"),
        ([ValueError("no such thing")], "provider_error"),
    ],
)
async def test_what_is_no_reply_is_played_as_such(said, status, tmp_path):
    path = tmp_path / "calls.jsonl"
    for judge in (lambda: recording(scripted(*said), path), lambda: playing(path)):
        with pytest.raises(ReplyError) as caught:
            await jg.ask(judge(), "a word")
        assert caught.value.status == status


async def test_text_that_no_file_can_hold_comes_back_as_it_was(tmp_path):
    path = tmp_path / "calls.jsonl"
    odd = "\udcff \x00 \u2028 \U0001f9ea"
    judge = recording(scripted(odd), path)
    asked = await judge.ainvoke(odd)
    assert (await playing(path).ainvoke(odd)).content == asked.content == odd


async def test_a_line_that_was_cut_off_is_passed_over_and_the_next_stands_alone(tmp_path):
    path = tmp_path / "calls.jsonl"
    said = await jg.ask(recording("embedded", path), "a word")
    with path.open("a") as file:
        file.write('{"key": "ab')
    await jg.ask(recording("embedded", path), "a word")
    again = playing(path)
    assert [await jg.ask(again, "a word") for _ in range(2)] == [said, said]
    assert again.unplayed == 0


async def test_a_file_is_of_one_judge(tmp_path):
    path = tmp_path / "calls.jsonl"
    await jg.ask(recording("embedded", path), "a word")
    with pytest.raises(jg.ConfigError, match="is a recording of embedded, asked now is Scripted; give each judge"):
        await jg.ask(recording(scripted("one"), path), "a word")
    with pytest.raises(jg.ConfigError, match="of embedded, asked now is embedded with other settings"):
        await jg.ask(recording(jg.Endpoint(model="embedded", seed=1), path), "a word")


@pytest.mark.parametrize(("content", "said"), [(None, "no recording"), ("", "is no recording"), ("{}\n", "is no rec")])
def test_what_is_no_recording_is_refused(content, said, tmp_path):
    path = tmp_path / "calls.jsonl"
    if content is not None:
        path.write_text(content)
    with pytest.raises(jg.ConfigError, match=said):
        playing(path)


async def test_a_cancelled_call_leaves_no_line(tmp_path):
    path = tmp_path / "calls.jsonl"
    task = asyncio.ensure_future(jg.ask(recording(Slow(), path), "a word"))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(path.read_text().splitlines()) == 1


class Foreign(BaseChatModel):
    """A chat model of another provider: structured output by a tool call, settings in its fields."""

    temperature: float = 0.5

    @property
    def _llm_type(self) -> str:
        return "foreign"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=tools, **kwargs)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        if tools := kwargs.get("tools"):
            name = tools[0].get("title") or tools[0]["function"]["name"]
            said = AIMessage("", tool_calls=[{"name": name, "args": {"warmth": self.temperature}, "id": "1"}])
        else:
            said = AIMessage(f"at {self.temperature}")
        return ChatResult(generations=[ChatGeneration(message=said)])


async def test_a_judge_of_another_provider_is_recorded_and_played_too(tmp_path):
    from judgegraph.calls import Form
    from judgegraph.calls.asking import record

    form = Form("weather", record({"warmth": {"type": "number"}}), lambda data: data["warmth"])
    path = tmp_path / "calls.jsonl"
    for made in (Foreign, lambda: recording(Foreign(), path), lambda: playing(path)):
        judge = made()
        assert await jg.ask(judge, "How warm?") == "at 0.5"
        assert await jg.ask(judge, "How warm?", temperature=0.0) == "at 0.0"
        assert await jg.ask(judge, "How warm?", form, temperature=0.25) == 0.25


def test_a_played_run_does_not_pass_for_one_that_was_asked(tmp_path):
    path = tmp_path / "calls.jsonl"
    jg.evaluate(sageval(recording("embedded", path), criteria="summary"), SAMPLES[:1])
    run = jg.evaluate(sageval(playing(path), criteria="summary"), SAMPLES[:1])
    assert "judge:Playing:embedded@" in run.signature


async def test_a_recording_goes_on_behind_what_is_there_unless_it_is_fresh(tmp_path):
    path, other = tmp_path / "calls.jsonl", tmp_path / "other.jsonl"
    now = {}
    judge = scripted(*[lambda _: dict(now)] * 3)

    async def played(reply, **more):
        now["x"] = reply
        await jg.ask(recording(judge, path, **more), "Say x.")
        return await jg.ask(playing(path), "Say x."), len(path.read_text().splitlines())

    one, two = '{"x": 1}', '{"x": 2}'
    assert await played(1) == (one, 2)
    assert await played(2) == (one, 3)
    assert await played(2, fresh=True) == (two, 2)
    await jg.ask(recording("embedded", other), "Say x.")
    await jg.ask(recording(scripted({"x": 2}), other, fresh=True), "Say x.")
    assert await jg.ask(playing(other), "Say x.") == two, "another judge's file too"
    assert stat.S_IMODE(other.stat().st_mode) == 0o600


async def test_a_fresh_recording_leaves_a_file_that_is_none_as_it_is(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text("mine")
    with pytest.raises(jg.ConfigError, match="is no recording"):
        await jg.ask(recording("embedded", path, fresh=True), "Say x.")
    assert path.read_text() == "mine"
