"""A judge whose calls are kept in a file, to be played again without it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from judgegraph.calls import Endpoint, JudgeLike, name_of
from judgegraph.calls.address import address_of, server_of
from judgegraph.calls.exchange import Call
from judgegraph.calls.features import past_the_parser, unbound, with_settings
from judgegraph.errors import JudgegraphError
from judgegraph.models.resolve import Judge, resolve
from judgegraph.models.secrets import scrubbed
from judgegraph.testing.asked import Asked
from judgegraph.testing.reply import error_out, result_out
from judgegraph.testing.tape import Tape
from judgegraph.testing.taped import FORM, SETTINGS, Taped

__all__ = ["Recording", "recording"]
KEPT = (*SETTINGS, "timeout", "attempts", "asks")  # of an endpoint, for who plays the recording


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
        turn = self._tape.turn(asked)
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
        settings = {name: value for name, value in asdict(judge.endpoint).items() if name in KEPT}
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
        told = [endpoint.model, server_of(endpoint.base_url or ""), *(getattr(endpoint, name) for name in SETTINGS)]
        return blake2b(repr(told).encode(), digest_size=8).hexdigest()
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
