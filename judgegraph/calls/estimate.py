"""How many tokens a call will take, before it is made."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from judgegraph.calls.exchange import Call

COMPLETION = 256  # tokens of a reply of which nothing is known
BYTES = 4  # of UTF-8 to a token: right for English; other scripts take more bytes a character, and more tokens
FRAME = 4  # tokens that a chat format puts around each message
APPROXIMATION = "about 4 characters a token"
PIECE = 10_000  # characters at a time: a tokenizer's regular expressions give up on a million spaces
_LIMITS = ("max_tokens", "max_completion_tokens")


def prompt_tokens(call: Call) -> int:
    """Tokens of a prompt's messages, by their length: four bytes to a token. Quick, for every call is measured.

    Form and tools are not in it: to write them out would cost more than all else here. `TokenCounter.prompt` has
    them, and a run's purse learns from replies how much they add.
    """
    total = 0
    for message in call.messages:
        content = message.content
        total += _size(content if isinstance(content, str) else str(content))
    return total // BYTES + FRAME * len(call.messages)


def completion_tokens(call: Call, expected: float = COMPLETION) -> int:
    """Tokens of all its choices: at most where the call says how many a reply may have, else as expected.

    Args:
        expected: tokens of one choice.
    """
    for name in _LIMITS:
        most = call.settings.get(name)
        if isinstance(most, int) and most > 0:
            return call.n * most
    return round(call.n * expected)


@dataclass(frozen=True)
class TokenCounter:
    """Counts tokens.

    Attributes:
        basis: how, in words to print beside a figure: "tokenizer o200k_base" or "about 4 characters a token".
    """

    basis: str = APPROXIMATION
    _encoding: Any = field(default=None, repr=False)

    def count(self, text: str) -> int:
        """Tokens of a text. A long one is counted in pieces, each of which may add one."""
        if self._encoding is None:
            return -(-_size(text) // BYTES)
        pieces = (text[at : at + PIECE] for at in range(0, len(text), PIECE))
        return sum(len(self._encoding.encode_ordinary(piece)) for piece in pieces)

    def prompt(self, call: Call) -> int:
        """Tokens of a call's messages, form and tools; how a provider words the latter two is not public."""
        contents = [message.content for message in call.messages]
        texts = [content if isinstance(content, str) else str(content) for content in contents]
        texts += [json.dumps(part, ensure_ascii=False, default=str) for part in (call.schema, *call.tools) if part]
        return sum(map(self.count, texts)) + FRAME * len(contents)


def counter_for(model_name: str) -> TokenCounter:
    """The best counter there is for a judge ("openai:gpt-4.1-mini") without fetching anything.

    The first of a kind reads its vocabulary, which takes about half a second.
    """
    from judgegraph.calls.vocabulary import encoding_of

    _, colon, name = model_name.partition(":")
    encoding = encoding_of(name if colon else model_name)
    return TokenCounter() if encoding is None else TokenCounter(f"tokenizer {encoding.name}", encoding)


def _size(text: str) -> int:
    """Bytes of its UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
