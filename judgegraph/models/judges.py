"""Who answers: from "openai:MODEL", "embedded", an Endpoint or a LangChain chat model to one kind of judge."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import sys
import warnings
import weakref
from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from importlib.util import find_spec
from math import inf
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, cast, get_args
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict

from judgegraph.errors import (
    ConfigError,
    ExtraError,
    bare,
    credentials,
    one_line,
    scrubbed,
    secrets_of,
    settings_checked,
)

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


OPENAI_KEY = "OPENAI_API_KEY"


class Named(Protocol):
    """What is needed of an endpoint."""

    @property
    def model(self) -> str: ...
    @property
    def base_url(self) -> str | None: ...
    @property
    def api_key_env(self) -> str: ...


@dataclass(frozen=True)
class Provider:
    """A provider, by the package that speaks to it.

    Attributes:
        package: of LangChain. extra: of ours, which brings it. key: the environment variable that its key is in, ""
            where there is none, or more than one.
        address: the constructor's name for a base URL.
        init: what its chat model is made with: retries of its own are off.
        names: our setting -> its field, where they differ; None where it has no such setting.
        lacks: what its interface does not have: "logprobs", "n". home: its own address, by which prices are known.
    """

    package: str
    extra: str
    key: str = ""
    address: str = "base_url"
    init: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, str | None] = field(default_factory=dict)
    lacks: frozenset[str] = frozenset({"logprobs", "n"})
    home: str = ""

    @property
    def unsent(self) -> set[str]:
        """Settings that it has no field for."""
        return {name for name, own in self.names.items() if own is None}


NO_RETRIES = {"max_retries": 0}
PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider(
        "langchain_anthropic", "anthropic", "ANTHROPIC_API_KEY", init=NO_RETRIES, names={"seed": None},
        home="https://api.anthropic.com",
    ),
    "google_genai": Provider(
        "langchain_google_genai", "google", "GOOGLE_API_KEY", init={"max_retries": 1},  # of them the first is the call
        names={"max_tokens": "max_output_tokens", "seed": None}, home="https://generativelanguage.googleapis.com",
    ),
    "mistralai": Provider(
        "langchain_mistralai", "mistral", "MISTRAL_API_KEY", "endpoint", {"max_retries": 1},
        {"seed": "random_seed", "reasoning_effort": None}, home="https://api.mistral.ai",
    ),
    "bedrock": Provider(
        "langchain_aws", "bedrock", address="endpoint_url", init=NO_RETRIES,
        names={"seed": None, "top_p": None, "reasoning_effort": None},
    ),
    "bedrock_converse": Provider(
        "langchain_aws", "bedrock", address="endpoint_url", init=NO_RETRIES, names={"seed": None}
    ),
    "azure_openai": Provider(
        "langchain_openai", "azure", "AZURE_OPENAI_API_KEY", "azure_endpoint", NO_RETRIES, lacks=frozenset()
    ),
    "ollama": Provider(
        "langchain_ollama", "ollama", names={"max_tokens": "num_predict", "reasoning_effort": "reasoning"}
    ),
    "litellm": Provider(
        "langchain_litellm", "litellm", address="api_base",
        init={**NO_RETRIES, "model_kwargs": NO_RETRIES},  # its own, and those of the clients below it
        names={"seed": None, "reasoning_effort": None},
    ),
}  # fmt: skip
OPENAI = "https://api.openai.com/v1"  # where calls to openai: go that name no other address
_SETTLED = re.compile(
    r"(?<![a-z0-9])(?:o[134](?:-mini|-pro|-preview)?|gpt-5(?:-mini|-nano|-pro)?)(?:-\d{4}-\d\d-\d\d)?$"
)


ELSEWHERE = ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL")  # say that a provider's package goes to another address


def home_of(model: str) -> str:
    """The address of a provider's own servers, by a judge's name; "" where nobody knows where its calls go."""
    provider = model.partition(":")[0]
    if provider not in PROVIDERS or (provider == "anthropic" and any(map(os.environ.get, ELSEWHERE))):
        return ""
    return PROVIDERS[provider].home


def takes_no_temperature(model: str) -> bool:
    """Whether a model of this name is known to refuse temperature and top_p: OpenAI's reasoning models do."""
    return _SETTLED.search(model.rpartition(":")[2].rpartition("/")[2]) is not None


def chat_model(endpoint: Named, provider: str, name: str) -> Any:
    """The chat model of a provider that is not spoken to by ourselves.

    Raises:
        ExtraError: the package is not installed. ConfigError: a key is missing, the provider is unknown, or takes no
            address of one's own.
    """
    known = PROVIDERS.get(provider)
    if known is None and endpoint.base_url is not None:  # it would be left aside, and the texts would go elsewhere
        raise ConfigError(
            f"judge {endpoint.model}: base_url is of 'openai:MODEL', which speaks to any compatible server, and of "
            f"{', '.join(PROVIDERS)}; for another provider's own, hand over its LangChain chat model"
        )
    if known is not None and not all(map(_is_installed, ("langchain", known.package))):
        raise ExtraError(f"judge {endpoint.model}", known.extra)
    if not _is_installed("langchain"):
        raise _unknown(endpoint)
    given = _made_with(endpoint, known)
    if known is not None:  # a failure is told once, by us: without a handler, Python prints its whole traceback too
        logging.getLogger(known.package).addHandler(logging.NullHandler())
    with warnings.catch_warnings():  # what packages say of their own dependencies while they are imported
        warnings.simplefilter("ignore")
        from langchain.chat_models import init_chat_model

        try:
            made = init_chat_model(name, model_provider=provider, **given)
            if (litellm := sys.modules.get("litellm")) is not None:
                vars(litellm)["suppress_debug_info"] = True  # what it prints at a failure would stand in --json
            return made
        except (ImportError, ValueError, TypeError) as error:
            if known is None and isinstance(error, ValueError):
                raise _unknown(endpoint) from None
            told = one_line(scrubbed(str(error)), 300)
            raise ConfigError(f"judge {endpoint.model}: it cannot be made: {told}") from None


def _unknown(endpoint: Named) -> ConfigError:
    names = ", ".join(f"{one}:" for one in PROVIDERS)
    return ConfigError(
        f"judge {endpoint.model}: 'embedded' and 'openai:' are built in, {names} come with an extra each; any other "
        "needs LangChain's own package: pip install langchain langchain-PROVIDER"
    )


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def _made_with(endpoint: Named, known: Provider | None) -> dict[str, Any]:
    """What the chat model is made with.

    Raises:
        ConfigError: a key is missing.
    """
    found: dict[str, Any] = dict(known.init) if known else {}
    if endpoint.base_url is not None and known is not None:
        found[known.address] = endpoint.base_url
    variable = endpoint.api_key_env if endpoint.api_key_env != OPENAI_KEY else known.key if known else ""
    if variable and not (key := os.environ.get(variable, "").strip()):
        raise ConfigError(f"judge {endpoint.model}: no key; set {variable}, or use --judge embedded")
    if variable and known is not None and variable != known.key:
        found["api_key"] = key
    return found


# An endpoint: a model behind an address, and the settings that go into every call to it.


# An endpoint: a model behind an address, and the settings that go into every call to it.


KEY = OPENAI_KEY
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
Transport = Literal["auto", "fast", "langchain"]


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A model behind an address, with the settings that go into every call to it.

    Attributes:
        model: "embedded", "openai:NAME", or "PROVIDER:NAME" with an extra: anthropic, google_genai, mistralai, bedrock,
            azure_openai, ollama, litellm; any other that LangChain's `init_chat_model` knows.
        base_url: of any OpenAI-compatible server, or of another provider's; None is the provider's own. User and
            password in it are sent as HTTP Basic, and shown nowhere.
        api_key_env: the environment variable that holds the key, by default the provider's usual one; its value is
            never stored or logged.
        temperature, top_p, seed: sent where not None; an agent's own temperature comes first.
        effort: how much a model that thinks before it answers shall think; None leaves it to the model.
        max_tokens: of a reply at most. None sends what the form needs, generously, and more to models that think before
            they answer; 0 sends no limit. A reply that is cut off is asked for once more, shorter.
        timeout: seconds for one attempt, total, however slowly the bytes come.
        attempts: requests per call at most, 1 or more. asks: replies asked for where one cannot be read.
        window: tokens that a prompt and its reply may have together; None: what the price table knows of the model. A
            prompt that is surely longer is not sent: what it was for has the status "too_large".
        vision: it takes pictures; None: what is known of the model, else it is tried. What needs pictures of a judge
            that takes none has the status "skipped".
        patience: seconds that an outage of the server is waited out, as `judgegraph.Limits` has it; None leaves it to
            the run.
        rpm, tpm, in_flight: requests and tokens per minute, and requests in flight, at most, of all that this process
            sends to the model; as `judgegraph.Limits` has them. Where one is set, a run's limits do not apply.
        transport: of "openai:" models: "fast" is aiohttp without an SDK, "langchain" is langchain-openai, "auto" the
            first if aiohttp is installed (or what JUDGEGRAPH_TRANSPORT says). Replies are the same.

    Raises:
        ConfigError: timeout is not above 0, patience is below 0, attempts, asks or a limit are below 1, max_tokens is
            below 0, or there is no such transport.
    """

    model: str
    base_url: str | None = field(default=None, repr=False)
    api_key_env: str = KEY
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    timeout: float = 120.0
    attempts: int = 5
    asks: int = 3
    rpm: int | None = None
    tpm: int | None = None
    in_flight: int | None = None
    transport: Transport = "auto"
    patience: float | None = None
    window: int | None = None
    vision: bool | None = None
    effort: Effort | None = None

    def __post_init__(self) -> None:
        if not self.model.strip() or "://" in self.model:
            raise ConfigError(f"judge {self.model!r:.80}: no model's name; an address goes into base_url")
        if not self.timeout > 0 or self.attempts < 1 or self.asks < 1:
            raise ConfigError(f"judge {self.model}: timeout must be above 0, attempts and asks 1 or more")
        if self.max_tokens is not None and (not isinstance(self.max_tokens, int) or self.max_tokens < 0):
            raise ConfigError(
                f"judge {self.model}: max_tokens is a whole number, 0 or more (0 sends no limit), or None for a "
                f"generous one; got {self.max_tokens!r}"
            )
        refuse_below_one(
            f"judge {self.model}", rpm=self.rpm, tpm=self.tpm, in_flight=self.in_flight, window=self.window
        )
        refuse_below_zero(f"judge {self.model}", patience=self.patience)
        if self.effort is not None and self.effort not in get_args(Effort):
            listed = ", ".join(get_args(Effort))
            raise ConfigError(f"judge {self.model}: effort is one of {listed}, or None; got {self.effort!r}")
        if self.transport not in get_args(Transport):
            raise ConfigError(f"judge {self.model}: transport is 'auto', 'fast' or 'langchain', got {self.transport!r}")

    @property
    def address(self) -> str:
        """The base URL without anything that may be a key; "" for the provider's own."""
        return bare(self.base_url) if self.base_url else ""

    def __str__(self) -> str:
        return self.model


def refuse_below_one(whose: str, **limits: object) -> None:
    """A limit is a whole number, 1 or more, or None for none; anything else is a ConfigError."""
    for name, limit in limits.items():
        if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
            raise ConfigError(f"{whose}: {name} must be a whole number, 1 or more, or None for no limit; got {limit!r}")


def refuse_below_zero(whose: str, **seconds: object) -> None:
    """A time is a number of 0 or more, or None for the default; anything else is a ConfigError."""
    for name, value in seconds.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (number and 0 <= cast(float, value) < inf):
            raise ConfigError(f"{whose}: {name} must be a number of seconds, 0 or more, or None; got {value!r}")


# By which of two ways "openai:" models are asked.


VARIABLE = "JUDGEGRAPH_TRANSPORT"


def is_fast(endpoint: Endpoint) -> bool:
    """Whether it is asked over aiohttp, not by langchain-openai: as it says, else the environment, else if it can.

    Raises:
        ConfigError: the environment names no transport. ExtraError: aiohttp was asked for and is not installed.
    """
    wanted = endpoint.transport if endpoint.transport != "auto" else os.environ.get(VARIABLE) or "auto"
    if wanted not in get_args(Transport):
        raise ConfigError(f"{VARIABLE} is 'auto', 'fast' or 'langchain', got {wanted!r}")
    installed = find_spec("aiohttp") is not None
    if wanted == "fast" and not installed:
        raise ExtraError("the fast path to OpenAI-compatible servers", "fast")
    return wanted == "fast" or (wanted == "auto" and installed)


# A judge: a chat model with what we know of it.


LimitName: TypeAlias = Literal["max_tokens", "max_completion_tokens"]
FAMILIAR = 40  # replies of a judge to a form after which its habits are known


@dataclass
class Support:
    """What a judge was found to do: None until tried.

    Attributes:
        tools: those offered are called. max_tokens: the name under which a limit of a reply's length is heeded,
            None where that is not known. refused: settings it does not take.
        presumed: names of what `doctor` found some days ago: the first reply that says otherwise is believed.
        doubts: errors on end that may pass, and name the schema that was sent.
        max_length: bounds of texts within a schema are taken. cap: a limit of a reply's length that nobody asked for
            is taken. thinks: it thinks before it answers, and what it thinks counts as the reply's.
        most_n: choices that it gives at once, None where that is not known. cut, whole: its replies that were cut off,
            and that were not. filled: form -> of its first replies how many were looked at, and how many of these had a
            text as long as its bound. together: form -> choices of one request at most.
            endless: form -> its replies that were cut off, or did not come in their time.
            beyond: a number lay beyond the ends that its schema names.
    """

    json_schema: bool | None = None
    logprobs: bool | None = None
    top_logprobs: int = 20
    n: bool | None = None
    tools: bool | None = None
    max_tokens: LimitName | None = None
    refused: set[str] = field(default_factory=set)
    presumed: set[str] = field(default_factory=set, compare=False)
    doubts: int = field(default=0, compare=False, repr=False)
    max_length: bool | None = None
    cap: bool | None = field(default=None, compare=False, repr=False)
    thinks: bool | None = None
    most_n: int | None = field(default=None, compare=False, repr=False)
    cut: int = field(default=0, compare=False, repr=False)
    whole: int = field(default=0, compare=False, repr=False)
    endless: dict[str, int] = field(default_factory=dict, compare=False, repr=False)
    beyond: bool = field(default=False, compare=False, repr=False)
    filled: dict[str, tuple[int, int]] = field(default_factory=dict, compare=False, repr=False)
    together: dict[str, int] = field(default_factory=dict, compare=False, repr=False)

    def keeps_to_schemas(self) -> bool:
        """Whether a reply to a schema was seen to keep to it."""
        return self.json_schema is True and "json_schema" not in self.presumed

    def runs_on(self, form: str = "") -> bool:
        """Whether its texts are kept shorter from the beginning.

        One reply in five is cut off, or it fills the form, or every third reply to the form did not come to its end.
        """
        endless, ended = self.endless.get(form, 0), self.filled.get(form, (0, 0))[0]
        never_ends = endless >= 2 and 2 * endless >= ended
        return (self.cut >= 2 and 4 * self.cut >= self.whole) or self.fills(form) or never_ends

    def fills(self, form: str) -> bool:
        """Whether a text went on to its bound in every other request for a form, as its longest reply is waited for.

        Of a form that it has not answered yet: whether all replies to others did, or were cut off.
        """
        if form in self.filled:
            looked_at, full = self.filled[form]
            return full >= 2 and 2 * full * self.together.get(form, 1) >= looked_at
        looked_at, full = map(sum, zip(*self.filled.values(), strict=True)) if self.filled else (0, 0)
        return 1 <= full == looked_at and full + sum(self.endless.values()) >= 2


@dataclass
class Judge:
    """A chat model with what we know of it.

    Attributes:
        speaks_openai: takes response_format, logprobs, n and tools as keyword arguments.
        secrets: texts that must stand in no message.
    """

    name: str
    model: BaseChatModel = field(repr=False)
    endpoint: Endpoint
    speaks_openai: bool
    support: Support = field(default_factory=Support)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    given: bool = False  # a chat model object of the caller's
    short: Any = field(default=None, repr=False)  # of an ordinary ChatOpenAI: the way around its SDK
    provider: Provider | None = field(default=None, repr=False)  # of one that LangChain's package speaks to


JudgeLike: TypeAlias = "str | Endpoint | BaseChatModel"


@dataclass
class _Held:
    """What is kept of a model object: not the object itself, which goes when its owner lets it go."""

    owner: weakref.ref[Any]
    twin: Any  # a copy without retries of its own, None where the object is used as it is
    support: Support
    secrets: tuple[str, ...] = field(repr=False)
    short: Any = None
    endpoint: Endpoint | None = None  # of a model that stands for another judge: its settings
    name: str | None = None  # and its name


_by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Endpoint, Judge]]
_by_loop = weakref.WeakKeyDictionary()  # HTTP clients belong to the loop they were made in
_by_model: dict[int, _Held] = {}
trying: ContextVar[dict[Any, Judge] | None] = ContextVar("judgegraph_trying", default=None)
"""In a plan: judges that are asked nothing, each with a Support of the plan's own; None outside of one."""


def resolve(judge: JudgeLike) -> Judge:
    """The judge, made once per event loop; called at the first call, never while a graph is built.

    Raises:
        ConfigError: the name is unknown, a key or a package is missing.
    """
    if isinstance(judge, str):
        judge = _named(judge)
    if (tried := trying.get()) is not None:
        return _tried(judge, tried)
    if not isinstance(judge, Endpoint):
        return _given(judge)
    loop = asyncio.get_running_loop()
    if (known := _by_loop.get(loop)) is None:
        known = _by_loop[loop] = {}
    if (found := known.get(judge)) is None:
        found = known[judge] = _make(judge)
    return found


@lru_cache(maxsize=256)
def _named(model: str) -> Endpoint:
    return Endpoint(model=model)


def _tried(judge: Any, known: dict[Any, Judge]) -> Judge:
    """For a plan: no key, no client and no provider's package, as nothing is sent; what is learnt of it stays there."""
    given = not isinstance(judge, Endpoint)
    key = id(judge) if given else judge
    if key not in known:
        if given:
            known[key] = replace(_given(judge), support=supported(judge))
        elif judge.model == "embedded":
            known[key] = _make(judge)
        else:
            _check_name(judge)
            nobody: Any = SimpleNamespace(_llm_type="judgegraph-nobody")
            known[key] = Judge(judge.model, nobody, judge, True, known_support(judge) or Support())
    return known[key]


def name_of(judge: JudgeLike) -> str:
    """What a signature calls it, without making it: "openai:gpt-4.1-mini", or a model object's class and name."""
    if isinstance(judge, str | Endpoint):
        return str(judge)
    name = getattr(judge, "model_name", None) or getattr(judge, "model", None) or ""
    return f"{type(judge).__name__}:{name}".rstrip(":")


def _given(model: Any) -> Judge:
    key = id(model)
    held = _by_model.get(key)
    if held is None or held.owner() is not model:
        from langchain_core.language_models import BaseChatModel

        if not isinstance(model, BaseChatModel):
            raise ConfigError(f"a judge is a name, an Endpoint or a LangChain chat model, got {type(model).__name__}")
        owner = weakref.ref(model, lambda _: _by_model.pop(key, None))
        twin = _unretried(model)
        brought = getattr(model, "judgegraph_endpoint", None), getattr(model, "judgegraph_name", None)
        held = _by_model[key] = _Held(owner, twin, supported(model), secrets_of(model), _short(twin), *brought)
    name = held.name or name_of(model)
    used = model if held.twin is None else held.twin
    endpoint, speaks = held.endpoint or Endpoint(model=name), _speaks_openai(model)
    return Judge(name, used, endpoint, speaks, held.support, held.secrets, given=True, short=held.short)


def _short(twin: Any) -> Any:
    if twin is None or not is_fast(Endpoint(model="openai:given")):
        return None
    from judgegraph.models.http import plain

    return plain(twin)


def _unretried(model: Any) -> Any:
    """A copy for the one retry layer, ours: an SDK's own would multiply with it. None where there is no SDK.

    It does not stream either: merged chunks of several choices are no reply.
    """
    client = getattr(model, "root_async_client", None)
    if not _speaks_openai(model) or client is None:
        return None
    plain = client.with_options(max_retries=0)
    plain._prepare_options = _sent_on_by_nobody
    changed = {"max_retries": 0, "root_async_client": plain, "async_client": plain.chat.completions}
    return model.model_copy(update={**changed, "disable_streaming": True})


async def _sent_on_by_nobody(options: Any) -> Any:
    """The SDK's place to change what a request is sent with: no redirect is followed, as on the fast path."""
    options.follow_redirects = False
    return options


def supported(model: Any) -> Support:
    """What is known of a model object untried: OpenAI's Responses API takes neither n nor logprobs from LangChain."""
    responses = getattr(model, "use_responses_api", None) is True
    return Support(logprobs=False, n=False) if responses else Support()


def untried(judge: Judge) -> Support:
    """What is known of a judge before it is asked: of a provider, what its interface has no place for."""
    if judge.provider is None or judge.speaks_openai:
        return supported(judge.model)
    found = Support(refused=judge.provider.unsent & REFUSABLE)
    found.logprobs = False if "logprobs" in judge.provider.lacks else None
    found.n = False if "n" in judge.provider.lacks else None
    return found


def _speaks_openai(model: Any) -> bool:
    if getattr(model, "speaks_openai", False):
        return True
    return any(kind.__name__ == "BaseChatOpenAI" for kind in type(model).__mro__)


def _make(endpoint: Endpoint) -> Judge:
    if endpoint.model == "embedded":
        from judgegraph.embedded.model import EmbeddedJudge

        return Judge("embedded", EmbeddedJudge(), endpoint, speaks_openai=True)
    provider, name = _check_name(endpoint)

    judge = _openai(endpoint, name) if provider == "openai" else _other(endpoint, provider, name)
    if takes_no_temperature(endpoint.model) and judge.speaks_openai and not judge.endpoint.base_url:
        judge.support.refused |= {"temperature", "top_p"}
    judge.support = known_support(endpoint) or judge.support
    return judge


def _check_name(endpoint: Endpoint) -> tuple[str, str]:
    """The provider and the model that a judge's name says."""
    provider, _, name = endpoint.model.partition(":")
    if not provider.strip() or not name.strip():
        known = "write 'embedded', 'openai:MODEL' or 'PROVIDER:MODEL'"
        raise ConfigError(f"no judge '{one_line(scrubbed(endpoint.model), 80)}'; {known}")
    return provider, name


def _openai(endpoint: Endpoint, name: str) -> Judge:
    address = endpoint.base_url or os.environ.get("OPENAI_BASE_URL") or None
    key = _key(endpoint)
    if not key and not address:
        raise ConfigError(
            f"judge {endpoint.model}: no key; set {endpoint.api_key_env}, name a server of your own with "
            "--base-url, or use --judge embedded"
        )
    if is_fast(endpoint):
        from judgegraph.models.http import at

        model: BaseChatModel = at(name, address, key, judge=endpoint.model, timeout=endpoint.timeout)
    else:
        model = _langchain_openai(name, address, key, endpoint)
    secrets = {*secrets_of(model), *credentials(address or "")} - {""}
    return Judge(endpoint.model, model, endpoint, True, secrets=tuple(sorted(secrets, key=len, reverse=True)))


def _key(endpoint: Endpoint) -> str:
    """The key in the environment, without white space around it, as a file or a terminal may leave it."""
    key = os.environ.get(endpoint.api_key_env, "").strip()
    if not key.isascii() or not key.isprintable():
        raise ConfigError(
            f"judge {endpoint.model}: the key in {endpoint.api_key_env} has a character that no key can have, such as "
            "a line break or a typographic quote; copy it again"
        )
    return key


def _langchain_openai(name: str, address: str | None, key: str | None, endpoint: Endpoint) -> BaseChatModel:
    from langchain_openai import ChatOpenAI
    from openai import DefaultAsyncHttpxClient

    # A client of our own: langchain-openai shares one among event loops, and an address with a password
    # in it would stand in the SDK's logs. Our timeout is the total one, in the call; the Responses API drops
    # log-probabilities; streamed chunks of several choices cannot be told apart.
    login = urlsplit(address or "")
    auth = (unquote(login.username or ""), unquote(login.password or "")) if login.username else None
    model: BaseChatModel = ChatOpenAI(
        model=name, base_url=without_login(address), api_key=key or "unused", max_retries=0,
        timeout=endpoint.timeout, use_responses_api=False, disable_streaming=True,
        http_async_client=DefaultAsyncHttpxClient(auth=auth, timeout=endpoint.timeout, follow_redirects=False),
    )  # fmt: skip
    return model


def without_login(address: str | None) -> str | None:
    """The address without user and password; its query stays, some servers need it."""
    if not address:
        return None
    login, at, _ = urlsplit(address).netloc.rpartition("@")
    return address.replace(login + at, "", 1) if at else address


def _other(endpoint: Endpoint, provider: str, name: str) -> Judge:
    model = chat_model(endpoint, provider, name)
    speaks, known = _speaks_openai(model), PROVIDERS.get(provider)
    judge = Judge(endpoint.model, model, endpoint, speaks, secrets=secrets_of(model), provider=known)
    judge.support = untried(judge)
    return judge


# What `doctor` found of an endpoint, kept in the user's cache folder, so that a run need not fail to learn it.


VERSION = 1
FRESH = timedelta(days=30)  # servers change; older findings are not used
AGAIN = timedelta(days=7)  # what a run finds out again at the cost of one refused request is not believed for longer
REFUSABLE = {"temperature", "top_p", "seed", "reasoning_effort"}
SLACK = timedelta(days=1)  # a clock that was set back makes no finding void


class Findings(BaseModel):
    """What was found of one model at one address.

    Attributes:
        address: without user, password and query; "" is the provider's own. date: when it was found.
        deviations: where the endpoint does other than OpenAI's API says, and what that means for a run.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    version: int = VERSION
    model: str
    address: str
    date: datetime
    support: Support
    deviations: tuple[str, ...] = ()


def cache_folder() -> Path:
    """$JUDGEGRAPH_CACHE, else `judgegraph` in $XDG_CACHE_HOME or where this system keeps its caches.

    Raises:
        ConfigError: the user has no home folder.
    """
    if own := os.environ.get("JUDGEGRAPH_CACHE"):
        return Path(own)
    named = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else None)
    if named:
        return Path(named) / "judgegraph"
    try:
        home = Path.home()
    except RuntimeError:
        raise ConfigError("there is no home folder for a cache; set JUDGEGRAPH_CACHE to a folder") from None
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "judgegraph"


def address_used(endpoint: Endpoint) -> str:
    """Where its calls go, without anything that may be a key; "" for the provider's own."""
    return bare(endpoint.base_url or os.environ.get("OPENAI_BASE_URL") or "")


def known_support(endpoint: Endpoint, now: datetime | None = None) -> Support | None:
    """What was found of this endpoint in the last 30 days; None where nothing was, or it cannot be read.

    After 7 days it holds only what a run would not notice by itself: a name of the limit, a schema and bounds within it
    that are ignored without a word, and whether it thinks. All else is tried once more, once in each process.
    """
    try:
        found = Findings.model_validate_json(_path(endpoint).read_bytes(), strict=True)
    except (OSError, ValueError, ConfigError):  # it is a cache: without it a run learns by itself
        return None
    same = (found.version, found.model, found.address) == (VERSION, endpoint.model, address_used(endpoint))
    age = (now or datetime.now(UTC)) - _aware(found.date)
    if not same or not -SLACK <= age <= FRESH or not _sound(found.support):
        return None
    support = found.support if age <= AGAIN else _lasting(found.support)
    support.presumed = {
        name for name in ("json_schema", "logprobs", "max_tokens") if getattr(support, name) is not None
    }
    return support


def _sound(support: Support) -> bool:
    """Each value is one that doctor may have found: others were written by somebody else."""
    return 0 <= support.top_logprobs <= 20 and support.refused <= REFUSABLE


def _lasting(support: Support) -> Support:
    return Support(
        json_schema=support.json_schema, max_tokens=support.max_tokens, max_length=support.max_length,
        thinks=support.thinks,
    )  # fmt: skip


def keep(endpoint: Endpoint, support: Support, deviations: tuple[str, ...] = (), now: datetime | None = None) -> Path:
    """Write down what was found, readable by its owner alone, in place of what stood there.

    Raises:
        ConfigError: the cache folder cannot be written to.
    """
    found = Findings(
        model=endpoint.model, address=address_used(endpoint), date=now or datetime.now(UTC),
        support=support, deviations=deviations,
    )  # fmt: skip
    path = _path(endpoint)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(
            path,
            json.dumps(
                found.model_dump(mode="json", exclude={"support": {"presumed", "doubts", "cap", "cut", "whole"}}),
                indent=1,
            ),
        )
    except OSError as error:
        raise ConfigError(f"findings cannot be kept in {path.parent}: {error.strerror or error}") from None
    return path


def _replace(path: Path, text: str) -> None:
    """At once or not at all: another process may be reading it."""
    with NamedTemporaryFile("w", dir=path.parent, prefix=".", delete=False, encoding="utf-8") as file:  # mode 0600
        file.write(text)
    try:
        Path(file.name).replace(path)
    except OSError:
        with suppress(OSError):
            Path(file.name).unlink()
        raise


def _path(endpoint: Endpoint) -> Path:
    key = json.dumps([endpoint.model, address_used(endpoint)]).encode()
    return cache_folder() / "doctor" / f"{blake2b(key, digest_size=16).hexdigest()}.json"


def _aware(date: datetime) -> datetime:
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def adopt(known: Support, found: Support) -> None:
    """Put what was found in the place of what was known, also for calls that are under way."""
    for one in fields(Support):
        setattr(known, one.name, getattr(found, one.name))


# Where a judge's prompts go.


def host_of(judge: Any) -> list[str]:
    """Host and path of its base URL."""
    address = getattr(judge, "base_url", None) or getattr(judge, "openai_api_base", None)
    if not address and isinstance(judge, str | Endpoint) and str(judge).startswith("openai:"):
        address = os.environ.get("OPENAI_BASE_URL")
    parts = urlsplit(str(address or ""))
    host = parts.netloc.rpartition("@")[2]
    return [scrubbed(host + parts.path.rstrip("/"))] if host else []


def destination(judge: Any) -> str:
    """Where a judge's prompts go and by which key, without the key.

    Such as "openai:m: texts go to https://host/v1, with the key in OPENAI_API_KEY"; "" for the embedded judge, which
    sends nothing.
    """
    name = name_of(judge)
    if name == "embedded" or getattr(judge, "_llm_type", "") == "embedded":
        return ""
    endpoint = Endpoint(model=judge) if isinstance(judge, str) else judge
    if not isinstance(endpoint, Endpoint):
        where = "".join(host_of(judge)) or "where the chat model object sends them"
        return one_line(f"{name}: texts go to {where}, with what the object holds as its key", 300)
    provider = name.partition(":")[0]
    address = endpoint.address or (bare(os.environ.get("OPENAI_BASE_URL") or "") if provider == "openai" else "")
    if provider != "openai":
        return one_line(f"{name}: texts go to {address or provider}, with the key that its package looks up", 300)
    key = endpoint.api_key_env if os.environ.get(endpoint.api_key_env) else ""
    where = address or OPENAI
    return one_line(f"{name}: texts go to {where}, " + (f"with the key in {key}" if key else "without a key"), 300)
