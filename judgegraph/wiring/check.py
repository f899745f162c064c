"""`jg.check`: the proof that a graph is wired, before anything is asked, and how many calls it makes.

It hides which checks there are and in what order they are asked; and that calls are counted by running the graph with
invented replies, until nothing more is asked.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from judgegraph.calls.budget import BudgetTracker
from judgegraph.calls.context import CallContext, Doubted, context
from judgegraph.calls.estimate import ReplyPolicy, simulated_choices
from judgegraph.calls.send import as_sent
from judgegraph.calls.types import Call, Choice, address_of
from judgegraph.errors import ConfigError, one_line
from judgegraph.models.judges import Judge, trying
from judgegraph.models.prices import Price, Prices
from judgegraph.prompts.template import Prompt, watched
from judgegraph.sync import run_sync, without_checkpointer
from judgegraph.trace.record import node_at_work
from judgegraph.types import Criterion, Sample
from judgegraph.wiring.code import Finding

if TYPE_CHECKING:
    from judgegraph.wiring.drawn import Drawn, Part


ANY = 12  # keys that a node may read, from which on the list tells nothing


class WiringError(ConfigError):
    """A graph is not wired: a line for each mistake, with node, key and cure.

    Attributes:
        findings: the same as values, those that refuse the graph.
    """

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        super().__init__("\n".join(map(str, findings)))
        self.findings = findings


@dataclass(frozen=True)
class NodeWiring:
    """What one node reads and writes, as its annotations say.

    Attributes:
        node: its name, an inner one as "weigh/judge". reads: keys it must find; may_read: those it can do without.
        writes: keys it may write; None where nothing says so.
    """

    node: str
    reads: tuple[str, ...] = ()
    may_read: tuple[str, ...] = ()
    writes: tuple[str, ...] | None = None

    def __str__(self) -> str:
        may = [f"{key}?" for key in self.may_read] if len(self.may_read) < ANY else ["anything else?"]
        read = ", ".join([*self.reads, *may]) or "nothing that it says"
        written = "nothing that it says" if self.writes is None else ", ".join(self.writes) or "nothing"
        return f"{self.node}: reads {read}; writes {written}"


@dataclass(frozen=True)
class Wiring:
    """How a graph is wired: its nodes with what they read and write, and what was found.

    Attributes:
        name: of the graph. nodes: inner ones behind the node they belong to. findings: warnings; with
            `check(graph, strict=False)` errors too.
    """

    name: str
    nodes: tuple[NodeWiring, ...]
    findings: tuple[Finding, ...] = ()
    graph: Any = field(default=None, repr=False, compare=False)

    @cached_property
    def calls(self) -> CallCounts:
        """Its model calls: counted when first looked at, by running the graph with invented replies; nothing is sent.

        A checkpointer that it was compiled with is left aside.

        Raises:
            WiringError: the graph is not wired, so that it cannot be run.
        """

        if not self.ok:
            raise WiringError(tuple(f for f in self.findings if f.severity == "error"))
        return count_calls(self.graph if hasattr(self.graph, "ainvoke") else self.graph.compile())

    @property
    def ok(self) -> bool:
        """Whether nothing refuses the graph."""
        return not any(finding.severity == "error" for finding in self.findings)

    def __str__(self) -> str:
        head = f"{self.name}: {'wired' if self.ok else 'not wired'}, {len(self.nodes)} nodes"
        told = [f"{finding.severity}: {finding}" for finding in self.findings]
        return "\n".join([head, *(f"  {node}" for node in self.nodes), *told])

    def to_dict(self) -> dict[str, Any]:
        """All of it as values that JSON can hold."""
        nodes = [
            {"node": n.node, "reads": [*n.reads], "may_read": [*n.may_read]}
            | {"writes": None if n.writes is None else [*n.writes]}
            for n in self.nodes
        ]
        found = [finding.to_dict() for finding in self.findings]
        return {"name": self.name, "wired": self.ok, "nodes": nodes, "findings": found}


def check(graph: Any, *, strict: bool = True) -> Wiring:
    """Prove that a graph is wired: every key read is written before, every node is reached, every loop is bounded.

    It is read from annotations, edges and the code of conditions: no node runs, no model is asked and no key is needed.
    Reducers are tried on empty values. What is not annotated is not claimed. Graphs of assistants are looked at too.

    Args:
        graph: a StateGraph or a compiled one. strict: False gives errors back among the findings.

    Raises:
        WiringError: it is not, with a line for each mistake. ConfigError: no graph was given.
    """
    from judgegraph.wiring.drawn import drawn

    builder = getattr(graph, "builder", graph)
    if not all(hasattr(builder, name) for name in ("nodes", "edges", "branches", "channels", "waiting_edges")):
        raise ConfigError(f"check: expected a StateGraph or a compiled graph, got {type(graph).__name__}")
    read = drawn(graph)
    found = tuple(findings_of(read))
    errors = tuple(finding for finding in found if finding.severity == "error")
    if errors and strict:
        raise WiringError(errors)
    name = graph.get_name() if hasattr(graph, "get_name") else "graph"
    return Wiring(name, tuple(_nodes(read)), found, graph)


def refuse(graph: Any) -> tuple[Finding, ...]:
    """Of a graph that is about to be run over samples, which bring it nothing else; gives the warnings.

    Raises:
        WiringError: it is not wired.
    """

    if not hasattr(getattr(graph, "builder", graph), "state_schema"):
        return ()  # it is none of LangGraph's: nothing of it can be seen
    found = of_a_run(graph)
    if errors := tuple(finding for finding in found if finding.severity == "error"):
        raise WiringError(errors)
    return tuple(found)


def _nodes(graph: Drawn) -> Iterator[NodeWiring]:
    for name, part in graph.parts.items():
        yield _node_of(graph.at(name), part)
        if part.inside is not None:
            yield from _nodes(part.inside)


def _node_of(name: str, part: Part) -> NodeWiring:
    writes = None if part.writes is None else tuple(sorted(part.writes))
    return NodeWiring(name, tuple(sorted(part.reads)), tuple(sorted(part.may_read)), writes)


# Findings: each check of the room asked in turn, of a graph and of all in it.


def findings(graph: Any) -> list[Finding]:
    """Everything that is wrong with a StateGraph or a compiled graph, errors first; subgraphs included."""
    from judgegraph.wiring.drawn import drawn

    return findings_of(drawn(graph))


def of_a_run(graph: Any) -> list[Finding]:
    """The same of a graph that is run over samples: it is given nothing else, no criteria either."""
    from judgegraph.wiring.drawn import drawn
    from judgegraph.wiring.graph import without_criteria
    from judgegraph.wiring.meaning import unanswered

    read = drawn(graph)
    read = replace(read, brought=frozenset({"sample"}))
    return [*findings_of(read), *without_criteria(read), *unanswered(read)]


def findings_of(graph: Drawn) -> list[Finding]:
    """Of a graph that was read already; the graphs of its assistants included."""
    from judgegraph.wiring import graph as agents
    from judgegraph.wiring import meaning as stages
    from judgegraph.wiring.drawn import lies, lost, made, misread, missing, misspelt, misused, unhanded

    checks = (
        made, lost, agents.unreached, misspelt, misread, lies,
        misused, unhanded, missing, agents.lacking, agents.never_run, agents.run_twice,
        agents.empty_fan_outs, agents.unbounded, agents.side_by_side, agents.reducers, agents.judges,
        agents.dead_ends, agents.unmapped, agents.too_many, agents.templates, agents.unfit_criteria,
    )  # fmt: skip
    wholes = (
        stages.same_scores, stages.elsewhere, stages.unseen, stages.votes_reviewed, stages.astray, stages.miscompared,
        stages.silent, stages.of_one, stages.misspelt, stages.unfit, stages.unapplied, stages.misnamed,
        agents.assistants,
    )  # fmt: skip
    found = [finding for part in graph.everywhere() for check in checks for finding in agreed(check, part)]
    found += [finding for whole in wholes for finding in whole(graph)]
    found += [finding for part in graph.everywhere() for asked in agents.asked(part) for finding in findings_of(asked)]
    return sorted(dict.fromkeys(found), key=lambda finding: finding.severity != "error")


def agreed(check: Callable[[Drawn], Iterator[Finding]], graph: Drawn) -> list[Finding]:
    """What holds whether conditions of which it cannot be seen name one node or several."""
    told, other = list(check(graph)), graph.otherwise
    if not told or other is None:
        return told
    also = {(finding.code, finding.node, finding.key) for finding in check(other)}
    return [finding for finding in told if (finding.code, finding.node, finding.key) in also]


# Whether a loop's threads are at work for somebody: what they will ask next is not known yet.


LOOKS = 1000  # at threads that are still at work, in all: one may itself wait for an answer, or never end
_here: ContextVar[InThreads | None] = ContextVar("judgegraph_in_threads", default=None)
_counting: WeakKeyDictionary[asyncio.AbstractEventLoop, _Counting] = WeakKeyDictionary()
_NAME = "run_in_executor"


class InThreads:
    """Counts the work in threads that is begun within `counted`, and in tasks made there.

    A loop has no public word for it, so its `run_in_executor`, through which `asyncio.to_thread` and LangGraph's nodes
    of plain functions go, is another as long as anybody counts there.
    """

    def __init__(self) -> None:
        self.under_way = 0
        self._looks = LOOKS

    def at_work(self) -> bool:
        """Whether it is worth waiting for a thread; not for ever: each yes is one look of `LOOKS`."""
        if not self.under_way or not self._looks:
            return False
        self._looks -= 1
        return True

    @contextmanager
    def counted(self) -> Generator[None]:
        """On the loop that runs here; on one without attributes of its own, as uvloop's, nothing is counted."""
        loop = asyncio.get_running_loop()
        token = _here.set(self)
        with suppress(TypeError):
            _counting.setdefault(loop, _Counting(loop)).begin()
        try:
            yield
        finally:
            _here.reset(token)
            if (there := _counting.get(loop)) is not None and there.end():
                del _counting[loop]

    def done(self, _: asyncio.Future[Any]) -> None:
        """One of them came to its end."""
        self.under_way -= 1


class _Counting:
    """What stands in a loop while somebody counts there."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._attributes, self._run = vars(loop), _run_of(loop)
        self._before = self._attributes.get(_NAME)
        self._users = 0

    def begin(self) -> None:
        if not self._users:
            self._attributes[_NAME] = self._run
        self._users += 1

    def end(self) -> bool:
        """Whether nobody counts there any more; what stood there before stands there again."""
        self._users -= 1
        if not self._users and self._attributes.get(_NAME) is self._run:
            del self._attributes[_NAME]
            if self._before is not None:
                self._attributes[_NAME] = self._before
        return not self._users


def _run_of(loop: asyncio.AbstractEventLoop) -> Callable[..., Any]:
    before = loop.run_in_executor

    def run_in_executor(executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        begun, counts = before(executor, func, *args), _here.get()
        if counts is not None:
            counts.under_way += 1
            begun.add_done_callback(counts.done)
        return begun

    return run_in_executor


# A graph run once with invented replies, round by round: what is asked at one moment is answered at one moment.


READABLE = (  # the ends of what readable replies make a graph ask, and one between: some criteria are in doubt
    ReplyPolicy("content", "high", most=True, alike=False, doubts=False),
    ReplyPolicy("doubtful", "low", most=True, alike=False, tools="once", doubts=True),
    ReplyPolicy("partly", "low", most=True, alike=False, tools="once", doubts="first"),
)
IDLE = (40, 0.006)  # turns of the event loop, and seconds, in which nothing more was asked
GUESS = Price(1.0, 4.0)  # USD per million tokens, where an assistant has a budget in USD and a judge no known price
PATIENCE, MOST = 30.0, 500  # seconds, and rounds, after which a graph is taken to have no end


@dataclass
class Trial:
    """What one run asked.

    Attributes:
        asked: address -> the node that asked. rounds: of questions, each waiting for the answers of the one before.
        texts: (node, prompt, field) -> what was filled in. failed: why it did not come to its end, "" if it did.
        doubtful: what was asked hangs on a condition, or on a budget of a part. threads: at work for it.
    """

    manner: ReplyPolicy
    asked: dict[bytes, str] = field(default_factory=dict)
    texts: dict[tuple[str, str, str], set[str]] = field(default_factory=dict)
    rounds: int = 0
    failed: str = ""
    doubtful: bool = False
    threads: InThreads = field(default_factory=InThreads)
    _waiting: list[asyncio.Future[None]] = field(default_factory=list)

    async def answer(self, judge: Judge, call: Call) -> list[Choice]:
        """In place of a judge, when the round is over."""
        address = address_of(judge, call)
        self.asked.setdefault(address, node_at_work())
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        await mine
        return simulated_choices(self.manner, as_sent(judge, call), address, last=True)

    def doubted(self) -> Doubted:
        """What conditions find."""
        self.doubtful = True
        return self.manner.doubts

    def rendered(self, prompt: Prompt, texts: Mapping[str, str]) -> None:
        """A template was filled in."""
        node = node_at_work()
        for name, text in texts.items():
            self.texts.setdefault((node, prompt.name, name), set()).add(text)

    async def conduct(self, work: asyncio.Task[Any]) -> None:
        """Answer round by round until the work is done."""
        end = time.monotonic() + PATIENCE
        while not work.done():
            await self._idle(work)
            if time.monotonic() > end or self.rounds > MOST:
                self.failed = f"no end was found within {MOST} rounds or {PATIENCE:g} s"
                work.cancel()
                return
            if self._waiting:
                self.rounds += 1
                while self._waiting:
                    _tell(self._waiting.pop(0))

    async def _idle(self, work: asyncio.Task[Any]) -> None:
        """Until nothing more has been asked for a while, and no thread is at work that may ask."""
        turns, seconds = IDLE
        count, since, turn = len(self._waiting), time.monotonic(), 0
        while not work.done() and (turn < turns or time.monotonic() - since < seconds or self._waits_for_threads()):
            await asyncio.sleep(0 if turn < turns else 0.001)
            turn += 1
            if len(self._waiting) != count:
                count, since, turn = len(self._waiting), time.monotonic(), 0

    def _waits_for_threads(self) -> bool:
        return bool(self._waiting) and self.threads.at_work()


def _tell(asked: asyncio.Future[None]) -> None:
    """That its round is over; a plain function's thread may ask from a loop of its own, which may be gone."""

    def tell() -> None:
        if not asked.done():
            asked.set_result(None)

    with suppress(RuntimeError):
        asked.get_loop().call_soon_threadsafe(tell)


async def tried(
    graph: Any, state: Mapping[str, Any], manner: ReplyPolicy, threads: InThreads | None = None
) -> Trial:  # fmt: skip
    """Run a graph once with replies of one manner, without its checkpointer.

    Args:
        threads: what is known of the graph's threads by other trials of it.

    Raises:
        ConfigError: a judge cannot be made.
    """
    trial = Trial(manner, threads=threads or InThreads())
    here = CallContext(
        purse=BudgetTracker(prices=Guessed()), stand_in=trial.answer, kept=_nothing, doubted=trial.doubted
    )
    tokens = context.set(here), trying.set({}), watched.set(trial.rendered)
    try:
        with trial.threads.counted():
            work = asyncio.ensure_future(without_checkpointer(graph).ainvoke(dict(state)))
            await trial.conduct(work)
            with suppress(asyncio.CancelledError):
                await work
    except ConfigError:
        raise
    except Exception as error:
        said = str(error).partition(" For further information visit ")[0]  # as pydantic ends its errors
        trial.failed = one_line(f"a node failed on a sample that was made up: {type(error).__name__}: {said}")
    finally:
        context.reset(tokens[0])
        trying.reset(tokens[1])
        watched.reset(tokens[2])
    return trial


class Guessed(Prices):
    """A price for every judge: a count is no run, and need not know what a user's price file will say.

    The tables are read when the first price is asked for: a graph of judges alone asks for none.
    """

    def __init__(self) -> None:
        super().__init__({}, {}, "")

    @cached_property
    def _read(self) -> Prices:
        return Prices.load()

    def price_of(self, judge: Judge) -> Price:
        return self._read.price_of(judge) or GUESS


def _nothing(_address: bytes) -> None:
    """What the ledger holds."""


# How many model calls a graph makes for a sample, which of them are shared, and how many wait for one another.


GIVEN = (1, 2, 3, 4)  # numbers of criteria that a formula is read from
LETTER = "C"
SAMPLES = (  # two that differ in every field, and in what metrics find
    Sample(
        id="1", query="Why is it shut?", source="The bridge is shut until spring.", output="It is shut for repairs.",
        reference="The bridge stays shut until spring."),
    Sample(
        id="2", query="Who came to the fair?", source="Over two hundred farmers came to the fair on Monday.",
        output="Over two hundred farmers came, and nobody else had the time for it.", reference="Farmers came."),
)  # fmt: skip

Span = tuple[int, int]  # least and most, by what judges reply


@dataclass(frozen=True)
class NodeCalls:
    """The calls of one node.

    Attributes:
        node: such as "weigh/judge". prompts: names of the templates it asks by.
        own: fields of theirs that differ from sample to sample: each makes a call of its own. shared: the others.
        per_sample, per_dataset: calls made anew for every sample, and once for all: "C", "2C + 1", "1 to 3".
    """

    node: str
    prompts: tuple[str, ...]
    own: tuple[str, ...]
    shared: tuple[str, ...]
    per_sample: str
    per_dataset: str

    def __str__(self) -> str:
        what = [f"{count} {when}" for count, when in ((self.per_sample, "for a sample"), (self.per_dataset, "for all"))
                if count != "0"]  # fmt: skip
        by = f", anew by {', '.join(self.own)}" if self.own else ""
        shared = f"; shared: {', '.join(self.shared)}" if self.shared else ""
        return f"{self.node}: {' and '.join(what) or 'none where criteria are given'}{by}{shared}"


@dataclass(frozen=True)
class CallCounts:
    """The calls of a graph, as counted with invented replies that can all be read.

    A formula is in C, the number of criteria; where no criteria can be given, or the numbers lie on no line, it is a
    number. What an unreadable reply, a retry, or a judge that gives one reply at a time adds is in none of them:
    `judgegraph.plan` counts for a judge and a dataset.

    Attributes:
        nodes: in the order of asking. per_sample, per_dataset: formulas. longest: the most calls of which each waits
            for the one before it, likewise.
        plain: (per_sample, per_dataset, longest) in numbers, as the graph is, without criteria from outside.
        failed: why the graph could not be run to its end, "" if it could.
    """

    nodes: tuple[NodeCalls, ...]
    per_sample: str
    per_dataset: str
    longest: str
    plain: tuple[str, str, str]
    failed: str = ""

    def __str__(self) -> str:
        if self.failed:
            return f"model calls could not be counted: {self.failed}"
        sample, dataset, longest = self.plain
        lines = [
            f"model calls for a sample: {_both(self.per_sample, sample)}",
            f"once for all samples: {_both(self.per_dataset, dataset)}",
            f"one after the other: {_both(self.longest, longest)}",
        ]
        if LETTER in f"{self.per_sample}{self.per_dataset}{self.longest}":
            lines.append(f"{LETTER} is the number of criteria that a sample is judged by")
        return "\n".join([*lines, *(f"  {node}" for node in self.nodes)])


def count_calls(graph: Any, samples: Sequence[Sample] = SAMPLES) -> CallCounts:
    """Count a graph's calls; nothing is sent. Arguments as `acount_calls`."""
    return run_sync(acount_calls(graph, samples))


async def acount_calls(graph: Any, samples: Sequence[Sample] = SAMPLES) -> CallCounts:
    """Count a graph's calls by running it with invented replies; nothing is sent.

    Args:
        graph: a compiled LangGraph that reads "sample". samples: two that differ in every field.
    """
    threads = InThreads()
    plain = await _trials(graph, samples, None, threads)
    if failed := next((t.failed for t in plain if t.failed), ""):
        return CallCounts((), "", "", "", ("", "", ""), failed)
    takes = "criteria" in graph.get_input_jsonschema().get("properties", {})
    given = await _given(graph, samples, threads) if takes else []
    nodes = dict.fromkeys(node for t in plain for node in t.asked.values())
    nodes |= dict.fromkeys(node for trials in given for t in trials for node in t.asked.values())
    sample, dataset, longest = _figures(plain, None)
    plainly = (_span_text(sample), _span_text(dataset), _span_text(longest))
    figures = [_figures(trials, None) for trials in given]
    return CallCounts(
        nodes=tuple(_node_in_anatomy(name, plain, given) for name in nodes),
        per_sample=_formula([f[0] for f in figures], sample),
        per_dataset=_formula([f[1] for f in figures], dataset),
        longest=_formula([f[2] for f in figures], longest),
        plain=plainly,
    )


async def _given(graph: Any, samples: Sequence[Sample], threads: InThreads) -> list[list[Trial]]:
    """Trials by as many criteria as `GIVEN` says; none where one failed."""
    found = []
    for number in GIVEN:
        found.append(await _trials(graph, samples, number, threads))
        if found[-1][-1].failed:
            return []
    return found


async def _trials(
    graph: Any, samples: Sequence[Sample], criteria: int | None, threads: InThreads
) -> list[Trial]:  # fmt: skip
    """For every manner of replying a run with each sample, up to the first that fails."""
    state: dict[str, Any] = {}
    if criteria is not None:
        state["criteria"] = [Criterion(name=f"Criterion {i}", definition=f"Side {i}.") for i in range(1, criteria + 1)]
    found: list[Trial] = []
    for manner in READABLE:
        if manner.doubts != "first" or any(trial.doubtful for trial in found):
            for sample in samples:
                found.append(await tried(graph, {**state, "sample": sample}, manner, threads))
                if found[-1].failed:
                    return found
    return found


def _figures(trials: Sequence[Trial], node: str | None) -> tuple[Span, Span, Span]:
    """Calls of the first sample's own, calls it shares with the second, and the longest path; least and most."""
    own, shared, longest = [], [], []
    for first, second in zip(trials[::2], trials[1::2], strict=True):
        mine = {a for a, n in first.asked.items() if node in (None, n)}
        both = mine & set(second.asked)
        own.append(len(mine - both))
        shared.append(len(both))
        longest.append(first.rounds)
    return (min(own), max(own)), (min(shared), max(shared)), (min(longest), max(longest))


def _node_in_anatomy(name: str, plain: Sequence[Trial], given: Sequence[Sequence[Trial]]) -> NodeCalls:
    first = _figures(plain, name)
    sample, dataset = (_formula([_figures(trials, name)[i] for trials in given], first[i]) for i in range(2))
    trials = [*plain, *(t for some in given for t in some)]
    prompts = sorted({prompt for t in trials for node, prompt, _ in t.texts if node == name})
    own, every = set(), set()
    for one, other in zip(trials[::2], trials[1::2], strict=True):
        for key in {k for k in (*one.texts, *other.texts) if k[0] == name}:
            every.add(key[2])
            if one.texts.get(key) != other.texts.get(key):
                own.add(key[2])
    return NodeCalls(name, tuple(prompts), tuple(sorted(own)), tuple(sorted(every - own)), sample, dataset)


def _formula(spans: Sequence[Span], plain: Span) -> str:
    """Of what was found for the numbers of criteria in `GIVEN`; where there is no line through it, as it is plain."""
    if not spans:
        return _span_text(plain)
    ends = [_line([span[i] for span in spans]) for i in (0, 1)]
    if None in ends:
        return _span_text(plain)
    low, high = ends
    return str(low) if low == high else f"{low} to {high}"


def _line(counts: Sequence[int]) -> str | None:
    slope = counts[1] - counts[0]
    if any(b - a != slope for a, b in pairwise(counts)):
        return None
    start = counts[0] - slope * GIVEN[0]
    if not slope:
        return str(start)
    times = LETTER if slope == 1 else f"{slope}{LETTER}"
    return f"{times} + {start}" if start > 0 else f"{times} - {-start}" if start else times


def _span_text(span: Span) -> str:
    return str(span[0]) if span[0] == span[1] else f"{span[0]} to {span[1]}"


def _both(formula: str, number: str) -> str:
    return formula if formula == number else f"{formula} (here {number})"


def to_dict(counts: CallCounts) -> dict[str, Any]:
    """As values that JSON can hold."""
    nodes = [{"node": n.node, "prompts": [*n.prompts], "own": [*n.own], "shared": [*n.shared],
              "per_sample": n.per_sample, "per_dataset": n.per_dataset} for n in counts.nodes]  # fmt: skip
    plain = dict(zip(("per_sample", "per_dataset", "longest"), counts.plain, strict=True))
    formulas = {"per_sample": counts.per_sample, "per_dataset": counts.per_dataset, "longest": counts.longest}
    return {**formulas, "plain": plain, "nodes": nodes, "failed": counts.failed}
