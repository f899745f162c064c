"""Traces: the samples of a run in the order that says most of them, and one sample with all that was done for it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from judgegraph.answers import Role, answers_of, roles_of
from judgegraph.runs.item import Item, ending, overalls
from judgegraph.shown import draws
from judgegraph.traces.read import LOST, UNTRACED, FolderTrace, RankedSample, SampleTrace, firsts_of
from judgegraph.types import Rectification, Scale, Score, text_of
from judgegraph.views.blocks import columns, counted, duration, money, more, number_text
from judgegraph.views.notebook import Html, framed, para
from judgegraph.views.terminal import plain, screen, show
from judgegraph.views.trace import (
    MOST_SAMPLES,
    Look,
    bars,
    comparisons,
    cut,
    excerpt,
    heading,
    inert,
    likeliest,
    names,
    quoted,
    read_by,
    repeat_of,
    scores_html,
    step_html,
    tree_of,
    tree_text,
)

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
        return "the least score of A first", False
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
    ended = f" that ended with {status}, or have an answer that did" if status else ""
    if unfinished:
        console.print(plain(unfinished), style="yellow")
    if not rows:
        console.print(plain(f"no samples{ended}"))
        return
    if samples.lost:
        why = ", ".join(f"{n:,} {cause}" for cause, n in samples.lost.most_common())
        have = "has" if samples.lost.total() == 1 else "have"
        failed = f"{samples.lost.total():,} of {counted(count, 'sample')} failed or {have} no answer: {why}"
        console.print(plain(failed), style="red")
    order = "tokens" if samples.tokens else samples.order
    spare = tuple(name for name in SPARE if name != order)
    texts = ("status", "change", "verdict")
    show(
        [columns("", _columns(rows, order, console.width), texts=texts, names=2, most=len(rows), spare=spare)], console
    )
    title = f"{len(rows):,} of {counted(count, 'sample')}" if count > len(rows) else counted(count, "sample")
    more = "; --limit N lists more" if count > len(rows) else ""
    console.print(plain(f"\n{title}{ended}, {samples.about}{more}"), style="dim")
    if agents := list(dict.fromkeys(agent for one in rows for agent in one.by_agent or ())):
        title = f"the scores of each sample are those of {', '.join(agents)}, who answer side by side"
        console.print(plain(f"{title}; samples are ordered by the lowest"), style="dim")
    if untold:
        calls = counted(untold, "more call was", "more calls were")
        console.print(plain(f"{calls} paid for attempts that were cut off or not traced"), style="dim")
    opens = f"judgegraph trace {quoted(path)} --sample {quoted(rows[0].id)}"
    console.print(plain(opens), style="dim", soft_wrap=True)  # to be copied


def _columns(rows: Sequence[RankedSample], order: str, width: int) -> dict[str, list[str]]:
    """A column without any cell is left out; tokens stand there where they are what samples are ordered by."""
    priced = any(one.usd for one in rows)
    scale, reason = _one_scale(rows), REASON if width >= WIDE else REASON // 2
    return {
        " ": ["x" if one.cause else "" for one in rows],
        "sample": [cut(one.id, 200) for one in rows],
        "verdict": [one.verdict or "" for one in rows],
        f"score {scale}" if scale is not None else "score": [_score(one, scale) or one.cause for one in rows],
        "change": [cut(_why(one), reason) if one.cause else _change(one) for one in rows],
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
    return one.reason if one.value is None else f"{one.cause}: {one.reason}"


def _change(one: RankedSample) -> str:
    """Such as "Relevancy 4.48 -> 3.95"; "none" where a critic left all as it was."""
    if one.changed_criterion is None:
        return "none" if one.change is not None else ""
    return f"{cut(one.changed_criterion, 20)} {_answer(one.changed_from)} -> {_answer(one.changed_to)}"


def _answer(value: float | str | None) -> str:
    return cut(value, 12) if isinstance(value, str) else "" if value is None else number_text(value)


def _share(value: float | None) -> str:
    return "" if value is None else number_text(value)


# One sample's trace on a terminal: what was judged, its scores from draft to final, and what was done for it.


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
    console.print(plain(f"{item.id}: {ending(item)}{attempts}"), style="bold")
    if item.reason:
        console.print(Text(excerpt(item.reason, look)), style="red")
    console.print(Text(inert(signature)), style="dim")
    for part in PARTS:
        if value := getattr(item.sample, part):
            _print_message(console, part, text_of(value), look)
    for part, text in item.sample.shown_evidence().items():
        _print_message(console, part, text, look)
    if item.sample.human:
        console.print(Text(inert(f"people: {_human(item.sample.human)}")))
    console.print()
    _answers(console, item, look, criterion)
    console.print()
    if found.root is None:
        console.print(Text(WHY[found.untraced]), style="yellow")
    else:
        console.print(tree_of(found.root, look))


def print_sample_trace(found: FolderTrace, *, full: bool = False) -> None:
    """A journey of a folder without items."""
    console, look = _console(full)
    console.print(plain(f"{found.sample}: {found.root.status} (journey {found.number})"), style="bold")
    console.print(tree_of(found.root, look))


def _console(full: bool) -> tuple[Console, Look]:
    console = screen()
    return console, Look(full, plain=console.options.ascii_only)


def _print_message(console: Console, who: str, text: str, look: Look) -> None:
    line = Text(f"{who}: ", style="dim")
    line.append(excerpt(text, look), "default")
    console.print(line)


def _human(human: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} {'/'.join(map(_plain, value)) if isinstance(value, list) else _plain(value)}"
        for name, value in human.items()
    )


def _plain(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _answers(console: Console, item: Item, look: Look, criterion: str | None) -> None:
    """Scores, comparisons and what else was found."""
    print_scores(console, item, look, criterion)
    if criterion is not None:
        return
    show(comparisons(item), console)
    for name, value in (("overall", overalls(item)), ("verdict", item.verdict)):
        if value:
            console.print(Text(f"{name}: {value}"))
    for correction in item.corrections:
        _print_message(console, heading(correction), correction.text or correction.reason or correction.status, look)
    for advice in item.suggestions:
        what = "new criterion" if advice.kind == "criterion" else "definition to change"
        _print_message(console, f"{what} suggested, {inert(advice.criterion, 80)}", advice.definition, look)
    for note in item.notes:
        console.print(Text(inert(f"note: {note.agent}: {excerpt(note.text, look)}")), style="yellow")


# The scores of one sample: from draft to final, who said why, and how each was read.


LAST = ("answer", "draft", "vote", "aspect", "other", "member")
SHOWN_NAME = 26  # columns of a criterion's name at most


def print_scores(console: Console, item: Item, look: Look, criterion: str | None = None) -> None:
    """Answers with their drafts, then the votes and what else no answer stands for; members' own scores come last."""
    scores = {score.key: score for score in item.scores}
    roles, answers = roles_of(item), answers_of(item)
    own, linked = {score.key for score in answers}, {score.draft for score in item.scores}
    rest = [score for score in item.scores if score.key not in own and (score.key not in linked or score.draft)]
    listed = answers + sorted(rest, key=lambda score: LAST.index(roles[score.key]))
    rows = [(name, s) for name, s in zip(_names(item, listed), listed, strict=True) if criterion in (None, s.criterion)]
    shown = rows if look.full else rows[:MOST_SAMPLES]
    width = min(SHOWN_NAME, max((cell_len(inert(name)) for name, _ in shown), default=0))
    for name, score in shown:
        draft = scores.get(score.draft or "")
        console.print(_row(name, score, draft, width, look, roles[score.key]))
        for reason in _reasons(score, draft, _critics(score, scores, item), look):
            console.print(Padding(Text(reason), (0, 0, 0, 4), expand=False), style="dim")
    show(more(len(rows) - len(shown), "score; --full shows it", "scores; --full shows them"), console)


def _names(item: Item, listed: Sequence[Score]) -> list[str]:
    """Of a pair with the order that it was shown in, of other repeats with their number."""
    listed_names = names(listed)
    kinds = [(name, score.stage) for name, score in zip(listed_names, listed, strict=True)]
    paired = {one.agent for one in item.comparisons}  # their repeats are the orders
    return [
        name + (repeat_of(score, paired) if score.repeat or kinds.count(kind) > 1 else "")
        for name, kind, score in zip(listed_names, kinds, listed, strict=True)
    ]


def _row(name: str, score: Score, draft: Score | None, width: int, look: Look, role: Role) -> Text:
    """Name, answers, bars, how it was read."""
    row = Text(overflow="fold")
    shown = inert(name)
    shown = shown if cell_len(shown) <= width else shown[: width - 1] + look.dots[:1]
    row.append(shown + " " * max(0, width - cell_len(shown)), "bold")
    moved = draft is not None and draft.answer != score.answer
    before = f"{_score_answer(draft)} -> " if draft is not None and moved else ""
    row.append(f"  {before}{_score_answer(score)}", "yellow" if moved else "" if score.status == "ok" else "red")
    for reading in _reading(score, look, role):
        row.append(f"  {reading}")
    return row


def _reading(score: Score, look: Look, role: Role) -> Iterator[str]:
    if score.stage != "final" or role not in ("answer", "draft"):
        roles = dict.fromkeys((score.stage, *((role,) if role in ("vote", "member") else ())))
        yield f"({inert(', '.join(roles), 40)})"
    if score.distribution:
        drawn = bars(score.distribution, score.scale, plain=look.plain)
        if score.scale is not None and score.scale.low is not None:
            drawn = f"{score.scale.low:g}{drawn}{score.scale.high:g}"
        yield f"{drawn}  {inert(likeliest(score.distribution), 60)}"
    if score.reader and score.answer is not None:
        yield inert(read_by(score.reader), 60)
    if score.unseen is not None and score.unseen >= 0.005:
        yield f"{100 * score.unseen:.0f} % on no point"


def _critics(score: Score, scores: Mapping[str, Score], item: Item) -> list[Rectification]:
    """What was said of it by those whose scores it came of."""
    chain, one = {score.agent}, score
    while (draft := scores.get(one.draft or "")) is not None and draft.agent not in chain:
        chain.add(draft.agent)
        one = draft
    return [
        rectification
        for rectification in item.rectifications
        if rectification.criterion == score.criterion and rectification.agent in chain
    ]


def _reasons(score: Score, draft: Score | None, critics: Sequence[Rectification], look: Look) -> Iterator[str]:
    """Who said what: the critic beside whom it reviewed, each with its own failure."""
    seen = set[tuple[str, str]]()
    for one in _with_reasons(score, draft):
        if one.reason:
            seen.add((one.agent, one.reason))
            yield f"{inert(one.agent, 40)}: {excerpt(one.reason, look)}"
        if one.status != "ok" and one.raw:
            yield f"{inert(one.agent, 40)} answered: {excerpt(one.raw, look)}"
        for note in one.notes:
            yield f"{inert(one.agent, 40)}, note: {excerpt(note, look)}"
    for critic in critics:
        if critic.status != "ok" and (critic.agent, critic.reason) not in seen:
            yield f"{inert(critic.agent, 40)}, {critic.status}: {excerpt(critic.reason, look)}"


def _with_reasons(score: Score, draft: Score | None) -> tuple[Score, ...]:
    """Draft and final; of one that only repeats the other the draft, whose words they are."""
    if draft is None:
        return (score,)
    same = (draft.reason, draft.status, draft.answer) == (score.reason, score.status, score.answer)
    return (draft,) if same else (draft, score)


def _score_answer(score: Score) -> str:
    if score.value is not None:
        return number_text(score.value)
    return inert(score.label or score.status, 40)


# The same in a notebook.


@draws(SampleTrace, "text")
def trace_text(trace: SampleTrace) -> str:
    """The sample's tree; the first lines of each text."""
    head = inert(f"{trace.item.id}: {ending(trace.item)}", 300)
    return f"{head}\n{tree_text(trace.root) if trace.root else trace.untraced}"


@draws(SampleTrace)
def trace_html(trace: SampleTrace) -> Html:
    """The sample's answers, and behind clicks what was done for it."""
    item = trace.item
    heading = f"{item.id}: {item.status}" + (f" ({item.reason})" if item.reason else "")
    steps = step_html(trace.root) if trace.root else para(trace.untraced)
    held = {s.key: s for s in item.scores}
    return framed(para(heading), scores_html(answers_of(item) or item.scores, "scores", held), steps)


@draws(FolderTrace, "text")
def folder_trace_text(trace: FolderTrace) -> str:
    """The tree of a plain run of a graph; the first lines of each text."""
    return f"{inert(trace.sample, 200)}: {trace.root.status}\n{tree_text(trace.root)}"


@draws(FolderTrace)
def folder_trace_html(trace: FolderTrace) -> Html:
    """What was done in a plain run of a graph, behind clicks."""
    return framed(para(f"{trace.sample}: {trace.root.status}"), step_html(trace.root))
