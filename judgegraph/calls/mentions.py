"""Where a reply mentions one of the labels that it was offered."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_NOUNS = (
    "output|response|summary|answer|option|choice|assistant|candidate|system|model|text|story|dialogue|reply|version"
)
_NOUN = re.compile(rf"\A(?:{_NOUNS})[ ]+(?=\S)", re.I)
_OUTER = "*_\"'`()[]{}<> \t\n"
_TOGETHER = re.compile(r"\s{0,3}(?:/|\||,?\s(?:or|and|nor|vs\.?|versus)\b)\s{0,3}(?:the\s|as\s)?", re.I)
_COMMA = re.compile(r",\s{1,2}")
_WORD_AFTER = re.compile(r"[ \t]+([^\W\d_]\w*)")
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
    ]
)


@dataclass(frozen=True)
class Mention:
    """A label in a reply.

    Attributes:
        label: as the caller spells it. start, end: of the mention with its noun and brackets.
        span: of the label's own characters.
        plain: a lone letter or digit without noun or bracket, which may stand for something else.
        offered: named in one breath with another label ("A or B").
    """

    label: str
    start: int
    end: int
    span: tuple[int, int]
    plain: bool
    offered: bool = False


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
    """The labels in a text, in its order."""
    cores = "|".join(re.escape(c).replace(r"\ ", r"\s{1,3}") for c in sorted(met, key=len, reverse=True))
    pattern = re.compile(
        rf"(?<![\w#$.])(?:(?P<noun>{_NOUNS})\s{{1,2}}#?)?(?P<open>[*_\"'`(\[{{<]{{0,4}})(?:(?<![\w.])|(?<=_))(?P<core>{cores})"
        r"(?P<close>[*_\"'`)\]}>]{0,4})(?!\w|-\w|[.,]\d)",
        re.I,
    )
    found = []
    for match in pattern.finditer(text):
        if _is_article(text, match):
            continue
        core, bracketed = match["core"], re.search(r"[(\[{<*]", match["open"])
        plain = len(core) == 1 and not match["noun"] and not bracketed and not core.isupper()
        label = met[" ".join(core.lower().split())]
        found.append(Mention(label, match.start(), match.end(), match.span("core"), plain))
    return _marked_offers(text, found)


def _marked_offers(text: str, found: list[Mention]) -> list[Mention]:
    """The same mentions, knowing which are one question: "A, B, or C"."""
    offered = [False] * len(found)
    for i in range(len(found) - 2, -1, -1):
        here, after = found[i], found[i + 1]
        between = text[here.end : after.start] if after.start - here.end < 20 else " "
        listed = _COMMA.fullmatch(between) and offered[i + 1]
        if here.label != after.label and (_TOGETHER.fullmatch(between) or listed):
            offered[i] = offered[i + 1] = True
    return [Mention(m.label, m.start, m.end, m.span, m.plain, flag) for m, flag in zip(found, offered, strict=True)]
