"""Padded copies of an output: longer, and with nothing in them that was not there before."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from judgegraph.types import Json

TIMES = 3  # that the last sentence is said once more
MOST_WORDS = 60  # of what is taken for a sentence
POLITE = (
    "I hope that this is of some use. Should anything be left open, please feel free to ask at any time. "
    "Thank you very much for your time and for reading this far, and all the best with what comes next."
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def repeated(text: str) -> str:
    """The last sentence three more times."""
    last = _SENTENCE.split(text.strip())[-1].split()[-MOST_WORDS:]
    return " ".join([text.rstrip(), *[" ".join(last)] * TIMES])


def polite(text: str) -> str:
    """Courtesies that say nothing of the matter."""
    return f"{text.rstrip()}\n\n{POLITE}"


def restated(text: str) -> str:
    """All of it a second time, announced as such."""
    return f"{text.rstrip()}\n\nTo say the same once more: {text.strip()}"


KINDS: Mapping[str, Callable[[str], str]] = {"repeated": repeated, "polite": polite, "restated": restated}


def padded(output: Json, kind: str) -> Json | None:
    """A padded copy; of JSON its longest text is padded. None where there is no text to pad."""
    if isinstance(output, str):
        return KINDS[kind](output) if output.strip() else None
    leaves = [(path, text) for path, text in _leaves(output) if text.strip()]
    if not leaves:
        return None
    path, text = max(leaves, key=lambda leaf: len(leaf[1]))
    return _replaced(output, path, KINDS[kind](text))


def _leaves(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    if isinstance(value, str):
        yield path, value
    inner = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, one in inner:
        yield from _leaves(one, (*path, key))


def _replaced(value: Json, path: tuple[Any, ...], text: str) -> Json:
    if not path:
        return text
    first, *rest = path
    if isinstance(value, Mapping):
        return {key: _replaced(one, tuple(rest), text) if key == first else one for key, one in value.items()}
    return [_replaced(one, tuple(rest), text) if place == first else one for place, one in enumerate(value)]
