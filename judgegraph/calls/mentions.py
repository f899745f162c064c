"""Where a reply mentions one of the labels that it was offered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

_NOUNS = (
    "output|response|summary|answer|option|choice|assistant|candidate|system|model|text|story|dialogue|reply|version"
)
_NOUN = re.compile(rf"\A(?:{_NOUNS})[ ]+(?=\S)", re.I)
_OUTER = "*_\"'`()[]{}<> \t\n"
_TOGETHER = re.compile(r"\s{0,3}(?:/|\||,?\s(?:or|and|nor|vs\.?|versus)\b)\s{0,3}(?:the\s|as\s)?", re.I)
_COMMA = re.compile(r",\s{1,2}")
_WORD_AFTER = re.compile(r"[ \t]+([^\W\d_]\w*)")
_TIES = ("tie", "tied", "draw", "equal", "even", "a tie")
_SIGNS = ">", "<", "=", "≥", "≤", "≫", "≪", "≻", "≺", "≈", "≡"
_SIGN = r"(?P<sign>>=|<=|=>|=<|[≥≤]|>{1,3}|<{1,3}|={1,3}|[≫≪≻≺≈≡])"
_TAG = "|".join(f"(?<=<{name}>)" for name in ("answer", "verdict", "result", "choice"))
_FIRST, _SECOND, _SAME = frozenset(">≫≻"), frozenset("<≪≺"), frozenset("=≈≡")
_TIE = re.compile(r"(?<![\w-])(?P<core>tied?|draw)(?![\w-])", re.I)
_THIRD = re.compile(r"\[\[\s?(?P<core>C)\s?\]\]", re.I)
_HARDLY = (
    r"(?:basically|essentially|effectively|roughly|about|quite|pretty|practically|virtually|overall|both|all|just|"
    r"more[ ]or[ ]less)"
)
_EQUAL = re.compile(  # a tie in words
    rf"\b(?:it['’]s|is|are|were|call[ ](?:it|this)|declare[ds]?|ends?[ ]in|results?[ ]in|say|conclude|as)"
    rf"[ ](?:{_HARDLY}[ ]){{0,2}}"
    r"(?:(?:it|this|that)[ ](?:is|as)[ ])?(?:an?[ ])?(?:tie|draw|tied|on[ ]par|evenly[ ]matched|"
    r"equal(?=[ ]in[ ](?:overall[ ])?quality|"
    r"[ ]overall|[.!]|\s*\Z)|of[ ](?:equal|the[ ]same|similar)[ ]quality)(?![\w-])"
    r"|\bequally[ ](?:good|bad|strong|weak|helpful|well|valid|matched|poor|excellent|great|preferable|acceptable|"
    r"useful|wrong|incorrect|competent)\b|\bties?[ ]with\b|\bno[ ](?:clear[ ])?winner\b|\bcannot[ ]be[ ]told[ ]apart\b",
    re.I,
)
_UNEQUAL = re.compile(
    r"(?:\bnot|n['’]t|\bhardly|\bnever|\bnearly|\balmost|\bif|\bno[ ]longer|\brather[ ]than|"
    r"\bwhether|\bfar[ ]from|\bclose[ ]to)"
    r"[ ](?:\w{1,12}[ ]){0,2}\Z",
    re.I,
)
_VERBS = frozenset(
    [
        "is",
        "was",
        "because",
        "since",
        "wins",
        "win",
        "as",
        "over",
        "has",
        "does",
        "follows",
        "would",
        "and",
        "or",
        "but",
        "than",
        "more",
        "better",
        "seems",
        "appears",
        "ties",
        "equals",
        "matches",
        "beats",
        "loses",
        "it",
    ]
)


@dataclass(frozen=True)
class Mention:
    """A label in a reply.

    Attributes:
        label: as the caller spells it; "" for a verdict that is none of them, as a tie where no label is one.
        start, end: of the mention with its noun and brackets. span: of the label's own characters.
        plain: a lone letter or digit without noun or bracket, which may stand for something else.
        offered: named in one breath with another label ("A or B").
        kind: "label"; "comparison" of two of them ("A>B"); "other": a tie that is called by none of the labels;
            "alike": a tie in words.
    """

    label: str
    start: int
    end: int
    span: tuple[int, int]
    plain: bool
    offered: bool = False
    kind: Literal["label", "comparison", "other", "alike"] = "label"


def spoken(labels: Sequence[str] | Mapping[str, Sequence[str]]) -> dict[str, str]:
    """How a label may be met, without its noun and brackets, in lower case -> the label.

    Raises:
        ValueError: no label, an empty one, or two labels that are met alike.
    """
    aliases = dict(labels) if isinstance(labels, Mapping) else dict.fromkeys(labels, ())
    met: dict[str, str] = {}
    for label, others in aliases.items():
        for alias in others or (label,):
            core = " ".join(_NOUN.sub("", alias.strip(_OUTER)).strip(_OUTER).lower().split())
            if not core or met.get(core, label) != label:
                raise ValueError(f"label {alias!r} is empty or is met like {met.get(core)!r}")
            met[core] = label
    if not met:
        raise ValueError("no labels to read")
    return met


def _is_article(text: str, match: re.Match[str]) -> bool:
    """An "A" before a noun ("A good summary") is no label; "A is better" has one."""
    if match["core"].lower() not in ("a", "i") or re.search(r"[(\[{<*\"'`]", match["open"]):
        return False
    after = _WORD_AFTER.match(text, match.end())
    return after is not None and (match["core"] == "a" or after[1].lower() not in _VERBS) and not match["close"]


def mentions(text: str, met: Mapping[str, str]) -> list[Mention]:
    """The labels in a text, in its order; a comparison of two of them ("A>B") is one mention, of what it comes to."""
    cores = _either(met)
    pattern = re.compile(
        rf"(?<![\w#$.])(?:(?P<noun>{_NOUNS})\s{{1,2}}#?)?(?P<open>[*_\"'`(\[{{<]{{0,4}})(?:(?<![\w.])|(?<=_))(?P<core>{cores})"
        r"(?P<close>[*_\"'`)\]}>]{0,4})(?!\w|-\w|[.,]\d)",
        re.I,
    )
    compared = [*_comparisons(text, met), *_foreign(text, met)]
    taken = {at for one in compared for at in range(*one.span)}
    found = [*compared]
    for match in pattern.finditer(text):
        if match.start("core") in taken or _is_article(text, match):
            continue
        core, bracketed = match["core"], re.search(r"[(\[{<*]", match["open"])
        plain = len(core) == 1 and not match["noun"] and not bracketed and not core.isupper()
        label = met[" ".join(core.lower().split())]
        found.append(Mention(label, match.start(), match.end(), match.span("core"), plain))
    return _marked_offers(text, sorted(found, key=lambda one: one.span))


def _either(met: Iterable[str]) -> str:
    return "|".join(re.escape(c).replace(r"\ ", r"\s{1,3}") for c in sorted(met, key=len, reverse=True))


def tie_label(met: Mapping[str, str]) -> str | None:
    """The label that says that both are alike; None where there is none."""
    return next((met[core] for core in _TIES if core in met), None)


def of_pair(met: Mapping[str, str]) -> bool:
    """Whether the labels are the two sides of a pair, with a tie or without."""
    tie = tie_label(met)
    sides = {core for core, label in met.items() if label != tie}
    return sides in ({"a", "b"}, {"1", "2"}, {"a", "b", "c"})


def _comparisons(text: str, met: Mapping[str, str]) -> Iterator[Mention]:
    """ "A>B", "[[A>>B]]", "Response A = Response B": the side that it says is ahead, or the tie."""
    if not any(sign in text for sign in _SIGNS):
        return
    tie = tie_label(met)
    sides = _either(core for core in met if met[core] != tie)
    one, two = (rf"(?:(?:{_NOUNS})\s{{1,2}})?[*(]{{0,2}}(?P<{name}>{sides})[)*]{{0,2}}" for name in ("one", "two"))
    pattern = re.compile(
        rf"(?:(?<![\w=<>.])|{_TAG})(?P<open>[*_\"'`(\[{{<]{{0,4}})(?<![\w.]){one}[ ]{{0,2}}{_SIGN}[ ]{{0,2}}{two}"
        r"(?![\w>≥≤≫≪≻≺≈≡]|<(?!/[a-z])|[ ]{0,2}=|[.,]\d)(?P<close>[*_\"'`)\]}]{0,4})",
        re.I,
    )
    for match in pattern.finditer(text):
        first, second = (met[" ".join(match[side].lower().split())] for side in ("one", "two"))
        signs = set(match["sign"])
        label = first if signs <= _FIRST else second if signs <= _SECOND else (tie or "") if signs <= _SAME else ""
        if first != second:
            span = (match.end("open"), match.end("two"))
            yield Mention(label, match.start(), match.end(), span, False, kind="comparison")


def _foreign(text: str, met: Mapping[str, str]) -> Iterator[Mention]:
    """Ties of a pair by words that are none of its labels: "tie" where there is no such label, MT-Bench's "[[C]]"."""
    if not of_pair(met):
        return
    label = tie_label(met) or ""
    for pattern in (_TIE, _THIRD):
        for match in pattern.finditer(text):
            if match["core"].lower() not in met:
                start = len(text[: match.start()].rstrip("*_\"'`([{<"))
                yield Mention(label, start, match.end(), match.span("core"), False, kind="other")


def alike(text: str, met: Mapping[str, str]) -> Iterator[Mention]:
    """Where a text says of a pair that both are alike."""
    if of_pair(met):
        for match in _EQUAL.finditer(text):
            if not _UNEQUAL.search(text[max(0, match.start() - 30) : match.start()]):
                yield Mention(tie_label(met) or "", match.start(), match.end(), match.span(), False, kind="alike")


def _marked_offers(text: str, found: list[Mention]) -> list[Mention]:
    """The same mentions, knowing which are one question: "A, B, or C"."""
    offered = [False] * len(found)
    for i in range(len(found) - 2, -1, -1):
        here, after = found[i], found[i + 1]
        between = text[here.end : after.start] if after.start - here.end < 20 else " "
        listed = _COMMA.fullmatch(between) and offered[i + 1]
        if here.label != after.label and (_TOGETHER.fullmatch(between) or listed):
            offered[i] = offered[i + 1] = True
    return [replace(m, offered=flag) for m, flag in zip(found, offered, strict=True)]
