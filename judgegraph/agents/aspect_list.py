"""A chain of aspects as a judge lists it: read from text or a form, tidied, never padded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from judgegraph.prompts.criteria_file import same_key
from judgegraph.types import Criterion, Scale, key_of

FIVE = Scale(low=1, high=5)
LONGEST = 200  # characters of a name, as in Criterion
_MARK = re.compile(r"(?:\(?\d{1,3}[.)\]:](?!\d)|[-*\u2022\u2013](?=\s))\s*")
_LABEL = re.compile(r"(?:name|aspect|definition|description)\s*:\s*", re.I)
_PLAIN_WORDS = 8  # a line without a mark is prose where more words stand before its colon


def aspect_stage(target: str) -> str:
    """The stage of an aspect's score: it names the target, so that two chains may share an aspect."""
    return f"aspects:{target}"


def chain_key(target: str, chains: str = "") -> str:
    """The key of a target's chain in `aspects`: it names whose chains these are, where they have a name."""
    return key_of(target, chains) if chains else target


def chains_of(aspects: Mapping[str, Sequence[Criterion]], chains: str = "") -> dict[str, Sequence[Criterion]]:
    """Target -> its chain, of the chains that have this name; without a name all that there are."""
    if not chains:
        return dict(aspects)
    end = key_of("", chains)
    own = {key.removesuffix(end): chain for key, chain in aspects.items() if key.endswith(end)}
    return {target.replace("%2F", "/").replace("%25", "%"): chain for target, chain in own.items()}


def read_aspects(text: str, target: str, m: int, scale: Scale = FIVE) -> tuple[list[Criterion], tuple[str, ...]]:
    """The aspects in a reply of lines such as "1. Name: definition".

    Only the first colon divides, so a definition may hold others; it may also stand on the line below its
    name. Where some lines are numbered or bulleted, other lines are no aspects; where none is, one line alone is
    prose ("Sorry: ..."), not a list. A name without a definition (a preamble, a heading) is no aspect.

    Args:
        text: the reply. target: name of the target aspect, which is no aspect of its own chain.
        m: aspects wanted, 1 or more. scale: that each will be scored on.

    Returns:
        (aspects, notes): at most m in the order of the text, no two of one name; and what was left out.
    """
    return tidy_aspects(_pairs(text), target, m, scale)


def tidy_aspects(
    pairs: Iterable[tuple[str, str]], target: str, m: int, scale: Scale = FIVE
) -> tuple[list[Criterion], tuple[str, ...]]:
    """(name, definition) pairs as a chain; names lose list marks and bold, and are compared as forms tell them apart.

    Case, white space and punctuation make no other name: "1. **COHERENCE**." is Coherence.
    """
    found: dict[str, Criterion] = {}
    twice = own = bare = 0
    for raw_name, raw_definition in pairs:
        name, definition = _name(raw_name), " ".join(raw_definition.split())
        key = same_key(name)
        if not key or not definition or len(name) > LONGEST:
            bare += 1
        elif key == same_key(target):
            own += 1
        elif key in found:
            twice += 1
        else:
            found[key] = Criterion(name=name, definition=definition, scale=scale)
    chain = list(found.values())[:m]
    out = {"named twice": twice, "the target itself": own, "without a definition": bare}
    out["beyond that number"] = len(found) - len(chain)
    why = ", ".join(f"{count} {what}" for what, count in out.items() if count)
    short = f"{len(chain)} of {m} aspects" + (f" ({why})" if why else "")
    return chain, (short,) if len(chain) < m or why else ()


def _pairs(text: str) -> list[tuple[str, str]]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not any(_MARK.match(line) for line in lines):
        plain = [(name, said) for name, said in map(_divided, lines) if said and len(name.split()) <= _PLAIN_WORDS]
        return plain if len(plain) > 1 else []
    return _listed(lines)


def _listed(lines: list[str]) -> list[tuple[str, str]]:
    """Marked lines are aspects; a name alone takes its definition from the next line."""
    pairs: list[tuple[str, str]] = []
    for line in lines:
        mark = _MARK.match(line)
        waiting = bool(pairs) and not pairs[-1][1]
        if waiting and not (mark and mark[0][0].isdigit()):
            pairs[-1] = (pairs[-1][0], _LABEL.sub("", _bare(line[mark.end() :] if mark else line), count=1))
        elif mark:
            pairs.append(_divided(line[mark.end() :]))
    return pairs


def _divided(line: str) -> tuple[str, str]:
    """Name and definition on either side of the first colon."""
    name, _, definition = _LABEL.sub("", _bare(line), count=1).partition(":")
    return name.strip(" \"'\u201c\u201d"), definition.strip()


def _name(text: str) -> str:
    """A name without its list mark, bold, quotes and colon."""
    name = " ".join(_bare(text).split())
    return _bare(_MARK.sub("", name, count=1) if _MARK.match(name) else name).strip(" :\"'\u201c\u201d")


def _bare(line: str) -> str:
    """Without Markdown's bold and code marks."""
    return re.sub(r"\*\*|__|`", "", line).strip()
