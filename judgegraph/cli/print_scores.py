"""The scores of one sample on a terminal: from draft to final, who said why, and how each was read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from judgegraph.answers import Role, answers_of, roles_of
from judgegraph.cli.print_sample import MOST, more, repeat_of
from judgegraph.cli.table import names
from judgegraph.runtime.item import Item
from judgegraph.trace.bars import bars, likeliest
from judgegraph.trace.read_by import read_by
from judgegraph.trace.tree import Look, excerpt, inert
from judgegraph.types import Rectification, Score

LAST = ("answer", "draft", "vote", "aspect", "other", "member")
NAME = 26  # columns of a criterion's name at most


def print_scores(console: Console, item: Item, look: Look, criterion: str | None = None) -> None:
    """Answers with their drafts, then the votes and what else no answer stands for; members' own scores come last."""
    scores = {score.key: score for score in item.scores}
    roles, answers = roles_of(item), answers_of(item)
    own, linked = {score.key for score in answers}, {score.draft for score in item.scores}
    rest = [score for score in item.scores if score.key not in own and (score.key not in linked or score.draft)]
    listed = answers + sorted(rest, key=lambda score: LAST.index(roles[score.key]))
    rows = [(name, s) for name, s in zip(_names(item, listed), listed, strict=True) if criterion in (None, s.criterion)]
    shown = rows if look.full else rows[:MOST]
    width = min(NAME, max((cell_len(inert(name)) for name, _ in shown), default=0))
    for name, score in shown:
        draft = scores.get(score.draft or "")
        console.print(_row(name, score, draft, width, look, roles[score.key]))
        for said in _reasons(score, draft, _critics(score, scores, item), look):
            console.print(Padding(Text(said), (0, 0, 0, 4), expand=False), style="dim")
    more(console, len(rows) - len(shown), "score; --full shows it", "scores; --full shows them", indent="")


def _names(item: Item, listed: Sequence[Score]) -> list[str]:
    """Of a pair with the order that it was shown in, of other repeats with their number."""
    said = names(listed)
    kinds = [(name, score.stage) for name, score in zip(said, listed, strict=True)]
    paired = {one.agent for one in item.comparisons}  # their repeats are the orders
    return [
        name + (repeat_of(score, paired) if score.repeat or kinds.count(kind) > 1 else "")
        for name, kind, score in zip(said, kinds, listed, strict=True)
    ]


def _row(name: str, score: Score, draft: Score | None, width: int, look: Look, role: Role) -> Text:
    """Name, answers, bars, how it was read."""
    row = Text(overflow="fold")
    shown = inert(name)
    shown = shown if cell_len(shown) <= width else shown[: width - 1] + look.dots[:1]
    row.append(shown + " " * max(0, width - cell_len(shown)), "bold")
    moved = draft is not None and draft.answer != score.answer
    before = f"{_answer(draft)} -> " if draft is not None and moved else ""
    row.append(f"  {before}{_answer(score)}", "yellow" if moved else "" if score.status == "ok" else "red")
    for said in _reading(score, look, role):
        row.append(f"  {said}")
    return row


def _reading(score: Score, look: Look, role: Role) -> Iterator[str]:
    if score.stage != "final" or role not in ("answer", "draft"):
        said = dict.fromkeys((score.stage, *((role,) if role in ("vote", "member") else ())))
        yield f"({inert(', '.join(said), 40)})"
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
    return [said for said in item.rectifications if said.criterion == score.criterion and said.agent in chain]


def _reasons(score: Score, draft: Score | None, critics: Sequence[Rectification], look: Look) -> Iterator[str]:
    """Who said what: the critic beside whom it reviewed, each with its own failure."""
    said = set[tuple[str, str]]()
    for one in _heard(score, draft):
        if one.reason:
            said.add((one.agent, one.reason))
            yield f"{inert(one.agent, 40)}: {excerpt(one.reason, look)}"
        if one.status != "ok" and one.raw:
            yield f"{inert(one.agent, 40)} answered: {excerpt(one.raw, look)}"
        for note in one.notes:
            yield f"{inert(one.agent, 40)}, note: {excerpt(note, look)}"
    for critic in critics:
        if critic.status != "ok" and (critic.agent, critic.reason) not in said:
            yield f"{inert(critic.agent, 40)}, {critic.status}: {excerpt(critic.reason, look)}"


def _heard(score: Score, draft: Score | None) -> tuple[Score, ...]:
    """Draft and final; of one that only repeats the other the draft, whose words they are."""
    if draft is None:
        return (score,)
    same = (draft.reason, draft.status, draft.answer) == (score.reason, score.status, score.answer)
    return (draft,) if same else (draft, score)


def _answer(score: Score) -> str:
    if score.value is not None:
        return f"{score.value:.2f}"
    return inert(score.label or score.status, 40)
