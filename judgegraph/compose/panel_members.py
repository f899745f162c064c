"""Who sits on a panel: what its judges are called, and what they are made with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judgegraph import registry
from judgegraph.agents.ballots import Combine
from judgegraph.agents.evaluator import WEIGHTED, Evaluator
from judgegraph.calls import Endpoint, JudgeLike, Reader
from judgegraph.calls.ratings import STATED
from judgegraph.compose.node import as_node, keys, vocabulary
from judgegraph.errors import ConfigError, one_line
from judgegraph.prompts.criteria_sets import CriteriaSet

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
        if "scores" not in keys(node)[1]:
            raise ConfigError(f"panel: {called} writes no scores; a critic stands behind a panel: see jg.critique")
        inner: Any = getattr(getattr(node, "builder", None), "nodes", {}).get("consensus")
        if inner is not None and getattr(getattr(inner.runnable, "afunc", None), "name", "") == name:
            raise ConfigError(f"panel: {called} is a panel called {name!r} too; give one another name")
