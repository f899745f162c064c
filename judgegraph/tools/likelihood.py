"""The conditional log-probability of an output given its source, by a completions endpoint: Fusion-Eval's "Prob"."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from judgegraph.calls.context import computed
from judgegraph.errors import ConfigError
from judgegraph.models.judges import Endpoint
from judgegraph.tools.catalogue import About, Unmeasurable
from judgegraph.tools.metrics import capped
from judgegraph.types import Finding, Sample


@dataclass(frozen=True, kw_only=True)
class Likelihood:
    """Mean log-probability, in nats, of the output's tokens behind query and source: 0 or less.

    Source: Fusion-Eval (arXiv:2311.09204), table 3, "PaLM2 Prob": of the response given the fact and the conversation.
    How the texts are joined is not said there; ours: query, source and output with a blank line between them.

    Attributes:
        endpoint: a server with /completions that echoes log-probabilities of the prompt (vLLM, llama.cpp's server,
            and others do; OpenAI's chat models do not). Its model is "openai:NAME" or a bare name; limits, seed and
            temperature have nothing to say here.

    One request a sample, without a limiter beside the SDK's own retries; values are kept in the run's ledger.
    """

    endpoint: Endpoint | None = None
    name: str = "likelihood"
    about: About = field(default_factory=lambda: About(
        measures="how likely a language model finds the output behind the query and the source: mean log-probability "
        "of a token", reads="the output, with the query and the source before it", range="-20 to 0",
        direction="higher = more natural and better fitting; rare names lower it, for no fault of the text",
        inputs=("output", "source or query"), cost="one request of a completions endpoint, no token written",
        licence="that of the model you name", source="Shu et al. 2023, arXiv:2311.09204, table 3",
        extra="endpoint",
    ))  # fmt: skip

    async def __call__(self, sample: Sample, /) -> Finding:
        before = "\n\n".join(part for part in (capped(sample.query), capped(sample.source)) if part.strip())
        if not before:
            raise Unmeasurable("the sample has no source and no query")
        output = capped(sample.output)
        if not output.strip():
            raise Unmeasurable("the output holds no word")
        asked = self._endpoint()
        what = {"assistant": self.name, "model": asked.model, "server": asked.address, "texts": [before, output]}
        total, n = await computed(what, lambda: self._asked(asked, before, output))
        return Finding(assistant=self.name, value=total / n, reason=f"{n} tokens, {total:.1f} nats together")

    def _endpoint(self) -> Endpoint:
        if self.endpoint is None:
            error = ConfigError(
                "likelihood: name a server: jg.tools.likelihood.Likelihood(endpoint=jg.Endpoint(model='openai:MODEL', "
                "base_url='http://localhost:8000/v1')) with /completions that echoes log-probabilities"
            )
            error.ends_run = True
            raise error
        return self.endpoint

    async def _asked(self, asked: Endpoint, before: str, output: str) -> list[float]:
        """[sum of the log-probabilities of the output's tokens, how many they are]."""
        prefix = before + "\n\n"
        reply = await _client(asked.base_url, os.environ.get(asked.api_key_env, ""), asked.timeout).completions.create(
            model=asked.model.removeprefix("openai:"), prompt=prefix + output, echo=True, logprobs=1, max_tokens=1,
            temperature=0,
        )  # fmt: skip
        told = reply.choices[0].logprobs
        if told is None or not told.token_logprobs or not told.text_offset:
            raise ConfigError(f"{asked.model}: the server echoes no log-probabilities of the prompt")
        found = _of_output(told.text_offset, told.token_logprobs, len(prefix), len(prefix) + len(output))
        if not found:
            raise ConfigError(f"{asked.model}: no token of the output came back; the prompt may be beyond its context")
        return [float(sum(found)), len(found)]


def _of_output(offsets: Sequence[int], values: Sequence[float | None], start: int, end: int) -> list[float]:
    """Those of tokens that begin in the output; the one token that was written behind it is not of it."""
    pairs = zip(offsets, values, strict=True)
    return [value for offset, value in pairs if value is not None and start <= offset < end]


@cache
def _client(base_url: str | None, key: str, timeout: float) -> Any:
    from openai import AsyncOpenAI

    return AsyncOpenAI(base_url=base_url, api_key=key or "none", timeout=timeout)
