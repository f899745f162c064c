"""A run, its summary, its scores and its traces as a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from judgegraph.answers import answers_of
from judgegraph.runs.item import Item, by_count, ending
from judgegraph.runs.run import Run, Table
from judgegraph.runs.summary import Line, Summary, headlines, moves_of
from judgegraph.shown import draws
from judgegraph.traces.rank import FolderTrace
from judgegraph.traces.read import SampleTrace
from judgegraph.views.screen import draft_text, mean_text, members
from judgegraph.views.trace import (
    Html,
    fold,
    framed,
    inert,
    joined,
    para,
    scores_html,
    step_html,
    table,
    text,
    tree_text,
)

if TYPE_CHECKING:
    from judgegraph.types import Score

FIRST = 10  # rows of a table of scores, and reasons why some are missing
HEAD = ("criterion", "agent", "scale", "n ok", "draft", "score", "sd", "critic")
NUMERIC = (
    "n ok", "draft", "score", "sd", "value", "score_a", "score_b", "samples", "exact", "more", "at worst", "in ledger",
    "USD",
)  # fmt: skip
UNSHOWN = ("repeat", "of", "unseen")  # columns of a table of scores


@draws(Run)
def run_html(run: Run) -> str:
    """What was run, and its summary."""
    return framed(para(run), _summary(run.summary()))


@draws(Summary)
def summary_html(summary: Summary) -> str:
    """Per criterion how many could be read, their mean, and what the critic did; what failed; suggestions and notes."""
    return framed(_summary(summary))


@draws(Table)
def table_html(shown_table: Table) -> str:
    """The first rows, and how many there are."""
    count, shown = len(shown_table), [name for name in shown_table.columns if name not in UNSHOWN]
    caption = f"{count:,} {shown_table.what}s" + (f", the first {FIRST}" if count > FIRST else "")
    rows = [[_cell(row.get(name)) for name in shown] for row in shown_table.rows[:FIRST]]
    return framed(table(caption, shown, rows, NUMERIC))


@draws(SampleTrace, "text")
def trace_text(trace: SampleTrace) -> str:
    """The sample's tree; the first lines of each text."""
    head = inert(f"{trace.item.id}: {ending(trace.item)}", 300)
    return f"{head}\n{tree_text(trace.root) if trace.root else trace.untraced}"


@draws(SampleTrace)
def trace_html(trace: SampleTrace) -> str:
    """The sample's answers, and behind clicks what was done for it."""
    item = trace.item
    heading = f"{item.id}: {item.status}" + (f" ({item.reason})" if item.reason else "")
    steps = step_html(trace.root) if trace.root else para(trace.untraced)
    return framed(para(heading), scores_html(_shown_scores(item), "scores", {s.key: s for s in item.scores}), steps)


@draws(FolderTrace, "text")
def folder_trace_text(trace: FolderTrace) -> str:
    """The tree of a plain run of a graph; the first lines of each text."""
    return f"{inert(trace.sample, 200)}: {trace.root.status}\n{tree_text(trace.root)}"


@draws(FolderTrace)
def folder_trace_html(trace: FolderTrace) -> str:
    """What was done in a plain run of a graph, behind clicks."""
    return framed(para(f"{trace.sample}: {trace.root.status}"), step_html(trace.root))


def _shown_scores(item: Item) -> Iterator[Score]:
    """The answers; where there are none, all scores."""
    yield from answers_of(item) or item.scores


def _summary(summary: Summary) -> Html:
    ended = ", ".join(f"{status} {count}" for status, count in summary.samples.most_common())
    answers = summary.shown
    drafts = {line.draft for line in answers}
    counted = {id(line) for line in answers} | {id(summary.lines.get(key)) for line in answers for key in line.parts}
    rest = [x for key, x in summary.lines.items() if id(x) not in counted and key not in drafts]
    return joined(
        _lines(summary, f"samples: {ended}", answers) if answers else para(f"samples: {ended}"),
        *map(para, headlines(summary)), *_members(summary),
        fold(text(f"{len(rest)} other lines"), _others(rest)) if rest else Html(""),
        *_pairs(summary), *_troubles(summary), *_advice(summary), para(summary.signature),
    )  # fmt: skip


def _lines(summary: Summary, caption: str, lines: Iterable[Line]) -> Html:
    rows = []
    for x in lines:
        draft = summary.lines.get(x.draft) if x.draft else None
        rows.append(
            (
                _named(x),
                x.agent,
                _scale(x),
                f"{x.n_ok}/{x.n}",
                draft_text(x, draft) if draft else "",
                mean_text(x),
                _sd(x),
                moves_of(x, whole=True),
            )
        )
    columns = [i for i, name in enumerate(HEAD) if name not in ("draft", "critic") or any(row[i] for row in rows)]
    return table(caption, [HEAD[i] for i in columns], [[row[i] for i in columns] for row in rows], NUMERIC)


def _members(summary: Summary) -> Iterator[Html]:
    head, rows = members(summary)
    if rows:
        yield fold(text(f"{len(head) - 1} members"), table("scores by the members", head, rows, frozenset(head[1:])))


def _others(lines: Iterable[Line]) -> Html:
    head = ("criterion", "agent", "stage", "role", "n ok", "score", "sd")
    rows = [(_named(x), x.agent, x.stage, x.role, f"{x.n_ok}/{x.n}", mean_text(x), _sd(x)) for x in lines]
    return table("other agents and stages", head, rows, NUMERIC, most=12)


def _named(line: Line) -> str:
    return line.criterion + (" (rival)" if line.of == "rival" else "")


def _scale(line: Line) -> str:
    return "labels" if line.labels else str(line.scale or "")


def _sd(line: Line) -> str:
    return f"{line.sd:.2f}" if line.sd is not None else ""


def _pairs(summary: Summary) -> Iterator[Html]:
    if summary.verdicts:
        yield para("verdicts: " + ", ".join(f"{name} {count}" for name, count in summary.verdicts.most_common()))
    if summary.both:
        yield para(f"same verdict in both orders: {summary.consistent} of {summary.both}")
    if summary.corrections:
        yield para("corrections: " + ", ".join(f"{name} {n}" for name, n in summary.corrections.most_common()))


def _troubles(summary: Summary) -> Iterator[Html]:
    yield from (para(notice.line(summary.samples.total())) for notice in by_count(summary.notices))
    if summary.failures:
        rows = [(status, n, reason) for (status, reason), n in summary.failures.most_common()]
        yield table("samples that failed", ("status", "samples", "reason"), rows, NUMERIC)
    yield from (para(notice.line(summary.samples.total())) for notice in by_count(summary.unread)[:FIRST])
    for line in summary.lines.values():
        if bad := {status: n for status, n in (line.statuses - line.lost).items() if status != "ok"}:
            troubles = ", ".join(f"{n} {status}" for status, n in bad.items())
            yield para(f"{_named(line)} ({line.agent}, {line.stage}): {troubles}")


def _advice(summary: Summary) -> Iterator[Html]:
    if summary.suggestions:
        rows = [(name, kind, n, summary.wordings[kind, name]) for (kind, name), n in summary.suggestions.most_common()]
        head = ("criterion", "suggested as", "samples", "definition")
        yield fold(text(f"{len(rows)} suggestions of the critic"), table("suggestions", head, rows, NUMERIC))
    rows_ = [(note, n) for note, n in summary.notes.most_common() if note not in summary.noticed]
    if rows_:
        yield fold(text(f"{len(rows_)} notes"), table("notes", ("note", "samples"), rows_, NUMERIC))


def _cell(value: Any) -> object:
    return "" if value is None else f"{value:.2f}" if isinstance(value, float) else value
