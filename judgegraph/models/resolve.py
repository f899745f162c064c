"""Who answers: from "openai:MODEL", "embedded", an Endpoint or a LangChain chat model to one kind of judge."""

from __future__ import annotations

import asyncio
import os
import weakref
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import unquote, urlsplit

from judgegraph.errors import ConfigError, one_line
from judgegraph.models.endpoint import Endpoint
from judgegraph.models.secrets import credentials, scrubbed, secrets_of
from judgegraph.models.transport import is_fast

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["Endpoint", "Judge", "JudgeLike", "Support", "name_of", "resolve"]


LimitName: TypeAlias = Literal["max_tokens", "max_completion_tokens"]


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
            and that were not.
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

    @property
    def runs_on(self) -> bool:
        """Whether one reply in five is cut off: its texts are kept shorter from the beginning."""
        return self.cut >= 2 and 4 * self.cut >= self.whole


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
        judge = Endpoint(model=judge)
    if (tried := trying.get()) is not None:
        return _tried(judge, tried)
    if not isinstance(judge, Endpoint):
        return _given(judge)
    known = _by_loop.setdefault(asyncio.get_running_loop(), {})
    if judge not in known:
        known[judge] = _make(judge)
    return known[judge]


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
            from judgegraph.models.findings import known_support

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
    from judgegraph.models.plain_openai import plain

    return plain(twin) if twin is not None else None


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


def _speaks_openai(model: Any) -> bool:
    if getattr(model, "speaks_openai", False):
        return True
    return any(kind.__name__ == "BaseChatOpenAI" for kind in type(model).__mro__)


def _make(endpoint: Endpoint) -> Judge:
    if endpoint.model == "embedded":
        from judgegraph.models.embedded import EmbeddedJudge

        return Judge("embedded", EmbeddedJudge(), endpoint, speaks_openai=True)
    provider, name = _check_name(endpoint)
    from judgegraph.models.findings import known_support

    judge = _openai(endpoint, name) if provider == "openai" else _other(endpoint)
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
        from judgegraph.models.fast import at

        model: BaseChatModel = at(name, address, key, endpoint)
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


def _other(endpoint: Endpoint) -> Judge:
    if endpoint.base_url is not None:  # it would be left aside, and the texts would go elsewhere
        raise ConfigError(
            f"judge {endpoint.model}: base_url is of 'openai:MODEL' alone, which speaks to any compatible server; for "
            "another provider's own, hand over its LangChain chat model"
        )
    try:
        from langchain.chat_models import init_chat_model  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise ConfigError(
            f"judge {endpoint.model}: only 'openai:' and 'embedded' are built in; "
            "others need the packages of LangChain: pip install langchain langchain-PROVIDER"
        ) from None
    try:
        model = init_chat_model(endpoint.model)
    except (ImportError, ValueError) as error:
        raise ConfigError(f"judge {endpoint.model}: {one_line(scrubbed(str(error)))}") from None
    return Judge(endpoint.model, model, endpoint, _speaks_openai(model), secrets=secrets_of(model))
