"""Traces without what was judged or generated: numbers, statuses, digests and the names of the run's set-up stay."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from judgegraph.evidence import Image, Passage, ToolCall, Turn
from judgegraph.runs.item import Item
from judgegraph.trace.record import Step
from judgegraph.types import Correction, Criterion, EvalState, Note, Sample, Score, key_of, text_of

# Names in a redacted trace: those that the run was set up with stay, all others are numbered.
#
# Models write names too (criteria, aspects, branches), and so do people and data (keys of `meta`): such a name may
# quote
# what was judged.


SET_UP = ("method", "nodes", "critics", "criteria", "configuration")  # keys of a manifest that name what was run
OURS = frozenset((  # names of our own that no manifest tells: keys of states, stages, and who notes what
    *EvalState.__annotations__, "criterion", "guidelines", "rounds", "messages", "calls", "doubts", "runs", "entry",
    "going", "budget", "overall", "graph", "human", "sample", "draft", "final", "metric", "escalated", "ballot",
    "plain", "output", "rival", "AB", "BA", "both", "logprobs", "samples", "stated", "mean", "text", "panel", "random",
    "group", "system", "rival_system",
))  # fmt: skip
RANKED = {"system": "system", "rival_system": "system", "group": "group"}  # of `meta`: kinds of names that are counted
PLAIN_NAMES = re.compile(r"round-\d{1,4}|\d{1,9}|#[0-9a-f]{12}")  # the last is of a run that kept no text
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
        return not name or name in self._known or PLAIN_NAMES.fullmatch(name) is not None

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


# A step of a trace without texts; its scores and the steps below it stay, for who redacts them.


PLAIN = ("place", "class", "judge", "prompt", "digest", "reader", "address", "form", "from")  # none is ever judged
ENDS = ("stop", "length", "content_filter", "tool_calls", "function_call", "end_turn", "max_tokens", "refusal", "")


def redacted_step(step: Step, names: Names) -> Step:
    """Without messages, replies, thoughts, errors, what an assistant said in words, and names that are not known."""
    return replace(
        step,
        name=names.of("assistant", step.name) if step.kind == "tool" else step.name,
        about={str(key): _redacted_value(str(key), value, names) for key, value in step.about.items()},
        messages=tuple((role, hidden(text)) for role, text in step.messages),
        replies=tuple(map(hidden, step.replies)),
        reasoning=tuple(hidden(text) if text else "" for text in step.reasoning),
    )


def _redacted_value(key: str, value: Any, names: Names) -> Any:
    if key in ("reads", "writes") and isinstance(value, Mapping):
        return {names.of("key", str(name)): _entries(str(name), one, names) for name, one in value.items()}
    if key == "finish" and isinstance(value, list):
        return [one if one in ENDS else hidden(str(one)) for one in value]
    if isinstance(value, str):
        return value if key in PLAIN or names.known(value) else hidden(value)
    if isinstance(value, Mapping):  # such as a judge's settings
        return {str(name): _redacted_value(str(name), one, names) for name, one in value.items()}
    return [_redacted_value(key, one, names) for one in value] if isinstance(value, list | tuple) else value


def _entries(key: str, value: Any, names: Names) -> Any:
    """How many, a number, or the entries' own keys."""
    if isinstance(value, list | tuple):
        return [names.key(key, str(entry)) for entry in value]
    return hidden(value) if isinstance(value, str) else value


# What stands in the place of a text that was judged or generated.


def hidden_values(value: Any, names: Names) -> Any:
    """JSON without its texts; keys that are not known are numbered, so that none takes another's place."""
    if isinstance(value, str):
        return hidden(value)
    if isinstance(value, Mapping):
        return {names.of("key", str(key)): hidden_values(one, names) for key, one in value.items()}
    return [hidden_values(one, names) for one in value] if isinstance(value, list | tuple) else value


TEXTS = ("reason", "text", "definition", "guideline", "original", "raw", "rule")
_SLUG = re.compile(r"[a-z0-9-]{0,40}")  # a fixed word
LISTED = ("rectifications", "findings", "comparisons", "suggestions", "corrections", "notes")


def redacted_item(item: Item, known: frozenset[str] | Names) -> Item:
    """Every text in it but ids, statuses, labels of scales and known names.

    Args:
        known: as `known_names` says; or the names of a whole run, which number names across its samples.
    """
    return _item(item, known if isinstance(known, Names) else Names(known))


def redacted_root(root: Step, known: frozenset[str] | Names, item: Item | None = None) -> Step:
    """A step with all below it, with the same names as `redacted_item` gives its item."""
    names = known if isinstance(known, Names) else Names(known)
    if item is not None:
        _item(item, names)
    return _steps(root, names)


def _steps(step: Step, names: Names) -> Step:
    scores = tuple(_score(score, names) for score in step.scores)
    return replace(redacted_step(step, names), scores=scores, steps=tuple(_steps(one, names) for one in step.steps))


def _item(item: Item, names: Names) -> Item:
    labels = {label.casefold() for score in item.scores for label in (score.scale.labels if score.scale else ())}
    update: dict[str, Any] = {"scores": tuple(_score(score, names) for score in item.scores)}
    update["answers"] = tuple(names.key("scores", key) for key in item.answers)
    for name in ("criteria", "branches", "aspects"):
        update[name] = _criteria(getattr(item, name), names, name)
    for name in LISTED:
        update[name] = tuple(_part(one, names, labels) for one in getattr(item, name))
    if (plan := item.plan) is not None:
        alignment = {
            names.of("criterion", name): tuple(names.of("assistant", one) for one in asked)
            for name, asked in plan.alignment.items()
        }
        usage = {names.of("assistant", name): names.text(text) for name, text in plan.usage.items()}
        update["plan"] = plan.model_copy(update={"text": names.text(plan.text), "alignment": alignment, "usage": usage})
    update |= {"sample": _sample(item.sample, names, labels), "reason": names.text(item.reason)}
    return item.model_copy(update={**update, "other": hidden_values(item.other, names)})


def _sample(sample: Sample, names: Names, labels: Iterable[str]) -> Sample:
    given = {name: getattr(sample, name) for name in ("source", "output", "rival", "reference")}
    texts: dict[str, Any] = {n: names.text(text_of(value)) if value is not None else None for n, value in given.items()}
    texts |= _evidence(sample, names)
    human = {names.of("criterion", name): _redacted_human(value, names, labels) for name, value in sample.human.items()}
    meta = {
        names.of("key", key): names.meta(key, value) if isinstance(value, str) else hidden_values(value, names)
        for key, value in sample.meta.items()
    }
    return Sample.model_construct(id=sample.id, query=names.text(sample.query), human=human, meta=meta, **texts)


def _evidence(sample: Sample, names: Names) -> dict[str, Any]:
    """Evidence with its texts hidden: how many passages, turns and images there are, and who spoke, can be seen."""
    turns = []
    for turn in sample.turns:
        calls = [
            ToolCall(name=names.text(call.name), arguments=names.text(text_of(call.arguments))) for call in turn.calls
        ]
        turns.append(Turn.model_construct(role=turn.role, content=names.text(turn.text), calls=tuple(calls)))
    return {
        "references": tuple(names.text(text_of(one)) for one in sample.references),
        "contexts": tuple(Passage.model_construct(id=str(at), text=names.text(one.text), meta={})
                          for at, one in enumerate(sample.contexts, 1)),
        "turns": tuple(turns),
        "images": tuple(Image.model_construct(path=f"image {at}") for at, _ in enumerate(sample.images, 1)),
        "facts": {f"fact {at}": names.text(text_of(value)) for at, value in enumerate(sample.facts.values(), 1)},
    }  # fmt: skip


def _redacted_human(value: Any, names: Names, labels: Iterable[str]) -> Any:
    """What people said: numbers, and labels of a scale."""
    if isinstance(value, list):
        return [_redacted_human(one, names, labels) for one in value]
    return _label(value, names, labels) if isinstance(value, str) else value


def _label(label: str, names: Names, labels: Iterable[str]) -> str:
    return label if label.casefold() in labels or names.known(label) else names.label(label)


def _score(score: Score, names: Names) -> Score:
    """Notes and the reply that could not be read may quote what was judged; points of a scale do not."""
    labels = {label.casefold() for label in (score.scale.labels if score.scale else ())}
    return score.model_copy(update={**_texts(score, names, labels), "stage": names.stage(score.stage)})


def _part(value: Any, names: Names, labels: Iterable[str]) -> Any:
    update = _texts(value, names, labels)
    if isinstance(value, Correction) and value.changed:  # lengths alone may be equal
        update["text"] += ", changed"
    if isinstance(value, Note) and not _SLUG.fullmatch(value.kind):  # of somebody's own, it may quote
        update["kind"] = ""
    return value.model_copy(update=update)


def _criteria(value: Any, names: Names, key: str) -> Any:
    if isinstance(value, Mapping):
        return {names.key(key, entry): _criteria(one, names, key) for entry, one in value.items()}
    if isinstance(value, Criterion):
        update = {"name": names.of("criterion", value.name), **_texts(value, names, ())}
        return value.model_copy(update={**update, "steps": tuple(map(names.text, value.steps))})
    return tuple(_criteria(one, names, key) for one in value)


def _texts(value: Any, names: Names, labels: Iterable[str]) -> dict[str, Any]:
    """What any of the values may hold."""
    held = {name: getattr(value, name, None) for name in TEXTS}
    found: dict[str, Any] = {name: names.text(text) for name, text in held.items() if isinstance(text, str)}
    for name in ("criterion", "agent", "assistant", "reader"):
        if isinstance(content := getattr(value, name, None), str):
            found[name] = names.of(name, content)
    for name in ("value", "label"):
        if isinstance(content := getattr(value, name, None), str):
            found[name] = content if content.casefold() in labels else names.label(content)
    if shares := getattr(value, "distribution", None):
        found["distribution"] = {_point(point, names, labels): share for point, share in shares.items()}
    if notes := getattr(value, "notes", ()):
        found["notes"] = tuple(map(names.text, notes))
    if draft := getattr(value, "draft", None):
        found["draft"] = names.key("scores", draft)
    if votes := getattr(value, "votes", ()):
        found["votes"] = tuple(names.key("scores", vote) for vote in votes)
    if member := getattr(value, "member", ""):
        found["member"] = names.of("agent", member)
    if criteria := getattr(value, "criteria", ()):
        found["criteria"] = tuple(names.of("criterion", name) for name in criteria)
    if by := getattr(value, "by", ()):
        found["by"] = tuple(_score(score, names) for score in by)
    return found


def _point(point: str, names: Names, labels: Iterable[str]) -> str:
    """Of a distribution: a number or a label of the scale."""
    try:
        float(point)
    except ValueError:
        return point if point.casefold() in labels else names.of("label", point)
    return point


# Names across all samples of a redacted run: whatever counts them finds what it found in the run itself.


class RunNames(Names):
    """A name that is not known has one number in the whole run.

    Names that differ in their case alone share the number, and differ in its word's case: what looks a criterion up
    whatever its case finds it, and two names stay two. Systems and groups are numbered in the order of their names,
    because tables of pairs stand in it. It holds every name that it has met.
    """

    def __init__(self, known: frozenset[str], items: Iterable[Item]) -> None:
        super().__init__(known)
        self._folded = {name.casefold() for name in known}
        self._spelled: dict[tuple[str, str], list[str]] = {}
        met: dict[str, set[str]] = {kind: set() for kind in RANKED.values()}
        for item in items:
            for key, kind in RANKED.items():
                if isinstance(value := item.sample.meta.get(key), str) and value.strip():
                    met[kind].add(value)
        self._ranked = {
            (kind, name): f"{kind}-{number:0{len(str(len(names)))}}"
            for kind, names in met.items()
            for number, name in enumerate(sorted(names), 1)
        }

    def known(self, name: str) -> bool:
        """As of all names, whatever the name's case."""
        return super().known(name) or name.casefold() in self._folded

    def label(self, label: str) -> str:
        """Numbered, so that labels are counted apart."""
        return self.of("label", label)

    def meta(self, key: str, value: str) -> str:
        """Of a system or a group its number."""
        return self._ranked.get((RANKED.get(key, ""), value), hidden(value))

    def _new(self, kind: str, name: str) -> str:
        spelled = self._spelled.setdefault((kind, name.casefold()), [])
        spelled.append(_cased(spelled[0], len(spelled)) if spelled else self._numbered(kind, name))
        return spelled[-1]

    def _numbered(self, kind: str, name: str) -> str:
        """What merges comparisons is told by how its name ends."""
        return super()._new(kind, name) + ("-merge" if kind == "agent" and name.endswith("merge") else "")


class UnredactedTexts(RunNames):
    """The same names, and every text as it is: for counting, never for showing."""

    def __init__(self, names: RunNames) -> None:
        self.__dict__ = names.__dict__  # one numbering for both

    def text(self, text: str) -> str:
        """The text."""
        return text


def _cased(word: str, number: int) -> str:
    """The number-th way to write a word in letters of either case."""
    return "".join(c.upper() if number >> at & 1 else c for at, c in enumerate(word))
