"""Graph files made into compiled graphs: `jg.load_graph("my.yaml")`, and METHOD on the command line."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph.graph.state import CompiledStateGraph

from judgegraph import registry
from judgegraph.agents.sage import Critic
from judgegraph.calls import JudgeLike
from judgegraph.errors import ConfigError, one_line
from judgegraph.graph_files.around import MOST_FILES, Around, Count
from judgegraph.graph_files.build import built, critics
from judgegraph.graph_files.judges import is_model, judge_of
from judgegraph.graph_files.read import Parts, read_parts
from judgegraph.graph_files.source import GraphFileError, Source
from judgegraph.prompts.criteria_sets import CriteriaLike, CriteriaSet, criteria_set

Compiled = CompiledStateGraph[Any, None, Any, Any]


def load_graph(
    path: str | os.PathLike[str], *, judge: JudgeLike | None = None, criteria: CriteriaLike | None = None,
    critic: str | Critic | None = None,
) -> Compiled:  # fmt: skip
    """A graph from a YAML or JSON file, compiled: nothing is called yet and no key is needed.

    Args:
        path: of the file. What it names by `use: file.py:name` runs the code of that file.
        judge: in place of the file's `judge`; judges that single nodes name stay.
        criteria: in place of the file's `criteria`. critic: in place of its critic, where it has just one.

    Raises:
        ConfigError: something is wrong with the file: a line for each mistake, with file, line and key.
        CriteriaError: no such criteria.
    """
    return read_graph(Path(path)).build(judge=judge, criteria=criteria, critic=critic)


def graph_factory(path: str | os.PathLike[str]) -> Callable[..., Compiled]:
    """What builds a file's graph, with the settings that the file has: `judge`, `criteria`, and `critic` if it has one.

    Raises:
        ConfigError: the file cannot be read, or has not the shape of a graph file.
    """
    graph = read_graph(Path(path))

    def build(
        judge: JudgeLike | None = None, *, criteria: CriteriaLike | None = None, critic: str | Critic | None = None
    ) -> Compiled:
        return graph.build(judge=judge, criteria=criteria, critic=critic)

    def without_critic(judge: JudgeLike | None = None, *, criteria: CriteriaLike | None = None) -> Compiled:
        return graph.build(judge=judge, criteria=criteria)

    return build if critics(graph.parts) else without_critic


@dataclass(frozen=True)
class GraphFile:
    """A file that has been read.

    Attributes:
        within: the files that it stands in, outermost first. count: of the nodes that all of them make.
    """

    parts: Parts
    within: tuple[Path, ...]
    count: Count

    def build(
        self, *, judge: JudgeLike | None = None, criteria: CriteriaLike | None = None, critic: Any = None,
        default_judge: JudgeLike | None = None, default_criteria: CriteriaSet | None = None,
    ) -> Compiled:  # fmt: skip
        """The graph; `default_...` are of the graph around, for what this file leaves out.

        Raises:
            ConfigError: as `load_graph`.
        """
        if not self.within:
            self.count.made = 0
        parts = self.parts.afresh()
        source, head = parts.source, parts.head
        around = Around(source, task=head.task, files=(*self.within, source.file.path.resolve()), count=self.count)
        around.judges = {name: _judge(around, name, given) for name, given in head.judges.items()}
        own = None if head.judge is None else judge_of(source, ("judge",), head.judge, around.judges)
        around.judge = judge or own or default_judge
        if criteria is not None:
            around.criteria = around.tasked(criteria_set(criteria))
        elif head.criteria is not None:
            around.criteria = around.criteria_of(("criteria",), head.criteria)
        elif default_criteria is not None:
            around.criteria = around.tasked(default_criteria)
        if critic is not None:
            around.critic = _swapping(source, critics(parts), critic)
        made: Compiled = built(parts, around)
        return made


def _swapping(source: Source, own: list[str], critic: Any) -> Any:
    """A critic to take the place of the one of these nodes, "critic/NAME" where it is given by name.

    Raises:
        ConfigError: there is not just one, or no critic is called so.
    """
    if len(own) != 1:
        shown = f"{len(own)} critics ({', '.join(own)}), and only one can be swapped" if own else "no critics to swap"
        raise ConfigError(f"{source.file.what} {one_line(source.file.path)} has {shown}")
    if not isinstance(critic, str):
        return critic
    name = critic.removeprefix("critic/")
    registry.part_of("critic", name)
    return f"critic/{name}"


def _judge(around: Around, name: str, given: Any) -> JudgeLike | None:
    """One of the file's own judges; none stands for another, nor for the built-in one."""
    if is_model(name):
        around.source.fault(("judges", name), f"'{name}' is a judge already; give it a name of its own")
    return judge_of(around.source, ("judges", name), given, {})


def read_graph(path: Path, within: tuple[Path, ...] = (), count: Count | None = None) -> GraphFile:
    """A file read, not built.

    Raises:
        GraphFileError: it stands in itself, or as `read_parts`.
    """
    parts = read_parts(path)
    own = path.resolve()
    if own in within or len(within) >= MOST_FILES:
        why = "stands within itself" if own in within else f"is over {MOST_FILES} files deep"
        raise GraphFileError(f"graph file {one_line(path)}: {why}: {' -> '.join(one_line(p.name) for p in within)}")
    return GraphFile(parts, within, count or Count(folder=path.parent.resolve()))
