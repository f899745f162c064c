"""A finished run on a terminal: a table of criteria, the sample that changed most, what the critic suggests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console

from judgegraph.cli.table import plain, score_table
from judgegraph.runtime.item import Item
from judgegraph.runtime.run import Run
from judgegraph.runtime.summary import Summary
from judgegraph.types import Score

WIDTH = 100
LINES = 60  # of the table
MOST = 12  # rows of a list that need not be seen whole


def print_run(run: Run, summary: Summary, rejected: Sequence[Any] = ()) -> None:
    """Print what came of a run; everything judged is made inert first."""
    console = Console(width=None if Console().is_terminal else WIDTH, highlight=False)
    finals = [x for x in summary.lines.values() if x.stage == "final"] or list(summary.lines.values())
    if finals:
        console.print(score_table(summary, finals[:LINES], console.width))
        _more(console, len(finals) - LINES, "criteria; --json has them all", indent="")
    _pairs(console, summary)
    shown = telling(run.items)
    if shown is not None:
        _sample(console, shown)
    _advice(console, summary)
    _troubles(console, summary, rejected)
    calls = run.manifest["calls"]
    console.print(plain(f"\n{run.signature}"), style="dim")
    tokens = calls["prompt_tokens"] + calls["completion_tokens"]
    console.print(plain(f"{sum(summary.samples.values())} samples, {calls['replies']} calls, {tokens} tokens"))
    if run.folder:
        console.print(plain(f"saved in {run.folder.path}"))


def _more(console: Console, count: int, what: str = "", indent: str = "  ") -> None:
    """A list that is cut says so."""
    if count > 0:
        console.print(plain(f"{indent}and {count} more {what}".rstrip()))


def _pairs(console: Console, summary: Summary) -> None:
    if not summary.verdicts:
        return
    counts = ", ".join(f"{name} {count}" for name, count in summary.verdicts.most_common())
    console.print(plain(f"\nverdicts: {counts}"))
    if summary.both:
        console.print(plain(f"same verdict in both orders: {summary.consistent} of {summary.both}"))
    if summary.corrections:
        counts = ", ".join(f"{name} {count}" for name, count in summary.corrections.most_common())
        console.print(plain(f"corrections: {counts}"))


def telling(items: Iterable[Item]) -> Item | None:
    """The sample that the critic moved most, else the one with the lowest score, else the first."""

    def weight(item: Item) -> tuple[float, float]:
        drafts = {s.criterion: s.value for s in item.scores if s.stage == "draft" and s.value is not None}
        finals = [s for s in item.scores if s.stage == "final" and s.value is not None]
        moved = max((abs(s.value - drafts[s.criterion]) for s in finals if s.criterion in drafts), default=0.0)  # type: ignore[operator]
        lowest = min((s.value for s in finals if s.value is not None), default=float("inf"))
        return moved, -lowest

    return max((item for item in items if item.status == "ok"), key=weight, default=None)


def _sample(console: Console, item: Item) -> None:
    drafts = {(s.criterion, s.of): s for s in item.scores if s.stage == "draft"}
    finals = [s for s in item.scores if s.stage == "final"]
    console.print(plain(f"\n{item.id[:80]}"), style="bold")
    if item.sample.query:
        console.print(plain(f"  {_cut(item.sample.query, 200)}"), style="italic")
    for score in finals[:MOST]:
        draft = drafts.get((score.criterion, score.of))
        moved = draft is not None and draft.answer != score.answer
        arrow = f"{_answer(draft)} -> " if draft and moved else ""
        reason = draft.reason if draft and not moved else score.reason
        side = " (rival)" if score.of == "rival" else ""
        console.print(plain(f"  {score.criterion}{side}: {arrow}{_answer(score)}  {_cut(reason, 220)}"))
    _more(console, len(finals) - MOST, "scores")
    for comparison in item.comparisons[:MOST]:
        sums = f"{comparison.score_a:g} : {comparison.score_b:g}" if comparison.score_a is not None else ""
        said = f"{comparison.criterion} ({comparison.order}): {comparison.verdict or comparison.status} {sums}"
        console.print(plain(f"  {said}  {_cut(comparison.reason, 160)}"))
    _more(console, len(item.comparisons) - MOST, "comparisons")
    for correction in item.corrections:
        console.print(plain(f"  corrected {correction.of}: {_cut(correction.text, 300)}"))


def _answer(score: Score) -> str:
    if score.value is not None:
        return f"{score.value:.2f}"
    return score.label or score.status


def _cut(text: str, length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def _advice(console: Console, summary: Summary) -> None:
    for kind, title in (("definition", "definitions to change"), ("criterion", "new criteria suggested")):
        found = [(key, n) for key, n in summary.suggestions.most_common() if key[0] == kind]
        if found:
            console.print(plain(f"\n{title}:"))
        for key, n in found[:5]:
            console.print(plain(f"  {key[1]} ({n}): {_cut(summary.wordings[key], 200)}"))
        _more(console, len(found) - 5)


def _troubles(console: Console, summary: Summary, rejected: Sequence[Any]) -> None:
    for (status, reason), count in summary.failures.most_common(MOST):
        console.print(plain(f"{count} samples ended with {status}: {_cut(reason, 300)}"), style="red")
    _more(console, len(summary.failures) - MOST, "kinds of failure", indent="")
    for line in summary.lines.values():
        bad = {s: n for s, n in (line.statuses - line.lost).items() if s != "ok"}
        if bad:
            said = ", ".join(f"{n} {status}" for status, n in bad.items())
            console.print(plain(f"{line.criterion} ({line.agent}, {line.stage}): {said}"), style="yellow")
    for note, count in summary.notes.most_common(MOST):
        console.print(plain(f"note ({count}): {_cut(note, 200)}"), style="yellow")
    _more(console, len(summary.notes) - MOST, "notes", indent="")
    if rejected:
        console.print(plain(f"{len(rejected)} rows rejected:"), style="red")
    for row in rejected[:MOST]:
        console.print(plain(f"  {row}"))
    _more(console, len(rejected) - MOST)
