"""What changed between two runs' configurations, each change under the cause it is for a score."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from judgegraph.errors import one_line
from judgegraph.runs.identity import ABSENT, differences

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
    old, new = part_of_manifest(a, "configuration"), part_of_manifest(b, "configuration")
    critics = critic_family(a) | critic_family(b)
    found = [*_of_nodes(old, new, critics), *_of_criteria(old, new)]
    found += _of_graph(old, new, by_critic=any(c.cause == "critic" and _came_or_went(c, old, new) for c in found))
    found += _versions(a, b)
    data = (part_of_manifest(a, "data"), part_of_manifest(b, "data"))
    found += [Change("data", f"data.{line}", kind="data", weak=True) for line in differences(*data)]
    return tuple(sorted(found, key=lambda change: CAUSES.index(change.cause)))


def part_of_manifest(manifest: Table, name: str) -> Table:
    """A part of a manifest, empty where it is none."""
    part = manifest.get(name)
    return part if isinstance(part, Mapping) else {}


def critic_family(manifest: Table) -> set[str]:
    """Nodes that are a critic or put its verdicts into scores."""
    critics, table = part_of_manifest(manifest, "critics"), part_of_manifest(manifest, "configuration")
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
    others = differences(part_of_manifest(a, "versions"), part_of_manifest(b, "versions"))
    yield from (Change("version", line, kind="version", weak=True) for line in others)


def _lines(key: str, old: Table, new: Table) -> list[str]:
    sides = [{key: table[key]} if key in table else {key: ABSENT} for table in (old, new)]
    return differences(*sides)


# What a score depends on: the node that wrote it, and all that stand before that.


_LABEL = re.compile(r" \([^()]*\)$")
_DRAWN = re.compile(r":(\d+)")


class Upstream:
    """Of one configuration.

    Attributes:
        nodes: all of them.
    """

    def __init__(self, configuration: Mapping[str, Any]) -> None:
        self._table = configuration
        self.nodes = frozenset(node_names(configuration))
        self._graphs = {node.rpartition("/")[0] for node in self.nodes} - {""}
        self._before: dict[str, set[str]] = {}
        self._edges: dict[str, set[str]] = {}
        self._opaque = not isinstance(configuration.get("edges"), list)
        for line in [] if self._opaque else configuration["edges"]:
            self._add(str(line))
        self._known: dict[str, frozenset[str]] = {}

    def of(self, agent: str) -> frozenset[str]:
        """Nodes that an agent's scores may depend on: those of its name and all before; all where none has it."""
        if agent not in self._known:
            writers = self.writers(agent)
            self._known[agent] = self._closed(writers) if writers else self.nodes
        return self._known[agent]

    def knows(self, agent: str) -> bool:
        """Whether it is known which nodes an agent's scores depend on; else `of` gives those behind them too."""
        return not self._opaque and bool(self.writers(agent))

    def edges_into(self, nodes: frozenset[str]) -> frozenset[str]:
        """Edges that lead to one of these nodes."""
        return frozenset(line for line, ends in self._edges.items() if not nodes.isdisjoint(ends))

    def writers(self, agent: str) -> list[str]:
        """Nodes whose agent has this name."""
        return [node for node in sorted(self.nodes) if self._table.get(f"{key_of_node(node)}.options.name") == agent]

    def draws(self, agent: str) -> int:
        """Answers that a value is the mean of, as far as the settings tell; else 1."""
        readers = [str(self._table.get(f"{key_of_node(node)}.reader", "")) for node in self.writers(agent)]
        found = [int(match[1]) for reader in readers if (match := _DRAWN.search(reader))]
        return max(1, min(found, default=1))

    def settings(self, agent: str, name: str) -> list[str]:
        """What the agent's nodes are set to by a name, such as "judge"; each once."""
        values = [self._table.get(f"{key_of_node(node)}.{name}") for node in self.writers(agent)]
        return list(dict.fromkeys(str(value) for value in values if value is not None))

    def judged_by(self, agent: str) -> set[str]:
        """Criteria that the agent's nodes judge, and those before them."""
        listed = [self._table.get(f"{key_of_node(node)}.criteria") for node in self.of(agent)]
        return {str(name) for names in listed if isinstance(names, list) for name in names}

    def _closed(self, writers: Iterable[str]) -> frozenset[str]:
        """With all that stands before them; all nodes where an edge cannot be read."""
        if self._opaque:
            return self.nodes
        seen: set[str] = set()
        due = list(writers)
        while due:
            node = due.pop()
            if node not in seen:
                seen.add(node)
                due += self._before.get(node, ())
        return frozenset(seen & self.nodes)

    def _add(self, line: str) -> None:
        """One line of `runs.identity.edges`."""
        source, arrow, targets = line.partition(" -> ")
        if not arrow:
            self._edges[line] = {source.removesuffix(" awaits all")}
            return
        sources = self._places(source, " and ", self._end)
        bare = targets if self._all_known(targets) else targets.rpartition(" by ")[0]
        path = source.rpartition("/")[0]
        if bare == "any":
            ends = [self._start(node) for node in self.nodes if node.rpartition("/")[0] == path]
        else:
            ends = self._places(bare, " or ", self._start)
        self._edges[line] = {end.removesuffix("/START") for end in ends}
        for end in ends:
            self._before.setdefault(end, set()).update(sources)

    def _places(self, text: str, joint: str, place: Any) -> list[str]:
        return [place(one) for one in self._names(text, joint)]

    def _names(self, text: str, joint: str) -> Iterator[str]:
        """Names that are joined by a word; one that is not known makes the graph opaque."""
        for part in [text] if self._is_known(text) else text.split(joint):
            name = part if self._is_known(part) else _LABEL.sub("", part)
            if self._is_known(name):
                yield name
            else:
                self._opaque = True

    def _all_known(self, text: str) -> bool:
        return all(self._is_known(part) or self._is_known(_LABEL.sub("", part)) for part in text.split(" or "))

    def _is_known(self, name: str) -> bool:
        path, _, last = name.rpartition("/")
        return name in self.nodes or (last in ("START", "END") and (not path or path in self._graphs))

    def _start(self, node: str) -> str:
        return f"{node}/START" if node in self._graphs else node

    def _end(self, node: str) -> str:
        return f"{node}/END" if node in self._graphs else node
