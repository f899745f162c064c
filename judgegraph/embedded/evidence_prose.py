"""What any prose shows by itself and beside its request: redundancy, detail, coverage, tone."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from judgegraph.embedded.prompt_view import Case
from judgegraph.embedded.text import (
    CONNECTIVES,
    FORMAL,
    INFORMAL,
    LOADED,
    LOADED_PHRASES,
    NEGATIVE,
    POSITIVE,
    PRONOUNS,
    REFUSALS,
    Text,
    content,
    listed,
    names_in,
    slips_of,
    stemmed,
    words_of,
)

# Evidence: a quality between 0 and 1 with the words that name what was seen.


@dataclass(frozen=True)
class Evidence:
    """What was measured: `quality` 0 to 1 (1 is best), `note` a clause for a reason.

    `raises` is False where only faults were looked for: that none was found is no reason to raise a score.
    """

    quality: float
    note: str
    raises: bool = True


Measure: TypeAlias = Callable[[Case], Evidence | None]
Views: TypeAlias = dict[str, tuple[Measure, Measure]]  # family -> what an evaluator sees, what a critic sees


def logistic(x: float, centre: float, width: float) -> float:
    """A monotone map of any number to 0-1; `centre` becomes .5, `centre + width` .73."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, (x - centre) / width))))


def falling(count: float, per: float) -> float:
    """1 without any defect, 1/e at `per` of them."""
    return math.exp(-count / per)


def between(x: float, low: float, high: float, soft: float) -> float:
    """1 inside low..high, falling with the distance (in units of `soft`) outside."""
    off = max(low - x, x - high, 0.0)
    return math.exp(-off / soft)


def percent(x: float) -> str:
    return f"{100 * x:.0f} %"


def counted(n: int, one: str, many: str = "") -> str:
    """ "no repeated word", "1 repeated word", "3 repeated words"."""
    return f"{n or 'no'} {one if n in (0, 1) else many or one + 's'}"


def mean(values: Iterable[float]) -> float:
    """Arithmetic mean, 0 for none."""
    held = list(values)
    return math.fsum(held) / len(held) if held else 0.0


VAGUE = frozenset(map(stemmed, listed("vague")))
LOOSE = VAGUE | frozenset(map(stemmed, listed("numbers")))  # a word of these in common ties nothing together
_FILLER = re.compile(
    r"\b(?:in order to|very|really|basically|actually|just|quite|as a matter of fact|it is important to note)\b"
)
_GENERAL = re.compile(
    r"\b(?:always|never|everyone|everybody|nobody|no one|all (?:men|women|people|foreigners|immigrants|boys|girls))\b"
)


def overlap(one: set[str], two: set[str]) -> float:
    """Shared part of the smaller of two sets, 0 for an empty one."""
    return len(one & two) / min(len(one), len(two)) if one and two else 0.0


def repetition(text: Text) -> float:
    """Largest overlap of two sentences, 0-1; one sentence has none."""
    held = text.contents[:40]
    return max((overlap(a, b) for j, b in enumerate(held) for a in held[:j]), default=0.0)


def linked(text: Text) -> float:
    """Share of neighbouring sentences tied by a shared content word, a pronoun or a connective; .6 for one sentence."""
    pairs = list(zip(text.contents, text.contents[1:], text.sentences[1:], strict=False))
    if not pairs:
        return 0.6
    return mean(float(bool(a & b) or s[0] in PRONOUNS or s[0] in CONNECTIVES) for a, b, s in pairs)


def loaded(text: Text) -> list[str]:
    """Loaded words and phrases, each once."""
    line = " " + " ".join(text.words) + " "
    return sorted({w for w in text.words if w in LOADED} | {p for p in LOADED_PHRASES if f" {p} " in line})


def quoted(words: Iterable[str], most: int = 3) -> str:
    return ", ".join(f'"{w}"' for w in list(words)[:most])


def diversity(case: Case) -> Evidence:
    top, rep = repetition(case.text), slips_of(case.text).repeated
    return Evidence(
        logistic(-top - 2 * rep, -0.75, 0.16), f"its two nearest sentences share {percent(top)} of their words"
    )


def variety(case: Case) -> Evidence:
    words = case.text.content
    kinds = len(set(words)) / len(words) if words else 0.0
    return Evidence(logistic(kinds, 0.62, 0.1), f"{percent(kinds)} of its content words are different ones")


def fairness(case: Case) -> Evidence:
    found = loaded(case.text)
    note = f"it uses {quoted(found)}" if found else "none of its words stands in the list of loaded words"
    return Evidence(0.93 * falling(len(found), 0.9), note)


def generality(case: Case) -> Evidence:
    found = _GENERAL.findall(" ".join(case.text.words))
    return Evidence(
        0.93 * falling(len(found), 2.5),
        f'{counted(len(found), "sweeping word")} such as "always" or "nobody"',
        raises=False,
    )


def _lengths(text: Text) -> tuple[float, float]:
    """Words per sentence, letters per word."""
    n = len(text.words) or 1
    return n / (len(text.sentences) or 1), sum(map(len, text.words)) / n


def readable(case: Case) -> Evidence:
    per, slips = _lengths(case.text)[0], slips_of(case.text)
    flaw = 1.2 * len(slips.rules) + slips.doubled + 2 * slips.fragments
    quality = 0.92 * between(per, 4, 24, 16) * falling(flaw, 4)
    return Evidence(quality, f"{per:.0f} words a sentence, {counted(len(slips.rules) + slips.doubled, 'slip')}")


def plain_words(case: Case) -> Evidence:
    letters = _lengths(case.text)[1]
    return Evidence(logistic(-letters, -5.9, 0.6), f"{letters:.1f} letters a word")


def detail(case: Case) -> Evidence:
    found = set().union(*map(names_in, case.text.raw)) if case.text.raw else set()
    rate = len(found) / (len(case.text.words) or 1)
    return Evidence(logistic(rate, 0.035, 0.03), f"{counted(len(found), 'name or number', 'names and numbers')}")


def density(case: Case) -> Evidence:
    rate = len(case.text.content) / (len(case.text.words) or 1)
    return Evidence(logistic(rate, 0.42, 0.07), f"{percent(rate)} of its words carry content")


def interest(case: Case) -> Evidence:
    rate, long = detail(case).quality, between(len(case.text.words), 15, 250, 60)
    kinds = variety(case).quality
    bland = mean([rate, long, kinds])
    return Evidence(bland, f"{len(case.text.words)} words, {detail(case).note}, {variety(case).note}")


def rhythm(case: Case) -> Evidence:
    sizes = [len(s) for s in case.text.sentences if len(s) > 1]  # a lone "5" behind the text is no change of pace
    variation = (max(sizes) - min(sizes)) / (sum(sizes) / len(sizes)) if sizes else 0.0
    return Evidence(
        logistic(variation, 0.15, 0.35), f"its sentences hold {min(sizes, default=0)} to {max(sizes, default=0)} words"
    )


def concise(case: Case) -> Evidence:
    n, top = len(case.text.words), repetition(case.text)
    base = len(case.src.text.words) if case.source else 0
    size = between(n / base, 0.0, 0.35, 0.25) if base else between(n, 3, 180, 120)
    note = f"{n} words" + (f" for the source's {base}" if base else "")
    return Evidence(0.95 * size * logistic(-top, -0.8, 0.12), f"{note}, nearest sentences share {percent(top)}")


def filler(case: Case) -> Evidence:
    found = len(_FILLER.findall(" ".join(case.text.words)))
    return Evidence(
        0.9 * falling(found / (len(case.text.words) or 1), 0.04), counted(found, "filler word"), raises=False
    )


VIEWS: Views = {
    "diversity": (diversity, variety),
    "fairness": (fairness, generality),
    "understandability": (readable, plain_words),
    "specificity": (detail, density),
    "engagement": (interest, rhythm),
    "conciseness": (concise, filler),
}


# A text beside its request: how much of the request it meets (recall), how much of it is about it (precision).


_ASKING = frozenset(map(stemmed, listed("asking")))
_PARTS = re.compile(r"[,;:.?!]|\band\b", re.I)


def wanted(case: Case) -> set[str]:
    """Content stems of the request, without the words of asking."""
    return set(case.asked.content) - _ASKING


def taken_up(case: Case) -> tuple[float, list[str]]:
    """Share of the request's content stems that the text takes up, and those it leaves; .5 without any."""
    stems, held = wanted(case), set(case.text.content)
    return (len(stems & held) / len(stems), sorted(stems - held)) if stems else (0.5, [])


def refused(case: Case) -> bool:
    """The text is a refusal."""
    start = case.output[:200].lower().replace("’", "'")
    return any(p in start for p in REFUSALS)


def fit(case: Case) -> float:
    """Length adequate to its kind, 0-1: a story of a few sentences, an answer of up to some hundred words."""
    least = 35 if case.kind == "story" else 12 if len(wanted(case)) < 6 else 25
    return between(len(case.text.words), least, 400, 15)


def completeness(case: Case) -> Evidence | None:
    """Recall: what of the request the text takes up, and whether it is long enough for it."""
    if not case.query.strip():
        return None
    part, left = taken_up(case)
    raw = 1.6 * min(1.0, part * 1.35) + 0.7 * fit(case) - 1.5 * refused(case) - slips_of(case.text).repeated
    note = f"it takes up {percent(part)} of the request's content words"
    note += f' (not "{left[0][:30]}")' if left and part < 0.7 else ""
    return Evidence(logistic(raw, 1.15, 0.45), note + ("; it refuses" if refused(case) else ""))


def parts_met(case: Case) -> Evidence | None:
    """For the critic: parts of the request (between marks and "and") of which the text names something."""
    held = [set(content(words_of(part))) - _ASKING - LOOSE for part in _PARTS.split(case.query[:2000])]
    asked, answered = [stems for stems in held if stems], set(case.text.content)
    if not asked:
        return None
    met = sum(bool(stems & answered) for stems in asked)
    quality = 0.2 + 0.7 * met / len(asked)
    return Evidence(
        quality, f"it names something of {met} of the request's {counted(len(asked), 'part')}", raises=False
    )


def tied(case: Case) -> list[bool]:
    """Per sentence: it names something of the request, or hangs on a sentence that does.

    It hangs on one by a content word in common, or on the one before it by a pronoun or linking word at its start.
    """
    stems, contents = wanted(case) - LOOSE, [c - LOOSE for c in case.text.contents]
    leans = [s[0] in PRONOUNS or s[0] in CONNECTIVES for s in case.text.sentences]
    held = [bool(stems & c) for c in contents]
    known = set().union(*(c for c, h in zip(contents, held, strict=True) if h))
    grown = any(held)
    while grown:
        grown = False
        for i, stems_of in enumerate(contents):
            if not held[i] and (stems_of & known or (i and leans[i] and held[i - 1])):
                held[i] = grown = True
                known |= stems_of
    return held


def relevance(case: Case) -> Evidence | None:
    """Precision: how much of the text has to do with the request, without repeats."""
    if not case.query.strip():
        return None
    sizes, held = [len(s) for s in case.text.sentences], tied(case)
    near = [h or 0.5 * any(held[max(0, i - 1) : i + 2]) for i, h in enumerate(held)]  # between two that are: half
    part = math.fsum(n * h for n, h in zip(sizes, near, strict=True)) / sum(sizes)
    named = mean(float(bool((wanted(case) - LOOSE) & c)) for c in case.text.contents)
    quality = logistic(part + 0.3 * named - slips_of(case.text).repeated, 0.6, 0.16) * (0.4 if refused(case) else 1.0)
    note = f"{percent(part)} of it has to do with the request, {percent(named)} of its sentences name it"
    return Evidence(0.97 * quality, note + ("; it refuses" if refused(case) else ""))


def opening(case: Case) -> Evidence | None:
    """For the critic: where the request is taken up: in the first sentence, and in how many."""
    if not case.query.strip():
        return None
    stems = wanted(case)
    hits = [float(bool(stems & c)) for c in case.text.contents]
    quality = 0.35 + 0.3 * hits[0] + 0.3 * min(1.0, 2 * mean(hits))
    return Evidence(quality, f"{percent(mean(hits))} of its sentences touch the request")


# Which label of tone or sentiment a text carries, by counted words.


_CLASS = {
    "positive": "positive", "happy": "positive", "friendly": "positive", "warm": "positive", "enthusiastic": "positive",
    "optimistic": "positive", "encouraging": "positive", "welcoming": "positive", "joyful": "positive",
    "negative": "negative", "sad": "negative", "angry": "negative", "hostile": "negative", "harsh": "negative",
    "pessimistic": "negative", "critical": "negative", "aggressive": "negative", "offensive": "negative",
    "neutral": "neutral", "objective": "neutral", "balanced": "neutral", "matter-of-fact": "neutral",
    "mixed": "mixed", "formal": "formal", "professional": "formal", "serious": "formal", "informal": "informal",
    "casual": "informal", "playful": "informal", "humorous": "informal", "conversational": "informal",
}  # fmt: skip


def tone(case: Case, labels: Sequence[str]) -> tuple[tuple[float, ...], str] | None:
    """Probability per label and a note; None where fewer than two labels are known words."""
    kinds = [_CLASS.get(label.strip().lower(), "") for label in labels]
    if sum(map(bool, kinds)) < 2:
        return None
    words = case.text.words
    n = len(words) or 1
    good, bad = sum(w in POSITIVE for w in words), sum(w in NEGATIVE or w in LOADED for w in words)
    marks = case.output.count("!")
    formal, loose = sum(w in FORMAL for w in words), sum(w in INFORMAL for w in words) + marks
    scores = {
        "positive": 60 * (good - 0.8 * bad) / n + 0.1 * min(3, marks),
        "negative": 75 * (bad - 0.6 * good) / n,
        "neutral": 1.2 - 25 * abs(good - bad) / n - 0.1 * min(5, marks),
        "mixed": 40 * min(good, bad) / n,
        "formal": 0.7 + 25 * (formal - loose) / n,
        "informal": 0.2 + 40 * (loose - formal) / n,
        "": 0.0,
    }
    raised = [2.718281828 ** max(-6.0, min(6.0, 2 * scores[k])) for k in kinds]
    total = math.fsum(raised)
    note = f"{counted(good, 'friendly word')} and {counted(bad, 'harsh word')} among {n}"
    return tuple(r / total for r in raised), note
