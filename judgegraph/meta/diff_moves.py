"""What changed between two runs' configurations, and what moved: costs, scores of samples and criteria, and noise.

It hides which keys of a configuration are the cause of what, and how a move is told from chance.
"""

from __future__ import annotations

import heapq
import json
import math
import re
import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, fields
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

import numpy as np

from judgegraph.answers import answers_of
from judgegraph.errors import ConfigError, one_line
from judgegraph.runs.identity import ABSENT, differences
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run, incomplete_run
from judgegraph.stats.bootstrap import MEAN_DRAWN, MEAN_RESAMPLES, mean_interval
from judgegraph.types import Scale, Score

AMOUNTS = ("calls", "prompt_tokens", "completion_tokens", "usd")
MOST = 1e18


def costs(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    """Of A, of B, and B less A; None what a manifest does not tell, and usd where a price is not known."""
    sides = [paid_for(manifest) for manifest in (a, b)]
    apart: dict[str, float | None] = {}
    for name in AMOUNTS:
        one, other = sides[0][name], sides[1][name]
        apart[name] = None if one is None or other is None else other - one
    return {"a": sides[0], "b": sides[1], "difference": apart}


def paid_for(manifest: Mapping[str, Any]) -> dict[str, float | None]:
    """In calls, tokens and USD; None what a manifest does not tell, and usd where a price is not known."""
    spent = part_of_manifest(manifest, "spent")
    found = {n: spent[n] if _is_amount(spent.get(n)) else None for n in AMOUNTS}
    return {**found, "usd": None} if spent.get("unpriced") else found


def _is_amount(value: Any) -> bool:
    """A manifest may have been written by anybody: nan and what no JSON holds is no amount."""
    return isinstance(value, int | float) and abs(value) < MOST


# Which scores of two items are the same score, and the drafts behind them.


Place: TypeAlias = tuple[str, str, int]  # criterion, side, repeat
Matched: TypeAlias = tuple[Score | None, Score | None]
CLOSE = 1e-9  # nine digits: what differs by less is noise of the arithmetic


def matched(a: Item, b: Item) -> Iterator[tuple[Score | None, Score | None, bool]]:
    """(a score, the same in the other item, whether it is an answer): answers first, by key.

    Those that are left over are held beside each other by criterion, side and repeat where one of each side is left: so
    the answers of two critics, or of an evaluator without and with a critic. Then come final scores that are no
    answers, such as those of a panel's members. Where neither item has a final score or an answer of a criterion, all
    its scores are matched by key.
    """
    ones, others = answers_of(a), answers_of(b)
    yield from ((one, other, True) for one, other in _matched(ones, others))
    there = {_match_key(score) for score in (*ones, *others)}
    used = {score.key for score in (*ones, *others)}
    final = {_match_key(score) for score in (*a.scores, *b.scores) if score.stage == "final"}
    left = (
        [s for s in item.scores if s.key not in used and (s.stage == "final" or _match_key(s) not in final | there)]
        for item in (a, b)
    )
    yield from ((one, other, not there) for one, other in _matched(*left))


def _matched(ones: Sequence[Score], others: Sequence[Score]) -> Iterator[Matched]:
    by_key = {score.key: score for score in others}
    left: list[Score] = []
    for score in ones:
        other = by_key.pop(score.key, None)
        if other is None:
            left.append(score)
        else:
            yield score, other
    yield from _matched_in_order(left, list(by_key.values()))


def _match_key(score: Score) -> Place:
    return score.criterion, score.of, score.repeat


def _matched_in_order(ones: Sequence[Score], others: Sequence[Score]) -> Iterator[Matched]:
    found: dict[Place, tuple[list[Score], list[Score]]] = {}
    for side, scores in enumerate((ones, others)):
        for score in scores:
            found.setdefault(_match_key(score), ([], []))[side].append(score)
    for here, there in found.values():
        if len(here) == 1 == len(there) and here[0].stage == there[0].stage:
            yield here[0], there[0]
        else:
            yield from ((score, None) for score in here)
            yield from ((None, score) for score in there)


def chain(item: Item, score: Score) -> list[Score]:
    """A score with the drafts behind it, the first one first."""
    by_key = {one.key: one for one in item.scores}
    found = [score]
    while (draft := by_key.get(found[-1].draft or "")) is not None and draft not in found:
        found.append(draft)
    return found[::-1]


def roots(item: Item) -> frozenset[tuple[object, ...]]:
    """What reviewers of an item may have read: the scores that rectify none, with their reasons."""
    read = [score for score in item.scores if score.draft is None]
    return frozenset((s.criterion, s.agent, s.of, s.repeat, s.status, s.answer, s.reason) for s in read)


def same_answer(a: Score, b: Score) -> bool:
    """To nine digits, or in the label; on scales that end elsewhere in the share of them, else in the status."""
    if a.value is not None and b.value is not None:
        if ends(a.scale) == ends(b.scale):
            return abs(a.value - b.value) <= CLOSE * max(1.0, abs(a.value), abs(b.value))
        one, other = share(a), share(b)
        return one is not None and other is not None and abs(one - other) <= CLOSE
    return (a.status, a.label, a.value) == (b.status, b.label, b.value)


def share(score: Score) -> float | None:
    """How far up its scale a number stands, 0 to 1; None without a numeric scale."""
    low, high = ends(score.scale)
    if score.value is None or low is None or high is None:
        return None
    return (score.value - low) / (high - low)


def ends(scale: Scale | None) -> tuple[float | None, float | None]:
    """Of a numeric scale; numbers are of one unit where these are the same."""
    return (scale.low, scale.high) if scale else (None, None)


# One score that moved between two runs, and one sample with all of its moves.


Answer: TypeAlias = float | str | None
Kind: TypeAlias = Literal["value", "label", "status", "verdict"]
VERDICTS = ("A", "B")


@dataclass(frozen=True)
class Move:
    """One score, or verdict, that is not the same in both runs.

    Attributes:
        criterion: "" for the verdict over all. agent: in A, "a -> b" where B has another. of, repeat, stage: its own.
        kind: "value", "label", "verdict", or "status" where one of the two could not be read.
        a, b: value, label, verdict or status. change: b - a in units of the scale, None where the scale is another or
            there are no two values. share: the same by the width of the scale, -1 to 1; a changed label, verdict or
            status is 1.
        causes, at: as in `Why`. changes: lines of what it may come from.
        spread: standard deviation of what the change would be if each answer were drawn from its own distribution; None
            where there are none. within: whether the change is at most twice that.
        reason_a, reason_b: their first words.
    """

    criterion: str
    agent: str
    kind: Kind
    a: Answer
    b: Answer
    causes: tuple[Cause, ...]
    at: str = "score"
    changes: tuple[str, ...] = ()
    of: str = "output"
    repeat: int = 0
    stage: str = "final"
    answer: bool = True
    change: float | None = None
    share: float | None = None
    spread: float | None = None
    reason_a: str = ""
    reason_b: str = ""

    @property
    def size(self) -> float:
        """0 to 1; of a number without a scale by the larger of the two."""
        if self.share is not None:
            return abs(self.share)
        if isinstance(self.a, float) and isinstance(self.b, float):
            return min(1.0, abs(self.b - self.a) / (max(abs(self.a), abs(self.b)) or 1.0))
        return 1.0

    @property
    def within(self) -> bool | None:
        """Whether the change is no larger than twice the spread; None where that is not known."""
        return None if self.spread is None or self.change is None else abs(self.change) <= 2 * self.spread

    @property
    def flip(self) -> bool:
        """Whether the winner of a pair became the loser."""
        return self.kind == "verdict" and self.a in VERDICTS and self.b in VERDICTS

    @property
    def cause(self) -> str:
        """In words: "prompt", "prompt or model"."""
        return " or ".join(self.causes)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**plain, "causes": list(self.causes), "changes": list(self.changes), "within": self.within}


@dataclass(frozen=True)
class SampleMoves:
    """One sample of both runs. data: whether its content differs. moves: the largest first."""

    id: str
    place: int
    data: bool = False
    moves: tuple[Move, ...] = field(default=())

    @property
    def size(self) -> float:
        """Of its largest move, 0 to 1."""
        return max((move.size for move in self.moves), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "id": self.id, "place": self.place, "data": self.data, "moves": [move.to_dict() for move in self.moves],
        }  # fmt: skip


# What moved of one criterion over all samples: counts, and the mean difference with its interval.


def group_number(group: Any) -> int:
    """One number for each `meta.group`, the same in every run; -1 without one."""
    return (
        -1 if group is None else int.from_bytes(blake2b(str(group).encode("utf-8", "replace"), digest_size=7).digest())
    )


@dataclass
class Line:
    """One criterion, side of a pair, agent, stage and repeat in both runs: at most one score of each sample.

    Attributes:
        criterion: "" for the verdict over all. kind: "score", or "verdict" of a pair. answer: it is of the graph's
            answers (`judgegraph.answers`), not of a panel's members or of one order of a pair.
        n: samples in which both could be read and compared; moved: of those. up, down: of numbers; changed: of labels
            and verdicts; flips: verdicts whose winner became the loser.
        lost, gained: could be read in A alone, in B alone; other: could be read in neither, with another status.
        both: in both runs, readable or not. only_a, only_b: scores that the other run does not have at all.
        unit: of the difference: "points", or "share" of the scale's width where the scales differ.
        causes: in words -> moves. groups: number of each difference's sample's group, negative of one without.
    """

    criterion: str
    of: str = "output"
    agent: str = ""
    kind: str = "score"
    repeat: int = 0
    stage: str = ""
    answer: bool = True
    n: int = 0
    moved: int = 0
    up: int = 0
    down: int = 0
    changed: int = 0
    flips: int = 0
    lost: int = 0
    gained: int = 0
    other: int = 0
    both: int = 0
    only_a: int = 0
    only_b: int = 0
    scale_a: str = ""
    scale_b: str = ""
    causes: Counter[str] = field(default_factory=Counter)
    points: array[float] = field(default_factory=lambda: array("d"), repr=False)
    shares: array[float] = field(default_factory=lambda: array("d"), repr=False)
    groups: array[int] = field(default_factory=lambda: array("q"), repr=False)
    sums: list[float] = field(default_factory=lambda: [0.0, 0.0], repr=False)
    mean: float = math.nan
    low: float = math.nan
    high: float = math.nan
    method: str = ""

    @property
    def unit(self) -> str:
        """Of `mean`, `low` and `high`."""
        return "share" if self.shares else "points"

    def add(self, one: Score, other: Score, move: Move | None, group: int = -1) -> None:
        """A score that both runs have; group: the number of its sample's `meta.group`, -1 without one."""
        self.both += 1
        self.scale_a, self.scale_b = (
            str(s.scale or "") or old for s, old in ((one, self.scale_a), (other, self.scale_b))
        )
        if move is not None:
            self.causes[move.cause] += 1
        if one.answer is None or other.answer is None:
            if move is not None:
                self._status(one.answer is not None, other.answer is not None)
            return
        self.n += 1
        self.moved += move is not None
        if one.value is not None and other.value is not None:
            self._number(one, other, move, group)
        else:
            self.changed += move is not None

    def add_verdict(self, before: bool, after: bool, move: Move | None) -> None:
        """A verdict that both runs have; whether it could be read in A, and in B."""
        self.both += 1
        if move is not None:
            self.causes[move.cause] += 1
        if not (before and after):
            if move is not None:
                self._status(before, after)
            return
        self.n += 1
        self.moved += move is not None
        self.changed += move is not None
        self.flips += move is not None and move.flip

    def settle(self) -> None:
        """The mean difference with its interval, of all that was added."""
        values = np.frombuffer(self.shares or self.points or array("d"), dtype=np.float64)
        if len(values):
            groups = np.frombuffer(self.groups, dtype=np.int64)
            grouped = len(groups) == len(values) and bool((groups >= 0).all())
            code = np.unique(groups, return_inverse=True)[1].astype(np.intp) if grouped else None
            self.mean = float(values.mean())
            self.low, self.high = mean_interval(values, code)
            if not math.isnan(self.low):
                drawn = f"bootstrap of {MEAN_RESAMPLES:,}, seed 0" + (", groups drawn whole" if grouped else "")
                self.method = drawn if grouped or len(values) <= MEAN_DRAWN else "Student's t"

    def _status(self, before: bool, after: bool) -> None:
        self.lost += before and not after
        self.gained += after and not before
        self.other += before == after

    def _number(self, one: Score, other: Score, move: Move | None, group: int) -> None:
        change, part = (0.0, 0.0) if move is None else (move.change, move.share)
        assert one.value is not None
        assert other.value is not None
        if change is not None and ends(one.scale) == ends(other.scale):
            self.points.append(change)
            self.sums[0] += one.value
            self.sums[1] += other.value
        elif part is not None:
            self.shares.append(part)
        else:
            return
        self.groups.append(group)
        way = (part if change is None else change) or 0.0
        self.up += way > 0
        self.down += way < 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; what is undefined is null."""
        hidden = ("points", "shares", "groups", "sums", "causes", "mean", "low", "high")
        plain = {name: value for name, value in vars(self).items() if name not in hidden}
        ends = {name: getattr(self, name) for name in ("mean", "low", "high")}
        count = len(self.points)
        return {
            **plain,
            "mean_a": self.sums[0] / count if count else None, "mean_b": self.sums[1] / count if count else None,
            "difference": {k: None if math.isnan(v) else v for k, v in ends.items()} | {"unit": self.unit},
            "causes": dict(self.causes.most_common()),
        }  # fmt: skip


# The samples that moved most, of any number of them.


class Most:
    """Keeps at most so many, however many are added; None keeps all."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._heap: list[tuple[float, int, int, SampleMoves]] = []
        self._count = 0

    def add(self, sample: SampleMoves) -> None:
        """One that moved; of equal ones the first stay."""
        self._count += 1
        entry = (sample.size, len(sample.moves), -self._count, sample)
        if self._limit is None or len(self._heap) < self._limit:
            heapq.heappush(self._heap, entry)
        elif self._heap:
            heapq.heappushpop(self._heap, entry)

    def sorted(self) -> tuple[SampleMoves, ...]:
        """The most moved first."""
        return tuple(entry[-1] for entry in sorted(self._heap, key=lambda entry: entry[:3], reverse=True))


# How large the moves are that nothing explains, beside what sampling alone would give.


@dataclass
class Noise:
    """Of the moves whose one cause is noise.

    Attributes:
        moves: all of them. sized: of those, numbers on a scale; share: their sum of sizes, by the width of the scale.
        spread: those with distributions in both runs; within: of these at most twice the spread that they expect.
    """

    moves: int = 0
    sized: int = 0
    share: float = 0.0
    spread: int = 0
    within: int = 0

    def add(self, move: Move) -> None:
        """Count a move, if it is one."""
        if move.causes != ("noise",):
            return
        self.moves += 1
        if move.kind == "value" and move.share is not None:
            self.sized += 1
            self.share += abs(move.share)
        if move.within is not None:
            self.spread += 1
            self.within += move.within

    @property
    def mean_share(self) -> float | None:
        """Mean size by the width of the scale, 0 to 1; None without any."""
        return self.share / self.sized if self.sized else None

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {**{k: v for k, v in asdict(self).items() if k != "share"}, "mean_share": self.mean_share}


# What to know of two runs before their difference is believed.


def notes_of(a: Run, b: Run) -> tuple[str, ...]:
    """Of two runs: no configuration, samples that are not there yet, lines that hold no item.

    Raises:
        DataError: a run's folder cannot be read.
    """
    notes = []
    for name, run in (("A", a), ("B", b)):
        manifest = run.manifest
        if not part_of_manifest(manifest, "configuration"):
            notes.append(f"run {name} does not tell its configuration, so no cause can be named: keep runs in folders")
        if notice := incomplete_run(run):
            notes.append(f"run {name} is {notice}")
        notes += [f"run {name}: {one_line(what, 400)}" for what in (run.folder.left_out if run.folder else ())]
    return tuple(notes)


# The samples of two runs, matched by id, as a stream.


_TABLE = "CREATE TABLE waiting (side INTEGER, id TEXT, line TEXT, PRIMARY KEY (side, id)) WITHOUT ROWID"


def pairs(a: Run, b: Run) -> Iterator[tuple[Item | None, Item | None]]:
    """(of A, of B) of each sample, None on the side that lacks it; those that one side lacks come last.

    Both are read in the order of the dataset, by turns. Where they are in step, nothing is kept; an item whose other
    half has not come yet waits in a temporary file, so memory does not grow with the runs, whatever their order.

    Raises:
        DataError: a run has no items to be read. ConfigError: the temporary file cannot be written.
    """
    with closing(_Waiting()) as waiting:
        streams = (_in_order(a), _in_order(b))
        open_sides = [0, 1]
        while open_sides:
            for side in tuple(open_sides):
                item = next(streams[side], None)
                if item is None:
                    open_sides.remove(side)
                elif (other := waiting.take(1 - side, item.id)) is not None:
                    yield (item, other) if side == 0 else (other, item)
                else:
                    waiting.put(side, item)
        yield from ((item, None) for item in waiting.left(0))
        yield from ((None, item) for item in waiting.left(1))


def _in_order(run: Run) -> Iterator[Item]:
    return run.folder.items_in_order() if run.folder else iter(sorted(run.held, key=lambda item: item.place))


class _Waiting:
    """Items whose other half has not come: the latest of each side in memory, the others in SQLite's own file."""

    def __init__(self) -> None:
        self._latest: list[Item | None] = [None, None]
        self._db: sqlite3.Connection | None = None

    def put(self, side: int, item: Item) -> None:
        """It waits; the one before it on its side goes to the file."""
        before, self._latest[side] = self._latest[side], item
        if before is not None:
            self._run("INSERT OR REPLACE INTO waiting VALUES (?, ?, ?)", side, before.id, before.line())

    def take(self, side: int, id: str) -> Item | None:
        """The item of an id, which waits no more."""
        latest = self._latest[side]
        if latest is not None and latest.id == id:
            self._latest[side] = None
            return latest
        if self._db is None:
            return None
        row = self._run("SELECT line FROM waiting WHERE side = ? AND id = ?", side, id).fetchone()
        if row is None:
            return None
        self._run("DELETE FROM waiting WHERE side = ? AND id = ?", side, id)
        return Item.model_validate_json(row[0])

    def left(self, side: int) -> Iterator[Item]:
        """Those without another half."""
        if self._db is not None:
            for (line,) in self._run("SELECT line FROM waiting WHERE side = ?", side):
                yield Item.model_validate_json(line)
        if (latest := self._latest[side]) is not None:
            yield latest

    def close(self) -> None:
        """Its file goes."""
        if self._db is not None:
            self._db.close()

    def _run(self, statement: str, *values: int | str) -> sqlite3.Cursor:
        try:
            if self._db is None:
                self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
                for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -512"):
                    self._db.execute(f"PRAGMA {setting}")
                self._db.execute(_TABLE)
                self._db.execute("BEGIN")  # never committed: nobody else reads it
            return self._db.execute(statement, values)
        except sqlite3.Error as error:
            why = f"cannot write the temporary file of samples: {error}; free space in the temporary folder"
            raise ConfigError(why) from None


# What changed between two runs' configurations, each change under the cause it is for a score.


Cause: TypeAlias = Literal[
    "data",
    "prompt",
    "model",
    "reader",
    "criteria",
    "other criteria",
    "critic",
    "graph",
    "version",
    "meta",
    "failure",
    "noise",
    "unknown",
]
CAUSES: tuple[Cause, ...] = (
    "data", "prompt", "model", "reader", "criteria", "other criteria", "critic", "graph", "version", "meta", "failure",
    "noise", "unknown",
)  # fmt: skip
PROMPT = ("prompt", "prompts", "cot", "thoughts", "reply", "explain", "role", "steps", "reasons", "labels")
MODEL = ("judge", "judges", "reader", "temperature", "seed", "samples", "top_p", "max_tokens")
CRITERIA = ("task", "scale")
DRAWN = ("seed", "samples", "temperature")  # of a node that asks no judge they are settings of its code
NAMES = ("name", "stage", "judge_name", "comparer", "scored_by")  # what only names things moves no score
Table: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Change:
    """One thing that is not the same in both runs.

    Attributes:
        cause: what it is for a score that moved: "prompt", "model", "criteria", "critic", "graph", "data", "version".
        line: for people, such as "nodes.critique.prompt: sage@1111aaaa -> sage@2222bbbb".
        node: of the graph, "" for what belongs to none. criterion: whose definition or scale it is, else "".
        kind: the cause that it would be at a node that is no critic. weak: it moves no score as far as is known.
        edge: of the graph, that came or went, else "". about: the setting and both values, without the node.
    """

    cause: Cause
    line: str
    node: str = ""
    criterion: str = ""
    kind: Cause = "graph"
    weak: bool = False
    edge: str = ""
    about: str = ""

    def to_dict(self) -> dict[str, str]:
        """As JSON values."""
        return {name: getattr(self, name) for name in ("cause", "node", "criterion", "line")}


def changes(a: Table, b: Table) -> tuple[Change, ...]:
    """Between two manifests; in the order of causes."""
    old, new = part_of_manifest(a, "configuration"), part_of_manifest(b, "configuration")
    critics = critic_family(a) | critic_family(b)
    found = [*_of_nodes(old, new, critics), *_of_criteria(old, new)]
    found += _of_graph(old, new, by_critic=any(c.cause == "critic" and _came_or_went(c, old, new) for c in found))
    found += _versions(a, b)
    data = (part_of_manifest(a, "data"), part_of_manifest(b, "data"))
    found += [Change("data", f"data.{line}", kind="data", weak=True) for line in differences(*data)]
    return tuple(sorted(found, key=lambda change: CAUSES.index(change.cause)))


def part_of_manifest(manifest: Table, name: str) -> Table:
    """A part of a manifest, empty where it is none."""
    part = manifest.get(name)
    return part if isinstance(part, Mapping) else {}


def critic_family(manifest: Table) -> set[str]:
    """Nodes that are a critic or put its verdicts into scores."""
    critics, table = part_of_manifest(manifest, "critics"), part_of_manifest(manifest, "configuration")
    found = {str(node) for nodes in critics.values() if isinstance(nodes, list) for node in nodes}
    return found | {node for node in node_names(table) if table.get(f"{key_of_node(node)}.options.name") in critics}


def node_names(table: Table) -> list[str]:
    """Nodes of a configuration, inner ones as "weigh/judge"."""
    names = [key.split(".")[1] for key in table if key.startswith("nodes.")]
    return [name.replace("%2E", ".") for name in dict.fromkeys(names)]


def key_of_node(node: str) -> str:
    """Where a node stands in a configuration."""
    return f"nodes.{node.replace('.', '%2E')}"


def holds(outer: str, node: str) -> bool:
    """Whether a node is another, or stands in it."""
    return node == outer or node.startswith(f"{outer}/")


def _of_nodes(old: Table, new: Table, critics: set[str]) -> Iterator[Change]:
    here, there = set(node_names(old)), set(node_names(new))
    for node in dict.fromkeys([*node_names(old), *node_names(new)]):
        if any(_lacks_outer(node, *sides) for sides in ((here, there), (there, here))):
            continue
        critic, key = any(holds(one, node) for one in critics), key_of_node(node)
        alone = (node in here) != (node in there)
        keys = [key] if alone else [k for k in {**old, **new} if k == key or k.startswith(f"{key}.")]
        for one in keys:
            what = one.removeprefix(key).removeprefix(".")
            kind, name = _kind(what)
            if name in DRAWN and not any(f"{key}.judge" in table for table in (old, new)):
                kind = "graph"
            weak, about = name in NAMES or _renamed(key, name, old, new), _about(what, old.get(one), new.get(one))
            for line in _lines(one, old, new):
                cause: Cause = "critic" if critic else "criteria" if kind == "other criteria" else kind
                yield Change(cause, line, node, kind=kind, weak=weak, about=about)


def _about(what: str, before: Any, after: Any) -> str:
    return json.dumps([what, before, after], sort_keys=True, default=str)


def _renamed(key: str, name: str, old: Table, new: Table) -> bool:
    """Whether a node's templates have other names alone: their digests are the same."""
    sides = [_digests(table.get(f"{key}.prompt")) for table in (old, new)]
    return name in ("prompt", "prompts") and bool(sides[0]) and sides[0] == sides[1]


def _digests(prompt: Any) -> list[str]:
    if isinstance(prompt, Mapping):
        return [str(digest) for digest in prompt.values()]
    return [prompt.rpartition("@")[2]] if isinstance(prompt, str) and "@" in prompt else []


def _lacks_outer(node: str, having: set[str], lacking: set[str]) -> bool:
    """Whether it came or went with a graph around it, which has a line of its own."""
    outer = node.rpartition("/")[0]
    while outer:
        if outer in having and outer not in lacking:
            return True
        outer = outer.rpartition("/")[0]
    return False


def _kind(what: str) -> tuple[Cause, str]:
    """What a key of a node is about, and its name; "" is the node itself."""
    name = what.removeprefix("options.").split(".")[0]
    kinds: dict[Cause, tuple[str, ...]] = {
        "prompt": PROMPT, "model": MODEL, "criteria": CRITERIA,
        "other criteria": ("criteria",), "version": ("package",),
    }  # fmt: skip
    return next((kind for kind, names in kinds.items() if name in names), "graph"), name


def _of_criteria(old: Table, new: Table) -> Iterator[Change]:
    for key in {**old, **new}:
        if key.startswith("criteria."):
            name = key.removeprefix("criteria.")
            yield from (Change("criteria", x, criterion=name, kind="criteria") for x in _lines(key, old, new))


def _of_graph(old: Table, new: Table, *, by_critic: bool) -> Iterator[Change]:
    """The method, its edges and its state; a critic that came or went brings its own."""
    cause: Cause = "critic" if by_critic else "graph"
    for key in ("method", "state"):
        yield from (Change("graph", line, weak=True) for line in _lines(key, old, new))
    sides = [table.get("edges") for table in (old, new)]
    gone, come = (list(map(str, side)) if isinstance(side, list) else [] for side in sides)
    for word, edges, others in (("no more", gone, come), ("new", come, gone)):
        for edge in edges:
            if edge not in others:
                yield Change(cause, f"edges: {word}: {one_line(edge)}", weak=by_critic, edge=edge)


def _came_or_went(change: Change, old: Table, new: Table) -> bool:
    key = key_of_node(change.node)
    return (key in old) != (key in new)


def _versions(a: Table, b: Table) -> Iterator[Change]:
    ours = [{"judgegraph": str(m.get("judgegraph"))} for m in (a, b)]
    yield from (Change("version", line, kind="version") for line in differences(*ours))
    others = differences(part_of_manifest(a, "versions"), part_of_manifest(b, "versions"))
    yield from (Change("version", line, kind="version", weak=True) for line in others)


def _lines(key: str, old: Table, new: Table) -> list[str]:
    sides = [{key: table[key]} if key in table else {key: ABSENT} for table in (old, new)]
    return differences(*sides)


# What a score depends on: the node that wrote it, and all that stand before that.


_LABEL = re.compile(r" \([^()]*\)$")
_DRAWN = re.compile(r":(\d+)")


class Upstream:
    """Of one configuration.

    Attributes:
        nodes: all of them.
    """

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self._table = configuration
        self.nodes = frozenset(node_names(configuration))
        self._graphs = {node.rpartition("/")[0] for node in self.nodes} - {""}
        self._before: dict[str, set[str]] = {}
        self._edges: dict[str, set[str]] = {}
        self._opaque = not isinstance(configuration.get("edges"), list)
        for line in [] if self._opaque else configuration["edges"]:
            self._add(str(line))
        self._known: dict[str, frozenset[str]] = {}

    def of(self, agent: str) -> frozenset[str]:
        """Nodes that an agent's scores may depend on: those of its name and all before; all where none has it."""
        if agent not in self._known:
            writers = self.writers(agent)
            self._known[agent] = self._closed(writers) if writers else self.nodes
        return self._known[agent]

    def knows(self, agent: str) -> bool:
        """Whether it is known which nodes an agent's scores depend on; else `of` gives those behind them too."""
        return not self._opaque and bool(self.writers(agent))

    def edges_into(self, nodes: frozenset[str]) -> frozenset[str]:
        """Edges that lead to one of these nodes."""
        return frozenset(line for line, ends in self._edges.items() if not nodes.isdisjoint(ends))

    def writers(self, agent: str) -> list[str]:
        """Nodes whose agent has this name."""
        return [node for node in sorted(self.nodes) if self._table.get(f"{key_of_node(node)}.options.name") == agent]

    def draws(self, agent: str) -> int:
        """Answers that a value is the mean of, as far as the settings tell; else 1."""
        readers = [str(self._table.get(f"{key_of_node(node)}.reader", "")) for node in self.writers(agent)]
        found = [int(match[1]) for reader in readers if (match := _DRAWN.search(reader))]
        return max(1, min(found, default=1))

    def settings(self, agent: str, name: str) -> list[str]:
        """What the agent's nodes are set to by a name, such as "judge"; each once."""
        values = [self._table.get(f"{key_of_node(node)}.{name}") for node in self.writers(agent)]
        return list(dict.fromkeys(str(value) for value in values if value is not None))

    def judged_by(self, agent: str) -> set[str]:
        """Criteria that the agent's nodes judge, and those before them."""
        listed = [self._table.get(f"{key_of_node(node)}.criteria") for node in self.of(agent)]
        return {str(name) for names in listed if isinstance(names, list) for name in names}

    def _closed(self, writers: Iterable[str]) -> frozenset[str]:
        """With all that stands before them; all nodes where an edge cannot be read."""
        if self._opaque:
            return self.nodes
        seen: set[str] = set()
        due = list(writers)
        while due:
            node = due.pop()
            if node not in seen:
                seen.add(node)
                due += self._before.get(node, ())
        return frozenset(seen & self.nodes)

    def _add(self, line: str) -> None:
        """One line of `runs.identity.edges`."""
        source, arrow, targets = line.partition(" -> ")
        if not arrow:
            self._edges[line] = {source.removesuffix(" awaits all")}
            return
        sources = self._places(source, " and ", self._end)
        bare = targets if self._all_known(targets) else targets.rpartition(" by ")[0]
        path = source.rpartition("/")[0]
        if bare == "any":
            ends = [self._start(node) for node in self.nodes if node.rpartition("/")[0] == path]
        else:
            ends = self._places(bare, " or ", self._start)
        self._edges[line] = {end.removesuffix("/START") for end in ends}
        for end in ends:
            self._before.setdefault(end, set()).update(sources)

    def _places(self, text: str, joint: str, place: Any) -> list[str]:
        return [place(one) for one in self._names(text, joint)]

    def _names(self, text: str, joint: str) -> Iterator[str]:
        """Names that are joined by a word; one that is not known makes the graph opaque."""
        for part in [text] if self._is_known(text) else text.split(joint):
            name = part if self._is_known(part) else _LABEL.sub("", part)
            if self._is_known(name):
                yield name
            else:
                self._opaque = True

    def _all_known(self, text: str) -> bool:
        return all(self._is_known(part) or self._is_known(_LABEL.sub("", part)) for part in text.split(" or "))

    def _is_known(self, name: str) -> bool:
        path, _, last = name.rpartition("/")
        return name in self.nodes or (last in ("START", "END") and (not path or path in self._graphs))

    def _start(self, node: str) -> str:
        return f"{node}/START" if node in self._graphs else node

    def _end(self, node: str) -> str:
        return f"{node}/END" if node in self._graphs else node
