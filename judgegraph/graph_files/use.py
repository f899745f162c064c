"""What `use` names: a helper of this framework, a registered part, another graph file, or code beside the file."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, get_type_hints

from judgegraph.calls import Endpoint
from judgegraph.errors import JudgegraphError, one_line
from judgegraph.graph_files.around import Around
from judgegraph.graph_files.code import code_at, is_code
from judgegraph.graph_files.shape import hint
from judgegraph.graph_files.source import Place
from judgegraph.graphs.settings import hints_of
from judgegraph.prompts.criteria_sets import FILES
from judgegraph.registry import KINDS, find, find_agent, is_made, names, part_of, settings_of
from judgegraph.registry.methods import is_file

JUDGES = {"JudgeLike": str | Endpoint}  # a name for a text, which stands for a type
Role = Literal["members", "member", "node", "critic", "condition"]
HELPERS: Mapping[str, str] = {  # name -> "module:function"
    "panel": "judgegraph.compose.panel:panel",
    "gate": "judgegraph.compose.gate:gate",
    "critique": "judgegraph.compose.critique:critique",
    "refine": "judgegraph.compose.refine:refine",
    "escalate": "judgegraph.compose.escalate:escalate",
}
ROLES: Mapping[str, Role] = {  # settings of helpers that are parts of a graph themselves
    "judges": "members", "cheap": "member", "strong": "member", "node": "node", "otherwise": "node",
    "critic": "critic", "when": "condition",
}  # fmt: skip


@dataclass(frozen=True)
class Use:
    """A part, and what it takes.

    Attributes:
        kind: "agent", "critic", "method", "assistant", "helper", "file" or "code".
        name: as the file says it. thing: the class, function or object; of a file what builds its graph.
        takes: its settings, None where it takes any. hints: setting -> annotation.
        many: the setting whose list is passed one by one, "" for none. needs: settings without a default.
    """

    kind: str
    name: str
    thing: Any
    takes: tuple[str, ...] | None = ()
    hints: Mapping[str, Any] = field(default_factory=dict)
    many: str = ""
    needs: tuple[str, ...] = ()

    @property
    def made(self) -> bool:
        """Whether it is a node as it stands."""
        return self.kind != "file" and bool(is_made(self.thing))


def use_at(around: Around, path: Place, name: str) -> Use | None:
    """What is used at a place; None where nothing is called so, which joins the faults."""
    if is_code(name):
        thing = code_at(around, path, name)
        return None if thing is None else _use("code", name, thing)
    if name.lower().endswith(FILES):
        return _file(around, path, name)
    try:
        return used(name)
    except JudgegraphError as error:
        word, slash, _ = name.partition("/")
        if str(error).startswith("no agent") and not (slash and word in KINDS):
            shown = one_line(name, 60)
            around.source.fault(
                path, f"nothing is called '{shown}'{hint(shown, known())}, a graph file, or file.py:name"
            )
        else:
            around.source.fault(path, one_line(error, 1000))
        return None


def used(name: str) -> Use:
    """A helper, or what is registered under a name.

    Raises:
        ConfigError: nothing is, or several parts are.
    """
    if (own := bare(name)) in HELPERS:
        module, _, attribute = HELPERS[own].partition(":")
        return _use("helper", own, getattr(importlib.import_module(module), attribute))
    kind, thing = find_agent(name)
    return _use(kind, name, thing)


def bare(name: str) -> str:
    """A name without what may stand before one of ours: "panel" of "agent/panel" and of "judgegraph:panel"."""
    kind, slash, rest = name.partition("/")
    return (rest if slash and kind in KINDS else name).removeprefix("judgegraph:")


def is_registered(name: str) -> bool:
    """Whether a part is called so, in any form: "NAME", "PACKAGE:NAME" or "KIND/NAME"."""
    if is_file(name):
        return False
    try:
        part_of(*find(name))
    except JudgegraphError:  # where several have the name, what makes a node of it says so
        return name in known()
    return True


def known() -> list[str]:
    """Every name that `use` may have."""
    return list(dict.fromkeys([*HELPERS, *(name for kind in KINDS for name in names(kind))]))


def _use(kind: str, name: str, thing: Any) -> Use:
    takes, any_more = settings_of(thing)
    parameters = inspect.signature(thing).parameters.values() if kind == "helper" else ()
    many = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "")
    hints = _hints(thing)
    if kind == "method":
        builder = getattr(inspect.getmodule(thing), "builder", None)
        hints = {**(_hints(builder) if builder is not None else {}), **hints}
    needs = (*filter(None, [many]), *(name for name, p in takes.items() if p.default is p.empty))
    return Use(kind, name, thing, None if any_more else (*filter(None, [many]), *takes), hints, many, needs)


def _hints(thing: Any) -> dict[str, Any]:
    """Setting -> annotation, each by itself: one that cannot be resolved hides no other."""
    if found := hints_of(thing):
        return found
    written = getattr(thing, "__annotations__", {})
    around = getattr(thing, "__globals__", None) or vars(inspect.getmodule(thing) or object)
    single = [(name, type("One", (), {"__annotations__": {name: text}})) for name, text in written.items()]
    for name, one in single:
        with suppress(Exception):  # whatever stands in a user's annotations
            found |= {name: get_type_hints(one, globalns=around, localns=JUDGES, include_extras=True)[name]}
    return found


def _file(around: Around, path: Place, name: str) -> Use | None:
    """Another graph file, found from this one's folder; what is wrong with it is told with its own lines."""
    from judgegraph.graph_files.load import read_graph

    try:
        graph = read_graph(around.folder / name, around.files, around.count)
    except JudgegraphError as error:
        for line in str(error).splitlines():
            around.source.fault(path, one_line(line, 1000))
        return None
    return Use("file", name, graph, ("judge", "criteria"))
