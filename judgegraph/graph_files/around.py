"""What stands around the nodes of a file while its graph is built: defaults, judges, and where things are found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgegraph.calls import JudgeLike
from judgegraph.errors import CriteriaError, one_line
from judgegraph.graph_files.source import Place, Source
from judgegraph.prompts.criteria_sets import FILES, CriteriaSet, criteria_set

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
