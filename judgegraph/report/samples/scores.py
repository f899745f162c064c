"""The scores of a sample, a row for each criterion: draft, final, why, and what people said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from judgegraph.answers import answers_of
from judgegraph.report.amounts import number
from judgegraph.report.samples.detail import Detail
from judgegraph.report.samples.readings import reading
from judgegraph.report.samples.spreads import Spread, spread_of
from judgegraph.report.visible import Cut, cut, line
from judgegraph.runtime.item import Item
from judgegraph.types import Comparison, Rectification, Score

NAMED = 120  # characters of a criterion


@dataclass(frozen=True)
class ScoreRow:
    """A criterion's score, with the draft that it rectifies where there is one.

    Attributes:
        name: the criterion, with the side of a pair and the agent where several judged it. scale: "1-5".
        draft, final: the answer as text. moved: "up", "down", "changed" or "". kept: a draft that was read stood.
        why: (who, reason) of each that gave one. spreads: distributions. human: what people said.
        facts: how it was read, and what else is worth knowing.
    """

    name: str
    scale: str
    draft: str
    final: str
    moved: str
    kept: bool
    why: tuple[tuple[str, Cut], ...]
    spreads: tuple[Spread, ...]
    human: str
    facts: tuple[str, ...]


def rows_of(item: Item, detail: Detail) -> list[ScoreRow]:
    """The answers, each beside its draft, then what no answer stands for: votes, members' scores, aspects."""
    scores = {score.key: score for score in item.scores}
    finals = answers_of(item)
    own, linked = {s.key for s in finals}, {s.draft for s in item.scores}
    alone = [s for s in item.scores if s.key not in own and (s.key not in linked or s.draft is not None)]
    people = {name.casefold(): label for name, label in item.sample.human.items()}
    shown = finals + alone
    names = named(shown, item.comparisons)
    return [
        _row(name, score, scores.get(score.draft or ""), _critics(score, scores, item), people, detail)
        for name, score in zip(names, shown, strict=True)
    ]


def _critics(score: Score, scores: Mapping[str, Score], item: Item) -> list[Rectification]:
    """What critics said of a score: who wrote it or the scores that it came of; of others, those with no final score.

    A panel's members leave the final score to who reconciles them; where a criterion has several final scores, nobody
    knows which of them such a member spoke of.
    """
    finals = {s.agent for s in answers_of(item) if s.criterion == score.criterion}
    chain, one = {score.agent}, score
    while (draft := scores.get(one.draft or "")) is not None and draft.agent not in chain:
        chain.add(draft.agent)
        one = draft
    alone = score.agent in finals and len(finals) == 1
    said = [r for r in item.rectifications if r.criterion == score.criterion]
    return [r for r in said if r.agent in chain or (alone and r.agent not in finals)]


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
    detail: Detail,
) -> ScoreRow:  # fmt: skip
    drawn = [s for s in (draft, score) if s is not None and s.distribution] if detail.charts else []
    if len(drawn) > 1 and drawn[0].distribution == drawn[1].distribution:
        del drawn[0]
    return ScoreRow(
        line(name, NAMED), str(score.scale or ""), answer(draft) if draft else "", answer(score), moved(draft, score),
        kept(draft, score), tuple(_why(score, draft, critics, detail.reason)), tuple(map(spread_of, drawn)),
        told(people.get(score.criterion.casefold())), tuple(_facts(score)),
    )  # fmt: skip


def _why(score: Score, draft: Score | None, critics: Iterable[Rectification], reason: int) -> Iterator[tuple[str, Cut]]:
    """Who says what, a critic's own words before what came of it; what was said already is not said again.

    A critic that failed always says so: its error may read like the draft's, and is another one.
    """
    heard = [(*_failed(draft), False)] if draft is not None else []
    heard += [(f"{r.agent} {_action(r, draft)}", r.reason, r.status != "ok") for r in critics]
    heard.insert(len(heard) if draft is not None else 0, (*_failed(score), False))
    said: set[str] = set()
    for who, text, always in heard:
        if text and (always or text not in said):
            said.add(text)
            yield who, cut(text, reason)


def _failed(score: Score) -> tuple[str, str]:
    """Who scored, with the status where there is no score, and its reason."""
    return score.agent if score.status == "ok" else f"{score.agent} {_status(score.status)}", score.reason


def _status(status: str) -> str:
    return status.replace("_", " ")


def _action(said: Rectification, draft: Score | None) -> str:
    to = said.label or number(said.value)
    if said.status != "ok":
        return _status(said.status)
    if said.action == "keep":
        return "keeps it" if draft is None or draft.answer is not None else "had no draft to keep"
    return f"changes it{f' {said.direction}' if said.direction != 'none' else ''}{f' to {to}' if to else ''}"


def answer(score: Score) -> str:
    """The value, the label, or how it ended instead."""
    if score.value is not None:
        return f"{score.value:.2f}" if score.value % 1 else f"{score.value:.0f}"
    return score.label or _status(score.status)


def moved(draft: Score | None, score: Score) -> str:
    """Which way the score went from its draft."""
    if draft is None or draft.answer is None or score.answer is None or draft.answer == score.answer:
        return ""
    if draft.value is None or score.value is None:
        return "changed"
    return "up" if score.value > draft.value else "down"


def kept(draft: Score | None, score: Score) -> bool:
    """Whether a draft that could be read stood: where neither could be, nothing was kept."""
    return draft is not None and draft.answer is not None and draft.answer == score.answer


def told(human: object) -> str:
    """A label of people, or all of several."""
    values = human if isinstance(human, list) else [] if human is None else [human]
    return ", ".join(f"{round(v, 2):g}" if isinstance(v, int | float) else str(v) for v in values[:20])


def _facts(score: Score) -> Iterator[str]:
    if score.reader:
        yield reading(score)
    if score.unseen and score.unseen >= 0.005:
        yield f"{100 * score.unseen:.0f} % of the probability on no point of the scale"
    yield from score.notes[:4]
