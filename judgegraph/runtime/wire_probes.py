"""How an endpoint answers what no run sends on purpose: a bad request and a wrong key. Our door would hide it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from judgegraph.models.endpoint import Endpoint
from judgegraph.models.resolve import without_login
from judgegraph.runtime.probe import Bench, Probe, unmeasured

PROVIDER = "https://api.openai.com/v1"
WRONG = "judgegraph-doctor-wrong-key"
REFUSED = (401, 403)


@dataclass(frozen=True)
class Answer:
    """An HTTP status with what was said: JSON where it is any, else text."""

    code: int
    data: Any


async def errors(bench: Bench) -> Probe:
    """A parameter of a wrong type."""
    answer = await _post(bench, {"temperature": "hot"})
    if isinstance(answer, str):
        return unmeasured("errors", answer)
    if answer.code == 429:
        return unmeasured("errors", "429")
    said = f"a wrong parameter is answered {answer.code}"
    if answer.code < 300:
        return Probe("errors", False, said, "a setting that the endpoint does not know is ignored without a word")
    if answer.code >= 500:
        means = f"a request that can never succeed is sent {bench.judge.endpoint.attempts} times before it fails"
        return Probe("errors", False, said, means)
    where = _place(answer.data)
    if where == "error.message":
        return Probe("errors", True, f"{said}, with error.message")
    return Probe("errors", False, f"{said}, {where}", "why a request failed is told in the endpoint's own shape")


def _place(data: Any) -> str:
    """Where the reason of an error stands."""
    if not isinstance(data, Mapping):
        return "as plain text" if isinstance(data, str) else "in another shape"
    error = data.get("error")
    if isinstance(error, Mapping) and isinstance(error.get("message"), str):
        return "error.message"
    return next((f"under `{name}`" for name in ("detail", "error", "message") if name in data), "in another shape")


async def authentication(bench: Bench) -> Probe:
    """A wrong key, and once more where it is refused."""
    name = "authentication"
    first = await _post(bench, {}, key=WRONG)
    if isinstance(first, str):
        return unmeasured(name, first)
    if first.code < 300:
        return Probe(name, False, "accepts any key", "a wrong or missing key is not noticed, nor who else asks")
    if first.code not in REFUSED:
        means = "a wrong key is tried again and again" if first.code == 429 else "a wrong key fails call by call"
        return Probe(name, False, f"a wrong key is answered {first.code}", f"{means}, where it should end the run")
    again = await _post(bench, {}, key=WRONG)
    if isinstance(again, Answer) and again.code == 429:
        means = "after one wrong key calls wait for a limit that will not go away: look for a 401 before it"
        return Probe(name, False, f"a wrong key is answered {first.code}, then 429", means)
    return Probe(name, True, f"a wrong key is refused with {first.code}")


async def _post(bench: Bench, more: Mapping[str, Any], key: str | None = None) -> Answer | str:
    """A chat completion as raw HTTP, with another key where one is given; or why there is no answer."""
    from openai import DefaultAsyncHttpxClient

    endpoint = bench.judge.endpoint
    provider, _, model = endpoint.model.partition(":")
    if bench.judge.given or provider != "openai":
        return "no address is known"
    limit: dict[str, Any] = {bench.found.max_tokens or "max_completion_tokens": 5}
    body = {"model": model, "messages": [{"role": "user", "content": "Reply with one word."}], **limit, **more}
    url, headers, login = _door(endpoint, key)
    bench.raw += 1
    try:
        async with (
            asyncio.timeout(endpoint.timeout),
            DefaultAsyncHttpxClient(auth=login, timeout=endpoint.timeout) as web,
        ):
            reply = await web.post(url, json=body, headers=headers)
    except TimeoutError:
        return "no answer in time"
    except Exception as error:  # its text may name the address with what is secret in it
        return type(error).__name__
    try:
        return Answer(reply.status_code, json.loads(reply.text))
    except ValueError:
        return Answer(reply.status_code, reply.text)


def _door(endpoint: Endpoint, key: str | None) -> tuple[str, dict[str, str], tuple[str, str] | None]:
    """URL, headers and login, as the run's own requests have them; with `key`, that one in their place."""
    address = endpoint.base_url or os.environ.get("OPENAI_BASE_URL") or PROVIDER
    parts = urlsplit(without_login(address) or "")
    url = urlunsplit(parts._replace(path=parts.path.rstrip("/") + "/chat/completions"))
    login = urlsplit(address)
    if login.username and key is None:
        return url, {}, (unquote(login.username), unquote(login.password or ""))
    return url, {"authorization": f"Bearer {key or os.environ.get(endpoint.api_key_env) or 'unused'}"}, None
