"""How many model calls a graph makes for a sample, which of them are shared, and how many wait for one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from judgegraph.runtime.bridge import run_sync
from judgegraph.runtime.in_threads import InThreads
from judgegraph.runtime.trial import READABLE, Trial, tried
from judgegraph.types import Criterion, Sample

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
    plainly = (_said(sample), _said(dataset), _said(longest))
    figures = [_figures(trials, None) for trials in given]
    return CallCounts(
        nodes=tuple(_node(name, plain, given) for name in nodes),
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


def _node(name: str, plain: Sequence[Trial], given: Sequence[Sequence[Trial]]) -> NodeCalls:
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
        return _said(plain)
    ends = [_line([span[i] for span in spans]) for i in (0, 1)]
    if None in ends:
        return _said(plain)
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


def _said(span: Span) -> str:
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
