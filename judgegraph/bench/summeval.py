"""SummEval: summaries of 100 articles by 16 systems, judged by three experts; recorded judges of 12 of the systems."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

from judgegraph.bench.files import Collection, Published, field, number, numbers, read_json, read_lines, sample_of
from judgegraph.errors import DataError
from judgegraph.meta.cells import Judgements
from judgegraph.replies.choices import read_choice
from judgegraph.replies.free_text import read_rating
from judgegraph.types import Sample, Scale

# What was published of judges on SummEval.


_RECORDED = {  # judge -> Spearman, Pearson, Kendall for coherence, then for consistency; 12 systems, 1,200 summaries
    "gpt-4-0314 rts": ((0.448, 0.428, 0.373), (0.556, 0.618, 0.522)),
    "gpt-3.5-turbo-0301 rts": ((0.444, 0.467, 0.349), (0.423, 0.532, 0.378)),
    "gpt-3.5-turbo-0301 mcq": ((0.424, 0.416, 0.350), (0.343, 0.487, 0.320)),
    "gpt-3.5-turbo-0301 stareval": ((0.418, 0.417, 0.341), (0.297, 0.421, 0.264)),
    "llama-2-70b-chat-hf rts": ((0.234, 0.254, 0.186), (0.357, 0.395, 0.319)),
}
_FUSION_EVAL = {  # coherence, consistency, fluency, relevance, overall; None where our copy of the paper is unreadable
    "ROUGE-1": (0.35, 0.55, 0.527, 0.583, 0.503),
    "ROUGE-2": (0.233, 0.6, 0.494, 0.433, 0.44),
    "ROUGE-L": (0.117, 0.117, 0.259, 0.35, 0.211),
    "BLEU": (0.217, 0.05, 0.326, 0.383, 0.244),
    "CHRF": (0.35, 0.617, 0.561, 0.55, 0.519),
    "S1-CHRF": (0.3, 0.733, 0.494, 0.5, 0.507),
    "S2-CHRF": (0.3, 0.7, 0.46, 0.433, 0.473),
    "SL-CHRF": (0.367, 0.733, 0.494, 0.5, 0.523),
    "BERTScore": (0.333, -0.03, 0.142, 0.2, 0.161),
    "MoverScore": (0.217, -0.05, 0.259, 0.35, 0.194),
    "BARTScore": (0.35, 0.617, 0.494, 0.45, 0.478),
    "UniEval": (0.683, 0.75, None, 0.667, 0.728),
    "DE-PaLM2": (0.733, None, 0.745, None, 0.879),
    "G-Eval (GPT-4)": (None, None, 0.778, None, 0.912),
    "BLEURT": (0.433, 0.767, 0.644, 0.633, 0.678),
    "NLI": (0.45, None, 0.628, None, 0.695),
    "SumBLEURT": (0.7, None, 0.544, None, None),
    "AVG(AE)": (0.65, 0.55, None, 0.783, None),
    "LLMSel(AE)": (0.7, 0.75, None, 0.767, None),
    "CorrW(AE)": (None, 0.65, 0.678, 0.783, 0.845),
    "AVG(AE, DE-PaLM2)": (None, None, 0.728, None, 0.895),
    "AVG(AE, G-Eval-GPT-4)": (None, None, 0.745, None, 0.912),
    "LLMSel(AE, DE-PaLM2)": (None, 0.717, None, 0.833, None),
    "LLMSel(AE, G-Eval-GPT-4)": (0.733, 0.717, None, 0.85, None),
    "CorrW(AE, DE-PaLM2)": (0.717, None, 0.745, None, 0.895),
    "CorrW(AE, G-Eval-GPT-4)": (0.733, 0.633, 0.762, 0.883, 0.912),
    "FE-PaLM2-NoPlan": (0.767, 0.617, 0.728, 0.867, 0.895),
    "FE-PaLM2": (0.783, 0.767, 0.778, 0.917, None),
}
_NOTED = {"FE-PaLM2": (None, None, None, None, 0.962)}
_RECALLED = {  # mean over articles of Spearman over 16 systems
    "BERTScore": (0.284, 0.110, 0.193, 0.312),
    "BARTScore": (0.448, 0.382, 0.356, 0.356),
    "UniEval": (0.575, 0.446, 0.449, 0.426),
    "G-Eval (GPT-3.5)": (0.440, 0.386, 0.424, 0.385),
    "G-Eval (GPT-4)": (0.582, 0.507, 0.455, 0.547),
}
_NAMES = ("Coherence", "Consistency", "Fluency", "Relevance", "Overall")
_SHEN = "Shen et al. 2023 (DAMO-NLP-SG/LLM_summeval), 12 systems"
_TABLE_2 = "Fusion-Eval (Shu et al. 2023), table 2, 16 systems"
_FROM_A_NOTE = f"{_TABLE_2}: .962 is from a note; our copy prints .902, which no tau-b of these systems can be"
_FROM_MEMORY = "recalled, not checked: the papers of UniEval, BARTScore and G-Eval, 16 systems"


def _recorded() -> list[Published]:
    return [
        Published(judge, name, statistic, value, _SHEN, "dataset")
        for judge, criteria in _RECORDED.items()
        for name, values in zip(_NAMES, criteria, strict=False)
        for statistic, value in zip(("spearman", "pearson", "kendall-b"), values, strict=True)
    ]


def _rows(table: Mapping[str, Sequence[float | None]], statistic: str, level: str, source: str) -> list[Published]:
    return [
        Published(judge, name, statistic, value, source, level)
        for judge, values in table.items()
        for name, value in zip(_NAMES, values, strict=False)
        if value is not None
    ]


_PAIRS = tuple(  # each system wins an article by a higher score, ties half, and a pair by over half of the articles
    Published("gpt-3.5-turbo-0301 rts", name, "pairs", right / 66, f"{_SHEN}, pairs of them", "system")
    for name, right in (("Coherence", 54), ("Consistency", 56))
)
PUBLISHED = (
    *_recorded(),
    *_PAIRS,
    *_rows(_RECALLED, "spearman", "group", _FROM_MEMORY),
    *_rows(_FUSION_EVAL, "kendall-b", "system", _TABLE_2),
    *_rows(_NOTED, "kendall-b", "system", _FROM_A_NOTE),
)


# Recorded comparisons of two systems' summaries, in both orders.


VERDICTS = {"A": "A", "B": "B", "C": "tie"}  # of the first system and the second, where they stand in that order
TURNED = {"A": "B", "B": "A", "tie": "tie"}


def head_to_head(folder: Path, name: str) -> Judgements | None:
    """One criterion's comparisons: people prefer the summary with the higher mean; None where there are no files."""
    read = [_read(path) for path in sorted((folder / "judges").glob(f"*/{name.lower()}_h2h.jsonl*"))]
    if not read:
        return None
    people = {key: verdict for _, humans, _, _ in read for key, verdict in humans.items()}
    return Judgements(
        criterion=name, kind="verdict", ids=tuple(people), human=tuple((verdict,) for verdict in people.values()),
        metrics={metric: tuple(first.get(key) for key in people) for metric, _, first, _ in read},
        exchanged={metric: tuple(second.get(key) for key in people) for metric, _, _, second in read},
        groups=tuple(key.partition("/")[0] for key in people),
    )  # fmt: skip


def _read(path: Path) -> tuple[str, dict[str, str], dict[str, str | None], dict[str, str | None]]:
    """The judge, and by pair: people's verdict, its own, and its own in the exchanged order, mapped back."""
    people: dict[str, str] = {}
    first: dict[str, str | None] = {}
    second: dict[str, str | None] = {}
    for line, row in enumerate(read_lines(path), 1):
        where = f"{path}, row {line}"
        key = f"{field(row, 'id', where, str)}/{'-'.join(field(row, f'system_{n}', where, str) for n in (1, 2))}"
        letter = read_choice(field(row, "resp", where, str), ["A", "B", "C"]).value
        verdict = VERDICTS.get(str(letter))
        swapped = field(row, "swapped", where, bool)
        (second if swapped else first)[key] = TURNED.get(verdict or "") if swapped else verdict
        preferred = _preferred(row, where)
        if people.setdefault(key, preferred) != preferred:
            raise DataError(f"{where}: other human scores than where this pair stood before")
    return f"{path.parent.name} h2h", people, first, second


def _preferred(row: Mapping[str, Any], where: str) -> str:
    one, two = (number(row, f"human_score_{n}", where) for n in (1, 2))
    return "tie" if one == two else "A" if one > two else "B"


# Recorded judges of SummEval: each reply as it came, of twelve systems' summaries, beside three experts' scores.


ANNOTATIONS = "annotations_12systems.jsonl.gz"
PROMPTS = ("rts", "mcq", "stareval", "altrts", "altmcq")
Key: TypeAlias = tuple[str, str]  # article, system
Read: TypeAlias = Callable[[str, str], tuple[float | None, str]]  # reply, prompt -> value, status


def recorded_judges(folder: Path, names: Sequence[str], read: Read) -> Mapping[str, list[Judgements]]:
    """Judges that rate, and those that compare two systems' summaries, where their files are there."""
    people = _experts(folder / ANNOTATIONS)
    rated = [_rated(folder, name, people, read) for name in names]
    found = {"": [one for one in rated if one.metrics]}
    pairs = [one for name in names if (one := head_to_head(folder, name)) is not None]
    return found | ({"head to head": pairs} if pairs else {})


def _experts(path: Path) -> dict[Key, dict[str, Any]]:
    """Article and system -> the row with the experts' scores, articles together."""
    found: dict[Key, dict[str, Any]] = {}
    for line, row in enumerate(read_lines(path), 1):
        where = f"{path}, row {line}"
        key = field(row, "id", where, str), field(row, "system_id", where, str)
        if key in found:
            raise DataError(f"{where}: {key[1]} on {key[0]} stands twice")
        found[key] = {"where": where, "experts": field(row, "expert_annotations", where, list)}
    return dict(sorted(found.items()))


def _scores(row: Mapping[str, Any], name: str) -> tuple[float, ...]:
    """What each expert gave, in their order."""
    where, given = str(row["where"]), row["experts"]
    if not all(isinstance(one, dict) for one in given):
        raise DataError(f"{where}, key 'expert_annotations': expected a list of objects")
    return tuple(number(one, name, f"{where}, expert_annotations") for one in given)


def _rated(folder: Path, name: str, people: Mapping[Key, Mapping[str, Any]], read: Read) -> Judgements:
    metrics: dict[str, tuple[float | None, ...]] = {}
    statuses: dict[str, tuple[str, ...]] = {}
    for path in sorted((folder / "judges").glob(f"*/{name.lower()}_*.jsonl*")):
        prompt = path.name.partition(".jsonl")[0].partition("_")[2]
        if prompt in PROMPTS:
            held = {key: read(text, prompt) for key, text in replies(path).items()}
            found = [held.get(key, (None, "provider_error")) for key in people]
            metric = f"{path.parent.name} {prompt}"
            metrics[metric] = tuple(value for value, _ in found)
            statuses[metric] = tuple("ok" if value is not None else status for value, status in found)
    return Judgements(
        criterion=name, kind="number", ids=tuple("/".join(key) for key in people),
        human=tuple(_scores(row, name.lower()) for row in people.values()), metrics=metrics, statuses=statuses,
        groups=tuple(article for article, _ in people), systems=tuple(system for _, system in people),
    )  # fmt: skip


def replies(path: Path) -> dict[Key, str]:
    """Article and system -> reply; of a summary that was asked for twice the last line counts."""
    found = {}
    for line, row in enumerate(read_lines(path), 1):
        where = f"{path}, row {line}"
        key = field(row, "id", where, str), field(row, "system_id", where, str)
        found[key] = field(row, "resp", where, str)
    return found


# How replies of recorded judges of SummEval are read: by our readers, or by the rules of those who asked them.
#
# Theirs (Shen et al. 2023, arXiv:2305.13091), so that their figures can be recomputed; as steps of ours over words:
#     rts: the value behind "score" and a colon; else the first one that a sentence has after "score" or "scoring";
#         else the last digit from 1 to 5, also where that is the scale's own ("4 out of 5" is 5); else -1.
#     stars: the word before "star". letters: the reply is the letter.


LETTERS, WORDS = ("A", "B", "C", "D", "E"), ("one", "two", "three", "four", "five")
DIGITS, CUES = "12345", ("score", "scoring")
SCALE = Scale(low=1, high=5)
SILENT = -1.0  # what counts, with their rules, where a reply has no number
_TOKEN = re.compile(r"[0-9]\.[0-9]|[^\W\d_]+|\S")  # a digit with its tenth, a word, or one mark


def ours(text: str, prompt: str) -> tuple[float | None, str]:
    """Value from 1 to 5 and status by the readers of this package; None where they read nothing."""
    if prompt.endswith("mcq"):
        choice = read_choice(text, LETTERS)
        known = isinstance(choice.value, str)
        return (LETTERS.index(str(choice.value)) + 1.0 if known else None), choice.status
    rating = read_rating(text, SCALE)
    return (rating.value if isinstance(rating.value, float) else None), rating.status


def theirs(text: str, prompt: str) -> tuple[float | None, str]:
    """Value and status by the authors' rules."""
    if prompt.endswith("mcq"):
        place = "".join(LETTERS).find(text.strip()[:1]) if text.strip() else -1
        value = place + 1.0 if place >= 0 else None
    elif prompt == "stareval":
        value = _first(token for token, after in pairwise(_tokens(text)) if after.startswith("star"))
    else:
        value = _stated(text)
    return value, "unreadable" if value is None else "ok"


def _stated(text: str) -> float:
    """What "score: 4" states, else "a score of four" before the sentence ends, else the last digit, else -1."""
    tokens = _tokens(text)
    labelled = (tokens[at + 2] for at in range(len(tokens) - 2) if tokens[at : at + 2] == ["score", ":"])
    last = (mark for mark in reversed(text) if mark in DIGITS)
    return next(
        (value for found in (labelled, _after_cues(tokens), last) if (value := _first(found)) is not None), SILENT
    )


def _after_cues(tokens: Iterable[str]) -> Iterator[str]:
    """What each sentence says once it has spoken of a score."""
    spoken = False
    for token in tokens:
        if spoken:
            yield token
        spoken = token != "." and (spoken or any(cue in token for cue in CUES))


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


def _first(tokens: Iterable[str]) -> float | None:
    """The first value from 1 to 5 among them, in digits or as a word."""
    for token in tokens:
        if token in WORDS:
            return WORDS.index(token) + 1.0
        if token[0] in DIGITS and float(token) <= len(DIGITS):
            return float(token)
    return None


FILE = "summeval_human.json.gz"
NAMES = ("Coherence", "Consistency", "Fluency", "Relevance")


def samples(folder: Path) -> Iterator[Sample]:
    """One for each summary, those of an article together; its group is the article. Overall is the mean of four."""
    path = folder / FILE
    whole = read_json(path)
    if not isinstance(whole, dict):
        raise DataError(f"{path}: expected an object of articles, got {type(whole).__name__}")
    for article, row in whole.items():
        where = f"{path}, {article!r}"
        if not isinstance(row, dict):
            raise DataError(f"{where}: expected an object, got {type(row).__name__}")
        source, reference = field(row, "src", where, str), row.get("ref_summ")
        for system, held in field(row, "sys_summs", where, dict).items():
            place = f"{where}, sys_summs, {system!r}"
            if not isinstance(held, dict):
                raise DataError(f"{place}: expected an object, got {type(held).__name__}")
            scores = numbers(held, "scores", place, tuple(name.lower() for name in NAMES))
            human = {name: scores[name.lower()] for name in NAMES}
            yield sample_of(
                place, id=f"{article}/{system}", source=source, output=field(held, "sys_summ", place, str),
                reference=reference if isinstance(reference, str) and reference else None,
                human={**human, "Overall": fmean(human.values())}, meta={"group": article, "system": system},
            )  # fmt: skip


COLLECTION = Collection(
    name="summeval",
    title="SummEval (Fabbri et al. 2021)",
    items="1,600 summaries of 100 articles by 16 systems; recorded judges of 12 systems",
    origin=(
        "neulab/BARTScore, SUM/SummEval/data.pkl, converted to JSON (Apache-2.0); "
        "DAMO-NLP-SG/LLM_summeval (no licence stated)"
    ),
    files=(FILE, ANNOTATIONS, "judges/gpt-3.5-turbo-0301/coherence_rts.jsonl"),
    criteria="summary",
    preset="summeval-llm",
    samples=samples,
    recorded=lambda folder: recorded_judges(folder, NAMES, ours),
    published=PUBLISHED,
    authors=lambda folder: recorded_judges(folder, NAMES, theirs),
)
