"""What the probes of `doctor` share: a judge to ask, and a count of what it cost."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from judgegraph.calls.call import send
from judgegraph.calls.context import CallContext, context
from judgegraph.calls.exchange import Call, Choice
from judgegraph.errors import AuthError, ReplyError
from judgegraph.models.resolve import Judge, Support

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
class Heard:
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
        return replace(self.base, refused=set(), max_tokens=self.found.max_tokens, **known)

    async def ask(
        self, text: str, *, support: Support | None = None, settings: Mapping[str, Any] | None = None, **asked: Any
    ) -> Heard:
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
            return Heard((), known, str(error), _passing(error), isinstance(error, AuthError))
        except TimeoutError:
            return Heard((), known, "no answer in time", unclear=True)
        finally:
            context.reset(token)
        self.seconds.append(time.monotonic() - start)
        return Heard(tuple(choices), known, tokens=self.run.completion_tokens - before)


def _passing(error: Exception) -> bool:
    text = str(error)
    code = _CODE.search(text)
    if code:
        return code[0] in _PASSING
    return getattr(error, "status", "") == "timeout" or any(word in text for word in _BROKEN)


def unmeasured(name: str, why: str) -> Probe:
    """Nothing can be said."""
    return Probe(name, None, f"not measured: {why}")
