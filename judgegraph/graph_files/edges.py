"""Edges as they are written, "a -> b, c -> d" or a mapping, made into arrows and choices between nodes that exist."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import networkx as nx
from pydantic import TypeAdapter

from judgegraph.calls import Endpoint, JudgeLike
from judgegraph.compose.conditions import CONDITIONS, Condition, Either, Own, condition_of, title
from judgegraph.errors import ConfigError, CriteriaError, JudgegraphError, one_line
from judgegraph.graph_files.read import (
    EdgeRef,
    EdgeSpec,
    GraphFileError,
    GraphText,
    HeadSpec,
    JudgeRef,
    JudgeSpec,
    NodeRef,
    NodeSpec,
    Place,
    Source,
    hint,
    shaped,
    sound_part,
)
from judgegraph.graphs.settings import fault, hints_of
from judgegraph.models.judges import KEY
from judgegraph.prompts.criteria import FILES, CriteriaSet, criteria_set
from judgegraph.registry.lookup import callable_of, module_at
from judgegraph.types import EvalState

# What stands around the nodes of a file while its graph is built: defaults, judges, and where things are found.


MOST_FILES, MOST_MADE = 8, 200  # files within files; nodes in all of them together


@dataclass
class Count:
    """What a file and those within it share: the nodes made so far, and the folder that all code must lie in."""

    made: int = 0
    folder: Path = Path()


@dataclass
class Around:
    """Of one file, for one build.

    Attributes:
        judge, criteria: of nodes that have none of their own; None where the file says none.
        task: of the file itself, "" where it says none: then a set's own stands.
        judges: by the file's own names, None for what is none. critic: to take the place of the file's one critic.
        files: the file and those that it stands in, outermost first. modules: code beside it, which runs once.
    """

    source: Source
    judge: JudgeLike | None = None
    criteria: CriteriaSet | None = None
    task: str = ""
    judges: Mapping[str, JudgeLike | None] = field(default_factory=dict)
    critic: Any = None
    files: tuple[Path, ...] = ()
    count: Count = field(default_factory=Count)
    modules: dict[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where the file lies."""
        return self.source.file.path.parent

    def criteria_of(self, path: Place, given: Any) -> CriteriaSet | None:
        """A set that the file names at a place; a criteria file is found from the graph file's folder."""
        if isinstance(given, str) and given.lower().endswith(FILES):
            given = self.folder / given
        try:
            return self.tasked(criteria_set(given))
        except CriteriaError as error:
            self.source.fault(path, one_line(error, 1000))
        except OSError as error:
            self.source.fault(path, f"cannot be read: {error.strerror}")
        return None

    def tasked(self, chosen: CriteriaSet) -> CriteriaSet:
        """The set with the file's task, where it has one."""
        return chosen.model_copy(update={"task": self.task}) if self.task else chosen


# Python beside a graph file: `my_nodes.py:tidy`. Loading such a file runs its code, as importing a module does.


def is_code(text: str) -> bool:
    """Whether a text names Python code."""
    return text.rpartition(":")[0].endswith(".py")


def code_at(around: Around, path: Place, text: str) -> Any:
    """The class or function; None where there is none, which joins the faults.

    A graph file runs code only from its own folder and the folders in it, and so do those within it: wherever one lies,
    and wherever a link leads.
    """
    name, _, attribute = text.rpartition(":")
    inside = around.folder / name
    if Path(name).is_absolute() or ".." in Path(name).parts:
        around.source.fault(
            path, f"code lies beside the graph file or in a folder below it, not at {one_line(name, 80)}"
        )
        return None
    if not inside.resolve().is_relative_to(around.count.folder):
        around.source.fault(path, f"{one_line(name, 80)} leads out of the folder of the graph file that is run")
        return None
    try:
        if name not in around.modules:
            around.modules[name] = module_at(inside)
        return callable_of(around.modules[name], attribute, text)
    except JudgegraphError as error:
        around.source.fault(path, one_line(error, 500))
    except (Exception, SystemExit) as error:
        around.source.fault(path, f"{one_line(name, 80)} fails to import: {type(error).__name__}: {one_line(error)}")
    return None


# A judge as a file names it, made into what agents take; nothing is asked, and no key is looked at.


JUDGE: TypeAdapter[Any] = TypeAdapter(JudgeRef)
VARIABLE = re.compile(r"(?!sk[-_])[A-Za-z_][A-Za-z0-9_]*")  # of the environment; a key that stands in its place is none
ADDRESS = re.compile(r"https?://[^\s/?#]+\S*", re.IGNORECASE)


def is_model(text: str) -> bool:
    """Whether a text names a judge by itself: "embedded" or "PROVIDER:MODEL"."""
    return not fault(str | Endpoint, text)


def judge_of(source: Source, path: Place, given: Any, known: Mapping[str, JudgeLike | None]) -> JudgeLike | None:
    """The judge that stands at a place; None where it is none, which joins the faults.

    Args:
        known: judges by the file's own names, which come first.
    """
    spec = given if isinstance(given, JudgeSpec) else shaped(JUDGE, source, path, given, JudgeSpec)
    if isinstance(spec, JudgeSpec):
        return _endpoint(source, path, spec)
    if spec is None or spec in known:
        return known.get(spec or "")
    if is_model(spec):
        return str(spec)
    shown = one_line(spec, 60)
    said = hint(shown, known, "This file's judges")
    source.fault(path, f"no judge '{shown}'{said}; or write 'embedded', 'openai:MODEL' or 'PROVIDER:MODEL'")
    return None


def _endpoint(source: Source, path: Place, spec: JudgeSpec) -> Endpoint | None:
    if why := fault(str | Endpoint, spec.model):
        source.fault((*path, "model"), why)
        return None
    if spec.api_key_env is not None and not VARIABLE.fullmatch(spec.api_key_env):  # it may be a key: it is not repeated
        said = "expected the name of an environment variable, such as OPENAI_API_KEY; a key stands in no file"
        source.fault((*path, "api_key_env"), said)
        return None
    if spec.base_url is not None and not (ADDRESS.fullmatch(spec.base_url) and _host(spec.base_url)):
        source.fault((*path, "base_url"), "expected an address that begins with http:// or https://")
        return None
    given = {key: value for key, value in spec.model_dump().items() if value is not None}
    if why := _refused_key(spec):
        if spec.api_key_env is not None:
            source.fault((*path, "api_key_env"), why)
            return None
        given["api_key_env"] = ""  # the usual key is not the file's to send: it goes without one
    try:
        return Endpoint(**given)
    except ConfigError as error:
        source.fault(path, one_line(error))
        return None


def _refused_key(spec: JudgeSpec) -> str:
    """Why a file may not send a variable of the environment to the address it names; "" where it may.

    A file of somebody else's could name any variable beside an address of his own. So a key goes where the user says
    so outside of the file, in JUDGEGRAPH_KEYS; to this machine; and the provider's own variable to the provider.
    """
    variable, address = spec.api_key_env or KEY, spec.base_url or ""
    provider = spec.model.partition(":")[0]
    host = _host(address) if address else "api.openai.com" if provider == "openai" else provider
    if not address and variable == KEY:
        return ""
    if address and _is_this_machine(address) and variable == KEY:
        return ""
    if (variable, host) in allowed_keys():
        return ""
    return (
        f"a file cannot send {variable} to {host} by itself; if you trust both, allow it: "
        f"JUDGEGRAPH_KEYS={variable}@{host}"
    )


def allowed_keys() -> frozenset[tuple[str, str]]:
    """(variable, host or host:port) pairs of JUDGEGRAPH_KEYS, such as "TEAM_KEY@gateway.example, OTHER@host:8000"."""
    pairs = (one.strip().partition("@") for one in os.environ.get("JUDGEGRAPH_KEYS", "").split(","))
    return frozenset(
        (variable.strip(), _host(host)) for variable, _, host in pairs if variable.strip() and host.strip()
    )


def _host(address: str) -> str:
    """Host and port of an address, or of a host that was written without a scheme; no port is the scheme's own.

    "" of what is no address, such as "http://[host".
    """
    try:
        parts = urlsplit(address if "://" in address else f"//{address.strip()}")
    except ValueError:
        return ""
    host = parts.netloc.rpartition("@")[2].casefold()
    return host.removesuffix(":443" if parts.scheme != "http" else ":80")


def _is_this_machine(address: str) -> bool:
    name = (urlsplit(address).hostname or "").casefold()
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


START, END = "start", "end"
MOST_ARROWS = 2_000
Names = tuple[str, ...]


@dataclass(frozen=True)
class Branch:
    """One `when` with where it leads; `path` is where it stands in the file."""

    when: Any
    to: Names
    otherwise: Names
    path: Place


@dataclass
class Arrows:
    """All edges of a file.

    Attributes:
        plain: (source, target) -> where it stands. choices: source -> its branches, in the order of the file.
    """

    plain: dict[tuple[str, str], Place] = field(default_factory=dict)
    choices: dict[str, list[Branch]] = field(default_factory=dict)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Every (source, target) there may be, choices included; a choice without `else` may lead to the end."""
        yield from self.plain
        for source, branches in self.choices.items():
            for branch in branches:
                yield from ((source, to) for to in branch.to)
            yield from ((source, to) for to in branches[-1].otherwise or (END,))


def arrows(source: Source, edges: Iterable[tuple[Place, str | EdgeSpec]], nodes: Iterable[str]) -> Arrows:
    """Edges read; what is wrong with one joins the faults, and it is left out."""
    found, known = Arrows(), [*nodes]
    for path, edge in edges:
        if isinstance(edge, str):
            _chain(source, found, path, edge, known)
        elif edge.when is None:
            if edge.otherwise is not None:
                source.fault(
                    (*path, "else"), "stands only beside a 'when': it is where a run goes that does not meet it"
                )
            targets = _places(source, (*path, "to"), edge.to, [*known, END])
            for one in _places(source, (*path, "from"), edge.source, [START, *known]):
                _add(source, found, path, one, targets)
        else:
            _choice(source, found, path, edge, known)
    for one in {a for a, _ in found.plain} & set(found.choices):
        path = found.choices[one][0].path
        source.fault(path, f"'{one}' has an edge without 'when' too; write where it goes otherwise as its 'else'")
    return found


def _chain(source: Source, found: Arrows, path: Place, text: str, known: list[str]) -> None:
    parts = text.split("->")
    if len(parts) < 2:
        source.fault(path, f"expected an edge such as 'a -> b' or 'a, b -> c -> end', got {source.shown(path)}")
        return
    steps = []
    for place, part in enumerate(parts):
        allowed = [START] * (place == 0) + known + [END] * (place == len(parts) - 1)
        names = [name.strip() for name in part.strip().removeprefix("[").removesuffix("]").split(",")]
        steps.append(_places(source, path, names, allowed))
    for sources, targets in pairwise(steps):
        for one in sources:
            _add(source, found, path, one, targets)


def _places(source: Source, path: Place, names: str | list[str] | None, allowed: list[str]) -> Names:
    """Those of the names that are nodes."""
    listed = [names] if isinstance(names, str) else names or []
    good = []
    for name in listed:
        if name in allowed:
            good.append(name)
        elif name in (START, END):
            source.fault(path, f"'{name}' stands only where a graph {'begins' if name == START else 'ends'}")
        else:
            shown = one_line(name, 60)
            source.fault(path, f"no node '{shown}'{hint(shown, allowed, 'Nodes')}" if shown else "a name is missing")
    return tuple(dict.fromkeys(good))


def _add(source: Source, found: Arrows, path: Place, one: str, targets: Names) -> None:
    for target in targets:
        if (one, target) in found.plain:
            first = source.line(found.plain[one, target])
            source.fault(path, f"{one} -> {target} is given twice, first in line {first}")
        elif len(found.plain) >= MOST_ARROWS:
            source.fault(path, f"there are over {MOST_ARROWS:,} edges")
            return
        found.plain[one, target] = path


def _choice(source: Source, found: Arrows, path: Place, edge: EdgeSpec, known: list[str]) -> None:
    sources = _places(source, (*path, "from"), edge.source, [START, *known])
    if len(sources) > 1:
        source.fault((*path, "from"), "an edge with 'when' starts at one node; let those lead to one node first")
    to = _places(source, (*path, "to"), edge.to, [*known, END])
    otherwise = _places(source, (*path, "else"), edge.otherwise, [*known, END])
    for one in sources[:1]:
        branches = found.choices.setdefault(one, [])
        if branches and branches[-1].otherwise:
            source.fault(
                path, f"'{one}' goes on by 'else' in line {source.line(branches[-1].path)}; this comes too late"
            )
        branches.append(Branch(edge.when, to, otherwise, path))


def ends(arrows: Arrows) -> Mapping[str, set[str]]:
    """Source -> all its targets."""
    found: dict[str, set[str]] = {}
    for one, target in arrows.pairs():
        found.setdefault(one, set()).add(target)
    return found


# A `when` of a file, made into a condition: by name, with settings, several of them, or code beside the file.


def condition_at(around: Around, path: Place, given: Any) -> Condition | None:
    """The condition that stands at a place; None where it is none, which joins the faults."""
    before = len(around.source.faults)
    ready = _ready(around, path, given)
    if len(around.source.faults) > before:
        return None
    try:
        return condition_of(ready)
    except JudgegraphError as error:
        around.source.fault(path, one_line(error, 500))
    except Exception as error:  # a setting of a kind that a condition did not expect
        around.source.fault(path, f"no condition: {type(error).__name__}: {one_line(error)}")
    return None


def own_code(condition: Condition) -> Any:
    """The first function of the user's own in a condition, None where there is none."""
    if isinstance(condition, Own):
        return condition.decide
    inner = condition.conditions if isinstance(condition, Either) else ()
    return next((found for one in inner if (found := own_code(one)) is not None), None)


def _ready(around: Around, path: Place, given: Any) -> Any:
    """As `condition_of` takes it: code is loaded, names and settings are looked at."""
    if isinstance(given, list):
        return [_ready(around, (*path, place), one) for place, one in enumerate(given)]
    if isinstance(given, str):
        if is_code(given):
            return code_at(around, path, given)
        return given if _known(around, path, given) else None
    if not isinstance(given, dict) or len(given) != 1:
        said = "expected a condition's name, {name: settings}, or file.py:name"
        around.source.fault(path, f"{said}, got {around.source.shown(path)}")
        return None
    ((name, settings),) = given.items()
    if not _known(around, (*path, name), name):
        return None
    if name == "either":
        listed = settings if isinstance(settings, list) else [settings]
        place = (*path, name)
        return {name: [_ready(around, (*place, i) if listed is settings else place, x) for i, x in enumerate(listed)]}
    if isinstance(settings, dict):
        _check(around, (*path, name), name, settings)
    return given


def settings_of_condition(name: str) -> dict[str, Any]:
    """Setting -> annotation of a condition that a file may name."""
    return {key: value for key, value in hints_of(CONDITIONS[name]).items() if key not in ("name", "own", "last")}


def _known(around: Around, path: Place, name: str) -> bool:
    if name in CONDITIONS:
        return True
    around.source.fault(path, f"no condition '{one_line(name, 60)}'{hint(name, CONDITIONS)}, or file.py:name")
    return False


def _check(around: Around, path: Place, name: str, settings: dict[str, Any]) -> None:
    hints = settings_of_condition(name)
    for key, value in settings.items():
        if key not in hints:
            around.source.fault((*path, key), f"condition '{name}' has no such setting{hint(key, hints)}")
        elif why := fault(hints[key], value):
            expected = why.rpartition(", got ")[0] or why
            around.source.fault((*path, key), f"{expected}, got {around.source.shown((*path, key))}")


# Which nodes are reached at different times within one run, so that they must wait: whatever its choices are.


MOST = 500  # ways through a file's choices that are looked at
Time = tuple[str, int]  # steps since a node that waited, or since the start


def waiting(graph: nx.DiGraph[str], found: Arrows) -> set[str]:
    """Nodes that some way through the choices reaches at two times.

    Where there are too many ways, all that several edges lead to.
    """
    ways = _ways(found)
    if ways is None:
        return {node for node in graph if node != END and graph.in_degree(node) > 1}
    late: set[str] = set()
    times: list[dict[str, Time]] = [{START: ("", 0)} for _ in ways]
    for node in nx.topological_sort(graph):
        if node in (START, END):
            continue
        reached = [_reached(graph, found, node, way, when) for way, when in zip(ways, times, strict=True)]
        if any(len(arrivals) > 1 for arrivals in reached):
            late.add(node)
        for when, arrivals in zip(times, reached, strict=True):
            if arrivals:
                when[node] = (node, 0) if node in late else next(iter(arrivals))
    return late


def _ways(found: Arrows) -> list[dict[str, tuple[str, ...]]] | None:
    """Source of a choice -> where it goes, of every way through all of them; None for too many."""
    outcomes, count = [], 1
    for branches in found.choices.values():
        outcomes.append([*(branch.to for branch in branches), branches[-1].otherwise or (END,)])
        count *= len(outcomes[-1])
    if count > MOST:
        return None
    return [dict(zip(found.choices, chosen, strict=True)) for chosen in product(*outcomes)]


def _reached(
    graph: nx.DiGraph[str], found: Arrows, node: str, way: dict[str, tuple[str, ...]], when: dict[str, Time]
) -> set[Time]:
    """The times at which a way leads to a node; none where it does not."""
    before = [
        one
        for one in graph.predecessors(node)
        if one in when and ((one, node) in found.plain or node in way.get(one, ()))
    ]
    return {(anchor, steps + 1) for anchor, steps in (when[one] for one in before)}


# Where branches meet: each node runs once, whichever of the edges to it are taken.
#
# A node that several edges lead to becomes, in LangGraph:
#
#     all its sources run in every run   add_edge([a, b], node): it waits for all of them
#     some are run by choice             defer=True: it waits until nothing else is left to do; not where no run reaches
#                                        it at two times, as where its sources are the two ways of one choice
#
# Whether that is sound (a deferred join before another may run it twice) is for `judgegraph.wiring` to say.


SPLIT = "; a comma within [ ] ends an edge: write each edge in a line of its own, after a dash"


@dataclass
class Joins:
    """Edges as LangGraph takes them.

    Attributes:
        edges: (sources, target): one source, or all that a target waits for.
        deferred: nodes that wait until nothing else is left to do.
    """

    edges: list[tuple[Names, str]] = field(default_factory=list)
    deferred: set[str] = field(default_factory=set)


def joins(source: Source, found: Arrows, nodes: dict[str, Place]) -> Joins:
    """How edges meet; circles, and nodes that are not reached or lead nowhere, join the faults."""
    graph: nx.DiGraph[str] = nx.DiGraph(list(found.pairs()))
    graph.add_nodes_from([START, END, *nodes])
    if not _sound(source, graph, found, nodes):
        return Joins()
    made, certain, late = Joins(), _certain(graph, found), waiting(graph, found)
    for node in nx.topological_sort(graph):
        plain = [a for a, b in found.plain if b == node]
        chosen = [a for a in graph.predecessors(node) if a in found.choices]
        if node == END or len(plain) + len(chosen) < 2:
            made.edges += [((a,), node) for a in plain]
        elif not chosen and certain.issuperset(plain):
            made.edges.append((tuple(a for a in plain if a != START), node))
        else:
            made.deferred |= {node} & late
            made.edges += [((a,), node) for a in plain]
    return made


def _sound(source: Source, graph: nx.DiGraph[str], found: Arrows, nodes: dict[str, Place]) -> bool:
    before = len(source.faults)
    if START not in ends(found):
        source.fault(("edges",), "no edge begins at 'start'; write start -> NODE")
        return False
    for circle in nx.strongly_connected_components(graph):
        if len(circle) > 1 or any(graph.has_edge(one, one) for one in circle):
            walk = [*(a for a, _ in nx.find_cycle(graph, sorted(circle)[0]))]
            shown = " -> ".join([*walk, walk[0]])
            source.fault(_path(found, *(walk * 2)[:2]), f"goes round without end: {shown}; use: refine has a bound")
    reached, ending = nx.descendants(graph, START), nx.ancestors(graph, END)
    split = SPLIT if source.is_split(("edges",)) else ""
    for name, path in nodes.items():
        if name not in reached:
            source.fault(path, f"no way leads here from 'start'; add an edge to it{split}")
        elif name not in ending and len(source.faults) == before:
            source.fault(path, f"leads nowhere; write {name} -> end{split}")
    return len(source.faults) == before


def _path(found: Arrows, one: str, target: str) -> Place:
    """Where an edge stands."""
    if (one, target) in found.plain:
        return found.plain[one, target]
    branches = found.choices.get(one, [])
    return next((b.path for b in branches if target in (*b.to, *b.otherwise)), ("edges",))


def _certain(graph: nx.DiGraph[str], found: Arrows) -> set[str]:
    """Nodes that run in every run."""
    certain = {START}
    for node in nx.topological_sort(graph):
        if any((a, node) in found.plain and a in certain for a in graph.predecessors(node)):
            certain.add(node)
    return certain


# A graph file read: its parts held to their shape, each by itself, so that one mistake hides no other.


HEAD: TypeAdapter[HeadSpec] = TypeAdapter(HeadSpec)
NODE: TypeAdapter[Any] = TypeAdapter(NodeRef)
EDGE: TypeAdapter[Any] = TypeAdapter(EdgeRef)


@dataclass(frozen=True)
class Parts:
    """A file's content.

    Attributes:
        source: the file, with what was wrong so far. head: all but nodes and edges.
        nodes: name -> what runs there, None where that is wrong. edges: place in the file -> edge.
    """

    source: Source
    head: HeadSpec
    nodes: Mapping[str, str | NodeSpec | None]
    edges: Mapping[int, str | EdgeSpec]

    def afresh(self) -> Parts:
        """The same for one build: what one finds wrong is not told by the next."""
        return replace(self, source=replace(self.source, faults=list(self.source.faults)))


def read_parts(path: Path) -> Parts:
    """The parts of a file.

    Raises:
        GraphFileError: it cannot be read, or it is no mapping with a name, nodes and edges.
    """
    source = Source(GraphText(_existing(path))).read()
    head = shaped(HEAD, source, (), source.data) or sound_part(HEAD, source, (), source.data, HeadSpec)
    data = source.data if isinstance(source.data, dict) else {}
    listed, drawn = data.get("nodes"), data.get("edges")
    nodes = {
        name: shaped(NODE, source, ("nodes", name), given, NodeSpec)
        or sound_part(NODE, source, ("nodes", name), given, NodeSpec)
        for name, given in (listed.items() if isinstance(listed, dict) else ())
    }
    edges = {
        place: edge
        for place, given in enumerate(drawn if isinstance(drawn, list) else ())
        if (edge := shaped(EDGE, source, ("edges", place), given, EdgeSpec)) is not None
    }
    for name in {START, END} & set(nodes):
        del nodes[name]
        source.fault(("nodes", name), f"'{name}' is where a graph {'begins' if name == START else 'ends'}; rename it")
    if head is None:
        source.settle()
        raise AssertionError("a file without a head has faults")
    return Parts(source, head, nodes, edges)


def _existing(path: Path) -> Path:
    try:
        found = path.is_file()
    except (OSError, ValueError):  # a name too long, or with a zero in it
        found = False
    if not found:
        raise GraphFileError(f"graph file {one_line(path)}: there is no such file")
    return path


# A choice between edges: what the conditions of a file become in LangGraph.


@dataclass(frozen=True)
class Route:
    """Goes where the first condition that finds something in doubt says, else elsewhere.

    Attributes:
        ways: (condition, nodes) in the order they are tried. otherwise: nodes.
    """

    ways: tuple[tuple[Condition, tuple[str, ...]], ...]
    otherwise: tuple[str, ...]

    def __call__(self, state: EvalState) -> list[str]:
        return list(next((to for condition, to in self.ways if condition(state)), self.otherwise))

    @property
    def outcomes(self) -> tuple[tuple[str, ...], ...]:
        """The nodes of each way, for who proves the wiring."""
        return (*(to for _, to in self.ways), self.otherwise)

    @property
    def targets(self) -> list[str]:
        """Every node it may lead to."""
        return list(dict.fromkeys(one for to in self.outcomes for one in to))

    @property
    def __name__(self) -> str:  # what a run's configuration names a choice by: its settings are in it
        return ", else ".join(f"{title(condition)}: {' and '.join(to)}" for condition, to in self.ways)

    @property
    def __wrapped__(self) -> Any:
        """Code of the user's own in a condition: a run's configuration has its digest, and its plan names it."""
        if found := [code for condition, _ in self.ways if (code := own_code(condition)) is not None]:
            return found[0]
        raise AttributeError("__wrapped__")
