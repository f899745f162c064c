"""A graph run without its judges: which calls it makes for a sample, with replies of every policy, and their cost."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from langgraph.errors import InvalidUpdateError
from pydantic import ValidationError

from judgegraph.calls.budget import BudgetTracker
from judgegraph.calls.context import CallContext, Doubted, Prefixes, context
from judgegraph.calls.estimate import (
    DRAWN,
    MANNERS,
    READABLE,
    SAMPLES,
    AskCounts,
    Guessed,
    ReplyPolicy,
    TokenCounter,
    complains,
    counter_for,
    simulated_choices,
)
from judgegraph.calls.ledger import Paid, ReadOnlyLedger
from judgegraph.calls.limits import Limits
from judgegraph.calls.send import as_sent
from judgegraph.calls.types import Call, Choice, address_of, completion_tokens, unpacked
from judgegraph.compiled import WAITS, check_stops, node_at_work, run_sync, waits, without_checkpointer
from judgegraph.errors import (
    WRITTEN_IN,
    ConfigError,
    StateError,
    ValueRefused,
    given_as,
    in_words,
    off_its_ways,
    one_line,
    settings_checked,
)
from judgegraph.models.judges import Judge, trying
from judgegraph.models.prices import Price, Prices
from judgegraph.runs.identity import details
from judgegraph.runs.item import item_of, node_of, without_own
from judgegraph.runs.summary import summarise
from judgegraph.types import Sample
from judgegraph.wiring.check import own_code, runs_own
from judgegraph.wiring.code import Finding
from judgegraph.wiring.graph import precedence

if TYPE_CHECKING:
    from collections.abc import Generator


# What calls take: how many they are, their tokens, and money.


@dataclass(frozen=True)
class Asked:
    """A call that a plan met.

    Attributes:
        node: who asks, such as "weigh/judge". kept: its reply is in the ledger.
        prompt: tokens. completion: tokens of one choice. n: choices asked for.
        most: calls that it may turn into, 1 or more: n choices become n calls where a judge gives one at a time.
        again: it asks once more, as an earlier reply could not be read.
    """

    node: str
    kept: bool
    prompt: int
    completion: float
    n: int = 1
    most: int = 1
    again: bool = False
    price: Price | None = None

    def costs(self) -> Amount:
        """As one call."""
        return self._amount(1, self.n * self.completion)

    def may_add(self) -> Amount:
        """What it may take beyond that, at most."""
        if self.most == 1:
            return Amount()
        return self._amount(self.most, self.most * self.completion).minus(self.costs())

    def _amount(self, calls: int, completion: float) -> Amount:
        prompt = calls * self.prompt
        usd = self.price.usd(prompt, round(completion)) if self.price else 0.0
        return Amount(calls, prompt, completion, usd)


@dataclass(frozen=True)
class Amount:
    """Calls, tokens of prompts and of replies, USD."""

    calls: float = 0
    prompt: float = 0
    completion: float = 0
    usd: float = 0

    def plus(self, other: Amount) -> Amount:
        """Both together."""
        return Amount(*(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    def minus(self, other: Amount) -> Amount:
        """What is left without the other."""
        return Amount(*(a - b for a, b in zip(self.parts, other.parts, strict=True)))

    @property
    def parts(self) -> tuple[float, float, float, float]:
        """In the order of the fields."""
        return self.calls, self.prompt, self.completion, self.usd

    @staticmethod
    def least(amounts: Iterable[Amount]) -> Amount:
        """The least of each part."""
        return Amount(*map(min, zip(*(a.parts for a in amounts), strict=True)))

    @staticmethod
    def most(amounts: Iterable[Amount]) -> Amount:
        """The greatest of each part."""
        return Amount(*map(max, zip(*(a.parts for a in amounts), strict=True)))

    @staticmethod
    def sum(amounts: Iterable[Amount]) -> Amount:
        """All together."""
        total = Amount()
        for amount in amounts:
            total = total.plus(amount)
        return total


NOTHING = Amount()


# What a plan counts: calls that are certain, the ends of a range for the others, each address once.


CERTAIN = 1 << 7  # in `Tally.seen`: asked whatever is replied
Run = Mapping[bytes, Asked]  # address -> call, of one sample with one manner of replies


@dataclass
class NodeCount:
    """Of one node.

    Attributes:
        exact: calls that are made whatever is replied, each once. kept: calls whose reply is in the ledger.
        certain: what those of `exact` cost that are not. lowest, highest: what the other calls cost; `readable` is
            the highest where every reply can be read, and holds all the choices that were asked for.
    """

    exact: int = 0
    kept: int = 0
    certain: Amount = NOTHING
    lowest: Amount = NOTHING
    readable: Amount = NOTHING
    highest: Amount = NOTHING


@dataclass
class Tally:
    """Counts of a dataset, sample by sample.

    Attributes:
        seen: address -> the manners it was asked with, as bits; 16 bytes of digest each.
    """

    nodes: dict[str, NodeCount] = field(default_factory=dict)
    seen: dict[bytes, int] = field(default_factory=dict)

    @property
    def exact(self) -> set[bytes]:
        """Addresses of the calls that are made whatever is replied."""
        return {address for address, bits in self.seen.items() if bits & CERTAIN}

    def add(self, runs: Mapping[int, Run]) -> None:
        """One sample, run with replies of several manners.

        A call made under every manner, and new here, is exact: no reply decides whether it is made. The lowest and
        highest numbers of the rest are taken per sample and node, as replies to different samples may differ.

        Args:
            runs: bit of a manner, or several where they cannot differ -> its calls.
        """
        first = next(iter(runs.values()))
        common = set(first).intersection(*runs.values())
        new = {address for address in common if address not in self.seen}
        for address in first:
            if address in new:
                self._certain(first[address])
                self.seen[address] = CERTAIN
        rests = [self._rest(bits, run, new) for bits, run in runs.items()]
        for node in dict.fromkeys(node for rest in rests for node in rest):
            each = [rest.get(node, _Rest()) for rest in rests]
            count = self._node(node)
            count.kept += min(rest.kept for rest in each)
            count.lowest = count.lowest.plus(Amount.least(rest.paid for rest in each))
            least = Amount.least(rest.paid for rest in each)  # above it where only unreadable replies are known
            count.readable = count.readable.plus(Amount.most((least, *(rest.readable for rest in each))))
            count.highest = count.highest.plus(Amount.most(rest.paid for rest in each))

    def _node(self, name: str) -> NodeCount:
        return self.nodes.setdefault(name, NodeCount())

    def _certain(self, asked: Asked) -> None:
        count = self._node(asked.node)
        count.exact += 1
        if asked.kept:
            count.kept += 1
        else:
            count.certain = count.certain.plus(asked.costs())

    def _rest(self, bits: int, run: Run, certain: set[bytes]) -> dict[str, _Rest]:
        """Node -> what it asks with replies of one manner, beside the certain calls."""
        rest: dict[str, _Rest] = {}
        for address, asked in run.items():
            known = self.seen.get(address, 0)
            if address not in certain and known & (bits | CERTAIN):
                continue
            own = rest.setdefault(asked.node, _Rest())
            if address not in certain:
                self.seen[address] = known | bits
                own.kept += asked.kept
                own.add(NOTHING if asked.kept else asked.costs(), asked.again)
            if not asked.kept:
                own.add(asked.may_add(), again=True)
        return rest


@dataclass
class _Rest:
    """Of one sample, node and manner: calls in the ledger, what the others cost, and without asking again."""

    kept: int = 0
    paid: Amount = NOTHING
    readable: Amount = NOTHING

    def add(self, amount: Amount, again: bool) -> None:
        self.paid = self.paid.plus(amount)
        self.readable = self.readable if again else self.readable.plus(amount)


# One run of a graph for one sample, with replies of one manner in the place of its judges'.


MOST = 1000  # questions of a sample; asking again and several replies to one question are not counted


FAILURE_KINDS = 20  # that are kept apart: where every sample fails in another way, the first ones tell enough


@dataclass(frozen=True)
class DryRunFailure:
    """A graph that did not come to its end with invented replies: what it would ask after that is not known.

    Attributes:
        sample: the first one. count: samples with the same node and reason; numbers and quoted texts may differ.
    """

    sample: str
    node: str
    reason: str
    count: int = 1

    def __str__(self) -> str:
        where = f"node '{self.node}', " if self.node else ""
        others = f" and {self.count - 1:,} more" if self.count > 1 else ""
        return f"{where}sample '{one_line(self.sample, 60)}'{others}: {self.reason}"


@dataclass
class DryRunFailures:
    """Of all samples, by node and reason.

    Attributes:
        samples: that met one.
    """

    samples: int = 0
    _kinds: dict[tuple[str, str], DryRunFailure] = field(default_factory=dict)

    def add(self, found: Iterable[DryRunFailure]) -> None:
        """Of one sample, whatever the manners they came with; equal ones count once."""
        kinds = {(one.node, without_own(one.reason)): one for one in reversed(list(found))}
        self.samples += bool(kinds)
        for kind, one in reversed(kinds.items()):
            known = self._kinds.get(kind)
            if known is not None:
                self._kinds[kind] = replace(known, count=known.count + 1)
            elif len(self._kinds) < FAILURE_KINDS:
                self._kinds[kind] = one

    def __iter__(self) -> Iterator[DryRunFailure]:
        return iter(sorted(self._kinds.values(), key=lambda one: -one.count))


class Endless(Exception):
    """Ends a run of the graph that asks on and on."""

    ends_run = True  # a panel takes it for no member's failure

    def __init__(self) -> None:
        super().__init__(f"no end was found: it asks more than {MOST:,} questions")


@dataclass
class SimulatedJudge:
    """One run of the graph for one sample: what it asked, and whether a reply had to be invented."""

    about: DryRun
    manner: ReplyPolicy
    asked: dict[bytes, Asked] = field(default_factory=dict)
    calls: dict[bytes, tuple[str, Call]] = field(default_factory=dict)  # that would be sent, with the judge's name
    turns: AskCounts = field(default_factory=AskCounts)
    invents: bool = False
    last: str = ""
    questions: int = 0
    skipped: str = ""  # why nobody was asked at all
    blind: set[str] = field(default_factory=set)  # judges that were not asked, as they see no images

    def answer(self, judge: Judge, call: Call) -> list[Choice]:
        """In place of a judge."""
        address = address_of(judge, call)
        row = self.about.row(address)
        self._count(call)
        if address not in self.asked:
            self.asked[address] = self._asked_of(judge, as_sent(judge, call), address, row is not None)
            if row is None:
                self.calls[address] = judge.name, call
        if row is not None:
            return unpacked(row.body)
        self.invents = True
        last = self.turns.before(call) >= judge.endpoint.asks - 1
        return simulated_choices(self.manner, as_sent(judge, call), address, last)

    def doubted(self) -> Doubted:
        """What conditions find, where a reply was invented: of what they look at it says nothing."""
        return self.manner.doubts if self.invents else None

    def _count(self, call: Call) -> None:
        """Graphs of ours end; what one with code of the caller's own does is not known."""
        self.last = node_at_work()
        self.questions += not (call.repeat or complains(call))
        if self.about.own and self.questions > MOST:
            raise Endless

    def _asked_of(self, judge: Judge, call: Call, address: bytes, kept: bool) -> Asked:
        about, node = self.about, self.last
        price = about.prices.price_of(judge)
        if price is None and not kept:
            about.unpriced.add(judge.name)
        each = about.completion.get(node)
        tokens = completion_tokens(call) / call.n if each is None else each
        prompt = 0 if kept else about.prompt(judge, call, address)
        again = self.manner.stubborn and complains(call)
        return Asked(node, kept, prompt, tokens, call.n, self._most(call), again, price)

    def _most(self, call: Call) -> int:
        """Of several choices each may need a call; where the first form is ignored, all of them once more."""
        if call.n == 1 or not self.manner.stubborn:
            return 1
        again = call.schema is not None and not complains(call)
        return call.n * (1 + again)


def _why_skipped(state: Mapping[str, Any]) -> str:
    """The reason of scores that are all skipped, as of a sample with images whose judge sees none; else ""."""
    scores = [*(state.get("scores") or {}).values()]
    return scores[0].reason if scores and all(score.status == "skipped" for score in scores) else ""


@contextmanager
def simulating(simulated: SimulatedJudge, judges: dict[Any, Judge]) -> Generator[None]:
    purse = BudgetTracker(prices=simulated.about.prices)  # which an assistant's own budget is counted by
    here = CallContext(purse=purse, stand_in=simulated.answer, kept=simulated.about.row, doubted=simulated.doubted,
                       limits=simulated.about.limits)  # fmt: skip
    calls, tried = context.set(here), trying.set(judges)
    try:
        yield
        simulated.about.unshown |= here.unshown.keys()
        simulated.blind |= here.blind.keys()
    finally:
        trying.reset(tried)
        context.reset(calls)


# Where code of the caller's own may decide what a graph asks next.


PATIENCE = 60.0  # seconds for one sample with replies of one manner
ALL = (1 << len(MANNERS)) - 1


@dataclass
class DryRun:
    """Runs a graph for a sample without sending anything; replies that a ledger holds are given as they are.

    Attributes:
        graph: a checkpointer of its own is left aside. kept: what the ledger holds.
        completion: node -> tokens of one choice, as measured; of others they are assumed.
        counters: judge's name -> how its tokens are counted. unpriced: names of judges whose price is not known.
        stuck: runs of the graph that did not end in `PATIENCE` seconds, or asked on and on.
        own: where code of the caller's own may decide what is asked.
        invented: some replies were. again: `known` met calls that asked once more.
        prefixes: of the prompts that would be sent with drawn replies, which differ from call to call.
        unshown: "$field in PROMPT", where a sample has something that the prompt has no place for.
        skipped: why nobody is asked about a sample -> how many such samples there are.
        blind: judge that sees no images -> samples with images about which others are asked.
    """

    graph: Any
    kept: ReadOnlyLedger
    prices: Prices
    completion: Mapping[str, float] = field(default_factory=dict)
    limits: Limits | None = None  # of which a prompt's counts here
    counters: dict[str, TokenCounter] = field(default_factory=dict)
    unpriced: set[str] = field(default_factory=set)
    failures: DryRunFailures = field(default_factory=DryRunFailures)
    stuck: int = 0
    invented: bool = False
    again: bool = False
    prefixes: Prefixes = field(default_factory=Prefixes)
    unshown: set[str] = field(default_factory=set)
    skipped: dict[str, int] = field(default_factory=dict)
    blind: Counter[str] = field(default_factory=Counter)
    own: tuple[str, ...] = field(init=False)
    _checked: Any = field(default=None, init=False, repr=False)  # a copy of the graph that tells what nodes write
    _judges: dict[str, dict[Any, Judge]] = field(default_factory=dict)
    _rows: dict[bytes, Paid | None] = field(default_factory=dict)  # of the sample at hand
    _sizes: dict[bytes, int] = field(default_factory=dict)
    _counted: set[bytes] = field(default_factory=set)  # addresses in `prefixes`

    def __post_init__(self) -> None:
        check_stops(self.graph)
        self.own = own_code(self.graph)
        self.graph = without_checkpointer(self.graph)

    async def runs(self, sample: Sample) -> dict[int, Run]:
        """The calls of a sample: bit of a manner -> address -> call; one for all where every reply is known."""
        self._rows.clear()
        self._sizes.clear()
        whole: dict[int, Run] = {}
        broken: dict[int, Run] = {}
        met: list[DryRunFailure] = []
        blind: set[str] = set()
        for index, manner in enumerate(MANNERS):
            simulated = SimulatedJudge(self, manner)
            failure = await self._simulate(simulated, sample)
            met += [failure] if failure is not None else []
            blind |= set() if simulated.skipped else simulated.blind
            (whole if failure is None else broken)[1 << index] = simulated.asked
            self.invented = self.invented or simulated.invents
            if manner is DRAWN or not simulated.invents:
                self._count_prefixes(simulated)
            if not simulated.invents:
                whole, broken = {ALL: simulated.asked}, {}
                if simulated.skipped:
                    self.skipped[simulated.skipped] = self.skipped.get(simulated.skipped, 0) + 1
                break
        self.failures.add(met)
        self.blind.update(blind)
        return whole or broken

    def _count_prefixes(self, simulated: SimulatedJudge) -> None:
        for address, (judge, call) in simulated.calls.items():
            if address not in self._counted:
                self._counted.add(address)
                self.prefixes.add(judge, call, simulated.asked[address].prompt)

    async def prompts(self, sample: Sample) -> list[tuple[str, Call]]:
        """The calls that a run sends for a sample, by drawn replies, with their nodes; a question asked again is one.

        Raises:
            ConfigError: the graph fails at the sample.
        """
        self._rows.clear()
        self._sizes.clear()
        simulated = SimulatedJudge(self, DRAWN)
        if (failure := await self._simulate(simulated, sample)) is not None:
            raise ConfigError(str(failure))
        self.invented = self.invented or simulated.invents
        sent = [(simulated.asked[address].node, call) for address, (_, call) in simulated.calls.items()]
        return [(node, call) for node, call in sent if not complains(call)]

    async def known(self, sample: Sample) -> dict[bytes, tuple[str, Paid]]:
        """The calls of a sample that the ledger holds: address -> node, and what the reply took."""
        self._rows.clear()
        simulated = SimulatedJudge(self, MANNERS[0])
        await self._simulate(simulated, sample)
        self.again = self.again or any(asked.again for asked in simulated.asked.values() if asked.kept)
        return {a: (asked.node, row) for a, asked in simulated.asked.items() if (row := self._rows.get(a)) is not None}

    async def _simulate(self, simulated: SimulatedJudge, sample: Sample) -> DryRunFailure | None:
        limit = asyncio.timeout(PATIENCE)
        try:
            async with limit:
                state = await self.final(simulated, sample)
        except ConfigError:
            raise
        except Exception as error:
            if limit.expired() or isinstance(error, Endless):
                self.stuck += 1
                late = f"no end was found within {PATIENCE:g} s"
                return DryRunFailure(sample.id, simulated.last, str(error) if isinstance(error, Endless) else late)
            if isinstance(error, StateError):  # which names its node
                return DryRunFailure(sample.id, "", one_line(error, 400))
            return DryRunFailure(sample.id, node_of(error), one_line(in_words(error)))
        simulated.skipped = "" if simulated.asked else _why_skipped(state)
        return DryRunFailure(sample.id, "", WAITS) if waits(state) else None

    async def final(self, simulated: SimulatedJudge, sample: Sample) -> Any:
        """The state that the graph ends with; what nodes of the caller's own write is checked as in a run.

        Raises:
            StateError: it cannot be taken up. Whatever else a node raises.
        """
        with simulating(simulated, self._judges.setdefault(simulated.manner.name, {})):
            if not self.own:  # ours write what they say
                return await self.graph.ainvoke({"sample": sample})
            return await self._final_checked(sample)

    async def _final_checked(self, sample: Sample) -> Any:
        from judgegraph.runs.state_check import StateCheck
        from judgegraph.trace.watched import checks, copied

        looks = StateCheck(sample=sample)
        token = checks.set(looks)
        try:
            self._checked = self._checked or copied(self.graph, whole=True)
            state = await self._checked.ainvoke({"sample": sample})
        finally:
            checks.reset(token)
        if not waits(state):
            looks.ended(state)
        return state

    def row(self, address: bytes) -> Paid | None:
        """What the ledger holds at an address."""
        if address not in self._rows:
            self._rows[address] = self.kept.get(address)
        return self._rows[address]

    def prompt(self, judge: Judge, call: Call, address: bytes) -> int:
        """Tokens of a call's prompt."""
        if address not in self._sizes:
            counter = self.counters.get(judge.name)
            if counter is None:
                counter = self.counters[judge.name] = counter_for(judge.name)
            self._sizes[address] = counter.prompt(call)
        return self._sizes[address]


# What nodes of the caller's own do on samples that are made up, with invented replies: `jg.dry_check`.


REASON = 400  # characters of a reason
CODE, UNSURE = "wrong-value", "failed-dry-run"
TOLD = (  # notes of a sample that lie in the graph, whatever a judge replies
    "no-answer", "scale-missing", "criterion-unknown", "verdicts-not-applied", "drafts-stand", "doubt-unknown",
    "overall-off-scale", "panel-member-failed",
)  # fmt: skip
PAIR = SAMPLES[0].model_copy(update={"id": "3", "rival": "It is shut until spring."})
SURE = (StateError, NameError, ImportError, InvalidUpdateError)  # whatever is judged


@settings_checked
def dry_check(graph: Any) -> tuple[Finding, ...]:
    """Run a compiled graph on three samples that are made up, one of them a pair; arguments as `adry_check`."""
    return run_sync(adry_check(graph))


async def adry_check(graph: Any) -> tuple[Finding, ...]:
    """Run a compiled graph on three samples that are made up, one of them a pair, with invented replies.

    What `jg.ask` and agents ask is not sent, and nothing is kept. Nodes of the caller's own do run, so that one which
    calls a model some other way really calls it; a graph without any is not run, as `check` knows all of it.

    Returns:
        An error "wrong-value": what a node writes, or a condition gives, is refused on every sample, or nothing is
        written. Warnings "failed-dry-run": a node failed in another way, which may lie in the made-up sample, or
        what is written is no answer.

    Raises:
        ConfigError: a judge cannot be made, or the graph was compiled to stop at a node.
    """
    if not hasattr(graph, "ainvoke"):
        raise ConfigError(f"dry_check: expected a compiled graph, got {given_as(graph)}")
    with closing(ReadOnlyLedger(None)) as nothing:
        about = DryRun(graph, nothing, Guessed())
        if not runs_own(graph):
            return ()
        noted: list[Finding] = []
        met = [await _met(about, _bare(sample), noted) for sample in (*SAMPLES, PAIR)]
    first = next((error for error in met if error is not None), None)
    if first is None:
        return tuple(dict.fromkeys(noted))
    if None in met:  # such as a verdict on single outputs
        which = "a pair" if met[0] is None else "a sample without rival"
        return (_finding(first, f"on {which}, ", "warning"),)
    sure = next((error for error in met if error is not None and _is_sure(error)), None)
    if sure is not None and all(error is not None and _is_sure(error) for error in met):
        return (_finding(sure, "", "error"),)
    return (_finding(first, "on a sample that was made up, ", "warning"),)


class SampleLacks(KeyError):
    """What was looked for in a sample that was made up: a real one may have it."""


class _Held(dict[str, Any]):
    def __missing__(self, key: str) -> Any:
        raise SampleLacks(key)


def _bare(sample: Sample) -> Sample:
    """The sample, of which it is told apart what a node looks for in its `meta`, `human` and `facts`."""
    return sample.model_copy(update={name: _Held(getattr(sample, name)) for name in ("meta", "human", "facts")})


def _is_foreign(key: object) -> bool:
    """Whether a key that was looked for is none of a sample's own texts, as in a table by their ids."""
    texts = "\n".join(sample.model_dump_json() for sample in (*SAMPLES, PAIR))
    return key is not None and str(key) not in texts


async def _met(about: DryRun, sample: Sample, noted: list[Finding]) -> Exception | None:
    """What ends the graph on a sample, by the first manner of replies that does; else what a run would note of it."""
    for manner in READABLE[:2]:
        try:
            async with asyncio.timeout(PATIENCE):
                state = await about.final(SimulatedJudge(about, manner), sample)
            noted += _noted(about.graph, sample, state)
        except ConfigError:
            raise
        except (TimeoutError, Endless):  # that it may have no end is told by the count of its calls
            return None
        except Exception as error:
            return error
    return None


def _noted(graph: Any, sample: Sample, state: Any) -> Iterator[Finding]:
    """What was written and is no answer.

    Raises:
        StateError: nothing was.
    """
    item = item_of(sample, state, 0.0, wired=precedence(graph))
    for note in item.notes:
        if note.kind == "nothing-written":
            raise StateError(f"{note.text}: return {{'scores': keyed(Score(criterion=..., agent=..., value=...))}}")
    names = [criterion.name for criterion in details(graph)["criteria"]]
    for kind, notice in summarise([item], "", names).notices.items():
        if kind in TOLD:
            yield Finding(UNSURE, "", "scores", notice.text, "warning")
    if silent := sorted({one.agent for one in item.scores if one.status != "ok" and not one.reason}):
        text = (
            f"agent '{one_line(silent[0], 60)}' gives no reason for a score without an answer: write Score(reason=...)"
        )
        yield Finding(UNSURE, "", "scores", text, "warning")


def _is_sure(error: Exception) -> bool:
    """Whether it lies in the graph, and in nothing that a sample made up may lack."""
    if isinstance(error, ValidationError | ValueRefused):
        return error.title in WRITTEN_IN and all(one["input"] is not None for one in error.errors())
    if isinstance(error, KeyError) and not off_its_ways(error):
        return not isinstance(error, SampleLacks) and _is_foreign(error.args[0] if error.args else None)
    if isinstance(error, TypeError | AttributeError):
        return not any(what in str(error) for what in ("NoneType", "string indices"))  # a real output may be JSON
    return isinstance(error, SURE) or off_its_ways(error)


def _finding(error: Exception, where: str, severity: Any) -> Finding:
    said, node = one_line(in_words(error) if not isinstance(error, StateError) else error, REASON), node_of(error)
    said = f"KeyError: {error}, which the sample has not" if isinstance(error, SampleLacks) else said
    place = f"node '{node}' failed: " if node and not isinstance(error, StateError) else ""
    return Finding(CODE if severity == "error" else UNSURE, node, "", f"{where}{place}{said}", severity)
