"""Steps as folds in a notebook: what was done opens by clicks, without a script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from judgegraph.shown import draws
from judgegraph.trace.bars import bars, likeliest
from judgegraph.trace.html import Html, fold, framed, joined, para, table, text, verbatim
from judgegraph.trace.step import Step
from judgegraph.trace.tree import FINE, facts, flow, milliseconds, tree_text
from judgegraph.types import Score

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
        said = (answer(draft) if draft else "", answer(score), _bars(score), score.reader, score.reason)
        rows.append((_named(score), score.agent, score.stage, *said))
    kept = [i for i, name in enumerate(HEAD) if name != "draft" or any(row[i] for row in rows)]
    head, rows_ = [HEAD[i] for i in kept], [[row[i] for i in kept] for row in rows]
    return table(caption, head, rows_, numeric=("draft", "answer", "distribution")) if rows else Html("")


def answer(score: Score) -> str:
    """The value, the label, or how it failed."""
    return f"{score.value:.2f}" if score.value is not None else score.label or score.status


def _named(score: Score) -> str:
    return score.criterion + (" (rival)" if score.of == "rival" else "")


def _bars(score: Score) -> str:
    shares = score.distribution or {}
    return f"{bars(shares, score.scale)} {likeliest(shares, 1)}" if shares else ""


def _summary(step: Step) -> Html:
    status = [] if step.status == "ok" else [step.status]
    said = ", ".join([milliseconds(step.ms), *facts(step), *status])
    return Html(f"{text(step.kind)} <b>{text(step.name, 80)}</b> {text(said)}")


def _body(step: Step) -> Iterator[Html]:
    if step.about.get("error"):
        yield para(step.about["error"])
    said = list(flow(step))
    if said:
        yield joined(*map(para, said))
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
