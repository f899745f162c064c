"""Several judges side by side and what they come to, as one node.

    START -> brief -> panel-1 | panel-2 -> join -> consensus -> END

Without criteria of its own there is no brief.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, Self, TypeAlias, get_type_hints

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from judgegraph import registry
from judgegraph.agents.evaluator import WEIGHTED, Evaluator
from judgegraph.agents.panel import Combine, Consensus, first_alike, likeness
from judgegraph.calls import Endpoint, JudgeLike, Reader
from judgegraph.calls.ratings import STATED
from judgegraph.compiled import keys, vocabulary
from judgegraph.compose.nodes import MetricNode, as_node, schema
from judgegraph.errors import ConfigError, ReplyError, counted, in_words, one_line, settings_checked
from judgegraph.prompts.criteria import CriteriaLike, CriteriaSet, criteria_set
from judgegraph.types import (
    Asked,
    Criterion,
    EvalState,
    Note,
    Notes,
    Score,
    Scores,
    Status,
    given_criteria,
    joined,
    keyed,
    merged,
)

# A node that raises, among others that go on: what it raised is written to the state.


class Failure(NamedTuple):
    """Why a run wrote nothing."""

    status: Status
    reason: str

    @classmethod
    def of(cls, error: Exception) -> Self:
        """What an exception says."""
        status: Any = error.status if isinstance(error, ReplyError) else "agent_error"
        return cls(status, one_line(in_words(error), 300))


class _Contained(Runnable[Any, Any]):
    """What a node runs, with its failure in the place of what it would have written."""

    contains = True  # what is in `runs` is recorded for itself

    def __init__(self, runs: Runnable[Any, Any]) -> None:
        self.runs = runs

    def invoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        try:
            return self.runs.invoke(input, config, **more)
        except Exception as error:
            if _goes_on(error):
                raise
            return {"failure": Failure.of(error)}

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        try:
            return await self.runs.ainvoke(input, config, **more)
        except Exception as error:
            if _goes_on(error):
                raise
            return {"failure": Failure.of(error)}


def contained(graph: CompiledStateGraph[Any, None, Any, Any], name: str) -> CompiledStateGraph[Any, None, Any, Any]:
    """The graph, in which one node writes its `Failure` to the key "failure" instead of raising.

    What ends a run still does, and so do a stop for a person and a command to a graph around. The builder has the node
    as it was: a check, a signature and a configuration read that.
    """
    node = graph.nodes[name]
    graph.nodes[name] = node.copy({"bound": _Contained(node.bound)})
    return graph


def _goes_on(error: Exception) -> bool:
    """Whether it is for the graph around, or for the whole run."""
    return isinstance(error, GraphBubbleUp) or getattr(error, "ends_run", False)


# Runs that stand side by side: each in a subgraph of its own, so that it is known who wrote what, and one join.


Node = CompiledStateGraph[Any, None, Any, Any]


class Runs(TypedDict, total=False):
    """What runs leave for the join."""

    runs: Annotated[dict[str, dict[str, Any]], merged]  # whose -> key of the state -> what it wrote there


class Entry(EvalState, Runs, total=False):
    """A state with what says whose run it is."""

    entry: str
    failure: Failure  # where the run raised instead of writing


class Briefed(TypedDict, total=False):
    """What all runs are told alike."""

    criteria: list[Criterion]
    task: str
    notes: Notes


JOINED = tuple(key for key, hint in vocabulary().items() if {merged, joined} & {*getattr(hint, "__metadata__", ())})
"""Keys in which several runs may write: those that hold one answer (plan, overall, verdict) tell nobody whose it is."""


RUNS = get_type_hints(Runs, include_extras=True)


@dataclass(frozen=True, kw_only=True)
class Brief:
    """Gives a state without criteria those of the graph; where there are none either, says so."""

    criteria: Sequence[Criterion] = ()
    task: str = ""
    name: str = "brief"

    async def __call__(self, state: Asked) -> Briefed:
        asked = list(given_criteria(state) or self.criteria)
        if not asked:
            note = Note(agent=self.name, text="no criteria: nothing was asked", status="skipped", kind="no-criteria")
            return {"notes": keyed(note)}
        task = state.get("task") or self.task
        return {"criteria": asked, "task": task} if task else {"criteria": asked}


@dataclass(frozen=True, kw_only=True)
class Keep:
    """Hands what a run wrote to the join, under its name.

    Attributes:
        keys: of the state. name: whose run it is, "" where the state says so.
        stage: at which its answers are copied as ballots, by its name: those at stage "final", where it wrote any, else
            those at the stage it wrote last; of several agents' the last. "" copies none.
    """

    keys: tuple[str, ...]
    name: str = ""
    stage: str = ""

    async def __call__(self, state: Entry) -> Runs:
        wrote: dict[str, Any] = {key: value for key, value in state.items() if key in self.keys}
        if failure := state.get("failure"):
            wrote = self._failed(failure, given_criteria(state) or ())
        elif self.stage:
            asked = {c.name for c in given_criteria(state) or ()}
            scores = wrote.get("scores", {}).values()
            wrote["ballots"] = self._ballots([s for s in scores if not asked or s.criterion in asked])
        return {"runs": {self.name or state["entry"]: wrote}}

    def _ballots(self, scores: Sequence[Score]) -> Scores:
        stages = [s.stage for s in scores]
        stage = "final" if "final" in stages else stages[-1] if stages else ""
        answers = {(s.criterion, s.of, s.repeat): s for s in scores if s.stage == stage}
        return keyed(*map(self._ballot, answers.values()))

    def _failed(self, failure: Failure, criteria: Sequence[Criterion]) -> dict[str, Any]:
        """A ballot without an answer for each criterion, and a note for where none is known."""
        about: dict[str, Any] = {"agent": self.name, "status": failure.status}
        ballots = (
            Score(criterion=c.name, stage=self.stage, scale=c.scale, reason=failure.reason, **about) for c in criteria
        )
        who = f"'{one_line(self.name, 80)}' " if self.name else ""
        note = Note(text=f"{who}failed: {failure.reason}", kind="panel-member-failed", **about)
        return {"ballots": keyed(*ballots), "notes": keyed(note)}

    def _ballot(self, score: Score) -> Score:
        if (score.agent, score.stage) == (self.name, self.stage):
            return score
        notes = (*score.notes, f"taken from {score.key}")
        mine = {"agent": self.name, "stage": self.stage, "notes": notes, "raw": None, "draft": None}
        return score.model_copy(update=mine)


@dataclass(frozen=True, kw_only=True)
class Join:
    """Joins what runs wrote, in their order; runs that wrote one key differently are told of, and neither counts.

    Attributes:
        order: whose runs, in the order in which they count; empty: as they were sent. name: of its notes.
    """

    name: str
    order: tuple[str, ...] = ()

    async def __call__(self, state: Entry) -> EvalState:
        runs = state.get("runs") or {}
        entries = [entry for entry in self.order or runs if entry in runs]
        ordered = [runs[entry] for entry in entries]
        found: dict[str, Any] = {}
        clashes: list[str] = []
        for key in dict.fromkeys(key for wrote in ordered for key in wrote if key != "ballots"):
            values = [wrote[key] for wrote in ordered if key in wrote]
            if isinstance(values[0], Mapping):
                before: Any = state.get(key) or {}
                found[key], lost = _union([_new(value, before) for value in values])
                clashes += [f"{key}: {name}" for name in lost]
            else:
                found[key] = [one for value in values for one in value]
        if ballots := [wrote["ballots"] for wrote in ordered if "ballots" in wrote]:
            scores = {**found.get("scores", {}), **{k: s for cast in ballots for k, s in cast.items()}}
            found["scores"] = _signed(scores, {entry: runs[entry] for entry in entries})
        texts = [f"{one_line(clash)}: several runs differ, left out" for clash in clashes]
        notes = [Note(agent=self.name, text=text, kind="runs-differ") for text in texts]
        notes += [] if self.order else self._dropped(given_criteria(state), ordered)
        found["notes"] = {**found.get("notes", {}), **keyed(*notes)}
        made: EvalState = found  # type: ignore[assignment]
        return made

    def _dropped(self, asked: Sequence[Criterion], runs: Sequence[Mapping[str, Any]]) -> list[Note]:
        """A note on criteria whose runs gave no score, where others gave one."""
        written = [wrote.get(key, {}) for wrote in runs for key in ("scores", "comparisons")]
        known = {one.criterion for entries in written for one in entries.values()}
        lost = [one_line(c.name, 60) for c in asked if c.name not in known]
        if not lost or len(lost) == len(asked):
            return []
        given = counted(len(asked), "criterion given", "criteria given")
        text = f"{given}, {len(asked) - len(lost)} scored: no score of {', '.join(lost[:5])}"
        return [Note(agent=self.name, text=text, status="skipped", kind="criteria-dropped")]


def _new(values: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Without what stood in the state before the run: a graph gives it back with what it wrote."""
    return {key: value for key, value in values.items() if key not in before or before[key] != value}


def _signed(scores: Scores, runs: Mapping[str, Mapping[str, Any]]) -> Scores:
    """What runs wrote that came to ballots: each score names the member that wrote it, as it is no answer by itself."""
    members: dict[str, str] = {}
    for member, wrote in runs.items():
        for key in (*wrote.get("scores", ()), *wrote["ballots"]) if "ballots" in wrote else ():
            members.setdefault(key, member)
    return {k: s.model_copy(update={"member": members[k]}) if k in members else s for k, s in scores.items()}


def _union(mappings: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """All entries, and the keys under which several differ, which are left out."""
    found: dict[str, Any] = {}
    lost: dict[str, None] = {}
    for key, value in (item for values in mappings for item in values.items()):
        if key in found and found[key] != value:
            lost[key] = None
        found[key] = value
    return {key: value for key, value in found.items() if key not in lost}, list(lost)


def member(node: Any, *, entry: str = "", ballots: str = "") -> Node:
    """A graph of one run of a node: START -> ask -> keep -> END.

    It reads what the node reads, and writes `runs` alone. Where its answers are ballots, a node that raises has failed
    ones; else what it raises goes on.
    """
    reads, writes = keys(node)
    kept = tuple(key for key in JOINED if key in writes)
    hints = vocabulary()
    inward = {**reads, "criteria": hints["criteria"]} | ({} if entry else {"entry": str})
    between = {**reads, **writes, **inward}
    between = {key: hints.get(key, hint) for key, hint in between.items()} | RUNS
    if ballots:
        between["failure"] = Failure
    state = schema("Member", between)
    graph = StateGraph(state, input_schema=schema("Told", inward), output_schema=Runs)
    graph.add_node("ask", node)
    graph.add_node("keep", Keep(keys=kept, name=entry, stage=ballots), input_schema=state)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "keep")
    graph.add_edge("keep", END)
    made = graph.compile(name=entry or "run")
    return contained(made, "ask") if ballots else made


# One run of a node per criterion, side by side, as one node.
#
#     START -> brief -> run -> join -> END
#              brief -> join (no criteria)
#
# Each run is a graph of its own: `START -> ask -> keep -> END`.


PER_RUN = ("criterion", "guideline")  # what a run is told of its one criterion


@settings_checked
def each(node: Any, *, criteria: CriteriaLike | None = None, name: str = "each", **settings: Any) -> Node:
    """A node that runs another once per criterion: `g.add_node("judged", jg.each(MyJudge(), criteria="summary"))`.

    Each run is told what the node reads of the state, with `criteria` the one criterion; a node that reads `criterion`
    gets it, and one that reads `guideline` what `guidelines` of the state says of it, else the criterion's own
    guideline or definition. What runs write is joined in the order of the criteria. Left out of it are keys that hold
    one answer (`plan`, `overall`, `verdict`), as no run's answer is that of all criteria; and, with a note, entries
    that several runs wrote differently, such as a method's own "overall" score or a correction of the output.

    Args:
        node: an agent, a function, a graph, or the name of an agent, a critic or a method.
        criteria: where the state brings none: a set's name, a file, or criteria. None: the agent's own.
        name: of the graph, and of its notes.
        settings: of a node that is given by name (`judge`, say).

    Raises:
        ConfigError: no such node, or a setting it does not take. CriteriaError: no such criteria.
    """
    node = as_node(node, settings, criteria=criteria)
    if isinstance(node, MetricNode):
        raise ConfigError(
            "each: a metric judges by no criterion, so it says the same for all: add it as a node by itself"
        )
    chosen = _chosen(node, criteria)
    brief = Brief(criteria=chosen.criteria if chosen else (), task=chosen.task if chosen else "", name=name)
    return _wired_each(node, brief, name)


def _chosen(node: Any, criteria: CriteriaLike | None) -> CriteriaSet | None:
    own = getattr(node, "criteria", None) if criteria is None else criteria
    return criteria_set(own) if own else None


def _wired_each(node: Any, brief: Brief, name: str) -> Node:
    reads, writes = keys(node)
    hints = vocabulary()
    told = {key: hint for key, hint in reads.items() if key not in PER_RUN}
    if {"guideline", "guidelines"} & set(reads):
        told["guidelines"] = dict[str, str]
    asked = {key: hints[key] for key in Asked.__annotations__}
    inward = {key: hints.get(key, hint) for key, hint in (asked | told).items()}
    outward = {key: hints[key] for key in JOINED if key in writes or key == "notes"}
    state = schema("Each", inward | outward | RUNS)

    def each_criterion(state: Any) -> list[Send] | str:
        """One run per criterion; with none straight on (an empty fan-out would end the graph)."""
        sent = {key: state[key] for key in inward if key in state}
        criteria = given_criteria(state) or ()
        return [
            Send("run", sent | _state_of_run(c, number, reads, state)) for number, c in enumerate(criteria)
        ] or "join"

    graph = StateGraph(state, input_schema=schema("Asks", inward), output_schema=schema("Says", outward))
    graph.add_node("brief", brief, input_schema=state)
    graph.add_node("run", member(node))
    graph.add_node("join", Join(name=name), input_schema=state, defer=True)
    graph.add_edge(START, "brief")
    graph.add_conditional_edges("brief", each_criterion, ["run", "join"])
    graph.add_edge("run", "join")
    graph.add_edge("join", END)
    return graph.compile(name=name)


def _state_of_run(criterion: Criterion, number: int, reads: Any, state: Any) -> dict[str, Any]:
    """What one run is told of its criterion."""
    told: dict[str, Any] = {"criteria": [criterion], "entry": str(number)}
    if "criterion" in reads:
        told["criterion"] = criterion
    if "guideline" in reads:
        written = (state.get("guidelines") or {}).get(criterion.name)
        told["guideline"] = written or criterion.guideline or criterion.definition
    return told


# Who sits on a panel: what its judges are called, and what they are made with.


BALLOT = "ballot"
TAKEN = {"brief", "join", "consensus", "runs", *vocabulary()}  # names of nodes and keys


@dataclass(frozen=True)
class Offer:
    """What a panel's members are made with."""

    judge: JudgeLike
    criteria: CriteriaSet | None
    task: str | None
    samples: int | None
    combine: Combine
    name: str

    def members(self, judges: Sequence[Any]) -> dict[str, Any]:
        """Name -> node, in their order.

        A method's agents have the panel's name before their own, or where several are of one method the member's.
        """
        listed = [pair for j in judges for pair in (j.items() if isinstance(j, Mapping) else [("", j)])]
        own = [given or _own_name(which) for given, which in listed]
        often = Counter(own)
        made: dict[str, Any] = {}
        plain: dict[str, Any] = {}
        for place, ((given, which), word) in enumerate(zip(listed, own, strict=True), 1):
            alone = bool(word) and often[word] == 1
            called = given or f"{self.name}-{word if alone else place}"
            if called in made or called in TAKEN or {":", "|"} & set(called):
                why = "two are called so" if called in made else "a word of the graph's own, or with ':' or '|'"
                raise ConfigError(f"panel: no member can be called {one_line(called, 80)!r}: {why}")
            made[called] = self._made(which, called, prefix=called if given or not alone else self.name)
            if alone and not given and is_method(which):
                plain[called] = which
        _differ(made, [which for _, which in listed], self.criteria is not None)
        graphs = {called: _graph_name(made[called]) or called for called in plain}  # of a paper's row its method's
        rows = Counter(graphs.values())
        again = {called: which for called, which in plain.items() if rows[graphs[called]] > 1}
        return made | {called: self._made(which, called, prefix=called) for called, which in again.items()}

    def _made(self, which: Any, called: str, prefix: str) -> Any:
        if is_judge(which):
            task = self.task or (self.criteria.task if self.criteria else None)
            evaluator = Evaluator(judge=which, name=called, stage=BALLOT, reader=self._reader())
            return replace(evaluator, task=task) if task else evaluator
        if not isinstance(which, str):
            return as_node(which)
        kind, _ = registry.find(which)
        if kind == "assistant":
            raise ConfigError(f"panel: '{one_line(which, 80)}' measures and judges by no criterion; see jg.metric_node")
        offered = {"judge": self.judge, "criteria": self.criteria, "task": self.task, "samples": self.samples}
        return as_node(which, name=prefix if kind == "method" else called, **offered)

    def _reader(self) -> Reader:
        if self.samples is None:
            return STATED if self.combine == "vote" else WEIGHTED
        return Reader("weighted", samples=self.samples)


def _differ(members: Mapping[str, Any], judges: Sequence[Any], briefed: bool) -> None:
    """
    Raises:
        ConfigError: one judge, one method or one agent is named twice: its answer is paid for once, and would count
            twice.
    """
    unread = ("criteria",) if briefed else ()
    known = [likeness(node, unread) for node in members.values()]
    for place, which in enumerate(judges):
        if type(known[place]) is object and is_method(which):  # another package's: nothing but its name is known
            known[place] = which
    if (alike := first_alike(known)) is None:
        return
    first, place = alike
    one, which = judges[first - 1], judges[place - 1]
    same, cure = "differ in their names alone", "give one another judge or prompt"
    own = [getattr(node, "criteria", ()) for node in members.values()]
    if briefed and own[first - 1] and own[place - 1] and own[first - 1] != own[place - 1]:
        same = "differ in their criteria alone, in whose place those of the panel stand"
        cure = "leave criteria= of the panel out, or give one another judge or prompt"
    if (is_judge(one) and is_judge(which)) or (isinstance(which, str) and one == which):
        named = which if isinstance(which, str) else getattr(which, "model", type(which).__name__)
        same, cure = f"are both {one_line(named, 80)!r}", "name another judge"
    raise ConfigError(
        f"panel: member {first} and member {place} {same}: one call is made for both, so that one "
        f"opinion would count twice; {cure}, or ask one several times with samples=N"
    )


def is_judge(which: Any) -> bool:
    """Whether something answers prompts: an Endpoint, a chat model, or "PROVIDER:MODEL" where no part is called so."""
    if not isinstance(which, str):
        return isinstance(which, Endpoint) or hasattr(which, "_llm_type")
    try:
        registry.find(which)
    except ConfigError:
        return which == "embedded" or ":" in which
    return False


def is_method(which: Any) -> bool:
    """Whether something is the name of a method."""
    return isinstance(which, str) and not is_judge(which) and registry.find(which)[0] == "method"


def _own_name(which: Any) -> str:
    """What a member is called by itself, fit for a node; "" for a judge and a graph without a name."""
    if is_judge(which):
        return ""
    name: Any
    if isinstance(which, str):
        name = which.rpartition(":" if ":" in which else "/")[2]
    elif hasattr(which, "get_name"):
        name = _graph_name(which)
    else:
        name = getattr(which, "name", None) or getattr(which, "__name__", "")
    return str(name).replace(":", "-").replace("|", "-")


def _graph_name(graph: Any) -> str:
    """Of a compiled graph, "" where it was given none."""
    name = graph.get_name() if hasattr(graph, "get_name") else ""
    return "" if name == "LangGraph" else str(name)


def check(members: Mapping[str, Any], name: str) -> None:
    """
    Raises:
        ConfigError: a member writes no scores, or is a panel of the same name.
    """
    for called, node in members.items():
        if isinstance(node, MetricNode):
            raise ConfigError(
                f"panel: {called} measures, and judges by no criterion: add it as a node beside the panel"
            )
        if "scores" not in keys(node)[1]:
            raise ConfigError(f"panel: {called} writes no scores; a critic stands behind a panel: see jg.critique")
        inner: Any = getattr(getattr(node, "builder", None), "nodes", {}).get("consensus")
        if inner is not None and getattr(getattr(inner.runnable, "afunc", None), "name", "") == name:
            raise ConfigError(f"panel: {called} is a panel called {name!r} too; give one another name")


Member: TypeAlias = Any  # a judge, an agent, a graph, or the name of an agent or a method


@settings_checked
def panel(
    *judges: Member | Mapping[str, Member], combine: Combine = "mean", criteria: CriteriaLike | None = None,
    judge: JudgeLike = "embedded", task: str | None = None, samples: int | None = None, name: str = "panel",
    stage: str = "final",
) -> Node:  # fmt: skip
    """A panel of judges as one node: `g.add_node("panel", jg.panel("openai:a", "openai:b", "g-eval"))`.

    Each judge's own scores are kept, and its answer per criterion stands as a score at stage "ballot" under its name in
    the panel: "panel-g-eval", "panel-sageval", or by its place, "panel-2". The panel's scores are what the ballots come
    to (`Consensus`). Judges read the sample, the criteria and the task, and of a state's other keys those that none of
    them writes. Of what they write, entries that several wrote differently are left out with a note.

    Args:
        judges: a judge ("openai:MODEL", an Endpoint, a chat model), which becomes an `Evaluator`; an agent or a graph
            that writes scores; the name of an agent or a method; or a mapping of such by the names they shall have.
        combine: "mean" or "median" of their numbers, or "vote"; labels are always voted.
        criteria: where the state brings none: a set's name, a file, or criteria. None: each judge's own.
        judge: of methods and agents given by name. task: of the evaluators; None: that of the criteria.
        samples: replies per judge where one gives no log-probabilities. None: 5, in a vote the stated number alone, and
            a method's own.
        name: of the panel, whose scores have it; two panels in one graph need two. stage: of its scores.

    Raises:
        ConfigError: no judges, two of one name, one judge twice, one that writes no scores, or what cannot be a judge.
        CriteriaError: no such criteria.
    """
    chosen = criteria_set(criteria) if criteria is not None else None
    offer = Offer(judge, chosen, task, samples, combine, name)
    members = offer.members(judges)
    if not members:
        raise ConfigError("panel: no judges given")
    check(members, name)
    consensus = Consensus(combine=combine, members=tuple(members), ballots=BALLOT, name=name, stage=stage)
    brief = Brief(criteria=chosen.criteria, task=task or chosen.task, name=name) if chosen else None
    return _wired(members, brief, consensus)


def panel_of(
    *, judges: Sequence[Member] | Mapping[str, Member], combine: Combine = "mean", criteria: CriteriaLike | None = None,
    judge: JudgeLike = "embedded", task: str | None = None, samples: int | None = None, name: str = "panel",
    stage: str = "final",
) -> Node:  # fmt: skip
    """Several judges and what they come to: their mean, median or vote; `panel` for graph files.

    Args:
        judges: a list, or a mapping by the names they shall have. The others: as of `panel`.

    Raises:
        ConfigError, CriteriaError: as `panel`.
    """
    listed = [judges] if isinstance(judges, Mapping | str) else judges
    return panel(
        *listed, combine=combine, criteria=criteria, judge=judge, task=task, samples=samples, name=name, stage=stage
    )


def _wired(members: Mapping[str, Any], brief: Brief | None, consensus: Consensus) -> Node:
    hints = vocabulary()
    reads = {key: hint for node in members.values() for key, hint in keys(node)[0].items()}
    writes = {key for node in members.values() for key in keys(node)[1]}
    inward = {key: hints[key] for key in Asked.__annotations__}
    inward |= {key: hints.get(key, hint) for key, hint in reads.items() if key not in writes}
    outward = {key: hints[key] for key in JOINED if key in writes or key == "notes"}
    state = schema("Panel", inward | outward | RUNS)

    graph = StateGraph(state, input_schema=schema("Asks", inward), output_schema=schema("Says", outward))
    if brief:
        graph.add_node("brief", brief, input_schema=state)
        graph.add_edge(START, "brief")
    for called, node in members.items():
        graph.add_node(called, member(node, entry=called, ballots=BALLOT))
        graph.add_edge("brief" if brief else START, called)
        graph.add_edge(called, "join")
    graph.add_node("join", Join(name=consensus.name, order=tuple(members)), input_schema=state, defer=True)
    graph.add_node("consensus", consensus)
    graph.add_edge("join", "consensus")
    graph.add_edge("consensus", END)
    return graph.compile(name=consensus.name)
