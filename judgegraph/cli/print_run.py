"""A finished run on a terminal: a table of criteria, the sample that changed most, what the critic suggests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judgegraph.cli.main import printable
from judgegraph.runtime.item import Item
from judgegraph.runtime.run import Run
from judgegraph.runtime.summary import Line, Summary
from judgegraph.types import Score

WIDTH = 100
MOST = 12  # rows of a list that need not be seen whole


def print_run(run: Run, rejected: Sequence[Any] = ()) -> None:
    """Print what came of a run; everything judged is made inert first."""
    console = Console(width=None if Console().is_terminal else WIDTH, highlight=False)
    summary = run.summary()
    finals = [x for x in summary.lines.values() if x.stage == "final"] or list(summary.lines.values())
    if finals:
        console.print(_table(summary, finals[:60]))
    _pairs(console, summary)
    shown = telling(run.items)
    if shown is not None:
        _sample(console, shown)
    _advice(console, summary)
    _troubles(console, summary, rejected)
    calls = run.manifest["calls"]
    console.print(_plain(f"\n{run.signature}"), style="dim")
    tokens = calls["prompt_tokens"] + calls["completion_tokens"]
    console.print(_plain(f"{sum(summary.samples.values())} samples, {calls['replies']} calls, {tokens} tokens"))
    if run.folder:
        console.print(_plain(f"saved in {run.folder.path}"))


def _plain(text: str) -> Text:
    return Text(printable(text))


def _table(summary: Summary, finals: list[Line]) -> Table:
    drafts = any(summary.line(x.criterion, "draft") for x in finals)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("criterion", overflow="fold", ratio=2)
    for name in ("scale", "n ok", *(("draft",) if drafts else ()), "score", "sd"):
        table.add_column(name, justify="right", no_wrap=True)
    if drafts:
        table.add_column("critic", no_wrap=True)
    for x in finals:
        draft = summary.line(x.criterion, "draft")
        scale = "labels" if x.labels else str(x.scale or "")
        cells = [x.criterion + (" (rival)" if x.of == "rival" else ""), scale, f"{x.n_ok}/{x.n}"]
        cells += [_mean(draft)] if drafts else []
        cells += [_mean(x), f"{x.sd:.2f}" if x.sd is not None else ""]
        cells += [_moves(x)] if drafts else []
        table.add_row(*map(_plain, cells))
    return table


def _moves(line: Line) -> str:
    """How often the critic changed a score, and which way."""
    other = line.changed - line.down - line.up
    said = [f"{n} {way}" for n, way in ((line.down, "down"), (line.up, "up"), (other, "changed")) if n]
    return ", ".join(said) or "kept all"


def _mean(line: Line | None) -> str:
    if line is None:
        return ""
    if line.labels:
        ((label, count),) = line.labels.most_common(1)
        return f"{label} ({count})"
    if line.mean is None:
        return "-"
    missing = line.n > line.values and line.bounds
    return f"{line.mean:.2f}" + (f" [{missing[0]:.2f}, {missing[1]:.2f}]" if missing else "")


def _pairs(console: Console, summary: Summary) -> None:
    if not summary.verdicts:
        return
    counts = ", ".join(f"{name} {count}" for name, count in summary.verdicts.most_common())
    console.print(_plain(f"\nverdicts: {counts}"))
    if summary.both:
        console.print(_plain(f"same verdict in both orders: {summary.consistent} of {summary.both}"))
    if summary.corrections:
        counts = ", ".join(f"{name} {count}" for name, count in summary.corrections.most_common())
        console.print(_plain(f"corrections: {counts}"))


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
    console.print(_plain(f"\n{item.id[:80]}"), style="bold")
    if item.sample.query:
        console.print(_plain(f"  {_cut(item.sample.query, 200)}"), style="italic")
    for score in finals[:MOST]:
        draft = drafts.get((score.criterion, score.of))
        moved = draft is not None and draft.answer != score.answer
        arrow = f"{_answer(draft)} -> " if draft and moved else ""
        reason = draft.reason if draft and not moved else score.reason
        side = " (rival)" if score.of == "rival" else ""
        console.print(_plain(f"  {score.criterion}{side}: {arrow}{_answer(score)}  {_cut(reason, 220)}"))
    for comparison in item.comparisons[:MOST]:
        sums = f"{comparison.score_a:g} : {comparison.score_b:g}" if comparison.score_a is not None else ""
        said = f"{comparison.criterion} ({comparison.order}): {comparison.verdict or comparison.status} {sums}"
        console.print(_plain(f"  {said}  {_cut(comparison.reason, 160)}"))
    for correction in item.corrections:
        console.print(_plain(f"  corrected {correction.of}: {_cut(correction.text, 300)}"))


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
            console.print(_plain(f"\n{title}:"))
        for key, n in found[:5]:
            console.print(_plain(f"  {key[1]} ({n}): {_cut(summary.wordings[key], 200)}"))
        if len(found) > 5:
            console.print(_plain(f"  and {len(found) - 5} more"))


def _troubles(console: Console, summary: Summary, rejected: Sequence[Any]) -> None:
    for (status, reason), count in summary.failures.most_common(MOST):
        console.print(_plain(f"{count} samples ended with {status}: {_cut(reason, 300)}"), style="red")
    for line in summary.lines.values():
        bad = {s: n for s, n in line.statuses.items() if s != "ok"}
        if bad:
            said = ", ".join(f"{n} {status}" for status, n in bad.items())
            console.print(_plain(f"{line.criterion} ({line.agent}, {line.stage}): {said}"), style="yellow")
    for note, count in summary.notes.most_common(MOST):
        console.print(_plain(f"note ({count}): {_cut(note, 200)}"), style="yellow")
    if rejected:
        console.print(_plain(f"{len(rejected)} rows rejected:"), style="red")
        for row in rejected[:MOST]:
            console.print(_plain(f"  {row}"))
