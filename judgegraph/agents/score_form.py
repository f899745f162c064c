"""One criterion in one call: what is asked for, in a form or in text, and how it is read."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, TypeAlias

from judgegraph.calls import Form, JudgeLike, Rated, Reader, Slot, rate
from judgegraph.calls.form import STRING, Incomplete, answer_key, answer_of, answer_schema, bare_schema, record
from judgegraph.calls.ratings import text_reading
from judgegraph.prompts import Prompt, Rendered
from judgegraph.types import Criterion, Scale

BARE, EXPLAINED = 160, 600  # tokens of a score in free text: alone, with some words around it, and with a reason

ReplyKind: TypeAlias = Literal["form", "text"]
Explain: TypeAlias = Literal["never", "after", "before"]


async def ask_score(
    judge: JudgeLike, messages: Rendered, criterion: Criterion, reader: Reader, *,
    reply: ReplyKind, explain: Explain, **settings: Any,
) -> Rated:  # fmt: skip
    """Ask for one score; never raises for a bad reply.

    Args:
        reply: "form" is JSON, "text" is read by `judgegraph.read_rating`.
        explain: where the form has its reason. "after" the score it cannot move it; "before" it is a chain of
            thought. Of a text reply the prompt decides.
    """
    text = reply == "text"
    form = (
        text_form(criterion.scale, BARE if explain == "never" else EXPLAINED)
        if text
        else score_form(criterion, explain)
    )
    slot = Slot(criterion.scale, None if text else (), reader.first_digit)
    rating = await rate(judge, messages, form, {"score": slot}, reader, **settings)
    return rating.answers["score"]


def named(prompt: Prompt, criterion: Criterion) -> dict[str, str]:
    """The criterion's name, for a template that has a field for it.

    Ours have none: a name that a model wrote may quote judged text, and stands within a section alone.
    """
    return {"name": criterion.name} if "name" in prompt.fields else {}


@lru_cache(maxsize=256)
def score_form(criterion: Criterion, explain: Explain) -> Form[Any]:
    """One score in JSON; null where the criterion cannot be judged."""
    scale = criterion.scale
    answer = {answer_key(scale): answer_schema(scale)}
    reason = {"reason": STRING}
    order = {"never": answer, "after": answer | reason, "before": reason | answer}[explain]

    def read(data: Any) -> Any:
        answer_of(data, scale)
        return data

    return Form("rating", record(order, title=criterion.name), read)


@lru_cache(maxsize=256)
def text_form(scale: Scale, tokens: int = EXPLAINED) -> Form[str]:
    """One score in free text; a reply without one is asked for again, unless it refuses or abstains."""

    def read(text: Any) -> str:
        reading = text_reading(str(text), scale)
        if reading.status == "unreadable":
            raise Incomplete(f"expected one value of the scale {scale}: {reading.rule}", text, 0)
        return str(text)

    return Form("rating", None, read, tokens=tokens, again=bare_schema(scale))
