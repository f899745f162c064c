"""What is drawn of a graph: its nodes, its edges, and the graphs within its nodes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from judgegraph.errors import ConfigError, one_line, printable

if TYPE_CHECKING:
    from judgegraph.wiring.drawn import Drawn, Part
    from judgegraph.wiring.functions import Way


START, END = "__start__", "__end__"  # as LangGraph calls them
NAMES = {START: "START", END: "END"}
LONGEST = 60  # characters of a note: it stands on one line of a box


@dataclass(frozen=True)
class Edge:
    """An arrow; `label` says when a conditional one is taken, `sends` that it may be taken many times at once."""

    source: str
    target: str
    conditional: bool = False
    label: str = ""
    sends: bool = False

    @property
    def caption(self) -> str:
        """What stands beside it."""
        return " ".join(part for part in (self.label, "× n" if self.sends else "") if part)


@dataclass(frozen=True)
class Choice:
    """One condition, or command, at a node: the edges that it decides on; `several` says that it may take many."""

    edges: tuple[Edge, ...]
    several: bool = False


@dataclass(frozen=True)
class Node:
    """A node; `note` says what it waits for, `inside` is its graph where it is a subgraph."""

    name: str
    note: str = ""
    inside: Figure | None = None


@dataclass(frozen=True, eq=False)
class Figure:
    """A graph as a picture shows it.

    Attributes:
        name: of the graph. path: what stands before its nodes' names, "weigh/" within a subgraph.
        nodes: by name as they were added, START first and END last. edges: in the order of the nodes, each pair once.
        choices: node -> its conditions, each of which decides for itself.
    """

    name: str
    path: str
    nodes: Mapping[str, Node]
    edges: tuple[Edge, ...]
    choices: Mapping[str, tuple[Choice, ...]] = field(default_factory=dict)

    def everywhere(self) -> Iterator[Figure]:
        """It and all graphs within it."""
        yield self
        for node in self.nodes.values():
            if node.inside is not None:
                yield from node.inside.everywhere()


def figure_of(graph: Any) -> Figure:
    """Of a compiled graph or a StateGraph.

    Raises:
        ConfigError: it is neither.
    """
    if isinstance(graph, Figure):
        return graph
    from langgraph.graph import StateGraph
    from langgraph.pregel import Pregel

    if isinstance(getattr(graph, "builder", graph), StateGraph):
        from judgegraph.wiring.drawn import drawn

        return _figure(drawn(graph), graph, graph.get_name() if isinstance(graph, Pregel) else "graph")
    if isinstance(graph, Pregel):
        return _drawn_by_graph(graph)
    raise ConfigError(f"a drawing shows a StateGraph or a compiled graph, got {one_line(type(graph).__name__)}")


def _figure(read: Drawn, graph: Any, name: str) -> Figure:
    choices = _choices(read, getattr(graph, "builder", graph))
    found = [Edge(a, b) for a, b in read.edges]
    found += [Edge(a, end) for many, end in read.joins for a in many]
    single = [*found[: len(read.edges)], *(e for some in choices.values() for choice in some for e in choice.edges)]
    nodes = [_node(part, _awaited(part.name, read, single)) for part in read.parts.values()]
    return _complete(name, read.path, nodes, found, choices)


def _node(part: Part, awaited: str) -> Node:
    inside = _figure(part.inside, part.runs, part.name) if part.inside is not None else None
    return Node(part.name, "waits for all" if part.defer else awaited, inside)


def _awaited(name: str, read: Drawn, single: Iterable[Edge]) -> str:
    """What a node waits for; where there are several ways to it, each by name."""
    joins = [sorted(many) for many, end in read.joins if end == name]
    alone = list(dict.fromkeys(edge.source for edge in single if edge.target == name))
    if not joins:
        return ""
    if len(joins) == 1 and not alone:
        return "waits for both" if len(joins[0]) == 2 else f"waits for all {len(joins[0])}"
    named = [" and ".join(map(name_of, many)) for many in (*joins, *([source] for source in alone))]
    return one_line(f"waits for {', or '.join(named)}", LONGEST)


def _choices(read: Drawn, builder: Any) -> dict[str, tuple[Choice, ...]]:
    """Of each node its conditions as they were added, then its command."""
    found = {}
    for source, ways in read.ways.items():
        branches = [branch.ends or {} for branch in builder.branches.get(source, {}).values()]
        branches_of = [*branches, *({} for _ in ways[len(branches) :])]
        found[source] = tuple(_choice(way, ends) for way, ends in zip(ways, branches_of, strict=True))
    return found


def _choice(way: Way, answers: Mapping[Any, str]) -> Choice:
    """An edge's label is what is answered for it, where that has another name than the node."""
    labels: dict[str, list[str]] = {}
    for key, end in answers.items():
        if str(key) not in (end, NAMES.get(end)):
            labels.setdefault(end, []).append(str(key))
    edges = (Edge(way.source, end, True, " / ".join(labels.get(end, ())), end in way.sent) for end in way.ends)
    return Choice(tuple(edges), several=any(len(choice.to) > 1 for choice in way.choices()))


def name_of(place: str) -> str:
    """A node's name for people, with the path before it; a node of one's own called START is quoted."""
    *path, last = place.split("/")
    quoted = f'"{last}"' if last in NAMES.values() else last
    return "/".join([*path, NAMES.get(last, quoted)])


def _complete(
    name: str, path: str, nodes: Iterable[Node], sure: list[Edge], choices: Mapping[str, tuple[Choice, ...]]
) -> Figure:  # fmt: skip
    """With START and END, each edge once, in the order of the nodes; where nothing leads on, a run ends."""
    edges = sure + [edge for some in choices.values() for choice in some for edge in choice.edges]
    known = {node.name: node for node in nodes}
    names = (*known, *(end for edge in edges for end in (edge.source, edge.target)))  # an unknown one is shown too
    inner = {n: known.get(n, Node(n)) for n in sorted(set(names) - {START, END}, key=_rank(known))}
    sources, targets = {edge.source for edge in edges}, {edge.target for edge in edges}
    edges = edges + [Edge(n, END) for n in inner if n in targets and n not in sources]
    ends = {END: Node(END)} if any(edge.target == END for edge in edges) else {}
    every = {START: Node(START)} | inner | ends
    place = {n: i for i, n in enumerate(every)}
    once: dict[tuple[int, int, bool], list[Edge]] = {}
    for edge in edges:
        once.setdefault((place[edge.source], place[edge.target], edge.conditional), []).append(edge)
    ordered = {a: tuple(_sorted(choice, place) for choice in some) for a, some in choices.items()}
    return Figure(name, path, every, tuple(_merged(once[key]) for key in sorted(once)), ordered)


def _sorted(choice: Choice, place: Mapping[str, int]) -> Choice:
    return replace(choice, edges=tuple(sorted(choice.edges, key=lambda edge: place[edge.target])))


def _merged(edges: list[Edge]) -> Edge:
    """Edges of one pair as one arrow."""
    label = " / ".join(dict.fromkeys(edge.label for edge in edges if edge.label))
    return replace(edges[0], label=label, sends=any(edge.sends for edge in edges))


def _rank(known: Mapping[str, Node]) -> Any:
    place = {name: i for i, name in enumerate(known)}
    return lambda name: (place.get(name, len(place)), name)


def _drawn_by_graph(graph: Any) -> Figure:
    """Of a graph that has no builder, such as a function with `@entrypoint`, what it says of itself."""
    drawn = graph.get_graph()
    edges = [Edge(e.source, e.target, e.conditional, str(e.data or "")) for e in drawn.edges]
    chosen: dict[str, tuple[Edge, ...]] = {}
    for edge in edges:
        if edge.conditional:
            chosen[edge.source] = (*chosen.get(edge.source, ()), edge)
    choices = {source: (Choice(some),) for source, some in chosen.items()}
    nodes = [Node(n) for n in drawn.nodes if n not in (START, END)]
    return _complete(graph.get_name(), "", nodes, [edge for edge in edges if not edge.conditional], choices)


# A graph as Mermaid's text, which nothing that stands in it can break.


TAB = "    "
HEAD = ("---", "config:", "  flowchart:", "    curve: linear", "---", "graph TD;")
JOINT = "\\3a"  # between the steps of a path in an id, as LangGraph writes its ":"
PLAIN = re.compile(r"[a-z_]\w*(?:-\w+)*", re.A | re.I)
# Words of Mermaid, then what every object of JavaScript has; in any case, as no id needs them.
RESERVED = re.compile(
    """acctitle|accdescr|br|bt|call|class|classdef|click|default|direction|end|flowchart|graph|href|interpolate|linkstyle
    |lr|rl|style|subgraph|swimlane|tb|td|v|_blank|_parent|_self|_top
    |constructor|hasownproperty|isprototypeof|propertyisenumerable|tolocalestring|tostring|valueof
    |__(define|lookup)[gs]etter__|__proto__""", re.I | re.X
)  # fmt: skip
# Signs of Mermaid, Markdown and HTML; and what begins an arrow or a statement though it stands in a label.
SIGNS = re.compile(
    r"""[#;:"'<>|()\[\]{}&`@%$*~\\] | ^[-+] | (?<=[.-])- | -(?=[.-]) | (?<=^\d)\. | (?<=^\d\d)\. | d(?=irection\s)""",
    re.X,
)


@dataclass
class _Level:
    """What stands in a graph or in one of its subgraphs, as lines; `inner` by id."""

    heading: str = ""
    nodes: list[str] = field(default_factory=list)
    edges: list[str] = field(default_factory=list)
    inner: dict[str, _Level] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        yield from self.nodes
        yield from self.edges
        for level in self.inner.values():
            yield f"subgraph {level.heading}"
            yield from level.lines()
            yield "end"


def graph_mermaid(graph: Any) -> str:
    """In LangGraph's form, with spaces for tabs, so that a terminal and a page show the same.

    A name is its node's id where Mermaid reads it as one; the ids of others are numbered, and their labels are names.
    """
    from langchain_core.runnables.graph import NodeStyles

    drawn = graph.get_graph(xray=True)
    words = _words(drawn.nodes)
    whole = _Level()
    shapes = {_key(drawn.first_node()): "([{}]):::first", _key(drawn.last_node()): "([{}]):::last"}
    for key, node in drawn.nodes.items():
        line = _id(key.split(":"), words) + shapes.get(key, "({})").format(_label(key, node.metadata or {}))
        _level(whole, key.split(":")[:-1], words).nodes.append(line)
    for edge in drawn.edges:
        source, target = edge.source.split(":"), edge.target.split(":")
        line = f"{_id(source, words)} {_arrow(edge)} {_id(target, words)};"
        _level(whole, _common(source[:-1], target[:-1]), words).edges.append(line)
    styles = (f"classDef {name} {style}" for name, style in asdict(NodeStyles()).items())
    return "\n".join([*HEAD, *(TAB + line for line in (*whole.lines(), *styles)), ""])


def _words(keys: Iterable[str]) -> dict[str, str]:
    """Name -> what stands for it in an id, another for each: itself where that is safe."""
    paths = [key.split(":") for key in keys]
    names = dict.fromkeys(name for path in paths for name in path)
    first = {path[0] for path in paths}
    free = (word for n in count(1) if (word := f"node_{n}") not in names)
    return {name: name if _plain(name, name in first) else next(free) for name in names}


def _plain(name: str, first: bool) -> bool:
    """Where an id begins, Mermaid takes "end-of-it" for its word too."""
    reserved = first and RESERVED.fullmatch(name.partition("-")[0])
    return PLAIN.fullmatch(name) is not None and not reserved


def _id(path: Iterable[str], words: Mapping[str, str]) -> str:
    return JOINT.join(words[name] for name in path)


def _key(node: Any) -> str | None:
    return None if node is None else node.id


def _level(whole: _Level, path: list[str], words: Mapping[str, str]) -> _Level:
    """The subgraph of a path, with its heading; a plain name is its own title."""
    found = whole
    for depth, name in enumerate(path, 1):
        id = _id(path[:depth], words)
        found = found.inner.setdefault(id, _Level(id if id == name else f'{id}["{_text(name)}"]'))
    return found


def _common(a: list[str], b: list[str]) -> list[str]:
    """The subgraph that holds both ends of an edge."""
    same = 0
    while same < min(len(a), len(b)) and a[same] == b[same]:
        same += 1
    return a[:same]


def _label(key: str, metadata: Mapping[str, Any]) -> str:
    name = _text(key.rpartition(":")[2])
    if name[0] == name[-1] == "_":
        name = f"<p>{name}</p>"  # else it is Markdown's emphasis
    scalar = (str, int, float)
    lists = {k: v if isinstance(v, list | tuple) else [v] for k, v in metadata.items()}
    about = [f"{k} = {', '.join(map(str, v))}" for k, v in lists.items() if all(isinstance(one, scalar) for one in v)]
    return name + (f"<hr/><small><em>{'<br>'.join(map(_text, about))}</em></small>" if about else "")


def _arrow(edge: Any) -> str:
    if edge.data is None:
        return "-.->" if edge.conditional else "-->"
    start, end = ("-.", ".->") if edge.conditional else ("--", "-->")
    label = _text(edge.data).replace(".", "#46;")  # a dot ends the label of a dotted arrow
    return f"{start} &nbsp;{label}&nbsp; {end}"


def _text(text: object) -> str:
    """Signs of Mermaid as numbers, which it shows as the signs they are; on one line, and never nothing."""
    shown = printable(str(text).replace("\n", "\ufffd"))
    return SIGNS.sub(lambda sign: f"#{ord(sign[0])};", shown) if shown.strip() else "#160;"


# Text as it stands in a drawing: safe to show, broken into lines, as wide as it will at most be.


NAME, SMALL = 14.0, 12.0  # sizes of type, pixels
LEADING = 1.3  # height of a line, of its size
_THIN, _BROAD = frozenset("ijlrtfI.,:;'|!()[]/-_ "), frozenset("mwMWOQ@%—…")
_PIECE = re.compile(r"[^\s_\-/.:]*[\s_\-/.:]*")


def width(text: str, size: float) -> float:
    """Pixels that a line takes in a sans-serif face, rather too many than too few."""
    return size * sum(map(_em, text))


def _em(c: str) -> float:
    if c.isascii():
        return 0.42 if c in _THIN else 0.92 if c in _BROAD else 0.72 if c.isupper() else 0.6
    if unicodedata.combining(c):
        return 0.0
    return 1.05 if unicodedata.east_asian_width(c) in "WF" else 0.9 if c in _BROAD else 0.75


def shown(text: object, limit: int = 200) -> str:
    """One line without control characters and direction marks, of whatever it was."""
    return one_line(text, limit) or "(no name)"


def wrapped(text: object, widest: float, size: float, most: int = 3) -> tuple[str, ...]:
    """Lines of at most `widest` pixels, broken where a name has a joint if that can be; the last may end in "…"."""
    lines = [""]
    for piece in _pieces(shown(text), widest, size):
        if width((lines[-1] + piece).rstrip(), size) <= widest or not lines[-1]:
            lines[-1] += piece
        else:
            lines.append(piece)
    lines = [line.strip() for line in lines]
    if len(lines) > most:
        lines = [*lines[: most - 1], _cut(lines[most - 1], widest, size)]
    return tuple(lines)


def _pieces(text: str, widest: float, size: float) -> list[str]:
    found: list[str] = []
    for piece in _PIECE.findall(text):
        while width(piece, size) > widest and len(piece) > 1:
            keep = max(1, next(n for n in range(1, len(piece) + 1) if width(piece[:n], size) > widest) - 1)
            found.append(piece[:keep])
            piece = piece[keep:]
        found.append(piece)
    return [piece for piece in found if piece]


def _cut(line: str, widest: float, size: float) -> str:
    while line and width(line + "…", size) > widest:
        line = line[:-1]
    return line + "…"


# The look of a drawing, as CSS, for a drawing by itself and for a page with drawings in it.


_LIGHT = "--jg-ground:#fff;--jg-ink:#1f2328;--jg-muted:#57606a;--jg-box:#fff;--jg-line:#6e7781;--jg-accent:#0550ae"
_DARK = "--jg-ground:#0d1117;--jg-ink:#e6edf3;--jg-muted:#9aa4af;--jg-box:#161b22;--jg-line:#8b949e;--jg-accent:#79c0ff"

DRAWING_CSS: Final = f"""\
.jg-drawing{{{_LIGHT};max-width:100%;height:auto;font-family:system-ui,-apple-system,"Segoe UI",sans-serif}}
@media screen and (prefers-color-scheme:dark){{.jg-drawing{{{_DARK}}}}}
.jg-ground{{fill:var(--jg-ground)}}
.jg-frame{{fill:var(--jg-ink);fill-opacity:.04;stroke:var(--jg-line)}}
.jg-box{{fill:var(--jg-box);stroke:var(--jg-line)}}
.jg-pill{{fill:var(--jg-ink)}}
.jg-dot{{fill:var(--jg-line)}}
.jg-edge{{fill:none;stroke:var(--jg-line)}}
.jg-head{{fill:var(--jg-line)}}
.jg-chip{{fill:var(--jg-ground)}}
.jg-name{{fill:var(--jg-ink)}}
.jg-pill-name{{fill:var(--jg-ground)}}
.jg-note,.jg-label{{fill:var(--jg-muted)}}
.jg-badge{{fill:var(--jg-accent)}}
@media (max-width:600px){{.jg-wide .jg-drawing{{max-width:none}}.jg-wide{{overflow-x:auto}}}}
@media (forced-colors:active){{.jg-drawing{{forced-color-adjust:none}}}}
"""

ATTRIBUTES: Final = {  # without CSS it is light, not black on black
    "jg-ground": 'fill="#fff"',
    "jg-frame": 'fill="#1f2328" fill-opacity=".04" stroke="#6e7781"',
    "jg-box": 'fill="#fff" stroke="#6e7781"',
    "jg-pill": 'fill="#1f2328"',
    "jg-dot": 'fill="#6e7781"',
    "jg-edge": 'fill="none" stroke="#6e7781" stroke-width="1.4"',
    "jg-head": 'fill="#6e7781"',
    "jg-chip": 'fill="#fff"',
    "jg-name": 'fill="#1f2328" font-size="14"',
    "jg-pill-name": 'fill="#fff" font-size="12"',
    "jg-note": 'fill="#57606a" font-size="12"',
    "jg-label": 'fill="#57606a" font-size="12"',
    "jg-badge": 'fill="#0550ae" font-size="12"',
}


def look(name: str) -> str:
    """The class attribute, and what it means where no CSS is."""
    return f'class="{name}" {ATTRIBUTES[name]}'
