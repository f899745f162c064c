"""One sample on a terminal: its scores with what the critic moved, its comparisons and corrections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console

from judgegraph.answers import answers_of
from judgegraph.cli.table import counted, names, plain
from judgegraph.runtime.item import Item
from judgegraph.types import Comparison, Correction, Score

MOST = 12  # rows of a list that need not be seen whole


def telling(items: Iterable[Item]) -> Item | None:
    """The sample that the critic moved most, else the one with the lowest score, else the first."""

    def weight(item: Item) -> tuple[float, float]:
        values = {s.key: s.value for s in item.scores if s.value is not None}
        finals = [s for s in answers_of(item) if s.value is not None]
        moved = max((abs(values[s.key] - values[s.draft]) for s in finals if s.draft in values), default=0.0)
        return moved, -min((values[s.key] for s in finals), default=float("inf"))

    return max((item for item in items if item.status == "ok"), key=weight, default=None)


def print_sample(console: Console, item: Item) -> None:
    """Its id and query, its answers, comparisons and corrections; a row for what is repeated."""
    console.print(plain(f"\n{item.id[:80]}"), style="bold")
    if item.sample.query:
        console.print(plain(f"  {cut(item.sample.query, 200)}"), style="italic")
    _scores(console, item)
    print_comparisons(console, item)
    for correction in item.corrections:
        who = f" by {cut(correction.agent, 80)}" if correction.agent else ""
        console.print(plain(f"  {heading(correction)}{who}: {cut(correction.text or correction.reason, 300)}"))


def heading(correction: Correction) -> str:
    """What stands before a correction's text, or before why there is none."""
    if correction.changed:
        return f"corrected {correction.of}"
    ended = "" if correction.outcome == "unchanged" else f" ({correction.status.replace('_', ' ')})"
    return f"{correction.of} not corrected{ended}"


def more(console: Console, count: int, one: str = "", many: str = "", indent: str = "  ") -> None:
    """A list that is cut says so."""
    if count > 0:
        what = counted(count, f"more {one}", f"more {many or one + 's'}" if one else "more")
        console.print(plain(f"{indent}and {what}".rstrip()))


def cut(text: str, length: int) -> str:
    """On one line, at most `length` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def _scores(console: Console, item: Item) -> None:
    scores = {s.key: s for s in item.scores}
    finals = answers_of(item)
    paired = {c.agent for c in item.comparisons}  # their repeats are the orders
    rows: dict[str, list[Score]] = {}
    for name, score in zip(names(finals), finals, strict=True):
        rows.setdefault(name, []).append(score)
    shown = list(rows.items())[:MOST]
    for name, row in shown:
        answers, reason = [], ""
        for score in sorted(row, key=lambda s: s.repeat):
            draft = scores.get(score.draft or "")
            moved = draft is not None and draft.answer != score.answer
            arrow = f"{_answer(draft)} -> " if draft and moved else ""
            answers.append(f"{arrow}{_answer(score)}{repeat_of(score, paired) if len(row) > 1 or score.repeat else ''}")
            reason = reason or (draft.reason if draft and not moved else score.reason)
        console.print(plain(f"  {name}: {', '.join(answers)}  {cut(reason, 220)}"))
    more(console, len(finals) - sum(len(row) for _, row in shown), "score")


def repeat_of(score: Score, paired: Iterable[str]) -> str:
    """Which of repeated scores: by the order of a pair, else by number."""
    if score.agent in paired and score.repeat < 2:
        return (" (AB)", " (BA)")[score.repeat]
    return f" ({score.repeat + 1})"


def print_comparisons(console: Console, item: Item) -> None:
    """A row for each criterion; of many the first."""
    rows: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in item.comparisons:
        rows.setdefault((comparison.criterion, comparison.agent), []).append(comparison)
    shown = list(rows.items())[:MOST]
    for (criterion, agent), row in shown:
        several = sum(name == criterion for name, _ in rows) > 1
        name = f"{criterion} ({agent})" if several else criterion
        reason = next((c.reason for c in row if c.reason), "")
        console.print(plain(f"  {name}: {_verdicts(row)}  {cut(reason, 160)}"))
    more(console, len(item.comparisons) - sum(len(row) for _, row in shown), "comparison")


def _verdicts(row: Sequence[Comparison]) -> str:
    said = []
    for c in row:
        sums = f" {c.score_a:g} : {c.score_b:g}" if c.score_a is not None and c.score_b is not None else ""
        said.append(f"{c.verdict or c.status}{sums} ({c.order})")
    return ", ".join(said)


def _answer(score: Score) -> str:
    if score.value is not None:
        return f"{score.value:.2f}"
    return score.label or score.status
