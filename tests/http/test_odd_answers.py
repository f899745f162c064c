"""Answers that no server should give: counted as far as they make sense, tried again, or refused without a key."""

import asyncio
import gzip
import json
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

import judgegraph as jg
from judgegraph.calls import Endpoint, ask, replies
from judgegraph.calls.call import send
from judgegraph.calls.context import CallContext, context
from judgegraph.calls.ledger import Ledger
from judgegraph.calls.types import Call
from judgegraph.errors import AuthError, ReplyError
from judgegraph.graphs import llm_score
from judgegraph.models.judges import resolve
from judgegraph.types import Criterion, Sample

KEY = "canarysecret-" + "z" * 60
BOTH = pytest.mark.parametrize("transport", ["fast", "langchain"], indirect=True)


def completion(text="yes", finish="stop", usage=(10, 5)):
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    counts = dict(zip(("prompt_tokens", "completion_tokens", "total_tokens"), (*usage, 15), strict=True))
    return {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": counts}


@asynccontextmanager
async def answering(*answers, **settings):
    """An endpoint that gives these answers, the last one again and again; and the bodies that came there."""
    seen = []

    async def post(request):
        seen.append(await request.json())
        answer = answers[min(len(seen), len(answers)) - 1]
        if callable(answer):
            return answer(seen[-1])
        return web.json_response(answer) if isinstance(answer, dict) else answer

    app = web.Application()
    app.router.add_post("/v1/chat/completions", post)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield Endpoint(model="openai:m", base_url=url, **{"timeout": 10.0, "attempts": 2, **settings}), seen
    finally:
        await runner.cleanup()


@pytest.fixture
def in_a_run():
    run = CallContext(ledger=Ledger(run="r"))
    before = context.set(run)
    yield run
    context.reset(before)


@BOTH
@pytest.mark.parametrize("count", [2**63, -5, 10**13, 1.5])
async def test_a_count_of_tokens_that_makes_no_sense_is_none_told_and_no_call_hangs(in_a_run, transport, count):
    def usage_of(body):
        return web.json_response(completion(usage=(count, 5) if "bad" in str(body["messages"]) else (10, 5)))

    async with answering(usage_of) as (endpoint, _):
        calls = (send(resolve(endpoint), Call((message(text),))) for text in ("bad", "good", "better"))
        found = await asyncio.wait_for(asyncio.gather(*calls), 10)
    assert [choices[0].text for choices in found] == ["yes"] * 3
    calls, prompt, completed, _, estimated, *_ = in_a_run.ledger.spent()
    assert (calls, estimated) == (3, 1)
    assert 20 < prompt < 1000
    assert 10 < completed < 10_000


def message(text):
    from langchain_core.messages import HumanMessage

    return HumanMessage(text)


@BOTH
@pytest.mark.parametrize("odd", [{"error": {"message": "overloaded", "code": 502}}, completion("half", "error")])
async def test_a_success_that_tells_of_an_error_is_tried_again_and_never_kept(in_a_run, no_backoff, transport, odd):
    async with answering(odd, completion()) as (endpoint, seen):
        assert await ask(endpoint, "u") == "yes"
    assert len(seen) == 2
    async with answering(odd) as (endpoint, seen):
        with pytest.raises(ReplyError) as caught:
            await ask(endpoint, "u")
    assert (caught.value.status, len(seen)) == ("provider_error", 2)
    assert in_a_run.ledger.count() == 1


@BOTH
@pytest.mark.parametrize("status", [200, 400])
async def test_no_half_of_a_key_stands_in_a_message(monkeypatch, transport, status):
    monkeypatch.setenv("MY_KEY", KEY)
    places = iter((*range(60, 420, 11), *range(850, 1100, 50), *range(3900, 4100, 40)))

    def answer(_):
        before = next(places)
        said = {"x": " p" * before, "key": KEY} if status == 200 else {"error": {"message": " " * before + KEY}}
        if before % 2:
            return web.Response(text=" " * before + KEY, status=status)
        return web.json_response(said, status=status)

    async with answering(answer, api_key_env="MY_KEY", attempts=1) as (endpoint, seen):
        for _ in range(40):
            with pytest.raises(ReplyError) as caught:
                await ask(endpoint, "u")
            assert "canary" not in str(caught.value)
    assert len(seen) == 40


def whole(body):
    return web.Response(body=body)


def packed(body):
    return web.Response(body=gzip.compress(body), headers={"Content-Encoding": "gzip"})


def in_pieces(body):
    answer = web.Response(body=body)
    answer.enable_chunked_encoding()
    return answer


@pytest.mark.parametrize("send_it", [whole, packed, in_pieces])
async def test_an_answer_that_is_too_long_is_refused_once_and_one_that_is_not_is_read(monkeypatch, send_it):
    monkeypatch.setattr("judgegraph.models.http.MOST", 2**20)
    for text, good in (("y" * 1000, True), ("y" * 2**21, False)):
        body = json.dumps(completion(text)).encode()
        async with answering(lambda _, body=body: send_it(body)) as (endpoint, seen):
            if good:
                assert await ask(endpoint, "u") == text
                continue
            with pytest.raises(ReplyError, match="longer than 1 MiB") as caught:
                await ask(endpoint, "u")
        assert (caught.value.status, len(seen)) == ("provider_error", 1)


async def test_a_refused_call_that_many_wait_for_is_sent_once(in_a_run):
    async with answering(lambda _: web.json_response({"error": {"message": "too long"}}, status=400)) as (
        endpoint,
        seen,
    ):
        judge = resolve(endpoint)
        calls = (send(judge, Call((message("plan"),))) for _ in range(200))
        found = await asyncio.gather(*calls, return_exceptions=True)
    assert {str(error).partition(":")[0] for error in found} == {"openai"}
    assert len(seen) == 1


async def test_a_call_that_may_pass_is_tried_by_one_more_of_those_who_wait(in_a_run, no_backoff):
    async with answering(lambda _: web.Response(status=500)) as (endpoint, seen):
        judge = resolve(endpoint)
        found = await asyncio.gather(
            *(send(judge, Call((message("plan"),))) for _ in range(30)), return_exceptions=True
        )
    assert {error.status for error in found} == {"provider_error"}
    assert len(seen) == 2 * 2


def thinking(name, thought, text="Score: 2"):
    """A completion whose message holds a thought beside its text, by the name that a server gives it."""
    made = completion(text)
    made["choices"][0]["message"] |= {name: thought}
    return made


@BOTH
@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_thoughts_that_a_server_gives_beside_the_text_are_kept_in_the_ledger_and_never_read(
    name, transport, in_a_run
):
    async with answering(thinking(name, "Score: 5, I think."), thinking(name, '{"score": 5}', "")) as (judge, _):
        (reply,) = await replies(judge, "Rate it.")
        assert reply.text == "Score: 2"
        if transport == "fast":  # langchain-openai drops it on its way
            assert reply.reasoning == "Score: 5, I think."
        with pytest.raises(ReplyError) as caught:
            await ask(judge, "Rate it again.")
    assert caught.value.status == "unreadable"


def test_a_trace_shows_what_was_thought_beside_what_was_answered(tmp_path):
    async def run():
        first = '<think>Maybe {"score": 5}</think>'
        answer = thinking("reasoning_content", "It is short.", f'{first}{{"score": 2, "reason": "short"}}')
        async with answering(answer) as (judge, _):
            graph = llm_score(judge=judge, criteria=[Criterion(name="Clarity", definition="It is clear.")])
            return await jg.aevaluate(graph, [Sample(id="s", output="a text of some words")], out=tmp_path / "run")

    found = asyncio.run(run())
    trace = found.trace("s")
    (step,) = [one for one in trace.root.walk() if one.kind == "model"]
    assert [score.value for item in found.items for score in item.scores] == [2]
    assert step.reasoning == ('It is short.\nMaybe {"score": 5}',)
    assert step.replies == ('{"score": 2, "reason": "short"}',)
    assert "thought: It is short." in str(trace)
    assert "It is short." not in str(found.trace("s", redact=True))
    assert trace.to_dict()["root"] != found.trace("s", redact=True).to_dict()["root"]


async def test_an_empty_reply_is_called_so_and_asked_again_in_the_words_of_ever():
    async with answering(completion(text=" ")) as (judge, seen):
        graph = llm_score(judge, criteria=[Criterion(name="Clarity")])
        (item,) = (await jg.aevaluate(graph, [Sample(id="a", output="text")])).items
    assert [(score.status, score.reason) for score in item.scores] == [("unreadable", "the reply is empty")]
    assert "the reply is no JSON: Expecting value" in seen[1]["messages"][-1]["content"]  # as ledgers hold it


PAGE = "<!DOCTYPE html><html><body>Please log in</body></html>"


@BOTH
@pytest.mark.parametrize("answer", [PAGE, {**completion(), "choices": []}], ids=["HTML", "no choices"])
async def test_an_address_where_no_model_answers_ends_a_run_early(transport, answer, tmp_path):
    def post(body):
        return (
            web.json_response(answer)
            if isinstance(answer, dict)
            else web.Response(text=answer, content_type="text/html")
        )

    async with answering(post, attempts=5) as (endpoint, seen):
        samples = [Sample(id=f"s{at}", output=f"a text of several words, number {at}") for at in range(30)]
        graph = llm_score(endpoint, criteria=[Criterion(name="Clarity")])
        with pytest.raises(AuthError) as told:
            await jg.aevaluate(graph, samples, out=tmp_path / "run", concurrency=4)
    assert len(seen) <= 2 * 8, "each call once more at most, and not all of them"
    assert "check the address, --base-url (base_url): judgegraph doctor" in str(told.value)
    assert endpoint.base_url.removeprefix("http://").removesuffix("/v1") in str(told.value)
    assert ("HTML, as of a login page or a proxy" in str(told.value)) == (answer is PAGE)


@BOTH
async def test_one_page_among_good_answers_is_asked_again_once_and_ends_no_run(transport, tmp_path):
    def post(body):
        page = "number 3" in str(body["messages"])
        return web.Response(text=PAGE, content_type="text/html") if page else web.json_response(completion("4"))

    async with answering(post, attempts=5) as (endpoint, seen):
        samples = [Sample(id=f"s{at}", output=f"a text of several words, number {at}") for at in range(6)]
        graph = llm_score(endpoint, criteria=[Criterion(name="Clarity")])
        run = await jg.aevaluate(graph, samples, out=tmp_path / "run", concurrency=1)
    lost = [item.id for item in run.items if any(score.status == "provider_error" for score in item.scores)]
    assert lost == ["s3"]
    assert sum("number 3" in str(body["messages"]) for body in seen) == 2
