"""One door: a reply is read, mended, asked for again, or ends in a status that keeps its text."""

from dataclasses import replace

import pytest
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import BaseModel

from judgegraph.calls import Endpoint, Form, ask, replies
from judgegraph.calls.asking import ratings_form, several_replies
from judgegraph.calls.context import CallContext, context
from judgegraph.calls.types import Call
from judgegraph.errors import AuthError, ConfigError, ReplyError
from judgegraph.models.judges import resolve
from judgegraph.prompts.template import slugs
from judgegraph.testing import scripted
from judgegraph.types import Criterion

MESSAGES = [("user", "Judge.")]
FORM = ratings_form(slugs([Criterion(name="A"), Criterion(name="B")]))
A, B = {"reason": "r", "score": 4}, {"reason": "r", "score": 2}


class Rating(BaseModel):
    reason: str
    score: int


def said(text="", finish="stop", **more):
    return AIMessage(text, response_metadata={"finish_reason": finish}, **more)


@pytest.fixture
def no_backoff(monkeypatch):
    monkeypatch.setattr("judgegraph.calls.call._backoff", lambda _: 0.0)


@pytest.mark.parametrize(
    ("reply", "status", "text"),
    [
        (said("", "content_filter"), "filtered", ""),
        (said("", additional_kwargs={"refusal": "No."}), "refused", "No."),
    ],
)
async def test_what_asking_again_cannot_help_ends_at_once(reply, status, text):
    judge = scripted(reply)
    with pytest.raises(ReplyError) as caught:
        await ask(judge, MESSAGES, Rating)
    assert (caught.value.status, caught.value.text, len(judge.calls)) == (status, text, 1)


@pytest.mark.parametrize(
    "bad", ["prose", '{"reason": "r", "score": "high"}', '{"reason": "r", "score": NaN}', "[[[[" * 50]
)
async def test_a_reply_that_never_fits_is_asked_for_three_times_and_keeps_its_text(bad):
    judge = scripted(bad, bad, bad)
    with pytest.raises(ReplyError) as caught:
        await ask(judge, MESSAGES, Rating)
    assert (caught.value.status, caught.value.text) == ("unreadable", bad)


async def test_asking_again_says_what_was_wrong_and_holds_the_schema():
    judge = scripted({"reason": "r", "score": "high"}, {"reason": "r", "score": 4})
    assert (await ask(judge, MESSAGES, Rating)).score == 4
    first, told = judge.calls[1][1:]
    assert (type(first), type(told)) == (AIMessage, HumanMessage)
    assert "score: Input should be a valid integer" in told.content
    assert '"additionalProperties"' in told.content


async def test_what_was_asked_before_is_not_piled_up():
    judge = scripted("{1}", "{2}", {"reason": "r", "score": 4})
    await ask(judge, MESSAGES, Rating)
    assert [len(call) for call in judge.calls] == [1, 3, 3]


@pytest.mark.parametrize(
    "second",
    [{"a": {"reason": "r", "score": 9}, "b": B}, "prose", said("", "length"), ConnectionError("gone")],
    ids=["another part", "nothing", "cut off", "no answer"],
)
async def test_the_richest_part_of_several_tries_is_kept_whatever_came_of_the_others(no_backoff, second):
    judge = scripted({"a": A}, *[second] * 6)
    (reply,) = await replies(judge, MESSAGES, FORM)
    assert reply.value == {"a": A}


async def test_an_empty_text_is_no_reply():
    judge = scripted("", "  \n", "said")
    assert await ask(judge, MESSAGES) == "said"


async def test_mending_is_noted():
    (reply,) = await replies(scripted('```json\n{"reason": "r", "score": 4,}\n```'), MESSAGES, Rating)
    assert (reply.value.score, reply.notes) == (4, ("code fence removed", "trailing comma removed"))


async def test_a_tool_call_is_a_reply():
    call = {"name": "rouge", "args": {}, "id": "1", "type": "tool_call"}
    (reply,) = await replies(
        scripted(said("", "tool_calls", tool_calls=[call])), MESSAGES, tools=[{"type": "function"}]
    )
    assert [c["name"] for c in reply.tool_calls] == ["rouge"]


async def test_samples_that_cannot_be_read_are_left_out():
    judge = scripted([{"reason": "r", "score": 1}, "prose", {"reason": "r", "score": 3}])
    assert [r.value.score for r in await replies(judge, MESSAGES, Rating, n=3)] == [1, 3]


async def test_samples_of_which_none_can_be_read_are_asked_for_three_times_and_are_one_error():
    judge = scripted(*[["{no", "{no"]] * 3)
    with pytest.raises(ReplyError, match="JSON"):
        await replies(judge, MESSAGES, Rating, n=2)
    assert len(judge.calls) == 3


def scores(*values):
    return [{"reason": "r", "score": value} for value in values]


async def test_the_missing_are_asked_for_again_where_fewer_than_half_of_the_samples_can_be_read():
    judge = scripted([*scores(1), "{prose", "{prose", "{prose"], [*scores(2, 3), "{prose"])
    assert [r.value.score for r in await replies(judge, MESSAGES, Rating, n=4)] == [1, 2, 3]
    assert [asked["n"] for asked in judge.asked] == [4, 3]
    assert "could not be used" in judge.calls[1][-1].content


async def test_half_of_the_samples_is_enough():
    judge = scripted([*scores(1, 2), "{prose", "{prose"])
    assert len(await replies(judge, MESSAGES, Rating, n=4)) == 2


async def test_a_part_is_no_full_reply_and_is_kept_where_asking_again_does_not_help():
    judge = scripted([{"a": A}] * 3, ["{no"] * 3, [{"a": A, "b": B}, "{no", "{no"])
    got = await replies(judge, MESSAGES, FORM, n=3)
    assert [sorted(r.value) for r in got] == [["a", "b"], ["a"], ["a"]]


async def test_samples_are_asked_for_as_often_as_the_endpoint_says(no_backoff):
    judge = scripted(["{no"] * 2, scores(1, 2))
    resolve(judge)  # known under its own endpoint, of three asks
    one = Endpoint(model="any", asks=1)
    with pytest.raises(ReplyError):
        await several_replies(
            replace(resolve(judge), endpoint=one), Call(messages=(HumanMessage("x"),), n=2), Form.of(Rating)
        )
    assert len(judge.calls) == 1


async def test_samples_that_asking_again_cannot_help_are_left_out_at_once():
    lost = said("", additional_kwargs={"refusal": "No."})
    judge = scripted([*scores(1), lost, lost])
    assert len(await replies(judge, MESSAGES, Rating, n=3)) == 1


@pytest.mark.parametrize("n", [0, -1])
async def test_fewer_than_one_reply_cannot_be_asked_for(n):
    with pytest.raises(ConfigError):
        await replies(scripted(), MESSAGES, n=n)


async def test_zero_is_a_setting_and_none_is_not():
    judge = scripted("a", "b")
    await ask(judge, MESSAGES, temperature=0, seed=None)
    assert judge.asked[0] == {"temperature": 0}


async def test_a_fault_of_a_test_is_no_fault_of_the_provider():
    with pytest.raises(AssertionError, match="the script has 0 replies"):
        await ask(scripted(), MESSAGES)


async def test_an_error_that_ends_a_run_is_passed_on():
    with pytest.raises(AuthError):
        await ask(scripted(AuthError("no key")), MESSAGES)


async def test_a_run_counts_requests_and_replies_in_its_slots(no_backoff):
    token = context.set(run := CallContext())
    try:
        await ask(scripted(ConnectionError(), "text"), MESSAGES)
    finally:
        context.reset(token)
    assert (run.requests, run.replies, run.models) == (2, 1, {"Scripted": 1})


async def test_a_form_may_read_text():
    form = Form("count", None, lambda text: len(text.split()))
    assert await ask(scripted("three words here"), MESSAGES, form) == 3


class ByTools(BaseChatModel):
    """A model of another provider: structured output by a tool call, settings as its own fields."""

    replies: list
    temperature: float = 0.7
    asked: list = []

    @property
    def _llm_type(self):
        return "by-tools"

    def bind_tools(self, tools, **kwargs):
        return self.bind(tools=tools, **kwargs)

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.asked.append({"temperature": self.temperature, **kwargs})
        made = self.replies.pop(0)
        calls = [{"name": "Rating", "args": made, "id": "1"}] if isinstance(made, dict) else []
        broken = [{"name": "Rating", "args": made, "id": "1", "error": None}] if isinstance(made, str) else []
        usage = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
        message = AIMessage("", tool_calls=calls, invalid_tool_calls=broken, usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])


async def test_a_model_with_structured_output_of_its_own_works():
    judge = ByTools(replies=['{"reason": "r", "score": 4,}', {"reason": "r", "score": 5}])
    token = context.set(run := CallContext())
    try:
        got = await replies(judge, MESSAGES, Rating)
        assert (got[0].value.score, got[0].notes) == (4, ("trailing comma removed",))
        assert (await ask(judge, MESSAGES, Rating)).score == 5
    finally:
        context.reset(token)
    assert (run.replies, run.prompt_tokens, run.completion_tokens) == (2, 14, 6)


async def test_the_temperature_reaches_such_a_model_and_leaves_the_object_as_it_was():
    judge = ByTools(replies=[{"reason": "r", "score": 4}] * 2)
    await ask(judge, MESSAGES, Rating, temperature=0)
    await ask(judge, MESSAGES, Rating)
    assert [asked["temperature"] for asked in judge.asked] == [0, 0.7]


async def test_samples_of_such_a_model_are_calls_of_their_own():
    judge = ByTools(replies=[{"reason": "r", "score": i} for i in range(1, 6)])
    assert len(await replies(judge, MESSAGES, Rating, n=3)) == 3
    assert resolve(judge).support.n is False


async def test_a_model_of_text_alone_gets_the_schema_in_words():
    judge = FakeListChatModel(responses=["Sure.", '{"reason": "r", "score": 4}'])
    assert (await ask(judge, MESSAGES, Rating)).score == 4
    assert resolve(judge).support.json_schema is False


async def test_the_embedded_judge_is_a_judge_like_any_other():
    got = await replies(Endpoint(model="embedded"), "<output-1234>\nA fine text.\n</output-1234>", FORM, n=2)
    assert {key for reply in got for key in reply.value} == {"a", "b"}
