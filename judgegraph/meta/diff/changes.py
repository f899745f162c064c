"""What changed between two runs' configurations, each change under the cause it is for a score."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from judgegraph.errors import one_line
from judgegraph.runtime.differences import ABSENT, differences

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
    old, new = told(a, "configuration"), told(b, "configuration")
    critics = critic_family(a) | critic_family(b)
    found = [*_of_nodes(old, new, critics), *_of_criteria(old, new)]
    found += _of_graph(old, new, by_critic=any(c.cause == "critic" and _came_or_went(c, old, new) for c in found))
    found += _versions(a, b)
    data = (told(a, "data"), told(b, "data"))
    found += [Change("data", f"data.{line}", kind="data", weak=True) for line in differences(*data)]
    return tuple(sorted(found, key=lambda change: CAUSES.index(change.cause)))


def told(manifest: Table, name: str) -> Table:
    """A part of a manifest, empty where it is none."""
    part = manifest.get(name)
    return part if isinstance(part, Mapping) else {}


def critic_family(manifest: Table) -> set[str]:
    """Nodes that are a critic or put its verdicts into scores."""
    critics, table = told(manifest, "critics"), told(manifest, "configuration")
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
    others = differences(told(a, "versions"), told(b, "versions"))
    yield from (Change("version", line, kind="version", weak=True) for line in others)


def _lines(key: str, old: Table, new: Table) -> list[str]:
    sides = [{key: table[key]} if key in table else {key: ABSENT} for table in (old, new)]
    return differences(*sides)
