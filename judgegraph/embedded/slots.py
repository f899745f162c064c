"""Evidence for a text written from a meaning representation such as inform(name='X', area=centre)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from judgegraph.embedded.evidence_answers import VIEWS as ANSWERS
from judgegraph.embedded.evidence_prose import (
    Evidence,
    Views,
    between,
    counted,
    density,
    falling,
    logistic,
    mean,
    plain_words,
    variety,
)
from judgegraph.embedded.prompt_view import Case, loads, strings
from judgegraph.embedded.text import FUNCTION_WORDS, content, listed, slips_of, words_of

_SLOT = re.compile(r"(\w[\w ]*?)\s*(?:=\s*(?:'([^']*)'|\"([^\"]*)\"|([^,;()|\]]*))|\[([^\]]*)\])")
_ACT = re.compile(r"^\s*\??([\w-]+)\s*\(")
_ASKING = re.compile(r"request|confirm|select|ask|question")
_NEGATIVE, _CARELESS, _VERBS = listed("negations"), listed("careless"), listed("verbs")


@dataclass(frozen=True)
class Meaning:
    """Speech act and slots (name, value) of a meaning representation; a value may be ""."""

    act: str
    slots: tuple[tuple[str, str], ...]


@lru_cache(maxsize=256)
def meaning_of(text: str) -> Meaning:
    """Read act(slot=value, ...), slot[value], or slot = value lists."""
    table = loads(text)
    if isinstance(table, dict):
        return Meaning("", tuple((str(k), " ".join(strings(v))) for k, v in list(table.items())[:60]))
    act = _ACT.match(text)
    body = text[act.end() :] if act else text
    found = [(m[1].strip(), (m[2] or m[3] or m[4] or m[5] or "").strip()) for m in _SLOT.finditer(body[:3000])]
    if not found and act:
        found = [(name.strip(), "") for name in re.split(r"[,;]", body.rstrip(" )")) if name.strip()]
    return Meaning(act[1].lower() if act else "", tuple(found[:60]))


def _is_expressed(name: str, value: str, words: set[str], squeezed: str) -> bool:
    low, bare = value.lower(), re.sub(r"\W|_", "", value.lower())
    if low in ("none", "no", "false"):
        return bool(words & _NEGATIVE)
    if bare in ("dontcare", "dontmind"):
        return bool(words & (_CARELESS | {"don't", "n't", "not"}))
    if low in ("", "yes", "true", "?"):
        stems = content(words_of(re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", name)))
        return not stems or any(s[:5] in squeezed for s in stems)
    held = content(words_of(low.replace("_", " ")))
    return bare in squeezed or (bool(held) and sum(h[:6] in squeezed for h in held) * 3 >= 2 * len(held))


def missed(case: Case) -> tuple[list[str], int]:
    """Slots the text does not say, and how many there are."""
    slots = meaning_of(case.source).slots
    words, squeezed = set(case.text.words), re.sub(r"\W|_", "", case.output.lower())
    return [name for name, value in slots if not _is_expressed(name, value, words, squeezed)], len(slots)


def informative(case: Case) -> Evidence:
    (lost, total), slips = missed(case), slips_of(case.text)
    share = 1 - len(lost) / total if total else 1.0
    raw = 2 * share + 0.3 * between(len(case.text.words), 2 + 2 * total, 8 + 6 * total, 8)
    raw -= 0.5 * slips.stutter + slips.repeated
    note = f"it says {total - len(lost)} of {counted(total, 'slot')}"
    return Evidence(logistic(raw, 1.45, 0.4), note + (f"; it lacks {lost[0][:30]}" if lost else ""))


def acted(case: Case) -> Evidence:
    """For the critic: does the text ask where the meaning asks, and tell where it tells?"""
    asks = bool(_ASKING.search(meaning_of(case.source).act)) or case.source.lstrip().startswith("?")
    fits = asks == ("?" in case.output)
    note = ("it asks" if "?" in case.output else "it tells") + (", as" if fits else ", unlike")
    return Evidence(0.75 if fits else 0.4, f"{note} the meaning does")


def natural(case: Case) -> Evidence:
    slips, words = slips_of(case.text), case.text.words
    held = [w for w in words if w not in FUNCTION_WORDS]
    repeats = 1 - len(set(held)) / (len(held) or 1)
    verb = any(w in _VERBS or (w.endswith("ed") and len(w) > 4) for w in words)
    flaws = 1.5 * slips.stutter + 2 * slips.repeated + 1.2 * repeats + 0.5 * len(slips.rules) + slips.dangling
    flaws += 0.4 * (not slips.stopped) + 0.5 * slips.fragments + 0.4 * (not verb)
    quality = 0.93 * falling(flaws, 1.1) * between(len(words) or 1, 4, 28, 15)
    note = f"{counted(len(slips.rules) + slips.doubled, 'slip')}, {counted(len(words), 'word')}"
    return Evidence(quality, note + ("" if verb else ", no verb found"))


def overall(case: Case) -> Evidence:
    informed, plain = informative(case), natural(case)
    return Evidence(mean([informed.quality, plain.quality]), f"{informed.note}; {plain.note}")


def middle(case: Case) -> Evidence:
    parts = [acted(case), density(case), plain_words(case), variety(case)]
    return Evidence(mean(p.quality for p in parts), f"{acted(case).note}, {density(case).note}")


VIEWS: Views = ANSWERS | {
    "relevance": (informative, acted),
    "completeness": (informative, acted),
    "consistency": (informative, acted),
    "naturalness": (natural, density),
    "fluency": (natural, density),
    "coherence": (natural, density),
    "overall": (overall, middle),
}
