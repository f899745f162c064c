"""Which scores moved between two runs, and why: prompt, model, criteria, critic, data, or noise."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from judgegraph.errors import ConfigError, DataError, counted, one_line, settings_checked
from judgegraph.meta.diff_moves import (
    CAUSES,
    Answer,
    Cause,
    Change,
    Kind,
    Line,
    Most,
    Move,
    Noise,
    SampleMoves,
    Upstream,
    chain,
    changes,
    costs,
    ends,
    group_number,
    holds,
    matched,
    notes_of,
    pairs,
    part_of_manifest,
    roots,
    same_answer,
    share,
)
from judgegraph.runs.item import FINE, Item
from judgegraph.runs.run import Run
from judgegraph.shown import Shown
from judgegraph.types import Comparison, Score

# Why a score moved: what changed of the things it depends on, from where the move enters on. Never a guess.


HasStatus: TypeAlias = Score | Comparison | Item
At: TypeAlias = Literal["score", "draft", "critic"]
JUDGED = ("query", "source", "output", "rival", "reference")  # what a judge is shown of a sample
OPERATIONAL = {"timeout", "provider_error", "over_budget", "agent_error"}  # no judgement: how the run fared
_NUMBERED = re.compile(r" \(\d+\)$")


@dataclass(frozen=True)
class Why:
    """Why one score moved.

    Attributes:
        causes: one, or several that cannot be told apart, in the order of `CAUSES`.
        at: where the move enters: "score" where nothing was drafted, "draft", or "critic" where the drafts are equal.
        changes: that it may come from.
    """

    causes: tuple[Cause, ...]
    at: At
    changes: tuple[Change, ...] = ()


class Causes:
    """Of two manifests.

    Attributes:
        changes: all between them. sides: what depends on what, in either run.
    """

    def __init__(self, a: Mapping[str, Any], b: Mapping[str, Any]) -> None:
        tables = part_of_manifest(a, "configuration"), part_of_manifest(b, "configuration")
        self.changes = changes(a, b)
        self.sides = Upstream(tables[0]), Upstream(tables[1])
        self._unknown = not (tables[0] and tables[1])
        self._strong = [change for change in self.changes if not change.weak]

    def of_score(self, a: Item, b: Item, one: Score, other: Score) -> Why:
        """Of a score that is not the same in both."""
        here, there = chain(a, one), chain(b, other)
        alike, drafted = _alike(here, there), max(len(here), len(there)) > 1
        name, data = one.criterion, data_differs(a, b)
        if not alike:
            found = self._early((here[0].agent, there[0].agent), name)
            causes = self._causes(found, data, name)
            as_drafted = _is_draft(here) and _is_draft(there)
            late = [] if as_drafted else self._late(here, there, 0, {change.about for change in found})
            causes = self._with_reader_and_noise(causes, a, b, here[:1] + there[:1], found, name)
            return self._why([*causes, *_critic(late)], [*found, *late], "draft" if drafted else "score", one, other)
        late = self._late(here, there, alike - 1, frozenset())
        ends = (here[-1].agent, there[-1].agent)
        found = self._own(name) or self._others(ends)
        if roots(a) != roots(b):  # a critic reads the reasons too, and may read those of other criteria
            found = self._early((here[0].agent, there[0].agent), name) or found
        causes = [*(self._causes(found, data, name) if found or data or not late else []), *_critic(late)]
        causes = causes if not late else [cause for cause in causes if cause != "noise"]
        causes = self._with_reader_and_noise(causes, a, b, [here[-1], there[-1]], [*found, *late], name)
        return self._why(causes, [*found, *late], "critic", one, other)

    def of_comparison(self, a: Item, b: Item, one: Comparison, other: Comparison) -> Why:
        """Of a verdict by one criterion."""
        found = self._early((one.agent, other.agent), one.criterion)
        causes = self._causes(found, data_differs(a, b), one.criterion)
        causes = self._with_reader_and_noise(causes, a, b, [one, other], found, one.criterion)
        return self._why(causes, found, "score", one, other)

    def of_verdict(self, a: Item, b: Item) -> Why:
        """Of the verdict over all: anything may have moved it."""
        found = self._early(None, None)
        causes = self._with_reader_and_noise(self._causes(found, data_differs(a, b), None), a, b, [], found, None)
        return self._why(causes, found, "score", a, b)

    def _with_reader_and_noise(
        self, causes: list[Cause], a: Item, b: Item, judged: Sequence[Score | Comparison], found: Sequence[Change],
        criterion: str | None,
    ) -> list[Cause]:  # fmt: skip
        """With the rung that read them, with `meta`, which a node of one's own may read, and with noise where unsure.

        Args:
            judged: of A and of B, where the move enters; none for the verdict over all.
        """
        rungs = {one.reader for one in judged if isinstance(one, Score) and one.status == "ok" and one.reader}
        if len(rungs) > 1 and "model" not in causes:
            causes = [*(cause for cause in causes if cause != "noise"), "reader"]
        if causes == ["noise"] and a.sample.meta != b.sample.meta:
            causes = ["meta", "noise"]
        if not set(causes) & {"data", "criteria", "version", "noise"} and not self._before(a, b, judged, found):
            causes = [*causes, "noise"]
        return causes

    def _before(self, a: Item, b: Item, judged: Sequence[Score | Comparison], found: Sequence[Change]) -> bool:
        """Whether what changed surely stands before what moved, not behind it; of a verdict over all before a part."""
        if not judged:
            nodes = {node for side, item in zip(self.sides, (a, b), strict=True) for c in item.comparisons
                     if side.knows(c.agent) for node in side.of(c.agent)}  # fmt: skip
            return any(_concerns(change, nodes) for change in found)
        return all(side.knows(one.agent) for side, one in zip(self.sides, judged, strict=True))

    def _early(self, agents: tuple[str, str] | None, criterion: str | None) -> list[Change]:
        """Changes of all that agents' scores depend on, and of the criterion."""
        nodes: set[str] = set()
        edges: list[frozenset[str]] = []
        for place, side in enumerate(self.sides):
            own = side.nodes if agents is None else side.of(agents[place])
            nodes |= own
            edges.append(side.edges_into(own))
        found = [change for change in self._strong if _concerns(change, nodes)]
        found += [change for change in self._strong if change.edge and change.edge in edges[0] ^ edges[1]]
        found += [change for change in self._strong if change.cause == "version" and not change.node]
        return found + (self._own(criterion) or self._others(agents))

    def _own(self, criterion: str | None) -> list[Change]:
        """Changes of the criterion's definition or scale; of all criteria where none is meant."""
        known = [change for change in self._strong if change.criterion]
        return [c for c in known if criterion is None or _NUMBERED.sub("", c.criterion) == criterion]

    def _others(self, agents: tuple[str, str] | None) -> list[Change]:
        """Changes of criteria that the same nodes judge, or those before: they may share a prompt with this one."""
        if agents is None:
            return []
        other_judges = {name for place, side in enumerate(self.sides) for name in side.judged_by(agents[place])}
        return [change for change in self._strong if change.criterion in other_judges]

    def _late(self, here: Sequence[Score], there: Sequence[Score], at: int, known: Iterable[str]) -> list[Change]:
        """Changes of what stands between the drafts at a place of both chains and the scores; those known left out.

        What changed alike at the evaluator and at the critic, such as the judge of both, is one change.
        """
        nodes: set[str] = set()
        for side, row in zip(self.sides, (here, there), strict=True):
            draft = row[min(at, len(row) - 1)]
            if draft is not row[-1]:
                nodes |= side.of(row[-1].agent) - (side.of(draft.agent) if side.writers(draft.agent) else set())
        return [change for change in self._strong if _concerns(change, nodes) and change.about not in known]

    def _causes(self, found: Sequence[Change], data: bool, criterion: str | None) -> list[Cause]:
        """Of what moved first; noise where nothing changed that it depends on."""
        causes: list[Cause] = ["data"] if data else []
        own = self._own(criterion)
        for change in found:
            if change.criterion:
                causes.append("criteria" if change in own else "other criteria")
            else:
                causes.append("critic" if change.cause == "critic" else change.kind)
        if not causes and any(change.cause == "version" for change in self.changes):
            return ["version", "noise"]
        return causes if set(causes) - {"other criteria"} else [*causes, "noise"]

    def _why(
        self, causes: Sequence[Cause], found: Sequence[Change], at: At, one: HasStatus, other: HasStatus
    ) -> Why:  # fmt: skip
        if "over_budget" in (one.status, other.status):
            return Why(("failure",), at)
        if self._unknown:
            return Why(("unknown",), at)
        if OPERATIONAL & {one.status, other.status}:
            causes = ["failure", *(cause for cause in causes if cause != "noise")]
        return Why(tuple(cause for cause in CAUSES if cause in causes), at, tuple(dict.fromkeys(found)))


def data_differs(a: Item, b: Item) -> bool:
    """Whether what a judge is shown of a sample differs."""
    return any(getattr(a.sample, name) != getattr(b.sample, name) for name in JUDGED)


def _critic(late: Sequence[Change]) -> list[Cause]:
    return ["critic"] if late else []


def _alike(here: Sequence[Score], there: Sequence[Score]) -> int:
    """How many scores of two chains are alike, from the first draft on."""
    count = 0
    for a, b in zip(here, there, strict=False):
        if not same_answer(a, b):
            break
        count += 1
    return count


def _is_draft(row: Sequence[Score]) -> bool:
    """Whether the final score is its first draft's."""
    return same_answer(row[0], row[-1])


def _concerns(change: Change, nodes: set[str]) -> bool:
    return bool(change.node) and any(holds(change.node, node) for node in nodes)


# What moved of one sample between two runs: how far, and why.


WORDS = 160  # characters that are kept of a reason
Verdict: TypeAlias = Comparison | Item
SAMPLED = ("samples", "mean")  # rungs whose value is a mean of several answers


def absent(item: Item, score: Score) -> Score:
    """What stands where a failed sample has no score: the sample's status and reason."""
    about = {"value": None, "label": None, "distribution": None, "draft": None, "reader": ""}
    return score.model_copy(update={**about, "status": item.status, "reason": item.reason})


def score_pairs(a: Item, b: Item) -> Iterator[tuple[Score | None, Score | None, bool]]:
    """The scores that stand for the same in both, and whether they are answers; of a sample that failed in one run the
    failure.
    """
    for one, other, answer in matched(a, b):
        if one is not None and b.status not in FINE and (other is None or _idle(other)):
            other = absent(b, one)
        elif other is not None and a.status not in FINE and (one is None or _idle(one)):
            one = absent(a, other)
        yield one, other, answer


def _idle(score: Score) -> bool:
    """Whether it has no answer, and no failure of its own that says why."""
    return score.answer is None and score.status in FINE


def score_move(causes: Causes, a: Item, b: Item, one: Score, other: Score) -> Move | None:
    """None where it did not move."""
    if same_answer(one, other):
        return None
    why = causes.of_score(a, b, one, other)
    kind: Kind = "status" if one.answer is None or other.answer is None else "label"
    change = share = deviation = None
    if one.value is not None and other.value is not None:
        kind, (change, share) = "value", _moved(one, other)
        deviation = _deviation(causes, one, other) if change is not None else None
    return Move(
        criterion=one.criterion, agent=_agents(one.agent, other.agent), kind=kind, of=one.of, repeat=one.repeat,
        stage=one.stage,
        a=_shown(one), b=_shown(other), change=change, share=1.0 if kind != "value" else share, spread=deviation,
        reason_a=one_line(one.reason, WORDS), reason_b=one_line(other.reason, WORDS), **_why(why),
    )  # fmt: skip


def verdict_pairs(a: Item, b: Item) -> Iterator[tuple[Verdict | None, Verdict | None]]:
    """The comparisons, then the verdicts over all; of a sample that failed in one run the failure, else None."""
    ones, others = ({c.key: _counted(item, c) for c in item.comparisons} for item in (a, b))
    for key in {**ones, **others}:
        one, other = ones.get(key), others.get(key)
        if other is None and one is not None and b.status not in FINE:
            other = _unjudged(b, one)
        if one is None and other is not None and a.status not in FINE:
            one = _unjudged(a, other)
        yield one, other
    a, b = (x.model_copy(update={"verdict": None}) if x.status not in FINE else x for x in (a, b))
    if a.verdict or b.verdict:
        yield tuple(x if x.verdict or x.comparisons or x.status not in FINE else None for x in (a, b))  # type: ignore[misc]


def _counted(item: Item, one: Comparison) -> Comparison:
    """Of a sample that failed its failure: what its graph made of the part that was judged is no verdict."""
    return one if item.status in FINE else _unjudged(item, one)


def _unjudged(item: Item, one: Comparison) -> Comparison:
    gone = {"verdict": None, "score_a": None, "score_b": None, "status": item.status, "reason": item.reason}
    return one.model_copy(update=gone)


def verdict_move(causes: Causes, a: Item, b: Item, one: Verdict, other: Verdict) -> Move | None:
    """None where it did not move."""
    if (one.verdict, one.verdict or one.status) == (other.verdict, other.verdict or other.status):
        return None
    if isinstance(one, Comparison) and isinstance(other, Comparison):
        why = causes.of_comparison(a, b, one, other)
        return _verdict(one.criterion, f"{one.agent} ({one.order})", one, other, why)
    return _verdict("", "", one, other, causes.of_verdict(a, b))


def _verdict(criterion: str, agent: str, one: Comparison | Item, other: Comparison | Item, why: Why) -> Move:
    kind: Kind = "verdict" if one.verdict and other.verdict else "status"
    verdicts = [x.verdict or (x.status if x.status != "ok" else "none") for x in (one, other)]
    reasons = [one_line(x.reason, WORDS) for x in (one, other)]
    return Move(
        criterion=criterion, agent=agent, kind=kind, a=verdicts[0], b=verdicts[1], share=1.0,
        reason_a=reasons[0], reason_b=reasons[1], **_why(why),
    )  # fmt: skip


def _why(why: Why) -> dict[str, Any]:
    return {"causes": why.causes, "at": why.at, "changes": tuple(change.line for change in why.changes)}


def _moved(one: Score, other: Score) -> tuple[float | None, float | None]:
    """(in units of the scale, by its width); None what cannot be said."""
    assert one.value is not None
    assert other.value is not None
    a, b = share(one), share(other)
    by_width = None if a is None or b is None else b - a
    if one.scale == other.scale or (by_width is not None and ends(one.scale) == ends(other.scale)):
        return other.value - one.value, by_width
    return None, by_width


def _deviation(causes: Causes, one: Score, other: Score) -> float | None:
    total = 0.0
    for side, score in zip(causes.sides, (one, other), strict=True):
        variance = _variance(score)
        if variance is None:
            return None
        total += variance / (side.draws(score.agent) if score.reader in SAMPLED else 1)
    return math.sqrt(total)


def _variance(score: Score) -> float | None:
    """Of the distribution over a numeric scale."""
    try:
        points = [(float(point), share) for point, share in (score.distribution or {}).items()]
    except ValueError:
        return None
    whole = sum(share for _, share in points)
    if not whole:
        return None
    mean = sum(point * share for point, share in points) / whole
    return sum(share * (point - mean) ** 2 for point, share in points) / whole


def _shown(score: Score) -> Answer:
    return score.status if score.answer is None else score.answer


def _agents(one: str, other: str) -> str:
    return one if one == other else f"{one} -> {other}"


RunLike: TypeAlias = Run | str | os.PathLike[str]


@dataclass
class RunDiff(Shown):
    """Two runs side by side: B against A.

    Attributes:
        signatures: of A and B. changes: between their configurations, by cause.
        samples: in both; only_a, only_b: in one alone; data: in both, with another content; labels: in both, where only
            human judgements or `meta` differ, which no judge is shown.
        lines: a line per criterion, side, agent and stage. causes: in words, such as "prompt or model" -> moves.
        moved: samples with a move. most: those that moved most, the largest move first.
        noise: how large the moves are that nothing explains.
        cost: "a", "b" and "difference" in calls, prompt_tokens, completion_tokens and usd, as far as they were paid for
            there; usd is None where a price is not known.
        notes: what else to know.
    """

    signatures: tuple[str, str]
    changes: tuple[Change, ...]
    samples: int = 0
    only_a: int = 0
    only_b: int = 0
    data: int = 0
    labels: int = 0
    moved: int = 0
    lines: dict[tuple[str, str, str, int, str, str], Line] = field(default_factory=dict)
    causes: Counter[str] = field(default_factory=Counter)
    most: tuple[SampleMoves, ...] = ()
    noise: Noise = field(default_factory=Noise)
    cost: dict[str, dict[str, float | None]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def compared(self) -> int:
        """Scores and verdicts that both runs have."""
        return sum(line.both for line in self.lines.values())

    @property
    def mixed(self) -> bool:
        """Whether some moves have several causes that cannot be told apart."""
        return any(len(set(cause.split(" or ")) - {"noise"}) > 1 for cause in self.causes)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; docs/diff.md says what they are."""
        return {
            "a": self.signatures[0], "b": self.signatures[1],
            "changes": [change.to_dict() for change in self.changes],
            "samples": {
                "both": self.samples, "only_a": self.only_a, "only_b": self.only_b, "data": self.data,
                "labels": self.labels, "moved": self.moved,
            },
            "criteria": [line.to_dict() for line in self.lines.values()],
            "causes": dict(self.causes.most_common()), "mixed": self.mixed, "noise": self.noise.to_dict(),
            "most_moved": [sample.to_dict() for sample in self.most],
            "cost": self.cost, "notes": list(self.notes),
        }  # fmt: skip

    def __str__(self) -> str:
        why = ", ".join(f"{cause} {count}" for cause, count in self.causes.most_common())
        return f"{counted(self.samples, 'sample')} in both, {self.moved:,} with a score that moved, came or went" + (
            f": {why}" if why else ""
        )


@settings_checked
def diff_runs(a: RunLike, b: RunLike, *, criterion: str | None = None, limit: int | None = 10) -> RunDiff:
    """What moved from run A to run B, and why.

    A move is put to what changed of the things that the score depends on, from the place where it enters: where the
    drafts are equal and the final differs, to the critic; else to what changed at the node that wrote the score, at
    those before it, and in its criterion's own definition; where nothing did, to noise. What changed together is told
    as "prompt or model": the runs cannot tell them apart.

    Both runs are read as streams in the order of their data; what waits for its other half lies in a temporary file.

    Args:
        a, b: runs or their folders. criterion: this one alone. limit: samples in `most`; None: all, held in memory.

    Raises:
        DataError: no run's folder, or no sample in common. ConfigError: no score in both is by that criterion.
    """
    one, other = (run if isinstance(run, Run) else Run.load(run) for run in (a, b))
    causes = Causes(one.manifest, other.manifest)
    found = RunDiff((one.signature, other.signature), causes.changes, cost=costs(one.manifest, other.manifest))
    most = Most(limit)
    known: Counter[str] = Counter()
    for here, there in pairs(one, other):
        if here is None or there is None:
            found.only_b += here is None
            found.only_a += there is None
            continue
        _count(found, here, there)
        moves = _moves(found, causes, here, there, criterion, known)
        if any(move.answer for move in moves):
            found.moved += 1
            most.add(SampleMoves(here.id, there.place, data_differs(here, there), moves))
    _refuse_nothing(found, criterion, known)
    found.lines = dict(sorted(found.lines.items(), key=lambda one: not one[1].answer))
    for line in found.lines.values():
        line.settle()
    found.most, found.notes = most.sorted(), notes_of(one, other)
    return found


def _count(found: RunDiff, a: Item, b: Item) -> None:
    found.samples += 1
    if data_differs(a, b):
        found.data += 1
    elif a.sample != b.sample:
        found.labels += 1


def _moves(
    found: RunDiff, causes: Causes, a: Item, b: Item, criterion: str | None, known: Counter[str]
) -> tuple[Move, ...]:  # fmt: skip
    """Of one sample; all that both have is counted."""
    moves: list[Move] = []
    group = group_number(a.sample.meta.get("group"))
    for one, other, answer in score_pairs(a, b):
        either = one or other
        assert either is not None
        known[either.criterion] += 1
        if criterion not in (None, either.criterion):
            continue
        if one is None or other is None:
            line = _line(found, either.criterion, either.of, either.agent, either.repeat, either.stage, answer=answer)
            line.only_a += other is None
            line.only_b += one is None
            continue
        move = score_move(causes, a, b, one, other)
        agent = one.agent if one.agent == other.agent else f"{one.agent} -> {other.agent}"
        _line(found, one.criterion, one.of, agent, one.repeat, one.stage, answer=answer).add(one, other, move, group)
        moves += [replace(move, answer=answer)] if move else []
    moves += _verdicts(found, causes, a, b, criterion, known)
    for move in moves:
        if move.answer:
            found.causes[move.cause] += 1
            found.noise.add(move)
    return tuple(sorted(moves, key=lambda move: (not move.answer, -move.size)))


def _verdicts(
    found: RunDiff, causes: Causes, a: Item, b: Item, criterion: str | None, known: Counter[str]
) -> list[Move]:  # fmt: skip
    moves: list[Move] = []
    for one, other in verdict_pairs(a, b):
        either = one or other
        name, agent = (
            (either.criterion, f"{either.agent} ({either.order})") if isinstance(either, Comparison) else ("", "")
        )
        known.update([name] if name else [])
        if criterion not in (None, name):
            continue
        line = _line(found, name, "output", agent, kind="verdict")
        if one is None or other is None:
            line.only_a += other is None
            line.only_b += one is None
            continue
        move = verdict_move(causes, a, b, one, other)
        line.add_verdict(one.verdict is not None, other.verdict is not None, move)
        moves += [move] if move else []
    return moves


def _line(
    found: RunDiff, criterion: str, of: str, agent: str, repeat: int = 0, stage: str = "", kind: str = "score",
    answer: bool = True,
) -> Line:  # fmt: skip
    key = (criterion, of, agent, repeat, stage, kind)
    if key not in found.lines:
        found.lines[key] = Line(criterion, of, agent, kind, repeat, stage, answer)
    found.lines[key].answer |= answer
    return found.lines[key]


def _refuse_nothing(found: RunDiff, criterion: str | None, known: Mapping[str, int]) -> None:
    """
    Raises:
        DataError: no sample in common. ConfigError: no score in both by the criterion.
    """
    if not found.samples:
        raise DataError(
            f"no sample is in both runs ({found.only_a:,} in A, {found.only_b:,} in B): samples are matched by id"
        )
    if criterion is not None and criterion not in known:
        names = ", ".join(one_line(name, 60) for name in list(known)[:20])
        raise ConfigError(f"no score by criterion '{one_line(criterion, 80)}'; there are: {names or 'none'}")
