"""Assistants that read meaning by a small model on this machine: embedding similarity, token matching, entailment."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from judgegraph.calls.context import computed
from judgegraph.embedded.text import split
from judgegraph.errors import ConfigError, counted
from judgegraph.tools.catalogue import About, Unmeasurable
from judgegraph.tools.encoder import MINILM, Batches, OnnxModel, onnx_model
from judgegraph.tools.metrics import BESIDE, EITHER, output_text, source_text, target_name, target_text
from judgegraph.tools.prose import prose_of
from judgegraph.types import Finding, Sample

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SEMANTIC = "semantic"
SMALL = "a model of 23 MB on this machine, about 10 ms a text; loaded once"
LICENCE = "onnxruntime, MIT; tokenizers, Apache-2.0; weights Apache-2.0"


@dataclass(frozen=True, kw_only=True)
class OnnxAssistant:
    """What assistants with a model have in common: it is loaded lazily, once, in a thread, and asked in batches.

    Attributes:
        model: "all-MiniLM-L6-v2" of the packages that carry it, a folder, or OWNER/NAME of the Hugging Face hub.
        revision: of the hub. threads: of one batch; 0: all cores. most_tokens: of a piece of text. batch: of texts.

    Values are kept in the run's ledger, by the digest of the weights, the settings and the texts.
    """

    model: str = MINILM
    revision: str = ""
    threads: int = 0
    most_tokens: int = 256
    batch: int = 8  # of 32 a core does fewer: 46 to 33 summaries a second
    _held: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False, hash=False)

    async def _loaded(self) -> OnnxModel:
        if "model" not in self._held:
            settings = {"threads": self.threads, "most_tokens": self.most_tokens}
            self._held["model"] = await asyncio.to_thread(onnx_model, self.model, self.revision, **settings)
        found: OnnxModel = self._held["model"]
        return found

    async def _batches(self, compute: Callable[[OnnxModel, list[Any]], Any]) -> Batches[Any, Any]:
        model = await self._loaded()
        if "batches" not in self._held:
            self._held["batches"] = Batches(lambda batch: compute(model, batch), _size, self.batch)
        found: Batches[Any, Any] = self._held["batches"]
        return found

    async def _once(self, name: str, texts: tuple[str, ...], compute: Callable[[], Awaitable[Any]], **more: Any) -> Any:
        model = await self._loaded()
        what = {"assistant": name, "weights": model.digest, "tokens": self.most_tokens, "texts": texts, **more}
        return await computed(what, compute)


def _size(encoded: Any) -> int:
    return len(encoded.ids)


def _states(model: OnnxModel, batch: list[Any]) -> list[NDArray[np.float32]]:
    """The last hidden state of each text, without padding: (tokens, dimensions)."""
    states = model.run(batch)
    return [row[: len(one.ids)] for row, one in zip(states, batch, strict=True)]


@dataclass(frozen=True, kw_only=True)
class Embedding(OnnxAssistant):
    """Cosine of the mean-pooled embeddings of output and target, -1 to 1; a long text is the mean of its pieces.

    Source: Reimers and Gurevych 2019, "Sentence-BERT", arXiv:1908.10084, with mean pooling, as all-MiniLM-L6-v2 has it.
    """

    name: str = "embedding-similarity"
    about: About = field(default_factory=lambda: About(
        measures="how near the meaning of the output is to that of another text, by sentence embeddings (cosine)",
        reads=BESIDE, range="-1 to 1", direction="higher = more alike in meaning; unrelated texts are near 0",
        inputs=EITHER, cost=SMALL, licence=LICENCE, source="Reimers and Gurevych 2019, arXiv:1908.10084",
        extra=SEMANTIC,
    ))  # fmt: skip

    async def __call__(self, sample: Sample, /) -> Finding:
        target, output = target_text(sample), _output(sample)

        async def cosine() -> float:
            one, other = await asyncio.gather(self.vector(output), self.vector(target))
            return float(one @ other)

        value = await self._once(self.name, (output, target), cosine)
        return Finding(assistant=self.name, value=value, reason=f"against the {target_name(sample)}")

    async def vector(self, text: str) -> NDArray[np.float32]:
        """The embedding of a text, of length 1: the mean over its tokens, piece by piece."""
        import numpy as np

        model, batches = await self._loaded(), await self._batches(_states)
        encoded = await asyncio.to_thread(lambda: [model.encode(piece) for piece in model.pieces(text)])
        states = await asyncio.gather(*(batches.of(one) for one in encoded))
        total = np.sum([state.sum(axis=0) for state in states], axis=0)
        vector: NDArray[np.float32] = total / np.linalg.norm(total)
        return vector


@dataclass(frozen=True, kw_only=True)
class TokenMatching(OnnxAssistant):
    """F1 of greedily matched token embeddings, -1 to 1: each token of one text with its nearest of the other.

    Source: Zhang et al. 2020, "BERTScore", arXiv:1904.09675, equations 1 to 3, without idf weights and rescaling; the
    model here is a small sentence encoder, so values are not BERTScore's own, for which there is `bertscore`.
    """

    name: str = "token-matching"
    about: About = field(default_factory=lambda: About(
        measures="how well each token of the output finds its like in another text and the other way round, by token "
        "embeddings in context (as BERTScore's F1, with a small encoder)",
        reads=BESIDE, range="-1 to 1", direction="higher = more alike", inputs=EITHER, cost=SMALL, licence=LICENCE,
        source="Zhang et al. 2020, arXiv:1904.09675", extra=SEMANTIC,
    ))  # fmt: skip

    async def __call__(self, sample: Sample, /) -> Finding:
        target, output = target_text(sample), _output(sample)

        async def matched() -> list[float]:
            one, other = await asyncio.gather(self.tokens(output), self.tokens(target))
            return await asyncio.to_thread(matching, one, other)

        precision, recall, f1 = await self._once(self.name, (output, target), matched)
        reason = f"against the {target_name(sample)}; precision {precision:.3f}, recall {recall:.3f}"
        return Finding(assistant=self.name, value=f1, reason=reason)

    async def tokens(self, text: str) -> NDArray[np.float32]:
        """The embeddings of the tokens, without special ones, each of length 1: (tokens, dimensions)."""
        import numpy as np

        model, batches = await self._loaded(), await self._batches(_states)
        encoded = [model.encode(piece) for piece in model.pieces(text)]
        states = await asyncio.gather(*(batches.of(one) for one in encoded))
        held = [
            state[[i for i, special in enumerate(one.special_tokens_mask) if not special]]
            for state, one in zip(states, encoded, strict=True)
        ]
        together: NDArray[np.float32] = np.concatenate(held)
        found: NDArray[np.float32] = together / np.linalg.norm(together, axis=1, keepdims=True)
        return found


def matching(output: NDArray[np.float32], target: NDArray[np.float32]) -> list[float]:
    """[precision, recall, F1] of greedy matches by cosine, of rows of length 1."""
    alike = output @ target.T
    precision, recall = float(alike.max(axis=1).mean()), float(alike.max(axis=0).mean())
    return [precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0]


MOST_MOVED = 160  # tokens of a text: what is moved grows with their product


@dataclass(frozen=True, kw_only=True)
class Mover(TokenMatching):
    """How little the token embeddings of the output must be moved to be those of another text: 1 / (1 + distance).

    Source: Zhao et al. 2019, "MoverScore", arXiv:1909.02622, of single tokens, all of one weight; the distance is
    the earth mover's, Euclidean between embeddings of length 1. There tokens are weighted by idf over a
    corpus, and the model is a large one, so values are not MoverScore's own. Of each text the first 160 tokens count.
    """

    name: str = "mover"
    about: About = field(default_factory=lambda: About(
        measures="how little the token embeddings of the output must be moved to be those of another text (as "
        "MoverScore, with a small encoder and without idf weights)",
        reads=BESIDE, range="0 to 1", direction="higher = more alike", inputs=EITHER,
        cost="a model of 23 MB on this machine, and up to a second of plain code for long texts", licence=LICENCE,
        source="Zhao et al. 2019, arXiv:1909.02622", extra=SEMANTIC,
    ))  # fmt: skip

    async def __call__(self, sample: Sample, /) -> Finding:
        target, output = target_text(sample), _output(sample)

        async def moved() -> list[float]:
            one, other = await asyncio.gather(self.tokens(output), self.tokens(target))
            distance = await asyncio.to_thread(earth_mover, one[:MOST_MOVED], other[:MOST_MOVED])
            return [distance, len(one), len(other)]

        distance, *tokens = await self._once(self.name, (output, target), moved, most=MOST_MOVED)
        cut = f"; the first {MOST_MOVED} tokens of each" if max(tokens) > MOST_MOVED else ""
        reason = f"against the {target_name(sample)}, moved by {distance:.3f}{cut}"
        return Finding(assistant=self.name, value=1 / (1 + distance), reason=reason)


def earth_mover(output: NDArray[np.float32], target: NDArray[np.float32]) -> float:
    """The least mean distance over which one set of points, all of one weight, becomes the other: exact, by HiGHS."""
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import identity as ones_of
    from scipy.sparse import kron, vstack

    n, m = len(output), len(target)
    cost = np.linalg.norm(output[:, None, :] - target[None, :, :], axis=2)
    rows = kron(ones_of(n), np.ones((1, m)), format="csr")
    columns = kron(np.ones((1, n)), ones_of(m), format="csr")
    given = np.concatenate([np.full(n, 1 / n), np.full(m, 1 / m)])
    sums: Any = vstack([rows, columns], format="csr")[:-1]  # the last follows from the others
    found = linprog(cost.ravel(), A_eq=sums, b_eq=given[:-1], bounds=(0, None), method="highs")
    return max(0.0, float(found.fun or 0.0))


Over = Literal["max", "mean"]


@dataclass(frozen=True, kw_only=True)
class Entailment(OnnxAssistant):
    """Probability that the source entails the output, 0 to 1: its sentences, each beside the pieces of the source.

    Source: Fusion-Eval (arXiv:2311.09204), the assistant NLI, with the source as premise; Laban et al. 2022, "SummaC",
    arXiv:2111.09525: the best piece for each sentence (`over="max"`), then their mean. The paper gives no model.

    Attributes:
        model: a folder, or OWNER/NAME of the hub, with an NLI classifier in ONNX form, and a config.json that says
            which of its labels is entailment. over: how the pieces of the source count for a sentence.
    """

    model: str = ""
    over: Over = "max"
    most_tokens: int = 512
    name: str = "nli"
    about: About = field(default_factory=lambda: About(
        measures="probability that the source entails the output's sentences: natural language inference (NLI)",
        reads="the output and the source, its premise", range="0 to 1", direction="higher = better supported",
        inputs=("output", "source"), cost="a model on this machine, tens of milliseconds a sentence and piece",
        licence="onnxruntime, MIT; that of the model you name", source="Shu et al. 2023, arXiv:2311.09204; "
        "Laban et al. 2022, arXiv:2111.09525", extra=SEMANTIC,
    ))  # fmt: skip

    async def __call__(self, sample: Sample, /) -> Finding:
        source, output = source_text(sample), _output(sample)
        if not self.model:
            error = ConfigError(
                "nli: name a model: jg.tools.semantic.Entailment(model=FOLDER) with model.onnx, tokenizer.json and "
                "config.json, or OWNER/NAME of the Hugging Face hub"
            )
            error.ends_run = True
            raise error
        by_sentence = await self._once(
            self.name, (source, output), lambda: self._entailed(source, output), over=self.over
        )
        worst = min(range(len(by_sentence)), key=by_sentence.__getitem__)
        many = counted(len(by_sentence), "sentence")
        reason = f"{many}; least supported is number {worst + 1}, at {by_sentence[worst]:.2f}"
        return Finding(assistant=self.name, value=sum(by_sentence) / len(by_sentence), reason=reason)

    async def _entailed(self, source: str, output: str) -> list[float]:
        """For each sentence of the output the probability of entailment."""
        model = await self._loaded()
        batches, place = await self._batches(_logits), _entails(model.labels, self.model)
        sentences = [part for part in split(output) if part.strip()] or [output]
        longest = max(len(model.encode(sentence).ids) for sentence in sentences)
        premises = _premises(model, source, max(32, self.most_tokens - min(longest, self.most_tokens // 2)))

        async def one(sentence: str) -> float:
            found = await asyncio.gather(*(batches.of(model.encode(premise, sentence)) for premise in premises))
            chances = [float(_softmax(logits)[place]) for logits in found]
            return max(chances) if self.over == "max" else sum(chances) / len(chances)

        return list(await asyncio.gather(*map(one, sentences)))


def _premises(model: OnnxModel, source: str, room: int) -> list[str]:
    """The source in pieces of whole sentences that leave room for a hypothesis; `encode` cuts a longer sentence."""
    found: list[str] = []
    size = 0
    for sentence in split(source):
        length = len(model.encode(sentence).ids)
        if found and size + length <= room:
            found[-1], size = f"{found[-1]} {sentence}", size + length
        else:
            found.append(sentence)
            size = length
    return found or [source]


def _entails(labels: tuple[str, ...], model: str) -> int:
    for place, label in enumerate(labels):
        if label.startswith("entail"):
            return place
    raise ConfigError(
        f"nli: {model}: its config.json names no label 'entailment'; it has {', '.join(labels) or 'none'}"
    )


def _logits(model: OnnxModel, batch: list[Any]) -> Any:
    return model.run(batch)


def _softmax(logits: Any) -> Any:
    import numpy as np

    raised = np.exp(logits - np.max(logits))
    return raised / raised.sum()


def _output(sample: Sample) -> str:
    text = prose_of(output_text(sample) if isinstance(sample.output, str) else sample.output)
    if not any(map(str.isalnum, text)):
        raise Unmeasurable("the output holds no word")
    return text


def embeddings(texts: Sequence[str], batch: int = 32) -> NDArray[np.float64]:
    """Mean-pooled embeddings of short texts by all-MiniLM-L6-v2, (texts, dimensions), of length 1; it blocks.

    A text is cut at 256 tokens.

    Raises:
        ExtraError: the extra `semantic` is not installed. ConfigError: the weights are not here.
    """
    import numpy as np

    model = onnx_model(MINILM)
    encoded = [model.encode(text) for text in texts]
    pooled = [
        state.mean(axis=0)
        for start in range(0, len(encoded), batch)
        for state in _states(model, encoded[start : start + batch])
    ]
    found = np.array(pooled, dtype=np.float64)
    unit: NDArray[np.float64] = found / np.linalg.norm(found, axis=1, keepdims=True)
    return unit
