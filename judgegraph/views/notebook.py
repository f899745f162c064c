"""Blocks in a notebook: small HTML without script or colour of its own; whatever they hold is made inert."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from html import escape
from typing import Any, NewType, TypeVar

from judgegraph.errors import printable, status_text
from judgegraph.runs.run import Table
from judgegraph.shown import draws
from judgegraph.views.blocks import (
    Answers,
    Block,
    Cut,
    Facts,
    Findings,
    Fold,
    Grid,
    Para,
    Picture,
    Remarks,
    ScoreRow,
    StepView,
    Texts,
    bars,
    columns,
    counted,
    likeliest,
    number_text,
)

Html = NewType("Html", str)  # what this module made: escaped, and whole
ROWS = 60  # of a table
LONG = 20_000  # characters of a text
FINE = ("ok", "skipped", "abstained")  # how a step ends that did not fail
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


# Blocks as such HTML.


Layout = TypeVar("Layout", bound=Callable[..., Iterable[Block]])


def lays_out(kind: type[Any]) -> Callable[[Layout], Layout]:
    """Registers the function below it as the layout of a kind of result, which a notebook draws."""

    def register(layout: Layout) -> Layout:
        draws(kind, "blocks")(layout)
        draws(kind)(lambda result: shown(layout(result)))
        return layout

    return register


def shown(blocks: Iterable[Block]) -> Html:
    """All of them as one output."""
    return framed(*html(blocks))


def html(blocks: Iterable[Block]) -> Iterator[Html]:
    """Each as HTML."""
    for one in blocks:
        if isinstance(one, Para):
            yield Html(f"<p><b>{text(one.text)}</b></p>") if one.look in ("lead", "title") else para(_noted(one))
        elif isinstance(one, Grid):
            if one.rows:
                yield _table(one)
        elif isinstance(one, Fold):
            yield fold(text(one.summary), *html(one.blocks), opened=one.kind == "trace")
        elif isinstance(one, Picture):
            yield Html(one.svg)
        elif isinstance(one, Facts):
            yield para("; ".join(f"{name}: {value}" for name, value in one.rows))
        elif isinstance(one, Answers):
            yield _answers(one)
        elif isinstance(one, Remarks):
            yield from (para(f"{who}: {_whole(what)}" if what else who) for who, what in one.rows)
        elif isinstance(one, Texts):
            for title, parts in one.rows:
                yield fold(text(title), *(verbatim(_whole(part)) for part in parts))
        elif isinstance(one, StepView):
            yield step_html(one)
        elif isinstance(one, Findings):
            yield from (para(finding.text) for finding in one.rows)


def _whole(what: Cut) -> str:
    return f"{what.text}… ({len(what.text) + what.more:,} characters)" if what.more else what.text


def _answers(answers: Answers) -> Html:
    """A row for each score; columns in which none says anything are left out."""
    rows = answers.rows
    cells = {
        "criterion": [row.name for row in rows],
        "scale": [row.scale for row in rows],
        "draft": [row.draft if row.draft != row.final else "" for row in rows],
        "answer": [row.final for row in rows],
        "distribution": [_bars(row) for row in rows],
        "people": [row.human for row in rows],
        "why": [" / ".join(f"{who}: {_whole(what)}" for who, what in row.why) for row in rows],
        "read by": ["; ".join(row.facts) for row in rows],
    }
    right = ("draft", "answer", "distribution", "people")
    texts = [name for name in cells if name not in right]
    return _table(columns("scores", cells, texts=texts, most=ROWS, rest=("score", "scores"), more=answers.left))


def _bars(row: ScoreRow) -> str:
    return "".join(f"{bars(one.shares, one.scale)} {likeliest(one.shares, 1)}" for one in row.distributions[-1:])


def step_html(step: StepView) -> Html:
    """A step with all below it; what failed is open."""
    facts = [step.ms, *step.facts, *([status_text(step.status)] if step.status != "ok" else [])]
    summary = Html(f"{text(step.kind)} <b>{text(step.name)}</b> {text(', '.join(facts))}")
    about = [para("; ".join(f"{name}: {value}" for name, value in step.about))] if step.about else []
    error = [para(step.error)] if step.error else []
    texts = [
        fold(text(f"{who}, {len(what.text) + what.more:,} characters"), verbatim(_whole(what)))
        for who, what in step.texts
    ]
    left = [para(f"{counted(step.left, 'more step')} not shown here")] if step.left else []
    opened = step.opened or step.status not in FINE
    return fold(summary, *error, *about, *texts, *map(step_html, step.steps), *left, opened=opened)


def _noted(one: Para) -> str:
    return one.text.strip()


def _table(grid: Grid) -> Html:
    rows = [[cell if isinstance(cell, str) else cell.alt for cell in row] for row in grid.rows]
    numeric = [name for at, name in enumerate(grid.head) if at in grid.numeric]
    one, many = grid.rest
    beyond = max(0, len(rows) - ROWS) + grid.left
    caption = grid.caption + (f"; {counted(beyond, f'more {one}', f'more {many}')}" if beyond else "")
    return table(caption, grid.head, rows[:ROWS], numeric)


# Tables of scores, comparisons and the like as a notebook shows them.


FIRST = 10  # rows
NUMERIC = ("value", "score_a", "score_b", "samples", "mean", "low", "high", "n", "judged", "calls", "tokens", "usd")
UNSHOWN = ("repeat", "of", "unseen")  # columns of a table of scores


@draws(Table)
def table_html(shown_table: Table) -> str:
    """The first rows, and how many there are."""
    count, shown = len(shown_table), [name for name in shown_table.columns if name not in UNSHOWN]
    caption = f"{count:,} {shown_table.what}s" + (f", the first {FIRST}" if count > FIRST else "")
    rows = [[_cell(row.get(name)) for name in shown] for row in shown_table.rows[:FIRST]]
    return framed(table(caption, shown, rows, NUMERIC))


def _cell(value: Any) -> object:
    return "" if value is None else number_text(value) if isinstance(value, float) else value
