"""Traces without what was judged or generated: numbers, statuses, digests and the names of the run's set-up stay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from judgegraph.runtime.item import Item
from judgegraph.runtime.known_names import Names
from judgegraph.runtime.redacted_step import redacted_step
from judgegraph.runtime.redacted_text import hidden_values
from judgegraph.trace.step import Step
from judgegraph.types import Correction, Criterion, Note, Sample, Score, text_of

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
    human = {names.of("criterion", name): _said(value, names, labels) for name, value in sample.human.items()}
    meta = {
        names.of("key", key): names.meta(key, value) if isinstance(value, str) else hidden_values(value, names)
        for key, value in sample.meta.items()
    }
    return Sample.model_construct(id=sample.id, query=names.text(sample.query), human=human, meta=meta, **texts)


def _said(value: Any, names: Names, labels: Iterable[str]) -> Any:
    """What people said: numbers, and labels of a scale."""
    if isinstance(value, list):
        return [_said(one, names, labels) for one in value]
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
        if isinstance(said := getattr(value, name, None), str):
            found[name] = names.of(name, said)
    for name in ("value", "label"):
        if isinstance(said := getattr(value, name, None), str):
            found[name] = said if said.casefold() in labels else names.label(said)
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
