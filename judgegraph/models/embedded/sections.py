"""The tagged sections of a prompt, and what they hold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from judgegraph.models.embedded.blocks import NUMBER, Seen, blocks, slug

_OPEN = re.compile(r"<([a-z][a-z0-9_-]{0,40}?)-([0-9a-zA-Z]{4,64})>")
_MOST_OPENERS = 400
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ASKED = re.compile(
    r"\b(\d{1,2}|" + "|".join(_NUMBERS) + r")\s+(?:\w+\s+){0,2}?(?:aspects|criteria|metrics|dimensions)\b", re.I
)


def sections_of(prompt: str) -> dict[str, str]:
    """Section name -> text. A tag closes only by its own nonce; what stands inside opens nothing.

    A name that stands twice keeps its first text.
    """
    return read_sections(prompt)[0]


def read_sections(prompt: str) -> tuple[dict[str, str], str]:
    """`sections_of`, and the words outside the sections."""
    found: dict[str, str] = {}
    outside: list[str] = []
    at = tries = left = 0
    while tries < _MOST_OPENERS and (match := _OPEN.search(prompt, at)):
        tries += 1
        closer = f"</{match[1]}-{match[2]}>"
        end = prompt.find(closer, match.end())
        if end < 0:
            at = match.end()
            continue
        found.setdefault(match[1].replace("-", "_"), prompt[match.end() : end].strip("\n"))
        outside.append(prompt[left : match.start()])
        at = left = end + len(closer)
    return found, " ".join([*outside, prompt[left:]])


@dataclass(frozen=True, eq=False)
class Prompt:
    """What the message in force holds: its sections, what the blocks in them say, and a number of things asked for.

    `said` are the words outside the sections: of them nothing but that number is read.
    """

    sections: Mapping[str, str] = field(default_factory=dict)
    said: str = ""

    @cached_property
    def count(self) -> int | None:
        """How many aspects or criteria the words outside the sections ask for, None where they name no number."""
        found = _ASKED.search(self.said)
        if found is None:
            return None
        return int(found[1]) if found[1].isdigit() else _NUMBERS.index(found[1].lower()) + 1

    @cached_property
    def criteria(self) -> tuple[Seen, ...]:
        """Criteria in order of their sections: the one asked for first."""
        held: dict[str, Seen] = {}
        for name in ("criterion", "criteria", "target", "aspects", "aspect", "rubric"):
            for seen in blocks(self.sections.get(name, "")):
                held.setdefault(seen.key or slug(seen.name), seen)
        return tuple(held.values())

    @cached_property
    def single(self) -> Seen | None:
        """The criterion or target that the whole prompt is about."""
        for name in ("criterion", "target", "aspect", "rubric"):
            for seen in blocks(self.sections.get(name, "")):
                return seen
        return self.criteria[0] if len(self.criteria) == 1 else None

    @cached_property
    def drafts(self) -> dict[str, Seen]:
        """Slug of a criterion -> its draft score, by another judge or by itself."""
        shown = self.sections.get("scores") or self.sections.get("own_scores", "")
        return {slug(s.name): s for s in blocks(shown) if s.name}

    @cached_property
    def findings(self) -> dict[str, float]:
        """Assistant -> number it gave; absent ones and words are left out."""
        found = {}
        for line in self.sections.get("findings", "").splitlines():
            name, _, rest = line.strip().lstrip("-* ").partition(":")
            if re.fullmatch(NUMBER, rest.strip()):
                found[name.strip()] = float(rest)
        return found

    @cached_property
    def assistants(self) -> dict[str, str]:
        """Assistant -> what is said of it."""
        text = self.sections.get("assistants", "")
        parts = re.split(r"^##\s+(.+)$", text, flags=re.M)
        if len(parts) > 2:
            return {n.strip(): " ".join(b.split()) for n, b in zip(parts[1::2], parts[2::2], strict=False)}
        lines = (line.strip().lstrip("-* ").partition(":") for line in text.splitlines() if ":" in line)
        return {name.strip(): rest.strip() for name, _, rest in lines}

    def planned(self, criterion: str) -> frozenset[str]:
        """The assistants that the plan names for a criterion, in a line "- NAME: one, another"."""
        found: set[str] = set()
        for line in self.sections.get("plan", "").splitlines():
            name, _, rest = line.strip().lstrip("-* ").partition(":")
            if slug(name) == slug(criterion):
                found |= {one.strip() for one in rest.split(",")} & set(self.findings)
        return frozenset(found)

    def named(self, *names: str) -> Seen | None:
        """The criterion shown under one of these names or keys."""
        for name in names:
            for seen in self.criteria:
                if (seen.key or slug(seen.name)) == name or slug(seen.name) == slug(name):
                    return seen
        return None
