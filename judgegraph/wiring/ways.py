"""Where a node may lead: what a conditional edge, or a command, chooses between."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from langgraph.graph import END
from langgraph.types import Command, Send

from judgegraph.wiring.code import function_of, functions, hints_of, mentions, repeats, sends
from judgegraph.wiring.fan_outs import may_send_nothing
from judgegraph.wiring.flow import returns
from judgegraph.wiring.routes import Targets, gone_to, targets_of
from judgegraph.wiring.signatures import members

Kind = Literal["one", "many", "send"]


@dataclass(frozen=True)
class Choice:
    """One thing that may happen: nodes that are led to, nodes that are sent to, and fan-outs that sent nothing."""

    to: frozenset[str] = frozenset()
    sent: frozenset[str] = frozenset()
    empty: frozenset[str] = frozenset()

    def __or__(self, other: Choice) -> Choice:
        return Choice(self.to | other.to, self.sent | other.sent, self.empty | other.empty)


@dataclass(frozen=True)
class Way:
    """A conditional edge.

    Attributes:
        ends: all nodes that it may lead to, END among them. sent: those that its code sends to.
        several: it may send to one node more than once. mapped: its targets are listed where the edge is added.
        at_most: rounds, by `bounded`.
        never_empty: it always sends something, as it says or as its code shows. opaque: its code cannot be seen, so it
            may send too. unsure: whether it names one node or several cannot be seen.
        outcomes: the sets of nodes that it chooses between, where its function has an attribute of that name.
        goto: it is a node's command. reads: every name that its code mentions.
        labels: what its function may give where it has a path map; None without one.
    """

    source: str
    kind: Kind
    ends: tuple[str, ...]
    function: Any = None
    sent: frozenset[str] = frozenset()
    several: bool = False
    mapped: bool = True
    at_most: int | None = None
    never_empty: bool = False
    opaque: bool = False
    unsure: bool = False
    outcomes: tuple[tuple[str, ...], ...] = ()
    goto: bool = False
    reads: frozenset[str] = frozenset()
    labels: tuple[Any, ...] | None = None

    def choices(self) -> list[Choice]:
        """What it may do. Of several names or targets at once all are taken: what is left out cannot be seen.

        A function that lists its `outcomes`, the nodes of each, is believed.
        """
        if (told := getattr(self.function, "outcomes", None)) is not None:
            return [Choice(to=_nodes(ends)) for ends in told]
        if self.outcomes:
            return [Choice(to=_nodes(ends)) for ends in self.outcomes]
        if self.kind == "many":
            return [Choice(to=_nodes(self.ends))]
        named = [Choice(to=_nodes([end])) for end in self.ends if end not in self.sent]
        if self.kind == "one":
            return named
        nothing = [] if named or self.never_empty else [Choice(empty=frozenset({self.source}))]
        return [Choice(sent=self.sent), *named, *nothing]


def other_way(way: Way) -> Way:
    """It as it may be instead, where it cannot be seen whether it names one node or several."""
    return replace(way, kind="many" if way.kind == "one" else "one") if way.unsure else way


def _nodes(ends: Collection[str]) -> frozenset[str]:
    return frozenset(ends) - {END}


def way_of(source: str, branch: Any, nodes: Collection[str]) -> Way:
    """What LangGraph keeps of `add_conditional_edges`."""
    function = function_of(branch.path)
    said, mapped = mentions(function), branch.ends is not None
    ends = tuple(dict.fromkeys(branch.ends.values())) if mapped else _guessed(said, nodes, targets_of(function))
    makes, to = sends(function)
    kind, unsure = kind_of(function, makes)
    to &= set(ends)
    if kind == "send" and not to:
        to = _nodes(ends)
    return Way(
        source, kind, ends, function, sent=to if kind == "send" else frozenset(), mapped=mapped, reads=said,
        at_most=getattr(function, "at_most", None), never_empty=_never_empty(function) if kind == "send" else False,
        outcomes=tuple(map(tuple, getattr(function, "outcomes", ()))), unsure=unsure,
        opaque=unsure and next(functions(function), None) is None,
        several=kind == "send" and repeats(function), labels=tuple(branch.ends) if mapped else None,
    )  # fmt: skip


def command_of(source: str, function: Any, ends: Any, nodes: Collection[str], alone: bool) -> Way | None:
    """What a node's `Command(goto=...)` may do; None where it gives none, as far as can be seen.

    Args:
        ends: as the node declares them. alone: no other edge leads on from here.
    """
    said = mentions(function)
    hint = hints_of(function).get("return")
    commands = any(get_origin(leaf) is Command or leaf is Command for leaf in members(hint))
    if not ends and not commands and not {"Command", "goto"} <= said:
        return None
    gone = gone_to(function)
    if not ends and gone.outside and not (gone.names or gone.sent):
        return None
    where = tuple(ends) if ends else _guessed(said, nodes, gone)
    where = where if alone else (*where, END)  # it need not give one
    return Way(source, "one", tuple(dict.fromkeys(where)), function, mapped=bool(ends), goto=True, reads=said)


def _guessed(said: Collection[str], nodes: Collection[str], seen: Targets) -> tuple[str, ...]:
    """Nodes that a function gives, as its source says; else those that it names; else it may lead anywhere."""
    if seen.whole and (seen.names or seen.sent):
        given = [*nodes, END]
        return tuple(end for end in given if end in seen.names | seen.sent)
    found = [node for node in nodes if node in said]
    return (*found, END) if found and {"END", END} & set(said) else tuple(found) or (*nodes, END)


def _never_empty(function: Any) -> bool:
    return bool(getattr(function, "never_empty", False)) or not may_send_nothing(function)


def kind_of(function: Any, makes_sends: bool) -> tuple[Kind, bool]:
    """Whether it chooses one name, names several, or sends; and whether it may as well be several for one."""
    leaves = members(hints_of(function).get("return"))
    if any(Send in (leaf, *members(get_args(leaf)[0] if get_args(leaf) else None)) for leaf in leaves):
        return "send", False
    if leaves and all(_is_name(leaf) for leaf in leaves):
        return "one", False
    if makes_sends:
        return "send", False
    if leaves and all(_is_list(leaf) for leaf in leaves):
        return "many", False
    returned = returns(function)
    return ("many" if returned == {"list"} else "one"), returned not in ({"list"}, {"name"})


def _is_name(leaf: Any) -> bool:
    if get_origin(leaf) is Literal:
        return True
    return isinstance(leaf, type) and not _is_list(leaf) and issubclass(leaf, str | int | Enum)


def _is_list(leaf: Any) -> bool:
    kind = get_origin(leaf) or leaf
    return isinstance(kind, type) and (issubclass(kind, list | tuple | set) or kind is Sequence)
