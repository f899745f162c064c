"""A model behind an address, and the settings that go into every call to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from judgegraph.errors import ConfigError
from judgegraph.models.secrets import bare

KEY = "OPENAI_API_KEY"
Transport = Literal["auto", "fast", "langchain"]


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A model behind an address, with the settings that go into every call to it.

    Attributes:
        model: "embedded", "openai:NAME", or "PROVIDER:NAME" where the package `langchain` is installed.
        base_url: of any OpenAI-compatible server; None is the provider's own. User and password in it are sent
            as HTTP Basic, and shown nowhere.
        api_key_env: the environment variable that holds the key; its value is never stored or logged.
        temperature, top_p, max_tokens, seed: sent where not None; an agent's own temperature comes first.
        timeout: seconds for one attempt, total, however slowly the bytes come.
        attempts: requests per call at most, 1 or more. asks: replies asked for where one cannot be read.
        rpm, tpm, in_flight: requests and tokens per minute, and requests in flight, at most, of all that this process
            sends to the model; as `judgegraph.Limits` has them. Where one is set, a run's limits do not apply.
        transport: of "openai:" models: "fast" is aiohttp without an SDK, "langchain" is langchain-openai, "auto" the
            first if aiohttp is installed (or what JUDGEGRAPH_TRANSPORT says). Replies are the same.

    Raises:
        ConfigError: timeout is not above 0, attempts, asks or a limit are below 1, or there is no such transport.
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

    def __post_init__(self) -> None:
        if not self.timeout > 0 or self.attempts < 1 or self.asks < 1:
            raise ConfigError(f"judge {self.model}: timeout must be above 0, attempts and asks 1 or more")
        refuse_below_one(f"judge {self.model}", rpm=self.rpm, tpm=self.tpm, in_flight=self.in_flight)
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
