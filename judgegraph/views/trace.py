"""Small HTML for notebooks: tables, folds and texts. No script and no colour of its own; whatever it shows is inert."""

from __future__ import annotations

import io
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NewType

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from judgegraph.errors import printable
from judgegraph.shown import draws
from judgegraph.trace.span import Step
from judgegraph.views.amounts import duration, money
from judgegraph.views.sample import answer

if TYPE_CHECKING:
    from judgegraph.types import Scale, Score

Html = NewType("Html", str)  # what this module made: escaped, and whole
ROWS = 60  # of a table
LONG = 20_000  # characters of a text
CELL = 300  # characters of a table's cell
LEFT, RIGHT = ' style="text-align:left"', ' style="text-align:right;white-space:nowrap"'


def text(value: object, most: int = LONG) -> Html:
    """A text that can neither close nor open anything, nor turn what stands around it; cut at `most` characters."""
    whole = str(value).replace("\r\n", "\n").expandtabs(4)
    cut = whole if len(whole) <= most else f"{whole[:most]}… ({len(whole):,} characters)"
    return Html(escape(printable(cut)))


def joined(*parts: Html) -> Html:
    """One after the other."""
    return Html("\n".join(part for part in parts if part))


def framed(*parts: Html) -> Html:
    """Parts as one output."""
    return Html(f'<div class="jg-shown">{joined(*parts)}</div>')


def para(value: object) -> Html:
    """A paragraph."""
    return Html(f'<p style="overflow-wrap:anywhere">{text(value)}</p>')


def verbatim(value: object) -> Html:
    """A text with its line breaks, folded to the width there is."""
    style = "white-space:pre-wrap;overflow-wrap:anywhere;text-align:left"
    return Html(f'<pre style="{style}">{text(value)}</pre>')


def fold(summary: Html, *parts: Html, opened: bool = False) -> Html:
    """What is behind a click."""
    style = ' style="margin-left:1em;text-align:left"'
    return Html(
        f"<details{style}{' open' if opened else ''}><summary>{summary}</summary>\n{joined(*parts)}\n</details>"
    )


def table(
    caption: object, head: Sequence[str], rows: Iterable[Sequence[object]], numeric: Collection[str] = (),
    most: int = ROWS,
) -> Html:  # fmt: skip
    """A table of texts; its first column names the row.

    Args:
        numeric: columns that are set to the right, on one line.
        most: rows; of more the first are shown, and their count.
    """
    sides = [RIGHT if name in numeric else LEFT for name in head]
    table_rows = list(rows)
    first = "".join(f'<th scope="col"{side}>{text(name)}</th>' for name, side in zip(head, sides, strict=True))
    lines = ["".join(_cells(row, sides)) for row in table_rows[:most]]
    more = f"; {most} of {len(table_rows):,} rows are shown" if len(table_rows) > most else ""
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return Html(
        f"<table>\n<caption{LEFT}>{text(f'{caption}{more}')}</caption>\n"
        f"<thead><tr>{first}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
    )


def _cells(row: Sequence[object], sides: Sequence[str]) -> Iterable[str]:
    for place, (cell, side) in enumerate(zip(row, sides, strict=True)):
        shown = text(cell, CELL)
        yield f'<th scope="row"{side}>{shown}</th>' if place == 0 else f"<td{side}>{shown}</td>"


# Steps as a tree on a terminal; whatever it shows is inert there.


LINES, LENGTH = 4, 320  # of a text that is not shown whole
DETAIL, TROUBLE, TITLE = "dim", "red", "bold"
FINE = ("ok", "skipped", "abstained")
SETTING_NAMES = {"judge": "judge", "prompt": "prompt", "reader": "reader"}  # of an agent


@dataclass(frozen=True)
class Look:
    """How much is shown. full: texts whole; plain: no character beyond ASCII of our own."""

    full: bool = False
    plain: bool = False

    @property
    def dots(self) -> str:
        """What stands for what is left out."""
        return "..." if self.plain else "…"


USUAL = Look()


def tree_of(step: Step, look: Look = USUAL) -> Tree:
    """The step with all below it, each with its times, and what was read, written, asked and answered."""
    tree = Tree(label(step, look), guide_style=DETAIL)
    _grow(tree, step, look)
    return tree


def tree_text(step: Step, width: int = 100, look: Look = USUAL) -> str:
    """The same as plain text."""
    console = Console(
        file=io.StringIO(), width=width, color_system=None, highlight=False, force_terminal=False,
        force_jupyter=False,  # else rich would show it in a notebook, and there were no text
    )  # fmt: skip
    console.print(tree_of(step, look))
    return "\n".join(line.rstrip() for line in str(console.file.getvalue()).splitlines())  # type: ignore[attr-defined]


def _grow(tree: Tree, step: Step, look: Look) -> None:
    for below in step.steps:
        _grow(tree.add(label(below, look)), below, look)


def label(step: Step, look: Look = USUAL) -> Text:
    """What a step's own lines say."""
    text = Text(overflow="fold")
    text.append(inert(f"{step.kind} "), DETAIL)
    text.append(inert(step.name, 80), TITLE)
    for fact in (duration(step.ms), *facts(step)):
        text.append(inert(f"  {fact}"))
    if step.status not in FINE:
        text.append(inert(f"  {step.status}"), TROUBLE)
    elif step.status != "ok":
        text.append(inert(f"  {step.status}"), DETAIL)
    if step.about.get("error"):
        text.append(inert(f"\n{step.about['error']}"), DETAIL if step.status in FINE else TROUBLE)
    for fact in flow(step):
        text.append(inert(f"\n{fact}"), DETAIL)
    for who, fact in step.texts():
        text.append(inert(f"\n{who}: "), DETAIL)
        text.append(excerpt(fact, look))
    return text


def facts(step: Step) -> Iterator[str]:
    """Beside its name: who was asked, what a tool said, what a call took."""
    about = step.about
    if step.kind == "agent":
        yield from (f"{name} {about[key]}" for key, name in SETTING_NAMES.items() if about.get(key))
    elif step.kind == "tool" and about.get("value") is not None:
        yield _number(about["value"])
    elif step.kind == "model":
        if about.get("from"):
            yield {"ledger": "from the ledger", "joined": "joined"}.get(str(about["from"]), str(about["from"]))
        if retries := int(about.get("requests") or 1) - 1:
            yield f"{retries} {'retry' if retries == 1 else 'retries'}"
        if about.get("prompt_tokens") is not None:
            yield f"{about['prompt_tokens']:,}+{about.get('completion_tokens') or 0:,} tokens"
            yield money(about.get("usd"))


def flow(step: Step) -> Iterator[str]:
    """What went in and came out."""
    about = step.about
    if step.kind == "model":
        repeat = f"  repeat {about['repeat']}" if about.get("repeat") else ""
        choices = f"  {about['n']} choices" if (about.get("n") or 1) > 1 else ""
        form = f"  form {about['form']}" if about.get("form") else ""
        if line := f"{about.get('prompt') or ''}{form}{choices}{repeat}".strip():
            yield line
    reads, writes = _sizes(about.get("reads")), _sizes(about.get("writes"))
    if reads or writes:
        yield "  ".join([*([f"read: {reads}"] if reads else []), *([f"wrote: {writes}"] if writes else [])])


def _sizes(keys: Any) -> str:
    """Such as "sample, scores(8)"."""
    if not isinstance(keys, Mapping):
        return ""
    return ", ".join(f"{key}{_size(value)}" for key, value in keys.items())


def _size(value: Any) -> str:
    if isinstance(value, list):
        return f"({len(value)})"
    if isinstance(value, float):
        return f" = {value:.4g}"
    return f"({value})" if isinstance(value, int) and not isinstance(value, bool) else ""


def excerpt(text: str, look: Look = USUAL) -> str:
    """A text in its first lines, and how long it is; whole where all is wanted."""
    shown = inert(text.strip())
    if look.full:
        return shown
    lines = [line for line in shown.split("\n") if line.strip()]
    head = "\n".join(lines[:LINES])[:LENGTH].rstrip()
    return head if len(head) >= len("\n".join(lines)) else f"{head}{look.dots} ({len(text):,} characters)"


def inert(text: Any, most: int = 0) -> str:
    """Nothing in it drives a terminal; of a longer one than `most` the first of it."""
    text_shown = printable(str(text).replace("\r\n", "\n").expandtabs(4))
    return text_shown[:most] if most else text_shown


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


# A distribution as small bars, one character a point.


BLOCKS, LETTERS = "▁▂▃▄▅▆▇█", "_.:-=+*#"  # from nothing to all, each an eighth; letters where blocks cannot be written
MOST = 20  # points; of more, neighbours share a bar


def bars(shares: Mapping[str, float], scale: Scale | None = None, *, plain: bool = False) -> str:
    """A bar for each point of the scale in its order, those without a share too; "" for nothing.

    Args:
        shares: point or label -> share, at least 0. plain: letters in place of blocks.
    """
    total = sum(shares.values())
    if not shares or total <= 0:
        return ""
    heights = _pooled([shares.get(point, 0.0) / total for point in _points(shares, scale)])
    marks = LETTERS if plain else BLOCKS
    return "".join(marks[min(len(marks) - 1, round(height * (len(marks) - 1)))] for height in heights)


def likeliest(shares: Mapping[str, float], count: int = 2) -> str:
    """The points with most of it, such as "4: 72 %, 5: 20 %"; those of under half a percent are not told."""
    total = sum(shares.values())
    ranked = sorted(shares.items(), key=lambda one: -one[1])[:count] if total > 0 else []
    return ", ".join(f"{point}: {100 * share / total:.0f} %" for point, share in ranked if share / total >= 0.005)


def _points(shares: Mapping[str, float], scale: Scale | None) -> list[str]:
    if scale is not None and scale.labels:
        return [*scale.labels, *(label for label in shares if label not in scale.labels)]
    known = {str(point): float(point) for point in (scale.points if scale is not None else ())}
    try:
        return sorted(known | {point: float(point) for point in shares}, key=lambda point: float(point))
    except ValueError:
        return list(shares)


def _pooled(heights: list[float]) -> list[float]:
    if len(heights) <= MOST:
        return heights
    width = len(heights) / MOST
    return [sum(heights[round(i * width) : round((i + 1) * width)]) for i in range(MOST)]


# Steps as folds in a notebook: what was done opens by clicks, without a script.


OPEN = ("graph", "agent")  # nodes wait for a click, and what is told of a model for another
HEAD = ("criterion", "agent", "stage", "draft", "answer", "distribution", "read by", "reason")


def step_html(step: Step) -> Html:
    """A step with all below it; what failed is open."""
    opened = step.kind in OPEN or step.status not in FINE
    return fold(_summary(step), *_body(step), *map(step_html, step.steps), opened=opened)


def scores_html(scores: Iterable[Score], caption: str, drafts: Mapping[str, Score] | None = None) -> Html:
    """A row for each score, with its distribution as small bars, and beside it the draft that it rectifies.

    Args:
        drafts: key -> score; there is no such column without them.
    """
    rows = []
    for score in scores:
        draft = (drafts or {}).get(score.draft or "")
        cells = (answer(draft) if draft else "", answer(score), _bars(score), score.reader, score.reason)
        rows.append((_named(score), score.agent, score.stage, *cells))
    columns = [i for i, name in enumerate(HEAD) if name != "draft" or any(row[i] for row in rows)]
    head, rows_ = [HEAD[i] for i in columns], [[row[i] for i in columns] for row in rows]
    return table(caption, head, rows_, numeric=("draft", "answer", "distribution")) if rows else Html("")


def _named(score: Score) -> str:
    return score.criterion + (" (rival)" if score.of == "rival" else "")


def _bars(score: Score) -> str:
    shares = score.distribution or {}
    return f"{bars(shares, score.scale)} {likeliest(shares, 1)}" if shares else ""


def _summary(step: Step) -> Html:
    status = [] if step.status == "ok" else [step.status]
    facts_line = ", ".join([duration(step.ms), *facts(step), *status])
    return Html(f"{text(step.kind)} <b>{text(step.name, 80)}</b> {text(facts_line)}")


def _body(step: Step) -> Iterator[Html]:
    if step.about.get("error"):
        yield para(step.about["error"])
    lines = list(flow(step))
    if lines:
        yield joined(*map(para, lines))
    if step.kind != "node" or not step.steps:  # else its agent says them
        yield scores_html(step.scores, "wrote")
    for who, what in step.texts():
        yield fold(text(f"{who}, {len(what):,} characters", 80), verbatim(what))


@draws(Step)
def _framed(step: Step) -> Html:
    return framed(step_html(step))


@draws(Step, "text")
def _tree(step: Step) -> str:
    return tree_text(step)


# Commands that a page or a terminal suggests, so that they can be copied into a shell.


ESCAPED = frozenset("'\\!")  # what ends such a word, begins an escape in it, or recalls an earlier command


def quoted(text: str) -> str:
    """One word of a shell's command: plain or in quotes; as $'...' (bash, zsh) where it holds what is not shown.

    Invisible and control characters are masked wherever something judged is shown, which would change the word. They
    are written as bytes in UTF-8, so that the shell's own encoding does not matter.
    """
    if "\n" not in text and printable(text) == text:
        return shlex.quote(text)
    return f"$'{''.join(map(_escaped, text))}'"


def command(run: str, sample: str) -> str:
    """What prints a sample's whole trace; empty for a run that lies nowhere."""
    if not run:
        return ""
    whole = f"judgegraph trace {quoted(run)} --sample {quoted(sample)}"
    return whole if len(whole) <= 400 else f"judgegraph trace {quoted(run)}"


def _escaped(sign: str) -> str:
    if sign.isprintable() and sign not in ESCAPED:
        return sign
    bytewise = "surrogateescape" if "\udc80" <= sign <= "\udcff" else "surrogatepass"  # a file's name may be no UTF-8
    return "".join(f"\\x{byte:02x}" for byte in sign.encode("utf-8", bytewise))


# How a score was read, in words.


WORDS = {  # a score's reader -> of the score, where "by" and its name would not do
    "stated": "as stated in the reply", "mean": "as the mean of its parts", "panel": "by a panel",
    "plain": "by plain code", "random": "at random",
}  # fmt: skip


def read_by(reader: str) -> str:
    """Such as "by logprobs", "as stated in the reply". Not inert."""
    return WORDS.get(reader, f"by {reader}")
