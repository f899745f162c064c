"""A pilot: the first samples judged for real, and what they let expect of the others."""

from __future__ import annotations

import math
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from judgegraph.calls.asking import NEVER_CAME
from judgegraph.calls.exchange import unpacked
from judgegraph.calls.kept import Kept
from judgegraph.calls.ledger import Paid
from judgegraph.errors import ConfigError
from judgegraph.models.prices import Prices
from judgegraph.models.resolve import resolve
from judgegraph.runtime.amount import Amount
from judgegraph.runtime.evaluate import aevaluate
from judgegraph.runtime.forecast import PilotCost, Range
from judgegraph.runtime.item import FINE, LISTED, Item
from judgegraph.runtime.rehearsal import Rehearsal
from judgegraph.runtime.signature import agents_of
from judgegraph.types import Sample

TOTAL = "all"  # stands for all nodes together
WIDE = 1.96  # standard deviations on either side of the mean: 95 % of a normal distribution
Known = Mapping[bytes, tuple[str, Paid]]  # address -> node, reply


@dataclass(frozen=True)
class Pilot:
    """What the first samples took.

    Attributes:
        per_sample: node, or `TOTAL` -> what each sample added to what the ones before it had asked.
        completion: node -> mean tokens of one reply's choice.
        again: some call had to be asked once more.
    """

    cost: PilotCost
    per_sample: Mapping[str, Sequence[Amount]]
    completion: Mapping[str, float]
    again: bool = False

    @property
    def basis(self) -> str:
        """How a projection is made, in words."""
        used = self.cost.used
        if not used:
            return "No projection: no sample of the pilot had its replies."
        if used == 1:
            return "Projection: what one sample of the pilot took, times the samples left; one has no interval."
        return (
            f"Projection: mean of {used} samples of the pilot, without calls that all of them share, times the samples "
            "left; its 95 % interval takes samples as independent and normal."
        )

    def projected(self, node: str, left: int, bounds: Range) -> Range | None:
        """What is expected of `left` more samples; calls stay within their bounds. None for an unknown node."""
        rows = self.per_sample.get(node)
        if not rows:
            return None
        parts = [self._part(column, left) for column in zip(*(row.parts for row in rows), strict=True)]
        least, most = bounds.lowest.calls, (bounds.highest if self.again else bounds.middle).calls
        parts[0] = [min(max(calls, least), most) for calls in parts[0]]
        low, mean, high = (Amount(*values) for values in zip(*parts, strict=True))
        return Range(low, mean, high)

    @staticmethod
    def _part(values: Sequence[float], left: int) -> list[float]:
        """Low end, mean and high end of a sum of `left` new values.

        It differs from `left` times the mean of the n known ones by the variances of both.
        """
        n, mean = len(values), fmean(values) * left
        half = WIDE * stdev(values) * math.sqrt(left * (1 + left / n)) if n > 1 else 0.0
        return [max(0.0, mean - half), mean, mean + half]


async def judged(
    graph: Any, samples: Sequence[Sample], ledger: str | os.PathLike[str], prices: Prices,
    out: str | os.PathLike[str] | None = None, **limits: Any,
) -> Pilot:  # fmt: skip
    """Judge samples for real, their replies kept in the ledger, and measure what they took.

    Samples that lack replies, as a request failed or the budget was spent, say nothing of what others take.

    Args:
        out: a folder to make for the ledger. limits: of pace, time and budget, as `aevaluate` takes them.
    """
    for _, agent in agents_of(graph):  # a missing key is told before a folder is made
        if hasattr(agent, "prompt") and (judge := getattr(agent, "judge", None)) is not None:
            resolve(judge)
    if out is not None:
        _make(out)
    run = await aevaluate(graph, samples, ledger=ledger, prices=prices, **limits)
    items = {item.id: item for item in run.items}
    ends = {id: end_of(item) for id, item in items.items()}
    whole = [s for s in samples if ends.get(s.id, NEVER_CAME)[0] not in NEVER_CAME]
    failure = _failure(items.values())
    with closing(Kept(ledger)) as kept:
        rehearsal = Rehearsal(graph, kept, prices)
        known = [await rehearsal.known(sample) for sample in ([] if failure else whole)]
    cost = _cost(run.manifest, Counter(status for status, _ in ends.values()), len(known), failure)
    return Pilot(cost, _per_sample(known), _completion(known), rehearsal.again)


def _make(folder: str | os.PathLike[str]) -> None:
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot write {folder}: {error.strerror}") from None


def _cost(manifest: Mapping[str, Any], statuses: Counter[str], used: int, failure: str) -> PilotCost:
    calls, spent = manifest["calls"], manifest["spent"]
    usd = spent["usd"] if spent["usd"] or not spent["unpriced"] else None
    return PilotCost(
        statuses.total(), statuses, calls["replies"], calls["prompt_tokens"], calls["completion_tokens"], usd,
        used=used, failure=failure, over_budget=manifest.get("state") == "over_budget",
    )  # fmt: skip


def end_of(item: Item) -> tuple[str, str]:
    """(status, reason): of the item, or of most of its parts where none of them could be read."""
    parts = [part for name in LISTED for part in getattr(item, name)] + ([item.plan] if item.plan else [])
    bad = [(part.status, part.reason) for part in parts if getattr(part, "status", "ok") not in FINE]
    if item.status != "ok" or item.judged or not bad:
        return item.status, item.reason
    return Counter(bad).most_common(1)[0][0]


def _failure(items: Iterable[Item]) -> str:
    """Why nothing at all came of a pilot; "" where something did. A graph of one's own may have no scores."""
    found = list(items)
    bad = Counter(end for item in found if (end := end_of(item))[0] not in FINE)
    if not bad or any(item.judged for item in found) or bad.total() < len(found):
        return ""
    status, reason = bad.most_common(1)[0][0]
    return f"no score could be read: {status}{f': {reason}' if reason else ''}"


def _per_sample(known: Sequence[Known]) -> dict[str, list[Amount]]:
    """Calls that every sample shares are paid for once, whatever the number of samples: they are left out."""
    if not known:
        return {}
    shared = set(known[0]).intersection(*known) if len(known) > 1 else set()
    nodes = [TOTAL, *dict.fromkeys(node for one in known for node, _ in one.values())]
    rows: dict[str, list[Amount]] = {node: [] for node in nodes}
    seen = set(shared)
    for one in known:
        new: dict[str, Amount] = defaultdict(Amount)
        for address, (node, paid) in one.items():
            if address not in seen:
                amount = Amount(1, paid.prompt, paid.completion, paid.usd or 0.0)
                new[node], new[TOTAL] = new[node].plus(amount), new[TOTAL].plus(amount)
        seen.update(one)
        for node in nodes:
            rows[node].append(new[node])
    return rows


def _completion(known: Sequence[Known]) -> dict[str, float]:
    tokens: Counter[str] = Counter()
    choices: Counter[str] = Counter()
    for node, paid in {address: found for one in known for address, found in one.items()}.values():
        if paid.completion:
            tokens[node] += paid.completion
            choices[node] += len(unpacked(paid.body))
    return {node: tokens[node] / count for node, count in choices.items()}
