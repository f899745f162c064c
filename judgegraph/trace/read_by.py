"""How a score was read, in words."""

from __future__ import annotations

WORDS = {  # a score's reader -> of the score, where "by" and its name would not do
    "stated": "as stated in the reply", "mean": "as the mean of its parts", "panel": "by a panel",
    "plain": "by plain code", "random": "at random",
}  # fmt: skip


def read_by(reader: str) -> str:
    """Such as "by logprobs", "as stated in the reply". Not inert."""
    return WORDS.get(reader, f"by {reader}")
