"""A model behind an address, and the settings that go into every call to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Literal, cast, get_args

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
        temperature, top_p, seed: sent where not None; an agent's own temperature comes first.
        max_tokens: of a reply at most. None sends what the form needs, generously, and more to models that think before
            they answer; 0 sends no limit. A reply that is cut off is asked for once more, shorter.
        timeout: seconds for one attempt, total, however slowly the bytes come.
        attempts: requests per call at most, 1 or more. asks: replies asked for where one cannot be read.
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

    def __post_init__(self) -> None:
        if not self.timeout > 0 or self.attempts < 1 or self.asks < 1:
            raise ConfigError(f"judge {self.model}: timeout must be above 0, attempts and asks 1 or more")
        if self.max_tokens is not None and (not isinstance(self.max_tokens, int) or self.max_tokens < 0):
            raise ConfigError(
                f"judge {self.model}: max_tokens is a whole number, 0 or more (0 sends no limit), or None for a "
                f"generous one; got {self.max_tokens!r}"
            )
        refuse_below_one(f"judge {self.model}", rpm=self.rpm, tpm=self.tpm, in_flight=self.in_flight)
        refuse_below_zero(f"judge {self.model}", patience=self.patience)
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
