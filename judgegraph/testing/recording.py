"""A judge whose calls are kept in a file, and the judge that answers from that file."""

from __future__ import annotations

import asyncio
import builtins
import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from difflib import SequenceMatcher, unified_diff
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from judgegraph.calls import Endpoint, JudgeLike, name_of
from judgegraph.calls.send import past_the_parser, unbound, with_settings
from judgegraph.calls.types import Call, address_of, server_of
from judgegraph.errors import ConfigError, JudgegraphError, one_line, scrubbed
from judgegraph.models.judges import Judge, resolve

# What a chat model is asked, as plain values: what a recording knows a request by.


TRANSPORT = ("extra_headers", "extra_query", "headers", "timeout", "api_key", "callbacks", "run_manager")
ANSWERS = ("tool_calls", "invalid_tool_calls", "tool_call_id", "name")  # of a message, where it has some


@dataclass(frozen=True)
class Asked:
    """Messages and settings of one request.

    Attributes:
        messages: {"role", "content"} each, with the tool calls it makes or the one it answers.
        settings: what else the reply depends on; nothing of how a request is sent, so no header and no key.
    """

    messages: tuple[dict[str, Any], ...]
    settings: dict[str, Any]

    @staticmethod
    def of(messages: Sequence[Any], settings: Mapping[str, Any]) -> Asked:
        """From LangChain messages and the keyword arguments of a call."""
        sent = {k: v for k, v in settings.items() if k not in TRANSPORT and v is not None}
        return Asked(tuple(map(_message, messages)), plain(sent))

    @cached_property
    def key(self) -> str:
        """Equal for equal requests: 32 hex digits."""
        text = json.dumps([self.messages, self.settings], sort_keys=True)
        return blake2b(text.encode(), digest_size=16).hexdigest()


def _message(message: Any) -> dict[str, Any]:
    values = {name: value for name in ANSWERS if (value := getattr(message, name, None))}
    return {"role": message.type, "content": plain(message.content), **plain(values)}


def plain(value: Any) -> Any:
    """JSON of it, in which 1.0 is 1; what is no JSON as its text."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


# What sets a request apart from the nearest of those that were recorded.


MOST_LINES, MOST_COMPARED, LOOKED_AT = 40, 200, 4000  # lines shown, requests and characters of each compared


def difference(asked: Asked, recorded: Sequence[Asked]) -> str:
    """Lines that say what is missing, for an error; of a few dozen lines at most."""
    if not recorded:
        return "the recording holds no request"
    near = max(recorded[:MOST_COMPARED], key=lambda other: _likeness(asked, other))
    found_lines = [f"no such request among {len(recorded)} recorded; it differs from the nearest"]
    found_lines += [f"  {name}: {now}, recorded {was}" for name, now, was in _settings(asked, near)]
    was, now = (text_of(request).splitlines() for request in (near, asked))
    lines = list(unified_diff(was, now, "recorded", "asked", n=1, lineterm=""))
    found_lines += [f"  {line[:1]}{one_line(line[1:], 160)}" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        found_lines.append(f"  … and {len(lines) - MOST_LINES} lines more")
    return "\n".join(found_lines)


def text_of(asked: Asked) -> str:
    """The messages as text, each under its role."""
    return "\n".join(f"[{m['role']}]\n{_content(m)}" for m in asked.messages)


def _content(message: dict[str, object]) -> str:
    text = message["content"] if isinstance(message["content"], str) else json.dumps(message["content"])
    rest = {k: v for k, v in message.items() if k not in ("role", "content")}
    return f"{text}\n{json.dumps(rest, sort_keys=True)}" if rest else str(text)


def _likeness(asked: Asked, other: Asked) -> tuple[float, int]:
    texts = (text_of(asked), text_of(other))
    if texts[0] == texts[1]:
        return 1.0, -len(list(_settings(asked, other)))
    return SequenceMatcher(None, texts[0][:LOOKED_AT], texts[1][:LOOKED_AT]).quick_ratio(), 0


def _settings(asked: Asked, other: Asked) -> Iterable[tuple[str, str, str]]:
    for name in sorted({*asked.settings, *other.settings}):
        now, was = (json.dumps(one.settings.get(name), sort_keys=True) for one in (asked, other))
        if now != was:
            yield name, one_line(now, 100), one_line(was, 100)


# A chat model's result, or the error it raised, as JSON and back.


PARTS = ("content", "tool_calls", "invalid_tool_calls", "additional_kwargs", "usage_metadata")
ERROR_FIELDS = ("code", "param", "type")  # what an error of a server's says beside its text


def result_out(result: ChatResult) -> dict[str, Any]:
    """Choices with texts, tool calls, usage and all that is told beside them, such as log-probabilities."""
    return {"choices": [_choice_out(one) for one in result.generations], "output": result.llm_output or {}}


def _choice_out(choice: Any) -> dict[str, Any]:
    message = choice.message
    metadata = {**message.response_metadata, **(choice.generation_info or {})}
    return {**{name: value for name in PARTS if (value := getattr(message, name, None))}, "told": metadata}


def result_in(reply: Mapping[str, Any]) -> ChatResult:
    """The result again; what is told of a choice stands both in its message and beside it."""
    return ChatResult(generations=[_choice_in(one) for one in reply["choices"]], llm_output=dict(reply["output"]))


def _choice_in(choice: Mapping[str, Any]) -> ChatGeneration:
    parts = {name: value for name, value in choice.items() if name in PARTS}
    message = AIMessage(**{"content": "", **parts}, response_metadata=dict(choice["told"]))
    return ChatGeneration(message=message, generation_info=dict(choice["told"]))


def error_out(error: BaseException) -> dict[str, Any]:
    """What the one retry layer knows an error by: its kinds, its text, and what the server said."""
    if isinstance(error, Warning) and error.__context__ is not None:  # of the SDK's, where warnings are errors
        error = error.__context__
    kinds = [kind.__name__ for kind in type(error).__mro__ if issubclass(kind, Exception)]
    values = {name: getattr(error, name, None) for name in ("status_code", *ERROR_FIELDS)}
    values["response"] = "there was one" if getattr(error, "response", None) is not None else None
    return {"kinds": kinds, "text": str(error), **{k: v for k, v in values.items() if isinstance(v, str | int)}}


def error_in(error: Mapping[str, Any]) -> Exception:
    """An error that is taken for the same."""
    kind: type[Exception] = Exception
    for name in reversed(error["kinds"]):
        known = getattr(builtins, name, None)
        fits = isinstance(known, type) and issubclass(known, kind)
        kind = known if fits else type(name, (kind,), {})  # type: ignore[assignment]
    try:
        raised = kind(error["text"])
    except TypeError:  # it is made of more than a text
        raised = Exception(error["text"])
    for name, value in error.items():
        if name not in ("kinds", "text"):
            setattr(raised, name, value)
    return raised


# The file of a recording: a line for the judge, then a line per request with its reply or its error.


FORMAT = 1


@dataclass(frozen=True)
class Entry:
    """One request as it was recorded.

    Attributes:
        turn: 0, 1, ... in the order in which equal requests were sent, whichever was answered first.
        reply: see `reply.py`; None where there is an error.
    """

    key: str
    turn: int
    asked: Asked
    reply: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


@dataclass
class Tape:
    """Appends whole lines to a file that only its owner may read; safe for calls side by side.

    Attributes:
        fresh: it is begun anew; a file that is no recording stays as it is, and is refused.
    """

    path: Path
    fresh: bool = False
    _turns: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _opened: bool = False

    def times_asked(self, asked: Asked) -> int:
        """How many equal requests came before, in this file."""
        with self._lock:
            self._turns[asked.key] += 1
            return self._turns[asked.key] - 1

    def open(self, judge: Mapping[str, Any]) -> None:
        """Once, before the first request: the judge's line where the file has none.

        Raises:
            ConfigError: the file is another judge's, or no recording.
        """
        with self._lock:
            if self._opened:
                return
            there = self.path.exists() and self.path.stat().st_size > 0
            known, entries = read_tape(self.path) if there else ({}, [])
            if there and self.fresh:
                os.truncate(self.path, 0)
            if there and not self.fresh:
                if known != judge:
                    was, now = known.get("judge"), judge.get("judge")
                    raise ConfigError(
                        f"{one_line(self.path)} is a recording of {was}, asked now is {now}"
                        f"{' with other settings' if was == now else ''}; give each judge a file of its own"
                    )
                self._turns.update(entry.key for entry in entries)
                self._append("" if self.path.read_bytes().endswith(b"\n") else "\n")  # a line that was cut off
            else:
                self._append(json.dumps({"judgegraph_recording": FORMAT, **judge}) + "\n")
            self._opened = True

    def write(self, asked: Asked, turn: int, hide: Callable[[Any], Any] = lambda value: value, **outcome: Any) -> None:
        """One request. hide: takes keys out of what is shown of it."""
        shown = {"messages": list(asked.messages), "settings": asked.settings, **outcome}
        line = json.dumps({"key": asked.key, "turn": turn, **hide(shown)}, default=repr)
        with self._lock:
            self._append(line + "\n")

    def _append(self, text: str) -> None:
        number = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with open(number, "ab", buffering=0) as file:
            rest = memoryview(text.encode())
            while rest:
                rest = rest[file.write(rest) :]


def read_tape(path: Path) -> tuple[dict[str, Any], list[Entry]]:
    """The judge's line and the requests; a line that was cut off is passed over.

    Raises:
        ConfigError: there is no such file, or it is no recording.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise ConfigError(f"no recording {one_line(path)}: {error.strerror}") from None
    head, *rest = [*_rows(lines)] or [{}]
    if head.pop("judgegraph_recording", None) != FORMAT:
        raise ConfigError(f"{one_line(path)} is no recording of judgegraph.testing.recording, or of another version")
    return head, [entry for row in rest if (entry := _entry(row)) is not None]


def _rows(lines: list[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def _entry(row: dict[str, Any]) -> Entry | None:
    try:
        asked = Asked(tuple(row["messages"]), row["settings"])
        return Entry(row["key"], row["turn"], asked, row.get("reply"), row.get("error"))
    except (KeyError, TypeError):
        return None


# What a judge that is recorded and one that is played have in common: the ways to ask a chat model.


SETTINGS = ("temperature", "top_p", "max_tokens", "seed")
FORM = "judgegraph_form"  # the keyword by which a schema is asked of a model that does not speak OpenAI's


class Taped(BaseChatModel):
    """A chat model of the recorded judge's name, features and settings.

    In messages, prices and a run's figures it has the judge's own name, so that nothing that a prompt shows depends on
    who answers. In a signature and a ledger it is "Recording:NAME" or "Playing:NAME", never NAME alone: what was played
    must not pass for what was asked.

    Attributes:
        model_name: of the judge that is or was recorded. judge_id: digest of who it is, its settings included.
    """

    model_name: str
    judge_id: str
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None

    @property
    def judgegraph_name(self) -> str:
        """The judge's."""
        return self.model_name

    @property
    def judgegraph_endpoint(self) -> Endpoint:
        """The settings that go into every call, and how often one is tried."""
        raise NotImplementedError

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """Offer tools, in OpenAI's shape."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def with_structured_output(self, schema: Any, *, include_raw: bool = False, **kwargs: Any) -> Any:
        """Ask for a form; with `include_raw` the reply comes as {"raw": message, ...}."""
        if not include_raw or getattr(self, "speaks_openai", False):
            return super().with_structured_output(schema, include_raw=include_raw, **kwargs)
        return self.bind(**{FORM: schema}) | RunnableLambda(_raw)

    def _settings(self, kwargs: Mapping[str, Any], stop: list[str] | None) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in SETTINGS}
        given = {**own, "stop": stop, **kwargs}
        return {name: value for name, value in given.items() if value is not None}

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> ChatResult:  # fmt: skip
        """In a thread with a loop of its own, so that it works where a loop is running too."""
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: asyncio.run(self._agenerate(messages, stop, **kwargs))).result()


def _raw(message: Any) -> dict[str, Any]:
    return {"raw": message, "parsed": None, "parsing_error": None}


ENDPOINT_SETTINGS = (*SETTINGS, "timeout", "attempts", "asks")  # of an endpoint, for who plays the recording


class Recording(Taped):
    """Passes calls on to a judge, and keeps each with its reply or its error."""

    _judge: JudgeLike = PrivateAttr()
    _tape: Tape = PrivateAttr()

    @property
    def _llm_type(self) -> str:
        return "judgegraph-recording"

    @property
    def speaks_openai(self) -> bool:
        """As the judge does, which is made now."""
        return resolve(self._judge).speaks_openai

    @property
    def judgegraph_endpoint(self) -> Endpoint:
        """The judge's own settings and limits."""
        return replace(_endpoint(self._judge), model=name_of(self))

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> ChatResult:  # fmt: skip
        settings, judge = self._settings(kwargs, stop), resolve(self._judge)
        self._tape.open(self._about(judge))
        asked = Asked.of(messages, settings)
        turn = self._tape.times_asked(asked)
        try:
            async with asyncio.timeout(_before(judge.endpoint.timeout)):
                result = await _passed_on(judge, messages, settings)
        except (JudgegraphError, AssertionError):  # ours, or a test's: no answer of the judge
            raise
        except Exception as error:
            self._tape.write(asked, turn, lambda value: _hidden(value, judge.secrets), error=error_out(error))
            raise
        self._tape.write(asked, turn, lambda value: _hidden(value, judge.secrets), reply=result_out(result))
        return result

    def _about(self, judge: Judge) -> dict[str, Any]:
        """The first line of the file."""
        settings = {name: value for name, value in asdict(judge.endpoint).items() if name in ENDPOINT_SETTINGS}
        return {
            "judge": self.model_name, "judge_id": self.judge_id, "server": judge.endpoint.address,
            "speaks_openai": judge.speaks_openai, "settings": settings,
        }  # fmt: skip


def recording(judge: JudgeLike, path: str | Path, *, fresh: bool = False) -> Recording:
    """A judge that appends every request and reply to a file, which `playing(path)` answers from.

    A line holds the messages, the settings that a reply depends on, and the choices with log-probabilities, tool calls
    and usage, or the error. Keys are in none of it; texts are as they were, so the file is as confidential as the data.

    Args:
        judge: a name, an Endpoint or a chat model. path: a file for this judge alone, made for its owner's eyes (0600);
            what it holds already stays, and is played first.
        fresh: at the first call the file is begun anew: what it held of any judge is gone.

    Raises:
        ConfigError: at the first call: the file is another judge's, or no recording.
    """
    known = Recording(model_name=name_of(judge), judge_id=_digest(judge))
    known._judge, known._tape = judge, Tape(Path(path), fresh)
    return known


def _endpoint(judge: JudgeLike) -> Endpoint:
    if isinstance(judge, str | Endpoint):
        return judge if isinstance(judge, Endpoint) else Endpoint(model=judge)
    return getattr(judge, "judgegraph_endpoint", None) or Endpoint(model=name_of(judge))


def _before(timeout: float) -> float:
    """Seconds: somewhat before the caller's own deadline, whose passing nobody could write down."""
    return timeout - min(1.0, timeout / 10)


def _digest(judge: JudgeLike) -> str:
    """Of all that its replies depend on: 16 hex digits that say no key."""
    if isinstance(judge, str | Endpoint):
        endpoint = _endpoint(judge)
        values = [endpoint.model, server_of(endpoint.base_url or ""), *(getattr(endpoint, name) for name in SETTINGS)]
        return blake2b(repr(values).encode(), digest_size=8).hexdigest()
    return address_of(resolve(judge), Call(())).hex()[:16]


async def _passed_on(judge: Judge, messages: list[BaseMessage], settings: dict[str, Any]) -> ChatResult:
    """As the door itself would ask this judge; who listens has heard of the call from the recording."""
    if judge.speaks_openai:
        sent = past_the_parser(judge.model, settings)
        done = await judge.model.agenerate([list(messages)], **sent)
        generations: Any = done.generations[0]
        return ChatResult(generations=generations, llm_output=done.llm_output)
    call = Call((), settings={name: value for name, value in settings.items() if name not in (FORM, "tools")})
    model, rest = with_settings(judge, call), unbound(judge, call)
    if tools := settings.get("tools"):
        model = model.bind_tools(tools, **rest)
    elif form := settings.get(FORM):
        model = model.with_structured_output(form, include_raw=True)
    elif rest:
        model = model.bind(**rest)
    answer = await model.ainvoke(messages, config={"callbacks": []})
    return ChatResult(generations=[ChatGeneration(message=answer["raw"] if isinstance(answer, dict) else answer)])


def _hidden(value: Any, secrets: tuple[str, ...]) -> Any:
    """Without the judge's keys; in an error without whatever looks like one, as servers repeat them."""
    if isinstance(value, Mapping):
        held = {key: _hidden(inner, secrets) for key, inner in value.items()}
        if "text" in held and "kinds" in held:
            held["text"] = scrubbed(held["text"], secrets)
        if "told" in held and held.get("content") != value.get("content"):  # the tokens would say it again
            held["told"] = {**held["told"], "logprobs": None}
        return held
    if isinstance(value, list | tuple):
        return [_hidden(inner, secrets) for inner in value]
    for secret in secrets if isinstance(value, str) else ():
        value = value.replace(secret, "***")
    return value


# A judge that answers from a recording, by what it is asked; it asks nobody.


class NotRecorded(AssertionError):
    """The recording has no such request, or not so many of it."""


class Playing(Taped):
    """Gives the replies of a recording; see `playing`.

    Attributes:
        recording_id: digest of the file's requests and replies; so a ledger never meets those of another file.
        speaks_openai: as the recorded judge does.
    """

    recording_id: str
    strict: bool = True
    speaks_openai: bool = True
    _path: Path = PrivateAttr()
    _settings_of_judge: dict[str, Any] = PrivateAttr()
    _entries: dict[str, list[Entry]] = PrivateAttr()  # by key, each in the order of turns
    _played: Counter[str] = PrivateAttr(default_factory=Counter)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    @property
    def _llm_type(self) -> str:
        return "judgegraph-playing"

    @property
    def judgegraph_endpoint(self) -> Endpoint:
        """The recorded judge's settings."""
        return Endpoint(model=name_of(self), **self._settings_of_judge)

    @property
    def unplayed(self) -> int:
        """Recorded requests that nobody has asked yet."""
        recorded = Counter({key: len(entries) for key, entries in self._entries.items()})
        return (recorded - self._played).total()

    def with_structured_output(self, schema: Any, *, include_raw: bool = False, **kwargs: Any) -> Any:
        """As the recorded judge, which may have had no such thing."""
        if not self.speaks_openai and not any(FORM in asked.settings for asked in self._recorded()):
            raise NotImplementedError("the recorded judge was asked for no form")
        return super().with_structured_output(schema, include_raw=include_raw, **kwargs)

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> ChatResult:  # fmt: skip
        entry = self._next(Asked.of(messages, self._settings(kwargs, stop)))
        if entry.error is not None:
            raise error_in(entry.error)
        return result_in(entry.reply or {"choices": [], "output": {}})

    def _next(self, asked: Asked) -> Entry:
        found = self._entries.get(asked.key, [])
        if not found and not self.strict:
            found = [e for e in chain(*self._entries.values()) if e.asked.messages == asked.messages]
        with self._lock:
            turn = self._played[asked.key]
            self._played[asked.key] += 1
        if not found:
            raise NotRecorded(f"{one_line(self._path)}: {difference(asked, self._recorded())}")
        if turn >= len(found) and self.strict:
            times = "once" if len(found) == 1 else f"{len(found)} times"
            raise NotRecorded(
                f"{one_line(self._path)}: a request that was recorded {times} is asked once more: {_shown(asked)}"
            )
        return found[min(turn, len(found) - 1)]

    def _recorded(self) -> list[Asked]:
        return [entries[0].asked for entries in self._entries.values()]


def playing(path: str | Path, strict: bool = True) -> Playing:
    """A judge that answers from a file that `recording` wrote: replies, log-probabilities and errors as they came.

    A request is known by its messages and settings. Equal ones are answered in the order in which they were sent.

    Args:
        strict: a request that is not there, or was recorded less often, raises NotRecorded (an AssertionError), which
            says what differs from the nearest recorded one. False takes a request with the same messages and other
            settings too, and gives the last of equal replies again and again.

    Raises:
        ConfigError: there is no such file, or it is no recording.
    """
    about, entries = read_tape(Path(path))
    lines = sorted(f"{e.key}/{e.turn}/{e.reply or e.error}" for e in entries)
    digest = blake2b("\n".join(lines).encode("utf-8", "replace"), digest_size=8).hexdigest()
    known = Playing(
        model_name=about["judge"], judge_id=about["judge_id"], recording_id=digest, strict=strict,
        speaks_openai=about["speaks_openai"],
    )  # fmt: skip
    known._path, known._settings_of_judge = Path(path), about["settings"]
    known._entries = {}
    for entry in sorted(entries, key=lambda entry: entry.turn):
        known._entries.setdefault(entry.key, []).append(entry)
    return known


def _shown(asked: Asked) -> str:
    return one_line(asked.messages[-1]["content"] if asked.messages else "", 120)
