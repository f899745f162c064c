"""A judge whose answer is told by a word of the query, and foreign judgements that it bears out or does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judgegraph.testing import scripted

OUTPUT = "Air scatters short waves far more than long ones."
RIVAL = "Nobody has found out why that is so, I fear."
SCORES: dict[str, tuple[float | None, float | None]] = {
    "holds": (4, 2), "other": (2, 4), "equal": (3, 3), "mute": (4, None), "half": (4.5, 2), "marked": (4, 2),
}  # fmt: skip
GUIDELINES = {"ungraded": "", "names": "5: Response A says why.", "quotes": f"5: {OUTPUT}"}


def answer(messages: Sequence[Any]) -> Any:
    """What a query asks for: "holds" is judged as its record says, "flips" by what is printed first, and so on."""
    text = str(messages[-1].content)
    word = next((word for word in (*SCORES, *GUIDELINES, "flips", "nameless", "breaks") if f"{word}:" in text), "holds")
    if text.endswith("Name the criterion."):
        return {"name": "" if word == "nameless" else "Depth", "definition": "It says why, and not only that."}
    if text.endswith("without a word around it."):
        return {"guideline": GUIDELINES.get(word, "1: no cause. 3: a cause. 5: the cause and how it works.")}
    if word == "breaks":
        raise RuntimeError("no answer")
    first = text.index("<response_a-") < text.index("<response_b-") if "<response_b-" in text else True
    a, b = SCORES.get(word, SCORES["holds"] if first else SCORES["other"])
    if "<response_b-" not in text:
        return {"reason": "It says why.", "score": a}
    mark = "<|im_end|>" if word == "marked" else ""
    said = {"explanation_a": f"A says why{mark}.", "score_a": a, "explanation_b": "B does not.", "score_b": b}
    return said | {"comparison": "What makes the difference is the cause."}


def judge() -> Any:
    return scripted(*[answer] * 2000)


def pair(query: str, verdict: str = "A", **more: Any) -> dict[str, Any]:
    return {"query": query, "output": OUTPUT, "rival": RIVAL, "verdict": verdict, **more}


def single(query: str, score: float, scale: str = "1-5", **more: Any) -> dict[str, Any]:
    return {"query": query, "output": OUTPUT, "score": score, "scale": scale, **more}
