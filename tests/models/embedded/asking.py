"""How the tests speak to the embedded judge: tagged sections, a form, scores read from its own probabilities."""

import json
import math
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage

from judgegraph.embedded.model import EmbeddedJudge

JUDGE = EmbeddedJudge()
NULLABLE_POINTS = {"anyOf": [{"type": "integer", "enum": [1, 2, 3, 4, 5]}, {"type": "null"}]}

SOURCE = (
    "The harbour office of Brenn closed the north pier on Monday after divers found two cracks in its piles. "
    "Repairs will cost 3.2 million crowns and last until September. Ferries leave from the south pier until then, "
    "and a free bus takes passengers across. Three fishermen said that the longer way would cost them customers."
)
FAITHFUL = (
    "The harbour office closed the north pier after divers found two cracks in its piles. "
    "Repairs will last until September, and ferries leave from the south pier until then."
)
INVENTED = "The mayor of Oslo opened a golden theatre on Sunday, where 900 elephants danced for Queen Matilda."


def sections(**texts: str) -> str:
    """Tagged sections as an agent's template renders them."""
    return "\n\n".join(f"<{name}-1d5a77c0>\n{text}\n</{name}-1d5a77c0>" for name, text in texts.items())


def rated(*names: str) -> dict[str, Any]:
    """The ratings form: a reason and a score or null for each name."""
    one = {
        "type": "object", "additionalProperties": False, "required": ["reason", "score"],
        "properties": {"reason": {"type": "string"}, "score": NULLABLE_POINTS},
    }  # fmt: skip
    properties = {name.lower().replace(" ", "_"): {"title": name, **one} for name in names}
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def reply(prompt: str, schema: dict[str, Any] | None = None, **kwargs: Any) -> AIMessage:
    """The judge's message for a prompt and a form."""
    if schema is not None:
        kwargs["response_format"] = {"type": "json_schema", "json_schema": {"name": "form", "schema": schema}}
    message = JUDGE.invoke([HumanMessage(prompt)], **kwargs)
    assert isinstance(message, AIMessage)
    return message


def answer(prompt: str, schema: dict[str, Any], **kwargs: Any) -> Any:
    """The reply as a JSON value."""
    return json.loads(str(reply(prompt, schema, **kwargs).content))


def scores(prompt: str, *names: str) -> dict[str, float | None]:
    """Name -> probability-weighted score on 1-5, None where the judge abstained."""
    message = reply(prompt, rated(*names), logprobs=True, top_logprobs=5)
    tokens = [t for t in message.response_metadata["logprobs"]["content"] if _scores(t)]
    return dict(zip(names, map(_mean, tokens), strict=True))


def _scores(token: dict[str, Any]) -> bool:
    return token["token"] == "null" or len(token["top_logprobs"]) > 1


def _mean(token: dict[str, Any]) -> float | None:
    if token["token"] == "null":
        return None
    held = {float(t["token"]): math.exp(t["logprob"]) for t in token["top_logprobs"]}
    return sum(v * p for v, p in held.items()) / sum(held.values())
