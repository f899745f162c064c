"""The steps of a sample's trace as the page shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from judgegraph.report.amounts import count, counted, money, time
from judgegraph.report.samples.detail import Detail
from judgegraph.report.samples.scores import answer
from judgegraph.report.visible import Cut, cut, line
from judgegraph.trace.step import Step

NAMED = 80  # characters of a name
LISTED = 12  # keys of a state, or scores
FEW = 8  # steps below one that stands open
SOURCES = {"ledger": "from the ledger", "joined": "shared with another call"}


@dataclass(frozen=True)
class StepView:
    """A step.

    Attributes:
        facts: what stands beside its name. about: (name, value) behind a click. error: what went wrong.
        texts: (title, text) of messages and replies. left: steps below it that are not shown.
        opened: it stands open: few steps are below it, so a call is found without a click for each step above it.
    """

    kind: str
    name: str
    ms: str
    status: str
    facts: tuple[str, ...]
    about: tuple[tuple[str, str], ...]
    error: str
    texts: tuple[tuple[str, Cut], ...]
    steps: tuple[StepView, ...]
    left: int = 0
    opened: bool = False


class Views:
    """Makes views of steps, at most as many as the detail allows."""

    def __init__(self, detail: Detail) -> None:
        self._detail, self._room = detail, detail.steps

    def of(self, step: Step) -> StepView:
        """A step with those below it, as far as there is room: the first ones of all."""
        self._room -= 1
        below: list[StepView] = []
        for one in step.steps:
            if self._room <= 0:
                break
            below.append(self.of(one))
        left = sum(1 for one in step.steps[len(below) :] for _ in one.walk())
        error = step.about.get("error")
        return StepView(
            step.kind, line(step.name, NAMED), time(step.ms), step.status, tuple(_facts(step)), tuple(_about(step)),
            line(str(error), self._detail.reason) if error else "", tuple(self._texts(step)), tuple(below), left,
            opened=0 < len(below) <= FEW,
        )  # fmt: skip

    def _texts(self, step: Step) -> Iterator[tuple[str, Cut]]:
        for role, text in step.messages:
            yield f"asked ({line(role, NAMED)})", cut(text, self._detail.text)
        many = len(step.replies) > 1
        for i, text in enumerate(step.replies[: self._detail.rows]):
            if thought := step.thought(i):
                yield f"thought {i + 1}" if many else "thought", cut(thought, self._detail.text)
            yield f"reply {i + 1}" if many else "reply", cut(text, self._detail.text)


def _facts(step: Step) -> Iterator[str]:
    about = step.about
    if step.kind == "model":
        yield from _call(about)
    elif step.kind == "tool" and about.get("value") is not None:
        yield f"gave {line(str(about['value']), NAMED)}"
    elif step.kind in ("node", "graph"):
        calls = [one for one in step.walk() if one.kind == "model"]
        if calls:
            yield counted(len(calls), "model call")
    if step.kind == "agent" and step.scores:
        yield counted(len(step.scores), "score")


def _call(about: Mapping[str, Any]) -> Iterator[str]:
    if source := about.get("from"):
        yield SOURCES.get(source, str(source))
    asked, said = about.get("prompt_tokens"), about.get("completion_tokens")
    if asked or said:
        yield f"{count(asked)} + {count(said)} tokens"
    if about.get("usd") is not None:
        yield money(about["usd"])
    retries = (about.get("requests") or 1) - 1
    if retries > 0:
        yield counted(retries, "retry", "retries")


def _about(step: Step) -> Iterator[tuple[str, str]]:
    about = step.about
    yield "started", f"{time(step.start)} after the sample did"
    for key in ("place", "class", "judge", "prompt", "form", "reader", "repeat", "address"):
        value = about.get(key)
        known = value == step.name or (key == "place" and "/" not in str(value))
        if value not in (None, "", 0) and not known:
            yield key, line(str(value), 200)
    if isinstance(about.get("n"), int) and about["n"] > 1:
        yield "choices asked for", str(about["n"])
    if step.kind == "node":
        yield from ((key, _keys(about.get(key))) for key in ("reads", "writes") if about.get(key))
    if step.kind in ("node", "agent") and step.scores and not (step.kind == "node" and step.steps):
        shown = [f"{line(s.criterion, 60)} {answer(s)}" for s in step.scores[:LISTED]]
        yield "scores", ", ".join(shown) + _more(len(step.scores))


def _keys(told: Any) -> str:
    if not isinstance(told, Mapping):
        return ""
    return ", ".join(f"{key}{_size(value)}" for key, value in list(told.items())[:LISTED]) + _more(len(told))


def _size(value: Any) -> str:
    if isinstance(value, list):
        return f" ({len(value)})"
    return f" ({value:g})" if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _more(count: int) -> str:
    return f" and {count - LISTED} more" if count > LISTED else ""
