"""What a person has decided in `judgegraph review`: the criteria as they are now, written to a file."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgegraph.cli.main import printable
from judgegraph.errors import CriteriaError, DataError
from judgegraph.prompts.criteria_sets import CriteriaSet, as_yaml

if TYPE_CHECKING:
    from judgegraph.types import Criterion


class Decisions:
    """The criteria before and now.

    Attributes:
        before: what the method judges by, with its task. now: the same criteria with what was accepted.
        made: whether anything was decided, rejections included.
    """

    def __init__(self, before: CriteriaSet) -> None:
        self.before = before
        self.now: tuple[Criterion, ...] = before.criteria
        self.made = False

    @property
    def changed(self) -> dict[str, Any]:
        """Of a graph's input: the criteria where they are not the method's own any more."""
        return {"criteria": list(self.now)} if self.now != self.before.criteria else {}

    @contextmanager
    def taking(self, suggestions: Sequence[Mapping[str, Any]], answers: Sequence[Any]) -> Generator[None]:
        """Within, answers are given and judged by; where it is stopped, those that were given count."""
        try:
            yield
        except BaseException:
            self._take(suggestions, answers)
            raise
        self.made = True

    def _take(self, suggestions: Sequence[Mapping[str, Any]], answers: Sequence[Any]) -> None:
        from judgegraph.agents.person import decided
        from judgegraph.types import Suggestion

        for suggestion, answer in zip(suggestions, answers, strict=False):
            with suppress(DataError, CriteriaError):  # it would have been asked again
                found, _ = decided(self.now, [Suggestion.model_validate(suggestion)], [answer])
                self.now, self.made = tuple(found), True

    def saved(self, path: Path) -> str:
        """Written as a criteria set; gives what to say of it.

        Raises:
            DataError: it cannot be written.
        """
        text = as_yaml(CriteriaSet.model_construct(name=path.stem, task=self.before.task, criteria=tuple(self.now)))
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise DataError(f"{path}: {error.strerror or error}") from None
        return printable(f"criteria: {len(self.now)}, in {path}")
