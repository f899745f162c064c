"""Traces: the samples of a run in the order that says most of them, and one sample with all that was done for it."""

from __future__ import annotations

import io
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rich.console import Console

from judgegraph.errors import printable, status_text
from judgegraph.runs.item import ending
from judgegraph.shown import draws
from judgegraph.trace.record import Step
from judgegraph.traces.read import FolderTrace, RankedSample, SampleTrace, firsts_of
from judgegraph.types import Scale
from judgegraph.views.blocks import Block, Para, columns, counted, duration, in_line, money, number_text
from judgegraph.views.notebook import Html, lays_out, shown
from judgegraph.views.terminal import plain, put, screen, show
from judgegraph.views.trace import EVERYTHING, Detail, Views, quoted, view_of

SHOWN = 20
USUAL = ("change", "score", "failures", "place")  # where none is asked for, or the one that is says nothing
REASON, WIDE = 44, 100  # characters of why a sample has no answer, half of them below so many columns
WORDS = {
    "score": "the least score first", "change": "the most moved from their drafts first", "time": "the slowest first",
    "doubt": "the most in doubt first", "cost": "the dearest first", "failures": "most failures first",
    "place": "in the order of the data",
}  # fmt: skip


@dataclass(frozen=True)
class Listed:
    """Samples to be listed.

    Attributes:
        rows: the first of them. count: of all. order: what they are ordered by. about: the order in words, behind what
            was wrong with one that was to be taken. tokens: whether they are ordered by them.
        paid: calls of all of them, None where no spans were recorded. lost: how samples failed, or why they have no
            answer -> how many.
    """

    rows: list[RankedSample]
    count: int
    order: str
    about: str
    tokens: bool
    paid: int | None
    lost: Counter[str] = field(default_factory=Counter)


def listed(found: Iterable[RankedSample], by: str | None, limit: int | None, *, journeys: bool = False) -> Listed:
    """The first of them, in the order `by` if it says anything, else in the first of the usual ones that does.

    Args:
        limit: None: all. journeys: of a folder without items, which have no scores and stand as they ended.
    """
    count, paid, lost = 0, None, Counter[str]()

    def counted() -> Iterator[RankedSample]:
        nonlocal count, paid
        for one in found:
            count += 1
            lost.update([one.cause] if one.cause else [])
            paid = paid if one.paid is None else (paid or 0) + one.paid
            yield one

    orders = list(dict.fromkeys([*([by] if by else []), *(("place",) if journeys else USUAL)]))
    firsts = firsts_of(counted(), dict.fromkeys([*orders, "lost"], limit or sys.maxsize))
    why = ""
    for order in orders:
        rows = firsts[order]
        if not rows or not (silent := _silent(order, rows[0])):
            break
        needless = order == by or (not why and (order, rows[0].change) == ("change", 0))
        why += f"{silent}: " if needless else ""
    words, tokens = _words(order, rows, journeys)
    if lost and by is None and order != "failures" and not journeys:
        without = [one for one in firsts["lost"] if one.cause]
        rows = [*without, *(one for one in rows if not one.cause)][: limit or sys.maxsize]
        words = f"those that failed or have no answer first, then {words.removesuffix(' first')}"
    return Listed(rows, count, order, why + words, tokens, paid, lost)


def _silent(order: str, first: RankedSample) -> str:
    """Why nothing can be ordered so, by the first of all; "" where it can."""
    if order == "score":
        return "" if first.value is not None else "no score is a number that could be read"
    if order == "change":
        return "no score stands beside a draft" if first.change is None else "" if first.change else NOT_MOVED
    if order == "doubt":
        return "no score has a distribution" if first.doubt is None else "" if first.doubt else "no score is in doubt"
    if order == "cost":
        return (
            "no calls were recorded" if first.paid is None else "" if first.tokens or first.usd else "nothing was paid"
        )
    return "nothing failed" if order == "failures" and not (first.failures or first.cause) else ""


NOT_MOVED = "the critic moved nothing"


def _words(order: str, rows: Sequence[RankedSample], journeys: bool) -> tuple[str, bool]:
    """The order in words, and whether it is one by tokens."""
    if order == "cost" and rows and not rows[0].usd:
        free = any(one.paid and one.usd is not None for one in rows)
        return f"most tokens first: nothing {'cost money' if free else 'has a price'}", True
    if order == "score" and any(one.verdict for one in rows):
        return "the least mean score of both outputs first", False
    if order == "score" and any(one.thin for one in rows):
        return "the least score first, texts that give nothing to judge last", False
    return ("in the order of their ends" if journeys and order == "place" else WORDS[order]), False


# The samples of a run on a terminal, one a line, and how to open the first.


SPARE = ("paid/calls", "time", "tokens", "cost", "doubt", "score", "verdict")  # what goes first where it is narrow


def print_ranked_samples(
    path: str, samples: Listed, status: str | None = None, untold: int = 0, unfinished: str = ""
) -> None:  # fmt: skip
    """The table, and what it is of.

    `untold` calls were paid for beyond those of the spans; `unfinished` says how much of a run there is.
    """
    console = screen()
    rows, count = samples.rows, samples.count
    ended = f" that ended as {status_text(status)}, or have an answer that did" if status else ""
    if unfinished:
        put(console, unfinished, "yellow")
    if not rows:
        put(console, f"no samples{ended}")
        return
    if samples.lost:
        why = ", ".join(f"{n:,} {status_text(cause)}" for cause, n in samples.lost.most_common())
        have = "has" if samples.lost.total() == 1 else "have"
        failed = f"{samples.lost.total():,} of {counted(count, 'sample')} failed or {have} no answer: {why}"
        put(console, failed, "red")
    order = "tokens" if samples.tokens else samples.order
    spare = tuple(name for name in SPARE if name != order)
    texts = ("status", "change", "verdict")
    show(
        [columns("", _columns(rows, order, console.width), texts=texts, names=2, most=len(rows), spare=spare)], console
    )
    title = f"{len(rows):,} of {counted(count, 'sample')}" if count > len(rows) else counted(count, "sample")
    more = "; --limit N lists more" if count > len(rows) else ""
    put(console, f"\n{title}{ended}, {samples.about}{more}", "dim")
    if agents := list(dict.fromkeys(agent for one in rows for agent in one.by_agent or ())):
        title = f"the scores of each sample are those of {', '.join(agents)}, who answer side by side"
        put(console, f"{title}; samples are ordered by the lowest", "dim")
    if untold:
        calls = counted(untold, "more call was", "more calls were")
        put(console, f"{calls} paid for attempts that were cut off or not traced", "dim")
    opens = f"judgegraph trace {quoted(path)} --sample {quoted(rows[0].id)}"
    console.print(plain(opens), style="dim", soft_wrap=True)  # to be copied


def _columns(rows: Sequence[RankedSample], order: str, width: int) -> dict[str, list[str]]:
    """A column without any cell is left out; tokens stand there where they are what samples are ordered by."""
    priced = any(one.usd for one in rows)
    scale, reason = _one_scale(rows), REASON if width >= WIDE else REASON // 2
    scores = [_score(one, scale) or status_text(one.cause) for one in rows]
    return {
        " ": ["x" if one.cause else "" for one in rows],
        "sample": [in_line(one.id, 200) for one in rows],
        "verdict": [one.verdict or "" for one in rows],
        f"score {scale}" if scale is not None else "score": scores,
        "change": [in_line(_why(one), reason) if one.cause else _change(one) for one in rows],
        "doubt": [_share(one.doubt) for one in rows],
        "failures": [str(one.failures or "") for one in rows],
        "paid/calls": ["" if one.calls is None else f"{one.paid}/{one.calls}" for one in rows],
        "tokens": [f"{one.tokens:,}" if order == "tokens" and one.tokens is not None else "" for one in rows],
        "cost": [money(one.usd) if priced and one.usd is not None else "" for one in rows],
        "time": [duration(one.ms) for one in rows],
    }


def _one_scale(rows: Sequence[RankedSample]) -> Scale | None:
    """On which all scores are; None where they are on several: then a score is a share of its scale, 0 to 1."""
    scales = {one.scale for one in rows if one.value is not None}
    if len(scales) != 1 or "" in scales:
        return None
    scale = Scale.of(scales.pop())
    return scale if scale.low is not None and scale.high is not None else None


def _score(one: RankedSample, scale: Scale | None) -> str:
    shares = list(one.by_agent.values()) if one.by_agent else [one.value]
    low, high = (scale.low or 0.0, scale.high or 0.0) if scale is not None else (0.0, 1.0)
    return ", ".join(_share(None if share is None else low + share * (high - low)) for share in shares)


def _why(one: RankedSample) -> str:
    """Why it failed; the status stands with it where its place shows a score."""
    return one.reason if one.value is None else f"{status_text(one.cause)}: {one.reason}"


def _change(one: RankedSample) -> str:
    """Such as "Relevancy 4.48 -> 3.95"; "none" where a critic left all as it was."""
    if one.changed_criterion is None:
        return "none" if one.change is not None else ""
    return f"{in_line(one.changed_criterion, 20)} {_answer(one.changed_from)} -> {_answer(one.changed_to)}"


def _answer(value: float | str | None) -> str:
    return in_line(value, 12) if isinstance(value, str) else "" if value is None else number_text(value)


def _share(value: float | None) -> str:
    return "" if value is None else number_text(value)


# One sample with its trace, on a terminal and in a notebook.


SHORT = Detail(320, 320, 12, 400, lines=4)  # of a terminal without --full


def print_trace(found: SampleTrace, signature: str, *, criterion: str | None = None, full: bool = False) -> None:
    """All of it; everything judged is made inert first. Of `criterion` alone its scores are shown."""
    view = view_of(found.item, EVERYTHING if full else SHORT, "", trace=found, criterion=criterion)
    show([Para(f"{view.id}: {view.head}", "lead"), *view.blocks(), Para(signature, "fine", whole=True)])


def print_sample_trace(found: FolderTrace, *, full: bool = False) -> None:
    """A journey of a folder without items."""
    title = Para(f"{found.sample}: {status_text(found.root.status)} (journey {found.number})", "lead")
    show([title, Views(EVERYTHING if full else SHORT).of(found.root)])


def tree_text(step: Step, width: int = 100) -> str:
    """The step with all below it as plain text; the first lines of each text."""
    console = Console(
        file=io.StringIO(), width=width, color_system=None, highlight=False, force_terminal=False,
        force_jupyter=False,  # else rich would show it in a notebook, and there were no text
    )  # fmt: skip
    show([Views(SHORT).of(step)], console)
    return "\n".join(line.rstrip() for line in str(console.file.getvalue()).splitlines())  # type: ignore[attr-defined]


@draws(Step, "text")
def _step_text(step: Step) -> str:
    return tree_text(step)


@draws(Step)
def _step_html(step: Step) -> Html:
    return shown([Views(EVERYTHING).of(step)])


@draws(SampleTrace, "text")
def _trace_text(trace: SampleTrace) -> str:
    """The sample's tree; the first lines of each text."""
    head = printable(f"{trace.item.id}: {ending(trace.item)}"[:300])
    return f"{head}\n{tree_text(trace.root) if trace.root else trace.untraced}"


@lays_out(SampleTrace)
def _trace(trace: SampleTrace) -> Iterator[Block]:
    view = view_of(trace.item, EVERYTHING, "", trace=trace)
    yield Para(f"{view.id}: {view.head}", "lead")
    yield from view.blocks()


@draws(FolderTrace, "text")
def _folder_text(trace: FolderTrace) -> str:
    """The tree of a plain run of a graph; the first lines of each text."""
    return f"{printable(trace.sample[:200])}: {status_text(trace.root.status)}\n{tree_text(trace.root)}"


@lays_out(FolderTrace)
def _folder(trace: FolderTrace) -> Iterator[Block]:
    yield Para(f"{trace.sample}: {status_text(trace.root.status)}")
    yield Views(EVERYTHING).of(trace.root)
