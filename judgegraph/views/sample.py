"""One sample in a few lines: its scores with what the critic moved, its comparisons and corrections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from judgegraph.answers import answers_of
from judgegraph.views.amounts import counted, number_text
from judgegraph.views.blocks import Block, Para

if TYPE_CHECKING:
    from judgegraph.runs.item import Item
    from judgegraph.runs.summary import Line
    from judgegraph.types import Comparison, Correction, Score

MOST_SAMPLES = 12  # rows of a list that need not be seen whole


def telling(items: Iterable[Item]) -> Item | None:
    """The sample that the critic moved most, else the one with the lowest score, else the first."""

    def weight(item: Item) -> tuple[float, float]:
        values = {s.key: s.value for s in item.scores if s.value is not None}
        finals = [s for s in answers_of(item) if s.value is not None]
        moved = max((abs(values[s.key] - values[s.draft]) for s in finals if s.draft in values), default=0.0)
        return moved, -min((values[s.key] for s in finals), default=float("inf"))

    return max((item for item in items if item.status == "ok"), key=weight, default=None)


def sample(item: Item) -> Iterator[Block]:
    """Its id and query, its answers, comparisons and corrections; a row for what is repeated."""
    yield Para(item.id[:80], "title")
    if item.sample.query:
        yield Para(f"  {cut(item.sample.query, 200)}", "fine")
    yield from _scores(item)
    yield from comparisons(item)
    for correction in item.corrections:
        who = f" by {cut(correction.agent, 80)}" if correction.agent else ""
        yield Para(f"  {heading(correction)}{who}: {cut(correction.text or correction.reason, 300)}")


def heading(correction: Correction) -> str:
    """What stands before a correction's text, or before why there is none."""
    if correction.changed:
        return f"corrected {correction.of}"
    ended = "" if correction.outcome == "unchanged" else f" ({correction.status.replace('_', ' ')})"
    return f"{correction.of} not corrected{ended}"


def cut(text: str, length: int) -> str:
    """On one line, at most `length` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def names(rows: Sequence[Line] | Sequence[Score]) -> list[str]:
    """What each row is called: its criterion, the side of a pair, and the agent where several judged the same."""
    agents: dict[tuple[str, ...], set[str]] = {}
    for x in rows:
        agents.setdefault((x.criterion, x.stage, x.of), set()).add(x.agent)
    return [
        x.criterion
        + (" (rival)" if x.of == "rival" else "")
        + (f" ({x.agent})" if len(agents[x.criterion, x.stage, x.of]) > 1 else "")
        for x in rows
    ]


def _scores(item: Item) -> Iterator[Block]:
    if not item.scores and item.overall is not None:  # of a graph that writes no more
        yield Para(f"  overall: {item.overall:.4g}")
    scores = {s.key: s for s in item.scores}
    finals = answers_of(item)
    paired = {c.agent for c in item.comparisons}  # their repeats are the orders
    rows: dict[str, list[Score]] = {}
    for name, score in zip(names(finals), finals, strict=True):
        rows.setdefault(name, []).append(score)
    shown = list(rows.items())[:MOST_SAMPLES]
    for name, row in shown:
        said, reason = [], ""
        for score in sorted(row, key=lambda s: s.repeat):
            draft = scores.get(score.draft or "")
            moved = draft is not None and draft.answer != score.answer
            arrow = f"{answer(draft)} -> " if draft and moved else ""
            said.append(f"{arrow}{answer(score)}{repeat_of(score, paired) if len(row) > 1 or score.repeat else ''}")
            if not reason and (reason := draft.reason if draft and not moved else score.reason) and len(row) > 1:
                reason = f"{repeat_of(score, paired).strip()} {reason}"
        yield Para(f"  {name}: {', '.join(said)}  {cut(reason, 220)}")
    yield from _more(len(finals) - sum(len(row) for _, row in shown), "score")


def repeat_of(score: Score, paired: Iterable[str]) -> str:
    """Which of repeated scores: by the order of a pair, else by number."""
    if score.agent in paired and score.repeat < 2:
        return (" (AB)", " (BA)")[score.repeat]
    return f" ({score.repeat + 1})"


def comparisons(item: Item) -> Iterator[Block]:
    """A row for each criterion, of many the first; the verdict of a graph that writes no more."""
    if not item.comparisons and item.verdict is not None:
        yield Para(f"  verdict: {item.verdict}")
    rows: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in item.comparisons:
        rows.setdefault((comparison.criterion, comparison.agent), []).append(comparison)
    shown = list(rows.items())[:MOST_SAMPLES]
    for (criterion, agent), row in shown:
        several = sum(name == criterion for name, _ in rows) > 1
        name = f"{criterion} ({agent})" if several else criterion
        yield Para(f"  {name}: {_verdicts(row)}  {cut(_reason_of(row), 160)}")
    yield from _more(len(item.comparisons) - sum(len(row) for _, row in shown), "comparison")


def _more(count: int, one: str) -> Iterator[Block]:
    if count > 0:
        yield Para(f"  and {counted(count, f'more {one}')}")


def _reason_of(row: Sequence[Comparison]) -> str:
    """What stands beside the verdicts: of both orders together, else of the first that says anything, and of which."""
    given = sorted((c for c in row if c.reason), key=lambda c: c.order != "both")
    if not given:
        return ""
    return given[0].reason if len(row) == 1 else f"({given[0].order}) {given[0].reason}"


def _verdicts(row: Sequence[Comparison]) -> str:
    lines = []
    for c in row:
        sums = f" {c.score_a:g} : {c.score_b:g}" if c.score_a is not None and c.score_b is not None else ""
        lines.append(f"{c.verdict or c.status}{sums} ({c.order})")
    return ", ".join(lines)


def answer(score: Score) -> str:
    """The value, the label, or how it failed."""
    return number_text(score.value) if score.value is not None else score.label or score.status
