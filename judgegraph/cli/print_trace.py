"""One sample's trace on a terminal: what was judged, its scores from draft to final, and what was done for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from judgegraph.cli.print_sample import MOST, more, print_comparisons
from judgegraph.cli.screen import screen
from judgegraph.cli.table import names, plain
from judgegraph.runtime.folder_traces import FolderTrace
from judgegraph.runtime.item import Item
from judgegraph.runtime.traces import LOST, UNTRACED, SampleTrace
from judgegraph.trace.bars import bars, likeliest
from judgegraph.trace.tree import Look, excerpt, inert, tree_of
from judgegraph.types import Score, text_of

NAME = 26  # columns of a criterion's name at most
PARTS = ("query", "source", "output", "rival", "reference")
WHY = {
    UNTRACED: "No spans were recorded (run --no-trace, or a run in memory); here is what its item says.",
    LOST: "The last attempt was not recorded (run --no-trace); here is what its item says.",
}


def print_trace(found: SampleTrace, signature: str, *, criterion: str | None = None, full: bool = False) -> None:
    """All of it; everything judged is made inert first. Of `criterion` alone its scores are shown."""
    console, look = _console(full)
    item = found.item
    attempts = f", {found.attempts} attempts" if found.attempts > 1 else ""
    console.print(plain(f"{item.id}: {item.status}{attempts}"), style="bold")
    if item.reason:
        console.print(Text(excerpt(item.reason, look)), style="red")
    console.print(Text(inert(signature)), style="dim")
    for part in PARTS:
        if value := getattr(item.sample, part):
            _said(console, part, text_of(value), look)
    if item.sample.human:
        console.print(Text(inert(f"people: {_human(item.sample.human)}")))
    console.print()
    _answers(console, item, look, criterion)
    console.print()
    if found.root is None:
        console.print(Text(WHY[found.untraced]), style="yellow")
    else:
        console.print(tree_of(found.root, look))


def print_journey(found: FolderTrace, *, full: bool = False) -> None:
    """A journey of a folder without items."""
    console, look = _console(full)
    console.print(plain(f"{found.sample}: {found.root.status} (journey {found.number})"), style="bold")
    console.print(tree_of(found.root, look))


def _console(full: bool) -> tuple[Console, Look]:
    console = screen()
    return console, Look(full, plain=console.options.ascii_only)


def _said(console: Console, who: str, text: str, look: Look) -> None:
    said = Text(f"{who}: ", style="dim")
    said.append(excerpt(text, look), "default")
    console.print(said)


def _human(human: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} {'/'.join(map(_plain, value)) if isinstance(value, list) else _plain(value)}"
        for name, value in human.items()
    )


def _plain(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _answers(console: Console, item: Item, look: Look, criterion: str | None) -> None:
    """Scores, comparisons and what else was found."""
    _scores(console, item, look, criterion)
    if criterion is not None:
        return
    print_comparisons(console, item)
    for name, value in (("overall", item.overall), ("verdict", item.verdict)):
        if value is not None:
            console.print(Text(f"{name}: {value if isinstance(value, str) else f'{value:.4g}'}"))
    for correction in item.corrections:
        _said(console, f"corrected {correction.of}", correction.text or correction.status, look)
    for advice in item.suggestions:
        what = "new criterion" if advice.kind == "criterion" else "definition to change"
        _said(console, f"{what} suggested, {inert(advice.criterion, 80)}", advice.definition, look)
    for note in item.notes:
        console.print(Text(inert(f"note: {note.agent}: {excerpt(note.text, look)}")), style="yellow")


def _scores(console: Console, item: Item, look: Look, criterion: str | None) -> None:
    """Finals with their drafts, then what no final stands for."""
    scores = {score.key: score for score in item.scores}
    finals = [score for score in item.scores if score.stage == "final"]
    drafts = {score.draft for score in finals}
    listed = finals + [score for score in item.scores if score.stage != "final" and score.key not in drafts]
    rows = [(name, s) for name, s in zip(names(listed), listed, strict=True) if criterion in (None, s.criterion)]
    shown = rows if look.full else rows[:MOST]
    width = min(NAME, max((cell_len(inert(name)) for name, _ in shown), default=0))
    for name, score in shown:
        draft = scores.get(score.draft or "")
        console.print(_row(name, score, draft, width, look))
        for said in _reasons(score, draft, look):
            console.print(Padding(Text(said), (0, 0, 0, 4), expand=False), style="dim")
    more(console, len(rows) - len(shown), "score; --full shows it", "scores; --full shows them", indent="")


def _row(name: str, score: Score, draft: Score | None, width: int, look: Look) -> Text:
    """Name, answers, bars, how it was read."""
    row = Text(overflow="fold")
    shown = inert(name)
    shown = shown if cell_len(shown) <= width else shown[: width - 1] + look.dots[:1]
    row.append(shown + " " * max(0, width - cell_len(shown)), "bold")
    moved = draft is not None and draft.answer != score.answer
    before = f"{_answer(draft)} -> " if draft is not None and moved else ""
    row.append(f"  {before}{_answer(score)}", "yellow" if moved else "" if score.status == "ok" else "red")
    for said in _reading(score, look):
        row.append(f"  {said}")
    return row


def _reading(score: Score, look: Look) -> Iterator[str]:
    if score.stage != "final":
        yield f"({inert(score.stage, 40)})"
    if score.distribution:
        drawn = bars(score.distribution, score.scale, plain=look.plain)
        if score.scale is not None and score.scale.low is not None:
            drawn = f"{score.scale.low:g}{drawn}{score.scale.high:g}"
        yield f"{drawn}  {inert(likeliest(score.distribution), 60)}"
    if score.reader:
        yield f"by {inert(score.reader, 40)}"
    if score.unseen is not None and score.unseen >= 0.005:
        yield f"{100 * score.unseen:.0f} % on no point"


def _reasons(score: Score, draft: Score | None, look: Look) -> Iterator[str]:
    """Who said what: the critic beside whom it reviewed, where it moved something."""
    said: Sequence[Score] = (score,) if draft is None or draft.reason == score.reason else (draft, score)
    for one in said:
        if one.reason:
            yield f"{inert(one.agent, 40)}: {excerpt(one.reason, look)}"
        if one.status != "ok" and one.raw:
            yield f"{inert(one.agent, 40)} answered: {excerpt(one.raw, look)}"
        for note in one.notes:
            yield f"{inert(one.agent, 40)}, note: {excerpt(note, look)}"


def _answer(score: Score) -> str:
    if score.value is not None:
        return f"{score.value:.2f}"
    return inert(score.label or score.status, 40)
