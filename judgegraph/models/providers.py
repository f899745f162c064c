"""Providers that LangChain's packages speak to: what each package is called, and how its chat model is told a setting.

"anthropic:claude-sonnet-4-5" is made by LangChain's `init_chat_model`, with its own retries off, as there is one retry
layer, ours. A package is imported when its judge is first asked; where it is missing, one line names the extra.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Protocol

from judgegraph.errors import ConfigError, ExtraError, one_line, scrubbed

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
        "langchain_aws", "bedrock", address="endpoint_url",
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
    given = _given(endpoint, known)
    with warnings.catch_warnings():  # what packages say of their own dependencies while they are imported
        warnings.simplefilter("ignore")
        from langchain.chat_models import init_chat_model

        try:
            return init_chat_model(name, model_provider=provider, **given)
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


def _given(endpoint: Named, known: Provider | None) -> dict[str, Any]:
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
