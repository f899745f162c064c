"""A node as a file writes it, made into what LangGraph's `add_node` takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass, replace
from typing import Any

from pydantic import TypeAdapter

from judgegraph.agents.rectify import Rectify
from judgegraph.compose.each import each
from judgegraph.compose.node import as_node
from judgegraph.errors import JudgegraphError, one_line
from judgegraph.graph_files.around import MOST_MADE, Around
from judgegraph.graph_files.judges import judge_of
from judgegraph.graph_files.settings import BESIDE, settings_of
from judgegraph.graph_files.shape import shaped
from judgegraph.graph_files.source import Place
from judgegraph.graph_files.spec import NodeRef, NodeSpec
from judgegraph.graph_files.use import Use, use_at
from judgegraph.prompts.criteria_sets import CriteriaSet

NODE: TypeAdapter[Any] = TypeAdapter(NodeRef)


def node_at(around: Around, path: Place, given: Any, name: str, more: Mapping[str, Any] | None = None) -> Any:
    """What runs at a place; None where it cannot be made, which joins the faults.

    Args:
        given: a name, or a NodeSpec as it is or as plain data. name: of the node, "" within another one's settings.
        more: settings that it is given where it takes them and the file sets none.
    """
    spec = _spec(around, path, given)
    if spec is None:
        return None
    before, place = len(around.source.faults), path if isinstance(given, str) else (*path, "use")
    use = use_at(around, place, spec.use)
    if use is None:
        return None
    offered = {**_offered(around, path, use, spec, name), **(more or {})}
    inner = replace(around, judge=offered.get("judge", around.judge), criteria=offered.get("criteria", around.criteria))
    settings = settings_of(inner, (*path, "with"), use, spec.settings)
    unread = around.source.unread
    unnamed = "criteria" not in offered and around.source.data.get("criteria") is None and ("criteria",) not in unread
    if use.kind in ("agent", "critic") and "criteria" in (use.takes or ()) and unnamed:
        around.source.fault(place, f"{one_line(use.name, 60)} judges by criteria, and none are named: criteria: NAME")
    for needed in [n for n in use.needs if n not in spec.settings and n not in offered]:
        around.source.fault(place, f"{one_line(use.name, 60)} needs a setting: with: {{{needed}: ...}}")
    if len(around.source.faults) > before or any(one[: len(path)] == path for one in unread):
        return None
    return _made(around, path, place, name, lambda: _called(use, settings, offered), spec, offered)


def _spec(around: Around, path: Place, given: Any) -> NodeSpec | None:
    """As a NodeSpec, counted."""
    spec = given if isinstance(given, NodeSpec) else shaped(NODE, around.source, path, given, NodeSpec)
    around.count.made += 1
    if around.count.made > MOST_MADE:
        around.source.fault(path, f"over {MOST_MADE} nodes, those of files within this one counted")
        return None
    return NodeSpec(use=spec) if isinstance(spec, str) else spec


def _offered(around: Around, path: Place, use: Use, spec: NodeSpec, name: str) -> dict[str, Any]:
    """Judge, criteria and name that the node is given; what stands at the node comes before the file's."""
    offered: dict[str, Any] = {"judge": around.judge, "criteria": around.criteria}
    if around.task:
        offered["task"] = around.task
    if use.name in ("panel", "gate", "escalate") and name:  # others have a critic's name
        offered["name"] = name
    for key in BESIDE:
        value = getattr(spec, key)
        if value is None:
            continue
        if use.kind == "assistant" or (use.takes is not None and key not in use.takes and not _each(spec, key)):
            around.source.fault((*path, key), f"{one_line(use.name, 60)} takes no {key}")
        elif key == "judge":
            offered[key] = judge_of(around.source, (*path, key), value, around.judges)
        else:
            offered[key] = around.criteria_of((*path, key), value)
    if use.kind == "file":  # what the inner file says itself stands, unless it is set here
        offered.pop("task", None)
        offered = {key if getattr(spec, key) is not None else f"default_{key}": v for key, v in offered.items()}
    return {key: value for key, value in offered.items() if value is not None}


def _each(spec: NodeSpec, key: str) -> bool:
    return key == "criteria" and spec.each is not None


def _made(
    around: Around, path: Place, place: Place, name: str, make: Callable[[], Any], spec: NodeSpec,
    offered: Mapping[str, Any],
) -> Any:  # fmt: skip
    """What `make` makes; what it refuses is told at the setting that it names, else at `place`."""
    try:
        made = make()
        if spec.each:
            own = offered.get("criteria", offered.get("default_criteria"))
            made = each(made, criteria=own, name=name or "each")
        return made
    except JudgegraphError as error:
        for line in str(error).splitlines():
            setting = _meant(line, spec.settings)
            around.source.fault((*path, "with", setting) if setting else place, one_line(line, 1000))
    except Exception as error:  # of a user's own code, or a setting of a kind that it did not expect
        around.source.fault(place, f"cannot be made: {type(error).__name__}: {one_line(error)}")
    return None


def _meant(said: str, settings: Iterable[str]) -> str:
    """The setting that a message is about: "rounds" of "refine: rounds: expected a whole number"; "" for none."""
    places = [(match.start(), key) for key in settings if (match := re.search(rf"\b{re.escape(key)}\b(?=: | )", said))]
    return min(places)[1] if places else ""


def _called(use: Use, settings: dict[str, Any], offered: dict[str, Any]) -> Any:
    if use.kind in ("agent", "critic", "method", "assistant"):
        return as_node(use.name, settings, **offered)
    if use.made:
        return as_node(use.thing)
    if use.kind == "file":
        return use.thing.build(**offered)
    chosen: CriteriaSet | None = offered.get("criteria")
    if use.kind == "code" and chosen is not None and isinstance(use.thing, type):  # an agent, not a method
        offered = {"task": chosen.task, **offered, "criteria": chosen.criteria}
    taken = {key: value for key, value in offered.items() if use.takes is None or key in use.takes} | settings
    many = taken.pop(use.many, ()) if use.many else ()
    return as_node(use.thing(*many, **taken))


def stage_of(node: Any) -> str:
    """The stage of the scores that a node leaves behind: what a condition on an edge from it looks at."""
    if isinstance(node, Rectify) or not is_dataclass(node):
        return "final"
    return str(getattr(node, "stage", "final"))
