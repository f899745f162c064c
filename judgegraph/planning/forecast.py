"""What a plan says: per node how many calls are certain, between what the others lie, and what they cost."""

from __future__ import annotations

import math
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from judgegraph.calls.asking import NEVER_CAME
from judgegraph.calls.budget import Budget, at_least
from judgegraph.calls.estimate import CONSTANT, LONG, MANNERS, SHORT
from judgegraph.calls.ledger import Paid, ReadOnlyLedger
from judgegraph.calls.limits import Limits
from judgegraph.calls.types import COMPLETION, thinks_by_name, unpacked
from judgegraph.compiled import agents_of, run_sync
from judgegraph.data.samples import Mark, checked, mark_of
from judgegraph.errors import ConfigError, DataError, counted, handing_on, one_line, status_text
from judgegraph.models.judges import resolve
from judgegraph.models.prices import Prices
from judgegraph.planning.dry_run import Amount, DryRun, DryRunFailure, NodeCount, Tally
from judgegraph.prompts.template import evidence_left_out
from judgegraph.runs.folder import ITEMS, LEDGER, Folder
from judgegraph.runs.identity import configuration, differences, plain, signature
from judgegraph.runs.item import FINE, LISTED, Item, failures, taken_again, unfit_prices
from judgegraph.shown import Shown
from judgegraph.types import Sample

ENDS = ("lowest", "readable", "highest")
PARTS = ("calls", "prompt_tokens", "completion_tokens", "usd")
NOT_CALLS = "Retries of failed requests, and requests refused for a feature the judge lacks, are no calls: not counted."
PREFIXES = "{:.0%} of prompt tokens are in a prefix sent before, for which many providers charge less."
THINKING = (
    "{} thinks before it answers, and what it thinks is paid for as a reply's tokens, often thousands: it is not "
    "counted here; --pilot N measures it."
)
READABLE = "A sample for which no readable reply comes at all ends early, with fewer calls than the lowest number."


@dataclass(frozen=True)
class Range:
    """From the lowest to the highest; `usd` is of judges whose price is known.

    Attributes:
        middle: of a plan the highest where every reply can be read, and holds all the choices that were asked for;
            of a projection its mean.
    """

    lowest: Amount
    middle: Amount
    highest: Amount

    def to_dict(self, names: tuple[str, str, str] = ENDS) -> dict[str, dict[str, float]]:
        """As JSON values: lowest, middle and highest by these names."""
        amounts = (self.lowest, self.middle, self.highest)
        return {name: _plain(amount) for name, amount in zip(names, amounts, strict=True)}

    def minus(self, other: Range) -> Range:
        """What is left without the other."""
        return Range(
            self.lowest.minus(other.lowest), self.middle.minus(other.middle), self.highest.minus(other.highest)
        )


def _plain(amount: Amount) -> dict[str, float]:
    parts = zip(PARTS, amount.parts, strict=True)
    return {name: round(value, 6) if name == "usd" else round(value) for name, value in parts}


@dataclass(frozen=True)
class NodePlan:
    """Of one node, or of all.

    Attributes:
        exact: calls made whatever is replied, those in the ledger among them; where code of the caller's own decides
            (`Forecast.own_code`), those that were made with every kind of invented reply. kept: found in the ledger.
        missing: of `exact`, those that are not in the ledger.
        rest: calls beyond `exact` that are not in the ledger: lowest, highest where every reply can be read and holds
            all the choices that were asked for, highest.
        cost: of all that is not in the ledger, likewise. projected: the same, by a pilot.
    """

    node: str
    exact: int
    kept: int
    missing: int
    rest: tuple[int, int, int]
    cost: Range
    projected: Range | None = None

    @staticmethod
    def of(node: str, count: NodeCount) -> NodePlan:
        """From what was counted."""
        more = (count.lowest, count.readable, count.highest)
        low, middle, high = (round(amount.calls) for amount in more)
        cost = Range(*(count.certain.plus(amount) for amount in more))
        return NodePlan(node, count.exact, count.kept, round(count.certain.calls), (low, middle, high), cost)

    def to_dict(self, interval: bool = True) -> dict[str, Any]:
        """As JSON values.

        Args:
            interval: the projection has one; else its ends are null.
        """
        about = {"node": self.node, "exact": self.exact, "in_ledger": self.kept, "exact_missing": self.missing}
        projected: dict[str, Any] = {}
        if self.projected:
            ends = self.projected.to_dict(("low", "mean", "high"))
            projected["projected"] = ends if interval else {**ends, "low": None, "high": None}
        return {**about, "rest": dict(zip(ENDS, self.rest, strict=True)), "to_pay": self.cost.to_dict(), **projected}


@dataclass(frozen=True)
class PilotCost:
    """What a pilot took: samples judged, how they ended, calls and tokens paid for, USD where prices are known.

    Attributes:
        statuses: how samples ended; one with no readable score counts under its scores' commonest status.
        used: samples that the projection is from.
        failure: why nothing at all could be read, "" where something could; then there is no projection.
        over_budget: the budget ended it.
    """

    samples: int
    statuses: Mapping[str, int]
    calls: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    used: int = 0
    failure: str = ""
    over_budget: bool = False


@dataclass(frozen=True)
class Forecast(Shown):
    """What a run over a dataset will ask for.

    Attributes:
        samples: planned for. finished: those that the run's folder has finished, which are not among them.
        nodes: in the order of asking. total: of all nodes.
        basis: what the figures rest on, a line each. unpriced: judges whose price is not known.
        mishaps: where the graph did not come to its end with invented replies; with any, the figures are too low.
        failed: samples that met one. own_code: where code of the caller's own may decide what is asked.
        exact_addresses: of the calls that are made whatever is replied, as a ledger has them.
        prefix_share: of the prompts' tokens, 0 to 1, in a prefix that the judge was sent before; None without prompts.
    """

    signature: str
    samples: int
    nodes: tuple[NodePlan, ...]
    total: NodePlan
    basis: tuple[str, ...]
    unpriced: tuple[str, ...] = ()
    mishaps: tuple[DryRunFailure, ...] = ()
    pilot: PilotCost | None = None
    finished: int = 0
    failed: int = 0
    own_code: tuple[str, ...] = ()
    exact_addresses: frozenset[bytes] = field(default=frozenset(), repr=False)
    prefix_share: float | None = None

    @property
    def complete(self) -> bool:
        """Whether every sample came to its end."""
        return not self.mishaps

    @property
    def priced(self) -> bool:
        """Whether money can be told: some judge's price is known, or nothing is left to pay."""
        return self.total.cost.highest.usd > 0 or not self.unpriced

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        interval = self.pilot is not None and self.pilot.used > 1
        nodes, total = [node.to_dict(interval) for node in self.nodes], self.total.to_dict(interval)
        for part in (*nodes, total) if self.unpriced else ():
            for ends in (part["to_pay"], part.get("projected") or {}):
                ends |= {name: at_least(amount) for name, amount in ends.items() if amount}
        return {
            "signature": self.signature, "samples": self.samples, "finished": self.finished,
            "complete": self.complete, "nodes": nodes, "total": total,
            "basis": list(self.basis), "own_code": list(self.own_code),
            "prefix_share": self.prefix_share,
            "unpriced": list(self.unpriced), "failed": self.failed, "mishaps": [vars(m) for m in self.mishaps],
            "pilot": self._of_pilot(self.pilot) if self.pilot else None,
        }  # fmt: skip

    def _of_pilot(self, pilot: PilotCost) -> dict[str, Any]:
        told = vars(pilot) | {"statuses": dict(pilot.statuses)}
        return at_least(told) if self.unpriced and pilot.calls else told

    def __str__(self) -> str:
        low, middle, _ = self.total.rest
        calls = counted(self.total.exact, "call")
        return f"plan for {counted(self.samples, 'sample')}: {calls} for certain, {low:,} to {middle:,} more"


def total_of(tally: Tally) -> NodeCount:
    """All nodes together."""
    counts = tally.nodes.values()
    return NodeCount(
        sum(c.exact for c in counts), sum(c.kept for c in counts), Amount.sum(c.certain for c in counts),
        Amount.sum(c.lowest for c in counts), Amount.sum(c.readable for c in counts),
        Amount.sum(c.highest for c in counts),
    )  # fmt: skip


# A pilot: the first samples judged for real, and what they let expect of the others.


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
    from judgegraph.runs.evaluate import aevaluate  # a plan without a pilot judges nothing

    for _, agent in agents_of(graph):  # a missing key is told before a folder is made
        if hasattr(agent, "prompt") and (judge := getattr(agent, "judge", None)) is not None:
            resolve(judge)
    if out is not None:
        _make(out)
    run = await aevaluate(graph, samples, ledger=ledger, prices=prices, **limits)
    items = {item.id: item for item in run.items}
    ends = {id: end_of(item) for id, item in items.items()}
    whole = [s for s in samples if s.id in ends and ends[s.id][0] not in NEVER_CAME]
    failure = _failure(items.values())
    with closing(ReadOnlyLedger(ledger)) as kept:
        dry_run = DryRun(graph, kept, prices)
        known = [await dry_run.known(sample) for sample in ([] if failure else whole)]
    cost = _cost(run.manifest, Counter(status for status, _ in ends.values()), len(known), failure)
    return Pilot(cost, _per_sample(known), _completion(known), dry_run.again)


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
    ((status, reason), count), *others = bad.most_common()
    many = f" ({count:,} of {bad.total():,} samples)" if others else ""
    return f"no score could be read{many}: {status_text(status)}{f': {reason}' if reason else ''}"


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


# The samples that a run's folder has finished, looked up without writing there: a run would not judge them again.


class Finished:
    """Of a folder; of one that is not there, or None, nothing is.

    Raises:
        ConfigError: the folder holds a run of another configuration, with which a run would not go on.
        DataError: its items cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str] | None, graph: Any, *, without: Sequence[str] = ()) -> None:
        self.count = 0
        self._known: dict[bytes, bytes] = {}  # digests: id -> content
        self._again: set[bytes] = set()  # ids of those that a run takes up again: a budget kept them from their end
        if path is None or not (Folder(path).path / ITEMS).exists():
            return
        self._folder = Folder(path)
        for item in self._folder.items():
            mark = _mark(item.sample, item.place)
            self._known[mark.id] = mark.content
            if taken_again(item.status, failures(item) > 0, retry=False):
                self._again.add(mark.id)
        if self._known:
            self._same(configuration(graph, without=without))

    def _same(self, current: Mapping[str, Any]) -> None:
        earlier = self._folder.manifest().get("configuration")
        if changed := differences(earlier, plain(current)) if isinstance(earlier, dict) else []:
            lines = "".join(f"\n  {line}" for line in changed)
            raise ConfigError(
                f"{self._folder.path} holds a run of another configuration:{lines}\nA run would not go on there: "
                "choose another folder (--out, out=), or name the ledger alone (--ledger, ledger=)"
            )

    def holds(self, sample: Sample) -> bool:
        """Whether a run would pass it over; counts those.

        Raises:
            DataError: it was judged with another content.
        """
        if not self._known:
            return False
        mark = _mark(sample, 0)
        content = self._known.get(mark.id)
        if content is not None and content != mark.content:
            raise DataError(
                f"sample '{one_line(sample.id, 80)}' is not what it was when it was judged in {self._folder.path}; "
                "choose another folder, or give it an id of its own"
            )
        passed_over = content is not None and mark.id not in self._again
        self.count += passed_over
        return passed_over


def _mark(sample: Sample, place: int) -> Mark:
    """Without people's labels, which a run takes as they are now."""
    return mark_of(sample.model_copy(update={"human": {}}), place)


# What a run will cost, before it costs anything.


HANGING = 3  # runs of the graph that may come to no end before the plan gives up
SHOWN = 5  # places of the caller's own code that are named

PathLike = str | os.PathLike[str]


LOOKED_AT = {"reference", "pilot"}  # `check_arguments` looks at all else


@handing_on(kinds=LOOKED_AT)
async def aplan(
    graph: Any, samples: Iterable[Sample], *, out: PathLike | None = None, ledger: PathLike | None = None,
    prices: Prices | PathLike | None = None, pilot: int = 0, budget: Budget | None = None, limits: Limits | None = None,
    concurrency: int = 64, timeout: float = 600.0, on_sample: Callable[[int], None] | None = None,
    reference: bool = True, without: Sequence[str] = (),
) -> Forecast:  # fmt: skip
    """Say what a run over samples will ask for: the graph is run with invented replies, and nothing is sent.

    The graph is run with replies of several manners, from the most sparing to the most demanding: calls that are made
    with all of them are exact, for the others there is a lowest and a highest number. In graphs of ours what is exact
    is asked for whatever is replied; where a node or a choice between edges is code of your own, which may look at
    anything, only as far as these manners show (`Forecast.own_code`). What the ledger holds is answered from it, as
    in the run, and costs nothing.

    Only calls by `judgegraph.ask` and the agents of this package can be planned: what a node of your own sends in
    another way is sent, and not counted.

    Args:
        graph: a compiled LangGraph that reads "sample"; its checkpointer is left aside.
        samples: any iterable with different ids, read once.
        out: folder of a run, which is only read: samples that are finished there are left out, as the run would.
        ledger: file of model calls of earlier runs, which is only read; one that is not there holds nothing. None is
            ledger.sqlite in `out`, or none.
        prices: a table of prices of one's own, before the built-in ones.
        pilot: so many of the first samples are judged first, and paid for, to project the rest; 0 is none. Their
            replies go into the ledger, where the run finds them.
        budget: of the run, which is told where it will not do, and of the pilot. limits, concurrency, timeout: of the
            pilot, as `aevaluate` takes them.
        on_sample: called with the number of samples planned so far.
        reference, without: which evidence is shown, as in `aevaluate`.

    Raises:
        ConfigError: the call is wrong, the ledger's file is none of ours, or the folder holds a run of another
            configuration. DataError: as `aevaluate`.
    """
    if not hasattr(graph, "ainvoke"):
        raise ConfigError(f"a graph is a compiled LangGraph, got {type(graph).__name__}")
    if pilot < 0:
        raise ConfigError(f"pilot is a number of samples, 0 or more, got {pilot}")
    ledger = Path(out) / LEDGER if ledger is None and out is not None else ledger
    if pilot and ledger is None:
        raise ConfigError("a pilot is paid for: name a ledger for its replies, where the run will find them")
    table = prices if isinstance(prices, Prices) else Prices.load(prices)
    left_out = evidence_left_out(reference, without)
    finished = Finished(out, graph, without=left_out)
    given = (
        sample.without(*left_out) if left_out else sample
        for sample in checked(samples) if not finished.holds(sample)
    )  # fmt: skip
    first = list(islice(given, pilot))
    limited: dict[str, Any] = {"budget": budget, "limits": limits, "concurrency": concurrency, "timeout": timeout}
    tried = await judged(graph, first, ledger, table, out, **limited) if first and ledger is not None else None
    with closing(ReadOnlyLedger(ledger)) as kept:
        dry_run = DryRun(graph, kept, table, completion=tried.completion if tried else {}, limits=limits)
        counted = await _counted(dry_run, chain(first, given), on_sample, len(first))
    found = _forecast(dry_run, counted, tried, table)
    basis = (*_beyond(budget, found.total.cost), *found.basis)
    return replace(found, finished=finished.count, basis=basis)


@handing_on(aplan, kinds=LOOKED_AT)
def plan(graph: Any, samples: Iterable[Sample], **settings: Any) -> Forecast:
    """Say what a run over samples will ask for, and wait for it; arguments and errors as `aplan`."""
    return run_sync(aplan(graph, samples, **settings))


def _beyond(budget: Budget | None, cost: Range) -> Iterator[str]:
    """What the run will need more of than its budget has: a line for each cap."""
    words = "take {} at least, so the run ends", "may take {}, and then it ends", "take {} at worst, and then it ends"
    for name, cap in vars(budget).items() if budget is not None else ():
        for said, amount in zip(words, (cost.lowest, cost.middle, cost.highest), strict=True):
            need = {"calls": amount.calls, "tokens": amount.prompt + amount.completion, "usd": amount.usd}.get(
                name, 0.0
            )
            if cap is not None and round(need, 6) > cap:
                shown = [f"${one:,.4g}" if name == "usd" else f"{one:,.0f} {name}" for one in (cap, need)]
                yield f"Over the budget of {shown[0]}: the samples {said.format(shown[1])} before all are judged."
                break


@dataclass
class _Counted:
    """What was counted, of all samples and of those of the pilot."""

    tally: Tally
    before: Tally
    samples: int = 0
    whole: bool = True


async def _counted(
    dry_run: DryRun, samples: Iterable[Sample], on_sample: Callable[[int], None] | None, pilot: int
) -> _Counted:
    tally = Tally()
    found = _Counted(tally, Tally())
    for found.samples, sample in enumerate(samples, 1):
        tally.add(await dry_run.runs(sample))
        if found.samples == pilot:
            found.before = Tally({name: replace(node) for name, node in tally.nodes.items()})
        if on_sample:
            on_sample(found.samples)
        if dry_run.stuck >= HANGING:
            found.whole = False
            break
    return found


def _forecast(dry_run: DryRun, counted: _Counted, pilot: Pilot | None, prices: Prices) -> Forecast:
    tally, left = counted.tally, max(0, counted.samples - pilot.cost.samples) if pilot else 0

    def planned(name: str, node: NodeCount, before: NodeCount) -> NodePlan:
        made = NodePlan.of(name, node)
        bounds = made.cost.minus(NodePlan.of(name, before).cost)
        return replace(made, projected=pilot.projected(name, left, bounds)) if pilot else made

    total = planned(TOTAL, total_of(tally), total_of(counted.before))
    basis = _basis(dry_run, pilot, prices, total.cost.highest.usd > 0)
    if not counted.whole:
        basis = (f"Given up after {counted.samples:,} of the samples; the others were not planned.", *basis)
    return Forecast(
        signature(dry_run.graph), counted.samples,
        tuple(planned(n, c, counted.before.nodes.get(n, NodeCount())) for n, c in tally.nodes.items()),
        total, basis, tuple(sorted(dry_run.unpriced)), tuple(dry_run.failures), pilot.cost if pilot else None,
        failed=dry_run.failures.samples, own_code=dry_run.own, exact_addresses=frozenset(tally.exact),
        prefix_share=dry_run.prefixes.share,
    )  # fmt: skip


def _basis(dry_run: DryRun, pilot: Pilot | None, prices: Prices, paid: bool) -> tuple[str, ...]:
    by_basis: dict[str, list[str]] = {}
    for judge, counter in dry_run.counters.items():
        by_basis.setdefault(counter.basis, []).append(judge)
    prompts = [f"Tokens of prompts: {basis} ({', '.join(judges)})." for basis, judges in by_basis.items()]
    assumed = f"{COMPLETION} for each choice, an assumption, or the judge's max_tokens"
    lines = [_own(dry_run.own)] if dry_run.own else []
    lines += [f"Nobody is asked about {counted(n, 'sample')}: {why}." for why, n in dry_run.skipped.items()]
    lines += [
        f"{judge} sees no images and is not asked about {counted(n, 'sample')} with images, where its scores are "
        "skipped: name a judge that does, or leave them out (--no-images)."
        for judge, n in sorted(dry_run.blind.items())
    ]
    if dry_run.unshown:
        lines.append(
            f"Not shown to the judge, as the prompt has no place for it: {', '.join(sorted(dry_run.unshown))}."
        )
    lines += [*prompts, f"Tokens of replies: {f'as in the pilot, else {assumed}' if pilot else assumed}."]
    thinkers = [judge for judge in dry_run.counters if thinks_by_name(judge)]
    if thinkers and not pilot:
        lines.append(THINKING.format(", ".join(thinkers)))
    if (share := dry_run.prefixes.share) is not None:
        lines.append(PREFIXES.format(share))
    if dry_run.invented:
        least = min(map(len, (CONSTANT, *(filter(None, SHORT) if dry_run.own else ()))))
        lines.append(f"Texts of replies in other prompts: {least} to {LONG} characters each, an assumption.")
    if dry_run.unpriced:
        lines.append(f"No price is known for {', '.join(sorted(dry_run.unpriced))}: not in the sum (see --prices).")
    if unfit := prices.unfit():
        lines.append(unfit_prices(unfit))
    if paid or (pilot and pilot.cost.usd):
        lines.append(f"Prices as of {prices.as_of}.")
    if pilot:
        lines.append(pilot.basis)
    return (*lines, READABLE, NOT_CALLS)


def _own(places: tuple[str, ...]) -> str:
    shown = ", ".join(places[:SHOWN]) + (f" and {len(places) - SHOWN} more" if len(places) > SHOWN else "")
    return (
        f"Exact as far as {len(MANNERS)} kinds of invented replies show: code of your own decides in {shown}, and "
        "another reply may lead elsewhere."
    )
