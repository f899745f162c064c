"""Criteria sets: what kind of text is judged, and by what; ours are files, a user's has the same shape."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

from pydantic import Field, ValidationError, field_validator

from judgegraph.errors import CriteriaError, one_line
from judgegraph.prompts.criteria_file import read_criteria, same_key
from judgegraph.types import Criterion, Value

HERE = Path(__file__).parent / "criteria"
FILES = (".yaml", ".yml", ".json")
TASK = "The output is a text, to be judged as it stands."


class CriteriaSet(Value):
    """A named set of criteria.

    Attributes:
        name: a built-in set's name, a file's `name` (or its stem), "custom" for criteria made in code.
        task: one sentence that says what kind of text is judged.
        criteria: one or more, in the order they are asked, no two of one name (case and punctuation aside).
        source: where the criteria come from.
    """

    name: str = Field(min_length=1)
    task: str = TASK
    criteria: tuple[Criterion, ...] = Field(min_length=1)
    source: str = ""

    @field_validator("criteria")
    @classmethod
    def _distinct(cls, criteria: tuple[Criterion, ...]) -> tuple[Criterion, ...]:
        twice = [key for key, n in Counter(same_key(c.name) for c in criteria).items() if n > 1]
        if twice:
            names = [c.name for c in criteria if same_key(c.name) == twice[0]]
            raise ValueError(f"{len(names)} criteria share one name: {', '.join(map(repr, names))}")
        return criteria

    @property
    def digest(self) -> str:
        """8 hex digits of task and criteria, which prompts are made of; name and source do not count."""
        text = self.model_dump_json(include={"task", "criteria"})
        return blake2b(text.encode(), digest_size=4).hexdigest()


def as_yaml(found: CriteriaSet) -> str:
    """A set as the text of a criteria file, which reads as the same set."""
    import yaml

    head = {key: value for key in ("name", "task", "source") if (value := getattr(found, key))}
    listed = [
        {
            **one.model_dump(mode="json", exclude_defaults=True, exclude={"scale"}),
            "scale": list(one.scale.labels) or str(one.scale),
        }
        for one in found.criteria
    ]
    return yaml.safe_dump({**head, "criteria": listed}, sort_keys=False, allow_unicode=True, width=110)


CriteriaLike: TypeAlias = str | os.PathLike[str] | Sequence[Criterion] | CriteriaSet


def criteria_set(which: CriteriaLike) -> CriteriaSet:
    """A set from a built-in name, the path of a .yaml, .yml or .json file, criteria, or a set as it is.

    Raises:
        CriteriaError: no such set or file; a mistake in the file (names file, line and key); no criteria,
            or two of one name.
    """
    if isinstance(which, CriteriaSet):
        return which
    if not isinstance(which, str | os.PathLike):
        return _of_criteria(which)
    if isinstance(which, str) and which in _built_in():
        return _ours(which)
    path = Path(which)
    if path.suffix.lower() in FILES and path.is_file():
        return _read(path)
    raise CriteriaError(_unknown(path))


def known_sets() -> dict[str, str]:
    """Built-in set -> its task, in alphabetical order."""
    return {name: criteria_set(name).task for name in _built_in()}


@lru_cache(maxsize=1)
def _built_in() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in HERE.glob("*.yaml")))


@lru_cache(maxsize=32)
def _ours(name: str) -> CriteriaSet:
    return _read(HERE / f"{name}.yaml")


def _read(path: Path) -> CriteriaSet:
    found = read_criteria(path)
    return CriteriaSet(
        name=found.name or path.stem, task=found.task or TASK, criteria=found.criteria, source=found.source
    )


def _of_criteria(criteria: Iterable[Criterion]) -> CriteriaSet:
    listed = list(criteria) if isinstance(criteria, Iterable) else [criteria]
    wrong = [c for c in listed if not isinstance(c, Criterion)]
    if wrong or not listed:
        got = repr(wrong[0]) if wrong else "none at all"
        raise CriteriaError(
            f"criteria: expected the name of a set, a file, or one or more Criterion, got {one_line(got)}"
        )
    try:
        return CriteriaSet(name="custom", criteria=tuple(listed))
    except ValidationError as error:
        raise CriteriaError(f"criteria: {one_line(error.errors()[0]['msg'])}") from None


def _unknown(path: Path) -> str:
    which = one_line(path)
    if path.suffix.lower() in FILES:
        return f"criteria file {which}: there is no such file"
    if path.is_file():
        return f"criteria file {which}: expected a name that ends in {', '.join(FILES)}"
    near = difflib.get_close_matches(str(path), _built_in(), 1)
    hint = f"; did you mean '{near[0]}'?" if near else "."
    known = ", ".join(_built_in())
    return f"no criteria set '{which}'{hint} Known: {known}, or the path of a .yaml or .json file"
