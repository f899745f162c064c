"""How fast assistants are: surface ones beside their reference libraries, MiniLM, and what is imported when.

    python benchmarks/assistants.py [--data ../shared/data] [-n 1000]

The same summaries, in one process and turn by turn: each library's scorer is made once and called one by one, as its
documentation shows. Times are of the processor, on one core. MiniLM's figures, of whole summaries and of their first
words, need the extra `semantic`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

from judgegraph.bench.files import collection, folder_of
from judgegraph.embedded.text import split
from judgegraph.errors import ExtraError, JudgegraphError
from judgegraph.tools import assistant
from judgegraph.tools.encoder import OnnxModel
from judgegraph.tools.semantic import Embedding
from judgegraph.types import Sample, words

BY_LIBRARY = ("chrf", "bleu", "ter", "meteor", "rouge-1", "rouge-2", "rouge-l", "rouge-l-sum")
CUT = (6, 12, 18, 25, 50, None)  # words of a text that MiniLM reads; None: all
HEAVY = ("sacrebleu", "rouge_score", "nltk", "onnxruntime", "tokenizers", "torch", "transformers", "scipy", "numpy")


def libraries() -> dict[str, Callable[[str, str], float]]:
    """Name -> output and reference to the library's value."""
    from nltk.translate.meteor_score import single_meteor_score
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics import BLEU, CHRF, TER

    class NoSynonyms:
        def synsets(self, word: str) -> list[Any]:
            return []

    chrf, bleu, ter, plain = CHRF(), BLEU(effective_order=True), TER(), NoSynonyms()
    rouge = {name: RougeScorer([name]) for name in ("rouge1", "rouge2", "rougeL", "rougeLsum")}

    def by_sentences(output: str, reference: str) -> float:
        lines = ("\n".join(split(text)) for text in (reference, output))
        return float(rouge["rougeLsum"].score(*lines)["rougeLsum"].fmeasure)

    return {
        "chrf": lambda o, r: float(chrf.sentence_score(o, [r]).score),
        "bleu": lambda o, r: float(bleu.sentence_score(o, [r]).score),
        "ter": lambda o, r: float(ter.sentence_score(o, [r]).score),
        "meteor": lambda o, r: float(single_meteor_score(words(r), words(o), wordnet=plain)),
        "rouge-1": lambda o, r: float(rouge["rouge1"].score(r, o)["rouge1"].fmeasure),
        "rouge-2": lambda o, r: float(rouge["rouge2"].score(r, o)["rouge2"].fmeasure),
        "rouge-l": lambda o, r: float(rouge["rougeL"].score(r, o)["rougeL"].fmeasure),
        "rouge-l-sum": by_sentences,
    }


def value_of(found: Any) -> float:
    """The number of what an assistant gave."""
    return float(getattr(found, "value", found))


def surface(samples: list[Sample], rounds: int) -> Iterator[tuple[str, float, float]]:
    """(name, seconds of ours, seconds of the library), the least of some rounds in turn."""
    theirs = libraries()
    for name in BY_LIBRARY:
        ours: Any = assistant(name)
        best = [float("inf"), float("inf")]
        for _ in range(rounds):
            for place, call in enumerate((ours, lambda s, f=theirs[name]: f(s.output, s.reference))):
                start = time.process_time()
                values = [value_of(call(sample)) for sample in samples]
                best[place] = min(best[place], time.process_time() - start)
                if place == 0:
                    mine = values
            assert max(abs(a - b) for a, b in zip(mine, values, strict=True)) < 1e-9, name
        yield name, best[0], best[1]


def texts_a_second(texts: list[str], *, alone: bool = False) -> tuple[float, float]:
    """Of MiniLM on one core, asked side by side as a run asks or one by one; and the share of the model in the time."""
    model = Embedding(threads=1)
    inside = [0.0]
    run = OnnxModel.run

    def timed(self: OnnxModel, batch: Any) -> Any:
        start = time.thread_time()
        found = run(self, batch)
        inside[0] += time.thread_time() - start
        return found

    async def embedded() -> float:
        await asyncio.gather(*map(model.vector, texts[:32]))
        inside[0], start = 0.0, time.process_time()
        for batch in [[text] for text in texts] if alone else [texts]:
            await asyncio.gather(*map(model.vector, batch))
        return time.process_time() - start

    with patch.object(OnnxModel, "run", timed):
        seconds = asyncio.run(embedded())
    return len(texts) / seconds, inside[0] / seconds


def imported(code: str) -> list[str]:
    """Which heavy libraries a fresh process has after some code."""
    script = f"import sys, json; {code}; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout.splitlines()[-1]))


def main(args: Iterable[str] | None = None) -> int:
    """Print the tables; exit code 1 where the data is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("-n", type=int, default=1000, help="summaries of SummEval")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args(list(args) if args is not None else None)
    if not given.data.is_dir():
        print(f"skipped: no {given.data}", file=sys.stderr)
        return 1
    known = collection("summeval")
    samples = list(islice(known.samples(folder_of(given.data, known)), given.n))
    versions = ", ".join(f"{p} {version(p)}" for p in ("judgegraph", "sacrebleu", "rouge_score", "nltk"))
    print(f"{len(samples)} summaries of SummEval; {platform.machine()}, {versions}\n")
    print("| assistant | ours, s | its library, s | times as fast |\n|---|---|---|---|")
    total = [0.0, 0.0]
    for name, ours, theirs in surface(samples, given.rounds):
        total = [total[0] + ours, total[1] + theirs]
        print(f"| {name} | {ours:.2f} | {theirs:.2f} | {theirs / ours:.2f} |", flush=True)
    ours, theirs = total
    print(f"| all | {ours:.2f} | {theirs:.2f} | {theirs / ours:.2f} |\n")
    try:
        for cut in CUT:
            texts = [" ".join(str(s.output).split()[:cut]) for s in samples]
            mean = sum(len(t.split()) for t in texts) / len(texts)
            found, inside = texts_a_second(texts)
            single, _ = texts_a_second(texts, alone=True)
            said = (
                f"{found:.0f} texts a second and core, {mean:.0f} words a text; {inside:.0%} of it is the model's own; "
                f"one after the other {single:.0f}"
            )
            print(f"MiniLM, int8 ONNX: {said}")
    except (ExtraError, JudgegraphError) as error:
        print(f"MiniLM: {error}")
    for code in ("import judgegraph", "from judgegraph.cli import main; main(['tools', '-v'], standalone_mode=False)"):
        print(f"after {code.partition(';')[0]!r}...: {', '.join(imported(code)) or 'none of the heavy libraries'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
