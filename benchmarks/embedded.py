"""How far the embedded judge agrees with people, beside recorded LLM judges and ROUGE / chrF, and how fast it is.

    python benchmarks/embedded.py --data ../shared/data --hostile ../shared/hostile/inputs.jsonl

Every score is read from the chat model's own reply: the probability-weighted mean of the score token.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import math
import platform
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from langchain_core.messages import HumanMessage
from scipy.stats import spearmanr

from judgegraph.embedded.model import NAME, EmbeddedJudge

JUDGE = EmbeddedJudge()
DEFINITIONS = {
    "coherence": "The sentences follow from one another and build a whole.",
    "consistency": "The text says nothing that the source does not bear out.",
    "fluency": "The sentences are well formed and read smoothly.",
    "relevance": "The text holds what matters in the source and leaves out the rest.",
    "naturalness": "The text reads as a person would have put it.",
    "engagingness": "The reply is interesting and invites the other to go on.",
    "groundedness": "The reply makes use of the given fact.",
    "understandability": "The reply can be understood in its context.",
    "overall": "The quality of the text as a whole.",
    "informativeness": "The text says all that the meaning holds.",
    "quality": "The overall quality of the text.",
}
LOOKED = {
    "summeval": "development set: features, weights and constants were chosen on it",
    "topical_chat": "formulas fixed before the first run (overall .451, groundedness .474, naturalness .135, "
    "understandability .028); the last two were rewritten on it since; a term of coherence for sentences that lead "
    "elsewhere came from our own examples and was kept as it was when run here (.298 without it)",
    "qags_cnndm": "formulas fixed before the first run (.631); since then a term for names was added, and after a look "
    "at its texts, not its scores, numbers written '3 , 800' are met",
    "openmeva": "formulas fixed before the first run; what came later was not chosen on it",
    "bagel": "formulas fixed before the first run (four items with their scores were seen as examples of the format)",
    "sfres": "formulas fixed before the first run; what came later was not chosen on it",
}


@dataclass(frozen=True)
class Item:
    """One output: its sections, people's scores, the group it is compared in, and other judges' scores."""

    sections: dict[str, str]
    human: dict[str, float]
    group: str
    reference: str = ""
    others: dict[str, dict[str, float]] = field(default_factory=dict)


def prompt(sections: dict[str, str]) -> str:
    """Sections as tags with a nonce that is in none of them."""
    nonce = "5e1f0a9c"
    return "\n".join(f"<{name}-{nonce}>\n{text}\n</{name}-{nonce}>" for name, text in sections.items())


def form(name: str, low: int = 1, high: int = 5) -> dict[str, Any]:
    """The ratings form for one criterion."""
    points = {"type": "integer", "enum": list(range(low, high + 1))}
    rating = {
        "title": name, "type": "object", "additionalProperties": False, "required": ["reason", "score"],
        "properties": {"reason": {"type": "string"}, "score": {"anyOf": [points, {"type": "null"}]}},
    }  # fmt: skip
    schema = {"type": "object", "properties": {name: rating}, "required": [name], "additionalProperties": False}
    return {"type": "json_schema", "json_schema": {"name": "ratings", "schema": schema, "strict": True}}


def weighted(reply: Any) -> list[float]:
    """Probability-weighted value of each score token, in the order of the reply."""
    tokens = [t for t in (reply.generation_info or {})["logprobs"]["content"] if len(t["top_logprobs"]) > 1]
    found = []
    for token in tokens:
        chances = {float(t["token"]): math.exp(t["logprob"]) for t in token["top_logprobs"]}
        found.append(sum(v * p for v, p in chances.items()) / sum(chances.values()))
    return found


def ask(sections: dict[str, str], name: str) -> tuple[float | None, int | None]:
    """Probability-weighted score and stated number; None where the judge abstained."""
    shown = sections | {"criteria": f"## {name.title()}\nScale: 1-5\nDefinition: {DEFINITIONS.get(name, '')}"}
    reply = JUDGE._generate(
        [HumanMessage(prompt(shown))], response_format=form(name), logprobs=True, top_logprobs=5
    ).generations[0]
    stated = json.loads(str(reply.message.content))[name]["score"]
    if stated is None:
        return None, None
    return weighted(reply)[-1], stated


def spearman(one: list[float], two: list[float]) -> float | None:
    """Spearman's rho, None where either side is constant."""
    if len(one) < 2 or len(set(one)) < 2 or len(set(two)) < 2:
        return None
    return float(spearmanr(one, two).statistic)


def levels(scores: list[float], humans: list[float], groups: list[str]) -> tuple[float | None, float | None]:
    """Spearman over all items, and its mean over groups (constant groups skipped)."""
    held: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for score, human, group in zip(scores, humans, groups, strict=True):
        held[group][0].append(score)
        held[group][1].append(human)
    inner = [r for a, b in held.values() if (r := spearman(a, b)) is not None]
    return spearman(scores, humans), sum(inner) / len(inner) if inner else None


def copied(item: Item) -> float:
    """Share of the output's word pairs that stand in its source, fact, history or request."""
    cut = re.compile(r"\w+")
    ground = cut.findall(" ".join(v for k, v in item.sections.items() if k in ("source", "query")).lower())
    words = cut.findall(item.sections["output"].lower())
    known = set(itertools.pairwise(ground))
    pairs = list(itertools.pairwise(words))
    return sum(p in known for p in pairs) / len(pairs) if pairs else 0.0


def _gz(path: Path) -> Any:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


_WORDS = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5"}


def _rts(path: Path) -> dict[tuple[str, str], float]:
    """Recorded reason-then-score replies -> number: the last 1-5 named as a score, or the last at all."""
    found = {}
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        text = re.sub(r"\b(?:" + "|".join(_WORDS) + r")\b", lambda m: _WORDS[m[0]], row["resp"].lower())
        text = re.sub(r"\b([1-5](?:\.\d)?)\s*(?:out of|/)\s*5\b", r"\1", text)
        said = re.findall(r"scor\w*\D{0,25}?([1-5](?:\.\d)?)(?!\d)", text) or re.findall(r"\b[1-5]\b", text)
        if said:
            found[row["id"], row["system_id"]] = float(said[-1])
    return found


def summeval(data: Path) -> Iterator[Item]:
    names = {"gpt-3.5-turbo-0301": "ChatGPT", "gpt-4-0314": "GPT-4"}
    judges = {
        (label, a): _rts(data / f"summeval/judges/{name}/{a}_rts.jsonl")
        for name, label in names.items()
        for a in ("coherence", "consistency")
    }
    for key, row in _gz(data / "summeval/summeval_human.json.gz").items():
        for system, held in row["sys_summs"].items():
            sections = {"source": row["src"], "output": held["sys_summ"]}
            others: dict[str, dict[str, float]] = defaultdict(dict)
            for (label, aspect), scores in judges.items():
                if (key, system) in scores:
                    others[label][aspect] = scores[key, system]
            yield Item(sections, held["scores"], key, row["ref_summ"], dict(others))


def topical_chat(data: Path) -> Iterator[Item]:
    sampled: dict[tuple[str, str, str], float] = {}
    for short, name in (("coh", "coherence"), ("eng", "engagingness")):
        for row in _gz(data / f"topical_chat/gpt-3.5/gpt3.5_{short}_geval.json.gz"):
            numbers = [float(m[1]) for r in row["all_responses"] if (m := re.match(r"\s*(\d(?:\.\d+)?)", r))]
            if numbers:
                sampled[row["source"], row["system_id"], name] = sum(numbers) / len(numbers)
    for row in json.loads((data / "topical_chat/topical_chat_result.json").read_text("utf-8")):
        turns = [line.strip() for line in row["source"].splitlines() if line.strip()]
        history = "\n".join(f"{'AB'[i % 2]}: {turn}" for i, turn in enumerate(turns))
        sections = {"query": history, "source": row["context"],
                    "output": row["system_output"]}  # fmt: skip
        key = row["source"], row["system_id"]
        geval = {n: sampled[*key, n] for n in ("coherence", "engagingness") if (*key, n) in sampled}
        yield Item(sections, row["scores"], row["source"], "", {"UniEval": row["predict_scores"], "ChatGPT": geval})


def qags_cnndm(data: Path) -> Iterator[Item]:
    for row in json.loads((data / "fact/qags_cnndm_result.json").read_text("utf-8")):
        sections = {"source": row["source"], "output": row["system_output"]}
        others = {"UniEval": row["predict_scores"]}
        yield Item(sections, row["scores"], str(row["doc_id"]), row.get("reference", ""), others)


def openmeva(data: Path) -> Iterator[Item]:
    for row in json.loads((data / "openmeva/openmeva.json").read_text("utf-8")):
        for held in row["gen"].values():
            sections = {"query": "Continue this into a story: " + row["prompt"], "output": held["text"]}
            human, others = held["score"]["human"], {"ChatGPT": {"overall": held["score"]["chatgpt"]}}
            score = sum(human) / len(human) if isinstance(human, list) else human
            yield Item(sections, {"overall": score}, str(row["doc_id"]), row["reference"], others)


def bagel(data: Path) -> Iterator[Item]:
    for row in json.loads((data / "bagel/bagel.json").read_text("utf-8")).values():
        sections = {"source": row["src"], "output": row["sys_summ"]}
        yield Item(sections, row["scores"], row["src"], row["ref_summs"][0])


def sfres(data: Path) -> Iterator[Item]:
    for row in json.loads((data / "data2text/sfres_result.json").read_text("utf-8")):
        sections = {"source": row["source"], "output": row["system_output"]}
        yield Item(sections, row["scores"], row["source"], row["reference"], {"UniEval": row["predict_scores"]})


COLLECTIONS: dict[str, Callable[[Path], Iterator[Item]]] = {
    f.__name__: f for f in (summeval, topical_chat, qags_cnndm, openmeva, bagel, sfres)
}


def metrics(items: list[Item]) -> dict[str, list[float]]:
    """ROUGE-L and chrF against the reference where there is one, else against source and request."""
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu import sentence_chrf

    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    rouge, chrf = [], []
    for item in items:
        beside = item.reference or " ".join(item.sections.get(k, "") for k in ("source", "query"))[-4000:]
        rouge.append(scorer.score(beside, item.sections["output"])["rougeL"].fmeasure)
        chrf.append(sentence_chrf(item.sections["output"], [beside]).score)
    return {"ROUGE-L": rouge, "chrF": chrf}


def agreement(items: list[Item], criterion: str) -> dict[str, Any]:
    """The embedded judge against people on one criterion: both levels, by weighted and by stated score."""
    scores, stated, humans, groups, copies = [], [], [], [], []
    for item in items:
        weighted, plain = ask(item.sections, criterion)
        if weighted is not None and plain is not None:
            scores.append(weighted)
            stated.append(float(plain))
            humans.append(item.human[criterion])
            groups.append(item.group)
            copies.append(copied(item))
    pooled, inner = levels(scores, humans, groups)
    return {"n": len(scores), "pooled": pooled, "per group": inner, "stated": levels(stated, humans, groups),
            "bias": spearman(scores, copies), "mean": sum(scores) / max(1, len(scores))}  # fmt: skip


def _cell(value: float | None) -> str:
    return "  -   " if value is None else f"{value:6.3f}"


def table(name: str, items: list[Item], out: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    """Print one collection's table and give its numbers."""
    out(f"\n{name}: {len(items)} outputs, {len({i.group for i in items})} groups. Looked at: {LOOKED[name]}.")
    out("criterion          n  dataset  per group | stated: dataset  per group | copying | beside: dataset / per group")
    overlap, found = metrics(items), {}
    for criterion in items[0].human:
        row = found[criterion] = agreement(items, criterion)
        groups, beside = [i.group for i in items], []
        humans = [i.human[criterion] for i in items]
        for label, values in overlap.items():
            beside.append((label, len(values), levels(values, humans, groups)))
        for label in sorted({o for i in items for o in i.others}):
            held = [(i.others[label][criterion], i.human[criterion], i.group) for i in items
                    if criterion in i.others.get(label, {})]  # fmt: skip
            if held:
                beside.append((label, len(held), levels(*map(list, zip(*held, strict=True)))))  # type: ignore[arg-type]
        told = "; ".join(f"{label} n={n} {_cell(a)}/{_cell(b)}" for label, n, (a, b) in beside)
        out(f"{criterion:17} {row['n']:4}  {_cell(row['pooled'])}   {_cell(row['per group'])}   |          "
            f"{_cell(row['stated'][0])}   {_cell(row['stated'][1])}   | {_cell(row['bias'])}  | {told}")  # fmt: skip
    out("copying: Spearman of the judge's scores with the share of copied word pairs. The judge rewards copying where")
    out("there is a source; it checks no facts, and a true rewording can score below a copied half-truth.")
    return found


CRITIQUED = ("coherence", "consistency", "fluency", "relevance")


def rectified(item: Item, drafts: dict[str, float]) -> dict[str, tuple[str, float]]:
    """Criterion -> verdict and value of the embedded critic on draft scores."""
    points = {"type": "integer", "enum": [1, 2, 3, 4, 5]}
    verdict = {"type": "string", "enum": ["keep", "raise", "lower"]}
    row = {"type": "object", "properties": {"reason": {"type": "string"}, "verdict": verdict, "score": points}}
    schema = {"type": "object", "properties": {
        "rectifications": {"type": "object", "properties": dict.fromkeys(drafts, row)}}}  # fmt: skip
    scores = "\n\n".join(f"## {name.title()}\nScore: {value:.4g}" for name, value in drafts.items())
    criteria = "\n\n".join(f"## {name.title()}\nScale: 1-5\nDefinition: {DEFINITIONS[name]}" for name in drafts)
    shown = prompt(item.sections | {"criteria": criteria, "scores": scores})
    form = {"type": "json_schema", "json_schema": {"name": "critique", "schema": schema}}
    reply = JUDGE._generate([HumanMessage(shown)], response_format=form, logprobs=True, top_logprobs=5).generations[0]
    held = json.loads(reply.text)["rectifications"]
    return {name: (held[name]["verdict"], value) for name, value in zip(held, weighted(reply), strict=True)}


def critic(items: list[Item], out: Callable[[str], None]) -> dict[str, float]:
    """How often the embedded critic changes the embedded evaluator's scores, and what that does to agreement."""
    out(f"\ncritic on the judge's own scores ({len(items)} outputs of the development set, on which its evidence for")
    out("coherence and how far it moves a score were chosen): share raised / lowered; Spearman with people, pooled")
    rates = {}
    for name in CRITIQUED:
        drafts = [ask(item.sections, name)[0] or 3.0 for item in items]
        said = [rectified(item, {name: d})[name] for item, d in zip(items, drafts, strict=True)]
        final = [d if verdict == "keep" else value for d, (verdict, value) in zip(drafts, said, strict=True)]
        people = [item.human[name] for item in items]
        up, down = (sum(v == w for v, _ in said) / len(said) for w in ("raise", "lower"))
        rates[name] = up + down
        out(f"{name:17} raised {up:.3f} lowered {down:.3f}  draft {_cell(spearman(drafts, people))}"
            f"  final {_cell(spearman(final, people))}")  # fmt: skip
    return rates


def speed(items: list[Item], out: Callable[[str], None]) -> float:
    """Samples per second of CPU on one core, one criterion, inside the model; every sample is another text."""
    rates = []
    for criterion in ("coherence", "consistency", "fluency", "relevance"):
        start = time.process_time()
        for item in items[::4]:
            ask(item.sections | {"output": item.sections["output"] + f" It was {criterion}."}, criterion)
        rates.append(len(items[::4]) / (time.process_time() - start))
    out(f"\nspeed: {min(rates):.0f} to {max(rates):.0f} samples a second on one core, one criterion")
    return min(rates)


def worst_time(path: Path, out: Callable[[str], None]) -> float:
    """Longest single judgement over the hostile inputs, in seconds."""
    worst, where = 0.0, ""
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        for sample in row["sample"] if isinstance(row["sample"], list) else [row["sample"]]:
            if not isinstance(sample.get("output"), str):
                continue
            start = time.perf_counter()
            source = str(sample.get("source") or "")
            ask({"source": source, "output": sample["output"]}, "overall")
            spent = time.perf_counter() - start
            worst, where = max((worst, where), (spent, row["id"]))
    out(f"worst single sample among the hostile inputs: {worst:.3f} s ({where})")
    return worst


PAIRS = ("autoj", "pandalm", "llmbar")


def pairs(name: str, data: Path, out: Callable[[str], None]) -> None:
    """Of pairs that people decided: how often the judge's verdict is theirs, beside the rule "the longer one wins"."""
    import judgegraph as jg
    from judgegraph.bench.files import collection, folder_of
    from judgegraph.graphs import fennec

    known = collection(name)
    decided = {s.id: _majority(s.human) for s in known.samples(folder_of(data, known))}
    samples = [s for s in known.samples(folder_of(data, known)) if decided[s.id] in ("A", "B")]
    graph = fennec(judge="embedded", criteria=known.criteria, orders="both")
    verdicts = {item.id: item.verdict for item in jg.evaluate(graph, samples).items}
    longer = ["A" if len(str(s.output)) > len(str(s.rival)) else "B" for s in samples]
    people = [decided[s.id] for s in samples]
    ours = sum(verdicts[s.id] == right for s, right in zip(samples, people, strict=True))
    rule = sum(said == right for said, right in zip(longer, people, strict=True))
    ties = sum(verdict in (None, "tie") for verdict in verdicts.values())
    of = len(samples)
    out(f"{known.title}: {of:,} pairs that people decided: {ours / of:.3f} right; no winner, so wrong: {ties / of:.3f}")
    out(f"  'the longer one wins' is right in {rule / of:.3f}")


def _majority(human: Mapping[str, Any]) -> str:
    """What most annotators say of a pair, "tie" where no side has more."""
    said = [word for value in human.values() for word in (value if isinstance(value, list) else [value])]
    a, b = said.count("A"), said.count("B")
    return "A" if a > max(b, said.count("tie")) else "B" if b > max(a, said.count("tie")) else "tie"


def main(args: Iterable[str] | None = None) -> int:
    """Print everything; exit code 1 where the data is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of collections")
    parser.add_argument("--hostile", type=Path, default=Path("../shared/hostile/inputs.jsonl"))
    parser.add_argument("--only", choices=sorted(COLLECTIONS), action="append", help="these collections alone")
    chosen = parser.parse_args(list(args) if args is not None else None)
    if not chosen.data.is_dir():
        print(f"skipped: no {chosen.data}", file=sys.stderr)
        return 1
    versions = [f"{p} {version(p)}" for p in ("judgegraph", "langchain-core", "scipy", "rouge-score", "sacrebleu")]
    machine = f"{platform.machine()} {platform.system()}, Python {platform.python_version()}"
    print(", ".join([f"{NAME} on {machine}", *versions]))
    print("Spearman; scores are the probability-weighted mean of the score token on 1-5; constant groups are skipped.")
    for name in chosen.only or COLLECTIONS:
        items = list(COLLECTIONS[name](chosen.data))
        table(name, items, print)
        if name == "summeval":
            critic(items, print)
            speed(items, print)
    for name in () if chosen.only else PAIRS:
        pairs(name, chosen.data, print)
    if chosen.hostile.is_file():
        worst_time(chosen.hostile, print)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
