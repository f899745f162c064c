"""The fast path says what langchain-openai says, hears what it hears, and leaves nothing open and nothing told."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.rate_limiters import InMemoryRateLimiter
from langchain_openai import ChatOpenAI
from openai import DefaultAsyncHttpxClient
from openai.resources.chat.completions import AsyncCompletions
from pydantic import BaseModel, ValidationError
from yarl import URL

from judgegraph.calls import Endpoint, Form, ask, replies
from judgegraph.calls.send import choices_of, classify, direct_call_of
from judgegraph.errors import AuthError, ConfigError, ExtraError
from judgegraph.models import http as sessions
from judgegraph.models.http import FastOpenAI, NoAnswer, NoCompletion, ServerError, server_error, usage_in
from judgegraph.models.judges import is_fast, resolve
from judgegraph.testing import scripted

KEY = "canary-key-0123456789"
TOOL = {"type": "function", "function": {"name": "rouge", "description": "d", "parameters": {"type": "object"}}}
FORM = {"type": "json_schema", "json_schema": {"name": "f", "schema": {"type": "object"}, "strict": True}}
FORM_OF = Form("f", {"type": "object", "properties": {}}, lambda _: {"reason": "yes"})
CALLS = [{"name": "rouge", "args": {"a": "ü"}, "id": "c1"}]


def completion(message: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "yes", **(message or {})},
        "finish_reason": "stop",
    }
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    return {
        "id": "x",
        "model": "m",
        "object": "chat.completion",
        "created": 0,
        "choices": [choice],
        "usage": usage,
    } | more


class Site:
    """A server in this process that answers what it is told, and keeps what came."""

    def __init__(self) -> None:
        self.answer: Any = completion()
        self.status, self.headers = 200, {}
        self.seen: list[tuple[str, dict[str, str], Any]] = []
        self.url = ""

    def model(self, **settings: Any) -> FastOpenAI:
        return FastOpenAI(**{"model": "m", "base_url": f"{self.url}/v1", "api_key": KEY, **settings})


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        site: Site = self.server.site  # type: ignore[attr-defined]
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        site.seen.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        data = site.answer if isinstance(site.answer, bytes) else json.dumps(site.answer).encode()
        self.send_response(site.status)
        for name, value in {"content-length": str(len(data)), **site.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serving() -> Iterator[Site]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.site = site = Site()  # type: ignore[attr-defined]
    site.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def _site() -> Iterator[Site]:
    with serving() as site:
        yield site


@pytest.fixture
def site(_site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.delenv("JUDGEGRAPH_TRANSPORT", raising=False)
    _site.answer, _site.status, _site.headers, _site.seen = completion(), 200, {}, []
    return _site


@pytest.mark.parametrize(
    ("messages", "settings"),
    [
        ([HumanMessage("a \u00fc \u2028")], {}),
        ([SystemMessage("s"), HumanMessage("u", name="me")], {"temperature": 0.0, "top_p": 0.5, "seed": 3}),
        ([HumanMessage("u")], {"max_tokens": 5, "n": 3, "logprobs": True, "top_logprobs": 20}),
        ([HumanMessage("u")], {"tools": [TOOL], "stop": ["x"]}),
        ([HumanMessage("u")], {"extra_body": {"response_format": FORM, "guided": 1}}),
        ([HumanMessage("u"), AIMessage("", tool_calls=CALLS), ToolMessage("3", tool_call_id="c1")], {"tools": [TOOL]}),
        ([HumanMessage("u"), AIMessage("said", tool_calls=CALLS), ToolMessage("3", tool_call_id="c1", name="t")], {}),
        ([HumanMessage("u"), AIMessage("wrong"), HumanMessage("again")], {}),
        ([HumanMessage([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])], {}),
    ],
)
@pytest.mark.parametrize("name", ["m", "o3"])
@pytest.mark.sampled(6)
async def test_the_body_is_the_one_that_langchain_openai_sends(site, name, messages, settings):
    theirs = ChatOpenAI(
        model=name, base_url=f"{site.url}/v1", api_key=KEY, max_retries=0,
        http_async_client=(client := DefaultAsyncHttpxClient()),
    )  # fmt: skip
    await theirs.agenerate([messages], **settings)
    await client.aclose()
    await site.model(model=name).agenerate([messages], **settings)
    (path, headers, body), (our_path, our_headers, ours) = site.seen
    assert ours == body
    assert our_path == path == "/v1/chat/completions"
    assert our_headers["authorization"] == headers["authorization"] == f"Bearer {KEY}"


async def test_a_form_is_sent_as_a_keyword_too(site):
    await site.model().agenerate([[HumanMessage("u")]], response_format=FORM)
    assert site.seen[0][2]["response_format"] == FORM


async def test_its_own_settings_are_sent_and_a_calls_come_first(site):
    model = site.model(temperature=0.3, max_tokens=9, seed=1)
    await model.agenerate([[HumanMessage("u")]], temperature=0, max_tokens=4)
    assert {k: site.seen[0][2].get(k) for k in ("temperature", "max_completion_tokens", "seed", "max_tokens")} == {
        "temperature": 0, "max_completion_tokens": 4, "seed": 1, "max_tokens": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("address", "path", "login"),
    [
        ("{}/v1/", "/v1/chat/completions", f"Bearer {KEY}"),
        ("{}/v1?key=a%20b&v=2", "/v1/chat/completions?key=a%20b&v=2", f"Bearer {KEY}"),
        ("{}/a%2Fb/v1", "/a%2Fb/v1/chat/completions", f"Bearer {KEY}"),
        ("{}", "/chat/completions", f"Bearer {KEY}"),
    ],
)
async def test_an_address_keeps_its_path_and_query(site, address, path, login):
    await site.model(base_url=address.format(site.url)).ainvoke("u")
    assert (site.seen[0][0], site.seen[0][1]["authorization"]) == (path, login)


async def test_a_login_in_an_address_is_sent_as_basic_and_headers_come_last(site):
    model = site.model(base_url=f"{site.url}/v1".replace("://", "://me:p%40ss%C3%BC@"), headers={"X-Team": "blue"})
    await model.ainvoke("u")
    assert site.seen[0][1]["authorization"] == "Basic bWU6cEBzc8O8"
    assert site.seen[0][1]["x-team"] == "blue"
    assert "me:" not in site.seen[0][1]["host"]


@pytest.mark.parametrize("address", ["", "example.org/v1", "ftp://h/v1", "http://", "http://[::1", "http://h:x/v1"])
async def test_what_is_no_address_is_refused_in_one_line(address):
    with pytest.raises(ValidationError, match="expected an address"):
        FastOpenAI(model="m", base_url=address)
    if address:
        with pytest.raises(ConfigError, match=r"judge openai:m: .*expected an address") as caught:
            resolve(Endpoint(model="openai:m", base_url=address, transport="fast"))
        assert "\n" not in str(caught.value)


async def test_it_is_a_chat_model_like_any_other(site):
    site.answer = completion({"content": "4"}, choices=[
        {"index": 0, "message": {"role": "assistant", "content": "4"}, "finish_reason": "length",
         "logprobs": {"content": [{"token": "4", "logprob": -0.1, "top_logprobs": []}]}},
    ])  # fmt: skip
    model = site.model()
    assert isinstance(model, BaseChatModel)
    message = await model.ainvoke("how many?")
    assert message.content == "4"
    assert {k: message.usage_metadata[k] for k in ("input_tokens", "output_tokens", "total_tokens")} == {
        "input_tokens": 7, "output_tokens": 2, "total_tokens": 9,
    }  # fmt: skip
    about = message.response_metadata
    assert (about["finish_reason"], about["model_name"]) == ("length", "m")
    assert about["logprobs"]["content"][0]["token"] == "4"
    assert "".join([part.content async for part in model.astream("u")]) == "4"


def test_it_answers_without_a_loop(site):
    assert site.model().invoke("u").content == "yes"


async def test_it_answers_synchronously_where_a_loop_runs(site):
    assert site.model().invoke("u").content == "yes"


async def test_callbacks_hear_of_it(site):
    heard = []

    class Handler(AsyncCallbackHandler):
        async def on_chat_model_start(self, serialized, messages, **_):
            heard.append(("start", str(serialized)))

        async def on_llm_end(self, response, **_):
            heard.append(("end", response.llm_output["token_usage"]["prompt_tokens"]))

    await site.model().ainvoke("u", {"callbacks": [Handler()]})
    assert [what for what, _ in heard] == ["start", "end"]
    assert heard[1][1] == 7
    assert KEY not in heard[0][1]


@pytest.mark.parametrize(
    ("choice", "sent"),
    [("rouge", {"type": "function", "function": {"name": "rouge"}}), ("any", "required"), (True, "required"),
     ("auto", "auto"), (None, None)],
)  # fmt: skip
async def test_tools_are_bound_and_called(site, choice, sent):
    called = {"id": "c1", "type": "function", "function": {"name": "rouge", "arguments": '{"a": 1}'}}
    site.answer = completion({"content": None, "tool_calls": [called]})
    message = await site.model().bind_tools([TOOL], tool_choice=choice).ainvoke("u")
    assert [(c["name"], c["args"], c["id"]) for c in message.tool_calls] == [("rouge", {"a": 1}, "c1")]
    assert (site.seen[0][2]["tools"], site.seen[0][2].get("tool_choice")) == ([TOOL], sent)


async def test_structured_output_works_by_tools(site):
    class Rating(BaseModel):
        """A rating."""

        score: int

    called = {"id": "c1", "type": "function", "function": {"name": "Rating", "arguments": '{"score": 4}'}}
    site.answer = completion({"content": None, "tool_calls": [called]})
    assert await site.model().with_structured_output(Rating).ainvoke("u") == Rating(score=4)


@pytest.mark.parametrize("call", [
    {"id": "c", "type": "function", "function": {"name": "r", "arguments": "{half"}}, {"id": "c"}, {}, "a text", None,
])  # fmt: skip
async def test_a_broken_tool_call_is_an_invalid_one(site, call):
    site.answer = completion({"content": None, "tool_calls": [call]})
    message = await site.model().ainvoke("u")
    assert (message.tool_calls, len(message.invalid_tool_calls)) == ([], 1)
    assert choices_of(await site.model().complete([HumanMessage("u")]))[0].tool_calls == ()


@pytest.mark.parametrize(
    ("content", "text"), [(None, ""), (["a", {"type": "text", "text": "b"}, {"type": "image"}], "ab"), (5, "")]
)
async def test_content_is_a_text_whatever_its_shape(site, content, text):
    site.answer = completion({"content": content})
    assert (await site.model().ainvoke("u")).content == text


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        (None, None), ("many", None), ({}, (0, 0, 0)), ({"prompt_tokens": "7"}, (0, 0, 0)),
        ({"prompt_tokens": 1, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1}}, (1, 2, 3)),
        ({"prompt_tokens": 1, "completion_tokens": 2, "prompt_tokens_details": "none"}, (1, 2, 3)),
    ],
)  # fmt: skip
async def test_usage_is_counted_where_it_is_told(site, usage, counts):
    found = usage_in(usage)
    assert (found and (found["input_tokens"], found["output_tokens"], found["total_tokens"])) == counts
    site.answer = completion(usage=usage)
    model = site.model()
    assert (await model.ainvoke("u")).content == "yes"
    assert await ask(model, "u") == "yes"


@pytest.mark.parametrize(
    ("status", "headers", "answer", "said", "retry", "wait"),
    [
        (400, {}, {"error": {"message": "logprobs: no", "code": "bad"}}, "logprobs", False, None),
        (400, {}, [{"error": {"message": "wrapped"}}], "wrapped", False, None),
        (422, {}, {"detail": [{"loc": ["body"], "msg": "field required"}]}, "field required", False, None),
        (404, {}, {"detail": "no such model"}, "no such model", False, None),
        (500, {}, {"error": "out of memory"}, "out of memory", True, None),
        (503, {"retry-after": "2"}, {"message": "loading"}, "loading", True, 2.0),
        (429, {"retry-after-ms": "1500"}, b"slow down", "slow down", True, 1.5),
        (502, {}, b"<html>bad gateway</html>", "bad gateway", True, None),
        (500, {}, b"\xff\xfe", "Error code: 500", True, None),
        (500, {}, b"", "no message", True, None),
    ],
)  # fmt: skip
async def test_an_error_says_its_status_and_what_the_server_said(site, status, headers, answer, said, retry, wait):
    site.status, site.headers, site.answer = status, headers, answer
    with pytest.raises(ServerError) as caught:
        await site.model().ainvoke("u")
    fault = classify(caught.value)
    assert caught.value.status_code == status
    assert said in str(caught.value)
    assert (fault.retry, fault.wait, said in fault.message) == (retry, wait, True)


async def test_an_error_names_the_parameter_that_it_is_about(site):
    site.status, site.answer = 400, {"error": {"message": "bad", "code": "c1", "param": "n"}}
    with pytest.raises(ServerError) as caught:
        await site.model().ainvoke("u")
    assert (caught.value.code, caught.value.param) == ("c1", "n")


@pytest.mark.parametrize(
    "answer",
    [b"", b"plain", b"[1]", b'"text"', {}, {"choices": None}, {"choices": "a"}, {"choices": [None]},
     {"choices": [{"message": None}]}, {"choices": [{}]}, {"error": {"message": "overloaded"}}, b"[" * 100_000],
    ids=lambda a: repr(a)[:30],
)  # fmt: skip
async def test_a_success_of_another_shape_is_no_completion_and_is_tried_again(site, answer):
    site.answer = answer
    with pytest.raises(NoCompletion) as caught:
        await site.model().ainvoke("u")
    fault = classify(caught.value)
    assert (fault.status, fault.retry) == ("provider_error", True)
    assert "no chat completion" in fault.message


async def test_no_choices_are_a_completion_without_any(site):
    site.answer = completion(choices=[])
    assert (await site.model().complete([HumanMessage("u")]))["choices"] == []


async def test_numbers_and_texts_that_are_no_json_do_not_lose_the_reply(site):
    text = json.dumps(completion({"content": "lone \ud83d here"})).replace('"created": 0', '"created": NaN')
    site.answer = text.encode()
    assert (await ask(site.model(), "u")) == "lone ? here"


@pytest.mark.parametrize("faster", [True, False], ids=["orjson", "json"])
async def test_a_reply_is_read_alike_with_orjson_and_without(site, monkeypatch, faster):
    if faster:
        pytest.importorskip("orjson")
    else:
        monkeypatch.setattr("judgegraph.models.http.orjson", None)
    site.answer = json.dumps(completion({"content": "ü \ud83d \u2028"}, extra=[1e400, 2**70])).encode()
    assert await ask(site.model(), "ask \ud83d ü", seed=2**70) == "ü ? \u2028"
    assert site.seen[0][2]["messages"][0]["content"] == "ask \ud83d ü"
    assert site.seen[0][2]["seed"] == 2**70


async def test_a_server_that_is_not_there_is_a_connection_error():
    with pytest.raises(NoAnswer) as caught:
        await FastOpenAI(model="m", base_url="http://127.0.0.1:9/v1", api_key=KEY).ainvoke("u")
    fault = classify(caught.value)
    assert (fault.status, fault.retry) == ("provider_error", True)


async def test_its_time_limit_is_total():
    async def drip(reader, writer):
        try:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
            for _ in range(100):
                writer.write(b"x")
                await asyncio.sleep(0.05)
        finally:
            writer.close()

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    start = asyncio.get_running_loop().time()
    with pytest.raises(TimeoutError):
        await FastOpenAI(model="m", base_url=f"http://127.0.0.1:{port}", timeout=0.3).ainvoke("u")
    assert asyncio.get_running_loop().time() - start < 1.5
    server.close()


async def test_neither_a_picture_of_it_nor_an_error_shows_a_key(site):
    word = "canary-word-77"
    model = site.model(base_url=f"{site.url}/v1?token=canary-query".replace("://", f"://me:{word}@"),
                       headers={"X-Team": "canary-header"})  # fmt: skip
    site.status, site.answer = 401, {"error": {"message": f"bad key {KEY} {word} canary-query canary-header"}}
    with pytest.raises(ServerError) as caught:
        await model.ainvoke("u")
    seen: list[str] = [repr(model), str(model), str(model._identifying_params)]
    error: BaseException | None = caught.value
    while error is not None:
        seen += [str(error), repr(error), repr(vars(error))]
        error = error.__cause__ or error.__context__
    assert "canary" not in "\n".join(seen)
    with pytest.raises(AuthError) as refused:
        await ask(model, "u")
    assert "canary" not in str(refused.value)


def test_a_long_message_of_a_server_is_cut():
    assert len(str(server_error(500, {}, b"x" * 100_000, ()))) < 1200


async def test_the_way_through_a_proxy_of_the_environment(site, monkeypatch):
    monkeypatch.setenv("http_proxy", site.url.replace("://", "://who:canary-pw@"))
    model = site.model(base_url="http://judge.invalid/v1")
    assert (await model.ainvoke("u")).content == "yes"
    path, headers, _ = site.seen[0]
    assert path == "http://judge.invalid/v1/chat/completions"
    assert headers["proxy-authorization"].startswith("Basic ")
    assert headers["proxy-authorization"].removeprefix("Basic ") in model._secrets()
    monkeypatch.setenv("no_proxy", "judge.invalid")
    with pytest.raises(NoAnswer):
        await site.model(base_url="http://judge.invalid/v1").ainvoke("u")


def test_a_proxy_that_the_fast_path_cannot_speak_to_is_named(site, monkeypatch):
    monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:1")
    with pytest.raises(ConfigError, match=r"socks5.*langchain"):
        sessions.route_to(URL("http://h/v1"))


@pytest.mark.parametrize(
    ("setting", "variable", "installed", "fast"),
    [
        ("auto", "", True, True), ("auto", "", False, False), ("auto", "langchain", True, False),
        ("langchain", "fast", True, False), ("fast", "langchain", True, True), ("fast", "", False, ExtraError),
        ("auto", "fast", False, ExtraError), ("auto", "slow", True, ConfigError),
    ],
)  # fmt: skip
def test_a_transport_is_chosen_by_setting_environment_and_what_is_installed(
    monkeypatch, setting, variable, installed, fast
):
    monkeypatch.setenv("JUDGEGRAPH_TRANSPORT", variable)
    monkeypatch.setattr("judgegraph.models.judges.find_spec", lambda _: object() if installed else None)
    endpoint = Endpoint(model="openai:m", transport=setting)
    if isinstance(fast, bool):
        assert is_fast(endpoint) is fast
    else:
        with pytest.raises(fast, match="fast"):
            is_fast(endpoint)


def test_an_unknown_transport_is_refused():
    with pytest.raises(ConfigError, match="transport: expected"):
        Endpoint(model="openai:m", transport="pigeon")


async def test_a_judge_is_asked_by_the_fast_path_or_by_langchain_openai(site, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    judges = [Endpoint(model="openai:m", base_url=f"{site.url}/v1", transport=t) for t in ("auto", "langchain")]
    assert [type(resolve(judge).model).__name__ for judge in judges] == ["FastOpenAI", "ChatOpenAI"]
    assert [await ask(judge, "u") for judge in judges] == ["yes", "yes"]
    assert site.seen[0][2] == site.seen[1][2]


async def test_the_organisation_of_the_environment_is_told(site, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    await ask(Endpoint(model="openai:m", base_url=site.url, transport="fast"), "u")
    _, headers, _ = site.seen[0]
    assert (headers["openai-organization"], headers["openai-project"]) == ("org-1", "proj-1")


async def test_the_short_way_is_taken_only_where_nobody_listens(site):
    model = site.model()
    assert direct_call_of(resolve(model), None, {}) is not None
    assert direct_call_of(resolve(model), [AsyncCallbackHandler()], {}) is None
    for other in (site.model(callbacks=[AsyncCallbackHandler()]), site.model(rate_limiter=InMemoryRateLimiter())):
        assert direct_call_of(resolve(other), None, {}) is None
    assert direct_call_of(resolve(scripted("a")), None, {}) is None


def theirs(site: Site, **settings: Any) -> ChatOpenAI:
    return ChatOpenAI(**{"model": "m", "base_url": f"{site.url}/v1", "api_key": KEY, **settings})


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"temperature": 0.5, "max_tokens": 7, "seed": 1, "model": "o3"},
        {"extra_body": {"guided": 1}, "model_kwargs": {"user": "me"}, "reasoning_effort": "low"},
        {"default_headers": {"X-Team": "blue", "authorization": "Bearer mine"}, "organization": "org-9"},
    ],
)
async def test_an_ordinary_chatopenai_is_asked_by_the_short_way_with_its_own_request(site, monkeypatch, settings):
    names = ("authorization", "x-team", "openai-organization")
    site.answer = completion({"content": "{}"})
    for transport, short in (("langchain", False), ("auto", True)):
        monkeypatch.setenv("JUDGEGRAPH_TRANSPORT", transport)
        model = theirs(site, http_async_client=None if short else (client := DefaultAsyncHttpxClient()), **settings)
        assert (direct_call_of(resolve(model), None, {}) is not None) is short
        assert await ask(model, [SystemMessage("s"), HumanMessage("u")], FORM_OF, temperature=0.1) == {"reason": "yes"}
    await client.aclose()
    (_, first, body), (_, second, ours) = site.seen
    assert ours == body
    assert [second.get(name) for name in names] == [first.get(name) for name in names]


async def test_a_query_of_its_own_is_kept(site):
    assert await ask(theirs(site, default_query={"v": "2"}), "u") == "yes"
    assert site.seen[0][0] == "/v1/chat/completions?v=2"


async def test_a_chatopenai_with_a_way_of_its_own_keeps_it(site, monkeypatch):
    client = DefaultAsyncHttpxClient()
    others = [
        theirs(site, http_async_client=client), theirs(site, timeout=3), theirs(site, use_responses_api=True),
        theirs(site, model_kwargs={"extra_headers": {"a": "b"}}), theirs(site, callbacks=[AsyncCallbackHandler()]),
    ]  # fmt: skip
    assert [direct_call_of(resolve(model), None, {}) for model in others] == [None] * len(others)
    await client.aclose()

    class Mine(ChatOpenAI):
        pass

    assert direct_call_of(resolve(Mine(model="m", base_url=site.url, api_key=KEY)), None, {}) is None
    create = AsyncCompletions.create

    class Wrapped:
        def __get__(self, *of):
            return create.__get__(*of)

    monkeypatch.setattr(AsyncCompletions, "create", Wrapped())  # as instrumentation does
    assert direct_call_of(resolve(theirs(site)), None, {}) is None


async def test_both_ways_read_a_reply_alike(site):
    called = {"id": "c1", "type": "function", "function": {"name": "rouge", "arguments": '{"a": 1}'}}
    site.answer = completion({"content": None, "tool_calls": [called]})

    async def asked(**config: Any) -> Any:
        from langchain_core.runnables import RunnableLambda

        async def inside(_: Any) -> Any:
            return (await replies(site.model(), "u", tools=[TOOL]))[0]

        return await RunnableLambda(inside).ainvoke("x", config)

    short, long = await asked(), await asked(callbacks=[AsyncCallbackHandler()])
    assert (short.text, short.tool_calls[0]["args"]) == (long.text, long.tool_calls[0]["args"]) == ("", {"a": 1})
    assert short.message.tool_calls[0]["id"] == long.message.tool_calls[0]["id"]


def test_a_session_closes_with_its_loop(site):
    held = []

    async def go():
        await site.model().ainvoke("u")
        held.append(await sessions.session())
        assert await sessions.session() is held[0]

    asyncio.run(go())
    assert held[0].closed
    assert all(not loop.is_closed() for loop in sessions._open)


def test_a_session_of_a_loop_that_was_just_closed_goes_with_the_next_one():
    loop = asyncio.new_event_loop()
    left = loop.run_until_complete(sessions.session())
    loop.close()
    assert not left.closed
    asyncio.run(sessions.session())
    assert left.closed


RUN = """
import judgegraph as jg
from judgegraph.graphs import llm_score
judge = jg.Endpoint(model="openai:m", base_url="{url}/v1", transport="fast")
criterion = jg.Criterion(name="Clarity")
run = jg.evaluate(llm_score(judge, criteria=[criterion], reply="text"), [jg.Sample(id="a", output="b")])
print([(s.value, s.status) for item in run.items for s in item.scores])
"""


@pytest.mark.long
def test_a_process_that_evaluated_ends_without_a_word(site):
    site.answer = completion({"content": "4"})
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN.format(url=site.url)],
        capture_output=True, text=True, timeout=60, cwd=Path(__file__).parents[2],
        env={**os.environ, "OPENAI_API_KEY": KEY},
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("[(4.0, 'ok')]\n", "")
