"""Answers to count: those of a run's finished samples, and judgements reduced to one record per item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgegraph.answers import answers_of, over_all_of
from judgegraph.errors import ConfigError, counted, one_line
from judgegraph.meta.cells import (
    OVERALL,
    Answer,
    Judgements,
    Kind,
    answered,
    empty,
    is_given,
    mean,
    people,
    rule_of,
    single,
    taken,
    width,
    word,
)
from judgegraph.meta.conventions import Conventions
from judgegraph.runs.item import Item
from judgegraph.stats.correlation import Codes, Floats
from judgegraph.types import Comparison, Score, Status

WRONG = "\0unread"  # an answer that could not be read and counts as one of its own, which is never right


@dataclass(frozen=True)
class Answers:
    """Items that people judged.

    Attributes:
        human: one judgement per item. annotators: items x annotators, None where one left it out.
        metrics, exchanged: None where nothing could be read. unread: metric -> status -> how many.
        group, system: codes of the items; None where there are none. systems: code -> name.
        unjudged: items without a judgement of people, left out. folded: records beside another one of their item.
        rule: how the annotators were taken together. combined: metrics whose verdicts are those of both orders in one.
    """

    criterion: str
    kind: Kind
    human: tuple[Answer, ...]
    annotators: tuple[tuple[Answer | None, ...], ...]
    metrics: Mapping[str, tuple[Answer | None, ...]]
    exchanged: Mapping[str, tuple[Answer | None, ...]]
    unread: Mapping[str, dict[str, int]]
    group: Codes | None
    system: Codes | None
    systems: tuple[str, ...]
    order: tuple[str, ...]
    unjudged: int
    folded: int
    rule: str
    combined: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.human)


def answers(judgements: Judgements, conventions: Conventions) -> Answers:
    """What counts of the judgements.

    Raises:
        ConfigError, DataError: doubled records that are refused; no such annotator.
    """
    combined = judgements.in_both_orders if conventions.orders == "agree" else frozenset()
    one, folded = single(judgements.in_one_verdict() if combined else judgements, conventions.duplicates)
    judged = people(one, conventions)
    judged_at = [at for at, value in enumerate(judged) if value is not None]
    found, count = taken(one, judged_at), width(one)
    system, systems = _codes(found.systems)
    annotators = tuple(
        tuple(p[k] if k < len(p) and answered(p[k]) else None for k in range(count)) for p in found.human
    )  # fmt: skip
    return Answers(
        criterion=one.criterion, kind=one.kind, human=tuple(v for v in judged if v is not None), annotators=annotators,
        metrics=found.metrics, exchanged=found.exchanged,
        unread={name: _unread(found, name) for name in found.metrics}, group=_codes(found.groups)[0], system=system,
        systems=systems, order=one.label_order, unjudged=len(one) - len(judged_at), folded=folded,
        rule=rule_of(one, conventions), combined=combined,
    )  # fmt: skip


def _unread(found: Judgements, name: str) -> dict[str, int]:
    statuses = found.statuses.get(name) or ["unreadable"] * len(found)
    missing = Counter(s for s, value in zip(statuses, found.metrics[name], strict=True) if value is None)
    return dict(missing.most_common())


def _codes(names: Sequence[str] | None) -> tuple[Codes | None, tuple[str, ...]]:
    if names is None:
        return None, ()
    known = {name: code for code, name in enumerate(dict.fromkeys(names))}
    return np.array([known[name] for name in names], dtype=np.intp), tuple(known)


def floats(values: Sequence[Answer | None]) -> Floats:
    """Numbers, nan where there is none."""
    return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)


def at(codes: Codes | None, mask: NDArray[np.bool_]) -> Codes | None:
    """Codes of some items."""
    return None if codes is None else codes[mask]


# What a finished sample says by each criterion: scores, verdicts, findings, as metrics.


Answered = tuple[Answer | None, str]  # an answer and its status


@dataclass
class ItemAnswers:
    """By casefolded criterion.

    Attributes:
        names: of the criteria, as they are spelt. by: criterion -> metric -> answer and status.
        exchanged: of verdicts in the exchanged order. stages: of all its scores, counted or not.
        everywhere: metrics for every criterion (assistants). scales: labels of a criterion's scale.
        answering: casefolded criterion -> metrics that are the graph's answer, each with its scale; empty where stages
            or agents were named. unjoined: of a pair that was compared and has no verdict of its own.
    """

    names: list[str] = field(default_factory=list)
    by: dict[str, dict[str, Answered]] = field(default_factory=dict)
    exchanged: dict[str, dict[str, Answer | None]] = field(default_factory=dict)
    everywhere: dict[str, Answered] = field(default_factory=dict)
    scales: dict[str, tuple[str, ...]] = field(default_factory=dict)
    stages: dict[str, dict[str, None]] = field(default_factory=dict)
    answering: dict[str, dict[str, str]] = field(default_factory=dict)
    unjoined: bool = False

    def answers(self, criterion: str) -> Mapping[str, Answered]:
        """Metric -> its answer by a criterion."""
        return {**self.by.get(criterion, {}), **self.everywhere}

    def put(self, criterion: str, metric: str, answer: Answer | None, status: str) -> None:
        """Keep one answer."""
        self.names.append(criterion)
        self.by.setdefault(criterion.casefold(), {})[metric] = (answer, status)


def answers_in(item: Item, stages: Sequence[str] | None, assistants: bool, agents: Sequence[str] = ()) -> ItemAnswers:
    """What an item says; several answers of one agent by one criterion (repeats) count by their mean.

    Of a sample that failed its single scores alone count: a verdict or an answer over all would be of a part.

    Args:
        stages: whose scores count; None: the graph's answers (`judgegraph.answers`), and the final scores of the agents
            that are named.
    """
    found = ItemAnswers()
    for score in item.scores:
        found.stages.setdefault(score.criterion.casefold(), {})[score.stage] = None
    by: dict[tuple[str, str], list[Score]] = {}
    answers = {score.key for score in answers_of(item)} if stages is None else set()
    for score in item.scores:
        named = score.key in answers or (score.stage == "final" and score.agent in agents)
        if (named if stages is None else score.stage in stages) and score.of == "output":
            by.setdefault((score.criterion, _metric(score, stages)), []).append(score)
            if score.scale is not None and score.scale.labels:
                found.scales[score.criterion.casefold()] = score.scale.labels
    for (criterion, metric), scores in by.items():
        found.put(criterion, metric, *_one(scores))
        if stages is None and not agents:
            found.answering.setdefault(criterion.casefold(), {})[metric] = (
                scores[0].scale.unit if scores[0].scale else ""
            )
    found.unjoined = any(note.kind == "verdict-missing" for note in item.notes)
    for comparison in item.comparisons:  # the merged ones say what the verdict says, by their agent's name
        _compare(found, comparison, item.status)
    if item.verdict is not None and not any(c.criterion == OVERALL for c in item.comparisons):
        found.put(OVERALL, "verdict", *_unless_failed(item, item.verdict))
    if (over_all := over_all_of(item)) is not None and item.verdict is None:
        found.put(OVERALL, "overall", *_unless_failed(item, over_all))
    if assistants:
        found.everywhere = {f.assistant: (f.value, f.status) for f in item.findings}
    return found


def join_answers(items: Sequence[ItemAnswers]) -> None:
    """Give a criterion that one agent answers here and another there, as behind a gate, one metric: "critic or judge".

    Agents that answer side by side in any sample, or on two scales, keep a metric each.
    """
    for key in dict.fromkeys(key for one in items for key in one.answering):
        found = [one.answering.get(key, {}) for one in items]
        names = {name for metrics in found for name in metrics}
        scales = {scale for metrics in found for scale in metrics.values()}
        if len(names) < 2 or len(scales) > 1 or any(len(metrics) > 1 for metrics in found):
            continue
        whole = " or ".join(sorted(names))
        for one, metrics in zip(items, found, strict=True):
            for name in metrics:
                one.by[key][whole] = one.by[key].pop(name)


def _metric(score: Score, stages: Sequence[str] | None) -> str:
    return score.agent if score.stage == "final" or stages is None else f"{score.agent} ({score.stage})"


def _one(scores: Sequence[Score]) -> Answered:
    values = [s.value for s in scores if s.value is not None]
    if values:
        return mean(values), "ok"
    labels = [s.label for s in scores if s.label is not None]
    return (labels[0], "ok") if labels else (None, scores[0].status)


def _unless_failed(item: Item, answer: Answer | None) -> Answered:
    return (answer, "ok") if item.status == "ok" else (None, item.status)


def _compare(found: ItemAnswers, comparison: Comparison, status: Status) -> None:
    """The verdict of both orders, else of the given one; that of the exchanged order beside it. None where the sample
    failed, whose status this is.
    """
    if status != "ok":
        comparison = comparison.model_copy(update={"verdict": None, "status": status})
    criterion, metric = comparison.criterion, comparison.agent
    if comparison.order == "BA":
        found.exchanged.setdefault(criterion.casefold(), {})[metric] = comparison.verdict
        return
    if comparison.order == "both":
        metric = f"{metric} (both orders)"
    found.put(criterion, metric, comparison.verdict, comparison.status)


# Whether a metric and people speak of the same things: what is refused, and what is noted.


TIES = ("tie", "draw")  # where one of these stands among numbers, the numbers are verdicts


def foreign(cells: Iterable[Any], labels: Mapping[str, Answer]) -> list[int]:
    """Places of the cells that say something, and none of the labels (by casefolded word)."""
    return [at for at, cell in enumerate(cells) if is_given(cell, labels) and word(cell).casefold() not in labels]


def strange(cells: Sequence[Any], labels: Mapping[str, Answer]) -> bool:
    """Whether a metric says something, and never one of the labels that people know."""
    return bool(labels) and 0 < len(foreign(cells, labels)) == sum(is_given(cell, labels) for cell in cells)


def refuse_other(
    name: str, cells: Sequence[Any], answers: Sequence[Answer | None], kind: Kind, words: Mapping[str, Answer],
    places: Sequence[str], where: str,
) -> None:  # fmt: skip
    """A metric that says much and of which nothing can be read, or is a label of people's, speaks another language.

    Raises:
        ConfigError: it does.
    """
    full = [at for at, cell in enumerate(cells) if is_given(cell, words)]
    if kind == "label":
        mute = full if strange(cells, words) else []
        gave, says = f"people's labels are {listed(words)}", "never says one, but"
        hint = "write both in the same words, or name all labels, such as --order poor,fair,good"
    else:
        ties = [at for at in full if word(cells[at]).casefold() in TIES]
        mute = full if all(a is None for a in answers) else ties if kind == "number" else []
        gave, says = f"people gave {kind}s", "says"
        hint = "say what they are: --kind number, label or verdict, --verdicts A=WORD,B=WORD"
    if mute:
        cell = one_line(cells[mute[0]], 40)
        raise ConfigError(
            f"{where}: {gave}, and metric '{one_line(name, 60)}' {says} '{cell}' ({places[mute[0]]}); {hint}"
        )


def notes(
    criterion: str, human: Iterable[Sequence[Any]], metrics: Mapping[str, Sequence[Any]], labels: Mapping[str, Answer]
) -> Iterator[str]:  # fmt: skip
    """Of labels: cells of people that count as none, and metrics that mostly say what people never do."""
    of = f"{one_line(criterion, 60)}: " if criterion else ""
    silent = Counter(cell.strip() for cells in human for cell in cells if _silent(cell, labels))
    for text, count in silent.items():
        yield (
            f"{of}'{text}' counts as no judgement of people ({count:,} of them); it is a label where --order names it"
        )
    for name, cells in metrics.items():
        full, other = sum(is_given(cell, labels) for cell in cells), foreign(cells, labels)
        if 2 * len(other) > full:
            yield (
                f"{of}{one_line(name, 60)}: {len(other):,} of {counted(full, 'answer')} counted as wrong, being none "
                f"of people's labels, such as '{one_line(cells[other[0]], 40)}'"
            )


def _silent(cell: Any, labels: Mapping[str, Answer]) -> bool:
    return isinstance(cell, str) and not empty(cell) and not is_given(cell, labels)


def listed(labels: Mapping[str, Answer]) -> str:
    """A few of the labels."""
    shown = ", ".join(one_line(label, 30) for label in list(labels.values())[:6])
    return shown + (", ..." if len(labels) > 6 else "")
