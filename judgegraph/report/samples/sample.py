"""A sample as the page shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from judgegraph.answers import answers_of, roles_of, several
from judgegraph.report.amounts import counted, number, time
from judgegraph.report.samples.detail import Detail
from judgegraph.report.samples.groups import VERDICTS
from judgegraph.report.samples.overalls import overalls
from judgegraph.report.samples.scores import ScoreRow, rows_of, told
from judgegraph.report.samples.step import StepView, Views
from judgegraph.report.visible import Cut, cut, line
from judgegraph.runtime.item import FINE, Item
from judgegraph.runtime.traces import SampleTrace
from judgegraph.trace.shell import command
from judgegraph.types import Comparison, text_of

NAMED = 80  # characters of an id in a heading
TEXTS = ("query", "source", "output", "rival", "reference")


@dataclass(frozen=True)
class SampleView:
    """A sample.

    Attributes:
        why: what makes it stand in its list.
        facts: (name, value): verdict, overall, time. rows: its scores; `left` of them are not shown.
        said: (who, text): comparisons, corrections, findings, notes, what failed. texts: what was judged.
        people: what people said of what no score is of. root: its steps. command: prints the whole trace.
    """

    id: str
    place: int
    status: str
    head: str
    why: str
    facts: tuple[tuple[str, str], ...]
    rows: tuple[ScoreRow, ...]
    left: int
    said: tuple[tuple[str, Cut], ...]
    texts: tuple[tuple[str, Cut], ...]
    people: tuple[tuple[str, str], ...]
    root: StepView | None
    attempts: int
    command: str


def view_of(
    item: Item, detail: Detail, run: str, why: str = "", trace: SampleTrace | None = None
) -> SampleView:  # fmt: skip
    """A sample at a level of detail; `run` is the folder as the command names it."""
    root = trace.root if trace is not None and detail.traced else None
    rows = rows_of(item, detail)
    known = {row.name.casefold() for row in rows} | {s.criterion.casefold() for s in item.scores}
    people = tuple((line(k, NAMED), told(v)) for k, v in item.sample.human.items() if k.casefold() not in known)
    return SampleView(
        line(item.id, NAMED), item.place, item.status, head_of(item), why, tuple(_facts(item)),
        tuple(rows[: detail.rows]), max(0, len(rows) - detail.rows), tuple(_said(item, detail)),
        tuple(_texts(item, detail)), people[: detail.rows],
        Views(detail).of(root) if root is not None else None, trace.attempts if trace is not None else 0,
        command(run, item.id),
    )  # fmt: skip


def head_of(item: Item) -> str:
    """What came of it, in a few words."""
    if item.status != "ok":
        return item.status.replace("_", " ")
    if item.verdict is not None:
        return {"A": "A is better", "B": "B is better", "tie": "tie"}[item.verdict]
    if item.overall is not None:
        return f"overall {number(item.overall)}"
    finals = answers_of(item) or list(item.scores)
    if all(s.answer is None for s in finals) and any(s.status not in FINE for s in finals):
        return _unread(item)
    if agents := several(finals):
        return f"{len(agents)} agents answer side by side"
    values = [s.value for s in finals if s.value is not None]
    scales = {str(s.scale) for s in finals if s.value is not None}
    if values and len(scales) == 1:  # of labels beside numbers, the numbers
        mean = "mean " if len(values) > 1 else ""
        return f"{mean}{number(sum(values) / len(values))} on {line(scales.pop(), NAMED)}"
    return counted(len(finals), "score") if finals else "nothing judged"


def _unread(item: Item) -> str:
    """Of a sample whose graph came to its end, but without a score: drafts that could be read are said to be drafts."""
    answers, roles = answers_of(item), roles_of(item)
    drafts = sum(roles[s.key] == "draft" and s.status == "ok" for s in item.scores)
    final = "final score" if any(s.stage == "final" for s in answers) else "score"
    return f"no {final} could be read" + (f", {counted(drafts, 'draft')} could" if drafts else "")


def _facts(item: Item) -> Iterator[tuple[str, str]]:
    yield "in the data", f"number {item.place + 1:,}"
    yield "time", time(item.ms)
    yield from overalls(item)
    if item.verdict is not None:
        yield "verdict", VERDICTS[item.verdict]


def _said(item: Item, detail: Detail) -> Iterator[tuple[str, Cut]]:
    """Everything but scores that was said, in the order of its weight."""
    found: list[tuple[str, str]] = [(item.status, item.reason)] if item.reason else []
    found += [(_compared(c), c.reason) for c in item.comparisons]
    for c in item.corrections:
        ended = f"corrected {c.of}" if c.changed else f"{c.of} not corrected"
        found.append((f"{ended} ({c.outcome})", c.text or c.reason))
    found += [(f"{s.agent or 'critic'} suggests: {s.criterion}", s.definition) for s in item.suggestions]
    found += [(f"{f.assistant} gave {_given(f.value) or f.status}", f.reason) for f in item.findings]
    found += [(f"plan ({item.plan.status})", item.plan.text)] if item.plan is not None else []
    found += [(f"note of {n.agent}", n.text) for n in item.notes]
    for who, text in found[: detail.rows]:
        yield line(who, 200), cut(text, detail.reason)
    if len(found) > detail.rows:
        yield f"and {len(found) - detail.rows} more", Cut("")


def _compared(c: Comparison) -> str:
    sums = f" {number(c.score_a)} : {number(c.score_b)}" if c.score_a is not None and c.score_b is not None else ""
    return f"{c.criterion}, {c.agent}, order {c.order}: {c.verdict or c.status}{sums}"


def _given(value: float | str | None) -> str:
    return number(value, 4) if isinstance(value, int | float) else value or ""


def _texts(item: Item, detail: Detail) -> Iterator[tuple[str, Cut]]:
    for name in TEXTS:
        value = getattr(item.sample, name)
        if value not in (None, "") and detail.text:
            yield name, cut(text_of(value), detail.text)
