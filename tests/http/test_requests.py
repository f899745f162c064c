"""How many requests a call makes, what is in them, and what a fault ends with: counted by a real server."""

import asyncio
import time
import traceback

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

import judgegraph as jg
from judgegraph.calls import Endpoint, Reader, Slot, ask, rate, replies
from judgegraph.calls.asking import ratings_form
from judgegraph.calls.context import CallContext, context
from judgegraph.calls.limits import limiter_of
from judgegraph.calls.types import Call
from judgegraph.errors import AuthError, JudgegraphError, ReplyError
from judgegraph.graphs import llm_score
from judgegraph.models.judges import resolve
from judgegraph.prompts.template import slugs
from judgegraph.report.page import write_report
from judgegraph.types import Criterion, Scale
from judgegraph.views.run import print_run

KEY = "canary-key-0123456789"
MESSAGES = [("user", "Judge this.")]
CRITERIA = slugs([Criterion(name="Clarity")])
FORM = ratings_form(CRITERIA)
SLOTS = {"clarity": Slot(Scale(low=1, high=5), ("clarity",))}
WEIGHTED = Reader("weighted", samples=3)


async def answer(judge, reader=WEIGHTED):
    return (await rate(judge, MESSAGES, FORM, SLOTS, reader)).answers["clarity"]


async def failure(judge, form=FORM):
    with pytest.raises(JudgegraphError) as caught:
        await ask(judge, MESSAGES, form)
    return caught.value


@pytest.mark.parametrize(
    ("script", "requests", "status"),
    [
        ("400", 1, "provider_error"),
        ("filter-400", 1, "filtered"),
        ("429=0", 3, "provider_error"),
        ("429=9999", 1, "provider_error"),
        ("500", 3, "provider_error"),
        ("plain-500", 3, "provider_error"),
        ("plain-200", 2, "provider_error"),
        ("truncated", 3, "provider_error"),
        ("reset", 3, "provider_error"),
        ("empty", 2, "provider_error"),
        ("length", 2, "truncated"),
        ("content_filter", 1, "filtered"),
        ("refusal", 1, "refused"),
        ("half", 3, "unreadable"),
    ],
)
@pytest.mark.sampled(6)
async def test_a_fault_ends_in_its_status_after_as_many_requests_as_can_help(
    server, no_backoff, script, requests, status
):
    site = server(script)
    error = await failure(site.judge(asks=3))
    assert isinstance(error, ReplyError)
    assert (site.count, error.status) == (requests, status)


async def test_a_reply_that_is_cut_off_keeps_its_text_and_its_usage(server):
    token = context.set(run := CallContext())
    try:
        error = await failure(server("length").judge())
    finally:
        context.reset(token)
    assert error.text.startswith("{")
    assert (run.prompt_tokens, run.completion_tokens) == (20, 10)  # it is asked for once more


@pytest.mark.parametrize("script", ["401", "404", "quota"])
async def test_an_endpoint_that_refuses_us_is_asked_once(server, script):
    site = server(script)
    assert isinstance(await failure(site.judge()), AuthError)
    assert site.count == 1


@pytest.mark.parametrize("script", ["500,500,ok", "429=0,ok", "empty,ok", "truncated,reset,ok", "half,ok"])
async def test_what_can_pass_is_tried_again_and_passes(server, no_backoff, script):
    site = server(script)
    value = await ask(site.judge(), MESSAGES, FORM)
    assert value["clarity"]["score"] == 4
    assert site.count == script.count(",") + 1


@pytest.mark.parametrize(("script", "requests"), [("500", 5), ("400", 1), ("429=0", 5), ("401", 1)])
async def test_the_retries_of_a_given_chat_model_do_not_multiply_ours(server, no_backoff, script, requests):
    site = server(script)
    model = ChatOpenAI(model="stub", base_url=site.url, api_key="k", max_retries=2)
    await failure(model)
    assert (site.count, model.max_retries) == (requests, 2)  # the user's own object is left as it was


@pytest.mark.long
@pytest.mark.parametrize("script", ["hang", "drip"])
async def test_a_server_that_never_comes_to_an_end_meets_the_total_deadline(server, script):
    site = server(script)
    start = time.monotonic()
    error = await failure(site.judge(timeout=0.6, attempts=1))
    assert time.monotonic() - start < 2.6
    assert (error.status, site.count) == ("timeout", 1)
    assert "0.6 s" in str(error)


@pytest.mark.long
async def test_a_retry_comes_no_earlier_than_the_server_asked(server, no_backoff):
    site = server("429=0.5,429-date=2,ok")
    await ask(site.judge(), MESSAGES, FORM)
    first, second, third = (one["at"] for one in site.seen)
    assert second - first >= 0.5
    assert 0.9 <= third - second < 4  # a date has whole seconds


async def test_a_wait_above_two_minutes_is_obeyed(server, no_backoff, monkeypatch):
    site, slept = server("429=300,429-date=500,ok"), []
    judge, sleep = site.judge(), asyncio.sleep
    monkeypatch.setattr(limiter_of(resolve(judge)), "_clock", lambda: sum(slept))

    async def fake(seconds, *rest):
        slept.append(seconds)
        await sleep(0)

    monkeypatch.setattr("judgegraph.calls.call.asyncio.sleep", fake)
    await ask(judge, MESSAGES, FORM)
    assert [round(s, -1) for s in slept if s > 1] == [300, 500]


@pytest.mark.parametrize(
    ("script", "first", "second"),
    [
        ("ok", ("logprobs", 1), ("logprobs", 1)),
        ("null-logprobs", ("samples", 2), ("samples", 1)),
        ("no-logprobs", ("samples", 3), ("samples", 1)),
        ("few-logprobs", ("logprobs", 2), ("logprobs", 1)),
        ("one-choice", ("logprobs", 1), ("logprobs", 1)),
    ],
)
async def test_what_a_server_lacks_is_found_out_once(server, script, first, second):
    site = server(script)
    judge = site.judge()
    for (rung, requests), before in ((first, 0), (second, first[1])):
        found = await answer(judge)
        assert (found.status, found.reader, site.count - before) == ("ok", rung, requests)
        assert bool(found.notes) is (rung != "logprobs")


async def test_what_one_judge_lacks_says_nothing_of_another(server):
    poor, rich = server("null-logprobs"), server("ok")
    assert [(await answer(s.judge())).reader for s in (poor, rich, poor)] == ["samples", "logprobs", "samples"]


@pytest.mark.parametrize(("script", "found_out"), [("no-schema", 1), ("schema-500", 3), ("prose", 1)])
async def test_a_schema_that_is_refused_or_ignored_is_put_into_words(server, no_backoff, script, found_out):
    site = server(script)
    for requests in (found_out + 1, found_out + 2):
        assert (await ask(site.judge(), MESSAGES, FORM))["clarity"]["score"] == 4
        assert site.count == requests
    last = site.seen[-1]["body"]
    assert "response_format" not in last
    assert [m["role"] for m in last["messages"]] == ["user"]


async def test_an_ignored_schema_is_found_out_for_samples_too(server):
    got = await replies(server("prose").judge(), MESSAGES, FORM, n=3)
    assert [r.value["clarity"]["score"] for r in got] == [4, 4, 4]


@pytest.mark.parametrize(
    "script", ["no-schema", "no-logprobs", "few-logprobs", "null-logprobs", "no-temperature", "one-choice"]
)
@pytest.mark.sampled(4)
async def test_twenty_first_calls_at_once_all_come_through(server, script):
    site = server(script)
    judge = site.judge()
    found = await asyncio.gather(*(answer(judge) for _ in range(20)))
    assert {(a.status, a.reader) for a in found} == {
        ("ok", "samples" if "no-l" in script or "null" in script else "logprobs")
    }


@pytest.mark.parametrize(("script", "requests"), [("ok", 1), ("one-choice", 4), ("no-n", 5)])
async def test_samples_are_n_replies_whatever_the_server_makes_of_n(server, script, requests):
    site = server(script)
    judge = site.judge()
    token = context.set(run := CallContext())
    try:
        got = await replies(judge, MESSAGES, FORM, n=4)
        assert (len(got), site.count) == (4, requests)
        assert resolve(judge).support.n is (script == "ok")
        assert (run.requests, run.prompt_tokens) == (requests, 10 * (1 if script == "ok" else 4))
        assert run.completion_tokens == 20
        await replies(judge, MESSAGES, FORM, n=4)
        assert site.count == requests + (1 if script == "ok" else 4)
    finally:
        context.reset(token)


async def test_usage_of_a_reply_that_could_not_be_read_is_counted(server):
    token = context.set(run := CallContext())
    try:
        await failure(server("half").judge())
    finally:
        context.reset(token)
    assert (run.requests, run.replies, run.prompt_tokens) == (3, 3, 30)


async def test_usage_of_n_samples_is_counted_once(server):
    token = context.set(run := CallContext())
    try:
        await replies(server("ok").judge(), MESSAGES, FORM, n=8)
    finally:
        context.reset(token)
    assert (run.requests, run.replies, run.prompt_tokens, run.completion_tokens) == (1, 1, 10, 40)


@pytest.mark.parametrize(("given", "sent"), [(0, 0), (0.0, 0), (0.7, 0.7), (None, None)])
async def test_a_temperature_of_zero_is_sent_and_none_is_not(server, given, sent):
    site = server("ok")
    await ask(site.judge(temperature=given), MESSAGES, FORM)
    await ask(site.judge(), MESSAGES, FORM, temperature=given)
    assert site.sent("temperature") == [sent, sent]


async def test_an_agents_setting_goes_before_the_endpoints(server):
    site = server("ok")
    await ask(site.judge(temperature=0.2, seed=7), MESSAGES, FORM, temperature=1)
    assert (site.sent("temperature"), site.sent("seed")) == ([1], [7])


async def test_a_setting_that_is_not_taken_is_left_out_and_noted(server):
    site = server("no-temperature")
    found = await answer(site.judge())
    assert (found.reader, found.notes) == ("logprobs", ("the judge takes no temperature",))
    assert site.sent("temperature") == [0, None]


async def test_a_weighted_score_is_the_servers_probabilities(server):
    found = await answer(server("ok").judge())
    assert found.value == pytest.approx(4.2)
    assert found.distribution == pytest.approx({"3": 0.1, "4": 0.6, "5": 0.3})


async def test_tools_are_offered_and_called(server):
    tool = {
        "type": "function",
        "function": {"name": "rouge", "description": "d", "parameters": {"type": "object", "properties": {}}},
    }
    (reply,) = await replies(server("ok").judge(), MESSAGES, tools=[tool])
    assert [call["name"] for call in reply.tool_calls] == ["rouge"]


@pytest.mark.parametrize(
    ("messages", "roles"),
    [
        ([SystemMessage("You judge."), HumanMessage("Judge this.")], ["system", "user"]),
        ([("system", "You judge."), ("user", "Judge this.")], ["system", "user"]),
        ("Judge this.", ["user"]),
    ],
    ids=["LangChain messages", "pairs", "a text"],
)
async def test_messages_come_in_three_kinds(server, messages, roles):
    site = server("ok")
    assert await ask(site.judge(), messages) == "Final score: 4."
    assert [m["role"] for m in site.seen[0]["body"]["messages"]] == roles


async def test_a_pydantic_class_is_a_form(server):
    class Rating(BaseModel):
        reason: str
        score: int

    assert await ask(server("ok").judge(), MESSAGES, Rating) == Rating(reason="because", score=4)


async def test_requests_in_flight_stay_below_the_limit(server):
    site = server("slow=0.1")
    token = context.set(CallContext(width=2))
    try:
        await asyncio.gather(*(ask(site.judge(), MESSAGES, FORM) for _ in range(6)))
    finally:
        context.reset(token)
    times = sorted(one["at"] for one in site.seen)
    assert all(later - earlier > 0.08 for earlier, later in zip(times, times[2:], strict=False))


def test_one_endpoint_serves_one_event_loop_after_another(server):
    site = server("ok")
    for _ in range(3):
        assert asyncio.run(ask(site.judge(attempts=1), MESSAGES)) == "Final score: 4."


async def test_judges_are_not_streamed_where_a_graph_is(server):
    from langgraph.graph import END, START, MessagesState, StateGraph

    site = server("ok")

    async def judge(state: MessagesState):
        got = await replies(site.judge(), MESSAGES, FORM, n=2)
        assert len(got) == 2
        return {}

    graph = StateGraph(MessagesState)
    graph.add_node("judge", judge)
    graph.add_edge(START, "judge")
    graph.add_edge("judge", END)
    async for _ in graph.compile().astream({"messages": []}, stream_mode=["messages", "updates"]):
        pass
    assert site.sent("stream") in ([None], [False])


def told(error):
    """All that a traceback, a log or a report could print of an error."""
    seen = ["".join(traceback.format_exception(error)), repr(error), str(error)]
    while error := error.__cause__ or error.__context__:
        seen += [str(error), repr(error), repr(vars(error))]
    return "\n".join(seen)


@pytest.mark.parametrize("script", ["401", "500", "truncated", "hang", "400", "plain-200"])
@pytest.mark.sampled(6)
async def test_no_error_tells_a_key(server, no_backoff, script):
    plain = server(script).url
    secret = plain.replace("http://", "http://canary-user:canary-word@")
    headers = {"X-Team": "canary-header-value"}
    judges = [
        Endpoint(model="openai:stub", base_url=plain, timeout=0.5, attempts=2),
        Endpoint(model="openai:stub", base_url=secret, timeout=0.5, attempts=2),
        ChatOpenAI(model="stub", base_url=plain, api_key=KEY, default_headers=headers, max_retries=0),
    ]
    for judge in judges[: 2 if script == "hang" else 3]:
        assert "canary" not in told(await failure(judge))


@pytest.mark.parametrize("base_url", ["http://canary:canary@127.0.0.1:9/v1", "http://127.0.0.1:9/v1?key=canary"])
async def test_neither_an_endpoint_nor_its_judge_shows_a_key(base_url):
    from judgegraph.calls import name_of

    endpoint = Endpoint(model="openai:stub", base_url=base_url)
    for text in (repr(endpoint), str(endpoint), name_of(endpoint), repr(resolve(endpoint)), endpoint.address):
        assert "canary" not in text
    assert endpoint.address == "http://127.0.0.1:9/v1"


async def test_user_and_password_of_an_address_are_sent_as_basic(server):
    site = server("ok")
    await ask(Endpoint(model="openai:stub", base_url=site.url.replace("://", "://me:pass%40@")), MESSAGES)
    assert site.seen[0]["headers"]["authorization"] == "Basic bWU6cGFzc0A="


async def test_a_model_of_the_responses_api_reads_by_samples_not_by_lost_logprobs(server):
    site = server("ok")
    found = await answer(ChatOpenAI(model="stub", base_url=site.url, api_key="k", use_responses_api=True))
    assert (found.status, found.reader) == ("ok", "samples")
    assert "the judge gives no log-probabilities" in found.notes


def test_a_call_is_a_value():
    assert Call(("m",), settings={"seed": 1}) == Call(("m",), settings={"seed": 1})
    assert Call(("m",), repeat=1) != Call(("m",))


async def test_every_method_of_reading_works_on_the_shared_stub(stub_url):
    for reader in (Reader(), Reader("mean", samples=3), WEIGHTED):
        found = await answer(Endpoint(model="openai:stub", base_url=stub_url), reader)
        assert (found.status, found.reader) == (
            "ok",
            {"stated": "stated", "mean": "samples"}.get(reader.kind, "logprobs"),
        )


def test_a_form_that_was_told_in_words_is_counted_and_told(server, tmp_path, capsys):
    site = server("no-schema")
    graph = llm_score(site.judge(), criteria=[jg.Criterion(name="Clarity")])
    run = jg.evaluate(graph, [jg.Sample(id="s", output="The library opens at nine.")], out=tmp_path / "run")
    assert list(run.manifest["calls"]["in_words"].values()) == [1]
    said = "Replies to a form that was told in words, as the judge takes no JSON schema"
    print_run(run, run.summary())
    assert said in capsys.readouterr().out
    write_report(run, tmp_path / "page.html")
    assert said in (tmp_path / "page.html").read_text()
