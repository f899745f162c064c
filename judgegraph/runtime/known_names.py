"""Names in a redacted trace: those that the run was set up with stay, all others are numbered.

Models write names too (criteria, aspects, branches), and so do people and data (keys of `meta`): such a name may quote
what was judged.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from judgegraph.types import EvalState, key_of

SET_UP = ("method", "nodes", "critics", "criteria", "configuration")  # keys of a manifest that name what was run
OURS = frozenset((  # names of our own that no manifest tells: keys of states, stages, and who notes what
    *EvalState.__annotations__, "criterion", "guidelines", "rounds", "messages", "calls", "doubts", "runs", "entry",
    "going", "budget", "overall", "graph", "human", "sample", "draft", "final", "metric", "escalated", "ballot",
    "plain", "output", "rival", "AB", "BA", "both", "logprobs", "samples", "stated", "mean", "text", "panel", "random",
    "group", "system", "rival_system",
))  # fmt: skip
RANKED = {"system": "system", "rival_system": "system", "group": "group"}  # of `meta`: kinds of names that are counted
PLAIN = re.compile(r"round-\d{1,4}|\d{1,9}|#[0-9a-f]{12}")  # the last is of a run that kept no text
ASPECTS = "aspects:"  # begins the stage of an aspect's score, before its target
SHAPES = {  # key of a state -> what stands between the "/" of its entries' keys
    "scores": ("criterion", "agent", "stage", "repeat", "side"), "rectifications": ("criterion", "agent"),
    "comparisons": ("criterion", "agent", "order"), "corrections": ("side", "agent"),
    "branches": ("criterion", "agent"), "aspects": ("criterion", "chains"), "findings": ("assistant",),
}  # fmt: skip


def known_names(manifest: Mapping[str, Any]) -> frozenset[str]:
    """What a run was set up with: criteria, nodes, agents, assistants, labels; and words of ours."""
    return OURS | frozenset(_strings([manifest.get(key) for key in SET_UP]))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():  # such as "nodes.weigh/judge.options.name", "criteria.Depth"
            yield from (str(key), *re.split(r"[/.]", str(key)), str(key).partition(".")[2])
            yield from _strings(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _strings(one)


def hidden(text: str) -> str:
    """Its length; an empty one stays so."""
    return f"[redacted, {len(text):,} characters]" if text else ""


class Names:
    """The names in one sample's trace: a name that is not known has one number wherever it stands in it."""

    def __init__(self, known: frozenset[str]) -> None:
        self._known = known
        self._given: dict[tuple[str, str], str] = {}
        self._counts = Counter[str]()

    def known(self, name: str) -> bool:
        """Whether it says nothing of what was judged."""
        return not name or name in self._known or PLAIN.fullmatch(name) is not None

    def of(self, kind: str, name: str) -> str:
        """The name where it is known, else such as "criterion-1", numbered in the order of appearance."""
        if self.known(name):
            return name
        if (kind, name) not in self._given:
            self._given[kind, name] = self._new(kind, name)
        return self._given[kind, name]

    def _new(self, kind: str, name: str) -> str:
        self._counts[kind] += 1
        while f"{kind}-{self._counts[kind]}" in self._known:
            self._counts[kind] += 1
        return f"{kind}-{self._counts[kind]}"

    def text(self, text: str) -> str:
        """What stands for a text."""
        return hidden(text)

    def label(self, label: str) -> str:
        """What stands for a label that is no scale's."""
        return hidden(label)

    def meta(self, key: str, value: str) -> str:
        """What stands for a text directly in `meta`."""
        return hidden(value)

    def stage(self, name: str) -> str:
        """Of an aspect's score it names the target."""
        if name.startswith(ASPECTS):
            return ASPECTS + self.of("criterion", name.removeprefix(ASPECTS))
        return self.of("stage", name)

    def key(self, key: str, entry: str) -> str:
        """The key of an entry that stands under a key of the state, each of its names by itself."""
        shape = SHAPES.get(key, ())
        if self.known(entry) or len(shape) == 1:
            return self.of(shape[0] if shape else "key", entry)
        if shape and (shape[0], entry) in self._given:  # a chain's key is its target's name as it is
            return self._given[shape[0], entry]
        parts = [part.replace("%2F", "/").replace("%25", "%") for part in entry.split("/")]
        kinds = [*shape, *["key"] * len(parts)]
        return key_of(*(self._part(kind, part) for kind, part in zip(kinds, parts, strict=False)))

    def _part(self, kind: str, part: str) -> str:
        return self.stage(part) if kind == "stage" else self.of(kind, part)
