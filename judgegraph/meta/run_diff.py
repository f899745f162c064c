"""Which scores moved between two runs, and why: prompt, model, criteria, critic, data, or noise."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.meta.diff.causes import Causes, data_differs
from judgegraph.meta.diff.changes import CAUSES, Change
from judgegraph.meta.diff.cost import costs
from judgegraph.meta.diff.lines import Line
from judgegraph.meta.diff.most import Most
from judgegraph.meta.diff.move import Move, SampleMoves
from judgegraph.meta.diff.moves import score_move, score_pairs, verdict_move, verdict_pairs
from judgegraph.meta.diff.noise import Noise
from judgegraph.meta.diff.notes import notes_of
from judgegraph.meta.diff.pairs import pairs
from judgegraph.runtime.item import Item
from judgegraph.runtime.run import Run
from judgegraph.shown import Shown
from judgegraph.types import Comparison

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
        return f"{self.samples:,} samples in both, {self.moved:,} with a score that moved" + (f": {why}" if why else "")


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
        _line(found, one.criterion, one.of, agent, one.repeat, one.stage, answer=answer).add(one, other, move)
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


__all__ = ["CAUSES", "RunDiff", "diff_runs"]
