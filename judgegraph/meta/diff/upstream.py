"""What a score depends on: the node that wrote it, and all that stand before that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from judgegraph.meta.diff.changes import key_of_node, node_names

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
        """One line of `runtime.topology.edges`."""
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
