"""How many tokens a call will take, before it is made."""

from __future__ import annotations

from judgegraph.calls.exchange import Call

COMPLETION = 256  # tokens of a reply of which nothing is known


def prompt_tokens(call: Call) -> int:
    """Tokens of the prompt, by its characters: four to a token."""
    return sum(len(str(message.content)) for message in call.messages) // 4 + 1


def completion_tokens(call: Call) -> int:
    """Tokens of all its choices, at most where the call says how many a reply may have."""
    most = call.settings.get("max_tokens")
    return call.n * (most if isinstance(most, int) else COMPLETION)
