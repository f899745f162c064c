"""The embedded judge, which keeps what it was sent; and what of a text stands outside of every section."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from pydantic import PrivateAttr

from judgegraph.embedded.model import EmbeddedJudge

SECTION = re.compile(r"<([a-z_]+)-([0-9a-f]{6,64})>\n(.*?)\n</\1-\2>", re.S)


class Watching(EmbeddedJudge):
    speaks_openai: bool = True
    _seen: list[str] = PrivateAttr(default_factory=list)

    @property
    def seen(self) -> list[str]:
        """The texts of all messages but the judge's own, call by call."""
        return self._seen

    def _answer(self, messages: list[BaseMessage], kwargs: Mapping[str, Any]) -> ChatResult:
        self._seen += [str(m.content) for m in messages if m.type in ("system", "human", "tool")]
        return super()._answer(messages, kwargs)


def outside(text: str) -> str:
    """A message without its sections."""
    return SECTION.sub(" ", text)


def within(text: str) -> Iterator[tuple[str, str, str]]:
    """(tag, code, body) of each section of a message."""
    for match in SECTION.finditer(text):
        yield match[1], match[2], match[3]
