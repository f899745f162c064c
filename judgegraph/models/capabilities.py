"""What a judge's model can take: how long a prompt, and whether pictures."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from judgegraph.errors import ReplyError
from judgegraph.models.judges import Judge
from judgegraph.models.prices import Prices

DENSE = 0.8  # a prompt's tokens are at least so much of a quarter of its bytes: English takes 4 to 5 bytes a token
_BLIND = re.compile(  # models known to take text alone, by name
    r"(?:^|[:/])(?:gpt-3\.5|gpt-4(?:-0\d{3})?$|o1-mini|o3-mini|deepseek-(?:chat|reasoner|v\d|r\d)|text-|davinci)", re.I
)


def window_of(judge: Judge, prices: Prices | None = None) -> int | None:
    """Tokens that a prompt and its reply may have together; None where nobody says.

    What the endpoint says comes first, then the price file, then what its model object or genai-prices knows.
    """
    if judge.endpoint.window is not None or judge.endpoint.model == "embedded":
        return judge.endpoint.window
    price = (prices or _published()).price_of(judge)
    if price is not None and price.window:
        return price.window
    told = _profile(judge.model).get("max_input_tokens")
    return told if isinstance(told, int) and told > 0 else None


@lru_cache(maxsize=1)
def _published() -> Prices:
    return Prices.load()


def _profile(model: Any) -> dict[str, Any]:
    """What a LangChain chat model says of itself, {} where it says nothing."""
    found = getattr(model, "profile", None)
    return dict(found) if isinstance(found, dict) else {}


def refuse_beyond_window(judge: Judge, tokens: int, prices: Prices | None = None) -> None:
    """Before anything is looked up or paid for: a prompt that is surely longer than the judge's window.

    Args:
        tokens: of the prompt, by its length (four bytes to a token). What may fit is sent: the server counts exactly.

    Raises:
        ReplyError: "too_large".
    """
    if tokens < 1_000:  # the smallest window of any judge
        return
    window = window_of(judge, prices)
    if window is not None and tokens * DENSE > window:
        raise ReplyError(
            f"the prompt has about {tokens:,} tokens, and the window of {judge.name} is {window:,}; shorten the "
            "sample, leave evidence out (--no-contexts, --no-turns), name a judge with a longer window, or say what it "
            "is: Endpoint(window=N)",
            "too_large",
        )


def sees(judge: Judge) -> bool | None:
    """Whether a judge takes pictures; None where nobody says, and it is found out by asking."""
    if judge.endpoint.vision is not None:
        return judge.endpoint.vision
    if judge.endpoint.model == "embedded" or str(getattr(judge.model, "_llm_type", "")) == "judgegraph-embedded":
        return False
    told = _profile(judge.model).get("image_inputs")
    if isinstance(told, bool):
        return told
    return False if _BLIND.search(judge.name) else None
