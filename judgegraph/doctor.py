"""What an endpoint really does, measured by a few small calls; runs use what was found."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from judgegraph.calls.call import send
from judgegraph.calls.context import CallContext, context
from judgegraph.calls.ratings import alone, unsound
from judgegraph.calls.send import FEW
from judgegraph.calls.types import Call, Choice, Token
from judgegraph.errors import AuthError, ConfigError, ReplyError, one_line, scrubbed
from judgegraph.models.judges import (
    OPENAI,
    Endpoint,
    Judge,
    JudgeLike,
    Support,
    adopt,
    keep,
    resolve,
    untried,
    without_login,
)

# What the probes of `doctor` share: a judge to ask, and a count of what it cost.


MOST = 1000  # tokens of a reply, once it is known how to limit it
TRIES = 2  # requests of one call: a fault that passes must not be taken for a lack
_CODE = re.compile(r"\b[45]\d\d\b")
_PASSING = {"408", "409", "425", "429", "502", "503", "504"}
_BROKEN = ("Connection", "Transport", "ClientError")  # in the names of errors that hold no HTTP status


@dataclass(frozen=True)
class Probe:
    """One thing that was tried.

    Attributes:
        ok: it is as OpenAI's API says; None where it could not be measured.
        deviation: what it means for a run that it is not so, "" where it is.
    """

    name: str
    ok: bool | None
    found: str
    deviation: str = ""


@dataclass(frozen=True)
class CallOutcome:
    """What came of one call.

    Attributes:
        choices: none where it failed. failure: why it did, "" if it did not. unclear: the failure says nothing of what
            was tried: a timeout, a limit of requests, a lost connection. fatal: a key or a model was refused.
        support: what our own code learnt on the way. tokens: of the replies, 0 where that is not told.
    """

    choices: tuple[Choice, ...]
    support: Support
    failure: str = ""
    unclear: bool = False
    fatal: bool = False
    tokens: int = 0

    @property
    def choice(self) -> Choice:
        """The first; an empty one where the call failed."""
        return self.choices[0] if self.choices else Choice("")


@dataclass
class Bench:
    """A judge under examination.

    Attributes:
        judge: with few retries and a short timeout. base: what is known of it untried.
        found: what the probes found so far. limited: it heeds a limit of a reply's length.
        run: counts requests and tokens. seconds: of each call that was answered. raw: requests made past the door.
    """

    judge: Judge
    base: Support = field(default_factory=Support)
    found: Support = field(default_factory=Support)
    limited: bool = False
    run: CallContext = field(default_factory=CallContext)
    seconds: list[float] = field(default_factory=list)
    raw: int = 0

    def fresh(self, **known: Any) -> Support:
        """As if nothing were known but the name of the limit and what `known` says."""
        about = {"refused": {*self.base.refused}, "max_tokens": self.found.max_tokens, **known}
        return replace(self.base, **about)

    @property
    def lacks(self) -> frozenset[str]:
        """What the interface of a provider does not have at all."""
        provider = self.judge.provider
        return frozenset() if provider is None or self.judge.speaks_openai else provider.lacks

    async def ask(
        self, text: str, *, support: Support | None = None, settings: Mapping[str, Any] | None = None, **asked: Any
    ) -> CallOutcome:
        """One call through the door that a run's calls go through. A refused key is a failure like others."""
        from langchain_core.messages import HumanMessage

        known = self.fresh() if support is None else support
        limit = {"max_tokens": MOST} if self.limited else {}
        call = Call((HumanMessage(text),), settings={**limit, **(settings or {})}, **asked)
        before, start = self.run.completion_tokens, time.monotonic()
        token = context.set(self.run)
        try:
            async with asyncio.timeout(2 * TRIES * self.judge.endpoint.timeout):  # a server may ask for a long wait
                choices = await send(replace(self.judge, support=known), call)
        except (ReplyError, AuthError) as error:
            return CallOutcome((), known, str(error), _passing(error), isinstance(error, AuthError))
        except TimeoutError:
            return CallOutcome((), known, "no answer in time", unclear=True)
        finally:
            context.reset(token)
        self.seconds.append(time.monotonic() - start)
        return CallOutcome(tuple(choices), known, tokens=self.run.completion_tokens - before)


def _passing(error: Exception) -> bool:
    text = str(error)
    code = _CODE.search(text)
    if code:
        return code[0] in _PASSING
    return getattr(error, "status", "") == "timeout" or any(word in text for word in _BROKEN)


def unmeasured(name: str, why: str) -> Probe:
    """Nothing can be said."""
    return Probe(name, None, f"not measured: {why}")


# What a judge makes of a schema, and whether it gives log-probabilities beside it and without.


KEY = "calmness_q7"  # nobody would write it unasked
FEELING = "How calm is the word 'lagoon', from 1 to 5? Answer in the form asked for."


def form_of(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """A strict schema of these properties."""
    return {
        "type": "object", "properties": dict(properties), "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


CHARACTERS = 40
LONG = "Write an essay of three hundred words on lighthouses, in the form asked for."
BRIEF = form_of(essay={"type": "string", "maxLength": CHARACTERS})
ENDLESS = "a reason can be as long as the endpoint likes; only the limit of the whole reply ends it"
ODD = form_of(**{KEY: {"type": "integer", "enum": [1, 2, 3, 4, 5]}})
KINDS = form_of(grade={"type": "integer", "enum": [3, 5, 7]}, tone={"type": "string", "enum": ["plum", "rust"]})


async def json_schema(bench: Bench) -> Probe:
    """A strict schema with a key that nobody would write unasked."""
    name = "json_schema"
    known = bench.fresh(json_schema=True)  # so that False is a refusal, and not what free text would teach
    heard = await bench.ask(FEELING, support=known, schema=ODD, form="calmness")
    if heard.unclear:
        return unmeasured(name, heard.failure)
    if heard.failure or heard.support.json_schema is False:
        bench.found.json_schema = False
        said = f"refused: {heard.failure}" if heard.failure else "refused"
        return Probe(name, False, said, "the schema is put into words in each prompt, and replies are mended")
    given = _json(heard.choice.text)
    if isinstance(given, dict) and set(given) == {KEY}:
        bench.found.json_schema = True
        return Probe(name, True, "heeded")
    if "{" in heard.choice.text and heard.choice.finish == "length":
        return unmeasured(name, "the reply was cut off")
    bench.found.json_schema = False
    said = "ignored: " + ("other keys" if isinstance(given, dict) else "free text")
    return Probe(name, False, said, "the schema is put into words in each prompt, and replies are mended")


async def strict_values(bench: Bench) -> Probe:
    """Integers and enums, where the prompt asks for other values."""
    name = "strict values"
    if not bench.found.json_schema:
        return unmeasured(name, "no schema is heeded")
    heard = await bench.ask("Give the grade 4.5 and the tone 'blue'.", schema=KINDS, form="graded")
    if heard.failure:
        return unmeasured(name, heard.failure)
    given = _json(heard.choice.text)
    kept = isinstance(given, dict) and given.get("grade") in (3, 5, 7) and given.get("tone") in ("plum", "rust")
    if kept and isinstance(given, dict) and isinstance(given["grade"], int):
        return Probe(name, True, "kept to the schema's")
    return Probe(name, False, f"beside the schema: {heard.choice.text}", "values off a scale come, and are asked again")


async def max_length(bench: Bench) -> Probe:
    """A text that may have few characters, where the prompt asks for many."""
    name = "text length"
    if not bench.found.json_schema:
        return unmeasured(name, "no schema is heeded")
    heard = await bench.ask(LONG, schema=BRIEF, form="essay")
    if heard.unclear:
        return unmeasured(name, heard.failure)
    if heard.failure or heard.support.json_schema is False:
        bench.found.max_length = False
        return Probe(name, False, "maxLength is refused", ENDLESS)
    given = _json(heard.choice.text)
    text = given.get("essay") if isinstance(given, dict) else None
    if not isinstance(text, str):
        return unmeasured(name, "the reply is no text in the form")
    bench.found.max_length = len(text) <= CHARACTERS
    if bench.found.max_length:
        return Probe(name, True, f"maxLength is heeded: {len(text)} of {CHARACTERS} characters")
    return Probe(name, False, f"maxLength is ignored: {len(text):,} characters for {CHARACTERS}", ENDLESS)


async def logprobs(bench: Bench) -> Probe:
    """Token log-probabilities, and of how many tokens: 20, else 5; also beside a schema, where runs need them."""
    name = "log-probabilities"
    if "logprobs" in bench.lacks:
        bench.found.logprobs = False
        return Probe(name, None, "this interface has none: weighted scores are read from samples")
    heard = await bench.ask("Rate the word 'calm' from 1 to 5. Reply with one digit.", logprobs=True)
    if heard.failure and not heard.unclear:
        few = bench.fresh(top_logprobs=FEW)
        heard = await bench.ask("Rate the word 'calm' from 1 to 5. Reply with one digit.", support=few, logprobs=True)
    if heard.unclear:
        return unmeasured(name, heard.failure)
    if not (tokens := heard.choice.tokens):
        refused = bool(heard.failure) or heard.support.logprobs is False
        return _no_logprobs(bench, "refused" if refused else "null")
    if why := _unsound(tokens):
        return _no_logprobs(bench, why)
    if bench.found.json_schema:
        beside = await bench.ask(FEELING, schema=ODD, form="calmness", logprobs=True)
        if not beside.unclear and not beside.choice.tokens:
            return _no_logprobs(bench, "given, but not beside json_schema")
        if not beside.unclear and (why := _unsound(beside.choice.tokens or ())):
            return _no_logprobs(bench, f"given, but beside json_schema {why}")
    bench.found.logprobs, bench.found.top_logprobs = True, heard.support.top_logprobs
    most = max(len(token.top) for token in tokens)
    fewer = heard.support.top_logprobs <= FEW
    means = f"weighted scores see at most {FEW} of a scale's points at once" if fewer else ""
    return Probe(name, not fewer, f"given, up to {heard.support.top_logprobs} a token asked for, {most} seen", means)


def _unsound(tokens: Sequence[Token]) -> str:
    """Why a run would not weigh them, "" where it would: it looks at the place of the answer."""
    text = "".join(token.text for token in tokens)
    digits = list(re.finditer(r"\d", text))
    place = digits[-1].span() if digits else (0, len(text))
    return unsound(tokens, place) or ("given, but without alternatives" if alone(tokens, place) else "")


def _no_logprobs(bench: Bench, found: str) -> Probe:
    bench.found.logprobs = False
    means = "weighted scores are read from samples instead of log-probabilities; that costs several replies a score"
    return Probe("log-probabilities", False, found, means)


def _json(said: str) -> Any:
    try:
        return json.loads(said)
    except ValueError:
        return None


# What a judge does with each thing that a run may ask of it, one small call or two for each.


LIMIT = 5  # tokens; a word is one token at least
CHOICES = 3
THOUGHTS = 64  # tokens for one word: most of them were thoughts
COUNT = "Count from one to sixty in words, separated by spaces, and write nothing else."
ONE_ANIMAL = "Name one animal, in one word."
NAMES: tuple[Any, ...] = ("max_completion_tokens", "max_tokens")


async def text(bench: Bench) -> Probe:
    """A plain question.

    Raises:
        ConfigError: it is not answered; nothing else can be tried then. AuthError: the key or the model is refused.
    """
    heard = await bench.ask("Reply with the one word: ready")
    if heard.fatal:
        raise AuthError(heard.failure)
    if heard.failure:
        address = bench.judge.endpoint.address
        raise ConfigError(f"{f'the endpoint {address}' if address else 'the judge'} cannot be used: {heard.failure}")
    said = heard.choice.text.strip()
    if not said:
        return Probe("text", False, "an empty reply", "free text may come empty; it is asked for again")
    return Probe("text", True, f"answers: {said}")


async def usage(bench: Bench) -> Probe:
    """Tokens told with the reply to the plain question."""
    asked, said = bench.run.prompt_tokens, bench.run.completion_tokens
    if said > THOUGHTS:
        bench.found.thinks = True
    if asked and said:
        return Probe("usage", True, f"told: {asked} + {said} tokens")
    return Probe("usage", False, "not told", "tokens and money of a run are estimates")


async def max_tokens(bench: Bench) -> Probe:
    """A limit under the name that OpenAI's SDK sends, else under the older one."""
    name = "max tokens"
    for parameter in NAMES if bench.judge.speaks_openai else (None,):
        heard = await bench.ask(COUNT, support=Support(max_tokens=parameter), settings={"max_tokens": LIMIT})
        if heard.unclear:
            return unmeasured(name, heard.failure)
        kept = _cut(heard)
        if kept is None:
            return unmeasured(name, "the reply was short by itself")
        if kept:
            bench.found.max_tokens, bench.limited = parameter, True
            return _limit(name, heard, parameter)
    said = f"a limit of {LIMIT} is " + ("refused" if heard.failure else "ignored under either name")
    return Probe(name, False, said, "replies can be as long as the endpoint likes; only the timeout ends them")


def _limit(name: str, heard: CallOutcome, parameter: str | None) -> Probe:
    if parameter == "max_tokens":
        means = "limits are sent as max_tokens"
        return Probe(name, False, "heeded as max_tokens, not as max_completion_tokens", means)
    if heard.choices and heard.choice.finish not in ("length", "max_tokens"):
        said = f"heeded, but the reply says it ended with '{heard.choice.finish}'"
        return Probe(name, False, said, "a reply that was cut off may be taken for a whole one")
    return Probe(name, True, f"heeded as {parameter}" if parameter else "heeded")


def _cut(heard: CallOutcome) -> bool | None:
    """The reply was cut off at the limit; None where it is too short to tell."""
    if heard.failure:  # some answer a reply that is cut off while the model still thinks with a 400
        return bool(re.search(r"limit was reached|max_(?:completion_)?tokens was reached", heard.failure))
    if heard.choice.finish in ("length", "max_tokens"):
        return True
    words = heard.choice.text.split()
    if len(words) > LIMIT:
        return False
    return True if re.match(r"(?i)\W*(?:one|1)\W+(?:two|2)\b", heard.choice.text) else None


async def several(bench: Bench) -> Probe:
    """Three choices in one reply."""
    if "n" in bench.lacks:
        bench.found.n = False
        return Probe("n", None, "this interface gives one choice a request: n samples are n requests")
    heard = await bench.ask(ONE_ANIMAL, n=CHOICES)
    if heard.unclear:
        return unmeasured("n", heard.failure)
    bench.found.n = len(heard.choices) == CHOICES
    if bench.found.n:
        return Probe("n", True, f"{CHOICES} choices for n={CHOICES}")
    refused = heard.failure or heard.support.n is False
    said = "refused" if refused else f"{len(heard.choices)} choice for n={CHOICES}, without an error"
    return Probe("n", False, said, "n samples are n requests, and the prompt is paid for n times")


async def settings(bench: Bench) -> Probe:
    """Temperature, top_p and seed: together, then each alone where that fails."""
    given: dict[str, Any] = {"temperature": 0.5, "top_p": 0.9, "seed": 7}
    heard = await bench.ask(ONE_ANIMAL, settings=given)
    if heard.unclear:
        return unmeasured("settings", heard.failure)
    refused = set(heard.support.refused)
    if heard.failure:
        alone = {name: await bench.ask(ONE_ANIMAL, settings={name: value}) for name, value in given.items()}
        refused = {n for n, one in alone.items() if n in one.support.refused or (one.failure and not one.unclear)}
    bench.found.refused |= refused
    without = refused & bench.base.refused
    if refused == without and not heard.failure:
        takes = [name for name in given if name not in without]
        told = f"; its interface has no {', '.join(sorted(without))}" if without else ""
        return Probe("settings", True, f"takes {', '.join(takes[:-1])} and {takes[-1]}{told}")
    if not refused:
        return Probe("settings", False, f"refused together: {heard.failure}", "set only one of temperature and top_p")
    names = ", ".join(sorted(refused))
    return Probe("settings", False, f"takes no {names}", f"{names}: left out, and noted with each score")


async def repeatable(bench: Bench) -> Probe:
    """The same question twice, with temperature 0 and a seed."""
    said = []
    for _ in range(2):
        support = bench.fresh()
        support.refused = set(bench.found.refused)
        request = "Name three animals and a colour for each, in one line."
        heard = await bench.ask(request, support=support, settings={"temperature": 0, "seed": 7})
        if heard.failure:
            return unmeasured("repeatable", heard.failure)
        said.append(heard.choice.text)
    if said[0] == said[1]:
        return Probe("repeatable", True, "two equal replies at temperature 0 with one seed")
    means = "only the ledger makes a rerun equal: without it, scores move from run to run"
    return Probe("repeatable", False, "two replies at temperature 0 with one seed differ", means)


# Whether a judge calls a tool that it is offered, and one that it is made to call.


TOOL = "count_vowels"
REQUEST = f"Use the tool {TOOL} on the word 'lagoon'. Do not answer without it."
OFFER = {
    "type": "function",
    "function": {
        "name": TOOL, "description": "Counts the vowels of a word.",
        "parameters": {
            "type": "object", "properties": {"word": {"type": "string"}},
            "required": ["word"], "additionalProperties": False,
        },
    },
}  # fmt: skip


async def tools(bench: Bench) -> Probe:
    """A tool that is offered and asked for in words, then one that is forced."""
    offered = await bench.ask(REQUEST, tools=(OFFER,))
    choice = {"type": "function", "function": {"name": TOOL}}
    forced = await bench.ask("Name one animal, in one word.", tools=(OFFER,), settings={"tool_choice": choice})
    if offered.unclear or (forced.unclear and not _called(offered)):
        return unmeasured("tools", offered.failure or forced.failure)
    said = [f"{kind}: {_outcome(heard)}" for kind, heard in (("offered", offered), ("forced", forced))]
    bench.found.tools = _called(offered) or _called(forced)
    if not bench.found.tools:
        means = "a judge calls no assistant by itself; what the plan names is called instead"
        return Probe("tools", False, ", ".join(said), means)
    bad = forced if _called(offered) else offered
    means = "" if _called(bad) or bad.unclear else "a judge may answer without calling an assistant"
    return Probe("tools", not means, ", ".join(said), means)


def _called(heard: CallOutcome) -> bool:
    return any(call.get("name") == TOOL for call in heard.choice.tool_calls)


def _outcome(heard: CallOutcome) -> str:
    if heard.unclear:
        return "not measured"
    return "called" if _called(heard) else "refused" if heard.failure or heard.support.tools is False else "not called"


# How an endpoint answers what no run sends on purpose: a bad request and a wrong key. Our door would hide it.


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
    where = _location(answer.data)
    if where == "error.message":
        return Probe("errors", True, f"{said}, with error.message")
    return Probe("errors", False, f"{said}, {where}", "why a request failed is told in the endpoint's own shape")


def _location(data: Any) -> str:
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
    url, headers, login = _request_target(endpoint, key)
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


def _request_target(endpoint: Endpoint, key: str | None) -> tuple[str, dict[str, str], tuple[str, str] | None]:
    """URL, headers and login, as the run's own requests have them; with `key`, that one in their place."""
    address = endpoint.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI
    parts = urlsplit(without_login(address) or "")
    url = urlunsplit(parts._replace(path=parts.path.rstrip("/") + "/chat/completions"))
    login = urlsplit(address)
    if login.username and key is None:
        return url, {}, (unquote(login.username), unquote(login.password or ""))
    return url, {"authorization": f"Bearer {key or os.environ.get(endpoint.api_key_env) or 'unused'}"}, None


TIMEOUT = 30.0  # seconds for one request
SHOWN = 120  # characters of what an endpoint said
ALL: tuple[Callable[[Bench], Awaitable[Probe]], ...] = (
    text, usage, max_tokens, json_schema, strict_values,
    max_length, logprobs, several, tools, settings, repeatable,
    errors, authentication,
)  # fmt: skip


@dataclass(frozen=True)
class Diagnosis:
    """What was found.

    Attributes:
        judge: its name. address: "" for the provider's own. support: what runs use of it.
        requests: sent, retries included. prompt_tokens, completion_tokens: as told in the replies.
        usd: what they cost, None where the price is not known. latency: median seconds of a call, None where none was
            answered.
        saved: the file it was kept in; None where it was not, and `unsaved` says why.
    """

    judge: str
    address: str
    probes: tuple[Probe, ...]
    support: Support
    requests: int
    replies: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    latency: float | None
    saved: Path | None = None
    unsaved: str = ""

    @property
    def deviations(self) -> tuple[Probe, ...]:
        """The probes that found something else than OpenAI's API says."""
        return tuple(probe for probe in self.probes if probe.ok is False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        support = {k: sorted(v) if isinstance(v, set) else v for k, v in asdict(self.support).items()}
        del support["filled"], support["endless"], support["beyond"]  # what this process counts on its way
        support.pop("presumed")
        saved = str(self.saved) if self.saved else None
        return {**asdict(self), "support": support, "saved": saved}


async def examine(judge: JudgeLike, *, timeout: float = TIMEOUT, save: bool = True) -> Diagnosis:
    """Try out what a run may ask of a judge, one thing after another; about twenty small requests.

    Args:
        timeout: seconds for one request. save: keep what was found of an endpoint, for runs of the next 30 days.

    Raises:
        ConfigError: the judge cannot be made, or does not answer a plain question.
        AuthError: the endpoint refuses our key.
    """
    known = resolve(judge)
    base = untried(known)
    brief = replace(known.endpoint, timeout=timeout, attempts=TRIES, patience=0)
    bench = Bench(replace(known, endpoint=brief, support=base), base, replace(base, refused={*base.refused}))
    found = tuple([_clean(await probe(bench), known.secrets) for probe in ALL])
    adopt(known.support, bench.found)
    saved, unsaved = _stored(known, bench.found, found) if save else (None, "as asked")
    run = bench.run
    return Diagnosis(
        judge=known.name, address=known.endpoint.address, probes=found, support=bench.found,
        requests=run.requests + bench.raw, replies=run.replies,
        prompt_tokens=run.prompt_tokens, completion_tokens=run.completion_tokens,
        usd=None if run.purse.spent.unpriced else run.purse.spent.usd,
        latency=median(bench.seconds) if bench.seconds else None, saved=saved, unsaved=unsaved,
    )  # fmt: skip


def _clean(probe: Probe, secrets: tuple[str, ...]) -> Probe:
    """An endpoint may repeat our key in what it says."""
    return replace(probe, found=one_line(scrubbed(probe.found, secrets), SHOWN))


def _stored(judge: Judge, found: Support, tried: tuple[Probe, ...]) -> tuple[Path | None, str]:
    """The file it was written to, or why it was not."""
    if judge.endpoint.model == "embedded" or judge.given:
        return None, "there is no address to remember it by"
    try:
        return keep(judge.endpoint, found, tuple(f"{p.name}: {p.deviation}" for p in tried if p.ok is False)), ""
    except ConfigError as error:
        return None, str(error)
