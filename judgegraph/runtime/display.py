"""A run, its summary, its scores, its plan and its traces as a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from judgegraph.answers import answers_of
from judgegraph.runtime.folder_traces import FolderTrace
from judgegraph.runtime.forecast import Forecast, NodePlan
from judgegraph.runtime.item import Item
from judgegraph.runtime.line import Line
from judgegraph.runtime.notices import by_count
from judgegraph.runtime.outcome import ending
from judgegraph.runtime.run import Run
from judgegraph.runtime.summary import Summary, headlines
from judgegraph.runtime.table import Table
from judgegraph.runtime.traces import SampleTrace
from judgegraph.shown import draws
from judgegraph.trace.html import Html, fold, framed, joined, para, table, text
from judgegraph.trace.step_html import scores_html, step_html
from judgegraph.trace.tree import inert, tree_text
from judgegraph.types import Score

FIRST = 10  # rows of a table of scores
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
def table_html(told: Table) -> str:
    """The first rows, and how many there are."""
    count, shown = len(told), [name for name in told.columns if name not in UNSHOWN]
    caption = f"{count:,} {told.what}s" + (f", the first {FIRST}" if count > FIRST else "")
    rows = [[_cell(row.get(name)) for name in shown] for row in told.rows[:FIRST]]
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
    said = f"{item.id}: {item.status}" + (f" ({item.reason})" if item.reason else "")
    steps = step_html(trace.root) if trace.root else para(trace.untraced)
    return framed(para(said), scores_html(_told(item), "scores", {s.key: s for s in item.scores}), steps)


@draws(FolderTrace, "text")
def folder_trace_text(trace: FolderTrace) -> str:
    """The tree of a plain run of a graph; the first lines of each text."""
    return f"{inert(trace.sample, 200)}: {trace.root.status}\n{tree_text(trace.root)}"


@draws(FolderTrace)
def folder_trace_html(trace: FolderTrace) -> str:
    """What was done in a plain run of a graph, behind clicks."""
    return framed(para(f"{trace.sample}: {trace.root.status}"), step_html(trace.root))


@draws(Forecast)
def forecast_html(plan: Forecast) -> str:
    """Calls and money per node: certain ones, more where every reply can be read, and at worst."""
    head = ("node", "exact", "more", "at worst", "in ledger", *(("USD",) if plan.total.cost.highest.usd else ()))
    rows = [_planned(node)[: len(head)] for node in (*plan.nodes, plan.total)]
    basis = fold(text("what this rests on"), *map(para, plan.basis))
    trouble = [para(f"no figure for what comes behind: {mishap}") for mishap in plan.mishaps]
    return framed(table(f"plan for {plan.samples:,} samples", head, rows, NUMERIC), *trouble, basis)


def _planned(node: NodePlan) -> Sequence[str]:
    low, middle, high = node.rest
    paid = (node.cost.lowest.usd, node.cost.middle.usd)
    return (
        node.node, f"{node.exact:,}", f"{low:,}–{middle:,}" if low != middle else f"{low:,}",
        f"{high:,}", f"{node.kept:,}", f"{paid[0]:.4f}–{paid[1]:.4f}",
    )  # fmt: skip


def _told(item: Item) -> Iterator[Score]:
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
                _moves(x),
            )
        )
    kept = [i for i, name in enumerate(HEAD) if name not in ("draft", "critic") or any(row[i] for row in rows)]
    return table(caption, [HEAD[i] for i in kept], [[row[i] for i in kept] for row in rows], NUMERIC)


def _members(summary: Summary) -> Iterator[Html]:
    head, rows = members(summary)
    if rows:
        yield fold(text(f"{len(head) - 1} members"), table("scores by the members", head, rows, frozenset(head[1:])))


def members(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """Criterion x judge: what answers were combined from, (heading, rows); the last column is the answer's."""
    votes = summary.votes
    judges = list(dict.fromkeys(line.agent for line in votes))
    places = dict.fromkeys((line.criterion, line.of) for line in votes)
    met = {(line.criterion, line.of, line.agent): line for line in votes}
    rows = []
    for criterion, of in places:
        cells = [met.get((criterion, of, judge)) for judge in judges]
        answers = [x for x in summary.answers.values() if (x.criterion, x.of) == (criterion, of)]
        name = criterion + (" (rival)" if of == "rival" else "")
        rows.append([name, *(mean_text(x) if x else "" for x in cells), ", ".join(map(mean_text, answers))])
    return ["criterion", *judges, "answer"], rows


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


def mean_text(line: Line) -> str:
    """Of labels the most frequent; with what the missing ones could make of the mean."""
    if line.labels:
        ((label, count),) = line.labels.most_common(1)
        return f"{label} ({count})"
    if line.mean is None:
        return "-"
    missing = line.n > line.values and line.bounds
    return f"{line.mean:.2f}" + (f" [{missing[0]:.2f}, {missing[1]:.2f}]" if missing else "")


def draft_text(line: Line, draft: Line) -> str:
    """Of the drafts beside final scores; where these are not all, it says how many they are."""
    if draft.labels or draft.mean is None or line.paired == line.values == draft.values:
        return mean_text(draft)
    mean, n = (line.before, line.paired) if line.paired else (draft.mean, draft.values)
    return f"{mean:.2f} (n {n})"


def _moves(line: Line) -> str:
    other = line.changed - line.down - line.up
    said = [f"{n} {way}" for n, way in ((line.down, "down"), (line.up, "up"), (other, "changed")) if n]
    return ", ".join(said) or (
        "kept all" if line.reviewed == line.n else f"kept {line.reviewed}" if line.reviewed else ""
    )


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
    for line in summary.lines.values():
        if bad := {status: n for status, n in (line.statuses - line.lost).items() if status != "ok"}:
            said = ", ".join(f"{n} {status}" for status, n in bad.items())
            yield para(f"{_named(line)} ({line.agent}, {line.stage}): {said}")


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
