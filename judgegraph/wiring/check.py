"""`jg.check`: the proof that a graph is wired, before anything is asked.

It hides which checks there are and in what order they are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

from judgegraph.compiled import agents_of, function_of, is_ours, judges_of, unwrapped
from judgegraph.errors import ConfigError, counted, settings_checked
from judgegraph.models.judges import destination
from judgegraph.types import Criterion
from judgegraph.wiring.code import Finding

if TYPE_CHECKING:
    from judgegraph.calls.estimate import CallCounts
    from judgegraph.wiring.drawn import Drawn, Part


MERGED = frozenset(("scores", "comparisons"))
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
        from judgegraph.calls.estimate import count_calls

        return count_calls(self.graph if hasattr(self.graph, "ainvoke") else self.graph.compile())

    @property
    def ok(self) -> bool:
        """Whether nothing refuses the graph."""
        return not any(finding.severity == "error" for finding in self.findings)

    def __str__(self) -> str:
        head = f"{self.name}: {'wired' if self.ok else 'not wired'}, {counted(len(self.nodes), 'node')}"
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


@settings_checked
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
    from judgegraph.wiring.drawn import drawn, in_vain
    from judgegraph.wiring.graph import without_criteria
    from judgegraph.wiring.meaning import unanswered

    read = drawn(graph)
    read = replace(read, brought=frozenset({"sample"}))
    return [*findings_of(read), *without_criteria(read), *unanswered(read), *in_vain(read)]


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
        agents.assistants, _unseen_examples, _weightless, passed_over, _unmerged,
    )  # fmt: skip
    found = [finding for part in graph.everywhere() for check in checks for finding in agreed(check, part)]
    found += [finding for whole in wholes for finding in whole(graph)]
    found += [finding for part in graph.everywhere() for asked in agents.asked(part) for finding in findings_of(asked)]
    return sorted(dict.fromkeys(found), key=lambda finding: finding.severity != "error")


def _weightless(graph: Drawn) -> Iterator[Finding]:
    """Criteria of which none counts for an overall score."""
    held = [
        (one.at(name), criterion.weight)
        for one in graph.everywhere()
        for name, part in one.parts.items()
        for criterion in getattr(part.runs, "criteria", None) or ()
        if isinstance(criterion, Criterion)
    ]
    if held and all(weight <= 0 for _, weight in held):
        text = f"node '{held[0][0]}': no criterion has a 'weight' above 0, so that none counts for an overall score"
        yield Finding("no-criteria", held[0][0], "criteria", f"{text}: give some a weight above 0")


def _unmerged(graph: Drawn) -> Iterator[Finding]:
    """Merges of what nobody writes under the names that they go by."""
    from judgegraph.wiring.graph import is_agent

    parts = [(one.at(name), part) for one in graph.everywhere() for name, part in one.parts.items() if not part.inside]
    for at, part in parts:
        if not is_agent(part.runs) or type(part.runs).__name__ != "Merge" or "scores" in graph.inputs:
            continue
        writers = [other for _, other in parts if other is not part and MERGED & (other.writes or MERGED)]
        if any(other.writes is None or not is_agent(other.runs) for other in writers):
            continue  # what others write is not known
        made = {(key, other.runs.name) for other in writers for key in other.writes or ()}
        wants = {"scores": part.runs.judge_name, "comparisons": part.runs.comparer}
        mode = part.runs.mode
        wants = {key: by for key, by in wants.items() if mode == "auto" or (mode == "pair") == (key == "comparisons")}
        if not made & wants.items():
            text = " or ".join(f"'{key}' by '{by}'" for key, by in wants.items())
            names = sorted({str(name) for key, name in made if key in wants})
            cure = f"there are those by {', '.join(names)}" if names else "add a judge of that name before it"
            text = f"node '{at}' merges {text}, and no node writes any such"
            yield Finding("no-such-scores", at, "scores", f"{text}: {cure}")


def _unseen_examples(graph: Drawn) -> Iterator[Finding]:
    """Judges of ours that do not show the examples of criteria, where some criteria have examples."""
    from judgegraph.wiring.graph import is_agent

    parts = [(drawn, name, part.runs) for drawn in graph.everywhere() for name, part in drawn.parts.items()]
    held = [one for _, _, runs in parts for one in getattr(runs, "criteria", None) or () if is_agent(runs)]
    if not any(one.examples for one in held if isinstance(one, Criterion)):
        return
    for drawn, name, runs in parts:
        if why := _hides_examples(runs, drawn):
            node = drawn.at(name)
            text = f"node '{node}' does not show the examples of its criteria: {why}"
            cure = "leave the examples out, or judge by a method that scores the criteria themselves, such as llm-score"
            yield Finding("unseen-examples", node, "criteria", f"{text}; {cure}", "warning")


def _hides_examples(agent: Any, drawn: Drawn) -> str:
    """Why a judge cannot show examples of criteria, "" where it does, or where another one judges by the criteria."""
    from judgegraph.wiring.graph import is_agent

    if not (is_agent(agent) and type(agent).__module__.startswith("judgegraph.agents.")):
        return ""
    kind = type(agent).__name__
    if kind == "Rater" and not any(
        type(part.runs).__name__ in ("Fuser", "DefinitionFuser") for part in drawn.parts.values()
    ):
        return "it asks for aspects or questions of a criterion, and a score by the criterion is asked of nobody"
    if kind == "FormComparer" or (kind == "FormJudge" and agent.template is not None):
        return "its form has no place for them"
    return ""


def passed_over(graph: Drawn) -> Iterator[Finding]:
    """Critics before which several judges draft scores of one criterion: each reviews the last that was written."""
    from judgegraph.wiring.graph import parted
    from judgegraph.wiring.meaning import judged

    scores = judged(graph)
    for want in scores.wanted:
        reviews = getattr(want.part.runs, "reviewed", None) is not None
        if not reviews or want.stages != ("draft",) or want.agents is not None:
            continue
        others = [  # who hears of several judges: also a condition by which they disagree, and a critic of one by name
            one for one in scores.wanted
            if (one.condition is None or one.condition.name == "disagree") and (one.agents or not one.reviews)
        ]  # fmt: skip
        asked = {draft.agent for one in others for draft in scores.seen(one)}
        drafts = [one for one in scores.seen(want) if not one.rectifies and one.agent not in asked]
        for one, other in combinations(drafts, 2):
            alike = one.scales is None or other.scales is None or bool(one.scales.keys() & other.scales.keys())
            where = parted(graph, one.at, other.at) if one.agent != other.agent and alike else None
            if where is not None and where[0].steps.together(where[1][0], where[2][0]):
                text = (
                    f"node '{want.at}' reviews the last draft of each criterion, and '{one.agent}' and '{other.agent}' "
                    f"may both write one: what the other gave counts nowhere, and is paid for; name one by of=, or "
                    f"join them first, jg.panel(..., stage='draft')"
                )
                yield Finding("drafts-passed-over", want.at, "scores", text, "warning")
                break


def agreed(check: Callable[[Drawn], Iterator[Finding]], graph: Drawn) -> list[Finding]:
    """What holds whether conditions of which it cannot be seen name one node or several."""
    told, other = list(check(graph)), graph.otherwise
    if not told or other is None:
        return told
    also = {(finding.code, finding.node, finding.key) for finding in check(other)}
    return [finding for finding in told if (finding.code, finding.node, finding.key) in also]


# Where a graph's prompts go.


def destinations(graph: Any) -> list[str]:
    """Where a graph's prompts go and by which keys, a line for each judge that is asked; none for the embedded one.

    Judges of assistants count too; what a node of the caller's own sends is not known here.
    """
    return list(dict.fromkeys(filter(None, map(destination, judges_of(graph)))))


# Code that neither we nor the libraries below us wrote: what it does is known only by running it.


def own_code(graph: Any, path: str = "") -> tuple[str, ...]:
    """Such as ("node 'critique'", "what follows 'weigh/judge'"): nodes and choices between edges that are not ours.

    Ours decide by what the manners of invented replies differ in. Others may look at anything in a reply.
    """
    builder = getattr(graph, "builder", None)
    found: list[str] = []
    for name, node in getattr(builder, "nodes", {}).items():
        runs = function_of(node.runnable)
        if hasattr(runs, "builder"):
            found += own_code(runs, f"{path}{name}/")
        elif not is_ours(unwrapped(runs)):
            found.append(f"node '{path}{name}'")
    for source, branches in getattr(builder, "branches", {}).items():
        place = "the start" if source == "__start__" else f"'{path}{source}'"
        if not all(is_ours(unwrapped(function_of(branch.path))) for branch in branches.values()):
            found.append(f"what follows {place}")
    return tuple(found)


def runs_own(graph: Any) -> bool:
    """Whether code of the caller's own runs in a graph, in a node or as a condition of `jg.critique(when=...)`."""
    conditions = (getattr(agent, "when", None) for _, agent in agents_of(graph))
    return bool(own_code(graph)) or any(getattr(when, "own", False) for when in conditions)
