"""Learned metrics by the libraries of their authors, imported when they are first asked: BERTScore, BLEURT, UniEval."""

from __future__ import annotations

import asyncio
import importlib
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeAlias, get_args

from judgegraph.calls.context import computed
from judgegraph.embedded.text import split
from judgegraph.errors import ConfigError, settings_checked
from judgegraph.tools.catalogue import About, Unmeasurable
from judgegraph.tools.encoder import LOADING, Batches, digest_of, fetched
from judgegraph.tools.metrics import capped, output_text, reference_text, source_text, target_text
from judgegraph.types import Finding, Sample

Row: TypeAlias = tuple[str, str, str]  # output, the text it is compared with, source
Scored: TypeAlias = Sequence[float]  # (value,), or (value, tokens of the texts that the model did not read)
Score: TypeAlias = Callable[[list[Row]], Sequence[Scored]]


@dataclass(frozen=True, kw_only=True)
class LearnedMetric:
    """A metric by its library: batched, in one thread, kept in the run's ledger by the digest of a local model's files.

    Attributes:
        model: a checkpoint's name, a folder or a file; revision: of the Hugging Face hub, "" for the library's own way.
        load: from a model to what scores rows. install: how to get the library; needs: what it imports of it.
        wants: "reference", "source" or "target", the first of the two that is there.
    """

    name: str
    about: About
    model: str
    load: Callable[[str], Score]
    wants: str
    install: str
    needs: tuple[str, ...] = ("torch", "transformers", "sentencepiece")
    revision: str = ""
    batch: int = 16
    _held: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False, hash=False)

    async def __call__(self, sample: Sample, /) -> Finding:
        texts = {"reference": reference_text, "source": source_text, "target": target_text}
        other = texts[self.wants](sample)
        source = source_text(sample) if "source" in self.about.inputs else ""
        return self._finding([await self._once((output_text(sample), other, source))])

    async def _once(self, row: Row, **more: Any) -> Scored:
        """The value of a row, by all that it depends on."""
        weights = await asyncio.to_thread(digest_of, self.model)
        what = {"assistant": self.name, "model": self.model, "revision": self.revision, "weights": weights, **more}
        found: Scored = await computed({**what, "texts": row}, lambda: self._scored(row, weights))
        return found

    async def _scored(self, row: Row, weights: str) -> Scored:
        if self._held.get("weights") != weights:
            score = await asyncio.to_thread(self._load, weights)
        if self._held.get("weights") != weights:  # nor has another sample, which waited for the same
            self._held["batches"] = Batches(score, lambda one: len(one[0]) + len(one[1]), self.batch)
            self._held["weights"] = weights
        return list(await self._held["batches"].of(row))

    def _load(self, weights: str) -> Score:
        try:
            with LOADING:
                return _loaded(self.load, fetched(self.model, self.revision), weights)
        except ImportError as error:
            if error.name and error.name.partition(".")[0] not in self.needs:
                raise _ending(f"{self.name}: its library cannot be imported: {_first_line(error)}") from error
            raise _ending(f"{self.name} is measured by a library that is not installed: {self.install}") from None
        except Exception as error:  # of a library, which raises what it likes of a checkpoint that is none
            said = f"{type(error).__name__}: {_first_line(error)}"
            raise _ending(f"{self.name}: {self.model} cannot be loaded: {said}") from error

    def _finding(self, found: Sequence[Scored], over: str = "mean") -> Finding:
        values = [one[0] for one in found]
        value = {"max": max(values), "sum": sum(values), "mean": sum(values) / len(values)}[over]
        unread = int(max((one[1] for one in found if len(one) > 1), default=0))
        reason = f"{unread} tokens at the end of the texts were not read: the model's window is full" if unread else ""
        return Finding(assistant=self.name, value=value, reason=reason)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:200]


def _ending(message: str) -> ConfigError:
    """It would meet every sample alike, so it ends a run before anything else is paid for."""
    error = ConfigError(message)
    error.ends_run = True
    return error


@cache
def _loaded(load: Callable[[str], Score], model: str, _weights: str) -> Score:
    """One batch at a time: a tokenizer fails where two threads use it, those of two assistants for example."""
    score, alone = load(model), Lock()

    def of(rows: list[Row]) -> Sequence[Scored]:
        with alone:
            return score(rows)

    return of


def bertscore(model: str = "roberta-large", revision: str = "", layer: int = 0) -> LearnedMetric:
    """BERTScore's F1 by bert-score. Source: Zhang et al. 2020, arXiv:1904.09675.

    Args:
        layer: whose embeddings are compared, from 1; 0: the one that bert-score's table has for the model. A folder,
            and any model that is not in the table, needs one.
    """
    about = _about(
        "how well each token of the output finds its like in a reference by embeddings in context (BERTScore F1)",
        "the output, and the reference where the sample has one, else the source", "-1 to 1",
        ("output", "reference or source"), "bert-score, MIT; that of the model", "Zhang et al. 2020, arXiv:1904.09675",
    )  # fmt: skip
    return LearnedMetric(
        name=f"bertscore-{layer}" if layer else "bertscore", about=about, model=model, revision=revision,
        load=_bertscore_of(model, layer), wants="target", install="pip install bert-score", needs=("bert_score",),
    )  # fmt: skip


BLEURT: Mapping[str, Any] = {
    "load": lambda model: (_bleurt if _of_authors(model) else _bleurt_of_port)(model),
    "install": "pip install bleurt-pytorch sentencepiece; for a checkpoint of its authors pip install tensorflow and "
    "git+https://github.com/google-research/bleurt",
    "needs": ("bleurt", "tensorflow", "tf_slim", "bleurt_pytorch", "torch", "transformers", "sentencepiece"),
}  # fmt: skip


def bleurt(model: str = "lucadiliello/BLEURT-20", revision: str = "") -> LearnedMetric:
    """BLEURT. Source: Sellam et al. 2020, arXiv:2004.04696.

    Args:
        model: a checkpoint's folder of its authors, for their package (TensorFlow), or a name or folder of the
            Hugging Face hub, for bleurt-pytorch.
    """
    about = _about(
        "how well the output conveys the meaning of a reference, learned from ratings (BLEURT)",
        "the output, and the reference where the sample has one, else the source", "0 to 1",
        ("output", "reference or source"), "bleurt, Apache-2.0", "Sellam et al. 2020, arXiv:2004.04696",
    )  # fmt: skip
    return LearnedMetric(
        name="bleurt", about=about, model=model, revision=revision, wants="target", **BLEURT,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ChunkedMetric(LearnedMetric):
    """A metric that takes short texts, of a long source: the output beside each chunk of it.

    Attributes:
        over: "max" takes the best chunk, "mean" all alike. words: of a chunk, which ends with a sentence.
    """

    over: Literal["max", "mean"] = "max"
    words: int = 150

    async def __call__(self, sample: Sample, /) -> Finding:
        output, chunks = output_text(sample), chunks_of(source_text(sample), self.words)
        rows = [(output, chunk, "") for chunk in chunks]
        return self._finding(await asyncio.gather(*(self._once(row, words=self.words) for row in rows)), self.over)


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


def sumbleurt(
    model: str = "lucadiliello/BLEURT-20", over: Literal["max", "mean"] = "max", revision: str = ""
) -> ChunkedMetric:
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
        name="sumbleurt", about=about, model=model, revision=revision, wants="source", over=over, **BLEURT,
    )  # fmt: skip


def comet(model: str = "Unbabel/wmt22-comet-da", revision: str = "") -> LearnedMetric:
    """COMET by unbabel-comet. Source: Rei et al. 2022, "COMET-22".

    Args:
        model: a name, a checkpoint's file, or the folder that has it in checkpoints/model.ckpt.
    """
    about = _about(
        "how good a translation is beside source and reference, learned from ratings (COMET)",
        "the output, the source and the reference", "0 to 1", ("output", "source", "reference"),
        "unbabel-comet, Apache-2.0; that of the model", "Rei et al. 2022, 2022.wmt-1.52",
    )  # fmt: skip
    return LearnedMetric(
        name="comet", about=about, model=model, revision=revision, load=_comet, wants="reference",
        install="pip install unbabel-comet 'setuptools<80'", needs=("comet",),
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


def _query(sample: Sample) -> str:
    text = capped(sample.query)
    if not text.strip():
        raise Unmeasurable("the sample has no query")
    return text


Each: TypeAlias = Literal["text", "mean", "sum"]
FIELDS: Mapping[str, Callable[[Sample], str]] = {
    "output": output_text, "source": source_text, "reference": reference_text,
    "query": _query,
}  # fmt: skip
_MARKS = re.compile(r"</?s>|<pad>|<unk>|<extra_id_\d+>")  # of T5: a judged text holds none, or it could ask anew


@dataclass(frozen=True, kw_only=True)
class BooleanQuestion(LearnedMetric):
    """A model's answer to a yes-no question about texts: the probability of "Yes" beside that of "No".

    Attributes:
        question: as the checkpoint learned it. sections: (what the checkpoint calls a text, the field of the sample).
        each: "text" asks once; "mean" and "sum" ask of every sentence of the output.
    """

    question: str = ""
    sections: tuple[tuple[str, str], ...] = ()
    each: Each = "text"

    async def __call__(self, sample: Sample, /) -> Finding:
        texts = {label: FIELDS[of](sample) for label, of in self.sections}
        if not self.question.strip():
            raise _ending(
                f"{self.name}: name the question that its checkpoint learned (UniEval's utils.py lists them): "
                "jg.tools.libraries.unieval(question='...', sections={'summary': 'output', 'document': 'source'})"
            )
        asked = [texts]
        if self.each != "text":
            own = next(label for label, of in self.sections if of == "output")
            asked = [{**texts, own: sentence} for sentence in split(texts[own])] or asked
        rows: list[Row] = [(self._put(one), "", "") for one in asked]
        return self._finding(await asyncio.gather(*map(self._once, rows)), "sum" if self.each == "sum" else "mean")

    def _put(self, texts: Mapping[str, str]) -> str:
        parts = [f"question: {self.question}", *(f"{k}: {_MARKS.sub(' ', text)}" for k, text in texts.items())]
        return " </s> ".join(parts)


@settings_checked
def unieval(
    question: str = "", sections: Mapping[str, str] | None = None, each: Each = "text",
    model: str = "MingZhong/unieval-sum", revision: str = "", name: str = "unieval",
) -> BooleanQuestion:  # fmt: skip
    """UniEval's answer to one of its questions, 0 to 1 (with `each="sum"`, 0 to the number of sentences).

    Source: Zhong et al. 2022, arXiv:2210.07197: a T5 that learned "question: ... </s> summary: ... </s> document: ..."
    with the answers "Yes" and "No". Of its dimensions, consistency and fluency of summaries are the mean over
    sentences, engagingness of dialogue their sum.

    Args:
        question: in the checkpoint's own words, from UniEval's utils.py; other words are another measure.
        sections: what the checkpoint calls a text -> output, source, reference or query; a summary and its document
            where nothing is given.
        model: "MingZhong/unieval-sum", "-dialog", "-fact", or a folder. name: of the assistant, one for each question.

    Raises:
        ConfigError: sections without the output, or with a field that no sample has; another `each`.
    """
    given = dict({"summary": "output", "document": "source"} if sections is None else sections)
    if "output" not in given.values() or (wrong := set(given.values()) - set(FIELDS)):
        said = f"no field '{min(wrong)}'" if "output" in given.values() else "none of them is the output"
        raise ConfigError(f"{name}: sections: {said}; each is one of {', '.join(FIELDS)}")
    if each not in get_args(Each):
        raise ConfigError(f"{name}: each is one of {', '.join(get_args(Each))}, got {each!r:.40}")
    read = ("output", *(of for of in given.values() if of != "output"))
    about = _about(
        f"how far a model says yes to: {question}" if question else "how far a model says yes to a question (UniEval)",
        f"the {', the '.join(read)}", "0 or more" if each == "sum" else "0 to 1", read,
        "transformers, Apache-2.0; UniEval, MIT", "Zhong et al. 2022, arXiv:2210.07197",
    )  # fmt: skip
    return BooleanQuestion(
        name=name, about=about, model=model, revision=revision, load=_unieval, wants="", question=question,
        sections=tuple(given.items()), each=each, install='pip install "judgegraph[likelihood]" sentencepiece',
    )  # fmt: skip


def _about(measures: str, reads: str, span: str, inputs: tuple[str, ...], licence: str, source: str) -> About:
    return About(
        measures=measures, reads=reads, range=span, direction="higher = better", inputs=inputs,
        cost="a model of hundreds of megabytes on this machine; a GPU helps", licence=licence, source=source,
        extra="library",
    )  # fmt: skip


@cache
def _bertscore_of(name: str, layer: int) -> Callable[[str], Score]:
    """What loads the model of that name, wherever it lies; one function for each, by which it is loaded once."""

    def load(model: str) -> Score:
        package = importlib.import_module("bert_score")
        known = importlib.import_module("bert_score.utils").model2layers
        if not layer and name not in known:
            raise ValueError("bert-score's table has no layer for it: name one, bertscore(model=..., layer=...)")
        scorer = package.BERTScorer(model_type=model, num_layers=layer or known[name])
        return lambda rows: [(float(v),) for v in scorer.score([r[0] for r in rows], [r[1] for r in rows])[2]]

    return load


def _bleurt(model: str) -> Score:
    scorer = importlib.import_module("bleurt.score").BleurtScorer(model)
    return lambda rows: [
        (float(v),) for v in scorer.score(references=[r[1] for r in rows], candidates=[r[0] for r in rows])
    ]


def _of_authors(model: str) -> bool:
    """Whether a model is a BLEURT checkpoint of its authors, and not of bleurt-pytorch."""
    return Path(model).is_dir() and not (Path(model) / "config.json").is_file()


def _bleurt_of_port(model: str) -> Score:
    package, torch = importlib.import_module("bleurt_pytorch"), importlib.import_module("torch")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = package.BleurtTokenizer.from_pretrained(model)
    held = package.BleurtForSequenceClassification.from_pretrained(model).eval().to(device)
    window = held.config.max_position_embeddings

    def score(rows: list[Row]) -> list[Scored]:
        texts = [r[1] for r in rows], [r[0] for r in rows]
        unread = [max(0, len(ids) - window) for ids in tokenizer(*texts, verbose=False)["input_ids"]]
        given = tokenizer(*texts, return_tensors="pt", padding=True, truncation=True, max_length=window)
        with torch.inference_mode():
            values = held(**given.to(device)).logits.flatten().float()
        return [(float(v), cut) for v, cut in zip(values, unread, strict=True)]

    return score


def _comet(model: str) -> Score:
    package, torch = importlib.import_module("comet"), importlib.import_module("torch")
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)  # three lines for each batch, else
    gpus = int(torch.cuda.is_available())
    file = Path(model, "checkpoints", "model.ckpt") if Path(model).is_dir() else Path(model)
    loaded = package.load_from_checkpoint(str(file) if file.is_file() else package.download_model(model))

    def score(rows: list[Row]) -> list[Scored]:
        data = [{"mt": output, "ref": reference, "src": source} for output, reference, source in rows]
        return [(float(value),) for value in loaded.predict(data, gpus=gpus, progress_bar=False).scores]

    return score


WINDOW = 1024  # tokens, as the authors of BARTScore and of UniEval cut


class _Sequences:
    """A sequence-to-sequence model of transformers with its tokenizer, on a GPU where there is one."""

    def __init__(self, model: str) -> None:
        self.torch, transformers = importlib.import_module("torch"), importlib.import_module("transformers")
        self.device = "cuda" if self.torch.cuda.is_available() else "cpu"
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(model)
        self.model = transformers.AutoModelForSeq2SeqLM.from_pretrained(model).eval().to(self.device)

    def tokens(self, texts: list[str]) -> tuple[Any, list[int]]:
        """A padded batch, and of each text how many tokens lie beyond the window."""
        unread = [max(0, len(ids) - WINDOW) for ids in self.tokenizer(texts, verbose=False)["input_ids"]]
        held = self.tokenizer(texts, return_tensors="pt", padding=True, truncation=True, max_length=WINDOW)
        return held.to(self.device), unread

    def logits(self, given: Any, labels: Any) -> Any:
        with self.torch.inference_mode():
            batch = {"input_ids": given["input_ids"], "attention_mask": given["attention_mask"]}
            return self.model(**batch, labels=labels).logits.float()


def _bartscore(model: str) -> Score:
    held = _Sequences(model)

    def score(rows: list[Row]) -> list[Scored]:
        given, long = held.tokens([r[1] for r in rows])
        wanted, longer = held.tokens([r[0] for r in rows])
        mask = wanted["attention_mask"]
        labels = wanted["input_ids"].masked_fill(mask == 0, -100)
        said = held.torch.nn.functional.cross_entropy(
            held.logits(given, labels).transpose(1, 2), labels, reduction="none", ignore_index=-100
        )
        values = -said.sum(1) / mask.sum(1)
        return [(float(v), a + b) for v, a, b in zip(values, long, longer, strict=True)]

    return score


def _unieval(model: str) -> Score:
    held = _Sequences(model)
    yes, no = (held.tokenizer(word)["input_ids"][0] for word in ("Yes", "No"))

    def score(rows: list[Row]) -> list[Scored]:
        given, unread = held.tokens([r[0] for r in rows])
        first = held.torch.full((len(rows), 1), no, device=held.device)  # what is said first does not depend on it
        logits = held.logits(given, first)[:, 0]
        values = (logits[:, yes] - logits[:, no]).sigmoid()  # P(yes) / (P(yes) + P(no))
        return [(float(v), cut) for v, cut in zip(values, unread, strict=True)]

    return score
