"""What an agent writes: judged text inside sections of its prompts, results on keys and scales."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from judgegraph.errors import ScaleError
from judgegraph.testing.conformance import Breach, Trial
from judgegraph.testing.scripted import END, START
from judgegraph.types import Comparison, Correction, Finding, Plan, Rectification, Scale, Score, Value

_SECTION = re.compile(r"<([A-Za-z_]+)-([0-9a-f]{6,64})>(.*?)</\1-\2>", re.S)


def texts_of(trial: Trial) -> Iterator[str]:
    """What was sent to the judge; what it said itself is not looked at."""
    for asked in trial.asked:
        for message in asked.messages:
            if message["role"] in ("system", "human", "user") and isinstance(message["content"], str):
                yield message["content"]


def sections(trial: Trial) -> set[tuple[str, str]]:
    """(tag, code) of every section of every prompt."""
    return {(match[1], match[2]) for text in texts_of(trial) for match in _SECTION.finditer(text)}


def open_sections(trial: Trial, whose: str = "judged text stands") -> Iterator[Breach]:
    """A hostile text that stands outside of every section, whole or behind a tag that it closed."""
    for text in texts_of(trial):
        rest = _SECTION.sub(" ", text)
        for mark in (START, END):
            if mark in rest:
                before = rest[: rest.index(mark)].rstrip()[-60:]
                yield Breach("open-section", f"{whose} outside of any section, after {before!r}", trial.case)
                return


def shows(trial: Trial) -> bool:
    """Whether judged text is in any prompt."""
    return any(START in text for text in texts_of(trial))


# What an agent wrote: JSON, under its own keys, on its scales, and no answer that nobody gave.


def written_badly(trial: Trial) -> Iterator[Breach]:
    """Whatever is wrong with the values themselves."""
    for key, value in trial.written.items():
        yield from (Breach("not-json", text, trial.case) for text in _unfit(value, str(key)))
        yield from (Breach("wrong-key", text, trial.case) for text in _misplaced(value, str(key)))
    for value in values_in(trial.written):
        if isinstance(value, Score | Rectification) and (why := _off(value, trial)):
            yield Breach("off-scale", f"{value.key}: {why}", trial.case)


def claims(trial: Trial) -> Iterator[Breach]:
    """Answers among what was written in spite of a judge that gave none; what it was handed and hands on is none."""
    handed = {_text(value) for value in values_in(trial.state)}
    for value in values_in(trial.written):
        if _answers(value) and _text(value) not in handed:
            yield Breach("failure-scored", f"a {type(value).__name__} says {_words_of(value)}", trial.case)
    for key in ("overall", "verdict"):
        if trial.written.get(key) is not None and trial.written[key] != trial.state.get(key):
            yield Breach("failure-scored", f"{key} is {trial.written[key]!r}", trial.case)


def values_in(value: Any) -> Iterator[Value]:
    """Every value of ours in mappings and lists."""
    if isinstance(value, Value):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from values_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from values_in(inner)


def _answers(value: Value) -> bool:
    if getattr(value, "status", "") != "ok":
        return False
    if isinstance(value, Score):  # "plain": a metric's, whom no judge was asked for
        return value.reader != "plain"
    if isinstance(value, Comparison):
        return value.verdict is not None
    return isinstance(value, Rectification | Plan | Finding) or (isinstance(value, Correction) and bool(value.text))


def _words_of(value: Value) -> str:
    names = ("criterion", "action", "value", "label", "verdict", "text", "assistant")
    return ", ".join(f"{n}={getattr(value, n)!r:.60}" for n in names if getattr(value, n, None) is not None)


def _text(value: Value) -> str:
    return f"{type(value).__name__} {value!r}"


def scale_of(value: Score | Rectification, trial: Trial) -> Scale | None:
    """A score's own, a rectification's that of the score."""
    if isinstance(value, Score):
        return value.scale
    scores = [s for s in values_in(trial.state.get("scores", {})) if isinstance(s, Score)]
    return next((s.scale for s in scores if s.criterion == value.criterion and s.scale), None)


def statuses(trial: Trial) -> list[str]:
    """Those of failures, among what was written."""
    found = [getattr(value, "status", "ok") for value in values_in(trial.written)]
    return [status for status in found if status != "ok"]


def _off(value: Score | Rectification, trial: Trial) -> str:
    """Why an answer is not on its scale."""
    scale = scale_of(value, trial)
    try:
        if scale is not None and value.value is not None:
            scale.check(value.value)
        if scale is not None and value.label is not None:
            scale.check_label(value.label)
    except ScaleError as error:
        return str(error)
    return ""


def _misplaced(value: Any, path: str) -> Iterator[str]:
    for key, inner in value.items() if isinstance(value, Mapping) else ():
        own = getattr(inner, "key", None) if isinstance(inner, Value) else None
        if own is not None and own != key:
            yield f"{path}[{key!r}] holds a {type(inner).__name__} whose key is {own!r}"


def _unfit(value: Any, path: str) -> Iterator[str]:
    """Why JSON, UTF-8 and back does not give the same."""
    if isinstance(value, BaseModel):
        try:
            text = value.model_dump_json()
            if isinstance(value, Value) and type(value).model_validate_json(text) != value:
                yield f"{path} is another after JSON and back"
        except Exception as error:  # whatever a stranger's model raises
            yield f"{path} cannot be written: {type(error).__name__}: {error}"
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                yield f"{path} has the key {key!r}, which is no text"
            yield from _unfit(inner, f"{path}[{key!r}]")
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _unfit(inner, f"{path}[{index}]")
    else:
        yield from _unfit_scalar(value, path)


def _unfit_scalar(value: Any, path: str) -> Iterator[str]:
    if not (value is None or isinstance(value, bool | int | float | str)):
        yield f"{path} is a {type(value).__name__}"
        return
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except ValueError as error:
        yield f"{path} cannot be written: {error}"


# The errors within an error: a task group raises what its tasks raised in a group.


def leaves(error: BaseException) -> Iterator[BaseException]:
    """What a group holds, or the error itself."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


def error_line(error: BaseException) -> str:
    """Kind and text of each."""
    return "; ".join(f"{type(one).__name__}: {one}" for one in leaves(error))
