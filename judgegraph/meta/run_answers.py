"""What a finished sample says by each criterion: scores, verdicts, findings, as metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from judgegraph.answers import answers_of
from judgegraph.meta.judgements import Answer
from judgegraph.meta.means import mean
from judgegraph.runtime.item import Item
from judgegraph.types import Comparison, Score, Status

OVERALL = "overall"
Answered = tuple[Answer | None, str]  # an answer and its status


@dataclass
class Told:
    """By casefolded criterion.

    Attributes:
        names: of the criteria, as they are spelt. by: criterion -> metric -> answer and status.
        exchanged: of verdicts in the exchanged order. stages: of its scores, those that do not count among them.
        everywhere: metrics for every criterion (assistants). scales: labels of a criterion's scale.
        answering: casefolded criterion -> metrics that are the graph's answer, each with its scale; empty where stages
            or agents were named.
    """

    names: list[str] = field(default_factory=list)
    by: dict[str, dict[str, Answered]] = field(default_factory=dict)
    exchanged: dict[str, dict[str, Answer | None]] = field(default_factory=dict)
    everywhere: dict[str, Answered] = field(default_factory=dict)
    scales: dict[str, tuple[str, ...]] = field(default_factory=dict)
    stages: tuple[str, ...] = ()
    answering: dict[str, dict[str, str]] = field(default_factory=dict)

    def answers(self, criterion: str) -> Mapping[str, Answered]:
        """Metric -> its answer by a criterion."""
        return {**self.by.get(criterion, {}), **self.everywhere}

    def put(self, criterion: str, metric: str, answer: Answer | None, status: str) -> None:
        """Keep one answer."""
        self.names.append(criterion)
        self.by.setdefault(criterion.casefold(), {})[metric] = (answer, status)


def told(item: Item, stages: Sequence[str] | None, assistants: bool, agents: Sequence[str] = ()) -> Told:
    """What an item says; several answers of one agent by one criterion (repeats) count by their mean.

    Of a sample that failed its single scores alone count: a verdict or an answer over all would be of a part.

    Args:
        stages: whose scores count; None: the graph's answers (`judgegraph.answers`), and the final scores of the agents
            that are named.
    """
    found = Told(stages=tuple(dict.fromkeys(score.stage for score in item.scores)))
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
            found.answering.setdefault(criterion.casefold(), {})[metric] = str(scores[0].scale)
    for comparison in item.comparisons:  # the merged ones say what the verdict says, by their agent's name
        _compare(found, comparison, item.status)
    if item.verdict is not None and not any(c.criterion == OVERALL for c in item.comparisons):
        found.put(OVERALL, "verdict", *_unless_failed(item, item.verdict))
    if item.overall is not None and item.verdict is None:
        found.put(OVERALL, "overall", *_unless_failed(item, item.overall))
    if assistants:
        found.everywhere = {f.assistant: (f.value, f.status) for f in item.findings}
    return found


def join_answers(told: Sequence[Told]) -> None:
    """Give a criterion that one agent answers here and another there, as behind a gate, one metric: "critic or judge".

    Agents that answer side by side in any sample, or on two scales, keep a metric each.
    """
    for key in dict.fromkeys(key for one in told for key in one.answering):
        found = [one.answering.get(key, {}) for one in told]
        names = {name for metrics in found for name in metrics}
        scales = {scale for metrics in found for scale in metrics.values()}
        if len(names) < 2 or len(scales) > 1 or any(len(metrics) > 1 for metrics in found):
            continue
        whole = " or ".join(sorted(names))
        for one, metrics in zip(told, found, strict=True):
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


def _compare(found: Told, comparison: Comparison, status: Status) -> None:
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
