"""The conditional log-probability of an output given its source, by a local model or a server: Fusion-Eval's "Prob"."""

from __future__ import annotations

import asyncio
import importlib
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

from judgegraph.calls.context import computed
from judgegraph.errors import ConfigError
from judgegraph.models.judges import Endpoint
from judgegraph.tools.catalogue import About, Unmeasurable
from judgegraph.tools.encoder import LOADING, digest_of
from judgegraph.tools.metrics import capped
from judgegraph.types import Finding, Sample


@dataclass(frozen=True, kw_only=True)
class Likelihood:
    """Mean log-probability, in nats, of the output's tokens behind query and source: 0 or less.

    Source: Fusion-Eval (arXiv:2311.09204), table 3, "PaLM2 Prob": of the response given the fact and the conversation.
    How the texts are joined is not said there; ours: query, source and output with a blank line between them.

    Attributes:
        model: a causal language model for transformers, run on this machine: a folder, a .gguf file, or OWNER/NAME of
            the Hugging Face hub. It is loaded once, in a thread, and reads one text at a time.
        revision: of the hub.
        endpoint: in its place, a server with /completions that echoes log-probabilities of the prompt (vLLM does;
            llama.cpp's own server and OpenAI's chat models do not). Its model is "openai:NAME" or a bare name;
            limits, seed and temperature have nothing to say here.

    A server gets one request a sample, without a limiter beside the SDK's own retries. Values are kept in the run's
    ledger, those of a model on this machine by the digest of its files.
    """

    model: str = ""
    revision: str = ""
    endpoint: Endpoint | None = None
    name: str = "likelihood"
    about: About = field(default_factory=lambda: About(
        measures="how likely a language model finds the output behind the query and the source: mean log-probability "
        "of a token", reads="the output, with the query and the source before it", range="-20 to 0",
        direction="higher = more natural and better fitting; rare names lower it, for no fault of the text",
        inputs=("output", "source or query"),
        cost="one reading by a model on this machine, or one request of a completions endpoint; no token written",
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
        if self.model:
            weights = await asyncio.to_thread(digest_of, self.model)
            what = {"assistant": self.name, "model": self.model, "revision": self.revision, "weights": weights}
            read = partial(asyncio.to_thread, self._read, before, output, weights)
            found = await computed({**what, "texts": [before, output]}, read)
        else:
            found = await self._by_server(before, output)
        total, n = found
        return Finding(assistant=self.name, value=total / n, reason=f"{n} tokens, {total:.1f} nats together")

    def _read(self, before: str, output: str, weights: str) -> list[float]:
        """By the local model: [sum of the log-probabilities of the output's tokens, how many they are]."""
        with _ONE_AT_A_TIME:
            try:
                with LOADING:
                    read = _local(self.model, self.revision, weights)
            except ImportError:
                error = ConfigError('likelihood: a local model is run by: pip install "judgegraph[likelihood]"')
                error.ends_run = True
                raise error from None
            prefix = before + "\n\n"
            found = _of_output(*read(prefix + output), len(prefix), len(prefix) + len(output))
        if not found:
            raise Unmeasurable("the model's tokenizer finds no token in the output")
        return [float(sum(found)), len(found)]

    async def _by_server(self, before: str, output: str) -> Any:
        asked = self._endpoint()
        what = {"assistant": self.name, "model": asked.model, "server": asked.address, "texts": [before, output]}
        return await computed(what, lambda: self._asked(asked, before, output))

    def _endpoint(self) -> Endpoint:
        if self.endpoint is None:
            error = ConfigError(
                "likelihood: name a model on this machine, jg.tools.likelihood.Likelihood(model=FOLDER or FILE.gguf), "
                "or a server: jg.tools.likelihood.Likelihood(endpoint=jg.Endpoint(model='openai:MODEL', "
                "base_url='http://localhost:8000/v1')) with /completions that echoes log-probabilities"
            )
            error.ends_run = True
            raise error
        return self.endpoint

    async def _asked(self, asked: Endpoint, before: str, output: str) -> list[float]:
        """[sum of the log-probabilities of the output's tokens, how many they are]."""
        prefix = before + "\n\n"
        reply = await _echoed(asked, prefix + output)
        told = reply.choices[0].logprobs
        if told is None or not told.token_logprobs or not told.text_offset:
            raise _without_echo(asked.model)
        found = _of_output(told.text_offset, told.token_logprobs, len(prefix), len(prefix) + len(output))
        if not found:
            raise ConfigError(f"{asked.model}: no token of the output came back; the prompt may be beyond its context")
        return [float(sum(found)), len(found)]


async def _echoed(asked: Endpoint, prompt: str) -> Any:
    """The server's completion of one token, with its prompt before it."""
    from openai import APIStatusError

    client = _client(asked.base_url, os.environ.get(asked.api_key_env, ""), asked.timeout)
    try:
        return await client.completions.create(
            model=asked.model.removeprefix("openai:"), prompt=prompt, echo=True, logprobs=1, max_tokens=1, temperature=0
        )
    except APIStatusError as error:
        if "echo" not in str(error):
            raise
        raise _without_echo(asked.model) from error


def _without_echo(model: str) -> ConfigError:
    error = ConfigError(
        f"{model}: its server gives no log-probabilities of a prompt (echo), which are those of a text; llama.cpp's "
        "own server has none: name its file, Likelihood(model='FILE.gguf'), or a server that echoes, such as vLLM's"
    )
    error.ends_run = True
    return error


def _of_output(offsets: Sequence[int], values: Sequence[float | None], start: int, end: int) -> list[float]:
    """Those of tokens that begin in the output; the one token that was written behind it is not of it."""
    pairs = zip(offsets, values, strict=True)
    return [value for offset, value in pairs if value is not None and start <= offset < end]


_ONE_AT_A_TIME = threading.Lock()  # a model uses all cores for one text
Read: TypeAlias = Callable[[str], tuple[list[int], list[float | None]]]  # text -> where tokens begin, their log-probs


@cache
def _local(model: str, revision: str, _weights: str) -> Read:
    """Reads texts by a model of transformers.

    Raises:
        ImportError: torch or transformers is not installed.
        ConfigError: the model cannot be loaded.
    """
    torch, transformers = importlib.import_module("torch"), importlib.import_module("transformers")
    path = Path(model)
    where, more = (str(path.parent), {"gguf_file": path.name}) if path.suffix == ".gguf" else (model, {})
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(where, revision=revision or "main", **more)
        loaded = transformers.AutoModelForCausalLM.from_pretrained(where, revision=revision or "main", **more).eval()
    except (OSError, ValueError) as error:
        ended = ConfigError(f"likelihood: {model} cannot be loaded: {str(error).splitlines()[0][:200]}")
        ended.ends_run = True
        raise ended from error
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loaded = loaded.to(device)
    most = int(getattr(loaded.config, "max_position_embeddings", 0) or 0)

    def read(text: str) -> tuple[list[int], list[float | None]]:
        held = tokenizer(text, return_offsets_mapping=True)
        ids, offsets = held["input_ids"], [start for start, _ in held["offset_mapping"]]
        if most and len(ids) > most:
            raise Unmeasurable(f"query, source and output have {len(ids)} tokens; the model reads {most}")
        with torch.inference_mode():
            given = torch.tensor([ids], device=device)
            logits = loaded(given).logits[0, :-1].float()
            said = logits.log_softmax(-1).gather(1, given[0, 1:, None])[:, 0]
        return offsets, [None, *map(float, said)]

    return read


@cache
def _client(base_url: str | None, key: str, timeout: float) -> Any:
    from openai import AsyncOpenAI

    return AsyncOpenAI(base_url=base_url, api_key=key or "none", timeout=timeout)
