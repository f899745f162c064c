"""A file of criteria, YAML or JSON: its shape, and what each key may hold."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import yaml

from judgegraph.errors import one_line
from judgegraph.prompts.marked_file import MarkedFile, kind_of, line_of, shown
from judgegraph.types import Criterion, Scale

SET_KEYS = ("name", "task", "source", "criteria")
CRITERION_KEYS = ("name", "definition", "steps", "scale", "guideline")
MOST_CRITERIA, MOST_LISTED, MOST_POINTS = 200, 100, 1001  # in a file, in a list, on a whole scale
SCALES = 'a scale such as "1-5" or "0-1 any", or a list of two or more labels'


@dataclass(frozen=True)
class Found:
    """A file's content; name, task and source are "" where it has none."""

    name: str
    task: str
    source: str
    criteria: tuple[Criterion, ...]


def same_key(name: str) -> str:
    """What two names share that a form could not tell apart: case, spaces and punctuation do not count."""
    return re.sub(r"[\W_]+", "_", name.casefold()).strip("_")


def read_criteria(path: Path) -> Found:
    """Read a file of the shape

        name: mine                     # the file's stem, unless given
        task: The output is a haiku.   # may be left out
        criteria:
          - name: Form
            definition: Three lines of five, seven and five syllables.
            steps: [Count the syllables of each line., Choose the value.]  # may be left out
            scale: "1-5"               # unless given; or "0-1 any", or a list of labels
            guideline: what each value means                               # may be left out

    Raises:
        CriteriaError: unreadable, malformed, too large, or not of this shape; names file, line and key.
    """
    file = MarkedFile(path)
    root = file.root()
    keys = file.mapping(root, SET_KEYS, "a criteria file")
    if "criteria" not in keys:
        file.fail(line_of(root), "criteria", "missing; expected a list of criteria")
    name, task, source = (file.text(keys.get(key), key) for key in ("name", "task", "source"))
    return Found(name, task, source, listed_criteria(file, keys["criteria"]))


def listed_criteria(file: MarkedFile, node: yaml.Node) -> tuple[Criterion, ...]:
    """The criteria of a list, no two of one name.

    Raises:
        The error of `file`: not of the shape that `read_criteria` shows.
    """
    criteria: list[Criterion] = []
    lines: dict[str, int] = {}
    for item in file.items(node, "criteria", "a list of criteria", MOST_CRITERIA):
        criterion, line = _criterion(file, item), line_of(item)
        first = lines.setdefault(same_key(criterion.name), line)
        if len(lines) == len(criteria):
            clash = f"'{criterion.name}' is taken by the criterion in line {first}"
            file.fail(line, "name", f"{clash}; case and punctuation do not make names differ")
        criteria.append(criterion)
    return tuple(criteria)


def _criterion(file: MarkedFile, node: yaml.Node) -> Criterion:
    keys = file.mapping(node, CRITERION_KEYS, "a criterion")
    name = file.filled(keys.get("name"), "name", node)
    if one_line(name) != name or not same_key(name):
        file.fail(line_of(keys["name"]), "name", "expected one line of at most 200 letters, digits and signs")
    steps = file.items(keys["steps"], "steps", "a list of steps", MOST_LISTED) if "steps" in keys else []
    return Criterion(
        name=name,
        definition=file.filled(keys.get("definition"), "definition", node),
        steps=tuple(file.filled(step, "steps", step) for step in steps),
        scale=_scale(file, keys["scale"]) if "scale" in keys else Scale(low=1, high=5),
        guideline=file.text(keys.get("guideline"), "guideline") or None,
    )


def _scale(file: MarkedFile, node: yaml.Node) -> Scale:
    if isinstance(node, yaml.SequenceNode):
        nodes = file.items(node, "scale", SCALES, MOST_LISTED)
        labels = tuple(file.filled(label, "scale", label) for label in nodes)
        if len({label.casefold() for label in labels}) != len(labels) or len(labels) < 2:
            file.fail(line_of(node), "scale", "expected two or more different labels")
        return Scale(labels=labels)
    try:
        if kind_of(node) != "text":
            raise ValueError
        scale = Scale.of(node.value)
    except ValueError:
        file.fail(line_of(node), "scale", f"expected {SCALES}, got {shown(node)}")
    if scale.whole and (scale.high or 0) - (scale.low or 0) >= MOST_POINTS:
        file.fail(line_of(node), "scale", f"has over {MOST_POINTS} points; write 'any' behind it for any number")
    return scale
