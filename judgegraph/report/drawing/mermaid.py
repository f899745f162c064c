"""A graph as Mermaid's text, which nothing that stands in it can break."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import count
from typing import Any

from judgegraph.errors import printable

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

    told = graph.get_graph(xray=True)
    words = _words(told.nodes)
    whole = _Level()
    shapes = {_key(told.first_node()): "([{}]):::first", _key(told.last_node()): "([{}]):::last"}
    for key, node in told.nodes.items():
        line = _id(key.split(":"), words) + shapes.get(key, "({})").format(_label(key, node.metadata or {}))
        _level(whole, key.split(":")[:-1], words).nodes.append(line)
    for edge in told.edges:
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
    told = {k: v if isinstance(v, list | tuple) else [v] for k, v in metadata.items()}
    about = [f"{k} = {', '.join(map(str, v))}" for k, v in told.items() if all(isinstance(one, scalar) for one in v)]
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
