"""Learned metrics by the libraries of their authors, imported when they are first asked: BERTScore, BLEURT, COMET."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from judgegraph.calls.context import computed
from judgegraph.embedded.text import split
from judgegraph.errors import ConfigError
from judgegraph.tools.catalogue import About
from judgegraph.tools.encoder import Batches
from judgegraph.tools.metrics import output_text, reference_text, source_text, target_text
from judgegraph.types import Sample

Row = tuple[str, str, str]  # output, the text it is compared with, source
Score = Callable[[list[Row]], Sequence[float]]


@dataclass(frozen=True, kw_only=True)
class LearnedMetric:
    """A metric by its library: batched, in one thread, kept in the run's ledger.

    Attributes:
        model: a checkpoint's name or folder; revision: part of what a value is kept by.
        load: from a model to what scores rows. install: how to get the library.
        wants: "reference", "source" or "target", the first of the two that is there.
    """

    name: str
    about: About
    model: str
    load: Callable[[str], Score]
    wants: str
    install: str
    revision: str = ""
    batch: int = 16
    _held: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False, hash=False)

    async def __call__(self, sample: Sample, /) -> float:
        texts = {"reference": reference_text, "source": source_text, "target": target_text}
        other = texts[self.wants](sample)
        source = source_text(sample) if "source" in self.about.inputs else ""
        row = (output_text(sample), other, source)
        what = {"assistant": self.name, "model": self.model, "revision": self.revision, "texts": row}
        return float(await computed(what, lambda: self._scored(row)))

    async def _scored(self, row: Row) -> float:
        if "batches" not in self._held:
            score = await asyncio.to_thread(self._load)
            self._held["batches"] = Batches(score, lambda one: len(one[0]) + len(one[1]), self.batch)
        return float(await self._held["batches"].of(row))

    def _load(self) -> Score:
        try:
            return _loaded(self.load, self.model)
        except ImportError:
            error = ConfigError(f"{self.name} is measured by a library that is not installed: {self.install}")
            error.ends_run = True
            raise error from None


@cache
def _loaded(load: Callable[[str], Score], model: str) -> Score:
    return load(model)


def bertscore(model: str = "roberta-large", revision: str = "") -> LearnedMetric:
    """BERTScore's F1 by bert-score. Source: Zhang et al. 2020, arXiv:1904.09675."""
    about = _about(
        "how well each token of the output finds its like in a reference by embeddings in context (BERTScore F1)",
        "the output, and the reference where the sample has one, else the source", "-1 to 1",
        ("output", "reference or source"), "bert-score, MIT; that of the model", "Zhang et al. 2020, arXiv:1904.09675",
    )  # fmt: skip
    return LearnedMetric(
        name="bertscore", about=about, model=model, revision=revision, load=_bertscore, wants="target",
        install="pip install bert-score",
    )  # fmt: skip


def bleurt(model: str = "BLEURT-20", revision: str = "") -> LearnedMetric:
    """BLEURT by its authors' package; `model` is a folder. Source: Sellam et al. 2020, arXiv:2004.04696."""
    about = _about(
        "how well the output conveys the meaning of a reference, learned from ratings (BLEURT)",
        "the output, and the reference where the sample has one, else the source", "0 to 1",
        ("output", "reference or source"), "bleurt, Apache-2.0", "Sellam et al. 2020, arXiv:2004.04696",
    )  # fmt: skip
    return LearnedMetric(
        name="bleurt", about=about, model=model, revision=revision, load=_bleurt, wants="target",
        install="pip install git+https://github.com/google-research/bleurt, and a checkpoint's folder as model",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ChunkedMetric(LearnedMetric):
    """A metric that takes short texts, of a long source: the output beside each chunk of it.

    Attributes:
        over: "max" takes the best chunk, "mean" all alike. words: of a chunk, which ends with a sentence.
    """

    over: Literal["max", "mean"] = "max"
    words: int = 150

    async def __call__(self, sample: Sample, /) -> float:
        output, chunks = output_text(sample), chunks_of(source_text(sample), self.words)
        what = {"assistant": self.name, "model": self.model, "revision": self.revision, "words": self.words}

        async def one(chunk: str) -> float:
            row = (output, chunk, "")
            return float(await computed({**what, "texts": row}, lambda: self._scored(row)))

        found = await asyncio.gather(*map(one, chunks))
        return max(found) if self.over == "max" else sum(found) / len(found)


def chunks_of(text: str, words: int) -> list[str]:
    """A text in chunks of whole sentences, of about so many words; a longer sentence is a chunk of its own."""
    found: list[str] = []
    size = 0
    for sentence in split(text):
        length = len(sentence.split())
        if found and size + length <= words:
            found[-1], size = f"{found[-1]} {sentence}", size + length
        elif length:
            found.append(sentence)
            size = length
    return found or [text]


def sumbleurt(model: str = "BLEURT-20", revision: str = "", over: Literal["max", "mean"] = "max") -> ChunkedMetric:
    """BLEURT of the output beside the source, chunk by chunk, where there is no reference.

    Source: Fusion-Eval (arXiv:2311.09204), whose assistant SumBLEURT is a BLEURT of its authors for an article and its
    summary. Its checkpoint is not public; any BLEURT checkpoint stands in here. How an article is cut is ours.
    """
    about = _about(
        "how well the output conveys the meaning of its source, learned from ratings (BLEURT, chunk by chunk)",
        "the output and the source", "0 to 1", ("output", "source"), "bleurt, Apache-2.0",
        "Shu et al. 2023, arXiv:2311.09204; Sellam et al. 2020, arXiv:2004.04696",
    )  # fmt: skip
    return ChunkedMetric(
        name="sumbleurt", about=about, model=model, revision=revision, load=_bleurt, wants="source", over=over,
        install="pip install git+https://github.com/google-research/bleurt, and a checkpoint's folder as model",
    )  # fmt: skip


def comet(model: str = "Unbabel/wmt22-comet-da", revision: str = "") -> LearnedMetric:
    """COMET by unbabel-comet. Source: Rei et al. 2022, "COMET-22"."""
    about = _about(
        "how good a translation is beside source and reference, learned from ratings (COMET)",
        "the output, the source and the reference", "0 to 1", ("output", "source", "reference"),
        "unbabel-comet, Apache-2.0; that of the model", "Rei et al. 2022, 2022.wmt-1.52",
    )  # fmt: skip
    return LearnedMetric(
        name="comet", about=about, model=model, revision=revision, load=_comet, wants="reference",
        install="pip install unbabel-comet",
    )  # fmt: skip


def bartscore(model: str = "facebook/bart-large-cnn", revision: str = "") -> LearnedMetric:
    """BARTScore from source to output: mean log-probability of a token, by transformers.

    Source: Yuan et al. 2021, arXiv:2106.11520, equation 2 with equal weights, direction "faithfulness".
    """
    about = _about(
        "how likely a summariser finds the output behind its source: mean log-probability of a token (BARTScore)",
        "the output and the source", "-10 to 0", ("output", "source"), "transformers, Apache-2.0; that of the model",
        "Yuan et al. 2021, arXiv:2106.11520",
    )  # fmt: skip
    return LearnedMetric(
        name="bartscore", about=about, model=model, revision=revision, load=_bartscore, wants="source",
        install="pip install torch transformers",
    )  # fmt: skip


def _about(measures: str, reads: str, span: str, inputs: tuple[str, ...], licence: str, source: str) -> About:
    return About(
        measures=measures, reads=reads, range=span, direction="higher = better", inputs=inputs,
        cost="a model of hundreds of megabytes on this machine; a GPU helps", licence=licence, source=source,
        extra="library",
    )  # fmt: skip


def _bertscore(model: str) -> Score:
    scorer = importlib.import_module("bert_score").BERTScorer(model_type=model)
    return lambda rows: [float(v) for v in scorer.score([r[0] for r in rows], [r[1] for r in rows])[2]]


def _bleurt(model: str) -> Score:
    scorer = importlib.import_module("bleurt.score").BleurtScorer(model)
    return lambda rows: [
        float(v) for v in scorer.score(references=[r[1] for r in rows], candidates=[r[0] for r in rows])
    ]


def _comet(model: str) -> Score:
    package = importlib.import_module("comet")
    loaded = package.load_from_checkpoint(package.download_model(model))

    def score(rows: list[Row]) -> list[float]:
        data = [{"mt": output, "ref": reference, "src": source} for output, reference, source in rows]
        return [float(value) for value in loaded.predict(data, gpus=0, progress_bar=False).scores]

    return score


def _bartscore(model: str) -> Score:
    torch, transformers = importlib.import_module("torch"), importlib.import_module("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    loaded = transformers.AutoModelForSeq2SeqLM.from_pretrained(model).eval()

    def score(rows: list[Row]) -> list[float]:
        given = tokenizer([r[1] for r in rows], return_tensors="pt", padding=True, truncation=True, max_length=1024)
        wanted = tokenizer([r[0] for r in rows], return_tensors="pt", padding=True, truncation=True, max_length=1024)
        labels = wanted.input_ids.masked_fill(wanted.attention_mask == 0, -100)
        with torch.no_grad():
            logits = loaded(**given, labels=labels).logits
        losses = torch.nn.functional.cross_entropy(logits.transpose(1, 2), labels, reduction="none", ignore_index=-100)
        return [float(v) for v in -losses.sum(1) / wanted.attention_mask.sum(1)]

    return score
