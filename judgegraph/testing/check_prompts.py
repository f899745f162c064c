"""Judged text in an agent's prompts: only inside of sections, none of which it can close."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judgegraph.testing.conformance import Breach
from judgegraph.testing.hostile_texts import END, START
from judgegraph.testing.trial import Trial

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
