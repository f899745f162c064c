"""A sample with its trace, laid out once: answers with their reasons, what was said and judged, and every step.

A terminal, a notebook, the page and the view draw it, each as much of it as a `Detail` allows.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judgegraph.answers import answers_of, roles_of, several
from judgegraph.errors import printable, status_text
from judgegraph.evidence import turn_text
from judgegraph.runs.item import FINE, Item, ending, rival_overall
from judgegraph.runs.run import OVERALL, TEXTS
from judgegraph.runs.summary import LowestScores, LowScore
from judgegraph.trace.record import LOST, UNTRACED, Step
from judgegraph.types import Comparison, Correction, Rectification, Score, text_of
from judgegraph.views.blocks import (
    Answers,
    Block,
    Cut,
    Facts,
    Fold,
    Grid,
    Para,
    Remarks,
    ScoreDistribution,
    ScoreRow,
    StepView,
    Texts,
    columns,
    count_text,
    counted,
    cut,
    duration,
    filled,
    in_line,
    in_words_of,
    money,
    number,
    number_text,
)

if TYPE_CHECKING:
    from judgegraph.runs.summary import Line
    from judgegraph.traces.read import SampleTrace


# How much is told of a sample.


@dataclass(frozen=True)
class Detail:
    """Attributes: text: characters of a judged text, a message or a reply. reason: of a reason. rows, steps: how many.

    traced, charts: whether its steps, and its distributions, are shown at all. lines: of a text at most, 0 for any.
    """

    text: int
    reason: int
    rows: int
    steps: int
    traced: bool = True
    charts: bool = True
    lines: int = 0


EVERYTHING = Detail(200_000, 20_000, 400, 2_000)  # nearly always all of it
BRIEF = Detail(0, 200, 12, 0, traced=False, charts=False)


# A sample's overall answer; of a pair each side's, as far as the second one's can be told.


def overalls(item: Item) -> Iterator[tuple[str, str]]:
    """(name, value); a run keeps that of the output alone, which of a pair is A's."""
    if item.overall is None:
        return
    if not item.comparisons:
        yield "overall", number(item.overall)
        return
    yield "overall of A (output)", number(item.overall)
    if (rival := rival_overall(item)) is not None:
        yield "overall of B (rival)", number(rival)


# How a score was come by, in words: its `reader` is a name for programs.


WORDS = {
    "logprobs": "weighted by token probabilities",
    "samples": "counted over several replies",
    "mean": "the mean of other scores",
    "text": "read from the words of the reply",
    "plain": "computed, not asked of a judge",
    "panel": "put together from a panel's answers",
    "random": "drawn at random",
}


def reading(score: Score) -> str:
    """Of a score that has a reader."""
    if score.reader == "stated":
        kind = "number" if score.value is not None else "label" if score.label is not None else "answer"
        return f"read from the reply's own {kind}"
    return WORDS.get(score.reader) or f"reader: {in_line(score.reader, 80)}"


# A score's distribution, drawn and in words.


POINTS = 12  # in words


def distribution_of(score: Score) -> ScoreDistribution:
    """The likeliest points in words, in the order of the scale."""
    shares = score.distribution or {}
    likeliest = set(sorted(shares, key=lambda point: -shares[point])[:POINTS])
    labels = score.scale.labels if score.scale is not None else ()
    order = [p for p in labels if p in likeliest] or sorted(likeliest, key=_number)
    words = ", ".join(f"{in_line(p, 40)}: {100 * shares[p]:.0f} %" for p in order if shares[p] >= 0.005)
    return ScoreDistribution(score.stage, shares, score.scale, score.answer, words)


def _number(point: str) -> tuple[float, str]:
    try:
        return float(point), point
    except ValueError:
        return float("inf"), point


# The scores of a sample, a row for each criterion: draft, final, why, and what people said.


SCORES_NAMED = 120  # characters of a criterion


def rows_of(item: Item, detail: Detail, criterion: str | None = None) -> tuple[list[ScoreRow], list[str]]:
    """The answers, each beside its draft, then what no answer stands for: votes, members' scores, aspects.

    Args:
        criterion: its scores alone; None: all.

    Returns:
        (as many rows as the detail allows, the names of all).
    """
    scores = {score.key: score for score in item.scores}
    finals = answers_of(item)
    own, linked = {s.key for s in finals}, {s.draft for s in item.scores}
    alone = [s for s in item.scores if s.key not in own and (s.key not in linked or s.draft is not None)]
    people = {name.casefold(): label for name, label in item.sample.human.items()}
    shown, turns = finals + alone, len(item.sample.turns)
    names = named(shown, item.comparisons)
    if criterion is not None:
        names = [name for name, score in zip(names, shown, strict=True) if score.criterion == criterion]
        shown = [score for score in shown if score.criterion == criterion]
    rows = [
        _row(name, score, scores.get(score.draft or ""), _critics(score, scores, item, finals), people, detail, turns)
        for name, score in zip(names[: detail.rows], shown, strict=False)
    ]
    return rows, names


def _critics(score: Score, scores: Mapping[str, Score], item: Item, answers: list[Score]) -> list[Rectification]:
    """What critics said of a score: who wrote it or the scores that it came of; of others, those with no final score.

    A panel's members leave the final score to who reconciles them; where a criterion has several final scores, nobody
    knows which of them such a member spoke of.
    """
    rectifications = [r for r in item.rectifications if r.criterion == score.criterion]
    if not rectifications:
        return []
    finals = {s.agent for s in answers if s.criterion == score.criterion}
    chain, one = {score.agent}, score
    while (draft := scores.get(one.draft or "")) is not None and draft.agent not in chain:
        chain.add(draft.agent)
        one = draft
    alone = score.agent in finals and len(finals) == 1
    return [r for r in rectifications if r.agent in chain or (alone and r.agent not in finals)]


def named(scores: list[Score], comparisons: Iterable[Comparison] = ()) -> list[str]:
    """A name for each score that tells it from the others; who compares in two orders repeats in the second one."""
    agents: dict[tuple[str, str], set[str]] = {}
    for s in scores:
        agents.setdefault((s.criterion, s.of), set()).add(s.agent)
    orders: dict[tuple[str, str], set[str]] = {}
    for c in comparisons:
        orders.setdefault((c.criterion, c.agent), set()).add(c.order)
    found = []
    for s in scores:
        more = ["rival"] if s.of == "rival" else []
        more += [s.agent] if len(agents[s.criterion, s.of]) > 1 else []
        more += [s.stage] if s.stage not in ("final", "draft") else []
        more += _repeat(s.repeat, orders.get((s.criterion, s.agent), set()))
        found.append(f"{s.criterion} ({', '.join(more)})" if more else s.criterion)
    return found


def _repeat(repeat: int, orders: set[str]) -> list[str]:
    """The order in which it was asked, where both were or the second alone; else its number, the first one's none."""
    if repeat < 2 and ("AB", "BA")[repeat] in orders and "BA" in orders:
        return [("AB", "BA")[repeat]]
    return [f"repeat {repeat + 1}"] if repeat else []


def _row(
    name: str, score: Score, draft: Score | None, critics: Iterable[Rectification], people: Mapping[str, object],
    detail: Detail, turns: int,
) -> ScoreRow:  # fmt: skip
    drawn = [s for s in (draft, score) if s is not None and s.distribution] if detail.charts else []
    if len(drawn) > 1 and drawn[0].distribution == drawn[1].distribution:
        del drawn[0]
    return ScoreRow(
        in_line(name, SCORES_NAMED), str(score.scale or ""), answer(draft) if draft else "", answer(score),
        moved(draft, score),
        is_unchanged(draft, score), tuple(_why(score, draft, critics, detail.reason)),
        tuple(map(distribution_of, drawn)),
        human_labels(people.get(score.criterion.casefold())), tuple(_score_facts(score)),
        step if (step := _step_number(score)) <= turns else 0, score.answer is None,
    )  # fmt: skip


_STEP = re.compile(r"step (\d{1,6})", re.I)


def _step_number(score: Score) -> int:
    """The number of the step that a score is of, or names; 0 for none."""
    found = _STEP.fullmatch(score.criterion) or _STEP.fullmatch(score.label or "")
    return int(found[1]) if found else 0


def _why(score: Score, draft: Score | None, critics: Iterable[Rectification], reason: int) -> Iterator[tuple[str, Cut]]:
    """Who says what, a critic's own words before what came of it; what was said already is not said again.

    A critic that failed always says so: its error may read like the draft's, and is another one.
    """
    failures = [(*_failed(draft), False)] if draft is not None else []
    failures += [(f"{r.agent} {_action(r, draft)}", r.reason, r.status != "ok") for r in critics]
    failures.insert(len(failures) if draft is not None else 0, (*_failed(score), False))
    failures += [(f"{s.agent} answered", s.raw, False) for s in (draft, score) if s and s.status != "ok" and s.raw]
    seen: set[str] = set()
    for who, text, always in failures:
        if text and (always or text not in seen):
            seen.add(text)
            yield who, cut(text, reason)


def _failed(score: Score) -> tuple[str, str]:
    """Who scored, with the status where there is no score, and its reason."""
    return score.agent if score.status == "ok" else f"{score.agent} {status_text(score.status)}", score.reason


def _action(change: Rectification, draft: Score | None) -> str:
    to = change.label or number(change.value)
    if change.status != "ok":
        return status_text(change.status)
    if change.action == "keep":
        return "keeps it" if draft is None or draft.answer is not None else "had no draft to keep"
    return f"changes it{f' {change.direction}' if change.direction != 'none' else ''}{f' to {to}' if to else ''}"


def answer(score: Score) -> str:
    """The value, the label, or how it ended instead."""
    if score.value is not None:
        return f"{score.value:.2f}" if score.value % 1 else f"{score.value:.0f}"
    return score.label or status_text(score.status)


def moved(draft: Score | None, score: Score) -> str:
    """Which way the score went from its draft."""
    if draft is None or draft.answer is None or score.answer is None or draft.answer == score.answer:
        return ""
    if draft.value is None or score.value is None:
        return "changed"
    return "up" if score.value > draft.value else "down"


def is_unchanged(draft: Score | None, score: Score) -> bool:
    """Whether a draft that could be read stood: where neither could be, nothing was kept."""
    return draft is not None and draft.answer is not None and draft.answer == score.answer


def human_labels(human: object) -> str:
    """A label of people, or all of several."""
    values = human if isinstance(human, list) else [] if human is None else [human]
    return ", ".join(f"{round(v, 2):g}" if isinstance(v, int | float) else str(v) for v in values[:20])


def _score_facts(score: Score) -> Iterator[str]:
    if score.reader and score.status == "ok":
        yield reading(score)
    if score.unseen and score.unseen >= 0.005:
        yield f"{100 * score.unseen:.0f} % of the probability on no point of the scale"
    yield from score.notes[:4]


# The steps of a sample's trace.


LISTED_PARTS = 12  # keys of a state, or scores
FEW = 8  # steps below one that stands open
BEHIND = ("started", "place", "class", "address", "scores")  # what a short form leaves out
SOURCES = {"ledger": "from the ledger", "joined": "shared with another call"}


class Views:
    """Makes views of steps, at most as many as the detail allows."""

    def __init__(self, detail: Detail) -> None:
        self._detail, self._room = detail, detail.steps

    def of(self, step: Step) -> StepView:
        """A step with those below it, as far as there is room: the first ones of all."""
        self._room -= 1
        below: list[StepView] = []
        for one in step.steps:
            if self._room <= 0:
                break
            below.append(self.of(one))
        left = sum(1 for one in step.steps[len(below) :] for _ in one.walk())
        error = step.about.get("error")
        return StepView(
            step.kind, in_line(step.name, NAMED), duration(step.ms), step.status, tuple(_step_facts(step)),
            tuple(_about(step, BEHIND if self._detail.lines else ())),
            in_words_of(str(error), self._detail.reason) if error else "", tuple(self._texts(step)), tuple(below), left,
            opened=0 < len(below) <= FEW,
        )  # fmt: skip

    def _cut(self, text: str) -> Cut:
        return cut(text, self._detail.text, self._detail.lines)

    def _texts(self, step: Step) -> Iterator[tuple[str, Cut]]:
        for role, text in step.messages:
            yield f"asked ({in_line(role, NAMED)})", self._cut(text)
        many = len(step.replies) > 1
        for i, text in enumerate(step.replies[: self._detail.rows]):
            if thought := step.thought(i):
                yield f"thought {i + 1}" if many else "thought", self._cut(thought)
            yield f"reply {i + 1}" if many else "reply", self._cut(text)


def _step_facts(step: Step) -> Iterator[str]:
    about = step.about
    if step.kind == "model":
        yield from _call(about)
    elif step.kind == "tool" and about.get("value") is not None:
        value = about["value"]
        yield f"gave {in_line(_given(value) if isinstance(value, int | float) else str(value), NAMED)}"
    elif step.kind in ("node", "graph"):
        calls = [one for one in step.walk() if one.kind == "model"]
        if calls:
            yield counted(len(calls), "model call")
    if step.kind == "agent" and step.scores:
        yield counted(len(step.scores), "score")


def _call(about: Mapping[str, Any]) -> Iterator[str]:
    if source := about.get("from"):
        yield SOURCES.get(source, str(source))
    asked, completion = about.get("prompt_tokens"), about.get("completion_tokens")
    if asked or completion:
        yield f"{count_text(asked)} + {count_text(completion)} tokens"
        yield money(about.get("usd"))
    retries = (about.get("requests") or 1) - 1
    if retries > 0:
        yield counted(retries, "retry", "retries")


def _about(step: Step, left_out: Collection[str]) -> Iterator[tuple[str, str]]:
    about = step.about
    if "started" not in left_out:
        yield "started", f"{duration(step.start)} after the sample did"
    for key in ("place", "class", "judge", "prompt", "form", "reader", "repeat", "address"):
        if key in left_out:
            continue
        value = about.get(key)
        known = value == step.name or (key == "place" and "/" not in str(value))
        if value not in (None, "", 0) and not known:
            yield key, in_line(str(value), 200)
    if isinstance(about.get("n"), int) and about["n"] > 1:
        yield "choices asked for", str(about["n"])
    if step.kind == "node":
        yield from ((key, _keys(about.get(key))) for key in ("reads", "writes") if about.get(key))
    told = "scores" in left_out or (step.kind == "node" and step.steps)  # by its agent
    if step.kind in ("node", "agent") and step.scores and not told:
        shown = [f"{in_line(s.criterion, 60)} {answer(s)}" for s in step.scores[:LISTED_PARTS]]
        yield "scores", ", ".join(shown) + _more(len(step.scores))


def _keys(values: Any) -> str:
    if not isinstance(values, Mapping):
        return ""
    return ", ".join(f"{key}{_size(value)}" for key, value in list(values.items())[:LISTED_PARTS]) + _more(len(values))


def _size(value: Any) -> str:
    if isinstance(value, list):
        return f" ({len(value)})"
    return f" ({value:g})" if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _more(count: int) -> str:
    return f" and {count - LISTED_PARTS} more" if count > LISTED_PARTS else ""


# A sample.


NAMED = 80  # characters of an id in a heading
VERDICTS = {"A": "A is better (output)", "B": "B is better (rival)", "tie": "tie"}


@dataclass(frozen=True)
class SampleView:
    """A sample as it is laid out.

    Attributes:
        head: what came of it. why: what makes it stand in its list.
        facts: (name, value): verdict, overall, time. rows: its scores; `left` of them are not shown.
        remarks: (who, text): comparisons, corrections, findings, notes, what failed. texts: what was judged.
        people: what people said of what no score is of. root: its steps, and `untraced` why there are none.
        command: prints the whole trace. pair: of a pair, its verdicts: a row per criterion, a column per order.
        turns: the steps of a run, so that scores can link to them.
    """

    id: str
    place: int
    status: str
    head: str
    why: str
    facts: tuple[tuple[str, str], ...]
    rows: tuple[ScoreRow, ...]
    left: int
    remarks: tuple[tuple[str, Cut], ...]
    texts: tuple[tuple[str, Cut], ...]
    people: tuple[tuple[str, str], ...]
    root: StepView | None
    untraced: str
    attempts: int
    command: str
    pair: Grid | None = None
    turns: tuple[Cut, ...] = ()

    def blocks(self) -> Iterator[Block]:
        """All of it below its heading, what came of it first."""
        yield self.about()
        yield from self.judged()
        if self.texts:
            yield Fold("What was judged", (self.written(),), "texts")
        yield self.trace()

    def about(self) -> Facts:
        """The facts, and what people said of what no score is of."""
        return Facts((*self.facts, *((f"people: {name}", value) for name, value in self.people)))

    def judged(self) -> Iterator[Block]:
        """Verdicts, scores with their reasons, and what else was said."""
        if self.pair is not None:
            yield self.pair
        if self.rows or self.left:
            yield Answers(self.rows, self.left)
        if self.remarks:
            yield Remarks(self.remarks)

    def written(self) -> Texts:
        """What was judged; the steps of a run apart."""
        return Texts(
            tuple((name, self.turns if name == "turns" and self.turns else (text,)) for name, text in self.texts)
        )

    def trace(self) -> Block:
        """Every step, or why there is none."""
        if self.root is None:
            return Para(self.untraced, "fine")
        again = f"The sample was taken up {self.attempts} times; this is the attempt that stands."
        first = (Para(again, "fine"),) if self.attempts > 1 else ()
        return Fold("Trace: every step, with what was asked and replied", (*first, self.root), "trace")


def view_of(
    item: Item, detail: Detail, run: str, why: str = "", trace: SampleTrace | None = None, criterion: str | None = None,
) -> SampleView:  # fmt: skip
    """A sample at a level of detail; `run` is the folder as the command names it.

    Args:
        why: what makes it stand in its list. criterion: its scores and nothing else that was said; None: all.
    """
    root = trace.root if trace is not None and detail.traced else None
    rows, names = rows_of(item, detail, criterion)
    known = {in_line(name, SCORES_NAMED).casefold() for name in names} | {s.criterion.casefold() for s in item.scores}
    people = tuple(
        (in_line(k, NAMED), human_labels(v)) for k, v in item.sample.human.items() if k.casefold() not in known
    )
    whole = criterion is None
    return SampleView(
        in_line(item.id, NAMED), item.place, item.status, head_of(item), why, tuple(_facts(item)),
        tuple(rows), max(0, len(names) - detail.rows), tuple(_remarks(item, detail)) if whole else (),
        tuple(_texts(item, detail)), people[: detail.rows],
        Views(detail).of(root) if root is not None else None,
        WHY.get(trace.untraced, UNSEEN) if trace is not None else UNSEEN,
        trace.attempts if trace is not None else 0,
        command(run, item.id), pair_table(item, detail.rows) if whole else None, tuple(_turns(item, detail)),
    )  # fmt: skip


UNSEEN = "Its trace is not shown here."
WHY = {
    UNTRACED: "No spans were recorded (run --no-trace, or a run in memory); here is what its item says.",
    LOST: "The last attempt was not recorded (run --no-trace); here is what its item says.",
}


def _turns(item: Item, detail: Detail) -> Iterator[Cut]:
    """Steps until the room for a text is used up."""
    left = detail.text
    for at, turn in enumerate(item.sample.turns, 1):
        if left <= 0:
            return
        shown = cut(turn_text(at, turn), left)
        left -= len(shown.text)
        yield shown


ORDERS = {"AB": "A first", "BA": "B first", "both": "both orders"}


def pair_table(item: Item, most: int, why: bool = False) -> Grid | None:
    """Of a pair the verdicts of its criteria in each order, with the scores of A and of B; None of what is no pair.

    Args:
        why: with a reason for each criterion: of both orders together, else of the first that has one.
    """
    if not item.comparisons:
        return None
    orders = [order for order in ORDERS if any(one.order == order for one in item.comparisons)]
    several = len({one.agent for one in item.comparisons if one.criterion != OVERALL}) > 1
    found: dict[str, dict[str, str]] = {}
    reasons: dict[str, dict[str, str]] = {}
    for one in item.comparisons:
        name = f"{one.criterion}, {one.agent}" if several and one.criterion != OVERALL else one.criterion
        sums = f" ({number(one.score_a)} : {number(one.score_b)})" if None not in (one.score_a, one.score_b) else ""
        found.setdefault(in_line(name, NAMED), {})[one.order] = f"{one.verdict or status_text(one.status)}{sums}"
        reasons.setdefault(in_line(name, NAMED), {})[one.order] = in_words_of(one.reason, BRIEF.reason)
    rows = [(name, *(cells.get(order, "") for order in orders)) for name, cells in [*found.items()][:most]]
    more = f", the first {most} of {len(found)}" if len(found) > most else ""
    caption = f"Who is better, with the scores of A (output) and B (rival){more}"
    head = ("criterion", *(ORDERS[order] for order in orders))
    if not why:
        return Grid(caption, head, tuple(rows))
    first = [next((said for order in ("both", "AB", "BA") if (said := reasons[row[0]].get(order))), "") for row in rows]
    return filled(caption, (*head, "why"), [(*row, said) for row, said in zip(rows, first, strict=True)], frozenset())


def head_of(item: Item) -> str:
    """What came of it, in a few words."""
    if item.status != "ok":
        return status_text(item.status)
    if item.verdict is not None:
        return {"A": "A is better", "B": "B is better", "tie": "tie"}[item.verdict]
    if item.overall is not None:
        return f"overall {number(item.overall)}"
    finals = answers_of(item) or list(item.scores)
    if all(s.answer is None for s in finals) and any(s.status not in FINE for s in finals):
        return _unread(item)
    if agents := several(finals):
        return f"{len(agents)} agents answer side by side"
    values = [s.value for s in finals if s.value is not None]
    scales = {s.scale.unit if s.scale else "" for s in finals if s.value is not None}
    if values and len(scales) == 1:  # of labels beside numbers, the numbers
        mean = f"mean {number_text(sum(values) / len(values))}" if len(values) > 1 else number(values[0])
        scale = scales.pop()
        return mean if not scale else f"{mean} on {in_line(scale, NAMED)}"
    read = sum(s.answer is not None for s in finals)
    if read < len(finals):
        return f"{read:,} of {counted(len(finals), 'score')} could be read"
    return counted(len(finals), "score") if finals else "nothing judged"


def _unread(item: Item) -> str:
    """Of a sample whose graph came to its end, but without a score: drafts that could be read are said to be drafts."""
    answers, roles = answers_of(item), roles_of(item)
    drafts = sum(roles[s.key] == "draft" and s.status == "ok" for s in item.scores)
    final = "final score" if any(s.stage == "final" for s in answers) else "score"
    return f"no {final} could be read" + (f", {counted(drafts, 'draft')} could" if drafts else "")


def _facts(item: Item) -> Iterator[tuple[str, str]]:
    if (ended := ending(item)) != "ok":
        yield "ended", ended
    yield "in the data", f"number {item.place + 1:,}"
    yield "time", duration(item.ms)
    yield from overalls(item)
    if item.verdict is not None:
        yield "verdict", VERDICTS[item.verdict]


def _remarks(item: Item, detail: Detail) -> Iterator[tuple[str, Cut]]:
    """Everything but scores that was said, in the order of its weight."""
    found: list[tuple[str, str]] = [(status_text(item.status), item.reason)] if item.reason else []
    found += [(_compared(c), c.reason) for c in item.comparisons]
    found += [(_corrected(c), c.text or c.reason) for c in item.corrections]
    found += [
        (f"{s.agent or 'critic'} suggests {ADVICE[s.kind]}: {s.criterion}", s.definition) for s in item.suggestions
    ]
    found += [(f"{f.assistant} gave {_given(f.value) or status_text(f.status)}", f.reason) for f in item.findings]
    found += [(f"plan ({status_text(item.plan.status)})", item.plan.text)] if item.plan is not None else []
    found += [(f"note of {n.agent}", n.text) for n in item.notes]
    for who, text in found[: detail.rows]:
        yield in_line(who, 200), cut(text, detail.reason)
    if len(found) > detail.rows:
        yield f"and {len(found) - detail.rows} more", Cut("")


ADVICE = {"criterion": "a new criterion", "definition": "another definition"}


def _corrected(c: Correction) -> str:
    """What stands before a correction's text, or before why there is none."""
    if c.changed:
        return f"corrected {c.of}" + (f" by {c.agent}" if c.agent else "")
    return f"{c.of} not corrected" + ("" if c.outcome == "unchanged" else f" ({status_text(c.status)})")


def _compared(c: Comparison) -> str:
    sums = f" {number(c.score_a)} : {number(c.score_b)}" if c.score_a is not None and c.score_b is not None else ""
    # what a judge wrote has the letters that it was shown; what joins criteria counts in the letters of the sample
    exchanged = ", whose words call B what is A here" if c.order == "BA" and c.criterion != OVERALL else ""
    return f"{c.criterion}, {c.agent}, order {c.order}{exchanged}: {c.verdict or status_text(c.status)}{sums}"


def _given(value: float | str | None) -> str:
    return number(value, 4) if isinstance(value, int | float) else value or ""


def _texts(item: Item, detail: Detail) -> Iterator[tuple[str, Cut]]:
    for name in TEXTS:
        value = getattr(item.sample, name)
        if value not in (None, "") and detail.text:
            yield name, cut(text_of(value), detail.text, detail.lines)
    if detail.text:
        for name, text in item.sample.shown_evidence().items():
            yield name, cut(text, detail.text, detail.lines)


# One sample in a few lines, as the end of a run shows it, and what rows of scores are called.


def telling(items: Iterable[Item]) -> tuple[Item, str] | None:
    """The sample that the critic moved most, else the one with the lowest score, else the first; and which it is."""

    def moved(item: Item) -> float:
        values = {s.key: s.value for s in item.scores if s.value is not None}
        finals = [s for s in answers_of(item) if s.value is not None]
        return max((abs(values[s.key] - values[s.draft]) for s in finals if s.draft in values), default=0.0)

    many, found, lowest = 0, None, LowestScores()
    for item in items:  # as they ended: of those alike the first of the data
        lowest.add(item)
        if item.status == "ok":
            many += 1
            if found is None or (moved(item), -item.place) > (found[0], -found[1].place):
                found = moved(item), item
    if found is None:
        return None
    if found[0] or many == 1:
        return found[1], "moved most" if many > 1 else ""
    if low := lowest.found():
        item, why = low[0].item, lowest_in_words(lowest.left_out)
        pair = item.comparisons or item.verdict is not None  # what is told of another begins with its mean
        return item, f"{why}: {mean_in_words(low[0])}" if pair else why
    return found[1], "the first sample"


def lowest_in_words(left_out: str) -> str:
    """Such as "the lowest score but for 1 row without a rival"."""
    return f"the lowest score{left_out and f' but for {left_out}'}"


def mean_in_words(low: LowScore) -> str:
    """In the units of its scale, such as "mean 2.61 on 1-5"; as a share where its answers have several."""
    scale, sides = low.scale, ", both outputs" if low.item.comparisons or low.item.verdict is not None else ""
    if scale is None or scale.low is None or scale.high is None:
        return f"mean {number_text(low.value)} of 1, on several scales{sides}"
    return f"mean {number_text(scale.low + low.value * (scale.high - scale.low))} on {scale.unit}{sides}"


def brief(item: Item, why: str = "") -> Iterator[Block]:
    """What came of it, its query, and a row for each answer, or for each criterion of a pair, with the first reason."""
    view = view_of(item, BRIEF, "", why)
    yield Para(f"{view.id}{why and f' ({why})'}: {view.head}", "title")
    if item.sample.query:
        yield Para(f"  {in_line(item.sample.query, 200)}", "fine")
    if (pair := pair_table(item, BRIEF.rows, why=True)) is not None:
        yield pair
    elif view.rows:
        yield columns("", {
            "criterion": [row.name for row in view.rows],
            "score": [f"{row.draft} -> {row.final}" if row.moved else row.final for row in view.rows],
            "why": [_first_reason(row) for row in view.rows],
        }, texts=("why",), most=BRIEF.rows, rest=("score", "scores"), more=view.left)  # fmt: skip
    if item.corrections:
        yield Remarks(tuple((_corrected(c), cut(c.text or c.reason, 300)) for c in item.corrections))


def _first_reason(row: ScoreRow) -> str:
    """The critic's where it moved the score, else the first."""
    if not row.why:
        return ""
    _, text = row.why[-1 if row.moved else 0]
    return in_words_of(text.text, BRIEF.reason)


def row_names(lines: Sequence[Line]) -> list[str]:
    """What each row is called: its criterion, the side of a pair, and the agent where several judged the same."""
    agents: dict[tuple[str, ...], set[str]] = {}
    for x in lines:
        agents.setdefault((x.criterion, x.stage, x.of), set()).add(x.agent)
    return [
        x.criterion
        + (" (rival)" if x.of == "rival" else "")
        + (f" ({x.agent})" if len(agents[x.criterion, x.stage, x.of]) > 1 else "")
        for x in lines
    ]


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
