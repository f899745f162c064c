"""How much of what was asked for could be read: the share that a gate such as `--coverage 0.98` looks at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from judgegraph.runtime.line import Line
from judgegraph.runtime.summary import Summary

OWN = "criteria of the samples' own"
PAIRS, ALL = "verdicts", "samples"


@dataclass(frozen=True)
class _Part:
    """Something that was asked of many samples: `ok` of `n` could be read, `each` of one sample."""

    name: str
    ok: int
    n: int
    each: int = 1


class Covered(NamedTuple):
    """The least share of what could be read.

    Attributes:
        share: 0 to 1. name: what it is the share of. ok: how many could be read. n: of how many; absent of these are
            of rows that were rejected and of samples that were not judged, which no table of scores counts.
    """

    share: float
    name: str
    ok: int
    n: int
    absent: int = 0

    @property
    def counts(self) -> str:
        """Such as "12 of 16", with what of these no table counts."""
        lost = f", {self.absent:,} of these for rows rejected and samples not judged, which no table counts"
        return f"{self.ok:,} of {self.n:,}{lost if self.absent else ''}"


def coverage(summary: Summary, rejected: int = 0, unjudged: int = 0) -> tuple[float, str]:
    """`covered`'s share and name."""
    return covered(summary, rejected, unjudged)[:2]


def covered(summary: Summary, rejected: int = 0, unjudged: int = 0) -> Covered:
    """The least share, over all that a run was asked for, of what could be read, and what it is the share of.

    Each line of answers (`judgegraph.answers`) has the share n_ok / n; of pairs that were compared it is the share that
    got a verdict, a tie too. Only "ok" counts: an abstention is no score, and neither is one that was refused, not
    readable, or not paid for. A sample whose graph failed misses its scores in every line; a row that was rejected does
    too, and so does a sample that was never judged: nobody knows what they would have brought. Criteria that were
    written for single samples are one line, or a criterion of one sample would be the weakest of all. Without lines it
    is the share of samples for which anything could be read.

    Args:
        rejected: rows of the data that are no samples. unjudged: samples of the data without an item.

    Returns:
        Share 0 for a run without samples.
    """
    lines = summary.shown
    parts = [*_shared([x for x in lines if not x.own]), *_written([x for x in lines if x.own], summary.samples)]
    if summary.verdicts:
        pairs = summary.verdicts.total()
        parts.append(_Part(PAIRS, pairs - summary.verdicts["none"], pairs))
    if not parts:
        parts = [_Part(ALL, summary.judged, summary.samples.total())]
    absent = rejected + unjudged
    found = []
    for part in parts:
        lost = absent * part.each
        whole = part.n + lost
        found.append(Covered(part.ok / whole if whole else 0.0, part.name, part.ok, whole, lost))
    return min(found, key=lambda one: one.share)


def _shared(lines: Iterable[Line]) -> Iterator[_Part]:
    """A part for each line, named by its criterion, and by its agent where several judged it."""
    lines = list(lines)
    agents = Counter((x.criterion, x.of) for x in lines)
    for x in lines:
        side = " (rival)" if x.of == "rival" else ""
        agent = f" ({x.agent})" if agents[x.criterion, x.of] > 1 else ""
        yield _Part(f"{x.criterion}{side}{agent}", x.n_ok, x.n, _each(x.asked.total(), x.samples.total()))


def _written(lines: Iterable[Line], samples: Counter[str]) -> Iterator[_Part]:
    """One part for each agent and side: what it scored of the criteria that came with a sample."""
    kinds: dict[tuple[str, str], list[Line]] = {}
    for x in lines:
        kinds.setdefault((x.agent, x.of), []).append(x)
    for (agent, _), found in kinds.items():
        ok, n, lost, asked = (sum(x) for x in zip(*map(_sums, found), strict=True))
        each = _each(asked, samples["ok"])
        missing = max(0, (samples.total() - samples["ok"]) * each - lost)
        yield _Part(OWN if len(kinds) == 1 else f"{OWN} ({agent})", ok, n + missing, each)


def _sums(line: Line) -> tuple[int, int, int, int]:
    return line.n_ok, line.n, line.lost.total(), line.asked.total()


def _each(scores: int, samples: int) -> int:
    return max(1, round(scores / samples)) if samples else 1
